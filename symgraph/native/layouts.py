"""How the numbers of an array lie in memory: where they begin, and the step along each axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from .writer import BITS

__all__ = ["Laid", "bytes_of", "row_order"]


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


@dataclass(frozen=True, slots=True)
class Laid:
    """An array: all numbers of a memory, in some order.

    Parameters
    ----------
    memory : str
        The name of the memory.
    kind : str
    shape : tuple of int
    steps : tuple of int
        Along each axis, in numbers.
    """

    memory: str
    kind: str
    shape: tuple[int, ...]
    steps: tuple[int, ...]

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

    def transposed(self, axes: Sequence[int]) -> Laid:
        """The array with its axes in another order."""
        return replace(
            self,
            shape=tuple([self.shape[axis] for axis in axes]),
            steps=tuple([self.steps[axis] for axis in axes]),
        )

    def broadcast(self, shape: tuple[int, ...]) -> Laid:
        """The array with its numbers repeated, by steps of zero."""
        missing = len(shape) - len(self.shape)
        lengths = zip(self.shape, shape[missing:], self.steps, strict=True)
        steps = [step if length == whole else 0 for length, whole, step in lengths]
        return replace(self, shape=shape, steps=(*[0] * missing, *steps))

    def reshaped(self, shape: tuple[int, ...]) -> Laid:
        """An array in row order, in another shape."""
        assert self.in_rows
        return replace(self, shape=shape, steps=row_order(shape))
