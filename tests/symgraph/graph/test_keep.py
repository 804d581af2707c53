"""Values that the user named stay through simplification on request."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg


def scores(x: Any, Wq: Any, Wk: Any, y: Any) -> Any:
    q = Wq @ x
    k = Wk @ y
    e = np.log(np.exp(q @ k))
    return e * e


SHAPES = {"x": "d", "Wq": "h, d", "Wk": "h, d", "y": "d"}


def names(graph: sg.Graph) -> set[str]:
    return {line.split(" = ")[0].strip() for line in str(graph).splitlines()[1:]}


def numbers() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    shapes = {"x": (3,), "Wq": (2, 3), "Wk": (2, 3), "y": (3,)}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def test_a_kept_value_is_a_node_of_the_simplified_gradient() -> None:
    def loss(x: Any) -> Any:
        growth = np.exp(x)
        level = np.log(growth)
        return np.sum(level * level)

    joint = sg.trace(loss, x="n").gradient("x")
    assert str(joint.simplify().formula()) == "out = x @ x; grad_x = x + x"
    kept = joint.simplify(keep="growth")
    assert "growth" in names(kept)
    assert any(node.op.name == "log" for node in kept.nodes)
    point = np.array([0.5, -1.0])
    value, slope = kept.evaluate(x=point)
    np.testing.assert_allclose(value, np.sum(point**2), rtol=1e-14)
    np.testing.assert_allclose(slope, 2 * point, rtol=1e-14)


def test_what_is_not_kept_is_simplified() -> None:
    joint = sg.trace(scores, **SHAPES).gradient("Wq", "Wk")
    kept = joint.simplify(keep=["q", "k"])
    assert {"q", "k"} <= names(kept)
    assert not any(node.op.name in ("exp", "kept_value") for node in kept.nodes)
    everything = joint.simplify(keep=True)
    assert {"q", "k", "e"} <= names(everything)
    given = numbers()
    for found in (kept, everything):
        found.verify()
        found.history.check(**given)
        for one, other in zip(
            [found.evaluate(**given)[0], *found.evaluate(**given)[1]],
            [joint.evaluate(**given)[0], *joint.evaluate(**given)[1]],
            strict=True,
        ):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_graph_remembers_its_kept_values_when_it_is_simplified_again_and_saved() -> None:
    kept = sg.trace(lambda x: np.log(sg.name(np.exp(x), "e")), x="n").simplify(keep="e")
    assert str(kept.formula()) == "log(exp(x))"
    assert str(kept.simplify().formula()) == "log(exp(x))"
    again = sg.load(kept.to_json())
    assert str(again) == str(kept)
    assert again.to_json() == kept.to_json()
    assert str(again.simplify().simplify().formula()) == "log(exp(x))"
    assert str(again.simplify(keep=False).formula()) == "x"
    assert str(again.simplify(keep=False).simplify().formula()) == "x"
    every = sg.load(sg.trace(scores, **SHAPES).simplify(keep=True).to_json())
    assert {"q", "k", "e"} <= names(every.simplify())


def test_derivatives_of_a_graph_with_kept_values_keep_them() -> None:
    def loss(x: Any) -> Any:
        growth = np.exp(x)
        level = np.log(growth)
        return np.sum(level * level)

    kept = sg.trace(loss, x="n").simplify(keep="growth")
    for joint in (kept.gradient("x"), kept.gradient("x").simplify()):
        assert "growth" in names(joint)
        assert not any(node.op.name == "kept_value" for node in joint.nodes)
        np.testing.assert_allclose(joint.evaluate(x=[0.5, -1.0])[1], [1.0, -2.0], rtol=1e-14)
    assert "growth" in names(kept.hessian("x").simplify())
    second = kept.gradient("x").simplify().simplify()
    assert "growth" in names(second)
    assert str(second.simplify(keep=()).formula()) == "out = x @ x; grad_x = 2 * x"


def test_other_names_take_the_place_of_remembered_ones() -> None:
    def logs(x: Any, y: Any) -> Any:
        a, b = np.exp(x), np.exp(y)
        return np.log(a) + np.log(b)

    kept = sg.trace(logs, x="n", y="n").simplify(keep=["a", "b"])
    assert {"a", "b"} <= names(kept.simplify())
    alone = kept.simplify(keep="b")
    assert str(alone.formula()) == str(alone.simplify().formula()) == "x + log(exp(y))"


def test_a_saved_graph_that_keeps_no_names_is_refused() -> None:
    text = sg.trace(lambda x: np.log(sg.name(np.exp(x), "e")), x="n").simplify(keep="e").to_json()
    assert '"keep": ["e"]' in text or '"keep":["e"]' in text
    for wrong in ("false", "3", '"e"', "[3]"):
        with pytest.raises(sg.FormatError, match="keep"):
            sg.load(text.replace('["e"]', wrong))


def test_a_name_that_no_value_has_is_refused() -> None:
    graph = sg.trace(scores, **SHAPES)
    with pytest.raises(sg.errors.InputError, match=r"named 'query'.*\n.*\n?.*q, k, e"):
        graph.simplify(keep="query")


def test_source_tells_the_users_names() -> None:
    graph = sg.trace(scores, **SHAPES)
    lines = [line for line in graph.to_python().splitlines() if "matmul(" in line]
    assert "# q = matmul" in lines[0]
    assert "# k = matmul" in lines[1]
    assert "# q = matmul" in graph.lower("numpy").source
