"""Gradients from fields that the catalogue had not met: 155 were written before any was tried.

Of these 123 were as short as the closed form, and 130 are now. Here are those that taught
something: survival and item response (Andrich & Luo 1993), copulas (Nelsen 2006), normalising flows
(Rezende & Mohamed 2015), kernels (Rasmussen & Williams 2006), robust losses (Rey 1983), physics.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.numpy import sigmoid
from textbook import POSITIVE, PROBABILITY, SCALE, Row, row

__all__ = ["FIELDS"]

UNIT = sg.spec("", assume=sg.interval(0.05, 0.95))
CORRELATION = sg.spec("5", assume=sg.interval(-0.9, 0.9))
NONNEGATIVE = sg.spec("5", assume=sg.nonnegative)


def _twice_cosh(h: Any, b: Any) -> Any:
    return 2 * np.cosh(h - b)


SHORT: list[Row] = [
    row(
        "gamma frailty, cumulative hazard",
        lambda H, d, q: np.sum((1 / q + d) * np.log(1 + q * H)),
        "H",
        lambda H, d, q: (1 + q * d) / (1 + q * H),
        H=POSITIVE,
        d=NONNEGATIVE,
        q=SCALE,
    ),
    row(
        "negative binomial by dispersion, mean",
        lambda m, a, y: np.sum((y + 1 / a) * np.log(1 + a * m) - y * np.log(m)),
        "m",
        lambda m, a, y: (m - y) / (m * (1 + a * m)),
        m=POSITIVE,
        a=SCALE,
        y="5",
    ),
    row(
        "hyperbolic cosine model, ability",
        lambda h, b, r, y: np.sum(
            np.log(np.exp(r) + _twice_cosh(h, b)) - y * r - (1 - y) * np.log(_twice_cosh(h, b))
        ),
        "h",
        lambda h, b, r, y: (
            t := h - b,
            2 * np.sinh(t) / (np.exp(r) + 2 * np.cosh(t)) - (1 - y) * np.tanh(t),
        )[1],
        h="5",
        b="5",
        r="5",
        y="5",
    ),
    row(
        "log of the sum of a square's exponential and another",
        lambda x, y: np.sum(np.logaddexp(x**2, y)),
        "x",
        lambda x, y: 2 * x * sigmoid(x**2 - y),
        x="5",
        y="5",
    ),
    row(
        "Langevin function",
        lambda x: np.sum(np.cosh(x) / np.sinh(x) - 1 / x),
        "x",
        lambda x: 1 / np.square(x) - 1 / np.square(np.sinh(x)),
        x=POSITIVE,
    ),
    row(
        "hyperbolic cotangent",
        lambda x: np.sum(1 / np.tanh(x)),
        "x",
        lambda x: -1 / np.square(np.sinh(x)),
        x=POSITIVE,
    ),
    row(
        "Fair",
        lambda x, c: np.sum(c**2 * (np.abs(x) / c - np.log(1 + np.abs(x) / c))),
        "x",
        lambda x, c: x / (1 + np.abs(x) / c),
        x="5",
        c=SCALE,
    ),
    row(
        "arctan of a squared error",
        lambda x, c: np.sum(c * np.arctan(x**2 / c)),
        "x",
        lambda x, c: 2 * x / (1 + np.square(x**2 / c)),
        x="5",
        c=SCALE,
    ),
    row(
        "dispersion after Cauchy, wavelength",
        lambda w, a, b, c: np.sum(a + b / w**2 + c / w**4),
        "w",
        lambda w, a, b, c: (q := np.square(w), -2 * (b + 2 * c / q) / (q * w))[1],
        w=POSITIVE,
        a=SCALE,
        b=SCALE,
        c=SCALE,
    ),
    row(
        "planar flow, direction",
        lambda u, w, z, b: np.log(1 + (1 - np.tanh(w @ z + b) ** 2) * (u @ w)),
        "u",
        lambda u, w, z, b: (
            q := (1 - np.square(np.tanh(w @ z + b))) * w,
            q / (1 + u @ q),
        )[1],
        u=POSITIVE,
        w=POSITIVE,
        z="5",
        b="",
    ),
    row(
        "Whittle, first-order autoregression",
        lambda a, c, f, s: np.sum(f * (1 - 2 * a * c + a**2) / s - np.log(1 - 2 * a * c + a**2)),
        "a",
        lambda a, c, f, s: 2 * np.sum((a - c) * (f / s - 1 / (1 - 2 * a * c + a**2))),
        a="",
        c=CORRELATION,
        f=POSITIVE,
        s=SCALE,
    ),
]

LONGER: list[Row] = [
    row(
        "truncated squares",
        lambda x, c: np.sum(np.minimum(x**2, c**2)) / 2,
        "x",
        lambda x, c: snp.where(np.abs(x) < c, x, 0),
        x="5",
        c=SCALE,
    ),
    row(
        "Brownian bridge kernel",
        lambda x, y: np.sum(np.minimum(x, y) - x * y),
        "x",
        lambda x, y: (x < y) - y,
        x="5",
        y="5",
    ),
    row(
        "radial flow, strength",
        lambda b, a, r: np.sum(
            4 * np.log(1 + b / (a + r)) + np.log(1 + b / (a + r) - b * r / (a + r) ** 2)
        ),
        "b",
        lambda b, a, r: (h := a + r, 4 / (h + b) + a / (np.square(h) + a * b))[1],
        b=POSITIVE,
        a=POSITIVE,
        r=POSITIVE,
    ),
    row(
        "logit-normal, data",
        lambda x, m: np.sum((np.log(x / (1 - x)) - m) ** 2 / 2 + np.log(x * (1 - x))),
        "x",
        lambda x, m: (q := 1 - x, (np.log(x / q) - m + q - x) / (x * q))[1],
        x=PROBABILITY,
        m="5",
    ),
    row(
        "Ali-Mikhail-Haq copula, first margin",
        lambda u, v, a: np.sum(u * v / (1 - a * (1 - u) * (1 - v))),
        "u",
        lambda u, v, a: (
            w := a * (1 - v),
            v * (1 - w) / np.square(1 - w * (1 - u)),
        )[1],
        u=PROBABILITY,
        v=PROBABILITY,
        a=CORRELATION,
    ),
    row(
        "Gaussian copula, correlations",
        lambda r, a, b: np.sum(
            np.log(1 - r**2) / 2 + (r**2 * (a**2 + b**2) - 2 * r * a * b) / (2 * (1 - r**2))
        ),
        "r",
        lambda r, a, b: (
            q := np.square(r),
            c := 1 - q,
            (r * (a**2 + b**2) - (1 + q) * a * b) / np.square(c) - r / c,
        )[2],
        r=CORRELATION,
        a="5",
        b="5",
    ),
    row(
        "network kernel by the arcsine",
        lambda x, y: np.sum(np.arcsin(2 * x * y / np.sqrt((1 + 2 * x**2) * (1 + 2 * y**2)))),
        "x",
        lambda x, y: (q := 1 + 2 * x**2, 2 * y / (q * np.sqrt(q + 2 * y**2)))[1],
        x="5",
        y="5",
    ),
    row(
        "rational quadratic kernel, mixture",
        lambda a, r: np.sum((1 + r / (2 * a)) ** (-a)),
        "a",
        lambda a, r: (u := r / (2 * a), q := 1 + u, q**-a * (u / q - np.log(q)))[2],
        a=POSITIVE,
        r=POSITIVE,
    ),
    row(
        "effective potential of a black hole",
        lambda r, M, L: np.sum(-M / r + L**2 / (2 * r**2) - M * L**2 / r**3),
        "r",
        lambda r, M, L: (M + L**2 / r * (3 * M / r - 1)) / np.square(r),
        r=POSITIVE,
        M=POSITIVE,
        L="5",
    ),
    row(
        "substrate inhibition, substrate",
        lambda s, V, K, c: np.sum(V * s / (K + s + s**2 / c)),
        "s",
        lambda s, V, K, c: (q := s**2 / c, V * (K - q) / np.square(K + s + q))[1],
        s=POSITIVE,
        V=SCALE,
        K=SCALE,
        c=SCALE,
    ),
    row(
        "variational Gaussian, log variances of the prior",
        lambda p, s, m: np.sum(np.exp(s - p) + m**2 * np.exp(-p) - s + p - 1) / 2,
        "p",
        lambda p, s, m: (1 - (np.exp(s) + m**2) * np.exp(-p)) / 2,
        p="5",
        s="5",
        m="5",
    ),
    row(
        "lensmaker, first radius",
        lambda r, R, n: np.sum(1 / ((n - 1) * (1 / r - 1 / R))),
        "r",
        lambda r, R, n: np.square(R / (R - r)) / (n - 1),
        r=sg.spec("5", assume=sg.interval(0.1, 0.9)),
        R=sg.spec("5", assume=sg.interval(1.0, 2.0)),
        n=sg.spec("", assume=sg.interval(1.2, 1.8)),
    ),
    row(
        "CES, exponent",
        lambda p, w, x: np.sum(w * x**p) ** (1 / p),
        "p",
        lambda p, w, x: (
            q := w * x**p,
            S := np.sum(q),
            S ** (1 / p) / p * (np.sum(q * np.log(x)) / S - np.log(S) / p),
        )[2],
        p=SCALE,
        w=POSITIVE,
        x=POSITIVE,
    ),
    row(
        "mixup, weight",
        lambda t, x, y, w: np.sum((w @ (t * x + (1 - t) * y)) ** 2) / 2,
        "t",
        lambda t, x, y, w: (d := x - y, (w @ (y + t * d)) * (w @ d))[1],
        t="",
        x="5",
        y="5",
        w="5",
    ),
]

FIELDS = [*SHORT, *LONGER]
