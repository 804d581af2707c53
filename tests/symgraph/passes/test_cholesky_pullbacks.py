"""Gradients through a Cholesky factor are inverses and squares where the function allows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.scipy.linalg import cho_solve, solve_triangular

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

DEFINITE = sg.spec("5, 5", assume=sg.positive_definite)
Function = Callable[[Any, Any], Any]


def definite() -> np.ndarray[Any, Any]:
    x = np.random.default_rng(0).normal(size=(5, 7))
    return x @ x.T


AT: dict[str, Any] = {"K": definite(), "y": np.array([0.5, -1.25, 2.0, 0.75, -3.0])}


def lower(K: Any) -> Any:
    return np.linalg.cholesky(K)


def log_volume(K: Any) -> Any:
    return np.sum(np.log(np.diagonal(lower(K))))


def whitened(K: Any, y: Any) -> Any:
    return solve_triangular(lower(K), y, lower=True)


FOUND: dict[str, tuple[Function, int]] = {
    "evidence": (lambda K, y: 0.5 * y @ cho_solve((lower(K), True), y) + log_volume(K), 7),
    "evidence, whitened": (
        lambda K, y: 0.5 * np.sum(whitened(K, y) ** 2) + log_volume(K), 7,
    ),
    "square": (lambda K, y: 0.5 * np.sum(whitened(K, y) ** 2), 5),
    "volume": (lambda K, y: log_volume(K), 4),
    "volume, twice": (
        lambda K, y: 2 * log_volume(K) + 0.5 * (z := np.linalg.solve(lower(K), y)) @ z, 8,
    ),
    "several columns": (
        lambda K, y: 0.5 * np.sum(whitened(K, np.stack([y, y * y, y + 1], axis=1)) ** 2), 8,
    ),
    "squares of two": (
        lambda K, y: np.sum(whitened(K, y) ** 2) - 3 * np.sum(whitened(K, y * y) ** 2), 11,
    ),
}  # fmt: skip

OTHERS: dict[str, Function] = {
    "another function of the diagonal": lambda K, y: np.sum(np.exp(np.diagonal(lower(K)))),
    "a product": lambda K, y: whitened(K, y) @ whitened(K, y * y),
    "not a square": lambda K, y: np.sum(whitened(K, y) ** 3),
    "weights": lambda K, y: np.sum(y * np.log(np.diagonal(lower(K)))),
    "all of the factor": lambda K, y: np.sum(lower(K) ** 3) + log_volume(K),
    "an element": lambda K, y: lower(K)[3, 1],
}


def gradients(f: Function, K: Any) -> tuple[sg.Graph, sg.Graph]:
    plain = sg.trace(f, K=K, y="5").gradient("K", value=False)
    return plain, plain.simplify()


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("case", FOUND)
def test_functions_of_the_matrix(case: str) -> None:
    f, most = FOUND[case]
    plain, small = gradients(f, DEFINITE)
    assert small.op_count() <= most
    names = [node.op.name for node in small.nodes]
    assert "copied_lower" not in names
    assert "tril" not in names
    assert "pulled back through Cholesky factors" in str(small.explain())
    np.testing.assert_allclose(small.evaluate(**AT), plain.evaluate(**AT), rtol=1e-9, atol=1e-11)
    assert small.simplify().op_count() == small.op_count()


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("case", FOUND)
def test_of_a_matrix_that_is_not_known_to_be_definite(case: str) -> None:
    """The factor is that of the lower triangle, so only systems with the factor may be solved."""
    plain, small = gradients(FOUND[case][0], "5, 5")
    names = [node.op.name for node in small.nodes]
    assert "copied_lower" not in names
    assert "inv" not in names
    at: dict[str, Any] = AT | {"K": np.tril(definite()) + np.triu(np.full((5, 5), 9.0), 1)}
    np.testing.assert_allclose(small.evaluate(**at), plain.evaluate(**at), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("case", OTHERS)
def test_other_functions_of_the_factor_keep_their_gradient(case: str) -> None:
    plain, small = gradients(OTHERS[case], DEFINITE)
    assert small.op_count() <= plain.op_count()
    np.testing.assert_allclose(small.evaluate(**AT), plain.evaluate(**AT), rtol=1e-9, atol=1e-11)


def test_a_gaussian_process_with_a_kernel() -> None:
    """In its length scale and its noise, against differences."""

    def evidence(d: Any, r: Any, s: Any, y: Any) -> Any:
        K = np.exp(-d / r) + s * np.eye(5)
        z = whitened(K, y)
        return 0.5 * z @ z + log_volume(K)

    graph = sg.trace(evidence, d="5, 5", r="", s="", y="5")
    plain = graph.gradient("r", "s", value=False)
    small = plain.simplify()
    assert "copied_lower" not in [node.op.name for node in small.nodes]
    assert small.op_count() < plain.op_count()
    x = np.arange(5.0)
    at: dict[str, Any] = {"d": (x[:, None] - x) ** 2, "y": AT["y"], "r": 1.5, "s": 0.25}
    for found, name in zip(small.evaluate(**at), ("r", "s"), strict=True):
        up, down = (graph.evaluate(**(at | {name: at[name] + step})) for step in (1e-5, -1e-5))
        np.testing.assert_allclose(found, (up - down) / 2e-5, rtol=1e-7)
