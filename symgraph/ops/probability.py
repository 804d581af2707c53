"""Distribution functions under SciPy's names, by incomplete gamma and beta functions.

They are differentiable in the argument, and in the parameters that enter it. The derivative in a
parameter of the incomplete functions has no closed form.
"""

from __future__ import annotations

from math import pi, sqrt

from ..array import Array, ArrayLike
from ..facts import positive
from ..ir.differentiation import undefined
from .beta import betainc, gammainc, gammaincc, gammainccinv
from .bounds import knows, within
from .composites import as_array, composite
from .exponential import exp, log1p
from .rounding import floor, trunc
from .scipyufuncs import scipy_ufunc
from .special import gammaln

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
    return floor(as_array(k))


# -- binomial, F -----------------------------------------------------------------------------------
@composite("scipy.special.bdtr")
def bdtr(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """The probability of at most floor(k) successes in n trials; k < n."""
    return betainc(trunc(n) - _whole(k), _whole(k) + 1, 1 - as_array(p))


@composite("scipy.special.bdtrc")
def bdtrc(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """1 - bdtr(k, n, p)."""
    return betainc(_whole(k) + 1, trunc(n) - _whole(k), p)


@composite("scipy.special.nbdtr")
def nbdtr(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """The probability of at most k failures before the n-th success."""
    return betainc(trunc(n), trunc(k) + 1, p)


@composite("scipy.special.nbdtrc")
def nbdtrc(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """1 - nbdtr(k, n, p)."""
    return betainc(trunc(k) + 1, trunc(n), 1 - as_array(p))


@composite("scipy.special.fdtr")
def fdtr(dfn: ArrayLike, dfd: ArrayLike, x: ArrayLike) -> Array:
    """The F distribution function."""
    dfn, dfd = as_array(dfn), as_array(dfd)
    return betainc(dfn / 2, dfd / 2, dfn * x / (dfd + dfn * x))


@composite("scipy.special.fdtrc")
def fdtrc(dfn: ArrayLike, dfd: ArrayLike, x: ArrayLike) -> Array:
    """1 - fdtr(dfn, dfd, x)."""
    dfn, dfd = as_array(dfn), as_array(dfd)
    return betainc(dfd / 2, dfn / 2, dfd / (dfd + dfn * x))


# -- Student's t, normal ---------------------------------------------------------------------------
def _t_density(df: Array, t: Array) -> Array:
    logarithm = gammaln((df + 1) / 2) - gammaln(df / 2) - (df + 1) / 2 * log1p(t * t / df)
    return exp(logarithm) / (sqrt(pi) * df**0.5)


stdtr = scipy_ufunc(
    "stdtr",
    undefined("the derivative of stdtr in the degrees of freedom has no closed form"),
    lambda ct, out, df, t: ct * _t_density(df, t),
    facts=knows(bounds=within(0.0, 1.0), defined=lambda df, t: df.has(positive)),
    doc="Student's t distribution function.",
    flops=100,
)
stdtrit = scipy_ufunc(
    "stdtrit",
    undefined("the derivative of stdtrit in the degrees of freedom has no closed form"),
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
