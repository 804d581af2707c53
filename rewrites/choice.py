"""Complementary branches, comparisons with a difference, and a number times itself."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from symgraph.numpy import (
    absolute,
    clip,
    equal,
    exp,
    greater,
    greater_equal,
    less,
    less_equal,
    minimum,
    negative,
    not_equal,
    reshape,
    sign,
    square,
    where,
)
from symgraph.rewriting import (
    Array,
    Boolean,
    Identity,
    Index,
    Negative,
    Nonnegative,
    Nonpositive,
    Nonzero,
    Positive,
    PositiveConstant,
    Real,
    Shape,
    UniformConstant,
    applied,
    as_scalar,
    building,
    folded,
    is_real,
    is_total,
    negated,
    provided,
    rule,
)

from .known import keeps_off_zero

RealNumber: TypeAlias = Annotated[UniformConstant, is_real]
Width: TypeAlias = Annotated[Positive, is_total]
NonnegativeTotal: TypeAlias = Annotated[Nonnegative, is_total]
"""Where a bound is NaN nothing is found to be smaller, so it must be no NaN of its own."""


# -- branches --------------------------------------------------------------------------------------
@rule(sound="rounding")
def choices_that_complete(c: Boolean, x: Real, y: Real) -> Identity:
    """The sum of two complementary masked terms is a choice; but -0.0 + 0 is +0.0."""
    return where(c, x, 0) + where(c, 0, y), where(c, x, y)


@rule(sound="rounding")
def choices_between(c: Boolean, x: Real, y: Real) -> Identity:
    """The difference of two complementary masked terms is a choice."""
    return where(c, x, 0) - where(c, 0, y), where(c, x, -y)


@rule(sound="rounding")
def choices_between_otherwise(c: Boolean, x: Real, y: Real) -> Identity:
    """As `choices_between`, with the subtracted term in the first branch."""
    return where(c, 0, x) - where(c, y, 0), where(c, -y, x)


@rule(sound="rounding", measure="operations above choices")
def negative_of_masked_number(c: Boolean, x: RealNumber) -> Identity:
    """The negative of a masked number is the masked negative number."""
    return -where(c, x, 0), where(c, negated(x), 0)


@building
def _times(x: Array, k: Array) -> Array:
    """The product of two numbers."""
    return folded(as_scalar(x), as_scalar(k), np.multiply)


@building
def _over(x: Array, k: Array) -> Array:
    """The quotient of two numbers."""
    return folded(as_scalar(x), as_scalar(k), np.divide)


@rule(sound="exact", measure="operations above choices")
def choice_of_numbers_times_number(
    c: Boolean, x: RealNumber, y: RealNumber, k: RealNumber
) -> Identity:
    """A choice of two numbers times a number is a choice of their products."""
    chosen = where(c, x, y)
    provided(chosen.shape == c.shape)
    return chosen * k, where(c, _times(x, k), _times(y, k))


@rule(sound="exact", measure="operations above choices")
def choice_of_numbers_over_number(
    c: Boolean, x: RealNumber, y: RealNumber, k: RealNumber
) -> Identity:
    """A choice of two numbers over a number is a choice of their quotients."""
    chosen = where(c, x, y)
    provided(chosen.shape == c.shape)
    return chosen / k, where(c, _over(x, k), _over(y, k))


@rule(sound="exact", measure="choices")
def sum_of_masked(c: Boolean, x: Real, y: Real) -> Identity:
    """The sum of two terms behind one mask is the masked sum."""
    return where(c, x, 0) + where(c, y, 0), where(c, x + y, 0)


@rule(sound="exact", measure="choices")
def difference_of_masked(c: Boolean, x: Real, y: Real) -> Identity:
    """The difference of two terms behind one mask is the masked difference."""
    return where(c, x, 0) - where(c, y, 0), where(c, x - y, 0)


@rule(sound="exact", measure="choices")
def sum_of_masked_otherwise(c: Boolean, x: Real, y: Real) -> Identity:
    """As `sum_of_masked`, with zero in the first branch."""
    return where(c, 0, x) + where(c, 0, y), where(c, 0, x + y)


@rule(sound="exact", measure="reshapes above choices")
def reshaped_choice_of_numbers(c: Boolean, x: RealNumber, y: RealNumber, shape: Shape) -> Identity:
    """A reshaped choice of numbers is a choice by the reshaped condition, which may simplify."""
    chosen = where(c, x, y)
    provided(chosen.shape == c.shape)
    return reshape(chosen, shape), where(reshape(c, shape), as_scalar(x), as_scalar(y))


@rule(sound="exact", measure="indices above choices")
def part_of_choice_of_numbers(c: Boolean, x: RealNumber, y: RealNumber, index: Index) -> Identity:
    """As `reshaped_choice_of_numbers`, for an index: it takes a part, or adds axes."""
    chosen = where(c, x, y)
    provided(chosen.shape == c.shape)
    part = applied("getitem", chosen, index=index)
    return part, where(applied("getitem", c, index=index), as_scalar(x), as_scalar(y))


# -- choices that are extrema ----------------------------------------------------------------------
@rule(sound="rounding", stable="large x: exp of the branch not taken overflows", kink="x = 0")
def one_above_zero(x: Real) -> Identity:
    r"""$e^x$ with 1 in place of values above 1 is $e^{\min(x, 0)}$."""
    return where(x > 0, 1, exp(x)), exp(minimum(x, 0))


@rule(sound="exact")
def sign_outside_unit(x: Real) -> Identity:
    """Clipping to [-1, 1], written out: the derivative of Huber's loss."""
    return where(absolute(x) < 1, x, sign(x)), clip(x, -1, 1)


