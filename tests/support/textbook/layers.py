"""Layers: linear, convolution as a product, embedding; networks of two layers."""

from __future__ import annotations

from typing import Any

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.numpy import sigmoid, softmax
from textbook import Row, plain_sigmoid, plain_softmax, row

__all__ = ["LAYERS"]

LINEAR_SPECS = {"X": "n, 5", "V": "5, 3", "G": "n, 3"}
NET = {"X": "6, 5", "W": "5, 4", "V": "4, 2", "Y": "6, 2"}
IDS = sg.spec("6", "int64", assume=sg.interval(0, 3))


def conv_row(x: Any, w: Any) -> Any:
    """The correlation of seven numbers with three: windows times a kernel."""
    return np.stack([x[i : i + 3] for i in range(5)]) @ w


LINEAR: list[Row] = [
    row(
        "linear layer, weights",
        lambda X, V, G: np.sum((X @ V) * G),
        "V",
        lambda X, V, G: X.T @ G,
        **LINEAR_SPECS,
    ),
    row(
        "linear layer, input",
        lambda X, V, G: np.sum((X @ V) * G),
        "X",
        lambda X, V, G: G @ V.T,
        **LINEAR_SPECS,
    ),
    row(
        "linear layer, bias",
        lambda X, V, b, G: np.sum((X @ V + b) * G),
        "b",
        lambda X, V, b, G: np.sum(G, axis=0),
        **LINEAR_SPECS,
        b="3",
    ),
    row(
        "linear layer, squared, bias",
        lambda X, b: 0.5 * np.sum((X + b) ** 2),
        "b",
        lambda X, b: np.sum(X + b, axis=0),
        X="n, 5",
        b="5",
    ),
    row(
        "linear layer by einsum, weights",
        lambda X, V, G: np.einsum("ni,ij,nj->", X, V, G),
        "V",
        lambda X, V, G: X.T @ G,
        **LINEAR_SPECS,
    ),
    row(
        "linear layer on sequences, weights",
        lambda X, V, G: np.sum((X @ V) * G),
        "V",
        lambda X, V, G: np.einsum("bti,btj->ij", X, G),
        X="2, 6, 5",
        V="5, 3",
        G="2, 6, 3",
    ),
    row(
        "linear layer on sequences, input",
        lambda X, V, G: np.sum((X @ V) * G),
        "X",
        lambda X, V, G: G @ V.T,
        X="2, 6, 5",
        V="5, 3",
        G="2, 6, 3",
    ),
    row(
        "bilinear layer",
        lambda x, W, y: np.tanh(x @ W @ y),
        "W",
        lambda x, W, y: np.outer(x, y * (1 - np.square(np.tanh(x @ W @ y)))),
        x="5",
        W="5, 4",
        y="4",
    ),
    row(
        "low-rank adapter, down",
        lambda X, W, A, B, G: np.sum((X @ W + X @ A @ B) * G),
        "A",
        lambda X, W, A, B, G: X.T @ (G @ B.T),
        X="6, 5",
        W="5, 3",
        A="5, 2",
        B="2, 3",
        G="6, 3",
    ),
    row(
        "low-rank adapter, up",
        lambda X, W, A, B, G: np.sum((X @ W + X @ A @ B) * G),
        "B",
        lambda X, W, A, B, G: (X @ A).T @ G,
        X="6, 5",
        W="5, 3",
        A="5, 2",
        B="2, 3",
        G="6, 3",
    ),
    row(
        "weight norm, direction",
        lambda X, v, s, g: g @ (X @ (s * v / np.sqrt(v @ v))),
        "v",
        lambda X, v, s, g: (lambda u, n, h: (u - h * (u @ h)) * (s / n))(
            g @ X, n := np.sqrt(v @ v), v / n
        ),
        X="6, 5",
        v="5",
        s="",
        g="6",
    ),
    row(
        "weight norm, scale",
        lambda X, v, s, g: g @ (X @ (s * v / np.sqrt(v @ v))),
        "s",
        lambda X, v, s, g: (g @ (X @ v)) / np.sqrt(v @ v),
        X="6, 5",
        v="5",
        s="",
        g="6",
    ),
    row(
        "scale and shift, scale",
        lambda X, a, b, G: np.sum(G * (a * X + b)),
        "a",
        lambda X, a, b, G: np.sum(G * X, axis=0),
        X="6, 5",
        a="5",
        b="5",
        G="6, 5",
    ),
    row(
        "dropout by mask",
        lambda X, M, G: np.sum(G * (X * M / 0.8)),
        "X",
        lambda X, M, G: G * M / 0.8,
        X="6, 5",
        M="6, 5",
        G="6, 5",
    ),
    row(
        "embedding, table",
        lambda E, i, G: np.sum(E[i] * G),
        "E",
        lambda E, i, G: snp.scatter_add(snp.zeros((4, 5)), G, i),
        E="4, 5",
        i=IDS,
        G="6, 5",
    ),
    row(
        "embedding by one-hot, table",
        lambda E, H, G: np.sum((H @ E) * G),
        "E",
        lambda E, H, G: H.T @ G,
        E="4, 5",
        H="6, 4",
        G="6, 5",
    ),
    row(
        "mean pooling",
        lambda X, g: np.sum(g * np.mean(X, axis=0)),
        "X",
        lambda X, g: np.broadcast_to(g / 6, (6, 5)),
        X="6, 5",
        g="5",
    ),
    row(
        "attention pooling, scores",
        lambda X, a, g: np.sum(g * (plain_softmax(a) @ X)),
        "a",
        lambda X, a, g: (q := softmax(a)) * ((u := X @ g) - q @ u),
        X="6, 5",
        a="6",
        g="5",
    ),
    row(
        "convolution, kernel",
        lambda x, w, g: g @ conv_row(x, w),
        "w",
        lambda x, w, g: np.stack([x[i : i + 3] for i in range(5)]).T @ g,
        x="7",
        w="3",
        g="5",
    ),
    row(
        "convolution, squared error, kernel",
        lambda x, w, y: 0.5 * np.sum((conv_row(x, w) - y) ** 2),
        "w",
        lambda x, w, y: (P := np.stack([x[i : i + 3] for i in range(5)])).T @ (P @ w - y),
        x="7",
        w="3",
        y="5",
    ),
    row(
        "convolution by one tap at a time, kernel",
        lambda x, w, g: np.sum(g * (w[0] * x[:5] + w[1] * x[1:6] + w[2] * x[2:])),
        "w",
        lambda x, w, g: np.stack([g @ x[:5], g @ x[1:6], g @ x[2:]]),
        x="7",
        w="3",
        g="5",
    ),
    row(
        "patches times kernel, batch",
        lambda P, W, G: np.sum(G * np.einsum("bpk,kc->bpc", P, W)),
        "P",
        lambda P, W, G: G @ W.T,
        P="2, 6, 5",
        W="5, 3",
        G="2, 6, 3",
    ),
]

