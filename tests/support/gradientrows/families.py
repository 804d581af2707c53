"""Rows of the operations that are not elementwise: each on its own shapes."""

from __future__ import annotations

import numpy as np

import symgraph.numpy as snp
from symgraph.array import apply
from symgraph.ir.op import OPS

from .rows import MATRIX, VECTOR
from .rows import apart as _apart
from .rows import of as _of
from .rows import row as _row
from .rows import zeroed as _zeroed

CUBE = _of((2, 3, 2))
SQUARE = _of((3, 3))
INDEX = np.array([[1, 0], [1, 1]])
ALONG = np.array([[2, 0], [1, 1]])

REDUCTION = (
    _row("sum", lambda x: np.sum(x * x)),
    _row("sum", lambda x: np.sum(x * x, axis=0), note="axis"),
    _row("sum", lambda x: np.sum(x * x, axis=(0, -1), keepdims=True), CUBE, note="keepdims"),
    _row("sum", lambda x: np.sum(x * x, axis=()), note="no axis"),
    _row("prod", lambda x: np.prod(x)),
    _row("prod", lambda x: np.prod(x, axis=0), note="axis"),
    _row("prod", lambda x: np.prod(x, axis=(0, 2), keepdims=True), CUBE, note="keepdims"),
    _row("prod", lambda x: np.prod(_zeroed(x), axis=-1), note="zeros"),
    _row("product_of_others", lambda x: snp.product_of_others(x)),
    _row("product_of_others", lambda x: snp.product_of_others(_zeroed(x)), note="zeros"),
    _row("max", lambda x: np.max(_apart(x) ** 2, axis=1), analytic=False),
    _row("max", lambda x: np.max(_apart(x) ** 2, keepdims=True), analytic=False, note="keepdims"),
    _row("min", lambda x: np.min(_apart(x) ** 3, axis=0), analytic=False),
    _row(
        "max_with_index",
        lambda x: snp.max_with_index(_apart(x) ** 3, axis=0)[0],
        analytic=False,
    ),
    _row(
        "max_with_index",
        lambda x: snp.max_with_index(_apart(x) ** 3, axis=-1, keepdims=True)[0],
        analytic=False,
        note="keepdims",
    ),
    _row("cumsum", lambda x: np.cumsum(x * x, axis=0)),
    _row("cumsum", lambda x: np.cumsum(x * x), note="raveled"),
    _row("sum", lambda x: np.mean(x * x, axis=0), note="mean"),
    _row("sum", lambda x: np.var(x, axis=1, ddof=1), note="var"),
    _row("sum", lambda x: np.std(x, axis=1), note="std"),
)

MOVEMENT = (
    _row("reshape", lambda x: np.reshape(x * x, (3, -1))),
    _row("reshape", lambda x: np.expand_dims(x * x, (0, 2)), note="expand_dims"),
    _row("reshape", lambda x: np.squeeze(x * x), _of((1, 3, 1)), note="squeeze"),
    _row("transpose", lambda x: np.transpose(x * x)),
    _row("transpose", lambda x: np.transpose(x * x, (2, 0, 1)), CUBE, note="axes"),
    _row("transpose", lambda x: np.moveaxis(x * x, 0, -1), CUBE, note="moveaxis"),
    _row("broadcast_to", lambda x: np.broadcast_to(x * x, (4, 2, 3))),
    _row("broadcast_to", lambda x: np.broadcast_to(x * x, (2, 3)), _of((2, 1)), note="column"),
    _row("broadcast_to", lambda x: np.broadcast_to(x * x, (2, 3)), _of(()), note="0-d"),
    _row("concatenate", lambda x, y: np.concatenate([x * x, y, x], axis=-1), MATRIX, MATRIX),
    _row("concatenate", lambda x, y: np.stack([x * y, y], axis=1), MATRIX, MATRIX, note="stack"),
    _row("broadcast_to", lambda x: np.tile(x * x, (2, 1, 2)), note="tile"),
    _row("broadcast_to", lambda x: np.repeat(x * x, 2, axis=0), note="repeat"),
)

