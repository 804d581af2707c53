"""Exponents and sums are read as they were written, also after a number was added and taken."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.algebra.expression.exact_numbers import coefficient, exponent, plus

DOUBLE, SINGLE = np.dtype("float64"), np.dtype("float32")


@pytest.mark.parametrize("number", [2 / 3, 1 / 3, 5 / 3, 0.7, 1.2, 2.2, 0.9, 7 / 12])
def test_of_a_number_less_one(number: float) -> None:
    wanted = Fraction(number).limit_denominator(100) - 1
    assert exponent(number - 1, DOUBLE) == wanted
    assert exponent(float(np.float32(number) - np.float32(1)), SINGLE) == wanted


def test_other_numbers_are_no_fractions() -> None:
    assert exponent(0.30000000000001, DOUBLE) is None
    assert exponent(0.123, DOUBLE) is None
    assert exponent(1e-17, DOUBLE) is None
    assert exponent(Fraction(1, 13), DOUBLE) is None
    assert exponent(0, DOUBLE) is None


def test_powers_of_a_quotient_merge() -> None:
    """The slope of x (x / b)**0.7 has the power once."""
    specs = {"x": sg.spec("", assume=sg.positive), "b": sg.spec("", assume=sg.positive)}
    graph = sg.trace(lambda x, b: x * (x / b) ** 0.7, **specs).gradient("x", value=False)
    small = graph.simplify()
    assert small.op_count() <= 4
    np.testing.assert_allclose(
        small.evaluate(x=0.4, b=2.5), graph.evaluate(x=0.4, b=2.5), rtol=1e-13
    )


S = np.sqrt(0.5)


@pytest.mark.parametrize("number", [1, -1, 0.3, 0.1234, 1 / 3, 7.25, 22 / 7])
@pytest.mark.parametrize("other", [S, -S, np.pi, 0.1 * S, 7 * np.e])
def test_a_sum_less_what_was_added(number: float, other: float) -> None:
    wanted, there = coefficient(number), coefficient(other)
    assert wanted is not None
    assert isinstance(there, float)
    assert plus(plus(wanted, there), -there) == wanted
    assert plus(-there, plus(wanted, there)) == wanted


def test_other_sums_of_floats_are_no_fractions() -> None:
    assert plus(np.pi, -np.e) == np.pi - np.e
    assert plus(1 + 1e-12, -S) == 1 + 1e-12 - S
    assert plus(1e6 * np.pi, 0.123 - 1e6 * np.pi) == 1e6 * np.pi + (0.123 - 1e6 * np.pi)


AT_THE_END: dict[str, tuple[Callable[[Any], Any], float]] = {
    "of a root": (lambda y: np.sqrt((1 - y) + S - S), 0.0),
    "of arcsin": (lambda y: np.arcsin(y + S - S), np.pi / 2),
    "by factors": (lambda y: np.sqrt(1 - y * (1 + S) + S * y), 0.0),
}


@pytest.mark.parametrize("name", AT_THE_END)
def test_the_end_of_the_domain_stays_where_it_was(name: str) -> None:
    """1 + s - s was 0.9999999999999999, and the root of that less 1 was NaN."""
    f, wanted = AT_THE_END[name]
    graph = sg.trace(f, y=())
    small = graph.simplify()
    assert small.op_count() < graph.op_count()
    assert small.evaluate(y=1.0) == wanted
