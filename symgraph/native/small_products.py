"""Products of small matrices, written for their sizes: calling BLAS takes longer than they do.

Each number is a sum of products in order, by fused multiply-adds from zero: over columns of the
right matrix that lie together, a lane of a vector for each; or else along the inner axis, where
each lane has a sum of its own. A few sums run at once where there is nothing else to do meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..records import record
from .integer_instructions import IntegerInstructions
from .writer import BITS, Code, Value

__all__ = ["MOST_WORK", "Matrix", "lies_well", "write_product"]

MOST_WORK = 2**14
"""Multiplications of the largest product."""
_ROWS = 4
"""Rows of the result that share what is loaded of the right matrix."""
_SUMS = 8
"""Vectors of sums in registers."""
_AT_ONCE = 4
"""Sums that are added to at once; a multiply-add takes four cycles."""


@record
class Matrix:
    """Where a matrix lies: its first number, and the steps between rows and between columns."""

    place: str
    row: int
    column: int

    @property
    def turned(self) -> Matrix:
        """The transpose."""
        return Matrix(self.place, self.column, self.row)


def _along(left: Matrix, right: Matrix, k: int) -> bool:
    """Whether the numbers along the inner axis lie together in both."""
    return k == 1 or (left.column == 1 and right.row == 1)


def lies_well(left: Matrix, right: Matrix, n: int, k: int) -> bool:
    """Whether a product of `n` columns and inner length `k` takes the matrices as they lie."""
    return n == 1 or right.column == 1 or _along(left, right, k)


def write_product(
    c: Code, kind: str, register: int, left: Matrix, right: Matrix, out: str, sizes: tuple[int, ...]
) -> None:
    """Write a product to memory.

    Parameters
    ----------
    c : Code
    kind : str
    register : int
        The bytes of a vector.
    left, right : Matrix
        They lie well.
    out : str
        The address of the result, which is in row order.
    sizes : tuple of int
        Rows, columns and the inner length.
    """
    m, n, k = sizes
    if not m * n:
        return
    right = replace(right, column=1 if n == 1 else right.column)
    if n == 1 and left.row == 1 and m > 1:  # The numbers of the result lie together all the same.
        left, right, m, n = right.turned, left.turned, n, m
    along = _along(left, right, k) and (n == 1 or right.column != 1)
    lanes = register // (BITS[kind] // 8)
    while lanes > 1 and lanes // 2 >= (k if along else n):
        lanes //= 2
    product = _Product(c, kind, lanes, left, right, out, n, k)
    rows = min(_ROWS, m)
    write = product.along if along else product.over_columns
    c.loop("0", str(m - m % rows), rows, lambda first: write(first, rows))
    if m % rows:
        write(str(m - m % rows), m % rows)


@dataclass
class _Product(IntegerInstructions):
    c: Code
    kind: str
    lanes: int
    left: Matrix
    right: Matrix
    out: str
    n: int
    k: int

    # -- text ------------------------------------------------------------------------------------
    def at(self, place: str, *terms: tuple[str, int]) -> str:
        """A place so many numbers further: the sum of indices times steps."""
        return self.numbers_on(self.kind, place, *terms)

    def one(self, place: str) -> Value:
        """A single number in each lane."""
        self.c.width = 0
        found = self.c.load(place, self.kind)
        self.c.width = self.lanes
        return self.c.wide(found)

    def vector(self, place: str, count: int) -> Value:
        """Numbers that lie together; lanes beyond the count are 1."""
        self.c.width = self.lanes
        return self.c.load(place, self.kind, self.mask(count))

    def mask(self, count: int) -> Value | None:
        """The lanes below the count; None if all are."""
        if count >= self.lanes:
            return None
        lanes = ", ".join([f"i1 {'true' if q < count else 'false'}" for q in range(self.lanes)])
        return Value(f"<{lanes}>", "i1", self.lanes)

    def vectors(self, length: int) -> list[tuple[int, int]]:
        """Where the vectors of so many numbers begin, and how many numbers each has."""
        return [(at, min(self.lanes, length - at)) for at in range(0, length, self.lanes)]

    def sums(self, count: int) -> list[str]:
        """Variables for sums, which are zero."""
        zero = self.c.number(self.kind, 0.0, self.lanes)
        return [self.c.slot(self.kind, self.lanes, zero) for _ in range(count)]

    def add(self, slot: str, x: Value, y: Value, mask: Value | None = None) -> None:
        """Add a product, in the lanes of the mask."""
        c = self.c
        old = c.get(slot, self.kind, self.lanes)
        found = c.fma(x, y, old)
        c.set(slot, found if mask is None else c.select(mask, found, old))

    def total(self, slots: list[str]) -> Value:
        """The sum of the variables."""
        found = self.c.get(slots[0], self.kind, self.lanes)
        for each in slots[1:]:
            found = self.c.add(found, self.c.get(each, self.kind, self.lanes))
        return found

    def steps(self, count: int, at_once: int, step: Callable[[str, int], None]) -> None:
        """`step` for each number below the count, and which of the sums at once it goes to."""

        def some(first: str) -> None:
            for which in range(at_once):
                step(self.new(f"add i64 {first}, {which}"), which)

        whole = count - count % at_once
        self.c.loop("0", str(whole), at_once, some)
        for which in range(count % at_once):
            step(str(whole + which), which)

    # -- over columns ----------------------------------------------------------------------------
    def over_columns(self, first: str, rows: int) -> None:
        """Some rows of the result, a few vectors of columns at a time."""
        vectors = self.vectors(self.n)
        some = max(1, _SUMS // rows)
        for start in range(0, len(vectors), some):
            self._block(first, rows, vectors[start : start + some])

    def _block(self, first: str, rows: int, vectors: list[tuple[int, int]]) -> None:
        at_once = max(1, _AT_ONCE // (rows * len(vectors)))
        sums = [[self.sums(at_once) for _ in vectors] for _ in range(rows)]
        corner = self.at(self.left.place, (first, self.left.row))

        def step(p: str, which: int) -> None:
            here = self.at(self.right.place, (p, self.right.row))
            right = [self.vector(self.at(here, (str(v), 1)), count) for v, count in vectors]
            for i in range(rows):
                number = self.one(self.at(corner, (p, self.left.column), (str(i), self.left.row)))
                for slots, each in zip(sums[i], right, strict=True):
                    self.add(slots[which], number, each)

        self.steps(self.k, at_once, step)
        for i in range(rows):
            to = self.at(self.out, (first, self.n), (str(i), self.n))
            for slots, (v, count) in zip(sums[i], vectors, strict=True):
                self.c.width = self.lanes
                self.c.store(self.at(to, (str(v), 1)), self.total(slots), self.mask(count))
                self.c.width = 0

    # -- along the inner axis ----------------------------------------------------------------------
    def along(self, first: str, rows: int) -> None:
        """Some rows of the result, a number at a time."""
        self.c.loop("0", str(self.n), 1, lambda j: self._numbers(first, rows, j))

    def _numbers(self, first: str, rows: int, j: str) -> None:
        at_once = max(1, _AT_ONCE // rows)
        sums = [self.sums(at_once) for _ in range(rows)]
        corner = self.at(self.left.place, (first, self.left.row))
        column = self.at(self.right.place, (j, self.right.column))

        def step(p: str, count: int, which: int) -> None:
            right = self.vector(self.at(column, (p, 1)), count)
            for i in range(rows):
                left = self.vector(self.at(corner, (str(i), self.left.row), (p, 1)), count)
                self.add(sums[i][which], left, right, self.mask(count))

        whole, rest = divmod(self.k, self.lanes)
        self.steps(
            whole,
            at_once,
            lambda q, which: step(self.new(f"mul i64 {q}, {self.lanes}"), self.lanes, which),
        )
        if rest:
            step(str(whole * self.lanes), rest, whole % at_once)
        for i in range(rows):
            found = self.c.folded(self.total(sums[i]), self.c.add)
            self.c.width = 0
            to = self.at(self.out, (first, self.n), (str(i), self.n), (j, 1))
            self.c.store(to, found)
