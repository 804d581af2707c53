r"""Products with a sparse matrix of SciPy's that a traced function reads.

`A @ x` has the entries $y_i = \sum_k a_{ik} x_k$ over the stored $a_{ik}$ alone: the elements of x
are read at their columns, multiplied, and added at their rows (Saad 2003, section 3.4). The
derivative reads at the rows and adds at the columns, so it is as sparse as the matrix.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..array import FUNCTIONS, Array
from ..errors import DTypeError, ShapeError, TraceError
from ..ir.dims import known_equal, show_shape
from .composites import as_array, naming_lines
from .creation import zeros
from .updates import index_add

__all__ = ["sparse_product"]


class Sparse(Protocol):
    """A matrix of `scipy.sparse`."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def T(self) -> Sparse: ...

    def tocsr(self) -> Sparse: ...

    def tocoo(self) -> Coordinates: ...


class Coordinates(Protocol):
    """The stored entries of a sparse matrix."""

    shape: tuple[int, int]
    data: np.ndarray[Any, Any]
    row: np.ndarray[Any, Any]
    col: np.ndarray[Any, Any]


@naming_lines
def sparse_product(left: Array | Sparse, right: Array | Sparse) -> Array:
    """The product of a sparse matrix and a vector or a matrix, in this order or the other.

    Parameters
    ----------
    left, right : Array or sparse matrix
        One is a matrix of `scipy.sparse`, whose numbers become constants.

    Returns
    -------
    Array
        Of the dtype that NumPy's promotion gives; entries that are not stored do not count, even
        where the other factor is infinite.

    Raises
    ------
    ShapeError
        If the factors do not fit, or the matrix has another number of dimensions than two.
    DTypeError
        If the matrix is complex.
    """
    if isinstance(left, Array):
        assert not isinstance(right, Array)
        turned = sparse_product(right.T, left.T if left.ndim > 1 else left)
        return turned.T if turned.ndim > 1 else turned
    x = as_array(right)
    if x.ndim == 0:
        raise TraceError(
            "A sparse matrix cannot be multiplied by a symbolic number.",
            mend="Multiply the product, as in c * (A @ x).",
        )
    if len(left.shape) != 2 or x.ndim > 2 or not known_equal(left.shape[1], x.shape[0]):
        raise ShapeError(
            f"A sparse matrix of shape {left.shape} and {show_shape(x.shape)} do not multiply."
        )
    if left.dtype.kind == "c":
        raise DTypeError("A sparse matrix of complex numbers has no product with symbols.")
    return _of_stored(left.tocsr().tocoo(), x)


def _of_stored(matrix: Coordinates, x: Array) -> Array:
    """The product with a matrix whose entries are in the order of rows."""
    numbers = matrix.data.reshape(-1, *[1] * (x.ndim - 1))
    terms = numbers * FUNCTIONS["take"](x, np.asarray(matrix.col), axis=0)
    start = zeros((matrix.shape[0], *x.shape[1:]), terms.dtype)
    return index_add(start, np.asarray(matrix.row), terms)


FUNCTIONS["_sparse_product"] = sparse_product
