"""Seconds of CPU from a function to its first gradient, beside JAX, torch, autograd and CasADi.

Run it from the repository's root; a package that is not installed is left out.

    python benchmarks/bench_first_number.py              # every workload beside other packages
    python benchmarks/bench_first_number.py mlp random   # workloads whose names begin so
    python benchmarks/bench_first_number.py --once       # what a process pays once: import, rules
    python benchmarks/bench_first_number.py --catalogue  # the closed forms, row by row
    python benchmarks/bench_first_number.py --sizes      # random graphs and networks, each effort
    python benchmarks/bench_first_number.py --again      # a function that was traced before

Each cell is a process of its own, so that nothing is compiled or learned before. Times are of the
CPU, divided by what a fixed loop takes in the same process and multiplied by `NOMINAL`: so they
compare between machines and hours. Importing a package is not counted. Every gradient is compared
with autograd's. `-` is a package that is missing or has no such arrays, `> 60` one that was
stopped.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from firstnumber.packages import NO_MATRICES, PACKAGES, by_autograd, ours
from firstnumber.workloads import WORKLOADS

NOMINAL = 0.05
"""Seconds that the fixed loop takes on the machine that times are told for."""
USUAL = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""The environment of a user's process: Python keeps what it has compiled."""
MISSING = ("ModuleNotFoundError", "NotImplementedError")

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))


def calibration() -> float:
    """Seconds of the fixed loop, the least of three."""
    found: list[float] = []
    for _ in range(3):
        begin = time.process_time()
        total = 0
        for i in range(1_000_000):
            total += i & 7
        found.append(time.process_time() - begin)
    return min(found)


def scaled(work: Callable[[], Any], unit: float | None = None) -> tuple[float, Any]:
    """The scaled seconds of some work, and what it gives; `unit` is a calibration just made."""
    unit = calibration() if unit is None else unit
    begin = time.process_time()
    found = work()
    return (time.process_time() - begin) / unit * NOMINAL, found


# -- beside other packages ---------------------------------------------------------------------
def seconds(workload: str, package: str) -> float:
    """Scaled seconds to the first gradient, which must agree with autograd's."""
    f, at = WORKLOADS[workload].f, WORKLOADS[workload].arrays()
    modules, gradients = PACKAGES[package]
    if package == "casadi" and workload in NO_MATRICES:
        raise NotImplementedError
    for each in modules:
        import_module(each)
    taken, found = scaled(lambda: gradients(f, at))
    for one, other in zip(found, by_autograd(f, at), strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-5, atol=1e-8)
    return taken


def cell(workload: str, package: str, limit: float) -> str:
    """The seconds as text, from a process of its own."""
    command = [sys.executable, __file__, "--one", workload, package, "--limit", str(limit)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=USUAL)
    if run.returncode == -signal.SIGXCPU:
        return f"> {limit:.0f}"
    told = run.stderr.strip().splitlines()
    if run.returncode == 0:
        return f"{float(run.stdout):.3f}"
    return "-" if told and told[-1].startswith(MISSING) else "failed"


def beside(chosen: Sequence[str], limit: float) -> None:
    """A table: a row a workload, a column a package."""
    print(f"{'seconds':18}" + "".join(f"{name:>15}" for name in PACKAGES))
    for workload in WORKLOADS:
        if not chosen or workload.startswith(tuple(chosen)):
            cells = [cell(workload, package, limit) for package in PACKAGES]
            print(f"{workload:18}" + "".join(f"{each:>15}" for each in cells), flush=True)


# -- once a process ----------------------------------------------------------------------------
def once() -> None:
    """What a process pays once; the least of five processes, in seconds as measured."""
    derive = ("derive", "-sum(p*log(exp(z)/sum(exp(z))))", "--wrt", "z", "--given", "p: simplex")
    command = "import sys; from symgraph.cli.main import main; sys.exit(main())"
    for name, arguments in {
        "python": ["pass"],
        "import numpy": ["import numpy"],
        "import symgraph": ["import symgraph"],
        "and its rules": ["import symgraph; symgraph.default_rules()"],
        "symgraph derive": [command, *derive],
        "symgraph rules list": [command, "rules", "list"],
    }.items():
        print(f"{name:20}{min(_cpu([sys.executable, '-c', *arguments]) for _ in range(5)):8.3f}")


