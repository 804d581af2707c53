"""Distribution functions under SciPy's names, by incomplete gamma and beta functions.

They are differentiable in the argument and in all parameters. Counts are cut to whole numbers, as
SciPy does, so that derivatives in them are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Any, TypeGuard

import numpy as np

from ..array import Array, ArrayLike
from ..facts import positive
from ..ir.op import results_of
from .beta import beta, betainc, betaincc, gammainc, gammaincc, gammainccinv
from .bounds import knows, within
from .choice import where
from .composites import as_array, composite
from .elementwise import absolute, sign
from .exponential import exp, log, log1p
from .incomplete_beta import betainc_slope_a, betainc_slope_b
from .powers import multiply_or_zero
from .rounding import floor, trunc
from .scipyufuncs import scipy_ufunc
from .special import digamma

__all__ = [
    "bdtr",
    "bdtrc",
    "chdtr",
    "chdtrc",
    "chdtri",
    "fdtr",
    "fdtrc",
    "gdtr",
    "gdtrc",
    "nbdtr",
    "nbdtrc",
    "ndtri_exp",
    "pdtr",
    "pdtrc",
    "stdtr",
    "stdtrit",
]


# -- chi-squared, gamma, Poisson -------------------------------------------------------------------
@composite("scipy.special.chdtr")
def chdtr(v: ArrayLike, x: ArrayLike) -> Array:
    """The chi-squared distribution function of v degrees of freedom."""
    return gammainc(as_array(v) / 2, as_array(x) / 2)


@composite("scipy.special.chdtrc")
def chdtrc(v: ArrayLike, x: ArrayLike) -> Array:
    """1 - chdtr(v, x)."""
    return gammaincc(as_array(v) / 2, as_array(x) / 2)


@composite("scipy.special.chdtri")
def chdtri(v: ArrayLike, p: ArrayLike) -> Array:
    """The x with chdtrc(v, x) = p."""
    return 2 * gammainccinv(as_array(v) / 2, p)


@composite("scipy.special.gdtr")
def gdtr(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The gamma distribution function of rate a and shape b."""
    return gammainc(b, as_array(a) * x)


@composite("scipy.special.gdtrc")
def gdtrc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """1 - gdtr(a, b, x)."""
    return gammaincc(b, as_array(a) * x)


@composite("scipy.special.pdtr")
def pdtr(k: ArrayLike, m: ArrayLike) -> Array:
    """The probability of at most floor(k) events where m are expected."""
    return gammaincc(_whole(k) + 1, m)


@composite("scipy.special.pdtrc")
def pdtrc(k: ArrayLike, m: ArrayLike) -> Array:
    """1 - pdtr(k, m)."""
    return gammainc(_whole(k) + 1, m)


def _whole(k: ArrayLike) -> Array:
    """The number of events; below 0 it is NaN, as in SciPy."""
    found = floor(as_array(k))
    return found if _is_known(k) else where(found < 0, np.nan, found)


def _is_known(k: ArrayLike) -> TypeGuard[float]:
    """Whether it is a number of 0 or more."""
    return isinstance(k, (int, float, np.integer, np.floating)) and bool(k >= 0)


