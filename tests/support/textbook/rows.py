"""The rows: losses, regressions, norms and forms, likelihoods, layers, scalar calculus."""

from __future__ import annotations

from typing import Any

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from textbook import Row

SIMPLEX = sg.simplex(axis=-1)
sigmoid = snp.sigmoid


def lse(z: Any) -> Any:
    return np.log(np.sum(np.exp(z)))


def naive_sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def naive_softmax(z: Any) -> Any:
    e = np.exp(z)
    return e / np.sum(e, axis=-1, keepdims=True)


def row(name: str, f: Any, wrt: str, closed: Any, **specs: Any) -> Row:
    full = {
        key: value if isinstance(value, sg.Spec) else sg.spec(value) for key, value in specs.items()
    }
    return Row(name, f, wrt, closed, full)


Z, P = sg.spec("7"), sg.spec("7", assume=SIMPLEX)
ZB, PB = sg.spec("n, 7"), sg.spec("n, 7", assume=SIMPLEX)
X, W, Y = sg.spec("n, 5"), sg.spec("5"), sg.spec("n")

SOFTMAX = [
    row(
        "softmax cross-entropy, naive",
        lambda z, p: -np.sum(p * np.log(np.exp(z) / np.sum(np.exp(z)))),
        "z",
        lambda z, p: snp.softmax(z) - p,
        z=Z,
        p=P,
    ),
    row(
        "softmax cross-entropy, p unknown",
        lambda z, p: -np.sum(p * np.log(np.exp(z) / np.sum(np.exp(z)))),
        "z",
        lambda z, p: snp.softmax(z) * np.sum(p) - p,
        z=Z,
        p=Z,
    ),
    row(
        "softmax cross-entropy, log_softmax",
        lambda z, p: -np.sum(p * snp.log_softmax(z)),
        "z",
        lambda z, p: snp.softmax(z) - p,
        z=Z,
        p=P,
    ),
    row(
        "softmax cross-entropy, logsumexp",
        lambda z, p: snp.logsumexp(z) - np.sum(p * z),
        "z",
        lambda z, p: snp.softmax(z) - p,
        z=Z,
        p=P,
    ),
    row(
        "softmax cross-entropy, batch mean",
        lambda z, p: -np.mean(np.sum(p * np.log(naive_softmax(z)), axis=-1)),
        "z",
        lambda z, p: (snp.softmax(z, axis=-1) - p) / z.shape[0],
        z=sg.spec("6, 7"),
        p=sg.spec("6, 7", assume=SIMPLEX),
    ),
    row(
        "softmax cross-entropy, batch sum",
        lambda z, p: -np.sum(p * np.log(naive_softmax(z))),
        "z",
        lambda z, p: snp.softmax(z, axis=-1) - p,
        z=ZB,
        p=PB,
    ),
    row(
        "softmax cross-entropy, temperature",
        lambda z, p: -np.sum(p * np.log(naive_softmax(z / 2.5))),
        "z",
        lambda z, p: (snp.softmax(z / 2.5) - p) / 2.5,
        z=Z,
        p=P,
    ),
    row(
        "softmax cross-entropy, smoothed labels",
        lambda z, p: -np.sum((0.9 * p + 0.1 / 7) * np.log(naive_softmax(z))),
        "z",
        lambda z, p: snp.softmax(z) - (0.9 * p + 0.1 / 7),
        z=Z,
        p=P,
    ),
    row("log-sum-exp", lambda z: lse(z), "z", lambda z: snp.softmax(z), z=Z),
    row(
        "entropy of a softmax input",
        lambda p: -np.sum(p * np.log(p)),
        "p",
        lambda p: -1 - np.log(p),
        p=sg.spec("7", assume=sg.positive),
    ),
    row(
        "Kullback-Leibler divergence in q",
        lambda p, q: np.sum(p * np.log(p / q)),
        "q",
        lambda p, q: -(p / q),
        p=sg.spec("7", assume=sg.positive),
        q=sg.spec("7", assume=sg.positive),
    ),
    row(
        "Kullback-Leibler divergence in p",
        lambda p, q: np.sum(p * np.log(p / q)),
        "p",
        lambda p, q: np.log(p / q) + 1,
        p=sg.spec("7", assume=sg.positive),
        q=sg.spec("7", assume=sg.positive),
    ),
]

