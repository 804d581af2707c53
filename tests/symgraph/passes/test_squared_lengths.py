"""Quadratic forms of Gram matrices are sums of squares, where that takes fewer operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from passedgraphs import assert_same, operations

import symgraph as sg
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.node import Node
from symgraph.passes.squared_lengths import with_squared_lengths

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

SPECS = {
    "x": sg.spec("5, 3"),
    "v": sg.spec("4, 3"),
    "s": sg.spec("3, 3", assume=sg.symmetric),
    "a": sg.spec("3, 3"),
    "e": sg.spec("0, 3"),
}
_RNG = np.random.default_rng(0)
AT = {
    name: _RNG.standard_normal(shape)
    for name, shape in {"x": (5, 3), "v": (4, 3), "s": (3, 3), "a": (3, 3), "e": (0, 3)}.items()
}
AT["s"] = AT["s"] + AT["s"].T

Function = Callable[[Any, Any, Any, Any, Any], Any]


def squared(
    graph: sg.Graph, loses: Callable[[Node, Node], bool] = lambda new, old: False
) -> list[Node]:
    """The outputs with squares: valid, with nearly the same values, for good."""
    found = with_squared_lengths(graph.dag.outputs, Knowledge(), loses)
    assert with_squared_lengths(found, Knowledge(), loses) == found
    assert_same(found, graph, AT, rtol=1e-12, atol=1e-13)
    return found


SQUARED: list[Function] = [
    lambda x, v, s, a, e: np.sum(x * (x @ (v.T @ v)), axis=1),
    lambda x, v, s, a, e: np.sum((x @ (s @ s)) * x, axis=1, keepdims=True),
    lambda x, v, s, a, e: np.sum(x.T * ((v.T @ v) @ x.T), axis=0),
    lambda x, v, s, a, e: np.sum(x.T * (s @ (s @ x.T)), axis=0),
    lambda x, v, s, a, e: np.sum((x.T @ x) * (s @ s)),
    lambda x, v, s, a, e: np.sum((v.T @ v) * (x.T @ x)),
]

KEPT: list[Function] = [
    # No matrix of these is the transpose of the other.
    lambda x, v, s, a, e: np.sum(x * (x @ (a @ a)), axis=1),
    lambda x, v, s, a, e: np.sum(x * (x @ (s @ a)), axis=1),
    lambda x, v, s, a, e: np.sum((x.T @ x) * (a @ s)),
    # Other rows, and sums over columns.
    lambda x, v, s, a, e: np.sum(x * ((x + 1) @ (v.T @ v)), axis=1),
    lambda x, v, s, a, e: np.sum(x * (x @ (v.T @ v)), axis=0),
    # The product of x and the Gram matrix has another use.
    lambda x, v, s, a, e: ((p := x @ (v.T @ v)), np.sum(x * p, axis=1)),
    # A NaN in x would be gone.
    lambda x, v, s, a, e: np.sum(x * (x @ (e.T @ e)), axis=1),
]


def traced(f: Function) -> sg.Graph:
    return sg.trace(lambda **at: f(**at), **SPECS)


@pytest.mark.parametrize("f", SQUARED)
def test_forms_of_gram_matrices_are_squares(f: Function) -> None:
    assert [each for each in operations(squared(traced(f))) if each != "transpose"] == [
        "matmul",
        "square",
        "sum",
    ]


@pytest.mark.parametrize("f", KEPT)
def test_other_forms_stay(f: Function) -> None:
    graph = traced(f)
    assert squared(graph) == list(graph.dag.outputs)


def test_what_loses_digits_is_not_taken() -> None:
    graph = traced(SQUARED[0])
    assert squared(graph, lambda new, old: True) == list(graph.dag.outputs)
