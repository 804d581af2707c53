"""Slopes at the ends of supports against their one-sided limits, for each distribution and method.

The limit is read off slopes nearer and nearer to the end: a slope that grows is infinite there, one
that falls 0. A slope in a shape may be NaN where it is not known, and never another number.
"""

from __future__ import annotations

from functools import cache
from math import inf, isnan, nan
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.scipy import stats

ENDS: list[tuple[str, tuple[float, ...], float, int]] = [
    ("uniform", (), 0.0, 1),
    ("uniform", (), 1.0, -1),
    *[("beta", ab, 0.0, 1) for ab in ((2.0, 3.0), (0.5, 2.0), (1.0, 3.0), (3.0, 1.5))],
    *[("beta", ab, 1.0, -1) for ab in ((2.0, 3.0), (2.0, 0.5), (3.0, 1.0), (3.0, 1.5))],
    ("truncnorm", (-1.0, 2.0), -1.0, 1),
    ("truncnorm", (-1.0, 2.0), 2.0, -1),
    ("truncnorm", (1.0, 2.0), 1.0, 1),
    ("truncnorm", (1.0, 2.0), 2.0, -1),
    *[("genextreme", (c,), 1 / c, -1) for c in (0.5, 1.0, 2.0)],
    *[("genextreme", (c,), 1 / c, 1) for c in (-0.5, -2.0)],
    *[("genpareto", (c,), 0.0, 1) for c in (0.5, -0.5)],
    *[("genpareto", (c,), -1 / c, -1) for c in (-0.25, -0.5, -1.0, -2.0)],
    ("expon", (), 0.0, 1),
    *[("gamma", (a,), 0.0, 1) for a in (0.5, 1.0, 2.0, 3.0)],
    *[("chi2", (df,), 0.0, 1) for df in (1.0, 2.0, 4.0)],
    ("invgamma", (2.0,), 0.0, 1),
    ("f", (4.0, 3.0), 0.0, 1),
    ("lognorm", (0.5,), 0.0, 1),
    ("pareto", (2.5,), 1.0, 1),
    *[("weibull_min", (c,), 0.0, 1) for c in (0.5, 1.0, 2.0, 3.0)],
    ("rayleigh", (), 0.0, 1),
    ("halfnorm", (), 0.0, 1),
    ("halfcauchy", (), 0.0, 1),
    ("lomax", (2.5,), 0.0, 1),
    *[("fisk", (c,), 0.0, 1) for c in (0.5, 1.0, 2.0)],
    ("invgauss", (2.0,), 0.0, 1),
]

OPENING = ("invgamma", "lognorm", "invgauss")
"""Their densities vanish at the end faster than any power: we compare limits of slopes in the
shapes of probabilities alone, and begin farther away, for nothing is left nearer. The slopes of
logarithms in the shapes are not known there."""

METHODS = ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf")


@cache
def _graphs(name: str, count: int, method: str) -> tuple[sg.Graph, sg.Graph]:
    names = ["x", "a", "b"][: 1 + count]
    function = getattr(getattr(stats, name), method)
    one = [lambda x: function(x), lambda x, a: function(x, a), lambda x, a, b: function(x, a, b)]
    graph = sg.trace(one[count], **{each: sg.spec(()) for each in names}).gradient(*names)
    return graph, graph.simplify()


def _slopes(graph: sg.Graph, x: float, shapes: tuple[float, ...]) -> list[float]:
    at = dict(zip(["x", "a", "b"], [x, *shapes], strict=False))
    found: Any = graph.evaluate(**{name: np.array(value) for name, value in at.items()})[1]
    return [float(each) for each in (found if isinstance(found, tuple) else (found,))]


