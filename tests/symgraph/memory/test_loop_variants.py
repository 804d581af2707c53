"""Loops run in other ways: the same bits, and the way that a budget allows."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.memory.loop_pairs import loop_pairs
from symgraph.memory.loop_variants import flops_of, loop_variants
from symgraph.passes.residuals import with_residuals


def recurrent(steps: int = 13, *, reverse: bool = False) -> sg.Graph:
    """A loop whose results are read too; 13 steps leave some over in every stretch."""

    def loss(xs: Any, w: Any, h: Any) -> Any:
        def step(h: Any, x: Any) -> tuple[Any, Any]:
            h = np.tanh(h @ w + x)
            return h, 2.0 * h

        h, ys = sg.scan(step, h, xs, reverse=reverse)
        return np.sum(h * h) + np.sum(ys * ys)

    specs = {"xs": sg.spec((steps, 4, 8)), "w": (8, 8), "h": (4, 8)}
    return sg.trace(loss, **specs).gradient("w", "xs", "h")


def memory_cell(steps: int = 12) -> sg.Graph:
    """An LSTM: two carries, and values in a step that no carry equals."""

    def loss(xs: Any, w: Any, u: Any) -> Any:
        def step(carry: Any, x: Any) -> tuple[Any, None]:
            h, c = carry
            i, f, o, g = np.split(x @ w + h @ u, 4, axis=-1)
            c = snp.sigmoid(f) * c + snp.sigmoid(i) * np.tanh(g)
            return (snp.sigmoid(o) * np.tanh(c), c), None

        zero = np.zeros((4, 6))
        return np.sum(sg.scan(step, (zero, zero), xs)[0][0] ** 2)

    specs = {"xs": sg.spec((steps, 4, 6)), "w": (6, 24), "u": (6, 24)}
    return sg.trace(loss, **specs).gradient("w", "u")


def layers(count: int = 48) -> sg.Graph:
    """A deep network as one loop."""

    def loss(x: Any, w: Any) -> Any:
        return np.sum(sg.scan(lambda h, m: (np.tanh(h @ m), None), x, w)[0] ** 2)

    return sg.trace(loss, x=(64, 16), w=(count, 16, 16)).gradient("w")


def two_loops() -> sg.Graph:
    """One loop reads the results of another, from the last to the first."""

    def loss(xs: Any, w: Any, u: Any) -> Any:
        def step(h: Any, x: Any) -> tuple[Any, Any]:
            h = np.tanh(h @ w + x)
            return h, h

        _, hs = sg.scan(step, np.zeros((4, 8)), xs)
        h, _ = sg.scan(lambda h, x: (np.sin(h @ u + x), None), np.zeros((4, 8)), hs, reverse=True)
        return np.sum(h * h)

    return sg.trace(loss, xs=(6, 4, 8), w=(8, 8), u=(8, 8)).gradient("w", "u", "xs")


GRAPHS = {
    "recurrent": recurrent,
    "reverse": lambda: recurrent(reverse=True),
    "memory cell": memory_cell,
    "layers": lambda: layers(6),
    "two loops": two_loops,
}


def numbers(graph: sg.Graph) -> dict[str, Any]:
    random = np.random.default_rng(0)
    shapes = {name: [int(str(dim)) for dim in node.shape] for name, node in graph.inputs.items()}
    return {name: 0.3 * random.normal(size=shape) for name, shape in shapes.items()}


def bits(graph: sg.Graph, given: dict[str, Any]) -> list[bytes]:
    first, rest = graph.lower()(**given)
    every = (first, *(rest if isinstance(rest, tuple) else (rest,)))
    return [np.asarray(each).tobytes() for each in every]


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("simplified", [True, False])
@pytest.mark.parametrize("name", GRAPHS)
def test_each_way_gives_the_same_bits(name: str, simplified: bool) -> None:
    graph = GRAPHS[name]()
    graph = graph.simplify() if simplified else graph
    given = numbers(graph)
    expected = bits(graph, given)
    variants = loop_variants(graph.dag)
    assert len(variants) > 3
    for variant in variants:
        assert bits(sg.Graph(variant), given) == expected


def test_nothing_of_a_step_is_run_again_where_it_can_be_kept() -> None:
    """The reverse step ran `tanh(h @ w)` again: a third more operations."""
    graph = layers().simplify()
    forward = sg.trace(
        lambda x, w: sg.scan(lambda h, m: (np.tanh(h @ m), None), x, w)[0],
        x=(64, 16),
        w=(48, 16, 16),
    )
    product = 2 * 64 * 16 * 16 * 48
    best = loop_variants(graph.dag)[0]
    assert flops_of(best) < int(str(forward.flops())) + 2.5 * product
    assert flops_of(graph.dag) > int(str(forward.flops())) + 3 * product
    plan = graph.checkpoint("102%").memory_plan()
    assert plan.cost == flops_of(best)


@pytest.mark.parametrize("share", [90, 70])
def test_a_budget_below_the_carries_gives_stretches(share: int) -> None:
    graph = layers().simplify()
    plan = graph.checkpoint(f"{share}%")
    report = plan.memory_plan()
    assert report.peak_bytes <= share / 100 * graph.memory_plan().peak_bytes
    assert report.loops
    assert "test_loop_variants.py" in report.explain()
    # A stretch stores what its steps read, so no step is run more than twice.
    assert report.cost <= 1.01 * flops_of(graph.dag)
    given = numbers(graph)
    run = plan.lower()
    run(**given)
    tracemalloc.start()
    run(**given)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most <= 1.02 * report.peak_bytes
    assert bits(plan, given) == bits(graph, given)


def test_loops_share_a_budget_with_the_rest() -> None:
    graph = two_loops().simplify()
    costs = [cost for _, cost in graph.memory_frontier()]
    assert costs == sorted(costs, reverse=True)
    # With room enough no step is run again, and without a plan neither.
    assert costs[-1] <= 0
    assert flops_of(with_residuals(graph.dag)) < flops_of(graph.dag)


def test_a_plan_is_removed_before_the_next() -> None:
    graph = layers().simplify()
    tight, loose = graph.checkpoint("70%"), graph.checkpoint("110%")
    again = tight.checkpoint("110%")
    assert again.memory_plan().cost == loose.memory_plan().cost
    assert tight.simplify().memory_plan().cost == tight.memory_plan().cost


def test_a_loop_whose_carries_are_read_elsewhere_stays_as_it_is() -> None:
    def loss(x: Any, w: Any) -> Any:
        return np.sum(sg.scan(lambda h, m: (np.tanh(h @ m), h), x, w)[1] ** 2)

    graph = sg.trace(loss, x=(4, 8), w=(5, 8, 8))
    assert not loop_pairs(graph.dag)
    assert loop_variants(graph.dag) == [graph.dag]
    second = graph.hvp("x", value=False)
    given = numbers(second)
    for each in loop_variants(second.dag):
        assert sg.Graph(each).lower()(**given).tobytes() == second.lower()(**given).tobytes()


def test_loops_that_share_a_short_time_have_a_plan() -> None:
    def loss(xs: Any, w: Any) -> Any:
        def step(h: Any, x: Any) -> tuple[Any, Any]:
            h = np.tanh(h @ w + x)
            return h, h

        for _ in range(3):
            _, xs = sg.scan(step, np.zeros((8, 16)), xs)
        return np.sum(xs * xs)

    graph = sg.trace(loss, xs=(32, 8, 16), w=(16, 16)).gradient("w")
    budget = int(0.7 * graph.memory_plan().peak_bytes)
    plan = graph.checkpoint(budget, time_limit=1e-9)
    assert plan.memory_plan().peak_bytes <= budget
    given = numbers(graph)
    assert bits(plan, given) == bits(graph, given)


@pytest.mark.whole
def test_a_budget_below_all_carries_of_a_named_number_of_steps_is_told_to_need_a_number() -> None:
    def loss(xs: Any, w: Any) -> Any:
        return np.sum(sg.scan(lambda h, x: (np.tanh(h @ w + x), None), np.zeros(8), xs)[0] ** 2)

    def graph(steps: int | str) -> sg.Graph:
        return sg.trace(loss, xs=f"{steps}, 8", w=(8, 8)).gradient("w")

    with pytest.raises(sg.MemoryBudgetError, match="A loop of T steps keeps every carry"):
        graph("T").checkpoint(20_000, T=1000)
    assert graph(1000).checkpoint(20_000).memory().peak_bytes <= 20_000
    with pytest.raises(sg.MemoryBudgetError) as raised:
        graph(1000).checkpoint(1000)
    assert "every carry" not in str(raised.value)
