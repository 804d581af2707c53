"""The public Graph: every stage of the pipeline from the door users take."""

from __future__ import annotations

import base64
import re
from typing import Any

import networkx as nx
import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.other_names import INSTEAD_IN_GRAPHS

RNG = np.random.default_rng(0)


def cross_entropy(X, y, W, b):
    z = X @ W + b
    q = np.exp(z) / np.sum(np.exp(z), axis=-1, keepdims=True)
    return -np.mean(np.sum(y * np.log(q), axis=-1))


def forward() -> sg.Graph:
    return sg.trace(
        cross_entropy,
        X=sg.spec("n, 6", "float64"),
        y=sg.spec("n, 3", "float64", assume=sg.simplex(axis=-1)),
        W=sg.spec("6, 3"),
        b=sg.spec("3"),
    )


def numbers(n: int = 5) -> dict[str, np.ndarray]:
    return {
        "X": RNG.standard_normal((n, 6)),
        "y": np.eye(3)[RNG.integers(3, size=n)],
        "W": RNG.standard_normal((6, 3)),
        "b": RNG.standard_normal(3),
    }


def by_hand(X, y, W, b):
    z = X @ W + b
    z = z - z.max(axis=-1, keepdims=True)
    q = np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)
    delta = (q - y) / len(X)
    return -np.mean(np.sum(y * np.log(q), axis=-1)), X.T @ delta, delta.sum(axis=0)


