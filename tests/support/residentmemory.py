"""What a fresh process gains in resident memory when it runs a planned program."""

from __future__ import annotations

import ctypes
import gc
import mmap
from pathlib import Path
from typing import Any

import numpy as np
from residentprograms import PROGRAMS, numbers

import symgraph as sg
from symgraph.namespace import writing

__all__ = ["grown"]

_STATUS = Path("/proc/self/status")


def _resident(field: str) -> int:
    lines = _STATUS.read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def _mapped(node: sg.Node) -> Any:
    if node.op.name == "transpose" and node.ndim == 2:
        return _mapped(node.operands[0]).T
    size = int(np.prod(node.shape, dtype=int)) * node.dtype.itemsize
    return np.ndarray(node.shape, node.dtype, mmap.mmap(-1, max(1, size)))


def grown(name: str, share: float) -> tuple[int, int, int]:
    """The bytes that were planned, the budget, and the bytes gained over four calls.

    The buffers of BLAS stay with a process, whatever it runs: they are there before. So are the
    pages of the code that reads the figures. No array here comes from NumPy's allocator: it asks
    for large pages for 4 MiB and more, and the system fills those of the heap up in its own time.
    """
    graph = PROGRAMS[name]()
    budget = graph.memory_plan().peak_bytes
    if share:
        budget = int(share * budget)
        graph = graph.checkpoint(budget)
    f = graph.lower()
    given = numbers(graph, np.random.default_rng(0), _mapped)
    for node in graph.dag.nodes:
        if node.op.name == "matmul":
            one, other = map(_mapped, node.operands)
            np.matmul(one, other, _mapped(node))
        elif "convolution" in node.op.name:
            kernel = getattr(writing, node.op.name)
            kernel(*map(_mapped, node.operands), *node.params.values(), out=_mapped(node))
    _resident("VmRSS")
    # What planning has freed must not count as room for the program.
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = _resident("VmRSS")
    for _ in range(4):
        results = f(**given)
        del results
    return graph.memory_plan().peak_bytes, budget, _resident("VmHWM") - before
