"""The slopes of |x|, copysign and hypot, times a cotangent or a tangent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..array import FUNCTIONS, Array
from .factors import parts_by_factor, without_factor
from .quotients import divide_or_zero

__all__ = ["tangent_of_hypot", "times_sign", "times_slope"]


def times_slope(ct: Array, out: Array, x: Array, slope: Callable[[], Array]) -> Array:
    """The cotangent times the slope x / out of a length, such as the sign in the slope of |x|.

    A cotangent with the length as a factor, as of |x|**2, is multiplied by x without it: the
    slope jumps at 0, and the product has a derivative there.
    """
    rest = without_factor(ct, out)
    return ct * slope() if rest is None else rest * x


def times_sign(ct: Array, out: Array, x: Array, other: Array | None = None) -> Array:
    """The cotangent times sign(x), the slope of |x|, and perhaps another sign.

    A sign that the cotangent has as a factor gives 1 with this one: the second derivative of
    f(|x|) is f''(|x|), at 0, too, if f has no cusp there.
    """
    turn = FUNCTIONS["sign"](x)
    slope = turn if other is None else turn * other
    turned = parts_by_factor(ct, turn)
    if turned is None or turned.rest is None:
        return times_slope(ct, out, x, lambda: slope)
    rest = turned.rest if other is None else turned.rest * other
    return rest if turned.other is None else rest + turned.other * slope


def tangent_of_hypot(tangents: Sequence[Array | None], out: Array, x: Array, y: Array) -> Any:
    """The tangent as one quotient, whose second derivative has a limit at the origin."""
    total: Any = None
    for tangent, each in zip(tangents, (x, y), strict=True):
        if tangent is None:
            continue
        if each.shape != out.shape:
            return NotImplemented
        part = tangent * each
        total = part if total is None else total + part
    return divide_or_zero(total, out)
