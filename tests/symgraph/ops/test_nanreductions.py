"""Reductions with where= and initial=, over what is no NaN, with weights."""

from __future__ import annotations

import numpy as np
import pytest

import symgraph as sg
from symgraph.errors import DTypeError, ShapeError

RNG = np.random.default_rng(5)
X = RNG.normal(size=(3, 4))
MASK = np.array([[True, False, True, True], [False] * 4, [True] * 4])
WITH_NAN = np.array([[1.0, np.nan, 3.0, -2.0], [np.nan] * 4, [4.0, 1.0, 2.0, 4.0]])
WHOLE = np.array([[2, 0, 1, 4], [3, 1, 2, 2], [1, 1, 1, 0]])

MASKED = [
    lambda x, m: np.sum(x, axis=1, where=m),
    lambda x, m: np.sum(x, axis=1, where=m, initial=2.5),
    lambda x, m: np.sum(x, where=m[1], keepdims=True),
    lambda x, m: np.prod(x, axis=0, where=m, initial=2),
    lambda x, m: np.prod(x, where=m, dtype="float32"),
    lambda x, m: np.max(x, axis=1, where=m, initial=0),
    lambda x, m: np.min(x, axis=0, where=m, initial=-1, keepdims=True),
    lambda x, m: np.max(x, axis=1, initial=1),
    lambda x, m: np.max(x[:, :0], axis=1, initial=1),
    lambda x, m: np.max(x, axis=1, where=m),
    lambda x, m: np.sum(x, where=np.array([1, 0, 1, 1])),
    lambda x, m: np.sum(x[:, :1], where=m),
    lambda x, m: np.mean(x, axis=1, where=m),
    lambda x, m: np.mean(x, where=m),
    lambda x, m: np.var(x, axis=1, where=m, ddof=1),
    lambda x, m: np.var(x, where=m, correction=1),
    lambda x, m: np.var(x, axis=1, mean=np.mean(x, axis=1, keepdims=True)),
    lambda x, m: np.std(x, axis=0, where=m, keepdims=True),
    lambda x, m: np.all(x > 0, axis=1, where=m),
    lambda x, m: np.any(x > 0, axis=1, where=m),
    lambda x, m: np.any(x, where=False),
    lambda x, m: np.add.reduce(x, 1, where=m),
    lambda x, m: np.maximum.reduce(x, axis=None, initial=3),
    lambda x, m: np.multiply.reduce(x, initial=2),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("f", MASKED)
@pytest.mark.parametrize("x", [X, WHOLE, X.astype("float32")], ids=range(3))
def test_where_and_initial_are_numpys(agrees, f, x):
    agrees(f, x, MASK)
    agrees(lambda x: f(x, MASK), x)


@pytest.mark.parametrize("f", [*MASKED[:8], *MASKED[12:]])
def test_where_and_initial_of_named_dimensions(agrees, f):
    agrees(f, X, MASK, dims={3: "n"})


def test_masks_are_boolean_and_extrema_need_a_start():
    x = sg.input("x", (2,))
    with pytest.raises(DTypeError, match="where= is boolean"):
        np.sum(x, where=np.array([1, 0]))
    with pytest.raises(ShapeError, match="initial="):
        np.max(x, where=np.array([True, False]))


def test_what_is_left_out_does_not_poison_the_gradient():
    def f(x):
        return np.sum(np.log(x), where=x > 0) + np.mean(np.sqrt(x), where=x > 0)

    _, got = sg.trace(f, x=sg.spec((3,))).gradient("x").lower()(x=np.array([1.0, 0.0, 4.0]))
    np.testing.assert_allclose(got, [1 + 0.25, 0, 0.25 + 0.125])


NAN = [
    lambda x: np.nansum(x),
    lambda x: np.nansum(x, axis=0, keepdims=True),
    lambda x: np.nansum(x, axis=1, initial=2, where=MASK),
    lambda x: np.nanprod(x, axis=1),
    lambda x: np.nanmean(x, axis=1),
    lambda x: np.nanmean(x, axis=0, where=MASK),
    lambda x: np.nanmax(x, axis=1),
    lambda x: np.nanmax(x, axis=1, initial=2, where=MASK),
    lambda x: np.nanmin(x),
    lambda x: np.nanmin(x, axis=0, keepdims=True),
    lambda x: np.nanvar(x, axis=1),
    lambda x: np.nanvar(x, axis=1, ddof=1),
    lambda x: np.nanvar(x, axis=0, ddof=1, keepdims=True),
    lambda x: np.nanstd(x),
    lambda x: np.nanstd(x, axis=0, ddof=1),
    lambda x: np.nancumsum(x),
    lambda x: np.nancumsum(x, axis=1),
    lambda x: np.nancumprod(x, axis=0),
    lambda x: np.nanargmax(x[[0, 2]], axis=1),
    lambda x: np.nanargmin(x),
    lambda x: np.fmax.reduce(x, axis=1),
    lambda x: np.fmin.reduce(x),
    lambda x: np.fmax.accumulate(x, axis=1),
    lambda x: np.fmin.accumulate(x),
    lambda x: np.logical_or.accumulate(x),
    lambda x: np.logical_and.accumulate(x, axis=1),
    lambda x: np.logaddexp.reduce(x, axis=None),
    lambda x: np.logaddexp.reduce(x, axis=1, keepdims=True, where=MASK, initial=0.5),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("f", NAN)
@pytest.mark.parametrize("x", [X, WITH_NAN, WHOLE, WITH_NAN.astype("float32")], ids=range(4))
def test_nan_is_passed_over(agrees, f, x):
    agrees(f, x)


def test_the_place_of_the_largest_of_nothing_is_none(agrees):
    agrees(lambda x: np.nanargmax(x, axis=1), WITH_NAN, like=lambda x: np.array([2, -1, 0]))
    agrees(lambda x: np.nanargmin(x, axis=1), WITH_NAN, like=lambda x: np.array([3, -1, 1]))


@pytest.mark.parametrize("f", [np.nansum, np.nanmean, np.nanmax, np.nanvar, np.nanmedian])
def test_a_nan_has_no_share_in_the_gradient(f):
    x = np.array([1.0, np.nan, 3.0, 2.0, 7.0])
    kept = ~np.isnan(x)
    plain = {np.nansum: np.sum, np.nanmean: np.mean, np.nanmax: np.max, np.nanvar: np.var}
    _, got = sg.trace(lambda x: f(x), x=sg.spec((5,))).gradient("x").simplify().lower()(x=x)
    g = plain.get(f, np.median)
    want = sg.trace(lambda x: g(x), x=sg.spec((4,))).gradient("x").evaluate(x=x[kept])[1]
    np.testing.assert_allclose(got[kept], want)
    assert got[1] == 0


WEIGHTED = [
    lambda x, w: np.average(x, axis=1),
    lambda x, w: np.average(x, weights=x * x),
    lambda x, w: np.average(x, axis=1, weights=w),
    lambda x, w: np.average(x, axis=1, weights=w, returned=True),
    lambda x, w: np.average(x, axis=0, returned=True),
    lambda x, w: np.average(x, axis=1, weights=w, keepdims=True),
    lambda x, w: np.average(x, axis=(1, 0), weights=x.T * x.T),
    lambda x, w: np.average(x, weights=w),
    lambda x, w: np.average(x, axis=0, weights=w),
    lambda x, w: np.cov(x),
    lambda x, w: np.cov(x, rowvar=False),
    lambda x, w: np.cov(x, x[:1] * 2, bias=True),
    lambda x, w: np.cov(x, aweights=w),
    lambda x, w: np.cov(x, aweights=w, ddof=0),
    lambda x, w: np.cov(x, fweights=np.array([1, 2, 1, 3])),
    lambda x, w: np.cov(x, fweights=np.array([1, 2, 1, 3]), aweights=w),
    lambda x, w: np.cov(x, fweights=[1, 2, 1, 3], aweights=[0.5, 1.0, 2.0, 0.25]),
    lambda x, w: np.cov(x, aweights=[1, 2, 1, 3]),
    lambda x, w: np.cov(x[0]),
    lambda x, w: np.cov(x, dtype="float32"),
    lambda x, w: np.corrcoef(x),
    lambda x, w: np.corrcoef(x, rowvar=False),
    lambda x, w: np.corrcoef(x[0], x[1]),
    lambda x, w: np.corrcoef(x[0]),
]


@pytest.mark.parametrize("f", WEIGHTED)
def test_averages_and_covariances_are_numpys(agrees, f):
    w = np.array([0.5, 1.0, 2.0, 0.25])
    agrees(f, X, w)
    agrees(f, (X * 4).round() + np.arange(4), w)


@pytest.mark.parametrize("f", [*WEIGHTED[:6], *WEIGHTED[9:14]])
def test_averages_of_named_dimensions(agrees, f):
    agrees(f, X, np.array([0.5, 1.0, 2.0, 0.25]), dims={4: "n"})


def test_weights_fit_the_observations():
    x = sg.input("x", (2, 3))
    with pytest.raises(ShapeError, match="observations"):
        np.cov(x, aweights=np.ones(2))
    with pytest.raises(ShapeError, match="do not fit"):
        np.average(x, axis=0, weights=np.ones(3))
