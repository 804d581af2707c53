"""Random expressions: exps and what is made of them, to be tried far from zero, and calculus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

import symgraph as sg
import symgraph.numpy as snp

At: TypeAlias = dict[str, np.ndarray[Any, Any]]

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

FUNCTIONS: list[Callable[[Any], Any]] = [
    *(np.sin, np.cos, np.tan, np.arcsin, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh),
    *(np.exp, np.expm1, np.log, np.log1p, np.log2, np.sqrt, np.abs, np.sign),
    *(snp.sigmoid, snp.softplus, snp.erf),
    lambda t: np.exp(-t),
    lambda t: 1 / t,
    lambda t: t,
    lambda t: 3 * t,
    lambda t: t / 2,
    lambda t: -t,
    lambda t: 1 + t**2,
    lambda t: 1 - t,
    lambda t: 2 * t + 1,
    lambda t: 1 + np.exp(t),
    lambda t: 1 - np.exp(-t),
    lambda t: np.maximum(t, 0.5),
]
FAMILIES: list[list[Callable[[Any], Any]]] = [
    [np.sin, np.cos, np.tan],
    [np.sinh, np.cosh, np.tanh],
    [np.exp, lambda t: np.exp(-t), lambda t: 1 + np.exp(t), snp.sigmoid],
    [np.log, np.sqrt, lambda t: 1 / t, lambda t: t],
    [lambda t: 1 + t**2, np.arctan, lambda t: t],
    [lambda t: 1 - t, lambda t: 1 + t, lambda t: t],
]
"""Functions that identities hold between."""

POWERS = [1, 1, 1, 2, 2, 3, 4, -1, -2, -3, 0.5, -0.5, 1.5]
NUMBERS = [1, 1, 1, 2, -1, 0.5, 3, -0.25]


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


def calculus(seed: int) -> sg.Graph:
    """A sum of products of few functions, each to several powers."""

    def factor(rng: np.random.Generator, few: list[Any], arrays: list[Any]) -> Any:
        function = pick(rng, few if rng.random() < 0.8 else FUNCTIONS)
        inside = pick(rng, arrays)
        if rng.random() < 0.15:
            inside = pick(rng, few)(inside)
        power = pick(rng, POWERS)
        return function(inside) if power == 1 else function(inside) ** power

    def f(x: Any, y: Any) -> Any:
        rng = np.random.default_rng(seed)
        alike = rng.random() < 0.6
        few = pick(rng, FAMILIES) if alike else [pick(rng, FUNCTIONS) for _ in range(3)]
        arrays = [x, x, pick(rng, [y, x * y, x + y, 2 * x])]
        found = 0 * y
        for _ in range(rng.integers(1, 4)):
            term = pick(rng, NUMBERS) * factor(rng, few, arrays)
            for _ in range(rng.integers(0, 4)):
                other = factor(rng, few, arrays)
                term = term * other if rng.random() < 0.75 else term / other
            found = found + term if rng.random() < 0.6 else found - term
        return np.sum(pick(rng, [found, found, found**2, np.sqrt(1 + found**2)]))

    shape = (SIZE,)
    x = sg.spec(shape, assume=sg.interval(0.05, 0.95) if seed % 2 else ())
    y = sg.spec(shape, assume=sg.positive if seed % 3 else ())
    return sg.trace(f, x=x, y=y).gradient("x")


def far(graph: sg.Graph, seed: int) -> Iterator[At]:
    """Numbers near and far; p is positive, and far in one direction or the other."""
    rng = np.random.default_rng(seed + 7)
    for scale in (1.0, 30.0, 1000.0):
        size = scale if rng.random() < 0.5 else 1 / scale
        at: At = {}
        for name, node in graph.dag.inputs.items():
            away = scale * rng.standard_normal(node.shape)
            at[name] = (0.1 + rng.random(node.shape)) * size if name == "p" else away
        yield at


def near(graph: sg.Graph, seed: int) -> Iterator[At]:
    """Positive numbers below 1."""
    rng = np.random.default_rng(seed + 7)
    for _ in range(2):
        yield {name: rng.uniform(0.05, 0.95, SIZE) for name in graph.dag.inputs}


@dataclass(frozen=True)
class Kind:
    """From a seed to a graph with its gradient, as derived, and where to try it."""

    graph: Callable[[int], sg.Graph]
    inputs: Callable[[sg.Graph, int], Iterator[At]]


KINDS = {"vectors": Kind(vectors, far), "rows": Kind(rows, far), "calculus": Kind(calculus, near)}
