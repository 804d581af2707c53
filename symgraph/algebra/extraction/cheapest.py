"""Writes expressions as nodes, in the shape of the node that they replace."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from math import inf
from typing import Any, NamedTuple

import numpy as np

from ...accuracy import Judge
from ...ir.node import Node, Origin, origin
from ...ops.movement import broadcast_to, reshape
from ..expression.atoms import open_axes
from ..expression.exps import holds_exps
from ..expression.roles import is_product
from ..expression.term import Expr
from ..normal_form.known_contractions import KnownContractions
from ..normal_form.normalize import NormalForm
from .array_operations import ArrayOperations
from .indexed_arrays import IndexedArray
from .solves import inverses_twice
from .use_counts import Price, UseCounts
from .writer import ExpressionWriter, Unwritable

__all__ = ["CheapestSpellings", "rewritten"]


_MOST_PRODUCTS = 6
"""The most products to remember for one factor."""


class CheapestSpelling(NamedTuple):
    """The result of the search for a spelling.

    Parameters
    ----------
    node : Node, optional
        The new spelling; None if there is none as good as the old one.
    rescued : bool
        Whether the new spelling is right at arguments of ordinary size where the old one fails.
    refused : bool
        Whether there are spellings, but all lose digits of the old one.
    hopeless : bool
        Whether no spelling is cheaper, and the old one does not fail: no digit was asked for.
    second : bool
        Whether a cheaper spelling loses digits.
    """

    node: Node | None
    rescued: bool = False
    refused: bool = False
    hopeless: bool = False
    second: bool = False


class CheapestSpellings:
    """Spellings of expressions, in one walk over the graph.

    Parameters
    ----------
    normal : NormalForm
    contractions : KnownContractions
    use_counts : UseCounts
        Which nodes are computed anyway.
    given : container of Node
        The nodes of the graph as it was given.
    judge : Judge
        It compares digits and range.
    tried : set of Node
        Values that no spelling chosen for its digits could rescue.
    """

    def __init__(
        self,
        normal: NormalForm,
        contractions: KnownContractions,
        use_counts: UseCounts,
        given: Container[Node],
        judge: Judge,
        tried: set[Node],
    ) -> None:
        self.tried = tried
        self.normal = normal
        self.contractions = contractions
        self.use_counts = use_counts
        self.given = given
        self.judge = judge
        self.told: list[tuple[Expr, str]] = []
        """Options that rest on the insides of arrays, and the identity behind each: what is found
        for one value holds for no other of its structure."""
        self.products: dict[Node, list[Node]] = {}
        self._cut = False
        """Whether the last spellings are without some that have too many operations."""
        self._spellings: dict[np.dtype[Any], ArrayOperations] = {}

    def learn(self, node: Node) -> None:
        """Remember a product of two arrays for each of them."""
        for factor in node.operands if is_product(node) else ():
            known = self.products.setdefault(factor, [])
            if len(known) < _MOST_PRODUCTS:
                known.append(node)

    def written_by(self, node: Node) -> set[str]:
        """The identities by which a value is written."""
        return set().union(*[each.written_by.get(node, ()) for each in self._spellings.values()])

    def cheapest(
        self,
        node: Node,
        now: Node,
        options: list[Expr],
        is_gain: Callable[[Price], bool] | None = None,
        below: Iterable[Node] = (),
        most: float = inf,
    ) -> CheapestSpelling:
        """The cheapest spelling of these expressions that loses no digits.

        If all lose digits, they are written again, and the judge chooses among spellings of sums.
        Where nothing fails and nothing is gained, no digit is asked for.

        Parameters
        ----------
        node, now : Node
            The value as it was before this walk, and as it is now.
        options : list of Expr
            Expressions of the value.
        is_gain : callable, optional
            Whether a spelling of this price is cheaper than the value as it is now. Without it all
            are wanted.
        below : iterable of Node, optional
            Arrays that all spellings need. A value is not rescued where one of these fails, too.
        most : float
            The most operations of a gain.
        """
        found = self._written(node, options, most=most)
        gains = is_gain is None or any(is_gain(self.use_counts.price(each)) for each in found)
        if not gains and not self.judge.fails_anew(now, below):
            self.tried.add(now)
            return CheapestSpelling(None, hopeless=True)
        best = self._first(found, node, now)
        if self._cut and (best is None or not self._is_enough(best, is_gain)):
            found = self._written(node, options)  # Digits decide: longer ones are of use, too.
            best = self._first(found, node, now)
        if found and best is not min(found, key=self.use_counts.price) and _divides(options):
            found += self._written(node, options, steady=True)
            best = self._first(found, node, now)
            if best is not min(found, key=self.use_counts.price) and _divides(options, below=-2):
                found += self._written(node, options, steady=True, cubes=True)
                best = self._first(found, node, now)
        if found and self._is_worth_more(best, now, options, below):
            found += self._written(node, options, self.judge, steady=True)
            best = self._first(found, node, now)
        if best is not None:
            rescuing = [each for each in found if self._rescues(each, best)]
            rescuing.sort(key=self.use_counts.price)
            second = best is not min(found, key=self.use_counts.price)
            best = self._first(rescuing, node, now) or next(iter(rescuing), best)
            spelled = CheapestSpelling(best, rescued=self._rescues(best, now), second=second)
        else:
            rescued = [each for each in found if self._rescues(each, now)]
            best = min(rescued, key=self.use_counts.price, default=None)
            spelled = CheapestSpelling(best, bool(rescued), bool(found))
        if not spelled.rescued:
            self.tried.add(now)
        return spelled

    def of_another(self, like: Node, expr: Expr) -> Node | None:
        """The cheapest spelling of an expression, in the shape and dtype of another value.

        With nothing to compare its digits with, the value that it becomes part of is judged.
        """
        return min(self._written(like, [expr]), key=self.use_counts.price, default=None)

    def _is_enough(self, best: Node, is_gain: Callable[[Price], bool] | None) -> bool:
        """Whether no longer spelling than the best one is of use."""
        short = is_gain is None or is_gain(self.use_counts.price(best))
        return short and not self.judge.fails(best)

    def _is_worth_more(
        self, best: Node | None, now: Node, options: list[Expr], below: Iterable[Node]
    ) -> bool:
        """Whether a spelling chosen for its digits may be better than the best one so far."""
        if now in self.tried:
            return False
        return best is None or (
            any(map(holds_exps, options)) and self.judge.fails_anew(best, below)
        )

    def _rescues(self, new: Node, old: Node) -> bool:
        """Whether `new` is right where `old` fails, so that its cost does not matter."""
        return self.judge.fails(old) and self.judge.rescues(new, old)

    def _first(self, found: list[Node], node: Node, now: Node) -> Node | None:
        """The cheapest node that loses nothing beside the value, before this walk and now."""
        for each in sorted(found, key=self.use_counts.price):
            if not self.judge.loses(each, now) and not self.judge.loses(each, node):
                return each
        return None

    def _written(
        self,
        node: Node,
        options: list[Expr],
        judge: Judge | None = None,
        *,
        most: float = inf,
        **how: bool,
    ) -> list[Node]:
        spelling = self._spellings.get(node.dtype)
        if spelling is None:
            given = self.given.__contains__
            spelling = ArrayOperations(node.dtype, self.use_counts.alive, given, self.products)
            self._spellings[node.dtype] = spelling
        axes = open_axes(node)
        for place, axis in enumerate(axes):
            spelling.sizes[place] = node.shape[axis]
        found: list[Node] = []
        with origin(rewritten(node)):
            writer = first = self._writer(spelling, len(axes), judge, most=most, **how)
            for option in options:
                with suppress(Unwritable, OverflowError):
                    new = _shaped(spelling, writer.written(option), node)
                    found.append(new)
                    for name in [name for expr, name in self.told if expr is option]:
                        spelling.note(new, name)
            for option in options:
                spelling.formed = inverses_twice(option)
                if spelling.formed:
                    writer = self._writer(spelling, len(axes), judge, most=most, **how)
                    with suppress(Unwritable, OverflowError):
                        found.append(_shaped(spelling, writer.written(option), node))
            spelling.formed = set()
        self._cut = first.cut or writer.cut
        return found

    def _writer(
        self,
        spelling: ArrayOperations,
        rank: int,
        judge: Judge | None,
        *,
        most: float,
        **how: bool,
    ) -> ExpressionWriter:
        counts, known = self.use_counts, self.contractions
        return ExpressionWriter(
            *(self.normal, spelling, counts.price, counts.size),
            *(known.sum_of, lambda expr: known.with_products(expr, counts.alive)),
            *(range(rank), judge),
            most=most,
            **how,
        )


def _divides(options: list[Expr], below: int = 0) -> bool:
    """Whether a term has a divisor, so that products and quotients can change places.

    With `below` given it has a power of an array that is less.
    """
    return any(f.power < below for expr in options for term in expr for f in term.factors)


def rewritten(node: Node) -> Origin:
    """The origin of a node that the algebra puts in the place of another one."""
    return node.origin.again("algebra")


def _shaped(spelling: ArrayOperations, piece: IndexedArray, node: Node) -> Node:
    """The piece in the shape of the node it replaces."""
    axes = open_axes(node)
    found = spelling.laid(piece, tuple(range(len(axes))))
    shape = node.shape
    if found.shape == shape:
        return found
    units = [axis for axis in range(-node.ndim, 0) if axis not in axes]
    if units:
        padded = (1,) * (len(axes) - found.ndim) + found.shape
        rest = iter(padded)
        wide = tuple([1 if axis in units else next(rest) for axis in range(-node.ndim, 0)])
        found = spelling.call(reshape, found, wide) if found.shape != wide else found
    return found if found.shape == shape else spelling.call(broadcast_to, found, shape)
