"""Continuous distributions on an interval, which parameters may bound, one record each.

Each is its standard form, with a function for each tail. Formulas are those of Johnson,
Kotz & Balakrishnan, "Continuous Univariate Distributions" (1994, 1995); parameters are SciPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from ... import numpy as snp
from ...array import Array
from ...ops.slopes import with_slope
from .continuous import Continuous
from .standard_forms import (
    at_zero,
    below_zero,
    infinity,
    log_normal_density,
    minus_infinity,
    one,
    zero,
)
from .validity import lifted

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
    first=at_zero,
    last=lambda z, a, b: z == 1,
    low=zero,
    high=one,
)


def _log_mass(a: Array, b: Array) -> Any:
    """The logarithm of the normal probability between a and b, by the nearer tail."""
    turned = a > 0
    left, right = snp.where(turned, -b, a), snp.where(turned, -a, b)
    upper = snp.log_ndtr(right)
    less = snp.log_ndtr(left) - upper
    # Where they meet, the difference may be +0, and the slope of log1mexp there would be infinite
    # with the wrong sign.
    meet = a == b
    apart = upper + snp.log1mexp(snp.where(meet, -1.0, less))
    steep, flat = lifted(inf, upper.dtype), lifted(0.0, upper.dtype)
    nothing = with_slope(-steep, b, snp.where(meet, steep, flat))
    return snp.where(meet, with_slope(nothing, a, snp.where(meet, -steep, flat)), apart)


def _share(left: Array, right: Array, a: Array, b: Array) -> Any:
    """The part of the probability between a and b that lies between left and right."""
    whole = _log_mass(a, b)
    meet = left == right
    apart = snp.exp(_log_mass(left, snp.where(meet, left + 1, right)) - whole)
    # exp of -inf has no slope. To second order this is the integral.
    narrow = (right - left) * snp.exp(log_normal_density(0.5 * (left + right)) - whole)
    return snp.where(meet, narrow, apart)


def _truncated_quantile(q: Array, a: Array, b: Array) -> Any:
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
    cdf_form=lambda z, a, b: _share(a, z, a, b),
    sf_form=lambda z, a, b: _share(z, b, a, b),
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


_FEW = 1e-3
"""Below it log(1 + w) is a series, so that w may be 0."""

_Multiple = Callable[[Any], Any]


def _of_logarithm(z: Array | float, c: Array | float, function: Callable[[_Multiple], Any]) -> Any:
    """A function of multiples of log(1 + c z) / c, which are those of z for c = 0.

    Away from there a multiple is the logarithm of a power of 1 + c z, with the slopes of that power
    where 1 + c z is 0 (`ops/densities.py`).
    """
    w = c * z
    small = snp.abs(w) < _FEW
    series = 1 + w * (-1 / 2 + w * (1 / 3 + w * (-1 / 4 + w * (1 / 5 - w / 6))))
    near = snp.where(small, z * series, 0.0)
    far, by = snp.where(small, 1.0, w), snp.where(small, 1.0, c)
    return snp.where(
        small, function(lambda k: k * near), function(lambda k: snp.xlog1py(k / by, far))
    )


def _generalized(y: Array | float, c: Array | float) -> Any:
    return y * snp.exprel(-c * y)


def _log_extreme(y: _Multiple, c: Array | float) -> Any:
    return y(c - 1) - snp.exp(y(-1))


genextreme = Continuous(
    "genextreme",
    {"c": "real"},
    # -y - exp(-y) - log(1 - c z) with y = -log(1 - c z) / c. At the upper end y is infinite; for
    # c = 1 the density is 1 there.
    log_density=lambda z, c: _of_logarithm(z, -c, lambda y: _log_extreme(y, c)),
    density_form=lambda z, c: _of_logarithm(z, -c, lambda y: snp.exp(_log_extreme(y, c))),
    cdf_form=lambda z, c: _of_logarithm(z, -c, lambda y: snp.exp(-snp.exp(y(-1)))),
    sf_form=lambda z, c: _of_logarithm(z, -c, lambda y: -snp.expm1(-snp.exp(y(-1)))),
    logcdf_form=lambda z, c: _of_logarithm(z, -c, lambda y: -snp.exp(y(-1))),
    logsf_form=lambda z, c: _of_logarithm(z, -c, lambda y: snp.log1mexp(-snp.exp(y(-1)))),
    ppf_form=lambda q, c: _generalized(-snp.log(-snp.log(q)), c),
    isf_form=lambda q, c: _generalized(-snp.log(-snp.log1p(-q)), c),
    below=lambda z, c: snp.logical_or(z == -inf, snp.logical_and(c * z >= 1, c < 0)),
    above=lambda z, c: snp.logical_or(z == inf, snp.logical_and(c * z > 1, c > 0)),
    opens=lambda z, c: snp.logical_and(c * z == 1, c < 0),
    last=lambda z, c: snp.logical_and(c * z == 1, c > 0),
    inside=zero,
    low=lambda c: snp.where(c < 0, 1 / snp.where(c < 0, c, 1.0), minus_infinity(c)),
    high=lambda c: snp.where(c > 0, 1 / snp.where(c > 0, c, 1.0), infinity(c)),
)
genpareto = Continuous(
    "genpareto",
    {"c": "real"},
    # With y = log(1 + c z) / c, which is infinite at an upper end; for c = -1 the density is 1
    # there.
    log_density=lambda z, c: _of_logarithm(z, c, lambda y: y(-1 - c)),
    density_form=lambda z, c: _of_logarithm(z, c, lambda y: snp.exp(y(-1 - c))),
    cdf_form=lambda z, c: _of_logarithm(z, c, lambda y: -snp.expm1(y(-1))),
    sf_form=lambda z, c: _of_logarithm(z, c, lambda y: snp.exp(y(-1))),
    logcdf_form=lambda z, c: _of_logarithm(z, c, lambda y: snp.log1mexp(y(-1))),
    logsf_form=lambda z, c: _of_logarithm(z, c, lambda y: y(-1)),
    ppf_form=lambda q, c: _generalized(-snp.log1p(-q), -c),
    isf_form=lambda q, c: _generalized(-snp.log(q), -c),
    below=below_zero,
    above=lambda z, c: snp.logical_or(z == inf, snp.logical_and(z > 0, c * z < -1)),
    first=at_zero,
    last=lambda z, c: snp.logical_and(c * z == -1, c < 0),
    inside=zero,
    low=zero,
    high=lambda c: snp.where(c < 0, -1 / snp.where(c < 0, c, -1.0), infinity(c)),
)
