"""Distributions: SciPy's values, right gradients, tails in range."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special
import scipy.stats

import symgraph as sg
from symgraph.scipy import stats
from symgraph.scipy.stats.continuous import Continuous
from symgraph.scipy.stats.distribution import Discrete
from symgraph.testing import check_grads

SHAPES: dict[str, tuple[float, ...]] = {
    "gamma": (2.5,),
    "beta": (2.5, 1.7),
    "t": (3.3,),
    "lognorm": (0.8,),
    "chi2": (3.1,),
    "f": (3.0, 5.0),
    "pareto": (2.2,),
    "weibull_min": (1.7,),
    "truncnorm": (-1.0, 2.5),
    "invgamma": (2.2,),
    "skewnorm": (1.5,),
    "gennorm": (1.4,),
    "genextreme": (0.3,),
    "bernoulli": (0.3,),
    "binom": (10, 0.3),
    "poisson": (3.2,),
    "geom": (0.3,),
    "nbinom": (4, 0.3),
    "betabinom": (10, 1.3, 2.2),
    "genpareto": (0.3,),
    "vonmises": (1.7,),
    "fisk": (1.6,),
    "lomax": (2.2,),
    "invgauss": (1.3,),
}
X = np.array(
    [-40, -5, -1.5, -1, -0.3, 0, 0.2, 0.5, 1, 1.3, 2, 3, 5, 7.0, 10, 11, 12, 30, -np.inf, np.inf]
)
Q = np.array([-1, 0, 1e-20, 0.1, 0.5, 0.9, 1 - 1e-10, 1, 2, np.nan])
ROWS = [
    (name, method)
    for name in stats.__all__
    if isinstance(found := getattr(stats, name), (Continuous, Discrete))
    for method in found.methods
    if found._has(method)
]
# SciPy gives NaN at the infinite end of the density, and loses the digits of these tails.
FINER = {
    ("halfnorm", "logsf"),
    ("halfnorm", "ppf"),
    ("geom", "logcdf"),
    ("poisson", "logcdf"),
    ("halfcauchy", "ppf"),
    ("halfcauchy", "isf"),
}


@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize(("name", "method"), ROWS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_are_scipys(name: str, method: str) -> None:
    shapes = SHAPES.get(name, ())
    ours, theirs = getattr(stats, name), getattr(scipy.stats, name)
    places = Q if method in ("ppf", "isf") else X
    for where in ((), (1,) if isinstance(ours, Discrete) else (0.5, 2.0)):
        found = getattr(ours, method)(places, *shapes, *where)
        wanted = getattr(theirs, method)(places, *shapes, *where)
        known = np.isfinite(places) | ~np.isnan(wanted)
        if (name, method) in FINER:
            known &= np.abs(places) <= 20
            known &= (places > 1e-6) & (places < 1 - 1e-6) if method in ("ppf", "isf") else known
            np.testing.assert_allclose(found[known], wanted[known], rtol=1e-9, atol=1e-18)
        else:
            np.testing.assert_allclose(found[known], wanted[known], rtol=1e-9, atol=1e-15)


@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize(("name", "method"), ROWS)
def test_symbols_numbers_and_frozen_agree(name: str, method: str) -> None:
    shapes, ours = SHAPES.get(name, ()), getattr(stats, name)
    places = np.array([0.2, 0.7])
    graph = sg.trace(lambda x: getattr(ours, method)(x, *shapes), x=places)
    eager = getattr(ours, method)(places, *shapes)
    np.testing.assert_array_equal(graph.evaluate(x=places), eager)
    np.testing.assert_array_equal(getattr(ours(*shapes), method)(places), eager)
    assert type(getattr(ours, method)(0.5, *shapes)) is np.float64
    assert getattr(ours, method)(places.astype("float32"), *shapes).dtype == np.float32


@pytest.mark.sampled(one_in=32)
@pytest.mark.parametrize(("name", "method"), ROWS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_gradients_are_those_of_differences(name: str, method: str) -> None:
    ours = getattr(stats, name)
    discrete = isinstance(ours, Discrete)
    parameters = [float(each) for each in SHAPES.get(name, ())] + ([] if discrete else [0.1, 1.3])
    places = [2.0] if discrete else [0.1, 0.95] if method in ("ppf", "isf") else [-3.0, 0.8, 4.0]
    for x in places:
        full = [x, *parameters]
        for i in range(1 if discrete else 0, len(full)):

            def f(value: Any, full: list[float] = full, i: int = i) -> Any:
                return getattr(ours, method)(*full[:i], value, *full[i + 1 :])

            try:
                found = sg.trace(f, value="").gradient("value").evaluate(value=full[i])[1]
            except sg.NotDifferentiable:
                continue
            if name == "binom" and i == 1 and method.removeprefix("log") in ("cdf", "sf"):
                assert found == 0  # The number of trials is cut to a whole number there.
                continue
            h = 1e-4 * max(1.0, abs(full[i]))
            value = [f(full[i] + k * h) for k in (-2, -1, 0, 1, 2)]
            wanted = (8 * (value[3] - value[1]) - (value[4] - value[0])) / (12 * h)
            # Outside of the support there is nothing to gain: 0, not NaN.
            wanted = wanted if np.isfinite(value[2]) else 0.0
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("method", ["logpdf", "cdf", "sf", "ppf"])
@pytest.mark.parametrize("scale", [-1.0, 0.0, np.nan])
def test_an_invalid_scale_gives_nan(method: str, scale: float) -> None:
    for name in ("norm", "gamma", "uniform", "expon"):
        ours, shapes = getattr(stats, name), SHAPES.get(name, ())
        assert np.isnan(getattr(ours, method)(0.5, *shapes, 0.0, scale))
        graph = sg.trace(lambda s, o=ours, p=shapes: getattr(o, method)(0.5, *p, 0.0, s), s="")
        assert np.isnan(graph.evaluate(s=scale))


def test_nan_in_gives_nan() -> None:
    for name, method in ROWS:
        assert np.isnan(getattr(getattr(stats, name), method)(np.nan, *SHAPES.get(name, ()))), name


def test_tails_against_high_precision() -> None:
    mpmath.mp.dps = 50
    for z in (-1e3, -40.0, -8.0, 3.0):
        wanted = mpmath.log(mpmath.erfc(-mpmath.mpf(z) / mpmath.sqrt(2)) / 2)
        assert stats.norm.logcdf(z) == pytest.approx(float(wanted), rel=1e-13)
        assert stats.norm.logsf(-z) == pytest.approx(float(wanted), rel=1e-13)
    assert stats.expon.logcdf(1e-20) == pytest.approx(np.log(1e-20), rel=1e-14)
    assert stats.gumbel_r.logsf(50.0) == pytest.approx(-50.0, rel=1e-14)
    assert stats.t.logpdf(1e200, 3.0) == pytest.approx(
        scipy.stats.t.logpdf(1e100, 3.0) - 4 * np.log(1e100)
    )
    for z in (1e-300, 1e-10, 0.3, 0.999, 1.001, 40.0):
        u = mpmath.mpf(z) / mpmath.sqrt(2)
        below, above = mpmath.log(mpmath.erf(u)), mpmath.log(mpmath.erfc(u))
        assert stats.halfnorm.logcdf(z) == pytest.approx(float(below), rel=1e-12, abs=1e-300)
        assert stats.halfnorm.logsf(z) == pytest.approx(float(above), rel=1e-12)
    assert stats.truncnorm.logpdf(30.5, 30.0, 31.0) == pytest.approx(
        scipy.stats.truncnorm.logpdf(30.5, 30.0, 31.0), rel=1e-12
    )


def test_genextreme_is_smooth_where_its_shape_vanishes() -> None:
    for c in (0.0, 1e-9, -1e-9, 1e-4):
        wanted = (
            scipy.stats.gumbel_r.logpdf(0.7)
            if abs(c) < 1e-5
            else scipy.stats.genextreme.logpdf(0.7, c)
        )
        assert stats.genextreme.logpdf(0.7, c) == pytest.approx(wanted, abs=1e-8)
    h, f = 1e-3, lambda c: stats.genextreme.logpdf(0.7, c)
    assert sg.grad(f)(0.0) == pytest.approx((f(h) - f(-h)) / (2 * h), rel=1e-5)


def test_the_gradient_of_the_normal_density_is_the_textbooks() -> None:
    graph = sg.trace(lambda x: stats.norm.logpdf(x), x="").gradient("x").simplify()
    assert "grad_x = -x" in str(graph.formula())
    joint = sg.trace(
        lambda x, m, s: np.sum(stats.norm.logpdf(x, m, s)),
        x="5",
        m="",
        s=sg.spec("", assume=sg.positive),
    ).gradient("x")
    x, m, s = np.arange(5.0), 0.3, 1.7
    for each in (joint, joint.simplify()):
        np.testing.assert_allclose(each.evaluate(x=x, m=m, s=s)[1], -(x - m) / s**2, rtol=1e-14)
    assert "where(" not in str(joint.simplify().formula())


@pytest.mark.whole
def test_multivariate_normal() -> None:
    rng = np.random.default_rng(0)
    cov = np.cov(rng.normal(size=(3, 9))) + np.eye(3)
    mean, x = np.arange(3.0), rng.normal(size=(5, 3))
    for at in (x, x[0], x[:, None]):
        np.testing.assert_allclose(
            stats.multivariate_normal.logpdf(at, mean, cov),
            scipy.stats.multivariate_normal.logpdf(at, mean, cov),
        )
    np.testing.assert_allclose(
        stats.multivariate_normal(mean, 2.0).pdf(x),
        scipy.stats.multivariate_normal(mean, 2.0).pdf(x),
    )
    found = sg.grad(lambda x: np.sum(stats.multivariate_normal.logpdf(x, mean, cov)))(x)
    np.testing.assert_allclose(found, -np.linalg.solve(cov, (x - mean).T).T)
    with pytest.raises(sg.ShapeError, match="do not fit"):
        stats.multivariate_normal.logpdf(np.ones(2), mean, cov)


@pytest.mark.whole
def test_multivariate_t() -> None:
    rng = np.random.default_rng(1)
    matrix = np.cov(rng.normal(size=(3, 9))) + np.eye(3)
    loc, x = np.arange(3.0), rng.normal(size=(5, 3))
    ours: Any = stats.multivariate_t
    theirs: Any = scipy.stats.multivariate_t
    for at in (x, x[0], x[:, None]):
        for df in (1, 2.5, np.inf):
            wanted = np.squeeze(theirs.logpdf(at, loc, matrix, df))
            np.testing.assert_allclose(ours.logpdf(at, loc, matrix, df), wanted, rtol=1e-12)
    np.testing.assert_allclose(ours(loc, 2.0, 3.0).pdf(x), theirs(loc, 2.0, 3.0).pdf(x))
    np.testing.assert_allclose(ours.pdf(x[:, 0], df=3), theirs.pdf(x[:, 0], df=3))
    assert ours.logpdf(x.astype("float32"), df=3, shape=np.eye(3, dtype="float32")).dtype == "f4"
    assert np.isnan(ours.logpdf(x, loc, matrix, -1)).all()
    check_grads(lambda x: ours.logpdf(x, loc, matrix, 3.0), x)
    check_grads(lambda d: np.sum(ours.logpdf(x, loc, matrix, d)), np.float64(3), analytic=False)
    with pytest.raises(sg.TraceError, match="multivariate_t: allow_singular"):
        ours.pdf(x, loc, matrix, 3, allow_singular=True)
    # A named size, and digits that a difference of two log gammas of df would not have.
    named = sg.trace(lambda x, s, df: ours.logpdf(x, None, s, df), x="p", s="p, p", df=())
    normal = stats.multivariate_normal.logpdf(x[0], None, matrix)
    found = named.evaluate(x=x[0], s=matrix, df=1e15)
    np.testing.assert_allclose(found, normal, rtol=1e-13)


def test_dirichlet() -> None:
    alpha = np.array([1.0, 2.0, 3.0])
    x = np.random.default_rng(0).dirichlet(alpha, 4).T
    wanted = scipy.stats.dirichlet.logpdf(x, alpha)
    np.testing.assert_allclose(stats.dirichlet.logpdf(x, alpha), wanted)
    np.testing.assert_allclose(stats.dirichlet(alpha).logpdf(x[:-1]), wanted)
    assert np.isnan(stats.dirichlet.logpdf([0.5, 0.6, 0.2], alpha))


def test_what_is_missing_says_what_there_is() -> None:
    with pytest.raises(AttributeError, match="skewnorm has no cdf") as missing:
        stats.skewnorm.cdf(0.0, 1.0)
    assert "logpdf" in str(missing.value.mend)
    with pytest.raises(AttributeError, match="norm has no rvs"):
        stats.norm.rvs(size=3)
    with pytest.raises(AttributeError, match="stats has no frobnicate"):
        stats.frobnicate
    with pytest.raises(sg.InputError, match="unknown shape"):
        stats.norm.logpdf(0.0, shape=1)
    with pytest.raises(sg.InputError, match="missing a"):
        stats.gamma.logpdf(0.0)


@pytest.mark.parametrize("method", ["cdf", "logsf", "ppf"])
@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("truncnorm", {"a": 2.0, "b": 0.5}),
        ("truncnorm", {"a": 1.0, "b": 1.0}),
        ("geom", {"p": 0.0}),
        ("nbinom", {"n": 3.0, "p": 0.0}),
    ],
)
def test_parameters_without_a_distribution_give_nan(
    name: str, shapes: dict[str, float], method: str
) -> None:
    """As in SciPy, also where each parameter by itself is valid."""
    if method == "ppf" and name != "truncnorm":
        method = "sf"
    theirs = getattr(getattr(scipy.stats, name), method)(0.7, **shapes)
    assert np.isnan(theirs)
    ours = getattr(getattr(stats, name), method)
    assert np.isnan(ours(0.7, **shapes))
    graph = sg.trace(lambda **given: ours(0.7, **given), **dict.fromkeys(shapes, ()))
    assert np.isnan(graph.evaluate(**shapes))
    assert np.isnan(graph.simplify().lower()(**shapes))


@pytest.mark.parametrize("method", ["cdf", "sf", "logcdf", "logsf"])
@pytest.mark.parametrize("simplified", [False, True])
def test_laplace_s_probabilities_have_a_slope_at_the_mean(method: str, simplified: bool) -> None:
    """Both tails are made of exp(-|z|), which has a kink at 0; the probabilities have none."""
    graph = sg.trace(getattr(stats.laplace, method), x=(), loc=(), scale=())
    graph = graph.simplify() if simplified else graph
    graph = graph.gradient("x", "loc", value=False)
    slope = {"cdf": 0.25, "sf": -0.25, "logcdf": 0.5, "logsf": -0.5}[method]
    by_x, by_loc = graph.evaluate(x=1.5, loc=1.5, scale=2.0)
    assert (by_x, by_loc) == pytest.approx((slope, -slope))


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("c", [-2.5, -1.0, -0.4, 0.0, 1e-9, 0.7])
def test_genpareto_ends_where_its_shape_is_negative(c: float) -> None:
    ours, theirs = stats.genpareto, scipy.stats.genpareto
    end = -1 / c if c < 0 else 3.0
    for z in (0.0, 0.3 * end, 0.99 * end, end, 1.01 * end):
        for method in ("pdf", "cdf", "sf"):
            found, wanted = getattr(ours, method)(z, c), getattr(theirs, method)(z, c)
            assert found == pytest.approx(wanted, rel=1e-7, abs=1e-15), (method, z)
    for q in (0.0, 0.2, 0.9, 1.0):
        assert ours.ppf(q, c) == pytest.approx(theirs.ppf(q, c), rel=1e-7)
    h, f = 1e-3, lambda c: stats.genpareto.logpdf(0.3, c)
    if c > -1:
        assert sg.grad(f)(c) == pytest.approx((f(c + h) - f(c - h)) / (2 * h), rel=1e-4)


def test_the_score_of_directions_is_the_textbooks() -> None:
    x = np.array([0.2, 1.1, -2.0])
    slope = sg.grad(lambda m, k: np.sum(stats.vonmises.logpdf(x, k, m)), wrt=("m", "k"))(0.3, 2.0)
    bessel = scipy.special.i1(2.0) / scipy.special.i0(2.0)
    np.testing.assert_allclose(slope[0], 2.0 * np.sum(np.sin(x - 0.3)), rtol=1e-13)
    np.testing.assert_allclose(slope[1], np.sum(np.cos(x - 0.3)) - 3 * bessel, rtol=1e-12)


@pytest.mark.parametrize("z", [1e-3, 0.4, 7.0, 90.0, 700.0])
@pytest.mark.parametrize("mu", [0.05, 1.3, 40.0])
def test_tails_of_invgauss_against_high_precision(z: float, mu: float) -> None:
    with mpmath.workdps(400):
        root = mpmath.sqrt(mpmath.mpf(z))
        near, far = (mpmath.mpf(z) / mu - 1) / root, -(mpmath.mpf(z) / mu + 1) / root
        twice = mpmath.exp(2 / mpmath.mpf(mu)) * mpmath.ncdf(far)
        below, above = mpmath.ncdf(near) + twice, mpmath.ncdf(-near) - twice
        wanted = float(mpmath.log(below)), float(mpmath.log(above))
    found = stats.invgauss.logcdf(z, mu), stats.invgauss.logsf(z, mu)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-300)


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize(
    ("name", "shapes", "low", "high"),
    [
        ("t", (3.0,), np.inf, np.inf),
        ("gumbel_r", (), np.inf, np.inf),
        ("gumbel_l", (), np.inf, np.inf),
        ("rayleigh", (), np.inf, np.inf),
        ("truncnorm", (-1.0, 2.0), *(1 / scipy.stats.truncnorm.pdf([-1.0, 2.0], -1.0, 2.0))),
        ("genextreme", (-0.3,), np.inf, np.inf),
        ("genpareto", (0.3,), 1.0, np.inf),
        ("fisk", (2.0,), np.inf, np.inf),
        ("fisk", (0.5,), 0.0, np.inf),
        ("lomax", (2.0,), 0.5, np.inf),
    ],
)
def test_slope_of_a_quantile_at_the_ends_of_the_support(
    name: str, shapes: tuple[float, ...], low: float, high: float
) -> None:
    """It is 1 over the density there, and no number is made of the slope's own slope."""
    for method, sign in (("ppf", 1), ("isf", -1)):
        graph = sg.trace(
            lambda q, method=method: getattr(getattr(stats, name), method)(q, *shapes),
            q=sg.spec(()),
        )
        slope = graph.gradient("q")
        for q, want in ((0.0, low), (1.0, high))[::sign]:
            at = {"q": np.array(q if sign > 0 else 1 - q)}
            for each in (slope, slope.simplify()):
                np.testing.assert_allclose(each.evaluate(**at)[1], sign * want, rtol=1e-12)


