"""Facts of arguments, stated to a transform."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.errors import FactError, InputError, SymgraphError

P, Q = np.array([0.2, 0.3, 0.5]), np.array([0.5, 0.1, 0.4])


def divergence(p: Any, q: Any) -> Any:
    return np.sum(p * np.log(p / q) - p + q)


def positive(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, sg.positive)


def test_facts_shorten_the_derivative() -> None:
    plain = sg.grad(divergence, wrt="q")
    told = sg.grad(divergence, wrt="q", assume=positive("p", "q"))
    assert told.graph(P, Q).op_count() == 2  # 1 - p / q
    assert plain.graph(P, Q).op_count() > 2  # p / q may be 0 / 0
    np.testing.assert_allclose(told(P, Q), plain(P, Q), rtol=1e-12)


@pytest.mark.parametrize(
    ("transform", "shape"),
    [(sg.value_and_grad, None), (sg.hessian, (3, 3)), (sg.jacobian, (3,)), (sg.vmap, (3,))],
)
def test_each_transform_takes_them(transform: Callable[..., Any], shape: Any) -> None:
    found = transform(divergence, assume=positive("p"))(P, Q)
    wanted = transform(divergence)(P, Q)
    if shape is not None:
        assert found.shape == shape
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["d", "d['a']"])
def test_a_container_or_a_part_of_one(name: str) -> None:
    f = sg.grad(lambda d: np.sum(d["a"] * np.log(d["a"]) / d["b"]), assume=positive(name))
    graph = f.graph({"a": P, "b": Q})
    facts = {
        each: [fact.name for fact in node.params["assume"]]
        for each, node in graph.dag.inputs.items()
    }
    assert facts["d['a']"] == ["positive"]
    assert facts["d['b']"] == (["positive"] if name == "d" else [])


def test_a_call_may_check_them() -> None:
    f = sg.grad(divergence, assume=positive("p"), check_facts=True)
    f(P, Q)
    with pytest.raises(FactError, match="'p' is not positive"):
        f(-P, Q)


@pytest.mark.parametrize(
    ("assume", "error", "told"),
    [
        ({"z": sg.positive}, InputError, "names 'z', which is no array"),
        (sg.positive, InputError, "facts of each argument by name"),
        ({"p": "positive"}, FactError, "is not a fact"),
        ({"p": (sg.positive, sg.nonpositive)}, FactError, "at once"),
    ],
    ids=str,
)
def test_what_is_no_fact_of_an_argument(assume: Any, error: type[SymgraphError], told: str) -> None:
    with pytest.raises(error, match=told):
        sg.grad(divergence, assume=assume)(P, Q)
