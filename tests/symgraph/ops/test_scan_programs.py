"""Loops in generated programs: their source, what they hold in memory, and how deep they go."""

from __future__ import annotations

import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest
from recurrentloops import FIRST_STATE as H0
from recurrentloops import SLICES as XS
from recurrentloops import WEIGHTS as W
from recurrentloops import assert_same, recurrent

import symgraph as sg
from symgraph.backends.lowered import lower

RNG = np.random.default_rng(4)


def test_graph_and_source_do_not_grow_with_the_length() -> None:
    sizes = []
    for length in (100, 10_000):
        graph = sg.trace(recurrent, w=W, xs=(length, 3), h=H0).gradient("w").simplify()
        sizes.append((len(graph), len(graph.lower().source.splitlines())))
    assert sizes[0] == sizes[1]


def test_source_is_a_loop_around_a_body() -> None:
    source = sg.trace(recurrent, w=W, xs=XS, h=H0).lower().source
    assert source.count("for t in range(6):") == 1
    assert source.count("np.tanh(") == 1
    assert "def f1(v0, v1, v2, o1):" in source
    # Nothing asked for the carries that steps began with: one array of results is filled.
    assert source.count("[t] = ") == 1


def test_functional_source_and_listing_show_the_body() -> None:
    graph = sg.trace(recurrent, w=W, xs=sg.spec("n, 3"), h=H0).gradient("w", "xs").simplify()
    names: dict[str, Any] = {}
    exec(graph.to_python(), names)
    for xs in (XS, XS[:0]):
        got, want = names["function"](np, w=W, xs=xs, h=H0), graph.evaluate(w=W, xs=xs, h=H0)
        assert_same([got[0], *got[1]], [want[0], *want[1]])
    listing = str(graph)
    assert listing.count("tanh(i0 @ i2 + i1)") == 2  # The state and, times x, the result.
    assert "while" not in listing


def test_bodies_that_two_loops_share_are_written_once() -> None:
    def inner(c: Any, x: Any) -> Any:
        return sg.cond(np.sum(c) > 0.25, lambda: c * x - 0.75, lambda: c + 1.25), None

    def f(x: Any, y: Any) -> Any:
        one = sg.scan(inner, x, y)[0]
        other = sg.scan(lambda c, x: (sg.scan(inner, c + 3.5, y)[0], x), x, y)[0]
        return np.sum(one * other)

    check = sg.trace(f, x=(2,), y=(3, 2)).gradient("x", "y")
    at = {"x": RNG.normal(size=2), "y": RNG.normal(size=(3, 2))}
    for run in (check.lower(), check.simplify().lower()):
        got, want = run(**at), check.evaluate(**at)
        assert_same([got[0], *got[1]], [want[0], *want[1]])


def test_choices_and_while_loops_have_functional_source() -> None:
    def f(x: Any) -> Any:
        grown = sg.while_loop(lambda c: c < 100, lambda c: c * x, x)
        return sg.cond(x > 3, lambda: grown, lambda: sg.fori_loop(3, lambda i, c: c + x, grown))

    graph = sg.trace(f, x=())
    names: dict[str, Any] = {}
    exec(graph.to_python(), names)
    for x in (2.0, 4.0):
        assert names["function"](np, x=x) == graph.evaluate(x=x) == graph.lower()(x=x)


def test_a_loop_may_be_computed_again() -> None:
    graph = sg.trace(recurrent, w=W, xs=XS, h=H0).gradient("w")
    loop = next(node for node in graph.nodes if node.op.name == "scan")
    again = graph.checkpoint(recompute=[loop])
    assert sum(node.op.name == "scan" for node in again.nodes) > 2
    at = {"w": W, "xs": XS, "h": H0}
    for one, other in zip(again.lower()(**at), graph.evaluate(**at), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def test_second_derivatives_by_every_door() -> None:
    def f(h: Any) -> Any:
        return recurrent(W, XS[:3], h)

    graph = sg.trace(f, h=H0)
    hessian = np.asarray(graph.hessian("h").simplify().evaluate(h=H0)[-1]).reshape(3, 3)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-12)
    v = RNG.normal(size=3)
    product = graph.hvp("h", v).simplify().lower()(h=H0)
    np.testing.assert_allclose(np.asarray(product[-1]).reshape(3), hessian @ v, rtol=1e-10)
    np.testing.assert_allclose(sg.grad(f)(H0), graph.gradient("h").evaluate(h=H0)[1], rtol=1e-12)


def test_what_nothing_reads_is_cut_out_of_the_body() -> None:
    def f(w: Any, xs: Any, h: Any) -> Any:
        def step(carry: Any, x: Any) -> Any:
            state, idle, pair = carry
            after = np.tanh(state @ w + x)
            return (after, np.cosh(idle), {"a": pair["b"], "b": pair["a"]}), np.sinh(after)

        (last, _, pair), _ = sg.scan(step, (h, h, {"a": h, "b": h * 2}), xs)
        return np.sum(last) + np.sum(pair["a"])

    graph = sg.trace(f, w=W, xs=XS, h=H0)
    slim = graph.simplify()
    loop = next(node for node in slim.nodes if node.op.name == "scan")
    assert loop.params["carries"] == 3  # The pair depends on itself, crosswise.
    source = slim.lower().source
    assert not any(name in source for name in ("cosh", "sinh", "y0"))
    at = {"w": W, "xs": XS, "h": H0}
    np.testing.assert_allclose(slim.lower()(**at), graph.evaluate(**at), rtol=1e-15)
    both = [g.gradient("w", "h").evaluate(**at)[1] for g in (slim, graph)]
    assert_same(*both)
    assert len(slim.simplify()) == len(slim)


