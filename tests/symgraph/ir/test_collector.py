"""What simplification builds and drops is freed by reference counts: nothing is left in cycles.

The collector is paused meanwhile; what only it could free it would have to find at the end.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest
from randomgraphs import NETWORKS, random_function

import symgraph as sg
from symgraph.ir import collector

X, W = np.ones((4, 3)), np.ones((3, 3))


@pytest.fixture(autouse=True)
def _nothing_is_frozen() -> Iterator[None]:
    """While tests run, what pytest has collected is frozen."""
    gc.unfreeze()
    yield
    gc.freeze()


def left_in_cycles(graph: sg.Graph) -> int:
    """How many objects only the collector frees after the graph is simplified.

    The fewest of three times: what other tests have left may be freed meanwhile, too.
    """
    graph.simplify()  # What is made once and kept is there now.
    found: list[int] = []
    for _ in range(3):
        gc.collect()
        gc.disable()
        try:
            graph.simplify()
            found.append(gc.collect())
        finally:
            gc.enable()
    return min(found)


@pytest.mark.whole
@pytest.mark.parametrize("steps", [60, pytest.param(300, marks=pytest.mark.whole)])
def test_nothing_of_a_random_graph_is_left_in_cycles(steps: int) -> None:
    assert left_in_cycles(sg.trace(random_function(steps), x=X, w=W).gradient("w")) < 50


@pytest.mark.whole
@pytest.mark.parametrize("kind", NETWORKS)
def test_nothing_of_a_network_is_left_in_cycles(kind: str) -> None:
    made, _ = NETWORKS[kind]
    assert left_in_cycles(sg.trace(made(4), x=X, w=W, v=W).gradient("w")) < 50


@pytest.mark.whole
def test_what_the_user_has_frozen_stays_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "_MANY", 0)
    graph = sg.trace(random_function(60), x=X, w=W).gradient("w")
    gc.collect()
    graph.simplify()
    assert gc.get_freeze_count() == 0
    assert gc.isenabled()
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        graph.simplify()
        assert gc.get_freeze_count() > 0.9 * frozen > 0
    finally:
        gc.unfreeze()


@pytest.mark.whole
def test_large_graphs_are_old_when_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next collection of what is young does not walk them; garbage of a loop stays young."""
    for seed, (most, old) in enumerate(((0, True), (10**9, False))):
        monkeypatch.setattr(collector, "_MANY", most)
        graph = sg.trace(random_function(60, seed), x=X, w=W).gradient("w")
        gc.collect()
        small = graph.simplify()
        nodes = set(map(id, small.nodes)) - set(map(id, graph.nodes))
        young = {id(each) for each in gc.get_objects(0)} | {id(each) for each in gc.get_objects(1)}
        assert nodes
        assert nodes.isdisjoint(young) is old
