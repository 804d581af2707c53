"""Whether the right side is as good as the left, element by element, at each grade of soundness."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..records import record

__all__ = ["LARGE", "Sides", "acceptable", "same_bits"]

Numbers = np.ndarray[Any, Any]

_ULPS = 16
"""Tolerance against the exact value: several operations, each off by about half an ulp."""
LARGE = 740.0
"""Stands for infinity where a limit is taken: its exp is beyond each float of double precision."""


@record
class Sides:
    """Elements of both sides, and their exact values (NaN: undefined).

    Where an operand is `infinite`, the exact value is one near the limit. If `strict`, the right
    side may lose no digit.
    """

    left: Numbers
    right: Numbers
    exact: Numbers
    infinite: Numbers
    strict: bool


def acceptable(sides: Sides, info: np.finfo[Any], scale: Numbers | float) -> Numbers:
    """Whether the right side is as good as the left one, element by element."""
    left, right, exact = sides.left, sides.right, sides.exact
    limit = float(info.eps) * _ULPS
    with np.errstate(all="ignore"):
        off_left = np.where(np.isfinite(left), np.abs(left - exact), np.inf)
        off_right = np.where(np.isfinite(right), np.abs(right - exact), np.inf)
        slack = limit * (np.abs(exact) + scale) + float(info.tiny)
        if not sides.strict:
            # A large or small number spends digits on its exponent: exp(S) is off by |S| ulp.
            digits = np.abs(exact) * np.abs(np.log(np.abs(exact)))
            slack = slack + float(info.eps) * np.where(exact == 0, 0.0, digits)
        slack = np.where(sides.infinite & np.isnan(left), 1e-2 * (1 + np.abs(exact)), slack)
        accurate = (off_right <= slack) | (np.isfinite(left) & (off_right <= 4 * off_left))
        opposite = np.isinf(left) & np.isinf(right) & (left != right)
        neither = ~np.isfinite(left) & ~np.isfinite(right) & ~opposite
        close = np.abs(left - right) <= limit * (np.abs(left) + np.abs(right) + scale)
        undefined = ~np.isfinite(right) | (np.isfinite(left) & close)
        unbounded = neither | (right == exact)
        # A limit as large as the number that stands for infinity is infinite.
        grows = sides.infinite & (np.abs(exact) >= 0.99 * LARGE)
        accurate |= grows & (right == np.copysign(np.inf, exact))
    defined = np.where(np.isinf(exact), unbounded, accurate | neither)
    return np.where(np.isnan(exact), undefined, defined)


def same_bits(left: Numbers, right: Numbers) -> Numbers:
    """Whether both are the same number, with zeros of the same sign, or both NaN."""
    if left.dtype.kind != "f":
        return np.asarray(left == right)
    nan = np.isnan(left) & np.isnan(right)
    return nan | ((left == right) & (np.signbit(left) == np.signbit(right)))
