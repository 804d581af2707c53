"""A small matrix of rows that are joined themselves is one join."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.ir.dag import Dag
from symgraph.ir.interpreter import evaluate
from symgraph.ir.invariants import verify
from symgraph.ops.indexing import embed
from symgraph.passes.joined_rows import with_rows_joined

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

SPECS = {"x": sg.spec(4), "a": sg.spec(""), "b": sg.spec("")}
AT = {"x": np.array([0.5, -1.25, np.nan, np.inf]), "a": np.array(1.75), "b": np.array(-0.3)}

Function = Callable[[Any, Any, Any], Any]


def joined(graph: sg.Graph) -> tuple[Any, ...]:
    """The outputs with rows joined: valid, with the same bits, joined for good."""
    found = with_rows_joined(graph.dag.outputs)
    assert with_rows_joined(found) == found
    moved = Dag(graph.dag.inputs, found)
    verify(moved)
    for new, old in zip(evaluate(moved, AT), evaluate(graph.dag, AT), strict=True):
        np.testing.assert_array_equal(new, old)
    return tuple(found)


def row(*parts: Any) -> Any:
    vectors = [x if type(x) is np.ndarray else np.reshape(x, (-1,)) for x in parts]
    return np.reshape(np.concatenate(vectors), (1, -1))


JOINED: dict[str, tuple[Function, int]] = {
    "entries and zeros": (
        lambda x, a, b: np.concatenate([
            row(a, np.zeros(2), b), row(np.zeros(1), b, x[1], a),
        ], axis=0), 7,
    ),
    "embedded": (
        lambda x, a, b: np.concatenate([
            row(x), np.reshape(embed(x[:2], (4,), (slice(1, 3),)), (1, 4)),
            np.reshape(embed(a, (4,), (2,)), (1, 4)),
        ], axis=0), 6,
    ),
    "an embedded join": (
        lambda x, a, b: np.concatenate([
            np.reshape(embed(np.concatenate([x[1:3], x[:1]]), (4,), (slice(1, None),)), (1, 4)),
            row(x[2:], a, b), np.ones((1, 4)),
        ], axis=0), 7,
    ),
    "a negative": (
        lambda x, a, b: np.concatenate([
            np.reshape(-embed(a, (4,), (2,)), (1, 4)), row(x[2:], a, b),
            np.reshape(-embed(np.concatenate([x[1:3], x[:1]]), (4,), (slice(1, None),)), (1, 4)),
        ], axis=0), 8,
    ),
}  # fmt: skip

KEPT: dict[str, Function] = {
    "whole rows": lambda x, a, b: np.stack([x, a * x]),
    "another use of each row": lambda x, a, b: (
        np.concatenate([r := row(a, b), q := row(b, b)], axis=0), np.exp(r), np.exp(q),
    ),
    "columns": lambda x, a, b: np.concatenate([row(a, b), row(b, a)], axis=1),
    "large": lambda x, a, b: np.concatenate([row(*[x] * 200), row(*[a * x] * 200)], axis=0),
}  # fmt: skip


@pytest.mark.parametrize("case", JOINED)
def test_rows_that_are_joined(case: str) -> None:
    f, pieces = JOINED[case]
    (found,) = joined(sg.trace(f, **SPECS))
    assert found.op.name == "reshape"
    (whole,) = found.operands
    assert whole.op.name == "concatenate"
    assert len(whole.operands) == pieces


@pytest.mark.parametrize("case", KEPT)
def test_rows_that_stay(case: str) -> None:
    graph = sg.trace(KEPT[case], **SPECS)
    assert joined(graph) == tuple(graph.dag.outputs)


def test_a_jacobian_is_joined_once() -> None:
    def euler(w: Any, a: Any, b: Any, c: Any) -> Any:
        return np.stack([a * w[1] * w[2], b * w[0] * w[2], c * w[0] * w[1]])

    joint = sg.trace(euler, w="3", a="", b="", c="").jacobian("w", value=False)
    small = joint.simplify()
    assert small.op_count() == 6
    assert [node.op.name for node in small.nodes].count("concatenate") == 1
    at: dict[str, Any] = {"w": np.array([1.0, 2.0, 3.0]), "a": 0.5, "b": -1.0, "c": 0.25}
    np.testing.assert_array_equal(small.evaluate(**at), joint.evaluate(**at))
    np.testing.assert_array_equal(small.lower()(**at), joint.evaluate(**at))
    assert small.simplify().op_count() == 6
