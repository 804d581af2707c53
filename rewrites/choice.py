"""Branches that complete one another, comparisons with a difference, and a number times itself."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from symgraph.numpy import (
    absolute,
    clip,
    equal,
    exp,
    greater,
    greater_equal,
    less,
    less_equal,
    maximum,
    minimum,
    negative,
    not_equal,
    reshape,
    sign,
    square,
    where,
)
from symgraph.rewriting import (
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
    is_real,
    once,
    opposite,
    provided,
    rule,
)

from .known import keeps_off_zero

RealNumber: TypeAlias = Annotated[UniformConstant, is_real]


# -- branches --------------------------------------------------------------------------------------
@rule(sound="rounding")
def choices_that_complete(c: Boolean, x: Real, y: Real) -> Identity:
    """Where one is masked the other is not: their sum is a choice (but -0.0 + 0 is +0.0)."""
    return where(c, x, 0) + where(c, 0, y), where(c, x, y)


@rule(sound="rounding")
def choices_between(c: Boolean, x: Real, y: Real) -> Identity:
    """What is left out of one choice stands in the other."""
    return where(c, x, 0) - where(c, 0, y), where(c, x, -y)


@rule(sound="rounding")
def choices_between_otherwise(c: Boolean, x: Real, y: Real) -> Identity:
    """As `choices_between`, where what is taken away stands in the first branch."""
    return where(c, 0, x) - where(c, y, 0), where(c, -y, x)


@rule(sound="rounding", measure="operations above choices")
def negative_of_masked_number(c: Boolean, x: RealNumber) -> Identity:
    """The sign of a number behind a mask belongs to the number."""
    return -where(c, x, 0), where(c, opposite(x), 0)


@rule(sound="exact", measure="choices")
def sum_of_masked(c: Boolean, x: Real, y: Real) -> Identity:
    """Two terms behind one mask are one."""
    return where(c, x, 0) + where(c, y, 0), where(c, x + y, 0)


@rule(sound="exact", measure="choices")
def difference_of_masked(c: Boolean, x: Real, y: Real) -> Identity:
    """A difference behind one mask is one."""
    return where(c, x, 0) - where(c, y, 0), where(c, x - y, 0)


@rule(sound="exact", measure="choices")
def sum_of_masked_otherwise(c: Boolean, x: Real, y: Real) -> Identity:
    """Two terms behind the mask that lets through where the condition fails."""
    return where(c, 0, x) + where(c, 0, y), where(c, 0, x + y)


@rule(sound="exact", measure="reshapes above choices")
def reshaped_choice_of_numbers(c: Boolean, x: RealNumber, y: RealNumber, shape: Shape) -> Identity:
    """A mask in another shape is that of the condition: what it meets there it may go into."""
    chosen = where(c, x, y)
    provided(chosen.shape == c.shape)
    return reshape(chosen, shape), where(reshape(c, shape), once(x), once(y))


@rule(sound="exact", measure="indices above choices")
def part_of_choice_of_numbers(c: Boolean, x: RealNumber, y: RealNumber, index: Index) -> Identity:
    """As `reshaped_choice_of_numbers`, for an axis of length one that an index adds, or a part."""
    chosen = where(c, x, y)
    provided(chosen.shape == c.shape)
    part = applied("getitem", chosen, index=index)
    return part, where(applied("getitem", c, index=index), once(x), once(y))


# -- choices that are extrema ----------------------------------------------------------------------
@rule(sound="rounding", kink="x = 0")
def zero_above_zero(x: Real) -> Identity:
    r"""What is positive is taken away: $\min(x, 0)$, NaN staying NaN."""
    return where(x > 0, 0, x), minimum(x, 0)


@rule(sound="rounding", kink="x = 0")
def zero_below_zero(x: Real) -> Identity:
    r"""What is negative is taken away: $\max(x, 0)$, NaN staying NaN."""
    return where(x < 0, 0, x), maximum(x, 0)


@rule(sound="rounding", stable="large x: exp of the branch not taken overflows", kink="x = 0")
def one_above_zero(x: Real) -> Identity:
    r"""$e^{\min(x, 0)}$ is 1 above zero."""
    return where(x > 0, 1, exp(x)), exp(minimum(x, 0))


@rule(sound="exact")
def sign_outside_unit(x: Real) -> Identity:
    """Clipping, written out: the derivative of Huber's loss."""
    return where(absolute(x) < 1, x, sign(x)), clip(x, -1, 1)


