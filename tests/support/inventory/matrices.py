"""Products and contractions, and linear algebra."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp

from . import given, reached, refused

DIAGONAL = given((3, 3), sg.diagonal)
LOWER = given((3, 3), sg.triangular("lower"))
SPD = given((3, 3), sg.positive_definite)
SYMMETRIC = given((3, 3), sg.symmetric)
ORTHOGONAL = given((3, 3), sg.orthogonal)
POSITIVE = given(3, sg.positive)


def blocks(a, b):
    """A matrix of two blocks on its diagonal."""
    return np.block(
        [[a, np.zeros((a.shape[0], b.shape[1]))], [np.zeros((b.shape[0], a.shape[1])), b]]
    )


PRODUCTS = [
    reached(
        "local_0_dot_x",
        "a product with zeros",
        lambda x: x @ np.zeros((3, 4)),
        0,
        x=given((2, 3), sg.finite),
    ),
    reached(
        "local_0_dot_x",
        "a product with zeros, where it is a number",
        lambda x: x @ np.zeros((3, 4)),
        0,
        "domain",
        x=(2, 3),
    ),
    reached(
        "local_block_diag_dot_to_dot_block_diag",
        "blocks by parts",
        lambda a, b, c: blocks(a, b) @ c,
        lambda a, b, c: np.concatenate([a @ c[:2], b @ c[2:]]),
        a=(2, 2),
        b=(3, 3),
        c=given((5, 4), sg.finite),
    ),
    reached(
        "local_lift_transpose_through_dot",
        "the transpose of a product of transposes",
        lambda x, y: (x.T @ y.T).T,
        lambda x, y: y @ x,
        x=(3, 2),
        y=(4, 3),
    ),
    reached(
        "local_lift_transpose_through_dot",
        "the transpose of a product, by a factor",
        lambda x, y: (x @ y.T).T,
        lambda x, y: y @ x.T,
        x=(2, 3),
        y=(4, 3),
    ),
    reached(
        "dot_diag_to_elemwise",
        "a diagonal matrix scales rows",
        lambda v, x: np.diag(v) @ x,
        lambda v, x: v[:, None] * x,
        v=3,
        x=(3, 4),
    ),
    reached(
        "dot_diag_to_elemwise",
        "a diagonal matrix scales columns",
        lambda v, x: x @ np.diag(v),
        lambda v, x: v * x,
        v=3,
        x=(4, 3),
    ),
    reached(
        "dot_diag_to_elemwise",
        "a matrix known to be diagonal",
        lambda d, x: d @ x,
        lambda d, x: np.diagonal(d)[:, None] * x,
        d=DIAGONAL,
        x=(3, 4),
    ),
    reached(
        "local_batched_matmul_to_core_matmul",
        "a batch by one matrix",
        lambda x, y: x @ y,
        lambda x, y: x @ y,
        x=(4, 2, 3),
        y=(3, 2),
    ),
    reached(
        "local_batched_matmul_to_core_matmul_with_reshape",
        "a batch by one matrix, reshaped",
        lambda x, y: (x.reshape(4, 2, 3) @ y).reshape(8, 5),
        lambda x, y: x @ y,
        x=(8, 3),
        y=(3, 5),
    ),
    reached(
        "local_dot_to_mul",
        "over an axis of length one",
        lambda x, y: x @ y,
        lambda x, y: x * y,
        x=(4, 1),
        y=(1, 5),
    ),
    reached(
        "local_sumsqr2dot",
        "squared norms of outer products",
        lambda w, g: np.sum((w[None, :, :] * g[:, None, :]) ** 2, axis=(1, 2)),
        lambda w, g: g**2 @ np.sum(w**2, axis=0),
        w=(3, 4),
        g=(2, 4),
    ),
    reached(
        "optimize_einsum_inner_graph",
        "a chain of products in the cheapest order",
        lambda a, b, v: np.einsum("ij,jk,k->i", a, b, v),
        lambda a, b, v: a @ (b @ v),
        a=(3, 4),
        b=(4, 5),
        v=5,
    ),
    reached(
        "inline_optimized_einsum",
        "a trace of a product",
        lambda a, b: np.einsum("ij,ji->", a, b),
        lambda a, b: np.einsum("ij,ji->", a, b),
        a=(3, 4),
        b=(4, 3),
    ),
    reached(
        "orthogonal_dot_transpose_to_eye",
        "an orthogonal matrix by its transpose",
        lambda q, x: q @ q.T @ x,
        lambda q, x: x,
        q=ORTHOGONAL,
        x=(3, 2),
    ),
    reached(
        "orthogonal_dot_transpose_to_eye",
        "its transpose by an orthogonal matrix",
        lambda q, x: x + q.T @ (q @ x),
        lambda q, x: 2 * x,
        q=ORTHOGONAL,
        x=(3, 2),
    ),
    reached(
        "selection_dot_to_indexing",
        "rows of the identity select",
        lambda x: np.eye(4)[np.array([2, 0])] @ x,
        lambda x: x[np.array([2, 0])],
        x=(4, 3),
    ),
    reached(
        "useless_symmetric_transpose",
        "the transpose of what is symmetric",
        lambda a, x: a.T @ x,
        lambda a, x: a @ x,
        a=SYMMETRIC,
        x=(3, 2),
    ),
    reached(
        "fuse_blockdiagonal",
        "blocks in blocks, by parts",
        lambda a, b, c, v: blocks(blocks(a, b), c) @ v,
        lambda a, b, c, v: np.concatenate([a @ v[:2], b @ v[2:4], c @ v[4:]]),
        a=(2, 2),
        b=(2, 2),
        c=(2, 2),
        v=given(6, sg.finite),
    ),
    reached(
        "diag_of_blockdiag",
        "the diagonal of blocks",
        lambda a, b: np.diagonal(blocks(a, b)),
        lambda a, b: np.concatenate([np.diagonal(a), np.diagonal(b)]),
        "exact",
        a=(2, 2),
        b=(3, 3),
    ),
    reached(
        "diag_of_kronecker",
        "the diagonal of a Kronecker product",
        lambda a, b: np.diagonal(np.kron(a, b)),
        lambda a, b: np.kron(np.diagonal(a), np.diagonal(b)),
        a=(2, 2),
        b=(3, 3),
    ),
    reached(
        "kron_of_diagonal_to_diagonal",
        "a Kronecker product of diagonal matrices",
        lambda u, v: np.kron(np.diag(u), np.diag(v)),
        lambda u, v: np.diag(np.kron(u, v)),
        u=2,
        v=3,
    ),
]

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

MISSING_THERE = [
    reached(
        "trace of a product (none has it)",
        "the trace of a product is a sum of products",
        lambda a, b: np.trace(a @ b),
        lambda a, b: np.sum(a * b.T),
        a=(3, 4),
        b=(4, 3),
    ),
    reached(
        "sum of a product (none has it)",
        "the sum of a product of matrices",
        lambda a, b: np.sum(a @ b),
        lambda a, b: np.sum(a, axis=0) @ np.sum(b, axis=1),
        a=(3, 4),
        b=(4, 5),
    ),
    reached(
        "trace is cyclic (none has it)",
        "a trace of three factors either way round",
        lambda a, b, c: np.trace(a @ b @ c) - np.trace(b @ c @ a),
        0,
        a=given((3, 3), sg.finite),
        b=given((3, 3), sg.finite),
        c=given((3, 3), sg.finite),
    ),
    reached(
        "chain order (none has it)",
        "products right to left before a vector",
        lambda a, b, c, v: a @ b @ c @ v,
        lambda a, b, c, v: a @ (b @ (c @ v)),
        a=(4, 4),
        b=(4, 4),
        c=(4, 4),
        v=4,
    ),
    reached(
        "symmetric quadratic form (none has it)",
        "the gradient of a quadratic form in a symmetric matrix",
        lambda a, x: (a + a.T) @ x,
        2,
        a=SYMMETRIC,
        x=3,
    ),
]

REFUSED = [
    refused(
        "local_0_dot_x",
        "0 * inf is NaN",
        lambda x: x @ np.zeros((1, 1)),
        lambda x: snp.zeros((1, 1)),
        x=[[np.inf]],
    ),
    refused(
        "slogdet_specialization",
        "a negative determinant has no log",
        lambda x: np.log(np.linalg.det(x)),
        lambda x: np.linalg.slogdet(x)[1],
        x=[[0.0, 1.0], [1.0, 0.0]],
    ),
]

ROWS = [*PRODUCTS, *SOLVES, *FACTORS, *DETERMINANTS, *MISSING_THERE]
