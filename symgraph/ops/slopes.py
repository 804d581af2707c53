"""Values whose slope is told apart from them, such as the ends of a distribution's quantiles.

At probability 0 the quantile is the end of the support, a number that does not depend on the
probability. Its slope is the reciprocal of the density there.
"""

from __future__ import annotations

import numpy as np

from ..array import constant
from .families import elementwise

__all__ = ["with_slope"]

with_slope = elementwise(
    "with_slope",
    kernel=lambda xp, x, y, slope: xp.where((y == y) | (slope == slope), x, x),
    vjp=(
        lambda ct, out, x, y, slope: ct,
        lambda ct, out, x, y, slope: ct * with_slope(slope, y, constant(np.nan, slope.dtype)),
        None,
    ),
    doc=(
        "x, with `slope` for its derivative with respect to y, at places where x is the value of "
        "a function of y. Its second derivative is not known there, and NaN."
    ),
)
