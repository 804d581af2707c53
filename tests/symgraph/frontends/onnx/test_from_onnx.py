"""`sg.from_onnx`: its options, its errors, and what a model may be made of."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnxcases import onnx
from onnxmodels import FLOAT, INT64, h, model, node

import symgraph as sg
from symgraph.cli import main
from symgraph.errors import DTypeError, FormatError, InputError, ShapeError, SymgraphError
from symgraph.frontends.onnx.registry import OPERATORS

oracle = pytest.mark.oracle
needs_onnx = pytest.mark.skipif(onnx is None, reason="the oracles extra is not installed")


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(SymgraphError, match=r'pip install "symgraph\[onnx\]"'):
        sg.from_onnx(b"")


def test_the_table_has_each_version_once() -> None:
    for readings in OPERATORS.values():
        versions = [each.since for each in readings]
        assert versions == sorted(set(versions))


def layer() -> Any:
    """tanh(x W + b) with a shape that is computed: one row is put in front."""
    weights = {"W": np.arange(6.0).reshape(3, 2) / 7, "b": np.array([0.5, -0.5])}
    numbers = {"first": np.array([0]), "one": np.array([1])}
    nodes = [
        node("MatMul", "x,W", "xW"),
        node("Add", "xW,b", "z"),
        node("Tanh", "z", "t"),
        node("Shape", "t", "s"),
        node("Concat", "one,s", "wide", axis=0),
        node("Reshape", "t,wide", "y"),
    ]
    return model(nodes, [("x", 11, ["batch", 3])], constants={**weights, **numbers})


# -- parameters ------------------------------------------------------------------------------------
@oracle
@needs_onnx
def test_weights_are_constants_or_inputs() -> None:
    data = layer()
    constant = sg.from_onnx(data)
    assert list(constant.inputs) == ["x"]
    graph = sg.from_onnx(data, parameters="inputs")
    assert list(graph.inputs) == ["x", "W", "b"]
    assert str(graph.outputs["y"].aval) == "float64[1, batch, 2]"
    assert list(sg.from_onnx(data, parameters=["b"]).inputs) == ["x", "b"]
    weights = sg.onnx_parameters(data, graph.inputs)
    assert list(weights) == ["W", "b"]
    assert list(sg.onnx_parameters(data)) == ["W", "b"]
    x = np.random.default_rng(0).normal(size=(4, 3))
    want = np.tanh(x @ weights["W"] + weights["b"])[None]
    np.testing.assert_allclose(constant.evaluate(x=x), want)
    np.testing.assert_allclose(graph.evaluate(x=x, **weights), want)


@oracle
@needs_onnx
def test_a_gradient_by_weights_is_written_and_read_again() -> None:
    data = layer()
    graph = sg.from_onnx(data, parameters="inputs")
    cost = sg.graph(np.sum(graph.outputs["y"] ** 2), inputs=list(graph.inputs.values()))
    joint = cost.gradient("W", "b").simplify()
    weights = sg.onnx_parameters(data, joint.inputs)
    x = np.random.default_rng(0).normal(size=(4, 3))
    value, (dW, db) = joint.lower()(x=x, **weights)
    t = np.tanh(x @ weights["W"] + weights["b"])
    np.testing.assert_allclose(value, np.sum(t**2))
    np.testing.assert_allclose(dW, x.T @ (2 * t * (1 - t**2)))
    np.testing.assert_allclose(db, np.sum(2 * t * (1 - t**2), axis=0))
    again = sg.from_onnx(joint.to_onnx())
    assert list(again.inputs) == ["x", "W", "b"]
    for got, want in zip(again.evaluate(x=x, **weights), (value, dW, db), strict=True):
        np.testing.assert_allclose(got, want)


@oracle
@needs_onnx
def test_a_computed_value_is_a_parameter() -> None:
    nodes = [
        node("ConstantOfShape", "s", "w", value=h.make_tensor("v", FLOAT, [1], [2.0])),
        node("Mul", "x,w", "z"),
        node("Exp", "z", "y"),
    ]
    data = model(nodes, [("x", FLOAT, ["n", 3])], constants={"s": np.array([3])})
    graph = sg.from_onnx(data, parameters=["w"])
    assert str(graph.inputs["w"].aval) == "float32[3]"
    np.testing.assert_array_equal(sg.onnx_parameters(data, ["w", "z", "x"])["w"], [2, 2, 2])
    assert list(sg.onnx_parameters(data, ["w", "z", "x"])) == ["w"]
    with pytest.raises(InputError, match="'z' depends on inputs"):
        sg.from_onnx(data, parameters=["z"])
    with pytest.raises(InputError, match="no value named 'v'"):
        sg.from_onnx(data, parameters=["v"])
    with pytest.raises(InputError, match=r"parameters=\['w'\]"):
        sg.from_onnx(data, parameters="w")


@oracle
@needs_onnx
def test_what_the_structure_depends_on_stays_a_constant() -> None:
    scales = np.array([1, 1, 2, 2], np.float32)
    nodes = [node("Resize", "x,,scales", "r", mode="nearest"), node("Mul", "r,w")]
    constants = {"scales": scales, "w": np.float32(3)}
    data = model(nodes, [("x", FLOAT, ["n", 1, 2, 2])], constants=constants)
    assert list(sg.from_onnx(data, parameters="inputs").inputs) == ["x", "w"]
    with pytest.raises(InputError, match=r"Resize needs its scales .* from 'scales'"):
        sg.from_onnx(data, parameters=["scales"])


@oracle
@needs_onnx
def test_constants_that_are_listed_as_inputs_are_their_defaults() -> None:
    """So models before version 4 of the format are written."""
    inputs = [("x", FLOAT, [2]), ("w", FLOAT, [2])]
    data = model([node("Mul", "x,w")], inputs, constants={"w": np.ones(2, np.float32)})
    assert list(sg.from_onnx(data).inputs) == ["x"]
    assert list(sg.from_onnx(data, parameters="inputs").inputs) == ["x", "w"]
    assert list(sg.from_onnx(data, shapes={"w": (2,)}).inputs) == ["x", "w"]


# -- shapes, dimensions, values --------------------------------------------------------------------
@oracle
@needs_onnx
def test_named_dimensions() -> None:
    data = model([node("Exp", "x")], [("x", FLOAT, ["batch size", None, 3])])
    assert str(sg.from_onnx(data).inputs["x"].aval) == "float32[batch_size, x_1, 3]"
    sized = sg.from_onnx(data, dims={"batch size": 2, "x_1": 5})
    assert sized.inputs["x"].shape == (2, 5, 3)
    assert str(sg.from_onnx(data, shapes={"x": "n, m, 3"}).inputs["x"].aval) == "float32[n, m, 3]"
    with pytest.raises(InputError, match=r"declares \[batch_size, x_1, 3\]"):
        sg.from_onnx(data, shapes={"x": "n, m, 4"})
    with pytest.raises(InputError, match="names 'z', but the model has 'x'"):
        sg.from_onnx(data, shapes={"z": "n"})
    with pytest.raises(InputError, match="dims= names 'k'"):
        sg.from_onnx(data, dims={"k": 2})
    untold = model([node("Exp", "x")], [("x", FLOAT, None)])
    with pytest.raises(InputError, match="does not tell the shape of its input 'x'"):
        sg.from_onnx(untold)
    assert sg.from_onnx(untold, shapes={"x": "n"}).inputs["x"].ndim == 1


@oracle
@needs_onnx
def test_sizes_are_computed_as_formulas() -> None:
    """Chains that exporters write: a product of sizes, and a shape in which -1 keeps a size."""
    nodes = [
        node("Shape", "x", "s"),
        node("Gather", "s,zero", "n", axis=0),
        node("Unsqueeze", "n,axis", "n1"),
        node("Div", "s,twos", "half"),
        node("Slice", "half,axis,end", "h1"),
        node("Mul", "n1,h1", "product"),
        node("Concat", "product,minus", "shape", axis=0),
        node("Concat", "x,x", "xx", axis=1),
        node("Reshape", "xx,shape", "y"),
    ]
    constants = {
        "zero": np.int64(0),
        "axis": np.array([0]),
        "end": np.array([1]),
        "minus": np.array([-1]),
        "twos": np.array([2, 1]),
    }
    data = model(nodes, [("x", FLOAT, ["n", 6])], constants=constants)
    with pytest.raises(SymgraphError, match="Reshape"):
        sg.from_onnx(data)  # n * (n // 2) rows need not divide 12 n elements.
    graph = sg.from_onnx(data, dims={"n": 4})
    assert graph.outputs["y"].shape == (8, 6)
    expand = [
        node("Shape", "x", "s"),
        node("Equal", "s,minus", "free"),
        node("Where", "free,ones,s", "shape"),
        node("Expand", "b,shape", "y"),
    ]
    constants = {"minus": np.array([-1, -1]), "ones": np.array([1, 1]), "b": np.float32([[1]])}
    found = sg.from_onnx(model(expand, [("x", FLOAT, ["n", 6])], constants=constants))
    assert str(found.outputs["y"].aval) == "float32[n, 6]"


@oracle
@needs_onnx
def test_values_become_constants() -> None:
    data = model([node("Tile", "x,r")], [("x", FLOAT, [2]), ("r", INT64, [1])])
    with pytest.raises(InputError, match=r"(?s)its repeats in numbers.*'r'.*'the Tile'"):
        sg.from_onnx(data)
    graph = sg.from_onnx(data, values={"r": [2]})
    np.testing.assert_array_equal(graph.evaluate(x=[1, 2]), [1, 2, 1, 2])
    with pytest.raises(InputError, match="does not fit int64"):
        sg.from_onnx(data, values={"r": [1.5]})
    with pytest.raises(InputError, match=r"given the shape \[2\]"):
        sg.from_onnx(data, values={"r": [1, 2]})


# -- sources and refusals --------------------------------------------------------------------------
@oracle
@needs_onnx
def test_a_model_is_a_path_bytes_a_file_or_a_message(tmp_path: Path) -> None:
    data = layer()
    path = tmp_path / "m.onnx"
    onnx.save(data, path)
    text = data.SerializeToString()
    for source in (path, str(path), text, bytearray(text), io.BytesIO(text), data):
        assert list(sg.from_onnx(source).inputs) == ["x"]
    with pytest.raises(OSError, match=r"none\.onnx"):
        sg.from_onnx(tmp_path / "none.onnx")
    for source in (b"\xff\xff", b"", json.dumps({}).encode()):
        with pytest.raises(FormatError, match="no ONNX model"):
            sg.from_onnx(source)
    with pytest.raises(InputError, match="int is no ONNX model"):
        sg.from_onnx(3)


@oracle
@needs_onnx
def test_refusals_name_the_node() -> None:
    x = [("x", FLOAT, [2, 3])]
    with pytest.raises(
        FormatError, match=r"(?s)NonMaxSuppression .*not read.*'the Non.*Read are: Abs"
    ):
        sg.from_onnx(model([node("NonMaxSuppression", "x,x")], x))
    with pytest.raises(FormatError, match=r"operator mine\.Own \(version 1\) is not read"):
        sg.from_onnx(model([node("Own", "x", domain="mine")], x))
    with pytest.raises(FormatError, match="version of the domain 'other'"):
        sg.from_onnx(model([node("Own", "x", domain="other")], x))
    with pytest.raises(ShapeError, match=r"(?s)MatMul|matmul.*'the MatMul'"):
        sg.from_onnx(model([node("MatMul", "x,x")], x))
    with pytest.raises(FormatError, match=r"(?s)'z' is used before .*'the Add'"):
        sg.from_onnx(model([node("Add", "x,z")], x))
    with pytest.raises(FormatError, match="attribute 'bogus' of Exp is not read"):
        sg.from_onnx(model([node("Exp", "x", bogus=1)], x))
    with pytest.raises(FormatError, match=r"'x' is of|BFLOAT16 are not read"):
        sg.from_onnx(model([node("Exp", "x")], [("x", onnx.TensorProto.BFLOAT16, [2])]))
    with pytest.raises(FormatError, match="Two values of one graph are named 'y'"):
        sg.from_onnx(model([node("Exp", "x"), node("Log", "x")], x))
    with pytest.raises(FormatError, match="more than 3 nodes"):
        sg.from_onnx(layer(), most_nodes=3)
    with pytest.raises((DTypeError, FormatError), match="'the Cast'"):
        sg.from_onnx(model([node("Cast", "x", to=onnx.TensorProto.COMPLEX64)], x))


@oracle
@needs_onnx
def test_external_data_is_refused() -> None:
    data = layer()
    tensor = data.graph.initializer[0]
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/hostname")
    with pytest.raises(FormatError, match="'W' lies in another file"):
        sg.from_onnx(data)


@oracle
@needs_onnx
def test_functions_of_the_model() -> None:
    """A function with an attribute of the caller's, called twice, once with its default."""
    inner = node("LeakyRelu", "a", "b")
    inner.attribute.add(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    default = h.make_attribute("slope", 0.5)
    function = h.make_function(
        "mine",
        "Leaky",
        ["a"],
        ["b"],
        [inner],
        [h.make_opsetid("", 18)],
        attribute_protos=[default],
    )
    nodes = [node("Leaky", "x", "z", domain="mine", slope=0.25), node("Leaky", "z", domain="mine")]
    graph = sg.from_onnx(model(nodes, [("x", FLOAT, [2])], functions=[function]))
    np.testing.assert_allclose(graph.evaluate(x=np.float32([-8, 1])), [-1, 1])
    twice = h.make_function(
        "mine", "Loop", ["a"], ["b"], [node("Loop", "a", "b", domain="mine")],
        [h.make_opsetid("mine", 1)],
    )  # fmt: skip
    data = model([node("Loop", "x", domain="mine")], [("x", FLOAT, [2])], functions=[twice])
    with pytest.raises(FormatError, match="nested more than"):
        sg.from_onnx(data)


# -- the command -----------------------------------------------------------------------------------
@oracle
@needs_onnx
def test_the_command_reads_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.onnx"
    nodes = [node("Mul", "x,w", "z"), node("ReduceSum", "z", keepdims=0)]
    onnx.save(model(nodes, [("x", FLOAT, ["n"])], constants={"w": np.float32([3])}), path)
    assert main(["simplify", str(path), "--wrt", "w", "--json"]) == 0
    assert "sum(x)" in json.loads(capsys.readouterr().out)["formula"]
    assert main(["export", str(path), "-o", str(tmp_path / "g.onnx"), "--shape", "x=4"]) == 0
    assert sg.from_onnx(tmp_path / "g.onnx").inputs["x"].shape == (4,)
    assert main(["simplify", str(path), "--given", "x: positive"]) == 2
    assert "facts are of expressions" in capsys.readouterr().err
    assert main(["check", str(path), "--wrt", "x"]) == 2


@needs_onnx
def test_a_window_that_fits_nowhere_is_refused_when_counts_are_rounded_up_too() -> None:
    pool = node("LpPool", "x", "y", kernel_shape=[3], dilations=[2], ceil_mode=1)
    with pytest.raises(FormatError, match="reaches over 5 does not fit into 4"):
        sg.from_onnx(model([pool], [("x", FLOAT, [1, 2, 4])]))
