"""More rows: normalisation layers, attention, networks, regressions, matrix forms, likelihoods."""

from __future__ import annotations

from typing import Any

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from textbook import Row
from textbook.rows import SIMPLEX, lse, naive_sigmoid, naive_softmax, row, sigmoid

__all__ = ["LAYERS"]

V5 = sg.spec("5")
N5 = sg.spec("6, 5")
M5 = sg.spec("n, 5")
G5 = sg.spec("6, 5")
POS5 = sg.spec("5", assume=sg.positive)


def layer_norm(x: Any) -> Any:
    xc = x - np.mean(x, axis=-1, keepdims=True)
    var = np.mean(xc**2, axis=-1, keepdims=True)
    return xc / np.sqrt(var + 1e-5)


def layer_norm_closed(x: Any, g: Any) -> Any:
    xc = x - np.mean(x, axis=-1, keepdims=True)
    s = np.sqrt(np.mean(np.square(xc), axis=-1, keepdims=True) + 1e-5)
    h = xc / s
    return (g - np.mean(g, axis=-1, keepdims=True) - h * np.mean(g * h, axis=-1, keepdims=True)) / s


def batch_norm(x: Any) -> Any:
    xc = x - np.mean(x, axis=0)
    var = np.mean(xc**2, axis=0)
    return xc / np.sqrt(var + 1e-5)


def batch_norm_closed(x: Any, g: Any) -> Any:
    xc = x - np.mean(x, axis=0)
    s = np.sqrt(np.mean(np.square(xc), axis=0) + 1e-5)
    h = xc / s
    return (g - np.mean(g, axis=0) - h * np.mean(g * h, axis=0)) / s


def rms_norm(x: Any) -> Any:
    return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-5)


def rms_norm_closed(x: Any, g: Any) -> Any:
    r = np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True) + 1e-5)
    h = x / r
    return (g - h * np.mean(g * h, axis=-1, keepdims=True)) / r


