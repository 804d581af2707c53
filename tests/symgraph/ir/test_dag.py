"""Nodes are values: hash-consing, origins, the networkx DAG and its invariants."""

from __future__ import annotations

import gc
import pickle
import weakref
from typing import Any

import networkx as nx
import numpy as np
import pytest

import symgraph as sg
from symgraph.array import Array, constant
from symgraph.errors import InputError, SymgraphError, VerifyError
from symgraph.export.labels import order_of
from symgraph.ir.dag import Dag
from symgraph.ir.invariants import verify
from symgraph.ir.node import Origin, make, origin
from symgraph.ir.op import OPS
from symgraph.ir.origins import origins
from symgraph.ir.walks import reachable, substituted
from symgraph.ops.creation import input


def test_equal_subgraphs_are_one_node() -> None:
    x = input("x", (3,))
    assert (np.exp(x) + 1).node is (np.exp(x) + 1).node
    assert (x + 1).node is not (1 + x).node


def test_inputs_equal_no_other() -> None:
    assert input("x", (3,)).node is not input("x", (3,)).node


@pytest.mark.parametrize(
    ("one", "other"),
    [(0.0, -0.0), (1, 1.0), (1, True), (1.0, True), (np.nan, -np.nan)],
    ids=str,
)
def test_constants_are_compared_bit_by_bit(one: float, other: float) -> None:
    assert constant(one).node is not constant(other).node


def test_equal_constants_are_one_node_whatever_their_layout() -> None:
    table = np.arange(6.0).reshape(2, 3)
    assert constant(table).node is constant(np.asfortranarray(table)).node
    assert constant(table).node is not constant(table.astype("f4")).node
    assert constant(table).node is not constant(table.reshape(3, 2)).node


def test_constants_are_frozen_copies() -> None:
    table = np.arange(3.0)
    held = constant(table)
    table[0] = 99
    assert held.node.params["value"][0] == 0
    with pytest.raises(ValueError, match="read-only"):
        held.node.params["value"][0] = 1


def test_serials_are_a_topological_order() -> None:
    x = input("x", (3,))
    y = np.exp(x) * x + np.sum(x)
    order = {node: i for i, node in enumerate(reachable([y.node]))}
    assert all(order[operand] < order[node] for node in order for operand in node.operands)


def test_both_operand_slots_of_a_repeated_operand_are_kept() -> None:
    x = input("x", ())
    square = (x * x).node
    dag = Dag({"x": x.node}, [square])
    assert dag.nx.edges[x.node, square]["slots"] == "0, 1"
    assert dag.uses[x.node] == [(square, 0), (square, 1)]


def test_networkx_sees_the_same_graph_and_cannot_change_it() -> None:
    x, y = input("x", (3,)), input("y", (3,))
    out = np.sum(x * y + x / y)
    dag = Dag({"x": x.node, "y": y.node}, [out.node])
    assert set(dag.nx.nodes) == set(dag.nodes)
    edges = {(operand, node) for node in dag.nodes for operand in node.operands}
    assert set(dag.nx.edges) == edges
    assert nx.is_directed_acyclic_graph(dag.nx)
    assert list(nx.topological_sort(dag.nx))[-1] is out.node
    with pytest.raises(nx.NetworkXError):
        dag.nx.add_node("more")


def test_a_node_two_lines_share_has_both() -> None:
    x = input("x", ())
    first = np.exp(x)
    second = np.exp(x)
    assert first.node is second.node
    lines = [frame.line for frame in first.node.origin.frames]
    assert len(lines) == 2
    assert lines[1] == lines[0] + 1
    assert "np.exp(x)" in first.node.origin.frames[0].text


def test_origin_given_by_the_engine_wins_over_the_users_line() -> None:
    x = input("x", ())
    with origin(Origin(rule="some_rule")):
        made = np.cosh(x)
    assert made.node.origin == Origin(rule="some_rule")


