"""Densities as exponentials of their logarithms: derivatives where a power in them is of 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.scipy import stats

INF = np.inf
AT_ENDS: list[tuple[str, tuple[float, ...], float, float]] = [
    ("gamma", (0.5,), 0.0, -INF),
    ("gamma", (1.0,), 0.0, -1.0),
    ("gamma", (1.5,), 0.0, INF),
    ("gamma", (2.0,), 0.0, 1.0),
    ("gamma", (3.0,), 0.0, 0.0),
    ("chi2", (4.0,), 0.0, 0.25),
    ("weibull_min", (2.0,), 0.0, 2.0),
    ("weibull_min", (3.0,), 0.0, 0.0),
    ("f", (4.0, 3.0), 0.0, 20 / 3),
    ("beta", (2.0, 3.0), 0.0, 12.0),
    ("beta", (2.0, 3.0), 1.0, 0.0),
    ("beta", (3.0, 2.0), 1.0, -12.0),
    ("fisk", (0.5,), 0.0, -INF),
    ("fisk", (1.0,), 0.0, -2.0),
    ("fisk", (1.5,), 0.0, INF),
    ("fisk", (2.0,), 0.0, 2.0),
    ("fisk", (3.0,), 0.0, 0.0),
    ("lognorm", (1.0,), 0.0, 0.0),
    ("invgamma", (2.0,), 0.0, 0.0),
    ("invgauss", (1.0,), 0.0, 0.0),
]


@pytest.mark.sampled(one_in=5)
@pytest.mark.parametrize(("name", "shapes", "end", "slope"), AT_ENDS)
def test_slope_of_a_density_at_an_end_of_its_support(
    name: str, shapes: tuple[float, ...], end: float, slope: float
) -> None:
    density = getattr(stats, name).pdf
    traced = sg.trace(lambda x, a: density(x, a, *shapes[1:]), x=sg.spec(()), a=sg.spec(()))
    graph = traced.gradient("x", value=False)
    at = {"x": np.array(end), "a": np.array(shapes[0])}
    for each in (graph, graph.simplify()):
        np.testing.assert_allclose(each.evaluate(**at), slope, rtol=1e-12)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", ["lognorm", "invgamma", "invgauss"])
@pytest.mark.parametrize("method", ["logpdf", "logcdf"])
def test_logarithms_rise_steeply_where_the_support_opens(name: str, method: str) -> None:
    function = getattr(getattr(stats, name), method)
    graph = sg.trace(lambda x: function(x, 1.5), x=sg.spec(())).gradient("x")
    for each in (graph, graph.simplify()):
        assert each.evaluate(x=np.array(0.0)) == (-INF, INF)
        assert each.evaluate(x=np.array(-1.0)) == (-INF, 0.0)
    second = sg.trace(lambda x: function(x, 1.5), x=sg.spec(())).hessian("x", value=False)
    assert np.isfinite(second.simplify().evaluate(x=np.array(0.7)))


def test_the_slope_in_the_exponent_is_0_where_the_density_is() -> None:
    graph = sg.trace(lambda a, x: stats.gamma.pdf(x, a), a=sg.spec(()), x=sg.spec(()))
    slope = graph.gradient("a", value=False)
    for a, wanted in ((1.5, 0.0), (3.0, 0.0), (1.0, -INF)):
        for each in (slope, slope.simplify()):
            assert each.evaluate(a=np.array(a), x=np.array(0.0)) == wanted


def test_a_mixture_with_data_at_0_has_a_gradient() -> None:
    def loglikelihood(x: Any, w: Any, a: Any) -> Any:
        return np.sum(np.log(w * stats.gamma.pdf(x, a) + (1 - w) * stats.expon.pdf(x)))

    graph = sg.trace(loglikelihood, x=sg.spec("n"), w=sg.spec(()), a=sg.spec(()))
    joint = graph.gradient("w", "a", "x", value=False)
    at = {"x": np.array([0.0, 1.5]), "w": np.array(0.3), "a": np.array(3.0)}
    step = {key: np.array(1e-6) for key in ("w", "a")}
    for each in (joint, joint.simplify()):
        found = each.evaluate(**at)
        assert np.all(np.isfinite(np.concatenate([np.ravel(part) for part in found])))
        for key, part in zip(("w", "a"), found, strict=False):
            up = graph.evaluate(**{**at, key: at[key] + step[key]})
            down = graph.evaluate(**{**at, key: at[key] - step[key]})
            np.testing.assert_allclose(part, (up - down) / 2e-6, rtol=1e-6)


def _exponential(x: Any, c: Any, r: Any) -> Any:
    """With a sum below, a difference and a broadcast; masked below 0."""
    inner = r - (x - snp.xlogy(c, x)) + snp.xlog1py(c[:1], x) - snp.xlogy(2.0, 1 + x)
    return np.exp(np.where(x < 0, -np.inf, inner))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_off_the_ends_are_those_of_the_formula(mode: Any) -> None:
    """exp(xlogy(c, x)) and its kin, against x**c, by each operand and to second order."""

    def plain(x: Any, c: Any, r: Any) -> Any:
        within = np.exp(r - x) * np.where(x < 0, 1.0, x) ** c * (1 + x) ** c[:1] / (1 + x) ** 2
        return np.where(x < 0, 0.0, within)

    at = {"x": np.array([0.4, 1.3, -0.5]), "c": np.array([0.7, 2.0, 1.2]), "r": np.array(0.3)}
    spec = {"x": sg.spec((3,)), "c": sg.spec((3,)), "r": sg.spec(())}
    for wrt in "xcr":
        found, wanted = (
            sg.trace(f, **spec).jacobian(wrt, value=False, mode=mode) for f in (_exponential, plain)
        )
        np.testing.assert_allclose(found.evaluate(**at), wanted.evaluate(**at), rtol=1e-12)
    found, wanted = (
        sg.trace(lambda x, f=f: np.sum(f(x, at["c"], at["r"])), x=spec["x"])
        .hessian("x", value=False)
        .evaluate(x=at["x"])
        for f in (_exponential, plain)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-15)
