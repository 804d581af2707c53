"""`autograd.misc`: nested values as vectors, and plain optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symgraph.numpy as snp
from symgraph.pytrees import flatten as leaves_of
from symgraph.pytrees import unflatten

from .numpynames import holds_symbol

__all__ = ["adam", "fixed_point", "flatten", "flatten_func", "rmsprop", "sgd"]


def flatten(value: Any) -> tuple[Any, Callable[[Any], Any]]:
    """A nested value as one vector, and the function that goes back."""
    leaves, tree = leaves_of(value)
    shapes = [np.shape(leaf) for leaf in leaves]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])

    def back(vector: Any) -> Any:
        parts = [vector[end - int(np.prod(s)) : end] for s, end in zip(shapes, ends, strict=True)]
        return unflatten(
            tree, [p.reshape(s) if s else p[0] for p, s in zip(parts, shapes, strict=True)]
        )

    if not leaves:
        return np.zeros(0), back
    xp: Any = snp if holds_symbol(leaves) else np
    return xp.concatenate([xp.asarray(leaf).reshape(-1) for leaf in leaves]), back


def flatten_func(fun: Callable[..., Any], example: Any) -> Any:
    """The function on the vector that is the nested value."""
    vector, back = flatten(example)
    return lambda x, *rest: flatten(fun(back(x), *rest))[0], back, vector


def _on_vectors(
    step: Callable[[int, Any, Any, dict[str, Any]], Any],
) -> Callable[..., Any]:
    def optimize(
        grad: Any, x0: Any, callback: Any = None, num_iters: int = 200, **options: Any
    ) -> Any:
        x, back = flatten(x0)
        state: dict[str, Any] = dict(options)
        for i in range(num_iters):
            slope = flatten(grad(back(x), i))[0]
            if callback:
                callback(back(x), i, back(slope))
            x = step(i, x, slope, state)
        return back(x)

    return optimize


def _sgd(_i: int, x: Any, slope: Any, state: dict[str, Any]) -> Any:
    rate, mass = state.get("step_size", 0.1), state.get("mass", 0.9)
    state["v"] = mass * state.get("v", 0) - (1 - mass) * slope
    return x + rate * state["v"]


def _rmsprop(_i: int, x: Any, slope: Any, state: dict[str, Any]) -> Any:
    rate, gamma = state.get("step_size", 0.1), state.get("gamma", 0.9)
    state["s"] = gamma * state.get("s", np.ones(len(x))) + (1 - gamma) * slope**2
    return x - rate * slope / (np.sqrt(state["s"]) + 1e-8)


def _adam(i: int, x: Any, slope: Any, state: dict[str, Any]) -> Any:
    rate, b1, b2 = state.get("step_size", 0.001), state.get("b1", 0.9), state.get("b2", 0.999)
    state["m"] = (1 - b1) * slope + b1 * state.get("m", 0)
    state["s"] = (1 - b2) * slope**2 + b2 * state.get("s", 0)
    m, s = state["m"] / (1 - b1 ** (i + 1)), state["s"] / (1 - b2 ** (i + 1))
    return x - rate * m / (np.sqrt(s) + 1e-8)


sgd, rmsprop, adam = _on_vectors(_sgd), _on_vectors(_rmsprop), _on_vectors(_adam)


def fixed_point(f: Any, a: Any, x0: Any, distance: Any, tol: float) -> Any:
    """The fixed point of f(a), by iteration; its derivative by the implicit function theorem."""
    import symgraph as sg

    if not holds_symbol((a, x0)):
        x, before = f(a)(x0), x0
        while distance(x, before) > tol:
            x, before = f(a)(x), x
        return x
    return sg.fixed_point(lambda x, a: f(a)(x), np.asarray(x0, float), a, tolerance=tol)
