"""Gradient clipping, of gradients that are there and of cotangents on their way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from installed import BACKENDS

import symgraph as sg
import symgraph.numpy as snp
from symgraph.testing import check_grads

X = np.array([3.0, 4.0])


@pytest.mark.parametrize("symbolic", [False, True])
def test_norms_and_values(symbolic: bool) -> None:
    tree = {"w": X, "b": (np.array(12.0),)}

    def run(f: Any) -> Any:
        if not symbolic:
            return f(tree)
        w, b = sg.input("w", (2,)), sg.input("b")
        graph = sg.trace(lambda w, b: f({"w": w, "b": (b,)}), w=w.shape, b=b.shape)
        return graph.evaluate(w=tree["w"], b=tree["b"][0])

    one = run(lambda t: sg.clip_by_norm(t, 1.0))
    np.testing.assert_allclose(one["w"], [0.6, 0.8])
    np.testing.assert_allclose(one["b"][0], 1.0)
    whole = run(lambda t: sg.clip_by_global_norm(t, 6.5))
    np.testing.assert_allclose(whole["w"], X / 2)
    np.testing.assert_allclose(whole["b"][0], 6.0)
    small = run(lambda t: sg.clip_by_global_norm(t, 100.0))
    np.testing.assert_array_equal(small["w"], X)
    np.testing.assert_allclose(run(sg.global_norm), 13.0)
    np.testing.assert_array_equal(run(lambda t: sg.clip_by_value(t, -1, 3.5))["w"], [3.0, 3.5])


def test_nothing_is_divided_by_zero() -> None:
    np.testing.assert_array_equal(sg.clip_by_norm(np.zeros(2), 1.0), [0, 0])
    graph = sg.trace(sg.global_norm, tree=(2,)).gradient("tree")
    for run in (graph.evaluate, *[graph.simplify().lower(name) for name in BACKENDS]):
        np.testing.assert_array_equal(run(tree=np.zeros(2))[1], [0, 0])


def test_clipped_gradients_are_differentiable() -> None:
    check_grads(lambda x: sg.clip_by_norm(x, 1.0), X)
    check_grads(lambda x: sg.clip_by_global_norm((x, x * x), 50.0)[1], X)


@pytest.mark.parametrize(
    ("options", "want"),
    [
        ({"norm": 1.0}, [0.6, 0.8]),
        ({"low": -1.0, "high": 7.0}, [6.0, 7.0]),
        ({"norm": 5.0, "high": 3.5}, [3.0, 3.5]),
        ({"norm": 50.0}, [6.0, 8.0]),
    ],
    ids=str,
)
def test_clip_gradient_is_the_identity_with_a_clipped_cotangent(options: Any, want: Any) -> None:
    graph = sg.trace(lambda x: np.sum(snp.clip_gradient(x, **options) ** 2), x=X).gradient("x")
    for run in (graph.evaluate, *[graph.simplify().lower(name) for name in BACKENDS]):
        value, grad = run(x=X)
        np.testing.assert_allclose(value, 25.0)
        np.testing.assert_allclose(grad, want)


def test_each_stacked_cotangent_is_clipped_by_itself() -> None:
    graph = sg.trace(lambda x: snp.clip_gradient(x, norm=1.0) * np.array([3.0, 0.5]), x=X)
    found = graph.jacobian("x", value=False).evaluate(x=X)
    # Column by column, forward mode would find the identity: the rows are clipped.
    np.testing.assert_allclose(np.asarray(found).reshape(2, 2), [[1.0, 0.0], [0.0, 0.5]])


def test_what_is_refused() -> None:
    x = sg.input("x", (2,))
    with pytest.raises(sg.InputError, match="clips nothing"):
        snp.clip_gradient(x)
    for call in (
        lambda: snp.clip_gradient(x, norm=0.0),
        lambda: sg.clip_by_norm(X, -1.0),
        lambda: sg.clip_by_global_norm(X, 0),
    ):
        with pytest.raises(sg.InputError, match="positive"):
            call()
