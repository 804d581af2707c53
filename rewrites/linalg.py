"""Matrices of known structure: symmetric, diagonal, triangular, orthogonal, positive definite.

If a matrix may be singular, a rule that removes its inverse is sound on its domain only.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from symgraph.facts import diagonal, orthogonal, positive_definite, symmetric, triangular
from symgraph.numpy import (
    absolute,
    broadcast_to,
    cholesky,
    det,
    exp,
    expm,
    inv,
    log,
    matmul,
    prod,
    reshape,
    sign,
    slogdet,
    solve,
    solve_triangular,
    sqrt,
    transpose,
)
from symgraph.rewriting import (
    Array,
    Finite,
    Identity,
    Nonzero,
    Offset,
    Permutation,
    Positive,
    Real,
    Shape,
    applied,
    building,
    is_real,
    of_fact,
    provided,
    rule,
    static,
)

from .contraction import matrix_transpose, swaps_last_two
from .known import Zeros
from .lifting import repeats

Definite: TypeAlias = Annotated[Array, is_real, of_fact(positive_definite)]
Orthogonal: TypeAlias = Annotated[Array, is_real, of_fact(orthogonal)]
Symmetric: TypeAlias = Annotated[Array, is_real, of_fact(symmetric)]
Diagonal: TypeAlias = Annotated[Array, is_real, of_fact(diagonal)]
Lower: TypeAlias = Annotated[Array, is_real, of_fact(triangular("lower"))]
Upper: TypeAlias = Annotated[Array, is_real, of_fact(triangular("upper"))]
RealZeros: TypeAlias = Annotated[Zeros, is_real]


@static
def column(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """The shape of vectors as columns."""
    return (*shape, 1)


@static
def row(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """The shape of vectors as rows; a single vector already is a row."""
    return (*shape[:-1], 1, *shape[-1:]) if len(shape) > 1 else shape


@static
def is_matrix(shape: tuple[Any, ...]) -> bool:
    """Whether a shape has at least two axes."""
    return len(shape) >= 2


@static
def is_square(shape: tuple[Any, ...]) -> bool:
    """Whether the last two axes have the same length."""
    return len(shape) >= 2 and shape[-1] == shape[-2]


def main_diagonal(x: Array) -> Array:
    """The main diagonal of a matrix."""
    return applied("diagonal", x, offset=0)


def on_diagonal(v: Array) -> Array:
    """The square matrix with a vector on its diagonal."""
    size = v.shape[-1]
    return applied("diagonal_matrix", v, rows=size, columns=size, offset=0)


# -- transposes ------------------------------------------------------------------------------------
@rule(sound="rounding")
def transpose_of_symmetric(x: Symmetric, axes: Permutation) -> Identity:
    r"""$A^\top = A$."""
    provided(swaps_last_two(axes))
    return transpose(x, axes), x


@rule(sound="rounding")
def transpose_of_inverse_of_transpose(x: Real) -> Identity:
    r"""$(A^{-\top})^\top = A^{-1}$."""
    return matrix_transpose(inv(matrix_transpose(x))), inv(x)


@rule(sound="rounding")
def determinant_of_transpose(x: Real) -> Identity:
    r"""$|A^\top| = |A|$."""
    return det(matrix_transpose(x)), det(x)


# -- diagonal matrices -----------------------------------------------------------------------------
@rule(sound="domain", earned={"rounding": {"v": Nonzero}}, measure="inverses")
def inverse_of_diagonal_matrix(v: Real) -> Identity:
    r"""$\operatorname{diag}(v)^{-1} = \operatorname{diag}(1 / v)$."""
    return inv(on_diagonal(v)), on_diagonal(1 / v)


@rule(sound="domain", earned={"rounding": {"v": Nonzero}})
def solve_with_diagonal_matrix(v: Real, b: Real) -> Identity:
    r"""$\operatorname{diag}(v)^{-1} b = b / v$."""
    solution = solve(on_diagonal(v), b)
    provided(b.ndim == 1)
    return solution, b / v


@rule(sound="domain", earned={"rounding": {"v": Nonzero}})
def solve_columns_with_diagonal_matrix(v: Real, b: Real) -> Identity:
    r"""$\operatorname{diag}(v)^{-1} B$ divides each row of B by an element of v."""
    solution = solve(on_diagonal(v), b)
    provided(b.ndim >= 2)
    return solution, b / reshape(v, column(v.shape))


@rule(sound="rounding")
def determinant_of_diagonal_matrix(v: Real) -> Identity:
    r"""$|\operatorname{diag}(v)| = \prod_i v_i$."""
    return det(on_diagonal(v)), prod(v, axis=-1)


@rule(sound="domain", earned={"rounding": {"v": Positive}}, measure="factorizations")
def cholesky_of_diagonal_matrix(v: Real) -> Identity:
    r"""The Cholesky factor of $\operatorname{diag}(v)$ is $\operatorname{diag}(\sqrt v)$."""
    return cholesky(on_diagonal(v)), on_diagonal(sqrt(v))


@rule(sound="rounding", measure="exponentials of matrices")
def expm_of_diagonal_matrix(v: Real) -> Identity:
    r"""$e^{\operatorname{diag}(v)} = \operatorname{diag}(e^v)$."""
    return expm(on_diagonal(v)), on_diagonal(exp(v))


@building
def _as_column(v: Array, x: Array) -> Array:
    """The vector v as a factor of the rows of a matrix x, or of the elements of a vector x."""
    return v if x.ndim == 1 else v[..., None]


@rule(sound="domain", earned={"rounding": {"x": Finite}}, measure="products with diagonal matrices")
def diagonal_by_matrix(d: Diagonal, x: Real) -> Identity:
    r"""$(D X)_{ij} = D_{ii} X_{ij}$; zeros times NaN would be NaN."""
    return matmul(d, x), _as_column(main_diagonal(d), x) * x


@rule(sound="domain", earned={"rounding": {"x": Finite}}, measure="products with diagonal matrices")
def matrix_by_diagonal(d: Diagonal, x: Real) -> Identity:
    r"""$(X D)_{ij} = X_{ij} D_{jj}$; zeros times NaN would be NaN."""
    scale = main_diagonal(d)
    return matmul(x, d), x * reshape(scale, row(scale.shape))


# -- triangular matrices ---------------------------------------------------------------------------
@rule(sound="rounding", measure="systems of full matrices")
def solve_with_lower_triangle(x: Lower, b: Real) -> Identity:
    r"""A lower triangular system is solved by substitution, from the first row."""
    return solve(x, b), solve_triangular(x, b, lower=True)


@rule(sound="rounding", measure="systems of full matrices")
def solve_with_upper_triangle(x: Upper, b: Real) -> Identity:
    r"""An upper triangular system is solved by substitution, from the last row."""
    return solve(x, b), solve_triangular(x, b, lower=False)


@rule(sound="rounding", measure="determinants of full matrices")
def determinant_of_lower_triangle(x: Lower) -> Identity:
    r"""$|L| = \prod_i L_{ii}$."""
    return det(x), prod(main_diagonal(x), axis=-1)


@rule(sound="rounding", measure="determinants of full matrices")
def determinant_of_upper_triangle(x: Upper) -> Identity:
    r"""$|U| = \prod_i U_{ii}$."""
    return det(x), prod(main_diagonal(x), axis=-1)


@rule(sound="exact")
def diagonal_of_lower_part(x: Array, k: Offset, offset: Offset) -> Identity:
    """The lower triangle up to diagonal k keeps the diagonals up to k."""
    provided(offset <= k)
    part = applied("tril", x, k=k)
    return applied("diagonal", part, offset=offset), applied("diagonal", x, offset=offset)


@rule(sound="exact")
def diagonal_of_upper_part(x: Array, k: Offset, offset: Offset) -> Identity:
    """The upper triangle from diagonal k keeps the diagonals from k."""
    provided(offset >= k)
    part = applied("triu", x, k=k)
    return applied("diagonal", part, offset=offset), applied("diagonal", x, offset=offset)


# -- Cholesky factors ------------------------------------------------------------------------------
@rule(sound="rounding")
def cholesky_of_its_product(x: Real) -> Identity:
    r"""The Cholesky factor of $L L^\top$ is L."""
    factor = cholesky(x)
    return cholesky(matmul(factor, matrix_transpose(factor))), factor


@rule(sound="rounding")
def product_of_cholesky_factors(x: Definite) -> Identity:
    r"""$L L^\top = A$."""
    return matmul(cholesky(x), matrix_transpose(cholesky(x))), x


# -- determinants and their logs -------------------------------------------------------------------
@building
def _log_of_determinant(x: Array) -> Array:
    return slogdet(x)[1]


@building
def _sign_of_determinant(x: Array) -> Array:
    return slogdet(x)[0]


@rule(sound="rounding", stable="determinants of large matrices overflow")
def log_of_absolute_determinant(x: Real) -> Identity:
    r"""$\log |\det A|$ from factors of A: the determinant may overflow."""
    return log(absolute(det(x))), _log_of_determinant(x)


@rule(sound="rounding", stable="determinants of large matrices overflow")
def log_of_positive_determinant(x: Definite) -> Identity:
    r"""$\log \det A$ from factors of A: the determinant may overflow."""
    return log(det(x)), _log_of_determinant(x)


@rule(sound="rounding", stable="determinants of large matrices overflow")
def sign_of_determinant(x: Real) -> Identity:
    r"""$\operatorname{sgn} \det A$ from factors of A: the determinant may overflow."""
    return sign(det(x)), _sign_of_determinant(x)


# -- batches ---------------------------------------------------------------------------------------
@static
def repeats_matrices(old: tuple[Any, ...], new: tuple[Any, ...]) -> bool:
    """Whether broadcasting repeats whole matrices, each of them at least once."""
    return old[-2:] == new[-2:] and repeats(old, new)


@static
def batch(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """The shape of the batch, without the two axes of the matrices."""
    return shape[:-2]


@rule(sound="exact", measure="matrices inverted")
def inverse_of_repeated_matrix(x: Real, shape: Shape) -> Identity:
    """The inverse of a broadcast matrix is a broadcast inverse."""
    provided(repeats_matrices(x.shape, shape))
    inverse = inv(broadcast_to(x, shape))
    return inverse, broadcast_to(inv(x), shape)


@rule(sound="exact", measure="matrices factored")
def cholesky_of_repeated_matrix(x: Real, shape: Shape) -> Identity:
    """The Cholesky factor of a broadcast matrix is a broadcast factor."""
    provided(repeats_matrices(x.shape, shape))
    factor = cholesky(broadcast_to(x, shape))
    return factor, broadcast_to(cholesky(x), shape)


@rule(sound="exact", measure="determinants")
def determinant_of_repeated_matrix(x: Real, shape: Shape) -> Identity:
    """The determinant of a broadcast matrix is a broadcast determinant."""
    provided(repeats_matrices(x.shape, shape))
    size = det(broadcast_to(x, shape))
    return size, broadcast_to(det(x), batch(shape))


@rule(sound="exact", measure="exponentials of matrices")
def expm_of_repeated_matrix(x: Real, shape: Shape) -> Identity:
    """The exponential of a broadcast matrix is a broadcast exponential."""
    provided(repeats_matrices(x.shape, shape))
    power = expm(broadcast_to(x, shape))
    return power, broadcast_to(expm(x), shape)


# -- zeros -----------------------------------------------------------------------------------------
@rule(sound="domain", earned={"rounding": {"x": Finite}})
def product_with_zeros(x: Real, o: RealZeros) -> Identity:
    """A finite matrix times zeros is zero; an infinity or NaN times zero is NaN."""
    return matmul(x, o), 0


@rule(sound="domain", earned={"rounding": {"x": Finite}})
def zeros_in_product(x: Real, o: RealZeros) -> Identity:
    """Zeros times a finite matrix are zero; zero times an infinity or NaN is NaN."""
    return matmul(o, x), 0
