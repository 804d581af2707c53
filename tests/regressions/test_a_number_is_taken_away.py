"""-1 + x is written x - 1, as the rules have it: or rules and algebra would take turns."""

from __future__ import annotations

from typing import Any

import numpy as np

import symgraph as sg
import symgraph.numpy as snp


def test_simplifying_twice_changes_nothing() -> None:
    def f(x1: Any, x2: Any) -> Any:
        logs = x2 * np.log(snp.sigmoid(x2)) + (1 - x2) * np.log(1 - snp.sigmoid(x2))
        shifted = np.log(1 + np.exp(x2)) - x2 * x2
        weights = np.log(np.exp(snp.log_softmax(-1.0 - x1, axis=1)))
        return np.sum(logs * logs) * 0.5 + np.sum(weights * shifted - shifted)

    joint = sg.trace(f, x1="1, 1", x2="2, 2").gradient("x1", "x2")
    small = joint.simplify()
    assert small.simplify().dag.outputs == small.dag.outputs
    at = {"x1": np.array([[1.8]]), "x2": np.array([[0.6, 0.8], [0.9, -1.7]])}
    for ours, wanted in zip(small.evaluate(**at)[1], joint.evaluate(**at)[1], strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-12)
