"""The textbook functions of real numbers in high precision, over mpmath.

An operation's record has its definition, written apart from its kernel, so that the two do not
share mistakes. `Reals` is what such a definition computes with. An undefined value is NaN: log of a
negative number, 0/0, 1/0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import numpy as np

from ..ir.op import Op

if TYPE_CHECKING:
    from mpmath.ctx_mp import MPContext

__all__ = [
    "WIDE_BITS",
    "Numbers",
    "Real",
    "Reals",
    "TooLarge",
    "Unsupported",
    "definition_of",
    "reals",
]

Numbers: TypeAlias = np.ndarray[Any, Any]
T = TypeVar("T")

WIDE_BITS = 2300
"""Enough to hold the sum of the largest and the smallest float64 exactly."""
_LARGEST_EXPONENT = 1500
"""Beyond it, exp(x) + 1 would not fit into `WIDE_BITS`."""
_EXPONENT_BY_BIT = _LARGEST_EXPONENT / WIDE_BITS
"""How much larger an exponent may be where there are more bits than that."""


class Real(Protocol):
    """A real number of mpmath: it calculates and compares."""

    def __add__(self, other: Real | int, /) -> Real: ...
    def __radd__(self, other: Real | int, /) -> Real: ...
    def __sub__(self, other: Real | int, /) -> Real: ...
    def __rsub__(self, other: Real | int, /) -> Real: ...
    def __mul__(self, other: Real | int, /) -> Real: ...
    def __rmul__(self, other: Real | int, /) -> Real: ...
    def __truediv__(self, other: Real | int, /) -> Real: ...
    def __pow__(self, other: Real | int, /) -> Real: ...
    def __neg__(self) -> Real: ...
    def __abs__(self) -> Real: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __lt__(self, other: Real | float, /) -> bool: ...
    def __le__(self, other: Real | float, /) -> bool: ...
    def __gt__(self, other: Real | float, /) -> bool: ...
    def __ge__(self, other: Real | float, /) -> bool: ...


class Unsupported(Exception):  # no error: the caller goes on without a reference
    """No high-precision definition is known for an operation."""


class TooLarge(Exception):  # no error: that element stays unknown
    """A number too large or too small to be added to 1, such as exp(10,000)."""


class Reals:
    """mpmath's functions of real numbers, each quick and with results of bounded size.

    A function that is not defined below is mpmath's own.
    """

    def __init__(self, mp: MPContext) -> None:
        self.mp: Any = mp  # its functions are set at run time

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.mp, name, None)
        if found is None:
            raise Unsupported(name)
        return found

    def _largest_exponent(self) -> float:
        return max(_LARGEST_EXPONENT, _EXPONENT_BY_BIT * self.mp.prec)

    def exp(self, x: Real) -> Real:
        mp = self.mp
        if mp.isinf(x):
            return mp.inf if x > 0 else mp.mpf(0)
        if abs(x) > self._largest_exponent():
            raise TooLarge
        return mp.exp(x)

    def expm1(self, x: Real) -> Real:
        return self.mp.expm1(x) if abs(x) < 1 else self.exp(x) - 1

    def multiply(self, x: Real, y: Real) -> Real:
        isinf = self.mp.isinf
        return self.mp.nan if (isinf(x) and y == 0) or (isinf(y) and x == 0) else x * y

    def divide(self, x: Real, y: Real) -> Real:
        isinf = self.mp.isinf
        return self.mp.nan if y == 0 or (isinf(x) and isinf(y)) else x / y

    def power(self, x: Real, y: Real) -> Real:
        mp = self.mp
        if y == 0:
            return mp.mpf(1)
        if x == 0:
            return mp.mpf(0) if y > 0 else mp.nan
        if mp.isinf(y) or mp.isinf(x) or abs(y * mp.log(abs(x))) > self._largest_exponent():
            raise TooLarge
        return mp.nan if x < 0 and y != mp.floor(y) else x**y

    def logaddexp(self, x: Real, y: Real) -> Real:
        return max(x, y) + self.mp.log(1 + self.exp(-abs(x - y)))

    def log1mexp(self, x: Real) -> Real:
        mp = self.mp
        return mp.nan if x > 0 else mp.log(-mp.expm1(x)) if x < 0 else -mp.inf

    def asin(self, x: Real) -> Real:
        return self.mp.asin(x) if abs(x) <= 1 else self.mp.nan

    def acos(self, x: Real) -> Real:
        return self.mp.acos(x) if abs(x) <= 1 else self.mp.nan

    def acosh(self, x: Real) -> Real:
        return self.mp.acosh(x) if x >= 1 else self.mp.nan

    def atanh(self, x: Real) -> Real:
        return self.mp.atanh(x) if abs(x) < 1 else self.mp.nan

    def sinh(self, x: Real) -> Real:
        return (self.exp(x) - self.exp(-x)) / 2

    def cosh(self, x: Real) -> Real:
        return (self.exp(x) + self.exp(-x)) / 2

    def tanh(self, x: Real) -> Real:
        if abs(x) > _LARGEST_EXPONENT / 2:
            raise TooLarge
        return self.mp.tanh(x)

    def erf(self, x: Real) -> Real:
        mp = self.mp
        if mp.isfinite(x) and 2 * x * x > mp.prec:
            raise TooLarge  # 1 - erf(x) is about exp(-x²), too small to be held
        return mp.erf(x)

    def erfc(self, x: Real) -> Real:
        return self.mp.erfc(x) if x > 0 else 1 - self.erf(x)

    def absolute(self, x: Real) -> Real:
        return abs(x)

    def maximum(self, x: Real, y: Real) -> Real:
        return max(x, y)

    def minimum(self, x: Real, y: Real) -> Real:
        return min(x, y)

    # -- truth, and the choice between numbers ---------------------------------------------------
    def less(self, x: Real, y: Real) -> bool:
        return bool(x < y)

    def less_equal(self, x: Real, y: Real) -> bool:
        return bool(x <= y)

    def greater(self, x: Real, y: Real) -> bool:
        return bool(x > y)

    def greater_equal(self, x: Real, y: Real) -> bool:
        return bool(x >= y)

    def equal(self, x: Real, y: Real) -> bool:
        return bool(x == y)

    def not_equal(self, x: Real, y: Real) -> bool:
        return bool(x != y)

    def logical_not(self, x: object) -> bool:
        return not x

    def logical_and(self, x: object, y: object) -> bool:
        return bool(x) and bool(y)

    def logical_or(self, x: object, y: object) -> bool:
        return bool(x) or bool(y)

    def logical_xor(self, x: object, y: object) -> bool:
        return bool(x) != bool(y)

    def where(self, condition: object, x: T, y: T) -> T:
        return x if condition else y

    # -- rows of numbers -------------------------------------------------------------------------
    def total(self, row: list[Real]) -> Real:
        return self.mp.nan if self._has_nan(row) else sum(row, self.mp.mpf(0))

    def product(self, row: list[Real]) -> Real:
        value = self.mp.mpf(1)
        for each in row:
            value = self.multiply(value, each)
        return value

    def largest(self, row: list[Real]) -> Real:
        return self.mp.nan if self._has_nan(row) else max(row)

    def least(self, row: list[Real]) -> Real:
        return self.mp.nan if self._has_nan(row) else min(row)

    def logsumexp(self, row: list[Real]) -> Real:
        if not row:
            return -self.mp.inf
        top = self.largest(row)
        if not self.mp.isfinite(top):
            return top
        return top + self.mp.log(self.total([self.exp(v - top) for v in row]))

    def _has_nan(self, row: list[Real]) -> bool:
        return any(self.mp.isnan(v) for v in row)

    def matmul(self, x: Numbers, y: Numbers) -> Numbers:
        return np.matmul(x, y)

    def defined(self, op: Op) -> Callable[..., Any]:
        """An operation's definition on reals; NaN where it has no real value."""
        mp, definition = self.mp, definition_of(op)

        def call(*args: Real) -> Real | bool:
            blind = op.traits.blind_in(len(args))
            if any(mp.isnan(x) for i, x in enumerate(args) if i not in blind):
                return mp.nan
            try:
                value = definition(self, *args)
            except (ValueError, ZeroDivisionError, OverflowError, NotImplementedError):
                # mpmath raises NotImplementedError at a point where it has no algorithm.
                return mp.nan
            if isinstance(value, bool):
                return value
            return mp.nan if isinstance(value, mp.mpc) else mp.mpf(value)

        return call


def definition_of(op: Op) -> Callable[..., Any]:
    """The textbook definition of an operation."""
    if op.definition is None:
        raise Unsupported(op.name)
    return op.definition


@cache
def reals() -> Reals:
    """The functions over mpmath's own context; its precision is set around each computation."""
    from mpmath import mp  # only the verifier needs it

    return Reals(mp)
