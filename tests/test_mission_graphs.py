"""Mission rows about graphs: the four of the book, what a variable knows, types, the picture.

GBC is chapter 6.5 of *Deep Learning* (Goodfellow, Bengio and Courville), FCV chapter 14 of
*Foundations of Computer Vision* (Torralba, Isola and Freeman).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from everyway import every_way

import symgraph as sg
from symgraph.export.labels import Labels
from symgraph.ir.op import OPS

RNG = np.random.default_rng(21)


# -- M01: the four graphs of figure 6.8 ------------------------------------------------------------
def test_m01_a_a_product() -> None:
    """M01: GBC figure 6.8 (a): z = xy is one operation on two inputs."""
    graph = sg.trace(lambda x, y: x * y, x=(), y=())
    assert [node.op.name for node in graph.nodes] == ["input", "input", "multiply"]
    every_way(graph.gradient("x", "y"), {"x": 3.0, "y": -0.5}, (-1.5, (-0.5, 3.0)))


def test_m01_b_logistic_regression() -> None:
    """M01: GBC figure 6.8 (b): ŷ = σ(xᵀw + b); its gradient is ŷ(1 - ŷ) times that of xᵀw + b."""
    graph = sg.trace(lambda x, w, b: 1 / (1 + np.exp(-(x @ w + b))), x="n", w="n", b=())
    for n in (1, 6):
        x, w, b = RNG.normal(size=n), RNG.normal(size=n), RNG.normal()
        y = 1 / (1 + np.exp(-(x @ w + b)))
        slope = y * (1 - y)
        want = (y, (slope * w, slope * x, slope))
        every_way(graph.gradient("x", "w", "b"), {"x": x, "w": w, "b": b}, want)


def test_m01_c_a_relu_layer_on_a_minibatch() -> None:
    """M01: GBC figure 6.8 (c): H = max{0, XW + b} on a minibatch, with a cotangent G given."""
    graph = sg.trace(lambda X, W, b: np.maximum(0, X @ W + b), X="n, 4", W="4, 3", b="3")
    assert str(graph.outputs["out"].aval) == "float64[n, 3]"
    for n in (1, 7):
        X, W, b = RNG.normal(size=(n, 4)), RNG.normal(size=(4, 3)), RNG.normal(size=3)
        G = RNG.normal(size=(n, 3))
        Z = X @ W + b
        through = G * (Z > 0)
        want = (np.maximum(0, Z), (through @ W.T, X.T @ through, through.sum(axis=0)))
        pulled = graph.vjp("X", "W", "b", cotangent="G")
        every_way(pulled, {"X": X, "W": W, "b": b, "G": G}, want)


def test_m01_d_linear_regression_that_uses_its_weights_twice() -> None:
    """M01: GBC figure 6.8 (d): w makes the prediction ŷ and the weight decay λ Σ w²."""

    def both(x: Any, w: Any, decay: Any) -> Any:
        return {"y": x @ w, "u3": decay * np.sum(w**2)}

    n = 5
    at: dict[str, Any] = {"x": RNG.normal(size=n), "w": RNG.normal(size=n), "decay": 0.3}
    graph = sg.trace(both, x="n", w="n", decay=())
    prediction, squares = graph.get_consumers(graph.inputs["w"].node)
    assert {prediction.op.name, squares.op.name} == {"matmul", "power"}
    every_way(graph, at, {"y": at["x"] @ at["w"], "u3": 0.3 * np.sum(at["w"] ** 2)})
    for name, want in (("y", at["x"]), ("u3", 0.6 * at["w"])):
        every_way(graph.gradient("w", value=False, of=name), at, want)

    def objective(x: Any, w: Any, decay: Any, t: Any) -> Any:
        out = both(x, w, decay)
        return (out["y"] - t) ** 2 + out["u3"]

    error = at["x"] @ at["w"] - 1.7
    want = (
        error**2 + 0.3 * np.sum(at["w"] ** 2),
        2 * error * at["x"] + 0.6 * at["w"],
    )
    whole = sg.trace(objective, x="n", w="n", decay=(), t=())
    every_way(whole.gradient("w"), {**at, "t": 1.7}, want)


# -- M02: a variable and what is around it ---------------------------------------------------------
def test_m02_operation_inputs_and_consumers_of_every_variable() -> None:
    """M02: inputs and consumers are each other's inverse, in the gradient as well."""
    graph = sg.trace(lambda x, w: np.sum(np.tanh(x @ w) ** 2) + np.sum(w), x="n, 4", w="4, 3")
    out = graph.outputs["out"]
    assert out.get_operation() is OPS["add"]
    assert [each.get_operation().name for each in out.get_inputs()] == ["sum", "sum"]
    assert graph.inputs["x"].get_inputs() == ()
    consumers = graph.get_consumers(graph.inputs["w"].node)
    assert sorted(node.op.name for node in consumers) == ["matmul", "sum"]
    assert graph.get_consumers(out.node) == ()
    joint = graph.gradient("x", "w")
    assert len(joint) > 2 * len(graph)
    for node in joint.nodes:
        assert joint.get_operation(node) is OPS[node.op.name]
        for operand in joint.get_inputs(node):
            assert node in joint.get_consumers(operand)
        for consumer in joint.get_consumers(node):
            assert node in joint.get_inputs(consumer)
        assert set(joint.nx.predecessors(node)) == set(joint.get_inputs(node))
        assert set(joint.nx.successors(node)) == set(joint.get_consumers(node))


