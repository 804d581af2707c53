"""Gradients of formulas from handbooks of many fields, as users write them, who state no facts.

Half of 48 formulas, written with their closed forms before any was run; those in several inputs at
the end were written for their class.
"""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from textbook import SCALE, Row, row

__all__ = ["HANDBOOKS"]

PI = float(np.pi)
SYMMETRIC_4 = sg.spec("4, 4", assume=sg.symmetric)
SHARE = sg.spec("", assume=sg.interval(0.05, 0.2))


def _numbers(names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), "")


HANDBOOKS: list[Row] = [
    row(
        "orbit's radius, eccentricity",
        lambda a, e, v: a * (1 - e**2) / (1 + e * np.cos(v)),
        "e",
        lambda a, e, v: (c := np.cos(v), a * (c * (-1 - e**2) - 2 * e) / np.square(1 + e * c))[1],
        **_numbers("a e v"),
    ),
    row(
        "Lindemann falloff, third body",
        lambda k, h, M: k * M / (1 + k * M / h),
        "M",
        lambda k, h, M: k / np.square(1 + k * M / h),
        **_numbers("k h M"),
    ),
    row(
        "Eyring rate, temperature",
        lambda T, H: T * np.exp(-H / (8.314 * T)),
        "T",
        lambda T, H: (u := H / (8.314 * T), np.exp(-u) * (1 + u))[1],
        **_numbers("T H"),
    ),
    row(
        "Gaddum's occupancy, antagonist's constant",
        lambda A, B, K, L: A / (A + K * (1 + B / L)),
        "L",
        lambda A, B, K, L: (m := K * B, A * m / np.square(L * (A + K) + m))[1],
        **_numbers("A B K L"),
    ),
    row(
        "Kingman's wait, load",
        lambda r, a, b, t: r / (1 - r) * (a**2 + b**2) / 2 * t,
        "r",
        lambda r, a, b, t: 0.5 * t * (a**2 + b**2) / np.square(1 - r),
        **_numbers("r a b t"),
    ),
    row(
        "Gompertz-Makeham survival, time",
        lambda t, A, B, g, x: -A * t - B / g * np.exp(g * x) * (np.exp(g * t) - 1),
        "t",
        lambda t, A, B, g, x: -A - B * np.exp(g * (x + t)),
        **_numbers("t A B g x"),
    ),
    row(
        "isometric latitude, latitude",
        lambda e, p: np.arctanh(np.sin(p)) - e * np.arctanh(e * np.sin(p)),
        "p",
        lambda e, p: (k := e**2, (1 - k) / (np.cos(p) * (1 - k * np.square(np.sin(p)))))[1],
        **_numbers("e p"),
    ),
    row(
        "Fresnel at normal incidence, index",
        lambda n, m: ((n - m) / (n + m)) ** 2,
        "n",
        lambda n, m: 4 * m * (n - m) / (n + m) ** 3,
        **_numbers("n m"),
    ),
    row(
        "thick lens, index",
        lambda n, r, q, d: (n - 1) * (1 / r - 1 / q + (n - 1) * d / (n * r * q)),
        "n",
        lambda n, r, q, d: 1 / r - 1 / q + d / (r * q) * (1 - 1 / np.square(n)),
        **_numbers("n r q d"),
    ),
    row(
        "Kimura's distance, transversions",
        lambda P, Q: -0.5 * np.log((1 - 2 * P - Q) * np.sqrt(1 - 2 * Q)),
        "Q",
        lambda P, Q: 0.5 / (1 - 2 * P - Q) + 0.5 / (1 - 2 * Q),
        P=SHARE,
        Q=SHARE,
    ),
    row(
        "Manning's flow in a rectangle, depth",
        lambda y, b, n, S: (A := b * y, P := b + 2 * y, A * (A / P) ** (2 / 3) * np.sqrt(S) / n)[2],
        "y",
        lambda y, b, n, S: (
            A := b * y,
            P := b + 2 * y,
            A * (A / P) ** (2 / 3) * np.sqrt(S) / n * ((5 / 3) / y - (4 / 3) / P),
        )[2],
        **_numbers("y b n S"),
    ),
    row(
        "compute-optimal loss, parameters",
        lambda N, C, E, A, B, a, b: E + A / N**a + B / (C / (6 * N)) ** b,
        "N",
        lambda N, C, E, A, B, a, b: (b * B * (6 * N / C) ** b - a * A / N**a) / N,
        **{**_numbers("N C E A B a b"), "N": SCALE, "C": SCALE},
    ),
    row(
        "cosine schedule, log of signal to noise",
        lambda t: np.log(np.cos(np.pi * t / 2) ** 2 / np.sin(np.pi * t / 2) ** 2),
        "t",
        lambda t: (-2 * PI) / np.sin(PI * t),
        **_numbers("t"),
    ),
    row(
        "unbalanced transport's dual, first potential",
        lambda f, g, C, a, b, e, r: (
            -r * np.sum(a * np.exp(-f / r))
            - e * np.sum(np.exp((f[:, None] + g - C) / e) * a[:, None] * b)
        ),
        "f",
        lambda f, g, C, a, b, e, r: a * (np.exp(-f / r) - np.exp((f[:, None] + g - C) / e) @ b),
        f="5",
        g="4",
        C="5, 4",
        a="5",
        b="4",
        e="",
        r="",
    ),
    row(
        "factor analysis, loadings",
        lambda L, p, S: (
            V := L @ L.T + np.diag(p),
            np.linalg.slogdet(V)[1] + np.trace(S @ np.linalg.inv(V)),
        )[1],
        "L",
        lambda L, p, S: (
            W := np.linalg.inv(L @ L.T + np.diag(p)),
            M := W @ L,
            2 * (M - W @ (S @ M)),
        )[2],
        L="4, 2",
        p="4",
        S=SYMMETRIC_4,
    ),
    row(
        "Joseph form, gain",
        lambda K, H, P, R: (G := np.eye(4) - K @ H, np.trace(G @ P @ G.T + K @ R @ K.T))[1],
        "K",
        lambda K, H, P, R: 2 * (K @ R - (np.eye(4) - K @ H) @ P @ H.T),
        K="4, 3",
        H="3, 4",
        P=SYMMETRIC_4,
        R=sg.spec("3, 3", assume=sg.symmetric),
    ),
    row(
        "manipulability, Jacobian",
        lambda J: np.sqrt(np.linalg.det(J @ J.T)),
        "J",
        lambda J: (A := J @ J.T, np.sqrt(np.linalg.det(A)) * np.linalg.solve(A, J))[1],
        J="3, 5",
    ),
    row(
        "optical flow, one component",
        lambda u, v, p, q, d, a: np.sum((p * u + q * v + d) ** 2) + a * np.sum(np.diff(u) ** 2),
        "u",
        lambda u, v, p, q, d, a: (
            e := np.diff(u),
            2 * (p * (p * u + q * v + d) + a * (snp.pad(e, (1, 0)) - snp.pad(e, (0, 1)))),
        )[1],
        u="6",
        v="6",
        p="6",
        q="6",
        d="6",
        a="",
    ),
    row(
        "moments of instruments, coefficients",
        lambda b, X, y, Z, W: (m := Z.T @ (y - X @ b), m @ W @ m)[1],
        "b",
        lambda b, X, y, Z, W: -X.T @ (Z @ ((W + W.T) @ (Z.T @ (y - X @ b)))),
        b="3",
        X="6, 3",
        y="6",
        Z="6, 4",
        W="4, 4",
    ),
    row(
        "variational Gaussian by a factor, factor",
        lambda L, m, e, y: 0.5 * np.sum((m + L @ e - y) ** 2) - np.sum(np.log(np.diag(L))),
        "L",
        lambda L, m, e, y: np.outer(m + L @ e - y, e) - np.diag(1 / np.diag(L)),
        L="4, 4",
        m="4",
        e="4",
        y="4",
    ),
    row(
        "covariance captured by a direction",
        lambda w, X, y: (w @ X.T @ y) ** 2 / (w @ w),
        "w",
        lambda w, X, y: (c := X.T @ y, k := w @ c / (w @ w), 2 * k * (c - k * w))[2],
        w="3",
        X="6, 3",
        y="6",
    ),
    row(
        "portfolio with market impact",
        lambda w, u, m, S, g, c: w @ m - g / 2 * w @ S @ w - c * np.sum(np.abs(w - u) ** 1.5),
        "w",
        lambda w, u, m, S, g, c: (
            d := w - u,
            m - g * (S @ w) - 1.5 * c * np.sign(d) * np.sqrt(np.abs(d)),
        )[1],
        w="4",
        u="4",
        m="4",
        S=SYMMETRIC_4,
        g="",
        c="",
    ),
    row(
        "credibility, ratio of variances",
        lambda k, n, x, m, y: (z := n / (n + k), np.sum((y - z * x - (1 - z) * m) ** 2))[1],
        "k",
        lambda k, n, x, m, y: (q := n + k, t := n / q * (x - m), 2 * ((y - m - t) / q @ t))[2],
        k="",
        n="5",
        x="5",
        m="",
        y="5",
    ),
    row(
        "contacts between groups, Poisson cases",
        lambda K, b, S, v, N, e, y: (r := b * S / N * (K @ v) + e, np.sum(r - y * np.log(r)))[1],
        "K",
        lambda K, b, S, v, N, e, y: (
            w := b * S / N,
            np.outer(w * (1 - y / (w * (K @ v) + e)), v),
        )[1],
        K="4, 4",
        b="",
        S="4",
        v="4",
        N="4",
        e="",
        y="4",
    ),
    row(
        "two resistors in parallel, both",
        lambda x, y: x * y / (x + y),
        "x y",
        lambda x, y: (s := x + y, (np.square(y / s), np.square(x / s)))[1],
        **_numbers("x y"),
    ),
    row(
        "mean of two values by weights, both weights",
        lambda a, b, x, y: (a * x + b * y) / (a + b),
        "a b",
        lambda a, b, x, y: (
            s := a + b,
            m := (a * x + b * y) / s,
            ((x - m) / s, (y - m) / s),
        )[2],
        **_numbers("a b x y"),
    ),
    row(
        "saturated rate, all three",
        lambda v, s, k: v * s / (k + s),
        "v s k",
        lambda v, s, k: (
            q := k + s,
            w := s / q,
            u := v / q,
            (w, u * k / q, -u * w),
        )[3],
        **_numbers("v s k"),
    ),
    row(
        "cosine of two vectors, both",
        lambda u, v: u @ v / np.sqrt((u @ u) * (v @ v)),
        "u v",
        lambda u, v: (
            d := u @ v,
            a := u @ u,
            b := v @ v,
            n := np.sqrt(a * b),
            ((v - d / a * u) / n, (u - d / b * v) / n),
        )[4],
        u="5",
        v="5",
    ),
]
