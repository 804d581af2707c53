"""Loops keep what the loops of their gradients would compute again: which values, the same bits."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from installed import ON_THE_CPU

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.cost import node_flops
from symgraph.ir.interpreter import evaluate
from symgraph.passes.bodies import hold_bodies
from symgraph.passes.residuals import with_residuals

RNG = np.random.default_rng(0)


def lstm(x: Any, w: Any, u: Any, b: Any, h: Any, **options: Any) -> Any:
    """A layer of a memory cell, written naively."""
    size = h.shape[-1]

    def step(carry: Any, each: Any) -> Any:
        h, c = carry
        z = each @ w + h @ u + b
        i, f, o, g = (z[:, size * k : size * (k + 1)] for k in range(4))
        c = snp.sigmoid(f) * c + snp.sigmoid(i) * np.tanh(g)
        return (snp.sigmoid(o) * np.tanh(c), c), None

    h, c = sg.scan(step, (h, h), x, **options)[0]
    return np.sum(h * h) + np.sum(c)


CELL = {
    "x": RNG.normal(size=(5, 32, 16)),
    "w": 0.3 * RNG.normal(size=(16, 96)),
    "u": 0.3 * RNG.normal(size=(24, 96)),
    "b": 0.3 * RNG.normal(size=96),
    "h": 0.3 * RNG.normal(size=(32, 24)),
}


def recurrent(x: Any, w: Any, h: Any, **options: Any) -> Any:
    last, every = sg.scan(lambda h, x: (np.tanh(h @ w + x), h), h, x, **options)
    return np.sum(last * last) + np.sum(every**3)


@cache
def cell_gradient() -> sg.Graph:
    return sg.trace(lstm, **CELL).gradient("w", "u", "b").simplify()


PLAIN = {
    "x": 0.3 * RNG.normal(size=(6, 8, 24)),
    "w": 0.3 * RNG.normal(size=(24, 24)),
    "h": 0.3 * RNG.normal(size=(8, 24)),
}


def loops_of(dag: sg.Dag) -> list[Any]:
    return [node for node in dag.nodes if node.op.name == "scan"]


def count_in_step(loop: Any, *names: str) -> int:
    return sum(node.op.name in names for node in loop.params["body"].nodes)


def stacked(loop: Any) -> int:
    """How many results of steps a loop stacks."""
    return len(loop.params["body"].outputs) - loop.params["carries"]


def flat(found: Any) -> list[Any]:
    if isinstance(found, dict):
        found = tuple(found.values())
    return [each for part in found for each in flat(part)] if isinstance(found, tuple) else [found]


def assert_same_bits(graph: sg.Graph, dag: sg.Dag, given: dict[str, Any]) -> None:
    want = evaluate(graph.dag, given)
    for one, other in zip(evaluate(dag, given), want, strict=True):
        np.testing.assert_array_equal(one, other)


# -- what is kept ----------------------------------------------------------------------------------
@pytest.mark.parametrize("value", [True, False])
def test_no_product_of_a_memory_cell_runs_twice(value: bool) -> None:
    """Gates are kept, as in a backward pass written by hand; three products of it are left.

    The tanh of the carry after the step, which is handed on, is computed again.
    """
    graph = sg.trace(lstm, **CELL).gradient("w", "u", "b", value=value).simplify()
    before, after = loops_of(graph.dag), loops_of(with_residuals(graph.dag))
    assert [count_in_step(loop, "matmul") for loop in before] == [2, 5]
    assert [count_in_step(loop, "matmul") for loop in after] == [2, 3]
    assert [count_in_step(loop, "sigmoid", "tanh") for loop in after] == [5, 1]
    assert [stacked(loop) for loop in before] == [0, 0]
    assert [stacked(loop) for loop in after] == [4, 0]
    assert_same_bits(graph, with_residuals(graph.dag), CELL)


def test_programs_run_no_product_twice() -> None:
    graph = cell_gradient()
    for backend in ON_THE_CPU:
        products = re.findall(r"np\.matmul\(|\.dot\(", graph.lower(backend).source)
        assert len(products) == 5


def test_a_carry_after_a_step_is_handed_on() -> None:
    """The reverse loop needs tanh(z), which is the carry of the next step: nothing is kept."""
    graph = sg.trace(recurrent, **PLAIN).gradient("w", "x").simplify()
    run = with_residuals(graph.dag)
    before, after = loops_of(graph.dag), loops_of(run)
    assert [count_in_step(loop, "tanh") for loop in before] == [1, 1]
    assert [count_in_step(loop, "tanh") for loop in after] == [1, 0]
    assert [count_in_step(loop, "matmul") for loop in after] == [1, 2]
    assert stacked(after[0]) == stacked(before[0])
    assert after[1].params["carries"] == before[1].params["carries"] + 1
    assert_same_bits(graph, run, PLAIN)


def test_cheap_steps_stay_as_they_are() -> None:
    def loss(x: Any, a: Any) -> Any:
        return np.sum(sg.scan(lambda c, x: (c * a + x * c * c, None), a, x)[0])

    graph = sg.trace(loss, x=(9, 50), a=(50,)).gradient("a").simplify()
    assert with_residuals(graph.dag) is graph.dag


def test_a_product_of_few_terms_is_less_than_its_memory() -> None:
    """The product with a column has one term a number, and fills a matrix."""

    def loss(x: Any, w: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            return np.sin(x[:, None] @ w) * h, None

        return np.sum(sg.scan(step, np.ones((100, 80)), x)[0])

    graph = sg.trace(loss, x=(7, 100), w=(1, 80)).gradient("w").simplify()
    products = [count_in_step(loop, "matmul", "multiply") for loop in loops_of(graph.dag)]
    run = with_residuals(graph.dag)
    assert [count_in_step(loop, "matmul", "multiply") for loop in loops_of(run)] == products


def test_named_sizes() -> None:
    def loss(x: Any, w: Any) -> Any:
        step = lambda h, x: (np.sin(np.tanh(h @ w + x)), None)  # noqa: E731
        return np.sum(sg.scan(step, snp.zeros(x.shape[1:]), x)[0] ** 2)

    graph = sg.trace(loss, x="t, n, 24", w=(24, 24)).gradient("w", "x").simplify()
    after = loops_of(with_residuals(graph.dag))
    assert [count_in_step(loop, "tanh") for loop in after] == [1, 0]
    for shape in ((4, 3, 24), (1, 2, 24), (0, 2, 24)):
        given = {"x": RNG.normal(size=shape), "w": PLAIN["w"]}
        value, grads = graph.evaluate(**given)
        for backend in ON_THE_CPU:
            for got, want in zip(flat(graph.lower(backend)(**given)), [value, *grads], strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


# -- numbers ---------------------------------------------------------------------------------------
@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("backend", [*ON_THE_CPU, "jax", "torch"])
@pytest.mark.parametrize("reverse", [False, True])
def test_gradients_are_those_of_loops_written_out(backend: str, reverse: bool) -> None:
    if backend in ("jax", "torch"):
        pytest.importorskip(backend)
    for loss, given in ((lstm, CELL), (recurrent, PLAIN)):
        names = [name for name in given if name != "h"]

        def options(loss: Any = loss, **at: Any) -> Any:
            return loss(**at, reverse=reverse)

        def written_out(loss: Any = loss, **at: Any) -> Any:
            return loss(**at, reverse=reverse, unroll=True)

        specs = {name: each.shape for name, each in given.items()}
        graph = sg.trace(options, **specs).gradient(*names).simplify()
        plain = sg.trace(written_out, **specs).gradient(*names)
        got, want = flat(graph.lower(backend)(**given)), flat(plain.evaluate(**given))
        for one, other in zip(got, want, strict=True):
            np.testing.assert_allclose(np.asarray(one), other, rtol=1e-9, atol=1e-11)


def derivatives(name: str) -> tuple[sg.Graph, dict[str, Any]]:
    """Derivatives of higher order and other kinds, of loops."""
    cell = sg.trace(lstm, **CELL)
    if name == "hvp":
        return cell.hvp(["w", "u"], [np.ones((16, 96)), np.ones((24, 96))], value=False), CELL
    if name == "jvp":
        return cell.jvp({"w": np.ones((16, 96))}), CELL
    if name == "batch":
        grads = sg.vmap(lambda x, w: sg.grad(lambda w: recurrent(x, w, x[0]))(w), (0, None))
        given = {"x": RNG.normal(size=(3, 6, 8, 24)), "w": PLAIN["w"]}
        return sg.trace(grads, **{key: each.shape for key, each in given.items()}), given
    plain = sg.trace(recurrent, **{key: each.shape for key, each in PLAIN.items()})
    inputs = [plain.inputs[key] for key in ("x", "w")]
    grads = sg.grad(plain.outputs["out"], inputs)
    second = sg.grad(sum(np.sum(np.sin(each)) for each in grads), inputs)
    return sg.graph(*second, inputs=[plain.inputs[key] for key in PLAIN]), PLAIN


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", ["hvp", "jvp", "batch", "second"])
def test_other_derivatives(name: str) -> None:
    graph, given = derivatives(name)
    graph = graph.simplify(effort="low")
    run = with_residuals(graph.dag)
    assert_same_bits(graph, run, given)
    if name in ("hvp", "second"):
        products = [sum(count_in_step(loop, "matmul") for loop in loops_of(dag)) for dag in
                    (graph.dag, run)]  # fmt: skip
        assert products[1] < products[0]
    for backend in ON_THE_CPU:
        want = flat(graph.evaluate(**given))
        for one, other in zip(flat(graph.lower(backend)(**given)), want, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)


# -- memory ----------------------------------------------------------------------------------------
def test_a_graph_with_a_plan_stays_as_it_is() -> None:
    graph = cell_gradient()
    full = graph.memory().peak_bytes
    plan = graph.checkpoint("75%")
    assert plan.memory().peak_bytes <= 0.75 * full
    assert with_residuals(plan.dag) is plan.dag
    assert_same_bits(graph, plan.dag, CELL)


def test_what_is_kept_is_told() -> None:
    """The peak is the program's, and the timeline has the loop with all that it keeps."""
    graph = cell_gradient()
    kept = 5 * 4 * 32 * 24 * 8
    carries = 2 * 5 * 32 * 24 * 8
    report = graph.memory()
    assert report.peak_bytes >= kept + carries
    assert max(size for _, size in report.live) >= kept + carries
    plan = graph.memory_plan()
    flops = sum(int(str(node_flops(node))) for node in with_residuals(graph.dag).nodes)
    assert plan.cost == flops
    assert plan.overhead == 0
    (line,) = plan.loops
    assert line.startswith("kept of each step, 4 values, 120 KiB in all: the loop at ")
    assert line in plan.explain()
    assert not graph.checkpoint("75%").memory_plan().loops


