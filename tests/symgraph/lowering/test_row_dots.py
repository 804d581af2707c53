"""Products of rows in the place of products and their sums, in programs in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.backends.lowered import Lowered
from symgraph.ir.interpreter import evaluate

N = 20_000
CASES: dict[str, tuple[Callable[[Any, Any], Any], int]] = {
    "all": (lambda x, y: np.sum(np.exp(x) * y), 1),
    "rows": (lambda x, y: np.sum(np.exp(x) * y, axis=-1), 1),
    "rows kept": (lambda x, y: y - np.sum(np.exp(x) * y, axis=-1, keepdims=True), 1),
    "squares": (lambda x, y: np.sum(np.square(np.exp(x) - y), axis=1), 1),
    "read twice": (lambda x, y: (np.sum(z := np.exp(x) * y, axis=-1), z), 0),
    "columns": (lambda x, y: np.sum(np.exp(x) * y, axis=0), 0),
    "broadcast": (lambda x, y: np.sum(np.exp(x) * y[:, :1], axis=-1), 0),
}


def lowered(case: str, columns: int = 64, dtype: str = "float64") -> Lowered:
    spec = sg.spec((N, columns), dtype)
    return sg.trace(CASES[case][0], x=spec, y=spec).lower()


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_are_those_of_the_interpreter(case: str, dtype: str) -> None:
    f = lowered(case, dtype=dtype)
    assert f.source.partition("for rows")[2].count("np.vecdot(") == CASES[case][1]
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, N, 64)).astype(dtype)
    x[7, 3], y[11, 2], y[13, 0] = np.inf, np.nan, -np.inf
    for a, b in ((x, y), (np.asfortranarray(x), y[::-1])):
        wanted = evaluate(f.dag, {"x": a, "y": b})
        results = f(a, b)
        for got, want in zip(results if len(wanted) > 1 else [results], wanted, strict=True):
            assert (got.shape, got.dtype) == (want.shape, want.dtype)
            far = 500 * np.finfo(dtype).eps
            np.testing.assert_allclose(got, want, far, far * 100)


@pytest.mark.parametrize("columns", [63, 4097])
def test_short_and_long_rows_are_added_up_by_numpy(columns: int) -> None:
    assert "np.vecdot(" not in lowered("all", columns).source


def test_programs_without_blocks_add_up_as_the_interpreter_does() -> None:
    spec = sg.spec((100, 64))
    f = sg.trace(CASES["all"][0], x=spec, y=spec).lower()
    assert "np.vecdot(" not in f.source
