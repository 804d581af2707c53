r"""Linear systems: solve, triangular solve, inverse, and functions made of them.

Derivatives are those of Giles (2008), "Collected matrix derivative results for forward and reverse
mode": of $A X = B$ they are $\bar B = A^{-\top} \bar X$ and $\bar A = -\bar B X^\top$. A matrix
that is singular to the last bit raises `numpy.linalg.LinAlgError` on NumPy, as NumPy's functions
do, and gives inf or NaN on JAX; never another number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..array import Array, ArrayLike, apply, implements
from ..errors import ShapeError, TraceError
from ..facts import Fact
from ..ir.avals import Aval, broadcast_shapes
from ..ir.dims import Dim, count, known_equal, normal, show_shape
from ..ir.fact_inference import Known
from ..ir.op import Batch, Op, in_double, register, results_of
from ..ir.traits import Matrices, Traits
from ..notation import array_formulas
from .batched import aligned, applied, batch_aligned, own_ndim
from .carrying import all_but_last, carries_solved
from .composites import as_array, naming_lines
from .families import function
from .matmul import matmul
from .matrices import (
    STRUCTURES,
    matrix_dtype,
    per_matrix,
    scaled,
    square_size,
    triangle,
)
from .movement import expand_dims, matrix_transpose, moveaxis, reshape, squeeze

__all__ = ["cho_solve", "inv", "products", "solve", "solve_triangular", "tensorinv", "tensorsolve"]


# -- what solvers share --------------------------------------------------------------------------
def _infer_solve(a: Aval, b: Aval, **_params: object) -> Aval:
    size = square_size(a)
    if not b.ndim:
        raise ShapeError("the right side is a vector or a matrix, not a number.")
    rows = b.shape[-1] if b.ndim == 1 else b.shape[-2]
    if not known_equal(size, rows):
        raise ShapeError(
            f"a matrix of {size} rows does not fit a right side of {rows}: shapes "
            f"{show_shape(a.shape)} and {show_shape(b.shape)}.",
            mend="Only a 1-d right side is a vector; stacked vectors are written b[..., None].",
        )
    if b.ndim == 1:
        return b.with_shape((*a.shape[:-2], size))
    return b.with_shape((*broadcast_shapes(a.shape[:-2], b.shape[:-2]), size, b.shape[-1]))


def _right_sides(out: Aval, b: Aval) -> Dim:
    """The number of right-hand sides of all matrices together."""
    return count(out.shape[:-1] if b.ndim == 1 else (*out.shape[:-2], out.shape[-1]))


def _solved(solver: Callable[..., Array], a: Array, ct: Array, vector: bool) -> Array:
    """Solve for cotangents, which may be stacked if the right side was a vector."""
    if not vector or ct.ndim == 1:
        return solver(a, ct)
    if a.ndim == 2 and ct.ndim == 2:
        return matrix_transpose(solver(a, matrix_transpose(ct)))
    return squeeze(solver(a, expand_dims(ct, -1)), axis=-1)


def products(x: Array, y: Array, vector: bool) -> Array:
    r"""$x y^\top$ for each pair of vectors or matrices."""
    if vector:
        return expand_dims(x, -1) * expand_dims(y, -2)
    return matmul(x, matrix_transpose(y))


# -- solve ---------------------------------------------------------------------------------------
def _vjp_solve_right(ct: Array, out: Array, a: Array, b: Array) -> Array:
    return _solved(solve, matrix_transpose(a), ct, b.ndim == 1)


def _vjp_solve_left(ct: Array, out: Array, a: Array, b: Array) -> Array:
    return -products(_vjp_solve_right(ct, out, a, b), out, b.ndim == 1)


def _flops_solve(out: Aval, a: Aval, b: Aval) -> Dim:
    factor = count((2, *a.shape[:-1], a.shape[-1], a.shape[-1]))
    sides: Any = _right_sides(out, b)
    return normal(scaled(factor, 3) + 2 * count(a.shape[-2:]) * sides)


def batch_solved(batch: Batch, **params: object) -> Any:
    """Solve for each example of a batch; right sides of one matrix become its columns."""
    (a, b), one_matrix = batch.operands, own_ndim(batch, 0) == 2 and not batch.batched[0]
    vector, ndim = own_ndim(batch, 1) == 1, max(own_ndim(batch, 0), own_ndim(batch, 1), 2)
    if one_matrix and vector:
        return matrix_transpose(applied(batch, [a, matrix_transpose(b)], **params))
    if one_matrix and own_ndim(batch, 1) == 2:
        rows = moveaxis(b, 0, 1)
        flat = reshape(rows, (rows.shape[0], count(rows.shape[1:])))
        found = reshape(applied(batch, [a, flat], **params), rows.shape)
        return moveaxis(found, 1, 0)
    matrices = aligned(a, ndim) if batch.batched[0] else a
    if vector and batch.batched[1]:
        columns = aligned(expand_dims(b, -1), ndim)
        return squeeze(applied(batch, [matrices, columns], **params), -1)
    sides = aligned(b, ndim) if batch.batched[1] else b
    return applied(batch, [matrices, sides], **params)


SOLVE = register(
    Op(
        "solve",
        workspace=in_double,
        batch=batch_solved,
        carries=carries_solved,
        infer=_infer_solve,
        kernel=lambda xp, a, b: xp.linalg.solve(a, b),
        vjp=(_vjp_solve_left, _vjp_solve_right),
        promote=matrix_dtype,
        conditioned=True,
        flops=_flops_solve,
        doc="x with a @ x = b, for a square matrix a and a vector (1-d) or a matrix b; batched.",
        traits=Traits(matrices=Matrices.SQUARE, linear=(1,), parity=(-1, 0), homogeneous=0),
        latex=array_formulas.solution_formula,
    )
)


def _solve(a: ArrayLike, b: ArrayLike) -> Array:
    return apply(SOLVE, a, b)


solve = function(SOLVE, _solve, np.linalg.solve)


# -- triangular solve ----------------------------------------------------------------------------
def _solve_triangular_kernel(
    xp: Any, a: Any, b: Any, *, lower: bool, trans: int, unit_diagonal: bool
) -> Any:
    return xp.solve_triangular(a, b, lower=lower, trans=trans, unit_diagonal=unit_diagonal)


def _vjp_triangular_right(
    ct: Array, out: Array, a: Array, b: Array, *, lower: bool, trans: int, unit_diagonal: bool
) -> Array:
    def solver(a: Array, ct: Array) -> Array:
        params = {"lower": lower, "trans": 1 - trans, "unit_diagonal": unit_diagonal}
        return apply(SOLVE_TRIANGULAR, a, ct, **params)

    return _solved(solver, a, ct, b.ndim == 1)


def _vjp_triangular_left(
    ct: Array, out: Array, a: Array, b: Array, *, lower: bool, trans: int, unit_diagonal: bool
) -> Array:
    params: dict[str, Any] = {"lower": lower, "trans": trans, "unit_diagonal": unit_diagonal}
    back = _vjp_triangular_right(ct, out, a, b, **params)
    vector = b.ndim == 1
    full = products(out, back, vector) if trans else products(back, out, vector)
    return -triangle(full, lower, strict=unit_diagonal)


def _flops_triangular(out: Aval, a: Aval, b: Aval, **_params: object) -> Dim:
    return count((*a.shape[-2:], _right_sides(out, b)))


SOLVE_TRIANGULAR = register(
    Op(
        "solve_triangular",
        workspace=results_of(1),
        batch=batch_solved,
        carries=carries_solved,
        infer=_infer_solve,
        kernel=_solve_triangular_kernel,
        vjp=(_vjp_triangular_left, _vjp_triangular_right),
        promote=matrix_dtype,
        conditioned=True,
        flops=_flops_triangular,
        doc=(
            "x with a @ x = b for a triangular matrix a, of which only one triangle is read; "
            "`trans`=1 solves a.T @ x = b, `unit_diagonal` takes the diagonal for ones. Batched as "
            "`solve`; otherwise as scipy.linalg.solve_triangular."
        ),
        traits=Traits(matrices=Matrices.SQUARE, linear=(1,)),
    )
)
_TRANS = {0: 0, 1: 1, 2: 1, "N": 0, "T": 1, "C": 1}


@naming_lines
def _solve_triangular(
    a: ArrayLike,
    b: ArrayLike,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    if trans not in _TRANS:
        raise TraceError(
            f"solve_triangular: trans={trans!r} is not known.", mend='Use 0, 1, "N" or "T".'
        )
    return apply(
        SOLVE_TRIANGULAR,
        a,
        b,
        lower=bool(lower),
        trans=_TRANS[trans],
        unit_diagonal=bool(unit_diagonal),
    )


solve_triangular = function(SOLVE_TRIANGULAR, _solve_triangular)


@naming_lines
def cho_solve(
    c_and_lower: tuple[ArrayLike, bool],
    b: ArrayLike,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """The x with a @ x = b, given a Cholesky factor of a and whether it is the lower one.

    `snp.linalg.cho_solve((snp.linalg.cholesky(a), True), b)`, as in scipy.linalg.
    """
    factor, lower = c_and_lower
    first = solve_triangular(factor, b, trans=0 if lower else 1, lower=lower)
    if as_array(b).ndim == 1 and first.ndim > 1:
        # A batch of factors meets one vector: repeat the vector.
        column = solve_triangular(
            factor, expand_dims(first, -1), trans=1 if lower else 0, lower=lower
        )
        return squeeze(column, axis=-1)
    return solve_triangular(factor, first, trans=1 if lower else 0, lower=lower)


# -- inverse -------------------------------------------------------------------------------------
def _vjp_inv(ct: Array, out: Array, x: Array) -> Array:
    turned = matrix_transpose(out)
    return -matmul(matmul(turned, ct), turned)


def _infer_square(x: Aval, **_params: object) -> Aval:
    square_size(x)
    return x


def _facts_inv(x: Known) -> Iterable[Fact]:
    for fact in (*STRUCTURES, Fact("orthogonal")):
        if x.has(fact):
            yield fact
    if x.has(Fact("positive_definite")) or x.has(Fact("orthogonal")):
        yield Fact("total")


INV = register(
    Op(
        "inv",
        workspace=in_double,
        batch=batch_aligned,
        carries=all_but_last(2),
        infer=_infer_square,
        kernel=lambda xp, x: xp.linalg.inv(x),
        vjp=(_vjp_inv,),
        promote=matrix_dtype,
        conditioned=True,
        flops=per_matrix(2),
        facts=_facts_inv,
        doc="The inverse of square matrices on the last two axes.",
        traits=Traits(matrices=Matrices.SQUARE, parity=(-1,), homogeneous=-1),
        latex=array_formulas.inverse_formula,
    )
)


def _inv(x: ArrayLike) -> Array:
    return apply(INV, x)


inv = function(INV, _inv, np.linalg.inv)


# -- tensors as matrices -------------------------------------------------------------------------
@implements(np.linalg.tensorsolve)
@partial(naming_lines, array=True)
def tensorsolve(a: ArrayLike, b: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    """The x with tensordot(a, x, x.ndim) = b; `axes` of `a` are moved to its end first.

    Raises
    ------
    ShapeError
        If the kept axes and the summed axes have different numbers of elements.
    """
    a, b = as_array(a), as_array(b)
    if axes is not None:
        moved = list(axes) if isinstance(axes, (tuple, list)) else [axes]
        a = moveaxis(a, moved, list(range(a.ndim - len(moved), a.ndim)))
    unknown = a.shape[b.ndim :]
    rows, columns = count(a.shape[: b.ndim]), count(unknown)
    if not known_equal(rows, columns) or not known_equal(rows, b.size):
        raise ShapeError(
            f"tensorsolve: {rows} equations for {columns} unknowns, {b.size} right sides: shapes "
            f"{show_shape(a.shape)} and {show_shape(b.shape)}."
        )
    found = solve(reshape(a, (rows, columns)), reshape(b, (rows,)))
    return reshape(found, unknown)


@implements(np.linalg.tensorinv)
@naming_lines
def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """The inverse of `a` as a map between its first `ind` axes and the others.

    Raises
    ------
    ShapeError
        If these have different numbers of elements, or `ind` is not positive.
    """
    a = as_array(a)
    if ind <= 0:
        raise ShapeError("tensorinv: ind is a positive number of axes.")
    first, last = a.shape[:ind], a.shape[ind:]
    if not known_equal(count(first), count(last)):
        raise ShapeError(
            f"tensorinv: axes {show_shape(first)} and {show_shape(last)} have different sizes."
        )
    return reshape(inv(reshape(a, (count(first), count(last)))), (*last, *first))
