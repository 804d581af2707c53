"""Gradients of energies of pairs of points, and of systems of weighted normal equations.

They were written, closed forms and all, before any was tried. For pairs the closed form is that of
stochastic neighbour embedding (van der Maaten & Hinton 2008), for systems that of effective
resistances (Ghosh, Boyd & Saberi 2008).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import symgraph as sg
from symgraph.numpy import sigmoid, softmax
from textbook import SCALE, Row, plain_sigmoid, row

__all__ = ["INTERACTIONS"]

SYM4 = sg.spec("4,4", assume=sg.symmetric)
SPD4 = sg.spec("4,4", assume=sg.positive_definite)
POSITIVE4 = sg.spec("4", assume=sg.positive)
POSITIVE6 = sg.spec("6", assume=sg.positive)
inv, solve = np.linalg.inv, np.linalg.solve


def _pairs(x: Any) -> Any:
    return x[:, None] - x[None]


def _squares(x: Any) -> Any:
    return np.sum(_pairs(x) ** 2, axis=-1)


def _forces(w: Any, d: Any) -> Any:
    """The sum of weighted differences over the second point of each pair."""
    return np.einsum("ij,ijk->ik", w, d)


def _log_det(A: Any) -> Any:
    return np.linalg.slogdet(A)[1]


def _weighted(X: Any, w: Any) -> Any:
    return X.T @ (w[:, None] * X)


PAIRS: list[Row] = [
    row(
        "scaling to given distances, points",
        lambda x, d: np.sum((np.sqrt(_squares(x) + 0.001) - d) ** 2),
        "x",
        lambda x, d: (
            e := _pairs(x),
            4 * _forces(1 - d / np.sqrt(np.sum(e**2, axis=-1) + 0.001), e),
        )[1],
        x="4,2",
        d=SYM4,
    ),
    row(
        "stochastic neighbours, points",
        lambda x, P: np.sum(P * np.log(1 + _squares(x))) + np.log(np.sum(1 / (1 + _squares(x)))),
        "x",
        lambda x, P: (
            e := _pairs(x),
            w := 1 / (1 + np.sum(e**2, axis=-1)),
            4 * _forces((P - w / np.sum(w)) * w, e),
        )[2],
        x="4,2",
        P=SYM4,
    ),
    row(
        "Gaussian overlaps, points",
        lambda x: np.sum(np.exp(-_squares(x))),
        "x",
        lambda x: (e := _pairs(x), -4 * _forces(np.exp(-np.sum(e**2, axis=-1)), e))[1],
        x="n,3",
    ),
    row(
        "uniformity on a sphere, points",
        lambda x: np.log(np.sum(np.exp(-2 * _squares(x)))),
        "x",
        lambda x: (
            e := _pairs(x),
            -8 * _forces(softmax(-2 * np.sum(e**2, axis=-1), axis=(0, 1)), e),
        )[1],
        x="4,3",
    ),
    row(
        "network of springs, points",
        lambda x, k: np.sum(k * _squares(x)) / 4,
        "x",
        lambda x, k: _forces(k, _pairs(x)),
        x="4,3",
        k=SYM4,
    ),
    row(
        "logarithmic gas, points",
        lambda x, b: np.sum(x**2) / 2 - b * np.sum(np.log(_squares(x) + 0.01)) / 2,
        "x",
        lambda x, b: (
            e := _pairs(x),
            x - 2 * b * np.sum(e / (np.sum(e**2, axis=-1, keepdims=True) + 0.01), axis=1),
        )[1],
        x="4,3",
        b=SCALE,
    ),
    row(
        "bodies with softened gravity, positions",
        lambda x, m: -np.sum(m[:, None] * m / np.sqrt(_squares(x) + 0.01)) / 2,
        "x",
        lambda x, m: (
            e := _pairs(x),
            m[:, None] * _forces(m * (np.sum(e**2, axis=-1) + 0.01) ** -1.5, e),
        )[1],
        x="4,3",
        m=POSITIVE4,
    ),
    row(
        "charges with Gaussian screening, points",
        lambda x, q: np.sum(q[:, None] * q * np.exp(-_squares(x))) / 2,
        "x",
        lambda x, q: (
            e := _pairs(x),
            q[:, None] * _forces(-2 * q * np.exp(-np.sum(e**2, axis=-1)), e),
        )[1],
        x="4,3",
        q="4",
    ),
    row(
        "maximum mean discrepancy, points",
        lambda x, y: (
            np.sum(np.exp(-_squares(x)))
            - 2 * np.sum(np.exp(-np.sum((x[:, None] - y[None]) ** 2, axis=-1)))
        ),
        "x",
        lambda x, y: (
            f := x[:, None] - y[None],
            e := _pairs(x),
            4
            * (
                _forces(np.exp(-np.sum(f**2, axis=-1)), f)
                - _forces(np.exp(-np.sum(e**2, axis=-1)), e)
            ),
        )[2],
        x="4,3",
        y="5,3",
    ),
    row(
        "Kuramoto with a matrix of couplings",
        lambda t, K: -np.sum(K * np.cos(t[:, None] - t)) / 2,
        "t",
        lambda t, K: -np.sum(K * np.sin(t - t[:, None]), axis=1),
        t="4",
        K=SYM4,
    ),
]

SYSTEMS: list[Row] = [
    row(
        "effective resistance, conductances",
        lambda c, B, b: b @ solve(B.T @ np.diag(c) @ B + np.eye(4), b),
        "c",
        lambda c, B, b: -np.square(B @ solve(_weighted(B, c) + np.eye(4), b)),
        c=POSITIVE6,
        B="6,4",
        b="4",
    ),
    row(
        "logarithm of spanning trees, conductances",
        lambda c, B: _log_det(_weighted(B, c) + np.eye(4)),
        "c",
        lambda c, B: np.sum(B @ inv(_weighted(B, c) + np.eye(4)) * B, axis=1),
        c=POSITIVE6,
        B="6,4",
    ),
    row(
        "elastic bars, stiffnesses",
        lambda k, B, f: f @ solve(B.T @ np.diag(k) @ B, f) / 2,
        "k",
        lambda k, B, f: -np.square(B @ solve(_weighted(B, k), f)) / 2,
        k=POSITIVE6,
        B="6,4",
        f="4",
    ),
    row(
        "weighted least squares, fitted value, weights",
        lambda w, X, y, a: a @ solve(_weighted(X, w), X.T @ (w * y)),
        "w",
        lambda w, X, y, a: (
            V := inv(_weighted(X, w)),
            (X @ (V @ a)) * (y - X @ (V @ (X.T @ (w * y)))),
        )[1],
        w=POSITIVE6,
        X="6,3",
        y="6",
        a="3",
    ),
    row(
        "ridge with weights, right side",
        lambda y, X, w, a: a @ solve(X.T @ np.diag(w) @ X + np.eye(3), X.T @ (w * y)),
        "y",
        lambda y, X, w, a: w * (X @ solve(_weighted(X, w) + np.eye(3), a)),
        y="6",
        X="6,3",
        w=POSITIVE6,
        a="3",
    ),
    row(
        "placement of sensors, precisions",
        lambda p, A, S: _log_det(inv(S) + A.T @ np.diag(p) @ A),
        "p",
        lambda p, A, S: np.sum(A @ inv(inv(S) + _weighted(A, p)) * A, axis=1),
        p=POSITIVE6,
        A="6,4",
        S=SPD4,
    ),
    row(
        "A-optimal design, weights",
        lambda w, X: np.trace(inv(_weighted(X, w))),
        "w",
        lambda w, X: -np.sum(np.square(X @ inv(_weighted(X, w))), axis=1),
        w=POSITIVE6,
        X="6,3",
    ),
    row(
        "D-optimal design, weights",
        lambda w, X: _log_det(_weighted(X, w)),
        "w",
        lambda w, X: np.sum(X @ inv(_weighted(X, w)) * X, axis=1),
        w=POSITIVE6,
        X="6,3",
    ),
    row(
        "evidence with a noise for each datum, noise",
        lambda s, K, y: (y @ solve(K + np.diag(s), y) + _log_det(K + np.diag(s))) / 2,
        "s",
        lambda s, K, y: (
            V := inv(K + np.diag(s)),
            (np.diag(V) - np.square(V @ y)) / 2,
        )[1],
        s=POSITIVE4,
        K=SPD4,
        y="4",
    ),
    row(
        "curvature of a logistic regression, weights",
        lambda b, X: _log_det(_weighted(X, (p := plain_sigmoid(X @ b)) * (1 - p)) + np.eye(3)),
        "b",
        lambda b, X: (
            p := sigmoid(X @ b),
            v := p * (1 - p),
            X.T @ (v * (1 - 2 * p) * np.sum(X @ inv(_weighted(X, v) + np.eye(3)) * X, axis=1)),
        )[2],
        b="3",
        X="6,3",
    ),
    row(
        "matrix normal, rows' covariance",
        lambda U, V, X: (np.trace(inv(V) @ X.T @ inv(U) @ X) + 3 * _log_det(U)) / 2,
        "U",
        lambda U, V, X: (
            P := inv(U),
            Z := P @ X,
            (3 * P - Z @ inv(V) @ Z.T) / 2,
        )[2],
        U=SPD4,
        V=sg.spec("3,3", assume=sg.positive_definite),
        X="4,3",
    ),
    row(
        "innovation likelihood, observation",
        lambda H, P, R, v: (_log_det(H @ P @ H.T + R) + v @ solve(H @ P @ H.T + R, v)) / 2,
        "H",
        lambda H, P, R, v: (
            G := H @ P,
            V := inv(G @ H.T + R),
            a := V @ v,
            (V - np.outer(a, a)) @ G,
        )[3],
        H="4,4",
        P=SPD4,
        R=SPD4,
        v="4",
    ),
    row(
        "graph convolution, weights",
        lambda W, A, X, T: np.sum((A @ X @ W - T) ** 2) / 2,
        "W",
        lambda W, A, X, T: (Z := A @ X, Z.T @ (Z @ W - T))[1],
        W="3,2",
        A=SYM4,
        X="4,3",
        T="4,2",
    ),
    row(
        "canonical correlation, first direction",
        lambda u, v, A, B, C: (u @ C @ v) / np.sqrt((u @ A @ u) * (v @ B @ v)),
        "u",
        lambda u, v, A, B, C: (
            q := C @ v,
            m := A @ u,
            a := u @ m,
            (q - (u @ q) / a * m) / np.sqrt(a * (v @ B @ v)),
        )[3],
        u="4",
        v="4",
        A=SPD4,
        B=SPD4,
        C="4,4",
    ),
]

INTERACTIONS = [*PAIRS, *SYSTEMS]
