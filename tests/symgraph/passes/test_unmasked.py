"""Masks for derivatives leave programs of values, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

import symgraph as sg
from symgraph.passes.unmasked import without_masks


def choosing(w: Any, x: Any) -> Any:
    return sg.cond(x[0] > 0, lambda: np.sum(np.tanh(w * x)), lambda: np.sum(w * x**2))


def names(dag: sg.Dag) -> list[str]:
    return [node.op.name for node in dag.nodes]


def traced(f: Any) -> sg.Graph:
    return sg.trace(sg.vmap(f, in_axes=(None, 0)), w=(3,), x=(4, 3))


def test_branches_for_each_are_entered_without_masks() -> None:
    graph = traced(choosing)
    plain = without_masks(graph.dag)
    assert names(graph.dag).count("where") == 5
    assert names(plain).count("where") == 1
    assert "stop_gradient" not in names(plain)
    w, x = np.arange(3.0), np.random.default_rng(0).normal(size=(4, 3))
    np.testing.assert_array_equal(graph.lower()(w, x), graph.evaluate(w, x))


def test_the_graph_keeps_them_for_derivatives() -> None:
    graph = traced(choosing)
    before = names(graph.dag)
    graph.lower()
    assert names(graph.dag) == before
    assert "stop_gradient" in names(graph.simplify().dag)


def test_masks_in_loops_go_too() -> None:
    def f(w: Any, x: Any) -> Any:
        return sg.scan(lambda c, t: (c + choosing(w, x * t), None), 0.0, w)[0]

    graph = traced(f)
    (body,) = (n.params["body"] for n in without_masks(graph.dag).nodes if n.op.name == "scan")
    assert "stop_gradient" not in [node.op.name for node in body.nodes]
    w, x = np.arange(3.0), np.random.default_rng(0).normal(size=(4, 3))
    np.testing.assert_allclose(graph.lower()(w, x), graph.evaluate(w, x))


def test_what_is_no_mask_stays() -> None:
    x, y = sg.input("x", (3,)), sg.input("y", (3,))
    stop = sg.numpy.stop_gradient
    for value in (np.where(x > 0, x, stop(y)), np.where(x > 0, stop(x), x), stop(x)):
        dag = sg.graph(value).dag
        assert without_masks(dag) is dag
    loop = sg.graph(sg.scan(lambda c, t: (c * t, stop(c)), 1.0, x)[1]).dag
    assert without_masks(loop) is loop
    wider = sg.graph(np.where(x[:, None] > 0, x, stop(x))).dag
    assert without_masks(wider) is wider
