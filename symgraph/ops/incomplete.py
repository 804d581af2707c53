r"""How the regularized incomplete gamma function P(a, x) changes with its parameter a.

$\partial P / \partial a = \int_0^x p(t) (\log t - \psi(a)) \, dt$, and minus the integral from x to
infinity, where p is the density of the gamma distribution. For x up to a the first integrand has
one sign, and beyond a the second one, so that no digits cancel. With t = x exp(-s), or x exp(s),
the integrand falls from s = 0 on, like exp(-s) or exp(-s²) in its own scale, which a rule of Gauss
and Legendre integrates to rounding. Below, the first terms of the power series (Moore 1982,
AS 187) are taken out, which leaves the same integral of a + 16 in place of a: for small a it has
two scales. The amount at x, x^a exp(-x) / gamma(a + 1), is written about x = a (DLMF 5.11.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from math import factorial, inf, pi
from typing import Any

import numpy as np

from ..array import Array
from ..facts import nonnegative, positive
from ..ir.avals import Aval
from ..ir.differentiation import undefined
from ..ir.dims import Dim
from ..ir.fact_inference import Known
from .bounds import knows, within
from .exponential import exp, log
from .families import elementwise
from .powers import multiply_or_zero
from .scipyufuncs import float_or_double
from .special import digamma, gammaln, xlogy

__all__ = [
    "DEPTH",
    "LESS_PSI",
    "STIRLING",
    "TERMS",
    "gamma_density",
    "gammainc_slope",
    "horner",
    "in_own_precision",
    "log_of_ratio",
    "terms_of_integral",
    "working_room",
]

TERMS = 16
"""So many terms of the power series are taken out. From this a on Stirling's series has all digits
(its first term that is left out is below 1e-17)."""

_LEAST = 0.7
"""Up to this x the power series is used for all a: to the right of it the integral to infinity has
one scale, and at it the terms of the power series cancel by less than a digit."""

DEPTH = 40.0
"""The integral ends where the integrand is exp(-40) of its first value."""

_BLOCK = 4096
"""NumPy computes so many elements at once, which stay in the cache."""

# log gamma(a + 1) and log a - psi(a) in powers of 1/a²: DLMF 5.11.1 and 5.11.2.
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
LESS_PSI = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760)
_ARTANH = tuple(1 / (2 * k + 3) for k in range(15))
_EXPONENTIAL = tuple(1 / factorial(k + 2) for k in range(10))


def horner(xp: Any, x: Any, coefficients: tuple[float, ...]) -> Any:
    """A polynomial; the constant term comes first."""
    result = xp.full_like(x, coefficients[-1])
    for each in coefficients[-2::-1]:
        result = result * x + each
    return result


def log_of_ratio(xp: Any, t: Any, ratio: Any) -> tuple[Any, Any]:
    """log(1 + t), and log(1 + t) - t with its digits for small t; `ratio` is 1 + t."""
    near = abs(t) < 0.5
    small = xp.where(near, t, 0)
    y = small / (2 + small)
    less = 2 * y**3 * horner(xp, y * y, _ARTANH) - small * y
    far = xp.log(xp.where(near, 1, ratio))
    return xp.where(near, less + small, far), xp.where(near, less, far - t)


def _at(xp: Any, a: Any, x: Any) -> tuple[Any, Any]:
    """The amount x^a exp(-x) / gamma(a + 1), and log x - psi(a + 1)."""
    large = a >= TERMS
    small, big = xp.where(large, 1, a), xp.where(large, a, TERMS)
    # Far away on both sides the amount is 0 anyway.
    shift, share = xp.minimum((x - big) / big, 1e3), xp.minimum(xp.maximum(x / big, 1e-30), 1e3)
    ratio, less = log_of_ratio(xp, shift, share)
    # Squares of numbers above 1e150 would overflow.
    inverse = 1 / big
    square = inverse * inverse
    stirling = xp.exp(big * less - inverse * horner(xp, square, STIRLING)) / xp.sqrt(2 * pi * big)
    rate = ratio + square * horner(xp, square, LESS_PSI) - inverse / 2
    near = xp.minimum(x, 1e4)  # Beyond it the amount is 0 for small a.
    logarithm = xp.log(near)
    direct = xp.exp(small * logarithm - near - xp.special.gammaln(small + 1))
    return (
        xp.where(large, stirling, direct),
        xp.where(large, rate, logarithm - xp.special.digamma(small + 1)),
    )


def _extent(xp: Any, side: Any, distance: Any, x: Any) -> Any:
    """The s at which the exponent is -DEPTH; by Newton's method, which comes from above."""
    s = 2 * DEPTH / (distance + xp.sqrt(distance * distance + 2 * DEPTH * x))
    s = xp.where(side > 0, xp.minimum(s, xp.log1p(DEPTH / xp.maximum(x, _LEAST))), s)
    for _ in range(4):
        curved, slope = _curved(xp, side, s, s), abs(xp.expm1(side * s))
        s = s - (distance * s + x * curved - DEPTH) / (distance + x * slope)
    return s


