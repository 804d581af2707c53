"""What a memory budget costs: peak, recomputed operations and planning time, by kind of gradient.

Run as `python benchmarks/bench_memory.py`, or with some of `uniform`, `chains`, `networks`,
`large`, `resident`, `deep`, `peers` (with JAX and PyTorch) and `graphs` for these alone. Peaks of
`graphs` are measured by tracemalloc on the lowered program; `resident` is what a fresh process on
Linux gains over its inputs in four calls.
"""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
import plannednetworks as networks
from residentprograms import ROWS, numbers

import symgraph as sg
from symgraph.array import Array
from symgraph.autodiff.reverse import gradients
from symgraph.backends.lowered import lower
from symgraph.errors import MemoryBudgetError
from symgraph.ir.cost import flops
from symgraph.ir.dag import Dag
from symgraph.lowering.memory_model import Model, profile
from symgraph.memory.aims import Terms
from symgraph.memory.chains import chain_of
from symgraph.memory.exact_search import ExactSearch
from symgraph.memory.live_set_costs import LiveSetCosts
from symgraph.memory.liveness import memory
from symgraph.memory.planner import backward_steps, searched
from symgraph.memory.plans import evaluated, pareto
from symgraph.memory.refinement import refined
from symgraph.memory.rematerialization import checkpointed, frontier
from symgraph.memory.uniform_chains import revolve_cost, uniform_sequence
from symgraph.ops.creation import input

Inputs = dict[str, Array]


def _closed(inputs: Inputs, loss: Any, wrt: list[Array]) -> Dag:
    found = [gradient for gradient in gradients(loss, wrt) if gradient is not None]
    nodes = {name: each.node for name, each in inputs.items()}
    return Dag(nodes, [loss.node, *[each.node for each in found]])


def mlp(layers: int, batch: int = 512, width: int = 64) -> Dag:
    """Layers of tanh and a sum of squares; gradients of all weights and biases."""
    inputs: Inputs = {"x": input("x", (batch, width))}
    h: Any = inputs["x"]
    wrt: list[Array] = []
    for layer in range(layers):
        weight = inputs[f"w{layer}"] = input(f"w{layer}", (width, width))
        bias = inputs[f"b{layer}"] = input(f"b{layer}", (width,))
        wrt += [weight, bias]
        h = np.tanh(h @ weight + bias)
    return _closed(inputs, np.sum(h * h), wrt)


def chain(length: int, size: int = 4096) -> Dag:
    """A sine of a sine of ...: the uniform chain of the binomial schedule."""
    x = input("x", (size,))
    y: Any = x
    for _ in range(length):
        y = np.sin(y)
    return _closed({"x": x}, np.sum(y), [x])


def attention(blocks: int, length: int = 128, width: int = 64) -> Dag:
    """Residual blocks of attention and a two-layer perceptron, softmax written out."""
    inputs: Inputs = {"x": input("x", (length, width))}
    h: Any = inputs["x"]
    wrt: list[Array] = []

    def weight(name: str, rows: int, columns: int) -> Array:
        inputs[name] = input(name, (rows, columns))
        wrt.append(inputs[name])
        return inputs[name]

    for block in range(blocks):
        q, k, v = (h @ weight(f"{name}{block}", width, width) for name in "qkv")
        scores = q @ k.T / np.sqrt(width)
        e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        h = h + (e / np.sum(e, axis=-1, keepdims=True)) @ v
        up = np.tanh(h @ weight(f"u{block}", width, 4 * width))
        h = h + up @ weight(f"d{block}", 4 * width, width)
    return _closed(inputs, np.sum(h * h), wrt)


def tangle(steps: int, size: int = 4096, seed: int = 0) -> Dag:
    """A random graph of elementwise steps that read near and far values."""
    random = np.random.default_rng(seed)
    x = input("x", (size,))
    values: list[Any] = [x]
    for _ in range(steps):
        a = values[max(0, len(values) - 1 - int(random.exponential(3)))]
        b = values[max(0, len(values) - 1 - int(random.exponential(12)))]
        kind = int(random.integers(3))
        values.append(np.sin(a) if kind == 0 else a * np.cos(b) if kind == 1 else 0.5 * a + b)
    return _closed({"x": x}, np.sum(sum(values[-4:])), [x])


def measured(dag: Dag) -> int:
    """Bytes a run of the lowered program allocates at most."""
    random = np.random.default_rng(0)
    given = {
        name: 0.1 * random.normal(size=node.shape).astype(node.dtype)
        for name, node in dag.inputs.items()
    }
    program = lower(dag)
    program(**given)
    tracemalloc.start()
    program(**given)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


CASES: dict[str, Callable[[], Dag]] = {
    "chain 64": lambda: chain(64),
    "chain 1000": lambda: chain(1000),
    "mlp 8": lambda: mlp(8),
    "mlp 64": lambda: mlp(64),
    "attention 2": lambda: attention(2),
    "attention 12": lambda: attention(12),
    "random 30": lambda: tangle(30),
    "random 500": lambda: tangle(500),
    "random 3000": lambda: tangle(3000, size=512),
}


