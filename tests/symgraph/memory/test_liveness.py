"""The memory model: what counts, how long, and that prediction equals a measured run."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symgraph.array import Array
from symgraph.autodiff.reverse import gradients
from symgraph.backends.lowered import lower
from symgraph.errors import InputError
from symgraph.ir.dag import Dag
from symgraph.memory.liveness import live_ranges, memory, readable_bytes
from symgraph.ops.creation import input

N = 1000
BYTES = 8 * N


def closed(inputs: dict[str, Array], *outputs: Any) -> Dag:
    return Dag({name: each.node for name, each in inputs.items()}, [each.node for each in outputs])


def measured(dag: Dag) -> int:
    random = np.random.default_rng(0)
    given = {name: random.normal(size=node.shape) for name, node in dag.inputs.items()}
    program = lower(dag)
    program(**given)
    program.release()
    tracemalloc.start()
    try:
        program(**given)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def table() -> list[tuple[str, Callable[[Array, Array], Any], int]]:
    """Name, value of x[N] and m[N, 4], and the bytes a run needs."""
    return [
        ("one operation", lambda x, m: np.exp(x), BYTES),
        ("a chain runs in place", lambda x, m: np.sin(np.cos(np.exp(x))), BYTES),
        ("two readers", lambda x, m: np.sin(np.exp(x)) * np.exp(x), 2 * BYTES),
        ("operands of other shape stay", lambda x, m: np.sum(np.exp(m), axis=-1), 5 * BYTES),
        ("a view owns nothing", lambda x, m: np.exp(m).T, 4 * BYTES),
        ("a view of an input is copied", lambda x, m: m.T, 4 * BYTES),
        ("an input is copied", lambda x, m: x, BYTES),
        ("a broadcast result is made real", lambda x, m: np.broadcast_to(x, (4, N)), 4 * BYTES),
        ("one value handed out twice", lambda x, m: (np.exp(x), np.exp(x)), 2 * BYTES),
        ("a scalar is an array", lambda x, m: np.sum(np.exp(x)), BYTES + 8),
        ("a reshape that must copy", lambda x, m: np.exp(m).T.reshape(4 * N) * 2.0, 8 * BYTES),
        ("matmul is not in place", lambda x, m: np.exp(m) @ np.ones((4, 4)), 8 * BYTES),
    ]


@pytest.mark.parametrize(("name", "make", "expected"), table(), ids=[row[0] for row in table()])
def test_bytes(name: str, make: Callable[..., Any], expected: int) -> None:
    x, m = input("x", (N,)), input("m", (N, 4))
    value = make(x, m)
    outputs = value if isinstance(value, tuple) else (value,)
    dag = closed({"x": x, "m": m}, *outputs)
    found = memory(dag)
    assert found.peak_bytes == expected
    assert found.peak_bytes <= measured(dag) <= found.peak_bytes + 4000


def mlp(layers: int, batch: int, width: int) -> Dag:
    x = input("x", (batch, width))
    inputs = {"x": x}
    h: Any = x
    for layer in range(layers):
        weight = inputs[f"w{layer}"] = input(f"w{layer}", (width, width))
        h = np.tanh(h @ weight)
    weights = [each for name, each in inputs.items() if name != "x"]
    found = gradients(np.sum(h * h), weights)
    return closed(inputs, *[each for each in found if each is not None])


@pytest.mark.parametrize("layers", [1, 3, 12])
def test_prediction_is_what_a_run_needs(layers: int) -> None:
    dag = mlp(layers, 256, 32)
    assert memory(dag).peak_bytes == pytest.approx(measured(dag), rel=0.05)


def test_softmax_needs_room_while_it_runs() -> None:
    x = input("x", (500, 100))
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    (gradient,) = gradients(np.sum(np.log(e / np.sum(e, axis=-1, keepdims=True)) ** 2), [x])
    dag = closed({"x": x}, gradient)
    assert memory(dag).peak_bytes == pytest.approx(measured(dag), rel=0.05)


def test_without_reuse_more_is_live() -> None:
    x = input("x", (N,))
    dag = closed({"x": x}, np.sin(np.cos(np.exp(x))))
    assert memory(dag, reuse=False).peak_bytes == 2 * BYTES


def test_report() -> None:
    x = input("x", (N,))
    a = np.exp(x)
    total = np.sum(a * np.sin(a) * np.cos(a))
    dag = closed({"x": x}, total)
    found = memory(dag)
    assert found.peak_bytes == 2 * BYTES
    assert found.peak_node is not None
    assert found.peak_node.op.name in ("sin", "cos", "multiply")
    assert sum(size for _, size in found.live) == found.peak_bytes
    assert max(size for _, size in found.timeline) == found.peak_bytes
    assert found.output_bytes == 8
    assert "peak 15.62 KiB (16000 bytes)" in repr(found)
    assert "test_liveness.py" in repr(found)


def test_nothing_computed() -> None:
    x = input("x", (N,))
    found = memory(closed({"x": x}, x))
    assert (found.peak_bytes, found.output_bytes) == (BYTES, BYTES)


def test_live_ranges_of_bases_cover_their_views() -> None:
    x = input("x", (4, 5))
    base = np.exp(x)
    view = base.T
    late = np.sin(x)
    out = late.T * view
    dag = closed({"x": x}, out)
    order = list(dag.nodes)
    ranges = live_ranges(dag, order)
    assert x.node not in ranges
    assert ranges[base.node] == (order.index(base.node), order.index(out.node))
    assert ranges[out.node][1] == len(order)


def test_a_missing_size_is_named() -> None:
    x = input("x", "n, 3")
    with pytest.raises(InputError, match="'n'"):
        memory(closed({"x": x}, np.exp(x)))


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (3 << 30, "3 GiB")]
)
def test_readable_bytes(count: int, text: str) -> None:
    assert readable_bytes(count) == text
