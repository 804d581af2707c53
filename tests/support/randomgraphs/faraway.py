"""Random expressions of exps and of what is made of them, to be tried far from zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import symgraph as sg
import symgraph.numpy as snp

Kind: TypeAlias = Callable[[int], sg.Graph]
"""From a seed to a graph with its gradient, as derived."""

SIZE = 4
ROWS = (3, 4)

ONE: list[Callable[[Any], Any]] = [
    np.exp,
    lambda t: np.exp(-t),
    lambda t: np.log(1 + np.exp(t)),
    snp.sigmoid,
    np.tanh,
    np.cosh,
    lambda t: np.sqrt(1 + t**2),
    np.log1p,
    lambda t: np.log(t * t + 1),
    lambda t: 1 / (1 + np.exp(-t)),
    lambda t: t**2,
    lambda t: -t,
    np.abs,
    snp.softmax,
    lambda t: np.exp(t) / np.sum(np.exp(t)),
    lambda t: np.log(np.sum(np.exp(t))) + 0 * t,
    lambda t: np.sum(t) * t,
    lambda t: np.maximum(t, 0),
    lambda t: np.where(t > 0, t, np.exp(t) - 1),
    np.arctan,
    np.sinh,
]
TWO: list[Callable[[Any, Any, Any], Any]] = [
    lambda a, b, p: a * b,
    lambda a, b, p: a / (1 + b**2),
    lambda a, b, p: a / p,
    lambda a, b, p: a - b,
    lambda a, b, p: a + b,
]


def total(t: Any) -> Any:
    """The sums of rows."""
    return np.sum(t, axis=-1, keepdims=True)


OF_ROWS: list[Callable[[Any], Any]] = [
    np.exp,
    snp.softplus,
    snp.sigmoid,
    np.tanh,
    lambda t: np.log(1 + np.exp(t)),
    lambda t: np.exp(t) / total(np.exp(t)),
    lambda t: t - np.log(total(np.exp(t))),
    lambda t: t - np.max(t, axis=-1, keepdims=True),
    lambda t: np.exp(t - np.max(t, axis=-1, keepdims=True)),
    lambda t: t / np.sqrt(total(t * t) + 1e-5),
    lambda t: (
        (t - np.mean(t, axis=-1, keepdims=True)) / np.sqrt(np.var(t, axis=-1, keepdims=True) + 1e-5)
    ),
    lambda t: total(t) + 0 * t,
    lambda t: np.mean(t, axis=-1, keepdims=True) * t,
    lambda t: -t,
    lambda t: 0.5 * t,
    lambda t: t**2,
    np.abs,
    lambda t: np.log(np.sum(np.exp(t), axis=0)) + 0 * t,
    lambda t: np.log(snp.sigmoid(t)),
    lambda t: 1 / (1 + np.exp(-t)),
    lambda t: np.log(1 - snp.sigmoid(t)),
    lambda t: np.sqrt(1 + t**2) - 1,
    lambda t: t * snp.sigmoid(t),
    lambda t: np.exp(-(t**2) / 2),
    lambda t: np.maximum(t, 0.1 * t),
    lambda t: np.where(t > 0, t, np.expm1(np.minimum(t, 0))),
]
LOSSES: list[Callable[[Any, Any, Any, Any], Any]] = [
    lambda t, u, y, w: -np.mean(np.sum(y * t, axis=-1)),
    lambda t, u, y, w: np.mean((t - y) ** 2),
    lambda t, u, y, w: np.sum(t * u),
    lambda t, u, y, w: np.log(np.sum(np.exp(t))),
    lambda t, u, y, w: np.sum(w @ (t.T @ u)),
]


def pick(rng: np.random.Generator, options: list[Any]) -> Any:
    return options[rng.integers(len(options))]


def vectors(seed: int) -> sg.Graph:
    """A sum over elements of vectors x, y and positive p."""

    def f(x: Any, y: Any, p: Any) -> Any:
        rng = np.random.default_rng(seed)
        pool = [x, y, p, x - y, 2.0 * x, -y, np.log(p)]
        for _ in range(rng.integers(2, 6)):
            if rng.random() < 0.5:
                pool.append(pick(rng, ONE)(pick(rng, pool)))
            else:
                pool.append(pick(rng, TWO)(pick(rng, pool), pick(rng, pool), p))
        return np.sum(pool[-1] + pool[-2] * pick(rng, pool))

    shape = (SIZE,)
    p = sg.spec(shape, assume=sg.positive)
    return sg.trace(f, x=sg.spec(shape), y=sg.spec(shape), p=p).gradient("x", "y")


def rows(seed: int) -> sg.Graph:
    """A loss of matrices x, y and positive p, normalised by rows, and of weights w."""

    def f(x: Any, y: Any, p: Any, w: Any) -> Any:
        rng = np.random.default_rng(seed)
        pool = [x, y, x - y, w + 0 * x, np.log(p), p / total(p)]
        for _ in range(rng.integers(2, 6)):
            if rng.random() < 0.55:
                pool.append(pick(rng, OF_ROWS)(pick(rng, pool)))
            else:
                pool.append(pick(rng, TWO)(pick(rng, pool), pick(rng, pool), p))
        return pick(rng, LOSSES)(pool[-1], pick(rng, pool), y, w)

    p = sg.spec(ROWS, assume=sg.positive)
    graph = sg.trace(f, x=sg.spec(ROWS), y=sg.spec(ROWS), p=p, w=sg.spec((ROWS[1],)))
    return graph.gradient("x", "y", "w")


KINDS: dict[str, Kind] = {"vectors": vectors, "rows": rows}
