"""Continuous distributions of positive numbers, one record each.

Each is its standard form, with a function for each tail. Formulas are those of Johnson,
Kotz & Balakrishnan, "Continuous Univariate Distributions" (1994, 1995); parameters are SciPy's.
"""

from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

from ... import numpy as snp
from ...array import Array
from .continuous import Continuous
from .distribution import Formula
from .standard_forms import (
    at_most_zero,
    at_zero,
    below_zero,
    infinite,
    infinity,
    log1p_square,
    log_normal_density,
    zero,
)

__all__ = [
    "chi2",
    "expon",
    "f",
    "fisk",
    "gamma",
    "halfcauchy",
    "halfnorm",
    "invgamma",
    "invgauss",
    "lognorm",
    "lomax",
    "pareto",
    "rayleigh",
    "weibull_min",
]

expon = Continuous(
    "expon",
    {},
    log_density=lambda z: -z,
    cdf_form=lambda z: -snp.expm1(-z),
    sf_form=lambda z: snp.exp(-z),
    logcdf_form=lambda z: snp.log1mexp(-z),
    logsf_form=lambda z: -z,
    ppf_form=lambda q: -snp.log1p(-q),
    isf_form=lambda q: -snp.log(q),
    below=below_zero,
)
gamma = Continuous(
    "gamma",
    {"a": "positive"},
    log_density=lambda z, a: snp.xlogy(a - 1, z) - z - snp.gammaln(a),
    cdf_form=lambda z, a: snp.gammainc(a, z),
    sf_form=lambda z, a: snp.gammaincc(a, z),
    ppf_form=lambda q, a: snp.gammaincinv(a, q),
    isf_form=lambda q, a: snp.gammainccinv(a, q),
    below=below_zero,
    above=infinite,
    first=at_zero,
    low=zero,
    high=infinity,
)
chi2 = Continuous(
    "chi2",
    {"df": "positive"},
    log_density=lambda z, df: (
        snp.xlogy(0.5 * df - 1, z) - 0.5 * z - snp.gammaln(0.5 * df) - 0.5 * log(2) * df
    ),
    cdf_form=lambda z, df: snp.gammainc(0.5 * df, 0.5 * z),
    sf_form=lambda z, df: snp.gammaincc(0.5 * df, 0.5 * z),
    ppf_form=lambda q, df: 2 * snp.gammaincinv(0.5 * df, q),
    isf_form=lambda q, df: 2 * snp.gammainccinv(0.5 * df, q),
    below=below_zero,
    above=infinite,
    first=at_zero,
    low=zero,
    high=infinity,
)
invgamma = Continuous(
    "invgamma",
    {"a": "positive"},
    log_density=lambda z, a: -(a + 1) * snp.log(z) - snp.gammaln(a) - 1 / z,
    cdf_form=lambda z, a: snp.gammaincc(a, 1 / z),
    sf_form=lambda z, a: snp.gammainc(a, 1 / z),
    ppf_form=lambda q, a: 1 / snp.gammainccinv(a, q),
    isf_form=lambda q, a: 1 / snp.gammaincinv(a, q),
    below=at_most_zero,
    opens=at_zero,
    above=infinite,
    low=zero,
    high=infinity,
)


def _log_f_density(z: Array | float, n: Array | float, m: Array | float) -> Any:
    return (
        snp.xlogy(0.5 * n - 1, z)
        - 0.5 * (n + m) * snp.log1p(n * z / m)
        + 0.5 * n * snp.log(n / m)
        - snp.betaln(0.5 * n, 0.5 * m)
    )


