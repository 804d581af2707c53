"""The report of a plan: a sound bound, a status, and the user's lines."""

from __future__ import annotations

from functools import cache
from typing import Any
from xml.etree import ElementTree

import numpy as np
import plannednetworks as networks
import pytest
from randomgraphs import random_gradient

import symgraph as sg
from symgraph.lowering.memory_model import model_of
from symgraph.memory.aims import Terms
from symgraph.memory.backward_order import forward_first
from symgraph.memory.certificate import cost_bound
from symgraph.memory.planner import backward_steps, searched


@cache
def mlp(layers: int = 8) -> sg.Graph:
    inputs = [sg.input("x", (64, 16)), *[sg.input(f"w{k}", (16, 16)) for k in range(layers)]]
    h: Any = inputs[0]
    for w in inputs[1:]:
        h = np.tanh(h @ w)
    loss = np.sum(h * h)
    return sg.graph(loss, *sg.grad(loss, inputs[1:])).simplify()


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("seed", range(12))
def test_no_plan_is_below_the_bound(seed: int) -> None:
    dag = random_gradient(seed)
    model = model_of(forward_first(dag), dag.outputs, {}, costs=True)
    search = searched(dag, Terms())
    for plan in search.front:
        assert cost_bound(model, backward_steps(model), plan.peak) <= plan.extra_cost


def test_the_bound_of_a_network_is_above_zero_and_below_the_plan() -> None:
    graph = mlp()
    plan = graph.checkpoint("60%").memory_plan()
    free = graph.memory_plan()
    assert free.status == "optimal"
    assert free.overhead == free.gap == 0
    assert free.cost < plan.lower_bound <= plan.cost
    assert plan.gap == pytest.approx(plan.cost / plan.lower_bound - 1)
    assert plan.peak_bytes <= 0.6 * free.peak_bytes


def test_a_plan_tells_what_is_computed_again_in_the_users_lines() -> None:
    plan = mlp().checkpoint("60%").memory_plan()
    text = plan.explain()
    assert "test_report.py" in text
    assert f"{len(plan.recomputed)} recomputations" in text
    assert all(node.copy for node in plan.recomputed)
    assert max(size for _, size in plan.timeline) == plan.memory.peak_bytes


def test_the_frontier_has_a_program_that_stores_and_programs_that_recompute() -> None:
    """Goodfellow, Bengio and Courville, *Deep Learning*, figure 6.9, of six functions."""
    w = sg.input("w", (100,))
    z: Any = w
    for _ in range(6):
        z = np.sin(z)
    front = sg.graph(sg.grad(np.sum(z), w)).memory_frontier()
    assert front[-1][1] == 0
    assert len(front) > 1
    assert front[0][0] < front[-1][0]
    assert front[0][1] > 0


def test_the_picture_shows_the_timeline_the_budget_and_what_is_computed_again() -> None:
    def loss(x: Any) -> Any:
        for _ in range(10):
            x = np.sin(x)
        return np.sum(x)

    graph = sg.trace(loss, x=sg.spec((1000,))).gradient("x")
    budget = int(0.6 * graph.memory_plan().peak_bytes)
    plan = graph.checkpoint(budget).memory_plan()
    root = ElementTree.fromstring(plan.to_svg(budget))
    space = "{http://www.w3.org/2000/svg}"
    (polygon,) = root.iter(f"{space}polygon")
    heights = [float(each.split(",")[1]) for each in polygon.attrib["points"].split()]
    (line,) = [each for each in root.iter(f"{space}line") if "stroke-dasharray" in each.attrib]
    assert len(heights) == 2 * len(plan.timeline) + 2
    # Upwards is downwards in a picture: no step is above the line of the budget.
    assert min(heights) >= float(line.attrib["y1"])
    assert len(list(root.iter(f"{space}rect"))) == len(plan.recomputed)
    texts = [each.text for each in root.iter(f"{space}text")]
    assert any("test_report.py" in (each or "") for each in texts)
    without = graph.memory_plan().to_svg()
    assert "budget" not in without
    assert "<rect" not in without


@pytest.mark.whole
def test_costs_fall_over_a_sweep_of_budgets() -> None:
    for make in (lambda: networks.mlp(12, 64, 32), lambda: networks.transformer(2, 48, 16)):
        graph = make().simplify()
        full = graph.memory_plan().peak_bytes
        with pytest.raises(sg.MemoryBudgetError) as caught:
            graph.checkpoint(1000)
        least = caught.value.least_bytes
        costs: list[int] = []
        for budget in np.linspace(least, full, 20).astype(int).tolist():
            plan = graph.checkpoint(budget).memory_plan()
            assert plan.peak_bytes <= budget
            costs.append(plan.cost)
        assert costs == sorted(costs, reverse=True)
        assert costs[0] > costs[-1]
