"""A join of results of one operation is the operation on a join."""

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
from symgraph.passes.joined_operations import with_operations_joined

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

SPECS = {"x": sg.spec(4), "y": sg.spec(3), "a": sg.spec(""), "b": sg.spec("")}
AT = {
    "x": np.array([0.5, -1.25, np.nan, np.inf]),
    "y": np.array([1e300, -0.0, 2.5]),
    "a": np.array(1.75),
    "b": np.array(-0.3),
}

Function = Callable[[Any, Any, Any, Any], Any]


def joined(f: Function) -> tuple[sg.Graph, list[Any]]:
    """The graph and its outputs with operations joined: valid, with the same bits, for good."""
    graph = sg.trace(f, **SPECS)
    found = with_operations_joined(graph.dag.outputs)
    assert with_operations_joined(found) == found
    moved = Dag(graph.dag.inputs, found)
    verify(moved)
    for new, old in zip(evaluate(moved, AT), evaluate(graph.dag, AT), strict=True):
        np.testing.assert_array_equal(new, old)
    return graph, found


def rows(*parts: Any) -> Any:
    return np.concatenate([np.reshape(each, (1, -1)) for each in parts])


JOINED: dict[str, tuple[Function, int]] = {
    "over one number": (lambda x, y, a, b: np.concatenate([x / a, y / a]), 1),
    "the number first": (lambda x, y, a, b: np.concatenate([a - x, a - y]), 1),
    "a function": (lambda x, y, a, b: np.concatenate([np.sin(x), np.sin(y), np.sin(x + y[0])]), 2),
    "rows": (lambda x, y, a, b: rows((x + x[::-1]) / a, (x * b) / a), 3),
    "one after the other": (lambda x, y, a, b: np.concatenate([np.exp(x) * a, np.exp(y) * a]), 2),
    "shaped between": (
        lambda x, y, a, b: rows(np.reshape(np.exp(x), (2, 2)) * a, np.exp(x) * a), 2
    ),
    "a join of joins": (
        lambda x, y, a, b: np.concatenate([np.concatenate([-x, -y]), -(x + a)]), 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", JOINED)
def test_equal_operations_are_done_once(name: str) -> None:
    f, most = JOINED[name]
    graph, found = joined(f)
    assert op_count(found) <= most < op_count(graph.dag.outputs)


APART: dict[str, Function] = {
    "numbers": lambda x, y, a, b: np.stack([np.sin(a), np.sin(b)]),
    "another number": lambda x, y, a, b: np.concatenate([x / a, y / b]),
    "another place": lambda x, y, a, b: np.concatenate([x / a, a / y]),
    "a vector beside": lambda x, y, a, b: np.concatenate([x * x[::-1], x[1:] * y]),
    "repeated": lambda x, y, a, b: np.concatenate([x * a, a * b + np.zeros(3)]),
    "other functions": lambda x, y, a, b: np.concatenate([np.sin(x), np.cos(y)]),
    "large": lambda x, y, a, b: np.concatenate([np.tile(x, 900) / a, np.tile(y, 900) / a]),
}


@pytest.mark.parametrize("name", APART)
def test_other_operations_stay(name: str) -> None:
    graph, found = joined(APART[name])
    assert found == list(graph.dag.outputs)


def test_what_is_read_elsewhere_stays() -> None:
    graph = sg.trace(lambda x, y: ((u := np.exp(x)), np.concatenate([u, np.exp(y)])), x=4, y=3)
    assert with_operations_joined(graph.dag.outputs) == list(graph.dag.outputs)


def test_jacobian_of_a_homography_is_divided_once() -> None:
    def f(x: Any, a: Any, b: Any, c: Any) -> Any:
        w = c @ x + 2
        return np.stack([(a @ x + 1) / w, (b @ x + 1) / w])

    positive = sg.spec(2, assume=sg.positive)
    graph = sg.trace(f, x=positive, a=2, b=2, c=positive).jacobian("x", value=False)
    assert graph.simplify().op_count() <= 12