NETWORKS: list[Row] = [
    row(
        "tanh network, first weights",
        lambda X, W, V, Y: 0.5 * np.sum((np.tanh(X @ W) @ V - Y) ** 2),
        "W",
        lambda X, W, V, Y: X.T @ ((((H := np.tanh(X @ W)) @ V - Y) @ V.T) * (1 - np.square(H))),
        **NET,
    ),
    row(
        "tanh network, second weights",
        lambda X, W, V, Y: 0.5 * np.sum((np.tanh(X @ W) @ V - Y) ** 2),
        "V",
        lambda X, W, V, Y: (H := np.tanh(X @ W)).T @ (H @ V - Y),
        **NET,
    ),
    row(
        "relu network, first weights",
        lambda X, W, V, Y: 0.5 * np.sum((np.maximum(X @ W, 0) @ V - Y) ** 2),
        "W",
        lambda X, W, V, Y: X.T @ np.where((Z := X @ W) > 0, (np.maximum(Z, 0) @ V - Y) @ V.T, 0),
        **NET,
    ),
    row(
        "relu network, second weights",
        lambda X, W, V, Y: 0.5 * np.sum((np.maximum(X @ W, 0) @ V - Y) ** 2),
        "V",
        lambda X, W, V, Y: (H := np.maximum(X @ W, 0)).T @ (H @ V - Y),
        **NET,
    ),
    row(
        "softplus network, first weights",
        lambda X, W, v: np.sum(np.log(1 + np.exp(X @ W)) @ v),
        "W",
        lambda X, W, v: X.T @ (sigmoid(X @ W) * v),
        X="6, 5",
        W="5, 4",
        v="4",
    ),
    row(
        "sigmoid network with softmax, first weights",
        lambda X, W, V, P: (
            -np.mean(np.sum(P * np.log(plain_softmax(plain_sigmoid(X @ W) @ V)), axis=-1))
        ),
        "W",
        lambda X, W, V, P: (
            X.T @ ((softmax((H := sigmoid(X @ W)) @ V, axis=-1) - P) / 6 @ V.T * (H * (1 - H)))
        ),
        X="6, 5",
        W="5, 4",
        V="4, 2",
        P=sg.spec("6, 2", assume=sg.simplex(axis=-1)),
    ),
    row(
        "tanh network with softmax, second weights",
        lambda X, W, V, P: -np.sum(P * np.log(plain_softmax(np.tanh(X @ W) @ V))),
        "V",
        lambda X, W, V, P: (H := np.tanh(X @ W)).T @ (softmax(H @ V, axis=-1) - P),
        X="6, 5",
        W="5, 4",
        V="4, 2",
        P=sg.spec("6, 2", assume=sg.simplex(axis=-1)),
    ),
    row(
        "relu network with sigmoid, first weights",
        lambda X, W, v, y: np.sum(
            np.log(1 + np.exp(np.maximum(X @ W, 0) @ v)) - y * (np.maximum(X @ W, 0) @ v)
        ),
        "W",
        lambda X, W, v, y: (
            X.T @ np.where((Z := X @ W) > 0, np.outer(sigmoid(np.maximum(Z, 0) @ v) - y, v), 0)
        ),
        X="6, 5",
        W="5, 4",
        v="4",
        y="6",
    ),
    row(
        "radial basis network, output weights",
        lambda D, w, y: 0.5 * np.sum((np.exp(-D) @ w - y) ** 2),
        "w",
        lambda D, w, y: (K := np.exp(-D)).T @ (K @ w - y),
        D="6, 5",
        w="5",
        y="6",
    ),
    row(
        "deep linear network, middle",
        lambda A, B, C, x, y: 0.5 * np.sum((A @ (B @ (C @ x)) - y) ** 2),
        "B",
        lambda A, B, C, x, y: np.outer(A.T @ (A @ (B @ (c := C @ x)) - y), c),
        A="4, 5",
        B="5, 5",
        C="5, 3",
        x="3",
        y="4",
    ),
    row(
        "Hopfield energy",
        lambda x, W, b: -0.5 * (x @ W @ x) - b @ x,
        "x",
        lambda x, W, b: -(W @ x) - b,
        x="5",
        W=sg.spec("5, 5", assume=sg.symmetric),
        b="5",
    ),
    row(
        "restricted Boltzmann machine, visible",
        lambda v, W, b, c: -(b @ v) - np.sum(np.log(1 + np.exp(W @ v + c))),
        "v",
        lambda v, W, b, c: -b - W.T @ sigmoid(W @ v + c),
        v="5",
        W="4, 5",
        b="5",
        c="4",
    ),
    row(
        "modern Hopfield energy",
        lambda x, M: 0.5 * (x @ x) - np.log(np.sum(np.exp(M @ x))),
        "x",
        lambda x, M: x - M.T @ softmax(M @ x),
        x="5",
        M="6, 5",
    ),
    row(
        "denoising score matching",
        lambda x, e, W: 0.5 * np.sum((W @ (x + 0.5 * e) + e / 0.5) ** 2),
        "W",
        lambda x, e, W: np.outer(W @ (u := x + 0.5 * e) + 2 * e, u),
        x="5",
        e="5",
        W="5, 5",
    ),
]

LAYERS = [*LINEAR, *NETWORKS]
