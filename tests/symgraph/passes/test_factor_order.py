"""Factors of products in an order that stays in range where the program as typed does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.interpreter import evaluate

Program = Callable[..., Any]


def shortest_mean(y: Any, z: Any) -> Any:
    return snp.sum((1 / snp.sum(1 / z) + y) * y)


def squared_product(x: Any, y: Any) -> Any:
    return (snp.abs(y) ** 0.5 * x) ** 2 * y


def scaled_ratio(x: Any, y: Any) -> Any:
    return snp.sum(y * snp.linalg.norm(x)) / snp.sum(y**2)


KEPT: dict[str, tuple[Program, Mapping[str, Any]]] = {
    "a / q**2": (
        shortest_mean,
        {"y": [-3.5, 2.2e8, -2.7e18, -7.2e9], "z": [-2e18, 5.4e-11, 1.6e11, -4.6e5]},
    ),
    "a square of a product": (squared_product, {"x": -2e23, "y": 8e-24}),
    "a norm over a square": (
        scaled_ratio,
        {"x": [8e-19, 4e-19, -7e-19], "y": [4e15, 2e15, -4.5e15]},
    ),
}
"""Programs, and numbers in single precision at which each number of value and gradient is right."""


@pytest.mark.parametrize("name", KEPT)
def test_numbers_in_range_stay_in_range(name: str) -> None:
    f, given = KEPT[name]
    at = {key: np.asarray(value, np.float32) for key, value in given.items()}
    double = {key: value.astype(np.float64) for key, value in at.items()}
    graphs = [
        sg.trace(f, **{key: sg.spec(value.shape, dtype) for key, value in at.items()}).gradient(*at)
        for dtype in ("float32", "float64")
    ]
    derived, small = evaluate(graphs[0].dag, at), evaluate(graphs[0].simplify().dag, at)
    for old, new, right in zip(derived, small, evaluate(graphs[1].dag, double), strict=True):
        kept = np.isclose(old, right, rtol=1e-4, atol=1e-38)
        np.testing.assert_allclose(
            np.where(kept, new, 0), np.where(kept, right, 0), rtol=1e-3, atol=1e-38
        )
        assert kept.any()


def test_no_operation_is_added_for_another_order() -> None:
    specs = {"y": sg.spec((4,), "float32"), "z": sg.spec((4,), "float32")}
    graph = sg.trace(shortest_mean, **specs).gradient("z", value=False).simplify()
    assert graph.op_count() == 6
    assert "sum(y) / t1 / t1" in str(graph.formula())


def test_an_order_that_keeps_the_range_stays() -> None:
    """x / (1 + x**2)**2 loses nothing that the program as typed keeps."""
    graph = sg.trace(lambda x: x / (1 + x**2) ** 2, x=sg.spec((3,), "float32")).simplify()
    assert str(graph.formula()) == "x / (1 + x**2)**2"