REGRESSION = [
    row(
        "least squares",
        lambda X, w, y: 0.5 * np.sum((X @ w - y) ** 2),
        "w",
        lambda X, w, y: X.T @ (X @ w - y),
        X=X,
        w=W,
        y=Y,
    ),
    row(
        "least squares, not halved",
        lambda X, w, y: np.sum((X @ w - y) ** 2),
        "w",
        lambda X, w, y: X.T @ (2 * (X @ w - y)),
        X=X,
        w=W,
        y=Y,
    ),
    row(
        "ridge",
        lambda X, w, y: 0.5 * np.sum((X @ w - y) ** 2) + 0.5 * np.sum(w**2),
        "w",
        lambda X, w, y: X.T @ (X @ w - y) + w,
        X=X,
        w=W,
        y=Y,
    ),
    row(
        "mean squared error in the prediction",
        lambda a, y: np.mean((a - y) ** 2),
        "a",
        lambda a, y: (a - y) * (2 / 7),
        a=Z,
        y=Z,
    ),
    row(
        "logistic regression, labels 0 and 1",
        lambda X, w, y: (
            -np.sum(y * np.log(naive_sigmoid(X @ w)) + (1 - y) * np.log(1 - naive_sigmoid(X @ w)))
        ),
        "w",
        lambda X, w, y: X.T @ (sigmoid(X @ w) - y),
        X=X,
        w=W,
        y=Y,
    ),
    row(
        "logistic regression, labels -1 and 1",
        lambda X, w, y: np.sum(np.log(1 + np.exp(-y * (X @ w)))),
        "w",
        lambda X, w, y: -(X.T @ (y * sigmoid(-(y * (X @ w))))),
        X=X,
        w=W,
        y=Y,
    ),
    row(
        "binary cross-entropy on logits",
        lambda z, y: -np.sum(y * np.log(naive_sigmoid(z)) + (1 - y) * np.log(1 - naive_sigmoid(z))),
        "z",
        lambda z, y: sigmoid(z) - y,
        z=Z,
        y=Z,
    ),
    row(
        "Poisson regression",
        lambda X, w, y: np.sum(np.exp(X @ w) - y * (X @ w)),
        "w",
        lambda X, w, y: X.T @ (np.exp(X @ w) - y),
        X=X,
        w=W,
        y=Y,
    ),
    row(
        "linear layer, weights",
        lambda X, V, G: np.sum((X @ V) * G),
        "V",
        lambda X, V, G: X.T @ G,
        X=X,
        V=sg.spec("5, 3"),
        G=sg.spec("n, 3"),
    ),
    row(
        "linear layer, bias",
        lambda X, b: 0.5 * np.sum((X + b) ** 2),
        "b",
        lambda X, b: np.sum(X + b, axis=0),
        X=X,
        b=W,
    ),
    row(
        "tanh layer",
        lambda X, V, G: np.sum(np.tanh(X @ V) * G),
        "V",
        lambda X, V, G: X.T @ (G * (1 - np.square(np.tanh(X @ V)))),
        X=X,
        V=sg.spec("5, 3"),
        G=sg.spec("n, 3"),
    ),
    row(
        "sigmoid layer",
        lambda X, V, G: np.sum(naive_sigmoid(X @ V) * G),
        "V",
        lambda X, V, G: X.T @ (G * (sigmoid(X @ V) * sigmoid(-(X @ V)))),
        X=X,
        V=sg.spec("5, 3"),
        G=sg.spec("n, 3"),
    ),
    row(
        "relu layer",
        lambda X, V, G: np.sum(np.maximum(X @ V, 0) * G),
        "V",
        lambda X, V, G: X.T @ np.where(X @ V > 0, G, 0),
        X=X,
        V=sg.spec("5, 3"),
        G=sg.spec("n, 3"),
    ),
    row(
        "Huber loss",
        lambda r: np.sum(np.where(np.abs(r) < 1, 0.5 * r**2, np.abs(r) - 0.5)),
        "r",
        lambda r: np.where(np.abs(r) < 1, r, np.sign(r)),
        r=Z,
    ),
    row(
        "hinge loss",
        lambda s, y: np.sum(np.maximum(0, 1 - y * s)),
        "s",
        lambda s, y: np.where(y * s < 1, -y, 0),
        s=Z,
        y=Z,
    ),
    row(
        "softmax regression",
        lambda X, V, p: -np.sum(p * np.log(naive_softmax(X @ V))),
        "V",
        lambda X, V, p: X.T @ (snp.softmax(X @ V, axis=-1) - p),
        X=X,
        V=sg.spec("5, 7"),
        p=PB,
    ),
]

