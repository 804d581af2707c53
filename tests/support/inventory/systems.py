"""Inverses, systems, factorisations and determinants."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp

from . import given, reached, refused

DIAGONAL = given((3, 3), sg.diagonal)
LOWER = given((3, 3), sg.triangular("lower"))
SPD = given((3, 3), sg.positive_definite)
ORTHOGONAL = given((3, 3), sg.orthogonal)
POSITIVE = given(3, sg.positive)


def blocks(a, b):
    """A matrix of two blocks on its diagonal."""
    return np.block(
        [[a, np.zeros((a.shape[0], b.shape[1]))], [np.zeros((b.shape[0], a.shape[1])), b]]
    )


SOLVES = [
    reached(
        "transpose_of_inv",
        "the transpose of an inverse, by a vector",
        lambda x, b: np.linalg.inv(x).T @ b,
        lambda x, b: np.linalg.solve(x.T, b),
        x=SPD,
        b=3,
    ),
    reached(
        "transpose_of_inv",
        "an inverse between two transposes",
        lambda x: np.linalg.inv(x.T).T,
        np.linalg.inv,
        x=SPD,
    ),
    reached(
        "inv_to_solve",
        "an inverse by a vector",
        lambda x, b: np.linalg.inv(x) @ b,
        np.linalg.solve,
        x=SPD,
        b=3,
    ),
    reached(
        "inv_to_solve",
        "a row by an inverse",
        lambda x, b: b @ np.linalg.inv(x),
        lambda x, b: np.linalg.solve(x.T, b),
        x=SPD,
        b=3,
    ),
    reached(
        "inv_of_inv",
        "twice inverted",
        lambda x: np.linalg.inv(np.linalg.inv(x)),
        lambda x: x,
        x=SPD,
    ),
    reached(
        "inv_of_orthogonal_to_transpose",
        "the inverse of an orthogonal matrix",
        np.linalg.inv,
        lambda q: q.T,
        q=ORTHOGONAL,
    ),
    reached(
        "inv_of_diag_to_diag_reciprocal",
        "the inverse of a diagonal matrix",
        lambda v: np.linalg.inv(np.diag(v)),
        lambda v: np.eye(3) / v[:, None],
        v=POSITIVE,
    ),
    reached(
        "lift_linalg_of_expanded_matrices",
        "the inverse of a Kronecker product",
        lambda a, b: np.linalg.inv(np.kron(a, b)),
        lambda a, b: np.kron(np.linalg.inv(a), np.linalg.inv(b)),
        a=given((2, 2), sg.positive_definite),
        b=SPD,
    ),
    reached(
        "lift_linalg_of_expanded_matrices",
        "the inverse of blocks",
        lambda a, b: np.linalg.inv(blocks(a, b)),
        lambda a, b: blocks(np.linalg.inv(a), np.linalg.inv(b)),
        a=given((2, 2), sg.positive_definite),
        b=SPD,
    ),
    reached(
        "lift_linalg_of_expanded_matrices",
        "the Cholesky factor of blocks",
        lambda a, b: np.linalg.cholesky(blocks(a, b)),
        lambda a, b: blocks(np.linalg.cholesky(a), np.linalg.cholesky(b)),
        a=given((2, 2), sg.positive_definite),
        b=SPD,
    ),
    reached(
        "lift_linalg_of_expanded_matrices",
        "the Cholesky factor of a Kronecker product",
        lambda a, b: np.linalg.cholesky(np.kron(a, b)),
        lambda a, b: np.kron(np.linalg.cholesky(a), np.linalg.cholesky(b)),
        a=given((2, 2), sg.positive_definite),
        b=SPD,
    ),
    reached(
        "generic_solve_to_solve_triangular",
        "a system with a Cholesky factor",
        lambda x, b: np.linalg.solve(np.linalg.cholesky(x), b),
        lambda x, b: snp.solve_triangular(np.linalg.cholesky(x), b, lower=True),
        x=SPD,
        b=(3, 2),
    ),
    reached(
        "generic_solve_to_structured_form",
        "a system known to be triangular",
        lambda x, b: np.linalg.solve(x, b),
        lambda x, b: snp.solve_triangular(x, b, lower=True),
        x=LOWER,
        b=(3, 2),
    ),
    reached(
        "batched_vector_b_solve_to_matrix_b_solve",
        "two right sides of one matrix",
        lambda x, b, c: np.linalg.solve(x, b) + np.linalg.solve(x, c),
        lambda x, b, c: np.linalg.solve(x, b + c),
        x=SPD,
        b=3,
        c=3,
    ),
    reached(
        "psd_solve_to_chol_solve",
        "a system with a positive definite matrix is one solve",
        np.linalg.solve,
        1,
        x=SPD,
        b=3,
    ),
    reached(
        "paired_triangular_solves_to_cho_solve",
        "two triangular systems of one Cholesky factor stay two",
        lambda x, b: snp.solve_triangular(
            np.linalg.cholesky(x).T,
            snp.solve_triangular(np.linalg.cholesky(x), b, lower=True),
            lower=False,
        ),
        3,
        x=SPD,
        b=3,
    ),
    reached(
        "scalar_solve_to_division",
        "a system of one",
        np.linalg.solve,
        lambda x, b: b / x,
        x=given((1, 1), sg.nonzero),
        b=(1, 2),
    ),
    reached(
        "scalar_solve_to_division",
        "an inverse of one",
        np.linalg.inv,
        lambda x: 1 / x,
        x=given((1, 1), sg.nonzero),
    ),
    reached(
        "solve_of_inv_to_matmul",
        "a system with an inverse",
        lambda x, b: np.linalg.solve(np.linalg.inv(x), b),
        lambda x, b: x @ b,
        x=SPD,
        b=3,
    ),
    reached(
        "diagonal_solve_to_division",
        "a diagonal system",
        lambda v, b: np.linalg.solve(np.diag(v), b),
        lambda v, b: b / v,
        v=POSITIVE,
        b=3,
    ),
    reached(
        "diagonal_solve_to_division",
        "a diagonal system, several right sides",
        lambda v, b: np.linalg.solve(np.diag(v), b),
        lambda v, b: b / v[:, None],
        v=POSITIVE,
        b=(3, 2),
    ),
    reached(
        "diagonal_solve_to_division",
        "a system known to be diagonal",
        np.linalg.solve,
        1,
        d=DIAGONAL,
        b=3,
    ),
    reached(
        "block_diag_solve_to_block_diag_solves",
        "a system of blocks",
        lambda a, b, c: np.linalg.solve(blocks(a, b), c),
        lambda a, b, c: np.concatenate([np.linalg.solve(a, c[:2]), np.linalg.solve(b, c[2:])]),
        a=given((2, 2), sg.positive_definite),
        b=SPD,
        c=5,
    ),
    reached(
        "orthogonal_solve_to_transpose_matmul",
        "an orthogonal system",
        np.linalg.solve,
        lambda q, b: q.T @ b,
        q=ORTHOGONAL,
        b=3,
    ),
    reached(
        "reuse_decomposition_multiple_solves",
        "a value and its log-determinant from one Cholesky factor",
        lambda x, b: (
            np.linalg.solve(np.linalg.cholesky(x), b)
            + 2 * np.sum(np.log(np.diagonal(np.linalg.cholesky(x))))
        ),
        lambda x, b: (
            snp.solve_triangular(np.linalg.cholesky(x), b, lower=True)
            + 2 * np.sum(np.log(np.diagonal(np.linalg.cholesky(x))))
        ),
        x=SPD,
        b=3,
    ),
]

FACTORS = [
    reached(
        "cholesky_ldotlt",
        "the Cholesky factor of a product of one with its transpose",
        lambda x: np.linalg.cholesky(np.linalg.cholesky(x) @ np.linalg.cholesky(x).T),
        np.linalg.cholesky,
        x=SPD,
    ),
    reached(
        "cholesky_of_diag",
        "the Cholesky factor of a diagonal matrix",
        lambda v: np.linalg.cholesky(np.diag(v)),
        lambda v: np.diag(np.sqrt(v)),
        v=POSITIVE,
    ),
    reached(
        "svd_uv_merge",
        "one decomposition for all its parts",
        lambda x: np.linalg.svd(x, full_matrices=False)[0] * np.linalg.svd(x, compute_uv=False),
        2,
        x=(3, 2),
    ),
    reached(
        "expm_of_diag",
        "the exponential of a diagonal matrix",
        lambda v: snp.expm(np.diag(v)),
        lambda v: np.diag(np.exp(v)),
        v=3,
    ),
]

DETERMINANTS = [
    reached(
        "det_of_triangular",
        "the determinant of a triangular matrix",
        np.linalg.det,
        lambda x: np.prod(np.diagonal(x)),
        x=LOWER,
    ),
    reached(
        "det_of_triangular",
        "the determinant of a lower triangle",
        lambda x: np.linalg.det(np.tril(x)),
        lambda x: np.prod(np.diagonal(x)),
        x=(3, 3),
    ),
    reached(
        "det_of_inv",
        "the determinant of an inverse",
        lambda x: np.linalg.det(np.linalg.inv(x)),
        lambda x: 1 / np.linalg.det(x),
        x=SPD,
    ),
    reached(
        "det_of_blockdiag",
        "the determinant of blocks",
        lambda a, b: np.linalg.det(blocks(a, b)),
        lambda a, b: np.linalg.det(a) * np.linalg.det(b),
        a=(2, 2),
        b=(3, 3),
    ),
    reached(
        "det_of_kronecker",
        "the determinant of a Kronecker product",
        lambda a, b: np.linalg.det(np.kron(a, b)),
        lambda a, b: np.linalg.det(a) ** 3 * np.linalg.det(b) ** 2,
        a=(2, 2),
        b=(3, 3),
    ),
    reached(
        "det_of_permutation",
        "the determinant of a permutation of the identity",
        lambda x: np.linalg.det(np.eye(3)[np.array([2, 0, 1])]) * x,
        lambda x: x,
        x=3,
    ),
    reached(
        "det_of_matrix_factorized_elsewhere",
        "the log-determinant beside a Cholesky factor",
        lambda x: np.linalg.slogdet(x)[1] + np.linalg.cholesky(x),
        lambda x: 2 * np.sum(np.log(np.diagonal(np.linalg.cholesky(x)))) + np.linalg.cholesky(x),
        x=SPD,
    ),
    reached(
        "det_of_factorized_matrix",
        "the determinant of a Cholesky factor",
        lambda x: np.linalg.det(np.linalg.cholesky(x)),
        lambda x: np.prod(np.diagonal(np.linalg.cholesky(x))),
        x=SPD,
    ),
    reached(
        "slogdet_specialization",
        "log of a determinant that is positive",
        lambda x: np.log(np.linalg.det(x)),
        lambda x: np.linalg.slogdet(x)[1],
        x=SPD,
    ),
    reached(
        "slogdet_specialization",
        "log of the absolute value of a determinant",
        lambda x: np.log(np.abs(np.linalg.det(x))),
        lambda x: np.linalg.slogdet(x)[1],
        x=(3, 3),
    ),
    reached(
        "slogdet_specialization",
        "the sign of a determinant",
        lambda x: np.sign(np.linalg.det(x)),
        lambda x: np.linalg.slogdet(x)[0],
        x=(3, 3),
    ),
]

REFUSED = [
    refused(
        "slogdet_specialization",
        "a negative determinant has no log",
        lambda x: np.log(np.linalg.det(x)),
        lambda x: np.linalg.slogdet(x)[1],
        x=[[0.0, 1.0], [1.0, 0.0]],
    ),
]

ROWS = [*SOLVES, *FACTORS, *DETERMINANTS]
