"""Shared by operations on matrices: dtypes, square shapes, triangles, costs, zero cotangents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ..array import Array, ArrayLike, apply
from ..errors import DTypeError, InputError, ShapeError
from ..facts import Fact, finite, total
from ..ir.avals import Aval
from ..ir.dims import Dim, count, known_equal, normal, show_shape
from ..ir.op import Op, register, results_of
from ..ir.traits import MOVEMENT, Matrices
from .batched import batch_aligned
from .carrying import all_but_last
from .families import function
from .movement import matrix_transpose
from .triangles import tril, triu

__all__ = [
    "LOWER",
    "STRUCTURES",
    "UPPER",
    "copied_lower",
    "enough_rows",
    "inherited",
    "is_zero",
    "matrix_dtype",
    "per_matrix",
    "square_size",
    "thin_size",
    "triangle",
]

LOWER = Fact("triangular", ("lower",))
UPPER = Fact("triangular", ("upper",))
STRUCTURES = (Fact("positive_definite"), Fact("symmetric"), Fact("diagonal"), LOWER, UPPER)
"""The structures that the inverse of a matrix keeps."""


def matrix_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Promotion of NumPy's `linalg`: whole numbers become float64.

    Raises
    ------
    DTypeError
        For float16, which LAPACK does not have.
    """
    if dtype.kind != "f":
        return np.dtype("float64")
    if dtype.itemsize < 4:
        raise DTypeError(
            "linear algebra is not defined for float16.", mend='Convert it: x.astype("float32").'
        )
    return dtype


def square_size(x: Aval) -> Dim:
    """The number of rows of square matrices.

    Raises
    ------
    ShapeError
        If they are not square.
    """
    if x.ndim < 2 or not known_equal(x.shape[-1], x.shape[-2]):
        raise ShapeError(f"square matrices are needed, not shape {show_shape(x.shape)}.")
    return x.shape[-1]


def thin_size(avals: tuple[Aval, ...], **params: object) -> dict[str, Any]:
    """Params whose `size` is the smaller of rows and columns.

    We take a named dimension to be at least as large as a fixed one: data have more rows than
    columns. A run where it is smaller raises an error (`enough_rows`).

    Raises
    ------
    ShapeError
        If there is no matrix, or two different names stand against one another.
    """
    shape = avals[0].shape
    if len(shape) < 2:
        raise ShapeError(f"matrices are needed, not shape {show_shape(shape)}.")
    rows, columns = shape[-2:]
    if isinstance(rows, int) and isinstance(columns, int):
        size: Dim = min(rows, columns)
    elif known_equal(rows, columns) or isinstance(rows, int):
        size = rows
    elif isinstance(columns, int):
        size = columns
    else:
        raise ShapeError(
            f"which of {rows} rows and {columns} columns are fewer is not known.",
            mend="Give one of the two dimensions a number.",
        )
    return {**params, "size": size}


def enough_rows(x: Array, size: int) -> None:
    """Refuse matrices whose named dimension is smaller than the fixed one.

    Raises
    ------
    InputError
    """
    rows, columns = x.shape[-2:]
    if (rows if rows < columns else columns) != size:
        raise InputError(
            f"A matrix of {rows} rows and {columns} columns has fewer than {size} of one; the "
            f"graph was made for named dimensions of at least {size}.",
            mend="Trace it with numbers instead of names for these dimensions.",
        )


def per_matrix(factor: int, divisor: int = 1) -> Any:
    """Cost of `factor / divisor` times the cube of the rows, for each matrix."""

    def cost(_out: object, x: Aval, *_others: object, **_params: object) -> Dim:
        return scaled(count((factor, *x.shape[:-1], x.shape[-1], x.shape[-1])), divisor)

    return cost


def scaled(flops: Dim, divisor: int) -> Dim:
    """`flops / divisor`, rounded down if it is a number."""
    return flops // divisor if isinstance(flops, int) else normal(flops / divisor)


def inherited(*facts: Fact) -> Any:
    """Facts that the result inherits from its one operand."""

    def rule(x: Array, **_params: object) -> Iterable[Fact]:
        return [fact for fact in facts if x.has(fact)]

    return rule


def triangle(x: Array, lower: bool, strict: bool = False) -> Array:
    """`x` with zeros above (below) the diagonal; with `strict`, on the diagonal too."""
    return tril(x, -1 if strict else 0) if lower else triu(x, 1 if strict else 0)


def _infer_copied(x: Aval) -> Aval:
    square_size(x)
    return x


COPIED_LOWER = register(
    Op(
        "copied_lower",
        workspace=results_of(2.25),
        batch=batch_aligned,
        total=True,
        carries=all_but_last(2),
        infer=_infer_copied,
        kernel=lambda xp, x: xp.tril(x) + xp.swapaxes(xp.tril(x, -1), -1, -2),
        vjp=(
            lambda ct, out, x: (
                triangle(ct, lower=True) + triangle(matrix_transpose(ct), lower=True, strict=True)
            ),
        ),
        facts=lambda x: [Fact("symmetric"), *[fact for fact in (finite, total) if x.has(fact)]],
        doc="The symmetric matrix that has the lower triangle of x: it is copied over the upper.",
        traits=replace(MOVEMENT, matrices=Matrices.SQUARE),
    )
)


def _copied_lower(x: ArrayLike) -> Array:
    return apply(COPIED_LOWER, x)


copied_lower = function(COPIED_LOWER, _copied_lower)


def is_zero(ct: Array) -> bool:
    """Whether a cotangent is a zero by its structure, so that nothing flows back."""
    node = ct.node
    while node.operands and node.op.view:
        node = node.operands[0]
    return node.is_constant and not np.any(node.params["value"])
