"""Sums of short rows by BLAS: NumPy's numbers, whatever the memory is like."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.ir.interpreter import evaluate
from symgraph.namespace import NUMPY
from symgraph.namespace.row_sums import LONGEST


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(300, 2), (7, 60, 10), (0, 5), (300, LONGEST)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_values_are_those_of_numpy(dtype: str, shape: Any, keepdims: bool) -> None:
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    bound = shape[-1] * np.finfo(dtype).eps * np.sum(np.abs(x), axis=-1, keepdims=keepdims)
    views = [x, np.asfortranarray(x), x[..., ::-1], x[::-1], np.ascontiguousarray(x.T).T]
    views.append(np.broadcast_to(x[:1], shape) if len(x) else x)
    for view in views:
        want = np.sum(view, axis=-1, keepdims=keepdims)
        for out in (None, np.full(want.shape, np.nan, dtype)):
            got = NUMPY.row_sums(view, keepdims=keepdims, out=out)
            assert out is None or got is out
            assert (got.shape, got.dtype) == (want.shape, want.dtype)
            assert np.all(np.abs(got - want) <= np.max(bound, initial=0.0))


def test_infinities_and_nan_stay_in_their_rows() -> None:
    x = np.ones((300, 10))
    x[3, 4], x[5, 0], x[7, :2], x[9, 2] = np.inf, -np.inf, (np.inf, -np.inf), np.nan
    x[11] = 1.7e308
    f = sg.trace(lambda x: np.sum(x, axis=-1), x=sg.spec(x.shape)).lower()
    with np.errstate(all="ignore"):
        want = np.sum(x, axis=-1)
        np.testing.assert_array_equal(f(x), want)
        np.testing.assert_array_equal(evaluate(f.dag, {"x": x})[0], want)


@pytest.mark.parametrize("shape", [(300, 10), (20, 10), (300, 200), (2, 200, 3)])
def test_a_named_size_gives_the_bits_of_a_known_one(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).normal(size=shape)
    known = sg.trace(lambda x: np.sum(x, axis=-1), x=x)
    for spec in (("n", *shape[1:]), (*shape[:-1], "n")):
        named = sg.trace(lambda x: np.sum(x, axis=-1), x=spec)
        np.testing.assert_array_equal(named.evaluate(x=x), known.evaluate(x=x))
        np.testing.assert_array_equal(named.lower()(x=x), known.lower()(x=x))


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("count", [2, 4, 9, 20])
def test_zeros_have_the_sign_that_numpy_gives(count: int, keepdims: bool, given: bool) -> None:
    x = np.random.default_rng(0).normal(size=(300, count))
    x[5], x[7], x[9] = -0.0, 0.0, -0.0
    x[9, :2] = 1.0, -1.0
    want = np.sum(x, axis=-1, keepdims=keepdims)
    got = NUMPY.row_sums(x, keepdims=keepdims, out=np.empty_like(want) if given else None)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize(
    ("shape", "dtype", "by_blas"),
    [
        ((300, 10), "float64", True),
        (("n", 10), "float32", True),
        ((300, LONGEST + 1), "float64", False),
        ((20, 10), "float64", False),
        ((300, "n"), "float64", True),
        ((300, 10), "int64", False),
        ((300, 10), "float16", False),
    ],
)
def test_which_sums_are_products(shape: Any, dtype: str, by_blas: bool) -> None:
    f = sg.trace(lambda x: np.sum(x * x, axis=-1), x=sg.spec(shape, dtype)).lower()
    assert ("xp.row_sums(" in f.source) == by_blas


def test_rows_are_summed_inside_of_loops() -> None:
    x = sg.spec((100_000, 10))
    f = sg.trace(lambda x: x / np.sum(np.exp(x), axis=-1, keepdims=True), x=x).lower()
    assert "xp.row_sums(" in f.source.partition("for rows")[2]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_programs_compute_the_bits_of_the_interpreter(dtype: str, keepdims: bool) -> None:
    f = sg.trace(lambda x: np.sum(x, axis=-1, keepdims=keepdims), x=sg.spec("n, 10", dtype)).lower()
    x = np.random.default_rng(0).normal(size=(1000, 10)).astype(dtype)
    for view in (x, np.asfortranarray(x), x[::-1], x[:3]):
        assert f(view).tobytes() == evaluate(f.dag, {"x": view})[0].tobytes()