INDEXING = (
    _row("getitem", lambda x: (x * x)[1:, ::-1]),
    _row("getitem", lambda x: (x * x)[None, -1, ..., :2:2], CUBE, note="mixed"),
    _row("getitem", lambda x: (x * x)[:, 2:1:-1], note="backward"),
    _row("embed", lambda x: snp.embed(x * x, (4, 5), (slice(1, 3), slice(None, None, 2)))),
    _row("gather", lambda x: (x * x)[INDEX], analytic=False),
    _row("gather", lambda x: (x * x)[INDEX, INDEX.T], analytic=False, note="pair"),
    _row("gather", lambda x: (x * x)[INDEX, :, INDEX], CUBE, analytic=False, note="apart"),
    _row("gather", lambda x: np.take(x * x, INDEX, axis=1), CUBE, analytic=False, note="take"),
    _row(
        "scatter_add",
        lambda x, y: snp.scatter_add(x * x, y * y, INDEX, axis=0),
        MATRIX,
        _of((2, 2, 3)),
        analytic=False,
    ),
    _row(
        "scatter_add",
        lambda x, y: snp.scatter_add(x * x, y * y, np.array([2, 2, 0]), axis=-1),
        MATRIX,
        _of((3,)),
        analytic=False,
        note="broadcast values",
    ),
    _row("take_along_axis", lambda x: np.take_along_axis(x * x, ALONG, 1), analytic=False),
    _row(
        "add_along_axis",
        lambda x, y: snp.add_along_axis(x * x, y * y, ALONG, axis=1),
        MATRIX,
        _of((2, 2)),
        analytic=False,
    ),
)

CONTRACTION = (
    _row("matmul", lambda x, y: x @ y, MATRIX, SQUARE),
    _row("matmul", lambda x, y: x @ y, VECTOR, VECTOR, note="1-d 1-d"),
    _row("matmul", lambda x, y: x @ y, MATRIX, VECTOR, note="2-d 1-d"),
    _row("matmul", lambda x, y: x @ y, VECTOR, _of((3, 2)), note="1-d 2-d"),
    _row("matmul", lambda x, y: x @ y, CUBE, _of((2,)), note="3-d 1-d"),
    _row("matmul", lambda x, y: x @ y, VECTOR, CUBE, note="1-d 3-d"),
    _row("matmul", lambda x, y: x @ y, CUBE, _of((2, 2)), note="3-d 2-d"),
    _row("matmul", lambda x, y: x @ y, _of((4, 3)), CUBE, note="2-d 3-d"),
    _row("matmul", lambda x, y: x @ y, _of((2, 1, 2, 3)), _of((3, 3, 1)), note="batches"),
    _row("einsum", lambda x, y: np.einsum("ij,jk->ki", x, y), MATRIX, SQUARE),
    _row("einsum", lambda x, y: np.einsum("...j,jk", x, y), CUBE, _of((2, 3)), note="implicit"),
    _row("einsum", lambda x: np.einsum("ii->i", x * x), SQUARE, note="diagonal"),
    _row("einsum", lambda x: np.einsum("iij,jj->", x, x[0]), _of((2, 2, 2)), note="repeated"),
    _row("einsum", lambda x: np.einsum("ij->j", x * x), note="summed"),
    _row(
        "einsum", lambda x, y: np.einsum("ij,kj,k->", x, y, y[:, 0]), MATRIX, SQUARE, note="three"
    ),
    _row("einsum", lambda x, y: np.einsum("ij,j", x, y), MATRIX, _of((1,)), note="length 1"),
    _row(
        "einsum",
        lambda x, y: np.tensordot(x, y, axes=((1,), (0,))),
        CUBE,
        SQUARE,
        note="tensordot",
    ),
    _row("diagonal", lambda x: np.diagonal(x * x, 1), _of((3, 4))),
    _row("diagonal", lambda x: np.trace(x * x, -1, 0, 2), CUBE, note="trace"),
    _row("diagonal_matrix", lambda x: np.diag(x * x, -1), VECTOR),
    _row(
        "diagonal_matrix",
        lambda x: apply(OPS["diagonal_matrix"], x * x, rows=4, columns=5, offset=1),
        _of((2, 4)),
        note="batch",
    ),
)

SOFTMAX = (
    _row("softmax", lambda x: snp.softmax(x)),
    _row("softmax", lambda x: snp.softmax(x, axis=(0, 1)), note="axes"),
    _row("log_softmax", lambda x: snp.log_softmax(x, axis=0)),
    _row("logsumexp", lambda x: snp.logsumexp(x)),
    _row("logsumexp", lambda x: snp.logsumexp(x, axis=0, keepdims=True), note="keepdims"),
    _row("logsumexp", lambda x: snp.logsumexp(x, axis=1), note="axis"),
)

ROWS = (*REDUCTION, *MOVEMENT, *INDEXING, *CONTRACTION, *SOFTMAX)
