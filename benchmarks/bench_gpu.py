"""Gradients on a GPU beside JAX's and PyTorch's own, as ratios of a call's time.

    python benchmarks/bench_gpu.py                     # all workloads
    python benchmarks/bench_gpu.py MLP LSTM            # those whose names begin so
    python benchmarks/bench_gpu.py --device cpu --size 0.01     # a rehearsal

Workloads are those of `bench_peers.py` at sizes that fill a GPU, in single precision. Each has a
process of its own, in which all libraries compile at once; values are checked against JAX's. When
all are ready, or `--ready` seconds have passed, one after the other is timed: rounds alternate
between the libraries, each of as many calls as fill `--fill` seconds, with the device waited for at
the end; medians count. Products have all digits of single precision in each library: neither JAX
nor PyTorch may use the tensor cores' ten bits. Below 1.00 symgraph is ahead.
"""

from __future__ import annotations

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import argparse
import json
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from peers.large import large
from peers.libraries import by_jax, by_symgraph, by_torch, flat
from peers.workloads import Workload

PAIRS = {
    "jax": ("symgraph → jax", "JAX"),
    "torch.compile": ("symgraph → torch.compile", "torch.compile"),
    "torch": ("symgraph → torch", "torch"),
    "cupy / torch": ("symgraph → cupy", "torch"),
}
"""The columns: whose time is divided by whose."""


# -- a workload in its own process -----------------------------------------------------------------
def makers(device: str) -> dict[str, Callable[[Workload], Callable[[], Any]]]:
    """What makes a call of a workload, by library."""
    ours = partial(by_symgraph, device=device)
    return {
        "JAX": by_jax,
        "symgraph → jax": partial(ours, backend="jax"),
        "torch": partial(by_torch, device=device),
        "symgraph → torch": partial(ours, backend="torch", compiled=False),
        "torch.compile": partial(by_torch, compiled=True, device=device),
        "symgraph → torch.compile": partial(ours, backend="torch"),
        **({} if device == "cpu" else {"symgraph → cupy": partial(ours, backend="cupy")}),
    }


def waits(device: str) -> Callable[[str], None]:
    """A function that waits until the device has done what a library asked for."""
    if device == "cpu":
        return lambda name: None

    def wait(name: str) -> None:
        if "cupy" in name:
            import_module("cupy").cuda.get_current_stream().synchronize()
        elif "torch" in name:
            import_module("torch").cuda.synchronize()

    return wait


def wrong(results: Any, want: list[Any]) -> str:
    """What is wrong with results; empty if they are those wanted."""
    for got, expected in zip(flat(results), want, strict=True):
        far = float(np.max(np.abs(got - expected), initial=0))
        scale = float(np.max(np.abs(expected), initial=1e-30))
        if got.shape != expected.shape or not far <= 2e-3 * scale:
            return f"{got.shape}, off by {far / scale:.1e} of the largest"
    return ""


def one(work: Workload, options: argparse.Namespace) -> None:
    """Compile, say so, wait for the turn, measure, and print seconds of a call by library."""
    import_module("jax").config.update("jax_default_matmul_precision", "highest")
    import_module("torch").backends.cudnn.allow_tf32 = False
    wait, calls, missing = waits(options.device), dict[str, Any](), dict[str, str]()
    want: list[Any] | None = None
    wanted = {"JAX", *[name for each in options.columns for name in PAIRS[each]]}
    for name, make in makers(options.device).items():
        if name not in wanted:
            continue
        try:
            start = time.perf_counter()
            call = make(work)
            results = flat(call())
            missing_why = wrong(results, want or results)
            first = time.perf_counter() - start
            print(f"{options.one}, {name}: first {first:.1f} s", file=sys.stderr)
        except Exception as error:  # Whatever a library raises, the others are measured.
            missing[name] = f"{type(error).__name__}: {error}"[:600]
            continue
        want = want or results
        if missing_why:
            missing[name] = f"other numbers: {missing_why}"
        else:
            calls[name] = call
    print("ready", flush=True)
    sys.stdin.readline()
    times = medians(calls, wait, options.fill, options.rounds)
    print(json.dumps({"seconds": times, "missing": missing}))


