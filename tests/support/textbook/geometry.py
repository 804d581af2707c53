"""Geometry and signals."""

from __future__ import annotations

import numpy as np

from symgraph.numpy import softmax
from textbook import POSITIVE, Row, log_sum_exp, row

__all__ = ["GEOMETRIC"]

PLANE = {"x": "3", "a": "3"}

GEOMETRY: list[Row] = [
    row(
        "soft minimum of distances",
        lambda X, c: -log_sum_exp(-np.sum((X - c) ** 2, axis=1)),
        "c",
        lambda X, c: 2 * (softmax(-np.sum(np.square(d := c - X), axis=1)) @ d),
        X="6, 5",
        c="5",
    ),
    row(
        "stress of one distance",
        lambda x, a, r: (np.sqrt(np.sum((x - a) ** 2)) - r) ** 2,
        "x",
        lambda x, a, r: (d := x - a) * (2 - 2 * r / np.sqrt(np.sum(np.square(d)))),
        **PLANE,
        r="",
    ),
    row(
        "stress of distances to anchors",
        lambda x, A, r: 0.5 * np.sum((np.sqrt(np.sum((x - A) ** 2, axis=1)) - r) ** 2),
        "x",
        lambda x, A, r: (1 - r / np.sqrt(np.sum(np.square(d := x - A), axis=1))) @ d,
        x="3",
        A="6, 3",
        r="6",
    ),
    row(
        "stress of squared distances",
        lambda x, A, r: 0.25 * np.sum((np.sum((x - A) ** 2, axis=1) - r) ** 2),
        "x",
        lambda x, A, r: (np.sum(np.square(d := x - A), axis=1) - r) @ d,
        x="3",
        A="6, 3",
        r="6",
    ),
    row(
        "circle fit, radius",
        lambda d, r: 0.5 * np.sum((d - r) ** 2),
        "r",
        lambda d, r: 5 * r - np.sum(d),
        d="5",
        r="",
    ),
    row(
        "plane fit",
        lambda n, X, d: 0.5 * np.sum((X @ n - d) ** 2),
        "n",
        lambda n, X, d: X.T @ (X @ n - d),
        n="3",
        X="6, 3",
        d="",
    ),
    row(
        "angle of two vectors",
        lambda t, x, y: np.sum((x - np.cos(t)) ** 2 + (y - np.sin(t)) ** 2),
        "t",
        lambda t, x, y: 2 * np.sum(x * np.sin(t) - y * np.cos(t)),
        t="",
        x="5",
        y="5",
    ),
    row(
        "rotation angle",
        lambda t, a, b: np.cos(t) * a - np.sin(t) * b,
        "t",
        lambda t, a, b: -(np.sin(t) * a + np.cos(t) * b),
        t="",
        a="",
        b="",
    ),
    row(
        "area of a triangle",
        lambda a, b, c, d: 0.5 * (a * d - b * c),
        "a",
        lambda a, b, c, d: 0.5 * d,
        a="",
        b="",
        c="",
        d="",
    ),
    row(
        "perspective projection",
        lambda x, z, u: 0.5 * np.sum((x / z - u) ** 2),
        "z",
        lambda x, z, u: (u - (q := x / z)) * q / z,
        x="5",
        z=POSITIVE,
        u="5",
    ),
    row(
        "great circle by haversine",
        lambda t: np.sum(np.sin(t / 2) ** 2),
        "t",
        lambda t: 0.5 * np.sin(t),
        t="5",
    ),
    row(
        "polar radius",
        lambda r, t: np.sum(r * np.cos(t)),
        "t",
        lambda r, t: -r * np.sin(t),
        r="5",
        t="5",
    ),
    row(
        "ellipsoid",
        lambda x, s: np.sqrt(np.sum((x / s) ** 2)),
        "x",
        lambda x, s: x / np.square(s) / np.sqrt(np.sum(np.square(x / s))),
        x="5",
        s=POSITIVE,
    ),
]

