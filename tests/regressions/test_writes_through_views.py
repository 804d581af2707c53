"""In-place operators on views and aliases gave the name to a new array; the old one kept its value.

`def f(x): y = x[1:]; y += 1; return np.sum(x**2)` gave 16.81 where NumPy gives 21.31.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import TraceError

X = np.array([1.1, 1.2, 1.9, 3.25])


def slice_of(x: Any) -> Any:
    y = x[1:]
    y += 1


def alias(x: Any) -> Any:
    y = x
    y *= 2


def transposed(x: Any) -> Any:
    y = x.T
    y += 1


def reshaped(x: Any) -> Any:
    y = x.reshape(2, 2)
    y -= 1


def raveled(x: Any) -> Any:
    y = np.ravel(x)
    y /= 2


def added_to(a: Any) -> None:
    a += 1


def helper(x: Any) -> Any:
    added_to(x)


def of_an_element(x: Any) -> Any:
    x[1] += 1
    x[2] = x[0]


def into_out(x: Any) -> Any:
    np.multiply(x, 2.0, out=x)


def at_places(x: Any) -> Any:
    np.add.at(x, [0, 0, 1], 1.0)


FAULTS = [
    slice_of,
    alias,
    transposed,
    reshaped,
    raveled,
    helper,
    of_an_element,
    into_out,
    at_places,
]


@pytest.mark.parametrize("write", FAULTS, ids=lambda f: f.__name__)
def test_of_a_copy_it_is_numpys_value(write: Callable[[Any], None]) -> None:
    def f(x: Any) -> Any:
        z = x.copy()
        write(z)
        return np.sum(z**2)

    np.testing.assert_allclose(sg.trace(f, x=(4,)).evaluate(x=X), f(X), rtol=1e-15)
    step = 1e-6 * np.eye(4)
    slopes = [(f(X + d) - f(X - d)) / 2e-6 for d in step]
    np.testing.assert_allclose(sg.grad(f)(X), slopes, rtol=1e-6)


@pytest.mark.parametrize("write", FAULTS, ids=lambda f: f.__name__)
def test_of_an_argument_it_is_refused(write: Callable[[Any], None]) -> None:
    def f(x: Any) -> Any:
        write(x)
        return np.sum(x**2)

    with pytest.raises(TraceError, match="the caller's array would change") as refusal:
        sg.grad(f)(X)
    assert "x = x.copy()" in refusal.value.mend
    assert "test_writes_through_views.py" in str(refusal.value)


def test_an_array_is_filled_element_by_element() -> None:
    def f(x: Any, lib: Any = snp) -> Any:
        out = lib.zeros(4)
        out[0] = x[0]
        for i in range(1, 4):
            out[i] = out[i - 1] * x[i] ** 2
        return np.sum(out)

    graph = sg.trace(lambda x: f(x), x=(4,))
    np.testing.assert_allclose(graph.evaluate(x=X), f(X, np), rtol=1e-15)
