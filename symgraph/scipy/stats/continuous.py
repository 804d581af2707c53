r"""Continuous distributions, a row each: the standard form, its tails by the function of each side.

Formulas are those of Johnson, Kotz & Balakrishnan, "Continuous Univariate Distributions" (1994,
1995); parameters are SciPy's.
"""

from __future__ import annotations

from math import inf, log, pi, sqrt
from typing import Any

from ... import numpy as snp
from .distribution import Continuous

__all__ = [
    "beta",
    "cauchy",
    "chi2",
    "expon",
    "f",
    "gamma",
    "genextreme",
    "gumbel_l",
    "gumbel_r",
    "halfcauchy",
    "halfnorm",
    "invgamma",
    "laplace",
    "logistic",
    "lognorm",
    "norm",
    "pareto",
    "rayleigh",
    "skewnorm",
    "t",
    "truncnorm",
    "uniform",
    "weibull_min",
]

_LOG_ROOT_2PI = 0.5 * log(2 * pi)


def _negative(z: Any, *_shapes: Any) -> Any:
    return z < 0


def _not_positive(z: Any, *_shapes: Any) -> Any:
    return z <= 0


def _infinite(z: Any, *_shapes: Any) -> Any:
    return z == inf


def _zero(*_shapes: Any) -> float:
    return 0.0


def _one(*_shapes: Any) -> float:
    return 1.0


def _log1p_square(z: Any) -> Any:
    """log(1 + z²), also where the square overflows."""
    far = snp.abs(z) > 1e15
    near = snp.log1p(snp.where(far, 0.0, z) ** 2)
    return snp.where(far, 2 * snp.log(snp.where(far, snp.abs(z), 1.0)), near)


def _log_normal_density(z: Any) -> Any:
    return -0.5 * z**2 - _LOG_ROOT_2PI


norm = Continuous(
    "norm",
    {},
    log_density=_log_normal_density,
    cdf_form=lambda z: snp.ndtr(z),
    sf_form=lambda z: snp.ndtr(-z),
    logcdf_form=lambda z: snp.log_ndtr(z),
    logsf_form=lambda z: snp.log_ndtr(-z),
    ppf_form=lambda q: snp.ndtri(q),
    isf_form=lambda q: -snp.ndtri(q),
)
uniform = Continuous(
    "uniform",
    {},
    log_density=lambda z: 0 * z,
    cdf_form=lambda z: z,
    sf_form=lambda z: 1 - z,
    ppf_form=lambda q: q,
    isf_form=lambda q: 1 - q,
    below=_negative,
    above=lambda z: z > 1,
    low=_zero,
    high=_one,
)
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
    below=_negative,
    low=_zero,
)
gamma = Continuous(
    "gamma",
    {"a": "positive"},
    log_density=lambda z, a: snp.xlogy(a - 1, z) - z - snp.gammaln(a),
    cdf_form=lambda z, a: snp.gammainc(a, z),
    sf_form=lambda z, a: snp.gammaincc(a, z),
    ppf_form=lambda q, a: snp.gammaincinv(a, q),
    isf_form=lambda q, a: snp.gammainccinv(a, q),
    below=_negative,
    above=_infinite,
    low=_zero,
)
beta = Continuous(
    "beta",
    {"a": "positive", "b": "positive"},
    log_density=lambda z, a, b: snp.xlog1py(b - 1, -z) + snp.xlogy(a - 1, z) - snp.betaln(a, b),
    cdf_form=lambda z, a, b: snp.betainc(a, b, z),
    sf_form=lambda z, a, b: snp.betaincc(a, b, z),
    ppf_form=lambda q, a, b: snp.betaincinv(a, b, q),
    isf_form=lambda q, a, b: snp.betainccinv(a, b, q),
    below=_negative,
    above=lambda z, a, b: z > 1,
    low=_zero,
    high=_one,
)
t = Continuous(
    "t",
    {"df": "positive"},
    log_density=lambda z, df: (
        -0.5 * (df + 1) * _log1p_square(z / snp.sqrt(df))
        - 0.5 * snp.log(df)
        - snp.betaln(0.5, 0.5 * df)
    ),
    cdf_form=lambda z, df: snp.stdtr(df, z),
    sf_form=lambda z, df: snp.stdtr(df, -z),
    ppf_form=lambda q, df: snp.stdtrit(df, q),
    isf_form=lambda q, df: -snp.stdtrit(df, q),
)
cauchy = Continuous(
    "cauchy",
    {},
    log_density=lambda z: -_log1p_square(z) - log(pi),
    # The angle keeps its digits in both tails, where 1/2 + arctan(z)/pi has lost them.
    cdf_form=lambda z: snp.arctan2(1.0, -z) / pi,
    sf_form=lambda z: snp.arctan2(1.0, z) / pi,
    ppf_form=lambda q: -_cotangent(q),
    isf_form=lambda q: _cotangent(q),
)


