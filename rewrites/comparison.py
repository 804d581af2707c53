"""Comparisons of a number with itself and with its bounds, truth values, and nested bounds."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Annotated, TypeAlias

from symgraph.facts import Fact, interval
from symgraph.numpy import (
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    clip,
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    not_equal,
    where,
)
from symgraph.rewriting import (
    Array,
    Boolean,
    DType,
    Finite,
    Identity,
    Integer,
    Real,
    Total,
    UniformConstant,
    applied,
    building,
    holds,
    is_real,
    provided,
    rule,
    static,
    value_of,
)

Truth: TypeAlias = Boolean
RealConstant: TypeAlias = Annotated[UniformConstant, is_real]


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
def less_than_what_is_above(c: RealConstant, x: Real) -> Identity:
    """A number with an upper bound below c is less than c."""
    _state_bound(x, below, c)
    return less(x, c), True


@rule(sound="rounding")
def not_less_than_its_bound(c: RealConstant, x: Real) -> Identity:
    """A number that is at least c is not less than c."""
    _state_bound(x, at_least, c)
    provided(no_rounding(x, value_of(c)))
    return less(x, c), False


@rule(sound="domain", earned={"rounding": {"x": Total}})
def at_most_its_bound(c: RealConstant, x: Real) -> Identity:
    """A number with the upper bound c is at most c."""
    _state_bound(x, at_most, c)
    provided(no_rounding(x, value_of(c)))
    return less_equal(x, c), True


@rule(sound="rounding")
def not_at_most_what_is_below(c: RealConstant, x: Real) -> Identity:
    """A number with a lower bound above c is not at most c."""
    _state_bound(x, above, c)
    return less_equal(x, c), False


@rule(sound="domain", earned={"rounding": {"x": Total}})
def greater_than_what_is_below(c: RealConstant, x: Real) -> Identity:
    """A number with a lower bound above c is greater than c."""
    _state_bound(x, above, c)
    return greater(x, c), True


@rule(sound="rounding")
def not_greater_than_its_bound(c: RealConstant, x: Real) -> Identity:
    """A number that is at most c is not greater than c."""
    _state_bound(x, at_most, c)
    provided(no_rounding(x, value_of(c)))
    return greater(x, c), False


@rule(sound="rounding")
def not_at_least_what_is_above(c: RealConstant, x: Real) -> Identity:
    """A number with an upper bound below c is not at least c."""
    _state_bound(x, below, c)
    return greater_equal(x, c), False


@rule(sound="rounding")
def maximum_with_lower_bound(c: RealConstant, x: Real) -> Identity:
    r"""$\max(x, c) = x$ for $x > c$; at a tie the derivative would be halved."""
    _state_bound(x, above, c)
    return maximum(x, c), x


@rule(sound="rounding")
def minimum_with_upper_bound(c: RealConstant, x: Real) -> Identity:
    r"""$\min(x, c) = x$ for $x < c$; at a tie the derivative would be halved."""
    _state_bound(x, below, c)
    return minimum(x, c), x


@rule(sound="rounding")
def clipped_within_bounds(c: RealConstant, k: RealConstant, x: Real) -> Identity:
    """Clipping does not change a number between the bounds."""
    _state_bound(x, above, c)
    _state_bound(x, below, k)
    return clip(x, c, k), x


@rule(sound="rounding")
def least_of_two_bounds(x: Real, c: RealConstant, k: RealConstant) -> Identity:
    r"""$\min(\min(x, c), k) = \min(x, \min(c, k))$; a zero may change its sign."""
    return minimum(minimum(x, c), k), minimum(x, lesser(c, k))


@rule(sound="rounding")
def greatest_of_two_bounds(x: Real, c: RealConstant, k: RealConstant) -> Identity:
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


# -- a number and itself ---------------------------------------------------------------------------
@rule(sound="exact")
def less_than_itself(x: Array) -> Identity:
    """Nothing is less than itself."""
    return less(x, x), False


@rule(sound="exact")
def greater_than_itself(x: Array) -> Identity:
    """Nothing is greater than itself."""
    return greater(x, x), False


@rule(sound="rounding", earned={"exact": {"x": Integer}})
def equals_itself(x: Finite) -> Identity:
    """Every number equals itself; NaN does not."""
    return equal(x, x), True


@rule(sound="rounding", earned={"exact": {"x": Integer}})
def differs_from_itself(x: Finite) -> Identity:
    """No number differs from itself; NaN does."""
    return not_equal(x, x), False


@rule(sound="rounding", earned={"exact": {"x": Integer}})
def at_most_itself(x: Finite) -> Identity:
    """Every number is at most itself; NaN is not."""
    return less_equal(x, x), True


@rule(sound="rounding", earned={"exact": {"x": Integer}})
def at_least_itself(x: Finite) -> Identity:
    """Every number is at least itself; NaN is not."""
    return greater_equal(x, x), True


# -- truth values ----------------------------------------------------------------------------------
@rule(sound="exact")
def and_with_itself(c: Truth) -> Identity:
    r"""$c \land c = c$."""
    return logical_and(c, c), c


@rule(sound="exact")
def or_with_itself(c: Truth) -> Identity:
    r"""$c \lor c = c$."""
    return logical_or(c, c), c


@rule(sound="exact")
def exclusive_or_with_itself(c: Array) -> Identity:
    r"""$c \oplus c$ is false."""
    return logical_xor(c, c), False


@rule(sound="exact")
def and_with_true(c: Truth) -> Identity:
    """True is the unit of and."""
    return logical_and(c, True), c


@rule(sound="exact")
def and_with_false(c: Array) -> Identity:
    """And with false is false."""
    return logical_and(c, False), False


@rule(sound="exact")
def or_with_false(c: Truth) -> Identity:
    """False is the unit of or."""
    return logical_or(c, False), c


@rule(sound="exact")
def or_with_true(c: Array) -> Identity:
    """Or with true is true."""
    return logical_or(c, True), True


@rule(sound="exact")
def denied_twice(c: Truth) -> Identity:
    r"""$\lnot \lnot c = c$."""
    return logical_not(logical_not(c)), c


@rule(sound="exact")
def denied_equality(x: Array, y: Array) -> Identity:
    """The negation of equality is difference, also for NaN."""
    return logical_not(equal(x, y)), not_equal(x, y)


@rule(sound="exact")
def denied_difference(x: Array, y: Array) -> Identity:
    """The negation of difference is equality, also for NaN."""
    return logical_not(not_equal(x, y)), equal(x, y)


@rule(sound="exact")
def bits_and_themselves(x: Array) -> Identity:
    """Each bit and itself is that bit."""
    return bitwise_and(x, x), x


@rule(sound="exact")
def bits_or_themselves(x: Array) -> Identity:
    """Each bit or itself is that bit."""
    return bitwise_or(x, x), x


@rule(sound="exact")
def bits_differ_from_themselves(x: Array) -> Identity:
    """No bit differs from itself."""
    return bitwise_xor(x, x), 0


@rule(sound="exact")
def truth_as_number_above_zero(c: Truth, dtype: DType) -> Identity:
    """A truth value as a number is above zero where it is true."""
    return greater(applied("cast", c, dtype=dtype), 0), c


@rule(sound="exact")
def truth_as_number_not_zero(c: Truth, dtype: DType) -> Identity:
    """A truth value as a number is nonzero where it is true."""
    return not_equal(applied("cast", c, dtype=dtype), 0), c


@rule(sound="exact")
def truth_as_number_is_one(c: Truth, dtype: DType) -> Identity:
    """A truth value as a number is one where it is true."""
    return equal(applied("cast", c, dtype=dtype), 1), c


# -- choices by conditions -------------------------------------------------------------------------
@rule(sound="exact")
def choice_of_true_and_false(c: Truth) -> Identity:
    """A choice of true and false is the condition."""
    return where(c, True, False), c


@rule(sound="exact")
def choice_of_false_and_true(c: Truth) -> Identity:
    """A choice of false and true is the negated condition."""
    return where(c, False, True), logical_not(c)


@rule(sound="exact")
def choice_by_denied(c: Truth, x: Array, y: Array) -> Identity:
    """A choice by a negated condition swaps the branches."""
    return where(logical_not(c), x, y), where(c, y, x)


@rule(sound="exact")
def product_of_opposite_choices(c: Truth, x: Array, y: Array) -> Identity:
    """Two opposite choices of x and y multiply x by y in each element."""
    return where(c, x, y) * where(c, y, x), x * y


@rule(sound="exact")
def sum_of_opposite_choices(c: Truth, x: Array, y: Array) -> Identity:
    """Two opposite choices of x and y add x and y in each element."""
    return where(c, x, y) + where(c, y, x), x + y


@rule(sound="rounding", measure="choices")
def difference_of_choices(c: Truth, x: Annotated[Finite, is_real], y: Real, z: Real) -> Identity:
    """The common first branch of two choices cancels, where it is finite."""
    return where(c, x, y) - where(c, x, z), where(c, 0, y - z)


@rule(sound="rounding", measure="choices")
def difference_of_choices_otherwise(
    c: Truth, x: Real, y: Annotated[Finite, is_real], z: Real
) -> Identity:
    """The common second branch of two choices cancels, where it is finite."""
    return where(c, x, y) - where(c, z, y), where(c, x - z, 0)