def test_carries_are_kept_for_the_gradient_only() -> None:
    def last(w: Any, xs: Any, h: Any) -> Any:
        return np.sum(sg.scan(lambda c, x: (np.tanh(c @ w + x), None), h, xs)[0])

    peaks = []
    for length in (100, 1000):
        xs = np.zeros((length, 3))
        graph = sg.trace(last, w=W, xs=xs, h=H0)
        peaks.append((graph.memory().peak_bytes, graph.gradient("w").memory().peak_bytes))
    assert peaks[0][0] == peaks[1][0]
    assert peaks[1][1] - peaks[0][1] == 900 * H0.nbytes


@pytest.mark.parametrize(("stretch", "lengths"), [(4, {4, 2}), (8, {8}), (20, {8}), (5, {5, 1, 3})])
def test_checkpoints_leave_no_loop_of_no_steps(stretch: int, lengths: set[int]) -> None:
    """Where the stretch divided the length, a loop of no steps was embedded in a full gradient."""
    w, xs, h = sg.input("w", (3, 3)), sg.input("xs", (8, 3)), sg.input("h", (3,))

    def step(c: Any, x: Any) -> tuple[Any, Any]:
        return np.tanh(c @ w + x), c

    for reverse in (False, True):
        last, stacked = sg.scan(step, h, xs, checkpoint=stretch, reverse=reverse)
        graph = sg.graph(np.sum(last) + np.sum(stacked))
        loops = [node for node in graph.nodes if node.op.name == "scan"]
        found = {node.params["length"] for node in loops}
        found |= {
            inner.params["length"]
            for node in loops
            for inner in node.params["body"].dag.nodes
            if inner.op.name == "scan"
        }
        assert found == lengths


@pytest.mark.parametrize("reverse", [pytest.param(False, marks=pytest.mark.whole), True])
def test_stretches_give_the_bits_of_the_plain_loop(reverse: bool) -> None:
    """A stretch added up its own share of the gradient first."""

    def gradient(checkpoint: int | None) -> sg.Graph:
        def loss(xs: Any, w: Any, h: Any) -> Any:
            def step(h: Any, x: Any) -> tuple[Any, Any]:
                h = np.tanh(h @ w + x)
                return h, h * w[0]

            h, ys = sg.scan(step, h, xs, checkpoint=checkpoint, reverse=reverse)
            return np.sum(h * h) + np.sum(ys * ys)

        return sg.trace(loss, xs=(12, 3, 4), w=(4, 4), h=(3, 4)).gradient("w", "xs", value=False)

    random = np.random.default_rng(0)
    given = {"xs": random.normal(size=(12, 3, 4)), "h": random.normal(size=(3, 4))}
    given["w"] = 0.5 * random.normal(size=(4, 4))
    plain = [each.tobytes() for each in gradient(None).lower()(**given)]
    for stretch in (1, 3, 4, 6):
        graph = gradient(stretch)
        for each in (graph, graph.simplify()):
            assert [part.tobytes() for part in each.lower()(**given)] == plain


def test_checkpoints_hold_fewer_carries() -> None:
    def last(w: Any, xs: Any, h: Any, k: int | None) -> Any:
        return np.sum(sg.scan(lambda c, x: (np.tanh(c @ w + x), None), h, xs, checkpoint=k)[0])

    n, length = 10, 1600
    at = {"w": np.eye(n) / 2, "xs": RNG.normal(size=(length, n)), "h": np.zeros(n)}
    graphs = [
        sg.trace(lambda w, xs, h, k=k: last(w, xs, h, k), **at).gradient("w").simplify()
        for k in (None, 40)
    ]
    plain, cut = (graph.memory().peak_bytes for graph in graphs)
    assert cut < plain / 8
    for one, other in zip(*[graph.lower()(**at) for graph in graphs], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_predicted_memory_is_that_of_a_run() -> None:
    """At most the copy of a carry too much, which is counted beside what a step needs."""
    n, length = 200, 50
    arrays = {"w": np.eye(n) * 0.1, "xs": np.ones((length, n)), "h": np.zeros(n)}
    graph = sg.trace(recurrent, **arrays).gradient("w", "xs").simplify()
    run = lower(graph.dag)
    run(**arrays)
    run.release()
    tracemalloc.start()
    run(**arrays)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.9 * peak < graph.memory().peak_bytes < 1.05 * peak + 8 * n * n


def test_depth_of_a_loop_is_no_depth_of_calls() -> None:
    limit = sys.getrecursionlimit()
    graph = sg.trace(recurrent, w=W, xs=(20_000, 3), h=H0).gradient("w").simplify()
    run = graph.lower()
    sys.setrecursionlimit(200 + len(_frames()))
    try:
        value, grad = run(w=W * 0.1, xs=np.zeros((20_000, 3)), h=H0)
    finally:
        sys.setrecursionlimit(limit)
    assert np.isfinite(value)
    assert np.isfinite(grad).all()


def _frames() -> list[Any]:
    frame, found = sys._getframe(), []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found


def test_the_closed_form_is_found_inside_a_loop() -> None:
    def f(z: Any, y: Any) -> Any:
        def step(total: Any, pair: Any) -> Any:
            z, y = pair
            q = np.exp(z) / np.sum(np.exp(z))
            return total - np.sum(y * np.log(q)), None

        return sg.scan(step, 0.0, (z, y))[0]

    z = np.array([[1000.0, 0.0], [0.0, 1.0]])
    y = np.eye(2)
    value, grad = sg.trace(f, z=z, y=y).gradient("z").simplify().evaluate(z=z, y=y)
    q = np.array([[1.0, 0.0], np.exp([0.0, 1.0]) / (1 + np.e)])
    np.testing.assert_allclose(grad, q - y, atol=1e-15)
    assert np.isfinite(value)