def _cotangent(q: Any) -> Any:
    """cot(πq), with the digits of 1 - q too."""
    less = q < 0.5
    found = 1 / snp.tan(pi * snp.where(less, q, 1 - q))
    return snp.where(less, found, -found)


laplace = Continuous(
    "laplace",
    {},
    log_density=lambda z: -snp.abs(z) - log(2),
    cdf_form=lambda z: _by_side(z, *_laplace_tails(z)),
    sf_form=lambda z: _by_side(-z, *_laplace_tails(z)),
    logcdf_form=lambda z: _log_laplace(z),
    logsf_form=lambda z: _log_laplace(-z),
    ppf_form=lambda q: _laplace_quantile(q),
    isf_form=lambda q: -_laplace_quantile(q),
)


def _by_side(z: Any, left: Any, right: Any) -> Any:
    return snp.where(z < 0, left, right)


def _laplace_tails(z: Any) -> tuple[Any, Any]:
    tail = 0.5 * snp.exp(-snp.abs(z))
    return tail, 1 - tail


def _log_laplace(z: Any) -> Any:
    return _by_side(z, z - log(2), snp.log1p(-0.5 * snp.exp(-snp.abs(z))))


def _laplace_quantile(q: Any) -> Any:
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
lognorm = Continuous(
    "lognorm",
    {"s": "positive"},
    log_density=lambda z, s: _log_normal_density(snp.log(z) / s) - snp.log(s) - snp.log(z),
    cdf_form=lambda z, s: snp.ndtr(snp.log(z) / s),
    sf_form=lambda z, s: snp.ndtr(-snp.log(z) / s),
    logcdf_form=lambda z, s: snp.log_ndtr(snp.log(z) / s),
    logsf_form=lambda z, s: snp.log_ndtr(-snp.log(z) / s),
    ppf_form=lambda q, s: snp.exp(s * snp.ndtri(q)),
    isf_form=lambda q, s: snp.exp(-s * snp.ndtri(q)),
    below=_not_positive,
    above=_infinite,
    low=_zero,
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
    below=_negative,
    above=_infinite,
    low=_zero,
)


def _log_f_density(z: Any, n: Any, m: Any) -> Any:
    scaled = n * z / m
    return (
        snp.xlogy(0.5 * n - 1, scaled)
        - 0.5 * (n + m) * snp.log1p(scaled)
        + snp.log(n / m)
        - snp.betaln(0.5 * n, 0.5 * m)
    )


f = Continuous(
    "f",
    {"dfn": "positive", "dfd": "positive"},
    log_density=_log_f_density,
    cdf_form=lambda z, n, m: snp.fdtr(n, m, z),
    sf_form=lambda z, n, m: snp.fdtrc(n, m, z),
    ppf_form=lambda q, n, m: snp.fdtri(n, m, q),
    below=_negative,
    above=_infinite,
    low=_zero,
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
    low=_one,
)
weibull_min = Continuous(
    "weibull_min",
    {"c": "positive"},
    log_density=lambda z, c: snp.log(c) + snp.xlogy(c - 1, z) - z**c,
    cdf_form=lambda z, c: -snp.expm1(-(z**c)),
    sf_form=lambda z, c: snp.exp(-(z**c)),
    logcdf_form=lambda z, c: snp.log1mexp(-(z**c)),
    logsf_form=lambda z, c: -(z**c),
    ppf_form=lambda q, c: (-snp.log1p(-q)) ** (1 / c),
    isf_form=lambda q, c: (-snp.log(q)) ** (1 / c),
    below=_negative,
    above=_infinite,
    low=_zero,
)


