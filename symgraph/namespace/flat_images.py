"""The transpose of a convolution, added up in images that are laid flat.

Where windows move by single places, the elements that all windows have at one place follow each
other in the flat image, if those windows are counted too that would wrap around from one row to the
next. These are given zeros. So the columns of a place are added as one run, and not as one run a
row. A zero times an infinite weight is NaN, so all weights must be finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ..records import record

__all__ = ["Flat", "added_places", "laid_flat"]

_MOST_ADDED = 256
"""For each row of windows, the most products of a window and a filter that are made in addition:
together they then take less time than a run takes to begin."""


@record
class Flat:
    """Where the windows lie in a flat image.

    Parameters
    ----------
    counts : tuple of int
        How many windows fit each axis.
    grid : tuple of int
        The same with the windows that wrap around.
    shifts : tuple of int
        Where the run begins that the windows have at each of their places.
    used : int
        The length of a run; the windows behind it would leave the image.
    """

    counts: tuple[int, ...]
    grid: tuple[int, ...]
    shifts: tuple[int, ...]
    used: int

    def spread(self, y: Any) -> Any:
        """An array (..., counts) with zeros for the windows that wrap around: (..., grid)."""
        found = np.zeros((*y.shape[: -len(self.counts)], *self.grid), y.dtype)
        found[(..., *[slice(each) for each in self.counts])] = y
        return found

    def add(self, target: Any, columns: Any) -> None:
        """Add columns (..., C * sizes, grid) to images (..., C, extents)."""
        n = len(self.grid)
        lines = target.reshape((*target.shape[:-n], prod(target.shape[-n:])))
        runs = columns.reshape((*lines.shape[:-1], len(self.shifts), prod(self.grid)))
        for tap, shift in enumerate(self.shifts):
            place = lines[..., shift : shift + self.used]
            np.add(place, runs[..., tap, : self.used], out=place)


def added_places(
    counts: Sequence[Any],
    sizes: Sequence[Any],
    extents: Sequence[Any],
    strides: Sequence[int],
    filters: Any,
) -> int | None:
    """How many windows of an image wrap around; None where images are not laid flat."""
    if not all(isinstance(each, int) for each in (*counts, *sizes, *extents, filters)):
        return None
    if len(strides) < 2 or any(each != 1 for each in strides) or prod(sizes) < 2:
        return None
    added = prod((counts[0], *extents[1:])) - prod(counts)
    return None if added * filters > _MOST_ADDED * prod(counts[:-1]) else added


def laid_flat(
    counts: Sequence[int],
    w: Any,
    extents: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    filters: int,
) -> Flat | None:
    """How windows lie in flat images; None if they cannot be added so, or if it does not pay."""
    n = len(strides)
    sizes = w.shape[-n:]
    if added_places(counts, sizes, extents, strides, filters) is None:
        return None
    if w.dtype.kind != "f" or not np.isfinite(w).all():
        return None
    steps = [prod(extents[axis + 1 :]) for axis in range(n)]
    moves = [step * dilation for step, dilation in zip(steps, dilations, strict=True)]
    shifts = [
        sum([move * place for move, place in zip(moves, tap, strict=True)])
        for tap in product(*[range(size) for size in sizes])
    ]
    used = 1 + sum([step * (count - 1) for step, count in zip(steps, counts, strict=True)])
    return Flat(tuple(counts), (counts[0], *extents[1:]), tuple(shifts), used)
