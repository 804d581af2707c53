"""The order chosen for memory: valid, deterministic, never worse than the order of creation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from randomgraphs import closed, random_gradient

import symgraph.numpy as snp
from symgraph.array import Array
from symgraph.ir.dag import Dag
from symgraph.ir.node import Node, make
from symgraph.lowering.schedule import scheduled
from symgraph.memory.liveness import memory
from symgraph.ops.creation import input


def assert_order(dag: Dag, order: list[Node]) -> None:
    assert len(order) == len(set(order))
    assert set(order) == set(dag.nodes)
    place = {node: position for position, node in enumerate(order)}
    assert all(place[operand] < place[node] for node in order for operand in node.operands)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_order_is_topological_and_no_worse(seed: int) -> None:
    dag = random_gradient(seed)
    order = scheduled(dag)
    assert_order(dag, order)
    assert scheduled(dag) == order
    assert memory(dag).peak_bytes <= memory(dag, order=dag.nodes).peak_bytes


def test_wide_sums_run_one_branch_at_a_time() -> None:
    x = input("x", (1000,))
    branches = [np.exp(x * float(i)) for i in range(50)]
    dag = closed({"x": x}, sum(np.sum(each) for each in branches))
    assert memory(dag, order=dag.nodes).peak_bytes > 50 * 8000
    assert memory(dag).peak_bytes < 2 * 8000


def test_delayed_weight_gradients_are_hurried() -> None:
    x, w = input("x", (256, 64)), input("w", (64, 64))
    cotangents = [x]
    for _ in range(10):
        cotangents.append(np.sin(cotangents[-1] @ w))
    products = [x.T @ each for each in cotangents[1:]]
    total = products[0]
    for each in products[1:]:
        total = total + each
    dag = closed({"x": x, "w": w}, total)
    assert memory(dag).peak_bytes < memory(dag, order=dag.nodes).peak_bytes / 2


def test_a_graph_with_a_schedule_keeps_it() -> None:
    x = input("x", (3,))
    a, b = np.sin(x), np.cos(x)
    out = a + b
    order = [x.node, b.node, a.node, out.node]
    dag = Dag({"x": x.node}, [out.node], schedule=order)
    assert scheduled(dag) == order
    assert dag.with_outputs([out.node]).schedule is None


def test_recomputed_values_without_a_schedule_run_late() -> None:
    x = input("x", (1000,))
    first = np.sin(x)
    again = Array(make(first.node.op, first.node.operands, first.node.params, copy=1))
    y: Any = first
    for _ in range(20):
        y = np.cos(y)
    dag = closed({"x": x}, y * again)
    place = {node: position for position, node in enumerate(scheduled(dag))}
    assert place[again.node] == len(place) - 2
    assert memory(dag).peak_bytes == 2 * 8000


@pytest.mark.whole
@pytest.mark.parametrize("steps", [40_000])
def test_long_chains_need_no_recursion(steps: int) -> None:
    x = input("x", (2,))
    negative = (-x).node.op
    y = x.node
    for _ in range(steps):
        y = make(negative, (y,))
    dag = Dag({"x": x.node}, [y])
    order = scheduled(dag)
    assert len(order) == steps + 1
    assert memory(dag).peak_bytes == 16


def test_named_dimensions_are_scheduled_without_sizes() -> None:
    x = input("x", "n, 3")
    dag = closed({"x": x}, snp.sum(np.exp(x)))
    assert_order(dag, scheduled(dag))
    assert memory(dag, {"n": 10}).peak_bytes < memory(dag, {"n": 100}).peak_bytes
