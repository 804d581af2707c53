"""The planner orders the backward part itself, so that `simplify` does not spoil its plans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.lowering.memory_model import model_of, profile
from symgraph.memory.order import backward_nodes, forward_first, layer_by_layer
from symgraph.memory.planner import network_plans


def closed(inputs: dict[str, sg.Array], loss: Any) -> sg.Graph:
    weights = [each for name, each in inputs.items() if not name.startswith("x")]
    return sg.graph(loss, *sg.grad(loss, weights))


def mlp(layers: int = 64, batch: int = 256, width: int = 128) -> sg.Graph:
    inputs = {"x": sg.input("x", (batch, width), "float32")}
    h: Any = inputs["x"]
    for layer in range(layers):
        inputs[f"w{layer}"] = sg.input(f"w{layer}", (width, width), "float32")
        h = np.tanh(h @ inputs[f"w{layer}"])
    return closed(inputs, np.sum(h * h))


def transformer(blocks: int = 12, length: int = 192, width: int = 32) -> sg.Graph:
    inputs = {"x": sg.input("x", (length, width), "float32")}

    def weight(name: str, rows: int, columns: int) -> sg.Array:
        inputs[name] = sg.input(name, (rows, columns), "float32")
        return inputs[name]

    h: Any = inputs["x"]
    for block in range(blocks):
        q, k, v = [h @ weight(f"{name}{block}", width, width) for name in "qkv"]
        scores = q @ k.T / np.float32(np.sqrt(width))
        e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        h = h + (e / np.sum(e, axis=-1, keepdims=True)) @ v
        up = np.tanh(h @ weight(f"u{block}", width, 4 * width))
        h = h + up @ weight(f"d{block}", 4 * width, width)
    return closed(inputs, np.sum(h * h))


def convolutions(layers: int = 8, batch: int = 8, size: int = 16, channels: int = 8) -> sg.Graph:
    inputs = {"x": sg.input("x", (batch, channels, size, size), "float32")}
    h: Any = inputs["x"]
    for layer in range(layers):
        w = inputs[f"w{layer}"] = sg.input(f"w{layer}", (channels, channels, 3, 3), "float32")
        h = np.maximum(snp.conv2d(h, w, padding=1), 0)
    return closed(inputs, np.sum(h * h))


def lstm(steps: int = 50, batch: int = 32, width: int = 32) -> sg.Graph:
    inputs = {"xs": sg.input("xs", (steps, batch, width), "float32")}
    w = inputs["w"] = sg.input("w", (width, 4 * width), "float32")
    u = inputs["u"] = sg.input("u", (width, 4 * width), "float32")
    b = inputs["b"] = sg.input("b", (4 * width,), "float32")
    h: Any = np.zeros((batch, width), np.float32)
    c: Any = np.zeros((batch, width), np.float32)
    for step in range(steps):
        z = inputs["xs"][step] @ w + b + h @ u
        i, f, o, g = [z[:, gate * width : (gate + 1) * width] for gate in range(4)]
        c = snp.sigmoid(f) * c + snp.sigmoid(i) * np.tanh(g)
        h = snp.sigmoid(o) * np.tanh(c)
    return closed(inputs, np.sum(h * h))


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