def _limit(far: float, near: float) -> float:
    """The limit of a sequence of which these are two terms, one much nearer to the end."""
    if abs(near) > 1.25 * abs(far):
        return inf if near > 0 else -inf
    if abs(near) < 0.8 * abs(far) or near == 0:
        return 0.0
    return near


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("name", "shapes", "end", "inward"), ENDS)
def test_slopes_at_an_end_are_limits(
    name: str, shapes: tuple[float, ...], end: float, inward: int, method: str
) -> None:
    if name in OPENING and method == "logcdf":
        steps = (0.5, 0.05) if name == "invgamma" else (0.05, 0.005)
    else:
        steps = (1e-2, 1e-3) if name in OPENING else (1e-5, 1e-8)
    for graph in _graphs(name, len(shapes), method):
        far, near = (_slopes(graph, end + inward * step, shapes) for step in steps)
        there = _slopes(graph, end, shapes)
        for place, found in enumerate(there):
            wanted = _limit(far[place], near[place])
            if place and isnan(found):
                continue
            if place and name in OPENING and wanted != 0 and abs(near[place]) < 1e-6:
                wanted = 0.0  # It begins to fall late.
            if wanted in (0.0, inf, -inf):
                assert found == wanted, (place, far, near)
            else:
                assert found == pytest.approx(wanted, rel=1e-3), (place, far, near)


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize(
    ("name", "shapes", "end", "slope"),
    [
        ("gamma", (1.0,), 0.0, 1.0),
        ("gamma", (2.0,), 0.0, inf),
        ("beta", (2.0, 3.0), 0.0, inf),
        ("chi2", (2.0,), 0.0, 2.0),
        ("f", (4.0, 3.0), 0.0, inf),
        ("weibull_min", (3.0,), 0.0, inf),
        ("lognorm", (0.5,), 0.0, inf),
        ("invgamma", (2.0,), 0.0, inf),
    ],
)
def test_a_quantile_at_an_end_moves_with_no_shape(
    name: str, shapes: tuple[float, ...], end: float, slope: float
) -> None:
    for method, q, sign in (("ppf", 0.0, 1), ("isf", 1.0, -1)):
        for graph in _graphs(name, len(shapes), method):
            assert float(graph.evaluate(x=np.array(q), **_named(shapes))[0]) == end
            by_q, *others = _slopes(graph, q, shapes)
            assert by_q == pytest.approx(sign * slope, rel=1e-12)
            assert others == [0.0] * len(shapes)


def _named(shapes: tuple[float, ...]) -> dict[str, np.ndarray]:
    return {name: np.array(each) for name, each in zip("ab", shapes, strict=False)}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_directions_without_concentration_have_a_slope_in_it(dtype: str) -> None:
    """It is the cosine. The Bessel function scaled by exp(-|kappa|) has the slope 0 at its kink."""
    spec = {"x": sg.spec((), dtype), "kappa": sg.spec((), dtype)}
    x = np.asarray(0.7, dtype)
    for method, factor in (("logpdf", 1.0), ("pdf", 1 / (2 * np.pi))):
        function = getattr(stats.vonmises, method)
        graph = sg.trace(lambda x, kappa, f=function: f(x, kappa), **spec)
        slope, second = graph.gradient("kappa"), graph.hessian("kappa", value=False)
        for each in (slope, slope.simplify()):
            found = each.evaluate(x=x, kappa=np.zeros((), dtype))[1]
            assert found == pytest.approx(factor * np.cos(0.7), rel=1e-6)
            assert found.dtype == dtype
        assert np.isfinite(second.simplify().evaluate(x=x, kappa=np.ones((), dtype)))


@pytest.mark.parametrize("z", [1e-3, 1e-9, 1e-20])
def test_the_slope_of_the_tail_of_fisk_in_its_shape_keeps_its_digits(z: float) -> None:
    """It is -z**c log(z) / (1 + z**c)**2: 1 less the tail, which is 0 in floats, was a factor."""
    c = 2.0
    wanted = -(z**c) * np.log(z) / (1 + z**c) ** 2
    for graph in _graphs("fisk", 1, "sf"):
        assert _slopes(graph, z, (c,))[1] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(("method", "z", "slope"), [("logsf", 0.0, -inf), ("logcdf", -1.0, inf)])
def test_an_end_of_truncnorm_may_be_the_number_0(method: str, z: float, slope: float) -> None:
    function = getattr(stats.truncnorm, method)
    graph = sg.trace(lambda x: function(x, -1.0, 0.0), x=sg.spec(())).gradient("x")
    for each in (graph, graph.simplify()):
        assert each.evaluate(x=np.array(z)) == (-inf, slope)


