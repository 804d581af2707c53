"""Writes a sum term by term, with subtractions, a common sign or number, expm1 and tanh."""

from __future__ import annotations

from ...ops.elementwise import add, multiply, subtract
from ...ops.exponential import exp, expm1, sigmoid
from ...ops.indexing import embed
from ...ops.trigonometric import tanh
from ..expression.atoms import one
from ..expression.canonical_indices import canonical_term
from ..expression.exact_numbers import Coef, quotient, times
from ..expression.term import LEAF, ONE, Expr, Term, added
from ..normal_form.factors import RawFactor
from .indexed_arrays import IndexedArray
from .term_writer import Scaled, TermWriter

__all__ = ["FlatWriter"]


class FlatWriter:
    """Adds up products without taking factors out.

    Parameters
    ----------
    terms : TermWriter
    """

    def __init__(self, terms: TermWriter) -> None:
        self.terms = terms
        self.atoms = terms.atoms
        self.spelling = terms.spelling

    def flat(self, expr: Expr) -> Scaled:
        """The sum, term by term."""
        if len(expr) == 2 and ONE in expr:
            found = self._one_function(expr)
            if found is not None:
                return found
        signs = [coef > 0 for coef in expr.values()]
        sizes = {abs(coef) for coef in expr.values()}
        common = sizes.pop() if len(sizes) == 1 and 0 not in sizes else 1
        if not any(signs):
            common = -common
        if ONE in expr and len(expr) > 1 and not any(signs):
            # -1 - x, not -(1 + x).
            common = 1
        parts: list[tuple[bool, IndexedArray]] = []
        for term, coef in expr.items():
            if term == ONE and not any(signs):
                continue
            if term == ONE:
                # x - 1, not -1 + x, as in the rules.
                number = self.spelling.constant(abs(quotient(coef, common)))
                parts.append((coef * common > 0, IndexedArray(number, ())))
                continue
            by, piece = self._signed_product(term, quotient(coef, common))
            parts.append((by > 0, self.spelling.times(piece, abs(by))))
        if ONE in expr and not any(signs):
            # A written term may have become positive: x - 1, not -1 + x.
            plus = not any(sign for sign, _ in parts)
            number = expr[ONE] if plus else -expr[ONE]
            parts.append((plus, IndexedArray(self.spelling.constant(number), ())))
        if len(parts) > 1 and not any(sign for sign, _ in parts):
            parts = self._one_turned(parts)
        sign, piece = self._total(parts)
        return times(common, sign), piece

    def _signed_product(self, term: Term, coef: Coef) -> Scaled:
        """A term with its sign. 1 / x is subtracted, unless adding -1 / x is cheaper."""
        by, piece = self.terms.product(term, coef)
        if coef < 0 < by:
            other, turned = self.terms.product(term, -coef)
            if self.terms.price((other, turned)) <= self.terms.price((by, piece)):
                return -other, turned
        return by, piece

    def _one_turned(
        self, parts: list[tuple[bool, IndexedArray]]
    ) -> list[tuple[bool, IndexedArray]]:
        """The negative terms, one of them replaced by its negative if that is computed anyway."""
        for place, (_, piece) in enumerate(parts):
            turned = self.spelling.times(piece, -1)
            if self.spelling.alive(turned.node):
                return [*parts[:place], (True, turned), *parts[place + 1 :]]
        return parts

    def first_turned(self, expr: Expr) -> list[Scaled]:
        """-x - y as (-x) - y, because -x may be computed anyway, and -(x + y) does not use it."""
        if any(coef > 0 for coef in expr.values()) or ONE in expr:
            return []
        first = next(iter(expr))
        by, piece = self.terms.product(first, expr[first])
        leaf: RawFactor = (self.atoms.made(self.spelling.times(piece, by).node), piece.names, one)
        rest = [item for item in expr.items() if item[0] is not first]
        whole = added([(canonical_term([leaf], {}), one), *rest])
        # A value and a known multiple of it may cancel to an empty sum.
        return [self.flat(whole)] if whole else []

    def _one_function(self, expr: Expr) -> Scaled | None:
        r"""$c e^x - c$ as $c$ expm1 x, $2 c \sigma(x) - c$ as $c \tanh(x / 2)$; else None.

        Both keep digits for small x. Where the exp or sigmoid is computed anyway, a number is
        subtracted: that takes fewer operations than another exponential.
        """
        (term,) = [each for each in expr if each != ONE]
        if term.bound or len(term.factors) != 1:
            return None
        (factor,) = term.factors
        node, by = factor.atom.node, -expr[ONE]
        if factor.atom.kind != LEAF or factor.power != 1 or self.spelling.alive(node):
            return None
        if node.op is exp.op and expr[term] == by:
            new = self.spelling.call(expm1, *node.operands)
        elif node.op is sigmoid.op and expr[term] == 2 * by:
            half = self.spelling.call(multiply, self.spelling.constant(0.5), *node.operands)
            new = self.spelling.call(tanh, half)
        else:
            return None
        leaf: RawFactor = (self.atoms.made(new), factor.idx, one)
        return self.terms.product(canonical_term([leaf], {}), by)

    def _total(self, parts: list[tuple[bool, IndexedArray]]) -> Scaled:
        """The signed sum. Arrays over the same indices are added first."""
        groups: dict[frozenset[int], list[tuple[bool, IndexedArray]]] = {}
        for part in parts:
            groups.setdefault(frozenset(part[1].names), []).append(part)
        rows = sorted(groups.values(), key=lambda group: len(group[0][1].names))
        total: tuple[bool, IndexedArray] | None = None
        for group in rows:
            ordered = [each for sign in (True, False) for each in self._slices_joined(group, sign)]
            joined = ordered[0]
            for part in ordered[1:]:
                joined = self._joined(joined, part)
            total = joined if total is None else self._joined(total, joined)
        assert total is not None
        return (1 if total[0] else -1), total[1]

    def _slices_joined(
        self, parts: list[tuple[bool, IndexedArray]], sign: bool
    ) -> list[tuple[bool, IndexedArray]]:
        """The pieces of one sign; zero-padded arrays with adjacent slices are joined."""
        chosen = [piece for plus, piece in parts if plus == sign]
        place = 0
        while place < len(chosen):
            for other in chosen[place + 1 :] if _is_padded(chosen[place]) else ():
                if _is_padded(other):
                    whole = self.spelling.joined(chosen[place], other)
                    if whole is not None:
                        chosen[place] = whole
                        chosen.remove(other)
                        place = -1
                        break
            place += 1
        return [(sign, piece) for piece in chosen]

    def _joined(
        self, a: tuple[bool, IndexedArray], b: tuple[bool, IndexedArray]
    ) -> tuple[bool, IndexedArray]:
        if a[0] == b[0]:
            return a[0], self.spelling.binary(add, a[1], b[1])
        if b[0]:
            a, b = b, a
        return True, self.spelling.binary(subtract, a[1], b[1])


def _is_padded(piece: IndexedArray) -> bool:
    return piece.node.op is embed.op
