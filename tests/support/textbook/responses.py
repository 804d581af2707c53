"""Policies, counts, survival, item response, comparisons, embeddings by ids."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.numpy import log_softmax, sigmoid, softmax
from textbook import POSITIVE, PROBABILITY, Row, log_sum_exp, plain_sigmoid, plain_softmax, row

__all__ = ["RESPONSES"]

LABELS = sg.spec("6", "int64", assume=sg.interval(0, 4))
IDS = sg.spec("6", "int64", assume=sg.interval(0, 3))

POLICIES: list[Row] = [
    row(
        "clipped surrogate of a policy",
        lambda z, o, a: (
            -np.sum(np.minimum(np.exp(z - o) * a, np.clip(np.exp(z - o), 0.8, 1.2) * a))
        ),
        "z",
        lambda z, o, a: np.where(
            (g := (r := np.exp(z - o)) * a) <= np.clip(r, 0.8, 1.2) * a, -g, 0
        ),
        z="5",
        o="5",
        a="5",
    ),
    row(
        "temporal differences, residual",
        lambda v, r: 0.5 * np.sum((r + 0.9 * v[1:] - v[:-1]) ** 2),
        "v",
        lambda v, r: np.pad(0.9 * (d := r + 0.9 * v[1:] - v[:-1]), (1, 0)) - np.pad(d, (0, 1)),
        v="6",
        r="5",
    ),
    row(
        "temporal differences, target held",
        lambda v, r: 0.5 * np.sum((r + 0.9 * snp.stop_gradient(v[1:]) - v[:-1]) ** 2),
        "v",
        lambda v, r: np.pad(v[:-1] - r - 0.9 * v[1:], (0, 1)),
        v="6",
        r="5",
    ),
    row(
        "linear policy, advantages",
        lambda W, X, y, a: -np.sum(a * log_softmax(X @ W, axis=-1)[np.arange(6), y]),
        "W",
        lambda W, X, y, a: X.T @ ((softmax(X @ W, axis=-1) - snp.one_hot(y, 5)) * a[:, None]),
        W="3, 5",
        X="6, 3",
        y=LABELS,
        a="6",
    ),
    row(
        "soft value of a policy",
        lambda z, q: (p := plain_softmax(z), np.sum(p * q) - 0.1 * np.sum(p * np.log(p)))[1],
        "z",
        lambda z, q: (p := softmax(z)) * ((h := q - 0.1 * z) - p @ h),
        z="5",
        q="5",
    ),
    row(
        "duelling heads, advantages",
        lambda a, v, t: 0.5 * np.sum((v + a - np.mean(a) - t) ** 2),
        "a",
        lambda a, v, t: (d := a - t) - np.mean(d),
        a="5",
        v="",
        t="5",
    ),
]

COUNTED: list[Row] = [
    row(
        "zero-inflated Poisson, zeros, logits",
        lambda z, r: (
            p := plain_sigmoid(z),
            -np.sum(np.log(p + (1 - p) * np.exp(-r))),
        )[1],
        "z",
        lambda z, r: sigmoid(z) - sigmoid(z + r),
        z="5",
        r=POSITIVE,
    ),
    row(
        "zero-inflated Poisson, zeros, rate",
        lambda r, p: -np.sum(np.log(p + (1 - p) * np.exp(-r))),
        "r",
        lambda r, p: (q := 1 - p) / (q + p * np.exp(r)),
        r=POSITIVE,
        p=PROBABILITY,
    ),
    row(
        "negative binomial, dispersion",
        lambda k, m, y: (
            -np.sum(
                snp.gammaln(y + k)
                - snp.gammaln(k)
                + k * np.log(k / (k + m))
                + y * np.log(m / (k + m))
            )
        ),
        "k",
        lambda k, m, y: (
            snp.digamma(k) - snp.digamma(y + k) - np.log(k / (s := k + m)) + (y - m) / s
        ),
        k=POSITIVE,
        m=POSITIVE,
        y=POSITIVE,
    ),
    row(
        "Kumaraswamy, first shape",
        lambda a, b, x: -np.sum(np.log(a) + (a - 1) * np.log(x) + (b - 1) * np.log(1 - x**a)),
        "a",
        lambda a, b, x: np.log(x) * ((b - 1) / (x**-a - 1) - 1) - 1 / a,
        a=POSITIVE,
        b=POSITIVE,
        x=PROBABILITY,
    ),
    row(
        "Lomax, scale",
        lambda s, a, x: np.sum((a + 1) * np.log(1 + x / s) + np.log(s)),
        "s",
        lambda s, a, x: (s - a * x) / (s * (s + x)),
        s=POSITIVE,
        a=POSITIVE,
        x=POSITIVE,
    ),
    row(
        "Gompertz survival, level",
        lambda a, b, t, d: np.sum(a / b * (np.exp(b * t) - 1) - d * (np.log(a) + b * t)),
        "a",
        lambda a, b, t, d: np.expm1(b * t) / b - d / a,
        a=POSITIVE,
        b=POSITIVE,
        t=POSITIVE,
        d="5",
    ),
    row(
        "exponential survival, censored, log of mean",
        lambda m, t, d: np.sum(t / np.exp(m) - d * (np.log(t / np.exp(m)) - np.log(t))),
        "m",
        lambda m, t, d: d - t * np.exp(-m),
        m="5",
        t=POSITIVE,
        d="5",
    ),
    row(
        "tobit",
        lambda m, y: np.sum(
            np.where(y > 0, 0.5 * (y - m) ** 2, -np.log(0.5 * snp.erfc(m / np.sqrt(2))))
        ),
        "m",
        lambda m, y: np.where(y > 0, m - y, np.sqrt(2 / np.pi) / snp.erfcx(m / np.sqrt(2))),
        m="5",
        y="5",
    ),
    row(
        "Cox, all events",
        lambda s, M, d: d @ (log_sum_exp(s + M, 1) - s),
        "s",
        lambda s, M, d: d @ softmax(s + M, axis=1) - d,
        s="5",
        M="5, 5",
        d="5",
    ),
    row(
        "two-parameter item response, ability",
        lambda t, a, b, y: (
            p := plain_sigmoid(a * (t - b)),
            -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p)),
        )[1],
        "t",
        lambda t, a, b, y: a @ (sigmoid(a * (t - b)) - y),
        t="",
        a="5",
        b="5",
        y="5",
    ),
    row(
        "two-parameter item response, discriminations",
        lambda a, t, b, y: np.sum(np.log(1 + np.exp(a * (t - b))) - y * (a * (t - b))),
        "a",
        lambda a, t, b, y: (u := t - b) * (sigmoid(a * u) - y),
        a="5",
        t="",
        b="5",
        y="5",
    ),
    row(
        "three-parameter item response, ability",
        lambda t, a, b, c, y: (
            p := c + (1 - c) * plain_sigmoid(a * (t - b)),
            -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p)),
        )[1],
        "t",
        lambda t, a, b, c, y: a @ ((s := sigmoid(a * (t - b))) * (1 - y / (c + (1 - c) * s))),
        t="",
        a="5",
        b="5",
        c=PROBABILITY,
        y=PROBABILITY,
    ),
    row(
        "Rasch model, abilities and difficulties",
        lambda t, b, Y: np.sum(
            np.log(1 + np.exp(t[:, None] - b[None, :])) - Y * (t[:, None] - b[None, :])
        ),
        "t b",
        lambda t, b, Y: (
            np.sum(R := sigmoid(t[:, None] - b) - Y, axis=1),
            -np.sum(R, axis=0),
        ),
        t="6",
        b="5",
        Y="6, 5",
    ),
    row(
        "Bradley-Terry, strengths from wins",
        lambda p, W: -np.sum(W * np.log(p[:, None] / (p[:, None] + p[None, :]))),
        "p",
        lambda p, W: np.sum((W + W.T) / (p[:, None] + p), axis=1) - np.sum(W, axis=1) / p,
        p=POSITIVE,
        W="5, 5",
    ),
    row(
        "Bradley-Terry by incidence",
        lambda s, D: np.sum(np.log(1 + np.exp(-(D @ s)))),
        "s",
        lambda s, D: D.T @ (-1 / (1 + np.exp(D @ s))),
        s="5",
        D="6, 5",
    ),
    row(
        "ordinal by all thresholds, scores",
        lambda s, b, Y: np.sum(np.log(1 + np.exp(Y * (s[:, None] - b)))),
        "s",
        lambda s, b, Y: np.sum(Y * sigmoid(Y * (s[:, None] - b)), axis=1),
        s="6",
        b="4",
        Y="6, 4",
    ),
    row(
        "embeddings by ids, factorisation",
        lambda U, V, i, j, r: 0.5 * np.sum((np.sum(U[i] * V[j], axis=1) - r) ** 2),
        "U",
        lambda U, V, i, j, r: snp.scatter_add(
            snp.zeros((4, 3)), (np.sum(U[i] * (v := V[j]), axis=1) - r)[:, None] * v, i
        ),
        U="4, 3",
        V="4, 3",
        i=IDS,
        j=IDS,
        r="6",
    ),
    row(
        "centre loss, centres",
        lambda C, X, i: 0.5 * np.sum((X - C[i]) ** 2),
        "C",
        lambda C, X, i: snp.scatter_add(snp.zeros((4, 3)), C[i] - X, i),
        C="4, 3",
        X="6, 3",
        i=IDS,
    ),
]

RESPONSES = [*POLICIES, *COUNTED]
