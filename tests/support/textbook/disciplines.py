"""Gradients of a dozen more fields, one or two for each class of identities found there.

Point processes, attention, robotics, circuits, mortality, ratings: of 140 such gradients, written
with the books' forms before any was tried, 121 were as short at first.
"""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.numpy import sigmoid, softmax
from textbook import POSITIVE, PROBABILITY, SCALE, Row, log_sum_exp, plain_sigmoid, row

SPD4 = sg.spec("4, 4", assume=sg.positive_definite)

# -- a square is a factor twice --------------------------------------------------------------------
SQUARES: list[Row] = [
    row(
        "transistor in saturation, gate and drain",
        lambda g, t, k, c, d: np.sum(k / 2 * (g - t) ** 2 * (1 + c * d)),
        "g d",
        lambda g, t, k, c, d: ((q := k * (u := g - t)) * (1 + c * d), q * u * c / 2),
        g="5",
        t=SCALE,
        k=SCALE,
        c=SCALE,
        d="5",
    ),
    row(
        "energy of rotation, masses, radii and rates",
        lambda m, r, w: np.sum(m * r**2 * w**2) / 2,
        "m r w",
        lambda m, r, w: ((v := r * w) ** 2 / 2, (p := m * v) * w, p * r),
        m=POSITIVE,
        r=POSITIVE,
        w="5",
    ),
]

# -- a numerator that divides its denominator ------------------------------------------------------
ANGLES: list[Row] = [
    row(
        "angle between two slopes",
        lambda x, y: np.sum(np.arctan((x - y) / (1 + x * y))),
        "x",
        lambda x, y: 1 / (1 + x**2),
        x=POSITIVE,
        y=POSITIVE,
    ),
    row(
        "double angle by its tangent",
        lambda x: np.sum(np.arctan(2 * x / (1 - x**2))),
        "x",
        lambda x: 2 / (1 + x**2),
        x=PROBABILITY,
    ),
]

# -- the larger one of two sigmoids ----------------------------------------------------------------
SIGMOIDS: list[Row] = [
    row(
        "logistic distribution of pixels, location",
        lambda m, x, s: (
            -np.sum(np.log(plain_sigmoid((x + 0.5 - m) / s) - plain_sigmoid((x - 0.5 - m) / s)))
        ),
        "m",
        lambda m, x, s: (1 - sigmoid((x + 0.5 - m) / s) - sigmoid((x - 0.5 - m) / s)) / s,
        m="5",
        x="5",
        s=SCALE,
    ),
    row(
        "ideal point of a moderate, position",
        lambda t, a: -np.sum(np.log(plain_sigmoid(t + a) - plain_sigmoid(t - a))),
        "t",
        lambda t, a: sigmoid(t - a) - sigmoid(-t - a),
        t="5",
        a=POSITIVE,
    ),
]

# -- as short as the book at once ------------------------------------------------------------------
OTHERS: list[Row] = [
    row(
        "aftershocks after Omori, all three",
        lambda K, c, p, t: -np.sum(np.log(K * (t + c) ** -p)),
        "K c p",
        lambda K, c, p, t: (-5 / K, p * np.sum(1 / (s := t + c)), np.sum(np.log(s))),
        K=SCALE,
        c=SCALE,
        p=SCALE,
        t=POSITIVE,
    ),
    row(
        "log-Gaussian Cox process, field",
        lambda z, K, n, a: a * np.sum(np.exp(z)) - n @ z + z @ np.linalg.solve(K, z) / 2,
        "z",
        lambda z, K, n, a: a * np.exp(z) - n + np.linalg.inv(K) @ z,
        z="4",
        K=SPD4,
        n="4",
        a=SCALE,
    ),
    row(
        "divergence of Dirichlets, first",
        lambda a, b: (
            snp.gammaln(np.sum(a))
            - np.sum(snp.gammaln(a))
            + np.sum((a - b) * (snp.digamma(a) - snp.digamma(np.sum(a))))
        ),
        "a",
        lambda a, b: (d := a - b) * snp.polygamma(1, a) - np.sum(d) * snp.polygamma(1, np.sum(a)),
        a=POSITIVE,
        b=POSITIVE,
    ),
    row(
        "scale of the logits of two towers",
        lambda t, S: np.mean(log_sum_exp(np.exp(t) * S, axis=1) - np.exp(t) * np.diag(S)),
        "t",
        lambda t, S: (
            (b := np.exp(t)) * np.mean(np.sum(softmax(b * S, axis=1) * S, axis=1) - np.diag(S))
        ),
        t="",
        S="4, 4",
    ),
    row(
        "mortality after Lee and Carter, both effects",
        lambda b, k, a, D, E: np.sum(E * np.exp(a[:, None] + np.outer(b, k)) - D * np.outer(b, k)),
        "b k",
        lambda b, k, a, D, E: (
            (R := E * np.exp(a[:, None] + np.outer(b, k)) - D) @ k,
            b @ R,
        ),
        b="4",
        k="5",
        a="4",
        D="4, 5",
        E="4, 5",
    ),
    row(
        "heading of a unicycle",
        lambda h, v, t, x, y: (
            np.sum((v * t * np.cos(h) - x) ** 2 + (v * t * np.sin(h) - y) ** 2) / 2
        ),
        "h",
        lambda h, v, t, x, y: v * t * (x * np.sin(h) - y * np.cos(h)),
        h="5",
        v="5",
        t=SCALE,
        x="5",
        y="5",
    ),
]

# -- longer than the book --------------------------------------------------------------------------
LONGER: list[Row] = [
    row(
        "loaded divider, both resistors",
        lambda a, b, L, V: np.sum(V * b * L / (a * b + a * L + b * L)),
        "a b",
        lambda a, b, L, V: (
            -(q := b * L) * (s := b + L) * (k := V / (a * s + q) ** 2),
            a * L**2 * k,
        ),
        a=POSITIVE,
        b=POSITIVE,
        L=SCALE,
        V=SCALE,
    ),
    row(
        "uptake after Sips, pressure",
        lambda p, q, b, n: np.sum(q * (b * p) ** n / (1 + (b * p) ** n)),
        "p",
        lambda p, q, b, n: q * n * (u := (b * p) ** n) / (p * (1 + u) ** 2),
        p=POSITIVE,
        q=SCALE,
        b=SCALE,
        n=SCALE,
    ),
    row(
        "triplet of cosines, anchor",
        lambda a, p, n: np.log(
            1 + np.exp((a @ n) / np.sqrt((a @ a) * (n @ n)) - (a @ p) / np.sqrt((a @ a) * (p @ p)))
        ),
        "a",
        lambda a, p, n: (
            sigmoid(
                (w := n / np.sqrt(n @ n) - p / np.sqrt(p @ p)) @ (u := a / (r := np.sqrt(a @ a)))
            )
            / r
            * (w - (w @ u) * u)
        ),
        a="4",
        p="4",
        n="4",
    ),
]

DISCIPLINES: list[Row] = [*SQUARES, *ANGLES, *SIGMOIDS, *OTHERS, *LONGER]