SIGNALS: list[Row] = [
    row(
        "total variation, squared",
        lambda x: np.sum((x[1:] - x[:-1]) ** 2),
        "x",
        lambda x: np.pad(d := 2 * (x[1:] - x[:-1]), (1, 0)) - np.pad(d, (0, 1)),
        x="5",
    ),
    row(
        "total variation",
        lambda x: np.sum(np.abs(x[1:] - x[:-1])),
        "x",
        lambda x: np.pad(d := np.sign(x[1:] - x[:-1]), (1, 0)) - np.pad(d, (0, 1)),
        x="5",
    ),
    row(
        "total variation by np.diff",
        lambda x: 0.5 * np.sum(np.diff(x) ** 2),
        "x",
        lambda x: np.pad(d := np.diff(x), (1, 0)) - np.pad(d, (0, 1)),
        x="5",
    ),
    row(
        "total variation, smoothed",
        lambda x: np.sum(np.sqrt((x[1:] - x[:-1]) ** 2 + 1e-4)),
        "x",
        lambda x: (
            np.pad(s := (d := x[1:] - x[:-1]) / np.sqrt(np.square(d) + 1e-4), (1, 0))
            - np.pad(s, (0, 1))
        ),
        x="5",
    ),
    row(
        "second differences",
        lambda x: 0.5 * np.sum((x[2:] - 2 * x[1:-1] + x[:-2]) ** 2),
        "x",
        lambda x: (
            np.pad(d := x[2:] - 2 * x[1:-1] + x[:-2], (2, 0))
            - 2 * np.pad(d, (1, 1))
            + np.pad(d, (0, 2))
        ),
        x="7",
    ),
    row(
        "differences along both axes",
        lambda X: 0.5 * np.sum((X[1:] - X[:-1]) ** 2) + 0.5 * np.sum((X[:, 1:] - X[:, :-1]) ** 2),
        "X",
        lambda X: (
            np.pad(d := X[1:] - X[:-1], ((1, 0), (0, 0)))
            - np.pad(d, ((0, 1), (0, 0)))
            + np.pad(e := X[:, 1:] - X[:, :-1], ((0, 0), (1, 0)))
            - np.pad(e, ((0, 0), (0, 1)))
        ),
        X="6, 5",
    ),
    row(
        "smoothing by a matrix",
        lambda x, y, D: 0.5 * np.sum((x - y) ** 2) + 0.5 * np.sum((D @ x) ** 2),
        "x",
        lambda x, y, D: x - y + D.T @ (D @ x),
        x="5",
        y="5",
        D="4, 5",
    ),
    row(
        "moving average of three",
        lambda x, g: np.sum(g * (x[:-2] + x[1:-1] + x[2:])) / 3,
        "x",
        lambda x, g: np.pad(h := g / 3, (0, 2)) + np.pad(h, (1, 1)) + np.pad(h, (2, 0)),
        x="7",
        g="5",
    ),
    row(
        "deconvolution",
        lambda x, H, y: 0.5 * np.sum((H @ x - y) ** 2),
        "x",
        lambda x, H, y: H.T @ (H @ x - y),
        x="5",
        H="6, 5",
        y="6",
    ),
    row(
        "energy of a window",
        lambda x, w: 0.5 * np.sum((w * x) ** 2),
        "x",
        lambda x, w: np.square(w) * x,
        x="5",
        w="5",
    ),
    row(
        "first half against the second",
        lambda x: x[:3] @ x[3:],
        "x",
        lambda x: np.concatenate([x[3:], x[:3]]),
        x="6",
    ),
    row(
        "sum of a slice squared",
        lambda x: 0.5 * np.sum(x[1:4]) ** 2,
        "x",
        lambda x: np.pad(np.broadcast_to(np.sum(x[1:4]), (3,)), (1, 1)),
        x="5",
    ),
    row("flipped product", lambda x: 0.5 * (x @ x[::-1]), "x", lambda x: x[::-1], x="5"),
    row(
        "running sum, weighted",
        lambda x, g: np.sum(g * np.cumsum(x)),
        "x",
        lambda x, g: np.cumsum(g[::-1])[::-1],
        x="5",
        g="5",
    ),
    row(
        "sinusoid fit, phase",
        lambda p, t, y: 0.5 * np.sum((np.sin(t + p) - y) ** 2),
        "p",
        lambda p, t, y: np.sum((np.sin(u := t + p) - y) * np.cos(u)),
        p="",
        t="6",
        y="6",
    ),
    row(
        "decay fit, rate",
        lambda k, t, y: 0.5 * np.sum((np.exp(-k * t) - y) ** 2),
        "k",
        lambda k, t, y: np.sum(t * ((y - (e := np.exp(-k * t))) * e)),
        k="",
        t="6",
        y="6",
    ),
]

GEOMETRIC = [*GEOMETRY, *SIGNALS]
