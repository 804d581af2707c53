"""What several sums share is added once, where that takes fewer operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from passedgraphs import AT, assert_same, operations

import symgraph as sg
import symgraph.scipy.special as special
from symgraph.ir.node import Node
from symgraph.passes.shared_sums import with_terms_shared

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

SHAPES = {"x": (4,), "y": (4,), "z": (4,), "a": (), "b": ()}

Function = Callable[[Any, Any, Any, Any, Any], Any]


def shared(graph: sg.Graph, *, loses: bool = False) -> list[Node]:
    """The outputs with terms shared: valid, with nearly the same values, shared for good."""
    found = with_terms_shared(graph.dag.outputs, lambda new, old: loses)
    assert with_terms_shared(found, lambda new, old: loses) == found
    assert_same(found, graph, AT, rtol=1e-14)
    return found


SHARED: dict[str, tuple[Function, str]] = {
    "a pair": (
        lambda x, y, z, a, b: (np.sin(x + y + z), np.exp(x + z)), "add add exp sin",
    ),
    "of opposite signs": (
        lambda x, y, z, a, b: (np.sin(z - x + y - a), np.exp(x - z)),
        "exp sin subtract subtract subtract",
    ),
    "a sum that is there": (
        lambda x, y, z, a, b: ((p := x + z) - y, np.exp(p) + p, z + y + x),
        "add add add exp subtract",
    ),
    "in three sums": (
        lambda x, y, z, a, b: (np.sin(x + y + z), np.exp(y + a + x), y - b + x),
        "add add add exp sin subtract",
    ),
    "sums of elements": (
        lambda x, y, z, a, b: ((x - z) * y, (np.sum(x) - np.sum(z) + a) * b, np.sum(x)),
        "add multiply multiply subtract sum sum",
    ),
    "reversed": (
        lambda x, y, z, a, b: ((x - z) * y, (a + x[::-1] - z[::-1]) * b),
        "add multiply multiply subtract",
    ),
}  # fmt: skip

KEPT: dict[str, Function] = {
    "one term in common": lambda x, y, z, a, b: (x + y, x - z),
    "other signs": lambda x, y, z, a, b: (np.sin(x + y + z), np.exp(x - z)),
    "of other shapes": lambda x, y, z, a, b: (x + a + y, np.exp(x + a) + z),
    "the same term twice": lambda x, y, z, a, b: (x + y + x, np.exp(x + z) + x),
    "no difference": lambda x, y, z, a, b: (x * z, np.sum(x) - np.sum(z)),
    "the pair itself is a term": lambda x, y, z, a, b: ((p := x + z) - x - z, p * y),
    "twice the pair": lambda x, y, z, a, b: ((p := x + z) + x + z, p * y),
    "of squares": lambda x, y, z, a, b: (x - z, np.sum(x**2) - np.sum(z**2)),
}


@pytest.mark.parametrize("case", SHARED)
def test_terms_that_are_shared(case: str) -> None:
    f, wanted = SHARED[case]
    assert operations(shared(sg.trace(f, **SHAPES))) == sorted(wanted.split())


@pytest.mark.parametrize("case", KEPT)
def test_terms_that_stay(case: str) -> None:
    graph = sg.trace(KEPT[case], **SHAPES)
    assert len(operations(shared(graph))) == len(operations(graph.dag.outputs))


@pytest.mark.parametrize("case", SHARED)
def test_the_judge_has_the_last_word(case: str) -> None:
    graph = sg.trace(SHARED[case][0], **SHAPES)
    assert shared(graph, loses=True) == list(graph.dag.outputs)


def test_a_divergence_of_dirichlets_sums_the_difference() -> None:
    def f(a: Any, b: Any) -> Any:
        bases = special.gammaln(np.sum(a)) - np.sum(special.gammaln(a))
        return bases + (a - b) @ (special.digamma(a) - special.digamma(np.sum(a)))

    positive = sg.spec(5, assume=sg.positive)
    graph = sg.trace(f, a=positive, b=positive).gradient("a", value=False)
    assert graph.simplify().op_count() <= 8