f = Continuous(
    "f",
    {"dfn": "positive", "dfd": "positive"},
    log_density=_log_f_density,
    cdf_form=lambda z, n, m: snp.fdtr(n, m, z),
    sf_form=lambda z, n, m: snp.fdtrc(n, m, z),
    ppf_form=lambda q, n, m: snp.fdtri(n, m, q),
    below=below_zero,
    above=infinite,
    first=at_zero,
    low=zero,
    high=infinity,
)
lognorm = Continuous(
    "lognorm",
    {"s": "positive"},
    log_density=lambda z, s: log_normal_density(snp.log(z) / s) - snp.log(s) - snp.log(z),
    cdf_form=lambda z, s: snp.ndtr(snp.log(z) / s),
    sf_form=lambda z, s: snp.ndtr(-snp.log(z) / s),
    logcdf_form=lambda z, s: snp.log_ndtr(snp.log(z) / s),
    logsf_form=lambda z, s: snp.log_ndtr(-snp.log(z) / s),
    ppf_form=lambda q, s: snp.exp(s * snp.ndtri(q)),
    isf_form=lambda q, s: snp.exp(-s * snp.ndtri(q)),
    below=at_most_zero,
    opens=at_zero,
    above=infinite,
    low=zero,
    high=infinity,
)
pareto = Continuous(
    "pareto",
    {"b": "positive"},
    log_density=lambda z, b: snp.log(b) - (b + 1) * snp.log(z),
    cdf_form=lambda z, b: -snp.expm1(-b * snp.log(z)),
    sf_form=lambda z, b: snp.exp(-b * snp.log(z)),
    logcdf_form=lambda z, b: snp.log1mexp(-b * snp.log(z)),
    logsf_form=lambda z, b: -b * snp.log(z),
    ppf_form=lambda q, b: snp.exp(-snp.log1p(-q) / b),
    isf_form=lambda q, b: snp.exp(-snp.log(q) / b),
    below=lambda z, b: z < 1,
    inside=lambda b: 2.0,
)


def _near_or_far(z: Array | float, near: Formula, far: Formula) -> Any:
    """`near` of z where that is below 1 / sqrt(2), where `far` has lost its digits, or range."""
    is_near = z < sqrt(0.5)
    small, large = snp.where(is_near, z, 0.5), snp.where(is_near, 1.0, z)
    return snp.where(is_near, near(small), far(large))


def _log_less_exp(power: Formula, log_power: Formula) -> Formula:
    """log(1 - exp(-t)) of z; near 0 it is log t, which is there where t underflows."""
    return lambda z, *shapes: _near_or_far(
        z,
        lambda u: log_power(u, *shapes) + snp.log(snp.exprel(-power(u, *shapes))),
        lambda u: snp.log1mexp(-power(u, *shapes)),
    )


weibull_min = Continuous(
    "weibull_min",
    {"c": "positive"},
    log_density=lambda z, c: snp.log(c) + snp.xlogy(c - 1, z) - z**c,
    cdf_form=lambda z, c: -snp.expm1(-(z**c)),
    sf_form=lambda z, c: snp.exp(-(z**c)),
    logcdf_form=_log_less_exp(lambda z, c: z**c, lambda z, c: c * snp.log(z)),
    logsf_form=lambda z, c: -(z**c),
    ppf_form=lambda q, c: (-snp.log1p(-q)) ** (1 / c),
    isf_form=lambda q, c: (-snp.log(q)) ** (1 / c),
    below=below_zero,
    above=infinite,
    first=at_zero,
    low=zero,
    high=infinity,
)
rayleigh = Continuous(
    "rayleigh",
    {},
    log_density=lambda z: snp.log(z) - 0.5 * z**2,
    cdf_form=lambda z: -snp.expm1(-0.5 * z**2),
    sf_form=lambda z: snp.exp(-0.5 * z**2),
    logcdf_form=_log_less_exp(lambda z: 0.5 * z**2, lambda z: 2 * snp.log(z) - log(2)),
    logsf_form=lambda z: -0.5 * z**2,
    ppf_form=lambda q: snp.sqrt(-2 * snp.log1p(-q)),
    isf_form=lambda q: snp.sqrt(-2 * snp.log(q)),
    density_form=lambda z: z * snp.exp(-0.5 * z**2),
    below=below_zero,
    above=infinite,
    low=zero,
    high=infinity,
    first=at_zero,
)


