"""Statements beside compiled loops run in blocks of rows where that saves memory or reads less."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg

pytest.importorskip("llvmlite", reason="the native extra is not installed")

ROWS, COLUMNS = 4000, 60
RNG = np.random.default_rng(0)
X, Y, W = RNG.normal(size=(ROWS, COLUMNS)), RNG.random(ROWS), 0.1 * RNG.normal(size=COLUMNS)


def loss(x: Any, y: Any, w: Any) -> Any:
    """A logistic regression."""
    z = x @ w
    return np.sum(np.log(1 + np.exp(z)) - y * z)


def hessian(rows: object = ROWS) -> sg.Graph:
    traced = sg.trace(loss, x=sg.spec((rows, COLUMNS)), y=sg.spec((rows,)), w=sg.spec((COLUMNS,)))
    return traced.hessian("w", value=False).simplify()


def expected(x: Any, w: Any) -> Any:
    p = 1 / (1 + np.exp(-x @ w))
    return x.T @ (x * (p * (1 - p))[:, None])


def test_a_scaled_matrix_is_made_a_block_at_a_time() -> None:
    graph = hessian()
    run = graph.lower("native")
    assert "for rows" in run.source
    np.testing.assert_allclose(run(X, Y, W), expected(X, W), rtol=1e-10, atol=1e-9)
    assert 0 < run.workspace_bytes < X.nbytes / 4


def test_numbers_that_are_none_stay_none() -> None:
    run = hessian().lower("native")
    x = X.copy()
    x[3999, 7] = np.nan
    found = run(x, Y, W)
    assert np.isnan(found).all()
    x[3999] = 0
    assert np.isfinite(run(x, Y, W)).all()


def test_named_sizes_take_blocks_where_they_are_large() -> None:
    run = hessian("n").lower("native")
    for rows in (1, 5, 400, ROWS):
        x, y = X[:rows], Y[:rows]
        np.testing.assert_allclose(run(x, y, W), expected(x, W), rtol=1e-10, atol=1e-9)


def test_loops_that_save_no_memory_are_left_out() -> None:
    """One matrix, read and summed: the arrays are the results and the inputs."""
    f = lambda x, y: (np.sum(x, axis=0), x @ y)  # noqa: E731
    source = sg.trace(f, x=(ROWS, 200), y=(200, 300)).lower("native").source
    assert "for rows" not in source


def test_a_matrix_that_no_cache_holds_is_read_once() -> None:
    def loss(X: Any, y: Any, w: Any) -> Any:
        z = X @ w
        return np.sum(np.log(1 + np.exp(-z)) + (1 - y) * z)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 64))
    given = {"X": X, "y": (rng.random(70_000) < 0.5) * 1.0, "w": rng.normal(size=64) / 8}
    graph = sg.trace(loss, **given).gradient("w").simplify()
    lowered = graph.lower("native")
    assert lowered.source.count("for rows") == 1
    assert "n0(" not in lowered.source
    assert "a large matrix once" in lowered.native_reason
    np.testing.assert_allclose(lowered(**given)[0], graph.evaluate(**given)[0], rtol=1e-11)
    # Fewer rows fit a cache, and compiled loops take less time than blocks.
    few = {name: each[:9_000] if len(each) > 64 else each for name, each in given.items()}
    small = sg.trace(loss, **few).gradient("w").simplify().lower("native")
    assert "n0(" in small.source
