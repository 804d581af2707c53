r"""Norms of vectors and matrices.

$\lVert x \rVert$ has derivative 0 at $x = 0$ for every norm: of the subgradients there, 0
favours no direction. A norm of order p is one operation, so that the quotient in
$\bar x_i = \bar y\, \operatorname{sign}(x_i) (|x_i| / \lVert x \rVert_p)^{p-1}$ is taken only where
it is a number. For p < 1 an element that is zero, a cusp, has derivative 0 as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, apply, implements
from ..errors import ShapeError
from ..facts import Fact, interval, nonnegative, positive, total
from ..ir.avals import Aval, AxisLike, normal_axes
from ..ir.dims import Dim, show_shape
from ..ir.fact_inference import Known
from ..ir.op import Op, register
from ..ir.traits import Traits
from ..notation import array_formulas
from .batched import batch_aligned
from .carrying import carries_reduced
from .composites import as_array, naming_lines
from .extrema import max as _max
from .extrema import min as _min
from .factors import without_factor
from .matrices import matrix_dtype
from .movement import ravel
from .quotients import divide_or_zero
from .reduction import Axes, reduced_shape, restored
from .spectral import svdvals
from .totals import sum as _sum

__all__ = ["P_NORM", "matrix_norm", "norm", "vector_norm"]


# -- the operation -------------------------------------------------------------------------------
def _norm_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtype.kind == "f" else matrix_dtype(dtype)


def _infer_norm(x: Aval, *, axis: Axes, keepdims: bool, ord: float) -> Aval:
    return x.with_shape(reduced_shape(x.shape, axis, keepdims))


def _norm_kernel(xp: Any, x: Any, *, axis: Axes, keepdims: bool, ord: float) -> Any:
    if ord == 2:
        return xp.sqrt(xp.sum(x * x, axis=axis, keepdims=keepdims))
    return xp.sum(xp.abs(x) ** ord, axis=axis, keepdims=keepdims) ** (1 / ord)


def _vjp_norm(ct: Array, out: Array, x: Array, *, axis: Axes, keepdims: bool, ord: float) -> Array:
    kept = restored(out, axis, keepdims)
    if ord == 2:
        rest = without_factor(ct, out)
        if rest is not None:
            # (c |x|) x / |x| is c x, the derivative of |x|^2, without a quotient.
            return restored(rest, axis, keepdims) * x
        return restored(ct, axis, keepdims) * divide_or_zero(x, kept)
    size = FUNCTIONS["absolute"](x)
    # This spelling of the power stays finite where x is zero.
    if ord > 1:
        size = divide_or_zero(size, kept) ** (ord - 1)
    else:
        size = divide_or_zero(kept, size) ** (1 - ord)
    return restored(ct, axis, keepdims) * (FUNCTIONS["sign"](x) * size)


def _jvp_norm(
    tangents: Sequence[Array | None],
    out: Array,
    x: Array,
    *,
    axis: Axes,
    keepdims: bool,
    ord: float,
) -> Any:
    """The tangent as one quotient, whose second derivative has a limit at 0."""
    (tangent,) = tangents
    if tangent is None:
        return None
    if ord != 2:
        return NotImplemented
    return divide_or_zero(_sum(x * tangent, axis=axis, keepdims=keepdims), out)


def _flops_norm(_out: Aval, x: Aval, *, axis: Axes, keepdims: bool, ord: float) -> Dim:
    size: Any = x.size
    return size * (2 if ord == 2 else 12)


def _facts_norm(x: Known, *, axis: Axes, keepdims: bool, ord: float) -> Iterable[Fact]:
    yield from (nonnegative, total)
    if len(axis) == 1 and ord == 2 and x.has(Fact("unit_norm", axis)):
        yield interval(1.0, 1.0)
    some = [x.aval.shape[each] for each in axis]
    if x.has(Fact("nonzero")) and all(isinstance(dim, int) and dim > 0 for dim in some):
        yield positive


P_NORM = register(
    Op(
        "p_norm",
        batch=batch_aligned,
        total=True,
        carries=lambda out, x, *, slot, axis, keepdims, ord: carries_reduced(
            out, x, slot=slot, axis=axis, keepdims=keepdims
        ),
        infer=_infer_norm,
        kernel=_norm_kernel,
        vjp=(_vjp_norm,),
        jvp=_jvp_norm,
        normalize=lambda avals, *, axis, keepdims=False, ord=2.0: {
            "axis": normal_axes(axis, avals[0].ndim),
            "keepdims": bool(keepdims),
            "ord": float(ord),
        },
        promote=_norm_dtype,
        flops=_flops_norm,
        count=2,
        facts=_facts_norm,
        doc="The norm of order `ord` (finite, not 0) over `axis`; its derivative at 0 is 0.",
        traits=Traits(parity=(1,), homogeneous=1),
        latex=array_formulas.norm_formula,
    )
)


def _p_norm(x: ArrayLike, axis: AxisLike, keepdims: bool, ord: float = 2.0) -> Array:
    return apply(P_NORM, x, axis=axis, keepdims=keepdims, ord=ord)


# -- NumPy's functions ---------------------------------------------------------------------------
def _floating(x: ArrayLike) -> Array:
    found = as_array(x)
    return found if found.dtype.kind == "f" else FUNCTIONS["astype"](found, "float64")


@implements(np.linalg.norm)
@naming_lines
def norm(x: ArrayLike, ord: object = None, axis: Any = None, keepdims: bool = False) -> Array:
    r"""The norm of vectors or matrices: $\sqrt{\sum x_i^2}$ if no `ord` is given.

    Parameters
    ----------
    ord : None, "fro", "nuc", a number or inf
        As in NumPy; of matrices "fro", "nuc", 1, -1, 2, -2, inf and -inf.
    axis : int, pair of int or None
        One axis of vectors, two of matrices; None: the whole array.

    Raises
    ------
    ShapeError
        If the axes are neither one nor two, or `ord` does not fit them.
    """
    x = _floating(x)
    if axis is None and ord is None:
        return _p_norm(x if x.ndim else ravel(x), None, keepdims and x.ndim > 0)
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


def _vector_norm(x: Array, ord: Any, axis: AxisLike, keepdims: bool) -> Array:
    if isinstance(ord, str):
        raise ShapeError(f"norm: {ord!r} is an order of matrices, not of vectors.")
    size = FUNCTIONS["absolute"]
    if ord == np.inf:
        return _max(size(x), axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return _min(size(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return _sum(FUNCTIONS["astype"](x != 0, x.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return _sum(size(x), axis=axis, keepdims=keepdims)
    return _p_norm(x, axis, keepdims, ord)


def _matrix_norm(x: Array, ord: Any, rows: int, columns: int, keepdims: bool) -> Array:
    if rows == columns:
        raise ShapeError("norm: a matrix has two different axes.")
    if ord is None or ord == "fro":
        return _p_norm(x, (rows, columns), keepdims)
    if ord in (1, -1, np.inf, -np.inf):
        summed, chosen = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = _sum(FUNCTIONS["absolute"](x), axis=summed, keepdims=True)
        found = (_max if ord > 0 else _min)(sums, axis=chosen, keepdims=True)
        return found if keepdims else FUNCTIONS["squeeze"](found, axis=(rows, columns))
    if ord in (2, -2, "nuc"):
        values = svdvals(FUNCTIONS["moveaxis"](x, (rows, columns), (-2, -1)))
        found = {2: _max, -2: _min, "nuc": _sum}[ord](values, axis=-1)
        return FUNCTIONS["expand_dims"](found, (rows, columns)) if keepdims else found
    raise ShapeError(
        f"norm: {ord!r} is no order of matrices.",
        mend='Use "fro", "nuc", 1, -1, 2, -2, inf or -inf.',
    )


@implements(np.linalg.vector_norm)
@naming_lines
def vector_norm(
    x: ArrayLike, *, axis: AxisLike = None, keepdims: bool = False, ord: ArrayLike = 2
) -> Array:
    """The norm of vectors along `axis`; several axes, or all by default, are taken as one."""
    x = _floating(x)
    axes = normal_axes(axis, x.ndim)
    return _vector_norm(x, ord, axes, keepdims)


@implements(np.linalg.matrix_norm)
@naming_lines
def matrix_norm(x: ArrayLike, *, keepdims: bool = False, ord: ArrayLike = "fro") -> Array:
    """The norm of the matrices on the last two axes."""
    return _matrix_norm(_floating(x), ord, -2, -1, keepdims)
