"""Writes an expression as the operations that a person would write, as few as can be found.

A sum is written term by term, and also with common factors taken out. A factor may be taken out
across a summed index: X.T @ a - X.T @ b becomes X.T @ (a - b). The cheaper spelling is kept; nodes
that are computed anyway are free. `plan` orders each product. Signs and numbers move outward until
a subtraction or the result absorbs them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Container, Sequence
from math import inf

from ...accuracy import Judge
from ...ir.dims import Dim
from ...ir.node import Node
from ..expression.atoms import one
from ..expression.exact_numbers import Coef
from ..expression.term import Expr, Term, index_sizes
from ..normal_form.normalize import NormalForm
from .array_operations import ArrayOperations
from .flat_writer import FlatWriter
from .indexed_arrays import IndexedArray
from .repeated_sums import gathered
from .stable_exponentials import StableExponentials
from .sum_spellings import SPELLINGS
from .term_writer import Scaled, TermWriter, Unwritable
from .use_counts import Price

__all__ = ["ExpressionWriter", "Unwritable"]

_MOST_PRODUCTS = 150
"""When this many products are planned for one region, no further spellings of it are tried."""

_FAR_LONGER, _LONGER = 3, 4
"""If a sum, term by term, has more than 3 n + 4 operations, where n are of use, no factor is taken
out of it. Of 1,010 such sums in gradients three would have become short enough."""


class ExpressionWriter:
    """Writes expressions as nodes.

    Parameters
    ----------
    normal : NormalForm
    spelling : ArrayOperations
    price : callable
        The price of a node beyond the nodes that are computed anyway.
    size_of : callable
        The length of a dimension, as it is used to compare costs.
    sum_of : callable
        The known array that a sum is a multiple of, as number, node and indices; else None.
    with_products : callable
        The expression over products that are computed anyway; itself if it has none.
    order : sequence of int
        The indices of the result, in order.
    judge : Judge, optional
        If given, spellings of a sum that lose digits beside another one are dropped.
    steady : bool
        Whether to divide before multiplying, and by x twice, not by its square.
    cubes : bool
        Whether to divide by x and its square, not by its cube, if `steady`.
    most : float
        The most operations of a spelling that is of use; others may be left out.
    """

    def __init__(
        self,
        normal: NormalForm,
        spelling: ArrayOperations,
        price: Callable[[Node], Price],
        size_of: Callable[[Dim], float],
        sum_of: Callable[[Expr], tuple[Coef, Node, tuple[int | None, ...]] | None],
        with_products: Callable[[Expr], Expr],
        order: Sequence[int],
        judge: Judge | None = None,
        *,
        steady: bool = False,
        cubes: bool = False,
        most: float = inf,
    ) -> None:
        self.normal = normal
        self.most = most
        self.cut = False
        """Whether a spelling was left out because it would have more operations than `most`."""
        self.atoms = normal.atoms
        self.spelling = spelling
        self.price = price
        how = {"steady": steady, "cubes": cubes}
        self.terms = TermWriter(normal, spelling, price, size_of, order, **how)
        self.sums = FlatWriter(self.terms)
        self.judge = judge
        self.sum_of = sum_of
        self.with_products = with_products
        # A weak reference back to this writer, so that both die without the garbage collector.
        self.stable = StableExponentials(
            normal, spelling, weakref.proxy(self), steady=judge is not None
        )
        self._sums: dict[frozenset[tuple[Term, Coef]], Scaled] = {}
        self._leaf_sums: dict[frozenset[tuple[Term, Coef]], Scaled] = {}
        self._indices: dict[Dim, list[int]] = {}

    # -- sums --------------------------------------------------------------------------------------
    def written(self, expr: Expr, *, given: bool = False) -> IndexedArray:
        """The expression as one piece; with `given` also over products that are computed anyway."""
        coef, piece = found = self.sum(expr, given=given)
        if coef < 0 and len(expr) == 1:
            # A number that is written anyway may absorb the sign, or a difference may be reversed.
            found = min([found, *self.terms.turned(self.stable.expr(expr))], key=self.terms.price)
            coef, piece = found
        return self.spelling.times(piece, coef)

    def cheaper(self, options: list[Callable[[], IndexedArray]]) -> IndexedArray:
        """The cheapest piece; the first one if several are."""
        pieces = [option() for option in options]
        return min(pieces, key=lambda piece: self.price(piece.node))

    def sum(self, expr: Expr, *, given: bool = False) -> Scaled:
        """The expression as a number times a piece."""
        if not expr:
            return one, IndexedArray(self.spelling.constant(0), ())
        key = frozenset(expr.items())
        found = self._sums.get(key)
        if found is None:
            self.spelling.sizes.update(index_sizes(expr))
            found = self._known_sum(expr) or self.sum_of_leaves(self.stable.expr(expr))
            joint = gathered(self.normal, expr)
            if joint is not None:
                found = self._least([found, self.sum_of_leaves(self.stable.expr(joint))])
            over = self.with_products(expr) if given else expr
            if over is not expr:
                found = self._least([found, self.sum_of_leaves(self.stable.expr(over))])
            self._sums[key] = found
        return found

    def _known_sum(self, expr: Expr) -> Scaled | None:
        """The sum as a multiple of an array that is computed anyway; None if there is none."""
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

    def free_index(self, size: Dim, used: Container[int]) -> int:
        """The first index of this size that is not used, so that equal sums have equal names."""
        known = self._indices.setdefault(size, [])
        for index in known:
            if index not in used:
                return index
        known.append(self.atoms.fresh())
        return known[-1]

    def is_too_long(self, piece: IndexedArray) -> bool:
        """Whether a piece alone has more operations than a spelling may have."""
        if self.price(piece.node)[0] <= self.most:
            return False
        self.cut = True
        return True

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
        count = self.terms.price(options[0][1])[0]
        if count > _FAR_LONGER * self.most + _LONGER:
            self.cut = True
            return options[0][1]
        if count <= 1 and self.judge is None:
            return options[0][1]  # No sum of two terms takes less.
        for spelling in SPELLINGS:
            if spelling.fewest <= len(expr) <= spelling.most:
                options.extend((spelling.name, each) for each in spelling.step(self, expr))
        best = self._least([each for _, each in options])
        name = next(name for name, each in options if each is best)
        if name:
            self.spelling.note(best[1].node, name)
        return best

    def _least(self, options: list[Scaled]) -> Scaled:
        """The cheapest option, among those with at most 2.5 times the least flops."""
        if len(options) == 1:
            return options[0]
        options = self._as_good(options)
        prices = [self.terms.price(each) for each in options]
        most = 2.5 * min(price[1] for price in prices)
        best = min(range(len(options)), key=lambda i: (prices[i][1] > most, prices[i], i))
        return options[best]

    def _as_good(self, options: list[Scaled]) -> list[Scaled]:
        """The options that lose no digits beside the best one, by the judge."""
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
