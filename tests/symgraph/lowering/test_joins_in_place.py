"""Results that join pieces: planned programs write the pieces where they will lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from installed import ON_THE_CPU

import symgraph as sg
from symgraph.lowering.joins_in_place import joins_of


def stacked(layers: int = 16, batch: int = 256, width: int = 64) -> sg.Graph:
    """Layers whose weights are one array: its gradient joins those of the layers."""
    x, w = sg.input("x", (batch, width)), sg.input("w", (layers, width, width))
    h: Any = x
    for layer in range(layers):
        h = np.tanh(h @ w[layer])
    loss = np.sum(h * h)
    return sg.graph(loss, *sg.grad(loss, [w])).simplify()


def numbers(graph: sg.Graph) -> dict[str, Any]:
    random = np.random.default_rng(0)
    return {name: 0.2 * random.normal(size=node.shape) for name, node in graph.dag.inputs.items()}


@pytest.mark.parametrize(
    ("layers", "share"),
    [
        (8, "130%"),
        pytest.param(8, "60%", marks=pytest.mark.whole),
        *[pytest.param(16, each, marks=pytest.mark.whole) for each in ("130%", "60%", "45%")],
    ],
)
def test_pieces_are_written_in_place_and_no_bit_changes(layers: int, share: str) -> None:
    graph = stacked(layers)
    planned = graph.checkpoint(share)
    given = numbers(graph)
    for one, other in zip(planned.lower()(**given), graph.lower()(**given), strict=True):
        assert one.tobytes() == other.tobytes()
    source = planned.lower().source
    assert ("np.concatenate(" in source) == (share == "130%")  # There is no plan then.


@pytest.mark.whole
def test_a_stack_needs_what_separate_arrays_need() -> None:
    graph = stacked(64, 64, 32)
    weights = 64 * 32 * 32 * 8
    with pytest.raises(sg.MemoryBudgetError) as caught:
        graph.checkpoint(weights)
    assert caught.value.least_bytes < 1.4 * weights
    plan = graph.checkpoint(caught.value.least_bytes)
    assert plan.memory().peak_bytes <= caught.value.least_bytes
    assert plan.memory_plan().peak_bytes <= caught.value.least_bytes


def test_what_others_read_and_what_is_given_is_copied() -> None:
    x, y = sg.input("x", (40, 50)), sg.input("y", (3, 50))
    shared = np.sin(x)
    pieces = [shared, y, np.cos(x) * 2, np.sum(np.exp(x), axis=0, keepdims=True), np.exp(x).T[:40]]
    joined = np.concatenate([pieces[0], np.concatenate(pieces[1:4])])
    graph = sg.graph(joined, shared * 3, np.sum(np.tanh(x) * np.sinh(x)))
    (join,) = joins_of(graph.dag.nodes, graph.dag.outputs)
    assert [each.node.op.name for each in join.pieces] == ["multiply", "sum"]
    assert [each.index for each in join.others] == ["[0:40]", "[40:43]"]
    planned = graph.checkpoint(recompute=[])
    given = {"x": np.random.default_rng(0).normal(size=(40, 50)), "y": np.ones((3, 50))}
    for one, other in zip(planned.lower()(**given), graph.evaluate(**given), strict=True):
        assert one.tobytes() == other.tobytes()


def test_a_join_that_is_no_result_is_computed_as_ever() -> None:
    x = sg.input("x", (40, 50))
    graph = sg.graph(np.sum(np.concatenate([np.sin(x), np.cos(x)])))
    assert not joins_of(graph.dag.nodes, graph.dag.outputs)
    along_columns = sg.graph(np.concatenate([np.sin(x), np.cos(x)], axis=1))
    assert not joins_of(along_columns.dag.nodes, along_columns.dag.outputs)


@pytest.mark.parametrize("backend", ON_THE_CPU)
def test_numbers_are_pieces_too(backend: str) -> None:
    """A part of one number, `[2]`, is no array that NumPy could write to."""
    x = sg.input("x", (4,))
    numbers = [np.sin(x[0]) * x[1], np.sum(x * x), x[2] - np.cos(x[3]), x[3]]
    planned = sg.graph(np.stack(numbers), np.sum(np.exp(x))).checkpoint(recompute=[])
    given = np.array([0.3, 1.7, -0.6, 2.1])
    found, _ = planned.lower(backend)(x=given)
    want = [np.sin(0.3) * 1.7, np.sum(given * given), -0.6 - np.cos(2.1), 2.1]
    np.testing.assert_allclose(found, want, rtol=1e-14)
