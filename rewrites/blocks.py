"""Block-diagonal and block-triangular matrices, and Kronecker products."""

from __future__ import annotations

from typing import Any

from symgraph.numpy import cholesky, det, inv, matmul, power, reshape, solve, transpose
from symgraph.rewriting import (
    Array,
    Finite,
    Identity,
    Real,
    applied,
    building,
    provided,
    rule,
    static,
)

from .known import Zeros
from .linalg import Definite, RealZeros, is_square, main_diagonal, on_diagonal


# -- blocks ----------------------------------------------------------------------------------------
def blocks(a: Array, right: Array, below: Array, b: Array) -> Array:
    """The block matrix of two matrices on the diagonal and two beside them."""
    upper = applied("concatenate", a, right, axis=-1)
    return applied("concatenate", upper, applied("concatenate", below, b, axis=-1), axis=-2)


@rule(sound="rounding", measure="size of matrices inverted")
def inverse_of_blocks(a: Real, b: Real, o: RealZeros, z: RealZeros) -> Identity:
    """The inverse of a block-diagonal matrix holds the inverses of the blocks."""
    whole = inv(blocks(a, o, z, b))
    provided(is_square(a.shape) & is_square(b.shape))
    return whole, blocks(inv(a), o, z, inv(b))


@rule(sound="rounding", measure="size of matrices factored")
def cholesky_of_blocks(a: Real, b: Real, o: RealZeros, z: RealZeros) -> Identity:
    """The Cholesky factor of a block-diagonal matrix holds the factors of the blocks."""
    whole = cholesky(blocks(a, o, z, b))
    provided(is_square(a.shape) & is_square(b.shape))
    return whole, blocks(cholesky(a), o, z, cholesky(b))


@rule(sound="rounding", measure="size of determinants")
def determinant_of_upper_blocks(a: Real, b: Real, c: Real, z: RealZeros) -> Identity:
    """The determinant of an upper block triangle is the product of those of its diagonal blocks."""
    whole = det(blocks(a, c, z, b))
    provided(is_square(a.shape) & is_square(b.shape))
    return whole, det(a) * det(b)


@rule(sound="rounding", measure="size of determinants")
def determinant_of_lower_blocks(a: Real, b: Real, c: Real, o: RealZeros) -> Identity:
    """The determinant of a lower block triangle is the product of those of its diagonal blocks."""
    whole = det(blocks(a, o, c, b))
    provided(is_square(a.shape) & is_square(b.shape))
    return whole, det(a) * det(b)


@building
def _rows(x: Array, a: Array, after: bool) -> Array:
    """The rows of `x` that the columns of the block `a` multiply, or the rows after them."""
    size = a.shape[-1]
    rows = slice(size, None) if after else slice(None, size)
    return x[rows] if x.ndim == 1 else x[..., rows, :]


@building
def _joined(x: Array, y: Array, c: Array) -> Array:
    """The results of the two blocks, one below the other."""
    return applied("concatenate", x, y, axis=-1 if c.ndim == 1 else -2)


@rule(sound="domain", earned={"rounding": {"c": Finite}}, measure="size of products")
def product_with_blocks(a: Real, b: Real, o: RealZeros, z: RealZeros, c: Real) -> Identity:
    """A block-diagonal matrix multiplies block by block; zeros times NaN would be NaN."""
    whole = matmul(blocks(a, o, z, b), c)
    # If a is not as wide as z, the columns of the upper and the lower blocks do not line up.
    provided(a.shape[-1] == z.shape[-1])
    upper = matmul(a, _rows(c, a, after=False))
    return whole, _joined(upper, matmul(b, _rows(c, a, after=True)), c)


@rule(sound="rounding", measure="size of systems solved")
def solve_with_blocks(a: Real, b: Real, o: RealZeros, z: RealZeros, c: Real) -> Identity:
    """A block-diagonal system is solved block by block."""
    solution = solve(blocks(a, o, z, b), c)
    provided(is_square(a.shape) & is_square(b.shape))
    upper = solve(a, _rows(c, a, after=False))
    return solution, _joined(upper, solve(b, _rows(c, a, after=True)), c)


@rule(sound="exact", measure="diagonals of larger matrices")
def diagonal_of_blocks(a: Array, b: Array, o: Zeros, z: Zeros) -> Identity:
    """The diagonal of a block-diagonal matrix is the diagonals of the blocks, concatenated."""
    matrix = blocks(a, o, z, b)
    # Blocks may be square in a matrix that is not: the zeros beside them are too wide.
    provided(is_square(a.shape) & is_square(b.shape) & is_square(matrix.shape))
    whole = main_diagonal(matrix)
    first, second = main_diagonal(a), main_diagonal(b)
    return whole, applied("concatenate", first, second, axis=-1)


# -- Kronecker products ----------------------------------------------------------------------------
@static
def interleaved_shape(shape: tuple[Any, ...], before: int) -> tuple[Any, ...]:
    """The shape of a matrix with an axis of length one before or after each of its axes."""
    if len(shape) != 2:
        return ()
    return (1, shape[0], 1, shape[1]) if before else (shape[0], 1, shape[1], 1)


