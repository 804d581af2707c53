"""Walks over graphs, and walks that are remembered while a graph is simplified."""

from __future__ import annotations

import gc
import weakref

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.walks import reachable, replaced, walks_remembered


def test_a_remembered_walk_is_the_walk_and_nobody_can_change_it() -> None:
    x = sg.input("x", (3,), np.float64)
    y = (snp.sin(x) + x).node
    plain = reachable([y])
    with walks_remembered():
        first = reachable([y])
        first.clear()
        assert reachable([y]) == plain
        for step in range(20):  # More graphs than are remembered.
            other = (x * float(step + 2)).node
            assert reachable(iter([y, other])) == sorted(
                {*plain, *reachable([other])}, key=lambda each: each.serial
            )
        with walks_remembered():
            assert reachable([y]) == plain
        assert reachable([y]) == plain
    assert reachable([y]) == plain


def test_no_walk_outlives_the_simplification_that_remembered_it() -> None:
    graph = sg.trace(lambda x: np.exp(x) * np.exp(2 * x) + 0 * x, x=(3,))
    kept = weakref.ref(graph.simplify().dag.outputs[0].operands[0])
    del graph
    sg.cache.clear()
    gc.collect()
    assert kept() is None


def test_a_replacement_is_made_of_replacements() -> None:
    x = sg.input("x", (3,), np.float64)
    first = snp.sin(x)
    second = snp.cos(first) + x
    instead = {first.node: snp.tan(x).node, second.node: snp.exp(first).node}
    (found,) = replaced([(second * first).node], instead)
    wanted = snp.exp(snp.tan(x)) * snp.tan(x)
    assert found is wanted.node
    (around,) = replaced([second.node], {first.node: snp.exp(first).node})
    assert around is (snp.cos(snp.exp(first)) + x).node
