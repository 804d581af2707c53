"""Frobenius norms and distances of matrices."""

from __future__ import annotations

import numpy as np

import symgraph as sg
from textbook import SYMMETRIC, Row, row

__all__ = ["DISTANCES"]

trace = np.trace
SQUARE = "5, 5"

DISTANCES: list[Row] = [
    row("Frobenius norm squared", lambda A: np.sum(A * A), "A", lambda A: 2 * A, A=SQUARE),
    row(
        "Frobenius norm",
        lambda A: np.sqrt(np.sum(A**2)),
        "A",
        lambda A: A / np.sqrt(np.sum(np.square(A))),
        A=SQUARE,
    ),
    row(
        "Frobenius norm by NumPy",
        lambda A: np.linalg.norm(A),
        "A",
        lambda A: A / np.linalg.norm(A),
        A=SQUARE,
    ),
    row(
        "|AX - B|^2",
        lambda X, A, B: np.sum((A @ X - B) ** 2),
        "X",
        lambda X, A, B: A.T @ (2 * (A @ X - B)),
        X="5, 3",
        A="6, 5",
        B="6, 3",
    ),
    row(
        "|AXB - C|^2 / 2",
        lambda X, A, B, C: 0.5 * np.sum((A @ X @ B - C) ** 2),
        "X",
        lambda X, A, B, C: A.T @ ((A @ X @ B - C) @ B.T),
        X="5, 3",
        A="6, 5",
        B="3, 4",
        C="6, 4",
    ),
    row(
        "|AX - B| by trace",
        lambda X, A, B: 0.5 * trace((A @ X - B).T @ (A @ X - B)),
        "X",
        lambda X, A, B: A.T @ (A @ X - B),
        X="5, 3",
        A="6, 5",
        B="6, 3",
    ),
    row(
        "|Ax + b|^2",
        lambda x, A, b: np.sum((A @ x + b) ** 2),
        "x",
        lambda x, A, b: A.T @ (2 * (A @ x + b)),
        x="5",
        A="6, 5",
        b="6",
    ),
    row(
        "|Ax - b|",
        lambda x, A, b: np.sqrt(np.sum((A @ x - b) ** 2)),
        "x",
        lambda x, A, b: A.T @ (r := A @ x - b) / np.sqrt(r @ r),
        x="5",
        A="6, 5",
        b="6",
    ),
    row(
        "|Ax - b|^2 and x'Cx",
        lambda x, A, b, C: 0.5 * np.sum((A @ x - b) ** 2) + 0.5 * (x @ C @ x),
        "x",
        lambda x, A, b, C: A.T @ (A @ x - b) + C @ x,
        x="5",
        A="6, 5",
        b="6",
        C=SYMMETRIC,
    ),
    row(
        "commutator",
        lambda A, B: 0.5 * np.sum((A @ B - B @ A) ** 2),
        "A",
        lambda A, B: (C := A @ B - B @ A) @ B.T - B.T @ C,
        A="4, 4",
        B="4, 4",
    ),
    row(
        "distance from symmetry",
        lambda A: 0.25 * np.sum((A - A.T) ** 2),
        "A",
        lambda A: A - A.T,
        A=SQUARE,
    ),
    row(
        "distance from idempotence",
        lambda A: 0.5 * np.sum((A @ A - A) ** 2),
        "A",
        lambda A: (E := A @ A - A) @ A.T + A.T @ E - E,
        A=SQUARE,
    ),
    row(
        "Procrustes",
        lambda R, A, B: 0.5 * np.sum((A @ R - B) ** 2),
        "R",
        lambda R, A, B: A.T @ (A @ R - B),
        R="3, 3",
        A="6, 3",
        B="6, 3",
    ),
    row(
        "alignment of Gram matrices",
        lambda X, K: np.sum(K * (X @ X.T)),
        "X",
        lambda X, K: 2 * (K @ X),
        X="6, 5",
        K=sg.spec("6, 6", assume=sg.symmetric),
    ),
    row(
        "logarithm of a Frobenius norm",
        lambda X, w: -np.log(np.sum((X @ w) ** 2)),
        "w",
        lambda X, w: X.T @ (v := X @ w) * (-2 / (v @ v)),
        X="6, 5",
        w="5",
    ),
]
