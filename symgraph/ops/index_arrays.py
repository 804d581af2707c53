"""Checks of arrays of indices, which several families of reads and writes share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..array import Array, Index
from ..array.statements import instead_of_mask
from ..errors import DTypeError, ShapeError, TraceError
from ..ir.avals import Aval
from ..ir.dims import Dim, Shape, known_equal, show_shape

__all__ = ["check_fit", "check_indices", "index_array", "same_as_broadcast"]


def check_indices(x: Aval, indices: Sequence[Aval], axis: int) -> None:
    """Refuse indices that are no integers, or more of them than there are axes."""
    for index in indices:
        if index.dtype.kind not in "iu":
            raise DTypeError(
                f"an index array holds integers, not {index.dtype}.",
                mend="Convert it with .astype(int); choose by a condition with np.where.",
            )
    if axis + len(indices) > 0:
        raise ShapeError(f"{len(indices)} indices from axis {axis} on shape {show_shape(x.shape)}.")


def same_as_broadcast(shape: Shape, target: Shape) -> bool:
    """Whether `shape` broadcasts to `target`."""
    if len(shape) > len(target):
        return False
    pairs = zip(reversed(shape), reversed(target), strict=False)
    return not [0 for a, b in pairs if not known_equal(a, 1) and not known_equal(a, b)]


def check_fit(shape: Shape, slots: Shape) -> None:
    """Refuse values of a shape that does not broadcast to the slots they are written to.

    Raises
    ------
    ShapeError
    """
    if not same_as_broadcast(shape, slots):
        raise ShapeError(
            f"values of shape {show_shape(shape)} do not fit the slots {show_shape(slots)}."
        )


def index_array(index: Index, size: Dim | None, axis: int) -> Any:
    """An index as an array: symbolic, or constant integers within range (None: any)."""
    if isinstance(index, Array):
        if index.dtype == bool:
            raise TraceError(
                "The number of elements that a boolean mask selects is not known before it runs.",
                mend=instead_of_mask(),
            )
        return index
    found = np.asarray(index)
    if not found.size and found.dtype.kind == "f":
        found = found.astype(np.int64)
    if found.dtype.kind in "US":
        raise DTypeError(
            f"an array has no entry named {found.tolist()!r}: its entries have numbers.",
            mend="Give a dict instead of the array, as in {'a': 1.0}, or index by position.",
        )
    if found.dtype.kind not in "iu":
        raise DTypeError(
            f"an index array holds integers, not {found.dtype}.",
            mend="Convert it with .astype(int).",
        )
    if isinstance(size, int) and found.size:
        low, high = int(found.min()), int(found.max())
        if low < -size or high >= size:
            wrong = high if high >= size else low
            raise ShapeError(f"index {wrong} is out of range for axis {axis} of size {size}.")
    return found
