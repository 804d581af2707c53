"""Quotients of polynomials in several values, sines and cosines of one angle told as such.

The derivative of sin x / (1 + cos x) is a sum of quotients; over one denominator a factor of it
divides what stands above, as cos + cos**2 + sin**2 = 1 + cos. What is divided by must not be 0, or
must be left below, where both are no number; and no sum of unlike signs comes about in which digits
would cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from ..array import FUNCTIONS, Array
from ..ir.node import Node
from .heads import Heads
from .labels import canonical_term
from .leaves import repeated_number, stretched
from .manyvariable import Monomial, Poly, divided, monic, plus, product, variables
from .slots import Factors
from .term import (
    SUM,
    Expr,
    coefficient,
    is_exact,
    rational,
)

__all__ = ["Quotients", "Ratio"]

_MOST_TERMS = 12
_MOST_BELOW = 4
_MOST_VALUES = 4
_HIGHEST = 6
_LARGEST = 40
"""So many values a quotient is made of; one below more is taken as an array."""

Key: TypeAlias = tuple[object, ...]


class Ratio(NamedTuple):
    """A polynomial over powers of monic ones; `short` if one of more than a term was cancelled.

    `made_of` are the values in it, those that were cancelled among them.
    """

    above: Poly
    below: Mapping[Key, tuple[Poly, int]]
    made_of: frozenset[tuple[int, str]] = frozenset()
    short: bool = False
    size: int = 1

    def and_of(self, a: Ratio, b: Ratio) -> Ratio:
        """Made of these two."""
        return self._replace(
            made_of=a.made_of | b.made_of, short=a.short or b.short, size=a.size + b.size
        )


class Quotients:
    """What values are as quotients, found where one is asked for."""

    def __init__(self, heads: Heads) -> None:
        self._heads = heads
        self._numbers: dict[Node, int] = {}
        self._values: list[Node] = []
        self._known: dict[Node, Ratio] = {}
        self._divides: dict[Node, bool] = {}
        self._given: set[Key] = set()

    def learn(self, node: Node) -> None:
        """Note whether a value is made with a quotient by a sum, given its operands."""
        divides = self._divides
        if node.op.name not in _RULES or node.copy or node.dtype.kind != "f":
            divides[node] = False
            return
        below = {"divide": -1, "reciprocal": 0, "power": 0}.get(node.op.name)
        divides[node] = any(map(divides.__getitem__, node.operands)) or (
            below is not None and node.operands[below].op.name in _RULES
        )

    def reaches(self, node: Node) -> bool:
        """Whether something cancels in the value."""
        return self._divides[node] and self._ratio(node).short

    def shorter(self, node: Node, count: int) -> Ratio | None:
        """The value with what cancels cancelled; None where nothing does, or digits would."""
        if count < 3 or not self._divides[node]:
            return None
        found = self._ratio(node)
        polys = [found.above, *[poly for poly, _ in found.below.values()]]
        if not found.short or not all(map(self._keeps_digits, polys)):
            return None
        self._heads.granted()  # Leave may have been taken for a value inside, long before.
        left = {each for poly in polys for each in variables(poly)}
        # What cancels is 0 only where it is a number, as in a region.
        numbers = all(self._is_number(each, left) for each in found.made_of)
        return found if numbers or self._heads.granted() else None

    def written(self, ratio: Ratio, now: Callable[[Node], Node]) -> Expr:
        """The quotient as an expression."""
        coef, above = monic(ratio.above)
        factors: Factors = []
        for poly, power in ((above, 1), *[(poly, -power) for poly, power in ratio.below.values()]):
            expr = self._expr(poly, now)
            if len(poly) > 1:
                factors.append((*self._heads.closed(SUM, expr), power))
                continue
            ((term, _),) = expr.items()
            factors.extend((f.head, f.idx, f.power * power) for f in term.factors)
        return {canonical_term(factors, {}): coef}

    def _expr(self, poly: Poly, now: Callable[[Node], Node]) -> Expr:
        expr: Expr = {}
        for monomial, coef in poly.items():
            factors: Factors = []
            for (number, kind), power in monomial:
                value = now(self._values[number])
                head = self._heads.leaf(FUNCTIONS[kind](Array(value)).node if kind else value)
                factors.append((head, tuple(range(len(head.sizes))), power))
            expr[canonical_term(factors, {})] = coef
        return expr

    # -- soundness ---------------------------------------------------------------------------------
    def _is_number(self, value: tuple[int, str], left: set[tuple[int, str]]) -> bool:
        """Whether a value is never NaN; a sine is none where one that is left is none."""
        number, kind = value
        node = self._values[number]
        if not self._heads.leaf(node).total:
            return False
        if not kind or any(each == number and other for each, other in left):
            return True
        return self._heads.leaf(FUNCTIONS[kind](Array(node)).node).total

    def _keeps_digits(self, poly: Poly) -> bool:
        """Whether all terms have one sign, or the sum was written so."""
        if len({coef > 0 for coef in poly.values()}) < 2 or _key(poly) in self._given:
            return True
        plain = all(not kind for _, kind in variables(poly))
        return plain and len(poly) == 2 and all(_is_linear(monomial) for monomial in poly)

    def _is_nonzero(self, poly: Poly, rest: Poly) -> bool:
        """Whether a polynomial is 0 nowhere, or only where what is left below is."""
        if len(poly) == 1:
            return all(
                kind == "cos" or (not kind and self._heads.leaf(self._values[number]).nonzero)
                for number, kind in variables(poly)
            )
        if divided(product(rest, rest), poly) is not None:
            return True
        if any(kind for _, kind in variables(poly)):
            return False
        if self._is_one_and_tanh(poly):
            return True
        head, _ = self._heads.closed(SUM, self._expr(poly, lambda node: node))
        return head.nonzero

    def _is_one_and_tanh(self, poly: Poly) -> bool:
        """Whether it is c (1 + tanh) or c (1 - tanh), which are 0 by rounding alone."""
        inside = variables(poly)
        if len(inside) != 1 or len(poly) != 2 or () not in poly:
            return False
        ((number, _),) = inside
        ((power, coef),) = [(sum(p for _, p in each), c) for each, c in poly.items() if each]
        return self._values[number].op.name == "tanh" and power == 1 and abs(coef) == abs(poly[()])

    # -- what values are ---------------------------------------------------------------------------
    def _ratio(self, node: Node) -> Ratio:
        stack = [node]
        while stack:
            top = stack[-1]
            if top in self._known:
                stack.pop()
                continue
            missing = [each for each in self._parts(top) if each not in self._known]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            self._known[top] = self._found(top) or self._array(top, "")
        return self._known[node]

    def _parts(self, node: Node) -> tuple[Node, ...]:
        return node.operands if node.op.name in _RULES and not node.copy else ()

    def _array(self, node: Node, kind: str) -> Ratio:
        number = self._numbers.get(node)
        if number is None:
            number = self._numbers[node] = len(self._values)
            self._values.append(node)
        return Ratio({(((number, kind), 1),): 1}, {}, frozenset({(number, kind)}))

    def _found(self, node: Node) -> Ratio | None:
        number = repeated_number(stretched(node))
        if number is not None and number.dtype.kind in "iuf":
            value = coefficient(number)
            return Ratio({(): value}, {}) if is_exact(value) and value else None
        if node.copy or node.dtype.kind != "f":
            return None
        if node.op.name in ("sin", "cos"):
            return self._array(node.operands[0], node.op.name)
        if node.op.name == "tan":
            sine, cosine = (self._array(node.operands[0], kind) for kind in ("sin", "cos"))
            return self.over(sine, cosine)
        rule = _RULES.get(node.op.name)
        if rule is None or any(
            each.shape != node.shape and not stretched(each).is_constant for each in node.operands
        ):
            return None
        found = rule(self, *[self._known[each] for each in node.operands])
        if found is None or not _is_small(found):
            return None
        if node.op.name in ("add", "subtract") and not found.below and _is_plain(found.above):
            self._given.add(_key(monic(found.above)[1]))
        return found

    def over(self, a: Ratio, b: Ratio) -> Ratio | None:
        """The quotient of two."""
        return self.product_of(a, _inverse(b))

    def product_of(self, a: Ratio, b: Ratio) -> Ratio | None:
        """The product of two."""
        below = dict(a.below)
        for key, (poly, power) in b.below.items():
            below[key] = (poly, power + below.get(key, (poly, 0))[1])
        above = product(a.above, b.above)
        return self._cancelled(Ratio(above, below).and_of(a, b))

    def sum_of(self, a: Ratio, b: Ratio) -> Ratio | None:
        """The sum of two, over one denominator."""
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
        return self._cancelled(Ratio(plus(*parts), below).and_of(a, b))

    def _cancelled(self, a: Ratio) -> Ratio | None:
        """Without factors of the denominator that divide what is above it."""
        if not a.above or not _is_small(a):
            return None
        above, below, short = a.above, dict(a.below), a.short
        for key, (poly, _) in a.below.items():
            while key in below and (less := divided(above, poly)) is not None:
                _, power = below.pop(key)
                if power > 1:
                    below[key] = (poly, power - 1)
                elif not (self._is_nonzero(poly, _all_of(below)) or self._heads.granted()):
                    below[key] = (poly, power)
                    break
                above, short = less, short or len(poly) > 1
        return a._replace(above=above, below=below, short=short)

    def power(self, a: Ratio, b: Ratio) -> Ratio | None:
        """A whole power."""
        exponent = b.above.get(()) if len(b.above) == 1 and not b.below else None
        if not isinstance(exponent, int) or not 0 < abs(exponent) <= _HIGHEST:
            return None
        base = _inverse(a) if exponent < 0 else a
        found: Ratio | None = base
        for _ in range(abs(exponent) - 1):
            found = None if found is None else self.product_of(found, base)
        return found


# -- quotients -------------------------------------------------------------------------------------
def _negative(a: Ratio) -> Ratio:
    return a._replace(above={monomial: -coef for monomial, coef in a.above.items()})


def _inverse(a: Ratio) -> Ratio:
    above: Poly = {(): 1}
    for poly, power in a.below.values():
        for _ in range(power):
            above = product(above, poly)
    coef, below = monic(a.above)
    above = product(above, {(): rational(Fraction(1) / coef)})
    return a._replace(above=above, below={} if below == {(): 1} else {_key(below): (below, 1)})


# -- polynomials -----------------------------------------------------------------------------------
def _key(poly: Poly) -> Key:
    return tuple(sorted(poly.items()))


def _all_of(below: Mapping[Key, tuple[Poly, int]]) -> Poly:
    whole: Poly = {(): 1}
    for poly, _ in below.values():
        whole = product(whole, poly)
    return whole


def _is_small(a: Ratio) -> bool:
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


def _is_linear(monomial: Monomial) -> bool:
    return sum(power for _, power in monomial) <= 1


def _is_plain(poly: Poly) -> bool:
    """Whether nothing in it stands for the square of a sine."""
    return all(_is_linear(monomial) for monomial in poly)


_RULES: Mapping[str, Callable[..., Ratio | None]] = {
    "add": lambda own, a, b: own.sum_of(a, b),
    "subtract": lambda own, a, b: own.sum_of(a, _negative(b)),
    "negative": lambda own, a: _negative(a),
    "multiply": lambda own, a, b: own.product_of(a, b),
    "divide": lambda own, a, b: own.over(a, b),
    "reciprocal": lambda own, a: _inverse(a),
    "square": lambda own, a: own.product_of(a, a),
    "power": lambda own, a, b: own.power(a, b),
}
