"""A recurrent net as a loop, and what tests of loops compare."""

from __future__ import annotations

from typing import Any

import numpy as np

import symgraph as sg

__all__ = ["FIRST_STATE", "SLICES", "WEIGHTS", "assert_same", "gradients", "recurrent"]

_RANDOM = np.random.default_rng(3)
WEIGHTS = _RANDOM.normal(size=(3, 3)) * 0.7
SLICES = _RANDOM.normal(size=(6, 3))
FIRST_STATE = _RANDOM.normal(size=3)


def recurrent(w: Any, xs: Any, h: Any, **options: Any) -> Any:
    """A loss of a recurrent net: last state and all results."""

    def step(h: Any, x: Any) -> Any:
        after = np.tanh(h @ w + x)
        return after, after * x

    last, ys = sg.scan(step, h, xs, **options)
    return np.sum(last * last) + np.sum(ys**3)


def gradients(f: Any, *, simplify: bool = True, **arrays: Any) -> list[Any]:
    graph = sg.trace(f, **arrays).gradient(*arrays)
    value, grads = (graph.simplify() if simplify else graph).evaluate(**arrays)
    return [value, *(grads if isinstance(grads, tuple) else [grads])]


def assert_same(got: list[Any], want: list[Any], rtol: float = 1e-11) -> None:
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-13)
