"""A choice below a choice by the same condition is decided."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.ir.cost import op_count
from symgraph.ir.dag import Dag
from symgraph.ir.interpreter import evaluate
from symgraph.ir.invariants import verify
from symgraph.passes.known_branches import with_branches_known

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

SHAPES = {"c": (5,), "x": (5,), "y": (5,), "z": (), "m": (3, 5)}
AT = {
    "c": np.array([1.0, -1.0, np.nan, 0.0, 2.0]),
    "x": np.array([0.5, np.inf, -3.0, np.nan, 0.0]),
    "y": np.array([np.nan, 2.0, np.inf, -1.0, -0.0]),
    "z": np.array(-2.5),
    "m": np.arange(15.0).reshape(3, 5) - 7,
}

Function = Callable[[Any, Any, Any, Any, Any], Any]


def known(f: Function) -> tuple[sg.Graph, list[Any]]:
    """The graph and its outputs with branches known: valid, and the same to the last bit."""
    graph = sg.trace(f, **SHAPES)
    found = with_branches_known(graph.dag.outputs)
    moved = Dag(graph.dag.inputs, found)
    verify(moved)
    for new, old in zip(evaluate(moved, AT), evaluate(graph.dag, AT), strict=True):
        np.testing.assert_array_equal(new, old)
        np.testing.assert_array_equal(np.signbit(new), np.signbit(old))
    return graph, found


DECIDED: dict[str, tuple[Function, int]] = {
    "a number between": (
        lambda c, x, y, z, m: np.where(c > 0, x, 2 * np.where(c > 0, y, x)), 3,
    ),
    "in the first branch": (
        lambda c, x, y, z, m: np.where(c > 0, x - y * np.where(c > 0, y, 1.0), 0.0), 4,
    ),
    "in both": (
        lambda c, x, y, z, m: np.where(
            c > 0, -np.where(c > 0, y, x), x / z + np.where(c > 0, 1.0, y)
        ), 5,
    ),
    "a number repeated": (
        lambda c, x, y, z, m: np.where(c > 0, x, x * np.where(c > 0, x, z)), 3,
    ),
    "below another choice": (
        lambda c, x, y, z, m: np.where(
            c > 0, x, np.where(y > 0, 3 * np.where(c > 0, y, x), 1.0)
        ), 5,
    ),
    "of rows": (
        lambda c, x, y, z, m: np.where(c > 0, m, m * np.where(c > 0, y, x)), 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DECIDED)
def test_a_choice_is_decided_by_the_one_above(name: str) -> None:
    f, most = DECIDED[name]
    graph, found = known(f)
    assert op_count(found) <= most < op_count(graph.dag.outputs)


STAYING: dict[str, Function] = {
    "another condition": lambda c, x, y, z, m: np.where(c > 0, x, 2 * np.where(c < 0, y, x)),
    "read elsewhere": lambda c, x, y, z, m: (
        (u := np.where(c > 0, y, x)), np.where(c > 0, x, 2 * u),
    ),
    "below a logarithm": lambda c, x, y, z, m: np.where(
        c > 0, np.log(np.where(c > 0, c, 1.0)), 0.0
    ),
    "in a divisor": lambda c, x, y, z, m: np.where(c > 0, x / np.where(c > 0, c, 1.0), 0.0),
    "elements moved": lambda c, x, y, z, m: np.where(c > 0, x, 2 * np.where(c > 0, y, x)[::-1]),
}  # fmt: skip


@pytest.mark.parametrize("name", STAYING)
def test_other_choices_stay(name: str) -> None:
    graph, found = known(STAYING[name])
    assert found == list(graph.dag.outputs)
