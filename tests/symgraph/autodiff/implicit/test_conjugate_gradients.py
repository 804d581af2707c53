"""Linear equations solved by products alone, and their derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from installed import BACKENDS

import symgraph as sg
from symgraph.ir.walks import reachable
from symgraph.testing import check_gradient, check_stacked

RNG = np.random.default_rng(11)
M = RNG.normal(size=(5, 5))
A = M @ M.T + 5 * np.eye(5)
B = RNG.normal(size=5)


def solved(a: Any, b: Any) -> Any:
    return sg.cg(lambda x: (a + a.T) @ x / 2, b)


def f(x: Any) -> Any:
    return np.sum(np.exp(x) + (x - 1) ** 4) + np.sum(x) ** 2


def newton(x: Any) -> Any:
    return sg.cg(lambda v: sg.hvp(f)(x, v=v), -sg.grad(f)(x))


def test_values_and_gradients_of_orders_one_and_two() -> None:
    graph = sg.trace(solved, a=A, b=B)
    np.testing.assert_allclose(graph.evaluate(a=A, b=B), np.linalg.solve(A, B), rtol=1e-10)
    check_gradient(solved, A, B, tolerance=1e-6)
    check_gradient(lambda a, b: sg.grad(np.sum(solved(a, b) ** 2), a), A, B, tolerance=1e-5)
    check_stacked(lambda a, b: sg.cg(a, b, tolerance=1e-15), A, B)


def test_the_gradient_is_that_of_solve() -> None:
    one = sg.trace(lambda a, b: np.sum(sg.cg(a, b) ** 3), a=A, b=B).gradient("a", "b")
    other = sg.trace(lambda a, b: np.sum(np.linalg.solve(a, b) ** 3), a=A, b=B).gradient("a", "b")
    found, want = one.simplify().evaluate(a=A, b=B), other.evaluate(a=A, b=B)
    for each, expected in zip(found[1], want[1], strict=True):
        np.testing.assert_allclose(each, expected, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
def test_newton_steps_in_a_loop_without_a_hessian(backend: str) -> None:
    """M15: a Krylov method on Hessian-vector products, within the graph."""
    graph = sg.trace(lambda x: sg.fori_loop(12, lambda _, x: x + newton(x), x), x=(4,))
    found = graph.lower(backend)(x=np.linspace(0.0, 2.0, 4))
    slope = sg.grad(f)(found)
    np.testing.assert_allclose(slope, np.zeros(4), atol=1e-10)


def test_no_matrix_is_made() -> None:
    x = sg.input("x", (50,))
    loss = np.sum(newton(x) ** 2)
    largest = max(aval.size for node in reachable([sg.grad(loss, x).node]) for aval in node.results)
    assert largest == 50


def test_containers_a_start_and_dtypes() -> None:
    @dataclass
    class Pair:
        a: Any
        b: Any

    def operator(x: Pair) -> Pair:
        return Pair(
            2 * x.a + np.sum(x.b).astype("float64") / 8,
            3 * x.b + (np.sum(x.a) / 8).astype("float32"),
        )

    def g(a: Any, b: Any, start: Any) -> Any:
        found = sg.cg(operator, Pair(a, b), Pair(start, 0.0))
        back = operator(found)
        return found.a, found.b, back.a - a, back.b - b

    graph = sg.trace(g, a=(2,), b=sg.spec((3,), "float32"), start=(2,))
    given = {"a": np.array([1.0, 2.0]), "b": np.ones(3, "float32"), "start": np.array([7.0, 7.0])}
    one, other, *rest = graph.evaluate(given)
    assert (one.dtype, other.dtype) == (np.dtype("float64"), np.dtype("float32"))
    for each in rest:
        np.testing.assert_allclose(each, np.zeros(each.shape), atol=2e-5)


@pytest.mark.parametrize("scale", [1e-200, 1e200, 0.0])
def test_sizes_whose_squares_are_lost(scale: float) -> None:
    found = sg.trace(lambda b: sg.cg(A, b), b=B).evaluate(b=B * scale)
    np.testing.assert_allclose(found, np.linalg.solve(A, B) * scale, rtol=1e-9)


def test_lanes_and_columns_and_names() -> None:
    columns = sg.trace(lambda b: sg.cg(A, b), b=(5, "m")).evaluate(b=np.ones((5, 3)))
    np.testing.assert_allclose(A @ columns, np.ones((5, 3)), rtol=1e-9)
    graph = sg.trace(lambda d, b: sg.cg(lambda x: d * x, b), d="n", b="n")
    d, b = np.array([1.0, 2.0, 4.0]), np.ones(3)
    np.testing.assert_allclose(
        graph.jacobian("b", value=False).evaluate(d=d, b=b), np.diag(1 / d), rtol=1e-9
    )
    assert graph.jacobian("b", value=False, diagonal=True).evaluate(d=d, b=b).shape == (3,)
    assert sg.trace(lambda b: sg.cg(lambda x: 2 * x, b), b=(0,)).evaluate(b=np.ones(0)).shape == (
        0,
    )


NO_SOLUTION: dict[str, Any] = {
    "negative": -A,
    "affine": lambda x: A @ x + 1,
    "not linear": lambda x: x**3,
    "singular": lambda x: x * np.array([1.0, 1, 1, 1, 0]),
}


@pytest.mark.parametrize("name", NO_SOLUTION)
def test_no_wrong_number_without_a_positive_definite_operator(name: str) -> None:
    graph = sg.trace(lambda b: sg.cg(NO_SOLUTION[name], b), b=B)
    with pytest.raises(sg.ConvergenceError, match="symmetric and positive definite"):
        graph.evaluate(b=B)
    if "jax" in BACKENDS:
        assert np.all(np.isnan(graph.lower("jax")(b=B)))


X = sg.input("x", (5,))
REFUSED: dict[str, Any] = {
    "shape": (lambda: sg.cg(A[:2], X), sg.ShapeError, "Give b the shape"),
    "vector": (lambda: sg.cg(B, X), sg.ShapeError, "two dimensions"),
    "structure": (lambda: sg.cg(lambda x: (x, x), X), sg.TraceError, "containers of b"),
    "start": (lambda: sg.cg(A, X, {"x": X}), sg.InputError, "containers of b"),
    "integers": (lambda: sg.cg(lambda x: x, np.arange(3)), sg.DTypeError, "floating"),
    "no steps": (lambda: sg.cg(A, X, max_steps=0), sg.InputError, "max_steps"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=text) as caught:
        call()
    assert "test_conjugate_gradients.py" in str(caught.value)
