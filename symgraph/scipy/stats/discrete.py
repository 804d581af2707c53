"""Distributions of whole numbers, one record each.

Formulas are those of Johnson, Kemp & Kotz, "Univariate Discrete Distributions" (2005); parameters
are SciPy's. Gradients flow to the parameters. The derivative in the whole number itself is that of
the formula, which continues it to real numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from ... import numpy as snp
from ...array import Array, ArrayLike
from ...ops.slopes import with_slope
from .distribution import Discrete, log_of

__all__ = ["bernoulli", "betabinom", "binom", "geom", "nbinom", "poisson"]


def _negative(k: Array | float, *_shapes: object) -> Any:
    return k < 0


def _infinite(k: ArrayLike, *_shapes: object) -> Any:
    return k == inf


def _zero(*_shapes: object) -> float:
    return 0.0


def _log_choices(n: Array | float, k: Array | float) -> Any:
    """The logarithm of the binomial coefficient."""
    return -snp.log1p(n) - snp.betaln(n - k + 1, k + 1)


def _impossible(
    there: Array | bool, p: Array | float, slope: float, form: Callable[[Any], Any]
) -> Any:
    """`form` of a parameter, and -inf with this slope in it where the event is impossible.

    The probability is a power of the distance from that place, times a number: its logarithm has a
    slope of 0 / 0 by the chain rule.
    """
    safe = snp.where(there, 0.5, p)
    ending: Any = with_slope(snp.full_like(safe, -inf), p, snp.where(there, slope, 0 * safe))
    return snp.where(there, ending, form(safe))


def _log_more_failures(k: Array | float, n: Array | float, p: Array | float) -> Any:
    """The logarithm of the sf of `nbinom`; near p = 1 it is log((1 - p)**(k + 1) / B(k + 1, n))."""
    none = p == 1
    found = _impossible(
        *(none, p, -inf), lambda p: log_of(snp.betaincc(n, k + 1, p), snp.betainc(n, k + 1, p))
    )
    if not isinstance(n, Array) or n.node.is_constant:
        return found
    return with_slope(found, n, snp.where(none, snp.digamma(n + k + 1) - snp.digamma(n), 0 * n))


bernoulli = Discrete(
    "bernoulli",
    {"p": "probability"},
    log_density=lambda k, p: snp.xlogy(k, p) + snp.xlog1py(1 - k, -p),
    cdf_form=lambda k, p: snp.where(k >= 1, 1.0, 1 - p + 0 * k),
    sf_form=lambda k, p: snp.where(k >= 1, 0.0, p + 0 * k),
    below=_negative,
    above=lambda k, p: k > 1,
    inside=_zero,
)
binom = Discrete(
    "binom",
    {"n": "nonnegative", "p": "probability"},
    log_density=lambda k, n, p: _log_choices(n, k) + snp.xlogy(k, p) + snp.xlog1py(n - k, -p),
    cdf_form=lambda k, n, p: snp.bdtr(k, n, p),
    sf_form=lambda k, n, p: snp.bdtrc(k, n, p),
    logcdf_form=lambda k, n, p: _impossible(
        (p == 1) & (k < n), p, -inf, lambda p: log_of(snp.bdtr(k, n, p), snp.bdtrc(k, n, p))
    ),
    logsf_form=lambda k, n, p: _impossible(
        (p == 0) & (k < n), p, inf, lambda p: log_of(snp.bdtrc(k, n, p), snp.bdtr(k, n, p))
    ),
    below=_negative,
    above=lambda k, n, p: k > n,
    inside=_zero,
)
poisson = Discrete(
    "poisson",
    {"mu": "nonnegative"},
    log_density=lambda k, mu: snp.xlogy(k, mu) - snp.gammaln(k + 1) - mu,
    cdf_form=lambda k, mu: snp.gammaincc(k + 1, mu),
    sf_form=lambda k, mu: snp.gammainc(k + 1, mu),
    logcdf_form=lambda k, mu: log_of(snp.gammaincc(k + 1, mu), snp.gammainc(k + 1, mu)),
    logsf_form=lambda k, mu: _impossible(
        mu == 0, mu, inf, lambda mu: log_of(snp.gammainc(k + 1, mu), snp.gammaincc(k + 1, mu))
    ),
    below=_negative,
    above=_infinite,
    inside=_zero,
)
geom = Discrete(
    "geom",
    {"p": "positive probability"},
    log_density=lambda k, p: snp.xlog1py(k - 1, -p) + snp.log(p),
    cdf_form=lambda k, p: -snp.expm1(snp.xlog1py(k, -p)),
    sf_form=lambda k, p: snp.exp(snp.xlog1py(k, -p)),
    logcdf_form=lambda k, p: snp.log1mexp(snp.xlog1py(k, -p)),
    logsf_form=lambda k, p: snp.xlog1py(k, -p),
    below=lambda k, p: k < 1,
    above=_infinite,
    inside=lambda p: 1.0,
)
nbinom = Discrete(
    "nbinom",
    {"n": "positive", "p": "positive probability"},
    log_density=lambda k, n, p: (
        -snp.log(n + k) - snp.betaln(n, k + 1) + snp.xlogy(n, p) + snp.xlog1py(k, -p)
    ),
    cdf_form=lambda k, n, p: snp.betainc(n, k + 1, p),
    sf_form=lambda k, n, p: snp.betaincc(n, k + 1, p),
    logcdf_form=lambda k, n, p: log_of(snp.betainc(n, k + 1, p), snp.betaincc(n, k + 1, p)),
    logsf_form=_log_more_failures,
    below=_negative,
    above=_infinite,
    inside=_zero,
)
betabinom = Discrete(
    "betabinom",
    {"n": "nonnegative", "a": "positive", "b": "positive"},
    log_density=lambda k, n, a, b: (
        _log_choices(n, k) + snp.betaln(k + a, n - k + b) - snp.betaln(a, b)
    ),
    below=_negative,
    above=lambda k, n, a, b: k > n,
    inside=_zero,
    # Sums over all k below: no closed form.
    lacks=frozenset({"cdf", "sf", "logcdf", "logsf"}),
)
