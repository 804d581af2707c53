"""`x.flat` reads and writes the elements row by row, as `np.flatiter` does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg

X = np.random.default_rng(0).uniform(0.5, 1.5, (4, 4))
WEIGHTS = np.arange(16.0).reshape(4, 4)


def diagonal(x: Any) -> Any:
    k = x @ x.T
    k.flat[::5] += 0.1
    return k


def columns(x: Any) -> Any:
    k = (x * 2.0).T
    k.flat[1:4] = [1.0, 2.0, 3.0]
    k.flat[[0, 5]] = x[0, 0]
    return k


def through_a_view(x: Any) -> Any:
    k = x.copy()
    k[1:].T.flat[1] = x[2, 2]
    return k


def all_of_it(x: Any) -> Any:
    k = x * 1.0
    k.flat = 2.0
    k.flat[3] = x[1, 1]
    return k


def from_another_shape(x: Any) -> Any:
    k = x * 1.0
    k.flat = np.arange(16.0).reshape(2, 8) * x[0, 0]
    return k


def from_lists(x: Any) -> Any:
    k = x * 1.0
    k.flat[1:3] = [x[0, 1], 2.0]
    k.flat[[4]] = [x[0, 1]]
    k[:2, :2].flat = [[x[0, 0], 1.0], [2.0, x[1, 1]]]
    return k


def reads_copies(x: Any) -> Any:
    k = x * 1.0
    part = k.flat[2:6]
    part *= 3.0
    return k + part


def reads(x: Any) -> Any:
    of = x.flat
    squares = sum(each**2 for each in of)
    return squares + of[3] + of[2:4].sum() + np.sum(of) + np.exp(of) @ of.copy() + len(of)


def compares(x: Any) -> Any:
    return np.where((x.flat > 1.0) & (x.flat != x.flat[0]), x.flat.copy(), 0.0)


WRITES = [
    diagonal,
    columns,
    through_a_view,
    all_of_it,
    from_another_shape,
    from_lists,
    reads_copies,
]


@pytest.mark.parametrize("f", [*WRITES, reads, compares], ids=lambda f: f.__name__)
def test_as_numpy_has_it(f: Callable[[Any], Any]) -> None:
    def loss(x: Any) -> Any:
        found = f(x)
        return np.sum(found * found) + (np.sum(found * WEIGHTS) if np.ndim(found) == 2 else 0.0)

    value, gradient = sg.value_and_grad(loss)(X)
    np.testing.assert_allclose(value, loss(X), rtol=1e-13)
    steps = 1e-6 * np.eye(16).reshape(16, 4, 4)
    differences = [(loss(X + step) - loss(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient.ravel(), differences, rtol=1e-6, atol=1e-6)


def test_an_argument_is_not_written_to() -> None:
    def f(x: Any) -> Any:
        x.flat[0] = 1.0
        return np.sum(x)

    with pytest.raises(sg.TraceError, match="writes into the argument 'x'"):
        sg.grad(f)(X)


def test_values_that_do_not_fit_are_not_repeated() -> None:
    """NumPy begins with the first value again: here it is most often a mistake."""

    def f(x: Any) -> Any:
        k = x * 1.0
        k.flat[:] = [1.0, 2.0]
        return np.sum(k)

    with pytest.raises(sg.ShapeError, match="does not broadcast"):
        sg.grad(f)(X)


def test_a_number_has_no_elements_and_a_named_size_stays_a_name() -> None:
    assert not hasattr(sg.input("x", ()), "flat")
    graph = sg.trace(lambda x: np.sum(x.flat[::2]), x="n, 3")
    assert graph.evaluate(x=WEIGHTS[:, :3]) == WEIGHTS[:, :3].ravel()[::2].sum()


def test_no_conversion_to_numbers() -> None:
    with pytest.raises(sg.TraceError, match="needs numbers"):
        sg.grad(lambda x: np.asarray(x.flat).sum())(X)
