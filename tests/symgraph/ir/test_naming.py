"""The user's names: a variable's name is given to the value that the variable held, or to none."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.export.labels import Labels
from symgraph.ir.given_names import given_names
from symgraph.ir.interpreter import values_of
from symgraph.source import Frame


def named(f: Callable[..., Any], **specs: Any) -> dict[str, str]:
    """The operation of each named value of a traced function, by its name."""
    graph = sg.trace(f, **(specs or {"x": "n"}))
    labels = Labels(graph.dag)
    return {labels.name(node): node.op.name for node in graph.nodes if labels.names(node)}


def test_variables_name_their_values() -> None:
    def f(x: Any) -> Any:
        z = np.exp(x) + 1
        q = np.log(z)
        return q * z

    assert named(f) == {"z": "add", "q": "log"}


def test_only_the_value_that_is_stored_has_the_name() -> None:
    def f(x: Any) -> Any:
        m = np.mean(np.exp(x) * 2)
        return m * 2

    assert named(f) == {"m": "divide"}


def test_tuple_targets_name_each_value() -> None:
    def f(x: Any) -> Any:
        a, (b, c) = np.exp(x), (np.sin(x), np.cos(x))
        return a + b * c

    assert named(f) == {"a": "exp", "b": "sin", "c": "cos"}


def test_swapped_variables_name_the_values_that_they_hold() -> None:
    def f(x: Any) -> Any:
        a, b = np.exp(x), np.sin(x)
        a, b = b, a
        return a - b

    assert named(f) == {"b": "exp", "a": "sin"}


def test_factorisations_name_their_results() -> None:
    def f(x: Any) -> Any:
        q, r = np.linalg.qr(x)
        return q @ r

    assert named(f, x=(3, 3)) == {"q": "project", "r": "project"}


def test_loops_number_the_values_of_a_variable() -> None:
    def f(x: Any) -> Any:
        h = x
        for _ in range(3):
            h = np.sin(h)
        return h * 2

    assert named(f) == {"h": "sin", "h_2": "sin", "h_3": "sin"}


def test_walrus_chains_and_augmented_assignments() -> None:
    def f(x: Any) -> Any:
        a = b = np.exp(x)
        y = np.sin(t := a * 2)
        y += t
        return y * b

    graph = sg.trace(f, x="n")
    labels = Labels(graph.dag)
    found = {labels.names(node): node.op.name for node in graph.nodes if labels.names(node)}
    assert found == {("a", "b"): "exp", ("t",): "multiply", ("y",): "add"} or found == {
        ("a", "b"): "exp",
        ("t",): "multiply",
        ("y",): "sin",
        ("y", "y"): "add",
    }


def test_a_variable_that_holds_no_array_names_nothing() -> None:
    def f(x: Any) -> Any:
        parts = [np.exp(x), np.sin(x)]
        total = float(3)
        return parts[0] * parts[1] * total

    assert named(f) == {}


def test_inputs_keep_their_names() -> None:
    def f(x: Any) -> Any:
        y = x
        x = np.exp(y)
        return x * y

    assert named(f) == {"x_2": "exp"}


def test_what_the_caller_assigns_comes_first() -> None:
    def layer(x: Any) -> Any:
        z = np.exp(x)
        out = z + 1
        return out

    def f(x: Any) -> Any:
        hidden = layer(x)
        other = layer(hidden)
        return other * 2

    graph = sg.trace(f, x="n")
    labels = Labels(graph.dag)
    add = [node for node in graph.nodes if node.op.name == "add"]
    assert [labels.names(node) for node in add] == [("hidden", "out"), ("other", "out")]
    assert [labels.scope(node) for node in add] == [("layer",), ("layer 2",)]
    assert labels.scope(graph.nodes[-1]) == ()


def test_methods_and_comprehensions_as_scopes() -> None:
    class Layer:
        def __call__(self, x: Any) -> Any:
            return self.inner(x)

        def inner(self, x: Any) -> Any:
            return np.tanh(x)

    def f(x: Any) -> Any:
        layers = [Layer(), Layer()]
        return sum([layer(x) for layer in layers[:1]]) + (lambda y: np.exp(y))(x)

    graph = sg.trace(f, x="n")
    scopes = {node.op.name: node.origin.scope for node in graph.nodes}
    assert scopes["tanh"] == ("Layer", "Layer.inner")
    assert scopes["exp"] == ()


def test_scopes_and_names_by_hand() -> None:
    def f(x: Any) -> Any:
        with sg.scope("block"):
            y = np.exp(x)
            with sg.scope("inner"):
                y = np.sin(y)
            y = np.cos(y)
        with sg.scope("block"):
            return sg.name(np.tanh(y), "the end") * 2

    graph = sg.trace(f, x="n")
    scopes = {node.op.name: node.origin.scope for node in graph.nodes}
    assert scopes["exp"] == scopes["cos"] == ("block",)
    assert scopes["sin"] == ("block", "inner")
    assert scopes["tanh"] == ("block 2",)
    assert "the end = tanh(y_3)" in str(graph)
    assert sg.name(3.0, "number") == 3.0
    with pytest.raises(sg.InputError, match="A name is a text"):
        sg.name(3.0, " ")


def test_symbols_by_hand_have_the_names_of_variables() -> None:
    x = sg.input("x", "n")
    growth = np.exp(x)
    y = growth * 2
    assert "growth = exp(x)" in str(sg.graph(y))


def test_constants_of_the_process_have_no_names() -> None:
    def f(x: Any) -> Any:
        ones = snp.ones(3) + 1
        return ones * x

    assert named(f, x=(3,)) == {}


def test_gradients_are_named_after_what_they_are_gradients_of() -> None:
    def f(x: Any, w: Any) -> Any:
        hidden = np.tanh(x @ w)
        loss = np.sum(np.exp(hidden))
        return loss

    joint = sg.trace(f, x="n, 3", w=(3,)).gradient("w")
    for graph in (joint, joint.simplify()):
        labels = Labels(graph.dag)
        assert labels.name(graph.dag.outputs[1]) == "∂loss/∂w"
    assert "(∂loss/∂hidden) *" in str(joint)


def test_names_survive_simplifying_saving_and_checkpoints() -> None:
    def f(x: Any) -> Any:
        z = np.exp(np.log(np.exp(x)))
        q = z * 1 * z
        return np.sum(np.log(q))

    graph = sg.trace(f, x="n")
    before = str(graph)
    joint = graph.gradient("x")
    small = joint.simplify()
    assert str(graph).splitlines()[1:] == before.splitlines()[1:]
    for each in (graph, joint, small):
        assert str(sg.load(each.to_json())) == str(each)
        assert str(pickle.loads(pickle.dumps(each))) == str(each)
        assert sg.load(each.to_json()).to_json() == each.to_json()


def test_a_replaced_value_gives_its_name_to_the_new_one() -> None:
    def f(x: Any) -> Any:
        y = np.exp(x) * 1
        return y + y * y

    graph = sg.trace(f, x="n")
    small = graph.simplify()
    assert "y = exp(x)" in str(small)
    assert "y = exp(x)" not in str(graph)


def test_names_of_a_callers_frame_are_not_looked_at() -> None:
    z = np.ones(3)

    def f(x: Any) -> Any:
        return np.exp(x) + z

    assert named(f, x=(3,)) == {}


def test_a_generator_that_is_dropped_before_its_end() -> None:
    """CPython 3.13 frees its variables, though its frame can still be asked for them."""

    def steps(x: Any) -> Iterator[Any]:
        for scale in (2, 3, 4):
            scaled = np.exp(x) * scale
            kept = scaled + 1
            yield kept

    def f(x: Any) -> Any:
        first = next(steps(x))
        if any(each.shape == first.shape for each in steps(first)):
            first = np.sin(first)
        for each in steps(first):
            first = np.cos(each)
            break
        last = first * 2
        return last

    for _ in range(20):
        found = named(f)
    # Values are named while their generator runs, and where the others take them.
    assert {"scaled", "each", "last"} <= set(found)


def test_cells_of_notebooks(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = SimpleNamespace(compile=SimpleNamespace(_filename_map={"/tmp/4233833741.py": 2}))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert str(Frame("/tmp/4233833741.py", 8, "f")) == "In[2]:8"
    assert str(Frame("/tmp/other.py", 8, "f")) == "other.py:8"


def values_by_name(graph: sg.Graph, x: Any) -> dict[str, list[Any]]:
    """The values of the named nodes of a graph of `x`, by their names."""
    values = values_of(graph.nodes, graph.dag.inputs, {"x": x}, {})
    found: dict[str, list[Any]] = {}
    for node, texts in given_names(graph.nodes).items():
        found.setdefault(texts[0], []).append(values[node])
    return found


def _solved(x: Any) -> Any:
    u = np.linalg.solve(np.diag(x) + np.array([[2.0, 1, 0], [1, 2, 1], [0, 1, 2]]), np.arange(3.0))
    return 0.5 * np.sum(u**2)  # The gradient is u * solve(-a, u): a negated u saves an operation.


def _yields(x: Any) -> Any:
    times = np.array([0.5, 1.0, 2.0])
    loading = (1 - np.exp(-times / x[1])) / (times / x[1])
    hump = loading - np.exp(-times / x[1])
    return np.sum((x[0] + x[1] * loading + x[2] * hump - 0.3) ** 2)


def _mixture(x: Any) -> Any:
    z = (np.array([0.5, 1.0, -2.0]) - x[0]) / np.exp(x[1])
    return np.sum(np.log1p(z**2 / np.exp(x[2])))


def _steps(x: Any) -> Any:
    y = x
    for _ in range(3):
        slope = 2 * np.array([[3.0, 1, 0], [1, 2, 1], [0, 1, 4]]) @ (y - 1) / 10
        y = y - np.exp(x[0]) * slope
    return np.mean(y**2)


def _fitted(x: Any) -> Any:
    a = np.outer(x, x[:2]) + np.array([[1.0, 0], [0, 2], [1, 1]])
    return np.sum((np.linalg.pinv(a) @ np.arange(3.0)) ** 2)


@pytest.mark.parametrize("f", [_solved, _yields, _mixture, _steps, _fitted])
def test_a_name_is_that_of_the_value_that_the_variable_held(f: Callable[..., Any]) -> None:
    """A pass that negates a value, or takes a number out of it, does not hand its name on."""
    joint = sg.trace(f, x=(3,)).gradient("x")
    x = np.array([0.3, 0.7, 1.2])
    meant, found = values_by_name(joint, x), values_by_name(joint.simplify(), x)
    for text, values in found.items():
        for value in values:
            assert any(
                value.shape == each.shape and np.allclose(value, each, rtol=1e-9, atol=0)
                for each in meant[text]
            ), text
