"""The arithmetic of quotients of polynomials, in which factors cancel where that is sound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from ..expression.exact_numbers import rational
from .polynomial_ring import Poly, divided, monic, plus, product, variables

__all__ = ["PolynomialKey", "Quotient", "QuotientArithmetic", "is_small", "key_of"]

_MOST_TERMS = 12
_MOST_BELOW = 4
_MOST_VALUES = 4
_HIGHEST = 6
_LARGEST = 40
"""A quotient with more operands, counted with repetition, is treated as an array."""

PolynomialKey: TypeAlias = tuple[object, ...]


class Quotient(NamedTuple):
    """A polynomial over powers of monic polynomials.

    Parameters
    ----------
    above : polynomial
    below : dict
        Monic polynomials and their powers, by key.
    made_of : set
        The variables of the value, also those that were cancelled.
    short : bool
        Whether a polynomial of several terms was cancelled, or half of the terms over one
        denominator, as in the numerator of the quotient rule.
    size : int
        The number of operands, counted with repetition.
    """

    above: Poly
    below: Mapping[PolynomialKey, tuple[Poly, int]]
    made_of: frozenset[tuple[int, str]] = frozenset()
    short: bool = False
    size: int = 1

    def and_of(self, a: Quotient, b: Quotient) -> Quotient:
        """The quotient as the result of two operands: with their variables, mark and size."""
        return self._replace(
            made_of=a.made_of | b.made_of, short=a.short or b.short, size=a.size + b.size
        )


class QuotientArithmetic:
    """Products, sums and powers of quotients; None for one that is too large.

    Parameters
    ----------
    may_cancel : callable
        Whether a factor may cancel beside the rest of the denominator: it is never 0, or only where
        the rest is 0, too, or a license is granted.
    """

    def __init__(self, may_cancel: Callable[[Poly, Poly], bool]) -> None:
        self._may_cancel = may_cancel

    def quotient(self, a: Quotient, b: Quotient) -> Quotient | None:
        """The quotient of two quotients."""
        return self.product(a, self.inverse(b))

    def product(self, a: Quotient, b: Quotient) -> Quotient | None:
        """The product of two quotients."""
        below = dict(a.below)
        for key, (poly, power) in b.below.items():
            below[key] = (poly, power + below.get(key, (poly, 0))[1])
        above = product(a.above, b.above)
        return self._cancelled(Quotient(above, below).and_of(a, b))

    def sum(self, a: Quotient, b: Quotient) -> Quotient | None:
        """The sum of two quotients, over one denominator."""
        below = dict(a.below)
        for key, (poly, power) in b.below.items():
            below[key] = (poly, max(power, below.get(key, (poly, 0))[1]))
        parts: list[Poly] = []
        for each in (a, b):
            above = each.above
            for key, (poly, power) in below.items():
                for _ in range(power - each.below.get(key, (poly, 0))[1]):
                    above = product(above, poly)
            parts.append(above)
        whole = Quotient(plus(*parts), below).and_of(a, b)
        met = below and 2 * len(whole.above) <= sum(map(len, parts))
        return self._cancelled(whole._replace(short=whole.short or bool(met)))

    def _cancelled(self, a: Quotient) -> Quotient | None:
        """The quotient without factors of the denominator that divide the numerator."""
        if not a.above or not is_small(a):
            return None
        above, below, short = a.above, dict(a.below), a.short
        for key, (poly, _) in a.below.items():
            while key in below and (less := divided(above, poly)) is not None:
                _, power = below.pop(key)
                if power > 1:
                    below[key] = (poly, power - 1)
                elif not self._may_cancel(poly, _all_of(below)):
                    below[key] = (poly, power)
                    break
                above, short = less, short or len(poly) > 1
        found = a._replace(above=above, below=below, short=short)
        return found if len(above) < 2 else self._inverted(found)

    def _inverted(self, a: Quotient) -> Quotient:
        """One over a quotient of the denominator by the numerator, if this divides it.

        The slope of arctan(2 x / (1 - x**2)) is 2 (1 + x**2) / (1 + 2 x**2 + x**4).
        """
        for key, (poly, power) in a.below.items():
            if len(poly) < len(a.above) or not variables(a.above) <= variables(poly):
                continue
            coef, above = monic(a.above)
            less = divided(poly, above)
            if less is None:
                continue
            below = {each: known for each, known in a.below.items() if each != key}
            if power > 1:
                below[key] = (poly, power - 1)
            by, less = monic(less)
            if less != {(): 1}:
                below[key_of(less)] = (less, 1 + below.get(key_of(less), (less, 0))[1])
            if self._may_cancel(above, _all_of(below)):
                left: Poly = {(): rational(Fraction(coef) / by)}
                return a._replace(above=left, below=below, short=True)
        return a

    def negative(self, a: Quotient) -> Quotient:
        """The negative of a quotient."""
        return a._replace(above={monomial: -coef for monomial, coef in a.above.items()})

    def inverse(self, a: Quotient) -> Quotient:
        """One over a quotient."""
        above: Poly = {(): 1}
        for poly, power in a.below.values():
            for _ in range(power):
                above = product(above, poly)
        coef, below = monic(a.above)
        above = product(above, {(): rational(Fraction(1) / coef)})
        return a._replace(
            above=above, below={} if below == {(): 1} else {key_of(below): (below, 1)}
        )

    def whole(self, a: Quotient) -> int | None:
        """The quotient as a nonzero whole number that is small enough for a power, else None."""
        number = a.above.get(()) if len(a.above) == 1 and not a.below else None
        return number if isinstance(number, int) and 0 < abs(number) <= _HIGHEST else None


def key_of(poly: Poly) -> PolynomialKey:
    """A polynomial as a key."""
    return tuple(sorted(poly.items()))


def _all_of(below: Mapping[PolynomialKey, tuple[Poly, int]]) -> Poly:
    """The product of the polynomials, each once."""
    whole: Poly = {(): 1}
    for poly, _ in below.values():
        whole = product(whole, poly)
    return whole


def is_small(a: Quotient) -> bool:
    """Whether a quotient is small enough to be worth the search."""
    polys = [a.above, *[poly for poly, _ in a.below.values()]]
    values = {number for poly in polys for number, _ in variables(poly)}
    powers = [power for poly in polys for monomial in poly for _, power in monomial]
    powers.extend(power for _, power in a.below.values())
    return (
        len(a.below) <= _MOST_BELOW
        and len(values) <= _MOST_VALUES
        and max(powers, default=0) <= _HIGHEST
        and max(map(len, polys)) <= _MOST_TERMS
        and a.size <= _LARGEST
    )