@pytest.mark.whole
def test_every_budget_is_held() -> None:
    graph = cell_gradient()
    full = graph.memory().peak_bytes
    least = graph.memory_frontier()[0][0]
    costs: list[int] = []
    for budget in np.linspace(1.3 * full, 1.1 * least, 6).astype(int):
        plan = graph.checkpoint(int(budget))
        assert plan.memory().peak_bytes <= budget
        costs.append(plan.memory_plan().cost)
    assert costs == sorted(costs)


def test_stretches_of_a_loop_are_run_again_as_asked() -> None:
    """`checkpoint` keeps every third carry: what an inner loop gives is not kept beside it."""
    specs = {name: each.shape for name, each in PLAIN.items()}
    graph = sg.trace(lambda **at: recurrent(**at, checkpoint=3), **specs).gradient("w").simplify()
    outer = loops_of(graph.dag)
    after = loops_of(with_residuals(graph.dag))
    assert [stacked(loop) for loop in after] == [stacked(loop) for loop in outer]
    (again, back) = [each for each in after[1].params["body"].nodes if each.op.name == "scan"]
    assert count_in_step(again, "tanh") == 1
    assert count_in_step(back, "tanh") == 0
    assert_same_bits(graph, with_residuals(graph.dag), PLAIN)


def test_a_saved_graph_runs_the_same_program(tmp_path: Path) -> None:
    graph = cell_gradient()
    graph.save(tmp_path / "cell.json")
    again = sg.load(tmp_path / "cell.json")
    assert [stacked(loop) for loop in loops_of(again.dag)] == [0, 0]
    assert again.lower().source.count("\n") == graph.lower().source.count("\n")
    assert_same_bits(graph, with_residuals(again.dag), CELL)


