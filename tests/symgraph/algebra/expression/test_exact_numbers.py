"""Exponents are read as they were written, also after 1 was taken from them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import symgraph as sg
from symgraph.algebra.expression.exact_numbers import exponent

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
