"""Generalised linear models: logistic, Poisson, ordinal, survival."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.numpy import sigmoid, softmax
from textbook import Row, log_sum_exp, plain_sigmoid, plain_softmax, row

__all__ = ["GENERALISED"]

NX = {"X": "n, 5", "w": "5", "y": "n"}
FIXED = {"X": "6, 5", "w": "5", "y": "6"}
ROWS = sg.spec("n, 4", assume=sg.simplex(axis=-1))

GENERALISED: list[Row] = [
    row(
        "logistic, labels 0 and 1",
        lambda X, w, y: (
            -np.sum(y * np.log(plain_sigmoid(X @ w)) + (1 - y) * np.log(1 - plain_sigmoid(X @ w)))
        ),
        "w",
        lambda X, w, y: X.T @ (sigmoid(X @ w) - y),
        **NX,
    ),
    row(
        "logistic, mean",
        lambda X, w, y: (
            -np.mean(y * np.log(plain_sigmoid(X @ w)) + (1 - y) * np.log(1 - plain_sigmoid(X @ w)))
        ),
        "w",
        lambda X, w, y: X.T @ (sigmoid(X @ w) - y) / 6,
        **FIXED,
    ),
    row(
        "logistic, softplus",
        lambda X, w, y: np.sum(np.log(1 + np.exp(X @ w)) - y * (X @ w)),
        "w",
        lambda X, w, y: X.T @ (sigmoid(X @ w) - y),
        **FIXED,
    ),
    row(
        "logistic, labels -1 and 1",
        lambda X, w, y: np.sum(np.log(1 + np.exp(-y * (X @ w)))),
        "w",
        lambda X, w, y: -(X.T @ (y * sigmoid(-(y * (X @ w))))),
        **NX,
    ),
    row(
        "logistic with ridge",
        lambda X, w, y: np.sum(np.log(1 + np.exp(X @ w)) - y * (X @ w)) + 0.5 * np.sum(w * w),
        "w",
        lambda X, w, y: X.T @ (sigmoid(X @ w) - y) + w,
        **FIXED,
    ),
    row(
        "logistic with offset, weighted",
        lambda X, w, y, o, s: np.sum(s * (np.log(1 + np.exp(X @ w + o)) - y * (X @ w + o))),
        "w",
        lambda X, w, y, o, s: X.T @ (s * (sigmoid(X @ w + o) - y)),
        **FIXED,
        o="6",
        s="6",
    ),
    row(
        "logistic, one example",
        lambda x, w, y: np.log(1 + np.exp(x @ w)) - y * (x @ w),
        "w",
        lambda x, w, y: (sigmoid(x @ w) - y) * x,
        x="5",
        w="5",
        y="",
    ),
    row(
        "probit",
        lambda X, w, y: np.sum(-y * np.log(0.5 * (1 + snp.erf(X @ w / np.sqrt(2))))),
        "w",
        lambda X, w, y: X.T @ (-np.sqrt(2 / np.pi) * y / snp.erfcx(X @ w / -np.sqrt(2))),
        **FIXED,
    ),
    row(
        "complementary log-log, events",
        lambda X, w: -np.sum(np.log(1 - np.exp(-np.exp(X @ w)))),
        "w",
        lambda X, w: -(X.T @ ((e := np.exp(X @ w)) / np.expm1(e))),
        X="6, 5",
        w="5",
    ),
    row(
        "softmax regression",
        lambda X, W, p: -np.sum(p * np.log(plain_softmax(X @ W))),
        "W",
        lambda X, W, p: X.T @ (softmax(X @ W, axis=-1) - p),
        X="n, 5",
        W="5, 4",
        p=ROWS,
    ),
    row(
        "softmax regression, log-sum-exp",
        lambda X, W, p: np.sum(log_sum_exp(X @ W, 1) - np.sum(p * (X @ W), axis=1)),
        "W",
        lambda X, W, p: X.T @ (softmax(X @ W, axis=1) - p),
        X="n, 5",
        W="5, 4",
        p=ROWS,
    ),
    row(
        "softmax regression, one example",
        lambda x, W, p: -np.sum(p * np.log(plain_softmax(W @ x))),
        "W",
        lambda x, W, p: np.outer(softmax(W @ x) - p, x),
        x="5",
        W="4, 5",
        p=sg.spec("4", assume=sg.simplex(axis=-1)),
    ),
    row(
        "softmax regression, bias",
        lambda z, b, p: -np.sum(p * np.log(plain_softmax(z + b))),
        "b",
        lambda z, b, p: np.sum(softmax(z + b, axis=-1) - p, axis=0),
        z="n, 4",
        b="4",
        p=ROWS,
    ),
    row(
        "Poisson regression",
        lambda X, w, y: np.sum(np.exp(X @ w) - y * (X @ w)),
        "w",
        lambda X, w, y: X.T @ (np.exp(X @ w) - y),
        **NX,
    ),
    row(
        "Poisson regression, mean",
        lambda X, w, y: np.mean(np.exp(X @ w) - y * (X @ w)),
        "w",
        lambda X, w, y: X.T @ (np.exp(X @ w) - y) / 6,
        **FIXED,
    ),
    row(
        "Poisson regression, offset",
        lambda X, w, y, o: np.sum(np.exp(X @ w + o) - y * (X @ w + o)),
        "w",
        lambda X, w, y, o: X.T @ (np.exp(X @ w + o) - y),
        **FIXED,
        o="6",
    ),
    row(
        "gamma regression",
        lambda X, w, y: np.sum(y * np.exp(-(X @ w)) + X @ w),
        "w",
        lambda X, w, y: X.T @ (1 - y * np.exp(-(X @ w))),
        **FIXED,
    ),
    row(
        "negative binomial regression",
        lambda X, w, y, r: np.sum((y + r) * np.log(1 + np.exp(X @ w)) - y * (X @ w)),
        "w",
        lambda X, w, y, r: X.T @ ((y + r) * sigmoid(X @ w) - y),
        **FIXED,
        r="",
    ),
    row(
        "exponential regression",
        lambda X, w, y: np.sum(y * np.exp(X @ w) - X @ w),
        "w",
        lambda X, w, y: X.T @ (y * np.exp(X @ w) - 1),
        **FIXED,
    ),
    row(
        "heteroscedastic regression, scales",
        lambda X, v, r: np.sum(0.5 * r**2 * np.exp(-(X @ v)) + 0.5 * (X @ v)),
        "v",
        lambda X, v, r: X.T @ (0.5 - 0.5 * (np.square(r) * np.exp(-(X @ v)))),
        X="6, 5",
        v="5",
        r="6",
    ),
    row(
        "proportional odds, middle category",
        lambda z, a, b: -np.sum(np.log(plain_sigmoid(b - z) - plain_sigmoid(a - z))),
        "z",
        lambda z, a, b: 1 - sigmoid(b - z) - sigmoid(a - z),
        z="5",
        a=sg.spec("", assume=sg.interval(-2, -1)),
        b=sg.spec("", assume=sg.interval(1, 2)),
    ),
    row(
        "proportional odds, lowest category",
        lambda X, w, a: -np.sum(np.log(plain_sigmoid(a - X @ w))),
        "w",
        lambda X, w, a: X.T @ sigmoid(X @ w - a),
        X="6, 5",
        w="5",
        a="",
    ),
    row(
        "Cox, one event",
        lambda X, w: log_sum_exp(X @ w) - X[0] @ w,
        "w",
        lambda X, w: X.T @ softmax(X @ w) - X[0],
        X="6, 5",
        w="5",
    ),
    row(
        "Cox, scores of one event",
        lambda z: -z[0] + log_sum_exp(z),
        "z",
        lambda z: softmax(z) - snp.one_hot(0, 5),
        z="5",
    ),
    row(
        "conditional logit",
        lambda X, w, y: -np.sum(y * np.log(plain_softmax(X @ w))),
        "w",
        lambda X, w, y: X.T @ (softmax(X @ w) - y),
        X="6, 5",
        w="5",
        y=sg.spec("6", assume=sg.simplex(axis=-1)),
    ),
]
