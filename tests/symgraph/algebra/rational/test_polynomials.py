"""Values that are quotients of polynomials in one array, along a loop of many steps."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import symgraph as sg
from symgraph.algebra.rational.polynomials import (
    PolynomialRatio,
    Polynomials,
    _numerator,  # pyright: ignore[reportPrivateUsage]
)
from symgraph.algebra.regions.memory import memory_of
from symgraph.ir.fact_inference import Knowledge


def test_no_sum_of_powers_grows_with_the_loop() -> None:
    r = sg.input("r", (), np.float64)
    polynomials: Polynomials = memory_of(Knowledge(), trust="rounding").polynomials
    value, factor, longest = r, 1 / (1 + r), 0
    for _ in range(100):
        value, factor = value + factor, factor / (1 + r)
    for node in sg.graph(value, inputs=[r]).dag.nodes:
        polynomials.learn(node)
        found = polynomials._known[node]  # pyright: ignore[reportPrivateUsage]
        longest = max(longest, len(found.terms))
    assert 24 < longest <= 50


def test_a_numerator_is_the_value_over_one_denominator() -> None:
    terms = {(0, 0): 2, (1, 1): Fraction(1, 3), (0, 3): -5, (2, 7): 4}
    ratio = PolynomialRatio(None, terms, ((0, 1), (1, -2), (2, 3)))
    assert (ratio.depth, ratio.degree) == (7, 14)
    x = Fraction(2, 7)
    below = 1 - 2 * x + 3 * x**2
    expected = sum(coef * x**power / below**level for (power, level), coef in terms.items())
    above = sum(coef * x**power for power, coef in _numerator(ratio).items())
    assert above / below**7 == expected
    assert max(_numerator(ratio)) == 14


def test_discount_factors_of_a_long_loop_are_right() -> None:
    def present(r: float) -> float:
        return sum(3.0 * (1 + r / 2) ** -t for t in range(1, 61))

    found = sg.trace(present, r=np.array(0.05)).simplify()
    assert found.op_count() < 100
    np.testing.assert_allclose(found.lower()(r=np.array(0.05)), present(0.05), rtol=1e-13)
