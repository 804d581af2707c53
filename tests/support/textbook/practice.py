"""Gradients of formulas in use: directions, doses, equations of state, filters, losses.

Half of 74 formulas of fields that the catalogue did not have, written with the books' forms before
any was tried; 27 of that half were as short at first, 29 when its classes had been mended. The
slopes of sigmoids are from earlier sets.
"""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.numpy import sigmoid, softmax
from textbook import POSITIVE, PROBABILITY, SCALE, Row, log_sum_exp, plain_sigmoid, row

__all__ = ["PRACTICE"]

PI = float(np.pi)
TURNS = 2 * PI * np.arange(-1, 2)
SPD_4 = sg.spec("4, 4", assume=sg.positive_definite)
SPD_3 = sg.spec("3, 3", assume=sg.positive_definite)
SHARE = sg.spec("", assume=sg.interval(0.05, 0.95))
ABOVE_2 = sg.spec("5", assume=sg.interval(2.0, 3.0))
FROM_2_TO_3 = sg.spec("", assume=sg.interval(2.0, 3.0))
NEAR = sg.spec("4, 3", assume=sg.interval(0.0, 0.2))

# -- slopes of sigmoids ----------------------------------------------------------------------------
SLOPES: list[Row] = [
    row(
        "share of a buffer's base, acidity",
        lambda h, k: np.sum(1 / (1 + 10 ** (k - h))),
        "h",
        lambda h, k: np.log(10) * (u := 10 ** (k - h)) / (1 + u) ** 2,
        h="5",
        k="",
    ),
    row(
        "information of an item, ability",
        lambda h, a: np.sum(a**2 * plain_sigmoid(a * h) * (1 - plain_sigmoid(a * h))),
        "h",
        lambda h, a: a**3 * (s := sigmoid(a * h)) * (1 - s) * (1 - 2 * s),
        h="5",
        a="5",
    ),
    row(
        "Schottky energy, temperature",
        lambda T, d: np.sum(d / (1 + np.exp(d / T))),
        "T",
        lambda T, d: (q := d / T) ** 2 * sigmoid(q) * sigmoid(-q),
        T=POSITIVE,
        d=POSITIVE,
    ),
    row(
        "diffusion weights by signal to noise, log variances",
        lambda g, e, f: np.sum(plain_sigmoid(-g) * (e - f) ** 2),
        "g",
        lambda g, e, f: -(s := sigmoid(-g)) * (1 - s) * (e - f) ** 2,
        g="5",
        e="5",
        f="5",
    ),
]

# -- directions ------------------------------------------------------------------------------------
DIRECTIONS: list[Row] = [
    row(
        "von Mises-Fisher on the sphere, concentration",
        lambda k, m, s: -k * (m @ s) - 5 * (np.log(k) - np.log(np.sinh(k))),
        "k",
        lambda k, m, s: 5 * (1 / np.tanh(k) - 1 / k) - m @ s,
        k=SCALE,
        m="3",
        s="3",
    ),
    row(
        "wrapped normal, mean",
        lambda m, x, s: -np.sum(log_sum_exp(-((x[:, None] + TURNS - m) ** 2) / (2 * s**2), axis=1)),
        "m",
        lambda m, x, s: (
            -np.sum(softmax(-((u := x[:, None] + TURNS - m) ** 2) / (2 * s**2), axis=1) * u) / s**2
        ),
        m="",
        x="5",
        s=SCALE,
    ),
    row(
        "cardioid, location and concentration",
        lambda m, r, x: -np.sum(np.log(1 + 2 * r * np.cos(x - m))),
        "m r",
        lambda m, r, x: (
            -2 * r * np.sum(np.sin(d := x - m) / (D := 1 + 2 * r * (c := np.cos(d)))),
            -2 * np.sum(c / D),
        ),
        m="",
        r=sg.spec("", assume=sg.interval(0.05, 0.45)),
        x="5",
    ),
    row(
        "kernel of Poisson, radius and angle",
        lambda r, t: np.sum((1 - r**2) / (1 - 2 * r * np.cos(t) + r**2)),
        "r t",
        lambda r, t: (
            2 * ((1 + (q := r**2)) * (c := np.cos(t)) - 2 * r) / (D := (1 - 2 * r * c + q) ** 2),
            -2 * r * (1 - q) * np.sin(t) / D,
        ),
        r=PROBABILITY,
        t="5",
    ),
    row(
        "array of antennas, phase",
        lambda p, N: np.sum(np.sin(N * p / 2) / (N * np.sin(p / 2))),
        "p",
        lambda p, N: (
            (np.cos(u := N * (h := p / 2)) - np.sin(u) / (N * np.tan(h))) / (2 * np.sin(h))
        ),
        p=PROBABILITY,
        N=SCALE,
    ),
]

