"""Quotients in which terms meet over one denominator, or a factor of several terms cancels."""

from __future__ import annotations

import numpy as np

import symgraph as sg
from symgraph.numpy import sigmoid
from textbook import POSITIVE, PROBABILITY, SCALE, Row, plain_sigmoid, row

__all__ = ["QUOTIENTS"]

LOW = sg.spec("5", assume=sg.interval(-2.0, -1.0))
HIGH = sg.spec("5", assume=sg.interval(1.0, 2.0))
ANGLE = sg.spec("", assume=sg.interval(0.1, 1.0))

QUOTIENTS: list[Row] = [
    row(
        "graded responses, ability",
        lambda t, b, c, y: -np.sum(y * np.log(plain_sigmoid(t - b) - plain_sigmoid(t - c))),
        "t",
        lambda t, b, c, y: y @ (sigmoid(t - b) + sigmoid(t - c) - 1),
        t="",
        b=LOW,
        c=HIGH,
        y=POSITIVE,
    ),
    row(
        "graded responses, discrimination",
        lambda a, t, b, c: -np.sum(np.log(plain_sigmoid(a * t - b) - plain_sigmoid(a * t - c))),
        "a",
        lambda a, t, b, c: t @ (sigmoid(a * t - b) + sigmoid(a * t - c) - 1),
        a="",
        t="5",
        b=LOW,
        c=HIGH,
    ),
    row(
        "spoiled gradient echo, angle",
        lambda a, E, y, M: np.sum(y * M * np.sin(a) * (1 - E) / (1 - E * np.cos(a))),
        "a",
        lambda a, E, y, M: (
            c := np.cos(a),
            M * (y @ ((1 - E) * (c - E) / np.square(1 - E * c))),
        )[1],
        a=ANGLE,
        E=PROBABILITY,
        y="5",
        M=SCALE,
    ),
    row(
        "sine over the distance in an ellipse",
        lambda a, e: np.sin(a) / (1 - e * np.cos(a)),
        "a",
        lambda a, e: (c := np.cos(a), (c - e) / np.square(1 - e * c))[1],
        a="",
        e=sg.spec("", assume=sg.interval(0.1, 0.9)),
    ),
    row(
        "uptake less a loss, substrate",
        lambda s, m, k, x, y: m * s * x / (k + s) - y * x * s,
        "s",
        lambda s, m, k, x, y: x * (m * k / np.square(k + s) - y),
        **dict.fromkeys(("s", "m", "k", "x", "y"), ""),
    ),
    row(
        "thin lens and a path beside it",
        lambda n, f, d: n * f / (n - f) + d * n,
        "n",
        lambda n, f, d: d - np.square(f / (n - f)),
        n="",
        f="",
        d="",
    ),
    row(
        "prey of a saturated predator",
        lambda n, r, K, a, h: r * n * (1 - n / K) - a * n / (1 + a * h * n),
        "n",
        lambda n, r, K, a, h: r * (1 - 2 * n / K) - a / np.square(1 + a * h * n),
        **dict.fromkeys(("n", "r", "K", "a", "h"), ""),
    ),
    row(
        "two uptakes and a loss",
        lambda s, v, k, w, m, d: v * s / (k + s) + w * s / (m + s) - d * s,
        "s",
        lambda s, v, k, w, m, d: v * k / np.square(k + s) + w * m / np.square(m + s) - d,
        **dict.fromkeys(("s", "v", "k", "w", "m", "d"), ""),
    ),
    row(
        "van der Waals pressure, temperature and volume",
        lambda T, v, a, b, R: R * T / (v - b) - a / v**2,
        "T v",
        lambda T, v, a, b, R: (k := R / (v - b), (k, 2 * a / v**3 - T * k / (v - b)))[1],
        T=SCALE,
        v=sg.spec("", assume=sg.interval(2.0, 3.0)),
        a=SCALE,
        b=sg.spec("", assume=sg.interval(0.1, 0.5)),
        R=SCALE,
    ),
]