halfnorm = Continuous(
    "halfnorm",
    {},
    log_density=lambda z: log_normal_density(z) + log(2),
    cdf_form=lambda z: snp.erf(z / sqrt(2)),
    sf_form=lambda z: snp.erfc(z / sqrt(2)),
    logcdf_form=lambda z: _near_or_far(
        z / sqrt(2), lambda u: snp.log(snp.erf(u)), lambda u: snp.log1p(-snp.erfc(u))
    ),
    logsf_form=lambda z: _near_or_far(
        z / sqrt(2), lambda u: snp.log1p(-snp.erf(u)), lambda u: log(2) + snp.log_ndtr(-sqrt(2) * u)
    ),
    ppf_form=lambda q: sqrt(2) * snp.erfinv(q),
    isf_form=lambda q: sqrt(2) * snp.erfcinv(q),
    below=below_zero,
)


def _half_tangent(q: Array | float, power: float) -> Any:
    """tan(πq/2), or its reciprocal, which keeps the digits of q and of 1 - q."""
    less = q < 0.5
    tangent = snp.tan(0.5 * pi * snp.where(less, q, 1 - q))
    return snp.where(less == (power > 0), tangent, 1 / tangent)


halfcauchy = Continuous(
    "halfcauchy",
    {},
    log_density=lambda z: -log1p_square(z) + log(2 / pi),
    cdf_form=lambda z: 2 / pi * snp.arctan(z),
    sf_form=lambda z: 2 / pi * snp.arctan2(1.0, z),
    ppf_form=lambda q: _half_tangent(q, 1.0),
    isf_form=lambda q: _half_tangent(q, -1.0),
    below=below_zero,
)
lomax = Continuous(
    "lomax",
    {"c": "positive"},
    log_density=lambda z, c: snp.log(c) - (c + 1) * snp.log1p(z),
    cdf_form=lambda z, c: -snp.expm1(-c * snp.log1p(z)),
    sf_form=lambda z, c: snp.exp(-c * snp.log1p(z)),
    logcdf_form=lambda z, c: snp.log1mexp(-c * snp.log1p(z)),
    logsf_form=lambda z, c: -c * snp.log1p(z),
    ppf_form=lambda q, c: snp.expm1(-snp.log1p(-q) / c),
    isf_form=lambda q, c: snp.expm1(-snp.log(q) / c),
    below=below_zero,
    low=zero,
)
fisk = Continuous(
    "fisk",
    {"c": "positive"},
    log_density=lambda z, c: snp.log(c) + snp.xlogy(c - 1, z) - 2 * snp.softplus(snp.xlogy(c, z)),
    cdf_form=lambda z, c: snp.sigmoid(snp.xlogy(c, z)),
    sf_form=lambda z, c: snp.sigmoid(-snp.xlogy(c, z)),
    logcdf_form=lambda z, c: snp.log_sigmoid(c * snp.log(z)),
    logsf_form=lambda z, c: -snp.softplus(snp.xlogy(c, z)),
    ppf_form=lambda q, c: snp.exp(snp.logit(q) / c),
    isf_form=lambda q, c: snp.exp(-snp.logit(q) / c),
    below=below_zero,
    above=infinite,
    low=zero,
)


def _passage(z: Array | float, mu: Array | float, side: int) -> tuple[Any, Any]:
    """The logarithms of the two parts of a tail of Brownian motion's passage."""
    root = snp.sqrt(z)
    near = snp.log_ndtr(side * (z / mu - 1) / root)
    return near, snp.minimum(2 / mu + snp.log_ndtr(-(z / mu + 1) / root) - near, 0.0)


def _log_passed(z: Array | float, mu: Array | float) -> Any:
    near, ratio = _passage(z, mu, 1)
    return near + snp.log1p(snp.exp(ratio))


def _log_not_passed(z: Array | float, mu: Array | float) -> Any:
    near, ratio = _passage(z, mu, -1)
    return near + snp.log1mexp(ratio)


invgauss = Continuous(
    "invgauss",
    {"mu": "positive"},
    log_density=lambda z, mu: -0.5 * (log(2 * pi) + (z / mu - 1) ** 2 / z) - 1.5 * snp.log(z),
    logcdf_form=_log_passed,
    logsf_form=_log_not_passed,
    below=at_most_zero,
    opens=at_zero,
    above=infinite,
    low=zero,
)
