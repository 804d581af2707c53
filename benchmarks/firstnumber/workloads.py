"""Scalar functions of named arrays, written once over a package's namespace.

`xp` is a namespace of `packages`: the package's own functions, and `erf`, `column` and `rows`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["WORKLOADS", "Workload"]

STEPS = 50
"""Of the unrolled recurrences."""


@dataclass(frozen=True)
class Workload:
    """A function and the shapes of its arguments."""

    f: Callable[..., Any]
    shapes: dict[str, tuple[int, ...]]
    positive: bool = False
    """Whether the arguments are positive numbers."""

    def arrays(self) -> dict[str, Any]:
        """Arguments of ordinary size."""
        rng = np.random.default_rng(0)
        found = {name: 0.3 * rng.normal(size=shape) for name, shape in self.shapes.items()}
        return {name: np.exp(each) for name, each in found.items()} if self.positive else found


def softmax(xp: Any, z: Any) -> Any:
    """Of each row, written out."""
    e = xp.exp(z)
    return e / xp.column(xp.rows(e), e)


def log_of_summed(xp: Any, z: Any) -> Any:
    """The logarithm of the sum of exponentials of each row, written out."""
    return xp.log(xp.rows(xp.exp(z)))


def sigmoid(xp: Any, z: Any) -> Any:
    """Written out."""
    return 1 / (1 + xp.exp(-z))


# -- random graphs -----------------------------------------------------------------------------
UNARY: tuple[Callable[[Any, Any], Any], ...] = (
    lambda xp, x: xp.tanh(x),
    lambda xp, x: xp.sin(x),
    lambda xp, x: xp.cos(x),
    lambda xp, x: -x,
    lambda xp, x: x * 0.5,
    lambda xp, x: xp.exp(-x * x),
    sigmoid,
    lambda xp, x: xp.sqrt(1 + x * x),
    lambda xp, x: xp.log(1 + xp.exp(x)),
)
BINARY: tuple[Callable[[Any, Any, Any], Any], ...] = (
    lambda xp, x, y: x + y,
    lambda xp, x, y: x - y,
    lambda xp, x, y: xp.tanh(x) * y,
    lambda xp, x, y: x / (1 + y * y),
)


def random_graph(steps: int) -> Callable[..., Any]:
    """A function whose graph has about so many nodes, of kinds drawn by chance."""

    def function(xp: Any, x: Any, w: Any) -> Any:
        rng = random.Random(0)
        loose, values, made = [x], [x], 0
        while made < steps:
            pick = loose.pop(rng.randrange(len(loose))) if loose else rng.choice(values[-200:])
            kind = rng.random()
            if kind < 0.45:
                value, new = rng.choice(UNARY)(xp, pick), 2
            elif kind < 0.90:
                # x comes in again and again, or its gradient would vanish in the depth.
                other = x if rng.random() < 0.2 else rng.choice(values[-200:])
                value, new = rng.choice(BINARY)(xp, pick, other), 2
            elif kind < 0.96:
                value, new = xp.tanh(pick @ w), 2
            else:
                value, new = softmax(xp, pick), 4
            made += new
            values.append(value)
            loose.append(value)
        total = loose[0]
        for each in loose[1:]:
            total = total + each
        return xp.sum(total * total)

    return function


# -- networks ----------------------------------------------------------------------------------
def mlp(xp: Any, x: Any, w1: Any, w2: Any, y: Any) -> Any:
    """A perceptron of two layers with softmax cross-entropy."""
    z = xp.tanh(x @ w1) @ w2
    return -xp.sum(y * (z - xp.column(log_of_summed(xp, z), z)))


def attention(xp: Any, q: Any, k: Any, v: Any) -> Any:
    """One head."""
    return xp.sum(xp.tanh(softmax(xp, q @ k.T / 8**0.5) @ v))


def lstm(xp: Any, x: Any, w: Any, u: Any, b: Any) -> Any:
    """A cell, unrolled."""
    h = c = b[0] * 0
    for t in range(STEPS):
        z = [x[t] @ w[i] + h @ u[i] + b[i] for i in range(4)]
        c = sigmoid(xp, z[0]) * c + sigmoid(xp, z[1]) * xp.tanh(z[2])
        h = sigmoid(xp, z[3]) * xp.tanh(c)
    return xp.sum(h * h)


def rnn(xp: Any, x: Any, w: Any, u: Any, b: Any) -> Any:
    """A plain recurrent network, unrolled, with a loss at each step."""
    h, total = b * 0, 0.0
    for t in range(STEPS):
        h = xp.tanh(x[t] @ w + h @ u + b)
        total = total + xp.sum((h - 0.1) ** 2)
    return total


# -- statistics, finance, vision ---------------------------------------------------------------
def hidden_markov(xp: Any, start: Any, change: Any, seen: Any) -> Any:
    """The log-likelihood of 20 observations, by the forward recursion on logarithms."""
    step = softmax(xp, change)
    at = start + seen[0]
    for t in range(1, 20):
        at = xp.log(xp.exp(at) @ step) + seen[t]
    return xp.log(xp.sum(xp.exp(at)))


def mixture(xp: Any, weights: Any, means: Any, factors: Any, x: Any) -> Any:
    """The log-likelihood of a mixture of Gaussians whose precisions have triangular factors."""
    centred = x[:, None, :] - means[None, :, :]
    whitened = xp.einsum("kij,nkj->nki", factors, centred)
    inner = weights - 0.5 * xp.rows(whitened * whitened)
    return xp.sum(log_of_summed(xp, inner)) - x.shape[0] * xp.log(xp.sum(xp.exp(weights)))


def black_scholes(xp: Any, s: Any, k: Any, t: Any, r: Any, v: Any) -> Any:
    """The price of calls, summed: its gradient is the Greeks."""
    spread = v * xp.sqrt(t)
    d1 = (xp.log(s / k) + (r + 0.5 * v * v) * t) / spread
    d2 = d1 - spread
    below = [0.5 * (1 + xp.erf(d / 2**0.5)) for d in (d1, d2)]
    return xp.sum(s * below[0] - k * xp.exp(-r * t) * below[1])


def bundle(xp: Any, camera: Any, point: Any, seen: Any) -> Any:
    """Squared reprojection errors; a camera is angle times axis, centre, focal length, lens."""
    turn, moved = camera[:, 0:3], point - camera[:, 3:6]
    angle = xp.sqrt(xp.rows(turn * turn))
    cos, sin = xp.cos(angle), xp.sin(angle)
    a, b, c = (turn[:, i] / angle for i in range(3))
    x, y, z = (moved[:, i] for i in range(3))
    along = (a * x + b * y + c * z) * (1 - cos)
    px = x * cos + (b * z - c * y) * sin + a * along
    py = y * cos + (c * x - a * z) * sin + b * along
    pz = z * cos + (a * y - b * x) * sin + c * along + 5
    u, v = px / pz, py / pz
    square = u * u + v * v
    lens = (1 + camera[:, 7] * square + camera[:, 8] * square * square) * camera[:, 6]
    return xp.sum((u * lens - seen[:, 0]) ** 2 + (v * lens - seen[:, 1]) ** 2)


def scalar(xp: Any, x: Any, y: Any) -> Any:
    """Some 90 operations on two numbers."""
    for i in range(10):
        x, y = xp.sin(x * y) + 0.1 * i, xp.exp(-y * y) * x + xp.tanh(y)
    return x * y


GATES = {"x": (STEPS, 3), "w": (4, 3, 4), "u": (4, 4, 4), "b": (4, 4)}
CELL = {"x": (STEPS, 3), "w": (3, 4), "u": (4, 4), "b": (4,)}

WORKLOADS: dict[str, Workload] = {
    "mlp": Workload(mlp, {"x": (8, 5), "w1": (5, 6), "w2": (6, 4), "y": (8, 4)}),
    "attention": Workload(attention, {"q": (6, 8), "k": (6, 8), "v": (6, 8)}),
    "scalar": Workload(scalar, {"x": (), "y": ()}),
    "Black-Scholes": Workload(black_scholes, dict.fromkeys("sktrv", (100,)), positive=True),
    "bundle adjustment": Workload(bundle, {"camera": (30, 9), "point": (30, 3), "seen": (30, 2)}),
    "mixture": Workload(
        mixture, {"weights": (4,), "means": (4, 3), "factors": (4, 3, 3), "x": (50, 3)}
    ),
    "HMM": Workload(hidden_markov, {"start": (5,), "change": (5, 5), "seen": (20, 5)}),
    "RNN, 50 steps": Workload(rnn, CELL),
    "LSTM, 50 steps": Workload(lstm, GATES),
    **{
        f"random {size:,}": Workload(random_graph(size), {"x": (4, 3), "w": (3, 3)})
        for size in (100, 1_000, 10_000, 100_000)
    },
}
