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
import symgraph.numpy as snp
from symgraph.ir.scope import tracing

__all__ = [
    "POSITIVE",
    "PROBABILITY",
    "SCALE",
    "SIMPLEX",
    "SPD",
    "SYMMETRIC",
    "Row",
    "log_sum_exp",
    "numbers",
    "plain_sigmoid",
    "plain_softmax",
    "row",
    "traced",
]

# What is known of a number, of five or of a matrix of five rows, where many rows say the same.
POSITIVE = sg.spec("5", assume=sg.positive)
SCALE = sg.spec("", assume=sg.positive)
PROBABILITY = sg.spec("5", assume=sg.interval(0.05, 0.95))
SIMPLEX = sg.spec("5", assume=sg.simplex(axis=-1))
SYMMETRIC = sg.spec("5, 5", assume=sg.symmetric)
SPD = sg.spec("5, 5", assume=sg.positive_definite)


@dataclass(frozen=True)
class Row:
    """One gradient of the catalogue.

    Parameters
    ----------
    name : str
    f : callable
        The scalar function.
    wrt : tuple of str
        One input, or several for a joint gradient.
    closed : callable
        The gradient in closed form, a tuple of them if joint; takes the inputs of `f`.
    specs : mapping of str to Spec
    """

    name: str
    f: Callable[..., Any]
    wrt: tuple[str, ...]
    closed: Callable[..., Any]
    specs: Mapping[str, sg.Spec]

    def __str__(self) -> str:
        return self.name


def traced(f: Callable[..., Any], specs: Mapping[str, sg.Spec]) -> sg.Graph:
    """The graph of `f`, which may leave inputs unused."""
    arrays = {name: sg.input(name, s.shape, s.dtype, s.assume) for name, s in specs.items()}
    with tracing("f"):
        found = f(**arrays)
        outputs = found if isinstance(found, tuple) else (found,)
        return sg.graph(*map(snp.asarray, outputs), inputs=list(arrays.values()))


def row(name: str, f: Any, wrt: str, closed: Any, /, **specs: sg.Spec | str) -> Row:
    """A row, with shapes alone for inputs of which nothing is known; `wrt` is split at spaces."""
    full = {
        key: sg.spec(value) if isinstance(value, str) else value for key, value in specs.items()
    }
    return Row(name, f, tuple(wrt.split()), closed, full)


# -- what users write where a library would have a stable form -------------------------------------
def log_sum_exp(z: Any, axis: int | None = None) -> Any:
    return np.log(np.sum(np.exp(z), axis=axis))


def plain_sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def plain_softmax(z: Any, axis: int = -1) -> Any:
    e = np.exp(z)
    return e / np.sum(e, axis=axis, keepdims=True)


# -- random inputs ---------------------------------------------------------------------------------
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
