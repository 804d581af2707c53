"""Diagonals: reading them, building matrices from them, traces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..array import FUNCTIONS, Array, ArrayLike, apply
from ..array.cuts import READ_ONLY
from ..errors import ShapeError
from ..facts import Fact, finite, integer_valued, total
from ..ir.avals import Aval, normal_axis
from ..ir.dims import Dim, Shape, known_equal, normal, show_shape
from ..ir.fact_inference import Known
from ..ir.op import Op, no_flops, register, results_of
from ..ir.traits import MOVEMENT, PLACEMENT, Arrangement
from ..notation import array_formulas
from .batched import batch_aligned
from .carrying import carries_diagonal, carries_diagonal_matrix
from .composites import as_array, composite, naming_lines
from .families import function
from .movement import facts_of_elements, moveaxis

__all__ = ["diag", "diagonal", "trace"]


def _diagonal_length(rows: Dim, columns: Dim, offset: int) -> Dim:
    if known_equal(rows, columns) and not offset:
        return rows
    if not isinstance(rows, int) or not isinstance(columns, int):
        raise ShapeError(
            f"the diagonal {offset} of a {rows} by {columns} matrix has no known length.",
            mend="Named dimensions need a square matrix and offset 0.",
        )
    length = (
        (rows if rows < columns - offset else columns - offset)
        if offset >= 0
        else (rows + offset if rows + offset < columns else columns)
    )
    return length if length > 0 else 0


def _infer_diagonal(x: Aval, *, offset: int) -> Aval:
    if x.ndim < 2:
        raise ShapeError(f"a matrix is needed, not shape {show_shape(x.shape)}.")
    return x.with_shape((*x.shape[:-2], _diagonal_length(x.shape[-2], x.shape[-1], offset)))


def _facts_diagonal(x: Known, *, offset: int) -> Iterable[Fact]:
    yield from facts_of_elements(x)
    if not offset and x.has(Fact("positive_definite")):
        yield Fact("positive")


def _indices_diagonal(
    _out: Aval, x: Aval, *, offset: int
) -> tuple[list[list[Any]], list[Any]] | None:
    lead = list(range(-x.ndim, -2))
    return ([[*lead, -1, -1]], [*lead, -1]) if _is_main(x.shape, offset) else None


def _indices_diagonal_matrix(
    out: Aval, _x: Aval, *, offset: int, **_sizes: object
) -> tuple[list[list[Any]], list[Any]] | None:
    lead = list(range(-out.ndim, -2))
    return ([[*lead, -1]], [*lead, -1, -1]) if _is_main(out.shape, offset) else None


def _is_main(shape: Shape, offset: int) -> bool:
    """Whether it is the diagonal of a square matrix of more than one element."""
    rows, columns = shape[-2:]
    return offset == 0 and known_equal(rows, columns) and rows != 1


DIAGONAL = register(
    Op(
        "diagonal",
        batch=batch_aligned,
        total=True,
        infer=_infer_diagonal,
        kernel=lambda xp, x, *, offset: xp.diagonal(x, offset, -2, -1),
        vjp=(
            lambda ct, out, x, *, offset: apply(
                DIAGONAL_MATRIX, ct, rows=x.shape[-2], columns=x.shape[-1], offset=offset
            ),
        ),
        carries=carries_diagonal,
        flops=no_flops,
        count=0,
        facts=_facts_diagonal,
        view=True,
        write=READ_ONLY,
        doc="Elements whose column exceeds their row by `offset`.",
        traits=replace(MOVEMENT, indices=_indices_diagonal),
        latex=array_formulas.diagonal_formula,
    )
)


@partial(naming_lines, view=True)
def _diagonal(x: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    x = as_array(x)
    if x.ndim < 2:
        raise ShapeError(f"diagonal: a matrix is needed, not shape {show_shape(x.shape)}.")
    one, other = normal_axis(axis1, x.ndim), normal_axis(axis2, x.ndim)
    if one == other:
        raise ShapeError("diagonal: axis1 and axis2 are the same.")
    turned = x if (one, other) == (-2, -1) else moveaxis(x, (one, other), (-2, -1))
    return apply(DIAGONAL, turned, offset=int(offset))


diagonal = function(DIAGONAL, _diagonal, np.diagonal)


def _infer_diagonal_matrix(x: Aval, *, rows: Dim, columns: Dim, offset: int) -> Aval:
    if not x.ndim or not known_equal(x.shape[-1], _diagonal_length(rows, columns, offset)):
        raise ShapeError(
            f"shape {show_shape(x.shape)} does not fill the diagonal {offset} "
            f"of a {rows} by {columns} matrix."
        )
    return x.with_shape((*x.shape[:-1], rows, columns))


def _diagonal_matrix_kernel(xp: Any, x: Any, *, rows: int, columns: int, offset: int) -> Any:
    row, column = xp.arange(x.shape[-1]), xp.arange(x.shape[-1])
    down, right = (-offset, 0) if offset < 0 else (0, offset)
    index = (Ellipsis, row + down, column + right)
    return xp.scatter_set(xp.zeros((*x.shape[:-1], rows, columns), x.dtype), index, x)


def _facts_diagonal_matrix(x: Known, *, rows: Dim, columns: Dim, offset: int) -> Iterable[Fact]:
    for fact in (Fact("nonnegative"), Fact("nonpositive"), finite, total, integer_valued):
        if x.has(fact):
            yield fact
    if not offset and known_equal(rows, columns):
        yield Fact("diagonal")
        if x.has(Fact("positive")):
            yield Fact("positive_definite")


DIAGONAL_MATRIX = register(
    Op(
        "diagonal_matrix",
        workspace=results_of(1),
        batch=batch_aligned,
        total=True,
        infer=_infer_diagonal_matrix,
        kernel=_diagonal_matrix_kernel,
        kernel_of_many=lambda xp, x, *, rows, columns, offset: xp.diagonal_matrix(
            x, rows, columns, offset
        ),
        vjp=(lambda ct, out, x, *, rows, columns, offset: apply(DIAGONAL, ct, offset=offset),),
        carries=carries_diagonal_matrix,
        flops=no_flops,
        facts=_facts_diagonal_matrix,
        doc="A matrix of zeros with the last axis of the operand on the diagonal `offset`.",
        traits=replace(
            PLACEMENT, arrangement=Arrangement.DIAGONAL, indices=_indices_diagonal_matrix
        ),
        latex=array_formulas.diagonal_formula,
    )
)


@composite(np.diag, view=True)
def diag(x: ArrayLike, k: int = 0) -> Array:
    """The diagonal of a matrix, or the matrix with a vector on its diagonal."""
    x = as_array(x)
    if x.ndim == 2:
        return apply(DIAGONAL, x, offset=int(k))
    if x.ndim != 1:
        raise ShapeError(f"diag: a vector or a matrix is needed, not shape {show_shape(x.shape)}.")
    size = normal(x.shape[0] + abs(int(k)))
    return apply(DIAGONAL_MATRIX, x, rows=size, columns=size, offset=int(k))


@composite(np.trace)
def trace(
    x: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None
) -> Array:
    """The sum of a diagonal."""
    return FUNCTIONS["sum"](_diagonal(x, offset, axis1, axis2), axis=-1, dtype=dtype)
