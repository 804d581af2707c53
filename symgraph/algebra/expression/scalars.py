"""Numbers in expressions. They stay exact as long as possible."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from math import exp, isfinite, log
from sys import float_info

from .exact_numbers import Coef, Rational, bounded, is_exact, quotient, rational
from .term import ONE, Expr, term_key

__all__ = [
    "constant_power",
    "constant_value",
    "content",
    "exp_of",
    "inverted",
    "log_of",
    "number",
    "over",
    "rational_root",
]


def number(value: Coef) -> Expr:
    """The expression of a number. That of 0 has no terms."""
    return {ONE: value} if value != 0 else {}


def constant_value(expr: Expr) -> Coef | None:
    """The number that an expression is; None if it is not a number."""
    if not expr:
        return 0
    if len(expr) == 1 and ONE in expr:
        return expr[ONE]
    return None


def content(expr: Expr, *, signed: bool = True) -> Coef:
    """The coefficient of the leading term; 1 or -1 if others are no short multiples of it.

    Numbers come last, and terms without sums come before others: x - mean(x) leads with x at every
    scale.
    """
    first = min(expr, key=lambda term: (not term.factors, len(term.bound), term_key(term)))
    lead = expr[first]
    size = abs(lead) if lead != 0 and _are_multiples(expr, lead) else 1
    return size if not signed or lead > 0 else -size


def _are_multiples(expr: Expr, lead: Coef) -> bool:
    """Whether all coefficients are fractions, or all are floats and short multiples of one."""
    if is_exact(lead):
        return all(map(is_exact, expr.values()))
    with suppress(OverflowError):
        return all(
            not is_exact(coef) and is_exact(_short_quotient(coef, lead)) for coef in expr.values()
        )
    return False


def over(expr: Expr, value: Coef) -> Expr:
    """The expression divided by a number other than 0, such as its content."""
    if value == 1:
        return expr
    return {term: _short_quotient(coef, value) for term, coef in expr.items()}


_SHORT = 64
"""The largest numerator and denominator of a short quotient."""


def _short_quotient(a: Coef, b: Coef) -> Coef:
    """The quotient; of floats a fraction if it is a short one to the last bit."""
    found = quotient(a, b)
    if is_exact(found):
        return found
    near = Fraction(found).limit_denominator(_SHORT)
    short = abs(near.numerator) <= _SHORT and near != 0
    return rational(near) if short and float(near) == found else found


def inverted(value: Coef) -> Coef:
    """One over a number other than 0."""
    return quotient(1, value)


def constant_power(value: Coef, power: Rational) -> Expr | None:
    """A number to a rational power, exact if possible; None if it is not a real number."""
    if value == 1:
        return number(1)
    if value == 0:
        return None
    try:
        if is_exact(value):
            if power.denominator == 1 and abs(power) <= 64:
                return number(bounded(rational(Fraction(value) ** power.numerator)))
            root = rational_root(value, power.denominator)
            if root is not None and abs(power.numerator) <= 64:
                return number(bounded(rational(Fraction(root) ** power.numerator)))
        if value < 0 and power.denominator != 1:
            return None
        found = float(value) ** float(power)
    except OverflowError:
        return None
    return number(found) if isfinite(found) and abs(found) >= float_info.min else None


def rational_root(value: Rational, degree: int) -> Rational | None:
    """The root of a fraction, if the root is a fraction, too; else None."""
    if value < 0 or degree > 8:
        return None
    top, bottom = round(value.numerator ** (1 / degree)), round(value.denominator ** (1 / degree))
    if top**degree == value.numerator and bottom**degree == value.denominator:
        return rational(Fraction(top, bottom))
    return None


def log_of(value: Coef) -> Coef:
    """The log of a positive number."""
    return 0 if value == 1 else log(value)


def exp_of(value: Coef) -> Coef:
    """The exp of a number; infinity if it overflows."""
    if value == 0:
        return 1
    try:
        return exp(value)
    except OverflowError:
        return float("inf")
