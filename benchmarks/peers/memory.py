"""The gradient of 64 tanh layers in less memory: symgraph, and `checkpoint` of JAX and PyTorch.

Run as `python memory.py LIBRARY WEIGHTS BUDGET` in a process of its own: it prints the bytes that
calls gain in resident memory over the arguments, and the CPU seconds of a call. JAX and PyTorch
have no budgets: with `groups` each 8 layers are wrapped in `checkpoint`.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["BATCH", "LAYERS", "WIDTH", "measured"]

LAYERS, BATCH, WIDTH = 64, 2048, 1024
_GROUP = 8
_CALLS = 3


def _numbers(stacked: bool) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    x = random.normal(size=(BATCH, WIDTH)).astype("float32")
    w = random.normal(size=(LAYERS, WIDTH, WIDTH)).astype("float32") / np.float32(WIDTH**0.5)
    return x, w if stacked else list(w)


def _symgraph(budget: str, stacked: bool) -> Callable[[], Any]:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
    import plannednetworks as networks

    make = networks.stacked if stacked else networks.mlp
    graph = make(LAYERS, BATCH, WIDTH).simplify()
    f = (graph if budget == "none" else graph.checkpoint(budget)).lower()
    x, w = _numbers(stacked)
    weights = {"w": w} if stacked else {f"w{layer}": each for layer, each in enumerate(w)}
    for each in (w[0], w[0].T):
        x @ each  # The buffers of BLAS stay with a process, whatever it runs.
    return lambda: f(x=x, **weights)


def _jax(budget: str, stacked: bool) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp

    def group(h: Any, *weights: Any) -> Any:
        for each in weights:
            h = jnp.tanh(h @ each)
        return h

    run = jax.checkpoint(group) if budget == "groups" else group

    def loss(w: Any, x: Any) -> Any:
        h = x
        for start in range(0, LAYERS, _GROUP):
            h = run(h, *[w[layer] for layer in range(start, start + _GROUP)])
        return jnp.sum(h * h)

    x, w = jax.tree.map(jnp.asarray, _numbers(stacked))
    f = jax.jit(jax.value_and_grad(loss)).lower(w, x).compile()
    return lambda: jax.block_until_ready(f(w, x))


def _torch(budget: str, stacked: bool) -> Callable[[], Any]:
    import torch
    from torch.utils.checkpoint import checkpoint

    x, w = _numbers(stacked)
    x = torch.from_numpy(x)
    w = torch.from_numpy(w) if stacked else [torch.from_numpy(each) for each in w]
    leaves = [w] if stacked else w
    for leaf in leaves:
        leaf.requires_grad_()

    def group(h: Any, *weights: Any) -> Any:
        for each in weights:
            h = torch.tanh(h @ each)
        return h

    def call() -> Any:
        h = x
        for start in range(0, LAYERS, _GROUP):
            part = [w[layer] for layer in range(start, start + _GROUP)]
            if budget == "groups":
                h = checkpoint(group, h, *part, use_reentrant=False)
            else:
                h = group(h, *part)
        loss = (h * h).sum()
        return loss, torch.autograd.grad(loss, leaves)

    return call


_LIBRARIES = {"symgraph": _symgraph, "jax": _jax, "torch": _torch}


def _resident(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def measured(library: str, weights: str, budget: str) -> tuple[int, float]:
    """The bytes that a call gains, and its CPU seconds."""
    call = _LIBRARIES[library](budget, weights == "stacked")
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = _resident("VmRSS")
    best = float("inf")
    for _ in range(_CALLS):
        start = time.process_time()
        results = call()
        best = min(best, time.process_time() - start)
        del results
    return _resident("VmHWM") - before, best


if __name__ == "__main__":
    print(*measured(*sys.argv[1:]))
