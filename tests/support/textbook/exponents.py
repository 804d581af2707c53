"""Powers with arrays as exponents, parameters that cancel, and quotients that are shared."""

from __future__ import annotations

import numpy as np

import symgraph as sg
from symgraph.numpy import log_or_zero, logsumexp, multiply_or_zero, softmax
from textbook import POSITIVE, PROBABILITY, SCALE, SPD, Row, row

__all__ = ["EXPONENTS"]

ELASTICITY = sg.spec("", assume=sg.interval(2.0, 4.0))

NONNEGATIVE = sg.spec("5", assume=sg.nonnegative)

EXPONENTS: list[Row] = [
    row(
        "x^a, x and a may be 0",
        lambda x, a: np.sum(x**a),
        "x a",
        lambda x, a: (multiply_or_zero(a, x ** (a - 1)), x**a @ log_or_zero(x)),
        x=NONNEGATIVE,
        a="",
    ),
    row(
        "Hill, inputs may be 0",
        lambda x, n: np.sum(x**n / (1 + x**n)),
        "n",
        lambda x, n: (h := x**n / (1 + x**n), (h - np.square(h)) @ log_or_zero(x))[1],
        x=NONNEGATIVE,
        n="",
    ),
    row(
        "(1 + x^2)/x of any x",
        lambda x: np.sum((1 + x**2) / x),
        "x",
        lambda x: 1 - 1 / np.square(x),
        x="5",
    ),
    row(
        "price index of varieties",
        lambda p, a, s: np.sum(a * p ** (1 - s)) ** (1 / (1 - s)),
        "p",
        lambda p, a, s: (q := p**-s, a * q * np.sum(a * q * p) ** (s / (1 - s)))[1],
        p=POSITIVE,
        a=POSITIVE,
        s=ELASTICITY,
    ),
    row(
        "extreme values, location",
        lambda m, s, k, x: np.sum(
            (1 + 1 / k) * np.log(1 + k * (x - m) / s) + (1 + k * (x - m) / s) ** (-1 / k)
        ),
        "m",
        lambda m, s, k, x: (
            z := 1 + k / s * (x - m),
            np.sum((z ** (-1 / k) - (1 + k)) / z) / s,
        )[1],
        m=sg.spec("", assume=sg.interval(-2.0, -1.0)),
        s=SCALE,
        k=SCALE,
        x=POSITIVE,
    ),
    row(
        "Clayton copula, first margin",
        lambda u, v, t: -np.sum((1 + t) * np.log(u * v) + (2 + 1 / t) * np.log(u**-t + v**-t - 1)),
        "u",
        lambda u, v, t: (a := u**-t, ((1 + 2 * t) * a / (a + v**-t - 1) - (1 + t)) / u)[1],
        u=PROBABILITY,
        v=PROBABILITY,
        t=SCALE,
    ),
    row(
        "Renyi divergence of any order, second",
        lambda p, q, a: np.log(np.sum(p**a * q ** (1 - a))) / (a - 1),
        "q",
        lambda p, q, a: (r := (p / q) ** a, -r / (q @ r))[1],
        p=POSITIVE,
        q=POSITIVE,
        a=ELASTICITY,
    ),
    row(
        "generalised Pareto, scale",
        lambda s, k, x: np.sum(np.log(s) + (1 + 1 / k) * np.log(1 + k * x / s)),
        "s",
        lambda s, k, x: np.sum((s - x) / (s + k * x)) / s,
        s=SCALE,
        k=SCALE,
        x=POSITIVE,
    ),
    row(
        "ties of equals, weight of a tie",
        lambda v, p, q: np.sum(np.log(v * np.sqrt(p * q)) - np.log(p + q + v * np.sqrt(p * q))),
        "v",
        lambda v, p, q: (s := p + q, np.sum(s / (s + v * np.sqrt(p * q))) / v)[1],
        v=SCALE,
        p=POSITIVE,
        q=POSITIVE,
    ),
    row(
        "hurdle Poisson, log of rate",
        lambda h, y: np.sum(y * h - np.exp(h) - np.log(1 - np.exp(-np.exp(h)))),
        "h",
        lambda h, y: (m := np.exp(h), y + m / np.expm1(-m))[1],
        h="5",
        y="5",
    ),
    row(
        "soft nearest neighbour, distances",
        lambda d, m, t: -np.log(np.sum(m * np.exp(-d / t)) / np.sum(np.exp(-d / t))),
        "d",
        lambda d, m, t: (e := np.exp(-d / t), e * (m / (m @ e) - 1 / np.sum(e)) / t)[1],
        d=POSITIVE,
        m=POSITIVE,
        t=SCALE,
    ),
    row(
        "soft Bellman error, next values",
        lambda q, v, r, g, t: 0.5 * (v - (r + g * t * np.log(np.sum(np.exp(q / t))))) ** 2,
        "q",
        lambda q, v, r, g, t: (
            z := q / t,
            g * (r + g * t * logsumexp(z) - v) * softmax(z),
        )[1],
        q="5",
        v="",
        r="",
        g=sg.spec("", assume=sg.interval(0.5, 0.99)),
        t=SCALE,
    ),
    row(
        "bond by a short rate, rate and volatility",
        lambda r, s, a, b, t: np.exp(-r * (1 - np.exp(-a * t)) / a + s**2 * b),
        "r s",
        lambda r, s, a, b, t: (
            k := np.expm1(-a * t) / a,
            p := np.exp(r * k + s**2 * b),
            (k * p, 2 * s * b * p),
        )[2],
        r="",
        s="",
        a=SCALE,
        b="",
        t=SCALE,
    ),
    row(
        "log-mean-exp, temperature",
        lambda t, x: t * np.log(np.mean(np.exp(x / t))),
        "t",
        lambda t, x: (z := x / t, logsumexp(z) - np.log(5) - softmax(z) @ z)[1],
        t=SCALE,
        x="5",
    ),
    row(
        "Bhattacharyya of Gaussians, mean",
        lambda m, n, S, T: 0.125 * (m - n) @ np.linalg.inv((S + T) / 2) @ (m - n),
        "m",
        lambda m, n, S, T: 0.5 * np.linalg.solve(S + T, m - n),
        m="5",
        n="5",
        S=SPD,
        T=SPD,
    ),
    row(
        "entropy of a Gaussian, factor",
        lambda L: 0.5 * np.linalg.slogdet(2 * np.pi * np.e * L @ L.T)[1],
        "L",
        lambda L: np.linalg.solve(L @ L.T, L),
        L="4, 4",
    ),
    row(
        "gated unit of a vector, input",
        lambda x, W, V, y: y @ (np.tanh(W @ x) * (V @ x)),
        "x",
        lambda x, W, V, y: (
            t := np.tanh(W @ x),
            V.T @ (y * t) + W.T @ (y * (V @ x) * (1 - t**2)),
        )[1],
        x="3",
        W="4, 3",
        V="4, 3",
        y="4",
    ),
    row(
        "weighted powers, base and exponent",
        lambda x, a, y: np.sum(y * x**a),
        "x a",
        lambda x, a, y: (p := y * x**a, (p * (a / x), p @ np.log(x)))[1],
        x=POSITIVE,
        a="",
        y="5",
    ),
    row(
        "Cobb-Douglas, any exponents, both inputs",
        lambda x, y, a, b: x**a * y**b,
        "x y",
        lambda x, y, a, b: (f := x**a * y**b, (f * (a / x), f * (b / y)))[1],
        x=SCALE,
        y=SCALE,
        a="",
        b="",
    ),
]
