"""Quotients in several values: what cancels over one denominator goes, if digits stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.algebra.rational.polynomial_ring import COSINE, SINE, Poly, divided, product

X = np.array([0.3, -0.8, 1.2, 2.5, -2.9])
Y = np.array([0.7, 0.2, -1.4, 0.9, 1.1])


def traced(f: Callable[..., Any], size: int = 5) -> sg.Graph:
    """The graph of a function of two vectors, which may leave one unused."""
    x, y = (sg.input(name, (size,), np.float64) for name in "xy")
    return sg.graph(f(x, y), inputs=[x, y])


def quotients(x: Any, y: Any) -> dict[str, tuple[Any, int]]:
    """Values, and the operations that are left of them."""
    sine, cosine = snp.sin(x), snp.cos(x)
    t, u, w = snp.tanh(x), snp.exp(y), snp.softplus(y)
    p, q = snp.sigmoid(2 * (y + 1)), snp.sigmoid(2 * (y - 1))
    return {
        "Pythagoras over one denominator": (
            cosine / (1 + cosine) + (sine / (1 + cosine)) ** 2,
            3,
        ),
        "what is left below covers it": ((1 + sine) / cosine**2 * (cosine / (1 + sine)), 2),
        "tan and sec": ((snp.tan(x) + 1 / cosine) / (1 + sine), 2),
        "a square left below": (x / (x + y) ** 2 + y / (x + y) ** 2, 2),
        "a positive sum": ((u * y + y) / (1 + u) + x, 1),
        "1 + tanh is not 0": ((t**2 - 1) / (1 + t), 2),
        "terms of both signs": ((2 + w - w**2 - x - x * w) / (1 + w), 5),
        "a numerator that divides below": ((1 + x**2) / ((2 * x) ** 2 + (1 - x**2) ** 2), 3),
        "sigmoids beside their exps": (
            (p**2 * snp.exp(-2 * (y + 1)) - q / (1 + snp.exp(2 * (y - 1)))) / (p - q),
            13,
        ),
        "the numerator of the quotient rule": (cosine + y * sine**2 / (y * cosine - 1), 5),
    }


@pytest.mark.parametrize("name", list(quotients(0.1, 0.2)))
def test_what_cancels_goes(name: str) -> None:
    graph = traced(lambda x, y: quotients(x, y)[name][0])
    small = graph.simplify()
    assert small.op_count() <= quotients(0.1, 0.2)[name][1], small
    np.testing.assert_allclose(small.evaluate(x=X, y=Y), graph.evaluate(x=X, y=Y), rtol=1e-12)
    assert small.simplify().dag.outputs == small.dag.outputs


TRAPS: dict[str, Callable[[Any, Any], Any]] = {
    "may be 0": lambda x, y: (x**2 + x * y) / (x + y),
    "1 - cos is 0 at 0": lambda x, y: snp.sin(x) ** 2 / (1 - snp.cos(x)),
    "digits near 0": lambda x, y: snp.sin(x) ** 2 / (1 + snp.cos(x)),
    "one plus tangent": lambda x, y: (snp.tan(x) ** 2 - 1) / (1 + snp.tan(x)),
    "may be 0 above": lambda x, y: (x + y) / (x**2 + x * y),
    "a square of a difference": lambda x, y: ((1 - y) ** 2 + (1 - y) ** 2 * x**2) / (1 + x**2),
    "terms that are no number": lambda x, y: (snp.log(x) + y - snp.log(x)) / (1 + y**2),
}


@pytest.mark.parametrize("name", list(TRAPS))
def test_nothing_is_lost(name: str) -> None:
    """Where the value is no number it stays none, and near 0 it has its digits."""
    f = TRAPS[name]
    x = np.array([0.0, 1e-6, 1e-3, -0.5, np.pi, 1000.0, -np.pi / 4])
    y = np.array([0.0, -1e-6, 1.0, 0.5, 2.0, 3.0, 0.0])
    with np.errstate(all="ignore"):
        graph = traced(f, 7)
        expected, found = graph.evaluate(x=x, y=y), graph.simplify().evaluate(x=x, y=y)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=0)


X0, COS, SIN = (0, ""), (1, COSINE), (1, SINE)


def test_division_in_the_ring_of_sines_and_cosines() -> None:
    one_and_sine: Poly = {(): 1, ((SIN, 1),): 1}
    cosine_squared: Poly = {((COS, 2),): 1}
    assert divided(cosine_squared, one_and_sine) == {(): 1, ((SIN, 1),): -1}
    assert product(one_and_sine, {(): 1, ((SIN, 1),): -1}) == cosine_squared
    assert divided({((X0, 1),): 1}, one_and_sine) is None
    by_x: Poly = {((X0, 1),): 2, (): 4}
    assert divided(product(by_x, one_and_sine), one_and_sine) == by_x


def test_a_root_of_a_sum_stays_one_root() -> None:
    """Not x**(1/4) sqrt(1 + sqrt x): its derivative has two terms over the one root."""
    x = sg.input("x", (5,), np.float64, sg.positive)
    gradient = sg.graph(snp.sum(snp.sqrt(x + snp.sqrt(x)))).gradient("x", value=False).simplify()
    assert gradient.op_count() == 6, gradient
    at = np.abs(X)
    slope = (0.5 + 0.25 / np.sqrt(at)) / np.sqrt(at + np.sqrt(at))
    np.testing.assert_allclose(gradient.evaluate(x=at), slope, rtol=1e-14)


ROOTS: dict[str, tuple[Any, Any, int]] = {
    "(1 - x)/(1 + x)": (lambda x: (1 - x) / (1 + x), lambda x: -2 / (1 + x) ** 2, 6),
    "(1 + x)/(1 - x)": (lambda x: (1 + x) / (1 - x), lambda x: 2 / (1 - x) ** 2, 5),
    "(2 - x)/(3 + x)": (lambda x: (2 - x) / (3 + x), lambda x: -5 / (3 + x) ** 2, 6),
    "(1 - x)/x": (lambda x: (1 - x) / x, lambda x: -1 / x**2, 5),
    "1/x - 1": (lambda x: 1 / x - 1, lambda x: -1 / x**2, 5),
}


@pytest.mark.parametrize("name", ROOTS)
def test_roots_of_quotients_meet_the_powers_beside_them(name: str) -> None:
    """The minus of a sum and a denominator leave a root: sqrt((1 - x)/x) has sqrt(1 - x)."""
    quotient, slope, most = ROOTS[name]
    graph = sg.trace(
        lambda x: np.sum(np.sqrt(quotient(x))), x=sg.spec(5, assume=sg.interval(0.1, 0.9))
    )
    gradient = graph.gradient("x", value=False).simplify()
    assert gradient.op_count() <= most, gradient
    x = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    expected = 0.5 * slope(x) / np.sqrt(quotient(x))
    np.testing.assert_allclose(gradient.evaluate(x=x), expected, rtol=1e-14)


def test_a_root_stays_whole_where_signs_are_unknown() -> None:
    """sqrt((1 - x)/y) is a number where both are negative; so is its slope."""
    graph = sg.trace(lambda x, y: np.sum(np.sqrt((1 - x) / y)), x=sg.spec(3), y=sg.spec(3))
    x, y = np.array([2.0, 0.5, 3.0]), np.array([-1.0, 2.0, -0.25])
    found = graph.gradient("x", value=False).simplify().evaluate(x=x, y=y)
    np.testing.assert_allclose(found, -0.5 / (y * np.sqrt((1 - x) / y)), rtol=1e-14)


ROWS = {
    "numbers": np.array([0.5, 1.0, 2.0]),
    "one number": np.full((1, 3), 1 / 3),
    "a column": np.array([[0.5], [1.0], [2.0]]),
    "a quotient": lambda: 1 / sg.constant(np.array([0.5, 1.0, 2.0])),
}


@pytest.mark.parametrize("shape", [(2, 3, 3), (3, 3)])
@pytest.mark.parametrize("name", ROWS)
def test_constants_that_are_broadcast_stand_at_their_own_axes(
    name: str, shape: tuple[int, ...]
) -> None:
    """They were read along the first axes: `simplify` of a slope of x / (x + k) raised."""
    given = ROWS[name]

    def saturation(x: Any) -> Any:
        k = given() if callable(given) else given
        return np.sum(x / (x + k))

    graph = sg.trace(saturation, x=shape).gradient("x")
    x = np.linspace(0.5, 2.0, int(np.prod(shape))).reshape(shape)
    for found, wanted in zip(graph.simplify().evaluate(x=x), graph.evaluate(x=x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-13)
