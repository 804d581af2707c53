"""Plans under a budget: they fit, change no bit, are monotone, optimal where claimed."""

from __future__ import annotations

import heapq
import tracemalloc
from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from randomgraphs import closed, random_gradient, random_program

from symgraph.autodiff.reverse import gradients
from symgraph.backends.lowered import lower
from symgraph.errors import InputError, MemoryBudgetError
from symgraph.ir.cost import flops
from symgraph.ir.dag import Dag
from symgraph.ir.interpreter import evaluate
from symgraph.ir.invariants import verify
from symgraph.ir.node import Node
from symgraph.lowering.memory_model import Model, profile
from symgraph.memory.chains import chain_of, chain_sequences
from symgraph.memory.exact_search import ExactSearch
from symgraph.memory.liveness import memory
from symgraph.memory.plans import Plan, evaluated, pareto, serial_plan
from symgraph.memory.rematerialization import (
    bytes_of,
    checkpointed,
    frontier,
    recomputed,
    without_copies,
)
from symgraph.ops.creation import input


# -- graphs ----------------------------------------------------------------------------------------
def chain(length: int, size: int = 1000) -> Dag:
    x = input("x", (size,))
    y: Any = x
    for _ in range(length):
        y = np.sin(y)
    loss = np.sum(y)
    return closed({"x": x}, loss, *gradients(loss, [x]))


def mlp(layers: int, batch: int = 128, width: int = 16) -> Dag:
    inputs = {"x": input("x", (batch, width))}
    h: Any = inputs["x"]
    for layer in range(layers):
        weight = inputs[f"w{layer}"] = input(f"w{layer}", (width, width))
        bias = inputs[f"b{layer}"] = input(f"b{layer}", (width,))
        h = np.tanh(h @ weight + bias)
    loss = np.sum(h * h)
    weights = [each for name, each in inputs.items() if name != "x"]
    return closed(inputs, loss, *gradients(loss, weights))


def residual(blocks: int, rows: int = 64, width: int = 8) -> Dag:
    inputs = {"x": input("x", (rows, width))}
    h: Any = inputs["x"]
    for block in range(blocks):
        up = inputs[f"u{block}"] = input(f"u{block}", (width, 4 * width))
        down = inputs[f"d{block}"] = input(f"d{block}", (4 * width, width))
        scores = h @ h.T
        e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        h = h + (e / np.sum(e, axis=-1, keepdims=True)) @ h
        h = h + np.tanh(h @ up) @ down
    loss = np.sum(h * h)
    weights = [each for name, each in inputs.items() if name != "x"]
    return closed(inputs, loss, *gradients(loss, weights))


def tangle(steps: int, seed: int, size: int = 100) -> Dag:
    random = np.random.default_rng(seed)
    x = input("x", (size,))
    values: list[Any] = [x]
    for _ in range(steps):
        a = values[max(0, len(values) - 1 - int(random.exponential(3)))]
        b = values[max(0, len(values) - 1 - int(random.exponential(10)))]
        kind = int(random.integers(3))
        values.append(np.sin(a) if kind == 0 else a * np.cos(b) if kind == 1 else 0.5 * a + b)
    loss = np.sum(values[-1] + values[-2])
    return closed({"x": x}, loss, *gradients(loss, [x]))


def numbers(dag: Dag) -> dict[str, Any]:
    random = np.random.default_rng(0)
    return {
        name: (0.3 * random.normal(size=node.shape)).astype(node.dtype)
        for name, node in dag.inputs.items()
    }


def assert_same_bits(dag: Dag, plan: Dag, given: dict[str, Any]) -> None:
    for one, other in zip(evaluate(dag, given), evaluate(plan, given), strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


def again(plan: Dag) -> list[Node]:
    return [node for node in plan.nodes if node.copy]


GRAPHS: dict[str, Callable[[], Dag]] = {
    "chain": lambda: chain(30),
    "mlp": lambda: mlp(8),
    "residual": lambda: residual(4),
    "tangle": lambda: tangle(40, seed=3),
    "small": lambda: tangle(5, seed=1),
}


# -- what every plan keeps to ----------------------------------------------------------------------
@pytest.mark.sampled(one_in=5)
@pytest.mark.parametrize("name", GRAPHS)
def test_every_budget_is_kept_and_no_bit_changes(name: str) -> None:
    dag = GRAPHS[name]()
    full, least = memory(dag).peak_bytes, frontier(dag)[0][0]
    assert least < full
    given = numbers(dag)
    peaks: list[int] = []
    costs: list[Any] = []
    for budget in np.linspace(least, full, 9).astype(int).tolist():
        plan = checkpointed(dag, budget)
        verify(plan)
        peaks.append(memory(plan).peak_bytes)
        costs.append(flops(plan.outputs))
        assert peaks[-1] <= budget
        assert_same_bits(dag, plan, given)
    assert peaks == sorted(peaks)
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] == flops(dag.outputs)
    assert costs[0] > costs[-1]