A, SYM = sg.spec("5, 5"), sg.spec("5, 5", assume=sg.symmetric)
FORMS = [
    row("sum of squares", lambda x: np.sum(x**2), "x", lambda x: 2 * x, x=W),
    row("inner product", lambda x, a: np.sum(x * a), "x", lambda x, a: a, x=W, a=W),
    row("dot", lambda x, a: x @ a, "x", lambda x, a: a, x=W, a=W),
    row("quadratic form", lambda x, A: x @ A @ x, "x", lambda x, A: (A + A.T) @ x, x=W, A=A),
    row(
        "quadratic form, symmetric",
        lambda x, A: x @ A @ x,
        "x",
        lambda x, A: 2 * (A @ x),
        x=W,
        A=SYM,
    ),
    row(
        "quadratic form in the matrix",
        lambda x, A: x @ A @ x,
        "A",
        lambda x, A: np.outer(x, x),
        x=W,
        A=A,
    ),
    row(
        "bilinear form in the matrix",
        lambda x, y, A: x @ A @ y,
        "A",
        lambda x, y, A: np.outer(x, y),
        x=W,
        y=W,
        A=A,
    ),
    row(
        "half quadratic minus linear",
        lambda x, A, b: 0.5 * (x @ A @ x) - b @ x,
        "x",
        lambda x, A, b: A @ x - b,
        x=W,
        A=SYM,
        b=W,
    ),
    row(
        "Euclidean norm",
        lambda x: np.sqrt(np.sum(x**2)),
        "x",
        lambda x: x / np.sqrt(np.sum(x**2)),
        x=W,
    ),
    row(
        "distance",
        lambda x, a: np.sqrt(np.sum((x - a) ** 2)),
        "x",
        lambda x, a: (x - a) / np.sqrt(np.sum(np.square(x - a))),
        x=W,
        a=W,
    ),
    row("Frobenius norm squared", lambda A: np.sum(A * A), "A", lambda A: 2 * A, A=A),
    row("trace", lambda A: np.trace(A), "A", lambda A: snp.eye(5), A=A),
    row("trace of a product", lambda A, B: np.trace(A @ B), "A", lambda A, B: B.T, A=A, B=A),
    row("trace of A'A", lambda A: np.trace(A.T @ A), "A", lambda A: 2 * A, A=A),
    row(
        "trace of A'BA",
        lambda A, B: np.trace(A.T @ B @ A),
        "A",
        lambda A, B: (B + B.T) @ A,
        A=A,
        B=A,
    ),
    row(
        "matrix factorisation, left",
        lambda X, U, V: 0.5 * np.sum((X - U @ V) ** 2),
        "U",
        lambda X, U, V: (U @ V - X) @ V.T,
        X=X,
        U=sg.spec("n, 2"),
        V=sg.spec("2, 5"),
    ),
    row(
        "matrix factorisation, right",
        lambda X, U, V: 0.5 * np.sum((X - U @ V) ** 2),
        "V",
        lambda X, U, V: U.T @ (U @ V - X),
        X=X,
        U=sg.spec("n, 2"),
        V=sg.spec("2, 5"),
    ),
    row(
        "Rayleigh quotient, symmetric",
        lambda x, A: (x @ A @ x) / (x @ x),
        "x",
        lambda x, A: 2 * (A @ x - x * ((x @ (A @ x)) / (x @ x))) / (x @ x),
        x=W,
        A=SYM,
    ),
    row(
        "cosine similarity",
        lambda x, y: (x @ y) / (np.sqrt(x @ x) * np.sqrt(y @ y)),
        "x",
        lambda x, y: (y - x * ((x @ y) / (x @ x))) / (np.sqrt(x @ x) * np.sqrt(y @ y)),
        x=W,
        y=W,
    ),
    row(
        "sum of a product with a matrix",
        lambda x, A: np.sum(A @ x),
        "x",
        lambda x, A: np.sum(A, axis=0),
        x=W,
        A=A,
    ),
    row(
        "product of inner products",
        lambda x, a, b: (a @ x) * (b @ x),
        "x",
        lambda x, a, b: a * (b @ x) + b * (a @ x),
        x=W,
        a=W,
        b=W,
    ),
]