@static
def kronecker_shape(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    """The shape of a Kronecker product."""
    if len(one) != 2 or len(other) != 2:
        return ()
    return (one[0] * other[0], one[1] * other[1])


def kronecker(a: Array, b: Array) -> Array:
    """The Kronecker product of two matrices."""
    pairs = reshape(a, interleaved_shape(a.shape, 0)) * reshape(b, interleaved_shape(b.shape, 1))
    return reshape(pairs, kronecker_shape(a.shape, b.shape))


@rule(sound="rounding", measure="size of matrices inverted")
def inverse_of_kronecker(a: Real, b: Real) -> Identity:
    r"""$(A \otimes B)^{-1} = A^{-1} \otimes B^{-1}$."""
    provided(is_square(b.shape))
    return inv(kronecker(a, b)), kronecker(inv(a), inv(b))


@rule(sound="rounding", measure="size of matrices factored")
def cholesky_of_kronecker(a: Definite, b: Definite) -> Identity:
    r"""The factor of $A \otimes B$ is $L_A \otimes L_B$."""
    return cholesky(kronecker(a, b)), kronecker(cholesky(a), cholesky(b))


@rule(sound="rounding", measure="size of determinants")
def determinant_of_kronecker(a: Real, b: Real) -> Identity:
    r"""$|A \otimes B| = |A|^m |B|^n$ for A with n rows and B with m."""
    whole = det(kronecker(a, b))
    provided(is_square(b.shape))
    return whole, power(det(a), b.shape[0]) * power(det(b), a.shape[0])


@rule(sound="rounding", measure="size of products")
def kronecker_times_vector(a: Array, b: Array, v: Array) -> Identity:
    r"""$(A \otimes B) \operatorname{vec} X = \operatorname{vec}(A X B^\top)$, X in row order."""
    whole = kronecker(a, b) @ v
    provided((v.ndim == 1) & (a.size != 0))
    inside = a @ reshape(v, (a.shape[1], b.shape[1])) @ transpose(b)
    return whole, reshape(inside, (a.shape[0] * b.shape[0],))


@rule(sound="rounding", measure="size of products")
def vector_times_kronecker(a: Array, b: Array, v: Array) -> Identity:
    r"""$\operatorname{vec}(X)^\top (A \otimes B) = \operatorname{vec}(A^\top X B)^\top$."""
    whole = v @ kronecker(a, b)
    provided((v.ndim == 1) & (a.size != 0))
    inside = transpose(a) @ reshape(v, (a.shape[0], b.shape[0])) @ b
    return whole, reshape(inside, (a.shape[1] * b.shape[1],))


@rule(sound="rounding", measure="size of products")
def kronecker_times_matrix(a: Array, b: Array, x: Array) -> Identity:
    r"""$(A \otimes B) X$ in two steps: B multiplies each group of rows, then A combines them."""
    whole = kronecker(a, b) @ x
    provided((x.ndim == 2) & (b.size != 0))
    inner = b @ reshape(x, (a.shape[1], b.shape[1], x.shape[1]))
    outer = a @ reshape(inner, (a.shape[1], b.shape[0] * x.shape[1]))
    return whole, reshape(outer, (a.shape[0] * b.shape[0], x.shape[1]))


@rule(sound="rounding", measure="size of systems solved")
def solve_with_kronecker(a: Real, b: Real, v: Real) -> Identity:
    r"""$(A \otimes B)^{-1} \operatorname{vec} X = \operatorname{vec}(A^{-1} X B^{-\top})$."""
    whole = solve(kronecker(a, b), v)
    provided(is_square(b.shape) & (v.ndim == 1))
    inside = solve(a, reshape(v, (a.shape[0], b.shape[0])))
    return whole, reshape(transpose(solve(b, transpose(inside))), v.shape)


@rule(sound="rounding", measure="size of products")
def product_of_kroneckers(a: Array, b: Array, c: Array, d: Array) -> Identity:
    r"""$(A \otimes B)(C \otimes D) = A C \otimes B D$."""
    whole = kronecker(a, b) @ kronecker(c, d)
    provided((a.shape[1] == c.shape[0]) & (a.size != 0) & (b.size != 0))
    return whole, kronecker(a @ c, b @ d)


@building
def _outer(u: Array, v: Array) -> Array:
    """The products of all pairs of elements of two vectors, as a vector."""
    return reshape(u[:, None] * v, (u.shape[0] * v.shape[0],))


@rule(sound="exact", measure="products of elements")
def diagonal_of_kronecker(a: Array, b: Array) -> Identity:
    r"""$\operatorname{diag}(A \otimes B) = \operatorname{diag} A \otimes \operatorname{diag} B$."""
    whole = main_diagonal(kronecker(a, b))
    provided(is_square(a.shape) & is_square(b.shape))
    return whole, _outer(main_diagonal(a), main_diagonal(b))


@rule(
    sound="domain", earned={"rounding": {"u": Finite, "v": Finite}}, measure="products of elements"
)
def kronecker_of_diagonals(u: Real, v: Real) -> Identity:
    r"""$\operatorname{diag} u \otimes \operatorname{diag} v = \operatorname{diag}(u \otimes v)$."""
    whole = kronecker(on_diagonal(u), on_diagonal(v))
    provided(u.ndim == 1)
    return whole, on_diagonal(_outer(u, v))
