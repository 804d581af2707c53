"""Sorting and quantiles are NumPy's, NaN and ties included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.errors import ShapeError, TraceError

RNG = np.random.default_rng(5)
X = RNG.normal(size=(3, 4))
CUBE = RNG.normal(size=(2, 3, 4))
TIES = np.array([[2.0, 1.0, 2.0, 1.0], [0.0, 0.0, -1.0, 0.0]])
WITH_NAN = np.array([[1.0, np.nan, 3.0, -2.0], [np.nan] * 4, [4.0, 1.0, 2.0, np.inf]])
BINS = np.array([-1.0, 0.0, 0.5, 1.0])

SORTS = [
    lambda x: np.sort(x),
    lambda x: np.sort(x, axis=0),
    lambda x: np.sort(x, axis=None),
    lambda x: np.argsort(x, kind="stable"),
    lambda x: np.argsort(x, axis=0, stable=True),
    lambda x: np.argsort(x, axis=None, kind="stable"),
    lambda x: np.sort(np.partition(x, 1)),
    lambda x: np.partition(x, 1)[..., 1],
    lambda x: np.isin(x, [0.0, 2.0]),
    lambda x: np.isin(x, [0.0, 2.0], invert=True),
    lambda x: np.searchsorted(BINS, x),
    lambda x: np.searchsorted(BINS, x, side="right"),
    lambda x: np.searchsorted([1.0, 0.0, 0.5], x, sorter=[1, 2, 0]),
    lambda x: np.digitize(x, BINS),
    lambda x: np.digitize(x, BINS, right=True),
    lambda x: np.digitize(x, BINS[::-1]),
    lambda x: np.digitize(x, BINS[::-1], right=True),
    lambda x: np.digitize(x, [1.0, 0.0, 0.5]),
    lambda x: np.lexsort((x[0], x[1])),
    lambda x: np.sort(x, axis=4),
    lambda x: np.partition(x, 4),
    lambda x: np.searchsorted(x, 0.0),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("f", SORTS)
@pytest.mark.parametrize("x", [X, TIES, WITH_NAN, X.astype("float32")], ids=range(4))
def test_sorting_is_numpys(agrees, f, x):
    agrees(f, x)


@pytest.mark.parametrize("f", SORTS[:-2])
def test_integers_are_sorted(agrees, f):
    agrees(f, np.array([[2, 0, 2, 1], [1, 1, -3, 0]]))


def test_named_dimensions_are_sorted(agrees):
    for f in SORTS[:17]:
        agrees(f, X, dims={3: "n"})


def test_bins_may_be_symbolic(agrees):
    for bins in (BINS, BINS[::-1].copy(), BINS[:1]):
        agrees(lambda x, b: np.digitize(x, b), TIES, bins)
        agrees(lambda x, b: np.digitize(x, b, right=True), TIES, bins)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_a_tie_is_differentiated_in_the_order_it_stands(backend):
    if backend == "jax":
        pytest.importorskip("jax")
    w = np.array([1.0, 2.0, 3.0, 4.0])
    graph = sg.trace(lambda x: np.sum(w * np.sort(x)), x=sg.spec((4,)))
    _, got = graph.gradient("x").simplify().lower(backend)(x=np.array([2.0, 1.0, 2.0, 1.0]))
    np.testing.assert_array_equal(got, [3, 1, 4, 2])


# -- quantiles -------------------------------------------------------------------------------------
METHODS = [
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
]
Q = np.array([0.0, 0.1, 0.25, 0.3, 0.5, 0.625, 0.75, 0.8, 1.0])


@pytest.mark.parametrize("method", METHODS)
def test_every_method(agrees, method):
    for q in (Q, 0.3, 0.5, 0, 1):
        agrees(lambda x, q=q: np.quantile(x, q, axis=1, method=method), X)
        agrees(lambda x, q=q: np.nanquantile(x, q, axis=1, method=method), X)
    agrees(lambda x: np.quantile(x, Q, method=method), CUBE)
    agrees(lambda x: np.percentile(x, 100 * Q, axis=(0, 2), method=method, keepdims=True), CUBE)
    agrees(lambda x: np.quantile(x, 0.3, axis=0, method=method), X, dims={3: "n"})


@pytest.mark.parametrize("q", [0, 1, [0, 1], 0.5, [0.0, 0.5], np.float32(0.5)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "int8"])
def test_a_quantile_has_numpys_dtype(agrees, q, dtype):
    agrees(lambda x: np.quantile(x, q), np.array([3, 1, 2], dtype))


QUANTILES = [
    lambda x: np.median(x),
    lambda x: np.median(x, axis=0),
    lambda x: np.median(x, axis=(0, 1), keepdims=True),
    lambda x: np.median(x, axis=-1, keepdims=True),
    lambda x: np.quantile(x, 0.4, axis=1),
    lambda x: np.quantile(x, [0.4, 0.9], axis=0, keepdims=True),
    lambda x: np.percentile(x, [40, 90]),
    lambda x: np.percentile(x, 40.0),
    lambda x: np.nanmedian(x),
    lambda x: np.nanmedian(x, axis=1),
    lambda x: np.nanmedian(x, axis=0, keepdims=True),
    lambda x: np.nanquantile(x, 0.25, axis=1),
    lambda x: np.nanpercentile(x, [25, 70], axis=1),
    lambda x: np.nanpercentile(x, [25, 70], axis=0, keepdims=True),
    lambda x: np.nanquantile(x, 0.7),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("f", QUANTILES)
@pytest.mark.parametrize("x", [X, TIES, X.astype("float32"), (X * 5).astype(int)], ids=range(4))
def test_quantiles_are_numpys(agrees, f, x):
    agrees(f, x)


@pytest.mark.parametrize("f", QUANTILES)
def test_a_nan_spoils_a_quantile_or_is_passed_over(agrees, f):
    agrees(f, np.where(np.isinf(WITH_NAN), 7.0, WITH_NAN))


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("f", QUANTILES)
@pytest.mark.parametrize("n", [3, 4])
def test_quantiles_of_named_dimensions(agrees, f, n):
    agrees(f, X, dims={n: "n"})


def test_the_quantile_may_be_symbolic(agrees):
    agrees(lambda x, q: np.quantile(x, q, axis=1), X, np.array([0.25, 0.6]))
    agrees(lambda x, q: np.quantile(x, q), X, np.array(0.6))
    graph = sg.trace(lambda q: np.quantile(np.array([1.0, 2.0, 5.0]), q), q=sg.spec(()))
    value, slope = graph.gradient("q").simplify().lower()(q=0.75)
    assert (value, slope) == (3.5, 6.0)


@pytest.mark.parametrize("f", QUANTILES)
def test_quantiles_of_truths_are_refused_as_numpy_does(agrees, f):
    agrees(f, X > 0)


def test_the_median_of_nothing(agrees):
    for f in (np.median, np.nanmedian):
        agrees(lambda x, f=f: f(x, axis=1), np.zeros((3, 0)))
        agrees(lambda x, f=f: f(x, axis=0, keepdims=True), np.zeros((3, 0)))
        agrees(lambda x, f=f: f(x), np.zeros((3, 0), "float32"))
    agrees(lambda x: np.nanquantile(x, 0.5, axis=1), np.zeros((3, 0)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("method", [np.median, np.nanmedian, lambda x: np.nanquantile(x, 0.3)])
@pytest.mark.parametrize("shape", ["n", "n, 2"])
def test_a_named_size_may_be_0(method: Any, shape: str) -> None:
    """There are no elements, and the result is NaN, as NumPy's; it has no slope."""

    def f(x: Any) -> Any:
        return method(x) + 0 * np.sum(x)

    graph = sg.trace(f, x=sg.spec(shape)).gradient("x")
    for each in (graph, graph.simplify()):
        for n in (0, 1, 4, 5):
            x = np.random.default_rng(n).normal(size=(n, 2)[: shape.count(",") + 1])
            value, slope = each.lower()(x=x)
            np.testing.assert_array_equal(value, f(x))
            assert slope.shape == x.shape
            assert np.sum(slope) == pytest.approx(1.0 if n else 0.0)


def test_quantiles_that_are_none():
    x = sg.input("x", (3,))
    with pytest.raises(ShapeError, match="between 0 and 1"):
        np.quantile(x, 1.5)
    with pytest.raises(TraceError, match="no method"):
        np.quantile(x, 0.5, method="best")
    with pytest.raises(TraceError, match="weights"):
        np.quantile(x, 0.5, weights=[1, 2, 3], method="linear")
    with pytest.raises(ShapeError, match="no element"):
        np.quantile(sg.input("y", (0,)), 0.5)
