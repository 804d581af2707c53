"""A graph of which every region was looked at as it is now is not looked at without memory."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from textbook import Row, traced
from textbook.catalogue import CATALOGUE

import symgraph as sg
from symgraph.algebra import Settlement, normalized, settlement
from symgraph.algebra.extraction.cheapest import CheapestSpelling, CheapestSpellings
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.node import Node
from symgraph.passes import simplify as rounds

ROWS = CATALOGUE[::40]


def gradient(row: Row) -> sg.Graph:
    return traced(row.f, row.specs).gradient(*row.wrt, value=False)


def left_as_it_is(outputs: list[Node], knowledge: Knowledge) -> list[Node]:
    """The outputs after the algebra, until it changes nothing."""
    before: list[Node] = []
    while before != outputs:
        before, outputs = outputs, normalized(outputs, knowledge)
    return outputs


def settled(outputs: list[Node], knowledge: Knowledge) -> Settlement:
    return settlement(outputs, knowledge, trust="rounding", at_kinks=True)


@pytest.mark.parametrize(
    "name", ["mish", "logistic, one example", "binary cross-entropy, smoothed"]
)
def test_regions_given_up_in_an_earlier_graph_are_looked_at_once_more(name: str) -> None:
    """The walk that shortens a graph gives up regions while others are as they were."""
    (row,) = [each for each in CATALOGUE if each.name == name]
    knowledge = Knowledge()
    small = left_as_it_is(list(gradient(row).dag.outputs), knowledge)
    assert settled(small, knowledge) == "given up earlier"
    assert normalized(small, knowledge, again=True) == small
    assert settled(small, knowledge) == "settled"
    assert normalized(small, Knowledge()) == small


def test_a_walk_without_memory_passes_by_what_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another judge would not be asked for a region of which no spelling is cheaper."""
    (row,) = [each for each in CATALOGUE if each.name == "mish"]
    knowledge, fresh = Knowledge(), Knowledge()
    small = left_as_it_is(list(gradient(row).dag.outputs), knowledge)
    normalized(small, knowledge, again=True)
    searches = 0
    plain = CheapestSpellings.cheapest

    def counted(*args: Any) -> CheapestSpelling:
        nonlocal searches
        searches += 1
        return plain(*args)

    monkeypatch.setattr(CheapestSpellings, "cheapest", counted)
    assert normalized(small, Knowledge()) == small
    assert searches
    searches = 0
    assert normalized(small, fresh, afresh=knowledge) == small
    assert not searches
    assert settled(small, fresh) == "settled"


def test_a_graph_that_was_not_looked_at_is_not_settled() -> None:
    row = CATALOGUE[0]
    knowledge = Knowledge()
    outputs = list(gradient(row).dag.outputs)
    assert settled(outputs, knowledge) == "contested"
    small = left_as_it_is(outputs, knowledge)
    assert small != outputs
    assert settled(outputs, knowledge) == "contested"


def test_few_graphs_are_looked_at_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    walks: Counter[bool] = Counter()

    def counted(*args: Any, **how: Any) -> list[Node]:
        walks[bool(how.get("afresh"))] += 1
        return normalized(*args, **how)

    monkeypatch.setattr(rounds, "normalized", counted)
    for row in ROWS:
        gradient(row).simplify()
    assert walks[False] > len(ROWS)
    assert walks[True] < len(ROWS) / 4
