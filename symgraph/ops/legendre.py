"""The associated Legendre function P of whole order m and real degree v (DLMF 14).

Its slope is -P[m + 1] / sqrt(1 - x²) - m x P[m] / (1 - x²) (DLMF 14.10.2 with 14.10.5): terms that
keep their digits near the ends, where v x P[v] - (v + m) P[v - 1] is a difference of equal numbers.
"""

from __future__ import annotations

import numpy as np

from ..array import Array, constant
from .choice import where
from .elementwise import absolute, sign, sqrt
from .rounding import floor
from .scipyufuncs import LONG_SERIES, no_closed_form, scipy_ufunc
from .slopes import with_slope

__all__ = ["lpmv"]


def _slope(out: Array, m: Array, v: Array, x: Array) -> Array:
    """The slope in x; at x = 1 and -1 its limit from inside, whose own slope is NaN."""
    at_end = absolute(x) == 1
    inner = where(at_end, 0, x)
    square = (1 - inner) * (1 + inner)
    inside = -lpmv(m + 1, v, inner) / sqrt(square) - where(m == 0, 0, m * inner * out / square)
    nan = constant(np.nan, out.dtype)
    return where(at_end, with_slope(_at_end(m, v, x), x, nan), inside)


def _at_end(m: Array, v: Array, x: Array) -> Array:
    """The slope at x = 1 and -1, by P[m](x) = c (1 - x²)**(m / 2) near 1 (DLMF 14.8.1, 14.8.2).

    NaN where m is negative; and at -1 for a degree that is no whole number, where SciPy's values
    are infinite with any sign.
    """
    nan, inf = constant(np.nan, x.dtype), constant(np.inf, x.dtype)
    square = v * (v + 1)
    steep = where(square == 0, 0, sign(square) * inf)
    known = where(m == 1, steep, where(m == 2, -square * (square - 2) / 4, where(m > 2, 0, nan)))
    at_one = where(m == 0, square / 2, known)
    # P(-x) = (-1)**(v + m) P(x) for a whole v of 0 or more; a negative one stands for -1 - v.
    parity = m + where(v < 0, -1 - v, v)
    mirrored = at_one * where(parity % 2 == 0, -1, 1)
    return where(x > 0, at_one, where(floor(v) == v, mirrored, nan))


lpmv = scipy_ufunc(
    "lpmv",
    no_closed_form("lpmv"),
    no_closed_form("lpmv"),
    lambda ct, out, m, v, x: ct * _slope(out, m, v, x),
    doc="The associated Legendre function of whole order m and real degree v, for |x| <= 1.",
    ends_below=LONG_SERIES,
    flops=100,
)
