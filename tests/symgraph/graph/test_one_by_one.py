"""Gradients of several inputs that share a quotient: each takes its own closed form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg

X, Y, K, V = 1.5, -0.75, 0.6, 2.25

SHORTENED: dict[str, tuple[Callable[..., Any], dict[str, Any], int]] = {
    "both squares": (lambda x, y: x * y / (x + y), {"x": X, "y": Y}, 5),
    "a centre of two masses": (
        lambda x, y, k, v: ((x * k + y * v) / (x + y)) ** 2 / 2,
        {"x": X, "y": Y},
        10,
    ),
    "a saturated rate": (lambda x, k, v: v * x / (k + x), {"x": X, "k": K, "v": V}, 7),
}


@pytest.mark.parametrize("name", SHORTENED)
def test_no_value_that_is_shared_is_in_the_way(name: str) -> None:
    f, wrt, count = SHORTENED[name]
    every = {"x": X, "y": Y, "k": K, "v": V}
    inputs = {each: every[each] for each in f.__code__.co_varnames[: f.__code__.co_argcount]}
    graph = sg.trace(f, **dict.fromkeys(inputs, "")).gradient(*wrt, value=False)
    small = graph.simplify()
    assert small.op_count() <= count
    np.testing.assert_allclose(small.evaluate(**inputs), graph.evaluate(**inputs), rtol=1e-13)
    assert small.simplify().dag.outputs == small.dag.outputs


def test_the_steps_of_each_output_are_told() -> None:
    graph = sg.trace(lambda x, y: x * y / (x + y), x="", y="").gradient("x", "y", value=False)
    small = graph.simplify()
    assert "square(y / a)" in str(small.explain())
    small.history.check(x=X, y=Y)
    last = [*small.history.graphs()][-1].graph
    np.testing.assert_allclose(last.evaluate(x=X, y=Y), small.evaluate(x=X, y=Y))
