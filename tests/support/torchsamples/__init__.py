"""The sample inputs that PyTorch tests its own operators with, and a comparison with its results.

They ship with its wheel as `op_db`. Value and gradient of a weighted sum of all results are
compared.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any
from unittest import TestCase

import numpy as np
import pytest

import symgraph as sg

__all__ = ["Adapter", "compare_samples", "op_db"]

Adapter = Callable[..., Any]


@cache
def op_db() -> dict[str, Any]:
    """PyTorch's operators with the samples that it tests them on, by name."""
    pytest.importorskip("torch", reason="PyTorch comes with the oracles extra")
    if "expecttest" not in sys.modules:
        # Only the class is asked for, of a package the wheel does not bring.
        stub: Any = ModuleType("expecttest")
        stub.TestCase = TestCase
        sys.modules["expecttest"] = stub
    from torch.testing._internal.common_methods_invocations import op_db as found

    return {f"{each.name}/{each.variant_test_name}".rstrip("/"): each for each in found}


def compare_samples(name: str, f: Adapter) -> int:
    """How many samples of an operator agree; the adapter gives None for one it leaves out."""
    import torch

    op = op_db()[name]
    torch.manual_seed(0)
    agreed = 0
    for sample in op.sample_inputs("cpu", torch.float64, requires_grad=True):
        inputs = sample.input if isinstance(sample.input, (list, tuple)) else [sample.input]
        agreed += compare(op, f, [*inputs, *sample.args], sample, 1e-7)
    return agreed


def compare(op: Any, f: Adapter, args: list[Any], sample: Any, slopes: float) -> int:
    import torch

    tensors = {f"x{i}": each for i, each in enumerate(args) if isinstance(each, torch.Tensor)}
    named = {key: each for key, each in sample.kwargs.items() if isinstance(each, torch.Tensor)}
    tensors |= named
    at = {key: each.detach().numpy() for key, each in tensors.items()}
    symbols = {key: sg.input(key, each.shape, each.dtype) for key, each in at.items()}
    keywords = {key: symbols.get(key, each) for key, each in sample.kwargs.items()}
    ours = f(*[symbols.get(f"x{i}", each) for i, each in enumerate(args)], **keywords)
    if ours is None:
        return 0
    ours = ours if isinstance(ours, tuple) else (ours,)
    theirs = op.gradcheck_wrapper(op.op, sample.input, *sample.args, **sample.kwargs)
    theirs = theirs[: len(ours)] if isinstance(theirs, (tuple, list)) else (theirs,)
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=tuple(each.shape)) for each in theirs]
    wanted = [key for key, each in tensors.items() if each.requires_grad]
    total = sum(torch.sum(torch.as_tensor(w) * y) for w, y in zip(weights, theirs, strict=True))
    expected = torch.autograd.grad(total, [tensors[key] for key in wanted], allow_unused=True)
    loss = sum(np.sum(w * y) for w, y in zip(weights, ours, strict=True))
    graph = sg.graph(loss, inputs=list(symbols.values())).gradient(*wanted)
    value, found = graph.evaluate(**at)
    about = f"{[each.shape for each in at.values()]} {sample.kwargs}"
    np.testing.assert_allclose(value, total.detach().numpy(), rtol=1e-9, atol=1e-9, err_msg=about)
    gradients = found if isinstance(found, tuple) else (found,)
    for got, want, key in zip(gradients, expected, wanted, strict=True):
        numbers = np.zeros(at[key].shape) if want is None else want.numpy()
        scale = np.max(np.abs(numbers), initial=1.0, where=np.isfinite(numbers))
        np.testing.assert_allclose(got, numbers, slopes, 1e-9 * scale, err_msg=about)
    return 1
