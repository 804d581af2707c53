"""Triangles of matrices, and diagonals written into them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..array import FUNCTIONS, Array, ArrayLike, apply
from ..errors import ShapeError
from ..facts import Fact, finite, integer_valued, interval, total
from ..ir.avals import Aval
from ..ir.dims import Dim, fixed, known_equal, show_shape
from ..ir.fact_inference import Known
from ..ir.op import Op, carries_aligned, no_flops, register
from ..ir.traits import PLACEMENT
from .batched import batch_aligned
from .composites import as_array, composite, naming_lines
from .creation import eye, ones
from .diagonals import diag
from .families import function
from .movement import broadcast_to, ravel
from .updates import index_update

__all__ = ["diagflat", "fill_diagonal", "tri", "tril", "triu"]


def _infer_triangle(x: Aval, *, k: int) -> Aval:
    if x.ndim < 2:
        raise ShapeError(f"a matrix is needed, not shape {show_shape(x.shape)}.")
    return x


def _facts_triangle(x: Known, which: str, k: int) -> Iterable[Fact]:
    for fact in (Fact("nonnegative"), Fact("nonpositive"), finite, total, integer_valued):
        if x.has(fact):
            yield fact
    yield interval(min(x.low, 0.0), max(x.high, 0.0))
    if (which == "lower" and k <= 0) or (which == "upper" and k >= 0):
        yield Fact("triangular", (which,))
        if x.has(Fact("triangular", ("upper" if which == "lower" else "lower",))):
            yield Fact("diagonal")


def _triangle(name: str, which: str, side: str) -> Any:
    op = register(
        Op(
            name,
            batch=batch_aligned,
            total=True,
            infer=_infer_triangle,
            kernel=lambda xp, x, *, k: getattr(xp, name)(x, k),
            vjp=(lambda ct, out, x, *, k: apply(op, ct, k=k),),
            carries=carries_aligned,
            flops=no_flops,
            facts=lambda x, *, k: _facts_triangle(x, which, k),
            traits=PLACEMENT,
            doc=f"The elements on and {side} the diagonal `k`, zeros elsewhere.",
        )
    )

    @naming_lines
    def call(x: ArrayLike, k: int = 0) -> Array:
        x = as_array(x)
        if x.ndim == 1:  # As NumPy does: a vector is every row of a square matrix.
            x = broadcast_to(x, (*x.shape, *x.shape))
        return apply(op, x, k=int(k))

    return function(op, call, getattr(np, name))


tril = _triangle("tril", "lower", "below")
triu = _triangle("triu", "upper", "above")


@composite()
def tri(N: Dim, M: Dim | None = None, k: int = 0, dtype: DTypeLike = "float64") -> Array:
    """Ones on and below the diagonal `k`, zeros above it."""
    return tril(ones((N, N if M is None else M), dtype), k)


@composite()
def tril_indices(n: int, k: int = 0, m: int | None = None) -> Any:
    """NumPy's indices of the lower triangle of an n by m matrix."""
    return np.tril_indices(n, k, m)


@composite()
def triu_indices(n: int, k: int = 0, m: int | None = None) -> Any:
    """NumPy's indices of the upper triangle of an n by m matrix."""
    return np.triu_indices(n, k, m)


@composite(np.tril_indices_from)
def tril_indices_from(x: ArrayLike, k: int = 0) -> Any:
    """The indices of the lower triangle of a matrix, as two constant arrays."""
    rows, columns = _fixed_matrix(x)
    return np.tril_indices(rows, k, columns)


@composite(np.triu_indices_from)
def triu_indices_from(x: ArrayLike, k: int = 0) -> Any:
    """The indices of the upper triangle of a matrix, as two constant arrays."""
    rows, columns = _fixed_matrix(x)
    return np.triu_indices(rows, k, columns)


def _fixed_matrix(x: ArrayLike) -> tuple[int, int]:
    shape: Any = as_array(x).shape
    if len(shape) != 2 or not fixed(shape):
        raise ShapeError(
            f"a matrix of fixed size is needed, not shape {show_shape(shape)}.",
            mend="np.tril and np.triu work for named dimensions too.",
        )
    return shape


# -- diagonals -------------------------------------------------------------------------------------
@composite(np.diagflat)
def diagflat(x: ArrayLike, k: int = 0) -> Array:
    """The matrix with the raveled array on its diagonal `k`."""
    return diag(ravel(as_array(x)), k)


@composite()
def fill_diagonal(x: ArrayLike, val: ArrayLike, wrap: bool = False) -> Array:
    """A copy of `x` with `val` on its main diagonal; NumPy's `fill_diagonal` writes in place.

    Parameters
    ----------
    x : array_like
        Of two dimensions, or of more that are all equal.
    val : array_like
        A number, or values along the diagonal, repeated as often as needed.
    wrap : bool
        Begin anew below a square at the top of a tall matrix.
    """
    x, val = as_array(x), as_array(val)
    if x.ndim < 2 or (x.ndim > 2 and [0 for d in x.shape if not known_equal(d, x.shape[0])]):
        raise ShapeError(
            f"two dimensions, or more that are equal, are needed, not {show_shape(x.shape)}."
        )
    if not fixed(x.shape):
        if x.ndim > 2 or val.ndim or wrap:
            raise ShapeError("fill_diagonal: named dimensions take a matrix and one number.")
        on = eye(x.shape[0], x.shape[1], dtype="bool")
        return FUNCTIONS["where"](on, FUNCTIONS["astype"](val, x.dtype), x)
    shape: Any = x.shape
    if x.ndim == 2:
        step, end = shape[1] + 1, None if wrap else shape[1] * shape[1]
    else:
        step, end = 1 + int(np.cumprod(shape[:-1]).sum()), None
    flat = np.arange(int(np.prod(shape)))[:end:step]
    values = ravel(val)
    if values.shape[0] != 1:
        values = values[np.arange(len(flat)) % np.asarray(values.shape[0])]
    places = np.unravel_index(flat, shape)
    return index_update(x, places, values if val.ndim else val)
