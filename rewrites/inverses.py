"""Inverses, systems of equations, and determinants of inverses.

A rule that removes the inverse of a matrix which may be singular is sound on its domain only.
"""

from __future__ import annotations

from typing import Any

from symgraph.numpy import det, inv, matmul, reshape, solve
from symgraph.rewriting import Identity, Real, applied, provided, rule, static

from .contraction import matrix_transpose
from .linalg import Definite, Orthogonal, is_matrix


@rule(sound="domain", earned={"rounding": {"x": Definite}})
def inverse_of_inverse(x: Real) -> Identity:
    r"""$(A^{-1})^{-1} = A$ unless A is singular."""
    return inv(inv(x)), x


@rule(sound="domain", earned={"rounding": {"x": Definite}})
def solve_with_inverse(x: Real, b: Real) -> Identity:
    r"""$(A^{-1})^{-1} b = A b$ unless A is singular."""
    return solve(inv(x), b), matmul(x, b)


@rule(sound="domain", earned={"rounding": {"x": Definite}})
def solve_of_systems_with_one_matrix(x: Real, a: Real, b: Real) -> Identity:
    r"""$(X^{-1} A)^{-1} X^{-1} b = A^{-1} b$ unless X is singular."""
    solution = solve(solve(x, a), solve(x, b))
    provided(is_matrix(a.shape))
    return solution, solve(a, b)


@rule(sound="domain", earned={"rounding": {"x": Definite}})
def inverse_of_system(x: Real, a: Real) -> Identity:
    r"""$(X^{-1} A)^{-1} X^{-1} = A^{-1}$ unless X is singular."""
    solution = solve(solve(x, a), inv(x))
    provided(a.ndim == x.ndim)
    return solution, inv(a)


@rule(sound="rounding", measure="inverses formed")
def inverse_times_right_side(x: Real, b: Real) -> Identity:
    r"""$A^{-1} b$ by solving, which takes fewer operations and keeps more digits."""
    return matmul(inv(x), b), solve(x, b)


@rule(sound="rounding", measure="inverses formed")
def row_times_inverse(x: Real, b: Real) -> Identity:
    r"""$b^\top A^{-1}$ by solving with the transpose."""
    product = matmul(b, inv(x))
    provided(b.ndim == 1)
    return product, solve(matrix_transpose(x), b)


@rule(sound="rounding", measure="inverses formed")
def rows_times_inverse(x: Real, b: Real) -> Identity:
    r"""$B A^{-1}$ by solving with the transpose."""
    rows = matmul(b, inv(x))
    provided((b.ndim == 2) & (x.ndim == 2))
    return rows, matrix_transpose(solve(matrix_transpose(x), matrix_transpose(b)))


@static
def entry(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """The shape of numbers as matrices with one element."""
    return (*shape, 1, 1)


@rule(sound="rounding")
def determinant_of_inverse(x: Real) -> Identity:
    r"""$|A^{-1}| = 1 / |A|$."""
    return det(inv(x)), 1 / det(x)


@rule(sound="rounding", measure="singular value decompositions")
def cofactors_of_definite(x: Definite) -> Identity:
    r"""$\operatorname{cof} A = |A| A^{-\top}$: two triangular factorisations, not one SVD."""
    size = det(x)
    return applied("cofactor", x), reshape(size, entry(size.shape)) * matrix_transpose(inv(x))


@rule(sound="rounding")
def inverse_of_orthogonal(x: Orthogonal) -> Identity:
    r"""$Q^{-1} = Q^\top$."""
    return inv(x), matrix_transpose(x)


@rule(sound="rounding", measure="systems solved")
def solve_with_orthogonal(x: Orthogonal, b: Real) -> Identity:
    r"""$Q^{-1} b = Q^\top b$."""
    return solve(x, b), matmul(matrix_transpose(x), b)


@rule(sound="rounding", measure="systems solved")
def inverse_of_one(x: Real) -> Identity:
    r"""The inverse of a matrix with one element is its reciprocal."""
    inverse = inv(x)
    provided(x.shape[-1] == 1)
    return inverse, 1 / x


@rule(sound="rounding", measure="systems solved")
def system_of_one(x: Real, b: Real) -> Identity:
    r"""Solving with a matrix of one element is dividing by it."""
    solution = solve(x, b)
    provided((x.shape[-1] == 1) & is_matrix(b.shape))
    return solution, b / x