# -- laws ------------------------------------------------------------------------------------------
LAWS: list[Row] = [
    row(
        "generalised extreme values, locations",
        lambda m, x, s, k: np.sum((1 + 1 / k) * np.log(z := 1 + k * (x - m) / s) + z ** (-1 / k)),
        "m",
        lambda m, x, s, k: ((z := 1 + k * (x - m) / s) ** (-1 / k) - 1 - k) / (s * z),
        m=PROBABILITY,
        x=ABOVE_2,
        s=SCALE,
        k=SCALE,
    ),
    row(
        "Peng-Robinson pressure, volume",
        lambda V, T, A, b: np.sum(8.314 * T / (V - b) - A / (V * (V + b) + b * (V - b))),
        "V",
        lambda V, T, A, b: (
            2 * A * (s := V + b) / (V * s + b * (d := V - b)) ** 2 - 8.314 * T / d**2
        ),
        V=ABOVE_2,
        T=POSITIVE,
        A=SCALE,
        b=SHARE,
    ),
    row(
        "Einstein's solid, temperature",
        lambda T, h: np.sum(h / (np.exp(h / T) - 1)),
        "T",
        lambda T, h: (u := h / T) ** 2 * (e := np.exp(u)) / (e - 1) ** 2,
        T=POSITIVE,
        h=SCALE,
    ),
    row(
        "dose response of four parameters, plateaus and half effect",
        lambda p, d, c, x, b: np.sum(d + (p - d) / (1 + (x / c) ** b)),
        "p d c",
        lambda p, d, c, x, b: (
            np.sum(s := 1 / (1 + (u := (x / c) ** b))),
            np.sum(1 - s),
            (p - d) * b / c * np.sum(u * s**2),
        ),
        p="",
        d="",
        c=SCALE,
        x=POSITIVE,
        b=SCALE,
    ),
    row(
        "Marcus rate, reorganisation",
        lambda r, g, T: np.sum(np.exp(-((r + g) ** 2) / (4 * r * T))),
        "r",
        lambda r, g, T: (g**2 - r**2) / (4 * T * r**2) * np.exp(-((r + g) ** 2) / (4 * r * T)),
        r=POSITIVE,
        g="5",
        T=SCALE,
    ),
    row(
        "Bernoulli's function",
        lambda x: np.sum(x / (np.exp(x) - 1)),
        "x",
        lambda x: ((e := np.exp(x)) * (1 - x) - 1) / (e - 1) ** 2,
        x=POSITIVE,
    ),
    row(
        "Shepherd's recruits, spawners",
        lambda S, A, K, b: np.sum(A * S / (1 + (S / K) ** b)),
        "S",
        lambda S, A, K, b: A * (1 + (1 - b) * (u := (S / K) ** b)) / (1 + u) ** 2,
        S=POSITIVE,
        A=SCALE,
        K=SCALE,
        b=SCALE,
    ),
    row(
        "hosts and parasites with aggregation, both",
        lambda N, P, k, b: np.sum(N * (1 + b * P / k) ** -k),
        "N P",
        lambda N, P, k, b: ((q := (s := 1 + b * P / k) ** -k), -b * N * q / s),
        N=POSITIVE,
        P=POSITIVE,
        k=SCALE,
        b=SCALE,
    ),
    row(
        "bond after Cox, Ingersoll and Ross, time",
        lambda t, h, k: np.sum(2 * (np.exp(h * t) - 1) / ((h + k) * (np.exp(h * t) - 1) + 2 * h)),
        "t",
        lambda t, h, k: (e := np.exp(h * t)) * (2 * h / ((h + k) * (e - 1) + 2 * h)) ** 2,
        t=POSITIVE,
        h=SCALE,
        k=SCALE,
    ),
    row(
        "total variance after Gatheral, strike and curvature",
        lambda k, s, p, b, r, m: np.sum(p + b * (r * (k - m) + np.sqrt((k - m) ** 2 + s**2))),
        "k s",
        lambda k, s, p, b, r, m: (
            b * (r + (d := k - m) / (q := np.sqrt(d**2 + s**2))),
            b * s * np.sum(1 / q),
        ),
        **dict.fromkeys(["p", "b", "r", "m"], ""),
        k="5",
        s=SCALE,
    ),
    row(
        "sum of velocities, first",
        lambda u, v, c: np.sum((u + v) / (1 + u * v / c**2)),
        "u",
        lambda u, v, c: (1 - (v / c) ** 2) / (1 + u * v / c**2) ** 2,
        u=PROBABILITY,
        v=PROBABILITY,
        c=FROM_2_TO_3,
    ),
]

