"""Gradients written blind a fourth time: layers."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.numpy import sigmoid, softmax
from textbook import SCALE, Row, plain_sigmoid, row

ONE_HOT = sg.spec("5", assume=sg.one_hot(axis=-1))
norm = np.linalg.norm


MODULES: list[Row] = [
    row(
        "unit rows before a linear layer",
        lambda X, W, G: np.sum(G * (X / np.sqrt(np.sum(X**2, axis=1, keepdims=True)) @ W)),
        "X",
        lambda X, W, G: (
            (
                (H := G @ W.T)
                - (u := X / (n := norm(X, axis=1, keepdims=True)))
                * np.sum(H * u, axis=1, keepdims=True)
            )
            / n
        ),
        X="6,4",
        W="4,3",
        G="6,3",
    ),
    row(
        "attention with a sink, scores",
        lambda S, V, G: np.sum(
            G * ((np.exp(S) / (1 + np.sum(np.exp(S), axis=-1, keepdims=True))) @ V)
        ),
        "S",
        lambda S, V, G: (
            np.exp(S - snp.softplus(snp.logsumexp(S, axis=-1, keepdims=True)))
            * (
                (H := G @ V.T)
                - np.sum(
                    np.exp(S - snp.softplus(snp.logsumexp(S, axis=-1, keepdims=True))) * H,
                    axis=-1,
                    keepdims=True,
                )
            )
        ),
        S="6,5",
        V="5,3",
        G="6,3",
    ),
    row(
        "attention by sigmoids, queries",
        lambda Q, K, V, G: np.sum(G * ((1 / (1 + np.exp(-Q @ K.T))) @ V)),
        "Q",
        lambda Q, K, V, G: ((A := sigmoid(Q @ K.T)) * (1 - A) * (G @ V.T)) @ K,
        Q="6,4",
        K="5,4",
        V="5,3",
        G="6,3",
    ),
    row(
        "bilinear gate, input",
        lambda X, A, B, G: np.sum(G * ((X @ A) * (X @ B))),
        "X",
        lambda X, A, B, G: (G * (X @ B)) @ A.T + (G * (X @ A)) @ B.T,
        X="6,4",
        A="4,3",
        B="4,3",
        G="6,3",
    ),
    row(
        "SwiGLU, both weights",
        lambda A, B, X, G: np.sum(G * (X @ A) / (1 + np.exp(-(X @ A))) * (X @ B)),
        "A B",
        lambda A, B, X, G: (
            X.T @ (G * (X @ B) * (s := sigmoid(h := X @ A)) * (1 + h * (1 - s))),
            X.T @ (G * h * s),
        ),
        A="4,3",
        B="4,3",
        X="6,4",
        G="6,3",
    ),
    row(
        "GRU state, all three",
        lambda h, z, c, g: np.sum(g * ((1 - plain_sigmoid(z)) * h + plain_sigmoid(z) * np.tanh(c))),
        "h z c",
        lambda h, z, c, g: (
            u := g * (1 - (s := sigmoid(z))),
            u * s * ((t := np.tanh(c)) - h),
            g * s * (1 - t**2),
        ),
        h="5",
        z="5",
        c="5",
        g="5",
    ),
    row(
        "gated residual by a number",
        lambda a, W, x, y: 0.5 * np.sum((x + a * np.tanh(W @ x) - y) ** 2),
        "a",
        lambda a, W, x, y: (x + a * (t := np.tanh(W @ x)) - y) @ t,
        a="",
        W="4,4",
        x="4",
        y="4",
    ),
    row(
        "concatenated features, weights",
        lambda W, X, G: np.sum(G * np.tanh(np.concatenate([X, X @ W], axis=1))),
        "W",
        lambda W, X, G: X.T @ (G[:, 4:] * (1 - np.tanh(X @ W) ** 2)),
        W="4,3",
        X="6,4",
        G="6,7",
    ),
    row(
        "bag of words predicts a word, output table",
        lambda U, C, y: np.log(np.sum(np.exp(U @ np.mean(C, axis=0)))) - y @ U @ np.mean(C, axis=0),
        "U",
        lambda U, C, y: np.outer(softmax(U @ (h := np.mean(C, axis=0))) - y, h),
        U="5,4",
        C="3,4",
        y=ONE_HOT,
    ),
    row(
        "soft maximum pooling",
        lambda X, g, r: np.sum(g * np.log(np.mean(np.exp(r * X), axis=0)) / r),
        "X",
        lambda X, g, r: g * softmax(r * X, axis=0),
        X="6,4",
        g="4",
        r=SCALE,
    ),
    row(
        "feature-wise modulation, both",
        lambda a, b, H, G: np.sum(G * np.tanh((1 + a) * H + b)),
        "a b",
        lambda a, b, H, G: (
            np.sum((q := G * (1 - np.tanh((1 + a) * H + b) ** 2)) * H, axis=0),
            np.sum(q, axis=0),
        ),
        a="4",
        b="4",
        H="6,4",
        G="6,4",
    ),
    row(
        "spectral normalisation, vectors held",
        lambda W, u, v, G: np.sum(G * (W / (u @ W @ v))),
        "W",
        lambda W, u, v, G: (G - np.sum(G * W) / (s := u @ W @ v) * np.outer(u, v)) / s,
        W="5,4",
        u="5",
        v="4",
        G="5,4",
    ),
]
