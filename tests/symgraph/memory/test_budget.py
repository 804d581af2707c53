"""`Graph.checkpoint`: what a budget may be, what goes with it, and what becomes of a plan."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import pytest

import symgraph as sg


@cache
def deep(layers: int = 12, size: int = 1000) -> tuple[sg.Graph, list[sg.Array]]:
    x = sg.input("x", (size,))
    values: list[Any] = [x]
    for _ in range(layers):
        values.append(np.sin(values[-1]))
    loss = np.sum(values[-1])
    return sg.graph(loss, sg.grad(loss, x)), values[1:-1]


def copies(graph: sg.Graph) -> int:
    return sum(node.copy > 0 for node in graph.dag.nodes)


def again(graph: sg.Graph) -> set[int]:
    """The places in the chain of sines that are computed again."""
    depth: dict[sg.Node, int] = {}
    for node in graph.dag.nodes:
        depth[node] = (node.op.name == "sin") + max([depth[each] for each in node.operands] or [0])
    return {depth[node] - 1 for node in depth if node.copy and node.op.name == "sin"}


def same_bits(one: sg.Graph, other: sg.Graph) -> bool:
    x = np.linspace(-1, 1, 1000)
    pairs = zip(one.evaluate(x=x), other.evaluate(x=x), strict=True)
    return all(a.tobytes() == b.tobytes() for a, b in pairs)


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("budget", ["60%", 60_000.0, "60 kB", np.int64(60_000)])
def test_budgets_as_shares_floats_and_text(budget: Any) -> None:
    graph, _ = deep()
    full = graph.memory().peak_bytes
    plan = graph.checkpoint(budget)
    most = full * 60 // 100 if budget == "60%" else 60_000
    assert plan.memory().peak_bytes <= most < full
    assert copies(plan)
    assert same_bits(graph, plan)


@pytest.mark.parametrize("budget", [0.7, "0%", "-5%", float("nan"), float("inf")])
def test_what_is_no_budget(budget: Any) -> None:
    graph, _ = deep()
    with pytest.raises(sg.InputError, match="memory"):
        graph.checkpoint(budget)


def test_an_infeasible_budget_is_told_in_the_users_unit() -> None:
    graph, _ = deep()
    with pytest.raises(sg.MemoryBudgetError, match=r"fits 0\.01 MB: the least is") as caught:
        graph.checkpoint("0.01 MB")
    least = caught.value.least_bytes
    assert 0 < caught.value.bound_bytes <= least
    assert graph.checkpoint(least).memory().peak_bytes <= least
    with pytest.raises(sg.MemoryBudgetError, match=r"fits 1% of the peak \("):
        graph.checkpoint("1%")


def test_the_least_of_a_small_graph_is_told_with_its_proof() -> None:
    random = np.random.default_rng(2)
    x = sg.input("x", (1000,))
    values: list[Any] = [x]
    for _ in range(5):
        a, b = [values[int(random.integers(max(0, len(values) - 3), len(values)))] for _ in "ab"]
        values.append(np.sin(a) * np.cos(b))
    loss = np.sum(values[-1])
    graph = sg.graph(loss, sg.grad(loss, x))
    with pytest.raises(sg.MemoryBudgetError) as caught:
        graph.checkpoint("20%")
    least, bound = caught.value.least_bytes, caught.value.bound_bytes
    # The program may hold a few bytes beside the values of the model.
    assert bound <= least <= 1.01 * bound
    assert graph.checkpoint(least).memory_plan().peak_bytes <= least
    with pytest.raises(sg.MemoryBudgetError):
        graph.checkpoint(least - 1)


def test_a_budget_of_the_whole_peak_leaves_room_for_what_is_not_the_programs() -> None:
    """A program in blocks of rows has no other room than its results and the blocks."""
    x = sg.input("x", (100_000,))
    y: Any = x
    for _ in range(6):
        y = np.sin(y) + 0.5 * y
    loss = np.sum(y)
    graph = sg.graph(loss, sg.grad(loss, x)).simplify()
    budget = graph.memory_plan().peak_bytes
    plan = graph.checkpoint(budget)
    assert not copies(plan)
    assert plan.memory_plan().peak_bytes < budget - budget // 200
    at = {"x": np.linspace(0, 1, 100_000)}
    for one, other in zip(plan.lower()(**at), graph.lower()(**at), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert plan.evaluate(**at)[1].tobytes() == graph.evaluate(**at)[1].tobytes()
    loaded = sg.Graph.from_json(plan.to_json())
    assert loaded.memory_plan().peak_bytes == plan.memory_plan().peak_bytes
    assert plan.checkpoint("200%").memory_plan().peak_bytes == budget


def test_values_to_recompute_are_arrays_nodes_or_names() -> None:
    graph, values = deep()
    by_array = graph.checkpoint(recompute=[values[3]])
    by_node = graph.checkpoint(recompute=[values[3].node])
    assert copies(by_array) == copies(by_node) == 1
    named = sg.trace(lambda x: {"h": np.sin(x) * 2, "y": np.cos(x)}, x=(5,))
    name = next(iter(named.outputs))
    assert named.checkpoint(recompute=[name]).outputs.keys() == named.outputs.keys()
    with pytest.raises(sg.InputError, match="No input or output is named 'nothing'"):
        graph.checkpoint(recompute=["nothing"])


def test_a_budget_and_values_to_recompute_go_together() -> None:
    graph, values = deep()
    budget = graph.memory().peak_bytes // 2
    plan = graph.checkpoint(budget, recompute=[values[3]])
    assert plan.memory().peak_bytes <= budget
    assert 3 in again(plan)
    free = graph.checkpoint(graph.memory().peak_bytes, recompute=[values[3]])
    assert copies(free) == 1


def test_kept_values_are_not_computed_again() -> None:
    graph, values = deep()
    budget = graph.memory().peak_bytes * 3 // 4
    plan = graph.checkpoint(budget, keep=[values[4]])
    assert copies(plan)
    assert 4 not in again(plan)
    with pytest.raises(sg.MemoryBudgetError):
        graph.checkpoint("30%", keep=values)


def test_a_looser_budget_recomputes_less_than_the_tighter_one_before() -> None:
    graph, _ = deep()
    tight = graph.checkpoint("50%")
    loose = tight.checkpoint("100%")
    assert copies(tight)
    assert not copies(loose)


def test_simplify_plans_again() -> None:
    """The plan was lost, and the simplified graph needed more than the one never planned."""
    graph, _ = deep()
    plan = graph.checkpoint(60_000)
    small = plan.simplify()
    assert small.memory().peak_bytes <= 60_000
    assert copies(small)
    with pytest.raises(sg.InputError, match="lose the plan"):
        graph.checkpoint(recompute=[]).simplify()


def test_simplify_does_not_plan_again_without_the_hints() -> None:
    """What was to be kept would be computed again, without a word."""
    graph, inner = deep()
    with pytest.raises(sg.InputError, match="lose the plan"):
        graph.checkpoint(60_000, keep=[inner[0]]).simplify()


def test_simplify_of_a_planned_graph_keeps_what_is_named() -> None:
    def deep_and_named(x: Any) -> Any:
        for _ in range(12):
            x = np.sin(x)
        return np.sum(np.log(sg.name(np.exp(x), "growth")))

    graph = sg.trace(deep_and_named, x=sg.spec((1000,))).gradient("x", value=False)
    planned = graph.checkpoint("70%")
    assert copies(planned)
    with pytest.raises(sg.InputError, match="named 'nothing'"):
        planned.simplify(keep="nothing")


def test_a_scan_of_checkpoints_is_planned_or_refused() -> None:
    """The call did not return: the goal was lowered by 4 bytes at a time."""

    def loss(w: Any, x: Any) -> Any:
        def step(h: Any, each: Any) -> tuple[Any, None]:
            return np.tanh(h @ each), None

        return np.sum(sg.scan(step, x, w, checkpoint=8)[0])

    specs = {"w": sg.spec((16, 8, 8), "float32"), "x": sg.spec((16, 8), "float32")}
    graph = sg.trace(loss, **specs).gradient("w").simplify()
    with pytest.raises(sg.MemoryBudgetError) as caught:
        graph.checkpoint(1000)
    least = caught.value.least_bytes
    assert graph.checkpoint(least).memory().peak_bytes <= least
    with pytest.raises(sg.MemoryBudgetError):
        graph.checkpoint(least - 1)


def custom_chain(**told: Any) -> sg.Graph:
    @sg.custom_op(name="slow_sine", vjp=lambda ct, out, x: ct * np.cos(x), **told)
    def slow_sine(x: Any) -> Any:
        return np.sin(x)

    x = sg.input("x", (1000,))
    y: Any = x
    for _ in range(9):
        y = slow_sine(y)
    loss = np.sum(y)
    return sg.graph(loss, sg.grad(loss, x))


def test_custom_operations_tell_their_flops() -> None:
    plain, dear = custom_chain(), custom_chain(flops=123_456)
    assert int(str(dear.flops())) - int(str(plain.flops())) == 9 * (123_456 - 1000)
    formula = custom_chain(flops=lambda out, x: 7 * x.shape[0])
    assert int(str(formula.flops())) - int(str(plain.flops())) == 9 * 6000


def test_custom_operations_tell_their_working_room() -> None:
    plain, roomy = custom_chain(fresh=True), custom_chain(fresh=True, workspace=10**6)
    assert roomy.memory().peak_bytes > 10**6 > plain.memory().peak_bytes
    with pytest.raises(sg.MemoryBudgetError) as caught:
        roomy.checkpoint(10**6)
    assert caught.value.bound_bytes >= 10**6


def test_kernels_that_give_new_arrays_leave_no_budget_refused() -> None:
    graph = custom_chain(fresh=True)
    least = graph.memory().peak_bytes // 2
    plan = graph.checkpoint(least)
    assert plan.memory().peak_bytes <= least
    assert same_bits(graph, plan)
    lowered, x = plan.lower(), np.linspace(-1, 1, 1000)
    for one, other in zip(lowered(x=x), graph.evaluate(x=x), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_shared_array_is_refused_where_new_ones_were_promised() -> None:
    @sg.custom_op(name="turned", infer=lambda x: (x.shape, x.dtype), fresh=True)
    def turned(x: Any) -> Any:
        return x[::-1]

    graph = sg.graph(turned(sg.input("x", (5,))) + 1)
    with pytest.raises(sg.BackendError, match="fresh=True"):
        graph.lower()(x=np.arange(5.0))


@pytest.mark.whole
def test_all_plans_of_large_arrays_compute_the_same_bits() -> None:
    """Those of the interpreter. A program without a plan may add up rows block by block."""

    def loss(x: Any, w: Any, b: Any) -> Any:
        for _ in range(6):
            x = np.tanh(x @ w + b)
        return np.sum(x * x)

    specs = {"x": sg.spec((8192, 64)), "w": sg.spec((64, 64)), "b": sg.spec((64,))}
    graph = sg.trace(loss, **specs).gradient("x", "w", "b").simplify()
    random = np.random.default_rng(0)
    given = {name: random.normal(size=node.shape) / 8 for name, node in graph.dag.inputs.items()}

    def bits(results: Any) -> list[bytes]:
        value, gradients = results
        return [each.tobytes() for each in (value, *gradients)]

    wanted = bits(graph.evaluate(**given))
    full = graph.memory_plan().peak_bytes
    for share in (0.9, 0.7, 0.55):
        plan = graph.checkpoint(int(share * full))
        assert copies(plan)
        assert bits(plan.lower()(**given)) == wanted


@pytest.mark.whole
def test_a_cost_of_ones_own_decides_what_is_computed_again() -> None:
    graph, values = deep()
    dear = {values[2].node, values[5].node}
    plan = graph.checkpoint("75%", cost=lambda node: 1000.0 if node in dear else 1.0)
    assert copies(plan)
    assert not again(plan) & {2, 5}
    assert again(graph.checkpoint("75%", cost=lambda node: 0.0 if node in dear else 1.0)) & {2, 5}
    assert same_bits(graph, plan)
    with pytest.raises(sg.InputError, match="lose the plan"):
        plan.simplify()


def test_costs_may_be_measured() -> None:
    def loss(x: Any) -> Any:
        for _ in range(6):
            x = np.sin(0.5 * x + 0.1)
        return np.sum(x * x)

    graph = sg.trace(loss, x=sg.spec((20_000,))).gradient("x")
    plan = graph.checkpoint("60%", cost="measured")
    assert plan.memory_plan().peak_bytes <= 0.6 * graph.memory_plan().peak_bytes
    assert copies(plan)


def test_a_time_limit_gives_the_best_plan_so_far() -> None:
    graph, _ = deep(30)
    quick, slow = [graph.checkpoint("70%", time_limit=each) for each in (1e-9, 60.0)]
    budget = 0.7 * graph.memory().peak_bytes
    assert max(each.memory().peak_bytes for each in (quick, slow)) <= budget
    assert copies(quick) >= copies(slow) > 0
    with pytest.raises(sg.MemoryBudgetError, match="time_limit"):
        graph.checkpoint(9000, time_limit=1e-9)


@pytest.mark.parametrize("options", [{"cost": "time"}, {"time_limit": 0}, {"time_limit": "5"}])
def test_options_that_are_none(options: dict[str, Any]) -> None:
    graph, _ = deep()
    with pytest.raises(sg.InputError, match=next(iter(options))):
        graph.checkpoint("70%", **options)


def test_a_cost_that_is_no_number_is_refused() -> None:
    graph, _ = deep()
    for bad in (float("nan"), -1.0, "dear", None):
        with pytest.raises(sg.InputError, match="cost"):
            graph.checkpoint("70%", cost=lambda node, bad=bad: bad)


@pytest.mark.whole
@pytest.mark.parametrize("asked", [(), (1,), (240, 256)])
def test_the_least_budget_named_is_enough_whatever_was_asked_before(asked: tuple[int, ...]) -> None:
    def function(x: Any, y: Any) -> Any:
        a = np.sign(x) * x
        b = np.stack([a, a], axis=1)
        c = b - a
        d = a[..., :2, ::2]
        e = np.trace(y @ y.T)
        f = np.sqrt((e * x + e) ** 2 + d**2 + 1)
        g = (f + f) * (f - f)
        return np.sum(np.sin(c)) * 2 + np.mean(g) / 3

    def joint() -> sg.Graph:
        return sg.trace(function, x=(2, 2), y=(2, 1)).gradient("x", "y")

    with pytest.raises(sg.MemoryBudgetError) as told:
        joint().checkpoint(8)
    graph = joint()
    for budget in asked:
        with suppress(sg.MemoryBudgetError):
            graph.checkpoint(budget)
    least = told.value.least_bytes
    for budget in (least, least + 1, least + 16):
        assert graph.checkpoint(budget).memory().peak_bytes <= budget
    with pytest.raises(sg.MemoryBudgetError) as again:
        graph.checkpoint(8)
    assert again.value.least_bytes == least


def test_a_share_of_nothing_is_a_budget() -> None:
    nothing = sg.trace(lambda x: np.exp(x[:0]), x=3)
    assert nothing.memory().peak_bytes == 0
    assert nothing.checkpoint("70%").memory().peak_bytes == 0


def test_values_without_elements_stay_as_they_are() -> None:
    """Nothing is gained where they are computed again, and no cost for each byte is known."""

    def loss(x: Any, y: Any) -> Any:
        return np.sum(np.sqrt(np.reciprocal(np.hypot(np.transpose(y[:0]), x))))

    graph = sg.trace(loss, x=(), y=(1, 3, 3)).gradient("x", "y")
    with pytest.raises(sg.MemoryBudgetError, match="the least is 144 B"):
        graph.checkpoint("95%")
