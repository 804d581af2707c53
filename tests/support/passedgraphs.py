"""What a pass makes of a graph: valid, with the same numbers, in these operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

import symgraph as sg
from symgraph.ir.dag import Dag
from symgraph.ir.interpreter import evaluate
from symgraph.ir.invariants import verify
from symgraph.ir.node import Node
from symgraph.ir.walks import reachable

__all__ = ["AT", "assert_same", "operations"]

AT = {
    "x": np.array([0.5, -1.25, 2.0, np.inf]),
    "y": np.array([1.5, 0.25, -2.0, np.nan]),
    "z": np.array([-3.0, 0.0, 7.0, 1.0]),
    "a": np.array(1.75),
    "b": np.array(-0.3),
}
"""Three vectors, two of them with elements that are no finite numbers, and two numbers."""


def assert_same(
    found: Sequence[Node],
    graph: sg.Graph,
    at: Mapping[str, np.ndarray],
    *,
    rtol: float,
    atol: float = 0,
) -> None:
    """That outputs are valid, and those of the graph in dtype and value."""
    moved = Dag(graph.dag.inputs, list(found))
    verify(moved)
    with np.errstate(all="ignore"):
        for new, old in zip(evaluate(moved, at), evaluate(graph.dag, at), strict=True):
            assert new.dtype == old.dtype
            np.testing.assert_allclose(new, old, rtol=rtol, atol=atol)


def operations(outputs: Sequence[Node]) -> list[str]:
    """The names of the operations that count, sorted."""
    return sorted(node.op.name for node in reachable(list(outputs)) if node.op.count)