def test_second_slope_of_a_quantile_at_an_end_is_not_known() -> None:
    graph = sg.trace(lambda q: stats.truncnorm.ppf(q, -1.0, 2.0), q=sg.spec(()))
    curvature = graph.hessian("q")
    for each in (curvature, curvature.simplify()):
        assert np.isnan(each.evaluate(q=np.array(0.0))[1])
        assert np.isfinite(each.evaluate(q=np.array(0.5))[1])


def test_the_density_of_rayleigh_begins_with_the_slope_1() -> None:
    """It was 0 there: 0 counted as outside of the support."""
    graph = sg.trace(lambda x: stats.rayleigh.pdf(x, scale=2.0), x=sg.spec(()))
    slope = graph.gradient("x")
    for each in (slope, slope.simplify()):
        assert each.evaluate(x=np.array(0.0)) == (0.0, 0.25)
    for x in (-1.0, 0.0, 0.7, 90.0, np.inf, np.nan):
        want = scipy.stats.rayleigh.pdf(x, scale=2.0)
        np.testing.assert_allclose(graph.evaluate(x=np.array(x)), want, rtol=1e-12)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize(("name", "shape"), [("t", 3.0), ("genextreme", 0.3), ("genpareto", 0.3)])
def test_no_slope_of_an_infinite_quantile_in_a_shape_is_made_up(name: str, shape: float) -> None:
    quantile = getattr(stats, name).ppf
    slope = sg.trace(lambda q, c: quantile(q, c), q=sg.spec(()), c=sg.spec(())).gradient("c")
    for q in (0.0, 0.5, 1.0):
        at = {"q": np.array(q), "c": np.array(shape)}
        for each in (slope, slope.simplify()):
            value, found = (float(result) for result in each.evaluate(**at))
            assert np.isfinite(found) if np.isfinite(value) else np.isnan(found) or np.isinf(found)


