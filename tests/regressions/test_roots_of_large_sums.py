"""A number that multiplied what is under a root: out of range where the root is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg

N = 1000


def _rms(x: Any) -> Any:
    return np.sqrt(np.mean(x * x))


def _above_one(x: Any) -> Any:
    return np.sqrt(np.mean(x * x) + 1)


def _deviation(x: Any) -> Any:
    return np.std(x)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("end", [0.4, 1e-3])
@pytest.mark.parametrize("f", [_rms, _above_one, _deviation])
def test_near_the_end_of_the_range(f: Callable[[Any], Any], end: float, dtype: str) -> None:
    """Of sum(x * x) near the largest number, and of ordinary size."""
    sign = np.where(np.arange(N) % 2, -1.0, 1.0)
    x = (sign * np.sqrt(end * float(np.finfo(dtype).max) / N)).astype(dtype)
    graph = sg.trace(f, x=sg.spec(x.shape, dtype)).gradient("x", value=False)
    wide = x.astype(float)
    wanted = wide / (N * np.sqrt(np.mean(wide**2) + (f is _above_one)))
    digits = 50 * float(np.finfo(dtype).eps)
    for each in (graph, graph.simplify()):
        found = each.evaluate(x=x)
        np.testing.assert_allclose(np.asarray(found, float), wanted, rtol=digits)


def test_a_number_leaves_the_root_that_is_its_only_one() -> None:
    """X / (1000 sqrt(s / 1000)) is x / (sqrt(1000) sqrt(s)), not x / sqrt(1000 s)."""
    graph = sg.trace(_rms, x=sg.spec((N,), "float64")).gradient("x", value=False).simplify()
    assert len([node for node in graph.nodes if node.op.name == "multiply"]) == 2
    assert not any(_number(node) > 1.0 for node in graph.nodes)


def _number(node: Any) -> float:
    numbers = [float(each.params["value"]) for each in node.operands if each.is_constant]
    return max(numbers, default=0.0)
