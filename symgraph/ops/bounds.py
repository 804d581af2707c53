"""Facts of the result of an elementwise operation: sign, bounds, structure, domain.

Bounds are intervals (Moore 1966), rounded outward. `knows` builds a fact rule
from the parts that differ between operations. Integers wrap around, so integer results have no
facts unless the bounds show that they fit their dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from math import fabs, inf, isinf, isnan, nextafter
from typing import Any, TypeAlias

import numpy as np

from .. import facts as f
from ..facts import Fact
from ..ir.fact_inference import Known
from .structures import structure

__all__ = [
    "EVERYWHERE",
    "Bounds",
    "FactRule",
    "always",
    "bounds_of_product",
    "bounds_of_quotient",
    "bounds_of_square",
    "bounds_of_sum",
    "decreasing",
    "even_signs",
    "in_common",
    "increasing",
    "is_positive",
    "knows",
    "mirrored_signs",
    "negated",
    "nonzero_kept",
    "odd_signs",
    "positive_operand",
    "product_signs",
    "within",
]

Bounds: TypeAlias = tuple[float, float]
FactRule: TypeAlias = Callable[..., Iterable[Fact]]
EVERYWHERE: Bounds = (-inf, inf)
_MOST = float(np.finfo("float64").max)


def always(*_known: Known, **_params: object) -> bool:
    """An operation that is defined for all real numbers."""
    return True


def _unknown(*_known: Known) -> Bounds:
    return EVERYWHERE


def _nothing(*_known: Known, **_params: object) -> Iterable[Fact]:
    return ()


def knows(
    *,
    bounds: Callable[..., Bounds] = _unknown,
    signs: Callable[..., Iterable[Fact]] = _nothing,
    pattern: Callable[..., Iterable[Fact]] | None = None,
    defined: Callable[..., bool] = always,
    keeps_finite: bool = False,
    keeps_integers: bool = False,
    gives_integers: bool = False,
    zero_at_zero: bool = False,
) -> FactRule:
    """A fact rule.

    Parameters
    ----------
    bounds : callable
        `bounds(*known)`: an interval of the result.
    signs : callable
        `signs(*known)`: facts that bounds do not tell, such as positive.
    pattern : callable, optional
        Matrix structure; by default an operation of symmetric matrices gives a symmetric one.
    defined : callable
        `defined(*known)`: whether the result is a real number for all such operands.
    keeps_finite : bool
        Finite floating-point operands cannot overflow.
    keeps_integers, gives_integers : bool
        Whole operands give whole results; all operands do.
    zero_at_zero : bool
        An operation of one operand that maps 0 to 0, and so keeps zero patterns.
    """
    if pattern is None:
        pattern = partial(structure, zero_at_zero=zero_at_zero)

    def rule(*known: Known, **_params: object) -> Iterable[Fact]:
        low, high = bounds(*known)
        low, high = -inf if isnan(low) else low, inf if isnan(high) else high
        # A bound past the largest number is one on the near side of infinity.
        low, high = min(low, _MOST), max(high, -_MOST)
        dtype = known[-1].aval.dtype
        if dtype.kind in "iub" and not _fits(low, high, dtype):
            return
        if low <= high and not (isinf(low) and isinf(high)):
            yield f.interval(low, high)
        yield from signs(*known)
        yield from pattern(*known)
        if gives_integers or (keeps_integers and _all(known, f.integer_valued)):
            yield f.integer_valued
        if _all(known, f.total) and defined(*known):
            yield f.total
            largest = _largest(dtype)
            if (keeps_finite or (-largest < low and high < largest)) and _all(known, f.finite):
                yield f.finite

    return rule


def _all(known: Iterable[Known], fact: Fact) -> bool:
    for each in known:  # noqa: SIM110  # half the time of all(): this runs a few times a node
        if not each.has(fact):
            return False
    return True


def _fits(low: float, high: float, dtype: np.dtype[Any]) -> bool:
    if dtype.kind == "b":
        return False
    limits = np.iinfo(dtype)
    return limits.min <= low and high <= limits.max


@cache
def _largest(dtype: np.dtype[Any]) -> float:
    return float(np.finfo(dtype).max) if dtype.kind == "f" else inf


# -- bounds ----------------------------------------------------------------------------------------
def within(low: float, high: float) -> Callable[..., Bounds]:
    """Bounds that hold for all operands."""

    def bounds(*_known: Known) -> Bounds:
        return low, high

    return bounds


def _down(x: float) -> float:
    # Four units in the last place: the error of libm is smaller.
    return x if isinf(x) else nextafter(x - 4e-16 * fabs(x), -inf)


def _up(x: float) -> float:
    return -_down(-x)


def increasing(
    function: Callable[[float], float],
    domain: Bounds = EVERYWHERE,
    image: Bounds = EVERYWHERE,
) -> Callable[[Known], Bounds]:
    """Bounds of an increasing function from `domain` to `image`, with limits at the ends."""

    def bounds(x: Known) -> Bounds:
        low, high = max(x.low, domain[0]), min(x.high, domain[1])
        if low > high:
            return image
        least = image[0] if low == domain[0] else max(image[0], _down(_value(function, low)))
        most = image[1] if high == domain[1] else min(image[1], _up(_value(function, high)))
        return least, most

    return bounds


def decreasing(
    function: Callable[[float], float],
    domain: Bounds = EVERYWHERE,
    image: Bounds = EVERYWHERE,
) -> Callable[[Known], Bounds]:
    """Bounds of a decreasing function; see `increasing`."""
    mirrored = increasing(lambda x: -function(x), domain, (-image[1], -image[0]))

    def bounds(x: Known) -> Bounds:
        low, high = mirrored(x)
        return -high, -low

    return bounds


def _value(function: Callable[[float], float], x: float) -> float:
    try:
        with np.errstate(all="ignore"):
            return float(function(x))
    except OverflowError:
        return inf if x > 0 else -inf
    except ValueError:
        return float("nan")


def negated(x: Known) -> Bounds:
    """Bounds of -x."""
    return -x.high, -x.low


def bounds_of_sum(x: Bounds, y: Bounds) -> Bounds:
    """Bounds of x + y."""
    return _sum_down(x[0], y[0]), -_sum_down(-x[1], -y[1])


def _sum_down(a: float, b: float) -> float:
    total = a + b
    if isinf(total) or isnan(total):
        return -inf
    # Knuth's two-sum: the rounding error of a + b is itself a floating-point number.
    part = total - a
    error = (a - (total - part)) + (b - part)
    return total if error >= 0 else nextafter(total, -inf)


def bounds_of_product(x: Bounds, y: Bounds) -> Bounds:
    """Bounds of x y; the extremes are at the corners."""
    if EVERYWHERE in (x, y) and (0.0, 0.0) not in (x, y):
        return EVERYWHERE
    corners = [(a, b) for a in x for b in y]
    return min(_product_down(a, b) for a, b in corners), max(
        -_product_down(-a, b) for a, b in corners
    )


def _product_down(a: float, b: float) -> float:
    if a == 0 or b == 0:
        return 0.0
    product = a * b
    whole = fabs(product) < 2**53 and a.is_integer() and b.is_integer()
    return product if whole or fabs(a) == 1 or fabs(b) == 1 else _down(product)


def bounds_of_square(x: Bounds) -> Bounds:
    """Bounds of x²."""
    least = 0.0 if x[0] <= 0 <= x[1] else min(fabs(x[0]), fabs(x[1]))
    most = max(fabs(x[0]), fabs(x[1]))
    return _product_down(least, least), -_product_down(-most, most)


def bounds_of_quotient(x: Bounds, y: Bounds) -> Bounds:
    """Bounds of x / y where y is not 0."""
    if y[0] < 0 < y[1] or y == (0.0, 0.0):
        return EVERYWHERE
    if y[0] >= 0:
        inverse = (_inverse_down(y[1]), inf if y[0] == 0 else -_inverse_down(-y[0]))
    else:
        inverse = (-inf if y[1] == 0 else _inverse_down(y[1]), -_inverse_down(-y[0]))
    return bounds_of_product(x, inverse)


def _inverse_down(x: float) -> float:
    if isinf(x):
        return 0.0
    inverse = 1 / x
    return inverse if fabs(x) == 1 else _down(inverse)


# -- signs -----------------------------------------------------------------------------------------
_SIGNS = (f.positive, f.nonnegative, f.negative, f.nonpositive)
_MIRRORED = {
    f.positive: f.negative,
    f.nonnegative: f.nonpositive,
    f.negative: f.positive,
    f.nonpositive: f.nonnegative,
}


def odd_signs(x: Known, *_others: Known) -> Iterable[Fact]:
    """Signs of a function that has the sign of its first operand and is 0 only where it is."""
    yield from (sign for sign in _SIGNS if x.has(sign))
    yield from nonzero_kept(x)


def nonzero_kept(x: Known, *_others: Known) -> Iterable[Fact]:
    """Signs of a function that is 0 only where its first operand is."""
    if x.has(f.nonzero):
        yield f.nonzero


def mirrored_signs(x: Known) -> Iterable[Fact]:
    """Signs of a function that has the opposite sign of its operand."""
    yield from (_MIRRORED[sign] for sign in _SIGNS if x.has(sign))
    yield from nonzero_kept(x)


def even_signs(x: Known) -> Iterable[Fact]:
    """Signs of a function that is never negative, and 0 only where its operand is."""
    yield f.positive if x.has(f.nonzero) else f.nonnegative


def is_positive(*_known: Known) -> Iterable[Fact]:
    """Signs of a function that is positive everywhere."""
    yield f.positive


def positive_operand(x: Known) -> bool:
    """Whether log is defined: its operand is positive."""
    return x.has(f.positive)


def in_common(x: Known, y: Known) -> Iterable[Fact]:
    """Signs of a choice: each element of the result is an element of x or of y."""
    yield from (each for each in (*_SIGNS, f.nonzero) if x.has(each) and y.has(each))


def product_signs(x: Known, y: Known) -> Iterable[Fact]:
    """Signs of x y, and of x / y where the quotient is defined."""
    if x is y:
        yield from even_signs(x)
        return
    if x.has(f.nonzero) and y.has(f.nonzero):
        yield f.nonzero
    if x.low < 0 < x.high and y.low < 0 < y.high:
        return
    for sign, kept, mirrored in (
        (f.positive, _SIGNS, _MIRRORED),
        (f.nonnegative, (f.nonnegative, f.nonpositive), _MIRRORED),
    ):
        opposite = _MIRRORED[sign]
        for one, other in ((x, y), (y, x)):
            if one.has(sign):
                yield from (each for each in kept if other.has(each))
            if one.has(opposite):
                yield from (mirrored[each] for each in kept if other.has(each))
