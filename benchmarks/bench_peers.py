"""Fourteen gradients, Hessians and Jacobians beside other libraries, as ratios of a call's time.

Each function is written once for all. In one run, on one core:

    python benchmarks/bench_peers.py                    # all workloads and libraries that are here
    python benchmarks/bench_peers.py MLP attention      # workloads whose names begin so
    python benchmarks/bench_peers.py --without torch.compile "PyTensor C"
    python benchmarks/bench_peers.py --markdown         # the table of the README

Values are checked against the first library before a clock starts; rounds alternate between the
libraries, and medians of CPU time count. `first` is the CPU time from the data to the first
result, derivation and compilation included and nothing read from disk, over JAX's; symgraph's is
measured in a new process that has derived nothing but a small gradient. `memory` is how much the
process grows at most in a steady call, over the least of JAX, PyTorch and autograd (of JAX what its
compiler tells): temporaries kept between calls and results count, what a library needs by itself
does not. Below 1.00 symgraph is ahead.

Leave OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE unset: they choose the kernels of NumPy, autograd and
PyTensor, and not those of JAX and PyTorch. The first line of the output tells the former if set.

Peers that are missing, or cannot compute a workload, are told below the table.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)
os.environ["SYMGRAPH_CACHE"] = ""  # Machine code is compiled, not read from disk.
os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import argparse  # noqa: E402
import sys  # noqa: E402
from collections.abc import Iterable, Mapping  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from peers.libraries import LIBRARIES, Call, flat  # noqa: E402
from peers.measures import first_alone, first_call, machine, medians, memory  # noqa: E402
from peers.workloads import WARM_UP, WORKLOADS, Workload  # noqa: E402

OURS = ("numpy", "native", "jax backend", "torch backend")
ENGINES = {"jax backend": "JAX", "torch backend": "torch.compile"}
"""Backends that are measured against their engine's own derivative, not against the best peer."""


def checked(results: Any, want: list[np.ndarray[Any, Any]]) -> str:
    """What is wrong with results; empty if they are those wanted."""
    found = flat(results)
    if len(found) != len(want):
        return f"{len(found)} results for {len(want)}"
    for got, expected in zip(found, want, strict=True):
        far = 2e-3 if expected.dtype == np.float32 else 1e-7
        scale = float(np.max(np.abs(expected), initial=1e-30))
        if got.shape != expected.shape or not np.allclose(got, expected, far, far * scale):
            return "other numbers"
    return ""


def prepared(
    work: Workload, libraries: Iterable[str]
) -> tuple[dict[str, Call], dict[str, float], dict[str, str]]:
    """By library the call, the seconds to the first result, and why there is none."""
    calls: dict[str, Call] = {}
    firsts: dict[str, float] = {}
    missing: dict[str, str] = {}
    want: list[np.ndarray[Any, Any]] | None = None
    for name in libraries:
        try:
            call, results, firsts[name] = first_call(LIBRARIES[name][1], work)
        except Exception as error:  # Whatever a library raises, the others are measured.
            missing[name] = f"{type(error).__name__}: {error}".splitlines()[0][:90]
            continue
        if want is None:
            want = [np.array(each) for each in flat(results)]
        wrong = checked(results, want)
        if wrong:
            missing[name] = wrong
        else:
            calls[name] = call
    return calls, firsts, missing


def firsts_alone(works: Iterable[str], libraries: Iterable[str]) -> dict[str, Any]:
    """Of symgraph the seconds to the first result of each workload, by library."""
    mine = [name for name in ("numpy", "native") if name in libraries]
    return {
        workload: {name: first_alone([__file__, workload, "--first", name]) for name in mine}
        for workload in works
    }


def told_first(workload: str, library: str) -> None:
    """Print the seconds to the first result of a workload in this process, once it is warm."""
    prepared(WARM_UP, [library])
    print(first_call(LIBRARIES[library][1], WORKLOADS[workload])[2])


