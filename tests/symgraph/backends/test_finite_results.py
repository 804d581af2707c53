"""The guard over results: the first bad number is found, and nothing else is ever blamed."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.backends.lowered import lower
from symgraph.backends.random_graphs import random_dag
from symgraph.ir.bad_numbers import bad_elements, cause_of
from symgraph.ir.interpreter import evaluate
from symgraph.ir.op import carries_aligned

BACKENDS = [
    "numpy",
    pytest.param(
        "native", marks=pytest.mark.skipif(find_spec("llvmlite") is None, reason="no native")
    ),
    pytest.param("jax", marks=pytest.mark.skipif(find_spec("jax") is None, reason="no jax")),
]


def entropy(x: Any, W: Any) -> Any:
    h = W @ x
    p = np.log(h)
    return np.sum(p * h)


def told(f: Callable[..., Any], *values: Any) -> sg.NonFiniteError:
    with pytest.raises(sg.NonFiniteError) as caught:
        f(*values)
    return caught.value


def line(error: sg.NonFiniteError) -> str:
    return error.lines[0].text


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_operation_the_line_and_the_operands_are_named(backend: str) -> None:
    f = sg.trace(entropy, x="3", W="3, 3").lower(backend, debug="nan")
    error = told(f, np.array([1.0, -2.0, 3.0]), np.eye(3))
    assert isinstance(error, FloatingPointError)
    assert (error.operation, error.index, error.output) == ("log", (1,), "out")
    assert line(error) == "p = np.log(h)"
    text = str(error)
    assert "log gives NaN by itself" in text
    assert "from -2 to 3, -2 at [1]" in text
    assert "h = W @ x" in text
    assert "clip them" in text


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_without_bad_numbers_are_the_same_bits(backend: str) -> None:
    graph = sg.trace(entropy, x="3", W="3, 3").gradient("x", "W").simplify()
    values = np.array([1.0, 2.0, 3.0]), np.eye(3)
    plain = graph.lower(backend)(*values)
    guarded = graph.lower(backend, debug="nan")(*values)
    for before, after in zip(np.atleast_1d(plain[0]), np.atleast_1d(guarded[0]), strict=True):
        assert before == after
    for before, after in zip(plain[1], guarded[1], strict=True):
        assert np.asarray(before).tobytes() == np.asarray(after).tobytes()


def test_a_gradient_node_names_the_forward_line() -> None:
    def model(x: Any) -> Any:
        r = np.sqrt(x)
        return np.sum(r)

    error = told(sg.grad(model, debug="inf"), np.array([1.0, 0.0]))
    assert error.gradient
    assert line(error) == "r = np.sqrt(x)"
    assert "in the gradient of sqrt" in str(error)
    assert "gradient of test_finite_results.py" in str(error)
    assert error.index == (1,)


def test_a_branch_that_is_not_chosen_is_never_blamed() -> None:
    def model(x: Any) -> Any:
        unused = np.sqrt(x)
        a = np.where(x > 0, unused, 0.0)
        b = np.log(a - 1)
        return np.where(np.isfinite(unused), b, 1.0)

    f = sg.trace(model, x="3").lower(debug="nan")
    assert f(np.array([-1.0, 2.0, -3.0])).tolist() == [1.0, np.log(np.sqrt(2.0) - 1), 1.0]
    error = told(f, np.array([-1.0, 0.5, 2.0]))
    assert (error.operation, error.index) == ("log", (1,))


def test_a_bad_number_that_only_shares_an_array_is_not_blamed() -> None:
    def model(x: Any, y: Any) -> Any:
        a = np.log(x)
        b = np.sqrt(y)
        both = np.concatenate([a, b])
        return both[3:] * 2

    f = sg.trace(model, x="3", y="3").lower(debug="nan")
    assert f(-np.ones(3), np.ones(3)).tolist() == [2.0, 2.0, 2.0]
    error = told(f, -np.ones(3), np.array([1.0, 1.0, -4.0]))
    assert (line(error), error.index) == ("b = np.sqrt(y)", (2,))


def test_an_input_that_is_bad_already_is_named() -> None:
    f = sg.trace(entropy, x="3", W="3, 3").lower(debug="nan")
    error = told(f, np.array([1.0, np.nan, 3.0]), np.ones((3, 3)))
    assert error.operation == "input"
    assert error.index == (1,)
    assert "Input 'x' holds NaN" in str(error)
    error = told(sg.trace(np.linalg.inv, a="2, 2").lower(debug="nan"), np.full((2, 2), np.nan))
    assert "Input 'a' holds NaN" in str(error)


def test_a_constant_that_is_bad_is_named() -> None:
    table = np.array([1.0, np.nan])
    f = sg.trace(lambda x: x + table, x="2").lower(debug="nan")
    error = told(f, np.ones(2))
    assert (error.operation, error.index) == ("constant", (1,))


def test_infinities_are_looked_for_when_asked() -> None:
    def model(x: Any) -> Any:
        e = np.exp(x)
        return e[0] - e[1]

    graph = sg.trace(model, x="2")
    big = np.array([1000.0, 1000.0])
    error = told(graph.lower(debug="nan"), big)
    assert error.operation == "subtract"
    assert 'debug="inf"' in str(error)
    error = told(graph.lower(debug="inf"), big)
    assert (error.operation, line(error)) == ("exp", "e = np.exp(x)")
    only_inf = sg.trace(np.exp, x="1")
    assert only_inf.lower(debug="nan")(np.array([1000.0]))[0] == np.inf
    assert told(only_inf.lower(debug="inf"), np.array([1000.0])).operation == "exp"


@pytest.mark.parametrize("derived", [False, True], ids=["value", "gradient"])
def test_the_step_of_a_loop_is_named(derived: bool) -> None:
    def model(x: Any) -> Any:
        def step(h: Any, each: Any) -> Any:
            h = np.log(h + each)
            return h, h

        return np.sum(sg.scan(step, np.ones(()), x)[1][:3])

    graph = sg.trace(model, x="n")
    f = (graph.gradient("x").simplify() if derived else graph).lower(debug="nan")
    f(np.array([3.0, 2.0, 1.0, 1.0, -99.0]))  # The last step is bad, and nothing reads it.
    error = told(f, np.array([3.0, 2.0, -8.0, 1.0, -99.0]))
    assert line(error) == "h = np.log(h + each)"
    assert "in call 2 of the body" in str(error)


def test_scalars_empty_arrays_and_results_that_are_no_floats() -> None:
    f = sg.trace(lambda a, b: a / b, a="", b="").lower(debug="nan")
    assert f(1.0, 2.0) == 0.5
    assert told(f, 0.0, 0.0).operation == "divide"
    assert sg.trace(np.exp, x="n").lower(debug="inf")(np.zeros(0)).shape == (0,)
    assert sg.trace(np.isnan, x="2").lower(debug="nan")(np.array([np.nan, 1])).tolist() == [
        True,
        False,
    ]


def test_a_pickle_keeps_the_guard_and_other_words_are_refused() -> None:
    graph = sg.trace(entropy, x="3", W="3, 3")
    again = pickle.loads(pickle.dumps(graph.lower(debug="nan")))
    assert told(again, -np.ones(3), np.eye(3)).operation == "log"
    with pytest.raises(sg.InputError, match="none of the guards"):
        graph.lower(debug="zero")  # pyright: ignore[reportArgumentType]


@pytest.mark.skipif(find_spec("jax") is None, reason="no jax extra")
def test_a_result_without_numbers_yet_is_refused() -> None:
    import jax

    f = sg.trace(lambda x: np.sin(x), x=sg.spec("3", "float32")).lower("jax", debug="nan")
    with pytest.raises(sg.BackendError, match="has none yet"):
        jax.jit(f)(np.ones(3, "float32"))


def inputs_of(seed: int) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    special = np.array([np.nan, np.inf, 0.0, -1.0, 700.0])
    found: dict[str, Any] = {}
    for name, shape in {"a": (5, 4), "b": (5, 4), "w": (4, 4), "s": (4,), "t": ()}.items():
        values = rng.normal(size=shape)
        odd = rng.random(shape) < (0.03 if seed % 2 else 0.0)
        found[name] = np.where(odd, rng.choice(special, shape), values)
    return found


@pytest.mark.parametrize("kind", ["nan", "inf"])
def test_on_random_graphs_what_is_blamed_is_bad_for_good_operands(kind: Any) -> None:
    blamed: set[str] = set()
    for seed in range(120):
        dag, given = random_dag(seed), inputs_of(seed)
        outputs = evaluate(dag, given)
        bad = any(bad_elements(each, kind).any() for each in outputs)
        cause = cause_of(dag, given, {}, kind)
        assert bad == (cause is not None)
        if cause is None:
            continue
        blamed.add(cause.node.op.name)
        assert bad_elements(cause.value[cause.index], kind)
        if cause.node.op.carries is carries_aligned:
            for value in cause.operands:
                whole = np.broadcast_to(value, np.shape(cause.value))
                assert not bad_elements(whole[cause.index], kind)
    assert {"input", "sqrt", "divide"} <= blamed


def test_on_random_graphs_the_guard_raises_where_a_result_is_bad_and_else_nothing_changes() -> None:
    for seed in range(24):
        dag, given = random_dag(seed), inputs_of(seed)
        plain = lower(dag)(**given)
        guarded = lower(dag, debug="nan")
        if any(np.isnan(each).any() for each in plain):
            told(lambda: guarded(**given))  # noqa: B023  # called at once
        else:
            for before, after in zip(plain, guarded(**given), strict=True):
                assert before.tobytes() == after.tobytes()
