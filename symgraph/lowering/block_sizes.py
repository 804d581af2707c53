"""Blocks of rows: how many rows a loop takes at a time, and from what size on there is a loop.

A statement on a large array reads its operands from memory and writes its result there. A loop runs
a group of statements on a few rows at a time; the values between them stay in the cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from ..ir.avals import Aval
from ..ir.dims import Dim, resolve
from ..records import record

__all__ = ["Loop", "Row", "block_aval"]

VALUE_BYTES = 2**18
"""Bytes of a block of the widest value. A call of NumPy then costs little beside its work, and the
blocks of some ten values fit the cache that the processor's cores share."""
SMALL_BYTES = 2**15
"""The same where memory is short: calls then cost some percent."""
OPERAND_BYTES = 2**20
"""Bytes of a block of a matrix that is read twice: it is still in the cache the second time."""
LEAST_BYTES = 2**21
"""Values of a group that hold fewer bytes in all are computed without a loop: the cache holds
them."""
LEAST_BLOCKS = 3
LEAST_SHARED_BYTES = 2**25
"""Values of a group that hold fewer bytes in all are computed by one thread: handing the calls of
NumPy from one thread to the other takes longer than half of them."""
BEYOND_CACHES = 2**25
"""Bytes of a matrix that is read from memory each time."""
LEAST_RATIO = 4
"""A matrix has so many times the bytes of all else in a loop if reading it decides the time."""
MOST_COMBINED = 1 / 8
"""Of the bytes of a block, how many its part of results over all rows may have: such parts may have
to wait for those of earlier blocks."""


@record
class Row:
    """A value whose rows a loop computes or reads.

    Parameters
    ----------
    aval : Aval
        Of all rows.
    axis : int
        The axis of the rows, counted from the last.
    multiplied : bool
        Whether it is a matrix that is multiplied by vectors.
    """

    aval: Aval
    axis: int
    multiplied: bool = False


@record
class Loop:
    """A loop over blocks of rows.

    Parameters
    ----------
    dim : Dim
        The number of rows.
    rows : tuple of Row
        The values whose rows it computes or reads.
    scratch : tuple of str
        The names of the places that are kept for the values of a block.
    combined : tuple of Aval
        The results over all rows, to which each block adds.
    value_bytes : int
        Bytes of a block of the widest value.
    """

    dim: Dim
    rows: tuple[Row, ...]
    scratch: tuple[str, ...] = ()
    combined: tuple[Aval, ...] = ()
    value_bytes: int = VALUE_BYTES

    @property
    def avals(self) -> tuple[Aval, ...]:
        """Of all that it reads by rows or computes."""
        return (*[each.aval for each in self.rows], *self.combined)

    @property
    def multiplies(self) -> bool:
        """Whether matrices are multiplied by vectors in it."""
        return any(each.multiplied for each in self.rows)

    def rows_of_block(self, sizes: Mapping[str, int]) -> int:
        """How many rows a block has, for these sizes of named dimensions."""
        count = int(resolve(self.dim, sizes))
        if count <= 0:
            return 1
        rows = count
        combined = sum([_nbytes(each, sizes) for each in self.combined])
        # A matrix to which each block adds one of its own takes much of the cache.
        values = self.value_bytes // (2 if 4 * combined >= self.value_bytes else 1)
        for each in self.rows:
            goal = OPERAND_BYTES if each.multiplied else values
            rows = min(rows, max(1, goal * count // max(1, _nbytes(each.aval, sizes))))
        blocks = -(-count // rows)
        return -(-count // blocks)  # All blocks but the last have the same size.

    def pays(self, sizes: Mapping[str, int]) -> bool:
        """Whether the arrays are too large for the cache."""
        total = sum([_nbytes(each.aval, sizes) for each in self.rows])
        count = int(resolve(self.dim, sizes))
        return total >= LEAST_BYTES and count >= LEAST_BLOCKS * self.rows_of_block(sizes)

    def spares_a_matrix(self) -> bool:
        """Whether a matrix that no cache holds is read once instead of twice.

        It must be much larger than all else, and its size known.
        """
        matrices = [each.aval for each in self.rows if each.multiplied]
        others = [each.aval for each in self.rows if not each.multiplied]
        if not all(isinstance(each.nbytes, int) for each in self.avals) or len(matrices) < 2:
            return False
        least = max(BEYOND_CACHES, LEAST_RATIO * sum([_nbytes(each, {}) for each in others]))
        return min([_nbytes(each, {}) for each in matrices]) >= least

    def threads(self, sizes: Mapping[str, int], most: int) -> int:
        """On how many threads the blocks are computed, of at most so many."""
        total = sum([_nbytes(each.aval, sizes) for each in self.rows])
        count = max(1, int(resolve(self.dim, sizes)))
        blocks = -(-count // self.rows_of_block(sizes))
        combined = sum([_nbytes(each, sizes) for each in self.combined])
        if total < LEAST_SHARED_BYTES or combined * blocks > MOST_COMBINED * total:
            return 1
        return max(1, min(most, blocks))


def _nbytes(aval: Aval, sizes: Mapping[str, int]) -> int:
    return prod(resolve(aval.shape, sizes), start=aval.dtype.itemsize)


def block_aval(aval: Aval, axis: int | None, rows: int) -> Aval:
    """One block of a value in a loop: `rows` rows."""
    if axis is None:
        return aval
    shape: Sequence[Dim] = aval.shape
    position = len(shape) + axis
    return aval.with_shape((*shape[:position], rows, *shape[position + 1 :]))
