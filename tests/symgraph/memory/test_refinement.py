"""The exact search of small graphs: least costs within a budget, and what is not proven."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from memorymodels import joint

import symgraph as sg
from symgraph.lowering.memory_model import profile
from symgraph.memory import refinement
from symgraph.memory.exact_search import ExactSearch, Exhausted
from symgraph.memory.planner import PlanSearch
from symgraph.memory.plans import Plan, evaluated, serial_plan


def solved(search: ExactSearch, budget: int, weight: float = 1.0) -> list[int] | None:
    return search.cheapest(budget, 60_000, weight)


@pytest.mark.parametrize("seed", range(4))
def test_optima_fall_with_the_budget_and_a_beam_is_no_better(seed: int) -> None:
    count = 8
    model = joint(count, seed)
    search = ExactSearch(model, range(count, len(model)))
    full = profile(model, range(len(model))).peak
    before = 0
    for budget in range(full, 0, -1):
        try:
            found = solved(search, budget)
        except Exhausted:
            break
        beam = search.near_cheapest(budget, 4_000)
        if found is None:
            assert beam is None
            assert solved(search, budget, 0.0) is None
            assert budget < full
            break
        plan = evaluated(model, found)
        assert plan.peak <= budget
        assert plan.extra_cost >= before
        before = plan.extra_cost
        if beam is not None:
            near = evaluated(model, beam)
            assert near.peak <= budget
            assert near.extra_cost >= plan.extra_cost


def test_a_search_that_is_given_up_says_so() -> None:
    model = joint(18, 0)
    search = ExactSearch(model, range(18, len(model)))
    with pytest.raises(Exhausted):
        search.cheapest(profile(model, range(len(model))).peak // 2, 50)
    assert search.moves >= 50


@pytest.mark.fuzz
def test_a_larger_budget_is_not_refused_and_costs_no_more() -> None:
    """The plan found first needed more as a program, and no other one was looked for."""
    random = np.random.default_rng(0)
    x = sg.input("x", (4096,))
    values: list[Any] = [x]
    for _ in range(28):
        a = values[max(0, len(values) - 1 - int(random.exponential(3)))]
        b = values[max(0, len(values) - 1 - int(random.exponential(12)))]
        kind = int(random.integers(3))
        values.append(np.sin(a) if kind == 0 else a * np.cos(b) if kind == 1 else 0.5 * a + b)
    loss = np.sum(sum(values[-4:]))
    graph = sg.graph(loss, sg.grad(loss, x))
    costs = [graph.checkpoint(each).memory_plan().cost for each in (299_574, 316_648)]
    assert costs == sorted(costs, reverse=True)


def test_a_plan_of_a_smaller_budget_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    model = joint(8, 0)
    plain = serial_plan(model)
    searched: list[int] = []

    def missing(search: PlanSearch, budget: int) -> tuple[list[Plan], bool]:
        """A search that finds nothing but for the third budget it is asked for."""
        searched.append(budget)
        return ([Plan((), budget, 7)] if len(searched) == 3 else []), False

    monkeypatch.setattr(refinement, "_searched", missing)
    front = [Plan((), plain.peak // 2, 9), plain]
    search = PlanSearch(model, front, {}, small=True)
    found = refinement.refined(search, plain.peak - 1)
    assert [plan.extra_cost for plan in found] == [7]
    # Two more had nothing better, and none is searched twice.
    assert len(searched) == len(set(searched)) == 5
    assert searched == sorted(searched, reverse=True)
    assert refinement.refined(search, plain.peak - 1) == found
    assert len(searched) == 5
