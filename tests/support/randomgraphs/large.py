"""Graphs of any size: a random one that stays finite, and a chain."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["chain", "random_function"]

_UNARY: tuple[Callable[[Any], Any], ...] = (
    np.tanh,
    np.sin,
    np.cos,
    lambda x: -x,
    lambda x: x * 0.5,
    lambda x: np.exp(-x * x),
    lambda x: 1 / (1 + np.exp(-x)),
    lambda x: np.sqrt(1 + x * x),
    lambda x: np.log(1 + np.exp(x)),
    lambda x: np.maximum(x, 0),
)
_BINARY: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: np.tanh(x) * y,
    lambda x, y: x / (1 + y * y),
    lambda x, y: np.where(x > y, x, 0.5 * y),
)


def random_function(steps: int, seed: int = 0) -> Callable[[Any, Any], Any]:
    """A scalar function of a (4, 3) and a (3, 3) array whose graph has a little over `steps` nodes.

    Elementwise steps with reductions, softmaxes and products among them; operands are mostly values
    that nothing uses yet, so the graph is neither a chain nor a bush of loose ends.
    """

    def function(x: Any, w: Any) -> Any:
        rng = random.Random(seed)
        loose, values, made = [x], [x], 0
        while made < steps:
            pick = loose.pop(rng.randrange(len(loose))) if loose else rng.choice(values[-200:])
            kind = rng.random()
            if kind < 0.45:
                value = rng.choice(_UNARY)(pick)
                made += 2
            elif kind < 0.85:
                # x comes in again and again, or its gradient would vanish in the depth.
                other = x if rng.random() < 0.2 else rng.choice(values[-200:])
                value = rng.choice(_BINARY)(pick, other)
                made += 3
            elif kind < 0.92:
                value = np.tanh(pick @ w)
                made += 2
            elif kind < 0.96:
                value = np.exp(pick) / np.sum(np.exp(pick), axis=-1, keepdims=True)
                made += 3
            else:
                value = pick - np.mean(pick, axis=0, keepdims=True)
                made += 3
            values.append(value)
            if rng.random() < 0.6 or not loose:
                loose.append(value)
        while len(loose) > 1:
            loose = [
                np.tanh(one) + other for one, other in zip(loose[::2], loose[1::2], strict=False)
            ] + ([loose[-1]] if len(loose) % 2 else [])
        return np.sum(loose[0])

    return function


def chain(length: int) -> Callable[[Any], Any]:
    """A function of an array whose graph is a chain of `length` operations and a sum."""

    def function(x: Any) -> Any:
        for _ in range(length // 2):
            x = np.sin(x + 0.25)
        return np.sum(x)

    return function