# -- memory of the stacked rows --------------------------------------------------------------------
def test_stacked_rows_lie_in_memory_that_is_kept() -> None:
    """Carries, and what is kept, are written to the workspace; results are fresh at each call."""

    def loss(x: Any, w: Any, h: Any) -> Any:
        last, every = sg.scan(lambda h, x: (np.tanh(h @ w + x), np.sin(h)), h, x)
        return np.sum(last), every

    graph = sg.trace(loss, **{key: each.shape for key, each in PLAIN.items()})
    run = graph.lower()
    first = flat(run(**PLAIN))
    copied = [np.array(each) for each in first]
    run(**{key: each + 1 for key, each in PLAIN.items()})
    for one, other in zip(first, copied, strict=True):
        np.testing.assert_array_equal(one, other)
    source = cell_gradient().lower().source
    assert "np.empty((5, 32, 24)" not in source
    assert source.count("[t] = ") == 6


def test_a_captured_transpose_is_laid_out_once() -> None:
    source = cell_gradient().lower().source
    reverse = source[source.index("range(5 - 1, -1, -1)") - 300 :]
    before, _, after = reverse.partition("    for t in")
    assert before.count("np.ascontiguousarray(") == 1
    assert "ascontiguousarray" not in after


def test_the_graph_of_the_user_keeps_its_loops() -> None:
    graph = sg.trace(lstm, **CELL).gradient("w").simplify()
    before = str(graph)
    graph.lower()
    assert str(graph) == before
    assert hold_bodies(graph.dag.outputs)
