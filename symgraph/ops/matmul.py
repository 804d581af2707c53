"""matmul: the product of two matrices, or of batches of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..array import Array, ArrayLike, apply
from ..errors import ShapeError
from ..facts import Fact
from ..ir.avals import Aval, broadcast_shapes
from ..ir.dims import Dim, count, known_equal, show_shape
from ..ir.fact_inference import Known
from ..ir.node import Node
from ..ir.op import Batch, Op, register
from ..ir.traits import Infix, Matrices, Traits
from ..notation import array_formulas
from .arithmetic_facts import facts_of_products
from .batched import aligned, own_ndim
from .carrying import carries_matmul
from .einsum import einsum
from .families import function, same_dtype
from .movement import expand_dims, matrix_transpose, squeeze
from .structures import unshaped

__all__ = ["MATMUL", "matmul"]


def _infer_matmul(x: Aval, y: Aval) -> Aval:
    if not x.ndim or not y.ndim:
        raise ShapeError(
            f"shapes {show_shape(x.shape)} and {show_shape(y.shape)} do not multiply as matrices.",
            mend="A product with a 0-d array is written with *.",
        )
    inner = y.shape[-2] if y.ndim > 1 else y.shape[-1]
    if not known_equal(x.shape[-1], inner):
        raise ShapeError(
            f"shapes {show_shape(x.shape)} and {show_shape(y.shape)} do not multiply: "
            f"{x.shape[-1]} columns against {inner} rows.",
            mend="Columns of the first must match rows of the second; transpose one with .T.",
        )
    lead = broadcast_shapes(x.shape[:-2], y.shape[:-2])
    rows = (x.shape[-2],) if x.ndim > 1 else ()
    columns = (y.shape[-1],) if y.ndim > 1 else ()
    return Aval(x.dtype, (*lead, *rows, *columns))


def _vjp_matmul_left(ct: Array, out: Array, x: Array, y: Array) -> Array:
    if x.ndim == 1 and y.ndim == 1:
        return (expand_dims(ct, -1) if ct.ndim else ct) * y
    if y.ndim == 1:
        return expand_dims(ct, -1) * y
    if x.ndim == 1 and y.ndim > 2:
        return einsum("...m,...km->...k", ct, y)
    if x.ndim == 1:
        return matmul(y, ct) if ct.ndim == 1 else matmul(ct, matrix_transpose(y))
    return matmul(ct, matrix_transpose(y))


def _vjp_matmul_right(ct: Array, out: Array, x: Array, y: Array) -> Array:
    if x.ndim == 1 and y.ndim == 1:
        return (expand_dims(ct, -1) if ct.ndim else ct) * x
    if x.ndim == 1:
        return expand_dims(x, -1) * expand_dims(ct, -2)
    if y.ndim == 1 and x.ndim > 2:
        return einsum("...nk,...n->...k", x, ct)
    if y.ndim == 1:
        return matmul(matrix_transpose(x), ct) if ct.ndim == 1 else matmul(ct, x)
    return matmul(matrix_transpose(x), ct)


def _flops_matmul(out: Aval, x: Aval, y: Aval) -> Dim:
    return count((2, *out.shape, x.shape[-1]))


def _facts_matmul(x: Known, y: Known) -> Iterable[Fact]:
    yield from facts_of_products(x, y)
    for fact in (Fact("orthogonal"), Fact("diagonal"), *_TRIANGULAR):
        if x.has(fact) and y.has(fact):
            yield fact
    if x.aval.ndim > 1 < y.aval.ndim and _is_symmetric(x, y):
        yield _SYMMETRIC


_TRIANGULAR = (Fact("triangular", ("lower",)), Fact("triangular", ("upper",)))
_SYMMETRIC = Fact("symmetric")
_LONGEST = 12
"""How many factors of a product we take apart or away to see that it reads the same from both
ends."""


def _is_symmetric(x: Known, y: Known) -> bool:
    """Whether a product is its own transpose: each factor mirrors one, the middle is symmetric.

    Rows or columns that are scaled count as a diagonal matrix: (s A)ᵀ A is Aᵀ D A.
    """
    factors = [*_apart(x), *_apart(y)]
    for _ in range(_LONGEST):
        if all(each.scales for each in factors):
            return True
        first, last = factors[0], factors[-1]
        if len(factors) == 1:
            return first.known.has(_SYMMETRIC)
        if _is_mirrored(first, last):
            factors = factors[1:-1]
        elif not first.scales and _is_product(first.known):
            factors = [*_opened(first), *factors[1:]]
        elif not last.scales and _is_product(last.known):
            factors = [*factors[:-1], *_opened(last)]
        else:
            return False
    return False


class _Factor(NamedTuple):
    """One factor of a product of matrices.

    Parameters
    ----------
    known : Known
    turned : bool
        Whether the factor is the transpose of the value.
    scales : bool
        Whether the factor is a diagonal matrix of the value's elements.
    """

    known: Known
    turned: bool = False
    scales: bool = False


def _apart(x: Known, *, turned: bool = False) -> list[_Factor]:
    """A matrix as a factor, or as several, if its rows or columns are scaled."""
    while _is_exchange(x.node):
        (x,), turned = x.operands, not turned
    if x.node.op.name not in ("multiply", "divide"):
        return [_Factor(x, turned)]
    for place, by in ((0, 1), (1, 0))[: 1 if x.node.op.name == "divide" else 2]:
        matrix, scale = x.operands[place], x.operands[by]
        if matrix.aval.ndim < 2 or matrix.aval.shape[-2:] != x.aval.shape[-2:]:
            continue
        rows = scale.aval.ndim < 2 or scale.aval.shape[-2] == 1
        columns = scale.aval.ndim < 1 or scale.aval.shape[-1] == 1
        if rows and columns:
            return _apart(matrix, turned=turned)
        if rows or columns:
            inner, diagonal = _apart(matrix, turned=turned), _Factor(scale, scales=True)
            return [diagonal, *inner] if columns != turned else [*inner, diagonal]
    return [_Factor(x, turned)]


def _opened(product: _Factor) -> list[_Factor]:
    """The factors of a product of matrices."""
    operands = product.known.operands[:: -1 if product.turned else 1]
    return [each for x in operands for each in _apart(x, turned=product.turned)]


def _is_product(x: Known) -> bool:
    """Whether a value is a product of matrices."""
    return x.node.op.name == "matmul" and all(each.aval.ndim > 1 for each in x.operands)


def _is_exchange(node: Node) -> bool:
    """Whether it is the transpose of matrices."""
    exchanged = (*range(-node.ndim, -2), -1, -2)
    return node.op.name == "transpose" and node.params["axes"] == exchanged


def _is_mirrored(x: _Factor, y: _Factor) -> bool:
    """Whether one factor is the other transposed."""
    if x.scales or y.scales:
        return x.scales and y.scales and unshaped(x.known.node) is unshaped(y.known.node)
    if x.known.node is not y.known.node:
        return False
    return x.turned != y.turned or x.known.has(_SYMMETRIC)


def _batch_matmul(batch: Batch) -> Any:
    (x, y), (left, right) = batch.operands, batch.batched
    rows, columns = own_ndim(batch, 0), own_ndim(batch, 1)
    if rows == columns == 1:
        if left and right:
            return einsum("ni,ni->n", x, y)
        return matmul(x, y) if left else matmul(y, x)
    if columns == 1 and rows == 2 and not left:
        return matmul(y, matrix_transpose(x))
    ndim = max(rows, columns)
    if columns == 1 and right:
        column = aligned(expand_dims(y, -1), ndim)
        return squeeze(matmul(aligned(x, ndim) if left else x, column), -1)
    if rows == 1 and left and (right or columns > 2):
        row = aligned(expand_dims(x, -2), ndim)
        return squeeze(matmul(row, aligned(y, ndim) if right else y), -2)
    if rows == 1 or columns == 1:
        return matmul(x, y)
    return matmul(aligned(x, ndim) if left else x, aligned(y, ndim) if right else y)


def _indices_matmul(_out: Aval, x: Aval, y: Aval) -> tuple[list[list[Any]], list[Any]]:
    lead = max(x.ndim, y.ndim, 2)
    rows = [*range(-x.ndim, -2), "row"] if x.ndim > 1 else []
    columns = ["column"] if y.ndim > 1 else []
    result = [*range(-lead, -2), *rows[-1:], *columns]
    return [[*rows, "inner"], [*range(-y.ndim, -2), "inner", *columns]], result


MATMUL = register(
    Op(
        "matmul",
        batch=_batch_matmul,
        total=True,
        infer=_infer_matmul,
        kernel=lambda xp, x, y: xp.matmul(x, y),
        vjp=(_vjp_matmul_left, _vjp_matmul_right),
        carries=carries_matmul,
        promote=same_dtype,
        flops=_flops_matmul,
        facts=_facts_matmul,
        ufunc="matmul",
        doc="The matrix product, batched over leading axes; vectors as NumPy has it.",
        traits=Traits(matrices=Matrices.ANY, linear=..., indices=_indices_matmul),
        mistaken_for=("multiply",),
        text=Infix("@", 7),
        latex=array_formulas.matmul_formula,
        definition=lambda m, x, y: m.matmul(x, y),
    )
)


def _matmul(x: ArrayLike, y: ArrayLike) -> Array:
    return apply(MATMUL, x, y)


matmul = function(MATMUL, _matmul, np.matmul, np.linalg.matmul)
