"""Statistics of a sample: means, variances, correlations."""

from __future__ import annotations

import numpy as np

from textbook import POSITIVE, Row, row

__all__ = ["SAMPLES"]


SAMPLES: list[Row] = [
    row("mean", lambda x: np.mean(x), "x", lambda x: 0.2, x="5"),
    row(
        "variance",
        lambda x: np.mean((x - np.mean(x)) ** 2),
        "x",
        lambda x: (x - np.mean(x)) * (2 / 5),
        x="5",
    ),
    row("variance by NumPy", lambda x: np.var(x), "x", lambda x: (x - np.mean(x)) * (2 / 5), x="5"),
    row(
        "variance, unbiased",
        lambda x: np.var(x, ddof=1),
        "x",
        lambda x: (x - np.mean(x)) / 2,
        x="5",
    ),
    row(
        "variance by moments",
        lambda x: np.mean(x**2) - np.mean(x) ** 2,
        "x",
        lambda x: (x - np.mean(x)) * (2 / 5),
        x="5",
    ),
    row(
        "variance along rows",
        lambda X: 0.5 * np.sum(np.var(X, axis=1)),
        "X",
        lambda X: (X - np.mean(X, axis=1, keepdims=True)) / 5,
        X="6, 5",
    ),
    row(
        "standard deviation",
        lambda x: np.std(x),
        "x",
        lambda x: (c := x - np.mean(x)) / (5 * np.sqrt(np.mean(np.square(c)))),
        x="5",
    ),
    row(
        "centred sum of squares",
        lambda x: 0.5 * np.sum((x - np.mean(x)) ** 2),
        "x",
        lambda x: x - np.mean(x),
        x="5",
    ),
    row(
        "all differences squared",
        lambda x: 0.25 * np.sum((x[:, None] - x[None, :]) ** 2),
        "x",
        lambda x: 5 * x - np.sum(x),
        x="5",
    ),
    row(
        "weighted mean",
        lambda w, x: np.sum(w * x) / np.sum(w),
        "w",
        lambda w, x: (x - np.sum(w * x) / (s := np.sum(w))) / s,
        w=POSITIVE,
        x="5",
    ),
    row(
        "weighted mean, values",
        lambda w, x: np.sum(w * x) / np.sum(w),
        "x",
        lambda w, x: w / np.sum(w),
        w=POSITIVE,
        x="5",
    ),
    row(
        "normalised weights",
        lambda w, g: np.sum(g * (w / np.sum(w))),
        "w",
        lambda w, g: (g - np.sum(g * w) / (s := np.sum(w))) / s,
        w=POSITIVE,
        g="5",
    ),
    row(
        "covariance",
        lambda x, y: np.mean((x - np.mean(x)) * (y - np.mean(y))),
        "x",
        lambda x, y: (y - np.mean(y)) / 5,
        x="5",
        y="5",
    ),
    row(
        "correlation of centred data",
        lambda x, y: np.sum(x * y) / np.sqrt(np.sum(x**2) * np.sum(y**2)),
        "x",
        lambda x, y: (y - x * ((x @ y) / (q := x @ x))) / np.sqrt(q * (y @ y)),
        x="5",
        y="5",
    ),
    row("third moment", lambda x: np.mean(x**3), "x", lambda x: 0.6 * np.square(x), x="5"),
    row(
        "third central moment",
        lambda x: np.mean((x - np.mean(x)) ** 3),
        "x",
        lambda x: 0.6 * ((q := np.square(x - np.mean(x))) - np.mean(q)),
        x="5",
    ),
    row(
        "kurtosis of centred data",
        lambda x: 5 * np.sum(x**4) / np.sum(x**2) ** 2,
        "x",
        lambda x: (
            x
            * ((q := np.square(x)) - np.sum(np.square(q)) / (s := np.sum(q)))
            * (20 / np.square(s))
        ),
        x="5",
    ),
    row(
        "geometric mean",
        lambda x: np.exp(np.mean(np.log(x))),
        "x",
        lambda x: np.exp(np.mean(np.log(x))) / (5 * x),
        x=POSITIVE,
    ),
    row(
        "harmonic mean",
        lambda x: 1 / np.sum(1 / x),
        "x",
        lambda x: 1 / np.square(x * np.sum(1 / x)),
        x=POSITIVE,
    ),
    row(
        "root mean square",
        lambda x: np.sqrt(np.mean(x**2)),
        "x",
        lambda x: x / np.sqrt(5 * np.sum(np.square(x))),
        x="5",
    ),
    row(
        "coefficient of variation squared",
        lambda x: np.mean(x**2) / np.mean(x) ** 2,
        "x",
        lambda x: (x - np.sum(np.square(x)) / (s := np.sum(x))) * (10 / np.square(s)),
        x=POSITIVE,
    ),
    row(
        "signal to noise",
        lambda x: np.mean(x) ** 2 / np.mean(x**2),
        "x",
        lambda x: (1 - x * (r := np.sum(x) / (x @ x))) * (0.4 * r),
        x=POSITIVE,
    ),
    row(
        "autocorrelation at lag 1",
        lambda x: np.sum(x[1:] * x[:-1]),
        "x",
        lambda x: np.pad(x[1:], (0, 1)) + np.pad(x[:-1], (1, 0)),
        x="5",
    ),
    row(
        "standardised, weighted",
        lambda x, g: np.sum(g * (x - np.mean(x)) / np.std(x)),
        "x",
        lambda x, g: (
            (
                g
                - np.mean(g)
                - (h := (c := x - np.mean(x)) / (s := np.sqrt(np.mean(np.square(c)))))
                * np.mean(g * h)
            )
            / s
        ),
        x="5",
        g="5",
    ),
]