def test_graphs_that_share_a_constant_tell_their_own_lines() -> None:
    def written(x: Any) -> Any:
        return np.exp(x) * 7.03125

    functions = (written, lambda x: np.sin(x) + 7.03125, written)
    first, other, again = graphs = [sg.trace(f, x=(3,)) for f in functions]
    assert len(set(first.nodes) & set(other.nodes) & set(again.nodes)) == 1
    assert str(first) == str(again)
    for graph in graphs:
        (shared,) = (each for each in graph.nodes if each.is_constant)
        (use, _), *_ = graph.dag.uses[shared]
        assert origins(graph.nodes)[shared] == use.origin


def test_a_forward_graph_takes_no_origin_from_a_gradient_beside_it() -> None:
    gc.collect()  # The constant of a graph that another test left would be met again.
    joint = sg.trace(lambda x: np.sum(np.tanh(x)), x=(3,)).gradient("x", value=True)
    known = origins(joint.nodes)
    assert {known[each].adjoint_of.op.name for each in joint.nodes if known[each].adjoint_of} == {
        "tanh",
        "sum",
    }
    beside = sg.trace(lambda x: x + 1.0, x=(3,))
    (one,) = (each for each in beside.nodes if each.is_constant)
    assert one in joint.nodes
    assert set(order_of(beside.nodes).values()) == {0}
    assert order_of(joint.nodes)[one] == 1


def test_undeclared_and_clashing_inputs_are_refused() -> None:
    x, other = input("x", ()), input("x", ())
    with pytest.raises(InputError, match="not declared"):
        Dag({}, [np.exp(x).node])
    with pytest.raises(InputError, match="Two different inputs are named 'x'"):
        Dag({"x": x.node}, [(x * other).node])
    with pytest.raises(InputError, match="at least one output"):
        Dag({"x": x.node}, [])


def test_results_are_grouped_as_the_structure_says() -> None:
    x = input("x", ())
    dag = Dag({"x": x.node}, [x.node, (x * 2).node], ["a", "b"], {"first": 0, "rest": (1, [0])})
    assert dag.regroup(["A", "B"]) == {"first": "A", "rest": ("B", ["A"])}


def test_substitution_rebuilds_consumers_and_keeps_their_origin() -> None:
    x, y = input("x", ()), input("y", ())
    out = np.exp(x) * 2 + x
    (new,) = substituted([out.node], {x.node: y.node})
    assert Array(new).node is (np.exp(y) * 2 + y).node
    assert new.origin.frames[0] == out.node.origin.frames[0]


def test_a_copy_equals_no_other_node_and_survives_substitution() -> None:
    x, y = input("x", ()), input("y", ())
    first = np.exp(x).node
    again = make(OPS["exp"], (x.node,), copy=1)
    assert again is not first
    assert make(OPS["exp"], (x.node,), copy=1) is again
    (moved,) = substituted([again], {x.node: y.node})
    assert moved.copy == 1


def test_nodes_nobody_holds_are_freed_even_in_long_chains() -> None:
    x = input("x", ())
    y = x
    for _ in range(5_000):
        y = np.sin(y)
    alive = weakref.ref(y.node)
    del y
    gc.collect()
    assert alive() is None


def test_nodes_are_not_pickled() -> None:
    with pytest.raises(SymgraphError, match="not pickled"):
        pickle.dumps(input("x", ()).node)


def test_verify_accepts_what_is_built_and_finds_what_is_broken() -> None:
    x = input("x", (2, 3))
    y = np.sum(np.exp(x), axis=0)
    dag = Dag({"x": x.node}, [y.node])
    verify(dag)
    results = y.node.results
    try:
        y.node.results = (results[0].with_shape((4,)),)
        with pytest.raises(VerifyError, match="follows"):
            verify(dag)
    finally:
        y.node.results = results
    with pytest.raises(VerifyError, match="held by"):
        verify(Dag({"x": x.node, "z": x.node}, [y.node]))


def test_order_does_not_tell_of_other_graphs() -> None:
    """A constant that another graph has, too, is as old as that; it stands before its first use."""
    first = sg.trace(lambda x: np.sqrt(x) * 0.8125, x="3")
    again = sg.trace(lambda x: np.exp(np.sqrt(x)) * 0.8125 + 0.8125, x="3")
    names = [node.op.name for node in again.nodes]
    assert names == ["input", "sqrt", "exp", "constant", "multiply", "add"]
    assert first.nodes[2] is again.nodes[3]