def uniform() -> None:
    """Uniform chains beside the binomial optimum, at every number of values up to 200."""
    for length in (8, 64, 500, 5000):
        n = length
        reads = [(i - 1,) if i else () for i in range(n)]
        reads += [(n + k - 1, n - 1 - k) if k else (n - 1,) for k in range(n)]
        takes = [(i - 1,) if i else () for i in range(n)] + [()] * n
        sizes = (*[1] * n, *[0] * n)
        model = Model((), tuple(reads), sizes, (1,) * (2 * n), tuple(takes), (2 * n - 1,))
        chain = chain_of(model)
        assert chain is not None
        worst, tried, seconds = 0.0, 0, 0.0
        for values in range(4, min(n, 200) + 1, 1 if n < 5000 else 28):
            start = time.perf_counter()
            sequence = uniform_sequence(chain, values)
            seconds = max(seconds, time.perf_counter() - start)
            plan = evaluated(model, sequence)
            best = revolve_cost(n + 1, values) - n
            tried += 1
            if plan.peak > values or best > plan.extra_cost:
                worst = float("inf")
            elif best:
                worst = max(worst, plan.extra_cost / best - 1)
        print(
            f"uniform chain {n:5}: {tried:3} numbers of values, worst {worst:.2%} above the "
            f"binomial optimum, at most {seconds:.2f} s a plan"
        )


def uneven(length: int, seed: int) -> Dag:
    """A chain of values of random bytes and costs, as custom operations, and its gradient.

    Every other chain has gradient steps that read the value before theirs, too.
    """
    random = np.random.default_rng([length, seed])
    if seed % 2:
        sizes = [int(each) for each in 1 + 40 * np.exp(random.normal(0, 1, length))]
        costs = [int(each) for each in 1 + 1000 * np.exp(random.normal(0, 1.2, length))]
    else:
        sizes = [8 * int(each) for each in random.integers(1, 10, length)]
        costs = [100 * int(each) for each in random.integers(1, 20, length)]

    def step(number: int, before: int) -> Callable[..., Any]:
        size, cost = sizes[number], costs[number]
        options = {"infer": lambda *_: ((before,), "float64"), "flops": cost, "fresh": True}
        back = sg.custom_op(lambda *_: np.zeros(before), name=f"back{number}", **options)
        options["infer"] = lambda *_: ((size,), "float64")
        vjp = (
            (lambda ct, out, x: back(ct, out, x))
            if seed % 4 < 2
            else lambda ct, out, _: back(ct, out)
        )
        return sg.custom_op(lambda _: np.zeros(size), name=f"step{number}", vjp=vjp, **options)

    x = input("x", (4,))
    value: Any = x
    for number in range(length):
        value = step(number, value.shape[0])(value)
    return _closed({"x": x}, np.sum(value), [x])


def chains() -> None:
    """Chains of random costs and sizes beside the optimum, by tables of all sets of live values."""
    above: list[float] = []
    for length in (8, 11, 14, 17):
        for seed in range(6):
            search = searched(uneven(length, seed), Terms())
            model, front = search.model, search.front
            low, high = front[0].peak, profile(model, range(len(model))).peak
            for share in (0.9, 0.7, 0.5, 0.3, 0.15, 0.05, 0.0):
                budget = int(low + share * (high - low))
                plans = pareto([*front, *refined(search, budget)])
                plan = [each for each in plans if each.peak <= budget][-1]
                states = ExactSearch(model, backward_steps(model)).states
                found = LiveSetCosts(states, budget).cheapest()
                assert found is not None
                least, once = evaluated(model, found).extra_cost, sum(model.costs)
                above.append((once + plan.extra_cost) / (once + least))
    mean = np.exp(np.mean(np.log(above))) - 1
    print(
        f"{len(above)} budgets of uneven chains: geometric mean {mean:.3%} above the optimum, "
        f"worst {max(above) - 1:.1%}, {above.count(1.0)} at it"
    )


NETWORKS: dict[str, tuple[Callable[[], Any], tuple[float, ...]]] = {
    "mlp, 64 layers": (networks.mlp, (0.9, 0.8, 0.7, 0.6, 0.55)),
    "transformer, 12 blocks": (networks.transformer, (0.7, 0.6, 0.5, 0.4, 0.3)),
    "convolutions, 8 layers": (networks.convolutions, (0.9, 0.7)),
    "lstm, 50 steps": (networks.lstm, (0.7, 0.5, 0.3)),
    "residual, 1000 blocks": (networks.residual, (0.7, 0.6, 0.5)),
}


def simplified_networks(names: list[str]) -> None:
    """Operations added at shares of the peak, after simplify, and seconds of planning."""
    for name in names:
        make, shares = NETWORKS[name]
        graph = make().simplify()
        full = graph.memory().peak_bytes
        start = time.perf_counter()
        graph.memory_frontier()
        seconds = time.perf_counter() - start
        for share in shares:
            try:
                plan = graph.checkpoint(int(share * full)).memory_plan()
            except MemoryBudgetError as error:
                print(f"{name:24} {share:5.0%}  refused, least {error.least_bytes / full:.1%}")
                continue
            print(
                f"{name:24} {share:5.0%}  {plan.overhead:+7.1%} flops, peak "
                f"{plan.peak_bytes / full:5.1%}, at most {plan.gap:.1%} above the least"
            )
        print(f"{name:24} {len(graph.nodes)} nodes planned in {seconds:.1f} s")