def medians(
    calls: Mapping[str, Callable[[], Any]], wait: Callable[[str], None], fill: float, rounds: int
) -> dict[str, float]:
    """Seconds of a call, by library."""

    def seconds(name: str, count: int) -> float:
        wait(name)
        start = time.perf_counter()
        for _ in range(count):
            calls[name]()
        wait(name)
        return (time.perf_counter() - start) / count

    counts = {name: max(1, int(fill / max(seconds(name, 2), 1e-6))) for name in calls}
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name in calls:
            found[name].append(seconds(name, counts[name]))
    return {name: statistics.median(times) for name, times in found.items()}


# -- all of them -----------------------------------------------------------------------------------
def started(name: str, options: argparse.Namespace) -> subprocess.Popen[str]:
    """The process of a workload."""
    command = [sys.executable, __file__, "--one", name, "--device", options.device]
    command += ["--size", str(options.size), "--fill", str(options.fill)]
    command += ["--rounds", str(options.rounds), "--columns", *options.columns]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def when_ready(running: Mapping[str, subprocess.Popen[str]], limit: float) -> list[str]:
    """The workloads that are ready before the limit; the others are ended."""
    end, waiting, ready = time.monotonic() + limit, dict(running), list[str]()
    while waiting and (left := end - time.monotonic()) > 0:
        streams: dict[Any, str] = {each.stdout: name for name, each in waiting.items()}
        for stream in select.select(list(streams), [], [], left)[0]:
            name = streams[stream]
            waiting.pop(name)
            if stream.readline().strip() == "ready":
                ready.append(name)
    for name, each in waiting.items():
        each.kill()
        print(f"not measured: {name}: not compiled after {limit:.0f} s")
    return [name for name in running if name in ready]


def card(device: str) -> str:
    """The device, and the versions of libraries."""
    torch, jax = import_module("torch"), import_module("jax")
    name = "CPU" if device == "cpu" else torch.cuda.get_device_name()
    try:
        cupy = import_module("cupy").__version__
    except ImportError:
        cupy = "none"
    return f"{name}; jax {jax.__version__}, torch {torch.__version__}, cupy {cupy}"


def options_read() -> argparse.Namespace:
    """The options of the command."""
    reader = argparse.ArgumentParser(description="Gradients on a GPU beside other libraries.")
    reader.add_argument("workloads", nargs="*", help="only those whose names begin so")
    reader.add_argument("--columns", nargs="+", default=list(PAIRS), choices=list(PAIRS))
    reader.add_argument("--device", default="cuda", help="torch's name for it")
    reader.add_argument("--size", type=float, default=1.0, help="times the batches")
    reader.add_argument("--ready", type=float, default=300, help="seconds to compile in")
    reader.add_argument("--fill", type=float, default=0.05, help="seconds of a round")
    reader.add_argument("--rounds", type=int, default=7)
    reader.add_argument("--one", help="measure this one here")
    return reader.parse_args()


def printed(name: str, cells: list[str]) -> None:
    """A line of the table."""
    print(f"{name:30}" + "".join([f"{each:>15}" for each in cells]), flush=True)


def main() -> None:
    """Print the table."""
    options = options_read()
    works = large(options.size)
    if options.one:
        one(works[options.one], options)
        return
    chosen = [n for n in works if not options.workloads or n.startswith(tuple(options.workloads))]
    running = {name: started(name, options) for name in chosen}
    ready = when_ready(running, options.ready)
    print(card(options.device))
    printed("workload", options.columns)
    ratios: dict[str, list[float]] = {each: [] for each in options.columns}
    notes: list[str] = []
    for name in ready:
        told, _ = running[name].communicate("go\n")
        found = json.loads(told or '{"seconds": {}, "missing": {"all": "the process ended"}}')
        times, cells = found["seconds"], list[str]()
        for each in options.columns:
            ours, theirs = PAIRS[each]
            known = ours in times and theirs in times
            ratios[each] += [times[ours] / times[theirs]] if known else []
            cells.append(f"{ratios[each][-1]:.2f}" if known else "–")
        printed(name, cells)
        rows = ", ".join([f"{library} {each * 1e3:.3f}" for library, each in times.items()])
        notes.append(f"ms of {name}: {rows}")
        notes += [f"not measured: {k} on {name}: {v}" for k, v in found["missing"].items()]
    means = [f"{np.exp(np.mean(np.log(each))):.2f}" if each else "–" for each in ratios.values()]
    printed("geometric mean", means)
    print("\n".join(["", *notes]))


if __name__ == "__main__":
    main()
