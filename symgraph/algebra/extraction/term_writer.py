"""Writes one term, a product of arrays summed over indices, as operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import TypeAlias

import numpy as np

from ...facts import one_hot, total
from ...ir.dims import Dim
from ...ir.node import Node
from ...ops.creation import eye
from ...ops.diagonals import diagonal
from ...ops.elementwise import divide, multiply, reciprocal
from ...ops.exponential import exp
from ...ops.indexing import getitem
from ...ops.softmax import softmax
from ..expression.atoms import AtomTable, one
from ..expression.canonical_indices import canonical_term
from ..expression.exact_numbers import Coef, Rational, quotient, times
from ..expression.term import DELTA, DIM, LEAF, Atom, Expr, Term
from ..normal_form.factors import Factors, RawFactor
from ..normal_form.normalize import NormalForm
from .array_operations import ArrayOperations
from .contraction_order import (
    CONTRACT,
    INVERT,
    REDUCE,
    PlanOperand,
    PlanStep,
    contraction_kind,
    plan,
)
from .dimension_factors import times_sizes
from .indexed_arrays import IndexedArray
from .solves import sum_as_solve, written_as_solve
from .use_counts import Price
from .variants import Variants

__all__ = ["Scaled", "TermWriter", "Unwritable"]


Scaled: TypeAlias = "tuple[Coef, IndexedArray]"
Row: TypeAlias = "tuple[IndexedArray, PlanOperand]"

_EXPS = (exp.op, softmax.op)

_SIMPLE = (1, 2, Fraction(1, 2))
"""Powers that have an operation of their own."""

_SPLIT = (-2, Fraction(-3, 2))
"""Powers that are divided by step by step."""


class Unwritable(Exception):
    """The expression has no spelling in this dtype or within the plan's bounds."""


@dataclass(slots=True)
class _PreparedTerm:
    """A term's arrays and the plan for their product.

    Parameters
    ----------
    by : Coef
        A number that came out of the factors.
    rows : list of Row
        The arrays.
    moves : list of PlanStep, optional
        How to compute their product; None if there are no arrays.
    out : frozenset of int
        The indices of the product.
    sizes : Factors
        Powers of named dimensions.
    run : tuple of IndexedArray and bool, optional
        The product without a number, and whether it is to be divided by: once it is written.
    """

    by: Coef
    rows: list[Row]
    moves: list[PlanStep] | None
    out: frozenset[int]
    sizes: Factors
    run: tuple[IndexedArray, bool] | None = None


