"""Rankings, survival, item response, bonds, flows and light: written before any was tried."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
import symgraph.scipy.special as special
from textbook import POSITIVE, PROBABILITY, SCALE, SPD, Row, plain_sigmoid, row

__all__ = ["RANKINGS"]

NEAR_ONE = sg.spec("", assume=sg.interval(1.5, 4.0))
SLOW = sg.spec("", assume=sg.interval(0.1, 0.5))
FAST = sg.spec("", assume=sg.interval(1.0, 2.0))
INFRARED = sg.spec("", assume=sg.interval(3.0, 4.0))
ROUND = sg.spec("", assume=sg.interval(0.1, 0.8))

RANKINGS: list[Row] = [
    row(
        "Plackett-Luce, worths",
        lambda w: -np.sum(np.log(w / np.cumsum(w[::-1])[::-1])),
        "w",
        lambda w: np.cumsum(1 / np.cumsum(w[::-1])[::-1]) - 1 / w,
        w=POSITIVE,
    ),
    row(
        "RankNet over all pairs",
        lambda s, Y: np.sum(Y * np.log(1 + np.exp(-(s[:, None] - s[None, :])))),
        "s",
        lambda s, Y: np.sum(g := Y / (1 + np.exp(s[:, None] - s)), 0) - np.sum(g, 1),
        s="5",
        Y="5,5",
    ),
    row(
        "three-parameter logistic, ability",
        lambda t, a, b, c, y: -np.sum(
            y * np.log(c + (1 - c) * plain_sigmoid(a * (t - b)))
            + (1 - y) * np.log(1 - (c + (1 - c) * plain_sigmoid(a * (t - b))))
        ),
        "t",
        lambda t, a, b, c, y: (
            a @ ((s := plain_sigmoid(a * (t - b))) * (1 - y / (c + (1 - c) * s)))
        ),
        t="",
        a=POSITIVE,
        b="5",
        c=sg.spec("5", assume=sg.interval(0.1, 0.3)),
        y=PROBABILITY,
    ),
    row(
        "log-logistic survival, scale",
        lambda a, k, t, d: np.sum(
            d * (np.log(k / a) + (k - 1) * np.log(t / a)) - (1 + d) * np.log(1 + (t / a) ** k)
        ),
        "a",
        lambda a, k, t, d: np.sum((1 + d) / (1 + (a / t) ** k) - d) * k / a,
        a=SCALE,
        k=SCALE,
        t=POSITIVE,
        d=PROBABILITY,
    ),
    row(
        "mixture cure model, fraction",
        lambda p, f, S, d: -np.sum(d * np.log(p * f) + (1 - d) * np.log(1 - p + p * S)),
        "p",
        lambda p, f, S, d: (
            (1 - d) @ ((q := 1 - S) / (1 - p * q)) - np.sum(d) / p
        ),
        p=sg.spec("", assume=sg.interval(0.1, 0.9)),
        f=POSITIVE,
        S=PROBABILITY,
        d=PROBABILITY,
    ),
    row(
        "sinh-arcsinh flow, skewness",
        lambda e, d, x: np.sum(
            0.5 * np.sinh(d * np.arcsinh(x) - e) ** 2 - np.log(d * np.cosh(d * np.arcsinh(x) - e))
        ),
        "e",
        lambda e, d, x: np.sum(np.tanh(u := d * np.arcsinh(x) - e) - 0.5 * np.sinh(2 * u)),
        e="",
        d=SCALE,
        x="5",
    ),
    row(
        "divergence of betas, first shape",
        lambda a, b, c, d: (
            special.betaln(c, d)
            - special.betaln(a, b)
            + (a - c) * special.digamma(a)
            + (b - d) * special.digamma(b)
            + (c - a + d - b) * special.digamma(a + b)
        ),
        "a",
        lambda a, b, c, d: (
            (r := a - c) * special.polygamma(1, a) + (d - r - b) * special.polygamma(1, a + b)
        ),
        a=SCALE,
        b=SCALE,
        c=SCALE,
        d=SCALE,
    ),
    row(
        "bond with yearly compounding, yield",
        lambda y, c, t: np.sum(c / (1 + y) ** t),
        "y",
        lambda y, c, t: -(t @ (c / (q := 1 + y) ** t)) / q,
        y=SCALE,
        c=POSITIVE,
        t=POSITIVE,
    ),
    row(
        "bond by continuous compounding, log of the price",
        lambda y, c, t: np.log(np.sum(c * np.exp(-y * t))),
        "y",
        lambda y, c, t: -(t @ snp.softmax(np.log(c) - y * t)),
        y=SCALE,
        c=POSITIVE,
        t=POSITIVE,
    ),
    row(
        "Cox by a matrix of risk sets, weights",
        lambda b, X, M, d: -np.sum(d * (X @ b - np.log(M @ np.exp(X @ b)))),
        "b",
        lambda b, X, M, d: X.T @ (d @ snp.softmax(X @ b + np.log(M), axis=-1) - d),
        b="3",
        X="5,3",
        M=sg.spec("5,5", assume=sg.positive),
        d=PROBABILITY,
    ),
    row(
        "specular highlights, half vector",
        lambda h, N, p, y: np.sum(y * np.maximum(N @ h, 0) ** p),
        "h",
        lambda h, N, p, y: N.T @ (p * y * np.maximum(N @ h, 0) ** (p - 1)),
        h="3",
        N="5,3",
        p=NEAR_ONE,
        y="5",
    ),
    row(
        "microfacets, roughness",
        lambda a, c: np.sum(a**2 / (np.pi * (c**2 * (a**2 - 1) + 1) ** 2)),
        "a",
        lambda a, c: (
            np.sum((1 - (s := c**2) - (r := a**2) * s) / (s * (r - 1) + 1) ** 3) * (2 / np.pi * a)
        ),
        a=SCALE,
        c=PROBABILITY,
    ),
    row(
        "Sellmeier dispersion, wavelength",
        lambda x, B, C: np.sqrt(1 + np.sum(B * x**2 / (x**2 - C))),
        "x",
        lambda x, B, C: (
            -x * ((k := B / (d := (q := x**2) - C)) @ (C / d)) / np.sqrt(1 + q * np.sum(k))
        ),
        x=INFRARED,
        B=POSITIVE,
        C=PROBABILITY,
    ),
    row(
        "consecutive reactions, second rate",
        lambda k, j, t, y: np.sum(y * (j / (k - j) * (np.exp(-j * t) - np.exp(-k * t)))),
        "k",
        lambda k, j, t, y: (
            y @ (t * (e := np.exp(-k * t)) - (np.exp(-j * t) - e) / (d := k - j)) * (j / d)
        ),
        k=FAST,
        j=SLOW,
        t=POSITIVE,
        y="5",
    ),
    row(
        "wrapped Cauchy, mean",
        lambda m, r, x: np.sum(np.log(1 + r**2 - 2 * r * np.cos(x - m)) - np.log(1 - r**2)),
        "m",
        lambda m, r, x: np.sum(np.sin(d := x - m) / (np.cos(d) - (1 + r**2) / (2 * r))),
        m="",
        r=ROUND,
        x="5",
    ),
    row(
        "inverse Wishart, covariance",
        lambda X, S, v: 0.5 * (v + 5) * np.linalg.slogdet(X)[1]
        + 0.5 * np.trace(S @ np.linalg.inv(X)),
        "X",
        lambda X, S, v: (
            (0.5 * (v + 5)) * (A := np.linalg.inv(X)) - (0.5 * A) @ S @ A
        ),
        X=SPD,
        S=SPD,
        v=SCALE,
    ),
]  # fmt: skip
"""With 62 more in 30 fields, of 78 at first 59 were as short."""
