"""A direction given by name was no input where the product is 0, so its name was unknown."""

from __future__ import annotations

import numpy as np
import pytest

import symgraph as sg

FLAT = sg.trace(lambda x: np.sum(np.maximum(x, 0)), x=(3,))
STEPS = sg.trace(lambda x: np.sign(x), x=(3,))


@pytest.mark.parametrize(
    "graph",
    [
        FLAT.hvp("x", "v"),
        FLAT.hvp("x", "v", mode="forward"),
        STEPS.vjp("x", cotangent="v"),
        STEPS.jvp({"x": "v"}),
    ],
)
def test_a_product_that_is_zero_takes_its_direction(graph: sg.Graph) -> None:
    at = {"x": np.array([1.0, -2.0, 3.0]), "v": np.ones(3)}
    small = graph.simplify()
    for each in (graph, small, sg.Graph.from_json(small.to_json())):
        assert list(each.inputs) == ["x", "v"]
        _, product = each.evaluate(**at)
        np.testing.assert_array_equal(product, np.zeros(3))
        np.testing.assert_array_equal(each.lower()(**at)[1], np.zeros(3))
