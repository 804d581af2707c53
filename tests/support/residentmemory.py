"""What a fresh process gains in resident memory when it runs a planned program."""

from __future__ import annotations

import ctypes
import gc
import mmap
from pathlib import Path
from typing import Any

import numpy as np
from residentprograms import PROGRAMS

import symgraph as sg
from symgraph.namespace import NUMPY

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


_PIECE = 2**16


def _given(graph: sg.Graph) -> dict[str, Any]:
    """Small numbers for each input, rows numbered below 200, in memory of their own.

    NumPy asks for large pages for arrays of 4 MiB, and the system fills those of the heap up in its
    own time, whatever runs. So no array of that size is made there.
    """
    random = np.random.default_rng(0)
    found: dict[str, Any] = {}
    for name, node in graph.dag.inputs.items():
        found[name] = _mapped(node)
        flat = found[name].reshape(-1)
        for start in range(0, flat.size, _PIECE):
            piece = flat[start : start + _PIECE]
            whole = node.dtype.kind == "i"
            piece[:] = (
                random.integers(0, 200, piece.size) if whole else random.normal(0, 0.1, piece.size)
            )
    return found


def grown(name: str, share: float) -> tuple[int, int, int]:
    """The bytes that were planned, the budget, and the bytes gained over four calls.

    The buffers of BLAS stay with a process, whatever it runs: they are there before.
    """
    graph = PROGRAMS[name]()
    budget = graph.memory_plan().peak_bytes
    if share:
        budget = int(share * budget)
        graph = graph.checkpoint(budget)
    f = graph.lower()
    given = _given(graph)
    for node in graph.dag.nodes:
        if node.op.name == "matmul":
            one, other = map(_mapped, node.operands)
            np.matmul(one, other, _mapped(node))
        elif "convolution" in node.op.name:
            node.op.kernel(NUMPY, *map(_mapped, node.operands), **node.params)
    # What planning has freed must not count as room for the program.
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = _resident("VmRSS")
    for _ in range(4):
        results = f(**given)
        del results
    return graph.memory_plan().peak_bytes, budget, _resident("VmHWM") - before
