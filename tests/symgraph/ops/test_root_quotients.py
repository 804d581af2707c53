"""Slopes of x over a root or a length in which x stands, beside mpmath: nothing cancels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import symgraph as sg

POINTS = [s * x for x in (0.0, 1e-300, 1e-9, 0.3, 1.0, 7.0, 1e4, 1e9, 1e60, 1e120) for s in (1, -1)]
OTHERS = (1e-30, 0.5, 3.0, 1e40)

SPELLINGS: dict[str, Callable[[Any, Any], Any]] = {
    "x**2": lambda x, c: x / np.sqrt(c + x**2),
    "x * x": lambda x, c: x / np.sqrt(x * x + c),
    "square": lambda x, c: x / np.sqrt(c + np.square(x)),
    "three terms": lambda x, c: x / np.sqrt(0.5 * c + x**2 + c / 2),
    "a difference": lambda x, c: (x - 0.0) / np.sqrt(c + (x - 0.0) ** 2),
}


def close(found: Any, right: Any) -> bool:
    """Equal to a few roundings, or below the least normal number both."""
    error = abs(mpmath.mpf(float(found)) - right)
    return error <= 1e-14 * abs(right) + mpmath.mpf(1e-307)


def gradients(function: Callable[[Any, Any], Any]) -> list[Callable[..., Any]]:
    """The two slopes as derived, simplified, and by forward mode."""
    graph = sg.graph(function(sg.input("x", ()), sg.input("c", ())))
    derived = graph.gradient("x", "c", value=False)
    forward = [sg.jacobian(function, wrt=place, mode="forward") for place in (0, 1)]
    simple = derived.simplify()
    return [
        lambda x, c: derived.evaluate(x=x, c=c),
        lambda x, c: simple.evaluate(x=x, c=c),
        lambda x, c: [each(x, c) for each in forward],
    ]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_x_over_a_root_in_which_it_stands(spelling: str) -> None:
    ways = gradients(SPELLINGS[spelling])
    with mpmath.workdps(60):
        for x in POINTS:
            for c in OTHERS:
                root = mpmath.sqrt(mpmath.mpf(c) + mpmath.mpf(x) ** 2)
                right = c / root**3, -x / root**3 / 2
                for way in ways:
                    found = way(np.float64(x), np.float64(c))
                    assert all(map(close, found, right)), (x, c, found, right)


@pytest.mark.parametrize("simplified", [False, True])
def test_the_second_derivative_keeps_its_digits(simplified: bool) -> None:
    first = sg.graph(SPELLINGS["x**2"](sg.input("x", ()), 1)).gradient("x", value=False)
    second = first.gradient("x", value=False)
    second = second.simplify() if simplified else second
    with mpmath.workdps(60):
        for x in POINTS:
            right = -3 * x / mpmath.sqrt(1 + mpmath.mpf(x) ** 2) ** 5
            assert close(second.evaluate(x=np.float64(x)), right), x


def test_beyond_the_square_of_the_largest_float_it_is_zero() -> None:
    slope = sg.grad(lambda x: x / np.sqrt(1 + x**2))
    with np.errstate(over="ignore"):
        assert [slope(np.float64(x)) for x in (1e155, 1e300, -1e200)] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("turned", [False, True])
def test_a_leg_over_its_hypotenuse(turned: bool) -> None:
    ways = gradients(lambda x, y: x / (np.hypot(y, x) if turned else np.hypot(x, y)))
    with mpmath.workdps(60):
        for x in POINTS:
            for y in OTHERS:
                length = mpmath.hypot(x, y)
                right = mpmath.mpf(y) ** 2 / length**3, -mpmath.mpf(x) * y / length**3
                for way in ways:
                    found = way(np.float64(x), np.float64(y))
                    assert all(map(close, found, right)), (x, y, found, right)


def test_at_the_origin_the_quotient_as_typed_is_nan() -> None:
    """0 / 0 is no number, and no slope is made of it."""
    for function in (lambda x, y: x / np.hypot(x, y), lambda x, y: x / np.sqrt(y + x**2)):
        graph = sg.graph(function(sg.input("x", ()), sg.input("y", ())))
        derived = graph.gradient("x", "y", value=False)
        with np.errstate(all="ignore"):
            for each in (derived, derived.simplify()):
                found = each.evaluate(x=np.float64(0), y=np.float64(0))
                assert not np.isfinite(found).any()
