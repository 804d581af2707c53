"""Predicates and logic on corresponding elements: comparisons, tests for NaN, Boolean operations.

All are constant almost everywhere: their derivative is zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite as isfinite_number

from .. import facts as f
from ..facts import Fact
from ..op import Algebra
from ..propagation import Known
from .bounds import FactRule, structure
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


# -- what is known of results ----------------------------------------------------------------------
def _apart(x: Known, y: Known) -> bool:
    """Whether every x is above every y by more than float32 rounds away.

    Not by sign alone: a value that is positive in exact arithmetic may underflow to 0, and the
    comparison may be there to catch that. What is stated of an input is said of its numbers.
    """
    if x.node.is_input and x.has(f.positive) and y.bounds == (0.0, 0.0):
        return True
    if x.bounds == (0.0, 0.0) and y.node.is_input and y.has(f.negative):
        return True
    gap = x.low - y.high
    return gap > 1e-5 * max(abs(x.low), abs(y.high)) and isfinite_number(gap)


def _settled(known: Iterable[Known]) -> bool:
    return all(each.has(f.finite) or (each.node.is_input and _signed(each)) for each in known)


def _signed(x: Known) -> bool:
    return x.has(f.positive) or x.has(f.negative)


_TRUE, _FALSE = f.interval(1, 1), f.interval(0, 0)


def _ordered(above: bool) -> FactRule:
    """Of x > y and x >= y if `above`, of x < y and x <= y if not: true, false, or nothing."""

    def rule(x: Known, y: Known) -> Iterable[Fact]:
        yield from structure(x, y)
        big, small = (x, y) if above else (y, x)
        if _settled((x, y)):
            if _apart(big, small):
                yield _TRUE
            elif _apart(small, big):
                yield _FALSE

    return rule


def _equality(alike: bool) -> FactRule:
    def rule(x: Known, y: Known) -> Iterable[Fact]:
        yield from structure(x, y)
        apart = _settled((x, y)) and (_apart(x, y) or _apart(y, x))
        if apart or _input_differs(x, y) or _input_differs(y, x):
            yield _FALSE if alike else _TRUE
        elif x is y and x.has(f.finite):
            yield _TRUE if alike else _FALSE

    return rule


def _input_differs(x: Known, y: Known) -> bool:
    return x.node.is_input and x.has(f.nonzero) and y.bounds == (0.0, 0.0)


def _of_finite(fact: Fact) -> FactRule:
    """Of a test for NaN or infinity: settled where the operand is known to be finite."""

    def rule(x: Known) -> Iterable[Fact]:
        yield from structure(x)
        if x.has(f.finite):
            yield fact

    return rule


_SYMMETRIC = Algebra(commutative=True)
_LOGIC = Algebra(commutative=True, associative=True)

# -- comparisons -----------------------------------------------------------------------------------
greater = elementwise(
    "greater",
    kernel=lambda xp, x, y: xp.greater(x, y),
    vjp=(None, None),
    predicate=True,
    facts=_ordered(above=True),
    ufunc="greater",
)
greater_equal = elementwise(
    "greater_equal",
    kernel=lambda xp, x, y: xp.greater_equal(x, y),
    vjp=(None, None),
    predicate=True,
    facts=_ordered(above=True),
    ufunc="greater_equal",
)
less = elementwise(
    "less",
    kernel=lambda xp, x, y: xp.less(x, y),
    vjp=(None, None),
    predicate=True,
    facts=_ordered(above=False),
    ufunc="less",
)
less_equal = elementwise(
    "less_equal",
    kernel=lambda xp, x, y: xp.less_equal(x, y),
    vjp=(None, None),
    predicate=True,
    facts=_ordered(above=False),
    ufunc="less_equal",
)
equal = elementwise(
    "equal",
    kernel=lambda xp, x, y: xp.equal(x, y),
    vjp=(None, None),
    predicate=True,
    facts=_equality(alike=True),
    algebra=_SYMMETRIC,
    ufunc="equal",
)
not_equal = elementwise(
    "not_equal",
    kernel=lambda xp, x, y: xp.not_equal(x, y),
    vjp=(None, None),
    predicate=True,
    facts=_equality(alike=False),
    algebra=_SYMMETRIC,
    ufunc="not_equal",
)

# -- kinds of numbers ------------------------------------------------------------------------------
isnan = elementwise(
    "isnan",
    kernel=lambda xp, x: xp.isnan(x),
    vjp=(None,),
    predicate=True,
    facts=_of_finite(_FALSE),
    ufunc="isnan",
)
isinf = elementwise(
    "isinf",
    kernel=lambda xp, x: xp.isinf(x),
    vjp=(None,),
    predicate=True,
    facts=_of_finite(_FALSE),
    ufunc="isinf",
)
isfinite = elementwise(
    "isfinite",
    kernel=lambda xp, x: xp.isfinite(x),
    vjp=(None,),
    predicate=True,
    facts=_of_finite(_TRUE),
    ufunc="isfinite",
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
