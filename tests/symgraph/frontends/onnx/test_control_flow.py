"""Branches, loops and the gradient operator of ONNX's models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnxcases import onnx
from onnxmodels import BOOL, FLOAT, INT64, graph_info, h, model, node

import symgraph as sg
from symgraph.errors import FormatError

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(onnx is None, reason="the oracles extra is not installed"),
]


def test_a_branch_is_chosen_when_the_graph_runs() -> None:
    then, other = (
        graph_info([node("Exp", "x", "a")], [], "a"),
        graph_info([node("Neg", "x", "b")], [], "b"),
    )
    branch = h.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)
    data = model([branch], [("x", FLOAT, []), ("c", BOOL, [])])
    joint = sg.from_onnx(data).gradient("x")
    for c, want in ((True, np.exp(2.0)), (False, -1)):
        np.testing.assert_allclose(joint.evaluate(x=np.float32(2), c=c)[1], want, 1e-6)
    known = sg.from_onnx(data, values={"c": False})
    assert [each.op.name for each in known.nodes] == ["input", "negative"]


def powers(count: Any, condition: str = "") -> Any:
    """A loop that multiplies by x, and gives all products."""
    keeps = node("Identity", "c", "going") if not condition else node("Less", "z,edge", "going")
    steps = [node("Mul", "p,x", "z"), keeps, node("Identity", "z", "row")]
    given = [("i", INT64, []), ("c", BOOL, []), ("p", FLOAT, [])]
    results = ("going", "z") if condition else ("going", "z", "row")
    body = graph_info(steps, given, *results)
    names = ["y"] if condition else ["y", "rows"]
    loop = h.make_node("Loop", ["m", "", "one"], names, body=body)
    constants = {"one": np.float32(1), "edge": np.float32(50)}
    if count is not None:
        constants["m"] = np.int64(count)
    else:
        loop.input[0] = ""
    return model([loop], [("x", FLOAT, [])], names, constants)


def test_a_loop_of_known_length_has_a_gradient() -> None:
    graph = sg.from_onnx(powers(5))
    y, rows = graph.evaluate(x=np.float32(2))
    assert y == 32
    np.testing.assert_array_equal(rows, [2, 4, 8, 16, 32])
    assert len(sg.from_onnx(powers(500)).nodes) == len(graph.nodes)
    total = sg.graph(graph.outputs["y"], inputs=list(graph.inputs.values()))
    np.testing.assert_allclose(total.gradient("x", value=False).evaluate(x=np.float32(2)), 80)


def test_a_loop_that_ends_by_its_condition() -> None:
    for count in (None, 20):
        graph = sg.from_onnx(powers(count, "less"))
        assert graph.evaluate(x=np.float32(2)) == 64
        assert graph.evaluate(x=np.float32(100)) == 100
    joint = graph.gradient("x", value=False)
    np.testing.assert_allclose(joint.evaluate(x=np.float32(2)), 6 * 32)
    steps = [node("Less", "p,x", "going"), node("Add", "p,x", "z"), node("Exp", "z", "row")]
    given = [("i", INT64, []), ("c", BOOL, []), ("p", FLOAT, [])]
    body = graph_info(steps, given, "going", "z", "row")
    loop = h.make_node("Loop", ["", "", "x"], ["y", "rows"], body=body)
    with pytest.raises(FormatError, match="whose number is not known"):
        sg.from_onnx(model([loop], [("x", FLOAT, [])], ["y", "rows"]))


def test_a_loop_whose_shapes_grow_is_written_out() -> None:
    body = graph_info(
        [node("Identity", "c", "going"), node("Concat", "p,x", "z", axis=0)],
        [("i", INT64, []), ("c", BOOL, []), ("p", FLOAT, None)],
        "going",
        "z",
    )
    loop = h.make_node("Loop", ["m", "", "x"], ["y"], body=body)
    graph = sg.from_onnx(model([loop], [("x", FLOAT, ["n"])], constants={"m": np.int64(2)}))
    assert str(graph.outputs["y"].aval) == "float32[3*n]"


def test_a_scan_over_a_named_dimension() -> None:
    body = graph_info(
        [node("Add", "s,e", "t"), node("Identity", "t", "row")],
        [("s", FLOAT, []), ("e", FLOAT, [])],
        "t",
        "row",
    )
    scan = h.make_node("Scan", ["zero", "x"], ["y", "rows"], num_scan_inputs=1, body=body)
    data = model([scan], [("x", FLOAT, ["n"])], ["y", "rows"], {"zero": np.float32(0)})
    graph = sg.from_onnx(data)
    x = np.float32([1, 2, 3])
    y, rows = graph.evaluate(x=x)
    assert y == 6
    np.testing.assert_array_equal(rows, np.cumsum(x))


def test_the_gradient_operator_of_onnx() -> None:
    nodes = [
        node("Mul", "a,b", "c"),
        node("Exp", "c", "y"),
        h.make_node("Gradient", ["a", "b"], ["da", "db"], domain="training", xs=["a", "b"], y="y"),
    ]
    nodes[2].domain = "ai.onnx.preview.training"
    data = model(nodes, [("a", FLOAT, []), ("b", FLOAT, [])], ["da", "db"])
    data.opset_import.append(h.make_opsetid("ai.onnx.preview.training", 1))
    found = sg.from_onnx(data).evaluate(a=np.float32(0.5), b=np.float32(2))
    np.testing.assert_allclose(found, [2 * np.e, 0.5 * np.e], 1e-6)
    with pytest.raises(FormatError, match="it is no input of the graph"):
        sg.from_onnx(data, values={"b": 2.0})
