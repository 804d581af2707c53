"""Losses of margins, pairs and triplets."""

from __future__ import annotations

import numpy as np

import symgraph.numpy as snp
from symgraph.numpy import sigmoid, softmax
from textbook import Row, log_sum_exp, plain_sigmoid, row

__all__ = ["MARGIN_LOSSES"]


MARGINS: list[Row] = [
    row(
        "hinge",
        lambda s, y: np.sum(np.maximum(0, 1 - y * s)),
        "s",
        lambda s, y: np.where(y * s < 1, -y, 0),
        s="5",
        y="5",
    ),
    row(
        "squared hinge",
        lambda s, y: np.sum(np.maximum(0, 1 - y * s) ** 2),
        "s",
        lambda s, y: -2 * y * np.maximum(1 - y * s, 0),
        s="5",
        y="5",
    ),
    row(
        "modified Huber margin",
        lambda m: np.sum(np.where(m > -1, np.maximum(1 - m, 0) ** 2, -4 * m)),
        "m",
        lambda m: np.where(m > -1, -2 * np.maximum(1 - m, 0), -4),
        m="5",
    ),
    row(
        "perceptron",
        lambda s, y: np.sum(np.maximum(0, -y * s)),
        "s",
        lambda s, y: np.where(y * s < 0, -y, 0),
        s="5",
        y="5",
    ),
    row(
        "exponential margin",
        lambda s, y: np.sum(np.exp(-y * s)),
        "s",
        lambda s, y: -(y * np.exp(-(y * s))),
        s="5",
        y="5",
    ),
    row(
        "logistic margin",
        lambda s, y: np.sum(np.log(1 + np.exp(-y * s))),
        "s",
        lambda s, y: -(y * sigmoid(-(y * s))),
        s="5",
        y="5",
    ),
    row(
        "sigmoid margin",
        lambda s, y: np.sum(plain_sigmoid(-y * s)),
        "s",
        lambda s, y: y * (p := sigmoid(-y * s)) * (p - 1),
        s="5",
        y="5",
    ),
    row(
        "savage",
        lambda m: np.sum(plain_sigmoid(-m) ** 2),
        "m",
        lambda m: -2 * np.square(p := sigmoid(-m)) * (1 - p),
        m="5",
    ),
    row(
        "margin of one score over another",
        lambda s, t: np.sum(np.maximum(0, 1 + s - t)),
        "s",
        lambda s, t: np.where(s + 1 > t, 1.0, 0.0),
        s="5",
        t="5",
    ),
    row(
        "margin ranking",
        lambda a, b, y: np.mean(np.maximum(0, -y * (a - b) + 0.2)),
        "a",
        lambda a, b, y: np.where(y * (a - b) < 0.2, -y / 5, 0),
        a="5",
        b="5",
        y="5",
    ),
    row(
        "all pairs ranking",
        lambda s, t: np.sum(np.log(1 + np.exp(s[None, :] - t[:, None]))),
        "s",
        lambda s, t: np.sum(sigmoid(s[None, :] - t[:, None]), axis=0),
        s="5",
        t="6",
    ),
    row(
        "Bradley-Terry",
        lambda a, b: np.sum(np.log(1 + np.exp(b - a))),
        "a",
        lambda a, b: -sigmoid(b - a),
        a="5",
        b="5",
    ),
    row(
        "Bayesian personalised ranking",
        lambda u, i, j: -np.log(plain_sigmoid(u @ i - u @ j)),
        "u",
        lambda u, i, j: (j - i) * sigmoid(u @ (j - i)),
        u="5",
        i="5",
        j="5",
    ),
    row(
        "direct preference optimisation",
        lambda w, u, b: -np.sum(np.log(plain_sigmoid(b * (w - u)))),
        "w",
        lambda w, u, b: -b * sigmoid(b * (u - w)),
        w="5",
        u="5",
        b="",
    ),
]

