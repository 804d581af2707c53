"""What is right by luck: of a value that was lost before, what happens to be right is no loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

import symgraph as sg
from symgraph.accuracy import judge_of
from symgraph.accuracy.lost_numbers import plainly_gone
from symgraph.accuracy.luck import lucky_probes
from symgraph.accuracy.probes import COUNT
from symgraph.accuracy.trial import Trial
from symgraph.ir.fact_inference import Knowledge


def block(x: Any, q: Any, k: Any, v: Any, o: Any, g: Any, h: Any, up: Any, down: Any) -> Any:
    """A layer of a transformer: masked attention and a gated layer, both behind a norm."""

    def normed(x: Any, gain: Any) -> Any:
        return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-6) * gain

    n = normed(x, g)
    scores = (n @ q) @ (n @ k).T / 2.0
    scores = scores + np.triu(-1e9 * np.ones(scores.shape), 1)
    exps = np.exp(scores - np.max(scores, -1, keepdims=True))
    x = x + exps / np.sum(exps, -1, keepdims=True) @ (n @ v) @ o
    gate = normed(x, h) @ up
    return np.mean((x + gate / (1 + np.exp(-gate)) @ down) ** 2)


def test_what_is_right_by_luck_does_not_keep_a_longer_gradient() -> None:
    sizes = [(5, 4), (4, 4), (4, 4), (4, 4), (4, 4), (4,), (4,), (4, 8), (8, 4)]
    names = ("x", "q", "k", "v", "o", "g", "h", "up", "down")
    shapes = dict(zip(names, sizes, strict=True))
    derived = sg.trace(block, **shapes).gradient(*names, value=False)
    found = derived.simplify()
    assert found.op_count() <= 84 < derived.op_count()
    rng = np.random.default_rng(0)
    at: dict[str, Any] = {name: rng.normal(size=size) for name, size in shapes.items()}
    for one, other in zip(found.evaluate(**at), derived.evaluate(**at), strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_zeros_beside_a_wrong_number_are_there_by_luck() -> None:
    right = np.array([[0.0, 1e60], [0.0, 2.0], [0.0, 1e60]])
    old = np.array([[[0.0, 0.0], [0.0, 2.0], [0.0, np.inf]]], np.float32)
    new = np.full((1, 3, 2), np.nan, np.float32)
    gone = plainly_gone(Trial(right, new), Trial(right, old), right)
    # Of the first row all was lost before; infinity is no wrong number.
    assert_array_equal(gone, [[False, False], [True, True], [True, False]])


def test_an_overflow_that_becomes_a_wrong_number_is_bad_luck_for_all_above() -> None:
    knowledge = Knowledge()
    x = sg.input("x", (2, 4))
    norm = np.sqrt(np.sum(x * x, axis=-1, keepdims=True) + 1)
    gate = 1 / (1 + np.exp(-x))
    trials = judge_of(knowledge).trials
    lucky = lucky_probes(trials, np.sum(x / norm).node)
    huge = np.abs(trials.of(x.node).right).reshape(COUNT, -1).max(axis=1) > 1e18
    assert lucky
    assert lucky <= set(np.flatnonzero(huge).tolist())
    assert not lucky_probes(trials, np.sum(gate).node)
