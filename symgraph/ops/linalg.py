"""NumPy's `linalg` and some of SciPy's, gathered from the families of operations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..array import FUNCTIONS, Array, ArrayLike, implements
from ..errors import ShapeError
from ..ir.dims import show_shape
from .composites import as_array, naming_lines, refuse
from .determinants import cofactor, det, slogdet
from .diagonals import diagonal as _diagonal
from .einsum import einsum
from .factorizations import cho_factor, cholesky, qr
from .matmul import matmul
from .matrixfunctions import expm, matrix_power
from .movement import matrix_transpose
from .norms import matrix_norm, norm, vector_norm
from .products import linalg_cross as cross
from .products import outer as _outer
from .products import tensordot
from .pseudoinverses import cond, lstsq, matrix_rank, pinv
from .solving import cho_solve, inv, solve, solve_triangular, tensorinv, tensorsolve
from .spectral import eigh, eigvalsh, svd, svdvals
from .totals import sum as _sum

__all__ = [
    "cho_factor",
    "cho_solve",
    "cholesky",
    "cofactor",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "expm",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

implements(np.linalg.cross)(cross)


@implements(np.linalg.outer)
@naming_lines
def outer(x: ArrayLike, y: ArrayLike, /) -> Array:
    """The matrix of all products of an element of x and an element of y, two vectors.

    Raises
    ------
    ShapeError
        If an operand is no vector.
    """
    x, y = as_array(x), as_array(y)
    if x.ndim != 1 or y.ndim != 1:
        raise ShapeError(
            f"outer: shapes {show_shape(x.shape)} and {show_shape(y.shape)} are not two vectors.",
            mend="np.outer ravels its operands.",
        )
    return _outer(x, y)


@implements(np.linalg.multi_dot)
@naming_lines
def multi_dot(arrays: Sequence[Any], *, out: object = None) -> Array:
    """The product of several matrices, left to right; simplifying finds a cheaper order."""
    refuse("multi_dot", {"out": out})
    result = as_array(arrays[0])
    for each in arrays[1:]:
        result = matmul(result, each)
    return result


@implements(np.vecdot, np.linalg.vecdot)
@naming_lines
def vecdot(x: ArrayLike, y: ArrayLike, *, axis: int = -1) -> Array:
    """Sums of products along `axis`."""
    x, y = as_array(x), as_array(y)
    if axis == -1:
        return einsum("...i,...i->...", x, y)
    move = FUNCTIONS["moveaxis"]
    return einsum("...i,...i->...", move(x, axis, -1), move(y, axis, -1))


@implements(np.linalg.diagonal)
@partial(naming_lines, view=True)
def diagonal(x: ArrayLike, *, offset: int = 0) -> Array:
    """The diagonals of the matrices on the last two axes."""
    return _diagonal(x, offset, -2, -1)


@implements(np.linalg.trace)
@naming_lines
def trace(x: ArrayLike, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """The sums of the diagonals of the matrices on the last two axes."""
    return _sum(_diagonal(x, offset, -2, -1), axis=-1, dtype=dtype)
