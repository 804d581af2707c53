"""Functions of several branches: `np.select`, nested `where`, losses with bounds."""

from __future__ import annotations

import numpy as np

import symgraph as sg
from textbook import SCALE, Row, row

__all__ = ["PIECEWISE"]


PIECEWISE: list[Row] = [
    row(
        "Huber by select",
        lambda r, d: np.sum(
            np.select([r < -d, r > d], [-d * (r + d / 2), d * (r - d / 2)], 0.5 * r**2)
        ),
        "r",
        lambda r, d: np.clip(r, -d, d),
        r="5",
        d=SCALE,
    ),
    row(
        "smoothed hinge by where",
        lambda m: np.sum(np.where(m >= 1, 0, np.where(m <= 0, 0.5 - m, 0.5 * (1 - m) ** 2))),
        "m",
        lambda m: np.clip(m, 0, 1) - 1,
        m="5",
    ),
    row(
        "quantile Huber",
        lambda u, t: np.sum(
            np.where(u < 0, 1 - t, t) * np.where(np.abs(u) <= 1, 0.5 * u**2, np.abs(u) - 0.5)
        ),
        "u",
        lambda u, t: np.where(u < 0, 1 - t, t) * np.clip(u, -1, 1),
        u="5",
        t=sg.spec("", assume=sg.interval(0.1, 0.9)),
    ),
    row(
        "tax in four brackets by select",
        lambda x: np.sum(
            np.select(
                [x < 1, x < 2, x < 4],
                [0.1 * x, 0.1 + 0.2 * (x - 1), 0.3 + 0.3 * (x - 2)],
                0.9 + 0.4 * (x - 4),
            )
        ),
        "x",
        lambda x: np.where(x < 1, 0.1, np.where(x < 2, 0.2, np.where(x < 4, 0.3, 0.4))),
        x="5",
    ),
    row(
        "smooth L1, sum",
        lambda r, b: np.sum(np.where(np.abs(r) < b, 0.5 * r**2 / b, np.abs(r) - 0.5 * b)),
        "r",
        lambda r, b: np.clip(r / b, -1, 1),
        r="5",
        b=SCALE,
    ),
    row(
        "smooth L1 regression",
        lambda w, X, y, b: np.sum(
            np.where(
                np.abs(X @ w - y) < b,
                0.5 * (X @ w - y) ** 2 / b,
                np.abs(X @ w - y) - 0.5 * b,
            )
        ),
        "w",
        lambda w, X, y, b: X.T @ np.clip((X @ w - y) / b, -1, 1),
        w="3",
        X="5, 3",
        y="5",
        b=SCALE,
    ),
    row(
        "Huber, weighted",
        lambda r, b, w: np.sum(w * np.where(np.abs(r) > b, b * (np.abs(r) - 0.5 * b), 0.5 * r**2)),
        "r",
        lambda r, b, w: w * np.clip(r, -b, b),
        r="5",
        b=SCALE,
        w="5",
    ),
]
