"""CPU time of calls in rounds, of a first call, and how much memory a call takes."""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["first_alone", "first_call", "machine", "medians", "memory"]

Call = Callable[[], Any]
_ROUND = 0.02
"""Seconds of a library in a round; at least one call."""


def first_call(through: Callable[[Any], Call], work: Any) -> tuple[Call, Any, float]:
    """The call, its first results, and the seconds of CPU time to them, once data are there."""
    data = work.data()
    work = replace(work, data=lambda: data)
    start = time.process_time()
    call = through(work)
    results = call()
    return call, results, time.process_time() - start


def first_alone(command: Sequence[str]) -> float:
    """The seconds that this command prints: those of a first call in a process of its own.

    It is no copy of this process: pages that a copy writes to are copied one by one meanwhile,
    which took up to a fifth of the time measured.
    """
    run = subprocess.run([sys.executable, *command], stdout=subprocess.PIPE, text=True, check=False)
    return float(run.stdout) if run.returncode == 0 else float("nan")


def medians(calls: Mapping[str, Call], rounds: int) -> dict[str, float]:
    """Seconds of CPU time of a call, by name."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    repeats: dict[str, int] = {}
    for name, call in calls.items():
        call()
        start = time.process_time()
        call()
        repeats[name] = max(1, int(_ROUND / max(time.process_time() - start, 1e-6)))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time()
            for _ in range(repeats[name]):
                call()
            found[name].append((time.process_time() - start) / repeats[name])
    return {name: statistics.median(times) for name, times in found.items()}


def memory(call: Call) -> float:
    """Bytes that the process grows by at most in a call, kept temporaries and results included."""
    told = getattr(call, "bytes", None)
    if told is not None:
        return float(told)
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    call()
    release = getattr(call, "release", None)
    if release is not None:
        release()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = _field(status, "VmRSS")
    results = call()
    most = _field(status, "VmHWM")
    del results
    return float(max(0, most - before))


def _field(status: Path, name: str) -> int:
    line = next(line for line in status.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


def machine(libraries: Iterable[str]) -> str:
    """The processor, and the versions of libraries."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    name = next((each.partition(":")[2].strip() for each in lines if "model name" in each), "")
    packages = ("numpy", "jax", "torch", "pytensor", "autograd", "casadi", "symengine")
    found: list[str] = []
    for each in packages:
        try:
            found.append(f"{each} {version(each)}")
        except PackageNotFoundError:
            found.append(f"no {each}")
    core = os.environ.get("OPENBLAS_CORETYPE")
    found += [f"OPENBLAS_CORETYPE={core}"] if core else []
    return f"{name or platform.processor()}, one core; Python {platform.python_version()}; " + (
        ", ".join(found)
    )
