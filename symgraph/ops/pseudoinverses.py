r"""Pseudoinverse, least squares, rank and condition."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ..array import FUNCTIONS, Array, ArrayLike, apply, implements
from ..errors import ShapeError, TraceError
from ..facts import Fact
from ..ir.avals import Aval
from ..ir.dims import Dim, count, known_equal, show_shape
from ..ir.fact_inference import Known
from ..ir.op import Batch, Op, register, results_of
from ..ir.traits import Matrices, Traits
from .batched import applied, batch_aligned, own_ndim
from .carrying import all_but_last, carries_solved
from .composites import as_array, given, naming_lines
from .creation import zeros
from .extrema import max as _max
from .families import function
from .matmul import matmul
from .matrices import matrix_dtype
from .movement import expand_dims, matrix_transpose, squeeze
from .norms import matrix_norm
from .solving import inv, products
from .spectral import larger_size, significant, svd, svdvals

__all__ = ["cond", "least_squares", "lstsq", "matrix_rank", "pinv"]


_NOT_GIVEN: Any = getattr(np, "_NoValue", None)


# -- pseudoinverse -------------------------------------------------------------------------------
def _infer_pinv(x: Aval, *, rtol: float) -> Aval:
    if x.ndim < 2:
        raise ShapeError(f"matrices are needed, not shape {show_shape(x.shape)}.")
    return x.with_shape((*x.shape[:-2], x.shape[-1], x.shape[-2]))


def _vjp_pinv(ct: Array, out: Array, x: Array, *, rtol: float) -> Array:
    r"""$-P^\top \bar P P^\top + (1 - A P) \bar P^\top P P^\top + P^\top P \bar P^\top (1 - P A)$.

    Golub and Pereyra (1973), "The differentiation of pseudo-inverses and nonlinear least squares
    problems whose variables separate", theorem 4.3, transposed. It holds where the rank does not
    change. At full rank one of the last two terms is zero; for a square matrix both are.
    """
    if _cuts(rtol, x.dtype) and 0 not in x.shape[-2:]:
        return _vjp_cut(ct, x, rtol)
    turned, ct_turned = matrix_transpose(out), matrix_transpose(ct)
    found = -matmul(matmul(turned, ct), turned)
    rows = matmul(ct_turned, matmul(out, turned))
    columns = matmul(matmul(turned, out), ct_turned)
    rows = rows - matmul(x, matmul(out, rows))
    columns = columns - matmul(matmul(columns, out), x)
    return found + rows + columns


def _cuts(rtol: float, dtype: np.dtype[Any]) -> bool:
    """Whether the tolerance may leave out singular values that are no rounding errors."""
    return rtol > 1000 * float(np.finfo(dtype).eps)


def _vjp_cut(ct: Array, x: Array, rtol: float) -> Array:
    r"""The pullback where some singular values are left out although they are not 0.

    With $A = U S V^\top$ it is $P^\top = U f(S) V^\top$, where f, 1/s or 0, is odd in each singular
    value. For $E = U^\top \bar P^\top V$ its symmetric part is multiplied by
    $(f_i - f_j)/(s_i - s_j)$, its antisymmetric part by $(f_i + f_j)/(s_i + s_j)$, and what is
    off the range of U or V by $f_i / s_i$ (Daleckii and Krein 1965, for singular values).
    """
    u, s, vt = svd(x, full_matrices=False)
    where, v, turned = FUNCTIONS["where"], matrix_transpose(vt), matrix_transpose(ct)
    kept = s > rtol * _max(s, axis=-1, keepdims=True)
    f = where(kept, 1 / where(kept, s, 1), 0)
    rows, columns, f_rows, f_columns, kept_rows, kept_columns = (
        expand_dims(each, axis) for each in (s, f, kept) for axis in (-1, -2)
    )
    both, apart = f_rows * f_columns, kept_rows != kept_columns
    even = where(apart, (f_rows - f_columns) / where(apart, rows - columns, 1), -both)
    odd = where(apart, (f_rows + f_columns) / where(apart, rows + columns, 1), both)
    left, right = matmul(matrix_transpose(u), turned), matmul(turned, v)
    inner = matmul(left, v)
    mirrored = matrix_transpose(inner)
    found = matmul((even * (inner + mirrored) + odd * (inner - mirrored)) / 2, vt)
    found = found + f_rows * f_rows * (left - matmul(inner, vt))
    return matmul(u, found) + matmul((right - matmul(u, inner)) * (f_columns * f_columns), vt)


def _flops_pinv(_out: Aval, x: Aval, *, rtol: float) -> Dim:
    """A thin singular value decomposition and a product, as if the matrix were square."""
    return count((24, *x.shape, x.shape[-1]))


def _facts_pinv(x: Known, *, rtol: float) -> Iterable[Fact]:
    for fact in (Fact("symmetric"), Fact("positive_definite"), Fact("diagonal")):
        if x.has(fact):
            yield fact


PINV = register(
    Op(
        "pinv",
        workspace=results_of(3),
        batch=batch_aligned,
        carries=all_but_last(2),
        infer=_infer_pinv,
        kernel=lambda xp, x, *, rtol: xp.linalg.pinv(x, rtol),
        ends_below=inf,
        vjp=(_vjp_pinv,),
        promote=matrix_dtype,
        flops=_flops_pinv,
        facts=_facts_pinv,
        doc=(
            "The pseudoinverse (Moore and Penrose); singular values up to `rtol` (or `rcond`, "
            "1e-15 by default) times the largest count as zero. The derivative holds where the "
            "same ones go on to count."
        ),
        traits=Traits(matrices=Matrices.ANY, parity=(-1,), homogeneous=-1),
    )
)


@naming_lines
def _pinv(
    x: ArrayLike,
    rcond: ArrayLike | None = None,
    hermitian: bool = False,
    *,
    rtol: object = _NOT_GIVEN,
) -> Array:
    x = as_array(x)
    if rcond is not None:
        chosen = rcond
    elif rtol is None:
        chosen = _rounding(x, matrix_dtype(x.dtype))
    else:
        chosen = rtol if given(rtol) else 1e-15
    if not isinstance(chosen, (int, float, np.number)):
        raise TraceError("pinv: the tolerance is a number, the same for all matrices.")
    return apply(PINV, x, rtol=float(chosen))


pinv = function(PINV, _pinv, np.linalg.pinv)


# -- least squares -------------------------------------------------------------------------------
def _infer_least_squares(a: Aval, b: Aval, *, rcond: float | None) -> Aval:
    rows = b.shape[-1] if b.ndim == 1 else b.shape[-2] if b.ndim else 1
    if a.ndim != 2 or not b.ndim or not known_equal(a.shape[0], rows):
        raise ShapeError(
            f"shapes {show_shape(a.shape)} and {show_shape(b.shape)} are not one matrix and as "
            "many right sides as it has rows."
        )
    if b.ndim == 1:
        return b.with_shape((a.shape[1],))
    return b.with_shape((*b.shape[:-2], a.shape[1], b.shape[-1]))


def _least_squares_kernel(xp: Any, a: Any, b: Any, *, rcond: float | None) -> Any:
    if b.ndim <= 2:
        return xp.linalg.lstsq(a, b, rcond)[0]
    columns = xp.moveaxis(b, -2, 0)
    found = xp.linalg.lstsq(a, xp.reshape(columns, (b.shape[-2], -1)), rcond)[0]
    return xp.moveaxis(xp.reshape(found, (a.shape[1], *columns.shape[1:])), 0, -2)


def _vjp_least_squares_right(
    ct: Array, out: Array, a: Array, b: Array, *, rcond: float | None
) -> Array:
    return _of_sides(matrix_transpose(a), ct, b.ndim == 1, rcond)


def _of_sides(a: Array, ct: Array, vector: bool, rcond: float | None) -> Array:
    """Solutions for cotangents, which may be stacked if the right side was a vector."""
    if not vector or ct.ndim == 1:
        return apply(LEAST_SQUARES, a, ct, rcond=rcond)
    return squeeze(apply(LEAST_SQUARES, a, expand_dims(ct, -1), rcond=rcond), axis=-1)


def _vjp_least_squares_left(
    ct: Array, out: Array, a: Array, b: Array, *, rcond: float | None
) -> Array:
    r"""$-\bar b x^\top + (b - A x)(A^+ \bar b)^\top + (A^{+\top} x)(\bar x - A^\top \bar b)^\top$.

    The derivative of the pseudoinverse (Golub and Pereyra 1973) times b, with
    $\bar b = A^{+\top} \bar x$. At full rank the second term is zero unless A is taller than
    wide, the third unless it is wider than tall.
    """
    vector = b.ndim == 1
    back = _vjp_least_squares_right(ct, out, a, b, rcond=rcond)
    found = -products(back, out, vector)
    rows, columns = a.shape
    certain = isinstance(rows, int) and isinstance(columns, int)
    if not certain or rows > columns:  # pyright: ignore[reportOperatorIssue]  # both are ints
        rest = b - matmul(a, out)
        found = found + products(rest, _of_sides(a, back, vector, rcond), vector)
    if not certain or rows < columns:  # pyright: ignore[reportOperatorIssue]
        image = matmul(back, a) if vector else matmul(matrix_transpose(a), back)
        left = apply(LEAST_SQUARES, matrix_transpose(a), out, rcond=rcond)
        found = found + products(left, ct - image, vector)
    return found


def _batch_least_squares(batch: Batch, *, rcond: float | None) -> Any:
    a, b = batch.operands
    if batch.batched[0]:
        return batch.one_by_one()
    if own_ndim(batch, 1) > 1:
        return applied(batch, [a, b], rcond=rcond)
    return matrix_transpose(applied(batch, [a, matrix_transpose(b)], rcond=rcond))


def _room_of_least_squares(out: Aval, a: Aval, b: Aval, **_: object) -> Dim:
    """A copy of half of the result, and LAPACK's block of 32 numbers for each right side."""
    sides = 1 if b.ndim == 1 else count((*b.shape[:-2], b.shape[-1]))
    return out.nbytes // 2 + 8 * 33 * sides


