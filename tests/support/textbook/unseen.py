"""Gradients written blind a fourth time: matrices and losses."""

from __future__ import annotations

import numpy as np

import symgraph as sg
from symgraph.numpy import sigmoid, softmax
from textbook import POSITIVE, SCALE, Row, plain_sigmoid, plain_softmax, row

UNIT = sg.spec("", assume=sg.interval(0.05, 0.95))
SYM4 = sg.spec("4,4", assume=sg.symmetric)
SPD4 = sg.spec("4,4", assume=sg.positive_definite)
ONE_HOT = sg.spec("5", assume=sg.one_hot(axis=-1))
inv, det, solve, norm, trace = (
    np.linalg.inv,
    np.linalg.det,
    np.linalg.solve,
    np.linalg.norm,
    np.trace,
)


MATRIX: list[Row] = [
    row(
        "trace of A X^-1 B by einsum",
        lambda X, A, B: np.einsum("ij,jk,ki->", A, inv(X), B),
        "X",
        lambda X, A, B: -(V := inv(X)) @ (B @ A).T @ V,
        X=SPD4,
        A="4,4",
        B="4,4",
    ),
    row(
        "determinant of AXB",
        lambda X, A, B: det(A @ X @ B),
        "X",
        lambda X, A, B: det(A @ X @ B) * inv(X),
        X=SPD4,
        A="4,4",
        B="4,4",
    ),
    row(
        "power of a determinant",
        lambda X, k: det(X) ** k,
        "X",
        lambda X, k: k * det(X) ** k * inv(X),
        X=SPD4,
        k="",
    ),
    row(
        "evidence, noise variance",
        lambda s, K, y: (
            0.5 * y @ solve(K + s * np.eye(4), y) + 0.5 * np.linalg.slogdet(K + s * np.eye(4))[1]
        ),
        "s",
        lambda s, K, y: 0.5 * (trace(V := inv(K + s * np.eye(4))) - (a := V @ y) @ a),
        s=SCALE,
        K=SPD4,
        y="4",
    ),
    row(
        "trace of a symmetric part",
        lambda X, A: np.sum(A * (X + X.T)) / 2,
        "X",
        lambda X, A: (A + A.T) / 2,
        X="4,4",
        A="4,4",
    ),
    row(
        "trace of X^3",
        lambda X: trace(X @ X @ X),
        "X",
        lambda X: 3 * (X @ X).T,
        X="4,4",
    ),
    row(
        "trace of A X^-2",
        lambda X, A: trace(A @ inv(X) @ inv(X)),
        "X",
        lambda X, A: -(V := inv(X)) @ (V @ A.T + A.T @ V) @ V,
        X=SPD4,
        A="4,4",
    ),
    row(
        "distance of an inverse",
        lambda X, A: 0.5 * norm(inv(X) - A) ** 2,
        "X",
        lambda X, A: (V := inv(X)) @ (A - V) @ V,
        X=SPD4,
        A="4,4",
    ),
    row(
        "|xx' - A|^2",
        lambda x, A: 0.5 * np.sum((np.outer(x, x) - A) ** 2),
        "x",
        lambda x, A: 2 * ((x @ x) * x - A @ x),
        x="4",
        A=SYM4,
    ),
    row(
        "sum of column norms, squared",
        lambda X: 0.5 * np.sum(norm(X, axis=0)) ** 2,
        "X",
        lambda X: X * (np.sum(n := norm(X, axis=0)) / n),
        X="5,4",
    ),
    row(
        "length of a projection",
        lambda y, X: y @ X @ inv(X.T @ X) @ X.T @ y,
        "y",
        lambda y, X: 2 * X @ solve(X.T @ X, X.T @ y),
        y="6",
        X="6,3",
    ),
    row(
        "x'Ax / b'x",
        lambda x, A, b: (x @ A @ x) / (b @ x),
        "x",
        lambda x, A, b: (2 * (v := A @ x) - x @ v / (t := b @ x) * b) / t,
        x="4",
        A=SYM4,
        b="4",
    ),
    row(
        "trace of DADB",
        lambda x, A, B: trace(np.diag(x) @ A @ np.diag(x) @ B),
        "x",
        lambda x, A, B: (M := A * B.T) @ x + x @ M,
        x="4",
        A="4,4",
        B="4,4",
    ),
]

