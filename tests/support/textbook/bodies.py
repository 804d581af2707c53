"""Series, chains, energies, shapes and angles."""

from __future__ import annotations

import numpy as np

import symgraph as sg
from textbook import POSITIVE, SCALE, SPD, Row, row

__all__ = ["BODIES"]


SERIES: list[Row] = [
    row(
        "first-order autoregression, coefficient",
        lambda a, x: 0.5 * np.sum((x[1:] - a * x[:-1]) ** 2),
        "a",
        lambda a, x: (a * x[:-1] - x[1:]) @ x[:-1],
        a="",
        x="6",
    ),
    row(
        "first-order autoregression, data",
        lambda x, a: 0.5 * np.sum((x[1:] - a * x[:-1]) ** 2),
        "x",
        lambda x, a: np.pad(e := x[1:] - a * x[:-1], (1, 0)) - np.pad(a * e, (0, 1)),
        x="6",
        a="",
    ),
    row(
        "exponential weights, data",
        lambda x, a, y: 0.5 * (np.sum((1 - a) ** np.arange(5) * x) - y) ** 2,
        "x",
        lambda x, a, y: (w := (1 - a) ** np.arange(5)) * (w @ x - y),
        x="5",
        a=sg.spec("", assume=sg.interval(0.1, 0.9)),
        y="",
    ),
    row(
        "exponential smoothing, one step, rate",
        lambda a, x, s, y: 0.5 * np.sum((a * x + (1 - a) * s - y) ** 2),
        "a",
        lambda a, x, s, y: (d := x - s) * (a * d + s - y),
        a="5",
        x="5",
        s="5",
        y="5",
    ),
    row(
        "seasons taken off",
        lambda x: (
            X := np.reshape(x, (2, 3)),
            0.5 * np.sum((X - np.mean(X, axis=0)) ** 2),
        )[1],
        "x",
        lambda x: np.ravel((X := np.reshape(x, (2, 3))) - np.mean(X, axis=0)),
        x="6",
    ),
    row(
        "mean of two measurements by precision",
        lambda a, b, p, q, t: 0.5 * np.sum(((p * a + q * b) / (p + q) - t) ** 2),
        "a",
        lambda a, b, p, q, t: (w := p / (p + q)) * (b + w * (a - b) - t),
        a="5",
        b="5",
        p=POSITIVE,
        q=POSITIVE,
        t="5",
    ),
    row(
        "fused lasso",
        lambda x, y: 0.5 * np.sum((x - y) ** 2) + 0.1 * np.sum(np.abs(x[1:] - x[:-1])),
        "x",
        lambda x, y: x - y + np.pad(s := 0.1 * np.sign(x[1:] - x[:-1]), (1, 0)) - np.pad(s, (0, 1)),
        x="6",
        y="6",
    ),
    row(
        "total variation, isotropic",
        lambda X: np.sum(
            np.sqrt((X[1:, :-1] - X[:-1, :-1]) ** 2 + (X[:-1, 1:] - X[:-1, :-1]) ** 2 + 0.01)
        ),
        "X",
        lambda X: (
            d := X[1:, :-1] - X[:-1, :-1],
            e := X[:-1, 1:] - X[:-1, :-1],
            n := np.sqrt(np.square(d) + np.square(e) + 0.01),
            np.pad(p := d / n, ((1, 0), (0, 1)))
            + np.pad(q := e / n, ((0, 1), (1, 0)))
            - np.pad(p + q, ((0, 1), (0, 1))),
        )[3],
        X="6, 5",
    ),
]

