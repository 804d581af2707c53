"""Two values may each be had from the other: one of them is computed as it was."""

from __future__ import annotations

from typing import Any

import numpy as np

import symgraph as sg
from symgraph.array import FUNCTIONS, Array
from symgraph.passes.reuse import _circle


def test_simplify_ends() -> None:
    """A random program on which the search went round and round."""

    def f(x: Any, y: Any) -> Any:
        total = np.sum(x, axis=-1, keepdims=True)
        base = np.exp(np.tanh(y)) + 0.0
        power = base ** np.einsum("i,i->", total, total)
        joined = np.concatenate([base, y], axis=-1)
        blocks = np.reshape(joined, (2, 8, 2))
        twice = np.concatenate([blocks, blocks], axis=-3)
        root = np.sqrt(x**2 + x**2 + 1)
        loss = np.sum(np.sin(root)) * 0.5 + np.sum(np.sin(power)) / 3
        loss = loss + np.sum(joined @ blocks) * 2 + np.sum(twice) * 2
        return loss * 0.01 + np.sum(np.diag(base)) * 0.5

    graph = sg.trace(f, x=sg.spec((4,), assume=sg.simplex(axis=-1)), y=(4, 4)).gradient("x", "y")
    given = {"x": np.array([0.1, 0.2, 0.3, 0.4]), "y": np.cos(np.arange(16.0)).reshape(4, 4)}
    _, wanted = graph.evaluate(**given)
    _, found = graph.simplify().evaluate(**given)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_a_circle_is_found() -> None:
    (x,) = sg.trace(lambda x: x, x=(3,)).dag.outputs
    sine, cosine = (FUNCTIONS[name](Array(x)).node for name in ("sin", "cos"))
    both = (Array(sine) + Array(cosine)).node
    of_cosine, of_sine = (FUNCTIONS["exp"](Array(each)).node for each in (cosine, sine))
    assert set(_circle({sine: of_cosine, cosine: of_sine}, [both])) == {sine, cosine}
    assert _circle({sine: of_cosine}, [both]) == []
