"""Lists of symbols: `np.array` takes numbers, and every function of symgraph takes arrays, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

X = np.array([0.5, 1.5, -2.0])

# Written in plain NumPy: the numbers are those of the function called on numbers.
# No number that other tests have: a constant that lives keeps the line that wrote it first.
OF_NUMPY: dict[str, Callable[[Any], Any]] = {
    "a vector": lambda x: np.array([x[0] * x[1], np.sin(x[2]), 2.25, 7]),
    "a matrix": lambda x: np.array([[np.cos(x[0]), -np.sin(x[0])], [np.sin(x[0]), 7]]) @ x[:2],
    "from the right": lambda x: np.array([[1.25, 2.25]]) @ np.array([x[0], x[1]]),
    "a tuple": lambda x: np.asarray((x[0], x[1])) * x[:2],
    "functions of it": lambda x: np.exp(np.array([x[0], x[1]])) + np.tanh(np.array([x[2], x[0]])),
    "a sum": lambda x: np.sum(np.array([x[0], x[1] * 2]) ** 2),
    "a norm": lambda x: np.linalg.norm(np.array([x[0], x[1]])),
    "moved": lambda x: np.array([[x[0], x[1]], [x[2], 1.25]]).T[::-1].reshape(4),
    "joined": lambda x: np.concatenate([np.array([x[0], x[1]]), x]),
    "full": lambda x: np.full(3, x[0]) * x,
    "by r_": lambda x: np.r_[x[0], x[1], 1.25],
    "written to": lambda x: _written(np.array([x[0], 0.0, x[1]]), x),
    "like another": lambda x: _written(np.zeros_like(np.array([x[0], x[0], x[0]])), x),
    "unpacked": lambda x: np.multiply(*np.array([x[0], x[1]])),
    "stacked": lambda x: np.stack([np.array([x[0], x[1]]), x[1:]]),
    "crossed": lambda x: np.cross(np.array([x[0], x[1], x[2]]), x**2),
    "the number alone": lambda x: np.asarray(x[0]) * 2,
}


def _written(into: Any, x: Any) -> Any:
    into[1] = x[2] * x[2]
    into[0] += 1
    return into


@pytest.mark.parametrize("name", OF_NUMPY)
def test_numbers_in_an_array_of_numpys(name: str) -> None:
    f = OF_NUMPY[name]
    wanted = f(X)
    found = sg.trace(f, x=X).evaluate(x=X)
    assert (np.shape(found), found.dtype) == (np.shape(wanted), np.float64)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
    value, jacobian = sg.trace(f, x=X).jacobian("x").evaluate(x=X)
    np.testing.assert_allclose(value, wanted, rtol=1e-14)
    steps = [np.asarray(f(X + d) - f(X - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(jacobian, np.stack(steps, axis=-1), rtol=1e-7, atol=1e-7)


def test_transforms_take_such_results() -> None:
    def field(x: Any) -> Any:
        return np.array([x[1], -np.sin(x[0])])

    at = np.array([0.3, 0.4])
    wanted = [[0, 1], [-np.cos(0.3), 0]]
    np.testing.assert_allclose(sg.jacobian(field)(at), wanted, rtol=1e-15)
    np.testing.assert_array_equal(sg.vmap(field)(np.stack([at, at]))[1], field(at))
    np.testing.assert_allclose(sg.jvp(field)(at, tangent=np.ones(2))[1], np.sum(wanted, axis=1))


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
    "arrays": lambda x: np.array([x, x]),
    "a dtype": lambda x: np.array([x[0], 1.0], dtype=float),
    "a condition": lambda x: np.where(np.array([x[0], x[1]]) > 0, 1.0, x[:2]),
    "the largest": lambda x: np.max(np.array([x[0], x[1]])),
    "in order": lambda x: np.sort(np.array([x[0], x[1]])),
    "the first that holds": lambda x: np.argmax(np.array([x[0], x[1]])) * x[0],
    "whole numbers": lambda x: np.array([snp.astype(x[0], "int64"), 1]),
    "into numbers": lambda x: _written(np.zeros(3), x),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_numbers_is_refused(name: str) -> None:
    with pytest.raises(sg.TraceError, match="needs numbers"):
        sg.trace(REFUSED[name], x=X)


def test_a_function_of_symbols_beside_numbers_says_how_to_join_them() -> None:
    with pytest.raises(
        sg.TraceError, match=r"symbols beside numbers.*\n.*test_lists(.|\n)*np.stack"
    ):
        sg.trace(lambda x: np.tanh(np.array([x[0], 0.0])), x=X)
