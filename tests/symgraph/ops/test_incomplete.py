"""The derivatives of incomplete gamma functions in their parameter."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import NotDifferentiable
from symgraph.scipy import stats

PARAMETERS = [1e-3, 0.05, 0.5, 0.9, 1.0, 2.3, 7.0, 15.9, 16.0, 40.0, 300.0, 3e3, 1e4]
SHARES = [1e-3, 0.05, 0.5, 0.8, 0.97, 1.0, 1.02, 1.2, 1.5, 3.0, 10.0]
STEP = mp.mpf(10) ** -14


def differences(function: Any, at: float) -> Any:
    """The derivative by central differences of fourth order, in 70 digits."""
    with mp.workdps(70):
        a = mp.mpf(at)
        near, far = (function(a + k * STEP) - function(a - k * STEP) for k in (1, 2))
        return (8 * near - far) / (12 * STEP)


def slope(a: float, x: float) -> Any:
    """The derivative of P(a, x) in a, by way of the lesser of P and 1 - P."""
    at = mp.mpf(x)
    if x <= a:
        return differences(lambda t: mp.gammainc(t, 0, at, regularized=True), a)
    return -differences(lambda t: mp.gammainc(t, at, mp.inf, regularized=True), a)


def grid() -> list[tuple[float, float, float]]:
    """a, x and the slope, where it is no smaller than 1e-280."""
    points = [(a, a * share) for a in PARAMETERS for share in SHARES]
    points += [(a, x) for a in (1e-3, 0.1, 0.5) for x in (0.3, 0.699, 0.701, 1.0, 5.0, 100.0)]
    found = [(a, x, slope(a, x)) for a, x in points]
    return [(a, x, float(exact)) for a, x, exact in found if abs(exact) > 1e-280]


@pytest.mark.whole
def test_the_slope_has_its_digits_over_the_range_of_likelihoods() -> None:
    a, x, want = np.array(grid()).T
    assert len(a) > 120
    np.testing.assert_allclose(snp.gammainc_slope(a, x), want, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_in_single_and_half_precision_it_is_rounded_once(dtype: str) -> None:
    a = np.array([0.05, 0.5, 2.0, 9.0, 60.0], dtype)[:, None]
    x = a * np.array([0.25, 0.75, 1.0, 1.25, 1.5], dtype)
    got = snp.gammainc_slope(a, x)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, snp.gammainc_slope(a.astype(float), x).astype(dtype))


def integral(a: float, x: float) -> float:
    """The slope as an integral over s, where the density is taken at x exp(-s) or x exp(s)."""
    side = -1 if x <= a else 1
    with mp.workdps(40):
        at, psi, all_of_it = mp.mpf(x), mp.psi(0, a), mp.loggamma(a)

        def change(s: Any) -> Any:
            rate = mp.log(at) + side * s
            return mp.exp(a * rate - at * mp.exp(side * s) - all_of_it) * (rate - psi)

        scale = 1 / (abs(at - a) + mp.sqrt(at))
        panels = [2 * k * scale for k in range(25)]
        whole: Any = mp.quad(change, panels, method="gauss-legendre", maxdegree=5)
        return float(-side * whole)


@pytest.mark.parametrize("a", [1e4, 1e6, 1e9, 1e12])
def test_a_very_large_parameter(a: float) -> None:
    x = a + np.sqrt(a) * np.array([-20.0, -1.0, 0.0, 0.5, 2.0, 15.0, 30.0])
    want = [integral(a, float(each)) for each in x]
    np.testing.assert_allclose(snp.gammainc_slope(a, x), want, rtol=2e-12)


def test_each_element_has_the_same_bits_among_few_and_many() -> None:
    generator = np.random.default_rng(0)
    a, x = generator.uniform(0, 50, 9000), generator.uniform(0, 100, 9000)
    few = [snp.gammainc_slope(a[i : i + 100], x[i : i + 100]) for i in range(0, 9000, 100)]
    np.testing.assert_array_equal(snp.gammainc_slope(a, x), np.concatenate(few))


def test_limits_and_what_is_no_number() -> None:
    a = np.array([0.5, 2.0, 0.0, np.inf, 1e4, 1e300, 3.0])
    x = np.array([0.0, np.inf, np.inf, 5.0, 1e-300, 1e-310, 1e300])
    with np.errstate(all="raise", under="ignore"):
        np.testing.assert_array_equal(snp.gammainc_slope(a, x), 0.0)
        bad = snp.gammainc_slope(
            np.array([-1.0, 2.0, 0.0, np.inf, np.nan, 1.0, -np.inf]),
            np.array([1.0, -1.0, 0.0, np.inf, 1.0, np.nan, np.inf]),
        )
    assert np.isnan(bad).all()
    # P(a, x) is 1 - a E1(x) near a = 0.
    at = np.array([1e-310, 1e-3, 0.5, 0.8, 30.0])
    np.testing.assert_allclose(
        snp.gammainc_slope(0.0, at), [-float(mp.e1(float(each))) for each in at], rtol=1e-13
    )


def test_as_in_jax() -> None:
    pytest.importorskip("jax")
    import jax

    from symgraph.backends.jax import enable_x64

    a = np.array([0.3, 1.0, 2.5, 20.0, 150.0])[:, None]
    x = a * np.array([0.2, 0.9, 1.1, 2.0])
    with enable_x64(True):
        want = jax.lax.igamma_grad_a(*np.broadcast_arrays(a, x))
    np.testing.assert_allclose(snp.gammainc_slope(a, x), want, rtol=1e-9)


@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
def test_first_and_mixed_derivatives(name: str) -> None:
    sign = 1 if name == "gammainc" else -1
    a, x = sg.input("a", ()), sg.input("x", ())
    graph = sg.graph(getattr(snp, name)(a, x)).gradient("a", value=False)
    assert graph.evaluate(a=2.3, x=1.7) == pytest.approx(sign * float(slope(2.3, 1.7)), rel=1e-13)
    with mp.workdps(30):
        density = mp.diff(lambda t: mp.mpf(1.7) ** (t - 1) * mp.exp(-1.7) / mp.gamma(t), 2.3)
    mixed = graph.gradient("x", value=False).evaluate(a=2.3, x=1.7)
    assert mixed == pytest.approx(sign * float(density), rel=1e-12)


@pytest.mark.parametrize(("a", "mixed"), [(0.5, -np.inf), (1.0, -np.inf), (2.0, 0.0)])
def test_the_mixed_derivative_at_0(a: float, mixed: float) -> None:
    x = sg.input("x", ())
    graph = sg.graph(snp.gammainc_slope(a, x)).gradient("x", value=False)
    assert graph.evaluate(x=0.0) == mixed


def test_the_second_derivative_in_the_parameter_is_refused() -> None:
    a = sg.input("a", ())
    graph = sg.graph(snp.gammainc(a, 1.7)).gradient("a", value=False)
    with pytest.raises(NotDifferentiable, match="second derivative of an incomplete gamma"):
        graph.gradient("a")


@pytest.mark.parametrize(("name", "p"), [("gammaincinv", 0.3), ("gammainccinv", 1e-12)])
def test_a_quantile_moves_with_the_parameter(name: str, p: float) -> None:
    ends = (0, None) if name == "gammaincinv" else (None, mp.inf)

    def quantile(a: Any) -> Any:
        def missed(x: Any) -> Any:
            low, high = (x if end is None else end for end in ends)
            return mp.log(mp.gammainc(a, low, high, regularized=True) / mp.mpf(p))

        return mp.findroot(missed, float(getattr(snp, name)(2.3, p)))

    a = sg.input("a", ())
    graph = sg.graph(getattr(snp, name)(a, p)).gradient("a", value=False)
    assert graph.evaluate(a=2.3) == pytest.approx(float(differences(quantile, 2.3)), rel=1e-12)


def test_a_censored_likelihood() -> None:
    """Times until failure, two of them known to be longer than the time of the study only."""
    seen, ends, at = [0.4, 2.5, 3.1], [6.0, 40.0], (2.2, 1.3)
    shape, scale = sg.input("shape", ()), sg.input("scale", ())
    likelihood = np.sum(stats.gamma.logpdf(np.array(seen), shape, scale=scale)) + np.sum(
        stats.gamma.logsf(np.array(ends), shape, scale=scale)
    )
    graph = sg.graph(likelihood).gradient("shape", "scale").simplify()
    _, found = graph.lower("numpy")(shape=at[0], scale=at[1])

    def exact(shape: Any, scale: Any) -> Any:
        known = [(shape - 1) * mp.log(t) - t / scale - shape * mp.log(scale) for t in seen]
        left = [mp.gammainc(shape, t / scale, mp.inf, regularized=True) for t in ends]
        return sum(known) - len(seen) * mp.loggamma(shape) + sum(mp.log(each) for each in left)

    want = [
        float(differences(lambda t: exact(t, mp.mpf(at[1])), at[0])),
        float(differences(lambda t: exact(mp.mpf(at[0]), t), at[1])),
    ]
    np.testing.assert_allclose(found, want, rtol=1e-12)


@pytest.mark.parametrize("function", ["cdf", "sf", "logcdf", "logsf"])
@pytest.mark.parametrize("name", ["gamma", "chi2", "invgamma"])
def test_distributions_that_rest_on_it(name: str, function: str) -> None:
    """P(k s, y) of the distribution: where it lies, which tail it is, and its logarithm."""
    a = sg.input("a", ())
    k, y, is_upper = {"gamma": (1, 1.7, 0), "chi2": (0.5, 0.85, 0), "invgamma": (1, 1 / 1.7, 1)}[
        name
    ]
    upper = is_upper != (function in ("sf", "logsf"))
    ends = (y, mp.inf) if upper else (0, y)

    def exact(t: Any) -> Any:
        share = mp.gammainc(k * t, *ends, regularized=True)
        return mp.log(share) if function.startswith("log") else share

    graph = sg.graph(getattr(getattr(stats, name), function)(1.7, a)).gradient("a", value=False)
    assert graph.evaluate(a=2.3) == pytest.approx(float(differences(exact, 2.3)), rel=1e-12)
