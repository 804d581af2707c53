r"""How the regularized incomplete beta function I_x(a, b) changes with its parameters a and b.

The method is that of `incomplete`: $\partial I / \partial a$ is the integral of the density times
$\log t - \psi(a) + \psi(a + b)$ from 0 to x, and minus that from x to 1. With the odds of t in the
place of t the integrand falls like exp(-a s) below x, and like exp(-b s) above it. Terms of a
series (DLMF 8.17.20 and 8.17.21) leave the integral of a + 16 below, and of b + 16 above. As
I_x(a, b) = 1 - I_{1-x}(b, a), the derivative in b is the same function.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log, pi
from typing import Any

import numpy as np

from ..array import Array
from ..ir.differentiation import undefined
from .bounds import Bounds, knows, within
from .exponential import exp, log1p
from .exponential import log as log_of
from .families import elementwise
from .incomplete import (
    DEPTH,
    LESS_PSI,
    STIRLING,
    TERMS,
    horner,
    in_own_precision,
    log_of_ratio,
    terms_of_integral,
    working_room,
)
from .powers import multiply_or_zero
from .scipyufuncs import float_or_double
from .special import betaln, digamma, xlog1py, xlogy

__all__ = ["beta_density", "betainc_slope_a", "betainc_slope_b"]

_LEAST, _MOST = 1e-6, 1e6
"""Parameters outside have no answer: where one of them is smaller, or one beside it larger, the
integrand is flat for too long before it falls, and few digits are left."""

_NODES = 64
"""Twice as many as for gamma functions: where b is small the integrand is flat before it falls."""

_FAR = 80.0
"""Until there Newton's method may go at first: exp(80) is a number of single precision."""


def beta_density(a: Array, b: Array, x: Array) -> Array:
    """The density of the beta distribution."""
    return exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))


# -- parts of gamma functions ----------------------------------------------------------------------
def _rest(xp: Any, z: Any) -> Any:
    """Log gamma(z) less Stirling's (z - 1/2) log z - z + log(2 pi) / 2."""
    inverse, small = 1 / xp.maximum(z, TERMS), xp.minimum(z, TERMS)
    series = inverse * horner(xp, inverse * inverse, STIRLING)
    own = xp.special.gammaln(small) - (small - 0.5) * xp.log(small) + small
    return xp.where(z >= TERMS, series, own - log(2 * pi) / 2)


def _less_psi(xp: Any, z: Any) -> Any:
    """Log z - psi(z), for z of 16 and more."""
    inverse = 1 / xp.maximum(z, TERMS)
    square = inverse * inverse
    return inverse / 2 + square * horner(xp, square, LESS_PSI)


def _difference_of_psi(xp: Any, a: Any, b: Any) -> Any:
    """psi(a + b) - psi(a), with the digits of a small b."""
    found = 0
    for n in range(TERMS):
        found = found + b / ((a + n) * (a + b + n))
    low, high = 1 / (a + TERMS), 1 / (a + b + TERMS)
    apart = b * low * high
    # The divided difference of a polynomial, by Horner's scheme at both places.
    u, v = low * low, high * high
    value, slope = LESS_PSI[-1] + 0 * v, 0 * v
    for each in (*LESS_PSI[-2::-1], 0.0):
        slope, value = slope * u + value, value * v + each
    return found + xp.log1p(b * low) + apart / 2 + apart * (low + high) * slope


