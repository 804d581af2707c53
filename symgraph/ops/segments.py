"""Reductions of the segments of an axis: `np.add.reduceat` and its kin."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..array import FUNCTIONS, NUMPY_FUNCTIONS, Array, ArrayLike
from ..errors import DTypeError, ShapeError, TraceError
from ..ir.dims import is_named
from .composites import as_array, composite, refuse
from .joining import concatenate

__all__: list[str] = []

_REDUCED = (
    *(np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin),
    *(np.logaddexp, np.logical_and, np.logical_or),
)


def _over_segments(ufunc: np.ufunc) -> Callable[..., Array]:
    """The ufunc's `reduceat`: one reduction for each segment, joined."""
    reduce = NUMPY_FUNCTIONS[(ufunc, "reduce")]
    name = f"np.{ufunc.__name__}.reduceat"

    def reduceat(
        x: ArrayLike,
        indices: ArrayLike,
        axis: int = 0,
        dtype: DTypeLike | None = None,
        out: object = None,
    ) -> Array:
        refuse(name, {"out": out})
        moved = FUNCTIONS["moveaxis"](as_array(x), axis, 0)
        size, *_ = moved.shape
        if is_named(size):
            raise ShapeError(
                f"The number of elements along axis {axis} is not known.",
                mend="Give the axis a size, as in sg.spec((12,)).",
            )
        starts = _starts(indices, size)
        keywords = {} if dtype is None else {"dtype": dtype}
        if not starts.size:
            none = reduce(moved[:1], axis=0, keepdims=True, **keywords)[:0]
            return FUNCTIONS["moveaxis"](none, 0, axis)
        # A segment that does not end after its start is one element.
        ends = [*[max(start + 1, end) for start, end in pairwise(starts)], size]
        parts = [
            reduce(moved[int(start) : int(end)], axis=0, keepdims=True, **keywords)
            for start, end in zip(starts, ends, strict=True)
        ]
        return FUNCTIONS["moveaxis"](concatenate(parts), 0, axis)

    reduceat.__name__ = f"_{ufunc.__name__}_reduceat"
    return composite((ufunc, "reduceat"))(reduceat)


def _starts(indices: object, size: int) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Where segments of an axis start; as in NumPy a vector of whole numbers within it."""
    if isinstance(indices, Array):
        raise TraceError(
            "Where segments start must be known while tracing.",
            mend="Give indices as numbers, or add up segments with snp.scatter_add.",
        )
    given = np.asarray(indices)
    if given.size and given.dtype.kind not in "iu":
        raise DTypeError(
            f"Segments start at whole numbers, not at {given.dtype}.",
            mend="Convert them first, as in indices.astype(int).",
        )
    if given.ndim != 1:
        raise ShapeError(
            f"Where segments start is a vector, not an array of shape {given.shape}.",
            mend="Give the indices as a list of whole numbers.",
        )
    outside = given[(given < 0) | (given >= size)]
    if outside.size:
        raise ShapeError(
            f"Index {outside[0]} is out of range for an axis of {size} elements.",
            mend=f"Segments start at 0 to {size - 1}.",
        )
    return given.astype(np.intp)


for _each in _REDUCED:
    _over_segments(_each)
