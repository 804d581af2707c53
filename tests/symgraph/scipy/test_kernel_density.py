"""Kernel density estimates and counts of outcomes: values are SciPy's, slopes are differences'."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import symgraph as sg
from symgraph.scipy import stats
from symgraph.testing import check_grads

RNG = np.random.default_rng(3)
DATA, WEIGHTS = RNG.normal(size=(2, 20)), np.abs(RNG.normal(size=20))
WEIGHTS[3] = 0  # An observation that does not count.


@pytest.mark.parametrize("arguments", [(), (0.4,), ("silverman", WEIGHTS)])
@pytest.mark.parametrize("data", [DATA, DATA[0]])
def test_an_estimate_is_scipys(data: np.ndarray, arguments: tuple) -> None:
    ours, theirs = stats.gaussian_kde(data, *arguments), scipy.stats.gaussian_kde(data, *arguments)
    points = RNG.normal(size=(data.ndim, 5))
    for call in ("logpdf", "pdf", "evaluate", "__call__"):
        found, wanted = getattr(ours, call)(points), getattr(theirs, call)(points)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert ours.factor == theirs.factor
    check_grads(lambda x: ours.logpdf(x), points, order=2)


def test_a_vector_is_a_point_and_points_may_be_any_number() -> None:
    density = stats.gaussian_kde(DATA)
    assert density.logpdf(np.array([0.1, 0.2])).shape == (1,)
    graph = sg.trace(lambda x: np.sum(density.logpdf(x)), x=sg.spec("2, m")).gradient("x")
    assert graph.evaluate(x=np.ones((2, 3)))[1].shape == (2, 3)
    with pytest.raises(sg.ShapeError, match="2 dimensions"):
        density.logpdf(np.ones((3, 4)))


def test_far_from_the_data_the_logarithm_has_a_slope() -> None:
    density = stats.gaussian_kde(DATA[0])
    spread = float(density.covariance[0, 0])
    slope = sg.grad(lambda x: density.logpdf(x)[0])(np.array([1e4]))
    assert slope == pytest.approx((DATA[0].max() - 1e4) / spread, rel=1e-12)
    assert np.isnan(density.logpdf(np.nan))


def test_symbolic_data_are_refused() -> None:
    with pytest.raises(sg.TraceError, match="data are symbolic"):
        stats.gaussian_kde(sg.input("x", (5,)))


# -- counts of outcomes ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("x", "n", "p"),
    [
        ([1, 2, 0], 3, [0.2, 0.5, 0.3]),
        ([1, 2, 1], 3, [0.2, 0.5, 0.3]),
        ([1, 2, 0], 3, [0.2, 0.8, 0.0]),
        ([1, 1, 1], 3, [0.2, 0.8, 0.0]),
        ([0.5, 2.5, 0], 3, [0.2, 0.5, 0.3]),
        ([-1, 4, 0], 3, [0.2, 0.5, 0.3]),
        ([[1, 2, 0], [3, 0, 0]], 3, [0.2, 0.5, 0.3]),
        ([1, 2, 0], -3, [0.2, 0.5, 0.3]),
        ([0, 0, 0], 0, [0.2, 0.5, 0.3]),
    ],
)
def test_the_multinomial_is_scipys(x: list, n: int, p: list[float]) -> None:
    for call in ("logpmf", "pmf"):
        found = getattr(stats.multinomial, call)(x, n, p)
        wanted = getattr(scipy.stats.multinomial, call)(x, n, p)
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-300)
    assert stats.multinomial(n, p).logpmf(x).shape == np.shape(x)[:-1]


def test_a_nan_stays_and_probabilities_add_up_to_1() -> None:
    counts, shares = [1.0, 2.0, 0.0], [0.2, 0.5, 0.3]
    for call in (stats.multinomial.logpmf, stats.multinomial.pmf):
        assert np.isnan(call([1.0, 2.0, np.nan], 3, shares))
        assert np.isnan(call(counts, 3, [0.2, np.nan, 0.3]))
        assert np.isnan(call(counts, 3, [0.2, 0.5, 0.4]))


@pytest.mark.parametrize(
    ("x", "p", "logarithm", "itself"),
    [
        ([1.0, 2.0, 0.0], [0.2, 0.5, 0.3], [5.0, 4.0, 0.0], [0.75, 0.6, 0.0]),
        ([1.0, 1.0, 1.0], [0.2, 0.8, 0.0], [5.0, 1.25, np.inf], [0.0, 0.0, 0.96]),
        ([1.0, 2.0, 0.0], [0.2, 0.8, 0.0], [5.0, 2.5, 0.0], [1.92, 0.96, 0.0]),
        ([1.0, 0.0, 2.0], [0.2, 0.8, 0.0], [5.0, 0.0, np.inf], [0.0, 0.0, 0.0]),
    ],
)
def test_the_multinomial_has_slopes_where_a_probability_is_0(
    x: list[float], p: list[float], logarithm: list[float], itself: list[float]
) -> None:
    """They are x / p, and those of the product of powers."""
    for call, wanted in (("logpmf", logarithm), ("pmf", itself)):
        graph = sg.trace(
            lambda p, call=call: getattr(stats.multinomial, call)(np.array(x), 3, p), p=sg.spec("3")
        ).gradient("p", value=False)
        for each in (graph, graph.simplify()):
            np.testing.assert_allclose(each.evaluate(p=np.array(p)), wanted, rtol=1e-14)


# -- generalized normal ----------------------------------------------------------------------------
@pytest.mark.parametrize("beta", [0.5, 1.0, 1.5, 2.0, 8.0])
def test_slopes_of_the_generalized_normal(beta: float) -> None:
    """-beta |z|**(beta - 1) sign(z); by beta at 0 it is 1 / beta + digamma(1 / beta) / beta**2."""
    graph = sg.trace(lambda z, beta: stats.gennorm.logpdf(z, beta), z="", beta="").gradient(
        "z", "beta"
    )
    for each in (graph, graph.simplify()):
        for z in (0.7, -0.7, 1e-300, 30.0):
            _, (by_z, _) = each.evaluate(z=z, beta=beta)
            wanted = -beta * abs(z) ** (beta - 1) * np.sign(z)
            assert by_z == pytest.approx(wanted, rel=1e-12)
        by_beta = each.evaluate(z=0.0, beta=beta)[1][1]
        level = 1 / beta + scipy.special.digamma(1 / beta) / beta**2
        assert by_beta == pytest.approx(level, rel=1e-12)