def test_m02_networkx_runs_on_it() -> None:
    """M02: networkx algorithms of several kinds run on the DAG as it is."""

    def f(x: Any, y: Any) -> Any:
        squared = x * x
        return np.sin(squared) / y + np.cos(squared)

    graph = sg.trace(f, x=(), y=())
    dag = graph.nx
    x, y = (graph.inputs[name].node for name in "xy")
    out = graph.outputs["out"].node
    (squared,) = graph.get_consumers(x)
    assert dag.edges[x, squared]["slots"] == "0, 1"
    assert isinstance(dag, nx.DiGraph)
    assert nx.is_directed_acyclic_graph(dag)
    order = {node: place for place, node in enumerate(nx.topological_sort(dag))}
    assert len(order) == len(graph)
    assert all(order[a] < order[b] for a, b in dag.edges)
    assert nx.descendants(dag, y) == {*graph.get_consumers(y), out}
    # All ways from x to the output lead through x * x, and part there.
    dominators = nx.immediate_dominators(dag, x)
    assert dominators[out] is squared
    assert len(list(nx.all_simple_paths(dag, x, out))) == 2
    assert nx.dag_longest_path_length(dag, weight="") == 4
    assert nx.is_isomorphic(dag, sg.trace(f, x=(), y=()).nx)
    assert nx.transitive_reduction(dag).number_of_edges() == dag.number_of_edges()
    with pytest.raises(nx.NetworkXError):
        dag.remove_node(out)


# -- M03: ranks, dimensions, dtypes ----------------------------------------------------------------
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (4, 2, 3), (2, 4, 1, 3)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("named", [False, True], ids=["fixed", "named"])
def test_m03_scalars_to_tensors(shape: tuple[int, ...], dtype: str, named: bool) -> None:
    """M03: values and gradients of rank 0 to 4 with dimensions fixed or named."""

    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * x)

    dims = ", ".join("abcd"[: len(shape)]) if named else shape
    graph = sg.trace(f, x=sg.spec(dims, dtype))
    assert graph.inputs["x"].ndim == len(shape)
    assert set(map(str, graph.dag.dims)) == (set("abcd"[: len(shape)]) if named else set())
    sizes = [shape, tuple(n + 1 for n in shape)] if named else [shape]
    rtol = 1e-12 if dtype == "float64" else 1e-5
    for size in sizes:
        x = np.asarray(RNG.normal(size=size), dtype)
        every_way(graph.gradient("x"), {"x": x}, (f(x), np.cos(x) * x + np.sin(x)), rtol)
    if shape and not named:
        with pytest.raises(sg.InputError):
            graph.evaluate(x=np.zeros(tuple(n + 1 for n in shape), dtype))