LEAST_SQUARES = register(
    Op(
        "least_squares",
        workspace=_room_of_least_squares,
        ends_below=inf,
        batch=_batch_least_squares,
        carries=carries_solved,
        infer=_infer_least_squares,
        kernel=_least_squares_kernel,
        vjp=(_vjp_least_squares_left, _vjp_least_squares_right),
        promote=matrix_dtype,
        flops=lambda out, a, b, *, rcond: count((24, *a.shape, a.shape[-1])),
        doc=(
            "The x for which a @ x is nearest to b, the shortest if there are several. Derivatives "
            "hold where the rank is full, or does not change."
        ),
        traits=Traits(parity=(-1, 0), linear=(1,), homogeneous=0),
    )
)


def _least_squares(a: ArrayLike, b: ArrayLike, rcond: float | None = None) -> Array:
    if rcond is not None and _cuts(float(rcond), matrix_dtype(as_array(a).dtype)):
        return matmul(_pinv(a, float(rcond)), as_array(b))
    return apply(LEAST_SQUARES, a, b, rcond=None if rcond is None else float(rcond))


least_squares = function(LEAST_SQUARES, _least_squares)


class LstsqResult(NamedTuple):
    """The solution, sums of squared residuals, the rank and the singular values."""

    x: Array
    residuals: Array
    rank: Array
    singular_values: Array