# -- the derivative --------------------------------------------------------------------------------
def _at(xp: Any, a: Any, b: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """x^a y^b / B(a, b), and log x - psi(a) + psi(a + b)."""
    n = a + b
    apart = x * b - y * a
    of_x, less_x = log_of_ratio(xp, apart / a, x * (n / a))
    _, less_y = log_of_ratio(xp, -apart / b, y * (n / b))
    rests = _rest(xp, n) - _rest(xp, a) - _rest(xp, b)
    amount = xp.exp(a * less_x + b * less_y + rests) * xp.sqrt(a / n) * xp.sqrt(b / (2 * pi))
    # Of log x, and of log(x n / a) where x may be near a / n and n is large beside a.
    log_x = xp.where(x < 0.5, xp.log(x), xp.log1p(-xp.where(x < 0.5, 0.5, y)))
    change = _difference_of_psi(xp, a, b)
    less = xp.where(a < TERMS, change - xp.log1p(b / a), _less_psi(xp, a) - _less_psi(xp, n))
    return amount, xp.where(b < a, log_x + change, of_x + less)


def _series(xp: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    """Terms of the series, and the amount and the rate from which the integral of the rest starts.

    Below, a rate has psi(a + 1) in place of psi(a) until the last.
    """
    is_below = x * b <= y * a
    amount, rate = _at(xp, a, b, x, y)
    own, share = xp.where(is_below, a, b), xp.where(is_below, x, y)
    small = xp.minimum(a, TERMS)
    direct = xp.log(x) - xp.special.digamma(small + 1) + xp.special.digamma(a + b)
    below = xp.where(a < TERMS, direct, rate - 1 / a)
    amount, rate, series = amount / own, xp.where(is_below, below, rate), 0
    for n in range(TERMS):
        series = series + amount * rate
        amount = amount * (share * ((a + b + n) / (own + (n + 1))))
        rate = rate + 1 / (a + b + n) - xp.where(is_below, 1 / (own + (n + 1)), 0)
    own = own + TERMS
    return series, amount * own, rate + xp.where(is_below, 1 / own, 0)


def _falls(xp: Any, s: Any, own: Any, other: Any, share: Any, rest: Any) -> tuple[Any, Any, Any]:
    """Minus the exponent at s, its slope, and log(1 - share + share exp(-s)).

    By the lesser of share and 1 - share: the other one says little of it where it is near 1. By
    1 - share the logarithm is of (1 - share) exp(s) + share.
    """
    whole, is_small = own + other, share <= 0.5
    grown = xp.expm1(xp.where(is_small, -s, s))
    part = xp.where(is_small, share, rest)
    logarithm = xp.log1p(part * grown)
    slope = whole * part * (1 + grown) / (1 + part * grown)
    return (
        xp.where(is_small, own * s, -other * s) + whole * logarithm,
        xp.where(is_small, own - slope, slope - other),
        logarithm,
    )


def _inside(xp: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    is_below = x * b <= y * a
    series, amount, rate = _series(xp, a, b, x, y)
    own, other = xp.where(is_below, a, b) + TERMS, xp.where(is_below, b, a)
    share, rest = xp.where(is_below, x, y), xp.where(is_below, y, x)
    slope = abs(x * b - y * a) + TERMS * rest
    curved = 2 * DEPTH * ((own + other) * (x * y))
    extent = 2 * DEPTH / (slope + xp.sqrt(slope * slope + curved))
    for _ in range(8):  # Newton's method, which comes from above.
        extent = xp.minimum(extent, _FAR)
        fallen, slope, _ = _falls(xp, extent, own, other, share, rest)
        extent = extent - (fallen - DEPTH) / xp.where(slope > 0, slope, 1)

    # How log t moves with s beside that logarithm: -s, 0 or s.
    beside = xp.where(is_below, 0 * x, 1 + 0 * x) - xp.where(share <= 0.5, 1 + 0 * x, 0 * x)

    def integrand(xp: Any, s: Any) -> Any:
        fallen, _, logarithm = _falls(xp, s, own, other, share, rest)
        return xp.exp(-fallen) * (rate - logarithm + beside * s)

    total = 0
    for term in terms_of_integral(xp, integrand, extent, _NODES):
        total = total + term
    found = series + amount * extent * total
    return xp.where(is_below, found, -found)


def _everywhere(xp: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    """The derivative in a; y is 1 - x. NaN outside of the domain, 0 at both ends of x."""
    is_known = (x >= 0) & (y >= 0)
    for each in (a, b):
        is_known = is_known & (each >= _LEAST) & (each <= _MOST)
    inner = is_known & (x > 0) & (y > 0)
    a, b = xp.where(inner, a, 1), xp.where(inner, b, 1)
    x, y = xp.where(inner, x, 0.5), xp.where(inner, y, 0.5)
    amount, _ = _at(xp, a, b, x, y)
    alive = inner & (amount > 0)
    a, b = xp.where(alive, a, 1), xp.where(alive, b, 1)
    found = _inside(xp, a, b, xp.where(alive, x, 0.5), xp.where(alive, y, 0.5))
    return xp.where(alive, found, xp.where(is_known, 0.0, np.nan))


def _kernel_of_a(xp: Any, a: Any, b: Any, x: Any) -> Any:
    return in_own_precision(xp, lambda xp, a, b, x: _everywhere(xp, a, b, x, 1 - x), a, b, x)


def _kernel_of_b(xp: Any, a: Any, b: Any, x: Any) -> Any:
    return in_own_precision(xp, lambda xp, a, b, x: -_everywhere(xp, b, a, 1 - x, x), a, b, x)


def _slope(
    of: str, kernel: Callable[..., Any], rate: Callable[[Array, Array, Array], Array], sign: Bounds
) -> Any:
    """The operation of one derivative; its own in x is the density times a rate."""
    second = undefined(
        "second derivatives of incomplete beta functions in a and b are not known here"
    )
    return elementwise(
        f"betainc_slope_{of}",
        kernel=kernel,
        vjp=(
            second,
            second,
            lambda ct, out, a, b, x: ct * multiply_or_zero(beta_density(a, b, x), rate(a, b, x)),
        ),
        promote=float_or_double,
        facts=knows(bounds=within(*sign), defined=lambda *_: False),
        flops=1500,
        workspace=working_room,
        doc=f"The derivative of betainc(a, b, x) with respect to {of}.",
    )


betainc_slope_a = _slope(
    "a", _kernel_of_a, lambda a, b, x: log_of(x) - digamma(a) + digamma(a + b), (-inf, 0.0)
)
betainc_slope_b = _slope(
    "b", _kernel_of_b, lambda a, b, x: log1p(-x) - digamma(b) + digamma(a + b), (0.0, inf)
)
