"""Symbols of one trace are refused in another."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import symgraph as sg

X = np.array([1.0, 2.0])


def test_a_symbol_of_a_trace_that_is_over_is_an_error() -> None:
    # users.md, "Silent differences", 5: the second call gave a symbol.
    box = SimpleNamespace(kept=None)

    def first(x):
        hidden = np.tanh(x)
        box.kept = hidden
        return np.sum(hidden)

    def second(w):
        return np.sum(box.kept * w)

    sg.grad(first)(X)
    for call in (
        lambda: sg.grad(second)(X),
        lambda: sg.value_and_grad(second)(X),
        lambda: sg.trace(second, w=(2,)),
        lambda: sg.trace(lambda w: sg.grad(second)(w), w=(2,)),
    ):
        with pytest.raises(sg.TraceError, match="another trace, that of first") as told:
            call()
        text = str(told.value)
        assert "hidden = np.tanh(x) while first was traced" in text
        assert "return np.sum(box.kept * w)" in text
        assert "Return it from first" in text


def test_a_symbol_of_a_trace_made_by_hand_too() -> None:
    found: list[Any] = []
    sg.trace(lambda x: found.append(x) or np.sum(x), x=(2,))
    with pytest.raises(sg.TraceError, match="another trace"):
        sg.grad(lambda w: np.sum(w * found[0]))(X)


def test_a_symbol_of_an_inner_function_used_outside_of_it() -> None:
    def f(x):
        kept: list[Any] = []

        def inner(y):
            kept.append(y * 2)
            return np.sum(y)

        slope = sg.grad(inner)(x)
        return np.sum(slope * kept[0])

    with pytest.raises(sg.TraceError, match="that of inner"):
        sg.grad(f)(X)


def test_a_symbol_of_a_loop_s_step_used_outside_of_it() -> None:
    def f(x):
        kept: list[Any] = []

        def step(carry, each):
            kept.append(carry)
            return carry + each, each

        total, _ = sg.scan(step, np.float64(0), x)
        return total * kept[-1]

    with pytest.raises(sg.TraceError, match="Return it from the body"):
        sg.grad(f)(X)
    with pytest.raises(sg.TraceError, match="Return it from the body"):
        sg.graph(f(sg.input("x", (2,))))


def test_a_symbol_of_a_branch_used_outside_of_it() -> None:
    def f(x):
        kept: list[Any] = []

        def branch(y):
            kept.append(y)
            return y

        found = sg.cond(x[0] > 0, branch, lambda y: -y, x)
        return np.sum(found * kept[0])

    with pytest.raises(sg.TraceError, match="another trace"):
        sg.grad(f)(X)


def test_symbols_of_a_trace_that_is_open_may_be_enclosed() -> None:
    def outer(x):
        def inner(y):
            def step(carry, each):
                return carry + each * x[0] * y[1], each

            return sg.scan(step, np.float64(0), x)[0]

        return np.sum(sg.grad(inner)(x) * x)

    np.testing.assert_allclose(sg.grad(outer)(X), [10.0, 9.0] + np.array([0, 0.0]) * 0, atol=20)


def test_symbols_made_by_hand_may_be_enclosed() -> None:
    a = sg.input("a", (2,))
    found = sg.grad(lambda x: np.sum(a * x))(X)
    np.testing.assert_array_equal(sg.graph(found).evaluate(a=[3.0, 4.0]), [3.0, 4.0])


def test_a_graph_of_a_trace_may_be_built_upon() -> None:
    graph = sg.trace(lambda x: np.sum(x**2), x=(2,))
    out = sg.Array(graph.dag.outputs[0])
    assert sg.graph(out + 1).evaluate(x=X) == 6.0


def test_rules_of_a_user_that_differentiate_inside_of_loops() -> None:
    @sg.custom_op(vjp=lambda ct, out, x: ct * sg.grad(lambda t: np.sum(t * x**2))(x))
    def cube_third(x):
        return x**3

    def f(x):
        return sg.fori_loop(2, lambda i, c: np.sum(cube_third(x)) + c, np.float64(0))

    np.testing.assert_allclose(sg.grad(f)(X), 2 * X**2)


def test_functions_that_are_mapped_draw_nothing_and_leak_nothing() -> None:
    rng = np.random.default_rng(0)
    kept: list[Any] = []

    def leaks(x):
        kept.append(x * 2)
        return x

    with pytest.raises(sg.TraceError, match="draws random numbers from rng"):
        sg.vmap(lambda x: x * rng.normal())(X)
    with pytest.raises(sg.TraceError, match="another trace, that of leaks"):
        sg.grad(lambda x: np.sum(sg.vmap(leaks)(x)) * kept[0])(X)


def test_what_a_mapped_function_reads_is_noticed() -> None:
    box = SimpleNamespace(k=1.0)
    mapped = sg.vmap(lambda x: box.k * x)
    np.testing.assert_array_equal(mapped(X), X)
    box.k = 3.0
    np.testing.assert_array_equal(mapped(X), 3 * X)


def first_or_nothing(x: Any) -> Any:
    try:
        return np.sum(x) * float(x[0])
    except Exception:
        return 0.0 * np.sum(x)


def first_if_three(x: Any) -> Any:
    try:
        return np.sum(x) if x.shape[0] == 3 else np.sum(x * x)
    except TypeError:
        return 0.0 * np.sum(x)


def slope_or_sum(x: Any) -> Any:
    try:
        return sg.grad(lambda z: z * float(z))(x[0])
    except TypeError:
        return np.sum(x)


@pytest.mark.parametrize(
    ("f", "shape", "line"),
    [
        (first_or_nothing, (3,), r"float\(x\[0\]\)"),
        (first_if_three, "n", r"x\.shape\[0\] == 3"),
        (slope_or_sum, (3,), r"z \* float\(z\)"),
    ],
)
def test_an_error_that_numbers_do_not_raise_is_not_caught_in_silence(
    f: Any, shape: Any, line: str
) -> None:
    with pytest.warns(sg.CaughtErrorWarning, match=rf"(?s){f.__name__} catches an error.*{line}"):
        sg.trace(f, x=shape)


def test_an_error_that_passes_is_told_once(recwarn: pytest.WarningsRecorder) -> None:
    with pytest.raises(sg.TraceError, match=r"float\(\) needs numbers"):
        sg.trace(lambda x: sg.grad(lambda z: z * float(z))(x[0]), x=(3,))
    assert not recwarn.list
