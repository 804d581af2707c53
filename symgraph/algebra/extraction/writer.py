"""From an expression back to the operations a person would write, as few of them as can be found.

A sum is written term by term, and with common factors taken out (also across a summed index: X.T @
a - X.T @ b as X.T @ (a - b)); the cheaper spelling is kept, what is computed anyway being free. A
product is planned by `plan`; signs and numbers travel outward until a subtraction or the result
takes them up.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ...accuracy import Judge
from ...ir.dims import Dim
from ...ir.node import Node
from ..expression.atoms import one
from ..expression.term import (
    Coef,
    Expr,
    Term,
    index_sizes,
)
from ..normal_form.normalize import NormalForm
from .flat_writer import FlatWriter
from .indexed_arrays import IndexedArray, Spelling
from .repeated_sums import gathered
from .stable_exponentials import StableExponentials
from .sum_spellings import SPELLINGS
from .term_writer import Scaled, TermWriter, Unwritable

__all__ = ["ExpressionWriter", "Unwritable"]

_MOST_PRODUCTS = 150
"""So many products planned for one region, no further spellings of it are tried."""


class ExpressionWriter:
    """Writes expressions as nodes.

    Parameters
    ----------
    normal : NormalForm
    spelling : Spelling
    price : callable
        What a node costs beyond what is computed anyway.
    size_of : callable
        A number for a dimension.
    sum_of : callable
        The array that a sum is known to be, with a number and indices; None if there is none.
    order : sequence of int
        The indices of the result, in order.
    judge : Judge, optional
        Asked whether one way to write a sum loses digits that another keeps.
    """

    def __init__(
        self,
        normal: NormalForm,
        spelling: Spelling,
        price: Callable[[Node], Any],
        size_of: Callable[[Dim], float],
        sum_of: Callable[[Expr], Any],
        order: Sequence[int],
        judge: Judge | None = None,
    ) -> None:
        self.normal = normal
        self.atoms = normal.atoms
        self.spelling = spelling
        self.price = price
        self.terms = TermWriter(normal, spelling, price, size_of, order)
        self.sums = FlatWriter(self.terms)
        self.judge = judge
        self.sum_of = sum_of
        # Held weakly, for it is this writer's own: the two would live until collected.
        self.stable = StableExponentials(
            normal, spelling, weakref.proxy(self), steady=judge is not None
        )
        self._sums: dict[frozenset[tuple[Term, Coef]], Scaled] = {}
        self._leaf_sums: dict[frozenset[tuple[Term, Coef]], Scaled] = {}

    # -- sums --------------------------------------------------------------------------------------
    def written(self, expr: Expr) -> IndexedArray:
        """The expression as one piece."""
        coef, piece = found = self.sum(expr)
        if coef < 0 and len(expr) == 1:
            # The sign may go into a number that is written anyway, or turn a difference round.
            found = min([found, *self.terms.turned(self.stable.expr(expr))], key=self.terms.price)
            coef, piece = found
        return self.spelling.times(piece, coef)

    def cheaper(self, options: list[Callable[[], IndexedArray]]) -> IndexedArray:
        """The first of the cheapest pieces."""
        pieces = [option() for option in options]
        return min(pieces, key=lambda piece: self.price(piece.node))

    def sum(self, expr: Expr) -> Scaled:
        """The expression as a number times a piece."""
        self.spelling.sizes.update(index_sizes(expr))
        if not expr:
            return one, IndexedArray(self.spelling.constant(0), ())
        key = frozenset(expr.items())
        found = self._sums.get(key)
        if found is None:
            found = self._known_sum(expr) or self.sum_of_leaves(self.stable.expr(expr))
            joint = gathered(self.normal, expr)
            if joint is not None:
                found = self._least([found, self.sum_of_leaves(self.stable.expr(joint))])
            self._sums[key] = found
        return found

    def _known_sum(self, expr: Expr) -> Scaled | None:
        """The sum as an array that is computed anyway."""
        if any(f.atom.rank < 0 for term in expr for f in term.factors):
            return None
        known = self.sum_of(expr)
        if known is None or not self.spelling.alive(known[1]):
            return None
        coef, node, labels = known
        return coef, IndexedArray(node, labels)

    def sum_of_leaves(self, expr: Expr) -> Scaled:
        """The cheapest spelling of a sum over arrays."""
        key = frozenset(expr.items())
        found = self._leaf_sums.get(key)
        if found is None:
            found = self._known_sum(expr) or self._cheapest_sum(expr)
            self._leaf_sums[key] = found
        return found

    def _cheapest_sum(self, expr: Expr) -> Scaled:
        self.spelling.sizes.update(index_sizes(expr))
        if len(expr) == 1:
            ((term, coef),) = expr.items()
            return self.terms.product(term, coef)
        if not expr:
            return one, IndexedArray(self.spelling.constant(0), ())
        options = [("", self.sums.flat(expr))]
        if len(self.terms.products) > _MOST_PRODUCTS:
            return options[0][1]
        for spelling in SPELLINGS:
            if spelling.fewest <= len(expr) <= spelling.most:
                options.extend((spelling.name, each) for each in spelling.step(self, expr))
        best = self._least([each for _, each in options])
        name = next(name for name, each in options if each is best)
        if name:
            self.spelling.note(best[1].node, name)
        return best

    def _least(self, options: list[Scaled]) -> Scaled:
        """The cheapest, of those whose work is not far above the least."""
        if len(options) == 1:
            return options[0]
        options = self._as_good(options)
        prices = [self.terms.price(each) for each in options]
        most = 2.5 * min(price[1] for price in prices)
        best = min(range(len(options)), key=lambda i: (prices[i][1] > most, prices[i], i))
        return options[best]

    def _as_good(self, options: list[Scaled]) -> list[Scaled]:
        """Those that lose no digits beside another: the judge is asked."""
        judge = self.judge
        if judge is None:
            return options
        order = options[0][1].names
        if any(set(piece.names) != set(order) for _, piece in options):
            return options
        nodes = [
            self.spelling.laid(self.spelling.times(piece, coef), order) for coef, piece in options
        ]
        best = nodes[0]
        for node in nodes[1:]:
            if judge.loses(best, node) and not judge.loses(node, best):
                best = node
        return [
            option
            for option, node in zip(options, nodes, strict=True)
            if node is best or not judge.loses(node, best)
        ]
