"""What a memory budget costs: peak, recomputed operations and planning time, by kind of gradient.

Run as `python benchmarks/bench_memory.py`. Peaks are measured by tracemalloc on the lowered
program.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from symgraph.array import Array
from symgraph.autodiff.reverse import gradients
from symgraph.backends.base import lower
from symgraph.ir.cost import flops
from symgraph.ir.dag import Dag
from symgraph.memory.liveness import memory
from symgraph.memory.rematerialization import checkpointed, frontier
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


def main() -> None:
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


if __name__ == "__main__":
    main()
