"""What is right by luck: of a value that was lost before, what happens to be right is no loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import symgraph as sg
import symgraph.numpy as snp
from symgraph.accuracy import judge_of
from symgraph.accuracy.lost_numbers import plainly_gone
from symgraph.accuracy.lucky_values import lucky_probes
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


@pytest.mark.whole
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


X, Y, Z = (sg.input(name, 3) for name in "xyz")
ONE = snp.exp(X**2) / snp.exp(X**2)
"""NaN where exp overflows."""
KEPT = snp.where(ONE * Y > 0, Z, 0)
HALF = X * (X / snp.sqrt(X**4))
"""1, but 0 where the fourth power overflows."""


@pytest.mark.parametrize(
    ("new", "old", "lost"),
    [
        # Where infinities made NaN, a comparison with it is false, and 0 may be right.
        (snp.where(Y > 0, Z, 0) * ONE, KEPT, False),
        # Not where the logarithm of a negative number did, or where NaN was not chosen.
        (KEPT + 0 * snp.log(X), snp.where(snp.log(X) * Y > 0, Z, 0), True),
        (
            snp.where(X > 0, X, 0) + 0 * ONE,
            snp.where(X > 0, X, snp.where(X > -1, 0, 0 * ONE)),
            True,
        ),
        # A wrong number of the right size is no number to lose; one that it does not touch is.
        (HALF + 1.2 + 0 * X**4, HALF + 1.2, False),
        (HALF + 1e6 + 0 * X**4, HALF + 1e6, True),
    ],
    ids=["compared", "domain", "not compared", "wrong", "right"],
)
def test_of_whole_graphs_what_is_right_by_luck_is_no_loss(
    new: sg.Array, old: sg.Array, lost: bool
) -> None:
    knowledge = Knowledge()
    judge = judge_of(knowledge)
    assert judge.loses(new.node, old.node)
    assert judge.loses_as_a_whole(new.node, old.node) is lost


def _paths(start: Any, drift: Any, sigma: Any, z: Any) -> Any:
    """A call on a geometric Brownian motion, step by step."""
    for t in range(len(z)):
        start = start * np.exp((drift - 0.5 * sigma**2) * 0.1 + sigma * np.sqrt(0.1) * z[t])
    return np.mean(np.maximum(start - 100, 0))


def _adam(rate: Any, w: Any, x: Any, y: Any) -> Any:
    """Ten steps of Adam on a least-squares problem."""
    m, v = np.zeros(3), np.zeros(3)
    for t in range(1, 11):
        g = x.T @ (x @ w - y)
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        w = w - rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.99**t)) + 1e-8)
    return np.sum((x @ w - y) ** 2)


_RNG = np.random.default_rng(0)
UNROLLED: dict[str, tuple[Any, dict[str, Any], tuple[str, ...], int]] = {
    "Brownian motion": (
        _paths,
        {"start": 100.0, "drift": 0.1, "sigma": 0.2, "z": _RNG.normal(size=(12, 6))},
        ("start", "drift", "sigma"),
        41,
    ),
    "Adam": (
        _adam,
        {"rate": 0.1, "w": np.ones(3), "x": _RNG.normal(size=(5, 3)), "y": np.ones(5)},
        ("rate", "w"),
        362,
    ),
}
"""Function, arguments, what is differentiated for, and the most operations."""


@pytest.mark.whole
@pytest.mark.parametrize("name", UNROLLED)
def test_loops_of_which_a_step_overflows_are_no_longer_than_derived(name: str) -> None:
    """Where a gradient as derived is right by luck, two backward passes must not be mixed."""
    function, at, wrt, most = UNROLLED[name]
    derived = sg.trace(function, **at).gradient(*wrt, value=False)
    found = derived.simplify()
    assert found.op_count() <= most < derived.op_count()
    for one, other in zip(found.evaluate(**at), derived.evaluate(**at), strict=True):
        assert_allclose(one, other, rtol=1e-10)
