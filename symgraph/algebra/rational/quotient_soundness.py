"""Whether factors may cancel in a quotient, and whether its sums keep their digits."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.node import Node
from ...ir.traits import Angle
from ..expression.atoms import AtomTable
from ..expression.term import SUM
from .distinct import order
from .polynomial_ring import COSINE, Poly, divided, is_plain, product, variables, without_common
from .quotient_arithmetic import PolynomialKey, key_of
from .quotient_writer import QuotientWriter, function_of

__all__ = ["QuotientSoundness"]

_TANH = Angle("tangent", -1)


class QuotientSoundness:
    """What may be done with polynomials in the values of a graph.

    Parameters
    ----------
    atoms : AtomTable
    values : sequence of Node
        The values that the variables of the polynomials stand for, by number.
    writer : QuotientWriter

    Attributes
    ----------
    given : set
        Sums that the user wrote, by key.
    """

    def __init__(self, atoms: AtomTable, values: Sequence[Node], writer: QuotientWriter) -> None:
        self._atoms = atoms
        self._values = values
        self._writer = writer
        self.given: set[PolynomialKey] = set()

    def is_number(self, value: tuple[int, str], left: set[tuple[int, str]]) -> bool:
        """Whether a variable is never NaN, or is NaN only where a remaining one is.

        The sine and the cosine of one angle are NaN at the same points.
        """
        number, kind = value
        node = self._values[number]
        if not self._atoms.leaf(node).total:
            return False
        if not kind or any(each == number and other for each, other in left):
            return True
        return self._atoms.leaf(function_of(kind, node)).total

    def keeps_digits(self, poly: Poly) -> bool:
        """Whether no digits cancel: the terms have one sign, or the user wrote this sum.

        Of values with numbers before them the judge may tell, but not 1 - cos x for a square of the
        sine.
        """
        if len({coef > 0 for coef in poly.values()}) < 2 or key_of(poly) in self.given:
            return True
        plain = without_common(poly)
        return is_plain(plain) and (() not in plain or all(not kind for _, kind in variables(poly)))

    def may_cancel(self, poly: Poly, rest: Poly) -> bool:
        """Whether a factor may cancel beside the rest of the denominator."""
        return self._is_nonzero(poly, rest) or self._atoms.granted()

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
        atom, _ = self._atoms.closed(SUM, self._writer.expr(poly, lambda node: node))
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