CONTRASTIVE: list[Row] = [
    row(
        "triplet",
        lambda a, p, n: np.maximum(np.sum((a - p) ** 2) - np.sum((a - n) ** 2) + 1, 0),
        "a",
        lambda a, p, n: np.where((d := a - p) @ d - (e := a - n) @ e > -1, 2 * (n - p), 0),
        a="5",
        p="5",
        n="5",
    ),
    row(
        "triplet, softplus",
        lambda a, p, n: np.log(1 + np.exp(np.sum((a - p) ** 2) - np.sum((a - n) ** 2))),
        "p",
        lambda a, p, n: (
            (r := p - a) * (2 * sigmoid(np.sum(np.square(r)) - np.sum(np.square(a - n))))
        ),
        a="5",
        p="5",
        n="5",
    ),
    row(
        "contrastive with margin",
        lambda d, y: np.sum(y * d**2 + (1 - y) * np.maximum(1 - d, 0) ** 2),
        "d",
        lambda d, y: 2 * (y * d - (1 - y) * np.maximum(1 - d, 0)),
        d="5",
        y="5",
    ),
    row(
        "InfoNCE, one query",
        lambda q, K: -(q @ K[0] - log_sum_exp(K @ q)),
        "q",
        lambda q, K: K.T @ softmax(K @ q) - K[0],
        q="5",
        K="6, 5",
    ),
    row(
        "InfoNCE, one query, keys",
        lambda q, K: -(q @ K[0] - log_sum_exp(K @ q)),
        "K",
        lambda q, K: np.outer(softmax(K @ q) - snp.one_hot(0, 6), q),
        q="5",
        K="6, 5",
    ),
    row(
        "InfoNCE, queries",
        lambda Q, K: (
            -np.mean(np.diagonal(Q @ K.T / 0.1) - np.log(np.sum(np.exp(Q @ K.T / 0.1), axis=1)))
        ),
        "Q",
        lambda Q, K: (softmax(Q @ K.T / 0.1, axis=1) - np.eye(6)) @ K * (1 / (6 * 0.1)),
        Q="6, 3",
        K="6, 3",
    ),
    row(
        "InfoNCE, keys",
        lambda Q, K: -np.mean(np.diagonal(Q @ K.T) - np.log(np.sum(np.exp(Q @ K.T), axis=1))),
        "K",
        lambda Q, K: (softmax(Q @ K.T, axis=1) - np.eye(6)).T @ Q / 6,
        Q="6, 3",
        K="6, 3",
    ),
    row(
        "symmetric InfoNCE of a similarity",
        lambda S: -np.trace(S) + 0.5 * np.sum(log_sum_exp(S, 0)) + 0.5 * np.sum(log_sum_exp(S, 1)),
        "S",
        lambda S: 0.5 * (softmax(S, axis=0) + softmax(S, axis=1)) - np.eye(5),
        S="5, 5",
    ),
    row(
        "sigmoid pairs",
        lambda Q, K, Y: -np.sum(np.log(plain_sigmoid(Y * (Q @ K.T)))),
        "Q",
        lambda Q, K, Y: -(Y * sigmoid(-(Y * (Q @ K.T)))) @ K,
        Q="6, 3",
        K="4, 3",
        Y="6, 4",
    ),
    row(
        "negative sampling",
        lambda v, u, N: -np.log(plain_sigmoid(u @ v)) - np.sum(np.log(plain_sigmoid(-(N @ v)))),
        "v",
        lambda v, u, N: N.T @ sigmoid(N @ v) - u * sigmoid(-(u @ v)),
        v="5",
        u="5",
        N="6, 5",
    ),
    row(
        "cosine embedding",
        lambda x, y: 1 - (x @ y) / (np.sqrt(x @ x) * np.sqrt(y @ y)),
        "x",
        lambda x, y: (x * ((x @ y) / (q := x @ x)) - y) / (np.sqrt(q) * np.sqrt(y @ y)),
        x="5",
        y="5",
    ),
    row(
        "alignment and uniformity",
        lambda x, y: np.sum((x - y) ** 2) + log_sum_exp(-2 * (x - y) ** 2),
        "x",
        lambda x, y: 2 * (r := x - y) * (1 - 2 * softmax(-2 * np.square(r))),
        x="5",
        y="5",
    ),
]

MARGIN_LOSSES = [*MARGINS, *CONTRASTIVE]
