"""Functions that NumPy gives no `out`, written so that their result goes to a given array.

A planned program has a place for each value. Ufuncs, reductions and products of matrices take it as
`out`. The functions here do the same for choices, casts, elements at places and convolutions. They
compute the same bits, and need no memory beside the place but what the kernel needs in any case.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import images
from .namespace import NUMPY, added_at, diagonals_written

__all__ = [
    "adjoint_convolution",
    "astype",
    "convolution",
    "diagonal_matrix",
    "kernel_convolution",
    "scatter_add",
    "scatter_set",
    "sort",
    "take",
    "where",
]


def where(condition: Any, x: Any, y: Any, *, out: Any) -> Any:
    """`np.where(condition, x, y)`."""
    np.copyto(out, y)
    np.copyto(out, x, where=np.asarray(condition, np.bool_))
    return out


def astype(x: Any, *, out: Any) -> Any:
    """`x` in the dtype of `out`."""
    np.copyto(out, x, casting="unsafe")
    return out


def sort(x: Any, *, axis: int, out: Any) -> Any:
    """`np.sort(x, axis=axis)`."""
    np.copyto(out, x)
    out.sort(axis=axis)
    return out


def take(x: Any, index: Any, *, out: Any) -> Any:
    """`x[index]`, elements along the first axis at the places of one array of integers."""
    count = len(x)
    inside = not index.size or (index.min() >= -count and index.max() < count)
    if not (inside and x.flags.c_contiguous):
        out[...] = x[index]  # It raises the error, too.
        return out
    # Any other mode than this needs a copy of the result.
    return np.take(x, index, axis=0, out=out, mode="wrap")


def scatter_set(x: Any, index: tuple[Any, ...], values: Any, *, out: Any) -> Any:
    """A copy of `x` with `values` written at `index`."""
    np.copyto(out, x)
    out[index] = values
    return out


def scatter_add(x: Any, index: tuple[Any, ...], values: Any, *, out: Any) -> Any:
    """A copy of `x` with `values` added at `index`."""
    np.copyto(out, x)
    return added_at(np, out, index, values)


def diagonal_matrix(x: Any, _rows: int, _columns: int, offset: int, *, out: Any) -> Any:
    """Matrices of zeros with the rows of `x` on their diagonals."""
    out.fill(0)
    return diagonals_written(out, x, offset)


def convolution(x: Any, w: Any, *params: Any, out: Any) -> Any:
    """From x (..., N, C, extents), w (..., O, C/groups, sizes) to (..., N, O, counts)."""
    return images.convolution(NUMPY, x, w, *params, out=out)


def adjoint_convolution(y: Any, w: Any, *params: Any, out: Any) -> Any:
    """The transpose of `convolution` in x."""
    return images.adjoint_convolution(NUMPY, y, w, *params, out=out)


def kernel_convolution(x: Any, y: Any, *params: Any, out: Any) -> Any:
    """The transpose of `convolution` in w."""
    return images.kernel_convolution(NUMPY, x, y, *params, out=out)
