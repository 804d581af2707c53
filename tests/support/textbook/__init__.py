"""Textbook gradients: a function as a user would write it, and the closed form of its gradient.

Each row has the function, what is known of its inputs, what it is differentiated with respect to,
and the gradient a mathematician would write: a function again, so its numbers and its operation
count come from the same place as those of the gradient that is derived.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import symgraph as sg

__all__ = ["Row", "numbers", "traced"]


@dataclass(frozen=True)
class Row:
    """One gradient of the catalogue.

    Parameters
    ----------
    name : str
    f : callable
        The scalar function.
    wrt : str
    closed : callable
        The gradient in closed form; takes the inputs of `f`.
    specs : mapping of str to Spec
    """

    name: str
    f: Callable[..., Any]
    wrt: str
    closed: Callable[..., Any]
    specs: Mapping[str, sg.Spec]

    def __str__(self) -> str:
        return self.name


def traced(f: Callable[..., Any], specs: Mapping[str, sg.Spec]) -> sg.Graph:
    """The graph of `f`, which may leave inputs unused."""
    arrays = {name: sg.input(name, s.shape, s.dtype, s.assume) for name, s in specs.items()}
    return sg.graph(f(**arrays), inputs=list(arrays.values()))


def numbers(row: Row, sizes: Mapping[str, int], seed: int = 0) -> dict[str, np.ndarray]:
    """Random inputs that satisfy the facts stated of them."""
    rng = np.random.default_rng(seed)
    return {name: _number(rng, s, sizes) for name, s in row.specs.items()}


def _number(rng: np.random.Generator, spec: sg.Spec, sizes: Mapping[str, int]) -> np.ndarray:
    text = spec.shape if isinstance(spec.shape, str) else ",".join(map(str, spec.shape))
    shape = tuple(
        int(part) if part.strip().isdigit() else sizes[part.strip()]
        for part in text.split(",")
        if part.strip()
    )
    if np.dtype(spec.dtype).kind == "i":
        return rng.integers(0, 3, size=shape)
    x = rng.standard_normal(shape)
    for fact in spec.assume:
        x = _with_fact(x, fact)
    return x.astype(spec.dtype)


def _with_fact(x: np.ndarray, fact: sg.Fact) -> np.ndarray:
    match fact.name:
        case "positive" | "nonnegative":
            return np.abs(x) + 0.1
        case "nonzero":
            return np.where(x < 0, x - 0.1, x + 0.1)
        case "interval":
            low, high = fact.args
            return low + (high - low) * (0.5 + np.tanh(x) / 2.2)
        case "simplex":
            e = np.exp(x)
            return e / e.sum(axis=fact.args[0], keepdims=True)
        case "one_hot":
            axis = fact.args[0]
            return (x == x.max(axis=axis, keepdims=True)).astype(float)
        case "symmetric":
            return (x + np.swapaxes(x, -1, -2)) / 2
        case "positive_definite":
            return x @ np.swapaxes(x, -1, -2) + np.eye(x.shape[-1])
        case _:
            raise ValueError(f"no numbers for {fact}")