_CHILD = """
import sys
sys.path.insert(0, {folder!r})
from residentmemory import grown
print(*grown({name!r}, {share}))
"""


def resident() -> None:
    """What a fresh process gains in resident memory over four calls, beside the plan."""
    worst = above = 0.0
    over = 0
    for name, share in ROWS:
        child = _CHILD.format(folder=sys.path[0], share=share, name=name)
        found = subprocess.run(
            [sys.executable, "-c", child], capture_output=True, text=True, check=True
        )
        predicted, budget, grown = [int(each) for each in found.stdout.split()]
        over += grown > budget
        worst = max(worst, abs(grown / predicted - 1))
        above = max(above, grown / predicted - 1)
        print(
            f"{name:24} budget {share or 1:4.0%}: predicted {predicted / 1e6:6.1f} MB, "
            f"resident {grown / 1e6:6.1f} MB ({grown / predicted - 1:+.1%})"
        )
    print(
        f"{len(ROWS)} programs: at most {above:+.1%} above the plan, {worst:.1%} from it; "
        f"{over} above the budget"
    )


def deep() -> None:
    """64 layers of 1024, batch 2048, float32: CPU time under budgets, beside that without one."""
    for name, make in (("separate", networks.mlp), ("stacked", networks.stacked)):
        graph = make(64, 2048, 1024).simplify()
        plans = {"none": graph, **{each: graph.checkpoint(each) for each in ("420 MB", "300 MB")}}
        functions = {each: plan.lower() for each, plan in plans.items()}
        given = numbers(graph, np.random.default_rng(0))
        seconds: dict[str, float] = {}
        for _ in range(3):
            for budget, function in functions.items():
                start = time.process_time()
                results = function(**given)
                taken = time.process_time() - start
                del results
                function.release()
                seconds[budget] = min(seconds.get(budget, taken), taken)
        for budget, plan in plans.items():
            print(
                f"64 layers, {name:8} weights, budget {budget:6}: planned "
                f"{plan.memory_plan().peak_bytes / 1e6:5.1f} MB, CPU {seconds[budget]:.2f} s, "
                f"{seconds[budget] / seconds['none']:.2f} times"
            )


def peers() -> None:
    """The same layers beside `jax.checkpoint` and `torch.utils.checkpoint`, each in a process."""
    script = str(Path(__file__).resolve().parent / "peers" / "memory.py")
    asked = {"symgraph": ("none", "420 MB", "300 MB"), "jax": ("none", "groups")}
    asked["torch"] = asked["jax"]
    for weights in ("separate", "stacked"):
        for library, budgets in asked.items():
            alone = 0.0
            for budget in budgets:
                found = subprocess.run(
                    [sys.executable, script, library, weights, budget],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                grown, seconds = [float(each) for each in found.stdout.split()]
                alone = alone or seconds
                print(
                    f"64 layers, {weights:8} weights, {library:8} {budget:6}: resident "
                    f"{grown / 1e6:6.1f} MB, CPU {seconds:6.2f} s, {seconds / alone:.2f} times",
                    flush=True,
                )


def graphs() -> None:
    """Print one row a graph and budget."""
    print(f"{'graph':14} {'nodes':>6} {'budget':>7} {'peak':>12} {'measured':>9} {'flops':>8}")
    for name, make in CASES.items():
        dag = make()
        full, plain = memory(dag).peak_bytes, int(str(flops(dag.outputs)))
        start = time.perf_counter()
        least = frontier(dag)[0][0]
        seconds = time.perf_counter() - start
        for share in (1.0, 0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.0):
            budget = max(int(full * share), least)
            if share and budget == least:
                continue
            plan = checkpointed(dag, budget)
            peak = memory(plan).peak_bytes
            again = int(str(flops(plan.outputs))) / plain - 1
            print(
                f"{name:14} {len(dag):6} {budget / full:7.1%} {peak:12} "
                f"{measured(plan) / peak:9.3f} {again:+8.1%}"
            )
        print(f"{name:14} planned in {seconds:.2f} s")


def main() -> None:
    """Print the tables that are asked for, or all but `peers`."""
    small = [name for name in NETWORKS if not name.startswith("residual")]
    tables: dict[str, Callable[[], None]] = {
        "uniform": uniform,
        "chains": chains,
        "networks": lambda: simplified_networks(small),
        "large": lambda: simplified_networks(["residual, 1000 blocks"]),
        "resident": resident,
        "deep": deep,
        "peers": peers,
        "graphs": graphs,
    }
    asked = sys.argv[1:] or [name for name in tables if name != "peers"]
    if unknown := [name for name in asked if name not in tables]:
        raise SystemExit(f"There is no table {unknown[0]!r}. Tables: {', '.join(tables)}.")
    for name in asked:
        tables[name]()


if __name__ == "__main__":
    main()
