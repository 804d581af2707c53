"""Regressions: linear, penalised, robust."""

from __future__ import annotations

import numpy as np

import symgraph as sg
from textbook import Row, row

__all__ = ["REGRESSIONS"]

NX = {"X": "n, 5", "w": "5", "y": "n"}
FIXED = {"X": "6, 5", "w": "5", "y": "6"}

SQUARES: list[Row] = [
    row(
        "least squares",
        lambda X, w, y: 0.5 * np.sum((X @ w - y) ** 2),
        "w",
        lambda X, w, y: X.T @ (X @ w - y),
        **NX,
    ),
    row(
        "least squares, not halved",
        lambda X, w, y: np.sum((X @ w - y) ** 2),
        "w",
        lambda X, w, y: X.T @ (2 * (X @ w - y)),
        **NX,
    ),
    row(
        "least squares, by a product of the residual",
        lambda X, w, y: (y - X @ w) @ (y - X @ w),
        "w",
        lambda X, w, y: X.T @ (2 * (X @ w - y)),
        **NX,
    ),
    row(
        "least squares, mean",
        lambda X, w, y: np.mean((X @ w - y) ** 2),
        "w",
        lambda X, w, y: X.T @ (X @ w - y) / 3,
        **FIXED,
    ),
    row(
        "least squares, mean over named rows",
        lambda X, w, y: np.mean((X @ w - y) ** 2),
        "w",
        lambda X, w, y: X.T @ ((X @ w - y) * (2 / X.shape[0])),
        **NX,
    ),
    row(
        "least squares, half the mean",
        lambda X, w, y: 0.5 * np.mean((X @ w - y) ** 2),
        "w",
        lambda X, w, y: X.T @ (X @ w - y) / 6,
        **FIXED,
    ),
    row(
        "least squares, with intercept, intercept",
        lambda X, w, y, b: 0.5 * np.sum((X @ w + b - y) ** 2),
        "b",
        lambda X, w, y, b: np.sum(X @ w + b - y),
        **NX,
        b="",
    ),
    row(
        "least squares, in the data",
        lambda X, w, y: 0.5 * np.sum((X @ w - y) ** 2),
        "X",
        lambda X, w, y: np.outer(X @ w - y, w),
        **FIXED,
    ),
    row(
        "least squares, weighted",
        lambda X, w, y, s: 0.5 * np.sum(s * (X @ w - y) ** 2),
        "w",
        lambda X, w, y, s: X.T @ (s * (X @ w - y)),
        **FIXED,
        s="6",
    ),
    row(
        "least squares, several outputs",
        lambda X, W, Y: 0.5 * np.sum((X @ W - Y) ** 2),
        "W",
        lambda X, W, Y: X.T @ (X @ W - Y),
        X="6, 5",
        W="5, 3",
        Y="6, 3",
    ),
    row(
        "least squares, generalised",
        lambda X, w, y, P: 0.5 * (X @ w - y) @ P @ (X @ w - y),
        "w",
        lambda X, w, y, P: X.T @ (P @ (X @ w - y)),
        **FIXED,
        P=sg.spec("6, 6", assume=sg.symmetric),
    ),
    row(
        "normal equations",
        lambda w, A, b: 0.5 * (w @ A @ w) - b @ w,
        "w",
        lambda w, A, b: A @ w - b,
        w="5",
        A=sg.spec("5, 5", assume=sg.symmetric),
        b="5",
    ),
    row(
        "two views agree",
        lambda X, Z, u, v: 0.5 * np.sum((X @ u - Z @ v) ** 2),
        "v",
        lambda X, Z, u, v: Z.T @ (Z @ v - X @ u),
        X="6, 5",
        Z="6, 4",
        u="5",
        v="4",
    ),
    row(
        "log of the sum of squares",
        lambda X, w, y: 0.5 * np.log(np.sum((X @ w - y) ** 2)),
        "w",
        lambda X, w, y: X.T @ (r := X @ w - y) / (r @ r),
        **FIXED,
    ),
    row(
        "variance of residuals",
        lambda X, w, y: (r := X @ w - y, 0.5 * np.sum((r - np.mean(r)) ** 2))[1],
        "w",
        lambda X, w, y: X.T @ ((r := X @ w - y) - np.mean(r)),
        **FIXED,
    ),
    row(
        "polynomial fit",
        lambda a, b, c, x, y: 0.5 * np.sum((a * x**2 + b * x + c - y) ** 2),
        "a",
        lambda a, b, c, x, y: np.sum((q := np.square(x)) * (a * q + b * x + c - y)),
        a="",
        b="",
        c="",
        x="6",
        y="6",
    ),
]