def _cpu(command: Sequence[str]) -> float:
    """CPU seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=USUAL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# -- the catalogue -----------------------------------------------------------------------------
def catalogue() -> None:
    """Operations and scaled milliseconds of each closed form, at normal and low effort."""
    textbook = import_module("textbook")
    rows = import_module("textbook.catalogue").CATALOGUE
    efforts = ("normal", "low")
    times: dict[str, list[float]] = {effort: [] for effort in efforts}
    operations = dict.fromkeys(efforts, 0)
    print(f"{'row':54}{'closed':>7}" + "".join(f"{each:>18}" for each in efforts))
    textbook.traced(rows[0].f, rows[0].specs).gradient(*rows[0].wrt).simplify()
    unit = 1.0
    for number, row in enumerate(rows):
        unit = unit if number % 50 else calibration()
        line = f"{row.name:54}{textbook.traced(row.closed, row.specs).op_count():7}"
        for effort in efforts:
            derived = textbook.traced(row.f, row.specs).gradient(*row.wrt, value=False)
            taken, small = scaled(lambda g=derived, e=effort: g.simplify(effort=e), unit)
            times[effort].append(taken)
            operations[effort] += small.op_count()
            line += f"{small.op_count():7}{1e3 * taken:8.1f} ms"
        print(line, flush=True)
    for effort, found in times.items():
        middle, worst = 1e3 * statistics.median(found), max(found)
        at = rows[found.index(worst)].name
        print(
            f"{effort}: {operations[effort]} operations, median {middle:.1f} ms, "
            f"worst {1e3 * worst:.0f} ms ({at})"
        )


# -- sizes -------------------------------------------------------------------------------------
def sizes() -> None:
    """Operations and scaled seconds of `simplify` by effort."""
    sg = import_module("symgraph")
    graphs = import_module("randomgraphs")
    at = {"x": np.full((4, 3), 0.5), "w": 0.3 * np.eye(3)}
    layered = at | {"v": np.full((3, 3), 0.1)}
    cases = {f"random {n}": (graphs.random_function(n), at) for n in (30, 100, 300, 1000, 3000)}
    for name, (made, _) in graphs.NETWORKS.items():
        cases |= {f"{name} {n}": (made(n), layered) for n in (4, 16, 40)}
    print(f"{'graph':16}{'derived':>8}" + "".join(f"{e:>18}" for e in ("low", "normal", "high")))
    sg.trace(cases["random 30"][0], **at).gradient("x").simplify()
    for name, (f, given) in cases.items():
        derived = sg.trace(f, **given).gradient("w")
        line = f"{name:16}{derived.op_count():8}"
        for effort in ("low", "normal", "high"):
            fresh = sg.trace(f, **given).gradient("w")
            taken, small = scaled(lambda g=fresh, e=effort: g.simplify(effort=e))
            line += f"{small.op_count():8}{taken:8.2f} s"
        print(line, flush=True)


# -- traced again ------------------------------------------------------------------------------
def again(chosen: Sequence[str]) -> None:
    """Scaled seconds of `simplify`: at first, of the same function again, and from a folder."""
    sg = import_module("symgraph")
    names = ours()
    print(f"{'seconds':18}{'first':>12}{'again':>12}{'from a folder':>16}")
    for name, workload in WORKLOADS.items():
        if chosen and not name.startswith(tuple(chosen)):
            continue
        at = workload.arrays()

        def seconds(f: Callable[..., Any] = workload.f, at: Any = at) -> float:
            graph = sg.trace(lambda **given: f(names, **given), **at).gradient(*at)
            return scaled(graph.simplify)[0]

        with TemporaryDirectory() as folder:
            sg.cache.clear()
            sg.cache.folder = folder
            found = [seconds(), seconds()]
            sg.cache.clear()
            found.append(seconds())
            sg.cache.folder = None
        print(f"{name:18}{found[0]:12.3f}{found[1]:12.3f}{found[2]:16.3f}", flush=True)


if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("workloads", nargs="*", help="only those whose names begin so")
    reader.add_argument("--limit", type=float, default=60.0, help="CPU seconds of a cell, at most")
    for mode in ("once", "catalogue", "sizes", "again"):
        reader.add_argument(f"--{mode}", action="store_true")
    reader.add_argument("--one", nargs=2, metavar=("WORKLOAD", "PACKAGE"))
    options = reader.parse_args()
    if options.one:
        resource.setrlimit(resource.RLIMIT_CPU, (int(options.limit), int(options.limit) + 1))
        print(seconds(*options.one))
    elif options.once:
        once()
    elif options.catalogue:
        catalogue()
    elif options.sizes:
        sizes()
    elif options.again:
        again(options.workloads)
    else:
        beside(options.workloads, options.limit)
