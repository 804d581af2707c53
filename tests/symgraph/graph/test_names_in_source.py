"""Generated source and errors tell the user's names; no text of a user's becomes code."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

import symgraph as sg


def ran(graph: sg.Graph, **inputs: Any) -> Any:
    names: dict[str, Any] = {}
    exec(graph.to_python(), names)
    return names["function"](np, **inputs)


def assigned(source: str) -> list[str]:
    """The variables that the last function of a source assigns."""
    function = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)][-1]
    targets = [node.targets[0] for node in function.body if isinstance(node, ast.Assign)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def network(x: Any, W: Any, y: Any) -> Any:
    hidden = np.tanh(x @ W)
    error = hidden - y
    return np.sum(error * error)


def test_source_has_the_users_variables() -> None:
    joint = sg.trace(network, x="n, 3", W="3, 2", y="n, 2").gradient("W").simplify()
    found = assigned(joint.to_python())
    assert found[:3] == ["x", "W", "y"]
    assert {"hidden", "error"} <= set(found)
    assert len(set(found)) == len(found)
    rng = np.random.default_rng(0)
    given = {name: rng.normal(size=size) for name, size in (("x", (4, 3)), ("W", (3, 2)))}
    given["y"] = rng.normal(size=(4, 2))
    for one, other in zip(ran(joint, **given), joint.evaluate(**given), strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-12)


def test_a_name_of_two_values_is_used_for_neither() -> None:
    def twice(x: Any) -> Any:
        x = np.tanh(x)
        x = x * 3.0
        return np.sum(x)

    graph = sg.trace(twice, x="n")
    assert "x" not in assigned(graph.to_python())
    np.testing.assert_allclose(ran(graph, x=np.ones(2)), graph.evaluate(x=np.ones(2)))


TAKEN = ("np", "inputs", "kernels", "special", "function", "lambda", "sum", "v0", "d0", "f1", "_")
HOSTILE = ("a\n    import os", "x; y", "'''", "ｘ", "__import__", "x" * 300, "\u202ex")


@pytest.mark.parametrize("name", [*TAKEN, *HOSTILE])
def test_names_that_mean_something_in_the_source_are_left_out(name: str) -> None:
    x = sg.input(name, ("n",))
    graph = sg.graph(np.sum(sg.name(np.tanh(x), name + "s") * x))
    source = graph.to_python()
    assert name not in assigned(source) or name == "v0"  # The name of ours, given to the input.
    numbers = np.array([0.5, -1.0])
    np.testing.assert_allclose(ran(graph, **{name: numbers}), graph.evaluate({name: numbers}))


def test_a_variable_called_as_a_helper_does_not_hide_it() -> None:
    def scattered(x: Any) -> Any:
        scatter_add = np.tanh(x)
        return np.sum(scatter_add[np.array([0, 0, 1])] ** 2)

    graph = sg.trace(scattered, x=3).gradient("x").simplify()
    value, slope = ran(graph, x=np.arange(3.0))
    expected, expected_slope = graph.evaluate(x=np.arange(3.0))
    np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(slope, expected_slope)


def test_an_error_names_the_variables_it_is_about() -> None:
    def wrong(x: Any, W: Any) -> Any:
        hidden = np.tanh(x)
        return (lambda value: value @ W)(hidden)

    with pytest.raises(sg.ShapeError) as caught:
        sg.trace(wrong, x="n, 4", W="5, 3")
    assert "float64[n, 4] hidden   from test_names_in_source.py" in str(caught.value)
    assert "float64[5, 3] W   from" in str(caught.value)
    assert repr(sg.input("a\nb", (2,))) == "<Array 'a\\nb' float64[2]>"
    with pytest.raises(sg.ShapeError) as hostile:
        sg.input("a\nb", (2, 3)) @ np.ones((2, 2))
    assert "a\\nb   from" in str(hostile.value)


def test_reports_of_memory_name_the_variables() -> None:
    joint = sg.trace(network, x="n, 3", W="3, 2", y="n, 2").gradient("W")
    assert "hidden = tanh float64[n, 2]   test_names_in_source.py:" in str(joint.memory(n=1000))
    with pytest.raises(sg.MemoryBudgetError, match="hidden = tanh"):
        joint.checkpoint("1 kB", n=1000)
