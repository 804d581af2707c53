"""Continuous distributions on the whole line, one record each.

Each is its standard form, with a function for each tail. Formulas are those of Johnson,
Kotz & Balakrishnan, "Continuous Univariate Distributions" (1994, 1995); parameters are SciPy's.
"""

from __future__ import annotations

from math import inf, log, pi
from typing import Any

from ... import numpy as snp
from ...array import Array
from ...ops.slopes import with_slope
from .continuous import Continuous
from .standard_forms import (
    infinite,
    infinity,
    log1p_square,
    log_gumbel_density,
    log_normal_density,
    minus_infinity,
)
from .validity import lifted

__all__ = [
    "cauchy",
    "gennorm",
    "gumbel_l",
    "gumbel_r",
    "laplace",
    "logistic",
    "norm",
    "skewnorm",
    "t",
    "vonmises",
]

norm = Continuous(
    "norm",
    {},
    log_density=log_normal_density,
    cdf_form=lambda z: snp.ndtr(z),
    sf_form=lambda z: snp.ndtr(-z),
    logcdf_form=lambda z: snp.log_ndtr(z),
    logsf_form=lambda z: snp.log_ndtr(-z),
    ppf_form=lambda q: snp.ndtri(q),
    isf_form=lambda q: -snp.ndtri(q),
)
gennorm = Continuous(
    "gennorm",
    {"beta": "positive"},
    log_density=lambda z, beta: snp.log(0.5 * beta) - snp.gammaln(1 / beta) - snp.abs(z) ** beta,
    # The cdf is an incomplete gamma function of a power, whose slope is 0 times infinity at 0.
    lacks=frozenset({"cdf", "sf", "logcdf", "logsf"}),
)
t = Continuous(
    "t",
    {"df": "positive"},
    log_density=lambda z, df: (
        -0.5 * (df + 1) * log1p_square(z / snp.sqrt(df))
        - 0.5 * snp.log(df)
        - snp.betaln(0.5, 0.5 * df)
    ),
    cdf_form=lambda z, df: snp.stdtr(df, z),
    sf_form=lambda z, df: snp.stdtr(df, -z),
    ppf_form=lambda q, df: snp.stdtrit(df, q),
    isf_form=lambda q, df: -snp.stdtrit(df, q),
    low=minus_infinity,
    high=infinity,
)
cauchy = Continuous(
    "cauchy",
    {},
    log_density=lambda z: -log1p_square(z) - log(pi),
    # The angle keeps its digits in both tails, where 1/2 + arctan(z)/pi loses them.
    cdf_form=lambda z: snp.arctan2(1.0, -z) / pi,
    sf_form=lambda z: snp.arctan2(1.0, z) / pi,
    ppf_form=lambda q: -_cotangent(q),
    isf_form=lambda q: _cotangent(q),
)


def _cotangent(q: Array | float) -> Any:
    """cot(πq), which keeps the digits of q and of 1 - q."""
    less = q < 0.5
    found = 1 / snp.tan(pi * snp.where(less, q, 1 - q))
    return snp.where(less, found, -found)


laplace = Continuous(
    "laplace",
    {},
    log_density=lambda z: -snp.abs(z) - log(2),
    cdf_form=lambda z: _laplace(z),
    sf_form=lambda z: _laplace(-z),
    logcdf_form=lambda z: _log_laplace(z),
    logsf_form=lambda z: _log_laplace(-z),
    ppf_form=lambda q: _laplace_quantile(q),
    isf_form=lambda q: -_laplace_quantile(q),
)


def _tail_above(z: Array | float) -> Any:
    """The probability above z of 0 or more. By |z| the slope at 0 would be that of a kink, 0."""
    return 0.5 * snp.exp(-snp.where(z < 0, 0.0, z))


def _laplace(z: Array | float) -> Any:
    below = 0.5 * snp.exp(snp.where(z < 0, z, 0.0))
    return snp.where(z < 0, below, 1 - _tail_above(z))


def _log_laplace(z: Array | float) -> Any:
    return snp.where(z < 0, z - log(2), snp.log1p(-_tail_above(z)))