class TermWriter:
    """Writes single terms; with `steady`, no divisor is squared that may overflow as a square.

    With `cubes`, too, a cube in the divisor is divided by as x and as its square.
    """

    def __init__(
        self,
        normal: NormalForm,
        spelling: ArrayOperations,
        price: Callable[[Node], Price],
        size_of: Callable[[Dim], float],
        order: Sequence[int],
        *,
        steady: bool,
        cubes: bool = False,
    ) -> None:
        self.normal = normal
        self.atoms: AtomTable = normal.atoms
        self.spelling = spelling
        self.price_of = price
        self.size_of = size_of
        self.order = tuple(order)
        self.steady = steady
        self.split = (*_SPLIT, -3) if cubes else _SPLIT
        self.variants = Variants(normal, spelling)
        self.products: dict[tuple[Term, Coef], Scaled] = {}
        self._terms: dict[tuple[Term, bool], _PreparedTerm] = {}

    def product(self, term: Term, coef: Coef) -> Scaled:
        """The cheapest spelling of a term over leaves: a number times a piece."""
        found = self.products.get((term, coef))
        if found is None:
            found = self._planned(term, coef)
            for name, other, by in self.variants.of(term, coef):
                tried = self._planned(other, times(coef, by))
                if self.price(tried) < self.price(found):
                    found = tried
                    self.spelling.note(tried[1].node, name)
            if term.bound and sum(f.power in (2, -2) for f in term.factors) > 1:
                found = min(found, self._planned(term, coef, joined=True), key=self.price)
            if len(term.bound) > 1 and abs(coef) not in (0, 1):
                # The number last: the contraction may be computed anyway, or be needed twice.
                by, piece = self._planned(term, one)
                found = min(found, (times(by, coef), piece), key=self.price)
            self.products[(term, coef)] = found
        return found

    def turned(self, expr: Expr) -> list[Scaled]:
        """Spellings of a single term that absorb its sign: -f(x - y) as f(y - x)."""
        if len(expr) != 1:
            return []
        ((term, coef),) = expr.items()
        turned = [self._planned(other, times(coef, -1)) for other in self.variants.turned(term)]
        return [self._planned(term, coef, signed=True), *turned]

    def price(self, option: Scaled) -> Price:
        """The price of the piece and of the number before it."""
        coef, piece = option
        count, flops, nodes = self.price_of(piece.node)
        by = self._elements(frozenset(piece.names)) if coef != 1 else 0
        return (count + (coef != 1), flops + by, nodes)

    def _planned(
        self, term: Term, coef: Coef, *, signed: bool = False, joined: bool = False
    ) -> Scaled:
        """The term by the cheapest plan.

        With `signed` a factor absorbs the sign; with `joined` summed squares are joined, too.
        """
        prepared = self._prepared(term, joined)
        coef = times(coef, prepared.by)
        if prepared.moves is None:
            return self._constant(coef, prepared.sizes)
        placings = self._placings(coef, prepared.rows, prepared.out, signed=signed)
        found = [self._done(by, prepared, placed) for by, placed in placings]
        if len(found) == 1:
            return found[0]
        # The sign outside costs the same in every spelling.
        return min(found, key=lambda each: self.price((abs(each[0]), each[1])))

    def _prepared(self, term: Term, joined: bool) -> _PreparedTerm:
        """The term's arrays and the plan for their product: the same whatever number is before."""
        found = self._terms.get((term, joined))
        if found is not None:
            return found
        factors, bound = self.normal.opened_term(term)
        self.spelling.sizes.update(bound)
        for atom, idx, _ in factors:
            self.spelling.sizes.update(zip(idx, atom.sizes, strict=True))
        sizes = [slot for slot in factors if slot[0].kind == DIM]
        by, factors = self._squares_joined(factors, {} if joined else bound)
        several = self.steady and len(factors) > 1
        damped = several and any(
            atom.kind == LEAF and self._is_small(atom.node) for atom, _, _ in factors
        )
        rows = [
            self._row(each)
            for slot in factors
            if slot[0].kind != DIM
            for each in _split_power(slot, bound, self.split if several else (), damped=damped)
        ]
        out = frozenset([i for _, item in rows for i in item.labels if i not in bound])
        moves = None
        if rows:
            moves = plan([item for _, item in rows], out, self._elements, steady=self.steady)
        if rows and moves is None:
            raise Unwritable
        found = self._terms[term, joined] = _PreparedTerm(by, rows, moves, out, sizes)
        return found

    def _done(self, coef: Coef, prepared: _PreparedTerm, rows: list[Row]) -> Scaled:
        moves = prepared.moves or ()
        if rows is not prepared.rows:
            piece, inverse = self._run(moves, rows, prepared.out)
        else:
            piece, inverse = prepared.run or self._run(moves, rows, prepared.out)
            prepared.run = piece, inverse
        if inverse:
            top = IndexedArray(self.spelling.constant(coef), ())
            piece, coef = self.spelling.binary(divide, top, piece), one
        return times_sizes(self.spelling, coef, piece, prepared.sizes)

    def _squares_joined(self, factors: Factors, bound: dict[int, Dim]) -> tuple[Coef, Factors]:
        """a**2 / b**2 as (a / b)**2 and 1 / (a**2 b**2) as 1 / (a b)**2."""
        squares = [
            slot
            for slot in factors
            if slot[2] in (2, -2) and slot[0].kind != DIM and not any(i in bound for i in slot[1])
        ]
        if len(squares) < 2:
            return one, factors
        sign = -1 if all(power < 0 for _, _, power in squares) else 1
        term = canonical_term(
            [(atom, idx, sign if power > 0 else -sign) for atom, idx, power in squares], {}
        )
        by, piece = self.product(term, 1)  # sin(x) cos(x) is sin(2 x) / 2
        rest = [slot for slot in factors if slot not in squares]
        number = times(by, by) if sign > 0 else quotient(1, times(by, by))
        return number, [*rest, (self.atoms.made(piece.node), piece.names, 2 * sign)]

    def _elements(self, labels: frozenset[int]) -> float:
        total = 1.0
        for label in labels:
            total *= self.size_of(self.spelling.sizes[label])
        return total

    def _row(
        self, slot: tuple[Atom, tuple[int, ...], Rational]
    ) -> tuple[IndexedArray, PlanOperand]:
        atom, idx, power = slot
        if power < 0 and abs(power) not in _SIMPLE:
            # x**-3 at once, not 1 / x**3, unless x**3 is computed anyway.
            below = self.spelling.raised(self._leaf(atom, idx), abs(power))
            if not self.spelling.alive(below.node):
                return self.spelling.raised(self._leaf(atom, idx), power), PlanOperand(
                    frozenset(idx), False
                )
        piece = self.spelling.raised(self._leaf(atom, idx), abs(power))
        damped = self.steady and power > 0 and self._is_small(piece.node)
        return piece, PlanOperand(frozenset(idx), power < 0, damped)

    def _is_small(self, node: Node) -> bool:
        """Whether it is an exp that is at most 1, or a softmax: soon next to nothing."""
        return node.op in _EXPS and self.atoms.knowledge.of(node).high < 2  # 1 and a rounding

    def _leaf(self, atom: Atom, idx: tuple[int, ...]) -> IndexedArray:
        if atom.kind == DELTA:
            node = self.spelling.call(eye, atom.payload, dtype=self.spelling.dtype)
            return IndexedArray(node, idx, True)
        node = atom.node
        labels: list[int | None] = [None] * node.ndim
        for place, axis in enumerate(atom.axes):
            labels[axis] = idx[place]
        piece = IndexedArray(node, tuple(labels), atom.symmetric)
        while len(set(piece.names)) < len(piece.names):
            piece = self._diagonal(piece)
        return piece

    def _diagonal(self, piece: IndexedArray) -> IndexedArray:
        names = list(piece.labels)
        twice = next(name for name in piece.names if names.count(name) > 1)
        first = names.index(twice)
        second = names.index(twice, first + 1)
        node = self.spelling.call(diagonal, piece.node, 0, first, second)
        rest = [name for i, name in enumerate(names) if i not in (first, second)]
        return IndexedArray(node, (*rest, twice))

    def _run(
        self,
        moves: Sequence[PlanStep],
        rows: list[tuple[IndexedArray, PlanOperand]],
        out: frozenset[int],
    ) -> tuple[IndexedArray, bool]:
        current = rows
        for move in moves:
            chosen = [current[place] for place in move.places]
            piece = self._moved(move, chosen, out)
            current = [each for i, each in enumerate(current) if i not in move.places]
            current.append((piece, move.result))
        piece, item = current[0]
        return piece, item.inverse

    def _placings(
        self, coef: Coef, rows: list[Row], out: frozenset[int], *, signed: bool
    ) -> list[tuple[Coef, list[Row]]]:
        """The ways to place the number: outside, or on a factor smaller than the result.

        Its sign stays outside unless `signed`, because a subtraction may absorb it there.
        """
        if coef in (0, 1) or (coef == -1 and not signed):
            return [(coef, rows)]
        for place, (piece, item) in enumerate(rows) if coef != -1 else ():
            chosen = None if item.inverse else self.spelling.number_chosen(piece, coef)
            if chosen is not None:
                return [(one, _with(rows, place, chosen))]
            for by in (coef, -coef) if not item.inverse else ():
                scaled = self.spelling.times(piece, by)
                if self.spelling.alive(scaled.node):
                    return [(quotient(coef, by), _with(rows, place, scaled))]
        if len(rows) < 2:
            return [(coef, rows)]
        smallest = min(range(len(rows)), key=lambda i: self._size(rows[i]))
        piece, item = rows[smallest]
        inside = coef if signed else abs(coef)
        if inside == 1 or self._elements(item.labels) >= self._elements(out):
            return [(coef, rows)]
        if not item.inverse:
            placed = _with(rows, smallest, self.spelling.times(piece, inside))
            return [(quotient(coef, inside), placed)]
        # 5 x / s as x / (s / 5), not as (5 / s) x, which overflows for small s. Or the number
        # last, because x / s may be computed anyway.
        below = self.spelling.times(piece, quotient(1, inside))
        return [(coef, rows), (quotient(coef, inside), _with(rows, smallest, below))]

    def _size(self, row: Row) -> tuple[int, bool, float]:
        """A sort key: fewest axes, then fewest elements; inputs last, for others may read them."""
        piece, item = row
        elements = inf if piece.node.is_input else self._elements(item.labels)
        return len(item.labels), item.inverse, elements

    def _moved(
        self, move: PlanStep, chosen: list[tuple[IndexedArray, PlanOperand]], out: frozenset[int]
    ) -> IndexedArray:
        if move.kind == REDUCE:
            ((piece, item),) = chosen
            gone = sorted(item.labels - move.result.labels)
            found = sum_as_solve(self.spelling, piece, gone[0]) if len(gone) == 1 else None
            return found or self.spelling.summed(piece, gone)
        if move.kind == INVERT:
            return self.spelling.unary(reciprocal, chosen[0][0])
        (a, item), (b, other) = chosen
        if move.kind == CONTRACT:
            gone = sorted((item.labels | other.labels) - move.result.labels)
            if len(gone) == 1:
                found = written_as_solve(self.spelling, a, b, gone[0]) or self._picked(
                    a, b, gone[0]
                )
                if found is not None:
                    return found
            kind = contraction_kind(item.labels, other.labels, frozenset(gone))
            return self.spelling.contracted(a, b, gone, kind, self.order)
        if item.inverse == other.inverse:
            if b.node.op is multiply.op and a.node.op is not multiply.op:
                a, b = b, a  # a * b * c is read more easily than c * (a * b)
            return self.spelling.binary(multiply, a, b)
        if item.inverse:
            a, b = b, a
        return self.spelling.binary(divide, a, b)

    def _picked(self, a: IndexedArray, b: IndexedArray, gone: int) -> IndexedArray | None:
        """The product with a constant row of the identity matrix, as one element; else None."""
        for row, other in ((a, b), (b, a)):
            if not row.node.is_constant or row.labels != (gone,) or gone not in other.names:
                continue
            # The elements left out must be finite: 0 times infinity is NaN.
            known = self.atoms.knowledge.of
            if known(row.node).has(one_hot(-1)) and known(other.node).has(total):
                place = int(np.argmax(row.node.params["value"]))
                index = tuple([place if label == gone else slice(None) for label in other.labels])
                node = self.spelling.call(getitem, other.node, index)
                return IndexedArray(node, tuple([label for label in other.labels if label != gone]))
        return None

    def _constant(self, coef: Coef, sizes: Factors) -> Scaled:
        number = IndexedArray(self.spelling.constant(coef), ())
        return times_sizes(self.spelling, one, number, sizes)


def _with(rows: list[Row], place: int, piece: IndexedArray) -> list[Row]:
    """The rows with another array at one place."""
    return [*rows[:place], (piece, rows[place][1]), *rows[place + 1 :]]


def _split_power(
    slot: RawFactor, bound: dict[int, Dim], apart: Sequence[Rational], *, damped: bool
) -> list[RawFactor]:
    """A squared vector that is summed becomes the vector twice: x @ x.

    A higher power in the divisor, one of `apart`, is divided by step by step, x**1.5 as x and
    sqrt(x): the power may overflow where the quotients do not. With `damped` another factor is at
    most 1, and (E x) x may be a number where x**2 is not.
    """
    atom, idx, power = slot
    if power == 2 and (damped or (len(idx) == 1 and idx[0] in bound)):
        return [(atom, idx, 1), (atom, idx, 1)]
    if power in apart and not (power == -3 and _is_root(atom)):
        return [(atom, idx, -1), (atom, idx, power + 1)]
    return [slot]


def _is_root(atom: Atom) -> bool:
    """Whether an array is a root, whose square is below it."""
    return atom.kind == LEAF and (atom.node.op.traits.exponent or 1) < 1
