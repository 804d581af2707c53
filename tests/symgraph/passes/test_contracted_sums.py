"""Sums of products along an axis are products of matrices and vectors."""

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
from symgraph.passes.contracted_sums import with_sums_contracted

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

SHAPES = {"x": (4,), "y": (4,), "M": (4, 3), "z": (3,)}

Function = Callable[[Any, Any, Any, Any], Any]


def contracted(f: Function, *, loses: bool = False) -> tuple[sg.Graph, list[Any]]:
    """The graph and its outputs with sums contracted: valid, of the same values."""
    graph = sg.trace(f, **SHAPES)
    found = with_sums_contracted(graph.dag.outputs, lambda new, old: loses)
    moved = Dag(graph.dag.inputs, found)
    verify(moved)
    rng = np.random.default_rng(3)
    for special in (1.0, np.nan, np.inf):
        at = {name: rng.uniform(0.5, 2.0, shape) for name, shape in SHAPES.items()}
        at["x"][2] = at["x"][2] * special
        for new, old in zip(evaluate(moved, at), evaluate(graph.dag, at), strict=True):
            assert new.shape == old.shape
            np.testing.assert_allclose(new, old, rtol=1e-13)
    return graph, found


def pairs(M: Any) -> Any:
    return M[:, None] + 2 * M


CONTRACTED: dict[str, Function] = {
    "two vectors": lambda x, y, M, z: np.sum(x * y),
    "a square": lambda x, y, M, z: np.sum(np.square(x)),
    "kept axis": lambda x, y, M, z: np.sum(x * y, axis=0, keepdims=True),
    "rows": lambda x, y, M, z: np.sum(M * z, axis=1),
    "rows, vector first": lambda x, y, M, z: np.sum(z * M, axis=1, keepdims=True),
    "columns": lambda x, y, M, z: np.sum(M * x[:, None], axis=0),
    "weights of pairs": lambda x, y, M, z: np.sum((M @ M.T)[..., None] * pairs(M), axis=1),
    "weights of pairs, kept": lambda x, y, M, z: np.sum(
        pairs(M) * (M @ M.T)[..., None], axis=0, keepdims=True
    ),
    "weights of the first": lambda x, y, M, z: np.sum(pairs(M) * x[:, None, None], axis=(0, 2)),
    "a multiple of weights": lambda x, y, M, z: np.sum(
        4 * ((M @ M.T)[..., None] * pairs(M)), axis=1
    ),
    "repeated weights": lambda x, y, M, z: np.sum(
        np.broadcast_to(z, (4, 4, 3)) * pairs(M), axis=(0, 1, 2)
    ),
    "columns by a matrix": lambda x, y, M, z: np.sum(np.reshape(x, (4, 1)) * M, axis=0),
}


@pytest.mark.parametrize("name", CONTRACTED)
def test_a_sum_of_products_is_one_operation(name: str) -> None:
    graph, found = contracted(CONTRACTED[name])
    assert op_count(found) == op_count(graph.dag.outputs) - 1


def test_sums_of_sums_are_each_contracted_once() -> None:
    """Steps of a loop, each with a norm of the one before: no step is computed twice."""

    def norms(x: Any, y: Any, M: Any, z: Any) -> Any:
        for _ in range(5):
            x = x / np.sum(x * y)
        return x

    graph, found = contracted(norms)
    assert op_count(graph.dag.outputs) == 15
    assert op_count(found) == 10


SIGNED: dict[str, Function] = {
    "one sign": lambda x, y, M, z: np.sum(-x * y),
    "two signs": lambda x, y, M, z: -np.sum(-x * -y),
    "a sign of rows": lambda x, y, M, z: np.sum(-M * z, axis=1),
}


@pytest.mark.parametrize("name", SIGNED)
def test_the_sign_of_a_factor_is_that_of_the_sum(name: str) -> None:
    graph, found = contracted(SIGNED[name])
    assert op_count(found) == 2 < op_count(graph.dag.outputs)
    assert found[0].op.name == "negative"


STAYING: dict[str, Function] = {
    "scaled rows": lambda x, y, M, z: np.sum(M * x[:, None], axis=1),
    "two matrices": lambda x, y, M, z: np.sum(M * M[::-1], axis=0),
    "all axes": lambda x, y, M, z: np.sum(M * z),
    "a number": lambda x, y, M, z: np.sum(x * z[0]),
    "an outer product": lambda x, y, M, z: np.sum(x[:, None] * z, axis=0),
    "a sum": lambda x, y, M, z: np.sum(x + y),
    "read elsewhere": lambda x, y, M, z: ((p := x * y), np.sum(p)),
}


@pytest.mark.parametrize("name", STAYING)
def test_other_sums_stay(name: str) -> None:
    graph, found = contracted(STAYING[name])
    assert found == list(graph.dag.outputs)


def test_the_judge_has_the_last_word() -> None:
    graph, found = contracted(CONTRACTED["two vectors"], loses=True)
    assert found == list(graph.dag.outputs)


def test_integers_stay_as_they_wrap_around() -> None:
    graph = sg.trace(lambda x, y: np.sum(x * y), x=sg.spec(4, "int64"), y=sg.spec(4, "int64"))
    found = with_sums_contracted(graph.dag.outputs, lambda new, old: False)
    assert found == list(graph.dag.outputs)


def test_a_softmax_that_loses_its_range_when_opened_is_contracted() -> None:
    positive = sg.spec(5, assume=sg.positive)
    graph = sg.trace(
        lambda y, c, t: np.log(np.sum(c * np.exp(-y * t))), y="", c=positive, t=positive
    )
    assert graph.gradient("y", value=False).simplify().op_count() <= 10