@rule(sound="exact", kink="|x| = 1")
def sign_outside_closed_unit(x: Real) -> Identity:
    """The same, the bounds themselves passed on."""
    return where(absolute(x) <= 1, x, sign(x)), clip(x, -1, 1)


@rule(sound="rounding", earned={"exact": {"c": PositiveConstant}})
def scaled_sign_outside_bound(x: Real, c: Nonnegative) -> Identity:
    """Clipping at any bound, written out."""
    return where(absolute(x) < c, x, c * sign(x)), clip(x, negative(c), c)


@rule(sound="rounding", earned={"exact": {"c": PositiveConstant}}, kink="|x| = c")
def scaled_sign_outside_closed_bound(x: Real, c: Nonnegative) -> Identity:
    """The same, the bounds themselves passed on."""
    return where(absolute(x) <= c, x, c * sign(x)), clip(x, negative(c), c)


@rule(sound="rounding")
def sign_times_lesser_magnitude(x: Real, c: Nonnegative) -> Identity:
    """Clipping, by magnitude and sign."""
    return sign(x) * minimum(absolute(x), c), clip(x, negative(c), c)


# -- comparisons -----------------------------------------------------------------------------------
@rule(sound="exact")
def sum_with_number_above_zero(x: Real, c: RealNumber) -> Identity:
    r"""$x + c > 0 \iff x > -c$, exactly, as below."""
    return greater(x + c, 0), greater(x, opposite(c))


@rule(sound="exact")
def sum_with_number_below_zero(x: Real, c: RealNumber) -> Identity:
    r"""$x + c < 0 \iff x < -c$, exactly, as below."""
    return less(x + c, 0), less(x, opposite(c))


@rule(sound="exact")
def difference_above_zero(x: Real, y: Real) -> Identity:
    r"""$x - y > 0 \iff x > y$, exactly: differences underflow gradually, and inf - inf is NaN."""
    return greater(x - y, 0), greater(x, y)


@rule(sound="exact")
def difference_below_zero(x: Real, y: Real) -> Identity:
    r"""$x - y < 0 \iff x < y$, as above."""
    return less(x - y, 0), less(x, y)


# -- comparisons that facts decide -----------------------------------------------------------------
# Where a value may underflow to 0, a comparison with 0 is there to catch that.
@rule(sound="rounding")
def nonzero_equals_zero(x: Annotated[Nonzero, keeps_off_zero]) -> Identity:
    """A number that is not zero does not equal zero."""
    return equal(x, 0), False


@rule(sound="rounding")
def nonzero_differs_from_zero(x: Annotated[Nonzero, keeps_off_zero]) -> Identity:
    """A number that is not zero differs from zero."""
    return not_equal(x, 0), True


@rule(sound="rounding")
def nonnegative_not_below_zero(x: Nonnegative) -> Identity:
    """A number that is not negative is not below zero."""
    return less(x, 0), False


@rule(sound="rounding")
def positive_not_at_most_zero(x: Annotated[Positive, keeps_off_zero]) -> Identity:
    """A positive number is not at most zero."""
    return less_equal(x, 0), False


@rule(sound="rounding", priority=-1)
def nonpositive_not_above_zero(x: Nonpositive) -> Identity:
    """A number that is not positive is not above zero."""
    return greater(x, 0), False


@rule(sound="rounding")
def negative_not_at_least_zero(x: Annotated[Negative, keeps_off_zero]) -> Identity:
    """A negative number is not at least zero."""
    return greater_equal(x, 0), False


# -- squares ---------------------------------------------------------------------------------------
@rule(sound="exact", measure="products of a number with itself")
def times_itself(x: Real) -> Identity:
    r"""One spelling for $x \cdot x$, so that equal squares are one node."""
    return x * x, square(x)
