"""Calls that two kernels have in common are made once where that takes little memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg


@pytest.mark.parametrize(("shape", "calls"), [((200, 3), 1), ((40_000, 3), 2), (("n", 3), 3)])
def test_a_call_is_shared_where_that_takes_few_bytes(shape: Any, calls: int) -> None:
    # The softplus and its sigmoid are made of one exponential, which lives for longer then.
    def loss(w: Any, x: Any) -> Any:
        return np.sum(np.log(1 + np.exp(x @ w)))

    graph = sg.trace(loss, w=sg.spec(3), x=sg.spec(shape)).gradient("w").simplify()
    lowered = graph.lower()
    assert lowered.source.count("np.exp(") == calls
    x, w = np.linspace(-50, 50, 600).reshape(200, 3), np.array([1.0, -2.0, 0.5])
    x = np.resize(x, (shape[0], 3)) if shape[0] != "n" else x
    value, slope = lowered(w=w, x=x)
    z = x @ w
    np.testing.assert_allclose(value, np.sum(np.logaddexp(0, z)), rtol=1e-12)
    np.testing.assert_allclose(slope, x.T @ (1 / (1 + np.exp(-z))), rtol=1e-10)