# -- matrices and losses ---------------------------------------------------------------------------
LOSSES: list[Row] = [
    row(
        "entropy of a Dirichlet distribution",
        lambda p: (
            np.sum(snp.gammaln(p))
            - snp.gammaln(np.sum(p))
            + (np.sum(p) - 5) * snp.digamma(np.sum(p))
            - (p - 1) @ snp.digamma(p)
        ),
        "p",
        lambda p: ((s := np.sum(p)) - 5) * snp.polygamma(1, s) - (p - 1) * snp.polygamma(1, p),
        p=POSITIVE,
    ),
    row(
        "ratio of traces in a subspace",
        lambda V, A, B: np.trace(V.T @ A @ V) / np.trace(V.T @ B @ V),
        "V",
        lambda V, A, B: (
            2 / (b := np.trace(V.T @ (q := B @ V))) * ((p := A @ V) - np.trace(V.T @ p) / b * q)
        ),
        V="4, 2",
        A=SPD_4,
        B=SPD_4,
    ),
    row(
        "log-determinant of a Schur complement, border",
        lambda B, A, D: np.linalg.slogdet(D - B.T @ np.linalg.inv(A) @ B)[1],
        "B",
        lambda B, A, D: -2 * (Z := np.linalg.inv(A) @ B) @ np.linalg.inv(D - B.T @ Z),
        B=NEAR,
        A=SPD_4,
        D=SPD_3,
    ),
    row(
        "length of a projection on a span, its matrix",
        lambda X, y: y @ X @ np.linalg.solve(X.T @ X, X.T @ y) / 2,
        "X",
        lambda X, y: np.outer(y - X @ (w := np.linalg.solve(X.T @ X, X.T @ y)), w),
        X="5, 3",
        y="5",
    ),
    row(
        "gelu gated unit, gate's weights",
        lambda W, X, V: np.sum((u := X @ W) * snp.ndtr(u) * V),
        "W",
        lambda W, X, V: (
            X.T @ (V * (snp.ndtr(u := X @ W) + u * np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi)))
        ),
        W="3, 2",
        X="6, 3",
        V="6, 2",
    ),
    row(
        "squareplus, input and sharpness",
        lambda x, b: np.sum(x + np.sqrt(x**2 + b)) / 2,
        "x b",
        lambda x, b: ((1 + x / (r := np.sqrt(x**2 + b))) / 2, np.sum(1 / r) / 4),
        x="5",
        b=SCALE,
    ),
]