def _curved(xp: Any, side: Any, u: Any, extent: Any) -> Any:
    """exp(v) - 1 - v for v = u or -u; by its series where all u up to `extent` are small."""
    v = side * u
    near = extent < 0.1
    series = v * v * horner(xp, xp.where(near, v, 0), _EXPONENTIAL)
    return xp.where(near, series, xp.expm1(v) - v)


@cache
def _rule(count: int) -> tuple[Any, Any]:
    """Places between 0 and 1 and weights of Gauss and Legendre's rule."""
    roots, weights = np.polynomial.legendre.leggauss(count)
    return (1 + roots) / 2, weights / 2


def terms_of_integral(
    xp: Any, integrand: Callable[[Any, Any], Any], extent: Any, count: int = 32
) -> Iterator[Any]:
    """The integrand at each node times its weight; times `extent` their sum is the integral.

    All nodes in one call where NumPy has few elements: calls would take longer than numbers.
    """
    places, weights = _rule(count)
    if xp.module is np and extent.size * count <= _BLOCK:
        yield from weights[:, None] * integrand(xp, extent * places[:, None])
        return
    for place, weight in zip(places.tolist(), weights.tolist(), strict=True):
        yield weight * integrand(xp, extent * place)


def _inside(xp: Any, a: Any, x: Any) -> Any:
    """The derivative for finite a and x, of which the amount at x is not 0."""
    is_below = x <= xp.maximum(a, _LEAST)
    amount, rate = _at(xp, a, x)
    first, first_rate, series = amount, rate, 0
    for n in range(1, TERMS + 1):
        series = series + amount * rate
        amount, rate = amount * (x / (a + n)), rate - 1 / (a + n)
    amount, rate = xp.where(is_below, amount, first), xp.where(is_below, rate, first_rate)
    side = xp.where(is_below, -1 + 0 * x, 1 + 0 * x)
    start = xp.where(is_below, a + TERMS, a)
    distance = abs(xp.where(is_below, (a - x) + TERMS, x - a))
    extent = _extent(xp, side, distance, x)
    rate, total = side * (start * rate + 1), 0

    def integrand(xp: Any, s: Any) -> Any:
        falling = xp.exp(-(distance * s) - x * _curved(xp, side, s, extent))
        return falling * (rate + start * s)

    for term in terms_of_integral(xp, integrand, extent):
        total = total + term
    return xp.where(is_below, series, 0) - amount * extent * total


def _everywhere(xp: Any, a: Any, x: Any) -> Any:
    """NaN for negative numbers and at a = x = 0 or infinity; 0 at both ends of x."""
    is_known = (a >= 0) & (x >= 0) & ((a > 0) | (x > 0)) & ((a < inf) | (x < inf))
    inner = is_known & (a < inf) & (x > 0) & (x < inf)
    amount, _ = _at(xp, xp.where(inner, a, 1), xp.where(inner, x, 1))
    inner = inner & (amount > 0)
    found = _inside(xp, xp.where(inner, a, 1), xp.where(inner, x, 1))
    return xp.where(inner, found, xp.where(is_known, 0.0, np.nan))


def _kernel(xp: Any, a: Any, x: Any) -> Any:
    return in_own_precision(xp, _everywhere, a, x)


def in_own_precision(xp: Any, function: Callable[..., Any], *operands: Any) -> Any:
    """NumPy computes in double precision, as SciPy's special functions do; others in their own."""
    dtype = xp.dtype_of(operands[0])
    if xp.module is np:
        return _in_blocks(xp, function, *operands)
    if dtype.itemsize < 4:
        operands = tuple([xp.astype(each, np.float32) for each in operands])
    return xp.astype(function(xp, *operands), dtype)


def _in_blocks(xp: Any, function: Callable[..., Any], *operands: Any) -> Any:
    shape = np.broadcast_shapes(*[each.shape for each in operands])
    found = np.empty(shape, operands[0].dtype)
    flat = found.reshape(-1)
    rows = [np.broadcast_to(each, shape).reshape(-1) for each in operands]
    for start in range(0, flat.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        flat[block] = function(xp, *[each[block].astype(np.float64) for each in rows])
    return found


def working_room(out: Aval, *operands: Aval) -> Dim:
    """The operands in the shape of the result, and the arrays of one block."""
    return len(operands) * out.nbytes + 32 * 8 * _BLOCK


def _is_defined(a: Known, x: Known) -> bool:
    """At a = x = infinity there is no limit."""
    return a.has(positive) and x.has(nonnegative) and min(a.high, x.high) < inf


def gamma_density(a: Array, x: Array) -> Array:
    """The density of the gamma distribution."""
    return exp(xlogy(a - 1, x) - x - gammaln(a))


gammainc_slope = elementwise(
    "gammainc_slope",
    kernel=_kernel,
    vjp=(
        undefined("the second derivative of an incomplete gamma function in a is not known here"),
        # At x = 0 the logarithm is infinite, and the density 0 where a > 1.
        lambda ct, out, a, x: ct * multiply_or_zero(gamma_density(a, x), log(x) - digamma(a)),
    ),
    promote=float_or_double,
    facts=knows(bounds=within(-inf, 0.0), defined=_is_defined),
    flops=600,
    workspace=working_room,
    doc="The derivative of gammainc(a, x) with respect to a.",
)