SHAPES: list[Row] = [
    row(
        "chain of angles",
        lambda t: -np.sum(np.cos(t[1:] - t[:-1])),
        "t",
        lambda t: np.pad(s := np.sin(t[1:] - t[:-1]), (1, 0)) - np.pad(s, (0, 1)),
        t="6",
    ),
    row(
        "Henon-Heiles, both",
        lambda x, y: np.sum(0.5 * (x**2 + y**2) + x**2 * y - y**3 / 3),
        "x y",
        lambda x, y: (x * (1 + 2 * y), np.square(x) + y * (1 - y)),
        x="5",
        y="5",
    ),
    row(
        "spring of finite extent",
        lambda r: np.sum(-2 * np.log(1 - (r / 2) ** 2)),
        "r",
        lambda r: r / (1 - 0.25 * np.square(r)),
        r=sg.spec("5", assume=sg.interval(0.1, 1.5)),
    ),
    row(
        "two dipoles, first moment",
        lambda m, n, r: (m @ n) / (r @ r) ** 1.5 - 3 * (m @ r) * (n @ r) / (r @ r) ** 2.5,
        "m",
        lambda m, n, r: (n - r * (3 * (n @ r) / (q := r @ r))) * q**-1.5,
        m="3",
        n="3",
        r="3",
    ),
    row(
        "neo-Hookean energy",
        lambda F: 0.5 * (np.trace(F.T @ F) - 3) - np.log(np.linalg.det(F)),
        "F",
        lambda F: F - np.linalg.inv(F).T,
        F=SPD,
    ),
    row(
        "Saint Venant-Kirchhoff energy",
        lambda F: (
            E := 0.5 * (F.T @ F - np.eye(3)),
            0.5 * np.trace(E) ** 2 + 0.5 * np.trace(E @ E),
        )[1],
        "F",
        lambda F: 0.5 * (np.trace(E := F.T @ F - np.eye(3)) * F + F @ E),
        F="3, 3",
    ),
    row(
        "Ginzburg-Landau chain",
        lambda x: 0.5 * np.sum((x[1:] - x[:-1]) ** 2) + 0.25 * np.sum((x**2 - 1) ** 2),
        "x",
        lambda x: x * (np.square(x) - 1) + np.pad(d := x[1:] - x[:-1], (1, 0)) - np.pad(d, (0, 1)),
        x="6",
    ),
    row(
        "coupled oscillators",
        lambda x: -0.5 * np.sum(np.cos(x[:, None] - x[None, :])),
        "x",
        lambda x: np.sum(np.sin(x[:, None] - x), axis=1),
        x="5",
    ),
    row(
        "area of a polygon",
        lambda x, y: 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)),
        "x",
        lambda x, y: 0.5 * (np.roll(y, -1) - np.roll(y, 1)),
        x="5",
        y="5",
    ),
    row(
        "perimeter of a polygon",
        lambda P: np.sum(np.sqrt(np.sum((P - np.roll(P, 1, axis=0)) ** 2, axis=1))),
        "P",
        lambda P: (
            d := P - np.roll(P, 1, axis=0),
            u := d / np.sqrt(np.sum(np.square(d), axis=1, keepdims=True)),
            u - np.roll(u, -1, axis=0),
        )[2],
        P="5, 2",
    ),
    row(
        "sphere fit, centre",
        lambda c, X, r: 0.5 * np.sum((np.sqrt(np.sum((X - c) ** 2, axis=1)) - r) ** 2),
        "c",
        lambda c, X, r: (r / np.sqrt(np.sum(np.square(d := X - c), axis=1)) - 1) @ d,
        c="3",
        X="6, 3",
        r="",
    ),
    row(
        "volume of a parallelepiped, second edge",
        lambda a, b, c: a @ np.cross(b, c),
        "b",
        lambda a, b, c: np.cross(c, a),
        a="3",
        b="3",
        c="3",
    ),
    row(
        "point on a segment",
        lambda t, a, b, p: 0.5 * np.sum((a + t * (b - a) - p) ** 2),
        "t",
        lambda t, a, b, p: (d := b - a) @ (a + t * d - p),
        t="",
        a="3",
        b="3",
        p="3",
    ),
    row(
        "von Mises-Fisher, direction",
        lambda m, x, k: -k * (x @ m) / np.sqrt(m @ m),
        "m",
        lambda m, x, k: (m * ((x @ m) / (q := m @ m)) - x) * (k / np.sqrt(q)),
        m="5",
        x="5",
        k=SCALE,
    ),
    row(
        "circular variance",
        lambda x: 1 - np.sqrt(np.mean(np.cos(x)) ** 2 + np.mean(np.sin(x)) ** 2),
        "x",
        lambda x: np.sin(x - np.arctan2(np.sum(np.sin(x)), np.sum(np.cos(x)))) / 5,
        x="5",
    ),
    row(
        "resultant length squared",
        lambda x: np.sum(np.cos(x)) ** 2 + np.sum(np.sin(x)) ** 2,
        "x",
        lambda x: 2 * (np.sum(s := np.sin(x)) * (c := np.cos(x)) - np.sum(c) * s),
        x="5",
    ),
    row(
        "circular distances to one angle",
        lambda m, x, w: np.sum(w * (1 - np.cos(x - m))),
        "m",
        lambda m, x, w: w @ np.sin(m - x),
        m="",
        x="5",
        w="5",
    ),
    row(
        "wrapped difference of angles",
        lambda a, b: 0.5 * np.sum(np.arctan2(np.sin(a - b), np.cos(a - b)) ** 2),
        "a",
        lambda a, b: np.arctan2(np.sin(d := a - b), np.cos(d)),
        a="5",
        b="5",
    ),
]

BODIES = [*SERIES, *SHAPES]