# -- longer than the book --------------------------------------------------------------------------
LONGER: list[Row] = [
    row(
        "soft L1, residual and scale",
        lambda r, c: 2 * c * np.sum(np.sqrt(1 + r**2 / c) - 1),
        "r c",
        lambda r, c: (
            2 * r / (s := np.sqrt(1 + (q := r**2 / c))),
            np.sum(2 * (s - 1) - q / s),
        ),
        r="5",
        c=SCALE,
    ),
    row(
        "Clayton's conditional distribution, first margin",
        lambda u, v, t: np.sum(v ** (-t - 1) * (u**-t + v**-t - 1) ** (-1 / t - 1)),
        "u",
        lambda u, v, t: (1 + t) * (u * v) ** (-t - 1) * (u**-t + v**-t - 1) ** (-1 / t - 2),
        u=PROBABILITY,
        v=PROBABILITY,
        t=SCALE,
    ),
    row(
        "Fresnel amplitude across the plane, both indices",
        lambda n, m, c, d: np.sum((n * c - m * d) / (n * c + m * d)),
        "n m",
        lambda n, m, c, d: ((q := 2 * c * d / (n * c + m * d) ** 2) * m, -q * n),
        n=POSITIVE,
        m=POSITIVE,
        c=PROBABILITY,
        d=PROBABILITY,
    ),
    row(
        "nested logit, utilities in the nest",
        lambda z, k, w: np.log(np.exp(k * log_sum_exp(z / k)) + np.exp(w)),
        "z",
        lambda z, k, w: sigmoid(k * log_sum_exp(u := z / k) - w) * softmax(u),
        z="5",
        k=SCALE,
        w="",
    ),
    row(
        "friction after Swamee and Jain, Reynolds number",
        lambda R, e: np.sum(0.25 / np.log10(e / 3.7 + 5.74 / R**0.9) ** 2),
        "R",
        lambda R, e: (
            (2.583 * float(np.log(10)) ** 2)
            * R**-1.9
            / ((u := e / 3.7 + 5.74 / R**0.9) * np.log(u) ** 3)
        ),
        R=ABOVE_2,
        e=SCALE,
    ),
    row(
        "Doppler factor, speed",
        lambda b: np.sum(np.sqrt((1 - b) / (1 + b))),
        "b",
        lambda b: -1 / ((1 + b) * np.sqrt(1 - b**2)),
        b=PROBABILITY,
    ),
    row(
        "Renyi divergence of Gaussians, mean and spread",
        lambda m, s, n, t, o: np.sum(
            np.log(t / s)
            + np.log(t**2 / (q := o * t**2 + (1 - o) * s**2)) / (2 * (o - 1))
            + o * (m - n) ** 2 / (2 * q)
        ),
        "m s",
        lambda m, s, n, t, o: (
            (u := o * (d := m - n) / (q := o * t**2 + (p := 1 - o) * s**2)),
            s / q * (1 - p * u * d) - 1 / s,
        ),
        m="5",
        s=POSITIVE,
        n="5",
        t=POSITIVE,
        o=SHARE,
    ),
    row(
        "odds ratio loss, chosen and rejected probabilities",
        lambda p, q: -np.sum(np.log(plain_sigmoid(np.log(p / (1 - p)) - np.log(q / (1 - q))))),
        "p q",
        lambda p, q: (
            -q / (p * (d := p + q - 2 * p * q)),
            (1 - p) / ((1 - q) * d),
        ),
        p=PROBABILITY,
        q=PROBABILITY,
    ),
]

PRACTICE: list[Row] = [*SLOPES, *DIRECTIONS, *LAWS, *LOSSES, *LONGER]
