"""Softmax, log-sum-exp, entropy, in many spellings."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.numpy import softmax
from textbook import SIMPLEX, Row, log_sum_exp, plain_softmax, row

__all__ = ["SOFTMAX"]

SOFTMAX: list[Row] = [
    row("log-sum-exp", lambda z: log_sum_exp(z), "z", lambda z: softmax(z), z="5"),
    row("log-mean-exp", lambda z: np.log(np.mean(np.exp(z))), "z", lambda z: softmax(z), z="5"),
    row(
        "log-sum-exp at low temperature",
        lambda z: 0.1 * log_sum_exp(z / 0.1),
        "z",
        lambda z: softmax(z / 0.1),
        z="5",
    ),
    row("softmin", lambda z: -log_sum_exp(-z), "z", lambda z: softmax(-z), z="5"),
    row(
        "log-sum-exp, half its square",
        lambda z: 0.5 * log_sum_exp(z) ** 2,
        "z",
        lambda z: softmax(z) * snp.logsumexp(z),
        z="5",
    ),
    row(
        "log-sum-exp of columns, weighted",
        lambda z, w: np.sum(w * log_sum_exp(z, 0)),
        "z",
        lambda z, w: w * softmax(z, axis=0),
        z="6, 5",
        w="5",
    ),
    row(
        "log-sum-exp with log weights",
        lambda z, a: np.log(np.sum(a * np.exp(z))),
        "z",
        lambda z, a: softmax(z + np.log(a)),
        z="5",
        a=sg.spec("5", assume=sg.positive),
    ),
    row(
        "soft maximum as a mean",
        lambda z: np.sum(z * plain_softmax(z)),
        "z",
        lambda z: (q := softmax(z)) * (1 + z - np.sum(q * z)),
        z="5",
    ),
    row(
        "softmax, weighted",
        lambda z, g: np.sum(g * plain_softmax(z)),
        "z",
        lambda z, g: (q := softmax(z)) * (g - np.sum(g * q)),
        z="5",
        g="5",
    ),
    row(
        "softmax of rows, weighted",
        lambda z, g: np.sum(g * plain_softmax(z)),
        "z",
        lambda z, g: (q := softmax(z, axis=-1)) * (g - np.sum(g * q, axis=-1, keepdims=True)),
        z="6, 5",
        g="6, 5",
    ),
    row(
        "log softmax, weighted",
        lambda z, g: np.sum(g * np.log(plain_softmax(z))),
        "z",
        lambda z, g: g - softmax(z) * np.sum(g),
        z="5",
        g="5",
    ),
    row(
        "softmax, squared error",
        lambda z, y: 0.5 * np.sum((plain_softmax(z) - y) ** 2),
        "z",
        lambda z, y: (q := softmax(z)) * ((r := q - y) - np.sum(q * r)),
        z="5",
        y="5",
    ),
    row(
        "softmax, sum of squares",
        lambda z: np.sum(plain_softmax(z) ** 2),
        "z",
        lambda z: 2 * (q := softmax(z)) * (q - np.sum(np.square(q))),
        z="5",
    ),
    row(
        "softmax, one probability",
        lambda z: plain_softmax(z)[0],
        "z",
        lambda z: (q := softmax(z)) * (snp.one_hot(0, 5) - q[0]),
        z="5",
    ),
    row(
        "entropy of a softmax",
        lambda z: (q := plain_softmax(z), -np.sum(q * np.log(q)))[1],
        "z",
        lambda z: (q := softmax(z)) * (q @ z - z),
        z="5",
    ),
    row(
        "entropy of softmax rows, mean",
        lambda z: (q := plain_softmax(z), -np.mean(np.sum(q * np.log(q), axis=-1)))[1],
        "z",
        lambda z: (q := softmax(z, axis=-1)) * (np.sum(q * z, axis=-1, keepdims=True) - z) / 6,
        z="6, 5",
    ),
    row(
        "spherical softmax",
        lambda z, p: -np.sum(p * np.log(z**2 / np.sum(z**2))),
        "z",
        lambda z, p: 2 * (z / np.sum(np.square(z)) - p / z),
        z=sg.spec("5", assume=sg.nonzero),
        p=SIMPLEX,
    ),
    row(
        "Plackett-Luce",
        lambda z: -(z[0] - log_sum_exp(z)) - (z[1] - log_sum_exp(z[1:])),
        "z",
        lambda z: (
            softmax(z) - snp.one_hot(0, 5) + np.pad(softmax(z[1:]) - snp.one_hot(0, 4), (1, 0))
        ),
        z="5",
    ),
]
