"""Fourteen functions, written once over a library's namespace, and what is derived of each.

`xp` has NumPy's names, and `erf`, `conv` and `scan` besides; see `libraries`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from firstnumber.workloads import black_scholes

__all__ = ["WARM_UP", "WORKLOADS", "Workload"]

Kind = Literal["gradient", "hessian", "hvp", "jacobian"]


@dataclass(frozen=True)
class Workload:
    """A function, what is derived of it, and its data.

    Parameters
    ----------
    f : callable
        `f(xp, **data)`.
    kind : str
        `"gradient"` gives the value too; the others do not.
    wrt : tuple of str
        The targets.
    data : callable
        Gives the arrays by name.
    simplex : tuple of str
        Arrays whose rows sum to one, as the user knows.
    rows : tuple of str
        Arrays whose rows are observations, independent of each other.
    """

    f: Callable[..., Any]
    kind: Kind
    wrt: tuple[str, ...]
    data: Callable[[], dict[str, Any]]
    simplex: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()


def _normal(*shape: int, dtype: str = "float64", scale: float = 1.0, seed: int = 0) -> Any:
    return (scale * np.random.default_rng([seed, *shape]).normal(size=shape)).astype(dtype)


_single = partial(_normal, dtype="float32")


def _within(n: int, seed: int, low: float, high: float) -> Any:
    return np.random.default_rng(seed).uniform(low, high, n)


# -- scalars ---------------------------------------------------------------------------------------
def scalar(xp: Any, a: Any, b: Any, c: Any) -> Any:
    """Some 60 operations on three numbers."""
    kinetic = a * a + b * b + c * c + a * b * xp.cos(a - b) + b * c * xp.cos(b - c)
    bump = xp.exp(-a * a) * xp.sin(c) + xp.exp(-b * b) * xp.sin(a) + xp.tanh(a * b * c)
    wave = xp.sin(a + 2 * b) * xp.cos(b - 3 * c) / (1 + a * a) + xp.log(1 + b * b + c * c)
    return kinetic / 2 - 3 * xp.cos(a) - 2 * xp.cos(b) - xp.cos(c) + bump + xp.sqrt(2 + wave)


# -- models of statistics --------------------------------------------------------------------------
def logistic(xp: Any, X: Any, y: Any, w: Any) -> Any:
    """The negative log-likelihood of logistic regression."""
    z = X @ w
    return xp.sum(xp.log(1 + xp.exp(-z)) + (1 - y) * z)


def logistic_data(n: int, d: int) -> dict[str, Any]:
    """Rows, labels and weights."""
    y = (np.random.default_rng(0).random(n) < 0.5).astype("float64")
    return {"X": _normal(n, d), "y": y, "w": _normal(d, scale=0.1)}


def mixture(xp: Any, x: Any, weights: Any, means: Any, factors: Any) -> Any:
    """The log-likelihood of a mixture of Gaussians whose precisions have factors."""
    centred = x[:, None, :] - means[None, :, :]
    whitened = xp.einsum("kij,nkj->nki", factors, centred)
    inner = weights - 0.5 * xp.sum(whitened * whitened, axis=-1)
    total = xp.sum(xp.log(xp.sum(xp.exp(inner), axis=-1)))
    return total - 1000 * xp.log(xp.sum(xp.exp(weights)))


def mixture_data() -> dict[str, Any]:
    """1,000 points, 25 components, 10 dimensions."""
    factors = np.eye(10) + _normal(25, 10, 10, scale=0.1)
    return {
        "x": _normal(1000, 10), "weights": _normal(25, scale=0.1),
        "means": _normal(25, 10), "factors": factors,
    }  # fmt: skip


def factorisation(xp: Any, A: Any, U: Any, V: Any) -> Any:
    """The squared error of a matrix of low rank."""
    d = A - U @ V
    return xp.sum(d * d)


# -- networks --------------------------------------------------------------------------------------
def network(xp: Any, X: Any, y: Any, W1: Any, b1: Any, W2: Any, b2: Any) -> Any:
    """A perceptron with relu and softmax cross-entropy, stable."""
    h = xp.maximum(X @ W1 + b1, 0)
    z = h @ W2 + b2
    z = z - xp.stop(xp.amax(z, axis=-1, keepdims=True))
    return -xp.sum(y * (z - xp.log(xp.sum(xp.exp(z), axis=-1, keepdims=True)))) / 512


def network_data() -> dict[str, Any]:
    """512 images of 784 pixels, 256 hidden units, 10 classes."""
    labels = np.eye(10, dtype="float32")[np.random.default_rng(0).integers(10, size=512)]
    return {
        "X": _single(512, 784), "y": labels, "W1": _single(784, 256, scale=0.03),
        "b1": _single(256, scale=0.1), "W2": _single(256, 10, scale=0.06),
        "b2": _single(10, scale=0.1),
    }  # fmt: skip


def smooth_network(xp: Any, X: Any, y: Any, W1: Any, W2: Any) -> Any:
    """A perceptron with tanh and squares, for second derivatives."""
    d = xp.tanh(X @ W1) @ W2 - y
    return xp.sum(d * d) / 256


def smooth_network_data() -> dict[str, Any]:
    """256 rows, 256 hidden units."""
    return {
        "X": _single(256, 256), "y": _single(256, 10),
        "W1": _single(256, 256, scale=0.06), "W2": _single(256, 10, scale=0.06),
    }  # fmt: skip


def cross_entropy(xp: Any, z: Any, p: Any) -> Any:
    """Softmax cross-entropy, written naively."""
    e = xp.exp(z)
    return -xp.sum(p * xp.log(e / xp.sum(e, axis=-1, keepdims=True)))


def cross_entropy_data() -> dict[str, Any]:
    """4,096 rows of 1,000 classes."""
    p = np.random.default_rng(0).random((4096, 1000))
    return {"z": _single(4096, 1000), "p": (p / p.sum(-1, keepdims=True)).astype("float32")}


def lstm(xp: Any, x: Any, W: Any, U: Any, b: Any, start: Any) -> Any:
    """A layer of 50 steps."""

    def sigmoid(z: Any) -> Any:
        return 1 / (1 + xp.exp(-z))

    def step(h: Any, c: Any, each: Any) -> tuple[Any, Any]:
        z = each @ W + h @ U + b
        i, f, o, g = (z[:, 128 * k : 128 * (k + 1)] for k in range(4))
        c = sigmoid(f) * c + sigmoid(i) * xp.tanh(g)
        return sigmoid(o) * xp.tanh(c), c

    h, c = xp.scan(step, start, x)
    return xp.sum(h * h) + xp.sum(c)


def lstm_data() -> dict[str, Any]:
    """32 sequences of 64 numbers, 128 hidden units."""
    return {
        "x": _single(50, 32, 64), "W": _single(64, 512, scale=0.1),
        "U": _single(128, 512, scale=0.1), "b": _single(512, scale=0.1),
        "start": np.zeros((32, 128), "float32"),
    }  # fmt: skip


def attention(xp: Any, x: Any, Wq: Any, Wk: Any, Wv: Any, Wo: Any, batch: int = 2) -> Any:
    """Eight heads with projections, naive softmax."""

    def heads(W: Any) -> Any:
        return xp.transpose(xp.reshape(x @ W, (batch, 256, 8, 64)), (0, 2, 1, 3))

    q, k, v = heads(Wq), heads(Wk), heads(Wv)
    e = xp.exp(q @ xp.transpose(k, (0, 1, 3, 2)) / 8)
    mixed = (e / xp.sum(e, axis=-1, keepdims=True)) @ v
    out = xp.reshape(xp.transpose(mixed, (0, 2, 1, 3)), (batch, 256, 512)) @ Wo
    return xp.sum(out * out)


def attention_data() -> dict[str, Any]:
    """Two sequences of 256 vectors of 512."""
    weights = {n: _single(512, 512, scale=0.04, seed=i) for i, n in enumerate(("Wq", "Wk"))}
    weights |= {n: _single(512, 512, scale=0.04, seed=i) for i, n in enumerate(("Wv", "Wo"), 2)}
    return {"x": _single(2, 256, 512), **weights}


def convolution(xp: Any, x: Any, w: Any, b: Any) -> Any:
    """A layer with relu, and the sum of squares."""
    h = xp.maximum(xp.conv(x, w) + xp.reshape(b, (32, 1, 1)), 0)
    return xp.sum(h * h)


def convolution_data() -> dict[str, Any]:
    """16 images of 16 channels, 30 x 30; 32 filters of 3 x 3."""
    return {
        "x": _single(16, 16, 30, 30), "w": _single(32, 16, 3, 3, scale=0.1),
        "b": _single(32, scale=0.1),
    }  # fmt: skip


# -- finance, vision -------------------------------------------------------------------------------
def options_data() -> dict[str, Any]:
    """A million options."""
    limits = {"s": (90, 110), "k": (90, 110), "t": (0.5, 1.5), "r": (0.01, 0.03), "v": (0.2, 0.3)}
    return {n: _within(10**6, i, *ends) for i, (n, ends) in enumerate(limits.items())}


def bundle(xp: Any, camera: Any, point: Any, seen: Any) -> tuple[Any, Any]:
    """The two errors of reprojection of each observation, summed over observations.

    So the gradients of the two sums are the Jacobians of all observations. A camera is angle times
    axis, centre, focal length and two coefficients of the lens.
    """
    w = [camera[:, i] for i in range(3)]
    moved = [point[:, i] - camera[:, 3 + i] for i in range(3)]
    angle = xp.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    cos, sin = xp.cos(angle), xp.sin(angle)
    a, b, c = (each / angle for each in w)
    x, y, z = moved
    along = (a * x + b * y + c * z) * (1 - cos)
    px = x * cos + (b * z - c * y) * sin + a * along
    py = y * cos + (c * x - a * z) * sin + b * along
    pz = z * cos + (a * y - b * x) * sin + c * along + 5
    u, t = px / pz, py / pz
    square = u * u + t * t
    lens = (1 + camera[:, 7] * square + camera[:, 8] * square * square) * camera[:, 6]
    return xp.sum(u * lens - seen[:, 0]), xp.sum(t * lens - seen[:, 1])


def bundle_data() -> dict[str, Any]:
    """30,000 observations."""
    return {
        "camera": 0.3 * _normal(30_000, 9) + 0.1, "point": 0.3 * _normal(30_000, 3),
        "seen": _normal(30_000, 2),
    }  # fmt: skip


WORKLOADS: dict[str, Workload] = {
    "60-op scalar function": Workload(
        scalar, "gradient", ("a", "b", "c"),
        lambda: {"a": np.array(0.3), "b": np.array(-0.7), "c": np.array(1.1)},
    ),
    "logistic regression, small": Workload(
        logistic, "gradient", ("w",), lambda: logistic_data(100, 10)
    ),
    "logistic regression, big": Workload(
        logistic, "gradient", ("w",), lambda: logistic_data(100_000, 100)
    ),
    "logistic regression, Hessian": Workload(
        logistic, "hessian", ("w",), lambda: logistic_data(2000, 100)
    ),
    "MLP": Workload(network, "gradient", ("W1", "b1", "W2", "b2"), network_data),
    "MLP, HVP": Workload(smooth_network, "hvp", ("W1", "W2"), smooth_network_data),
    "softmax cross-entropy, naive": Workload(
        cross_entropy, "gradient", ("z",), cross_entropy_data, simplex=("p",)
    ),
    "Black-Scholes, five sensitivities": Workload(
        black_scholes, "gradient", ("s", "k", "t", "r", "v"), options_data
    ),
    "bundle adjustment": Workload(
        bundle, "jacobian", ("camera", "point"), bundle_data, rows=("camera", "point", "seen")
    ),
    "Gaussian mixture": Workload(
        mixture, "gradient", ("weights", "means", "factors"), mixture_data
    ),
    "LSTM": Workload(lstm, "gradient", ("W", "U", "b"), lstm_data),
    "attention": Workload(attention, "gradient", ("x", "Wq", "Wk", "Wv", "Wo"), attention_data),
    "convolution": Workload(convolution, "gradient", ("x", "w", "b"), convolution_data),
    "matrix factorisation, Hessian": Workload(
        factorisation, "hessian", ("U",),
        lambda: {"A": _normal(20, 15), "U": _normal(20, 3), "V": _normal(3, 15)},
    ),
}  # fmt: skip

WARM_UP = Workload(
    lambda xp, x: xp.sum(xp.tanh(x) * x), "gradient", ("x",), lambda: {"x": _normal(7)}
)
"""What loads the parts of a library that it loads once a process."""
