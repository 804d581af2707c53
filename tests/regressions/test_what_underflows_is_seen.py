"""A comparison with 0 that catches an underflow is not decided by exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

CAUGHT: dict[str, Callable[[Any], Any]] = {
    "equal": lambda x: np.where(np.exp(x) == 0, 0, np.log(np.exp(x) * (1 - np.cos(x)))),
    "not equal": lambda x: 1 / np.where(np.exp(x) != 0, np.exp(x), 1),
    "at most": lambda x: 1 / np.where(np.exp(x) <= 0, 1, np.exp(x)),
    "at least": lambda x: 1 / np.where(-np.exp(x) >= 0, 1, np.exp(x)),
    "in a product": lambda x: snp.multiply_or_zero(np.exp(x - 1 / (x * 0)), np.log(x * 0)),
    "as a truth value": lambda x: np.where(np.exp(x), 1.0, 2.0),
    "counted": lambda x: np.count_nonzero(np.exp(x)) * x,
}
X = np.array([-800.0, -1000.0, 1.0, -2.0])


@pytest.mark.parametrize("name", CAUGHT)
def test_as_numpy_gives_it(name: str) -> None:
    small = sg.trace(CAUGHT[name], x=sg.spec((4,))).simplify()
    with np.errstate(divide="ignore"):
        wanted = CAUGHT[name](X)
    np.testing.assert_allclose(small.evaluate(x=X), wanted)


@pytest.mark.parametrize("x", [np.array([3.0, 1e-320])])
def test_what_is_stated_of_an_input_decides(x: Any) -> None:
    small = sg.trace(lambda x: np.where(x == 0, 7.0, x), x=sg.spec((2,), assume=sg.positive))
    simple = small.simplify()
    assert simple.op_count() == 0
    np.testing.assert_array_equal(simple.evaluate(x=x), x)


def test_the_reciprocal_of_a_stated_input_is_computed() -> None:
    """Infinity is positive, and its reciprocal is 0."""
    x = np.array([np.inf, 2.0])
    graph = sg.trace(lambda x: np.where(1 / x == 0, 5.0, x), x=sg.spec((2,), assume=sg.positive))
    np.testing.assert_array_equal(graph.simplify().evaluate(x=x), [5.0, 2.0])
