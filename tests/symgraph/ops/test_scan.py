"""Loops as one node: values, derivatives, the generated source, and what is refused."""

from __future__ import annotations

import sys
import tracemalloc
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from installed import BACKENDS

import symgraph as sg
import symgraph.numpy as snp
from symgraph.backends.conformance import check_dag
from symgraph.backends.lowered import lower
from symgraph.ir.dag import Dag
from symgraph.testing import check_grads, check_stacked

RNG = np.random.default_rng(3)
W = RNG.normal(size=(3, 3)) * 0.7
XS = RNG.normal(size=(6, 3))
H0 = RNG.normal(size=3)


def recurrent(w: Any, xs: Any, h: Any, **options: Any) -> Any:
    """A loss of a recurrent net: last state and all results."""

    def step(h: Any, x: Any) -> Any:
        after = np.tanh(h @ w + x)
        return after, after * x

    last, ys = sg.scan(step, h, xs, **options)
    return np.sum(last * last) + np.sum(ys**3)


def gradients(f: Any, *, simplify: bool = True, **arrays: Any) -> list[Any]:
    graph = sg.trace(f, **arrays).gradient(*arrays)
    value, grads = (graph.simplify() if simplify else graph).evaluate(**arrays)
    return [value, *(grads if isinstance(grads, tuple) else [grads])]


def assert_same(got: list[Any], want: list[Any], rtol: float = 1e-11) -> None:
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-13)


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


# -- what is generated -----------------------------------------------------------------------------
def test_graph_and_source_do_not_grow_with_the_length() -> None:
    sizes = []
    for length in (3, 10_000):
        graph = sg.trace(recurrent, w=W, xs=(length, 3), h=H0).gradient("w").simplify()
        sizes.append((len(graph), len(graph.lower().source.splitlines())))
    assert sizes[0] == sizes[1]


def test_source_is_a_loop_around_a_body() -> None:
    source = sg.trace(recurrent, w=W, xs=XS, h=H0).lower().source
    assert source.count("for t in range(6):") == 1
    assert source.count("np.tanh(") == 1
    assert "def f1(v0, v1, v2):" in source
    # Nothing asked for the carries that steps began with: one array of results is made.
    assert source.count("np.empty(") == 1


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


@pytest.mark.parametrize("reverse", [False, True])
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