@rule(sound="exact", kink="|x| = 1")
def sign_outside_closed_unit(x: Real) -> Identity:
    """As `sign_outside_unit`, with the bounds in the first branch."""
    return where(absolute(x) <= 1, x, sign(x)), clip(x, -1, 1)


@rule(sound="rounding", earned={"exact": {"c": PositiveConstant}})
def scaled_sign_outside_bound(x: Real, c: Nonnegative) -> Identity:
    """Clipping to [-c, c], written out."""
    return where(absolute(x) < c, x, c * sign(x)), clip(x, negative(c), c)


@rule(sound="rounding", earned={"exact": {"c": PositiveConstant}}, kink="|x| = c")
def scaled_sign_outside_closed_bound(x: Real, c: Nonnegative) -> Identity:
    """As `scaled_sign_outside_bound`, with the bounds in the first branch."""
    return where(absolute(x) <= c, x, c * sign(x)), clip(x, negative(c), c)


@rule(sound="rounding")
def quotient_or_sign_outside_bound(x: Real, c: Width) -> Identity:
    """Clipping a quotient to [-1, 1], written out: the derivative of the smooth L1 loss."""
    return where(absolute(x) < c, x / c, sign(x)), clip(x / c, -1, 1)


@rule(sound="rounding", kink="|x| = c")
def quotient_or_sign_outside_closed_bound(x: Real, c: Width) -> Identity:
    """As `quotient_or_sign_outside_bound`, with the bounds in the first branch."""
    return where(absolute(x) <= c, x / c, sign(x)), clip(x / c, -1, 1)


@rule(sound="rounding", kink="|x| = c")
def scaled_sign_beyond_bound(x: Real, c: NonnegativeTotal) -> Identity:
    """As `scaled_sign_outside_bound`, with the values beyond the bounds in the first branch."""
    return where(absolute(x) > c, c * sign(x), x), clip(x, negative(c), c)


@rule(sound="rounding")
def scaled_sign_at_or_beyond_bound(x: Real, c: NonnegativeTotal) -> Identity:
    """As `scaled_sign_beyond_bound`, with the bounds in the first branch."""
    return where(absolute(x) >= c, c * sign(x), x), clip(x, negative(c), c)


@rule(sound="rounding", kink="|x| = c")
def sign_beyond_bound_or_quotient(x: Real, c: Positive) -> Identity:
    """As `quotient_or_sign_outside_bound`, with the sign in the first branch."""
    return where(absolute(x) > c, sign(x), x / c), clip(x / c, -1, 1)


@rule(sound="rounding")
def sign_at_or_beyond_bound_or_quotient(x: Real, c: Width) -> Identity:
    """As `sign_beyond_bound_or_quotient`, with the bounds in the first branch."""
    return where(absolute(x) >= c, sign(x), x / c), clip(x / c, -1, 1)