def test_m03_a_name_stands_for_one_size() -> None:
    """M03: dimensions of one name are equal, those of different names are not taken to be."""
    graph = sg.trace(lambda a, b: a @ b, a=sg.spec("n, m"), b=sg.spec("m, n"))
    assert str(graph.outputs["out"].aval) == "float64[n, n]"
    assert graph.evaluate(a=np.ones((2, 3)), b=np.ones((3, 2))).shape == (2, 2)
    with pytest.raises(sg.InputError):
        graph.evaluate(a=np.ones((2, 3)), b=np.ones((3, 4)))
    with pytest.raises(sg.ShapeError):
        sg.trace(lambda a, b: a @ b, a=sg.spec("n, m"), b=sg.spec("n, m"))


DTYPES = ["bool", "int32", "int64", "float32", "float64"]


@pytest.mark.parametrize(("one", "other"), list(product(DTYPES, DTYPES)))
def test_m03_two_dtypes_are_promoted_as_numpy_promotes_them(one: str, other: str) -> None:
    """M03: the declared and the computed dtype are NumPy's, so are the numbers."""

    def f(a: Any, b: Any) -> Any:
        return a + b, a * b, a / b, np.maximum(a, b), a == b, np.sum(a) + np.mean(b)

    a, b = np.array([0, 1, 3]).astype(one), np.array([1, 1, 2]).astype(other)
    graph = sg.trace(f, a=a, b=b)
    want = f(a, b)
    for each, number in zip(graph.outputs.values(), want, strict=True):
        assert each.dtype == number.dtype
    every_way(graph, {"a": a, "b": b}, want, rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_m03_a_python_number_is_weak(dtype: str) -> None:
    """M03: NumPy 2 (NEP 50): a Python number takes the array's dtype where its kind allows."""

    def f(x: Any) -> Any:
        return x + 1, x * 2.5, x / 2, x + True, np.float64(1) * x, np.float32(1) * x

    x = np.array([0, 1, 3]).astype(dtype)
    graph = sg.trace(f, x=x)
    assert [each.dtype for each in graph.outputs.values()] == [each.dtype for each in f(x)]
    every_way(graph, {"x": x}, f(x), rtol=1e-6)


def test_m03_integers_and_booleans_flow_beside_floats() -> None:
    """M03: they choose and count; they have no gradient, and asking for one is refused."""
    graph = sg.trace(
        lambda x, i, mask: np.sum(np.where(mask, np.take(x, i), x * 2)),
        x=sg.spec("n"),
        i=sg.spec("n", "int64"),
        mask=sg.spec("n", "bool"),
    )
    x, i = np.array([1.0, 2.0, 4.0]), np.array([2, 0, 0])
    mask = np.array([True, False, True])
    want = (np.float64(4 + 4 + 1), np.array([1.0, 2.0, 1.0]))
    every_way(graph.gradient("x"), {"x": x, "i": i, "mask": mask}, want)
    for name in ("i", "mask"):
        with pytest.raises(sg.DTypeError):
            graph.gradient(name)


# -- M21: one bigger network -----------------------------------------------------------------------
SVG = "{http://www.w3.org/2000/svg}"


def perceptron() -> sg.Graph:
    """With a maxout layer, whose gate needs two forward values at once."""

    def loss(X: Any, V: Any, W1: Any, W2: Any) -> Any:
        return np.sum(np.tanh(np.maximum(X @ V, X @ W1) @ W2) ** 2)

    return sg.trace(loss, X="n, 4", V="4, 3", W1="4, 3", W2="3, 2").gradient("W1", "W2")


def drawn_boxes(source: str) -> dict[str, tuple[str, float, float]]:
    """By name: the kind of box (`sg-f` forward, `sg-g` gradient), and where it stands."""
    found: dict[str, tuple[str, float, float]] = {}
    for group in ET.fromstring(source).iter(f"{SVG}g"):
        title, rect = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        assert title is not None
        assert rect is not None
        name = (title.text or "").split(" = ")[0]
        kind = rect.get("class", "")
        found[name] = (kind, float(rect.get("x", 0)), float(rect.get("y", 0)))
    return found


def boxed_edges(graph: sg.Graph, kinds: dict[sg.Node, str]) -> set[tuple[sg.Node, sg.Node]]:
    """The edges between boxes, through views and small expressions, which have none."""
    found: set[tuple[sg.Node, sg.Node]] = set()
    for node in graph.nodes:
        stack = list(node.operands) if kinds[node] else []
        while stack:
            each = stack.pop()
            if kinds[each]:
                found.add((each, node))
            else:
                stack.extend(each.operands)
    return found


def test_m21_gradient_nodes_stand_in_the_band_of_their_forward_node() -> None:
    """M21: FCV 14.6.5: read from the picture: forward runs down, the gradient up beside it."""
    graph = perceptron()
    boxes, labels = drawn_boxes(graph.to_svg()), Labels(graph.dag)
    beside: dict[sg.Node, list[float]] = {}
    for node in graph.nodes:
        forward = node.origin.adjoint_of
        kind, x, y = boxes.get(labels.name(node), ("", 0.0, 0.0))
        if forward is None or kind != "sg-g":
            continue
        forward_kind, forward_x, _ = boxes[labels.name(forward)]
        assert forward_kind == "sg-f"
        assert x > forward_x
        beside.setdefault(forward, []).append(y)
    assert len(beside) >= 4
    assert sum(map(len, beside.values())) >= 8
    ordered = sorted(beside, key=lambda node: node.serial)
    for upper, lower in pairwise(ordered):  # what is computed first stands highest
        assert boxes[labels.name(upper)][2] <= boxes[labels.name(lower)][2]
        assert np.mean(beside[upper]) <= np.mean(beside[lower])
    for a, b in graph.nx.edges:  # and in the gradient lowest
        (kind_a, _, y_a), (kind_b, _, y_b) = (
            boxes.get(labels.name(node), ("", 0.0, 0.0)) for node in (a, b)
        )
        if kind_a == kind_b == "sg-g":
            assert y_a > y_b
    for node, heights in beside.items():  # a gradient node is at most two rows from its forward one
        assert abs(boxes[labels.name(node)][2] - np.mean(heights)) < 200


def test_m21_forward_and_backward_are_one_network(tmp_path: Path) -> None:
    """M21: one DAG in one picture: every edge between boxes is an arrow, and none is missing."""
    graph = perceptron()
    source = graph.to_svg()
    boxes, labels = drawn_boxes(source), Labels(graph.dag)
    kinds = {node: boxes.get(labels.name(node), ("",))[0] for node in graph.nodes}
    pairs = boxed_edges(graph, kinds)
    within = sum(kinds[a] == kinds[b] for a, b in pairs)
    across = sum({kinds[a], kinds[b]} == {"sg-f", "sg-g"} for a, b in pairs)
    # Inputs are boxes of their own: an arrow into the gradient crosses the lanes.
    leaves = [kinds[b] for a, b in pairs if kinds[a] in ("sg-i", "sg-p")]
    paths = [path.get("class") for path in ET.fromstring(source).iter(f"{SVG}path")]
    assert paths.count("sg-e") == within + leaves.count("sg-f") > 12
    assert paths.count("sg-v") == across + leaves.count("sg-g") > 2
    # Values are handed from the forward half to the backward half and never the other way.
    assert not any((kinds[a], kinds[b]) == ("sg-g", "sg-f") for a, b in graph.nx.edges)
    assert nx.is_weakly_connected(graph.nx)
    assert nx.is_directed_acyclic_graph(graph.nx)
    graph.save(tmp_path / "network.svg")
    assert (tmp_path / "network.svg").read_text(encoding="utf-8") == source