LOSSES: list[Row] = [
    row(
        "label smoothing, one-hot, rate a symbol",
        lambda z, y, e: -np.sum(((1 - e) * y + e / 5) * np.log(np.exp(z) / np.exp(z).sum())),
        "z",
        lambda z, y, e: softmax(z) - (1 - e) * y - e / 5,
        z="5",
        y=ONE_HOT,
        e=UNIT,
    ),
    row(
        "confidence penalty, uniform target",
        lambda Z: -np.mean(Z - np.log(np.sum(np.exp(Z), axis=1, keepdims=True))),
        "Z",
        lambda Z: (softmax(Z) - 0.2) / 6,
        Z="6,5",
    ),
    row(
        "focal, many classes",
        lambda z, y: -((1 - y @ plain_softmax(z)) ** 2) * np.log(y @ plain_softmax(z)),
        "z",
        lambda z, y: (q := 1 - (p := y @ (s := softmax(z)))) * (2 * p * np.log(p) - q) * (y - s),
        z="5",
        y=ONE_HOT,
    ),
    row(
        "pairwise logistic, weights of pairs",
        lambda s, W: np.sum(W * np.log(1 + np.exp(-(s[:, None] - s[None, :])))),
        "s",
        lambda s, W: np.sum(G := W * sigmoid(s[None, :] - s[:, None]), axis=0) - np.sum(G, axis=1),
        s="5",
        W="5,5",
    ),
    row(
        "hinge of many classes",
        lambda z, y: np.sum((1 - y) * np.maximum(0, 1 + z - y @ z)),
        "z",
        lambda z, y: (g := np.where(z - y @ z > -1, 1 - y, 0)) - np.sum(g) * y,
        z="5",
        y=ONE_HOT,
    ),
    row(
        "Huber regression by minimum",
        lambda w, X, y, d: np.sum(
            0.5 * np.minimum(np.abs(X @ w - y), d) ** 2
            + d * (np.abs(X @ w - y) - np.minimum(np.abs(X @ w - y), d))
        ),
        "w",
        lambda w, X, y, d: X.T @ np.clip(X @ w - y, -d, d),
        w="3",
        X="6,3",
        y="6",
        d=SCALE,
    ),
    row(
        "several quantiles at once",
        lambda q, y, t: np.sum(
            np.where(
                y[:, None] > q[None, :],
                t * (y[:, None] - q[None, :]),
                (t - 1) * (y[:, None] - q[None, :]),
            )
        ),
        "q",
        lambda q, y, t: np.sum(np.where(y[:, None] > q, -t, 1 - t), axis=0),
        q="3",
        y="6",
        t=sg.spec("3", assume=sg.interval(0.05, 0.95)),
    ),
    row(
        "smooth L1",
        lambda a, y, b: np.mean(
            np.where(np.abs(a - y) < b, 0.5 * (a - y) ** 2 / b, np.abs(a - y) - 0.5 * b)
        ),
        "a",
        lambda a, y, b: np.clip((a - y) / b, -1, 1) / 5,
        a="5",
        y="5",
        b=SCALE,
    ),
    row(
        "supervised contrastive, one anchor",
        lambda s, m: -np.sum(m * (s - np.log(np.sum(np.exp(s))))) / np.sum(m),
        "s",
        lambda s, m: softmax(s) - m / np.sum(m),
        s="5",
        m=POSITIVE,
    ),
    row(
        "triplet of distances",
        lambda a, p, n: np.maximum(norm(a - p) - norm(a - n) + 0.2, 0),
        "a",
        lambda a, p, n: np.where(
            (s := norm(u := a - p)) - (t := norm(v := a - n)) > -0.2, u / s - v / t, 0
        ),
        a="4",
        p="4",
        n="4",
    ),
    row(
        "lifted structure, distances of negatives",
        lambda d, e: e + np.log(np.sum(np.exp(1 - d))),
        "d",
        lambda d, e: -softmax(-d),
        d=POSITIVE,
        e=SCALE,
    ),
    row(
        "Kullback-Leibler of Gaussians, second covariance",
        lambda T, S, m, n: (
            0.5
            * (trace(inv(T) @ S) + (n - m) @ inv(T) @ (n - m) - 4 + np.log(det(T)) - np.log(det(S)))
        ),
        "T",
        lambda T, S, m, n: 0.5 * ((V := inv(T)) - V @ (S + np.outer(d := n - m, d)) @ V),
        T=SPD4,
        S=SPD4,
        m="4",
        n="4",
    ),
    row(
        "alpha divergence",
        lambda p, q, a: (1 - np.sum(p**a * q ** (1 - a))) / (a * (1 - a)),
        "p",
        lambda p, q, a: (q / p) ** (1 - a) / (a - 1),
        p=POSITIVE,
        q=POSITIVE,
        a=UNIT,
    ),
    row(
        "symmetric percentage error",
        lambda a, y: np.mean(np.abs(a - y) / ((a + y) / 2)),
        "a",
        lambda a, y: 0.8 * y * np.sign(a - y) / (a + y) ** 2,
        a=POSITIVE,
        y=POSITIVE,
    ),
    row(
        "relativistic discriminator",
        lambda a, b: (
            -np.mean(np.log(plain_sigmoid(a - np.mean(b))))
            - np.mean(np.log(1 - plain_sigmoid(b - np.mean(a))))
        ),
        "a",
        lambda a, b: -(sigmoid(np.mean(b) - a) + np.mean(sigmoid(b - np.mean(a)))) / 5,
        a="5",
        b="5",
    ),
]

UNSEEN: list[Row] = [*MATRIX, *LOSSES]
