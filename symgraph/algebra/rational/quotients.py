"""Quotients of polynomials in several values, with sines and cosines of angles as variables.

The derivative of sin x / (1 + cos x) is a sum of quotients. Over one denominator, a factor of the
denominator divides the numerator, for cos + cos**2 + sin**2 = 1 + cos. A factor cancels only if it
is not 0, or if it also remains in the denominator, so that both sides are NaN where it is 0. No new
sum may have terms of both signs, for digits could cancel in it.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...ir.node import Node
from ...ops.exponential import exp, sigmoid
from ..expression.atoms import AtomTable
from ..expression.exact_numbers import coefficient, is_exact
from ..expression.leaf_terms import repeated_number, stretched
from ..expression.term import Expr
from .arithmetic import divides_by, is_rational, value_of
from .polynomial_ring import (
    COSINE,
    SINE,
    is_multilinear,
    is_plain,
    monic,
    variables,
)
from .quotient_arithmetic import Quotient, QuotientArithmetic, is_small, key_of
from .quotient_soundness import QuotientSoundness
from .quotient_writer import QuotientWriter, without_sign

__all__ = ["Quotients"]


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
        self._writer = QuotientWriter(atoms, self._values)
        self._sound = QuotientSoundness(atoms, self._values, self._writer)
        self._by = QuotientArithmetic(self._sound.may_cancel)
        self._known: dict[Node, Quotient] = {}
        self.dividing: set[Node] = set()
        self._seen: set[Node] = set()
        self._first: dict[Node, bool] = {}
        self._sigmoids: dict[Node, tuple[Node, int]] = {}

    def learn(self, node: Node) -> None:
        """Note whether a value, or an operand of it, divides by a sum, product or power."""
        if node in self._seen:
            return
        self._seen.add(node)
        if node.op is sigmoid.op and not node.copy:
            value, sign = without_sign(node.operands[0])
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
        if not found.short or not all(map(self._sound.keeps_digits, polys)):
            return None
        self._atoms.granted()  # The licence may have been used for a value inside, long before.
        left = {each for poly in polys for each in variables(poly)}
        # Factors may cancel only if they are never NaN.
        numbers = all(self._sound.is_number(each, left) for each in found.made_of)
        return found if numbers or self._atoms.granted() else None

    def written(self, ratio: Quotient, spelled: Mapping[Node, Node]) -> Expr:
        """The quotient as an expression, with values as they are `spelled` now."""
        return self._writer.written(ratio, spelled)

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
            return self._by.quotient(sine, cosine)
        if node.op in (exp.op, sigmoid.op):
            return self._logistic(node)
        # An array stands at the indices of the value, so it has its shape; a number has any.
        if not is_rational(node.op) or any(
            each.shape not in ((), node.shape) and self._known[each].made_of
            for each in node.operands
        ):
            return None
        found = value_of(self._by, node.op, [self._known[each] for each in node.operands])
        if found is None or not is_small(found):
            return None
        if len(node.op.traits.combination) > 1 and not found.below:
            single = all(len(self._known[each].above) == 1 for each in node.operands)
            if is_plain(found.above) or (single and is_multilinear(found.above)):
                self._sound.given.add(key_of(monic(found.above)[1]))
        return found

    def _logistic(self, node: Node) -> Quotient | None:
        """A sigmoid by another one, s, of the opposite value: 1 - s; and exp as s / (1 - s)."""
        value, sign = without_sign(node.operands[0])
        found, other = self._sigmoids.get(value, (node, 0))
        if found is node or not other or found.dtype != node.dtype or found.shape != node.shape:
            return None
        above = self._array(found, "")
        below = self._by.sum(Quotient({(): 1}, {}), self._by.negative(above))
        if below is None or node.op is sigmoid.op:
            return below
        return self._by.quotient(above, below) if sign == other else self._by.quotient(below, above)
