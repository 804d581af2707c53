"""The least peak of small graphs: plans that reach it, and proof that none is below."""

from __future__ import annotations

from contextlib import suppress

import pytest
from memorymodels import joint
from randomgraphs import random_gradient

from symgraph.lowering.memory_model import least_bytes, profile
from symgraph.memory import least_peak as module
from symgraph.memory.aims import Terms
from symgraph.memory.exact_search import ExactSearch, Exhausted
from symgraph.memory.least_peak import least_peak
from symgraph.memory.planner import backward_steps, searched
from symgraph.memory.plans import evaluated


@pytest.mark.parametrize("count", [6, 8, pytest.param(10, marks=pytest.mark.whole)])
def test_another_search_finds_a_run_at_the_least_peak_and_none_below(count: int) -> None:
    refuted = 0
    for seed in range(12):
        model = joint(count, seed)
        full = profile(model, range(len(model))).peak
        found = least_peak(model, range(count, len(model)), full)
        least = min([full, *[plan.peak for plan in found.plans]])
        assert found.bound == least
        search = ExactSearch(model, range(count, len(model)))
        assert search.cheapest(least, 1_000_000, 0.0) is not None
        with suppress(Exhausted):
            assert search.cheapest(least - 1, 60_000, 0.0) is None
            refuted += 1
    assert refuted >= 8


@pytest.mark.whole
def test_plans_of_real_graphs_have_the_peaks_they_name() -> None:
    smaller = proven = 0
    for seed in (0, 1, 7, 15, 21, 23, 24, 54):  # Some with at most 14 steps forward.
        search = searched(random_gradient(seed), Terms())
        backward = backward_steps(search.model)
        assert len(search.model) - len(backward) <= 14
        found = least_peak(search.model, backward, search.front[0].peak)
        for plan in found.plans:
            assert profile(search.model, plan.sequence).peak == plan.peak
            assert evaluated(search.model, plan.sequence).peak >= found.bound
        best = min([search.front[0].peak, *[plan.peak for plan in found.plans]])
        smaller += best < search.front[0].peak
        proven += best == found.bound
    assert smaller >= 3
    assert proven >= 8


def test_a_bound_of_a_larger_graph_is_that_of_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    raised = 0
    for seed in range(12):
        model = joint(10, seed)
        backward = range(10, len(model))
        full = profile(model, range(len(model))).peak
        whole = least_peak(model, backward, full)
        with monkeypatch.context() as patched:
            patched.setattr(module, "_MOST_VALUES", 9)
            patched.setattr(module, "_PART", 6)
            parts = least_peak(model, backward, full)
        assert not parts.plans
        assert least_bytes(model) <= parts.bound <= whole.bound
        raised += parts.bound > least_bytes(model)
    assert raised >= 3
