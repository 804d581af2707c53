"""Functions of a symmetric matrix through its Cholesky factor or its eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgraph.scipy.linalg import cho_solve, solve_triangular
from textbook import SPD, SYMMETRIC, Row, row

__all__ = ["DECOMPOSED"]

chol = np.linalg.cholesky


def half_log_det(K: Any) -> Any:
    return np.sum(np.log(np.diagonal(chol(K))))


DECOMPOSED: list[Row] = [
    row(
        "Gaussian process evidence by a Cholesky factor",
        lambda K, y: 0.5 * y @ cho_solve((chol(K), True), y) + half_log_det(K),
        "K",
        lambda K, y: (
            a := cho_solve((chol(K), True), y),
            0.5 * (np.linalg.inv(K) - np.outer(a, a)),
        )[1],
        K=SPD,
        y="5",
    ),
    row(
        "evidence of whitened data",
        lambda K, y: (z := solve_triangular(chol(K), y, lower=True), 0.5 * z @ z + half_log_det(K))[
            1
        ],
        "K",
        lambda K, y: (
            a := cho_solve((chol(K), True), y),
            0.5 * (np.linalg.inv(K) - np.outer(a, a)),
        )[1],
        K=SPD,
        y="5",
    ),
    row(
        "squared Mahalanobis distance by a Cholesky factor",
        lambda K, y: 0.5 * np.sum(solve_triangular(chol(K), y, lower=True) ** 2),
        "K",
        lambda K, y: (a := cho_solve((chol(K), True), y), np.outer(-0.5 * a, a))[1],
        K=SPD,
        y="5",
    ),
    row(
        "sum of squared eigenvalues",
        lambda S, a: a * np.sum(np.linalg.eigvalsh(S) ** 2) / 2,
        "S",
        lambda S, a: a * S,
        S=SYMMETRIC,
        a="",
    ),
    row(
        "sum of logarithms of eigenvalues",
        lambda S: np.sum(np.log(np.linalg.eigvalsh(S))),
        "S",
        lambda S: np.linalg.inv(S),
        S=SPD,
    ),
]
