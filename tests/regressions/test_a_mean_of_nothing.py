"""The mean of no element is NaN, also where the sum has the quotient inside.

The algebra took `sum(x) / n` of an empty array for `sum(x / n)`, which divides nothing and is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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


@pytest.mark.parametrize(
    ("variance", "shape"),
    [(np.cov, (1,)), (lambda x: np.var(x, ddof=1), (1,)), (lambda x: np.cov(x).sum(), (2, 1))],
)
def test_no_derivative_of_the_variance_of_one_observation(variance: Any, shape: Any) -> None:
    """0 / 0. inf y - inf y was written as 0 inf, of which y had gone: its slope was 0."""
    x = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    assert np.isnan(sg.grad(variance)(x)).all()
    assert np.isnan(sg.hessian(variance)(x)).all()
    assert np.isnan(sg.hvp(variance)(x, v=x)).all()