PENALTIES: list[Row] = [
    row(
        "ridge",
        lambda X, w, y: 0.5 * np.sum((X @ w - y) ** 2) + 0.5 * np.sum(w**2),
        "w",
        lambda X, w, y: X.T @ (X @ w - y) + w,
        **NX,
    ),
    row(
        "ridge, penalty a number",
        lambda X, w, y: 0.5 * np.sum((X @ w - y) ** 2) + 0.05 * np.sum(w**2),
        "w",
        lambda X, w, y: X.T @ (X @ w - y) + 0.1 * w,
        **FIXED,
    ),
    row(
        "ridge, penalty a symbol",
        lambda X, w, y, a: 0.5 * np.sum((X @ w - y) ** 2) + 0.5 * a * np.sum(w**2),
        "w",
        lambda X, w, y, a: X.T @ (X @ w - y) + a * w,
        **FIXED,
        a="",
    ),
    row(
        "ridge, penalty's scale",
        lambda X, w, y, a: 0.5 * np.sum((X @ w - y) ** 2) + 0.5 * a * np.sum(w**2),
        "a",
        lambda X, w, y, a: 0.5 * np.sum(np.square(w)),
        **FIXED,
        a="",
    ),
    row(
        "ridge towards a prior",
        lambda X, w, y, m: 0.5 * np.sum((X @ w - y) ** 2) + 0.5 * np.sum((w - m) ** 2),
        "w",
        lambda X, w, y, m: X.T @ (X @ w - y) + (w - m),
        **FIXED,
        m="5",
    ),
    row(
        "Tikhonov",
        lambda X, w, y, G: 0.5 * np.sum((X @ w - y) ** 2) + 0.5 * np.sum((G @ w) ** 2),
        "w",
        lambda X, w, y, G: X.T @ (X @ w - y) + G.T @ (G @ w),
        **FIXED,
        G="4, 5",
    ),
    row(
        "lasso",
        lambda X, w, y: 0.5 * np.sum((X @ w - y) ** 2) + 0.1 * np.sum(np.abs(w)),
        "w",
        lambda X, w, y: X.T @ (X @ w - y) + 0.1 * np.sign(w),
        **FIXED,
    ),
    row(
        "elastic net",
        lambda X, w, y: (
            0.5 * np.sum((X @ w - y) ** 2) + 0.1 * np.sum(np.abs(w)) + 0.05 * np.sum(w * w)
        ),
        "w",
        lambda X, w, y: X.T @ (X @ w - y) + 0.1 * (np.sign(w) + w),
        **FIXED,
    ),
    row(
        "group lasso penalty",
        lambda w: np.sum(np.sqrt(np.sum(w**2, axis=1))),
        "w",
        lambda w: w / np.sqrt(np.sum(np.square(w), axis=1, keepdims=True)),
        w="4, 3",
    ),
    row(
        "smoothed lasso penalty",
        lambda w: np.sum(np.sqrt(w**2 + 1e-4)),
        "w",
        lambda w: w / np.sqrt(np.square(w) + 1e-4),
        w="5",
    ),
    row(
        "log penalty",
        lambda w: np.sum(np.log(1 + np.abs(w))),
        "w",
        lambda w: np.sign(w) / (1 + np.abs(w)),
        w="5",
    ),
    row(
        "weight decay of a matrix",
        lambda W: 0.5e-2 * np.sum(W * W),
        "W",
        lambda W: 0.01 * W,
        W="4, 5",
    ),
    row(
        "log barrier",
        lambda X, w, b: -np.sum(np.log(b - X @ w)),
        "w",
        lambda X, w, b: X.T @ (1 / (b - X @ w)),
        X="6, 5",
        w="5",
        b=sg.spec("6", assume=sg.interval(20, 30)),
    ),
]

ROBUST: list[Row] = [
    row(
        "least absolute deviations",
        lambda X, w, y: np.sum(np.abs(X @ w - y)),
        "w",
        lambda X, w, y: X.T @ np.sign(X @ w - y),
        **FIXED,
    ),
    row(
        "Huber regression",
        lambda X, w, y: np.sum(
            np.where(np.abs(X @ w - y) < 1, 0.5 * (X @ w - y) ** 2, np.abs(X @ w - y) - 0.5)
        ),
        "w",
        lambda X, w, y: X.T @ np.clip(X @ w - y, -1, 1),
        **FIXED,
    ),
    row(
        "Cauchy regression",
        lambda X, w, y: 0.5 * np.sum(np.log(1 + (X @ w - y) ** 2)),
        "w",
        lambda X, w, y: X.T @ ((r := X @ w - y) / (1 + np.square(r))),
        **FIXED,
    ),
    row(
        "quantile regression",
        lambda X, w, y: np.sum(np.where(y > X @ w, 0.9 * (y - X @ w), 0.1 * (X @ w - y))),
        "w",
        lambda X, w, y: X.T @ np.where(y > X @ w, -0.9, 0.1),
        **FIXED,
    ),
    row(
        "log cosh regression",
        lambda X, w, y: np.sum(np.log(np.cosh(X @ w - y))),
        "w",
        lambda X, w, y: X.T @ np.tanh(X @ w - y),
        **FIXED,
    ),
    row(
        "support vector machine",
        lambda X, w, y: np.mean(np.maximum(0, 1 - y * (X @ w))) + 0.5 * np.sum(w * w),
        "w",
        lambda X, w, y: w - X.T @ np.where(y * (X @ w) < 1, y / 6, 0),
        **FIXED,
    ),
    row(
        "support vector machine, squared hinge",
        lambda X, w, y: 0.5 * np.sum(np.maximum(0, 1 - y * (X @ w)) ** 2) + 0.5 * np.sum(w * w),
        "w",
        lambda X, w, y: w - X.T @ (y * np.maximum(1 - y * (X @ w), 0)),
        **FIXED,
    ),
    row(
        "AdaBoost",
        lambda X, w, y: np.sum(np.exp(-y * (X @ w))),
        "w",
        lambda X, w, y: -(X.T @ (y * np.exp(-(y * (X @ w))))),
        **FIXED,
    ),
]

REGRESSIONS = [*SQUARES, *PENALTIES, *ROBUST]