# -- extreme values --------------------------------------------------------------------------------
def _log_gumbel_density(z: Any) -> Any:
    return -z - snp.exp(-z)


gumbel_r = Continuous(
    "gumbel_r",
    {},
    log_density=_log_gumbel_density,
    cdf_form=lambda z: snp.exp(-snp.exp(-z)),
    sf_form=lambda z: -snp.expm1(-snp.exp(-z)),
    logcdf_form=lambda z: -snp.exp(-z),
    logsf_form=lambda z: snp.log1mexp(-snp.exp(-z)),
    ppf_form=lambda q: -snp.log(-snp.log(q)),
    isf_form=lambda q: -snp.log(-snp.log1p(-q)),
    below=lambda z: z == -inf,
)
gumbel_l = Continuous(
    "gumbel_l",
    {},
    log_density=lambda z: _log_gumbel_density(-z),
    cdf_form=lambda z: -snp.expm1(-snp.exp(z)),
    sf_form=lambda z: snp.exp(-snp.exp(z)),
    logcdf_form=lambda z: snp.log1mexp(-snp.exp(z)),
    logsf_form=lambda z: -snp.exp(z),
    ppf_form=lambda q: snp.log(-snp.log1p(-q)),
    isf_form=lambda q: snp.log(-snp.log(q)),
    above=_infinite,
)


def _log_over(w: Any) -> Any:
    """log(1 + w) / w, with its limit 1 and the derivatives there."""
    small = snp.abs(w) < 1e-3
    series = 1 + w * (-1 / 2 + w * (1 / 3 + w * (-1 / 4 + w * (1 / 5 - w / 6))))
    safe = snp.where(small, 1.0, w)
    return snp.where(small, series, snp.log1p(safe) / safe)


def _as_gumbel(z: Any, c: Any) -> Any:
    """The value of Gumbel's distribution that stands for z."""
    return z * _log_over(-c * z)


genextreme = Continuous(
    "genextreme",
    {"c": "real"},
    log_density=lambda z, c: _log_gumbel_density(_as_gumbel(z, c)) - snp.log1p(-c * z),
    cdf_form=lambda z, c: snp.exp(-snp.exp(-_as_gumbel(z, c))),
    sf_form=lambda z, c: -snp.expm1(-snp.exp(-_as_gumbel(z, c))),
    logcdf_form=lambda z, c: -snp.exp(-_as_gumbel(z, c)),
    logsf_form=lambda z, c: snp.log1mexp(-snp.exp(-_as_gumbel(z, c))),
    ppf_form=lambda q, c: _generalized(-snp.log(-snp.log(q)), c),
    isf_form=lambda q, c: _generalized(-snp.log(-snp.log1p(-q)), c),
    below=lambda z, c: snp.logical_or(z == -inf, snp.logical_and(c * z >= 1, c < 0)),
    above=lambda z, c: snp.logical_or(z == inf, snp.logical_and(c * z >= 1, c > 0)),
    inside=_zero,
    low=lambda c: snp.where(c < 0, 1 / snp.where(c < 0, c, 1.0), -inf),
    high=lambda c: snp.where(c > 0, 1 / snp.where(c > 0, c, 1.0), inf),
)


def _generalized(y: Any, c: Any) -> Any:
    return y * snp.exprel(-c * y)


# -- on the half line ------------------------------------------------------------------------------
halfnorm = Continuous(
    "halfnorm",
    {},
    log_density=lambda z: _log_normal_density(z) + log(2),
    cdf_form=lambda z: snp.erf(z / sqrt(2)),
    sf_form=lambda z: snp.erfc(z / sqrt(2)),
    logcdf_form=lambda z: snp.log1mexp(log(2) + snp.log_ndtr(-z)),
    logsf_form=lambda z: log(2) + snp.log_ndtr(-z),
    ppf_form=lambda q: sqrt(2) * snp.erfinv(q),
    isf_form=lambda q: sqrt(2) * snp.erfcinv(q),
    below=_negative,
    low=_zero,
)


