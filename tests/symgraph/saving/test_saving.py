"""Graphs saved and loaded: the same graph, the same bytes, and faults told by their path."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.backends.samples import op_samples
from symgraph.ir.body import Body
from symgraph.ir.node import Node
from symgraph.ir.op import OPS


def logistic(x: Any, w: Any, y: Any) -> Any:
    p = 1 / (1 + np.exp(-(x @ w)))
    return -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p))


def waves(x: Any, y: Any) -> Any:
    return np.sum(np.sin(x) * y)


def trained() -> sg.Graph:
    return sg.trace(logistic, x="n, 4", w="4", y="n")


def assert_same(one: sg.Graph, other: sg.Graph) -> None:
    assert str(one) == str(other)
    assert one.to_json() == other.to_json()
    other.verify()


def constants(graph: sg.Graph) -> list[np.ndarray[Any, Any]]:
    return [node.params["value"] for node in graph.nodes if node.is_constant]


# -- the same graph --------------------------------------------------------------------------------
def test_a_graph_comes_back_from_a_file_in_every_form(tmp_path: Path) -> None:
    graph = trained().gradient("w")
    path = tmp_path / "g.json"
    graph.save(path)
    text = path.read_text(encoding="utf-8")
    assert text == graph.to_json()
    for source in (
        path,
        str(path),
        text,
        text.encode(),
        io.StringIO(text),
        io.BytesIO(path.read_bytes()),
    ):
        assert_same(graph, sg.load(source))


def test_every_stage_of_the_pipeline_goes_on_after_loading() -> None:
    graph = trained()
    assert_same(graph, sg.load(graph.to_json()))
    derived = [each.gradient("w") for each in (graph, sg.load(graph.to_json()))]
    assert_same(*derived)
    simple = [each.simplify() for each in (derived[0], sg.load(derived[1].to_json()))]
    assert [str(each.formula()) for each in simple] == [str(simple[0].formula())] * 2
    assert_same(simple[0], sg.load(simple[0].to_json()))


def test_explanations_and_history_are_loaded_too() -> None:
    simple = trained().gradient("w").simplify()
    again = sg.load(simple.to_json())
    assert again.history.fired == simple.history.fired
    assert _unnumbered(again.explain()) == _unnumbered(simple.explain())
    assert _unnumbered(again.explain("grad_w")) == _unnumbered(simple.explain("grad_w"))
    rng = np.random.default_rng(0)
    numbers = {"x": rng.normal(size=(5, 4)), "w": rng.normal(size=4), "y": np.ones(5)}
    assert str(again.history.check(**numbers)) == str(simple.history.check(**numbers))


def _unnumbered(text: str) -> str:
    return re.sub(r"#\d+", "#", text)


def test_a_graph_simplified_with_facts_that_tie_is_differentiated_as_it_was_before() -> None:
    f: Callable[..., Any] = lambda p: np.sum(p) ** 2 + np.sum(p * np.log(p))  # noqa: E731
    simple = sg.trace(f, p=sg.spec("4", assume=sg.simplex(-1))).simplify()
    p = np.array([0.1, 0.2, 0.3, 0.4])
    wanted = simple.gradient("p", value=False).evaluate(p=p)
    assert np.allclose(wanted, 2 + np.log(p) + 1)
    again = sg.load(simple.to_json())
    assert np.array_equal(again.gradient("p", value=False).evaluate(p=p), wanted)
    twice = sg.load(sg.load(simple.gradient("p").to_json()).simplify().to_json())
    assert np.allclose(twice.gradient("p", of="out", value=False).evaluate(p=p), wanted)


DERIVED: dict[str, Callable[[sg.Graph], sg.Graph]] = {
    "gradient": lambda g: g.gradient("w", "x", disconnected="raise"),
    "jvp": lambda g: g.jvp({"w": "v", "x": 1.0 + np.zeros((3, 4))}),
    "jvp along an input": lambda g: g.jvp({"w": g.inputs["w"]}, value=False),
    "vjp": lambda g: g.vjp("w", cotangent=2.0),
    "jacobian": lambda g: g.gradient("w", value=False).jacobian("w", mode="forward"),
    "hessian": lambda g: g.hessian("w", "x"),
    "diagonal": lambda g: sg.trace(waves, x="3", y="3").hessian("x", diagonal=True),
    "hvp": lambda g: g.hvp(["w", "y"], "v"),
    "transform": lambda g: sg.hessian(logistic, "w").graph(np.ones((3, 4)), np.ones(4), np.ones(3)),
    "checkpoint": lambda g: g.gradient("w").checkpoint("1 MB"),
}


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", DERIVED)
def test_a_derivative_is_derived_again_as_before(name: str) -> None:
    graph = DERIVED[name](sg.trace(logistic, x="3, 4", w="4", y="3"))
    again = sg.load(graph.to_json())
    assert_same(graph, again)
    assert graph.simplify().diff(again.simplify()).added == ()
    assert str(graph.simplify().formula()) == str(again.simplify().formula())


def test_a_derivation_of_ones_own_is_refused_with_the_way_out() -> None:
    graph = sg.trace(lambda x: x * 2, x="3").derived(["x"], lambda dag, record: dag)
    with pytest.raises(sg.InputError, match=r"sg.Graph\(graph.dag\)"):
        graph.to_json()
    assert_same(sg.Graph(graph.dag), sg.load(sg.Graph(graph.dag).to_json()))


@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize("op", sorted(OPS))
def test_every_operation_round_trips(op: str) -> None:
    for dag in op_samples(OPS[op]):
        graph = sg.Graph(dag)
        again = sg.load(graph.to_json())
        assert_same(graph, again)
        for one, other in zip(constants(graph), constants(again), strict=True):
            assert one.tobytes() == other.tobytes()


# -- the same bytes --------------------------------------------------------------------------------
def test_the_text_does_not_depend_on_what_else_was_traced() -> None:
    first = trained().gradient("w").simplify()
    text = first.to_json()
    for _ in range(3):
        other = sg.trace(lambda z: np.sum(1 / (1 + np.exp(-2 * z))), z="7").gradient("z").simplify()
        assert sg.load(other.to_json()).to_json() == other.to_json()
    assert first.to_json() == text
    assert _without_lines(trained().gradient("w").simplify().to_json()) == _without_lines(text)
    shown = str(first)
    assert_same(first, sg.load(text))
    assert str(first) == shown


def _without_lines(text: str) -> str:
    return re.sub(r'"frames": \[.*?\n\]', "", text, flags=re.DOTALL)


NUMBERS = [
    np.array([0.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1]),
    np.array([np.inf, -np.inf, np.nan]),
    np.array([0x7FF8000000000001, 0xFFF8DEADBEEF0000], "uint64").view("float64"),
    np.array([0.1, 65504, 6e-8, -0.0], "float16"),
    np.array([0x7E01, 0xFE02], "uint16").view("float16"),
    np.array([0.1, 3.4e38, 1e-45], "float32"),
    np.array([2**63 - 1, -(2**63), 2**53 + 1], "int64"),
    np.array([2**64 - 1, 2**53 + 1], "uint64"),
    np.array([True, False]),
    np.array([-128, 127], "int8"),
    np.zeros((0, 3)),
    np.arange(1000.0).reshape(10, 100).T / 7,
]


@pytest.mark.parametrize("value", NUMBERS, ids=lambda v: f"{v.dtype}{v.shape}")
def test_constants_are_exact_to_the_bit(value: np.ndarray[Any, Any]) -> None:
    for each in (value, value[:1], *([value.reshape(-1)[0]] if value.size else [])):
        graph = sg.graph(sg.constant(each))
        (found,) = constants(sg.load(graph.to_json()))
        assert found.dtype == value.dtype
        assert found.shape == np.shape(each)
        assert found.tobytes() == np.ascontiguousarray(each).tobytes()
        assert not found.flags.writeable


def test_floats_of_params_and_facts_are_exact() -> None:
    x = sg.input("x", (3,), assume=sg.interval(-np.inf, 0.1))
    graph = sg.graph(np.linalg.norm(x, ord=np.inf), snp.clip(x, -0.0, 0.1))
    again = sg.load(graph.to_json())
    assert_same(graph, again)
    assert again.inputs["x"].node.params["assume"] == (sg.interval(-np.inf, 0.1),)


def test_named_dimensions_and_what_is_made_of_them_come_back() -> None:
    def f(x: Any, y: Any) -> Any:
        n, m = x.shape
        return (
            x[1:-2:3],
            x[: n // 2 if False else 5],
            np.reshape(x, (-1,)) * (n * m + 1) / n**0.5,
            np.concatenate([x, y])[::2],
            np.mean(x),
        )

    graph = sg.trace(f, x="n, m", y="k, m")
    again = sg.load(graph.to_json())
    assert_same(graph, again)
    x, y = np.arange(24.0).reshape(8, 3), np.ones((2, 3))
    for one, other in zip(graph.evaluate(x, y), again.evaluate(x, y), strict=True):
        assert one.tobytes() == other.tobytes()


def test_outputs_keep_their_containers() -> None:
    f: Callable[..., Any] = lambda x: {"a": (x, [x + 1]), 2: x * 2}  # noqa: E731
    again = sg.load(sg.trace(f, x="2").to_json()).evaluate(x=np.ones(2))
    assert list(again) == ["a", 2]
    assert isinstance(again["a"], tuple)
    assert isinstance(again["a"][1], list)


def test_recomputed_nodes_and_schedules_stay() -> None:
    def deep(x: Any) -> Any:
        for _ in range(8):
            x = np.tanh(x * 2)
        return np.sum(x)

    graph = sg.trace(deep, x="1000").gradient("x")
    lean = graph.checkpoint(int(graph.memory().peak_bytes * 0.8))
    again = sg.load(lean.to_json())
    assert any(node.copy for node in lean.nodes)
    assert_same(lean, again)
    assert again.memory().peak_bytes == lean.memory().peak_bytes


def test_errors_and_pictures_of_a_loaded_graph_speak_of_the_users_lines() -> None:
    graph = trained().gradient("w")
    text = graph.to_json()
    assert sg.load(text).to_svg() == graph.to_svg()
    moved = text.replace(json.dumps(__file__)[1:-1], "/elsewhere/gone.py")
    assert "gone.py" in str(sg.load(moved))
    assert "p = 1 / (1 + np.exp(-(x @ w)))" in str(sg.load(moved))


# -- what users add --------------------------------------------------------------------------------
@sg.custom_vjp
def softplus(x: Any) -> Any:
    return np.log1p(np.exp(x))


@softplus.backward
def _(ct: Any, out: Any, x: Any) -> Any:
    return ct / (1 + np.exp(-x))


def test_the_rule_of_a_custom_vjp_is_saved_as_the_graph_it_gives() -> None:
    graph = sg.trace(lambda x, n: np.sum(softplus(x) * n), x="m", n="m")
    again = sg.load(graph.to_json())
    assert_same(graph, again)
    x, n = np.array([-1.0, 0.5, 800.0]), np.ones(3)
    wanted = graph.gradient("x").evaluate(x, n)
    assert np.array_equal(again.gradient("x").evaluate(x, n)[1], wanted[1])
    assert np.array_equal(
        sg.load(again.hessian("x").to_json()).evaluate(x[:2], n[:2])[1],
        graph.hessian("x").evaluate(x[:2], n[:2])[1],
    )


def test_a_rule_that_cannot_be_saved_says_so_when_it_is_asked() -> None:
    def rule(ct: Any, out: Any, x: Any) -> Any:
        raise ValueError("no derivative today")

    graph = sg.trace(lambda x: np.sum(sg.custom_vjp(np.tanh, rule)(x)), x="3")
    again = sg.load(graph.to_json())
    assert again.evaluate(x=np.zeros(3)) == 0
    with pytest.raises(sg.NotDifferentiable, match="no derivative today"):
        again.gradient("x")


def test_a_rule_that_calls_its_function_has_a_first_derivative() -> None:
    exp = sg.custom_vjp(np.exp)
    exp.backward(lambda ct, out, x: ct * exp(x))
    again = sg.load(sg.trace(lambda x: np.sum(exp(x)), x="2").to_json())
    assert np.allclose(again.gradient("x", value=False).evaluate(x=np.ones(2)), np.e)
    with pytest.raises(sg.NotDifferentiable, match="calls"):
        again.hessian("x")


def test_a_custom_operation_is_found_by_its_name_or_asked_for() -> None:
    @sg.custom_op(vjp=lambda ct, out, x: 3 * ct)
    def saved_triple(x: Any) -> Any:
        return 3 * x

    graph = sg.trace(lambda x: np.sum(saved_triple(x)), x="3")
    text = graph.to_json()
    assert_same(graph, sg.load(text))
    assert np.array_equal(sg.load(text).gradient("x").evaluate(np.ones(3))[1], np.full(3, 3.0))
    del OPS["saved_triple"]
    with pytest.raises(
        sg.FormatError, match=r"nodes\[1\]\.op: .*saved_triple.*not defined"
    ) as told:
        sg.load(text)
    assert "Import the module" in str(told.value)
    with pytest.raises(sg.InputError, match="defined anew"):
        graph.to_json()


def test_a_param_that_is_no_data_is_refused_at_its_line() -> None:
    @sg.custom_op
    def with_function(x: Any, *, f: Any) -> Any:
        return f(x)

    graph = sg.trace(lambda x: with_function(x, f=np.tanh), x="3")
    with pytest.raises(sg.InputError, match=r"with_function cannot be saved: f=<ufunc"):
        graph.to_json()


# -- faults ----------------------------------------------------------------------------------------
def small() -> dict[str, Any]:
    """`sum(x @ c, axis=-1)` as a document: nodes 0 x, 1 c, 2 matmul, 3 sum."""
    c = np.arange(6.0).reshape(3, 2)
    graph = sg.trace(lambda x: np.sum(x @ c, axis=-1), x=sg.spec("n, 3", assume=sg.positive))
    return json.loads(graph.to_json())


def at(document: Any, *path: Any) -> Any:
    for key in path:
        document = document[key]
    return document


FAULTS: list[tuple[tuple[Any, ...], Any, str]] = [
    (("version",), 2, r"version: expected 1, got 2"),
    (("version",), True, r"version: expected 1"),
    (("format",), "json", r"not a saved graph"),
    (("colour",), 1, r"colour: there is no such field"),
    (
        ("nodes", 3, "params", "axis"),
        "x",
        r'nodes\[3\]\.params\.axis: expected an integer.*got "x"',
    ),
    (("nodes", 3, "params", "axis"), [1], r"nodes\[3\]\.params\.axis: sum does not write"),
    (("nodes", 3, "params", "axis"), [-3], r"nodes\[3\]: sum: axis -3 is out of range"),
    (
        ("nodes", 3, "params", "keepdims"),
        1,
        r"nodes\[3\]\.params\.keepdims: expected true or false",
    ),
    (("nodes", 3, "params", "where"), True, r"nodes\[3\]: sum: .*unexpected keyword"),
    (("nodes", 3, "op"), "os.system", r"nodes\[3\]\.op: there is no operation .os\.system"),
    (("nodes", 3, "op"), "tanh", r"nodes\[3\]: tanh"),
    (("nodes", 3, "operands"), [3], r"nodes\[3\]\.operands\[0\]: expected an integer from 0 to 2"),
    (("nodes", 3, "operands"), [True], r"nodes\[3\]\.operands\[0\]: expected an integer"),
    (("nodes", 3, "operands"), [2, 2], r"nodes\[3\]: sum: too many positional"),
    (
        ("nodes", 3, "results"),
        [["float32", ["n"]]],
        r"nodes\[3\]: the results are not those of sum",
    ),
    (
        ("nodes", 3, "results"),
        [["float64", ["m"]]],
        r"nodes\[3\]: the results are not those of sum",
    ),
    (("nodes", 3, "copy"), -1, r"nodes\[3\]\.copy: expected an integer from 0"),
    (("nodes", 3, "lines"), [99], r"nodes\[3\]\.lines\[0\]: expected an integer from 0"),
    (("nodes", 0, "results"), [["complex128", []]], r"results\[0\]\[0\]: expected a dtype"),
    (("nodes", 0, "results"), [["f8", []]], r"expected the name 'float64'"),
    (("nodes", 0, "results"), [["float64", [-1]]], r"results\[0\]\[1\]\[0\]: expected an integer"),
    (("nodes", 0, "results"), [["float64", [1] * 65]], r"64 axes at most"),
    (("nodes", 0, "results"), [["float64", ["n-1"]]], r"cannot name a dimension"),
    (("nodes", 0, "results"), [["float64", [{"exec": ["n"]}]]], r"no such operation on dimensions"),
    (("nodes", 0, "results"), [["float64", [{"Pow": ["n", 10**9]}]]], r"exponent"),
    (
        ("nodes", 0, "results"),
        [["float64", [{"Pow": [0, -1]}]]],
        r"not a real, finite",
    ),
    (
        ("nodes", 0, "results"),
        [["float64", [{"Mul": [{"Add": ["n", "m", 1]}] * 12}]]],
        r"too many terms",
    ),
    (("nodes", 0, "params", "name"), "", r"nodes\[0\]: An input is named"),
    (("nodes", 0, "params", "assume"), [{"fact": ["brave"]}], r"there is no fact 'brave'"),
    (("nodes", 0, "params", "assume"), [{"fact": ["interval", 1.0, 0.0]}], r"interval is empty"),
    (("nodes", 0, "params", "assume"), [{"fact": ["symmetric"]}], r"square matrices"),
    (
        ("nodes", 0, "params", "assume"),
        [{"fact": ["positive"]}, {"fact": ["negative"]}],
        r"cannot be",
    ),
    (("nodes", 1, "params", "value"), 3, r"nodes\[1\]\.params\.value: expected an array"),
    (
        ("nodes", 1, "params", "value", "array", "shape"),
        [10**6, 10**6],
        r"expected a list of 1000000000000",
    ),
    (
        ("nodes", 1, "params", "value", "array", "dtype"),
        "int8",
        r"values\[0\]: expected an integer",
    ),
    (
        ("nodes", 1, "params", "value", "array", "values", 0),
        1,
        r"expected a number of dtype float64",
    ),
    (
        ("nodes", 1, "params", "value", "array"),
        {"dtype": "float64", "shape": [10**6, 10**6], "base64": "AAAA"},
        r"expected 8000000000000 bytes",
    ),
    (
        ("nodes", 1, "params", "value", "array"),
        {"dtype": "bool", "shape": [1], "base64": "Ag=="},
        r"a bool is byte 0 or 1",
    ),
    (
        ("nodes", 1, "params", "value", "array"),
        {"dtype": "float32", "shape": [1], "values": [0.1]},
        r"expected a number of dtype float32",
    ),
    (
        ("stages", 0, "outputs"),
        [["out", 9]],
        r"stages\[0\]\.outputs\[0\]\[1\]: expected an integer",
    ),
    (("stages", 0, "outputs"), [], r"stages\[0\]"),
    (("stages", 0, "outputs"), [["a", 3], ["a", 3]], r"stages\[0\]: 2 outputs are named"),
    (("stages", 0, "structure"), 1, r"stages\[0\]\.structure: expected an integer from 0 to 0"),
    (("stages", 0, "structure"), {"set": [0]}, r"there is no such container"),
    (("stages", 0, "inputs"), [], r"stages\[0\]: Input 'x' is used but not declared"),
    (("stages", 0, "inputs"), [["y", 0]], r"is not the input 'y'"),
    (("stages", 0, "schedule"), [3], r"schedule: it does not hold each node once"),
    (("stages", 0, "schedule"), [3, 0, 1, 2], r"schedule: a node precedes"),
    (("stages", 0, "before"), 0, r"stages\[0\]\.before: there is no stage before"),
    (("stages", 0, "trust"), "blind", r"trust: expected one of"),
    (("stages",), [], r"stages: there is no graph"),
    (("notes",), [[0, {"gradient_of": 1}]], r"notes\[0\]\[0\]: there are notes only of nodes"),
    (("steps",), [], r"steps and passes belong together"),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize(("path", "value", "words"), FAULTS, ids=lambda v: str(v)[:40])
def test_a_fault_is_told_by_its_path(path: tuple[Any, ...], value: Any, words: str) -> None:
    document = small()
    at(document, *path[:-1])[path[-1]] = value
    with pytest.raises(sg.FormatError, match=words) as told:
        sg.load(json.dumps(document))
    assert isinstance(told.value, ValueError)
    assert isinstance(told.value, sg.SymgraphError)


def derived() -> dict[str, Any]:
    return json.loads(sg.trace(lambda x: np.sum(x * x), x="3").gradient("x").to_json())


DERIVATIONS: list[tuple[tuple[Any, ...], Any, str]] = [
    (("name",), "exec", r"stages\[1\]\.derive\.name: expected one of"),
    (("wrt",), ["z"], r"stages\[1\]\.derive\.wrt: this does not fit"),
    (("wrt",), "x", r"stages\[1\]\.derive\.wrt: this does not fit"),
    (("of",), "z", r"stages\[1\]\.derive\.of: this does not fit"),
    (("value",), 1, r"stages\[1\]\.derive\.value: this does not fit"),
    (("colour",), 1, r"stages\[1\]\.derive\.colour: there is no such field"),
]


@pytest.mark.parametrize(("path", "value", "words"), DERIVATIONS, ids=str)
def test_a_derivation_is_checked_against_the_graph(
    path: tuple[Any, ...], value: Any, words: str
) -> None:
    document = derived()
    at(document, "stages", 1, "derive", *path[:-1])[path[-1]] = value
    with pytest.raises(sg.FormatError, match=words):
        sg.load(json.dumps(document))


TEXTS: dict[str, tuple[str | bytes, str]] = {
    "nothing": (b"", "not a saved graph"),
    "a list": (b"[]", 'no field "format"'),
    "no UTF-8": (b'{"a": "\xff"}', "not UTF-8"),
    "cut short": (b'{"format": "symg', "not a saved graph"),
    "deep lists": (b"[" * 100_000, "nested too deeply"),
    "deep closed lists": (b"[" * 500 + b"]" * 500, "nested too deeply"),
    "deep objects": (b'{"a":' * 100_000, "nested too deeply"),
    "a key twice": (b'{"format": "symgraph", "format": "symgraph"}', 'has the key "format" twice'),
    "NaN": (b'{"format": NaN}', "NaN is not JSON"),
    "infinity": (b'{"format": -Infinity}', "-Infinity is not JSON"),
    "a float too large": (b'{"format": 1e999}', "1e999 is too large for a float"),
    "many digits": (b'{"version": ' + b"9" * 10_000 + b"}", "not a saved graph"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_no_document_is_refused(name: str) -> None:
    text, words = TEXTS[name]
    with pytest.raises(sg.FormatError, match=words):
        sg.load(text)


def test_text_in_params_is_never_run() -> None:
    document = json.loads(sg.trace(lambda x: np.convolve(x, x), x="3").to_json())
    (node,) = [each for each in document["nodes"] if each["op"] == "convolve"]
    node["params"]["mode"] = "full'), __import__('os').abort(), ('"
    with pytest.raises(sg.FormatError):
        sg.load(json.dumps(document)).lower()(np.ones(3))


def test_bodies_hold_nothing_from_outside() -> None:
    graph = sg.trace(lambda c, xs: sg.scan(lambda c, x: (c * x, c), c, xs)[0], c="", xs="4")
    document = json.loads(graph.to_json())
    number, node = next((i, n) for i, n in enumerate(document["nodes"]) if n["op"] == "scan")
    node["params"]["body"]["body"]["inputs"] = node["params"]["body"]["body"]["inputs"][:1]
    with pytest.raises(sg.FormatError, match=rf"nodes\[{number}\]\.params\.body\.body\.outputs: "):
        sg.load(json.dumps(document))


def test_bodies_are_equal_after_loading() -> None:
    graph = sg.trace(lambda c, xs: sg.scan(lambda c, x: (c * x, c), c, xs)[0], c="", xs="4")
    bodies = [_bodies(each) for each in (graph, sg.load(graph.to_json()))]
    assert bodies[0] == bodies[1]


def _bodies(graph: sg.Graph) -> list[Body]:
    nodes: tuple[Node, ...] = graph.nodes
    return [value for node in nodes for value in node.params.values() if isinstance(value, Body)]


def test_what_is_no_source_is_said() -> None:
    with pytest.raises(sg.InputError, match="Give a path"):
        sg.load(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(FileNotFoundError):
        sg.load("no_such_file.json")


@pytest.mark.parametrize("operands", [[], [0, 0]], ids=str)
def test_a_function_has_the_operands_that_its_body_takes(operands: list[int]) -> None:
    """Without operands it was loaded, and could not be loaded again from what it was saved to."""
    document = json.loads(sg.trace(lambda x: softplus(x) + 1, x="3").to_json())
    (node,) = [each for each in document["nodes"] if each["op"] == "custom_vjp"]
    node["operands"] = operands
    with pytest.raises(sg.FormatError, match="The function takes"):
        sg.load(json.dumps(document))
