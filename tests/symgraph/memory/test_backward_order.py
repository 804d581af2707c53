"""The planner orders the backward part itself, so that `simplify` does not spoil its plans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plannednetworks import convolutions, lstm, mlp, transformer

import symgraph as sg
from symgraph.lowering.memory_model import model_of, profile
from symgraph.memory.backward_order import backward_nodes, forward_first, layer_by_layer
from symgraph.memory.planner import network_plans


def overhead(graph: sg.Graph, share: float) -> float:
    """Floating-point operations added by a budget of this share of the peak."""
    budget = int(graph.memory().peak_bytes * share)
    plan = graph.checkpoint(budget)
    assert plan.memory().peak_bytes <= budget
    return int(str(plan.flops())) / int(str(graph.flops())) - 1


CASES: dict[str, tuple[Callable[[], sg.Graph], float, float]] = {
    "mlp": (mlp, 0.55, 0.164),
    "transformer": (transformer, 0.3, 0.19),
    "convolutions": (convolutions, 0.7, 0.15),
    "lstm": (lstm, 0.5, 0.2),
}


@pytest.mark.whole
@pytest.mark.parametrize("name", CASES)
def test_simplified_networks_are_planned_as_well_as_known(name: str) -> None:
    make, share, bound = CASES[name]
    assert overhead(make().simplify(), share) <= bound


@pytest.mark.whole
def test_simplify_does_not_spoil_planning() -> None:
    """All `1 - h**2` stood before the first cotangent, and a budget cost four times as much."""
    graph = mlp(32)
    small = graph.simplify()
    for share in (0.9, 0.7):
        assert overhead(small, share) <= overhead(graph, share) + 0.01


def test_steps_that_read_no_cotangent_stand_just_before_their_reader() -> None:
    dag = mlp(6).simplify().dag
    order = layer_by_layer(forward_first(dag), dag.outputs)
    assert sorted(order, key=id) == sorted(dag.nodes, key=id)
    place = {node: number for number, node in enumerate(order)}
    assert all(place[each] < place[node] for node in order for each in node.operands)
    backward = backward_nodes(order)
    locals_ = [node for node in backward if node.op.name == "subtract"]
    assert len(locals_) == 6
    for node in locals_:
        (reader,) = [other for other in order if node in other.operands]
        assert place[reader] == place[node] + 1


def test_weight_gradients_run_as_soon_as_they_can() -> None:
    dag = mlp(6).simplify().dag
    order = layer_by_layer(forward_first(dag), dag.outputs)
    place = {node: number for number, node in enumerate(order)}
    gradients = [place[node] for node in dag.outputs[1:]]
    assert gradients == sorted(gradients, reverse=True)
    # The last layer's gradient does not wait for those of the other layers.
    assert gradients[-1] < gradients[0] - 10


def test_blocks_are_planned_behind_a_short_chain() -> None:
    """A chain of three steps before the blocks gave one useless plan, and blocks none."""
    x = sg.input("x", (64, 16))
    weights = [sg.input(f"w{layer}", (16, 16)) for layer in range(8)]
    h: Any = np.sin(np.sin(np.sin(x)))
    for w in weights:
        h = h + np.tanh(h @ w)
    loss = np.sum(h * h)
    dag = sg.graph(loss, *sg.grad(loss, [x, *weights])).dag
    model = model_of(layer_by_layer(forward_first(dag), dag.outputs), dag.outputs, costs=True)
    most = profile(model, range(len(model))).peak
    plans = network_plans(model, most)
    assert min(plan.peak for plan in plans) < 0.7 * most
