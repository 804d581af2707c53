"""Negative log-likelihoods of counts and of positive numbers."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.numpy import sigmoid, softmax
from textbook import POSITIVE, PROBABILITY, SCALE, SIMPLEX, Row, log_sum_exp, row

__all__ = ["COUNT_LIKELIHOODS"]


COUNTS: list[Row] = [
    row(
        "Poisson, rate",
        lambda r, k: np.sum(r - k * np.log(r)),
        "r",
        lambda r, k: 1 - k / r,
        r=POSITIVE,
        k="5",
    ),
    row(
        "Poisson, log of rate",
        lambda s, k: np.sum(np.exp(s) - k * s),
        "s",
        lambda s, k: np.exp(s) - k,
        s="5",
        k="5",
    ),
    row(
        "Poisson, common rate",
        lambda r, k: np.sum(r - k * np.log(r)),
        "r",
        lambda r, k: 5 - np.sum(k) / r,
        r=SCALE,
        k="5",
    ),
    row(
        "Poisson with exposure",
        lambda s, k, e: np.sum(e * np.exp(s) - k * (s + np.log(e))),
        "s",
        lambda s, k, e: e * np.exp(s) - k,
        s="5",
        k="5",
        e=POSITIVE,
    ),
    row(
        "Poisson, softplus of rate",
        lambda z, k: np.sum(np.log(1 + np.exp(z)) - k * np.log(np.log(1 + np.exp(z)))),
        "z",
        lambda z, k: (1 - k / snp.softplus(z)) * sigmoid(z),
        z="5",
        k="5",
    ),
    row(
        "Bernoulli, probability",
        lambda p, y: -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p)),
        "p",
        lambda p, y: (p - y) / (p * (1 - p)),
        p=PROBABILITY,
        y="5",
    ),
    row(
        "Bernoulli, common probability",
        lambda p, y: -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p)),
        "p",
        lambda p, y: (5 * p - np.sum(y)) / (p * (1 - p)),
        p=sg.spec("", assume=sg.interval(0.05, 0.95)),
        y="5",
    ),
    row(
        "binomial, logits",
        lambda z, k, n: np.sum(n * np.log(1 + np.exp(z)) - k * z),
        "z",
        lambda z, k, n: n * sigmoid(z) - k,
        z="5",
        k="5",
        n="5",
    ),
    row(
        "geometric, probability",
        lambda p, k: -np.sum(np.log(p) + k * np.log(1 - p)),
        "p",
        lambda p, k: k / (1 - p) - 1 / p,
        p=PROBABILITY,
        k="5",
    ),
    row(
        "negative binomial, logits",
        lambda z, k, r: np.sum((k + r) * np.log(1 + np.exp(z)) - k * z),
        "z",
        lambda z, k, r: (k + r) * sigmoid(z) - k,
        z="5",
        k="5",
        r="",
    ),
    row(
        "negative binomial, mean",
        lambda m, k, r: np.sum((k + r) * np.log(r + m) - k * np.log(m)),
        "m",
        lambda m, k, r: (k + r) / (r + m) - k / m,
        m=POSITIVE,
        k="5",
        r=SCALE,
    ),
    row(
        "negative binomial, log of mean",
        lambda s, k, r: np.sum((k + r) * np.log(r + np.exp(s)) - k * s),
        "s",
        lambda s, k, r: (k + r) * sigmoid(s - np.log(r)) - k,
        s="5",
        k="5",
        r=SCALE,
    ),
    row(
        "multinomial, logits and counts",
        lambda z, k: np.sum(k) * log_sum_exp(z) - np.sum(k * z),
        "z",
        lambda z, k: np.sum(k) * softmax(z) - k,
        z="5",
        k="5",
    ),
    row(
        "categorical, probabilities",
        lambda p, k: -np.sum(k * np.log(p)),
        "p",
        lambda p, k: -(k / p),
        p=POSITIVE,
        k="5",
    ),
    row(
        "categorical, unnormalised",
        lambda p, k: -np.sum(k * np.log(p / np.sum(p))),
        "p",
        lambda p, k: np.sum(k) / np.sum(p) - k / p,
        p=POSITIVE,
        k="5",
    ),
    row(
        "zero-truncated Poisson",
        lambda r, k: np.sum(r - k * np.log(r) + np.log(1 - np.exp(-r))),
        "r",
        lambda r, k: 1 - k / r + 1 / np.expm1(r),
        r=POSITIVE,
        k="5",
    ),
    row(
        "Zipf by logits",
        lambda a, x, k: np.sum(k) * log_sum_exp(-a * x) + a * np.sum(k * x),
        "a",
        lambda a, x, k: k @ x - np.sum(k) * (x @ softmax(-a * x)),
        a="",
        x="5",
        k="5",
    ),
]

POSITIVES: list[Row] = [
    row(
        "exponential, rate",
        lambda x, r: np.sum(r * x - np.log(r)),
        "r",
        lambda x, r: x - 1 / r,
        x="5",
        r=POSITIVE,
    ),
    row(
        "exponential, common rate",
        lambda x, r: -np.sum(np.log(r) - r * x),
        "r",
        lambda x, r: np.sum(x) - 5 / r,
        x=POSITIVE,
        r=SCALE,
    ),
    row(
        "exponential, log of mean",
        lambda x, s: np.sum(s + x * np.exp(-s)),
        "s",
        lambda x, s: 1 - x * np.exp(-s),
        x=POSITIVE,
        s="5",
    ),
    row(
        "gamma, rate",
        lambda x, a, b: -np.sum(a * np.log(b) + (a - 1) * np.log(x) - b * x - snp.gammaln(a)),
        "b",
        lambda x, a, b: x - a / b,
        x=POSITIVE,
        a=POSITIVE,
        b=POSITIVE,
    ),
    row(
        "gamma, shape",
        lambda x, a, b: -np.sum(a * np.log(b) + (a - 1) * np.log(x) - b * x - snp.gammaln(a)),
        "a",
        lambda x, a, b: snp.digamma(a) - np.log(b * x),
        x=POSITIVE,
        a=POSITIVE,
        b=POSITIVE,
    ),
    row(
        "gamma, scale",
        lambda x, a, s: np.sum(a * np.log(s) + x / s),
        "s",
        lambda x, a, s: (a - x / s) / s,
        x=POSITIVE,
        a=POSITIVE,
        s=POSITIVE,
    ),
    row(
        "gamma, log of mean",
        lambda x, s, a: np.sum(a * (s + x * np.exp(-s))),
        "s",
        lambda x, s, a: a * (1 - x * np.exp(-s)),
        x=POSITIVE,
        s="5",
        a=SCALE,
    ),
    row(
        "inverse gamma, scale",
        lambda x, a, b: np.sum(b / x - a * np.log(b)),
        "b",
        lambda x, a, b: 1 / x - a / b,
        x=POSITIVE,
        a=POSITIVE,
        b=POSITIVE,
    ),
    row(
        "inverse Gaussian, mean",
        lambda x, m: np.sum((x - m) ** 2 / (2 * m**2 * x)),
        "m",
        lambda x, m: (m - x) / m**3,
        x=POSITIVE,
        m=POSITIVE,
    ),
    row(
        "beta, first shape",
        lambda x, a, b: (
            -np.sum(
                (a - 1) * np.log(x)
                + (b - 1) * np.log(1 - x)
                - snp.gammaln(a)
                - snp.gammaln(b)
                + snp.gammaln(a + b)
            )
        ),
        "a",
        lambda x, a, b: snp.digamma(a) - snp.digamma(a + b) - np.log(x),
        x=PROBABILITY,
        a=POSITIVE,
        b=POSITIVE,
    ),
    row(
        "beta, in the data",
        lambda x, a, b: -np.sum((a - 1) * np.log(x) + (b - 1) * np.log(1 - x)),
        "x",
        lambda x, a, b: (b - 1) / (1 - x) - (a - 1) / x,
        x=PROBABILITY,
        a=POSITIVE,
        b=POSITIVE,
    ),
    row(
        "Dirichlet, concentrations",
        lambda x, a: np.sum(snp.gammaln(a)) - snp.gammaln(np.sum(a)) - np.sum((a - 1) * np.log(x)),
        "a",
        lambda x, a: snp.digamma(a) - snp.digamma(np.sum(a)) - np.log(x),
        x=SIMPLEX,
        a=POSITIVE,
    ),
    row(
        "Weibull, scale",
        lambda x, k, s: np.sum((x / s) ** k + k * np.log(s)),
        "s",
        lambda x, k, s: k * (1 - (x / s) ** k) / s,
        x=POSITIVE,
        k=POSITIVE,
        s=POSITIVE,
    ),
    row(
        "Weibull, shape, unit scale",
        lambda x, k: np.sum(x**k - np.log(k) - (k - 1) * np.log(x)),
        "k",
        lambda x, k: np.log(x) * (x**k - 1) - 1 / k,
        x=POSITIVE,
        k=POSITIVE,
    ),
    row(
        "Rayleigh, scale",
        lambda x, s: np.sum(x**2 / (2 * s**2) + 2 * np.log(s)),
        "s",
        lambda x, s: (2 - np.square(x / s)) / s,
        x=POSITIVE,
        s=POSITIVE,
    ),
    row(
        "Pareto, exponent",
        lambda x, a: np.sum((a + 1) * np.log(x) - np.log(a)),
        "a",
        lambda x, a: np.log(x) - 1 / a,
        x=POSITIVE,
        a=POSITIVE,
    ),
    row(
        "log-logistic, log of scale",
        lambda x, s: np.sum(s + 2 * np.log(1 + np.exp(np.log(x) - s))),
        "s",
        lambda x, s: 1 - 2 * x / (x + np.exp(s)),
        x=POSITIVE,
        s="5",
    ),
    row(
        "Maxwell, scale",
        lambda x, a: np.sum(3 * np.log(a) + x**2 / (2 * a**2)),
        "a",
        lambda x, a: (3 - np.square(x / a)) / a,
        x=POSITIVE,
        a=POSITIVE,
    ),
]

COUNT_LIKELIHOODS = [*COUNTS, *POSITIVES]
