"""Predicates and logic on corresponding elements: comparisons, tests for NaN, Boolean operations.

All are constant almost everywhere: their derivative is zero.
"""

from __future__ import annotations

from ..op import Algebra
from .families import elementwise

__all__ = [
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "equal",
    "greater",
    "greater_equal",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "left_shift",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "right_shift",
    "signbit",
]

_SYMMETRIC = Algebra(commutative=True)
_LOGIC = Algebra(commutative=True, associative=True)

# -- comparisons -----------------------------------------------------------------------------------
greater = elementwise(
    "greater",
    kernel=lambda xp, x, y: xp.greater(x, y),
    vjp=(None, None),
    predicate=True,
    ufunc="greater",
)
greater_equal = elementwise(
    "greater_equal",
    kernel=lambda xp, x, y: xp.greater_equal(x, y),
    vjp=(None, None),
    predicate=True,
    ufunc="greater_equal",
)
less = elementwise(
    "less",
    kernel=lambda xp, x, y: xp.less(x, y),
    vjp=(None, None),
    predicate=True,
    ufunc="less",
)
less_equal = elementwise(
    "less_equal",
    kernel=lambda xp, x, y: xp.less_equal(x, y),
    vjp=(None, None),
    predicate=True,
    ufunc="less_equal",
)
equal = elementwise(
    "equal",
    kernel=lambda xp, x, y: xp.equal(x, y),
    vjp=(None, None),
    predicate=True,
    algebra=_SYMMETRIC,
    ufunc="equal",
)
not_equal = elementwise(
    "not_equal",
    kernel=lambda xp, x, y: xp.not_equal(x, y),
    vjp=(None, None),
    predicate=True,
    algebra=_SYMMETRIC,
    ufunc="not_equal",
)

# -- kinds of numbers ------------------------------------------------------------------------------
isnan = elementwise(
    "isnan", kernel=lambda xp, x: xp.isnan(x), vjp=(None,), predicate=True, ufunc="isnan"
)
isinf = elementwise(
    "isinf", kernel=lambda xp, x: xp.isinf(x), vjp=(None,), predicate=True, ufunc="isinf"
)
isfinite = elementwise(
    "isfinite", kernel=lambda xp, x: xp.isfinite(x), vjp=(None,), predicate=True, ufunc="isfinite"
)
signbit = elementwise(
    "signbit", kernel=lambda xp, x: xp.signbit(x), vjp=(None,), predicate=True, ufunc="signbit"
)

# -- logic -----------------------------------------------------------------------------------------
logical_and = elementwise(
    "logical_and",
    kernel=lambda xp, x, y: xp.logical_and(x, y),
    vjp=(None, None),
    predicate=True,
    algebra=_LOGIC,
    ufunc="logical_and",
)
logical_or = elementwise(
    "logical_or",
    kernel=lambda xp, x, y: xp.logical_or(x, y),
    vjp=(None, None),
    predicate=True,
    algebra=_LOGIC,
    ufunc="logical_or",
)
logical_xor = elementwise(
    "logical_xor",
    kernel=lambda xp, x, y: xp.logical_xor(x, y),
    vjp=(None, None),
    predicate=True,
    algebra=_LOGIC,
    ufunc="logical_xor",
)
logical_not = elementwise(
    "logical_not",
    kernel=lambda xp, x: xp.logical_not(x),
    vjp=(None,),
    predicate=True,
    ufunc="logical_not",
)

# -- bits ------------------------------------------------------------------------------------------
bitwise_and = elementwise(
    "bitwise_and",
    kernel=lambda xp, x, y: xp.bitwise_and(x, y),
    vjp=(None, None),
    algebra=_LOGIC,
    ufunc="bitwise_and",
)
bitwise_or = elementwise(
    "bitwise_or",
    kernel=lambda xp, x, y: xp.bitwise_or(x, y),
    vjp=(None, None),
    algebra=_LOGIC,
    ufunc="bitwise_or",
)
bitwise_xor = elementwise(
    "bitwise_xor",
    kernel=lambda xp, x, y: xp.bitwise_xor(x, y),
    vjp=(None, None),
    algebra=_LOGIC,
    ufunc="bitwise_xor",
)
invert = elementwise("invert", kernel=lambda xp, x: xp.invert(x), vjp=(None,), ufunc="invert")
left_shift = elementwise(
    "left_shift",
    kernel=lambda xp, x, y: xp.left_shift(x, y),
    vjp=(None, None),
    ufunc="left_shift",
)
right_shift = elementwise(
    "right_shift",
    kernel=lambda xp, x, y: xp.right_shift(x, y),
    vjp=(None, None),
    ufunc="right_shift",
)
