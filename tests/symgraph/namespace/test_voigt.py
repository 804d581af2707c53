"""Voigt's profile: digits of each derivative beside many digits, ends, and what it is made of."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import special, stats

import symgraph as sg
import symgraph.numpy as snp
from symgraph.namespace.voigt import voigt

pytestmark = pytest.mark.usefixtures("drawn_anew")

RNG = np.random.default_rng(13)


def _exact(x: float, sigma: float, gamma: float, order: int) -> Any:
    """The derivative of v by the recurrence of w, with as many digits as it loses."""
    if not sigma:
        zeta = mpmath.mpc(x, gamma)
        return 1j / mpmath.pi * (-1) ** order * mpmath.factorial(order) / zeta ** (order + 1)
    with mpmath.workdps(40 + int((abs(x) + abs(gamma)) ** 2 / sigma**2)):
        width = mpmath.mpf(sigma) * mpmath.sqrt(2)
        z = mpmath.mpc(x, gamma) / width
        before: Any = 2j / mpmath.sqrt(mpmath.pi)
        found: Any = mpmath.exp(-z * z) * mpmath.erfc(-1j * z)
        for k in range(order):
            before, found = found, -2 * z * found + (before if k == 0 else -2 * k * before)
        return found / (width ** (order + 1) * mpmath.sqrt(mpmath.pi))


@pytest.mark.parametrize(("order", "limit"), [(0, 1e-12), (1, 2e-11), (2, 3e-10), (3, 1e-8)])
def test_both_parts_of_a_derivative_have_digits(order: int, limit: float) -> None:
    for place in range(60):
        sigma = 10 ** RNG.uniform(-2, 1)
        x = sigma * RNG.choice([-1, 1]) * 10 ** RNG.uniform(-2, 1.3)
        gamma = sigma * 10 ** RNG.uniform(-9, 1.3)
        if place % 10 == 1:
            gamma = -gamma if gamma < 3 * sigma else gamma
        sigma, gamma = (sigma * (place % 10 != 2), gamma * (place % 10 != 3))
        wanted = _exact(x, sigma, gamma, order)
        for imaginary, part in ((False, wanted.real), (True, wanted.imag)):
            found = float(voigt(x, sigma, gamma, order=order, imaginary=imaginary))
            # A part that is 0 by underflow is told by the other one.
            assert abs(found - part) <= limit * abs(part) + 1e-300, (x, sigma, gamma, imaginary)


def test_it_is_scipys_and_single_precision_stays() -> None:
    x, sigma, gamma = RNG.normal(size=50), RNG.uniform(0, 2, 50), RNG.uniform(0, 2, 50)
    wanted = special.voigt_profile(x, sigma, gamma)
    np.testing.assert_array_equal(snp.voigt_profile(x, sigma, gamma), wanted)
    single = [each.astype("float32") for each in (x, sigma, gamma)]
    found = snp.voigt_profile(*single)
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("bad", [(np.nan, 1.0, 1.0), (1.0, np.nan, 1.0), (1.0, 1.0, np.nan)])
def test_a_nan_and_a_negative_deviation_give_nan(bad: tuple[float, ...]) -> None:
    for at in (bad, (1.0, -1.0, 1.0)):
        for order in range(3):
            for imaginary in (False, True):
                assert np.isnan(voigt(*at, order=order, imaginary=imaginary))


@pytest.mark.parametrize("at", [(np.inf, 1.0, 1.0), (-np.inf, 0.0, 1.0), (1.0, 1.0, np.inf)])
def test_far_out_it_is_zero(at: tuple[float, ...]) -> None:
    for order in range(3):
        assert voigt(*at, order=order, imaginary=False) == 0
    found = voigt(1e150, 1.0, 1.0, order=1, imaginary=False)
    assert found == 0  # -2 / (pi x**3) underflows


@pytest.mark.parametrize("kind", ["normal", "cauchy"])
def test_without_one_part_it_is_the_other_distribution(kind: str) -> None:
    known = {"normal": stats.norm, "cauchy": stats.cauchy}[kind]

    def profile(x: Any, s: Any) -> Any:
        return snp.voigt_profile(x, s, 0.0) if kind == "normal" else snp.voigt_profile(x, 0.0, s)

    x, h = np.linspace(-3.0, 3.0, 7), 1e-6
    np.testing.assert_allclose(profile(x, 0.7), known.pdf(x, scale=0.7), rtol=1e-13)
    slope, by_scale = sg.grad(lambda x, s: np.sum(profile(x, s)), wrt=("x", "s"))(x, 0.7)
    steps = (known.pdf(x + h, scale=0.7) - known.pdf(x - h, scale=0.7)) / (2 * h)
    np.testing.assert_allclose(slope, steps, rtol=1e-6, atol=1e-9)
    ends = [np.sum(known.pdf(x, scale=0.7 + sign * h)) for sign in (1, -1)]
    assert by_scale == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6)


def test_without_a_normal_part_its_deviation_has_a_second_derivative() -> None:
    """The equation of heat: at sigma = 0 it is the second derivative in x."""
    second = sg.grad(sg.grad(lambda s: snp.voigt_profile(1.5, s, 0.5)))(0.0)
    by_x = sg.grad(sg.grad(lambda x: 0.5 / np.pi / (x * x + 0.25)))(1.5)
    assert second == pytest.approx(by_x, rel=1e-12)


def _fit(x: Any, y: Any, sigma: Any, gamma: Any) -> Any:
    return np.sum((special.voigt_profile(x, sigma, gamma) - y) ** 2)


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_other_engines_give_the_same_fit(backend: Any) -> None:
    pytest.importorskip(backend)
    graph = sg.trace(_fit, x="n", y="n", sigma="", gamma="").gradient("sigma", "gamma")
    at = {"x": RNG.normal(size=5), "y": RNG.normal(size=5), "sigma": 0.8, "gamma": 0.3}
    value, slopes = graph.evaluate(**at)
    found, others = graph.lower(backend)(**at)
    np.testing.assert_allclose([float(each) for each in (found, *others)], [value, *slopes])
