"""Continuous distributions on an interval, which parameters may bound, one record each.

Each is its standard form, with a function for each tail. Formulas are those of Johnson,
Kotz & Balakrishnan, "Continuous Univariate Distributions" (1994, 1995); parameters are SciPy's.
"""

from __future__ import annotations

from math import inf
from typing import Any

from ... import numpy as snp
from ...array import Array
from .continuous import Continuous
from .standard_forms import (
    below_zero,
    infinity,
    log_normal_density,
    minus_infinity,
    zero,
)

__all__ = ["beta", "genextreme", "genpareto", "truncnorm", "uniform"]

uniform = Continuous(
    "uniform",
    {},
    log_density=lambda z: 0 * z,
    cdf_form=lambda z: z,
    sf_form=lambda z: 1 - z,
    ppf_form=lambda q: q,
    isf_form=lambda q: 1 - q,
    below=below_zero,
    above=lambda z: z > 1,
)
beta = Continuous(
    "beta",
    {"a": "positive", "b": "positive"},
    log_density=lambda z, a, b: snp.xlog1py(b - 1, -z) + snp.xlogy(a - 1, z) - snp.betaln(a, b),
    cdf_form=lambda z, a, b: snp.betainc(a, b, z),
    sf_form=lambda z, a, b: snp.betaincc(a, b, z),
    ppf_form=lambda q, a, b: snp.betaincinv(a, b, q),
    isf_form=lambda q, a, b: snp.betainccinv(a, b, q),
    below=below_zero,
    above=lambda z, a, b: z > 1,
)


def _log_mass(a: Array | float, b: Array | float) -> Any:
    """The logarithm of the normal probability between a and b, by the nearer tail."""
    turned = a > 0
    left, right = snp.where(turned, -b, a), snp.where(turned, -a, b)
    upper = snp.log_ndtr(right)
    return upper + snp.log1mexp(snp.log_ndtr(left) - upper)


def _truncated_quantile(q: Array | float, a: Array | float, b: Array | float) -> Any:
    """The quantile, by the nearer tail, where the logarithm of the cdf keeps its digits."""
    turned = a > 0
    whole = _log_mass(a, b)
    edge = snp.log_ndtr(snp.where(turned, -b, a))
    part = snp.where(turned, snp.log1p(-q), snp.log(q))
    found = snp.ndtri_exp(snp.logaddexp(edge, part + whole))
    return snp.where(turned, -found, found)


truncnorm = Continuous(
    "truncnorm",
    {"a": "real", "b": "real"},
    log_density=lambda z, a, b: log_normal_density(z) - _log_mass(a, b),
    logcdf_form=lambda z, a, b: _log_mass(a, z) - _log_mass(a, b),
    logsf_form=lambda z, a, b: _log_mass(z, b) - _log_mass(a, b),
    ppf_form=_truncated_quantile,
    below=lambda z, a, b: z < a,
    above=lambda z, a, b: z > b,
    inside=lambda a, b: snp.clip(0.0, a, b),
    fit=lambda a, b: a < b,
    low=lambda a, b: a,
    high=lambda a, b: b,
)


def _log_over(w: Array | float) -> Any:
    """log(1 + w) / w, with its limit 1 and its derivatives at w = 0."""
    small = snp.abs(w) < 1e-3
    series = 1 + w * (-1 / 2 + w * (1 / 3 + w * (-1 / 4 + w * (1 / 5 - w / 6))))
    safe = snp.where(small, 1.0, w)
    return snp.where(small, series, snp.log1p(safe) / safe)


def _as_gumbel(z: Array | float, c: Array | float) -> Any:
    """The value z mapped to Gumbel's distribution."""
    return z * _log_over(-c * z)


genextreme = Continuous(
    "genextreme",
    {"c": "real"},
    # -y - exp(-y) - log(1 - c z) with y = -log(1 - c z) / c. At the upper end y is infinite; for
    # c = 1 the density is 1 there.
    log_density=lambda z, c: (
        snp.multiply_or_zero(c - 1, _as_gumbel(z, c)) - snp.exp(-_as_gumbel(z, c))
    ),
    cdf_form=lambda z, c: snp.exp(-snp.exp(-_as_gumbel(z, c))),
    sf_form=lambda z, c: -snp.expm1(-snp.exp(-_as_gumbel(z, c))),
    logcdf_form=lambda z, c: -snp.exp(-_as_gumbel(z, c)),
    logsf_form=lambda z, c: snp.log1mexp(-snp.exp(-_as_gumbel(z, c))),
    ppf_form=lambda q, c: _generalized(-snp.log(-snp.log(q)), c),
    isf_form=lambda q, c: _generalized(-snp.log(-snp.log1p(-q)), c),
    below=lambda z, c: snp.logical_or(z == -inf, snp.logical_and(c * z >= 1, c < 0)),
    above=lambda z, c: snp.logical_or(z == inf, snp.logical_and(c * z > 1, c > 0)),
    inside=zero,
    low=lambda c: snp.where(c < 0, 1 / snp.where(c < 0, c, 1.0), minus_infinity(c)),
    high=lambda c: snp.where(c > 0, 1 / snp.where(c > 0, c, 1.0), infinity(c)),
)


def _generalized(y: Array | float, c: Array | float) -> Any:
    return y * snp.exprel(-c * y)


def _as_exponential(z: Array | float, c: Array | float) -> Any:
    """The value z mapped to the exponential distribution."""
    return z * _log_over(c * z)


genpareto = Continuous(
    "genpareto",
    {"c": "real"},
    # At the upper end of the support the exponential's value is infinite; for c = -1 the density
    # is 1 there.
    log_density=lambda z, c: -snp.multiply_or_zero(1 + c, _as_exponential(z, c)),
    cdf_form=lambda z, c: -snp.expm1(-_as_exponential(z, c)),
    sf_form=lambda z, c: snp.exp(-_as_exponential(z, c)),
    logcdf_form=lambda z, c: snp.log1mexp(-_as_exponential(z, c)),
    logsf_form=lambda z, c: -_as_exponential(z, c),
    ppf_form=lambda q, c: _generalized(-snp.log1p(-q), -c),
    isf_form=lambda q, c: _generalized(-snp.log(q), -c),
    below=below_zero,
    above=lambda z, c: snp.logical_or(z == inf, snp.logical_and(z > 0, c * z < -1)),
    inside=zero,
    low=zero,
    high=lambda c: snp.where(c < 0, -1 / snp.where(c < 0, c, -1.0), infinity(c)),
)
