"""Classifiers, adversaries and views in unusual spellings: naive, broadcast, by einsum, masked."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.numpy import log_softmax, sigmoid, softmax
from textbook import POSITIVE, PROBABILITY, SIMPLEX, Row, plain_sigmoid, plain_softmax, row

__all__ = ["SPELLINGS"]

ROWS = sg.spec("6, 5", assume=sg.simplex(axis=-1))
LABELS = sg.spec("6", "int64", assume=sg.interval(0, 4))
HOT = sg.spec("5", assume=sg.one_hot(axis=-1))

CLASSES: list[Row] = [
    row(
        "cross-entropy, mean by einsum",
        lambda z, p: -np.einsum("ij,ij->", p, np.log(plain_softmax(z))) / 6,
        "z",
        lambda z, p: (softmax(z, axis=-1) - p) / 6,
        z="6, 5",
        p=ROWS,
    ),
    row(
        "cross-entropy, rows masked by where",
        lambda z, p, m: -np.sum(np.where(m > 0, np.sum(p * np.log(plain_softmax(z)), axis=1), 0)),
        "z",
        lambda z, p, m: np.where(m[:, None] > 0, softmax(z, axis=-1) - p, 0),
        z="6, 5",
        p=ROWS,
        m="6",
    ),
    row(
        "cross-entropy, integer labels, weights of classes",
        lambda z, y, w: -np.sum(w[y] * log_softmax(z, axis=-1)[np.arange(6), y]),
        "z",
        lambda z, y, w: (softmax(z, axis=-1) - snp.one_hot(y, 5)) * w[y][:, None],
        z="6, 5",
        y=LABELS,
        w="5",
    ),
    row(
        "cross-entropy, integer labels, weighted mean",
        lambda z, y, w: -np.sum(w[y] * log_softmax(z, axis=-1)[np.arange(6), y]) / np.sum(w[y]),
        "z",
        lambda z, y, w: (
            (softmax(z, axis=-1) - snp.one_hot(y, 5)) * ((v := w[y]) / np.sum(v))[:, None]
        ),
        z="6, 5",
        y=LABELS,
        w=POSITIVE,
    ),
    row(
        "cross-entropy, integer labels, smoothed",
        lambda z, y: (
            q := np.log(plain_softmax(z)),
            -np.sum(0.9 * q[np.arange(6), y] + 0.02 * np.sum(q, axis=1)),
        )[1],
        "z",
        lambda z, y: softmax(z, axis=-1) - 0.9 * snp.one_hot(y, 5) - 0.02,
        z="6, 5",
        y=LABELS,
    ),
    row(
        "softmax regression by tensordot",
        lambda W, X, p: -np.sum(p * np.log(plain_softmax(np.tensordot(X, W, 1)))),
        "W",
        lambda W, X, p: X.T @ (softmax(X @ W, axis=-1) - p),
        W="3, 5",
        X="6, 3",
        p=ROWS,
    ),
    row(
        "softmax regression by broadcasting",
        lambda W, X, p: (
            -np.sum(p * np.log(plain_softmax(np.sum(X[:, :, None] * W[None, :, :], axis=1))))
        ),
        "W",
        lambda W, X, p: X.T @ (softmax(X @ W, axis=-1) - p),
        W="3, 5",
        X="6, 3",
        p=ROWS,
    ),
    row(
        "cross-entropy of energies",
        lambda e, p: -np.sum(p * np.log(np.exp(-e) / np.sum(np.exp(-e)))),
        "e",
        lambda e, p: p - softmax(-e),
        e="5",
        p=SIMPLEX,
    ),
    row(
        "cross-entropy with additive margin",
        lambda z, p: -np.sum(p * np.log(plain_softmax(z - 0.35 * p))),
        "z",
        lambda z, p: softmax(z - 0.35 * p) - p,
        z="5",
        p=HOT,
    ),
    row(
        "angular margin",
        lambda c, g: np.sum(g * np.cos(np.arccos(c) + 0.5)),
        "c",
        lambda c, g: g * (np.cos(0.5) + np.sin(0.5) * c / np.sqrt(1 - np.square(c))),
        c=PROBABILITY,
        g="5",
    ),
    row(
        "one negative more than zero, N-pair",
        lambda n: np.log(1 + np.sum(np.exp(n))),
        "n",
        lambda n: softmax(np.append(n, 0.0))[:5],
        n="5",
    ),
    row(
        "circle loss of scores",
        lambda a, b: np.log(1 + np.sum(np.exp(a)) * np.sum(np.exp(b))),
        "a",
        lambda a, b: np.exp(a - (s := snp.logsumexp(a))) * sigmoid(s + snp.logsumexp(b)),
        a="5",
        b="5",
    ),
    row(
        "logistic regression, -1 and 1, by tanh",
        lambda s, y: -np.sum(np.log(0.5 * (1 + np.tanh(0.5 * y * s)))),
        "s",
        lambda s, y: y / (-1 - np.exp(y * s)),
        s="5",
        y="5",
    ),
    row(
        "softmax of two, one of them zero",
        lambda z, y: (
            -np.sum(y * np.log(np.exp(z) / (np.exp(z) + 1)) + (1 - y) * np.log(1 / (np.exp(z) + 1)))
        ),
        "z",
        lambda z, y: sigmoid(z) - y,
        z="5",
        y="5",
    ),
    row(
        "focal, negatives",
        lambda z: -np.sum(plain_sigmoid(z) ** 2 * np.log(1 - plain_sigmoid(z))),
        "z",
        lambda z: np.square(p := sigmoid(z)) * (p + 2 * (1 - p) * snp.softplus(z)),
        z="5",
    ),
    row(
        "logistic elastic net",
        lambda X, w, y: (
            np.sum(np.log(1 + np.exp(X @ w)) - y * (X @ w))
            + 0.1 * np.sum(np.abs(w))
            + 0.1 * np.sum(w**2)
        ),
        "w",
        lambda X, w, y: X.T @ (sigmoid(X @ w) - y) + 0.1 * np.sign(w) + 0.2 * w,
        X="6, 5",
        w="5",
        y="6",
    ),
    row(
        "least squares by einsum",
        lambda w, X, y: 0.5 * np.sum((np.einsum("ij,j->i", X, w) - y) ** 2),
        "w",
        lambda w, X, y: X.T @ (X @ w - y),
        w="5",
        X="6, 5",
        y="6",
    ),
    row(
        "least squares by broadcasting",
        lambda w, X, y: 0.5 * np.mean((np.sum(X * w, axis=1) - y) ** 2),
        "w",
        lambda w, X, y: X.T @ (X @ w - y) / 6,
        w="5",
        X="6, 5",
        y="6",
    ),
]

ADVERSARIAL: list[Row] = [
    row(
        "GAN discriminator, both",
        lambda a, b: -np.sum(np.log(plain_sigmoid(a))) - np.sum(np.log(1 - plain_sigmoid(b))),
        "a b",
        lambda a, b: (-1 / (1 + np.exp(a)), sigmoid(b)),
        a="5",
        b="6",
    ),
    row(
        "gradient penalty of a linear critic",
        lambda w: (np.sqrt(np.sum(w**2)) - 1) ** 2,
        "w",
        lambda w: w * (2 - 2 / np.sqrt(w @ w)),
        w="5",
    ),
    row(
        "diffusion, noise from a linear map",
        lambda W, X, E, a, s: (
            0.5 * np.mean(np.sum((E - (a[:, None] * X + s[:, None] * E) @ W) ** 2, axis=1))
        ),
        "W",
        lambda W, X, E, a, s: (U := a[:, None] * X + s[:, None] * E).T @ (U @ W - E) / 6,
        W="5, 5",
        X="6, 5",
        E="6, 5",
        a="6",
        s="6",
    ),
    row(
        "score matching of a Gaussian, precision",
        lambda P, X: 0.5 * np.mean(np.sum((X @ P) ** 2, axis=1)) - np.trace(P),
        "P",
        lambda P, X: X.T @ (X @ P) / 6 - np.eye(5),
        P="5, 5",
        X="6, 5",
    ),
    row(
        "Donsker-Varadhan bound",
        lambda t, u: np.log(np.mean(np.exp(u))) - np.mean(t),
        "t u",
        lambda t, u: (-0.2, softmax(u)),
        t="5",
        u="5",
    ),
    row(
        "redundancy reduction of two views",
        lambda A, B: 0.5 * np.sum((A.T @ B / 6 - np.eye(3)) ** 2),
        "A",
        lambda A, B: B @ (A.T @ B / 6 - np.eye(3)).T / 6,
        A="6, 3",
        B="6, 3",
    ),
    row(
        "variance hinge of columns",
        lambda X: np.sum(np.maximum(0, 1 - np.sqrt(np.var(X, axis=0) + 1e-4))),
        "X",
        lambda X: (
            c := X - np.mean(X, axis=0),
            s := np.sqrt(np.mean(np.square(c), axis=0) + 1e-4),
            np.where(s < 1, c / (-6 * s), 0),
        )[2],
        X="6, 5",
    ),
]

SPELLINGS = [*CLASSES, *ADVERSARIAL]