LAYERS: list[Row] = [
    row(
        "layer norm, input",
        lambda x, g: np.sum(g * layer_norm(x)),
        "x",
        layer_norm_closed,
        x=N5,
        g=G5,
    ),
    row(
        "batch norm, input",
        lambda x, g: np.sum(g * batch_norm(x)),
        "x",
        batch_norm_closed,
        x=N5,
        g=G5,
    ),
    row("rms norm, input", lambda x, g: np.sum(g * rms_norm(x)), "x", rms_norm_closed, x=N5, g=G5),
    row("rms norm, named", lambda x, g: np.sum(g * rms_norm(x)), "x", rms_norm_closed, x=M5, g=M5),
    row(
        "layer norm, named",
        lambda x, g: np.sum(g * layer_norm(x)),
        "x",
        layer_norm_closed,
        x=M5,
        g=M5,
    ),
    row(
        "layer norm, gain",
        lambda x, a, g: np.sum(g * (a * layer_norm(x))),
        "a",
        lambda x, a, g: np.sum(g * layer_norm(x), axis=0),
        x=N5,
        a=V5,
        g=G5,
    ),
    row(
        "attention, values",
        lambda Q, K, V, G: np.sum(G * (naive_softmax(Q @ K.T) @ V)),
        "V",
        lambda Q, K, V, G: snp.softmax(Q @ K.T, axis=-1).T @ G,
        Q=sg.spec("6, 3"),
        K=sg.spec("4, 3"),
        V=sg.spec("4, 2"),
        G=sg.spec("6, 2"),
    ),
    row(
        "attention, scores",
        lambda S, V, G: np.sum(G * (naive_softmax(S) @ V)),
        "S",
        lambda S, V, G: (
            snp.softmax(S, axis=-1)
            * (G @ V.T - np.sum(snp.softmax(S, axis=-1) * (G @ V.T), axis=-1, keepdims=True))
        ),
        S=sg.spec("6, 4"),
        V=sg.spec("4, 2"),
        G=sg.spec("6, 2"),
    ),
    row(
        "attention, queries",
        lambda Q, K, V, G: np.sum(G * (naive_softmax(Q @ K.T / 2.0) @ V)),
        "Q",
        lambda Q, K, V, G: (
            lambda P, D: (P * (D - np.sum(P * D, axis=-1, keepdims=True))) @ (K / 2)
        )(snp.softmax(Q @ K.T / 2.0, axis=-1), G @ V.T),
        Q=sg.spec("6, 3"),
        K=sg.spec("4, 3"),
        V=sg.spec("4, 2"),
        G=sg.spec("6, 2"),
    ),
    row(
        "softmax vjp",
        lambda z, g: np.sum(g * naive_softmax(z)),
        "z",
        lambda z, g: snp.softmax(z) * (g - np.sum(g * snp.softmax(z))),
        z=V5,
        g=V5,
    ),
    row(
        "log softmax vjp",
        lambda z, g: np.sum(g * np.log(naive_softmax(z))),
        "z",
        lambda z, g: g - snp.softmax(z) * np.sum(g),
        z=V5,
        g=V5,
    ),
    row(
        "MLP tanh, first weights",
        lambda X, W1, W2, Y: 0.5 * np.sum((np.tanh(X @ W1) @ W2 - Y) ** 2),
        "W1",
        lambda X, W1, W2, Y: (lambda H: X.T @ (((H @ W2 - Y) @ W2.T) * (1 - np.square(H))))(
            np.tanh(X @ W1)
        ),
        X=N5,
        W1=sg.spec("5, 4"),
        W2=sg.spec("4, 2"),
        Y=sg.spec("6, 2"),
    ),
    row(
        "MLP tanh, second weights",
        lambda X, W1, W2, Y: 0.5 * np.sum((np.tanh(X @ W1) @ W2 - Y) ** 2),
        "W2",
        lambda X, W1, W2, Y: (lambda H: H.T @ (H @ W2 - Y))(np.tanh(X @ W1)),
        X=N5,
        W1=sg.spec("5, 4"),
        W2=sg.spec("4, 2"),
        Y=sg.spec("6, 2"),
    ),
    row(
        "MLP sigmoid, softmax, first weights",
        lambda X, W1, W2, P: (
            -np.mean(np.sum(P * np.log(naive_softmax(naive_sigmoid(X @ W1) @ W2)), axis=-1))
        ),
        "W1",
        lambda X, W1, W2, P: (
            lambda H: X.T @ (((snp.softmax(H @ W2, axis=-1) - P) / 6 @ W2.T) * (H * (1 - H)))
        )(sigmoid(X @ W1)),
        X=N5,
        W1=sg.spec("5, 4"),
        W2=sg.spec("4, 2"),
        P=sg.spec("6, 2", assume=SIMPLEX),
    ),
    row(
        "weighted least squares",
        lambda X, w, y, s: 0.5 * np.sum(s * (X @ w - y) ** 2),
        "w",
        lambda X, w, y, s: X.T @ (s * (X @ w - y)),
        X=N5,
        w=V5,
        y=sg.spec("6"),
        s=sg.spec("6"),
    ),
    row(
        "mean least squares",
        lambda X, w, y: np.mean((X @ w - y) ** 2),
        "w",
        lambda X, w, y: X.T @ (X @ w - y) * (1 / 3),
        X=N5,
        w=V5,
        y=sg.spec("6"),
    ),
    row(
        "mean ls, half",
        lambda X, w, y: 0.5 * np.mean((X @ w - y) ** 2),
        "w",
        lambda X, w, y: X.T @ (X @ w - y) / 6,
        X=N5,
        w=V5,
        y=sg.spec("6"),
    ),
    row(
        "multi-output least squares",
        lambda X, W, Y: 0.5 * np.sum((X @ W - Y) ** 2),
        "W",
        lambda X, W, Y: X.T @ (X @ W - Y),
        X=N5,
        W=sg.spec("5, 3"),
        Y=sg.spec("6, 3"),
    ),
    row(
        "ridge with lambda",
        lambda X, w, y: 0.5 * np.sum((X @ w - y) ** 2) + 0.05 * np.sum(w**2),
        "w",
        lambda X, w, y: X.T @ (X @ w - y) + 0.1 * w,
        X=N5,
        w=V5,
        y=sg.spec("6"),
    ),
    row(
        "ridge symbolic lambda",
        lambda X, w, y, lam: 0.5 * np.sum((X @ w - y) ** 2) + 0.5 * lam * np.sum(w**2),
        "w",
        lambda X, w, y, lam: X.T @ (X @ w - y) + lam * w,
        X=N5,
        w=V5,
        y=sg.spec("6"),
        lam=sg.spec(""),
    ),
    row(
        "logistic regression mean",
        lambda X, w, y: (
            -np.mean(y * np.log(naive_sigmoid(X @ w)) + (1 - y) * np.log(1 - naive_sigmoid(X @ w)))
        ),
        "w",
        lambda X, w, y: X.T @ (sigmoid(X @ w) - y) / 6,
        X=N5,
        w=V5,
        y=sg.spec("6"),
    ),
    row(
        "logistic regression, softplus",
        lambda X, w, y: np.sum(np.log(1 + np.exp(X @ w)) - y * (X @ w)),
        "w",
        lambda X, w, y: X.T @ (sigmoid(X @ w) - y),
        X=N5,
        w=V5,
        y=sg.spec("6"),
    ),
    row(
        "logistic with l2",
        lambda X, w, y: np.sum(np.log(1 + np.exp(X @ w)) - y * (X @ w)) + 0.5 * np.sum(w * w),
        "w",
        lambda X, w, y: X.T @ (sigmoid(X @ w) - y) + w,
        X=N5,
        w=V5,
        y=sg.spec("6"),
    ),
    row(
        "BCE pos weight",
        lambda z, y, a: (
            -np.sum(a * y * np.log(naive_sigmoid(z)) + (1 - y) * np.log(1 - naive_sigmoid(z)))
        ),
        "z",
        lambda z, y, a: sigmoid(z) * (1 - y) - y * a * sigmoid(-z),
        z=V5,
        y=V5,
        a=sg.spec(""),
    ),
    row(
        "silu",
        lambda x: np.sum(x * naive_sigmoid(x)),
        "x",
        lambda x: (lambda s: s + x * s * (1 - s))(sigmoid(x)),
        x=V5,
    ),
    row(
        "sigmoid sum",
        lambda x: np.sum(naive_sigmoid(x)),
        "x",
        lambda x: (lambda s: s * (1 - s))(sigmoid(x)),
        x=V5,
    ),
    row(
        "gaussian likelihood full",
        lambda x, m, s: np.sum(0.5 * ((x - m) / s) ** 2 + np.log(s)),
        "m",
        lambda x, m, s: (np.sum(m - x)) / np.square(s),
        x=V5,
        m=sg.spec(""),
        s=sg.spec("", assume=sg.positive),
    ),
    row(
        "gaussian sigma",
        lambda x, m, s: np.sum(0.5 * ((x - m) / s) ** 2 + np.log(s)),
        "s",
        lambda x, m, s: (5 - np.sum(np.square((x - m) / s))) / s,
        x=V5,
        m=sg.spec(""),
        s=sg.spec("", assume=sg.positive),
    ),
    row(
        "gaussian vector sigma",
        lambda x, m, s: np.sum(0.5 * ((x - m) / s) ** 2 + np.log(s)),
        "s",
        lambda x, m, s: (1 - np.square((x - m) / s)) / s,
        x=V5,
        m=V5,
        s=POS5,
    ),
    row(
        "normalise vector",
        lambda x, g: g @ (x / np.sqrt(np.sum(x**2))),
        "x",
        lambda x, g: (lambda n, h: (g - h * (g @ h)) / n)(np.sqrt(x @ x), x / np.sqrt(x @ x)),
        x=V5,
        g=V5,
    ),
    row(
        "squared distance matrix mult",
        lambda A, B: 0.5 * np.sum((A @ B - B @ A) ** 2),
        "A",
        lambda A, B: (lambda C: C @ B.T - B.T @ C)(A @ B - B @ A),
        A=sg.spec("4, 4"),
        B=sg.spec("4, 4"),
    ),
    row(
        "PCA trace",
        lambda W, C: np.trace(W.T @ C @ W),
        "W",
        lambda W, C: 2 * (C @ W),
        W=sg.spec("5, 2"),
        C=sg.spec("5, 5", assume=sg.symmetric),
    ),
    row(
        "PCA reconstruction",
        lambda X, W: 0.5 * np.sum((X - X @ W @ W.T) ** 2),
        "W",
        lambda X, W: (lambda E: -(X.T @ (E @ W) + E.T @ (X @ W)))(X - X @ W @ W.T),
        X=N5,
        W=sg.spec("5, 2"),
    ),
    row(
        "trace ABC in B",
        lambda A, B, C: np.trace(A @ B @ C),
        "B",
        lambda A, B, C: (C @ A).T,
        A=sg.spec("4, 4"),
        B=sg.spec("4, 4"),
        C=sg.spec("4, 4"),
    ),
    row(
        "trace X'AXB",
        lambda X, A, B: np.trace(X.T @ A @ X @ B),
        "X",
        lambda X, A, B: A @ X @ B + A.T @ X @ B.T,
        X=sg.spec("4, 3"),
        A=sg.spec("4, 4"),
        B=sg.spec("3, 3"),
    ),
    row(
        "frobenius norm",
        lambda A: np.sqrt(np.sum(A**2)),
        "A",
        lambda A: A / np.sqrt(np.sum(A * A)),
        A=N5,
    ),
    row(
        "a'Xb",
        lambda X, a, b: a @ X @ b,
        "X",
        lambda X, a, b: np.outer(a, b),
        X=N5,
        a=sg.spec("6"),
        b=V5,
    ),
    row(
        "a'X'Xb",
        lambda X, a, b: a @ (X.T @ (X @ b)),
        "X",
        lambda X, a, b: np.outer(X @ a, b) + np.outer(X @ b, a),
        X=N5,
        a=V5,
        b=V5,
    ),
    row(
        "a'X'Xa",
        lambda X, a: a @ (X.T @ (X @ a)),
        "X",
        lambda X, a: np.outer(2 * (X @ a), a),
        X=N5,
        a=V5,
    ),
    row(
        "(Xb+c)'D(Xb+c) in b",
        lambda X, b, c, D: (X @ b + c) @ D @ (X @ b + c),
        "b",
        lambda X, b, c, D: X.T @ ((D + D.T) @ (X @ b + c)),
        X=N5,
        b=V5,
        c=sg.spec("6"),
        D=sg.spec("6, 6"),
    ),
    row(
        "variance",
        lambda x: np.mean((x - np.mean(x)) ** 2),
        "x",
        lambda x: (x - np.mean(x)) * (2 / 5),
        x=V5,
    ),
    row(
        "std",
        lambda x: np.sqrt(np.mean((x - np.mean(x)) ** 2)),
        "x",
        lambda x: (lambda c: c / (5 * np.sqrt(np.mean(c * c))))(x - np.mean(x)),
        x=V5,
    ),
    row(
        "x/(1+x^2) sum",
        lambda x: np.sum(np.log(1 + x**2)),
        "x",
        lambda x: 2 * x / (1 + np.square(x)),
        x=V5,
    ),
    row("rational", lambda x: np.sum(x / (1 + x)), "x", lambda x: 1 / np.square(1 + x), x=POS5),
    row(
        "polynomial",
        lambda x: np.sum(x**4 - 2 * x**2),
        "x",
        lambda x: 4 * x * (np.square(x) - 1),
        x=V5,
    ),
    row(
        "exp quadratic form",
        lambda x, A: np.exp(-0.5 * (x @ A @ x)),
        "x",
        lambda x, A: (lambda v: v * -np.exp(-0.5 * (x @ v)))(A @ x),
        x=V5,
        A=sg.spec("5, 5", assume=sg.symmetric),
    ),
    row(
        "RBF kernel",
        lambda x, y: np.exp(-np.sum((x - y) ** 2)),
        "x",
        lambda x, y: (y - x) * (2 * np.exp(-np.sum(np.square(x - y)))),
        x=V5,
        y=V5,
    ),
    row(
        "cauchy loss",
        lambda r: np.sum(np.log(1 + r**2 / 4.0)),
        "r",
        lambda r: 2 * r / (4 + np.square(r)),
        r=V5,
    ),
    row(
        "pseudo huber",
        lambda r: np.sum(np.sqrt(1 + r**2) - 1),
        "r",
        lambda r: r / np.sqrt(1 + np.square(r)),
        r=V5,
    ),
    row(
        "softmax CE, one-hot",
        lambda z, p: -np.sum(p * np.log(naive_softmax(z))),
        "z",
        lambda z, p: snp.softmax(z) - p,
        z=V5,
        p=sg.spec("5", assume=sg.one_hot(axis=-1)),
    ),
    row(
        "softmax CE axis0 mean",
        lambda z, p: -np.mean(np.sum(p * np.log(np.exp(z) / np.sum(np.exp(z), axis=0)), axis=0)),
        "z",
        lambda z, p: (snp.softmax(z, axis=0) - p) / 5,
        z=N5,
        p=sg.spec("6, 5", assume=sg.simplex(axis=0)),
    ),
    row(
        "softmax CE max shifted",
        lambda z, p: (lambda e: -np.sum(p * np.log(e / np.sum(e, axis=1, keepdims=True))))(
            np.exp(z - np.max(z, axis=1, keepdims=True))
        ),
        "z",
        lambda z, p: snp.softmax(z, axis=-1) - p,
        z=N5,
        p=sg.spec("6, 5", assume=SIMPLEX),
    ),
    row(
        "softmax CE, entropy regular",
        lambda z, p: (lambda q: -np.sum(p * np.log(q)) + 0.1 * np.sum(q * np.log(q)))(
            naive_softmax(z)
        ),
        "z",
        lambda z, p: (lambda q, logs: q - p + 0.1 * q * (logs - np.sum(q * logs)))(
            snp.softmax(z), snp.log_softmax(z)
        ),
        z=V5,
        p=sg.spec("5", assume=SIMPLEX),
    ),
    row(
        "entropy of softmax",
        lambda z: (lambda q: -np.sum(q * np.log(q)))(naive_softmax(z)),
        "z",
        lambda z: (lambda q, logs: q * (np.sum(q * logs) - logs))(
            snp.softmax(z), snp.log_softmax(z)
        ),
        z=V5,
    ),
    row(
        "KL to softmax",
        lambda z, p: np.sum(p * (np.log(p) - np.log(naive_softmax(z)))),
        "z",
        lambda z, p: snp.softmax(z) - p,
        z=V5,
        p=sg.spec("5", assume=SIMPLEX),
    ),
    row(
        "weighted softmax CE",
        lambda z, p, w: -np.sum(w * np.sum(p * np.log(naive_softmax(z)), axis=-1)),
        "z",
        lambda z, p, w: (snp.softmax(z, axis=-1) - p) * w[:, None],
        z=N5,
        p=sg.spec("6, 5", assume=SIMPLEX),
        w=sg.spec("6"),
    ),
    row(
        "softmax bilinear",
        lambda W, x, p: -np.sum(p * np.log(naive_softmax(W @ x))),
        "W",
        lambda W, x, p: np.outer(snp.softmax(W @ x) - p, x),
        W=sg.spec("4, 5"),
        x=V5,
        p=sg.spec("4", assume=SIMPLEX),
    ),
    row(
        "softmax bias",
        lambda z, b, p: -np.sum(p * np.log(naive_softmax(z + b))),
        "b",
        lambda z, b, p: np.sum(snp.softmax(z + b, axis=-1) - p, axis=0),
        z=N5,
        b=V5,
        p=sg.spec("6, 5", assume=SIMPLEX),
    ),
    row(
        "contrastive InfoNCE",
        lambda x, Y: -(x @ Y[0] - lse(Y @ x)),
        "x",
        lambda x, Y: Y.T @ snp.softmax(Y @ x) - Y[0],
        x=V5,
        Y=N5,
    ),
    row(
        "gmm responsibilities",
        lambda m, x: -lse(-0.5 * (x - m) ** 2),
        "m",
        lambda m, x: (m - x) * snp.softmax(-0.5 * np.square(x - m)),
        m=V5,
        x=sg.spec(""),
    ),
    row(
        "logsumexp of X w",
        lambda X, w: lse(X @ w),
        "w",
        lambda X, w: X.T @ snp.softmax(X @ w),
        X=N5,
        w=V5,
    ),
    row(
        "poisson mean",
        lambda X, w, y: np.mean(np.exp(X @ w) - y * (X @ w)),
        "w",
        lambda X, w, y: X.T @ (np.exp(X @ w) - y) / 6,
        X=N5,
        w=V5,
        y=sg.spec("6"),
    ),
    row(
        "gamma regression",
        lambda X, w, y: np.sum(X @ w + y * np.exp(-(X @ w))),
        "w",
        lambda X, w, y: X.T @ (1 - y * np.exp(-(X @ w))),
        X=N5,
        w=V5,
        y=sg.spec("6"),
    ),
    row(
        "kalman-ish",
        lambda x, A, b, C: 0.5 * np.sum((A @ x - b) ** 2) + 0.5 * (x @ C @ x),
        "x",
        lambda x, A, b, C: A.T @ (A @ x - b) + C @ x,
        x=V5,
        A=N5,
        b=sg.spec("6"),
        C=sg.spec("5, 5", assume=sg.symmetric),
    ),
    row(
        "inverse quadratic",
        lambda x, a: 1 / (1 + np.sum((x - a) ** 2)),
        "x",
        lambda x, a: (a - x) * (2 / np.square(1 + np.sum(np.square(x - a)))),
        x=V5,
        a=V5,
    ),
    row(
        "hadamard", lambda A, B, C: np.sum(A * B * C), "A", lambda A, B, C: B * C, A=N5, B=N5, C=N5
    ),
    row(
        "column sums squared",
        lambda A: 0.5 * np.sum(np.sum(A, axis=0) ** 2),
        "A",
        lambda A: np.broadcast_to(np.sum(A, axis=0), (6, 5)),
        A=N5,
    ),
    row(
        "outer product approx",
        lambda A, u, v: 0.5 * np.sum((A - np.outer(u, v)) ** 2),
        "u",
        lambda A, u, v: u * (v @ v) - A @ v,
        A=N5,
        u=sg.spec("6"),
        v=V5,
    ),
    row("diag form", lambda x, d: 0.5 * np.sum(d * x**2), "x", lambda x, d: d * x, x=V5, d=V5),
    row(
        "matrix square trace", lambda A: np.trace(A @ A), "A", lambda A: 2 * A.T, A=sg.spec("4, 4")
    ),
    row(
        "matrix cube trace",
        lambda A: np.trace(A @ A @ A),
        "A",
        lambda A: 3 * (A @ A).T,
        A=sg.spec("4, 4"),
    ),
    row(
        "gram",
        lambda X, K: 0.5 * np.sum((X @ X.T - K) ** 2),
        "X",
        lambda X, K: 2 * ((X @ X.T - K) @ X),
        X=N5,
        K=sg.spec("6, 6", assume=sg.symmetric),
    ),
]