# -- binomial, F -----------------------------------------------------------------------------------
@composite("scipy.special.bdtr")
def bdtr(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """The probability of at most floor(k) successes in n trials."""
    return _up_to(betaincc, 1.0, k, n, p)


@composite("scipy.special.bdtrc")
def bdtrc(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """1 - bdtr(k, n, p), and 1 for negative k."""
    found = _up_to(betainc, 0.0, k, n, p)
    return found if _is_known(k) else where(as_array(k) < 0, 1.0, found)


def _up_to(
    share: Callable[..., Array], of_all: float, k: ArrayLike, n: ArrayLike, p: ArrayLike
) -> Array:
    """`share` of p for k of n events; for all n it is `of_all`, also where p is 1."""
    count = _whole(k)
    found = share(count + 1, trunc(n) - count, p)
    if _is_known(k) and _is_known(n) and k < n - 1:
        return found
    return where(trunc(n) == count, of_all, found)


@composite("scipy.special.nbdtr")
def nbdtr(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """The probability of at most k failures before the n-th success."""
    return betainc(trunc(n), _failures(k) + 1, p)


@composite("scipy.special.nbdtrc")
def nbdtrc(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """1 - nbdtr(k, n, p)."""
    return betaincc(trunc(n), _failures(k) + 1, p)


def _failures(k: ArrayLike) -> Array:
    found = trunc(as_array(k))
    return found if _is_known(k) else where(found < 0, np.nan, found)


@composite("scipy.special.fdtr")
def fdtr(dfn: ArrayLike, dfd: ArrayLike, x: ArrayLike) -> Array:
    """The F distribution function."""
    return _f_share(betainc, betaincc, as_array(dfn), as_array(dfd), x)


@composite("scipy.special.fdtrc")
def fdtrc(dfn: ArrayLike, dfd: ArrayLike, x: ArrayLike) -> Array:
    """1 - fdtr(dfn, dfd, x)."""
    return _f_share(betaincc, betainc, as_array(dfn), as_array(dfd), x)


def _f_share(
    below: Callable[..., Array], above: Callable[..., Array], dfn: Array, dfd: Array, x: ArrayLike
) -> Array:
    """`below` of the share y/(1 + y) or `above` of 1/(1 + y), with y = x dfn/dfd, the lesser one.

    The greater one may round to 1, and say no more how far it is from it.
    """
    odds = x * (dfn / dfd)
    is_small = odds < 1
    small, large = where(is_small, odds, 0.5), where(is_small, 1, odds)
    first = below(dfn / 2, dfd / 2, small / (1 + small))
    return where(is_small, first, above(dfd / 2, dfn / 2, 1 / (1 + large)))


# -- Student's t, normal ---------------------------------------------------------------------------
_LARGE = {8: 1e100, 4: 1e13}
"""By the size of a number: the square of a larger t may be out of range, and a tail is a power."""


def _in_range(t: Array) -> tuple[Array, Array]:
    """Where the square of t is in range, and t there, or 1."""
    near = absolute(t) < _LARGE.get(t.dtype.itemsize, 100.0)
    return near, where(near, t, 1)


def _t_density(df: Array, t: Array) -> Array:
    near, within_range = _in_range(t)
    # Not by a difference of gammaln, which has lost half its digits at df = 1e9.
    density = exp(-(df + 1) / 2 * log1p(within_range * within_range / df))
    density = density / (df**0.5 * beta(0.5, df / 2))
    # The tail is a power of t.
    far = where(near, 1, absolute(t))
    return where(near, density, df * stdtr(df, -far) / far)


def _t_slope(df: Array, t: Array) -> Array:
    r"""The derivative of stdtr by its degrees of freedom n.

    For t > 0 it is $1 - I_x(n/2, 1/2) / 2$ at $x = n / (n + t^2)$, and odd but for 1/2. The lesser
    of x and 1 - x is the one that says how far the other is from 1.
    """
    near, within_range = _in_range(t)
    squares = within_range * within_range
    is_small = squares < df
    small, large = where(is_small, squares, 0.5 * df), where(is_small, df, squares)
    by_b = betainc_slope_b(0.5, df / 2, small / (df + small))
    by_a = betainc_slope_a(df / 2, 0.5, df / (df + large))
    by_shape = 0.25 * sign(t) * where(is_small, by_b, -by_a)
    slope = by_shape - within_range * _t_density(df, within_range) / (2 * df)
    far = where(near, 1, absolute(t))
    # Of the logarithm of the tail, which is that of _tail_of_t.
    rate = 0.5 * (log(df) + 1 - digamma(df / 2) + digamma(df / 2 + 0.5)) - log(far) - 1 / df
    return where(near, slope, -sign(t) * multiply_or_zero(stdtr(df, -far), rate))


def _tail_of_t(xp: Any, df: Any, t: Any) -> Any:
    r"""$x^a / (2 a B(a, 1/2))$ with a = df / 2 and x = df / t², for large t (DLMF 8.17.7)."""
    logarithm = 0.5 * df * (xp.log(df) - 2 * xp.log(t)) - xp.log(df)
    return xp.exp(logarithm - xp.special.betaln(0.5 * df, 0.5 + 0 * df))


def _t_kernel(xp: Any, df: Any, t: Any) -> Any:
    """SciPy's, which takes larger t than have squares for infinite ones."""
    if t.dtype.itemsize < 8:
        return xp.astype(xp.special.stdtr(df, t), t.dtype)
    size = xp.abs(t)
    # With more degrees of freedom nothing is left there, and betaln of so many is 0 for infinity.
    far = (size > _LARGE[8]) & (df > 0) & (df < 100)
    found = xp.special.stdtr(xp.where(far, 1 + 0 * df, df), xp.where(far, 0 * df, t))
    tail = _tail_of_t(xp, xp.where(far, df, 1 + 0 * df), xp.where(far, size, 1 + 0 * df))
    return xp.where(far, xp.where(t < 0, tail, 1 - tail), found)


stdtr = scipy_ufunc(
    "stdtr",
    lambda ct, out, df, t: ct * _t_slope(df, t),
    lambda ct, out, df, t: ct * _t_density(df, t),
    facts=knows(bounds=within(0.0, 1.0), defined=lambda df, t: df.has(positive)),
    doc="Student's t distribution function.",
    flops=100,
    kernel=_t_kernel,
    workspace=results_of(1),
)
stdtrit = scipy_ufunc(
    "stdtrit",
    lambda ct, out, df, p: -(ct * _t_slope(df, out) / _t_density(df, out)),
    lambda ct, out, df, p: ct / _t_density(df, out),
    doc="The t with stdtr(df, t) = p.",
    flops=200,
)
ndtri_exp = scipy_ufunc(
    "ndtri_exp",
    lambda ct, out, y: ct * (sqrt(2 * pi) * exp(y + 0.5 * (out * out))),
    doc="The inverse of log_ndtr.",
    flops=60,
)
