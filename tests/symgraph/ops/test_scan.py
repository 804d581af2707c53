"""Loops as one node: values, derivatives, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from installed import BACKENDS
from recurrentloops import FIRST_STATE as H0
from recurrentloops import SLICES as XS
from recurrentloops import WEIGHTS as W
from recurrentloops import assert_same, gradients, recurrent

import symgraph as sg
import symgraph.numpy as snp
from symgraph.backends.conformance import check_dag
from symgraph.ir.dag import Dag
from symgraph.testing import check_grads, check_stacked

RNG = np.random.default_rng(4)


# -- values ----------------------------------------------------------------------------------------
@dataclass
class State:
    position: Any
    past: dict[str, Any]


def test_carries_and_results_are_containers() -> None:
    def step(state: State, x: Any) -> Any:
        moved = state.position + x["speed"] * x["time"]
        past = {
            "largest": np.maximum(state.past["largest"], moved),
            "steps": state.past["steps"] + 1,
        }
        return State(moved, past), [moved, (x["time"] > 1,)]

    def f(start: Any, speed: Any, time: Any) -> Any:
        first = State(start, {"largest": start, "steps": 0})
        last, (moved, (late,)) = sg.scan(step, first, {"time": time, "speed": speed})
        return last.position, last.past["largest"], last.past["steps"], moved, late

    start, speed, time = np.array([0.0, 1.0]), RNG.normal(size=(4, 2)), np.array([0.5, 2, 1, 3])
    got = sg.trace(f, start=start, speed=speed, time=time).evaluate(
        start=start, speed=speed, time=time
    )
    places = start + np.cumsum(speed * time[:, None], axis=0)
    largest = np.maximum(start, places.max(0))
    for one, other in zip(got, (places[-1], largest, 4, places, time > 1), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [0, 1, 5])
def test_named_lengths_on_every_backend(reverse: bool, length: int) -> None:
    def f(w: Any, xs: Any, h: Any) -> Any:
        return recurrent(w, xs, h, reverse=reverse)

    graph = sg.trace(f, w=W, xs=sg.spec("n, 3"), h=H0).gradient("w", "xs", "h")
    dag = graph.simplify().dag
    flat = Dag(dag.inputs, dag.outputs)
    for backend in BACKENDS[: 1 if length == 1 else 2]:
        check_dag(flat, backend, sizes=(length,))


def test_reverse_leaves_results_where_their_slices_stood() -> None:
    x = sg.input("x", (4,))
    last, sums = sg.scan(lambda c, x: (c + x, c + x), 0.0, x, reverse=True)
    got = sg.graph(last, sums).evaluate(x=[1.0, 2.0, 3.0, 4.0])
    assert_same(list(got), [10.0, [10.0, 9.0, 7.0, 4.0]])


def test_without_slices_and_without_carry() -> None:
    x = sg.input("x", (3,))
    powers = sg.scan(lambda c, _: (c * x, c), snp.ones(3), length=4)[1]
    doubled = sg.scan(lambda _, row: (None, row * 2), None, powers)[1]
    got = sg.graph(doubled).evaluate(x=[1.0, 2.0, 3.0])
    np.testing.assert_array_equal(got, 2 * np.array([1.0, 2.0, 3.0]) ** np.arange(4)[:, None])


def test_a_first_carry_written_as_a_number_takes_the_dtype_of_the_steps() -> None:
    x = sg.input("x", (4,), "float32")
    total, _ = sg.scan(lambda c, x: (c + x, None), 0, x)
    assert total.dtype == np.float32
    assert sg.fori_loop(3, lambda i, c: c * 2 + i, 1).dtype == np.int64
    assert sg.scan(lambda c, _: (c + 1, None), 0, length=3)[0].dtype == np.int64
    assert sg.scan(lambda c, _: (c / 2, None), 1.0, length=3)[0].dtype == np.float64
    assert sg.scan(lambda c, x: (c / x, None), 1, x)[0].dtype == np.float32


def test_equal_loops_are_one_node() -> None:
    w, xs, h = sg.input("w", (3, 3)), sg.input("xs", (6, 3)), sg.input("h", (3,))
    assert recurrent(w, xs, h).node is recurrent(w, xs, h).node
    assert recurrent(w, xs, h).node is not recurrent(w, xs, h, reverse=True).node


# -- derivatives -----------------------------------------------------------------------------------
@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"reverse": True},
        {"truncate": 2},
        {"truncate": 4, "reverse": True},
        {"checkpoint": 2},
        {"checkpoint": 4, "reverse": True, "truncate": 3},
        {"checkpoint": 9},
    ],
    ids=str,
)
def test_gradients_are_those_of_the_loop_written_out(options: Any) -> None:
    arrays = {"w": W, "xs": XS, "h": H0}
    loop = gradients(lambda w, xs, h: recurrent(w, xs, h, **options), **arrays)
    as_it_is = gradients(lambda w, xs, h: recurrent(w, xs, h, **options), simplify=False, **arrays)
    assert_same(loop, as_it_is)
    options = {name: value for name, value in options.items() if name != "checkpoint"}
    plain = gradients(
        lambda w, xs, h: recurrent(w, xs, h, unroll=True, **options), simplify=False, **arrays
    )
    assert_same(loop, plain)


def test_truncation_cuts_between_windows_only() -> None:
    def last(h: Any, truncate: int | None) -> Any:
        return sg.scan(lambda c, _: (c * 2.0, c * 2.0), h, length=5, truncate=truncate)[1]

    h = np.array(1.0)
    sums = {k: gradients(lambda h, k=k: np.sum(last(h, k)), h=h)[1] for k in (1, 2, 3, 5, None)}
    # Only the first window's results, 2 + 4 + ..., depend on the first carry.
    assert sums == {1: 2, 2: 6, 3: 14, 5: 62, None: 62}


def test_higher_orders_and_stacked_cotangents() -> None:
    check_grads(recurrent, W, XS[:3], H0, order=3)
    check_stacked(
        lambda w, xs, h: sg.scan(lambda c, x: (np.tanh(c @ w) * x, c), h, xs)[1], W, XS, H0
    )


def test_forward_mode_agrees_with_reverse() -> None:
    arrays = {"w": W, "xs": XS, "h": H0}
    graph = sg.trace(recurrent, **arrays)
    v = RNG.normal(size=W.shape)
    pushed = graph.jvp({"w": v}).simplify().evaluate(**arrays)
    tangent = pushed[1] if isinstance(pushed, tuple) else pushed
    np.testing.assert_allclose(tangent, np.sum(v * gradients(recurrent, **arrays)[1]), rtol=1e-11)


def test_values_closed_over_have_gradients() -> None:
    def f(x: Any, scale: Any) -> Any:
        grown = np.exp(scale)  # Computed outside, used by each step.
        return sg.fori_loop(4, lambda i, c: np.sin(c * grown * scale), x)

    check_grads(f, np.array([0.3, 0.5]), np.array(0.4), order=3)


def test_integer_carries_pass_no_gradient() -> None:
    def f(x: Any) -> Any:
        (total, _steps), _ = sg.scan(
            lambda c, x: ((c[0] + x * c[1].astype(x.dtype), c[1] + 1), None), (0.0, 0), x
        )
        return total

    assert_same(gradients(f, x=np.ones(4)), [6.0, [0.0, 1.0, 2.0, 3.0]])


def test_a_loop_in_a_loop() -> None:
    def f(a: Any, xs: Any) -> Any:
        def row(total: Any, x: Any) -> Any:
            inner, _ = sg.scan(lambda s, y: (s * a + y * total, None), total, x)
            return inner, inner * a

        return np.sum(sg.scan(row, a, xs)[1])

    check_grads(f, np.array(0.4), RNG.normal(size=(3, 2)), order=2)


def test_lengths_that_are_calculated() -> None:
    def f(x: Any) -> Any:
        n = x.shape[0]
        total = sg.fori_loop(n, lambda i, c: c + x[0] * i.astype(c.dtype), 0.0)
        powers = sg.scan(lambda c, _: (c * x[1], c), 1.0, length=n)[1]
        return total + np.sum(powers) + sg.scan(lambda c, _: (c * x[1], None), 1.0, length=n - 1)[0]

    graph = sg.trace(f, x=sg.spec("n")).gradient("x").simplify()
    for n in (2, 5):
        x = np.linspace(0.5, 1.2, n)
        counted = np.arange(n)
        want = np.zeros(n)
        want[0] = np.sum(counted)
        want[1] = np.sum(counted[1:] * x[1] ** (counted[1:] - 1)) + (n - 1) * x[1] ** (n - 2)
        for run in (graph.evaluate, *[graph.lower(name) for name in BACKENDS]):
            np.testing.assert_allclose(run(x=x)[1], want, rtol=1e-12)


# -- what is refused -------------------------------------------------------------------------------
X = sg.input("x", (4, 3))
REFUSED = {
    "no pair": (lambda: sg.scan(lambda c, x: c + x, snp.zeros(3), X), sg.TraceError, "a pair"),
    "another shape": (
        lambda: sg.scan(lambda c, x: (x[:2], None), snp.zeros(3), X),
        sg.ShapeError,
        r"carry enters a step as float64\[3\] and leaves it as float64\[2\]",
    ),
    "another dtype": (
        lambda: sg.scan(lambda c, x: ({"a": x}, None), {"a": snp.zeros(3, "float32")}, X),
        sg.DTypeError,
        r"carry\['a'\] enters a step as float32\[3\] and leaves it as float64\[3\]",
    ),
    "another structure": (
        lambda: sg.scan(lambda c, x: ((x, x), None), snp.zeros(3), X),
        sg.TraceError,
        "changes its structure",
    ),
    "lengths differ": (
        lambda: sg.scan(lambda c, x: (c, None), 0.0, (X, snp.zeros(5))),
        sg.ShapeError,
        r"xs\[1\] is float64\[5\], but a slice for each of 4 steps",
    ),
    "no length": (lambda: sg.scan(lambda c, x: (c, None), 0.0), sg.TraceError, "Give length="),
    "a computed length": (
        lambda: sg.fori_loop(sg.input("n", (), "int64"), lambda i, c: c, 0.0),
        sg.TraceError,
        "sg.while_loop",
    ),
    "steps counted from a start": (
        lambda: sg.fori_loop(0, 5, lambda i, c: c, 0.0),  # pyright: ignore[reportCallIssue]
        sg.InputError,
        "takes 3 arguments by position, n, body, init; 4 were given",
    ),
    "arguments in another order": (
        lambda: sg.fori_loop(0.0, 5, lambda i, c: c),  # pyright: ignore[reportArgumentType]
        sg.TraceError,
        "body is a function, not 5",
    ),
    "a carry before the step": (
        lambda: sg.scan(0.0, lambda c, x: (c, None), X),  # pyright: ignore[reportArgumentType]
        sg.TraceError,
        "f is a function, not 0.0",
    ),
    "a carry before the condition": (
        lambda: sg.while_loop(0.0, lambda c: c > 1, lambda c: c),  # pyright: ignore[reportArgumentType]
        sg.TraceError,
        "cond is a function, not 0.0",
    ),
    "a step of one argument": (
        lambda: sg.scan(lambda c: (c, None), 0.0, X),
        sg.TraceError,
        "A step is called with 2 arguments: .* takes 1 positional",
    ),
    "no window": (
        lambda: sg.scan(lambda c, x: (c, None), 0.0, X, truncate=0),
        sg.InputError,
        "truncate is 0",
    ),
    "a named loop in stretches": (
        lambda: sg.scan(lambda c, x: (c, None), 0.0, sg.input("x", ("n",)), checkpoint=3),
        sg.TraceError,
        "cannot be cut",
    ),
    "a named loop written out": (
        lambda: sg.scan(lambda c, x: (c, None), 0.0, sg.input("x", ("n",)), unroll=True),
        sg.TraceError,
        "cannot be written out",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_told_with_the_line(name: str) -> None:
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=text) as caught:
        call()
    assert "test_scan.py" in str(caught.value)
