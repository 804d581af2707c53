"""Statistics of samples: values are SciPy's, slopes are differences', and NaN stays NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats

import symgraph as sg
from symgraph.scipy import stats
from symgraph.testing import check_grads

RNG = np.random.default_rng(5)
X, W = np.abs(RNG.normal(size=(6, 4))) + 0.1, RNG.random((6, 4)) + 0.1
U, V = RNG.normal(size=6), RNG.normal(size=4)
REDUCTIONS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *[(name, (), {}) for name in ("skew", "kurtosis", "moment", "sem", "variation")],
    *[(name, (), {}) for name in ("gmean", "hmean", "entropy")],
    ("skew", (), {"bias": False}),
    ("kurtosis", (), {"bias": False}),
    ("kurtosis", (), {"bias": False, "fisher": False}),
    ("moment", (3,), {}),
    ("moment", (2,), {"center": 0.3}),
    ("sem", (), {"ddof": 0}),
    ("variation", (), {"ddof": 1}),
    ("entropy", (W,), {"base": 2}),
    ("gmean", (), {"weights": W}),
    ("hmean", (), {"weights": W}),
    ("pmean", (2.5,), {}),
    ("pmean", (0,), {}),
    ("pmean", (-1.5,), {"weights": W}),
]


@pytest.mark.parametrize("axis", [0, 1, -1, None, (0, 1)])
@pytest.mark.parametrize(("name", "args", "keywords"), REDUCTIONS)
def test_reductions_are_scipys(name: str, args: Any, keywords: Any, axis: Any) -> None:
    ours, theirs = getattr(stats, name), getattr(scipy.stats, name)
    for keepdims in (False, True):
        given = {**keywords, "axis": axis, "keepdims": keepdims}
        found, wanted = ours(X, *args, **given), theirs(X, *args, **given)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)
        assert np.shape(found) == np.shape(wanted)
    if args == () or np.ndim(args[0]) == 0:
        assert ours(X.astype("float32"), *args, axis=axis).dtype == np.float32
    if axis == 0:
        check_grads(lambda x: np.sum(ours(x, *args, **keywords)), X, order=2, analytic=False)


@pytest.mark.parametrize("axis", [0, 1, None])
def test_standard_scores(axis: Any) -> None:
    for ddof in (0, 1):
        found: Any = stats.zscore(X, axis=axis, ddof=ddof)
        wanted: Any = scipy.stats.zscore(X, axis=axis, ddof=ddof)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    check_grads(lambda x: np.sum(W * stats.zscore(x, axis=axis)), X, order=1)


DISTANCES = [
    (U, V),
    (U, U[::-1] ** 2),
    (U, V, W[:, 0], W[:4, 1]),
    (U, V, None, W[:4, 1]),
    (np.array([1.0, 1.0, 2.0, 2.0]), np.array([1.0, 2.0, 2.0])),
    ([1, 2, 3], [4, 5, 6]),
]


@pytest.mark.parametrize("name", ["wasserstein_distance", "energy_distance"])
@pytest.mark.parametrize("samples", DISTANCES)
def test_distances_of_samples_are_scipys(name: str, samples: Any) -> None:
    ours = getattr(stats, name)
    found, wanted = ours(*samples), getattr(scipy.stats, name)(*samples)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    if samples[0] is U:
        check_grads(lambda u: ours(u, *samples[1:]), U, order=1, analytic=False)


def test_wasserstein_by_weights() -> None:
    check_grads(lambda w: stats.wasserstein_distance(U, V, w), W[:, 0], order=1, analytic=False)


@pytest.mark.parametrize(
    ("x", "y", "axis"), [(U, U**2, 0), (X, W, 0), (X, W, 1), (U[:2], V[:2], 0)]
)
def test_correlations_are_scipys(x: Any, y: Any, axis: int) -> None:
    found: Any = stats.pearsonr(x, y, axis=axis)
    wanted: Any = scipy.stats.pearsonr(x, y, axis=axis)
    np.testing.assert_allclose(found.statistic, wanted.statistic, rtol=1e-12)
    np.testing.assert_allclose(found.pvalue, wanted.pvalue, rtol=1e-10)
    r, p = stats.pearsonr(x, y, axis=axis)
    assert np.shape(r) == np.shape(p) == np.shape(wanted.statistic)
    if x is U:
        check_grads(lambda x: stats.pearsonr(x, y)[0], U, order=1, analytic=False)
        check_grads(lambda x: stats.pearsonr(x, y)[1], U, order=1, analytic=False)


ABOUT_A_MEAN: dict[str, Callable[[Any], Any]] = {
    "skew": stats.skew,
    "kurtosis": stats.kurtosis,
    "zscore": lambda x: np.sum(stats.zscore(x)),
    "pearsonr": lambda x: stats.pearsonr(x, x[::-1] * np.arange(1.0, 4))[0],
}


@pytest.mark.parametrize("name", ABOUT_A_MEAN)
def test_equal_numbers_give_nan_also_where_their_mean_is_rounded(name: str) -> None:
    # The mean of three 0.1 is the float next to 0.1: deviations are rounding, and so would be skew.
    f = ABOUT_A_MEAN[name]
    for x in (np.full(3, 0.1), np.zeros(3)):
        assert np.isnan(f(x))
        value, slope = sg.trace(lambda x: f(x), x=3).gradient("x").simplify().evaluate(x=x)
        assert np.isnan(value)
        assert np.isnan(slope).all()


@pytest.mark.parametrize("f", [stats.hmean, lambda x: stats.pmean(x, 3)])
def test_means_of_negative_numbers_are_nan(f: Any) -> None:
    x = np.array([1.0, -1.0, 2.0])
    value, slope = sg.value_and_grad(f)(x)
    assert np.isnan(value)
    assert np.isnan(slope).all()


def test_means_of_a_zero() -> None:
    for name in ("gmean", "hmean"):
        assert getattr(stats, name)([1.0, 0.0, 2.0]) == 0


def test_sizes_may_have_names() -> None:
    graph = sg.trace(lambda x: stats.skew(x, bias=False) + stats.sem(x), x="n").gradient("x")
    value, slope = graph.simplify().evaluate(x=U)
    wanted = scipy.stats.skew(U, bias=False) + scipy.stats.sem(U)
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    assert slope.shape == (6,)


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(sg.InputError, match=r"nan_policy='omit'"):
        stats.skew(U, nan_policy="omit")
    with pytest.raises(sg.ShapeError, match="give vectors"):
        stats.wasserstein_distance(X, U)
    with pytest.raises(sg.ShapeError, match="fewer than two elements"):
        stats.pearsonr(U[:1], V[:1])
