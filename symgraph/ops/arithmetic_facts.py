"""Facts about the results of elementwise arithmetic: bounds and signs."""

from __future__ import annotations

from collections.abc import Iterable

from .. import facts as f
from ..facts import Fact
from ..ir.fact_inference import Known
from .bounds import (
    Bounds,
    bounds_of_product,
    bounds_of_quotient,
    bounds_of_square,
    bounds_of_sum,
)

__all__ = [
    "bounds_absolute",
    "bounds_add",
    "bounds_copysign",
    "bounds_divide",
    "bounds_hypot",
    "bounds_multiply",
    "bounds_sign",
    "bounds_subtract",
    "divisor_nonzero",
    "facts_of_products",
    "signs_add",
    "signs_copysign",
    "signs_hypot",
    "signs_reciprocal",
    "signs_subtract",
]


def bounds_add(x: Known, y: Known) -> Bounds:
    """Bounds of x + y."""
    return bounds_of_sum(x.bounds, y.bounds)


def bounds_subtract(x: Known, y: Known) -> Bounds:
    """Bounds of x - y: 0 if both are the same value."""
    return (0.0, 0.0) if x is y else bounds_of_sum(x.bounds, (-y.high, -y.low))


def bounds_multiply(x: Known, y: Known) -> Bounds:
    """Bounds of x * y: those of a square if both are the same value."""
    return bounds_of_square(x.bounds) if x is y else bounds_of_product(x.bounds, y.bounds)


def bounds_divide(x: Known, y: Known) -> Bounds:
    """Bounds of x / y: 1 if both are the same value."""
    return (1.0, 1.0) if x is y else bounds_of_quotient(x.bounds, y.bounds)


def signs_add(x: Known, y: Known) -> Iterable[Fact]:
    """The sign of x + y, where both have the same."""
    for strict, weak in ((f.positive, f.nonnegative), (f.negative, f.nonpositive)):
        if x.has(weak) and y.has(weak):
            yield strict if x.has(strict) or y.has(strict) else weak


def signs_subtract(x: Known, y: Known) -> Iterable[Fact]:
    """The sign of x - y, where the signs of x and y are opposite."""
    for strict, weak, opposite, weakly_opposite in (
        (f.positive, f.nonnegative, f.negative, f.nonpositive),
        (f.negative, f.nonpositive, f.positive, f.nonnegative),
    ):
        if x.has(weak) and y.has(weakly_opposite) and x is not y:
            yield strict if x.has(strict) or y.has(opposite) else weak


def divisor_nonzero(_x: Known, y: Known) -> bool:
    """Whether x / y is free of divisions by zero."""
    return y.has(f.nonzero)


def signs_reciprocal(x: Known) -> Iterable[Fact]:
    """Signs of 1 / x, which is nowhere 0."""
    yield f.nonzero
    if x.has(f.nonnegative):
        yield f.positive
    if x.has(f.nonpositive):
        yield f.negative


def bounds_absolute(x: Known) -> Bounds:
    """Bounds of |x|."""
    least = 0.0 if x.low <= 0 <= x.high else min(abs(x.low), abs(x.high))
    return least, max(abs(x.low), abs(x.high))


def bounds_sign(x: Known) -> Bounds:
    """Bounds of the sign of x."""
    low = 1.0 if x.has(f.positive) else 0.0 if x.has(f.nonnegative) else -1.0
    high = -1.0 if x.has(f.negative) else 0.0 if x.has(f.nonpositive) else 1.0
    return low, high


def bounds_hypot(x: Known, y: Known) -> Bounds:
    """Bounds of the length of (x, y)."""
    (a, b), (c, d) = bounds_absolute(x), bounds_absolute(y)
    return max(a, c), bounds_of_sum((b, b), (d, d))[1]


def signs_hypot(x: Known, y: Known) -> Iterable[Fact]:
    """The length of (x, y) is positive if one of them is not 0."""
    yield f.positive if x.has(f.nonzero) or y.has(f.nonzero) else f.nonnegative


def bounds_copysign(x: Known, y: Known) -> Bounds:
    """Bounds of |x| with the sign of y."""
    most = bounds_absolute(x)[1]
    return (0.0 if y.has(f.positive) else -most), (0.0 if y.has(f.negative) else most)


def signs_copysign(x: Known, y: Known) -> Iterable[Fact]:
    """The sign of |x| with the sign of y."""
    # y >= 0 is not enough: the zero may be -0.0, and its sign counts here.
    if x.has(f.nonzero):
        yield f.nonzero
        yield from (sign for sign in (f.positive, f.negative) if y.has(sign))


def facts_of_products(*known: Known) -> Iterable[Fact]:
    """Facts of sums of products: signs, finiteness, integers."""
    for fact in (f.finite, f.total, f.integer_valued, f.nonnegative):
        if all(each.has(fact) for each in known):
            yield fact
