"""Named dimensions in arithmetic with arrays are the numbers they will be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

import symgraph as sg
from symgraph.errors import DTypeError

EXPRESSIONS = [
    lambda x, n: np.sum(x * x) / n,
    lambda x, n: n * np.sum(x) - x * n,
    lambda x, n: n + x - (n - x),
    lambda x, n: np.divide(x, n) + np.multiply(n, x),
    lambda x, n: 1 / n * x,
    lambda x, n: x / (n - 1),
    lambda x, n: x * n**0.5,
    lambda x, n: n / (n + 2) / 2 * x,
    lambda x, n: 0.5 * (x * (1 / n + 1)),
    lambda x, n: x < n,
    lambda x, n: np.where(x > 0, n, x),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("number", range(len(EXPRESSIONS)))
def test_a_named_dimension_computes_as_its_number(number: int, dtype: str) -> None:
    def f(x: Any) -> Any:
        return EXPRESSIONS[number](x, x.shape[0])

    x = np.array([3, -1, 2, 5], dtype=dtype)
    graph = sg.trace(f, x=sg.spec("n", dtype))
    wanted = f(x)
    for found in (graph.evaluate(x=x), graph.simplify().lower()(x=x)):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.whole  # Tracing a function that reads SymPy looks at all of SymPy: two seconds.
def test_what_is_no_arithmetic_on_dimensions_is_refused() -> None:
    def f(x: Any) -> Any:
        return x * sympy.cos(x.shape[0])

    with pytest.raises(DTypeError, match="not a number made of dimensions"):
        sg.trace(f, x=sg.spec("n"))