@implements(np.linalg.lstsq)
@naming_lines
def lstsq(a: ArrayLike, b: ArrayLike, rcond: float | None = None) -> LstsqResult:
    """Least squares: the x for which a @ x is nearest to b, residuals, rank, singular values.

    Parameters
    ----------
    a : Array, floating[m, n]
        Of full rank: NumPy leaves the residuals out where it is less.
    b : Array, floating[m] or [m, k]
    rcond : float, optional
        Singular values up to `rcond` times the largest count as zero; by default the rounding unit
        times the larger dimension.

    Raises
    ------
    ShapeError
        If `a` is no matrix, or has not as many rows as `b`.
    """
    a, b = as_array(a), as_array(b)
    if a.ndim != 2 or b.ndim not in (1, 2):
        raise ShapeError(
            f"lstsq: shapes {show_shape(a.shape)} and {show_shape(b.shape)} are not one matrix and "
            "one or more vectors."
        )
    solution = _least_squares(a, b, rcond)
    values = svdvals(a)
    rank = FUNCTIONS["astype"](_rank(a, values, rcond), "int32")
    if known_equal(values.shape[-1], a.shape[0]):
        return LstsqResult(solution, zeros((0,), solution.dtype), rank, values)
    rest = b - matmul(a, solution)
    squares = FUNCTIONS["sum"](rest * rest, axis=0)
    residuals = expand_dims(squares, 0) if b.ndim == 1 else squares
    return LstsqResult(solution, residuals, rank, values)


def _rounding(x: Array, dtype: DTypeLike) -> float:
    """The rounding unit times the larger dimension.

    Raises
    ------
    ShapeError
        If a dimension is named.
    """
    rows, columns = x.shape[-2:]
    if not isinstance(rows, int) or not isinstance(columns, int):
        raise ShapeError(
            f"the tolerance of a matrix of shape {show_shape(x.shape)} is not known: it depends on "
            "the larger dimension.",
            mend="Give it as a number.",
        )
    return max(rows, columns) * float(np.finfo(dtype).eps)


def _rank(x: Array, values: Array, tolerance: float | None) -> Array:
    if tolerance is None:
        above = significant(values, larger_size(x, values.shape[-1]))
    else:
        above = values > float(tolerance) * _max(values, axis=-1, keepdims=True)
    return FUNCTIONS["sum"](FUNCTIONS["astype"](above, "int64"), axis=-1)


@implements(np.linalg.matrix_rank)
@naming_lines
def matrix_rank(
    x: ArrayLike,
    tol: ArrayLike | None = None,
    hermitian: bool = False,
    *,
    rtol: float | None = None,
) -> Array:
    """The number of singular values above `tol` (absolute) or `rtol` times the largest.

    It is an integer, so no gradient flows through it.
    """
    x = as_array(x)
    if x.ndim < 2:
        return FUNCTIONS["astype"](FUNCTIONS["any"](x != 0), "int64")
    values = svdvals(x)
    if tol is None:
        return _rank(x, values, rtol if given(rtol) else None)
    level = expand_dims(tol, -1) if isinstance(tol, Array) else np.asarray(tol)[..., None]
    return FUNCTIONS["sum"](FUNCTIONS["astype"](values > level, "int64"), axis=-1)


# -- condition -----------------------------------------------------------------------------------
@implements(np.linalg.cond)
@naming_lines
def cond(x: ArrayLike, p: object = None) -> Array:
    """The norm of a matrix times that of its inverse; without `p` the ratio of singular values.

    Singular matrices give inf with p=None, 2 or -2, and raise an error with any other p.
    """
    if p is None or p in (2, -2):
        values = svdvals(x)
        largest, least = values[..., 0], values[..., -1]
        return least / largest if p == -2 else largest / least
    return matrix_norm(x, ord=p) * matrix_norm(inv(x), ord=p)
