"""A planned program writes the pieces of a join in place; on floats they were lost.

`np.empty` was run while the program was made, and what lay in memory then was every result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from installed import ON_THE_CPU

import symgraph as sg


def vectors(x: Any) -> Any:
    return np.concatenate([np.sin(x[:2]) * x[2:], x[1:3] - np.cos(x[:2]), [np.exp(x[3]) * x[0]]])


def numbers(x: Any) -> Any:
    return np.stack([np.sin(x[0]) * x[1], x[2] - np.cos(x[3]), x[0] * x[3]])


def recursion(x: Any) -> Any:
    mean, size, found = 0.0, 1.0, []
    for t in range(4):
        mean = 0.9 * mean + 0.1 * x[t]
        size = 0.9 * size + 0.1 * (x[t] - mean) ** 2
        found.append(mean / np.sqrt(size))
    rows = np.stack(found)
    return np.sum(rows) + np.sum(rows[1:] * rows[:-1])


GRAPHS = {
    "vectors": sg.trace(vectors, x=(4,)),
    "numbers": sg.trace(numbers, x=(4,)),
    "the gradient of a recursion": sg.trace(recursion, x=(4,)).gradient("x", value=False),
}


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("simplified", [False, True])
@pytest.mark.parametrize("backend", ON_THE_CPU)
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_a_plan_changes_no_number(graph: sg.Graph, backend: str, simplified: bool) -> None:
    chosen = graph.simplify() if simplified else graph
    planned = chosen.checkpoint(recompute=[]).lower(backend)
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=4)
        np.testing.assert_allclose(planned(x=x), graph.evaluate(x=x), rtol=1e-12)
