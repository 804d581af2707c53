"""Solutions of equations, differentiated by the implicit function theorem."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from installed import BACKENDS

import symgraph as sg
import symgraph.numpy as snp
from symgraph.testing import check_gradient, check_stacked

RNG = np.random.default_rng(5)
W = RNG.normal(size=(3, 3)) * 0.4
B = RNG.normal(size=3)


def equilibrium(w: Any, b: Any, **options: Any) -> Any:
    return sg.fixed_point(lambda x: np.tanh(w @ x + b) / 2, snp.zeros(3), **options)


def crossing(w: Any, b: Any, **options: Any) -> Any:
    return sg.root(lambda x: (w + 3 * np.eye(3)) @ x + x**3 - b, snp.zeros(3), **options)


@pytest.mark.parametrize("f", [equilibrium, crossing])
def test_gradients_of_orders_one_and_two(f: Any) -> None:
    check_gradient(f, W, B, tolerance=1e-6)
    check_gradient(lambda w, b: sg.grad(np.sum(f(w, b) ** 2), b), W, B, tolerance=1e-5)
    check_stacked(lambda w, b: f(w, b, tolerance=1e-15), W, B)


def test_against_the_iteration_written_out() -> None:
    def unrolled(w: Any, b: Any) -> Any:
        return sg.fori_loop(80, lambda i, x: np.tanh(w @ x + b) / 2, snp.zeros(3))

    found = []
    for f in (equilibrium, unrolled):
        graph = sg.trace(lambda w, b, f=f: np.sum(f(w, b) ** 3), w=W, b=B)
        value, grads = graph.gradient("w", "b").simplify().evaluate(w=W, b=B)
        found.append([value, *grads])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8)


@pytest.mark.parametrize("f", [equilibrium, crossing])
@pytest.mark.parametrize("backend", BACKENDS)
def test_lowered(f: Any, backend: str) -> None:
    graph = sg.trace(lambda w, b: np.sum(f(w, b) ** 2), w=W, b=B).gradient("w", "b").simplify()
    got, want = graph.lower(backend)(w=W, b=B), graph.evaluate(w=W, b=B)
    for one, other in zip([got[0], *got[1]], [want[0], *want[1]], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_the_iterations_are_not_kept() -> None:
    """The gradient's memory does not depend on how many steps are allowed."""
    peaks = {
        steps: sg.trace(lambda w, b, n=steps: np.sum(equilibrium(w, b, max_steps=n)), w=W, b=B)
        .gradient("w")
        .memory()
        .peak_bytes
        for steps in (10, 1000)
    }
    assert peaks[10] == peaks[1000]


def test_containers_and_arguments() -> None:
    def f(a: Any, b: Any) -> Any:
        x, y = sg.root(
            lambda z, a: (z[0] ** 2 - a, np.sum(z[1]) * np.ones(2) + z[1] - b * z[0]),
            (1.0, snp.zeros(2)),
            a,
        )
        return x * y

    check_gradient(f, np.array(4.0), np.array([0.3, 0.7]), tolerance=1e-6)


def test_the_start_has_no_part_in_the_solution() -> None:
    start = sg.input("start")
    x = sg.fixed_point(lambda x: np.cos(x), start)
    graph = sg.graph(x)
    assert graph.connection("start").kind == "zero"
    np.testing.assert_allclose(graph.gradient("start").evaluate(start=0.5), [0.7390851332, 0.0])


def test_forward_mode() -> None:
    graph = sg.trace(lambda a: sg.root(lambda x: x**3 - a, 2.0), a=())
    found = np.ravel(graph.jvp({"a": np.array(1.0)}).evaluate(a=8.0))[-1]
    np.testing.assert_allclose(found, 1 / 12, rtol=1e-12)


def test_what_does_not_arrive_raises() -> None:
    def f(a: Any) -> Any:
        return sg.fixed_point(lambda x: a * x + 1, 0.0, max_steps=50)

    graph = sg.trace(f, a=())
    np.testing.assert_allclose(graph.evaluate(a=0.5), 2.0)
    for run in (graph.evaluate, graph.lower(), graph.simplify().lower()):
        with pytest.raises(sg.ConvergenceError, match="not converged after 50 steps"):
            run(a=2.0)
    if "jax" in BACKENDS:
        assert np.isnan(graph.lower("jax")(a=2.0))
        assert np.isfinite(graph.lower("jax")(a=0.5))
    with pytest.raises(sg.ConvergenceError):
        sg.trace(lambda a: sg.root(lambda x: x**2 + a, 0.6), a=()).evaluate(a=1.0)


X = sg.input("x", (3,))
REFUSED = {
    "shape": (lambda: sg.fixed_point(lambda x: x[:2], X), sg.ShapeError, r"float64\[2\] for x"),
    "dtype": (
        lambda: sg.fixed_point(lambda x: {"a": x["a"].astype("float32")}, {"a": X}),
        sg.DTypeError,
        r"x\['a'\]",
    ),
    "structure": (lambda: sg.root(lambda x: (x, x), X), sg.TraceError, "gives"),
    "integers": (lambda: sg.root(lambda x: x, 1), sg.DTypeError, "floating"),
    "nothing": (lambda: sg.root(lambda x: x, ()), sg.TraceError, "nothing to solve for"),
    "no steps": (lambda: sg.root(lambda x: x, X, max_steps=0), sg.InputError, "max_steps"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=text) as caught:
        call()
    assert "test_fixed_point.py" in str(caught.value)
