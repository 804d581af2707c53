"""Exps of opposite arguments become hyperbolic functions, where they have no other use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg


def up(x: Any) -> Any:
    return np.exp(3 * x) + np.exp(-3 * x)


def down(x: Any) -> Any:
    return np.exp(3 * x) - np.exp(-3 * x)


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], int]] = {
    "sum": (up, lambda x: 2 * np.cosh(3 * x), 3),
    "difference": (down, lambda x: 2 * np.sinh(3 * x), 3),
    "of halves": (lambda x: np.exp(x / 2) - np.exp(-x / 2), lambda x: 2 * np.sinh(x / 2), 3),
    "of a quotient turned": (
        lambda x: np.exp(-1 / x) + np.exp(1 / x), lambda x: 2 * np.cosh(1 / x), 3
    ),
    "hyperbolic tangent": (lambda x: down(x) / up(x), lambda x: np.tanh(3 * x), 2),
    "its inverse": (lambda x: up(x) / down(x), lambda x: 1 / np.tanh(3 * x), 3),
    "logarithm": (lambda x: np.log(up(x)), lambda x: np.log(2 * np.cosh(3 * x)), 4),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_written_as_the_hyperbolic_function(name: str) -> None:
    f, wanted, most = FUNCTIONS[name]
    small = sg.trace(f, x="5").simplify()
    assert "exp" not in {node.op.name for node in small.nodes}
    assert small.op_count() <= most
    x = np.array([-1.0, -0.5, 1e-2, 0.25, 2.0])
    np.testing.assert_allclose(small.evaluate(x=x), wanted(x), rtol=1e-13)
    slope = sg.trace(lambda x: np.sum(f(x)), x="5").gradient("x", value=False)
    np.testing.assert_allclose(slope.simplify().evaluate(x=x), slope.evaluate(x=x), rtol=1e-9)


def test_a_difference_keeps_its_digits_near_zero() -> None:
    x = np.array([1e-9, -1e-12])
    small = sg.trace(down, x="2").simplify()
    np.testing.assert_allclose(small.evaluate(x=x), 6 * x, rtol=1e-15)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.exp(3 * x) / up(x),
        lambda x: np.exp(3 * x) + np.exp(-2 * x),
        lambda x: np.exp(3 * x) * np.exp(x) + np.exp(-3 * x),
    ],
    ids=["another use", "other arguments", "another factor"],
)
def test_other_exps_stay(f: Callable[[Any], Any]) -> None:
    names = {node.op.name for node in sg.trace(f, x="5").simplify().nodes}
    assert names.isdisjoint({"cosh", "sinh"})
    exact = {node.op.name for node in sg.trace(up, x="5").simplify(trust="exact").nodes}
    assert "cosh" not in exact
