"""Kolmogorov's distribution, and the parameters of other distributions at given probabilities.

A distribution in a parameter is inverted by the inverse of its incomplete beta or gamma function.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from ..array import Array, ArrayLike
from .beta import betainccinv, betaincinv, gammainccinv, gammaincinv
from .choice import where
from .composites import as_array, composite
from .exponential import exp
from .rounding import floor, trunc
from .scipyufuncs import scipy_ufunc
from .special import ndtri

__all__ = [
    "bdtri",
    "fdtri",
    "gdtria",
    "gdtrix",
    "kolmogi",
    "kolmogorov",
    "nbdtri",
    "nrdtrimn",
    "nrdtrisd",
    "pdtri",
]


def _slope_of_kolmogorov(x: Array) -> Array:
    """The slope, by the theta series that converges: further terms are below 1e-17 of the first."""
    near = x < 1
    small = where(near, where(x > 0.05, x, 0.05), 1.0)
    large = where(near, 1.0, x)
    left: Any = 0
    for odd in (1, 3, 5, 7, 9):
        t = (odd * pi) ** 2 / (4 * small * small)
        left = left + exp(-t / 2) * (t - 1)
    left = -sqrt(2 * pi) * left / (small * small)
    right: Any = 0
    for k in range(1, 6):
        right = right + (-1) ** k * k * k * exp(-2 * k * k * (large * large))
    # Below 0.05 the density is less than the smallest number there is. Its sign is that of the
    # inverse's infinite slope.
    return where(x > 0.05, where(near, left, 8 * large * right), -0.0)


kolmogorov = scipy_ufunc(
    "kolmogorov",
    lambda ct, out, x: ct * _slope_of_kolmogorov(x),
    doc="The probability that Kolmogorov's statistic is larger than x.",
    flops=60,
)


kolmogi = scipy_ufunc(
    "kolmogi",
    lambda ct, out, p: ct / _slope_of_kolmogorov(out),
    doc="The x with kolmogorov(x) = p.",
    flops=100,
)


@composite("scipy.special.pdtri")
def pdtri(k: ArrayLike, y: ArrayLike) -> Array:
    """The m with pdtr(k, m) = y, for whole k; as in SciPy, other k are rounded towards 0."""
    return gammainccinv(trunc(as_array(k)) + 1, y)


@composite("scipy.special.bdtri")
def bdtri(k: ArrayLike, n: ArrayLike, y: ArrayLike) -> Array:
    """The p with bdtr(k, n, p) = y."""
    fewest = floor(as_array(k)) + 1
    return betainccinv(fewest, trunc(n) - fewest + 1, y)


@composite("scipy.special.nbdtri")
def nbdtri(k: ArrayLike, n: ArrayLike, y: ArrayLike) -> Array:
    """The p with nbdtr(k, n, p) = y."""
    return betaincinv(trunc(n), trunc(k) + 1, y)


@composite("scipy.special.fdtri")
def fdtri(dfn: ArrayLike, dfd: ArrayLike, p: ArrayLike) -> Array:
    """The x with fdtr(dfn, dfd, x) = p."""
    dfn, dfd = as_array(dfn), as_array(dfd)
    below = betaincinv(dfn / 2, dfd / 2, p)
    above = betainccinv(dfd / 2, dfn / 2, p)
    return dfd * below / (dfn * above)


@composite("scipy.special.gdtrix")
def gdtrix(a: ArrayLike, b: ArrayLike, p: ArrayLike) -> Array:
    """The x with gdtr(a, b, x) = p."""
    return gammaincinv(b, p) / a


@composite("scipy.special.gdtria")
def gdtria(p: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The a with gdtr(a, b, x) = p."""
    return gammaincinv(b, p) / x


@composite("scipy.special.nrdtrimn")
def nrdtrimn(p: ArrayLike, std: ArrayLike, x: ArrayLike) -> Array:
    """The mean of the normal distribution of deviation `std` in which x is the quantile of p."""
    return as_array(x) - as_array(std) * ndtri(p)


@composite("scipy.special.nrdtrisd")
def nrdtrisd(mn: ArrayLike, p: ArrayLike, x: ArrayLike) -> Array:
    """The deviation of the normal distribution of mean `mn` in which x is the quantile of p."""
    return (as_array(x) - mn) / ndtri(p)
