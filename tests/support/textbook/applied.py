"""Layers, information, transport, kernels."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.numpy import sigmoid, softmax
from textbook import POSITIVE, SCALE, SYMMETRIC, Row, log_sum_exp, plain_sigmoid, plain_softmax, row

__all__ = ["APPLIED"]

IDS = sg.spec("6", "int64", assume=sg.interval(0, 3))
TABLE = sg.spec("6, 5", assume=sg.positive)
HEADS = {"Q": "2, 6, 3", "K": "2, 4, 3", "V": "2, 4, 2", "G": "2, 6, 2"}

OF_LAYERS: list[Row] = [
    row(
        "RMS norm by a power",
        lambda x, g: np.sum(g * x * np.mean(x * x, axis=-1, keepdims=True) ** -0.5),
        "x",
        lambda x, g: (
            (
                g
                - (h := x * (r := np.mean(np.square(x), axis=-1, keepdims=True) ** -0.5))
                * np.mean(g * h, axis=-1, keepdims=True)
            )
            * r
        ),
        x="6, 5",
        g="6, 5",
    ),
    row(
        "relu gated linear unit, gate's weights",
        lambda B, A, X, G: np.sum(G * ((X @ A) * np.maximum(X @ B, 0))),
        "B",
        lambda B, A, X, G: X.T @ np.where(X @ B > 0, G * (X @ A), 0),
        B="5, 3",
        A="5, 3",
        X="6, 5",
        G="6, 3",
    ),
    row(
        "squeeze and excite",
        lambda X, G: np.sum(G * (X * plain_sigmoid(np.mean(X, axis=0, keepdims=True)))),
        "X",
        lambda X, G: (s := sigmoid(np.mean(X, axis=0))) * (G + (1 - s) * np.sum(G * X, axis=0) / 6),
        X="6, 5",
        G="6, 5",
    ),
    row(
        "attention by einsum over heads, values",
        lambda Q, K, V, G: np.einsum(
            "hqk,hkd,hqd->", plain_softmax(np.einsum("hqd,hkd->hqk", Q, K)), V, G
        ),
        "V",
        lambda Q, K, V, G: np.swapaxes(softmax(Q @ np.swapaxes(K, 1, 2), axis=-1), 1, 2) @ G,
        **HEADS,
    ),
    row(
        "attention with one key for all heads, values",
        lambda Q, K, V, G: np.sum(G * (plain_softmax(Q @ K.T) @ V)),
        "V",
        lambda Q, K, V, G: np.einsum("hqk,hqd->kd", softmax(Q @ K.T, axis=-1), G),
        Q="2, 6, 3",
        K="4, 3",
        V="4, 2",
        G="2, 6, 2",
    ),
    row(
        "energy of attention to itself",
        lambda X: 0.5 * np.sum(X**2) - np.sum(log_sum_exp(X @ X.T, 1)),
        "X",
        lambda X: X - ((P := softmax(X @ X.T, axis=1)) + P.T) @ X,
        X="6, 3",
    ),
    row(
        "bag of words, table",
        lambda E, i, g: g @ np.mean(E[i], axis=0),
        "E",
        lambda E, i, g: snp.scatter_add(snp.zeros((4, 5)), np.broadcast_to(g / 6, (6, 5)), i),
        E="4, 5",
        i=IDS,
        g="5",
    ),
    row(
        "rotary position",
        lambda x, t, g: np.sum(
            g
            * np.concatenate(
                [
                    x[:3] * np.cos(t) - x[3:] * np.sin(t),
                    x[:3] * np.sin(t) + x[3:] * np.cos(t),
                ]
            )
        ),
        "x",
        lambda x, t, g: np.concatenate(
            [
                g[:3] * (c := np.cos(t)) + g[3:] * (s := np.sin(t)),
                g[3:] * c - g[:3] * s,
            ]
        ),
        x="6",
        t="3",
        g="6",
    ),
    row(
        "dropout of relus",
        lambda x, m, g: np.sum(g * (np.maximum(x, 0) * m / 0.8)),
        "x",
        lambda x, m, g: np.where(x > 0, g * m / 0.8, 0),
        x="6, 5",
        m="6, 5",
        g="6, 5",
    ),
    row(
        "LSTM hidden state, forget gate",
        lambda f, c, o, u, g: np.sum(g * plain_sigmoid(o) * np.tanh(plain_sigmoid(f) * c + u)),
        "f",
        lambda f, c, o, u, g: (
            g
            * sigmoid(o)
            * (1 - np.square(np.tanh((d := (s := sigmoid(f)) * c) + u)))
            * d
            * (1 - s)
        ),
        f="5",
        c="5",
        o="5",
        u="5",
        g="5",
    ),
    row(
        "relaxed categorical, logits",
        lambda z, u, t, g: g @ plain_softmax((z + u) / t),
        "z",
        lambda z, u, t, g: (q := softmax((z + u) / t)) * (g - q @ g) / t,
        z="5",
        u="5",
        t=SCALE,
        g="5",
    ),
]

INFORMATION: list[Row] = [
    row(
        "mutual information of a table",
        lambda P: np.sum(
            P * np.log(P / (np.sum(P, axis=1, keepdims=True) * np.sum(P, axis=0, keepdims=True)))
        ),
        "P",
        lambda P: np.log(P / (np.sum(P, axis=1)[:, None] * np.sum(P, axis=0))) - 1,
        P=TABLE,
    ),
    row(
        "conditional entropy of a table",
        lambda P: -np.sum(P * np.log(P / np.sum(P, axis=1, keepdims=True))),
        "P",
        lambda P: np.log(np.sum(P, axis=1, keepdims=True) / P),
        P=TABLE,
    ),
    row(
        "Renyi entropy of any order",
        lambda p, a: np.log(np.sum(p**a)) / (1 - a),
        "p",
        lambda p, a: (q := p**a) / p * (a / ((1 - a) * np.sum(q))),
        p=POSITIVE,
        a=SCALE,
    ),
    row(
        "Tsallis entropy of any order",
        lambda p, q: (1 - np.sum(p**q)) / (q - 1),
        "p",
        lambda p, q: p ** (u := q - 1) * (-1 - 1 / u),
        p=POSITIVE,
        q=SCALE,
    ),
    row(
        "KL between sigmoids, first",
        lambda a, b: (
            p := plain_sigmoid(a),
            q := plain_sigmoid(b),
            np.sum(p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))),
        )[2],
        "a",
        lambda a, b: (a - b) * (p := sigmoid(a)) * (1 - p),
        a="5",
        b="5",
    ),
    row(
        "binary entropy of a sigmoid",
        lambda z: (
            p := plain_sigmoid(z),
            -np.sum(p * np.log(p) + (1 - p) * np.log(1 - p)),
        )[1],
        "z",
        lambda z: z * (p := sigmoid(z)) * (p - 1),
        z="5",
    ),
    row(
        "Sinkhorn's dual, both potentials",
        lambda f, g, C, a, b: (
            a @ f + b @ g - 0.5 * np.sum(np.exp((f[:, None] + g[None, :] - C) / 0.5))
        ),
        "f g",
        lambda f, g, C, a, b: (
            a - np.sum(P := np.exp((f[:, None] + g - C) / 0.5), axis=1),
            b - np.sum(P, axis=0),
        ),
        f="6",
        g="5",
        C="6, 5",
        a="6",
        b="5",
    ),
    row(
        "entropic transport, plan",
        lambda P, C: np.sum(P * C) + 0.1 * np.sum(P * (np.log(P) - 1)),
        "P",
        lambda P, C: C + 0.1 * np.log(P),
        P=TABLE,
        C="6, 5",
    ),
    row(
        "transport on the line",
        lambda x, y: 0.5 * np.sum((np.sort(x) - y) ** 2),
        "x",
        lambda x, y: x - y[np.argsort(np.argsort(x))],
        x="5",
        y="5",
    ),
    row(
        "energy of a Gaussian Gram matrix",
        lambda X, A: (
            0.5 * np.sum(A * np.exp(-0.5 * np.sum((X[:, None, :] - X[None, :, :]) ** 2, axis=2)))
        ),
        "X",
        lambda X, A: (
            W := A * np.exp(-0.5 * np.sum(np.square(X[:, None] - X), axis=2)),
            W @ X - X * np.sum(W, axis=1)[:, None],
        )[1],
        X="5, 3",
        A=SYMMETRIC,
    ),
    row(
        "periodic kernel",
        lambda r: np.sum(np.exp(-2 * np.sin(r / 2) ** 2)),
        "r",
        lambda r: np.sin(r) * np.exp(np.cos(r)) * -np.exp(-1),
        r="5",
    ),
    row(
        "Laplacian kernel",
        lambda x, a: np.exp(-np.sum(np.abs(x - a))),
        "x",
        lambda x, a: np.sign(d := a - x) * np.exp(-np.sum(np.abs(d))),
        x="5",
        a="5",
    ),
    row(
        "Matern 5/2 kernel",
        lambda r: np.sum((1 + 5**0.5 * r + 5 * r**2 / 3) * np.exp(-(5**0.5) * r)),
        "r",
        lambda r: (u := -(5**0.5) * r) * (1 - u) * np.exp(u) * (5**0.5 / 3),
        r=POSITIVE,
    ),
    row(
        "Hoyer's sparsity",
        lambda x: np.sum(np.abs(x)) ** 2 / np.sum(x**2),
        "x",
        lambda x: (np.sign(x) - (r := np.sum(np.abs(x)) / (x @ x)) * x) * (2 * r),
        x="5",
    ),
]

APPLIED = [*OF_LAYERS, *INFORMATION]