LIKELIHOODS = [
    row(
        "Gaussian, mean",
        lambda x, m: 0.5 * np.sum((x - m) ** 2) / 2.0,
        "m",
        lambda x, m: (m - x) / 2.0,
        x=Z,
        m=sg.spec("7"),
    ),
    row(
        "Gaussian, common mean",
        lambda x, m: 0.5 * np.sum((x - m) ** 2),
        "m",
        lambda x, m: m * 7 - np.sum(x),
        x=Z,
        m=sg.spec(""),
    ),
    row(
        "Gaussian, log of scale",
        lambda x, s: np.sum(0.5 * (x * np.exp(-s)) ** 2 + s),
        "s",
        lambda x, s: 7 - np.sum(np.square(x * np.exp(-s))),
        x=Z,
        s=sg.spec(""),
    ),
    row(
        "Gaussian, precision times vector",
        lambda x, m, A: 0.5 * ((x - m) @ A @ (x - m)),
        "m",
        lambda x, m, A: A @ (m - x),
        x=W,
        m=W,
        A=SYM,
    ),
    row(
        "Poisson, log rate",
        lambda k, s: np.sum(np.exp(s) - k * s),
        "s",
        lambda k, s: np.exp(s) - k,
        k=Z,
        s=Z,
    ),
    row(
        "exponential distribution",
        lambda x, r: np.sum(r * x - np.log(r)),
        "r",
        lambda x, r: x - 1 / r,
        x=Z,
        r=sg.spec("7", assume=sg.positive),
    ),
    row(
        "Bernoulli on logits, softplus",
        lambda z, y: np.sum(np.log(1 + np.exp(z)) - y * z),
        "z",
        lambda z, y: sigmoid(z) - y,
        z=Z,
        y=Z,
    ),
    row(
        "multinomial with logits and counts",
        lambda z, k: np.sum(k) * lse(z) - np.sum(k * z),
        "z",
        lambda z, k: np.sum(k) * snp.softmax(z) - k,
        z=Z,
        k=Z,
    ),
]

SCALAR = [
    row("power", lambda x: np.sum(x**3), "x", lambda x: 3 * np.square(x), x=Z),
    row(
        "exp of a square",
        lambda x: np.sum(np.exp(-0.5 * x**2)),
        "x",
        lambda x: -x * np.exp(np.square(x) * -0.5),
        x=Z,
    ),
    row(
        "x log x",
        lambda x: np.sum(x * np.log(x)),
        "x",
        lambda x: np.log(x) + 1,
        x=sg.spec("7", assume=sg.positive),
    ),
    row(
        "log of a product",
        lambda x, y: np.sum(np.log(x * y)),
        "x",
        lambda x, y: 1 / x,
        x=sg.spec("7", assume=sg.positive),
        y=sg.spec("7", assume=sg.positive),
    ),
    row("tanh", lambda x: np.sum(np.tanh(x)), "x", lambda x: 1 - np.square(np.tanh(x)), x=Z),
    row(
        "sin and cos",
        lambda x: np.sum(np.sin(x) * np.cos(x)),
        "x",
        lambda x: np.square(np.cos(x)) - np.square(np.sin(x)),
        x=Z,
    ),
    row("softplus", lambda x: np.sum(np.log(1 + np.exp(x))), "x", lambda x: sigmoid(x), x=Z),
    row(
        "logarithm of a sigmoid",
        lambda x: np.sum(np.log(naive_sigmoid(x))),
        "x",
        lambda x: sigmoid(-x),
        x=Z,
    ),
    row(
        "reciprocal",
        lambda x: np.sum(1 / x),
        "x",
        lambda x: -1 / np.square(x),
        x=sg.spec("7", assume=sg.nonzero),
    ),
    row(
        "square root",
        lambda x: np.sum(np.sqrt(x)),
        "x",
        lambda x: 0.5 / np.sqrt(x),
        x=sg.spec("7", assume=sg.positive),
    ),
    row(
        "logistic odds",
        lambda x: np.sum(np.log(x / (1 - x))),
        "x",
        lambda x: 1 / (x * (1 - x)),
        x=sg.spec("7", assume=sg.interval(0.01, 0.99)),
    ),
    row("log cosh", lambda x: np.sum(np.log(np.cosh(x))), "x", lambda x: np.tanh(x), x=Z),
    row(
        "centred sum of squares",
        lambda x: 0.5 * np.sum((x - np.mean(x)) ** 2),
        "x",
        lambda x: x - np.sum(x) / 7,
        x=Z,
    ),
    row("sum squared", lambda x: np.sum(x) ** 2, "x", lambda x: 2 * np.sum(x), x=Z),
]

ROWS: list[Row] = [*SOFTMAX, *REGRESSION, *FORMS, *LIKELIHOODS, *SCALAR]
