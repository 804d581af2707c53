"""Transposes in matrix products."""

from __future__ import annotations

from symgraph.numpy import matmul, reshape, transpose
from symgraph.rewriting import (
    Array,
    Identity,
    Permutation,
    Real,
    applied,
    provided,
    rule,
    static,
)


@static
def swaps_last_two(axes: tuple[int, ...]) -> bool:
    """Whether a permutation exchanges the last two axes and no others."""
    return len(axes) >= 2 and axes == (*range(-len(axes), -2), -1, -2)


@static
def last_two_swapped(ndim: int) -> tuple[int, ...]:
    """The permutation that transposes matrices."""
    return (*range(-ndim, -2), -1, -2)


def matrix_transpose(x: Array) -> Array:
    """The transpose of a matrix, or of each matrix of a stack."""
    return applied("transpose", x, axes=last_two_swapped(x.ndim))


@rule(sound="rounding", measure="transposes")
def product_of_transposes(x: Array, y: Array, first: Permutation, second: Permutation) -> Identity:
    r"""$X^\top Y^\top = (YX)^\top$."""
    provided(swaps_last_two(first) & swaps_last_two(second))
    provided(first == second)
    product = matmul(transpose(x, first), transpose(y, second))
    return product, transpose(matmul(y, x), first)


@rule(sound="rounding", measure="transposes above products")
def transpose_of_product_of_transpose(
    x: Array, y: Array, inner: Permutation, outer: Permutation
) -> Identity:
    r"""$(X^\top Y)^\top = Y^\top X$."""
    provided(swaps_last_two(inner) & (inner == outer))
    product = transpose(matmul(transpose(x, inner), y), outer)
    return product, matmul(matrix_transpose(y), x)


@rule(sound="rounding", measure="transposes above products")
def transpose_of_product_by_transpose(
    x: Array, y: Array, inner: Permutation, outer: Permutation
) -> Identity:
    r"""$(X Y^\top)^\top = Y X^\top$."""
    provided(swaps_last_two(inner) & (inner == outer))
    product = transpose(matmul(x, transpose(y, inner)), outer)
    return product, matmul(y, matrix_transpose(x))


@rule(sound="exact", measure="transposes above products")
def transpose_of_outer_product(x: Array, y: Array) -> Identity:
    r"""$(x y^\top)^\top = y x^\top$."""
    provided(y.ndim == 1)
    product = reshape(x, (x.shape[0], 1)) * y
    return applied("transpose", product, axes=(-1, -2)), reshape(y, (y.shape[0], 1)) * x


@rule(sound="rounding", measure="products over an axis of length one")
def column_by_row(x: Real, y: Real) -> Identity:
    r"""$\sum_{k=1}^1 x_{ik} y_{kj} = x_i y_j$."""
    provided(x.shape[-1] == 1)
    product = matmul(x, y)
    outer = x * y
    provided(product.shape == outer.shape)
    return product, outer
