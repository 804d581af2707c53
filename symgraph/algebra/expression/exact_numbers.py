"""Coefficients of terms: whole numbers and fractions as long as they are short, else floats.

Arithmetic is exact on ints and fractions. A number that no normal float holds has no place in a
normal form, so it raises `OverflowError`.
"""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from sys import float_info
from typing import Any, TypeAlias, TypeGuard

import numpy as np

__all__ = [
    "Coef",
    "Rational",
    "bounded",
    "coef_key",
    "coefficient",
    "exponent",
    "is_exact",
    "plus",
    "quotient",
    "rational",
    "times",
]

Rational: TypeAlias = "int | Fraction"
"""Whole numbers are ints, which are faster. Most powers and coefficients are whole."""
Coef: TypeAlias = "Rational | float"

_BOUND = 2**62


def coefficient(value: float | np.generic | None) -> Coef | None:
    """The number as a fraction if it is a short decimal or quotient, else as a float.

    None for infinity, NaN and None. Decimals are read as written: 0.1 is 1/10, although the float
    0.1 is not exactly that.
    """
    if value is None:
        return None
    number = float(value.item() if isinstance(value, np.generic) else value)
    if not isfinite(number):
        return None
    text = str(value) if isinstance(value, np.generic) else repr(number)
    exact = Fraction(text)
    if exact.denominator <= 10**6 and abs(exact.numerator) < 10**12:
        return rational(exact)
    near = exact.limit_denominator(1000)
    kind = type(value) if isinstance(value, np.floating) else np.float64
    if near != 0 and kind(float(near)) == value:
        return rational(near)
    return number


_DEGREE = 12
"""The largest denominator of an exponent."""


def exponent(value: Coef | None, dtype: np.dtype[Any]) -> Rational | None:
    """The exponent as a short fraction other than 0; None if it is none.

    An exponent from which 1 was taken has the rounding of that sum: 2/3 - 1 is -1/3, and 0.7 - 1
    is -3/10, though the numbers of this dtype nearest to them are others.
    """
    if value is None or is_exact(value):
        return value if value and value.denominator <= _DEGREE else None
    near = Fraction(value).limit_denominator(_DEGREE)
    rounding = float(np.finfo(dtype).eps) / 2 * (1 + abs(value))
    return rational(near) if near and abs(value - near) <= rounding else None


_ROUNDED = 4 * float_info.epsilon
"""A sum of floats this small, relative to them, is only their rounding error."""

_BY_CHANCE = 1e-12
"""Within more rounding than this one number in a million is near a short fraction by chance."""


def is_exact(value: object) -> TypeGuard[Rational]:
    """Whether a number is an int or a fraction."""
    return isinstance(value, (int, Fraction))


def rational(value: Rational) -> Rational:
    """The same number, as an int if it is whole."""
    return value.numerator if value.denominator == 1 else value


def quotient(a: Coef, b: Coef) -> Coef:
    """The quotient; a fraction if both are. Raises `OverflowError` as `bounded` does."""
    if b == 1:
        return a
    if type(a) is int and type(b) is int:
        return bounded(Fraction(a, b) if a % b else a // b)
    if isinstance(a, float) or isinstance(b, float):
        return _normal(float(a) / float(b), a != 0)
    return bounded(rational(Fraction(a) / b))


def bounded(value: Coef) -> Coef:
    """The same number, as a float if the fraction has grown too long.

    Raises
    ------
    OverflowError
        If the number is too large or too near to 0 for a normal float. Its expression then has no
        normal form: 1e-200 x times 1e-200 y is not 0 x y.
    """
    if is_exact(value) and (abs(value.numerator) > _BOUND or value.denominator > _BOUND):
        return _normal(float(value), value != 0)
    return value


def _short(value: int) -> Coef:
    """`bounded` of a whole number."""
    return value if -_BOUND <= value <= _BOUND else _normal(float(value), True)


def _normal(value: float, nonzero: bool) -> float:
    if not isfinite(value) or (nonzero and abs(value) < float_info.min):
        raise OverflowError(value)
    return value


def times(a: Coef, b: Coef) -> Coef:
    """The product; a fraction if both are. Raises `OverflowError` as `bounded` does."""
    if type(a) is int and type(b) is int:
        return _short(a * b)
    if isinstance(a, float) or isinstance(b, float):
        return _normal(float(a) * float(b), a != 0 != b)
    return bounded(rational(a * b))


def plus(a: Coef, b: Coef) -> Coef:
    """The sum; a fraction if both are. Raises `OverflowError` as `bounded` does.

    Floats that cancel up to their rounding give 0, or the short fraction that was there before:
    1 + s - s is 1, not 0.9999999999999999.
    """
    if type(a) is int and type(b) is int:
        return _short(a + b)
    if isinstance(a, float) or isinstance(b, float):
        total = _normal(float(a) + float(b), False)
        if abs(total) <= _ROUNDED * abs(float(a)):
            return 0.0
        return _unrounded(total, float_info.epsilon * max(abs(float(a)), abs(float(b))))
    return bounded(rational(a + b))


def _unrounded(total: float, rounding: float) -> Coef:
    """The short fraction or decimal that a sum is but for its rounding; else the sum."""
    if rounding > _BY_CHANCE:
        return total
    exact = Fraction(total)
    for near in (exact.limit_denominator(1000), Fraction(round(exact * 10**6), 10**6)):
        if near and abs(near - exact) <= rounding:
            return rational(near)
    return total


def coef_key(coef: Coef) -> tuple[Any, ...]:
    """A sort key. An exact number and an equal float have different keys."""
    if is_exact(coef):
        return (0, coef.numerator, coef.denominator)
    return (1, float(coef).hex())
