"""Comparisons of the same values exclude and imply one another."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.passes.conditions import Conditions

SPECS = {"x": sg.spec(""), "y": sg.spec("")}
NUMBERS = (-np.inf, -1.5, -1, -0.25, 0, 0.5, 1, 1.25, 2, 3, np.inf, np.nan)

COMPARED: dict[str, Callable[[Any, Any], list[Any]]] = {
    "one pair": lambda x, y: [x > y, x == y, y > x],
    "both sides and ties": lambda x, y: [x >= y, y >= x, x <= y, x == y],
    "bounds of one value": lambda x, y: [x < 1, x < 2, x >= 1, x < 0],
    "a bound and itself": lambda x, y: [x > 1, x >= 1, x == 1],
    "a pair and a bound": lambda x, y: [x > y, y < x, x > 0.5, x <= 0.5],
    "alone": lambda x, y: [x > 1, y > 1, x < y],
}


@pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")
@pytest.mark.parametrize("case", COMPARED)
def test_the_possible_outcomes_are_those_that_numbers_have(case: str) -> None:
    graph = sg.trace(lambda x, y: tuple(COMPARED[case](x, y)), **SPECS)
    conditions = Conditions(graph.dag.outputs)
    met: set[int] = set()
    for x, y in product(NUMBERS, NUMBERS):
        holding = graph.evaluate(x=np.array(x), y=np.array(y))
        places = [conditions.found[node] for node in graph.dag.outputs]
        met.add(sum({1 << place for place, holds in zip(places, holding, strict=True) if holds}))
    possible = {
        outcome
        for outcome in range(1 << len(conditions.found))
        if conditions.possible >> outcome & 1
    }
    assert met <= possible
    if case not in ("a pair and a bound", "alone"):  # Of three values nothing is concluded.
        assert met == possible


def test_masks_are_made_of_possible_outcomes() -> None:
    graph = sg.trace(lambda x, y: (x > y) & ~(x == y), **SPECS)
    conditions = Conditions(graph.dag.outputs)
    (mask,) = graph.dag.outputs
    wins = next(node for node in conditions.found if node.op.name == "greater")
    possible = conditions.possible
    assert conditions.held(mask) & possible == conditions.held(wins) & possible


def test_numbers_of_integers_are_taken_for_independent() -> None:
    """As floats, 2**53 and 2**53 + 1 would be one bound."""
    graph = sg.trace(lambda n: (n < 2**53, n < 2**53 + 1), n=sg.spec("", "int64"))
    conditions = Conditions(graph.dag.outputs)
    assert conditions.possible == conditions.all
