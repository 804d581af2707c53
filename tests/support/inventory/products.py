"""Products of matrices."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp

from . import given, reached, refused

DIAGONAL = given((3, 3), sg.diagonal)
SYMMETRIC = given((3, 3), sg.symmetric)
ORTHOGONAL = given((3, 3), sg.orthogonal)


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
        "dot_diag_to_elemwise",
        "a matrix known to be diagonal, by a finite one",
        lambda d, x: d @ x,
        lambda d, x: np.diagonal(d)[:, None] * x,
        d=DIAGONAL,
        x=given((3, 4), sg.finite),
    ),
    reached(
        "dot_diag_to_elemwise",
        "a finite matrix by one known to be diagonal",
        lambda d, x: x @ d,
        lambda d, x: x * np.diagonal(d),
        d=DIAGONAL,
        x=given((4, 3), sg.finite),
    ),
    reached(
        "dot_diag_to_elemwise",
        "a matrix known to be diagonal, where the product is a number",
        lambda d, x: d @ x,
        lambda d, x: np.diagonal(d)[:, None] * x,
        "domain",
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
        "selection_dot_to_indexing",
        "rows of the identity select finite rows",
        lambda x: np.eye(4)[np.array([2, 0, 1])] @ x,
        lambda x: x[np.array([2, 0, 1])],
        x=given((4, 3), sg.finite),
    ),
    reached(
        "selection_dot_to_indexing",
        "rows of the identity select, where the product is a number",
        lambda x: np.eye(4)[np.array([2, 0])] @ x,
        lambda x: x[np.array([2, 0])],
        "domain",
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
    reached(
        "kron_of_diagonal_to_diagonal",
        "a Kronecker product of finite diagonal matrices",
        lambda u, v: np.kron(np.diag(u), np.diag(v)),
        lambda u, v: np.diag(np.kron(u, v)),
        u=given(2, sg.finite),
        v=given(3, sg.finite),
    ),
    reached(
        "kron_of_diagonal_to_diagonal",
        "the same, where the product is a number",
        lambda u, v: np.kron(np.diag(u), np.diag(v)),
        lambda u, v: np.diag(np.kron(u, v)),
        "domain",
        u=2,
        v=3,
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
]

ROWS = [*PRODUCTS, *MISSING_THERE]
