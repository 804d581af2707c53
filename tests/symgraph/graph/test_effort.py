"""How long a graph is simplified: less effort may leave it longer, never wrong."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from randomgraphs import NETWORKS, random_function
from textbook import numbers, traced
from textbook.catalogue import CATALOGUE

import symgraph as sg
from symgraph.cli import main

AT = {"x": np.random.default_rng(0).normal(size=(4, 3)), "w": 0.3 * np.eye(3)}
GIVEN = {"x": np.ones((4, 3)), "w": 0.3 * np.eye(3), "v": np.full((3, 3), 0.1)}
GRAPHS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "random": (random_function(70), AT),
    "attention": (NETWORKS["attending"][0](2), GIVEN),
    "normalised layers": (NETWORKS["normalised"][0](3), GIVEN),
}


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", GRAPHS)
def test_more_effort_gives_no_longer_graph_of_the_same_values(name: str) -> None:
    f, at = GRAPHS[name]
    derived = sg.trace(f, **at).gradient("w")
    counts: list[int] = []
    for effort in ("low", "normal", "high"):
        graph = derived.simplify(effort=effort)
        counts.append(graph.op_count())
        for found, wanted in zip(graph.evaluate(**at), derived.evaluate(**at), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10)
    low, normal, high = counts
    assert derived.op_count() > low >= normal >= high
    assert low <= 1.15 * normal


@pytest.mark.parametrize("row", CATALOGUE[::120], ids=str)
def test_low_effort_gives_the_values_of_a_row(row: Any) -> None:
    at = numbers(row, {"n": 4, "m": 3, "k": 2, "d": 3})
    derived = traced(row.f, row.specs).gradient(*row.wrt)
    small = derived.simplify(effort="low")
    for found, wanted in zip(small.evaluate(**at), derived.evaluate(**at), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-10)


@pytest.mark.whole
def test_more_effort_goes_on_where_less_stopped() -> None:
    f, at = GRAPHS["normalised layers"]
    derived = sg.trace(f, **at).gradient("w")
    low, normal = derived.simplify(effort="low"), derived.simplify()
    assert low.simplify().op_count() == normal.op_count() < low.op_count()
    assert str(low.simplify(effort="low").formula()) == str(low.formula())


def test_transforms_take_an_effort() -> None:
    f, at = GRAPHS["attention"]
    low = sg.grad(f, wrt="w", effort="low")
    assert low.graph(**at).op_count() > sg.grad(f, wrt="w").graph(**at).op_count()
    np.testing.assert_allclose(low(**at), sg.grad(f, wrt="w")(**at), rtol=1e-9, atol=1e-10)


def cubed(x: Any) -> Any:
    return np.sum(x**3)


def test_an_effort_is_sent_with_a_transform() -> None:
    again = pickle.loads(pickle.dumps(sg.grad(cubed, effort="low")))
    np.testing.assert_array_equal(again(np.arange(3.0)), 3 * np.arange(3.0) ** 2)


def test_an_unknown_effort_is_refused() -> None:
    with pytest.raises(sg.SymgraphError, match="no effort 'most'") as caught:
        sg.trace(cubed, x=3).simplify(effort="most")  # pyright: ignore[reportArgumentType]
    assert "'low', 'normal', 'high'" in caught.value.mend


def test_an_effort_is_saved() -> None:
    graph = sg.trace(cubed, x=3).gradient("x").simplify(effort="low")
    document = json.loads(graph.to_json())
    assert document["stages"][-1]["effort"] == "low"
    assert sg.load(graph.to_json()).to_json() == graph.to_json()
    document["stages"][-1]["effort"] = "most"
    with pytest.raises(sg.FormatError, match="effort"):
        sg.load(json.dumps(document))


def test_the_command_takes_an_effort(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", "sum(x*x)", "--wrt", "x", "--effort", "low"]) == 0
    assert "d/dx = x + x\n" in capsys.readouterr().out
