"""Mission rows about structure, sharing, loops and custom derivatives, each by its number."""

from __future__ import annotations

from typing import Any

import autograd
import autograd.numpy as anp
import networkx as nx
import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.testing import check_gradient, check_grads

RNG = np.random.default_rng(11)


def assert_same(got: Any, want: Any, rtol: float = 1e-10) -> None:
    for one, other in zip(got, want, strict=True):
        scale = float(np.max(np.abs(other), initial=1e-300))
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * scale)


# -- structure -------------------------------------------------------------------------------------
def test_m04_several_results_are_one_computation() -> None:
    """M04: a loop, a factorization and a split are one node each, and gradients meet in it."""
    x = RNG.normal(size=(4, 3))

    def f(x: Any) -> Any:
        last, sums = sg.scan(lambda c, row: (c + row, np.tanh(c)), snp.zeros(3), x)
        q, r = np.linalg.qr(x)
        sign, logdet = np.linalg.slogdet(x[:3] + 3 * np.eye(3))
        top, bottom = np.split(x, 2)
        return (
            np.sum(last) * np.sum(sums**2)
            + np.sum(q[0] * r[0])
            + sign * logdet
            + np.sum(top * bottom)
        )

    graph = sg.trace(f, x=x)
    for name in ("scan", "qr", "slogdet"):
        assert sum(node.op.name == name for node in graph.nodes) == 1
    check_grads(f, x, order=2, analytic=False, tolerance=1e-5)


def test_m05_merge_and_branch_in_any_dag() -> None:
    """M05: a copied value and a concatenated one are edges of the graph."""

    def f(x: Any, y: Any) -> Any:
        merged = np.concatenate([np.sin(x), y, x * 2])  # x goes two ways, three ways meet.
        left, right = merged[:4], merged[2:]
        return np.sum(left * right) + np.sum(merged**2)

    x, y = RNG.normal(size=2), RNG.normal(size=2)
    graph = sg.trace(f, x=x, y=y)
    branch, merge = graph.inputs["x"].node, graph.outputs["out"].node
    assert graph.nx.out_degree(branch) == 2
    assert len(list(nx.all_simple_paths(graph.nx, branch, merge))) > 3
    check_grads(f, x, y, order=2)


def test_m06_a_shared_parameter_sums_over_its_uses() -> None:
    """M06: the gradient of a tied weight is the sum of those of its copies, in a loop as well."""
    w, x = RNG.normal(size=(3, 3)) * 0.5, RNG.normal(size=(5, 3))

    def tied(w: Any, x: Any) -> Any:
        return np.sum(sg.scan(lambda h, x: (np.tanh(h @ w + x), None), snp.zeros(3), x)[0])

    def untied(ws: Any, x: Any) -> Any:
        def step(h: Any, pair: Any) -> Any:
            w, x = pair
            return np.tanh(h @ w + x), None

        return np.sum(sg.scan(step, snp.zeros(3), (ws, x))[0])

    one = sg.trace(tied, w=w, x=x).gradient("w", value=False).evaluate(w=w, x=x)
    ws = np.stack([w] * 5)
    many = sg.trace(untied, ws=ws, x=x).gradient("ws", value=False).evaluate(ws=ws, x=x)
    assert_same([one], [many.sum(0)])
    square = sg.trace(lambda x: x * x, x=()).gradient("x", value=False)
    assert square.evaluate(x=3.0) == 6.0


def test_m10_both_programs_of_figure_6_9() -> None:
    """M10: z = f(f(f(w))) stores f(w), or computes it again, on request."""

    def z(w: Any) -> Any:
        x = np.tanh(w)
        y = np.tanh(x)
        return np.sum(np.tanh(y))

    w = RNG.normal(size=1000)
    storing = sg.trace(z, w=w).gradient("w")
    first = next(node for node in storing.nodes if node.op.name == "tanh")
    again = storing.checkpoint(recompute=[first])
    count = [sum(node.op.name == "tanh" for node in each.nodes) for each in (storing, again)]
    assert count[1] == count[0] + 1
    assert first.copy == 0
    assert_same(again.lower()(w=w), storing.lower()(w=w), rtol=1e-15)


# -- zero, disconnected, undefined -----------------------------------------------------------------
@sg.custom_op
def looked_up(x: Any) -> Any:
    """A table that nobody has differentiated."""
    return np.round(x * 8) / 8


