"""The mean of no element is NaN, also where the sum has the quotient inside.

The algebra took `sum(x) / n` of an empty array for `sum(x / n)`, which divides nothing and is 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import symgraph as sg

MEANS = [
    lambda x: np.nanmean(x, axis=0),
    lambda x: np.sum(x, axis=0) / np.sum(np.where(x > 0, 1.0, 0.0), axis=0),
    lambda x: np.sum(np.exp(x), axis=0) * (1 / np.sum(np.exp(x), axis=0)),
    lambda x: x.T @ x / np.sum(x),
]


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_simplified_it_is_still_nan(mean: Callable[[sg.Array], sg.Array], dtype: str) -> None:
    x = np.zeros((0, 3), dtype)
    graph = sg.trace(mean, x=sg.spec(x.shape, dtype)).simplify()
    assert np.all(np.isnan(graph.lower()(x=x)))