def _half_tangent(q: Any, power: float) -> Any:
    """tan(πq/2), or its reciprocal, with the digits of q and of 1 - q."""
    less = q < 0.5
    tangent = snp.tan(0.5 * pi * snp.where(less, q, 1 - q))
    return snp.where(less == (power > 0), tangent, 1 / tangent)


halfcauchy = Continuous(
    "halfcauchy",
    {},
    log_density=lambda z: -_log1p_square(z) + log(2 / pi),
    cdf_form=lambda z: 2 / pi * snp.arctan(z),
    sf_form=lambda z: 2 / pi * snp.arctan2(1.0, z),
    ppf_form=lambda q: _half_tangent(q, 1.0),
    isf_form=lambda q: _half_tangent(q, -1.0),
    below=_negative,
    low=_zero,
)
invgamma = Continuous(
    "invgamma",
    {"a": "positive"},
    log_density=lambda z, a: -(a + 1) * snp.log(z) - snp.gammaln(a) - 1 / z,
    cdf_form=lambda z, a: snp.gammaincc(a, 1 / z),
    sf_form=lambda z, a: snp.gammainc(a, 1 / z),
    ppf_form=lambda q, a: 1 / snp.gammainccinv(a, q),
    isf_form=lambda q, a: 1 / snp.gammaincinv(a, q),
    below=_not_positive,
    above=_infinite,
    low=_zero,
)
rayleigh = Continuous(
    "rayleigh",
    {},
    log_density=lambda z: snp.log(z) - 0.5 * z**2,
    cdf_form=lambda z: -snp.expm1(-0.5 * z**2),
    sf_form=lambda z: snp.exp(-0.5 * z**2),
    logcdf_form=lambda z: snp.log1mexp(-0.5 * z**2),
    logsf_form=lambda z: -0.5 * z**2,
    ppf_form=lambda q: snp.sqrt(-2 * snp.log1p(-q)),
    isf_form=lambda q: snp.sqrt(-2 * snp.log(q)),
    below=_not_positive,
    above=_infinite,
    low=_zero,
)


# -- relatives of the normal distribution ----------------------------------------------------------
def _log_mass(a: Any, b: Any) -> Any:
    """The logarithm of the normal probability between a and b, taken in the tail that is nearer."""
    turned = a > 0
    left, right = snp.where(turned, -b, a), snp.where(turned, -a, b)
    upper = snp.log_ndtr(right)
    return upper + snp.log1mexp(snp.log_ndtr(left) - upper)


def _truncated_quantile(q: Any, a: Any, b: Any) -> Any:
    """Solved in the tail that is nearer, where the logarithm of the cdf keeps its digits."""
    turned = a > 0
    whole = _log_mass(a, b)
    edge = snp.log_ndtr(snp.where(turned, -b, a))
    part = snp.where(turned, snp.log1p(-q), snp.log(q))
    found = snp.ndtri_exp(snp.logaddexp(edge, part + whole))
    return snp.where(turned, -found, found)


truncnorm = Continuous(
    "truncnorm",
    {"a": "real", "b": "real"},
    log_density=lambda z, a, b: _log_normal_density(z) - _log_mass(a, b),
    logcdf_form=lambda z, a, b: _log_mass(a, z) - _log_mass(a, b),
    logsf_form=lambda z, a, b: _log_mass(z, b) - _log_mass(a, b),
    ppf_form=_truncated_quantile,
    below=lambda z, a, b: z < a,
    above=lambda z, a, b: z > b,
    inside=lambda a, b: snp.clip(0.0, a, b),
    low=lambda a, b: a,
    high=lambda a, b: b,
)
skewnorm = Continuous(
    "skewnorm",
    {"a": "real"},
    log_density=lambda z, a: _log_normal_density(z) + snp.log_ndtr(a * z) + log(2),
    # The cdf is a difference of Owen's function (Azzalini 1985), without digits in the tail.
    lacks=frozenset({"cdf", "sf", "logcdf", "logsf"}),
)
