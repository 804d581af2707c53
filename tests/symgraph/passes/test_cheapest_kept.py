"""The cheapest values to keep, against all choices there are."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.ir.node import Node
from symgraph.passes.cheapest_kept import Choice, cheapest_kept


def random_choices(seed: int) -> tuple[dict[Node, Choice], list[Node]]:
    """Up to eight values in terms of earlier ones, some of which can only be kept."""
    rng = np.random.default_rng(seed)
    nodes: list[Any] = [sg.input(f"x{i}", ()).node for i in range(int(rng.integers(2, 9)))]
    choices: dict[Node, Choice] = {}
    for place, node in enumerate(nodes):
        operands = [each for each in nodes[:place] if rng.random() < 0.4]
        keep = int(rng.integers(0, 20)) if rng.random() < 0.8 or not operands else None
        compute = int(rng.integers(0, 20)) if operands else None
        choices[node] = Choice(keep, compute, operands)
    return choices, [node for node in nodes if rng.random() < 0.4] or nodes[-1:]


def cost_of(choices: dict[Node, Choice], wanted: list[Node], kept: set[Node]) -> float:
    """The cost of a choice: of what is kept, and of what is then computed."""
    total, seen, stack = 0.0, set[Node](), list(wanted)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        choice = choices[node]
        cost = choice.keep if node in kept else choice.compute
        total += float("inf") if cost is None else cost
        if node not in kept:
            stack += choice.operands
    return total


@pytest.mark.parametrize("seed", range(60))
def test_no_choice_costs_less(seed: int) -> None:
    choices, wanted = random_choices(seed)
    found = cheapest_kept(choices, wanted)
    every = [
        {node for node, flag in zip(choices, flags, strict=True) if flag}
        for flags in product((False, True), repeat=len(choices))
    ]
    assert cost_of(choices, wanted, found) == min(cost_of(choices, wanted, kept) for kept in every)


def test_nothing_is_wanted() -> None:
    choices, _ = random_choices(1)
    assert cheapest_kept(choices, []) == set()
    assert cheapest_kept({}, list(choices)) == set()