@pytest.mark.parametrize("stage", ["joint", "simplified", "lowered", "tight"])
def test_every_stage_gives_the_same_numbers(stage: str) -> None:
    joint = forward().gradient("W", "b")
    graph = joint if stage == "joint" else joint.simplify()
    for n in (1, 5, 17):
        at = numbers(n)
        if stage == "tight":
            call = graph.checkpoint(memory=graph.memory(n=n).peak_bytes, n=n).lower()
        else:
            call = graph.lower() if stage == "lowered" else graph.evaluate
        value, (dW, db) = call(**at)
        expected, eW, eb = by_hand(**at)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        np.testing.assert_allclose(dW, eW, rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(db, eb, rtol=1e-10, atol=1e-14)


def test_results_are_grouped_as_asked() -> None:
    graph, at = forward(), numbers()
    assert np.ndim(graph.evaluate(**at)) == 0
    value, dW = graph.gradient("W").evaluate(**at)
    assert np.ndim(value) == 0
    assert dW.shape == (6, 3)
    assert graph.gradient("W", value=False).evaluate(**at).shape == (6, 3)
    dW, db = graph.gradient("W", "b", value=False).evaluate(**at)
    assert (dW.shape, db.shape) == ((6, 3), (3,))
    nested = sg.trace(lambda x: {"a": x, "b": (x + 1, [x * 2])}, x=sg.spec(()))
    assert nested.evaluate(x=3.0) == {"a": 3.0, "b": (4.0, [6.0])}
    assert nested.simplify().lower()(x=3.0) == {"a": 3.0, "b": (4.0, [6.0])}


def test_both_orders_of_simplifying_and_differentiating_reach_one_graph() -> None:
    graph = forward()
    after = graph.gradient("W", "b").simplify()
    before = graph.simplify().gradient("W", "b").simplify()
    assert after.dag.outputs == before.dag.outputs


def test_simplify_is_idempotent_and_leaves_its_graph_alone() -> None:
    joint = forward().gradient("W", "b")
    nodes = joint.nodes
    small = joint.simplify()
    assert joint.nodes == nodes
    assert small.simplify().dag.outputs == small.dag.outputs
    small.verify()


def test_a_simplex_is_not_used_before_differentiating() -> None:
    """The gradient of the sum of a simplex is one everywhere, although the sum is constant."""
    graph = sg.trace(lambda p: np.sum(p), p=sg.spec("4", assume=sg.simplex(axis=-1)))
    constant = graph.simplify()
    p = np.full(4, 0.25)
    for gradient in (
        graph.gradient("p", value=False),
        graph.gradient("p", value=False).simplify(),
        constant.gradient("p", value=False),
        constant.gradient("p", value=False).simplify(),
    ):
        np.testing.assert_array_equal(gradient.evaluate(p=p), np.ones(4))


def test_m02_a_variable_knows_operation_inputs_and_consumers() -> None:
    """M02: on a networkx DAG that any networkx algorithm runs on."""
    graph = sg.trace(lambda x, y: x * y + x, x=sg.spec(()), y=sg.spec(()))
    x, y = (graph.inputs[name].node for name in "xy")
    out = graph.outputs["out"].node
    assert graph.get_operation(out).name == "add"
    product = graph.get_inputs(out)[0]
    assert graph.get_inputs(product) == (x, y)
    assert set(graph.get_consumers(x)) == {product, out}
    assert nx.ancestors(graph.nx, out) == {x, y, product}
    assert nx.dag_longest_path_length(graph.nx) == 2


def test_m03_named_dimensions_and_numpys_promotion() -> None:
    """M03: any rank, fixed or named dimensions, NumPy 2's promotion."""
    graph = sg.trace(
        lambda a, b: a * b + 1,
        a=sg.spec("n, 1, 3", "float32"),
        b=sg.spec("m, 1", "int16"),
    )
    out = graph.outputs["out"]
    assert str(out.aval) == "float32[n, m, 3]"
    a = np.ones((2, 1, 3), "float32")
    b = np.ones((4, 1), "int16")
    found = graph.evaluate(a=a, b=b)
    assert found.shape == (2, 4, 3)
    assert found.dtype == (a * b + 1).dtype


def test_m19_gradient_of_the_data() -> None:
    """M19: back-propagation to an input, by which the input is optimised."""
    target = np.array([1.0, -2.0, 0.5])
    graph = sg.trace(lambda x: np.sum((np.tanh(x) - target / 3) ** 2), x=sg.spec("3"))
    f = graph.gradient("x").simplify().lower()
    x = np.zeros(3)
    for _ in range(500):
        _, dx = f(x=x)
        x = x - 0.4 * dx
    np.testing.assert_allclose(np.tanh(x), target / 3, atol=1e-6)


def test_explain_names_rules_places_and_both_sides() -> None:
    small = forward().gradient("W", "b", value=False).simplify()
    told = small.explain()
    assert "test_graph.py" in told
    assert "→" in told
    assert small.explain("grad_W")
    assert forward().explain() == "No rewrite was needed."


def test_why_tells_where_a_fact_comes_from() -> None:
    graph = forward()
    assert "stated of input 'y'" in graph.why("y", sg.simplex(-1))
    assert "not known" in graph.why("W", sg.positive)


def test_facts_can_be_checked_on_numbers() -> None:
    graph = sg.trace(lambda x: np.sum(np.log(x)), x=sg.spec("3", assume=sg.positive))
    f = graph.lower(check_facts=True)
    assert f(x=np.ones(3)) == 0.0
    with pytest.raises(sg.FactError, match="'x' is not positive"):
        f(x=np.array([1.0, -1.0, 2.0]))


def test_graphs_show_and_save_themselves(tmp_path) -> None:
    graph = forward().gradient("W")
    assert "X" in str(graph)
    assert "operations" in repr(graph)
    bundle = graph._repr_mimebundle_()
    assert bundle["text/plain"] == str(graph)
    assert bundle["image/svg+xml"].startswith("<svg")
    data = bundle["text/html"].partition("base64,")[2].partition('"')[0]
    assert base64.b64decode(data).decode() == bundle["image/svg+xml"]
    for suffix in (".svg", ".dot", ".txt", ".py"):
        path = tmp_path / f"graph{suffix}"
        graph.save(path)
        assert path.read_text(encoding="utf-8")
    with pytest.raises(sg.InputError, match="names no format"):
        graph.save(tmp_path / "graph.xyz")


def test_exported_python_is_self_contained() -> None:
    graph, at = forward().gradient("W", "b").simplify(), numbers()
    namespace: dict[str, object] = {}
    exec(graph.to_python(), namespace)
    value, (dW, db) = namespace["function"](np, **at)  # type: ignore[operator]
    expected, (eW, eb) = graph.evaluate(**at)
    np.testing.assert_allclose(value, expected, rtol=1e-14)
    np.testing.assert_allclose(dW, eW, rtol=1e-14)
    np.testing.assert_allclose(db, eb, rtol=1e-14)


def test_symbols_by_hand() -> None:
    x, w = sg.input("x", (3,)), sg.input("w", (3,))
    J = np.sum((x * w) ** 2)
    dw = sg.grad(J, w)
    dx, again = sg.grad(J, [x, w])
    graph = sg.graph(J, dw)
    J_value, dw_value = graph.evaluate(x=np.arange(3.0), w=np.ones(3))
    assert J_value == 5.0
    assert dw_value.tolist() == [0.0, 2.0, 8.0]
    assert again.node is dw.node
    assert sg.graph(dx, inputs=[w, x]).dag.inputs.keys() == {"w", "x"}


def test_signatures_are_checked_when_tracing() -> None:
    with pytest.raises(sg.InputError, match="cannot be called with x"):
        sg.trace(lambda x, y: x, x=sg.spec(()))
    with pytest.raises(sg.InputError, match="described by"):
        sg.trace(lambda x: x, x=object())
    with pytest.raises(sg.TraceError, match="returned None"):
        sg.trace(lambda x: None, x=sg.spec(()))
    with pytest.warns(sg.UnusedInputWarning, match="'y' is not used"):
        graph = sg.trace(lambda x, y: x, x=sg.spec(()), y=sg.spec(()))
    assert list(graph.inputs) == ["x", "y"]


def test_example_arrays_and_shapes_describe_inputs() -> None:
    graph = sg.trace(lambda x, y: x @ y, x=np.ones((2, 3), "float32"), y="3, k")
    assert str(graph.outputs["out"].aval) == "float64[2, k]"


def test_several_outputs_need_a_choice_for_the_gradient() -> None:
    graph = sg.trace(lambda x: (np.sum(x), np.sum(x * x)), x=sg.spec("3"))
    with pytest.raises(sg.InputError, match="2 outputs"):
        graph.gradient("x")
    found = graph.gradient("x", of="out1", value=False).evaluate(x=np.ones(3))
    assert found.tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(sg.InputError, match="no output 'out7'"):
        graph.gradient("x", of="out7")


def test_unknown_strategies_and_backends_are_refused() -> None:
    with pytest.raises(sg.SymgraphError, match="no strategy"):
        forward().simplify(strategy="magic")  # type: ignore[arg-type]
    with pytest.raises(sg.BackendError, match="numpy"):
        forward().lower(backend="abacus")


def test_m04_maximum_with_its_index_in_one_pass() -> None:
    """M04: one node, two results; the gradient flows to the element found."""

    def f(x):
        value, index = snp.max_with_index(x, axis=-1)
        return np.sum(value * value), index

    graph = sg.trace(f, x=sg.spec("2, 3"))
    x = np.array([[1.0, 5.0, 2.0], [7.0, 0.0, 7.0]])
    total, index = graph.evaluate(x=x)
    assert total == 74.0
    assert index.tolist() == [1, 0]
    assert sum(node.op.name == "max_with_index" for node in graph.nodes) == 1
    dx = graph.gradient("x", of="out0", value=False).evaluate(x=x)
    assert dx.tolist() == [[0, 10, 0], [14, 0, 0]]


def test_a_ufunc_is_traced_by_the_names_of_its_operands() -> None:
    assert sg.trace(np.tanh, x="n").evaluate(x=np.zeros(2)).tolist() == [0, 0]


def test_a_history_says_which_steps_it_holds() -> None:
    small = sg.trace(lambda x: np.log(np.exp(x)) * 1, x="n").simplify()
    assert repr(small.history) == "<history of 2 steps: log_of_exp, times_one>"


AWKWARD = ["check_facts", "self", "of", "inputs", "args", "named", "np", "kernels", "dims", "f"]


@pytest.mark.parametrize("name", AWKWARD)
def test_inputs_of_any_name_can_be_given(name: str) -> None:
    x, y = sg.input(name, (), assume=sg.positive), sg.input("y")
    graph = sg.graph(x * y * x, inputs=[x, y]).gradient(name)
    given = {name: 3.0, "y": 2.0}
    expected = (18.0, (12.0,))
    assert graph.evaluate(given) == expected
    assert graph.evaluate({name: 3.0}, y=2.0, check_facts=True) == expected
    assert graph.lower()(**given) == expected
    assert graph.lower(check_facts=True)(**given) == expected
    assert graph.simplify().history.check(**given)
    assert graph.scalar_derivatives(given, of=next(iter(graph.outputs))).values
    names: dict[str, Any] = {}
    exec(graph.to_python(), names)
    assert names["function"](np, **given) == expected
    with pytest.raises(sg.FactError, match=f"'{name}' is not positive"):
        graph.evaluate({name: -3.0, "y": 2.0}, check_facts=True)


def test_an_input_with_the_name_of_a_keyword_is_asked_for_in_a_mapping() -> None:
    graph = sg.trace(lambda check_facts, y: check_facts * y, check_facts=(), y=())
    with pytest.raises(sg.InputError, match=r'mapping: \{"check_facts": \.\.\., \.\.\.\}'):
        graph.evaluate(check_facts=3.0, y=2.0)
    with pytest.raises(sg.InputError, match="'y' is given twice"):
        graph.evaluate({"check_facts": 3.0, "y": 2.0}, y=2.0)


def test_inputs_in_their_order_or_as_a_mapping_on_every_door() -> None:
    graph = sg.trace(lambda x, w: x @ w, (2, 3), w=(3,))
    x, w = np.ones((2, 3)), np.arange(3.0)
    for run in (graph.evaluate, graph.lower(), graph.lower("numpy", check_facts=True)):
        for found in (run(x, w), run(x, w=w), run({"x": x, "w": w}), run({"x": x}, w=w)):
            np.testing.assert_array_equal(found, [3.0, 3.0])
        with pytest.raises(sg.InputError, match="missing w"):
            run(x)
        with pytest.raises(sg.InputError, match="3 inputs are given, but the graph has 2"):
            run(x, w, w)
        with pytest.raises(sg.InputError, match="'x' is given twice, by position"):
            run(x, w, x=x)
    alone = sg.trace(lambda a: np.sum(a), a=(3,))
    assert alone.evaluate({"a": w}) == alone.lower()({"a": w}) == alone.lower()(w) == 3


def test_specs_in_the_order_of_parameters() -> None:
    graph = sg.trace(lambda a, b, *, c: a * b + c, (2,), b=sg.spec(()), c=())
    assert list(graph.inputs) == ["a", "b", "c"]
    with pytest.raises(sg.InputError, match=r"2 specs in order, but .* has 1 parameters"):
        sg.trace(lambda a: a, (), ())
    with pytest.raises(sg.InputError, match="'a' has two specs"):
        sg.trace(lambda a: a, (), a=())


@pytest.mark.parametrize("ask", [lambda g: g.jvp({}), lambda g: g.hvp([], []), lambda g: g.vjp()])
def test_no_direction_is_told_as_such(ask: Any) -> None:
    with pytest.raises(sg.InputError, match=r"[Nn]ame at least one input"):
        ask(sg.trace(lambda x: x * x, x=()))


def test_simplify_derives_from_the_stabilised_function_alone() -> None:
    calls: list[object] = []

    def squared(dag: Any, record: Any) -> Any:
        calls.append(dag)
        (out,) = dag.outputs
        return dag.with_outputs([(sg.Array(out) ** 2).node])

    graph = sg.trace(lambda x: np.log(1 + np.exp(x)), x="n").derived([], squared)
    once = graph.simplify()
    assert len(calls) == 2  # Once when the graph was made, and once now.
    np.testing.assert_allclose(once.evaluate(x=[0.5]), np.log1p(np.exp([0.5])) ** 2)


@pytest.mark.parametrize("name", INSTEAD_IN_GRAPHS)
def test_a_name_of_another_library_is_answered_by_what_a_graph_has(name: str) -> None:
    graph = sg.trace(lambda x: x * x, x=())
    with pytest.raises(AttributeError) as raised:
        getattr(graph, name)
    mend = INSTEAD_IN_GRAPHS[name]
    assert str(raised.value) == f"'Graph' object has no attribute {name!r}. {mend}"
    for method in re.findall(r"(?:graph\.|Write )(\w+)", mend):
        assert hasattr(graph, method)


def test_any_other_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^'Graph' object has no attribute 'nothing'$"):
        _ = sg.trace(lambda x: x * x, x=()).nothing  # pyright: ignore[reportAttributeAccessIssue]
