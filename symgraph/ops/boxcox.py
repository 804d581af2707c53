"""The Box-Cox transformation and its inverse; at order 0 they are log and exp.

Box and Cox (1964). (x**lam - 1) / lam is log(x) E(lam log x) with E(t) = (exp(t) - 1) / t, so
values and derivatives at lam = 0 are the limits; E' and its like come from a series near 0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, inf
from typing import Any

from ..array import Array
from .bounds import is_positive, knows
from .choice import where
from .elementwise import absolute
from .exponential import exp, log, log1p
from .scipyufuncs import polynomial, scipy_ufunc

__all__ = ["boxcox", "boxcox1p", "exprel", "inv_boxcox", "inv_boxcox1p"]

# Σ (k+1) t**k / (k+2)!, to 1e-17 for |t| < 0.5.
_EXPREL_SLOPE = tuple((k + 1) / factorial(k + 2) for k in range(14))


def _slope_of_exprel(t: Array) -> Array:
    """E'(t) = (exp(t) (t - 1) + 1) / t²."""
    near = absolute(t) < 0.5
    far = where(near, 1, t)
    return where(
        near,
        polynomial(where(near, t, 0), *_EXPREL_SLOPE),
        (exp(far) * (far - 1) + 1) / (far * far),
    )


def _exprel(xp: Any, x: Any) -> Any:
    quotient = xp.expm1(x) / xp.where((x == 0) | (x == inf), 1, x)
    return xp.where(x == 0, 1, quotient)


exprel = scipy_ufunc(
    "exprel",
    lambda ct, out, x: ct * _slope_of_exprel(x),
    kernel=_exprel,
    facts=knows(signs=is_positive),
    doc="(exp(x) - 1) / x, and 1 at 0.",
)


def _forward(name: str, logarithm: Callable[..., Any], doc: str) -> Any:
    """The transformation of exp(L), where L is `logarithm(x)`."""
    return scipy_ufunc(
        name,
        lambda ct, out, x, lam: ct * exp((lam - 1) * logarithm(x)),
        lambda ct, out, x, lam: (
            ct * (logarithm(x) * logarithm(x) * _slope_of_exprel(lam * logarithm(x)))
        ),
        doc=doc,
        flops=40,
    )


boxcox = _forward("boxcox", log, "(x**lam - 1) / lam, and log(x) for lam = 0.")
boxcox1p = _forward("boxcox1p", log1p, "boxcox(1 + x, lam), accurate near x = 0.")

# d/du (log(1 + u) / u), to 1e-17 for |u| < 0.05.
_LOG_SLOPE = tuple(-((-1.0) ** k) * (k + 1) / (k + 2) for k in range(13))


def _slope_of_quotient(u: Array) -> Array:
    """The derivative of log(1 + u) / u, (u / (1 + u) - log(1 + u)) / u²."""
    near = absolute(u) < 0.05
    far = where(near, 1, u)
    return where(
        near,
        polynomial(where(near, u, 0), *_LOG_SLOPE),
        (far / (1 + far) - log1p(far)) / (far * far),
    )


def _backward(name: str, power: Callable[..., Any], doc: str) -> Any:
    """The inverse; `power(out)` is the power itself, (1 + lam y)**(1 / lam)."""
    return scipy_ufunc(
        name,
        lambda ct, out, y, lam: ct * (power(out) / (1 + lam * y)),
        lambda ct, out, y, lam: ct * (power(out) * (y * y * _slope_of_quotient(lam * y))),
        doc=doc,
        flops=40,
    )


inv_boxcox = _backward(
    "inv_boxcox", lambda out: out, "The x with boxcox(x, lam) = y; exp(y) for lam = 0."
)
inv_boxcox1p = _backward(
    "inv_boxcox1p", lambda out: 1 + out, "The x with boxcox1p(x, lam) = y, accurate near 0."
)