@pytest.mark.parametrize(("c", "slope"), [(0.3, 0.0), (0.5, -0.5), (1.0, 1.0)])
def test_the_upper_end_of_genextreme_belongs_to_its_support(c: float, slope: float) -> None:
    """The slope of the density w**(1/c - 1) exp(-w**(1/c)), with w = 1 - c z, which is 0 there."""
    end = 1 / c
    density = scipy.stats.genextreme.pdf(end, c)
    steep = -np.inf if c < 1 else 1.0
    slopes = {"pdf": slope, "logpdf": steep, "cdf": density, "sf": -density, "logsf": -np.inf}
    for method, wanted in slopes.items():
        ours, theirs = getattr(stats.genextreme, method), getattr(scipy.stats.genextreme, method)
        for z in (0.9 * end, end, 1.1 * end):
            assert ours(z, c) == pytest.approx(theirs(z, c), rel=1e-12), (method, z)
        graph = sg.trace(lambda z, c, f=ours: f(z, c), z=sg.spec(()), c=sg.spec(())).gradient("z")
        for each in (graph, graph.simplify()):
            assert each.evaluate(z=np.array(end), c=np.array(c))[1] == wanted, method
            assert each.evaluate(z=np.array(1.1 * end), c=np.array(c))[1] == 0, method


@pytest.mark.parametrize("z", [1e-300, 1e-200, 1e-20, 0.7, 0.71, 3.0])
@pytest.mark.parametrize(("name", "shapes"), [("rayleigh", ()), ("weibull_min", (1.7,))])
def test_logarithms_of_powers_that_underflow(
    name: str, shapes: tuple[float, ...], z: float
) -> None:
    """rayleigh.logcdf(1e-300) was -inf, as SciPy's is: z**2 is 0 there."""
    with mpmath.workdps(400):
        at = mpmath.mpf(z)
        power = at**2 / 2 if name == "rayleigh" else at ** mpmath.mpf(shapes[0])
        wanted = mpmath.log(-mpmath.expm1(-power))
        slope = (
            (2 if name == "rayleigh" else mpmath.mpf(shapes[0])) * power / at / mpmath.expm1(power)
        )
    logcdf = getattr(stats, name).logcdf
    graph = sg.trace(lambda x: logcdf(x, *shapes), x=sg.spec(())).gradient("x")
    for each in (graph, graph.simplify()):
        assert each.evaluate(x=z) == pytest.approx((float(wanted), float(slope)), rel=1e-14)
