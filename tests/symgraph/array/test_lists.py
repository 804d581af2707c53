"""Lists of symbols: functions of symgraph take them as arrays, and `np.array` refuses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

X = np.array([0.5, 1.5, -2.0])

# Written in plain NumPy: the numbers are those of the function called on numbers.

# Joined by symgraph's function in the place of NumPy's: the numbers are those of NumPy's.
JOINED: dict[str, Callable[[Any, Any], Any]] = {
    "a vector": lambda xp, x: xp.array([x[0] * x[1], np.sin(x[2]), 2.25, 7]),
    "a matrix": lambda xp, x: xp.array([[np.cos(x[0]), -np.sin(x[0])], [x[1], 7]]) @ x[:2],
    "a tuple": lambda xp, x: xp.asarray((x[0], x[1])) * x[:2],
    "functions of it": lambda xp, x: np.exp(xp.array([x[0], x[1]])) + np.tanh(x[:2]),
    "moved": lambda xp, x: xp.array([[x[0], x[1]], [x[2], 1.25]]).T[::-1].reshape(4),
    "stacked": lambda xp, x: np.stack([xp.array([x[0], x[1]]), x[1:]]),
}


@pytest.mark.parametrize("name", JOINED)
def test_numbers_are_joined(name: str) -> None:
    f = JOINED[name]
    wanted = f(np, X)
    value, jacobian = sg.trace(lambda x: f(snp, x), x=X).jacobian("x").evaluate(x=X)
    assert (np.shape(value), value.dtype) == (np.shape(wanted), np.float64)
    np.testing.assert_allclose(value, wanted, rtol=1e-14)
    steps = [np.asarray(f(np, X + d) - f(np, X - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(jacobian, np.stack(steps, axis=-1), rtol=1e-7, atol=1e-7)


# Of symgraph: entries may be arrays, as for `np.array` of arrays.
OF_SYMGRAPH: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "array": (lambda x: snp.array([x, 2 * x]), lambda x: np.array([x, 2 * x])),
    "nested": (
        lambda x: snp.asarray([[x[0], 1.0], [2, x[1]]]),
        lambda x: np.array([[x[0], 1.0], [2, x[1]]]),
    ),
    "dtype": (
        lambda x: snp.array([x[0], 3], dtype="float32"), lambda x: np.array([x[0], 3], np.float32)
    ),
    "mean": (lambda x: snp.mean([x[0], x[1]]), lambda x: np.mean([x[0], x[1]])),
    "operator": (lambda x: x * [x[0], 1.0, 2.0], lambda x: x * [x[0], 1.0, 2.0]),
    "constant": (lambda x: sg.constant([x, x]), lambda x: np.array([x, x])),
    "where": (lambda x: np.where(x > 0, [x[0], 1.0, 2.0], x),) * 2,
}  # fmt: skip


@pytest.mark.parametrize("name", OF_SYMGRAPH)
def test_lists_where_an_array_is_taken(name: str) -> None:
    f, plain = OF_SYMGRAPH[name]
    found, wanted = sg.trace(f, x=X).evaluate(x=X), plain(X)
    np.testing.assert_array_equal(found, wanted)
    assert found.dtype == wanted.dtype


@pytest.mark.parametrize("entries", [lambda x: [[x[0]], [x[1], x[2]]], lambda x: [x[0], x]])
def test_entries_of_unlike_shapes_are_told(entries: Callable[[Any], Any]) -> None:
    with pytest.raises(sg.ShapeError, match="differs from"):
        sg.trace(lambda x: snp.array(entries(x)), x=X)


REFUSED: dict[str, Callable[[Any], Any]] = {
    "numbers": lambda x: np.array([x[0], x[1]]),
    "a number": lambda x: np.asarray(x[0]),
    "arrays": lambda x: np.array([x, x]),
    "a dtype": lambda x: np.array([x[0], 1.0], dtype=float),
    "filled": lambda x: np.full(3, x[0]),
    "no NaN": lambda x: np.nan_to_num(np.array([x[0], x[1]])),
}
"""NumPy hands these calls to nobody. In an array of objects its functions would see no numbers: it
would pass by `nan_to_num`, in silence."""


@pytest.mark.parametrize("name", REFUSED)
def test_arrays_of_numpys_hold_no_symbols(name: str) -> None:
    with pytest.raises(sg.TraceError, match="needs numbers"):
        sg.trace(REFUSED[name], x=X)