@pytest.mark.whole
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), share=st.floats(0, 1))
def test_random_gradients(seed: int, share: float) -> None:
    dag = random_gradient(seed)
    full, least = memory(dag).peak_bytes, frontier(dag)[0][0]
    budget = least + int(share * max(0, full - least))
    plan = checkpointed(dag, budget)
    assert memory(plan).peak_bytes <= budget
    assert_same_bits(dag, plan, random_program(seed).values)


@pytest.mark.whole
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), steps=st.integers(2, 25))
def test_fronts_are_monotone(seed: int, steps: int) -> None:
    front = frontier(tangle(steps, seed))
    assert front == sorted(front)
    assert [cost for _, cost in front] == sorted([cost for _, cost in front], reverse=True)
    assert front[-1][1] == 0


LARGE: dict[str, Callable[[], Dag]] = {
    "chain": lambda: chain(30, 20_000),
    # NumPy's own buffers, 64 KiB at most, should not count against the arrays.
    "mlp": lambda: mlp(8, 8192),
    "residual": lambda: residual(4, 256),
}


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", LARGE)
def test_a_run_needs_what_was_planned(name: str) -> None:
    dag = LARGE[name]()
    plan = checkpointed(dag, frontier(dag)[0][0])
    program, given = lower(plan), numbers(dag)
    program(**given)
    program.release()
    tracemalloc.start()
    program(**given)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak == pytest.approx(memory(plan).peak_bytes, rel=0.05)


def test_copies_keep_their_origin_and_are_never_merged() -> None:
    dag = chain(12)
    plan = checkpointed(dag, frontier(dag)[0][0])
    copies = again(plan)
    assert copies
    assert all(str(node.origin) for node in copies)
    assert len({(node.op.name, node.operands, node.copy) for node in copies}) == len(copies)
    originals = set(dag.nodes)
    assert not originals & set(copies)


def test_planning_again_starts_from_the_plain_graph() -> None:
    dag = chain(12)
    front = frontier(dag)
    tight = checkpointed(dag, front[0][0])
    assert without_copies(tight).outputs == dag.outputs
    loose = checkpointed(tight, front[-1][0])
    assert not again(loose)
    assert loose.outputs == dag.outputs
    assert without_copies(dag) is dag


def test_names_structure_and_unused_inputs_survive() -> None:
    dag = chain(12)
    unused = input("unused", (2,))
    dag = Dag({**dag.inputs, "unused": unused.node}, dag.outputs, ("J", "g"), {"J": 0, "g": (1,)})
    plan = checkpointed(dag, frontier(dag)[0][0])
    assert list(plan.inputs) == ["x", "unused"]
    assert (plan.names, plan.structure) == (dag.names, dag.structure)
    assert plan.schedule is not None
    assert set(plan.schedule) == set(plan.nodes)


def test_named_dimensions() -> None:
    x = input("x", "n, 4")
    y: Any = x
    for _ in range(10):
        y = np.sin(y)
    loss = np.sum(y)
    dag = closed({"x": x}, loss, *gradients(loss, [x]))
    plan = checkpointed(dag, 5 * 32 * 100 + 16, {"n": 100})
    assert again(plan)
    assert memory(plan, {"n": 100}).peak_bytes <= 5 * 32 * 100 + 16
    assert_same_bits(dag, plan, {"x": np.ones((7, 4))})
    with pytest.raises(InputError, match="'n'"):
        checkpointed(dag, 1000)


def test_inference_alone_can_be_planned() -> None:
    x = input("x", (1000,))
    first = np.sin(x)
    y: Any = first
    for _ in range(5):
        y = np.cos(np.sum(np.broadcast_to(y, (2, 1000)), axis=0))
    dag = closed({"x": x}, y * first)
    plan = checkpointed(dag, 2 * 8000)
    assert memory(plan).peak_bytes <= 2 * 8000 < memory(dag).peak_bytes
    assert_same_bits(dag, plan, numbers(dag))


