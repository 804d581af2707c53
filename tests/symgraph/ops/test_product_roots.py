"""Roots of products with even powers have their slopes where a factor is 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.testing import check_gradient

# A function, and its slope and second derivative at 0.
AT_ZERO: dict[str, tuple[Any, float, float]] = {
    "x**4": (lambda x: np.sqrt(x**4), 0.0, 2.0),
    "x**4, by products": (lambda x: np.sqrt(x * x * x * x), 0.0, 2.0),
    "x**3 x": (lambda x: np.sqrt(x**3 * x), 0.0, 2.0),
    "x**6": (lambda x: np.sqrt(x**6), 0.0, 0.0),
    "x**8": (lambda x: np.sqrt(x**8), 0.0, 0.0),
    "multiples": (lambda x: np.sqrt(3 * x**4 / 2), 0.0, 2 * 1.5**0.5),
    "the power 0.5": (lambda x: (x**4) ** 0.5, 0.0, 2.0),
    "sin": (lambda x: np.sqrt(np.sin(x) ** 4), 0.0, 2.0),
    "with a positive factor": (lambda x: np.sqrt(x**4 * np.exp(x)), 0.0, 2.0),
    "over a positive number": (lambda x: np.sqrt(x**4 / (1 + x**2)), 0.0, 2.0),
    "its fourth root": (lambda x: (x**4) ** 0.25, 0.0, 0.0),
    "a third root": (lambda x: (x**6) ** (1 / 3), 0.0, 2.0),
    "the cube root": (lambda x: np.cbrt(x**6), 0.0, 2.0),
    "of an absolute value": (lambda x: (np.abs(x) ** 5.0) ** 0.6, 0.0, 0.0),
    "a kink": (lambda x: np.sqrt(x**2 * np.exp(x)), 0.0, 0.0),
    "below a mask": (lambda x: np.where(x < 1, np.sqrt(x**4), x), 0.0, 2.0),
}


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("name", AT_ZERO)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_slope_at_0(name: str, dtype: str) -> None:
    f, slope, second = AT_ZERO[name]
    graph = sg.trace(f, x=sg.spec((), dtype))
    zero = np.zeros((), dtype)
    gradient, hessian = (graph.gradient("x", value=False), graph.hessian("x", value=False))
    for each in (gradient, gradient.simplify()):
        assert each.evaluate(x=zero) == slope
    for each in (hessian, hessian.simplify()):
        np.testing.assert_allclose(each.evaluate(x=zero), second, rtol=1e-6)
    assert graph.jvp({"x": np.ones((), dtype)}, value=False).evaluate(x=zero) == slope
    if dtype == "float64":
        for x in (-1.3, 0.4):
            check_gradient(f, np.array(x), tolerance=1e-6)
            check_gradient(lambda x: sg.grad(f(x), x), np.array(x), tolerance=1e-5)


def test_by_each_factor_beside_a_sum_of_squares() -> None:
    def f(m: Any, x: Any) -> Any:
        return np.sqrt(m**4 * np.sum(x * x) / 2)

    graph = sg.trace(f, m=sg.spec(()), x=sg.spec(3))
    gradient = graph.gradient("m", "x", value=False)
    away, zero = np.array([1.0, -2.0, 2.0]), np.zeros(3)
    for each in (gradient, gradient.simplify()):
        for m, x in ((0.0, away), (2.0, zero), (0.0, zero)):
            by_m, by_x = each.evaluate(m=np.array(m), x=x)
            np.testing.assert_array_equal([by_m, *by_x], 0.0)
        by_m, by_x = each.evaluate(m=np.array(-2.0), x=away)
        np.testing.assert_allclose(by_m, 2 * -2.0 * np.sqrt(4.5), rtol=1e-14)
        np.testing.assert_allclose(by_x, 4 * away / np.sqrt(18), rtol=1e-14)
    moved = graph.jvp({"m": np.ones(()), "x": np.ones(3)}, value=False)
    assert moved.evaluate(m=np.array(-2.0), x=away) == pytest.approx(
        -4 * np.sqrt(4.5) + 4 / np.sqrt(18)
    )


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.sum(np.abs(x) ** 3, axis=1) ** (1 / 3)),
        lambda x: np.sum(np.cbrt(np.sum(np.abs(x) ** 3, axis=1, keepdims=True))),
        lambda x: np.sum(x**4) ** 0.25,
        lambda x: np.sum((x * x) ** 0.75),
    ],
)
def test_norms_of_powers_written_out(f: Any) -> None:
    graph = sg.trace(f, x=sg.spec((2, 3)))
    gradient = graph.gradient("x", value=False)
    x = np.array([[0.3, -1.2, 0.0], [2.0, 0.1, -0.4]])
    for each in (gradient, gradient.simplify()):
        np.testing.assert_array_equal(each.evaluate(np.zeros((2, 3))), 0.0)
        found = each.evaluate(x)
        for place in np.ndindex(2, 3):
            step = np.zeros((2, 3))
            step[place] = 1e-7
            slope = (graph.evaluate(x + step) - graph.evaluate(x - step)) / 2e-7
            np.testing.assert_allclose(found[place], slope, rtol=1e-6, atol=1e-3)
    moved = graph.jvp({"x": np.ones((2, 3))}, value=False)
    assert moved.evaluate(np.zeros((2, 3))) == 0
    assert moved.evaluate(x) == pytest.approx(np.sum(gradient.evaluate(x)))


def test_powers_that_grow_from_a_cusp_keep_the_chain_rule() -> None:
    graph = sg.trace(lambda x: (x**2) ** 0.25, x=sg.spec(())).gradient("x", value=False)
    assert np.isnan(graph.evaluate(np.array(0.0)))
    assert graph.evaluate(np.array(4.0)) == pytest.approx(0.25)


def test_what_may_be_negative_keeps_the_chain_rule() -> None:
    """sqrt(y z) has an infinite slope at y = 0, and no number is made of it."""
    graph = sg.trace(lambda y, z: np.sqrt(y * z**2), y=sg.spec(()), z=sg.spec(()))
    by_y = graph.gradient("y", value=False)
    for each in (by_y, by_y.simplify()):
        assert each.evaluate(y=np.array(0.0), z=np.array(2.0)) == np.inf