def _laplace_quantile(q: Array | float) -> Any:
    less = q < 0.5
    left = snp.log(2 * snp.where(less, q, 0.5))
    return snp.where(less, left, -snp.log(2 * snp.where(less, 0.5, 1 - q)))


logistic = Continuous(
    "logistic",
    {},
    log_density=lambda z: snp.log_sigmoid(z) + snp.log_sigmoid(-z),
    cdf_form=lambda z: snp.sigmoid(z),
    sf_form=lambda z: snp.sigmoid(-z),
    logcdf_form=lambda z: snp.log_sigmoid(z),
    logsf_form=lambda z: snp.log_sigmoid(-z),
    ppf_form=lambda q: snp.logit(q),
    isf_form=lambda q: -snp.logit(q),
)
_STEEP = 40.0
"""From here on exp(-exp(z)) is 0, and exp(-exp(-z)) is 1 - exp(-z), in all dtypes."""


def _tail_of_maximum(z: Array | float) -> Any:
    """exp(-z), less than infinity: below the double exponential is 0, and its slope was 0/0."""
    return snp.exp(-snp.maximum(z, -_STEEP))


def _log_tail_of_maximum(z: Array | float) -> Any:
    far = z > _STEEP
    return snp.where(far, -z, snp.log1mexp(-_tail_of_maximum(snp.where(far, 0.0, z))))


gumbel_r = Continuous(
    "gumbel_r",
    {},
    log_density=log_gumbel_density,
    density_form=lambda z: snp.exp(log_gumbel_density(snp.maximum(z, -_STEEP))),
    cdf_form=lambda z: snp.exp(-_tail_of_maximum(z)),
    sf_form=lambda z: -snp.expm1(-_tail_of_maximum(z)),
    logcdf_form=lambda z: -snp.exp(-z),
    logsf_form=_log_tail_of_maximum,
    ppf_form=lambda q: -snp.log(-snp.log(q)),
    isf_form=lambda q: -snp.log(-snp.log1p(-q)),
    below=lambda z: z == -inf,
    low=minus_infinity,
    high=infinity,
)
gumbel_l = Continuous(
    "gumbel_l",
    {},
    log_density=lambda z: log_gumbel_density(-z),
    density_form=lambda z: snp.exp(log_gumbel_density(snp.maximum(-z, -_STEEP))),
    cdf_form=lambda z: -snp.expm1(-_tail_of_maximum(-z)),
    sf_form=lambda z: snp.exp(-_tail_of_maximum(-z)),
    logcdf_form=lambda z: _log_tail_of_maximum(-z),
    logsf_form=lambda z: -snp.exp(z),
    ppf_form=lambda q: snp.log(-snp.log1p(-q)),
    isf_form=lambda q: snp.log(-snp.log(q)),
    above=infinite,
    low=minus_infinity,
    high=infinity,
)
skewnorm = Continuous(
    "skewnorm",
    {"a": "real"},
    log_density=lambda z, a: log_normal_density(z) + snp.log_ndtr(a * z) + log(2),
    # The cdf is a difference with Owen's function (Azzalini 1985), which has no digits in the tail.
    lacks=frozenset({"cdf", "sf", "logcdf", "logsf"}),
)


def _log_scaled_bessel(kappa: Array) -> Any:
    """log(exp(-kappa) I0(kappa)), with the slope -1 at 0: i0e is even, and has a kink there."""
    slope = with_slope(lifted(0.0, kappa.dtype), kappa, lifted(-1.0, kappa.dtype))
    return snp.log(snp.i0e(kappa)) + snp.where(kappa == 0, slope, lifted(0.0, kappa.dtype))


vonmises = Continuous(
    "vonmises",
    {"kappa": "nonnegative"},
    log_density=lambda z, kappa: kappa * snp.cosm1(z) - _log_scaled_bessel(kappa) - log(2 * pi),
    # The cdf is a series (Hill 1977), which counts the turns of z.
    lacks=frozenset({"cdf", "sf", "logcdf", "logsf"}),
)
