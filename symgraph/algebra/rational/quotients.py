"""Quotients of polynomials in several values, with sines and cosines of angles as variables.

The derivative of sin x / (1 + cos x) is a sum of quotients. Over one denominator, a factor of the
denominator divides the numerator, for cos + cos**2 + sin**2 = 1 + cos. A factor cancels only if it
is not 0, or if it also remains in the denominator, so that both sides are NaN where it is 0. No new
sum may have terms of both signs, for digits could cancel in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from ...array import Array
from ...ir.node import Node
from ...ir.traits import Angle
from ...ops.elementwise import negative
from ...ops.exponential import exp, sigmoid
from ..expression.atoms import AtomTable
from ..expression.canonical_indices import canonical_term
from ..expression.exact_numbers import coefficient, is_exact, rational
from ..expression.leaf_terms import repeated_number, stretched
from ..expression.roles import ANGLES
from ..expression.term import SUM, Expr, added
from ..normal_form.factors import Factors, RawFactor
from .arithmetic import divides_by, is_rational, value_of
from .distinct import order
from .polynomial_ring import (
    COSINE,
    SINE,
    Monomial,
    Poly,
    RingVariable,
    divided,
    is_multilinear,
    is_plain,
    monic,
    plus,
    product,
    variables,
    without_common,
)

__all__ = ["Quotient", "Quotients"]

_MOST_TERMS = 12
_MOST_BELOW = 4
_MOST_VALUES = 4
_HIGHEST = 6
_LARGEST = 40
"""A quotient with more operands, counted with repetition, is treated as an array."""

_TANH = Angle("tangent", -1)

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


class Quotients:
    """Finds the quotients that values are, each when it is asked for.

    Attributes
    ----------
    dividing : set of Node
        The values that divide by a sum, product or power, or have an operand that does.
    """

    def __init__(self, atoms: AtomTable) -> None:
        self._atoms = atoms
        self._numbers: dict[Node, int] = {}
        self._values: list[Node] = []
        self._known: dict[Node, Quotient] = {}
        self.dividing: set[Node] = set()
        self._seen: set[Node] = set()
        self._first: dict[Node, bool] = {}
        self._sigmoids: dict[Node, tuple[Node, int]] = {}
        self._given: set[PolynomialKey] = set()

    def learn(self, node: Node) -> None:
        """Note whether a value, or an operand of it, divides by a sum, product or power."""
        if node in self._seen:
            return
        self._seen.add(node)
        if node.op is sigmoid.op and not node.copy:
            value, sign = _signed(node.operands[0])
            self._sigmoids.setdefault(value, (node, sign))
        if not is_rational(node.op) or node.copy or node.dtype.kind != "f":
            return
        below = divides_by(node.op)
        if not self.dividing.isdisjoint(node.operands) or (
            below is not None and is_rational(node.operands[below].op)
        ):
            self.dividing.add(node)

    def reaches(self, node: Node) -> bool:
        """Whether a factor of several terms cancels in the value."""
        return node in self.dividing and self._ratio(node).short

    def meet_first_in(self, node: Node) -> bool:
        """Whether a factor of several terms cancels in the value, and in none of its operands."""
        found = self._first.get(node)
        if found is None:
            reaches = self.reaches
            found = reaches(node) and not any(map(reaches, node.operands))
            self._first[node] = found
        return found

    def shorter(self, node: Node, count: int) -> Quotient | None:
        """The value with common factors cancelled; None if none cancel or digits may be lost."""
        if count < 3 or node not in self.dividing:
            return None
        found = self._ratio(node)
        polys = [found.above, *[poly for poly, _ in found.below.values()]]
        if not found.short or not all(map(self._keeps_digits, polys)):
            return None
        self._atoms.granted()  # The licence may have been used for a value inside, long before.
        left = {each for poly in polys for each in variables(poly)}
        # Factors may cancel only if they are never NaN.
        numbers = all(self._is_number(each, left) for each in found.made_of)
        return found if numbers or self._atoms.granted() else None

    def written(self, ratio: Quotient, spelled: Mapping[Node, Node]) -> Expr:
        """The quotient as an expression, with values as they are `spelled` now."""

        def now(node: Node) -> Node:
            if node not in spelled and node.op is sigmoid.op:  # It was in an earlier graph.
                value, sign = _signed(node.operands[0])
                return _sigmoid(spelled[value], sign)
            return spelled[node]

        coef, above = monic(ratio.above)
        factors: Factors = []
        for poly, power in ((above, 1), *[(poly, -power) for poly, power in ratio.below.values()]):
            expr = self._with_complement(poly, now) or self._expr(poly, now)
            if len(poly) > 1:
                factors.append((*self._atoms.closed(SUM, expr), power))
                continue
            ((term, _),) = expr.items()
            factors.extend((f.atom, f.idx, f.power * power) for f in term.factors)
        return {canonical_term(factors, {}): coef}

    def _expr(self, poly: Poly, now: Callable[[Node], Node]) -> Expr:
        expr: Expr = {}
        for monomial, coef in poly.items():
            expr[canonical_term(self._factors(monomial, now), {})] = coef
        return expr

    def _factors(self, monomial: Monomial, now: Callable[[Node], Node]) -> Factors:
        found: Factors = []
        for (number, kind), power in monomial:
            value = now(self._values[number])
            found.append(self._slot(_function(kind, value) if kind else value, power))
        return found

    def _slot(self, node: Node, power: int) -> RawFactor:
        atom = self._atoms.leaf(node)
        return atom, tuple(range(len(atom.sizes))), power

    def _with_complement(self, poly: Poly, now: Callable[[Node], Node]) -> Expr | None:
        """A sum with y - y s(x) in it as one with y s(-x), which has digits where s is near 1.

        Of two sigmoids it is the larger one.
        """
        values = {each: now(self._values[each[0]]) for each in variables(poly) if not each[1]}
        found = [each for each in values if values[each].op is sigmoid.op and _met(poly, each)]
        if len(poly) < 3 or not found:
            return None
        top = min(found)
        for each in found:
            top = each if order(values[each], values[top], self._atoms.knowledge) > 0 else top
        value, pairs = values[top], _met(poly, top)
        argument, sign = _signed(value.operands[0])
        opposite = _sigmoid(argument, -sign)
        rest = {m: by for m, by in poly.items() if m not in pairs and m not in pairs.values()}
        terms = list(self._expr(rest, now).items())
        for by in pairs.values():
            factors = [*self._factors(by, now), self._slot(opposite, 1)]
            terms.append((canonical_term(factors, {}), poly[by]))
        return added(terms)

    # -- soundness ---------------------------------------------------------------------------------
    def _is_number(self, value: tuple[int, str], left: set[tuple[int, str]]) -> bool:
        """Whether a variable is never NaN, or is NaN only where a remaining one is.

        The sine and the cosine of one angle are NaN at the same points.
        """
        number, kind = value
        node = self._values[number]
        if not self._atoms.leaf(node).total:
            return False
        if not kind or any(each == number and other for each, other in left):
            return True
        return self._atoms.leaf(_function(kind, node)).total

    def _keeps_digits(self, poly: Poly) -> bool:
        """Whether no digits cancel: the terms have one sign, or the user wrote this sum.

        Of values with numbers before them the judge may tell, but not 1 - cos x for a square of the
        sine.
        """
        if len({coef > 0 for coef in poly.values()}) < 2 or _key(poly) in self._given:
            return True
        plain = without_common(poly)
        return is_plain(plain) and (() not in plain or all(not kind for _, kind in variables(poly)))

    def _is_nonzero(self, poly: Poly, rest: Poly) -> bool:
        """Whether a polynomial is never 0, or only where the remaining denominator is 0, too."""
        if len(poly) == 1:
            return all(
                kind == COSINE or (not kind and self._atoms.leaf(self._values[number]).nonzero)
                for number, kind in variables(poly)
            )
        if divided(product(rest, rest), poly) is not None:
            return True
        if any(kind for _, kind in variables(poly)):
            return False
        if self._is_one_and_tanh(poly) or self._is_difference_of_distinct(poly):
            return True
        atom, _ = self._atoms.closed(SUM, self._expr(poly, lambda node: node))
        return atom.nonzero

    def _is_one_and_tanh(self, poly: Poly) -> bool:
        """Whether it is c (1 + tanh) or c (1 - tanh), which are 0 only by rounding."""
        inside = variables(poly)
        if len(inside) != 1 or len(poly) != 2 or () not in poly:
            return False
        ((number, _),) = inside
        ((power, coef),) = [(sum(p for _, p in each), c) for each, c in poly.items() if each]
        return (
            self._values[number].op.traits.angle == _TANH
            and power == 1
            and abs(coef) == abs(poly[()])
        )

    def _is_difference_of_distinct(self, poly: Poly) -> bool:
        """Whether it is c (x - y) of values that are known to differ."""
        if len(poly) != 2 or () in poly or not is_plain(poly) or sum(poly.values()) != 0:
            return False
        x, y = [self._values[number] for number, _ in variables(poly)]
        return order(x, y, self._atoms.knowledge) != 0

    # -- quotients of values -----------------------------------------------------------------------
    def _ratio(self, node: Node) -> Quotient:
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
        return node.operands if is_rational(node.op) and not node.copy else ()

    def _array(self, node: Node, kind: str) -> Quotient:
        number = self._numbers.get(node)
        if number is None:
            number = self._numbers[node] = len(self._values)
            self._values.append(node)
        return Quotient({(((number, kind), 1),): 1}, {}, frozenset({(number, kind)}))

    def _found(self, node: Node) -> Quotient | None:
        number = repeated_number(stretched(node))
        if number is not None and number.dtype.kind in "iuf":
            value = coefficient(number)
            return Quotient({(): value}, {}) if is_exact(value) and value else None
        if node.copy or node.dtype.kind != "f":
            return None
        angle = node.op.traits.angle
        if angle is not None and angle.square == 1:
            if angle.part != "tangent":
                return self._array(node.operands[0], angle.part)
            sine, cosine = (self._array(node.operands[0], kind) for kind in (SINE, COSINE))
            return self.quotient(sine, cosine)
        if node.op in (exp.op, sigmoid.op):
            return self._logistic(node)
        # An array stands at the indices of the value, so it has its shape; a number has any.
        if not is_rational(node.op) or any(
            each.shape not in ((), node.shape) and self._known[each].made_of
            for each in node.operands
        ):
            return None
        found = value_of(self, node.op, [self._known[each] for each in node.operands])
        if found is None or not _is_small(found):
            return None
        if len(node.op.traits.combination) > 1 and not found.below:
            single = all(len(self._known[each].above) == 1 for each in node.operands)
            if is_plain(found.above) or (single and is_multilinear(found.above)):
                self._given.add(_key(monic(found.above)[1]))
        return found

    def _logistic(self, node: Node) -> Quotient | None:
        """A sigmoid by another one, s, of the opposite value: 1 - s; and exp as s / (1 - s)."""
        value, sign = _signed(node.operands[0])
        found, other = self._sigmoids.get(value, (node, 0))
        if found is node or not other or found.dtype != node.dtype or found.shape != node.shape:
            return None
        above = self._array(found, "")
        below = self.sum(Quotient({(): 1}, {}), self.negative(above))
        if below is None or node.op is sigmoid.op:
            return below
        return self.quotient(above, below) if sign == other else self.quotient(below, above)

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
        if not a.above or not _is_small(a):
            return None
        above, below, short = a.above, dict(a.below), a.short
        for key, (poly, _) in a.below.items():
            while key in below and (less := divided(above, poly)) is not None:
                _, power = below.pop(key)
                if power > 1:
                    below[key] = (poly, power - 1)
                elif not (self._is_nonzero(poly, _all_of(below)) or self._atoms.granted()):
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
                below[_key(less)] = (less, 1 + below.get(_key(less), (less, 0))[1])
            if self._is_nonzero(above, _all_of(below)) or self._atoms.granted():
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
        return a._replace(above=above, below={} if below == {(): 1} else {_key(below): (below, 1)})

    def whole(self, a: Quotient) -> int | None:
        """The quotient as a nonzero whole number that is small enough for a power, else None."""
        number = a.above.get(()) if len(a.above) == 1 and not a.below else None
        return number if isinstance(number, int) and 0 < abs(number) <= _HIGHEST else None


def _met(poly: Poly, variable: RingVariable) -> dict[Monomial, Monomial]:
    """Monomials y s of the variable s, each with y, if that has the opposite coefficient."""
    found: dict[Monomial, Monomial] = {}
    for monomial, coef in poly.items():
        by = tuple([each for each in monomial if each != (variable, 1)])
        if len(by) < len(monomial) and poly.get(by, 0) == -coef:
            found[monomial] = by
    return found


def _signed(node: Node) -> tuple[Node, int]:
    """A value without its sign, and the sign."""
    return (node.operands[0], -1) if node.op is negative.op and not node.copy else (node, 1)


def _sigmoid(node: Node, sign: int) -> Node:
    """The sigmoid of a value or of its negative."""
    return sigmoid(Array(node) if sign > 0 else -Array(node)).node


def _function(kind: str, node: Node) -> Node:
    """The sine or cosine of a value."""
    return ANGLES[Angle(SINE if kind == SINE else COSINE)](Array(node)).node


# -- polynomials -----------------------------------------------------------------------------------
def _key(poly: Poly) -> PolynomialKey:
    return tuple(sorted(poly.items()))


def _all_of(below: Mapping[PolynomialKey, tuple[Poly, int]]) -> Poly:
    whole: Poly = {(): 1}
    for poly, _ in below.values():
        whole = product(whole, poly)
    return whole


def _is_small(a: Quotient) -> bool:
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
