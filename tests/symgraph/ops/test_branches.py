"""Choices and loops that numbers decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from installed import BACKENDS

import symgraph as sg
import symgraph.numpy as snp
from symgraph.testing import check_grads, check_stacked


def evaluated(output: Any, **inputs: Any) -> Any:
    return sg.graph(output).evaluate(**inputs)


# -- cond ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("backend", BACKENDS)
def test_only_the_branch_that_is_taken_is_run(backend: str) -> None:
    def f(x: Any) -> Any:
        return sg.cond(x > 0, lambda: np.log(x), lambda: x * 0.0)

    lowered = sg.trace(f, x=()).gradient("x").simplify().lower(backend)
    assert [float(each) for each in lowered(x=-2.0)] == [0.0, 0.0]
    np.testing.assert_allclose(lowered(x=2.0), [np.log(2), 0.5], rtol=1e-15)


def test_a_branch_not_taken_is_not_called() -> None:
    calls: list[str] = []

    def noting(name: str) -> Any:
        def kernel(x: Any) -> Any:
            calls.append(name)
            return x * 1.0

        return sg.custom_op(kernel, name=f"noting_{name}", infer=lambda x: x, vjp=lambda ct, *_: ct)

    one, other = noting("one"), noting("other")
    x = sg.input("x", (2,))
    graph = sg.graph(sg.cond(np.sum(x) > 0, one, other, x))
    for run in (graph.evaluate, graph.lower()):
        calls.clear()
        run(x=np.ones(2))
        run(x=-np.ones(2))
        assert calls == ["one", "other"]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_cond_is_differentiated_to_any_order(sign: float) -> None:
    def f(p: Any, x: Any, w: Any) -> Any:
        shared = np.exp(w)  # Computed outside; both branches close over it.

        def true(x: Any) -> Any:
            return {"a": np.sin(x) * shared, "b": x * w}

        def false(x: Any) -> Any:
            return {"b": np.cosh(x) / shared, "a": w + x}

        found = sg.cond(p > 0, true, false, x)
        return found["a"] * found["b"]

    at = np.array(sign), np.array([0.3, -0.4]), np.array([0.5, 0.2])
    check_grads(f, *at, order=3)
    check_stacked(f, *at)


def test_jvp_through_a_choice() -> None:
    graph = sg.trace(lambda x: sg.cond(x > 0, lambda: x * x, lambda: -x), x=())
    for x, want in ((3.0, 6.0), (-3.0, -1.0)):
        assert float(np.ravel(graph.jvp({"x": np.array(1.0)}).evaluate(x=x))[-1]) == want


X = sg.input("x", (3,))
REFUSED = {
    "an array decides": (lambda: sg.cond(X > 0, lambda: X, lambda: X), sg.ShapeError, "np.where"),
    "shapes differ": (
        lambda: sg.cond(X[0] > 0, lambda: X, lambda: X[:2]),
        sg.ShapeError,
        r"result as float64\[3\] and float64\[2\]",
    ),
    "dtypes differ": (
        lambda: sg.cond(X[0] > 0, lambda: (X,), lambda: (X.astype("float32"),)),
        sg.DTypeError,
        r"result\[0\] as float64\[3\] and float32\[3\]",
    ),
    "structures differ": (
        lambda: sg.cond(X[0] > 0, lambda: (X, X), lambda: X),
        sg.TraceError,
        "different structures",
    ),
    "no truth value": (
        lambda: sg.while_loop(lambda c: c > 0, lambda c: c - 1, X),
        sg.ShapeError,
        "np.all or np.any",
    ),
    "another carry": (
        lambda: sg.while_loop(lambda c: c[0] > 0, lambda c: (c[0], c[0] * X), (X[0], X[1])),
        sg.ShapeError,
        r"carry\[1\] enters a step as float64\[\]",
    ),
    "another structure": (
        lambda: sg.while_loop(lambda c: c > 0, lambda c: (c, c), X[0]),
        sg.TraceError,
        "changes its structure",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_told_with_the_line(name: str) -> None:
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=text) as caught:
        call()
    assert "test_branches.py" in str(caught.value)


# -- while -----------------------------------------------------------------------------------------
def root_by_newton(a: Any, **options: Any) -> Any:
    def close(carry: Any) -> Any:
        return np.abs(carry["x"] ** 2 - a) > 1e-12

    def step(carry: Any) -> Any:
        return {"x": (carry["x"] + a / carry["x"]) / 2, "steps": carry["steps"] + 1}

    return sg.while_loop(close, step, {"x": a, "steps": 0}, **options)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_while_loop_runs_as_long_as_it_must(backend: str) -> None:
    lowered = sg.trace(root_by_newton, a=()).lower(backend)
    for a, steps in ((1.0, 0), (2.0, 5), (1e6, 14)):
        found = lowered(a=a)
        np.testing.assert_allclose(found["x"], np.sqrt(a), rtol=1e-12)
        assert abs(int(found["steps"]) - steps) <= 1


def test_a_number_takes_the_dtype_of_the_step() -> None:
    x = sg.input("x", (3,))
    total = sg.while_loop(lambda c: c < 9, lambda c: c + np.sum(x) + 1, 0)
    assert total.dtype == np.float64
    np.testing.assert_array_equal(evaluated(total, x=[1.0, 2.0, 0.5]), 9.0)
    assert sg.while_loop(lambda c: c < 9, lambda c: c + 1, 0).dtype == np.int64


def test_source_of_a_while_loop() -> None:
    source = sg.trace(root_by_newton, a=()).lower().source
    assert "    while f0(v0, v1, v2)[0]:" in source or "    while f0(v0, v1)[0]:" in source
    assert source.count("np.divide(") == 1  # a / x, which may be arrays
    assert source.count(" / 2.0") == 1  # and the half of NumPy's numbers.


def test_forward_mode_through_a_while_loop() -> None:
    graph = sg.trace(lambda a: root_by_newton(a)["x"], a=())
    pushed = graph.jvp({"a": np.array(1.0)}).simplify()
    for backend in BACKENDS:
        found = np.ravel(pushed.lower(backend)(a=2.0))[-1]
        np.testing.assert_allclose(found, 0.5 / np.sqrt(2), rtol=1e-12)


def test_forward_mode_moves_what_is_closed_over() -> None:
    def f(x: Any, w: Any) -> Any:
        grown = np.exp(w)
        return np.sum(sg.while_loop(lambda c: np.sum(c) < 50, lambda c: c * grown + x, x))

    x, w = np.array([0.4, 0.7]), np.array(0.3)
    graph = sg.trace(f, x=x, w=w)
    moved = {"x": np.array([1.0, -0.5]), "w": np.array(0.7)}
    got = np.ravel(graph.jvp(moved).evaluate(x=x, w=w))[-1]
    h = 1e-6
    near = [graph.evaluate(x=x + s * h * moved["x"], w=w + s * h * moved["w"]) for s in (1, -1)]
    np.testing.assert_allclose(got, (near[0] - near[1]) / (2 * h), rtol=1e-7)


def test_reverse_mode_needs_a_bound() -> None:
    graph = sg.trace(lambda a: root_by_newton(a)["x"], a=())
    with pytest.raises(sg.NotDifferentiable, match=r"max_steps.*sg.fixed_point") as caught:
        graph.gradient("a")
    assert "test_branches.py" in str(caught.value)
    bounded = sg.trace(lambda a: root_by_newton(a, max_steps=30)["x"], a=()).gradient("a")
    for run in (bounded.evaluate, *[bounded.simplify().lower(name) for name in BACKENDS]):
        np.testing.assert_allclose(run(a=2.0), [np.sqrt(2), 0.5 / np.sqrt(2)], rtol=1e-12)


def test_a_bound_of_no_steps_is_the_start() -> None:
    x = sg.input("x", (2,))
    found = sg.while_loop(lambda c: np.sum(c) < 9, lambda c: c + 1, x, max_steps=0)
    np.testing.assert_array_equal(evaluated(found, x=[1.0, 2.0]), [1.0, 2.0])
    with pytest.raises(sg.InputError, match="max_steps"):
        sg.while_loop(lambda c: np.sum(c) < 9, lambda c: c + 1, x, max_steps=-1)


def test_a_choice_in_a_loop_in_a_choice() -> None:
    def f(x: Any, w: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            return sg.cond(c > 0, lambda: c * w - x * x, lambda: c + np.sin(x * w)), c

        def looped() -> Any:
            return snp.sum(sg.scan(step, w, x)[1])

        return sg.cond(w > 0, looped, lambda: np.sum(x))

    check_grads(f, np.array([0.9, 0.8, 0.3]), np.array(0.7))