def test_m16_three_answers_with_their_paths() -> None:
    """M16: undefined, disconnected or zero, through loops too, and where the path leads."""

    def f(a: Any, b: Any, c: Any, d: Any) -> Any:
        def step(carry: Any, x: Any) -> Any:
            return carry * x + np.floor(b) + looked_up(c), carry

        last, past = sg.scan(step, a, snp.ones(3))
        return last + np.sum(past) + 0 * np.sum(snp.zeros(2))

    with pytest.warns(sg.UnusedInputWarning, match="'d' is not used"):
        graph = sg.trace(f, a=(), b=(), c=(), d=())
    kinds = {name: graph.connection(name).kind for name in "abcd"}
    assert kinds == {"a": "connected", "b": "zero", "c": "undefined", "d": "disconnected"}
    assert "floor" in str(graph.connection("b"))
    assert [node.op.name for node in graph.connection("c").path][:2] == ["input", "looked_up"]
    at = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    assert graph.gradient("b", "d", value=False).evaluate(**at) == (0.0, 0.0)
    for name, text in (("b", "zero"), ("d", "disconnected")):
        with pytest.raises(sg.NotDifferentiable, match=text):
            graph.gradient(name, disconnected="raise")
    with pytest.raises(sg.NotDifferentiable, match="looked_up") as caught:
        graph.gradient("c")
    assert "path c -> looked_up" in str(caught.value)


# -- custom derivatives ----------------------------------------------------------------------------
@sg.custom_vjp
def log_sum_exp(z: Any) -> Any:
    """Shifted, so that nothing overflows."""
    top = snp.stop_gradient(np.max(z))
    return top + np.log(np.sum(np.exp(z - top)))


@log_sum_exp.backward
def _(ct: Any, out: Any, z: Any) -> Any:
    return ct * np.exp(z - out)


def test_m17_custom_operations_with_custom_derivatives() -> None:
    """M17: a kernel and a rule in a few lines, per operation and for a subgraph; checked."""

    @sg.custom_op(vjp=lambda ct, out, x: ct * np.where(x > 0, 1.0, np.exp(np.minimum(x, 0))))
    def bent(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))

    x = np.array([-1.2, 0.7, 2.0])
    check_gradient(bent, x)
    check_gradient(lambda x: np.tanh(bent(x)) * bent(x * x), x)
    check_grads(log_sum_exp, x, order=3)
    # Stabler: one exponential, and finite where the derivative of what is written is not.
    graph = sg.trace(log_sum_exp, z=x).gradient("z").simplify()
    value, grad = graph.lower()(z=np.array([1000.0, 0.0, -1000.0]))
    assert (value, *grad) == (1000.0, 1.0, 0.0, 0.0)
    wrong = sg.custom_vjp(np.sin, lambda ct, out, x: ct * np.sin(x))
    with pytest.raises(AssertionError, match="order 1"):
        check_gradient(wrong, x)


# -- loops -----------------------------------------------------------------------------------------
SIZE = 8


def lstm_step(np: Any, params: Any, state: Any, x: Any) -> Any:
    """One step of Hochreiter and Schmidhuber's cell, in NumPy's names of `np`."""
    h, c = state
    gates = np.dot(x, params["x"]) + np.dot(h, params["h"]) + params["b"]
    i, f, o, g = (gates[k * SIZE : (k + 1) * SIZE] for k in range(4))
    c = 1 / (1 + np.exp(-f)) * c + 1 / (1 + np.exp(-i)) * np.tanh(g)
    h = 1 / (1 + np.exp(-o)) * np.tanh(c)
    return h, c


def lstm_params() -> dict[str, Any]:
    return {
        "x": RNG.normal(size=(3, 4 * SIZE)) * 0.4,
        "h": RNG.normal(size=(SIZE, 4 * SIZE)) * 0.4,
        "b": RNG.normal(size=4 * SIZE) * 0.1,
    }


