"""Inverses, solutions and determinants."""

from __future__ import annotations

import numpy as np

import symgraph as sg
from textbook import SPD, SYMMETRIC, Row, row

__all__ = ["INVERSES"]

inv, solve, trace = np.linalg.inv, np.linalg.solve, np.trace
SQUARE = "5, 5"

INVERSES: list[Row] = [
    row("log-determinant", lambda A: np.linalg.slogdet(A)[1], "A", lambda A: inv(A).T, A=SPD),
    row(
        "log-determinant of a positive definite matrix",
        lambda A: np.log(np.linalg.det(A)),
        "A",
        lambda A: inv(A),
        A=SPD,
    ),
    row(
        "determinant", lambda A: np.linalg.det(A), "A", lambda A: np.linalg.det(A) * inv(A).T, A=SPD
    ),
    row(
        "log-determinant of A'A",
        lambda A: np.linalg.slogdet(A.T @ A)[1],
        "A",
        lambda A: 2 * (A @ inv(A.T @ A)),
        A="6, 3",
    ),
    row(
        "log-determinant of a shifted matrix",
        lambda t, A: np.linalg.slogdet(A + t * np.eye(5))[1],
        "t",
        lambda t, A: trace(inv(A + t * np.eye(5))),
        t=sg.spec("", assume=sg.positive),
        A=SPD,
    ),
    row(
        "trace of an inverse", lambda A: trace(inv(A)), "A", lambda A: -(V := inv(A)).T @ V.T, A=SPD
    ),
    row(
        "a'A^-1 b, matrix",
        lambda A, a, b: a @ inv(A) @ b,
        "A",
        lambda A, a, b: -np.outer(solve(A.T, a), solve(A, b)),
        A=SPD,
        a="5",
        b="5",
    ),
    row(
        "a' solve(A, b), matrix",
        lambda A, a, b: a @ solve(A, b),
        "A",
        lambda A, a, b: -np.outer(solve(A.T, a), solve(A, b)),
        A=SPD,
        a="5",
        b="5",
    ),
    row(
        "a' solve(A, b), right-hand side",
        lambda A, a, b: a @ solve(A, b),
        "b",
        lambda A, a, b: solve(A.T, a),
        A=SPD,
        a="5",
        b="5",
    ),
    row(
        "x'A^-1 x",
        lambda A, x: 0.5 * (x @ solve(A, x)),
        "x",
        lambda A, x: solve(A, x),
        A=SPD,
        x="5",
    ),
    row(
        "x'A^-1 x by the inverse",
        lambda A, x: 0.5 * (x @ inv(A) @ x),
        "x",
        lambda A, x: solve(A, x),
        A=SPD,
        x="5",
    ),
    row(
        "x'A^-1 x, matrix",
        lambda A, x: 0.5 * (x @ solve(A, x)),
        "A",
        lambda A, x: np.outer(-0.5 * (v := solve(A, x)), v),
        A=SPD,
        x="5",
    ),
    row(
        "trace of A^-1 B",
        lambda A, B: trace(solve(A, B)),
        "B",
        lambda A, B: inv(A).T,
        A=SPD,
        B=SQUARE,
    ),
    row(
        "trace of A^-1 B, A",
        lambda A, B: trace(inv(A) @ B),
        "A",
        lambda A, B: -(inv(A) @ B @ inv(A)).T,
        A=SPD,
        B=SQUARE,
    ),
    row(
        "Gaussian, covariance",
        lambda S, x: 0.5 * np.linalg.slogdet(S)[1] + 0.5 * (x @ solve(S, x)),
        "S",
        lambda S, x: 0.5 * (inv(S) - np.outer(v := solve(S, x), v)),
        S=SPD,
        x="5",
    ),
    row(
        "Gaussian, covariance, mean",
        lambda S, x, m: 0.5 * ((x - m) @ solve(S, x - m)),
        "m",
        lambda S, x, m: solve(S, m - x),
        S=SPD,
        x="5",
        m="5",
    ),
    row(
        "Gaussian, precision matrix and log-determinant",
        lambda P, x: 0.5 * (x @ P @ x) - 0.5 * np.linalg.slogdet(P)[1],
        "P",
        lambda P, x: 0.5 * (np.outer(x, x) - inv(P)),
        P=SPD,
        x="5",
    ),
    row(
        "Stein's loss",
        lambda A, S: trace(A @ S) - np.linalg.slogdet(A)[1],
        "A",
        lambda A, S: S - inv(A),
        A=SPD,
        S=SYMMETRIC,
    ),
    row(
        "kriging, weights of the data",
        lambda K, y, k: k @ solve(K, y),
        "y",
        lambda K, y, k: solve(K, k),
        K=SPD,
        y="5",
        k="5",
    ),
    row(
        "ridge solution, penalty",
        lambda t, A, b, c: c @ solve(A + t * np.eye(5), b),
        "t",
        lambda t, A, b, c: -(solve((M := A + t * np.eye(5)), c) @ solve(M, b)),
        t=sg.spec("", assume=sg.positive),
        A=SPD,
        b="5",
        c="5",
    ),
]