def test_the_slope_is_not_made_up_where_a_shape_moves_the_end() -> None:
    for graph in _graphs("genextreme", 1, "logcdf"):
        assert _slopes(graph, -2.0, (-0.5,)) == pytest.approx([inf, nan], nan_ok=True)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("name", "sign"), [("gumbel_r", 1.0), ("gumbel_l", -1.0)])
def test_outliers_of_gumbel_have_slopes(name: str, sign: float, dtype: str) -> None:
    """exp(-exp(z)) had the slope 0 times infinity, and the logarithm of the tail was -inf."""
    upper = ("sf", "cdf", "logsf") if sign > 0 else ("cdf", "sf", "logcdf")
    for method, far, value, slope in (
        ("pdf", -1000.0, 0.0, 0.0),
        (upper[0], -1000.0, 1.0, 0.0),
        (upper[1], -1000.0, 0.0, 0.0),
        (upper[2], -1000.0, 0.0, 0.0),
        (upper[2], 1000.0, -1000.0, -sign),
        (upper[2], 50.0, -50.0, -sign),
        (upper[0], 30.0, np.exp(-30.0), -sign * np.exp(-30.0)),
        (upper[2], 30.0, -30.0, -sign),
    ):
        function = getattr(getattr(stats, name), method)
        graph = sg.trace(lambda x, f=function: f(x), x=sg.spec((), dtype)).gradient("x")
        for each in (graph, graph.simplify()):
            found = each.evaluate(x=np.asarray(sign * far, dtype))
            assert found == pytest.approx((value, slope), rel=1e-5), (method, far)


@pytest.mark.parametrize(
    ("name", "method", "k", "parameters", "slopes"),
    [
        ("binom", "logsf", 2.0, (4.0, 0.0), (0.0, inf)),
        ("binom", "logsf", 0.0, (4.0, 0.0), (0.0, inf)),
        ("binom", "logsf", 4.0, (4.0, 0.0), (0.0, 0.0)),
        ("binom", "logcdf", 2.0, (4.0, 1.0), (0.0, -inf)),
        ("binom", "logcdf", 0.0, (4.0, 0.0), (0.0, -4.0)),
        ("binom", "logcdf", 4.0, (4.0, 1.0), (0.0, 0.0)),
        ("poisson", "logsf", 2.0, (0.0,), (inf,)),
        ("poisson", "logcdf", 0.0, (0.0,), (-1.0,)),
        ("nbinom", "logsf", 0.0, (3.0, 1.0), (1 / 3, -inf)),
        ("nbinom", "logsf", 2.0, (3.0, 1.0), (1 / 3 + 1 / 4 + 1 / 5, -inf)),
        ("nbinom", "logcdf", 0.0, (3.0, 1.0), (0.0, 3.0)),
    ],
)
def test_logarithms_of_what_cannot_happen_have_slopes(
    name: str, method: str, k: float, parameters: tuple[float, ...], slopes: tuple[float, ...]
) -> None:
    """0 / 0 by the chain rule; the probability is a power of the distance from there."""
    for graph in _graphs(name, len(parameters), method):
        assert _slopes(graph, k, parameters)[1:] == pytest.approx(slopes, rel=1e-13)


@pytest.mark.parametrize(
    ("alpha", "by_x", "by_alpha"),
    [(2.0, 32.67441291273596, 0.0), (3.0, 0.0, 0.0), (1.5, inf, 0.0), (1.0, 0.0, -inf)],
)
def test_dirichlets_density_has_slopes_where_a_part_is_0(
    alpha: float, by_x: float, by_alpha: float
) -> None:
    """32.67 is gamma(6) / (gamma(2) gamma(1.5) gamma(2.5)) 0.3**0.5 0.7**1.5."""
    graph = sg.trace(
        lambda x, alpha: stats.dirichlet.pdf(x, alpha), x=sg.spec("3"), alpha=sg.spec("3")
    ).gradient("x", "alpha")
    at = {"x": np.array([0.0, 0.3, 0.7]), "alpha": np.array([alpha, 1.5, 2.5])}
    for each in (graph, graph.simplify()):
        _, (dx, dalpha) = each.evaluate(**at)
        assert (dx[0], dalpha[0]) == pytest.approx((by_x, by_alpha), rel=1e-13)
