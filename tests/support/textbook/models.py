"""Gradients written blind a fourth time: likelihoods, calculus, second derivatives, sciences."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.numpy import sigmoid
from textbook import POSITIVE, PROBABILITY, SCALE, SIMPLEX, Row, row

UNIT = sg.spec("", assume=sg.interval(0.05, 0.95))
SYM4 = sg.spec("4,4", assume=sg.symmetric)
SPD4 = sg.spec("4,4", assume=sg.positive_definite)
ACUTE = sg.spec("5", assume=sg.interval(0.1, 1.4))
inv, solve = np.linalg.inv, np.linalg.solve


LIKELIHOODS: list[Row] = [
    row(
        "Student t, degrees of freedom",
        lambda v, x: (
            -np.sum(
                snp.gammaln((v + 1) / 2)
                - snp.gammaln(v / 2)
                - 0.5 * np.log(v * np.pi)
                - (v + 1) / 2 * np.log(1 + x**2 / v)
            )
        ),
        "v",
        lambda v, x: (
            0.5
            * (
                snp.digamma(v / 2)
                - snp.digamma((v + 1) / 2)
                + np.log(1 + (q := x**2) / v)
                + (1 - q) / (v + q)
            )
        ),
        v=POSITIVE,
        x="5",
    ),
    row(
        "Student t of several dimensions, location",
        lambda m, x, S, n: (n + 4) / 2 * np.log(1 + (x - m) @ inv(S) @ (x - m) / n),
        "m",
        lambda m, x, S, n: -(n + 4) * (a := solve(S, r := x - m)) / (n + r @ a),
        m="4",
        x="4",
        S=SPD4,
        n=SCALE,
    ),
    row(
        "beta by mean and precision, mean",
        lambda m, k, x: np.sum(
            snp.gammaln(m * k)
            + snp.gammaln((1 - m) * k)
            - (m * k - 1) * np.log(x)
            - ((1 - m) * k - 1) * np.log(1 - x)
        ),
        "m",
        lambda m, k, x: k * (snp.digamma(m * k) - snp.digamma((1 - m) * k) - np.log(x / (1 - x))),
        m=PROBABILITY,
        k=SCALE,
        x=PROBABILITY,
    ),
    row(
        "Dirichlet-multinomial",
        lambda a, y: (
            snp.gammaln(np.sum(a) + np.sum(y))
            - snp.gammaln(np.sum(a))
            - np.sum(snp.gammaln(a + y) - snp.gammaln(a))
        ),
        "a",
        lambda a, y: (
            snp.digamma((A := np.sum(a)) + np.sum(y))
            - snp.digamma(A)
            - snp.digamma(a + y)
            + snp.digamma(a)
        ),
        a=POSITIVE,
        y=POSITIVE,
    ),
    row(
        "wrapped Cauchy, location",
        lambda m, x, r: np.sum(np.log(1 + r**2 - 2 * r * np.cos(x - m)) - np.log(1 - r**2)),
        "m",
        lambda m, x, r: 2 * r * np.sin(d := m - x) / (1 + r**2 - 2 * r * np.cos(d)),
        m="5",
        x="5",
        r=UNIT,
    ),
    row(
        "Weibull proportional hazards, censored",
        lambda b, X, t, d, k: (
            -np.sum(d * (np.log(k) + (k - 1) * np.log(t) + X @ b) - t**k * np.exp(X @ b))
        ),
        "b",
        lambda b, X, t, d, k: X.T @ (t**k * np.exp(X @ b) - d),
        b="3",
        X="5,3",
        t=POSITIVE,
        d="5",
        k=SCALE,
    ),
    row(
        "log-logistic survival, censored, location",
        lambda m, t, d, s: np.sum(
            (1 + d) * np.log(1 + np.exp((np.log(t) - m) / s))
            - d * (np.log(t) - m) / s
            + d * np.log(s)
        ),
        "m",
        lambda m, t, d, s: (d - (1 + d) * sigmoid((np.log(t) - m) / s)) / s,
        m="5",
        t=POSITIVE,
        d="5",
        s=SCALE,
    ),
    row(
        "generalised normal, scale",
        lambda a, x, m, b: np.sum((np.abs(x - m) / a) ** b + np.log(2 * a)),
        "a",
        lambda a, x, m, b: (1 - b * (np.abs(x - m) / a) ** b) / a,
        a=POSITIVE,
        x="5",
        m="5",
        b=SCALE,
    ),
    row(
        "Gaussian, factor of the precision",
        lambda L, x: 0.5 * np.sum((L @ x) ** 2) - np.sum(np.log(np.diag(L))),
        "L",
        lambda L, x: np.outer(L @ x, x) - np.diag(1 / np.diag(L)),
        L=SPD4,
        x="4",
    ),
    row(
        "log-normal, scale",
        lambda s, x, m: np.sum(np.log(s) + 0.5 * ((np.log(x) - m) / s) ** 2),
        "s",
        lambda s, x, m: (1 - ((np.log(x) - m) / s) ** 2) / s,
        s=POSITIVE,
        x=POSITIVE,
        m="5",
    ),
]

SCALARS: list[Row] = [
    row(
        "log((1 + sin x)/(1 - sin x))/2",
        lambda x: 0.5 * np.sum(np.log((1 + np.sin(x)) / (1 - np.sin(x)))),
        "x",
        lambda x: 1 / np.cos(x),
        x=ACUTE,
    ),
    row(
        "arctan sqrt x",
        lambda x: np.sum(np.arctan(np.sqrt(x))),
        "x",
        lambda x: 0.5 / (np.sqrt(x) * (1 + x)),
        x=POSITIVE,
    ),
    row(
        "arcsin(2x/(1 + x^2))",
        lambda x: np.sum(np.arcsin(2 * x / (1 + x**2))),
        "x",
        lambda x: 2 / (1 + x**2),
        x=sg.spec("5", assume=sg.interval(-0.9, 0.9)),
    ),
    row(
        "sec x tan x",
        lambda x: np.sum(np.tan(x) / np.cos(x)),
        "x",
        lambda x: (2 - (c := np.cos(x)) ** 2) / c**3,
        x=ACUTE,
    ),
    row(
        "x sqrt(1 - x^2) + arcsin x",
        lambda x: np.sum(x * np.sqrt(1 - x**2) + np.arcsin(x)),
        "x",
        lambda x: 2 * np.sqrt(1 - x**2),
        x=PROBABILITY,
    ),
    row(
        "(x - 1)^3/(x + 1)^2",
        lambda x: np.sum((x - 1) ** 3 / (x + 1) ** 2),
        "x",
        lambda x: (x - 1) ** 2 * (x + 5) / (x + 1) ** 3,
        x=POSITIVE,
    ),
    row(
        "2 arctan(exp x)",
        lambda x: np.sum(2 * np.arctan(np.exp(x))),
        "x",
        lambda x: 1 / np.cosh(x),
        x="5",
    ),
    row(
        "sinh log x",
        lambda x: np.sum(np.sinh(np.log(x))),
        "x",
        lambda x: 0.5 + 0.5 / x**2,
        x=POSITIVE,
    ),
    row(
        "exp(-x) (cos x + sin x)",
        lambda x: np.sum(np.exp(-x) * (np.cos(x) + np.sin(x))),
        "x",
        lambda x: -2 * np.exp(-x) * np.sin(x),
        x="5",
    ),
]


SECOND: list[Row] = [
    row(
        "Hessian of a logistic regression times a vector",
        lambda w, X, v: v @ sg.grad(lambda u: np.sum(np.log(1 + np.exp(X @ u))))(w),
        "w",
        lambda w, X, v: X.T @ ((s := sigmoid(X @ w)) * (1 - s) * (X @ v)),
        w="3",
        X="6,3",
        v="3",
    ),
    row(
        "Hessian of a length times a vector",
        lambda x, v: v @ sg.grad(lambda u: np.sqrt(np.sum(u**2)))(x),
        "x",
        lambda x, v: (v - x @ v / (q := x @ x) * x) / np.sqrt(q),
        x="4",
        v="4",
    ),
    row(
        "Hessian of a squared quadratic form times a vector",
        lambda x, A, v: v @ sg.grad(lambda u: 0.25 * (u @ A @ u) ** 2)(x),
        "x",
        lambda x, A, v: x @ (w := A @ x) * (A @ v) + 2 * (v @ w) * w,
        x="4",
        A=SYM4,
        v="4",
    ),
    row(
        "Hessian of a log barrier times a vector",
        lambda x, A, b, v: v @ sg.grad(lambda u: -np.sum(np.log(b - A @ u)))(x),
        "x",
        lambda x, A, b, v: A.T @ (A @ v / (b - A @ x) ** 2),
        x="3",
        A="6,3",
        b="6",
        v="3",
    ),
    row(
        "squared slope of a quadratic",
        lambda x, A, b: 0.5 * np.sum(sg.grad(lambda u: 0.5 * u @ A @ u - b @ u)(x) ** 2),
        "x",
        lambda x, A, b: A @ (A @ x - b),
        x="4",
        A=SYM4,
        b="4",
    ),
]

SCIENCES: list[Row] = [
    row(
        "Black-Scholes call, spot",
        lambda S, K, r, v, t: np.sum(
            S
            * 0.5
            * (1 + snp.erf((np.log(S / K) + (r + v**2 / 2) * t) / (v * np.sqrt(t)) / np.sqrt(2)))
            - K
            * np.exp(-r * t)
            * 0.5
            * (1 + snp.erf((np.log(S / K) + (r - v**2 / 2) * t) / (v * np.sqrt(t)) / np.sqrt(2)))
        ),
        "S",
        lambda S, K, r, v, t: snp.ndtr((np.log(S / K) + (r + v**2 / 2) * t) / (v * np.sqrt(t))),
        S=POSITIVE,
        K=POSITIVE,
        r=SCALE,
        v=SCALE,
        t=SCALE,
    ),
    row(
        "Black-Scholes call, volatility",
        lambda S, K, r, v, t: np.sum(
            S * snp.ndtr((np.log(S / K) + (r + v**2 / 2) * t) / (v * np.sqrt(t)))
            - K * np.exp(-r * t) * snp.ndtr((np.log(S / K) + (r - v**2 / 2) * t) / (v * np.sqrt(t)))
        ),
        "v",
        lambda S, K, r, v, t: (
            S
            * np.exp(-(((np.log(S / K) + (r + v**2 / 2) * t) / (v * np.sqrt(t))) ** 2) / 2)
            * (np.sqrt(t) / np.sqrt(2 * np.pi))
        ),
        S=SCALE,
        K=SCALE,
        r=SCALE,
        v=SCALE,
        t=SCALE,
    ),
    row(
        "bond price, yield",
        lambda y, c: np.sum(c * (1 + y) ** -np.arange(1.0, 6.0)),
        "y",
        lambda y, c: -(c * (t := np.arange(1.0, 6.0))) @ (1 + y) ** (-t - 1),
        y=SCALE,
        c=POSITIVE,
    ),
    row(
        "certainty equivalent, exponential utility",
        lambda x, p, a: -np.log(np.sum(p * np.exp(-a * x))) / a,
        "x",
        lambda x, p, a: (w := p * np.exp(-a * x)) / np.sum(w),
        x="5",
        p=SIMPLEX,
        a=SCALE,
    ),
    row(
        "Bose gas, inverse temperature",
        lambda b, e: np.sum(np.log(1 - np.exp(-b * e))),
        "b",
        lambda b, e: np.sum(e / np.expm1(b * e)),
        b=SCALE,
        e=POSITIVE,
    ),
    row(
        "Goldman equation, permeability",
        lambda p, a, b, x, y: np.sum(np.log((a + p * x) / (b + p * y))),
        "p",
        lambda p, a, b, x, y: x / (a + p * x) - y / (b + p * y),
        p=POSITIVE,
        a=POSITIVE,
        b=POSITIVE,
        x=POSITIVE,
        y=POSITIVE,
    ),
    row(
        "Cournot profits",
        lambda x, a, b, c: np.sum(x) * (a - b * np.sum(x)) - c @ x,
        "x",
        lambda x, a, b, c: a - 2 * b * np.sum(x) - c,
        x=POSITIVE,
        a=SCALE,
        b=SCALE,
        c=POSITIVE,
    ),
    row(
        "Kuramoto energy",
        lambda t, k: -0.5 * k * np.sum(np.cos(t[:, None] - t[None, :])),
        "t",
        lambda t, k: k * np.sum(np.sin(t[:, None] - t[None, :]), axis=1),
        t="5",
        k="",
    ),
]


MODELS: list[Row] = [*LIKELIHOODS, *SCALARS, *SECOND, *SCIENCES]
