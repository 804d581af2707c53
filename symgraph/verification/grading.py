"""When two sides are as good as each other: element by element, at each grade of soundness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["LARGE", "Sides", "acceptable", "same_bits"]

Numbers = np.ndarray[Any, Any]

_ULPS = 16
"""Slack against the exact value: several operations, each off by half an ulp or so."""
LARGE = 500.0
"""Stands for infinity where a limit is looked at: exp of it is a number of high precision."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Elements of both sides, and what they are in exact arithmetic (NaN: undefined).

    Where an operand is `infinite`, that is a value near the limit. `strict` asks for every digit.
    """

    left: Numbers
    right: Numbers
    exact: Numbers
    infinite: Numbers
    strict: bool


def acceptable(sides: Sides, info: Any, scale: Any) -> Numbers:
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
        # What is as large as the number that stands for infinity grows without bound.
        grows = sides.infinite & (np.abs(exact) >= 0.99 * LARGE)
        accurate |= grows & (right == np.copysign(np.inf, exact))
    defined = np.where(np.isinf(exact), unbounded, accurate | neither)
    return np.where(np.isnan(exact), undefined, defined)


def same_bits(left: Numbers, right: Numbers) -> Numbers:
    """Whether both are the same number, signed zeros told apart, or both NaN."""
    if left.dtype.kind != "f":
        return np.asarray(left == right)
    nan = np.isnan(left) & np.isnan(right)
    return nan | ((left == right) & (np.signbit(left) == np.signbit(right)))
