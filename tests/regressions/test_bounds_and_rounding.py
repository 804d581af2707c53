"""Bounds decide no comparison that rounding may decide otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg


def test_a_correlation_may_step_over_one() -> None:
    """Of float32 rounded into float64 it does, by 1e-7."""

    def f(x: Any) -> Any:
        return np.corrcoef(x)[0, 1] <= 1

    simple = sg.trace(f, x=sg.spec((2, 5), "float32")).simplify()
    assert any(node.op.name == "less_equal" for node in simple.nodes)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_sum_may_step_over_its_bound(dtype: str) -> None:
    """Ten tenths in single precision are more than 1; their bound is 1."""
    spec = sg.spec((10,), dtype, assume=sg.interval(0, 0.1))
    graph = sg.trace(lambda x: np.cumsum(x)[-1] > 1, x=spec)
    x = np.full(10, 0.1, dtype)
    if dtype == "float32":
        x = np.full(10, np.nextafter(np.float32(0.1), np.float32(0)), dtype)
    assert bool(graph.simplify().evaluate(x=x)) == bool(graph.evaluate(x=x))


def test_a_bound_that_is_stated_decides() -> None:
    spec = sg.spec((3,), assume=sg.interval(0, 1))
    simple = sg.trace(lambda x: np.where((x > 1) | (x < 0), 2 * x, x), x=spec).simplify()
    assert simple.op_count() == 0, simple
