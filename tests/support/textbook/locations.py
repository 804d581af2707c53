"""Gradients in a location and a scale, or in weights and an intercept: both share one score."""

from __future__ import annotations

import numpy as np

from textbook import POSITIVE, SCALE, Row, plain_sigmoid, row

__all__ = ["LOCATIONS"]

LOCATIONS: list[Row] = [
    row(
        "Gumbel, location and scale",
        lambda m, b, x: np.sum(np.log(b) + (x - m) / b + np.exp(-(x - m) / b)),
        "m b",
        lambda m, b, x: (
            z := (m - x) / b,
            g := np.expm1(z),
            (np.sum(g) / b, (5 - z @ g) / b),
        )[2],
        m="",
        b=SCALE,
        x="5",
    ),
    row(
        "Gumbel, location and logarithm of scale",
        lambda m, s, x: np.sum((x - m) * np.exp(-s) + s + np.exp(-(x - m) * np.exp(-s))),
        "m s",
        lambda m, s, x: (
            e := np.exp(-s),
            z := (m - x) * e,
            g := np.expm1(z),
            (np.sum(g) * e, 5 - z @ g),
        )[3],
        m="",
        s="",
        x="5",
    ),
    row(
        "logistic distribution, location and scale",
        lambda m, s, x: np.sum((x - m) / s + np.log(s) + 2 * np.log(1 + np.exp(-(x - m) / s))),
        "m s",
        lambda m, s, x: (
            z := (m - x) / s,
            g := np.tanh(0.5 * z),
            (np.sum(g) / s, (5 - z @ g) / s),
        )[2],
        m="",
        s=SCALE,
        x="5",
    ),
    row(
        "logistic distribution, location",
        lambda m, x: np.sum(x - m + 2 * np.log(1 + np.exp(m - x))),
        "m",
        lambda m, x: np.sum(np.tanh(0.5 * (m - x))),
        m="",
        x="5",
    ),
    row(
        "logistic flow, slope and shift",
        lambda a, b, x: (
            -np.sum(np.log(a * plain_sigmoid(a * x + b) * (1 - plain_sigmoid(a * x + b))))
        ),
        "a b",
        lambda a, b, x: (g := np.tanh(0.5 * (a * x + b)), (x @ g - 5 / a, np.sum(g)))[1],
        a=SCALE,
        b="",
        x="5",
    ),
    row(
        "extreme-value regression, weights and scale",
        lambda w, s, X, t: np.sum(np.exp((t - X @ w) / s) - (t - X @ w) / s + np.log(s)),
        "w s",
        lambda w, s, X, t: (
            z := (t - X @ w) / s,
            g := np.expm1(z),
            (-(X.T @ g) / s, (5 - z @ g) / s),
        )[2],
        w="3",
        s=SCALE,
        X="5, 3",
        t="5",
    ),
    row(
        "exponential survival, weights and intercept",
        lambda w, b, X, t: np.sum(t * np.exp(X @ w + b) - (X @ w + b)),
        "w b",
        lambda w, b, X, t: (g := t * np.exp(X @ w + b) - 1, (X.T @ g, np.sum(g)))[1],
        w="3",
        b="",
        X="5, 3",
        t=POSITIVE,
    ),
]
