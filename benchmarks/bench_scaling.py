"""Seconds of each stage against the size of the graph: growth must stay linear.

Run it from the repository's root:

    python benchmarks/bench_scaling.py             # random graphs of 800 to 23,000 nodes
    python benchmarks/bench_scaling.py --networks  # and networks of many layers
    python benchmarks/bench_scaling.py --chain     # and a chain of 100,000 nodes
    python benchmarks/bench_scaling.py --profile   # where the time of the largest graph goes
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
from randomgraphs import NETWORKS, chain, random_function

import symgraph as sg

LIMIT_SECONDS = 2.0
"""To simplify a graph of up to 10,000 nodes, and for each 10,000 of a larger one."""
LIMIT_RATIO = 3.0
"""How much longer a step of any graph may take, in all stages, than one of the smallest."""


class Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def run(self, stage: str, work: Callable[[], Any]) -> Any:
        begin = time.perf_counter()
        result = work()
        self.seconds[stage] = time.perf_counter() - begin
        return result

    @property
    def total(self) -> float:
        """Of the stages of the pipeline; what is run besides to check is left out."""
        return sum(self.seconds[each] for each in ("trace", "gradient", "simplify", "lower"))


def pipeline(f: Callable[..., Any], arrays: dict[str, Any], wrt: str) -> tuple[Clock, list[int]]:
    """Trace, gradient, simplify, lower and call; with the number of nodes after each stage."""
    clock = Clock()
    forward = clock.run("trace", lambda: sg.trace(f, **arrays))
    joint = clock.run("gradient", lambda: forward.gradient(wrt))
    small = clock.run("simplify", joint.simplify)
    program = clock.run("lower", small.lower)
    found = clock.run("call", lambda: program(**arrays))
    wanted = clock.run("interpret", lambda: joint.evaluate(**arrays))
    scale = max(1.0, float(np.max(np.abs(wanted[1]))))
    if not np.allclose(found[1] / scale, wanted[1] / scale, rtol=1e-6, atol=1e-9):
        raise SystemExit("the lowered gradient is wrong")
    return clock, [len(forward), len(joint), len(small)]


def arrays(seed: int = 0) -> dict[str, Any]:
    """Inputs of a random graph."""
    rng = np.random.default_rng(seed)
    return {"x": rng.normal(size=(4, 3)), "w": rng.normal(size=(3, 3))}


def random_graphs(sizes: list[int], repeats: int) -> bool:
    """A table of sizes; whether both limits are kept."""
    pipeline(random_function(200), arrays(), "w")
    print("nodes (forward, with gradient, simplified)    seconds: trace gradient simplify lower | "
          "total (times linear from the first)")  # fmt: skip
    kept, first = True, 0.0
    for size in sizes:
        runs = [pipeline(random_function(size, seed), arrays(), "w") for seed in range(repeats)]
        clock, nodes = min(runs, key=lambda run: run[0].total)
        first = first or clock.total / size
        ratio = clock.total / size / first
        stages = "  ".join(
            f"{clock.seconds[s]:6.3f}" for s in ("trace", "gradient", "simplify", "lower")
        )
        print(f"{size:7d} {nodes!s:26s}  {stages} | {clock.total:6.3f} ({ratio:.2f})")
        allowed = LIMIT_SECONDS * max(1.0, nodes[1] / 10_000)
        kept = kept and clock.seconds["simplify"] <= allowed and ratio < LIMIT_RATIO
    return kept


def networks() -> None:
    """Networks of a quarter, half and all of the layers that make about 10,000 nodes."""
    given = {**arrays(), "v": np.full((3, 3), 0.1)}
    for kind, (made, layers) in NETWORKS.items():
        for count in (layers // 4, layers // 2, layers):
            clock, nodes = pipeline(made(count), given, "w")
            seconds = clock.seconds["simplify"]
            print(
                f"{kind:10s} {count:4d} layers {nodes!s:22s} simplify {seconds:6.3f} s"
                f" ({1e6 * seconds / nodes[1]:.0f} us a node)  all stages {clock.total:6.3f} s"
            )


def long_chain(length: int) -> None:
    """Every stage of a chain."""
    given = {"x": np.linspace(-1, 1, 3)}
    clock, nodes = pipeline(chain(length), given, "x")
    print(f"chain of {length}: nodes {nodes}")
    forward = sg.trace(chain(length), **given)
    joint = forward.gradient("x")
    clock.run("verify", joint.verify)
    clock.run("networkx", lambda: joint.nx)
    clock.run("memory", joint.memory)
    clock.run("text", lambda: str(joint))
    clock.run("python", joint.to_python)
    clock.run("dot", joint.to_dot)
    print("  ".join(f"{stage} {seconds:.2f} s" for stage, seconds in clock.seconds.items()))


def main() -> None:
    """Print the tables; exit with 1 if a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--chain", action="store_true")
    parser.add_argument("--networks", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--sizes", type=int, nargs="+", default=[430, 900, 2200, 4300, 10000])
    parser.add_argument("--repeats", type=int, default=2)
    chosen = parser.parse_args()
    if chosen.profile:
        with cProfile.Profile() as profile:
            pipeline(random_function(max(chosen.sizes)), arrays(), "w")
        pstats.Stats(profile).sort_stats("tottime").print_stats(35)
        return
    kept = random_graphs(chosen.sizes, chosen.repeats)
    if chosen.networks:
        networks()
    if chosen.chain:
        long_chain(100_000)
    print(f"within {LIMIT_SECONDS:.0f} s a 10,000 nodes and {LIMIT_RATIO:.0f} times linear: {kept}")
    raise SystemExit(not kept)


if __name__ == "__main__":
    main()
