"""How the numbers of an array lie in memory: where they begin, and the step along each axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..records import record
from .writer import BITS

__all__ = ["Laid", "Numbers", "bytes_of", "row_order"]

Numbers: TypeAlias = "np.ndarray[Any, Any]"


def bytes_of(kind: str) -> int:
    """The bytes of a number in memory."""
    return max(1, BITS[kind] // 8)


def row_order(shape: Sequence[int]) -> tuple[int, ...]:
    """The steps of an array in row order, in numbers."""
    steps: list[int] = []
    step = 1
    for length in reversed(shape):
        steps.append(step)
        step *= length
    return tuple(reversed(steps))


@record
class Laid:
    """An array: numbers of a memory, in some order.

    Parameters
    ----------
    memory : str
        The name of the memory.
    kind : str
    shape : tuple of int
    steps : tuple of int
        Along each axis, in numbers.
    start : int
        The place of the first number in the memory.
    """

    memory: str
    kind: str
    shape: tuple[int, ...]
    steps: tuple[int, ...]
    start: int = 0

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        return bytes_of(self.kind)

    @property
    def in_rows(self) -> bool:
        """Whether the numbers lie in row order."""
        usual = row_order(self.shape)
        pairs = zip(self.shape, self.steps, usual, strict=True)
        return not self.size or all(n == 1 or step == other for n, step, other in pairs)

    def broadcast(self, shape: tuple[int, ...]) -> Laid:
        """The array with its numbers repeated, by steps of zero."""
        missing = len(shape) - len(self.shape)
        lengths = zip(self.shape, shape[missing:], self.steps, strict=True)
        steps = [step if length == whole else 0 for length, whole, step in lengths]
        return replace(self, shape=shape, steps=(*[0] * missing, *steps))

    def viewed(self, view: Callable[[Numbers], Numbers]) -> Laid | None:
        """The view that a function makes of the array; None if it makes no view."""
        count = (
            abs(self.start)
            + 1
            + sum([abs(step) * length for step, length in zip(self.steps, self.shape, strict=True)])
        )
        numbers = np.empty(2 * count, "i1")  # A byte a number, the first one in the middle.
        found = view(as_strided(numbers[count:], self.shape, self.steps))
        if not (type(found) is np.ndarray and found.dtype == numbers.dtype):
            return None
        if not found.size:
            return replace(self, shape=found.shape, steps=row_order(found.shape), start=0)
        if not np.may_share_memory(found, numbers):
            return None
        start = found.ctypes.data - numbers.ctypes.data - count
        return replace(self, shape=found.shape, steps=found.strides, start=self.start + start)
