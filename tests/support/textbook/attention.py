"""Attention in all its operands, masked, causal, batched, linear."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgraph.numpy import softmax
from textbook import Row, plain_softmax, row

__all__ = ["ATTENTION"]

CAUSAL = np.tril(np.ones((4, 4))) > 0
QKV = {"Q": "6, 3", "K": "4, 3", "V": "4, 2", "G": "6, 2"}
BATCHED = {"Q": "2, 6, 3", "K": "2, 4, 3", "V": "2, 4, 2", "G": "2, 6, 2"}


def softmax_back(p: Any, d: Any) -> Any:
    return p * (d - np.sum(p * d, axis=-1, keepdims=True))


ATTENTION: list[Row] = [
    row(
        "attention, values",
        lambda Q, K, V, G: np.sum(G * (plain_softmax(Q @ K.T) @ V)),
        "V",
        lambda Q, K, V, G: softmax(Q @ K.T, axis=-1).T @ G,
        **QKV,
    ),
    row(
        "attention, scores",
        lambda S, V, G: np.sum(G * (plain_softmax(S) @ V)),
        "S",
        lambda S, V, G: softmax_back(softmax(S, axis=-1), G @ V.T),
        S="6, 4",
        V="4, 2",
        G="6, 2",
    ),
    row(
        "attention, queries",
        lambda Q, K, V, G: np.sum(G * (plain_softmax(Q @ K.T / 2.0) @ V)),
        "Q",
        lambda Q, K, V, G: softmax_back(softmax(Q @ K.T / 2.0, axis=-1), G @ V.T) @ (K / 2),
        **QKV,
    ),
    row(
        "attention, keys",
        lambda Q, K, V, G: np.sum(G * (plain_softmax(Q @ K.T / 2.0) @ V)),
        "K",
        lambda Q, K, V, G: softmax_back(softmax(Q @ K.T / 2.0, axis=-1), G @ V.T).T @ (Q / 2),
        **QKV,
    ),
    row(
        "masked attention, values",
        lambda Q, K, V, G, B: np.sum(G * (plain_softmax(Q @ K.T + B) @ V)),
        "V",
        lambda Q, K, V, G, B: softmax(Q @ K.T + B, axis=-1).T @ G,
        **QKV,
        B="6, 4",
    ),
    row(
        "masked attention, queries",
        lambda Q, K, V, G, B: np.sum(G * (plain_softmax(Q @ K.T / 2.0 + B) @ V)),
        "Q",
        lambda Q, K, V, G, B: softmax_back(softmax(Q @ K.T / 2.0 + B, axis=-1), G @ V.T) @ (K / 2),
        **QKV,
        B="6, 4",
    ),
    row(
        "masked attention, keys",
        lambda Q, K, V, G, B: np.sum(G * (plain_softmax(Q @ K.T / 2.0 + B) @ V)),
        "K",
        lambda Q, K, V, G, B: (
            softmax_back(softmax(Q @ K.T / 2.0 + B, axis=-1), G @ V.T).T @ (Q / 2)
        ),
        **QKV,
        B="6, 4",
    ),
    row(
        "masked attention, bias",
        lambda Q, K, V, G, B: np.sum(G * (plain_softmax(Q @ K.T + B) @ V)),
        "B",
        lambda Q, K, V, G, B: softmax_back(softmax(Q @ K.T + B, axis=-1), G @ V.T),
        **QKV,
        B="6, 4",
    ),
    row(
        "attention masked by where, queries",
        lambda Q, K, V, G, M: np.sum(G * (plain_softmax(np.where(M > 0, Q @ K.T, -1e9)) @ V)),
        "Q",
        lambda Q, K, V, G, M: (
            np.where(
                m := M > 0,
                softmax_back(softmax(np.where(m, Q @ K.T, -1e9), axis=-1), G @ V.T),
                0,
            )
            @ K
        ),
        **QKV,
        M="6, 4",
    ),
    row(
        "causal attention, queries",
        lambda Q, K, V, G: np.sum(G * (plain_softmax(np.where(CAUSAL, Q @ K.T, -1e9)) @ V)),
        "Q",
        lambda Q, K, V, G: (
            np.where(
                CAUSAL,
                softmax_back(softmax(np.where(CAUSAL, Q @ K.T, -1e9), axis=-1), G @ V.T),
                0,
            )
            @ K
        ),
        Q="4, 3",
        K="4, 3",
        V="4, 2",
        G="4, 2",
    ),
    row(
        "batched attention, values",
        lambda Q, K, V, G: np.sum(G * (plain_softmax(Q @ np.swapaxes(K, 1, 2)) @ V)),
        "V",
        lambda Q, K, V, G: np.swapaxes(softmax(Q @ np.swapaxes(K, 1, 2), axis=-1), 1, 2) @ G,
        **BATCHED,
    ),
    row(
        "batched attention, queries",
        lambda Q, K, V, G: np.sum(G * (plain_softmax(Q @ np.swapaxes(K, 1, 2)) @ V)),
        "Q",
        lambda Q, K, V, G: (
            softmax_back(softmax(Q @ np.swapaxes(K, 1, 2), axis=-1), G @ np.swapaxes(V, 1, 2)) @ K
        ),
        **BATCHED,
    ),
    row(
        "self-attention, value weights",
        lambda X, A, W, G: np.sum(G * (plain_softmax(X @ A @ X.T) @ (X @ W))),
        "W",
        lambda X, A, W, G: X.T @ (softmax(X @ A @ X.T, axis=-1).T @ G),
        X="6, 5",
        A="5, 5",
        W="5, 3",
        G="6, 3",
    ),
    row(
        "self-attention, bilinear weights",
        lambda X, A, V, G: np.sum(G * (plain_softmax(X @ A @ X.T) @ V)),
        "A",
        lambda X, A, V, G: X.T @ (softmax_back(softmax(X @ A @ X.T, axis=-1), G @ V.T) @ X),
        X="6, 5",
        A="5, 5",
        V="6, 3",
        G="6, 3",
    ),
    row(
        "one query, keys",
        lambda q, K, V, g: g @ (plain_softmax(K @ q) @ V),
        "K",
        lambda q, K, V, g: np.outer((p := softmax(K @ q)) * ((u := V @ g) - p @ u), q),
        q="3",
        K="4, 3",
        V="4, 2",
        g="2",
    ),
    row(
        "one query, query",
        lambda q, K, V, g: g @ (plain_softmax(K @ q) @ V),
        "q",
        lambda q, K, V, g: K.T @ ((p := softmax(K @ q)) * ((u := V @ g) - p @ u)),
        q="3",
        K="4, 3",
        V="4, 2",
        g="2",
    ),
    row(
        "linear attention, values",
        lambda Q, K, V, G: np.sum(G * (Q @ (K.T @ V))),
        "V",
        lambda Q, K, V, G: K @ (Q.T @ G),
        **QKV,
    ),
    row(
        "linear attention, queries",
        lambda Q, K, V, G: np.sum(G * (Q @ (K.T @ V))),
        "Q",
        lambda Q, K, V, G: G @ (V.T @ K),
        **QKV,
    ),
]
