"""Matrices that are triangular but for rounding: the structure is used, no number is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg

LOWER = sg.triangular("lower")
RNG = np.random.default_rng(0)
GIVEN = {
    "a": np.tril(RNG.standard_normal((4, 4))) + 4 * np.eye(4),
    "b": np.tril(RNG.standard_normal((4, 4))) + 4 * np.eye(4),
    "x": RNG.standard_normal(4),
}
USES: dict[str, Callable[..., Any]] = {
    "solve by an inverse": lambda a, b, x: np.linalg.solve(np.linalg.inv(a), b @ x),
    "solve by a product": lambda a, b, x: np.linalg.solve(a @ np.linalg.inv(b), x),
    "solve by a sum": lambda a, b, x: np.linalg.solve(a + np.linalg.inv(b), x),
    "determinant": lambda a, b, x: np.linalg.det(np.linalg.inv(a) @ b) * x,
    "part above": lambda a, b, x: np.triu(np.linalg.inv(a), 1) @ b @ x,
    "transposed": lambda a, b, x: np.linalg.solve(np.linalg.inv(a).T, b @ x),
}


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("noise", [0.0, 1e-17])
@pytest.mark.parametrize("name", USES)
def test_entries_of_rounding_are_zeros(name: str, noise: float) -> None:
    square = sg.spec((4, 4), assume=LOWER)
    graph = sg.trace(USES[name], a=square, b=square, x=sg.spec((4,)))
    given = {**GIVEN, "a": GIVEN["a"] + noise * np.triu(np.ones((4, 4)), 1)}
    wanted = USES[name](**given)
    for found in (graph.simplify().evaluate(**given), graph.simplify().lower()(**given)):
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-15)