def test_m18_an_lstm_of_100_steps() -> None:
    """M18: back-propagation through time by a scan, by unrolling, and autograd's, agree."""
    params, xs = lstm_params(), RNG.normal(size=(100, 3))

    def loss(x: Any, h: Any, b: Any, xs: Any, unroll: bool = False) -> Any:
        tied = {"x": x, "h": h, "b": b}

        def step(state: Any, x: Any) -> Any:
            after = lstm_step(np, tied, state, x)
            return after, after[0]

        first = (snp.zeros(SIZE), snp.zeros(SIZE))
        _, hs = sg.scan(step, first, xs, unroll=unroll)
        return np.mean(hs**2)

    names = ("x", "h", "b", "xs")
    given = {**params, "xs": xs}
    graph = sg.trace(loss, **given).gradient(*names).simplify()
    value, grads = graph.lower()(**given)

    def reference(x: Any, h: Any, b: Any, xs: Any) -> Any:
        state, total = (anp.zeros(SIZE), anp.zeros(SIZE)), 0.0
        for each in xs:
            state = lstm_step(anp, {"x": x, "h": h, "b": b}, state, each)
            total = total + anp.sum(state[0] ** 2)
        return total / (100 * SIZE)

    assert_same(grads, autograd.grad(reference, (0, 1, 2, 3))(*given.values()))
    written_out = sg.trace(lambda **at: loss(**at, unroll=True), **given).gradient(*names)
    plain, plain_grads = written_out.evaluate(**given)
    assert_same([value, *grads], [plain, *plain_grads])
    # A hundred steps cost the graph of one; what is kept for the gradient is the carries.
    assert len(graph) < 60 < len(written_out) // 20
    carries = 100 * 2 * SIZE * 8
    results = sum(each.nbytes for each in given.values()) + 8
    assert graph.memory().peak_bytes < results + 5 * carries
    assert "scan" in repr(graph.memory())


def test_m18_a_scan_of_1000_steps() -> None:
    """M18: right to rounding, and no deeper than its graph."""
    w, xs = RNG.normal(size=(4, 4)) * 0.4, RNG.normal(size=(1000, 4)) * 0.3

    def loss(w: Any, xs: Any) -> Any:
        last, ys = sg.scan(lambda h, x: ((n := np.tanh(h @ w + x)), n * h), snp.zeros(4), xs)
        return np.sum(last) + np.sum(ys**2)

    def reference(w: Any, xs: Any) -> Any:
        h, total = anp.zeros(4), 0.0
        for x in xs:
            after = anp.tanh(anp.dot(h, w) + x)
            total, h = total + anp.sum((after * h) ** 2), after
        return total + anp.sum(h)

    graph = sg.trace(loss, w=w, xs=xs).gradient("w", "xs").simplify()
    want = autograd.grad(reference, (0, 1))(w, xs)
    assert_same(graph.lower()(w=w, xs=xs)[1], want)
    assert_same(graph.evaluate(w=w, xs=xs)[1], want)
    assert len(graph) < 60
    assert len(nx.dag_longest_path(graph.nx)) < 25


def test_m18_clipping_tames_an_exploding_gradient() -> None:
    """M18: clipped where it comes out by its norm, or at every step on its way back."""
    w = np.array(3.0)

    def loss(w: Any, clip: bool = False) -> Any:
        def step(h: Any, _: Any) -> Any:
            h = snp.clip_gradient(h, -1.0, 1.0) if clip else h
            return h * w, None

        return sg.scan(step, 1.0, length=40)[0]

    graph = sg.trace(loss, w=w).gradient("w")
    _, huge = graph.evaluate(w=w)
    assert huge > 1e20
    assert sg.clip_by_global_norm([huge], 5.0)[0] == 5.0
    _, grad = sg.trace(lambda w: loss(w, clip=True), w=w).gradient("w").simplify().evaluate(w=w)
    # Each step hands back 1 at most: Σ h_t = Σ 3^t; without clipping it is 40 · 3^39.
    np.testing.assert_allclose(grad, np.sum(3.0 ** np.arange(40)), rtol=1e-12)
    inside = sg.trace(lambda w: sg.clip_by_norm(sg.grad(loss(w), w), 2.0), w=w)
    assert inside.lower()(w=w) == 2.0


def test_m19_an_input_is_optimised_through_a_loop() -> None:
    """M19: gradients with respect to the data; an input that drives a system where it should go."""

    def miss(pushes: Any) -> Any:
        def step(state: Any, push: Any) -> Any:
            place, speed = state
            speed = 0.9 * speed + push
            return (place + speed, speed), None

        (place, speed), _ = sg.scan(step, (0.0, 0.0), pushes)
        return (place - 1.0) ** 2 + speed**2 + 1e-3 * np.sum(pushes**2)

    run = sg.trace(miss, pushes=(10,)).gradient("pushes").simplify().lower()
    pushes = np.zeros(10)
    start = run(pushes=pushes)[0]
    for _ in range(600):
        pushes = pushes - 0.002 * run(pushes=pushes)[1]
    assert run(pushes=pushes)[0] < 0.01 * start
