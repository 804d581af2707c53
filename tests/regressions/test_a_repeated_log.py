"""The log of a quotient that is repeated along an axis: not the array for the log alone."""

from __future__ import annotations

from typing import Any

import numpy as np

import symgraph as sg


def test_the_log_of_a_quotient_of_rows_that_are_repeated() -> None:
    def f(x: Any) -> Any:
        rows = np.broadcast_to(x, (3, 4))
        return np.sum(np.log((rows * rows + 0.3) / (1 + x * x)))

    x = np.array([[-1.5, -1.2, -0.2, 1.0]])
    graph = sg.trace(f, x=(1, 4)).gradient("x")
    for found, wanted in zip(graph.simplify().evaluate(x=x), graph.evaluate(x=x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
