"""Cross-entropy and divergence of softmaxes, in many spellings."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.numpy import log_softmax, softmax
from textbook import SIMPLEX, Row, log_sum_exp, plain_softmax, row

__all__ = ["CROSS_ENTROPY"]

ROWS = sg.spec("6, 5", assume=sg.simplex(axis=-1))
NAMED_ROWS = sg.spec("n, 5", assume=sg.simplex(axis=-1))
COLUMNS = sg.spec("6, 5", assume=sg.simplex(axis=0))
LABELS = sg.spec("6", "int64", assume=sg.interval(0, 4))
HOT = sg.spec("5", assume=sg.one_hot(axis=-1))
HOT_ROWS = sg.spec("6, 5", assume=sg.one_hot(axis=-1))

CROSS_ENTROPY: list[Row] = [
    row(
        "cross-entropy, plain",
        lambda z, p: -np.sum(p * np.log(np.exp(z) / np.sum(np.exp(z)))),
        "z",
        lambda z, p: softmax(z) - p,
        z="5",
        p=SIMPLEX,
    ),
    row(
        "cross-entropy, one-hot",
        lambda z, p: -np.sum(p * np.log(plain_softmax(z))),
        "z",
        lambda z, p: softmax(z) - p,
        z="5",
        p=HOT,
    ),
    row(
        "cross-entropy, weights that need not sum to 1",
        lambda z, p: -np.sum(p * np.log(np.exp(z) / np.sum(np.exp(z)))),
        "z",
        lambda z, p: softmax(z) * np.sum(p) - p,
        z="5",
        p="5",
    ),
    row(
        "cross-entropy, log_softmax",
        lambda z, p: -np.sum(p * log_softmax(z)),
        "z",
        lambda z, p: softmax(z) - p,
        z="5",
        p=SIMPLEX,
    ),
    row(
        "cross-entropy, logsumexp",
        lambda z, p: snp.logsumexp(z) - np.sum(p * z),
        "z",
        lambda z, p: softmax(z) - p,
        z="5",
        p=SIMPLEX,
    ),
    row(
        "cross-entropy, in the target",
        lambda z, p: -np.sum(p * np.log(plain_softmax(z))),
        "p",
        lambda z, p: -log_softmax(z),
        z="5",
        p="5",
    ),
    row(
        "cross-entropy, mean over rows",
        lambda z, p: -np.mean(np.sum(p * np.log(plain_softmax(z)), axis=-1)),
        "z",
        lambda z, p: (softmax(z, axis=-1) - p) / z.shape[0],
        z="6, 5",
        p=ROWS,
    ),
    row(
        "cross-entropy, sum over named rows",
        lambda z, p: -np.sum(p * np.log(plain_softmax(z))),
        "z",
        lambda z, p: softmax(z, axis=-1) - p,
        z="n, 5",
        p=NAMED_ROWS,
    ),
    row(
        "cross-entropy, mean over columns",
        lambda z, p: -np.mean(np.sum(p * np.log(plain_softmax(z, 0)), axis=0)),
        "z",
        lambda z, p: (softmax(z, axis=0) - p) / 5,
        z="6, 5",
        p=COLUMNS,
    ),
    row(
        "cross-entropy, maximum taken off",
        lambda z, p: (
            e := np.exp(z - np.max(z, axis=1, keepdims=True)),
            -np.sum(p * np.log(e / np.sum(e, axis=1, keepdims=True))),
        )[1],
        "z",
        lambda z, p: softmax(z, axis=-1) - p,
        z="6, 5",
        p=ROWS,
    ),
    row(
        "cross-entropy, temperature",
        lambda z, p: -np.sum(p * np.log(plain_softmax(z / 2.5))),
        "z",
        lambda z, p: (softmax(z / 2.5) - p) / 2.5,
        z="5",
        p=SIMPLEX,
    ),
    row(
        "cross-entropy, symbolic temperature",
        lambda z, p, t: -np.sum(p * np.log(plain_softmax(z / t))),
        "z",
        lambda z, p, t: (softmax(z / t) - p) / t,
        z="5",
        p=SIMPLEX,
        t=sg.spec("", assume=sg.positive),
    ),
    row(
        "cross-entropy, inverse temperature learned",
        lambda z, p, b: -np.sum(p * np.log(plain_softmax(b * z))),
        "b",
        lambda z, p, b: np.sum(z * (softmax(b * z) - p)),
        z="5",
        p=SIMPLEX,
        b="",
    ),
    row(
        "cross-entropy, smoothed labels",
        lambda z, p: -np.sum((0.9 * p + 0.02) * np.log(plain_softmax(z))),
        "z",
        lambda z, p: softmax(z) - (0.9 * p + 0.02),
        z="5",
        p=SIMPLEX,
    ),
    row(
        "cross-entropy, smoothed by a second loss",
        lambda z, p: (
            -0.9 * np.sum(p * np.log(plain_softmax(z))) - 0.02 * np.sum(np.log(plain_softmax(z)))
        ),
        "z",
        lambda z, p: softmax(z) - (0.9 * p + 0.02),
        z="5",
        p=SIMPLEX,
    ),
    row(
        "cross-entropy, weights of rows",
        lambda z, p, w: -np.sum(w * np.sum(p * np.log(plain_softmax(z)), axis=-1)),
        "z",
        lambda z, p, w: (softmax(z, axis=-1) - p) * w[:, None],
        z="6, 5",
        p=ROWS,
        w="6",
    ),
    row(
        "cross-entropy, weights of classes",
        lambda z, p, w: -np.sum(w * p * np.log(plain_softmax(z))),
        "z",
        lambda z, p, w: softmax(z) * np.sum(v := w * p) - v,
        z="5",
        p=SIMPLEX,
        w="5",
    ),
    row(
        "cross-entropy, padding masked",
        lambda z, p, m: -np.sum(m * np.sum(p * np.log(plain_softmax(z)), axis=-1)) / np.sum(m),
        "z",
        lambda z, p, m: (softmax(z, axis=-1) - p) * (m / np.sum(m))[:, None],
        z="6, 5",
        p=ROWS,
        m="6",
    ),
    row(
        "cross-entropy, integer labels",
        lambda z, y: -np.mean(np.take_along_axis(np.log(plain_softmax(z)), y[:, None], axis=1)),
        "z",
        lambda z, y: (softmax(z, axis=-1) - snp.one_hot(y, 5)) / 6,
        z="6, 5",
        y=LABELS,
    ),
    row(
        "cross-entropy, integer labels by fancy index",
        lambda z, y: -np.sum(log_softmax(z, axis=-1)[np.arange(6), y]),
        "z",
        lambda z, y: softmax(z, axis=-1) - snp.one_hot(y, 5),
        z="6, 5",
        y=LABELS,
    ),
    row(
        "cross-entropy, integer labels by one_hot",
        lambda z, y: -np.sum(snp.one_hot(y, 5) * np.log(plain_softmax(z))),
        "z",
        lambda z, y: softmax(z, axis=-1) - snp.one_hot(y, 5),
        z="6, 5",
        y=LABELS,
    ),
    row(
        "cross-entropy, label 2",
        lambda z: -np.log(plain_softmax(z))[2],
        "z",
        lambda z: softmax(z) - snp.one_hot(2, 5),
        z="5",
    ),
    row(
        "cross-entropy, logits masked by addition",
        lambda z, p, m: -np.sum(p * np.log(plain_softmax(z + m))),
        "z",
        lambda z, p, m: softmax(z + m) - p,
        z="5",
        p=SIMPLEX,
        m="5",
    ),
    row(
        "cross-entropy with entropy bonus",
        lambda z, p: (q := plain_softmax(z), -np.sum(p * np.log(q)) + 0.1 * np.sum(q * np.log(q)))[
            1
        ],
        "z",
        lambda z, p: (q := softmax(z)) * (1 + 0.1 * (z - q @ z)) - p,
        z="5",
        p=SIMPLEX,
    ),
    row(
        "cross-entropy with z-loss",
        lambda z, p: -np.sum(p * np.log(plain_softmax(z))) + 0.5 * log_sum_exp(z) ** 2,
        "z",
        lambda z, p: softmax(z) * (1 + snp.logsumexp(z)) - p,
        z="5",
        p=SIMPLEX,
    ),
    row(
        "distillation",
        lambda z, t: -np.sum(plain_softmax(t) * np.log(plain_softmax(z))),
        "z",
        lambda z, t: softmax(z) - softmax(t),
        z="5",
        t="5",
    ),
    row(
        "distillation at temperature 2",
        lambda z, t: -4 * np.sum(plain_softmax(t / 2) * np.log(plain_softmax(z / 2))),
        "z",
        lambda z, t: 2 * (softmax(z / 2) - softmax(t / 2)),
        z="5",
        t="5",
    ),
    row(
        "distillation and labels",
        lambda z, t, p: (
            -0.5 * np.sum(plain_softmax(t) * np.log(plain_softmax(z)))
            - 0.5 * np.sum(p * np.log(plain_softmax(z)))
        ),
        "z",
        lambda z, t, p: softmax(z) - 0.5 * (softmax(t) + p),
        z="5",
        t="5",
        p=SIMPLEX,
    ),
    row(
        "KL from a target",
        lambda z, p: np.sum(p * (np.log(p) - np.log(plain_softmax(z)))),
        "z",
        lambda z, p: softmax(z) - p,
        z="5",
        p=sg.spec("5", assume=[sg.positive, sg.simplex(axis=-1)]),
    ),
    row(
        "KL between softmaxes, second",
        lambda z, t: np.sum(
            plain_softmax(t) * (np.log(plain_softmax(t)) - np.log(plain_softmax(z)))
        ),
        "z",
        lambda z, t: softmax(z) - softmax(t),
        z="5",
        t="5",
    ),
    row(
        "KL between softmaxes, first",
        lambda z, t: np.sum(
            plain_softmax(t) * (np.log(plain_softmax(t)) - np.log(plain_softmax(z)))
        ),
        "t",
        lambda z, t: (q := softmax(t)) * ((d := t - z) - q @ d),
        z="5",
        t="5",
    ),
    row(
        "policy gradient",
        lambda z, a, r: -np.sum(r * np.sum(a * np.log(plain_softmax(z)), axis=-1)),
        "z",
        lambda z, a, r: r[:, None] * (softmax(z, axis=-1) - a),
        z="6, 5",
        a=HOT_ROWS,
        r="6",
    ),
]