# -- what it refuses -------------------------------------------------------------------------------
@pytest.mark.sampled(one_in=5)
@pytest.mark.parametrize("name", GRAPHS)
def test_an_impossible_budget_names_the_least(name: str) -> None:
    dag = GRAPHS[name]()
    before = dag.nodes
    with pytest.raises(MemoryBudgetError, match="the least is") as caught:
        checkpointed(dag, 100)
    least = caught.value.least_bytes
    assert f"memory={least}" in str(caught.value)
    assert "test_rematerialization.py" in str(caught.value)
    assert memory(checkpointed(dag, least)).peak_bytes <= least
    with pytest.raises(MemoryBudgetError):
        checkpointed(dag, least - 1)
    assert dag.nodes == before


@pytest.mark.parametrize(
    ("text", "count"),
    [("64 MB", 64_000_000), ("512 KiB", 524_288), ("1.5kb", 1500), (" 7 ", 7), ("2GiB", 2 << 30)],
)
def test_amounts_of_memory(text: str, count: int) -> None:
    assert bytes_of(text) == bytes_of(count) == count


@pytest.mark.parametrize(
    "amount", ["", "64 parsecs", "-3 MB", "MB", 0, -1, True, 1.5, None, "0 MB"]
)
def test_what_is_no_amount_of_memory(amount: Any) -> None:
    with pytest.raises(InputError, match=r"memory"):
        bytes_of(amount)


# -- hints -----------------------------------------------------------------------------------------
def figure_6_9() -> tuple[Dag, list[Node]]:
    w = input("w", (100,))
    x = np.sin(w)
    y = np.sin(x)
    z = np.sin(y)
    (gradient,) = gradients(np.sum(z), [w])
    return closed({"w": w}, gradient), [x.node, y.node]


def sines(dag: Dag) -> int:
    return sum(node.op.name == "sin" for node in dag.nodes)


def test_both_programs_of_figure_6_9() -> None:
    """Goodfellow, Bengio and Courville, equations 6.52 (stored) and 6.53 (computed again)."""
    dag, (x, y) = figure_6_9()
    assert sines(dag) == 2
    once = recomputed(dag, [])
    assert once.outputs == dag.outputs
    twice = recomputed(dag, [x])
    assert sines(twice) == 3
    assert sines(recomputed(dag, [x, y])) == 3
    for plan in (once, twice):
        assert_same_bits(dag, plan, numbers(dag))
    assert memory(twice).peak_bytes <= memory(dag).peak_bytes


def test_recomputing_everything_needs_least_memory_and_quadratic_time() -> None:
    dag = chain(12)
    plan = recomputed(dag)
    assert len(again(plan)) == sum(range(12))
    assert memory(plan).peak_bytes < memory(dag).peak_bytes / 3
    assert_same_bits(dag, plan, numbers(dag))


