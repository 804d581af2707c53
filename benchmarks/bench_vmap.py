"""`vmap` against a loop, and against what is written by hand: times, and lengths of graphs.

Run it with `python benchmarks/bench_vmap.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from timeit import repeat
from typing import Any

import numpy as np

import symgraph as sg
import symgraph.numpy as snp


def loss(p: Any, x: Any, t: Any) -> Any:
    """Cross-entropy of two dense layers, for one example."""
    h = np.tanh(x @ p["w1"] + p["b1"])
    return -np.sum(t * snp.log_softmax(h @ p["w2"] + p["b2"]))


def by_hand(p: Any, x: Any, t: Any) -> Any:
    """The mean of the same over a batch."""
    h = np.tanh(x @ p["w1"] + p["b1"])
    return np.mean(-np.sum(t * snp.log_softmax(h @ p["w2"] + p["b2"]), axis=-1))


def mapped(p: Any, x: Any, t: Any) -> Any:
    """The mean of `loss` over a batch."""
    return np.mean(sg.vmap(loss, in_axes=(None, 0, 0))(p, x, t))


def microseconds(f: Callable[[], Any]) -> float:
    """The best of five, after one call that compiles."""
    f()
    return min(repeat(f, number=5, repeat=5)) / 5 * 1e6


def main() -> None:
    """Print both tables."""
    rng = np.random.default_rng(0)
    shapes = {"w1": (8, 16), "b1": (16,), "w2": (16, 5), "b2": (5,)}
    p = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    one = sg.grad(loss)
    all_at_once = sg.vmap(one, in_axes=(None, 0, 0))
    print("gradients of each example, in microseconds")
    for size in (1, 8, 32, 256):
        x, t = rng.normal(size=(size, 8)), np.eye(5)[rng.integers(0, 5, size)]
        at_once = microseconds(lambda x=x, t=t: all_at_once(p, x, t))
        loop = microseconds(lambda x=x, t=t: [one(p, *each) for each in zip(x, t, strict=True)])
        print(
            f"  {size:4d} examples   vmap {at_once:9.0f}   loop {loop:9.0f}   {loop / at_once:.1f}x"
        )
    print("operations of the loss of a batch and its gradient, simplified")
    for name, f in (("vmap", mapped), ("by hand", by_hand)):
        graph = sg.value_and_grad(f).graph(p, x, t)
        print(f"  {name:8s}{len(graph.dag.nodes):4d} nodes")


if __name__ == "__main__":
    main()
