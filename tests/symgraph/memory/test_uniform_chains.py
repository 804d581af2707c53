"""Uniform chains meet the binomial optimum of Griewank and Walther, at any length."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.lowering.memory_model import Model
from symgraph.memory.chains import chain_of
from symgraph.memory.plans import evaluated
from symgraph.memory.uniform_chains import is_uniform, revolve_cost, uniform_sequence


def chain(length: int) -> Model:
    """A chain whose values take over the buffer before, and a step for each value backward."""
    n = length
    reads = [(i - 1,) if i else () for i in range(n)]
    reads += [(n + k - 1, n - 1 - k) if k else (n - 1,) for k in range(n)]
    takes = [(i - 1,) if i else () for i in range(n)] + [()] * n
    return Model((), tuple(reads), (*[1] * n, *[0] * n), (1,) * (2 * n), tuple(takes), (2 * n - 1,))


@cache
def fewest(steps: int, values: int) -> int:
    """The recurrence that the closed form solves."""
    if steps == 1:
        return 0
    if values == 1:
        return steps * (steps - 1) // 2
    return min(j + fewest(steps - j, values - 1) + fewest(j, values) for j in range(1, steps))


def test_the_closed_form_solves_the_recurrence() -> None:
    for steps in range(1, 40):
        for values in range(1, 12):
            assert revolve_cost(steps, values) == fewest(steps, values)


@pytest.mark.parametrize("length", [8, 9, 17, 64, 200])
def test_plans_meet_the_optimum_at_every_number_of_values(length: int) -> None:
    model = chain(length)
    found = chain_of(model)
    assert found is not None
    assert is_uniform(found)
    for values in range(1, length + 1):
        plan = evaluated(model, uniform_sequence(found, values))
        assert plan.peak <= values
        assert plan.extra_cost + length == revolve_cost(length + 1, values)


def test_a_long_chain_meets_the_optimum() -> None:
    model = chain(5000)
    found = chain_of(model)
    assert found is not None
    for values in (10, 100):
        plan = evaluated(model, uniform_sequence(found, values))
        assert plan.peak == values
        assert plan.extra_cost + 5000 == revolve_cost(5001, values)


@pytest.mark.whole
def test_a_long_chain_of_a_graph_is_planned_by_the_closed_form() -> None:
    x = sg.input("x", (100,))
    y: Any = x
    for _ in range(400):
        y = np.sin(y)
    loss = np.sum(y)
    graph = sg.graph(loss, sg.grad(loss, x)).simplify()
    plan = graph.checkpoint("6%")
    extra = sum(node.copy > 0 for node in plan.dag.nodes)
    # Some four values are those of the gradient; the others are snapshots.
    assert plan.memory().peak_bytes <= graph.memory().peak_bytes * 6 // 100
    assert extra <= revolve_cost(401, 20) - 400