def test_hints_are_constraints() -> None:
    dag = chain(12)
    sin = [node for node in dag.nodes if node.op.name == "sin"]
    front = frontier(dag)
    budget = front[len(front) // 2][0]
    plan = checkpointed(dag, budget, keep=sin[:4])
    twins = {(node.op.name, node.operands[0]) for node in again(plan)}
    assert again(plan)
    assert not any(("sin", node.operands[0]) in twins for node in sin[:4])
    forced = checkpointed(dag, front[-1][0], recompute=[sin[3]])
    assert [node.operands for node in again(forced)] == [sin[3].operands]
    with pytest.raises(InputError, match="kept"):
        checkpointed(dag, budget, keep=sin, recompute=sin)
    with pytest.raises(InputError, match="not a value"):
        checkpointed(dag, budget, keep=[dag.inputs["x"]])
    with pytest.raises(MemoryBudgetError):
        checkpointed(dag, front[0][0], keep=sin)


# -- how good they are -----------------------------------------------------------------------------
def chain_model(sizes: list[int], costs: list[int], later: list[int], takes: bool = False) -> Model:
    """A chain, and after it one step for each of its values from the last to the first."""
    n = len(sizes)
    reads = [(i - 1,) if i else () for i in range(n)]
    reads += [(n + k - 1, n - 1 - k) if k else (n - 1,) for k in range(n)]
    taken = [(i - 1,) if takes and i else () for i in range(n)] + [()] * n
    return Model((), tuple(reads), (*sizes, *later), (*costs, *[1] * n), tuple(taken), (2 * n - 1,))


def chain_front(model: Model) -> list[Plan]:
    found = chain_of(model)
    assert found is not None
    most = serial_plan(model).peak
    return pareto([evaluated(model, each) for each in chain_sequences(found, most, 10_000)])


def revolve(steps: int, snapshots: int) -> int:
    """Forward steps of the optimal schedule (Griewank and Walther 2000, proposition 1)."""
    repetitions = 0
    while comb(snapshots + repetitions, snapshots) < steps:
        repetitions += 1
    return repetitions * steps - comb(snapshots + repetitions, snapshots + 1)


@pytest.mark.parametrize("length", [4, 5, 9, 17, 40])
def test_uniform_chains_meet_the_binomial_schedule(length: int) -> None:
    model = chain_model([1] * length, [1] * length, [0] * length, takes=True)
    front = chain_front(model)
    assert [plan.peak for plan in front] == list(range(1, length + 1))
    for plan in front:
        # The input is a snapshot that costs nothing; one more step leads from it.
        assert plan.extra_cost + length == revolve(length + 1, plan.peak)


def optimum(model: Model, length: int, budget: int) -> int | None:
    """Least cost of the chain's steps by plain search over all sets of live values."""
    last = {read: step for step, reads in enumerate(model.reads) for read in reads}
    held = [
        sum(model.sizes[s] for s in range(length, t) if last.get(s, 2 * length) >= t)
        for t in range(length, 2 * length + 1)
    ]
    best = {(0, 0): 0}
    heap = [(0, 0, 0)]
    while heap:
        cost, done, mask = heapq.heappop(heap)
        if best[done, mask] < cost:
            continue
        if done == length:
            return cost
        live = held[done] + sum(model.sizes[i] for i in range(length) if mask >> i & 1)
        moves: list[tuple[int, int, int]] = []
        for i in range(length):
            if mask >> i & 1:
                moves.append((cost, done, mask ^ 1 << i))
            elif (i == 0 or mask >> (i - 1) & 1) and live + model.sizes[i] <= budget:
                moves.append((cost + model.costs[i], done, mask | 1 << i))
        step = length + done
        if mask >> (length - 1 - done) & 1 and live + model.sizes[step] <= budget:
            moves.append((cost, done + 1, mask))
        for total, then, after in moves:
            if total < best.get((then, after), total + 1):
                best[then, after] = total
                heapq.heappush(heap, (total, then, after))
    return None


SMALL = st.integers(3, 6).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(1, 9), min_size=n, max_size=n) for _ in range(3)])
)


@settings(max_examples=25, deadline=None)
@given(SMALL)
def test_small_chains_are_optimal(lists: tuple[list[int], list[int], list[int]]) -> None:
    model = chain_model(*lists)
    length = len(lists[0])
    most = serial_plan(model).peak
    search = ExactSearch(model, range(length, 2 * length))
    persistent = chain_front(model)
    for budget in range(1, most + 1):
        best = optimum(model, length, budget)
        exact = search.cheapest(budget, 20_000)
        dynamic = [plan for plan in persistent if plan.peak <= budget]
        if best is None:
            assert exact is None
            assert not dynamic
            continue
        extra = best - sum(lists[1])
        assert exact is not None
        plan = evaluated(model, exact)
        assert plan.peak <= budget
        assert plan.extra_cost == extra
        assert not dynamic or dynamic[-1].extra_cost >= extra


@pytest.mark.whole
def test_half_the_memory_of_a_deep_network_costs_little() -> None:
    for dag, share, bound in [(mlp(32), 0.5, 0.25), (residual(8), 0.5, 0.2), (chain(60), 0.3, 0.4)]:
        budget = int(memory(dag).peak_bytes * share)
        plan = checkpointed(dag, budget)
        overhead = int(str(flops(plan.outputs))) / int(str(flops(dag.outputs))) - 1
        assert overhead < bound


@pytest.mark.whole
def test_square_root_memory_for_one_more_forward_run() -> None:
    """Chen et al. 2016: about 2 sqrt(n) values suffice if each is computed at most twice."""
    dag = chain(100)
    plan = checkpointed(dag, 23 * 8000)
    assert len(again(plan)) <= 100


def test_profile_of_a_sequence_by_hand() -> None:
    #        0: a    1: b=f(a)  2: c=g(b)  3: d=h(a, c)
    model = Model((), ((), (0,), (1,), (0, 2)), (5, 7, 2, 1), (1,) * 4, ((), (), (), ()), (3,))
    found = profile(model, [0, 1, 2, 3])
    assert found.bytes_at == [5, 12, 14, 8]
    assert (found.peak, found.at) == (14, 2)
    cheaper = profile(model, [0, 1, 2, 0, 3])
    assert cheaper.bytes_at == [5, 12, 9, 7, 8]
    taking = Model((), ((), (0,), (1,)), (4, 4, 4), (1,) * 3, ((), (0,), (1,)), (2,))
    assert profile(taking, [0, 1, 2]).bytes_at == [4, 4, 4]
