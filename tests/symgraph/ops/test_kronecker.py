"""Kronecker products are never formed where they are only multiplied with, or solved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(3, 4)), RNG.normal(size=(2, 5))
SQUARE, OTHER = RNG.normal(size=(3, 3)) + 4 * np.eye(3), RNG.normal(size=(2, 2)) + 4 * np.eye(2)
ROW, COLUMN, SIX = RNG.normal(size=6), RNG.normal(size=20), RNG.normal(size=6)

CASES: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...], list[str]]] = {
    "times a vector": (lambda a, b, v: np.kron(a, b) @ v, (A, B, COLUMN), ["matmul"] * 2),
    "a vector times it": (lambda a, b, v: v @ np.kron(a, b), (A, B, ROW), ["matmul"] * 2),
    "times a matrix": (
        lambda a, b, x: np.kron(a, b) @ x,
        (A, B, RNG.normal(size=(20, 7))),
        ["matmul"] * 2,
    ),
    "a system": (
        lambda a, b, v: np.linalg.solve(np.kron(a, b), v),
        (SQUARE, OTHER, SIX),
        ["solve"] * 2,
    ),
    "two of them": (
        lambda a, b: np.kron(a, b) @ np.kron(a.T, b.T),
        (A, B),
        ["matmul", "matmul", "multiply"],
    ),
}


def ops(graph: sg.Graph) -> list[str]:
    return sorted(node.op.name for node in graph.nodes if node.op.count)


@pytest.mark.parametrize("name", CASES)
def test_it_is_not_formed(name: str) -> None:
    f, arrays, wanted = CASES[name]
    given = dict(zip(f.__code__.co_varnames, arrays, strict=False))
    small = sg.trace(f, **{name: array.shape for name, array in given.items()}).simplify()
    assert ops(small) == wanted
    np.testing.assert_allclose(small.evaluate(**given), f(*arrays), rtol=1e-12, atol=1e-12)


def test_the_gradient_of_a_quadratic_form() -> None:
    """Of vec(X)' (A kron B) vec(X) / 2 it is (A X B' + A' X B) / 2; 2 A X B of symmetric ones."""

    def form(x: Any, a: Any, b: Any) -> Any:
        return np.reshape(x, (6,)) @ np.kron(a, b) @ np.reshape(x, (6,))

    symmetric = {
        "a": sg.spec("3, 3", assume=sg.symmetric),
        "b": sg.spec("2, 2", assume=sg.symmetric),
    }
    small = sg.trace(form, x="3, 2", **symmetric).gradient("x", value=False).simplify()
    assert ops(small) == ["matmul", "matmul", "multiply"]
    x, a, b = SIX.reshape(3, 2), SQUARE + SQUARE.T, OTHER + OTHER.T
    np.testing.assert_allclose(small.evaluate(x=x, a=a, b=b), 2 * a @ x @ b, rtol=1e-12)


def test_named_dimensions_stay_named() -> None:
    graph = sg.trace(
        lambda a, b, x: np.kron(a, b) @ np.reshape(x, (-1,)), a="m, n", b="p, q", x="n, q"
    ).simplify()
    assert ops(graph) == ["matmul", "matmul"]
    x = RNG.normal(size=(4, 5))
    wanted = np.kron(A, B) @ x.ravel()
    np.testing.assert_allclose(graph.evaluate(a=A, b=B, x=x), wanted, rtol=1e-12)
