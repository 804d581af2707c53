"""Values at the probes: no luck of the order of terms in them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from randomgraphs import random_gradient

import symgraph as sg
import symgraph.numpy as snp
from symgraph.accuracy.draws import drawn
from symgraph.accuracy.probes import ORDINARY
from symgraph.accuracy.stacked_kernels import stacked
from symgraph.accuracy.trials import Trials
from symgraph.graph import stages
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.node import Node
from symgraph.ir.op import OPS

KNOWLEDGE = Knowledge()
A, B = sg.input("A", "m, n"), sg.input("B", "n, k")
X = sg.input("x", "3")


def test_a_product_of_matrices_that_overflows_both_ways_is_no_number() -> None:
    """Its sign would be that of the term that BLAS takes first, and a tanh of it any number."""
    trials = Trials(KNOWLEDGE)
    trial = trials.of((A @ B).node)
    left, right = trials.of(A.node), trials.of(B.node)
    assert trial is not None
    assert left is not None
    assert right is not None
    with np.errstate(all="ignore"):
        terms = (left.found[0][..., None] * right.found[0][:, None]).astype(np.float32)
    both = np.any(terms == np.inf, axis=-2) & np.any(terms == -np.inf, axis=-2)
    assert both.any()
    assert not both.all()
    assert np.isnan(trial.found[:, both]).all()
    assert np.isfinite(trial.found[:, ORDINARY]).all()


def test_rough_trials_have_the_numbers_of_those_that_are_not() -> None:
    for seed in range(8):
        part, *_, result = random_gradient(seed).outputs
        finer = Trials(KNOWLEDGE)
        usual = finer.of(part)
        taken = Trials(KNOWLEDGE, rough=True, order=finer.order, finer=finer).of(result)
        alone = Trials(KNOWLEDGE, rough=True, order=finer.order).of(result)
        assert usual is not None
        assert taken is not None
        assert alone is not None
        assert taken.drawn == alone.drawn
        np.testing.assert_array_equal(taken.found, alone.found)


def test_layers_are_simplified_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a network whose softmax overflows nothing is stabilised after all: it is at once."""

    def loss(x: Any, y: Any, w: Any, b: Any, v: Any) -> Any:
        e = np.exp(np.tanh(x @ w + b) @ v)
        return -np.mean(np.sum(y * np.log(e / np.sum(e, axis=-1, keepdims=True)), axis=-1))

    rows = sg.spec("n, 3", assume=sg.simplex(axis=-1))
    graph = sg.trace(loss, x="n, 4", y=rows, w="4, 5", b="5", v="5, 3").gradient("w", "b", "v")
    runs: list[int] = []
    plain = stages.simplified

    def counted(*args: Any, **options: Any) -> Any:
        runs.append(1)
        return plain(*args, **options)

    monkeypatch.setattr(stages, "simplified", counted)
    graph.simplify()
    assert len(runs) == 2  # before it is differentiated, and after


@pytest.mark.whole
def test_a_long_sweep_drops_what_it_does_not_need_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of 2,000 values is judged in the memory of a few, and has the same numbers."""
    ends: list[Node] = []
    for start in (X, 2 * X):
        value = start
        for _ in range(1_000):
            value = snp.sin(value) + X
        ends.append(value.node)
    free = Trials(KNOWLEDGE)
    free.learn(ends)
    usual = _traced_bytes(lambda: Trials(KNOWLEDGE).learn(ends))
    monkeypatch.setattr("symgraph.accuracy.trials._MOST_BYTES", 1 << 20)
    monkeypatch.setattr("symgraph.accuracy.trials._BYTES_A_VALUE", 250)
    short = Trials(KNOWLEDGE)
    assert _traced_bytes(lambda: short.learn(ends)) < usual / 5
    for found, wanted in zip(map(short.of, ends), map(free.of, ends), strict=True):
        assert found is not None
        assert wanted is not None
        np.testing.assert_array_equal(found.found, wanted.found)


def _traced_bytes(work: Callable[[], object]) -> int:
    """The most bytes that some work holds at a time."""
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_random_numbers_are_drawn_once_and_written_by_no_one() -> None:
    known = KNOWLEDGE.of(X.node)
    one, other = drawn((3,), X.dtype, known, 5), drawn((3,), X.dtype, known, 5)
    assert one is other
    assert not np.array_equal(one, drawn((3,), X.dtype, known, 6))
    with pytest.raises(ValueError, match="read-only"):
        one[0] = 1


@pytest.mark.parametrize(
    ("value", "rounds"), [(X * X, True), (2 * X, False), (3 * X, True), (X / 4, False)]
)
def test_graphs_share_what_rounds_by_the_numbers_of_constants(value: Any, rounds: bool) -> None:
    for _ in range(2):
        trial = Trials(KNOWLEDGE).of(value.node)
        assert trial is not None
        ordinary = trial.found[:, ORDINARY]
        assert bool(np.any(ordinary != ordinary[0])) == rounds


@pytest.mark.parametrize("name", ["hyp1f1", "hyperu", "lpmv"])
def test_numbers_for_which_scipy_takes_minutes_are_not_tried(name: str) -> None:
    """`hyp1f1(-1e9, -9e15, -1e6)` ends the process, and others do not end."""
    given: list[float] = []

    def kernel(xp: Any, *operands: Any) -> Any:
        given.extend(float(np.abs(each).max()) for each in operands)
        return OPS[name].kernel(xp, *operands)

    op = replace(OPS[name], kernel=kernel)
    operands = [
        np.array([1.0, -9e15, 1.0, np.nan]),
        np.array([1.5, 2.5, 3.5, 1.0]),
        np.array([0.2, 0.2, 1e300, 0.2]),
    ]
    found = stacked(op, operands, {}, ())
    assert found is not None
    assert max(given) < 1e4
    assert np.isfinite(found).tolist() == [True, False, False, False]
