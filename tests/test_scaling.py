"""Size: every stage of a very long chain, a very wide node, a doubling graph; nothing recurses.

No timing is asserted here (`benchmarks/bench_scaling.py` does); what recurses or is quadratic
would fail, or not end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from randomgraphs import chain, random_function

import symgraph as sg
import symgraph.numpy as snp
from symgraph.scipy import special, stats

X = np.linspace(-1, 1, 3)


@contextmanager
def shallow(extra: int = 120) -> Iterator[None]:
    """A stack with little room: whatever recurses over a graph overflows it."""
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + extra)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def chain_gradient(length: int) -> np.ndarray:
    """The gradient of `chain(length)` by the chain rule, in NumPy."""
    x, slope = X, np.ones(3)
    for _ in range(length // 2):
        slope = slope * np.cos(x + 0.25)
        x = np.sin(x + 0.25)
    return slope


def every_stage(length: int, folder: Path) -> None:
    """A chain through all stages of the pipeline and all forms of inspection."""
    wanted = chain_gradient(length)
    forward = sg.trace(chain(length), x="3")
    joint = forward.gradient("x")
    assert len(joint) > 2 * length
    for graph in (joint, joint.simplify(), forward.simplify().gradient("x")):
        graph.verify()
        for results in (graph.evaluate(x=X), graph.lower()(x=X)):
            np.testing.assert_allclose(results[1], wanted, rtol=1e-9, atol=1e-300)
    assert joint.simplify(trust="exact").op_count() <= joint.op_count()
    peak = joint.memory().peak_bytes
    assert joint.memory().peak_bytes == peak
    recomputed = joint.checkpoint(recompute=forward.nodes[100:160])
    assert np.array_equal(recomputed.evaluate(x=X)[1], joint.evaluate(x=X)[1])
    assert nx.is_directed_acyclic_graph(joint.nx)
    assert joint.nx.number_of_nodes() == len(joint)
    for suffix in (".txt", ".dot", ".py"):
        joint.save(folder / f"chain{suffix}")
        assert (folder / f"chain{suffix}").stat().st_size > 10 * length
    assert joint.op_count() > length
    assert joint.flops() > length
    assert repr(joint)


@pytest.mark.parametrize("length", [250, pytest.param(1_000, marks=pytest.mark.whole)])
def test_every_stage_of_a_chain_without_recursion(length: int, tmp_path: Path) -> None:
    with shallow():
        every_stage(length, tmp_path)


@pytest.mark.fuzz
def test_every_stage_of_a_chain_of_100_000(tmp_path: Path) -> None:
    every_stage(100_000, tmp_path)


@pytest.mark.whole
def test_a_chain_of_20_000_as_derived() -> None:
    joint = sg.trace(chain(20_000), x="3").gradient("x")
    joint.verify()
    value, slope = joint.lower()(x=X)
    np.testing.assert_allclose(slope, chain_gradient(20_000), rtol=1e-9, atol=1e-300)
    assert np.isfinite(value)


@pytest.mark.whole
def test_a_chain_of_3_000_simplified() -> None:
    small = sg.trace(chain(3_000), x="3").gradient("x").simplify()
    np.testing.assert_allclose(small.lower()(x=X)[1], chain_gradient(3_000), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize(
    "nodes",
    [
        pytest.param(1_000, marks=pytest.mark.whole),
        pytest.param(10_000, marks=pytest.mark.fuzz),
    ],
    ids=str,
)
def test_a_random_graph(nodes: int) -> None:
    values = {
        "x": np.linspace(-1, 1, 12).reshape(4, 3),
        "w": np.linspace(0.5, -0.5, 9).reshape(3, 3),
    }
    joint = sg.trace(random_function(nodes), x="4, 3", w="3, 3").gradient("x", "w")
    small = joint.simplify()
    small.verify()
    assert small.op_count() <= joint.op_count()
    wanted = joint.evaluate(**values)[1]
    found = small.lower()(**values)[1]
    for one, other in zip(found, wanted, strict=True):
        assert np.max(np.abs(other)) > 1e-3
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9 * np.max(np.abs(other)))


@pytest.mark.whole
def test_a_sum_of_20_000_terms() -> None:
    """Statements stay flat: one expression of so many terms cannot be compiled."""

    def total(count: int, x: np.ndarray) -> np.ndarray:
        result = x
        for _ in range(count):
            result = result + x
        return np.sum(result)

    joint = sg.trace(partial(total, 20_000), x="3").gradient("x")
    assert np.array_equal(joint.lower()(x=X)[1], np.full(3, 20_001.0))
    small = sg.trace(partial(total, 2_000), x="3").gradient("x").simplify()
    assert np.array_equal(small.lower()(x=X)[1], np.full(3, 2_001.0))


@pytest.mark.whole
def test_a_value_with_1_000_consumers() -> None:
    def fan(x: np.ndarray) -> np.ndarray:
        shared = np.tanh(x)
        total = np.sum(shared)
        for i in range(1_000):
            total = total + np.sum(shared * (1.0 + i))
        return total

    joint = sg.trace(fan, x="3").gradient("x")
    small = joint.simplify()
    slope = (1 - np.tanh(X) ** 2) * (1 + np.sum(np.arange(1.0, 1_001)))
    np.testing.assert_allclose(joint.lower()(x=X)[1], slope, rtol=1e-10)
    np.testing.assert_allclose(small.lower()(x=X)[1], slope, rtol=1e-10)


def test_doubling_200_times() -> None:
    """2**200 paths, 200 nodes: shared subgraphs are walked once."""

    def doubled(x: np.ndarray) -> np.ndarray:
        for _ in range(200):
            x = x + x
        return x

    joint = sg.trace(doubled, x="").gradient("x")
    assert len(joint) < 1_000
    for graph in (joint, joint.simplify()):
        assert graph.evaluate(x=1.0)[1] == 2.0**200
        assert graph.lower()(x=1.0)[1] == 2.0**200
        assert len(str(graph)) < 100_000


@pytest.mark.whole
def test_a_sine_tower_keeps_its_sharing() -> None:
    """y = sin(y) * y, 60 times: 2**60 paths through products rather than sums."""

    def tower(x: np.ndarray) -> np.ndarray:
        for _ in range(60):
            x = np.sin(x) * x + 1
        return np.sum(x)

    joint = sg.trace(tower, x="3").gradient("x")
    small = joint.simplify()
    assert len(small) <= len(joint) < 1_500
    np.testing.assert_allclose(small.lower()(x=X)[1], joint.evaluate(x=X)[1], rtol=1e-6, atol=1e-6)


def calls(work: Callable[[], object]) -> int:
    """How many functions Python calls."""
    found = 0

    def note(_frame: object, event: str, _given: object) -> None:
        nonlocal found
        found += event == "call"

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "root of a product": lambda y, x: np.sqrt(x * y),
    "root of squares": lambda y, x: np.sqrt(y * y * x * x),
    "even power of a root": lambda y, x: np.sqrt(y**4) + x,
    "norm": lambda y, x: y / np.sqrt(np.sum(y * y)) + x,
    "tie": lambda y, x: np.maximum(np.sqrt(y + 1), x * y),
    "choice": lambda y, x: np.where(y > x, np.sqrt(y + 1), x * y),
    "clip": lambda y, x: np.clip(np.sqrt(y), x, 3 * x + y),
    "logarithm": lambda y, x: special.xlogy(y, x) + np.log1p(y),
    "logistic of a power": lambda y, x: special.expit(special.xlogy(x, y)),
    "density": lambda y, x: stats.norm.logpdf(y, x) + x,
    "softplus": lambda y, x: snp.softplus(x * y),
    "median": lambda y, x: y * np.median(y) + x,
    "parts": lambda y, x: np.concatenate([y[1:] * x[:-1], x[:1]]),
}


@pytest.mark.whole
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS.keys())
def test_derivatives_of_a_chain_take_time_in_proportion_to_its_length(
    step: Callable[[Any, Any], Any],
) -> None:
    """Facts of operands, masks and shares are found once, and not by recursion."""

    def chained(length: int) -> sg.Graph:
        def function(x: Any) -> Any:
            y = x
            for _ in range(length):
                y = step(y, x)
            return np.sum(y)

        return sg.trace(function, x="3")

    graphs = [chained(length) for length in (60, 120)]
    for derive in (lambda graph: graph.gradient("x"), lambda graph: graph.jvp({"x": X})):
        with shallow(250):
            short, long = (calls(partial(derive, graph)) for graph in graphs)
        assert long < 2.15 * short
