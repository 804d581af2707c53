"""The exact search of small graphs: least costs within a budget, and what is not proven."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from memorymodels import joint

import symgraph as sg
from symgraph.lowering.memory_model import Model, least_bytes, profile
from symgraph.memory import live_set_costs, refinement
from symgraph.memory.aims import Terms
from symgraph.memory.exact_search import ExactSearch, Exhausted
from symgraph.memory.least_peak import least_peak
from symgraph.memory.live_set_costs import LiveSetCosts, TooLarge
from symgraph.memory.planner import PlanSearch, backward_steps, searched
from symgraph.memory.plans import Plan, evaluated, serial_plan


def solved(search: ExactSearch, budget: int, weight: float = 1.0) -> list[int] | None:
    return search.cheapest(budget, 60_000, weight)


@pytest.mark.sampled(one_in=4)
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

    def missing(
        search: PlanSearch, budget: int, over: Callable[[], bool]
    ) -> tuple[list[Plan], bool]:
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


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("seed", range(6))
def test_tables_of_live_sets_find_what_the_search_finds(seed: int) -> None:
    count = 9
    model = joint(count, seed)
    search = ExactSearch(model, range(count, len(model)))
    high, low = profile(model, range(len(model))).peak, least_bytes(model)
    kinds: set[bool] = set()
    for share in (0.8, 0.4, 0.2, 0.1, 0):
        budget = low + int(share * (high - low))
        tables = LiveSetCosts(search.states, budget)
        found, best = tables.cheapest(), solved(search, budget)
        if not search.complete:
            continue
        kinds.add(found is None)
        if found is None or best is None:
            assert found is best is None
            continue
        plan = evaluated(model, found)
        assert plan.peak <= budget
        assert plan.extra_cost == evaluated(model, best).extra_cost
        assert tables.cost == search.forward_cost(plan.extra_cost)
        # Nothing costs less than the least, and no set that leads to the least is left out.
        assert LiveSetCosts(search.states, budget, tables.cost).cheapest() is None
        assert LiveSetCosts(search.states, budget, tables.cost + 1).cheapest() is not None
    assert False in kinds


def chain_of_sines(length: int) -> sg.Graph:
    """Values of three sizes, each from the one before, and a loss that only the caller reads."""
    x = sg.input("x", (64,))
    y: Any = x
    for step in range(length):
        y = np.sin(np.concatenate([y, y]) if step % 3 == 0 else y[: 64 + 32 * (step % 2)])
    loss = np.sum(y * y)
    return sg.graph(loss, sg.grad(loss, x))


def test_results_that_are_computed_first_need_smaller_tables() -> None:
    model = searched(chain_of_sines(6).dag, Terms()).model
    states = ExactSearch(model, backward_steps(model)).states
    budget = (profile(model, range(len(model))).peak + 2 * least_bytes(model)) // 3
    whole = LiveSetCosts(states, budget)
    first = LiveSetCosts(states, budget, results_first=True)
    assert whole.cheapest() is not None
    assert first.cheapest() is not None
    assert first.cost == whole.cost
    assert first.entries < whole.entries / 3


def test_a_search_that_left_ways_out_is_not_taken_for_the_least(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So many small values can make room for a large one that only some of the ways are tried."""
    sizes = [392, 280, 160, 96, 784, 24, 328, 16504, 416, 520, 712, 1104, 280, 272]
    costs = [4301, 5914, 1410, 162, 971, 354, 474, 4647, 703, 937, 412, 118, 20682, 1088, 35]
    reads = [(), *[(step,) for step in range(14)], (12, 13)]
    reads += [(15 + step, 12 - step, 11 - step) for step in range(12)] + [(27, 0), (14,)]
    every = [*sizes, 8, *sizes[-2::-1], 32, 8]
    takes: tuple[tuple[int, ...], ...] = ((),) * 30
    prices = (*costs, *[1] * 15)
    model = Model((), tuple(reads), tuple(every), prices, takes, (28, 29), copies=1)
    monkeypatch.setattr(refinement, "backward_steps", lambda _: range(15, 30))
    for budget in (35_705, 35_292):
        exact = ExactSearch(model, range(15, 30))
        first = solved(exact, budget)
        assert first is not None
        assert not exact.complete
        tables = LiveSetCosts(exact.states, budget)
        assert tables.cheapest() is not None
        assert tables.cost < exact.forward_cost(evaluated(model, first).extra_cost)
        search = PlanSearch(model, [serial_plan(model)], {}, small=True)
        best = min(plan.extra_cost for plan in refinement.refined(search, budget))
        assert exact.forward_cost(best) == tables.cost


def test_no_search_goes_on_when_the_time_is_over() -> None:
    count = 12
    model = joint(count, 1)
    backward = range(count, len(model))
    budget = least_bytes(model) + 8
    search = ExactSearch(model, backward, lambda: True)
    with pytest.raises(Exhausted):
        search.cheapest(budget, 10**6)
    assert search.near_cheapest(budget, 10**6) is None
    with pytest.raises(TooLarge):
        LiveSetCosts(search.states, budget, None, lambda: True).cheapest()
    full = profile(model, range(len(model))).peak
    ended = least_peak(model, backward, full, lambda: True)
    assert not ended.plans
    assert ended.bound <= least_peak(model, backward, full).bound


def test_tables_that_would_be_too_large_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    model = joint(10, 0)
    states = ExactSearch(model, range(10, len(model))).states
    monkeypatch.setattr(live_set_costs, "_MOST_VALUES", 9)
    with pytest.raises(TooLarge):
        LiveSetCosts(states, 100)
    monkeypatch.setattr(live_set_costs, "_MOST_VALUES", 10)
    monkeypatch.setattr(live_set_costs, "_WORK", 1000)
    with pytest.raises(TooLarge):
        LiveSetCosts(states, profile(model, range(len(model))).peak).cheapest()