@rule(sound="rounding")
def part_of_quotient_or_sign_outside_bound(x: Real, c: Width, k: PositiveConstant) -> Identity:
    """As `quotient_or_sign_outside_bound`, where both branches are divided by a number."""
    return where(absolute(x) < c, x / (k * c), sign(x) / k), clip(x / c, -1, 1) / k


@rule(sound="rounding", kink="|x| = c")
def part_of_quotient_or_sign_outside_closed_bound(
    x: Real, c: Width, k: PositiveConstant
) -> Identity:
    """As `part_of_quotient_or_sign_outside_bound`, with the bounds in the first branch."""
    return where(absolute(x) <= c, x / (k * c), sign(x) / k), clip(x / c, -1, 1) / k


@rule(sound="exact")
def squared_sign_beyond_bound(x: Real, y: Real, c: Nonnegative) -> Identity:
    r"""$\operatorname{sgn}^2 x = 1$ where $|x| > c \ge 0$: the derivative of a soft threshold."""
    return where(absolute(x) > c, square(sign(x)), y), where(absolute(x) > c, 1, y)


@rule(sound="rounding")
def sign_times_lesser_magnitude(x: Real, c: Nonnegative) -> Identity:
    """Clipping to [-c, c], written as magnitude times sign."""
    return sign(x) * minimum(absolute(x), c), clip(x, negative(c), c)


# -- comparisons -----------------------------------------------------------------------------------
@rule(sound="exact")
def sum_with_number_above_zero(x: Real, c: RealNumber) -> Identity:
    r"""$x + c > 0 \iff x > -c$, exactly, as in `difference_above_zero`."""
    return greater(x + c, 0), greater(x, negated(c))


@rule(sound="exact")
def sum_with_number_below_zero(x: Real, c: RealNumber) -> Identity:
    r"""$x + c < 0 \iff x < -c$, exactly, as in `difference_above_zero`."""
    return less(x + c, 0), less(x, negated(c))


@rule(sound="exact")
def difference_above_zero(x: Real, y: Real) -> Identity:
    r"""$x - y > 0 \iff x > y$, exactly: differences underflow gradually, and inf - inf is NaN."""
    return greater(x - y, 0), greater(x, y)


@rule(sound="exact")
def difference_below_zero(x: Real, y: Real) -> Identity:
    r"""$x - y < 0 \iff x < y$, exactly, as in `difference_above_zero`."""
    return less(x - y, 0), less(x, y)


# -- comparisons that facts decide -----------------------------------------------------------------
# If a value may underflow to 0, a comparison with 0 may be there to catch the underflow, and stays.
@rule(sound="rounding")
def nonzero_equals_zero(x: Annotated[Nonzero, keeps_off_zero]) -> Identity:
    """A nonzero number does not equal zero."""
    return equal(x, 0), False


@rule(sound="rounding")
def nonzero_differs_from_zero(x: Annotated[Nonzero, keeps_off_zero]) -> Identity:
    """A nonzero number differs from zero."""
    return not_equal(x, 0), True


@rule(sound="rounding")
def nonnegative_not_below_zero(x: Nonnegative) -> Identity:
    """A nonnegative number is not below zero."""
    return less(x, 0), False


@rule(sound="rounding")
def positive_not_at_most_zero(x: Annotated[Positive, keeps_off_zero]) -> Identity:
    """A positive number is not at most zero."""
    return less_equal(x, 0), False


@rule(sound="rounding", priority=-1)
def nonpositive_not_above_zero(x: Nonpositive) -> Identity:
    """A nonpositive number is not above zero."""
    return greater(x, 0), False


@rule(sound="rounding")
def negative_not_at_least_zero(x: Annotated[Negative, keeps_off_zero]) -> Identity:
    """A negative number is not at least zero."""
    return greater_equal(x, 0), False


# -- squares ---------------------------------------------------------------------------------------
@rule(sound="exact", measure="products of a number with itself")
def times_itself(x: Real) -> Identity:
    r"""$x \cdot x = x^2$: one form, so that equal squares are one node."""
    return x * x, square(x)
