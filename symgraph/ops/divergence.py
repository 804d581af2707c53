"""Entropies, divergences and robust losses under SciPy's names.

Each function has one derivative at the edge of its domain. If both arguments of a divergence are 0,
both derivatives are 0. At 0 alone, entr and rel_entr have the infinite derivative of their limit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array import Array, ArrayLike
from ..ir.traits import Traits
from .choice import clip, minimum, where
from .elementwise import absolute, hypot
from .exponential import log
from .quotients import divide_or_zero
from .scipyufuncs import scipy_ufunc

__all__ = ["entr", "huber", "kl_div", "pseudo_huber", "rel_entr"]

entr = scipy_ufunc(
    "entr",
    lambda ct, out, x: -(ct * (log(x) + 1)),
    doc="-x log(x), 0 at 0, and -inf below.",
)


def _nowhere_both(x: ArrayLike, y: ArrayLike) -> tuple[Any, Any]:
    """The two arguments, replaced by 1 where both are 0."""
    both = (x == 0) & (y == 0)
    return where(both, 1, x), where(both, 1, y)


def _log_quotient(x: ArrayLike, y: ArrayLike) -> Any:
    over, under = _nowhere_both(x, y)
    return log(over / under)


def _quotient(x: ArrayLike, y: ArrayLike) -> Any:
    """The quotient; where both are 0, the number 0, which has no derivatives of its own."""
    both = (x == 0) & (y == 0)
    return where(both, 0, x) / where(both, 1, y)


rel_entr = scipy_ufunc(
    "rel_entr",
    lambda ct, out, x, y: ct * (_log_quotient(x, y) + where((x == 0) & (y == 0), 0, 1)),
    lambda ct, out, x, y: -(ct * _quotient(x, y)),
    doc="x log(x / y), 0 at x = 0, and inf where x or y is negative.",
    traits=Traits(homogeneous=1),
)
kl_div = scipy_ufunc(
    "kl_div",
    lambda ct, out, x, y: ct * _log_quotient(x, y),
    lambda ct, out, x, y: ct * (where((x == 0) & (y == 0), 0, 1) - _quotient(x, y)),
    doc="x log(x / y) - x + y, y at x = 0, and inf where x or y is negative.",
    traits=Traits(homogeneous=1),
)


def _huber(xp: Any, delta: Any, r: Any) -> Any:
    size = xp.absolute(r)
    value = xp.where(size <= delta, 0.5 * xp.square(r), delta * (size - 0.5 * delta))
    return xp.where(delta < 0, xp.inf, value)


huber = scipy_ufunc(
    "huber",
    # At |r| = delta it belongs to the lines outside, as the slope in r, which clips, does to delta.
    lambda ct, out, delta, r: ct * where(absolute(r) >= delta, absolute(r) - delta, 0),
    lambda ct, out, delta, r: ct * clip(r, -delta, delta),
    kernel=_huber,
    flops=6,
    doc="r**2 / 2 for |r| <= delta, delta (|r| - delta / 2) beyond.",
    traits=Traits(parity=(0, 1), homogeneous=2),
)


def _pseudo_huber(xp: Any, delta: Any, r: Any) -> Any:
    # delta² (sqrt(1 + (r/delta)²) - 1), in a form that keeps the digits of small r and large r.
    ratio = r / xp.where(delta == 0, 1, delta)
    value = r * (r / (1 + xp.hypot(1, ratio)))
    value = xp.where(xp.isinf(ratio), delta * xp.abs(r), value)
    return xp.where(delta < 0, xp.inf, xp.where(delta == 0, 0, value))


def _width(delta: Array, r: Array) -> Array:
    """Delta, or a large number: a quotient of infinities would be NaN, and its limit is 1."""
    return minimum(delta, float(np.finfo(r.dtype).max) / 2)


def _slope_in_delta(delta: Array, r: Array) -> Any:
    """The slope (h - delta)² / h with h = hypot(delta, r), where h - delta is r r / (h + delta)."""
    width = _width(delta, r)
    length = hypot(width, r)
    length = where(length == 0, 1, length)
    share = r / (length + width)
    return r * share * share * (r / length)


def _slope_in_r(delta: Array, r: Array) -> Any:
    """The slope r delta / hypot(delta, r)."""
    width = _width(delta, r)
    return width * divide_or_zero(r, hypot(width, r))


pseudo_huber = scipy_ufunc(
    "pseudo_huber",
    lambda ct, out, delta, r: ct * _slope_in_delta(delta, r),
    lambda ct, out, delta, r: ct * _slope_in_r(delta, r),
    kernel=_pseudo_huber,
    flops=12,
    doc="delta**2 (sqrt(1 + (r / delta)**2) - 1), smooth where huber has a corner.",
    traits=Traits(parity=(0, 1), homogeneous=2),
)
