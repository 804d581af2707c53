"""Polynomials in several values, with sin**2 = 1 - cos**2: sums, products, exact division.

A polynomial maps monomials to exact numbers. A monomial lists its variables with their powers, in
order. The sine of an angle has at most the power 1. These polynomials are an integral domain, in
which p / (a + b sin) = p (a - b sin) / (a**2 - b**2 (1 - cos**2)).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Final, TypeAlias

from ..expression.exact_numbers import Rational, rational

__all__ = [
    "COSINE",
    "SINE",
    "Monomial",
    "Poly",
    "RingVariable",
    "divided",
    "is_multilinear",
    "is_plain",
    "monic",
    "plus",
    "product",
    "variables",
    "without_common",
]

SINE: Final = "sine"
COSINE: Final = "cosine"

RingVariable: TypeAlias = tuple[int, str]
"""The number of a value, and the function of it: "" for the value, "sine" or "cosine"."""
Monomial: TypeAlias = tuple[tuple[RingVariable, int], ...]
Poly: TypeAlias = Mapping[Monomial, Rational]

_MOST = 40
"""A division with more terms is given up."""


def variables(poly: Poly) -> set[RingVariable]:
    """The variables of a polynomial."""
    return {variable for monomial in poly for variable, _ in monomial}


def plus(*polys: Poly) -> Poly:
    """The sum of polynomials."""
    return _collected((monomial, coef) for poly in polys for monomial, coef in poly.items())


def product(p: Poly, q: Poly) -> Poly:
    """The product of two polynomials, in normal form."""
    found = _collected((_joined(a, b), c * d) for a, c in p.items() for b, d in q.items())
    while (sines := _squared_sine(found)) is not None:
        monomial, place = sines
        coef = found[monomial]
        (number, kind), power = monomial[place]
        left = (*monomial[:place], *([((number, kind), power - 2)] if power > 2 else []))
        left = (*left, *monomial[place + 1 :])
        more = {left: coef, _joined(left, (((number, COSINE), 2),)): -coef}
        rest = {other: by for other, by in found.items() if other != monomial}
        found = plus(rest, more)
    return found


def monic(poly: Poly) -> tuple[Rational, Poly]:
    """The leading coefficient, and the polynomial divided by it."""
    lead = poly[max(poly, key=_rank)]
    return lead, {monomial: _quotient(coef, lead) for monomial, coef in poly.items()}


def divided(p: Poly, q: Poly) -> Poly | None:
    """The polynomial p / q; None if q does not divide p."""
    sines = [variable for variable in variables(q) if variable[1] == SINE]
    if len(sines) > 1:
        return None
    if sines:
        turned = {
            monomial: -coef if any(variable == sines[0] for variable, _ in monomial) else coef
            for monomial, coef in q.items()
        }
        p, q = product(p, turned), product(q, turned)
    return _divided(p, q)


def _is_linear(monomial: Monomial) -> bool:
    return sum(power for _, power in monomial) <= 1


def is_multilinear(poly: Poly) -> bool:
    """Whether no monomial has a value twice: none may stand for the square of a sine."""
    return all(power == 1 for monomial in poly for _, power in monomial)


def without_common(poly: Poly) -> Poly:
    """The polynomial without the powers that all its monomials have."""
    powers = [dict(monomial) for monomial in poly]
    common = {
        value: least
        for value in set.intersection(*[set(each) for each in powers])
        if (least := min(each[value] for each in powers))
    }
    return {
        tuple((value, left) for value, by in monomial if (left := by - common.get(value, 0))): coef
        for monomial, coef in poly.items()
    }


def is_plain(poly: Poly) -> bool:
    """Whether all monomials are linear: none may stand for the square of a sine."""
    return all(_is_linear(monomial) for monomial in poly)


def _divided(p: Poly, q: Poly) -> Poly | None:
    lead = max(q, key=_rank)
    found: Poly = {}
    while p:
        if len(p) > _MOST or len(found) > _MOST:
            return None
        top = max(p, key=_rank)
        step = _less(top, lead)
        if step is None:
            return None
        term = {step: _quotient(p[top], q[lead])}
        found = plus(found, term)
        p = plus(p, product({step: -term[step]}, q))
    return found


def _quotient(a: Rational, b: Rational) -> Rational:
    return rational(Fraction(a) / b)


def _rank(monomial: Monomial) -> tuple[object, ...]:
    """The monomial order: by degree, then by the powers of the variables from the last one on."""
    return (sum(power for _, power in monomial), monomial[::-1])


def _joined(a: Monomial, b: Monomial) -> Monomial:
    powers = dict(a)
    for variable, power in b:
        powers[variable] = powers.get(variable, 0) + power
    return tuple(sorted(powers.items()))


def _less(a: Monomial, b: Monomial) -> Monomial | None:
    """The monomial a / b; None if b does not divide a."""
    powers = dict(a)
    for variable, power in b:
        powers[variable] = powers.get(variable, 0) - power
        if powers[variable] < 0:
            return None
    return tuple([item for item in sorted(powers.items()) if item[1]])


def _squared_sine(poly: Poly) -> tuple[Monomial, int] | None:
    for monomial in poly:
        for place, ((_, kind), power) in enumerate(monomial):
            if kind == SINE and power > 1:
                return monomial, place
    return None


def _collected(parts: Iterable[tuple[Monomial, Rational]]) -> Poly:
    total: dict[Monomial, Rational] = {}
    for monomial, coef in parts:
        total[monomial] = total.get(monomial, 0) + coef
    return {monomial: rational(coef) for monomial, coef in total.items() if coef != 0}
