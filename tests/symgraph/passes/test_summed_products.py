"""Large sums of products over the steps of a loop become one product after it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from installed import ON_THE_CPU

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.interpreter import evaluate
from symgraph.passes.program_graph import program_graph
from symgraph.passes.residuals import with_residuals

RNG = np.random.default_rng(0)


def layer(x: Any, w: Any, u: Any, h: Any, **options: Any) -> Any:
    """A recurrent layer with two tied weights."""
    last, _ = sg.scan(lambda h, x: (np.tanh(x @ w + h @ u), None), h, x, **options)
    return np.sum(last * last)


def given(steps: int = 6, rows: int = 4, size: int = 160) -> dict[str, Any]:
    return {
        "x": RNG.normal(size=(steps, rows, size)),
        "w": 0.05 * RNG.normal(size=(size, size)),
        "u": 0.05 * RNG.normal(size=(size, size)),
        "h": 0.3 * RNG.normal(size=(rows, size)),
    }


def gradient(arrays: dict[str, Any], *names: str, **options: Any) -> sg.Graph:
    shapes = {name: each.shape for name, each in arrays.items()}
    traced = sg.trace(lambda **at: layer(**at, **options), **shapes)
    return traced.gradient(*names).simplify()


def products(dag: sg.Dag) -> list[int]:
    """The products of each loop, and those outside of loops."""
    loops = [node for node in dag.nodes if node.op.name == "scan"]
    inside = [sum(n.op.name == "matmul" for n in loop.params["body"].nodes) for loop in loops]
    return [*inside, sum(node.op.name == "matmul" for node in dag.nodes)]


def flat(found: Any) -> list[Any]:
    return [each for part in found for each in flat(part)] if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("reverse", [False, True])
def test_gradients_of_weights_are_products_of_all_rows(reverse: bool) -> None:
    at = given()
    graph = gradient(at, "w", "u", reverse=reverse)
    run = program_graph(graph.dag)
    assert products(with_residuals(graph.dag)) == [2, 3, 0]
    assert products(run) == [2, 1, 2]
    # Of the carries of the reverse loop the cotangent is left, and what is handed on.
    *_, back = [node for node in run.nodes if node.op.name == "scan"]
    assert back.params["carries"] == 2
    want = graph.evaluate(**at)
    for backend in ON_THE_CPU:
        for one, other in zip(flat(graph.lower(backend)(**at)), flat(want), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_other_backends(backend: str) -> None:
    pytest.importorskip(backend)
    at = given()
    graph = gradient(at, "w", "u", "x")
    for one, other in zip(
        flat(graph.lower(backend)(**at)), flat(graph.evaluate(**at)), strict=True
    ):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    "sizes",
    [
        {"size": 100},  # The sum lies in the cache.
        {"rows": 80},  # The product of a step has rows enough.
    ],
)
def test_other_sums_stay_in_the_loop(sizes: dict[str, int]) -> None:
    graph = gradient(given(**sizes), "w", "u")
    assert products(program_graph(graph.dag)) == products(with_residuals(graph.dag)) == [2, 3, 0]


def test_rows_that_spare_little_are_not_stacked() -> None:
    """60 rows of 160 cotangents a step, against two sums of 160 x 160."""
    graph = gradient(given(rows=60), "w")
    assert products(program_graph(graph.dag)) == products(with_residuals(graph.dag))


def test_a_sum_that_goes_on_from_another_begins_there() -> None:
    """The sum of a loop's products, added to what it began with."""

    def total(x: Any, y: Any, first: Any) -> Any:
        step = lambda c, each: (c + each[0].T @ each[1], None)  # noqa: E731
        return sg.scan(step, first, (x, y))[0]

    at = {
        "x": RNG.normal(size=(5, 4, 160)),
        "y": RNG.normal(size=(5, 4, 160)),
        "first": RNG.normal(size=(160, 160)),
    }
    graph = sg.trace(total, **{name: each.shape for name, each in at.items()})
    assert products(program_graph(graph.dag)) == [1]
    want = at["first"] + np.einsum("tki,tkj->ij", at["x"], at["y"])
    np.testing.assert_allclose(graph.lower()(**at), want, rtol=1e-11, atol=1e-12)


def test_a_sum_that_steps_read_stays() -> None:
    def loss(x: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            return c + x.T @ x, np.sum(c)

        return sg.scan(step, snp.zeros((160, 160)), x)

    graph = sg.trace(loss, x=(5, 4, 160))
    assert products(program_graph(graph.dag)) == [1, 0]


def test_a_number_that_is_none_stays_none() -> None:
    at = given()
    at["x"][2, 1, 3] = np.nan
    at["x"][4, 0, 7] = np.inf
    graph = gradient(at, "w", "u")
    want = evaluate(graph.dag, at)
    for one, other in zip(evaluate(program_graph(graph.dag), at), want, strict=True):
        np.testing.assert_array_equal(np.isnan(one), np.isnan(other))


def test_no_steps_and_named_sizes() -> None:
    shapes = {"x": "t, n, 160", "w": "160, 160", "u": "160, 160", "h": "n, 160"}
    named = sg.trace(layer, **shapes).gradient("w", "u").simplify()
    for steps, rows in ((0, 3), (1, 2), (7, 5)):
        at = given(steps, rows)
        got = flat(named.lower()(**at))
        for one, other in zip(got, flat(named.evaluate(**at)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)


def test_a_plan_stays_as_it_is() -> None:
    """A budget may take the product after the loop: rows may be less than a sum held twice."""
    graph = gradient(given(), "w", "u")
    full = graph.memory().peak_bytes
    plan = graph.checkpoint("100%")
    assert program_graph(plan.dag) is plan.dag
    assert plan.memory().peak_bytes <= full
    few = graph.memory_frontier()[0][0]
    tight = graph.checkpoint(few)
    assert tight.memory().peak_bytes <= few
    at = given()
    want = flat(graph.lower()(**at))
    for one, other in zip(flat(tight.lower()(**at)), want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)
