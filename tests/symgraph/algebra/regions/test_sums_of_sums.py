"""A sum that was written anew joins the sums around it in the same walk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.algebra import normalized
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.walks import reachable

STEPS = 8
SHOCKS = 0.1 * np.random.default_rng(0).standard_normal((STEPS, 4))


def variance(x: Any) -> Any:
    """Each step adds a sum over all paths to the gradient."""
    v = np.ones(4) * x
    for shock in SHOCKS:
        v = v + 2 * (x - v) + np.sqrt(v) * x * shock
    return np.sum(v**2)


@pytest.mark.whole
def test_sums_along_a_loop_are_joined_in_few_walks() -> None:
    gradient = sg.trace(variance, np.float64(1.0)).gradient("x", value=False)
    outputs, knowledge = list(gradient.dag.outputs), Knowledge()
    for _ in range(3):
        outputs = normalized(outputs, knowledge)
    totals = [node for node in reachable(outputs) if node.op.name in ("sum", "matmul")]
    assert len(totals) == 1  # They were 16, and each further walk joined two of them.
    value = gradient.simplify().evaluate(x=1.5)
    assert np.isclose(value, gradient.evaluate(x=1.5), rtol=1e-12)
