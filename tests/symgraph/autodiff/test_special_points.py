"""Derivatives of first and second order where the rule of an operation has a guard.

A guard that makes the first derivative right at one point is a constant there, and the second
derivative of it, or the derivative of a function composed of it, may be a wrong number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.scipy import special, stats

Function = Callable[[Any], Any]
ROOT = np.sqrt(0.5)


def _gradient_and_hessian(f: Function, at: list[float], simplify: bool) -> tuple[Any, Any]:
    graph = sg.trace(f, x=(len(at),))
    gradient, hessian = graph.gradient("x", value=False), graph.hessian("x", value=False)
    if simplify:
        gradient, hessian = gradient.simplify(), hessian.simplify()
    x = np.array(at)
    return gradient.evaluate(x=x), hessian.evaluate(x=x)


CASES: dict[str, tuple[Function, list[float], Any, Any]] = {
    # -- squares of lengths: the slope of the length jumps at 0, the square has curvature 2 ------
    "square of a size": (lambda x: np.sum(np.abs(x) ** 2), [0, 3], [0, 6], [[2, 0], [0, 2]]),
    "product of sizes": (
        lambda x: np.abs(x[0]) * np.abs(x[0]) * x[1],
        [0, 3],
        [0, 0],
        [[6, 0], [0, 0]],
    ),
    "square of one size": (lambda x: np.abs(x[0]) * np.abs(x[0]), [0], [0], [[2]]),
    "fourth power of a size": (lambda x: np.abs(x[0]) ** 4, [0], [0], [[0]]),
    "size with a sign": (lambda x: np.copysign(x[0], -1) ** 2, [0], [0], [[2]]),
    "square of hypot": (lambda x: np.hypot(x[0], x[1]) ** 2, [0, 0], [0, 0], [[2, 0], [0, 2]]),
    "square of a norm": (lambda x: np.linalg.norm(x) ** 2, [0, 0], [0, 0], [[2, 0], [0, 2]]),
    "cube of a norm": (lambda x: np.linalg.norm(x) ** 3, [0, 0], [0, 0], [[0, 0], [0, 0]]),
    "square of a root": (
        lambda x: np.sqrt(np.sum(x * x)) ** 2,
        [0, 0],
        [0, 0],
        [[2, 0], [0, 2]],
    ),
    # -- weights of 0: only the product with them is 0 --------------------------------------------
    "a weight of 0": (
        lambda x: special.logsumexp(np.array([1.0, 2.0]), b=x),
        [0, 1],
        [np.exp(-1), 1],
        [[-np.exp(-2), -np.exp(-1)], [-np.exp(-1), -1]],
    ),
    # -- losses and divergences ------------------------------------------------------------------
    "no width": (
        lambda x: snp.pseudo_huber(x[0], x[1]),
        [0, -3],
        [3, 0],
        [[-2, -1], [-1, 0]],
    ),
    "width and residual": (
        lambda x: snp.pseudo_huber(x[0], x[1]),
        [1, 1],
        [(np.sqrt(2) - 1) ** 2 * ROOT, ROOT],
        [[np.sqrt(2) + ROOT / 2 - 2, ROOT / 2], [ROOT / 2, ROOT / 2]],
    ),
    "corner of a loss": (lambda x: snp.huber(x[0], x[1]), [2, 2], [0, 2], [[-1, 1], [1, 0]]),
    "a divergence of equals": (lambda x: snp.rel_entr(x[0], x[0]), [0], [0], [[0]]),
    "a divergence of nothing": (
        lambda x: snp.kl_div(x[0], x[1]),
        [0, 0],
        [0, 0],
        [[0, 0], [0, 0]],
    ),
}


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("simplify", [False, True], ids=["derived", "simplified"])
@pytest.mark.parametrize("name", CASES)
def test_derivatives_at_a_special_point(name: str, simplify: bool) -> None:
    f, at, slope, curvature = CASES[name]
    gradient, hessian = _gradient_and_hessian(f, at, simplify)
    np.testing.assert_allclose(gradient, slope, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(hessian, curvature, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("simplify", [False, True], ids=["derived", "simplified"])
def test_a_probability_of_zero_in_a_sum_of_logarithms_has_no_slope_of_zero(simplify: bool) -> None:
    """The slope of log(p + q) is 1; that of log p is infinite, and its share of the sum is 0."""
    for add in (np.logaddexp, np.logaddexp2):
        graph = sg.trace(lambda p, q, add=add: add(np.log(p), np.log(q)), p=(), q=())
        slope = graph.gradient("p", "q", value=False)
        p, q = (slope.simplify() if simplify else slope).evaluate(p=0.0, q=1.0)
        assert np.isnan(p)
        assert q == 1


def test_scaled_airy_functions_have_an_infinite_curvature_at_0() -> None:
    for each in range(4):
        graph = sg.trace(lambda x, each=each: snp.airye(x)[each], x=())
        assert np.isinf(graph.hessian("x", value=False).evaluate(x=0.0))


QUANTILES: dict[str, tuple[Function, float, float]] = {
    "uniform": (lambda q: stats.uniform.ppf(q, 1, 3), 3, 3),
    "exponential": (stats.expon.ppf, 1, np.inf),
    "its upper tail": (stats.expon.isf, -np.inf, -1),
    "gamma": (lambda q: stats.gamma.ppf(q, 1), 1, np.inf),
    "beta": (lambda q: stats.beta.ppf(q, 1, 2), 0.5, np.inf),
    "Pareto": (lambda q: stats.pareto.ppf(q, 2), 0.5, np.inf),
    "half normal": (stats.halfnorm.ppf, np.sqrt(np.pi / 2), np.inf),
    "normal": (stats.norm.ppf, np.inf, np.inf),
}


@pytest.mark.parametrize("name", QUANTILES)
def test_quantiles_have_slopes_at_0_and_1(name: str) -> None:
    f, first, last = QUANTILES[name]
    slope = sg.trace(f, q=()).gradient("q", value=False)
    for graph in (slope, slope.simplify()):
        np.testing.assert_allclose([graph.evaluate(q=q) for q in (0.0, 1.0)], [first, last])


def test_a_product_of_factors_of_a_singular_matrix_has_a_gradient() -> None:
    """The singular value that vanishes moves with the sign of its vectors."""
    weights = np.array([[0.5, -1.0], [2.0, 3.0]])

    def f(x: Any) -> Any:
        u, s, vh = np.linalg.svd(x)
        return np.sum((u * s) @ vh * weights)

    graph = sg.trace(f, x=(2, 2)).gradient("x", value=False)
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    for each in (graph, graph.simplify()):
        np.testing.assert_allclose(each.evaluate(x=singular), weights, atol=1e-12)


@pytest.mark.whole
def test_correlations_of_1_have_a_curvature() -> None:
    """NumPy clips them to [-1, 1], which mends rounding alone."""

    def quotient(x: Any) -> Any:
        found = np.cov(x)
        return found[0, 1] / np.sqrt(found[0, 0] * found[1, 1])

    at = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    assert sg.trace(lambda x: np.corrcoef(x)[0, 1], x=(2, 3)).evaluate(x=at) == 1
    wanted = sg.trace(quotient, x=(2, 3)).hessian("x", value=False).evaluate(x=at)
    graph = sg.trace(lambda x: np.corrcoef(x)[0, 1], x=(2, 3)).hessian("x", value=False)
    assert np.abs(wanted).max() > 0.1
    for each in (graph, graph.simplify()):
        np.testing.assert_allclose(each.evaluate(x=at), wanted, atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_third_derivatives_of_determinants_of_singular_matrices(size: int) -> None:
    rng = np.random.default_rng(5)
    direction = rng.normal(size=(size, size))
    singular = np.outer(rng.normal(size=size), rng.normal(size=size)) * (size > 1)

    def f(x: Any) -> Any:
        return np.linalg.det(singular + x * direction)

    graph = sg.trace(f, x=())
    for _ in range(3):
        graph = graph.gradient("x", value=False)
    wanted = 6 * np.linalg.det(direction) if size == 3 else 0
    for each in (graph, graph.simplify()):
        np.testing.assert_allclose(each.evaluate(x=0.0), wanted, atol=1e-12)


def test_third_derivatives_of_larger_determinants_are_no_rounding_errors() -> None:
    rng = np.random.default_rng(1)
    direction = rng.normal(size=(4, 4))
    for regular in (True, False):
        start = rng.normal(size=(4, 3)) @ rng.normal(size=(3, 4)) + regular * np.eye(4)
        graph = sg.trace(lambda x, start=start: np.linalg.det(start + x * direction), x=())
        for _ in range(3):
            graph = graph.gradient("x", value=False)
        found = graph.evaluate(x=0.0)
        if not regular:
            assert np.isnan(found)
            continue
        steps = np.arange(-2, 3)
        values = [np.linalg.det(start + step * direction) for step in steps]
        np.testing.assert_allclose(found, 6 * np.polyfit(steps, values, 4)[1], rtol=1e-9)