def row_of(
    work: Workload, libraries: Iterable[str], rounds: int, alone: Mapping[str, float]
) -> tuple[dict[str, Any], Any]:
    """What the table shows of a workload, and what is missing."""
    calls, firsts, missing = prepared(work, libraries)
    firsts.update(alone)
    times = medians(calls, rounds)
    grown = {name: memory(call) for name, call in calls.items()}
    peers = [name for name in times if name not in OURS]
    frugal = [grown[name] for name in ("JAX", "torch", "autograd") if name in grown]
    best = min(peers, key=lambda name: times[name], default="")
    found: dict[str, Any] = {"best peer": best}
    for name in OURS:
        if name in times and best:
            against = ENGINES.get(name, best)
            found[name] = times[name] / times[against] if against in times else None
    if best:
        found["best peer"] = f"{best} {times[best] * 1e3:.3g} ms"
    for name in ("numpy", "native"):
        if name in firsts and "JAX" in calls:
            found[f"first {name}"] = firsts[name] / firsts["JAX"]
        if name in grown and frugal:
            found[f"memory {name}"] = (grown[name] + 1e5) / (min(frugal) + 1e5)
    found.update({name: times[name] / times["numpy"] for name in peers if "numpy" in times})
    return found, missing


def shown(value: Any) -> str:
    """A ratio with two digits behind the point; a text as it is."""
    return "–" if value is None else value if isinstance(value, str) else f"{value:.2f}"


def means(rows: Mapping[str, Mapping[str, Any]], columns: Iterable[str]) -> dict[str, Any]:
    """The geometric mean of each column of numbers."""
    found: dict[str, Any] = {}
    for name in columns:
        numbers = [row[name] for row in rows.values() if isinstance(row.get(name), float)]
        if numbers:
            found[name] = float(np.exp(np.mean(np.log(numbers))))
    return found


def printed(cells: list[str], markdown: bool, wide: int) -> None:
    """A line of the table."""
    if markdown:
        print("| " + " | ".join(cells) + " |", flush=True)
    else:
        print(f"{cells[0]:{wide}}" + "".join([f"{each:>16}" for each in cells[1:]]), flush=True)


def main() -> None:
    """Print the table."""
    reader = argparse.ArgumentParser(description="Gradients beside other libraries.")
    reader.add_argument("workloads", nargs="*", help="only those whose names begin so")
    reader.add_argument("--without", nargs="*", default=[], help="libraries to leave out")
    reader.add_argument("--rounds", type=int, default=9)
    reader.add_argument("--markdown", action="store_true", help="a table for the README")
    reader.add_argument("--first", help=argparse.SUPPRESS)
    options = reader.parse_args()
    if options.first:
        told_first(options.workloads[0], options.first)
        return
    libraries = [name for name in LIBRARIES if name not in options.without]
    others = [name for name in libraries if name not in OURS]
    columns = [name for name in OURS if name in libraries]
    columns += ["best peer", "first numpy", "first native", "memory numpy", "memory native"]
    columns += [] if options.markdown else others
    wide = max(map(len, WORKLOADS)) + 1
    print(machine(libraries))
    works = {
        name: work
        for name, work in WORKLOADS.items()
        if not options.workloads or name.startswith(tuple(options.workloads))
    }
    alone = firsts_alone(works, libraries)
    prepared(WARM_UP, libraries)
    printed(["workload", *columns], options.markdown, wide)
    if options.markdown:
        printed(["---"] * (1 + len(columns)), True, wide)
    rows: dict[str, dict[str, Any]] = {}
    missing: dict[str, dict[str, str]] = {}
    for name, work in works.items():
        rows[name], missing[name] = row_of(work, libraries, options.rounds, alone[name])
        cells = [shown(rows[name].get(column)) for column in columns]
        printed([name, *cells], options.markdown, wide)
    mean = means(rows, columns)
    cells = [shown(mean.get(column, "")) for column in columns]
    printed(["geometric mean", *cells], options.markdown, wide)
    print(f"\nColumns of libraries: their time over that of symgraph on NumPy. {' '.join(others)}")
    for name, each in missing.items():
        for library, why in each.items():
            print(f"not measured: {library} on {name}: {why}")


if __name__ == "__main__":
    sys.exit(main())
