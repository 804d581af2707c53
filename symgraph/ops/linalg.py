"""NumPy's `linalg` over the other families: norms, powers of matrices, products of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, implements
from ..avals import normal_axes
from ..dims import known_equal, show_shape
from ..errors import ShapeError, TraceError
from .composites import as_array, naming_lines
from .contraction import einsum, matmul, outer, tensordot
from .creation import eye
from .diagonals import diagonal as _diagonal
from .extrema import max as _max
from .extrema import min as _min
from .movement import matrix_transpose, ravel, reshape
from .reduction import sum as _sum

__all__ = [
    "diagonal",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


def _floating(x: Any) -> Array:
    found = as_array(x)
    return found if found.dtype.kind == "f" else FUNCTIONS["astype"](found, "float64")


def _root_of_squares(x: Array, axis: Any, keepdims: bool) -> Array:
    return FUNCTIONS["sqrt"](_sum(x * x, axis=axis, keepdims=keepdims))


@implements(np.linalg.norm)
@naming_lines
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    r"""The norm of vectors or matrices: $\sqrt{\sum x_i^2}$ if no `ord` is given.

    Parameters
    ----------
    ord : None, "fro", a number or inf
        As in NumPy; of matrices "fro", 1, -1, inf and -inf.
    axis : int, pair of int or None
        One axis of vectors, two of matrices; None: the whole array.

    Raises
    ------
    TraceError
        For matrix norms that need singular values.
    ShapeError
        If the axes are neither one nor two, or `ord` does not fit them.
    """
    x = _floating(x)
    if axis is None and ord is None:
        found = _root_of_squares(ravel(x), -1, False)
        return reshape(found, (1,) * x.ndim) if keepdims else found
    axes = normal_axes(axis, x.ndim)
    if len(axes) == 1:
        return _vector_norm(x, 2 if ord is None else ord, axes, keepdims)
    if len(axes) == 2:
        given = axes if axis is None else axis
        first, second = [each if each < 0 else each - x.ndim for each in given]
        return _matrix_norm(x, ord, first, second, keepdims)
    raise ShapeError(
        f"norm: {len(axes)} axes of shape {show_shape(x.shape)} are neither vectors nor matrices.",
        mend="Name one axis or two.",
    )


def _vector_norm(x: Array, ord: Any, axis: Any, keepdims: bool) -> Array:
    if isinstance(ord, str):
        raise ShapeError(f"norm: {ord!r} is an order of matrices, not of vectors.")
    if ord == 2:
        return _root_of_squares(x, axis, keepdims)
    size = FUNCTIONS["absolute"](x)
    if ord == np.inf:
        return _max(size, axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return _min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return _sum(FUNCTIONS["astype"](x != 0, x.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return _sum(size, axis=axis, keepdims=keepdims)
    return _sum(size**ord, axis=axis, keepdims=keepdims) ** (1 / ord)


def _matrix_norm(x: Array, ord: Any, rows: int, columns: int, keepdims: bool) -> Array:
    if rows == columns:
        raise ShapeError("norm: a matrix has two different axes.")
    if ord is None or ord == "fro":
        return _root_of_squares(x, (rows, columns), keepdims)
    if ord in (1, -1, np.inf, -np.inf):
        summed, chosen = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = _sum(FUNCTIONS["absolute"](x), axis=summed, keepdims=True)
        found = (_max if ord > 0 else _min)(sums, axis=chosen, keepdims=True)
        return found if keepdims else FUNCTIONS["squeeze"](found, axis=(rows, columns))
    raise TraceError(
        f"norm: the matrix norm {ord!r} needs singular values, which cannot be traced yet.",
        mend='Use "fro", 1, -1, inf or -inf.',
    )


@implements(np.linalg.vector_norm)
@naming_lines
def vector_norm(x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """The norm of vectors along `axis` (several: taken as one; None: the whole array)."""
    x = _floating(x)
    axes = normal_axes(axis, x.ndim)
    return _vector_norm(x, ord, axes, keepdims)


@implements(np.linalg.matrix_norm)
@naming_lines
def matrix_norm(x: Any, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """The norm of the matrices on the last two axes."""
    return _matrix_norm(_floating(x), ord, -2, -1, keepdims)


@implements(np.linalg.matrix_power)
@naming_lines
def matrix_power(x: Any, n: int) -> Array:
    """The matrix multiplied with itself `n` times, by repeated squaring.

    Raises
    ------
    TraceError
        If `n` is negative.
    """
    x = as_array(x)
    if x.ndim < 2 or not known_equal(x.shape[-1], x.shape[-2]):
        raise ShapeError(f"matrix_power: {show_shape(x.shape)} is not square.")
    if n < 0:
        raise TraceError(
            "matrix_power: inverses cannot be traced yet.", mend="Use a nonnegative power."
        )
    if n == 0:
        return FUNCTIONS["broadcast_to"](eye(x.shape[-1], dtype=x.dtype), x.shape)
    result = None
    while True:
        if n % 2:
            result = x if result is None else matmul(result, x)
        n //= 2
        if not n:
            return as_array(result)
        x = matmul(x, x)


@implements(np.linalg.multi_dot)
@naming_lines
def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Array:
    """The matrix product of several, left to right; simplifying finds a cheaper order."""
    result = as_array(arrays[0])
    for each in arrays[1:]:
        result = matmul(result, each)
    return result


@implements(np.vecdot, np.linalg.vecdot)
@naming_lines
def vecdot(x: Any, y: Any, *, axis: int = -1) -> Array:
    """Sums of products along `axis`."""
    x, y = as_array(x), as_array(y)
    if axis == -1:
        return einsum("...i,...i->...", x, y)
    move = FUNCTIONS["moveaxis"]
    return einsum("...i,...i->...", move(x, axis, -1), move(y, axis, -1))


@implements(np.linalg.diagonal)
@naming_lines
def diagonal(x: Any, *, offset: int = 0) -> Array:
    """The diagonals of the matrices on the last two axes."""
    return _diagonal(x, offset, -2, -1)


@implements(np.linalg.trace)
@naming_lines
def trace(x: Any, *, offset: int = 0, dtype: Any = None) -> Array:
    """The sums of the diagonals of the matrices on the last two axes."""
    return _sum(_diagonal(x, offset, -2, -1), axis=-1, dtype=dtype)
