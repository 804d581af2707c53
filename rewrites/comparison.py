"""Comparisons of a number with its bounds, and bounds within bounds."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Annotated

from symgraph.facts import Fact, interval
from symgraph.numpy import (
    clip,
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    maximum,
    minimum,
)
from symgraph.rewriting import (
    Array,
    Finite,
    Identity,
    Real,
    Total,
    building,
    holds,
    is_real,
    provided,
    rule,
    static,
    value_of,
)

from .known import RealUniformConstant


# -- bounds ----------------------------------------------------------------------------------------
@static
def at_most(c: float) -> Fact:
    """The fact that a value is at most c."""
    return interval(-inf, c)


@static
def at_least(c: float) -> Fact:
    """The fact that a value is at least c."""
    return interval(c, inf)


@static
def below(c: float) -> Fact:
    """The fact that a value is less than c by more than the rounding of any dtype."""
    return interval(-inf, c - _margin(c))


@static
def above(c: float) -> Fact:
    """The fact that a value is greater than c by more than the rounding of any dtype."""
    return interval(c + _margin(c), inf)


def _margin(c: float) -> float:
    # Half precision has a fraction of ten bits, and its smallest number is 6e-8.
    return 0.002 * abs(c) + 1e-6


@static
def no_rounding(x: Array, c: float) -> bool:
    """Whether rounding cannot put x beyond its bound c: a computed correlation may be 1.0000001.

    The sign of a number is safe, and so is a bound that is stated of an input.
    """
    node = x.node
    while node.op.view:
        node = node.operands[0]
    return c == 0 or node.is_input or node.is_constant


@building
def lesser(c: Array, k: Array) -> Array:
    """The lesser of two constants."""
    return c if value_of(c) <= value_of(k) else k


@building
def greater_of(c: Array, k: Array) -> Array:
    """The greater of two constants."""
    return c if value_of(c) >= value_of(k) else k


def _state_bound(x: Array, bound: Callable[[float], Fact], c: Array) -> None:
    """State that a bound of `x` is known, made from the value of `c`."""
    holds(x, bound, value_of(c))


@rule(sound="domain", earned={"rounding": {"x": Total}})
def less_than_what_is_above(c: RealUniformConstant, x: Real) -> Identity:
    """A number with an upper bound below c is less than c."""
    _state_bound(x, below, c)
    return less(x, c), True


@rule(sound="rounding")
def not_less_than_its_bound(c: RealUniformConstant, x: Real) -> Identity:
    """A number that is at least c is not less than c."""
    _state_bound(x, at_least, c)
    provided(no_rounding(x, value_of(c)))
    return less(x, c), False


@rule(sound="domain", earned={"rounding": {"x": Total}})
def at_most_its_bound(c: RealUniformConstant, x: Real) -> Identity:
    """A number with the upper bound c is at most c."""
    _state_bound(x, at_most, c)
    provided(no_rounding(x, value_of(c)))
    return less_equal(x, c), True


@rule(sound="rounding")
def not_at_most_what_is_below(c: RealUniformConstant, x: Real) -> Identity:
    """A number with a lower bound above c is not at most c."""
    _state_bound(x, above, c)
    return less_equal(x, c), False


@rule(sound="domain", earned={"rounding": {"x": Total}})
def greater_than_what_is_below(c: RealUniformConstant, x: Real) -> Identity:
    """A number with a lower bound above c is greater than c."""
    _state_bound(x, above, c)
    return greater(x, c), True


@rule(sound="rounding")
def not_greater_than_its_bound(c: RealUniformConstant, x: Real) -> Identity:
    """A number that is at most c is not greater than c."""
    _state_bound(x, at_most, c)
    provided(no_rounding(x, value_of(c)))
    return greater(x, c), False


@rule(sound="rounding")
def not_at_least_what_is_above(c: RealUniformConstant, x: Real) -> Identity:
    """A number with an upper bound below c is not at least c."""
    _state_bound(x, below, c)
    return greater_equal(x, c), False


_HALF_RANGE = 6e4
"""No number of half precision, the shortest, is much larger."""


@rule(sound="exact")
def not_minus_infinity(x: Real) -> Identity:
    """A number with a lower bound is not minus infinity, nor is NaN."""
    holds(x, interval, -_HALF_RANGE, inf)
    return equal(x, -inf), False


@rule(sound="rounding")
def finite_not_minus_infinity(x: Annotated[Finite, is_real]) -> Identity:
    """A finite number is not minus infinity."""
    return equal(x, -inf), False


@rule(sound="rounding")
def maximum_with_lower_bound(c: RealUniformConstant, x: Real) -> Identity:
    r"""$\max(x, c) = x$ for $x > c$; at a tie the derivative would be halved."""
    _state_bound(x, above, c)
    return maximum(x, c), x


@rule(sound="rounding")
def minimum_with_upper_bound(c: RealUniformConstant, x: Real) -> Identity:
    r"""$\min(x, c) = x$ for $x < c$; at a tie the derivative would be halved."""
    _state_bound(x, below, c)
    return minimum(x, c), x


@rule(sound="rounding")
def clipped_within_bounds(c: RealUniformConstant, k: RealUniformConstant, x: Real) -> Identity:
    """Clipping does not change a number between the bounds."""
    _state_bound(x, above, c)
    _state_bound(x, below, k)
    return clip(x, c, k), x


@rule(sound="rounding")
def least_of_two_bounds(x: Real, c: RealUniformConstant, k: RealUniformConstant) -> Identity:
    r"""$\min(\min(x, c), k) = \min(x, \min(c, k))$; a zero may change its sign."""
    return minimum(minimum(x, c), k), minimum(x, lesser(c, k))


@rule(sound="rounding")
def greatest_of_two_bounds(x: Real, c: RealUniformConstant, k: RealUniformConstant) -> Identity:
    r"""$\max(\max(x, c), k) = \max(x, \max(c, k))$; a zero may change its sign."""
    return maximum(maximum(x, c), k), maximum(x, greater_of(c, k))


# -- both extrema ----------------------------------------------------------------------------------
@rule(sound="rounding")
def sum_of_extrema(x: Array, y: Array) -> Identity:
    r"""$\max(x, y) + \min(x, y) = x + y$."""
    return maximum(x, y) + minimum(x, y), x + y


@rule(sound="rounding")
def product_of_extrema(x: Array, y: Array) -> Identity:
    r"""$\max(x, y) \min(x, y) = x y$."""
    return maximum(x, y) * minimum(x, y), x * y


@rule(sound="rounding", measure="negations")
def maximum_of_two_negatives(x: Real, y: Real) -> Identity:
    r"""$\max(-x, -y) = -\min(x, y)$; a zero may change its sign."""
    return maximum(-x, -y), -minimum(x, y)


@rule(sound="rounding", measure="negations")
def minimum_of_two_negatives(x: Real, y: Real) -> Identity:
    r"""$\min(-x, -y) = -\max(x, y)$; a zero may change its sign."""
    return minimum(-x, -y), -maximum(x, y)
