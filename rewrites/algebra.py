"""Units, zeros and signs; absolute values, extrema, and choices between equal values."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from symgraph.numpy import (
    absolute,
    maximum,
    minimum,
    multiply_or_zero,
    negative,
    reciprocal,
    sign,
    square,
    where,
)
from symgraph.rewriting import (
    Array,
    Boolean,
    Finite,
    Identity,
    Integer,
    NegativeConstant,
    Nonnegative,
    Nonpositive,
    Nonzero,
    Real,
    Total,
    UniformConstant,
    Varying,
    is_real,
    negated,
    product,
    rule,
)

from .known import keeps_off_zero

NonpositiveReal: TypeAlias = Annotated[Nonpositive, is_real]


# -- units and zeros -------------------------------------------------------------------------------
@rule(sound="exact")
def times_one(x: Array) -> Identity:
    """One is the unit of multiplication, NaN and signed zeros included."""
    return x * 1, x


@rule(sound="exact")
def divided_by_one(x: Array) -> Identity:
    """Dividing by one changes nothing."""
    return x / 1, x


@rule(sound="exact")
def minus_zero(x: Array) -> Identity:
    """Subtracting +0 changes nothing, not even -0."""
    return x - 0, x


@rule(sound="exact")
def plus_negative_zero(x: Real) -> Identity:
    """-0 is the unit of floating-point addition."""
    return x + -0.0, x


@rule(sound="rounding", earned={"exact": {"x": Integer}})
def plus_zero(x: Array) -> Identity:
    """Zero is the unit of addition; not bit by bit, for -0 + 0 is +0."""
    return x + 0, x


@rule(sound="rounding", earned={"exact": {"x": Integer}})
def zero_minus(x: Array) -> Identity:
    """$0 - x = -x$; not bit by bit, for 0 - 0 is +0."""
    return 0 - x, negative(x)


@rule(sound="domain", earned={"rounding": {"x": Finite}, "exact": {"x": Integer}})
def times_zero(x: Array) -> Identity:
    """Zero times a finite number is zero; zero times NaN or an infinity is NaN."""
    return x * 0, 0


@rule(sound="rounding")
def product_never_taken_for_zero(x: Annotated[Nonzero, keeps_off_zero], y: Array) -> Identity:
    """A product that would be 0 where its first factor is, though the factor never is."""
    return multiply_or_zero(x, y), x * y


@rule(sound="rounding")
def reciprocal_never_infinite(x: Array, y: Nonzero) -> Identity:
    """Zero divided by a number that is not zero is zero."""
    return multiply_or_zero(x, 1 / y), x / y


@rule(sound="domain", earned={"rounding": {"x": (Nonzero, Total)}})
def zero_over(x: Array) -> Identity:
    """Zero divided by a nonzero number is zero."""
    return 0 / x, 0


@rule(sound="domain", earned={"rounding": {"x": (Nonzero, Total)}})
def product_over_its_factor(x: Array, y: Array) -> Identity:
    r"""$x y / x = y$ unless x is zero; the algebra may treat the product as one array."""
    return x * y / x, y


@rule(sound="domain", earned={"rounding": {"x": (Nonzero, Total)}})
def product_or_zero_over_its_factor(x: Array, y: Array) -> Identity:
    r"""A product that is 0 for $x = 0$, divided by $x$."""
    return multiply_or_zero(x, y) / x, y


@rule(sound="domain", earned={"rounding": {"x": (Nonzero, Total)}})
def quotient_of_equals(x: Array) -> Identity:
    """A number divided by itself is one, unless it is zero."""
    return x / x, 1


@rule(sound="domain", earned={"rounding": {"x": Finite}, "exact": {"x": Integer}})
def difference_of_equals(x: Array) -> Identity:
    """A number minus itself is zero, unless it is infinite."""
    return x - x, 0


# -- signs -----------------------------------------------------------------------------------------
@rule(sound="exact")
def double_negation(x: Array) -> Identity:
    """$-(-x) = x$."""
    return negative(negative(x)), x


@rule(sound="exact")
def minus_negative(x: Array, y: Varying) -> Identity:
    """$x - (-y) = x + y$."""
    return x - negative(y), x + y


@rule(sound="exact")
def plus_negative(x: Array, y: Varying) -> Identity:
    """$x + (-y) = x - y$."""
    return x + negative(y), x - y


@rule(sound="exact")
def times_minus_one(x: Real) -> Identity:
    """Multiplying by -1 changes the sign."""
    return x * -1, negative(x)


@rule(sound="exact")
def divided_by_minus_one(x: Real) -> Identity:
    """Dividing by -1 changes the sign."""
    return x / -1, negative(x)


@rule(sound="exact")
def product_of_negatives(x: Array, y: Array) -> Identity:
    """$(-x)(-y) = xy$."""
    return negative(x) * negative(y), x * y


@rule(sound="exact")
def quotient_of_negatives(x: Real, y: Real) -> Identity:
    """$(-x)/(-y) = x/y$."""
    return negative(x) / negative(y), x / y


@rule(sound="rounding", earned={"exact": {"x": Integer}})
def negated_difference(x: Array, y: Array) -> Identity:
    """$-(x - y) = y - x$; a zero may change its sign."""
    return negative(x - y), y - x


@rule(sound="rounding", measure="products of constants")
def times_two_constants(x: Real, c: UniformConstant, k: UniformConstant) -> Identity:
    """$c (k x) = (c k) x$ for numbers, unless their product overflows or underflows."""
    return c * (k * x), product(c, k) * x


@rule(sound="exact", measure="additions of a negative constant")
def plus_negative_constant(x: Real, c: NegativeConstant) -> Identity:
    """Adding a negative constant is subtracting its opposite: one form for both."""
    return x + c, x - negated(c)


@rule(sound="exact", measure="subtractions of a negative constant")
def minus_negative_constant(x: Real, c: NegativeConstant) -> Identity:
    """Subtracting a negative constant is adding its opposite."""
    return x - c, x + negated(c)


@rule(sound="exact")
def square_of_negative(x: Array) -> Identity:
    """$(-x)^2 = x^2$."""
    return square(negative(x)), square(x)


@rule(sound="exact")
def square_of_absolute(x: Array) -> Identity:
    """$|x|^2 = x^2$."""
    return square(absolute(x)), square(x)


# -- reciprocals -----------------------------------------------------------------------------------
@rule(sound="exact", measure="division nodes with numerator one")
def times_reciprocal(x: Real) -> Identity:
    """A reciprocal is one over its operand: one form for both."""
    return reciprocal(x), 1 / x


# -- absolute values -------------------------------------------------------------------------------
@rule(sound="exact")
def absolute_of_negative(x: Real) -> Identity:
    """$|-x| = |x|$."""
    return absolute(negative(x)), absolute(x)


@rule(sound="exact")
def absolute_of_absolute(x: Array) -> Identity:
    """$||x|| = |x|$."""
    return absolute(absolute(x)), absolute(x)


@rule(sound="exact")
def absolute_of_square(x: Real) -> Identity:
    """Squares are nonnegative."""
    return absolute(square(x)), square(x)


# Zero is both nonnegative and nonpositive: the shorter form wins.
@rule(sound="rounding", priority=1)
def absolute_of_nonnegative(x: Nonnegative) -> Identity:
    """$|x| = x$ for $x >= 0$; -0 would become +0."""
    return absolute(x), x


@rule(sound="rounding", measure="absolute values")
def absolute_of_nonpositive(x: NonpositiveReal) -> Identity:
    """$|x| = -x$ for $x <= 0$."""
    return absolute(x), negative(x)


@rule(sound="rounding")
def sign_times_absolute(x: Real) -> Identity:
    r"""$\operatorname{sgn}(x)\,|x| = x$."""
    return sign(x) * absolute(x), x


@rule(sound="rounding")
def sign_times_itself(x: Real) -> Identity:
    r"""$\operatorname{sgn}(x)\,x = |x|$."""
    return sign(x) * x, absolute(x)


@rule(sound="rounding")
def sign_of_positive(x: Nonnegative) -> Identity:
    r"""$\operatorname{sgn}(x)\,x = x$ for $x >= 0$."""
    return sign(x) * x, x


# -- extrema ---------------------------------------------------------------------------------------
@rule(sound="rounding", measure="numbers in front")
def maximum_of_number(c: UniformConstant, x: Varying) -> Identity:
    r"""$\max(c, x) = \max(x, c)$: the rules below look for numbers behind."""
    return maximum(c, x), maximum(x, c)


@rule(sound="rounding", measure="numbers in front")
def minimum_of_number(c: UniformConstant, x: Varying) -> Identity:
    r"""$\min(c, x) = \min(x, c)$: the rules below look for numbers behind."""
    return minimum(c, x), minimum(x, c)


@rule(sound="exact")
def maximum_of_equals(x: Array) -> Identity:
    r"""$\max(x, x) = x$."""
    return maximum(x, x), x


@rule(sound="exact")
def minimum_of_equals(x: Array) -> Identity:
    r"""$\min(x, x) = x$."""
    return minimum(x, x), x


@rule(sound="exact", kink="x = y")
def maximum_absorbs(x: Array, y: Array) -> Identity:
    r"""$\max(\max(x, y), y) = \max(x, y)$."""
    return maximum(maximum(x, y), y), maximum(x, y)


@rule(sound="exact", kink="x = y")
def minimum_absorbs(x: Array, y: Array) -> Identity:
    r"""$\min(\min(x, y), y) = \min(x, y)$."""
    return minimum(minimum(x, y), y), minimum(x, y)


@rule(sound="exact")
def maximum_with_nothing(x: Real) -> Identity:
    r"""$\max(x, -\infty) = x$; minus infinity is the maximum of no numbers."""
    return maximum(x, -np.inf), x


@rule(sound="exact")
def maximum_from_nothing(x: Real) -> Identity:
    r"""$\max(-\infty, x) = x$, as JAX begins a maximum."""
    return maximum(-np.inf, x), x


@rule(sound="exact")
def minimum_with_nothing(x: Real) -> Identity:
    r"""$\min(x, \infty) = x$; infinity is the minimum of no numbers."""
    return minimum(x, np.inf), x


@rule(sound="exact")
def minimum_from_nothing(x: Real) -> Identity:
    r"""$\min(\infty, x) = x$, as JAX begins a minimum."""
    return minimum(np.inf, x), x


@rule(sound="rounding", kink="x = 0")
def rectified_nonnegative(x: Nonnegative) -> Identity:
    r"""$\max(x, 0) = x$ for $x >= 0$."""
    return maximum(x, 0), x


@rule(sound="rounding", kink="x = 0")
def clipped_nonpositive(x: Nonpositive) -> Identity:
    r"""$\min(x, 0) = x$ for $x <= 0$."""
    return minimum(x, 0), x


# -- choices ---------------------------------------------------------------------------------------
@rule(sound="exact")
def choice_of_equals(c: Boolean, x: Array) -> Identity:
    """A choice between equal values is that value."""
    return where(c, x, x), x


@rule(sound="exact")
def choice_by_true(x: Array, y: Array) -> Identity:
    """A true condition chooses the first branch."""
    return where(True, x, y), x


@rule(sound="exact")
def choice_by_false(x: Array, y: Array) -> Identity:
    """A false condition chooses the second branch."""
    return where(False, x, y), y


@rule(sound="exact")
def choice_in_first_branch(c: Boolean, x: Array, y: Array, z: Array) -> Identity:
    """In the first branch the condition is known to be true."""
    return where(c, where(c, x, y), z), where(c, x, z)


@rule(sound="exact")
def choice_in_second_branch(c: Boolean, x: Array, y: Array, z: Array) -> Identity:
    """In the second branch the condition is known to be false."""
    return where(c, x, where(c, y, z)), where(c, x, z)


@rule(
    sound="domain",
    earned={"rounding": {"y": Total}},
    priority=1,  # before its mirror image, where both factors are masked
    stable="0 * NaN of the branch not taken does not arise",
)
def choice_of_zero_times(c: Boolean, x: Real, y: Real) -> Identity:
    """A product is zero where a factor is masked: choosing last multiplies no NaN."""
    return where(c, x, 0) * y, where(c, x * y, 0)


@rule(
    sound="domain",
    earned={"rounding": {"y": Total}},
    stable="0 * NaN of the branch not taken does not arise",
)
def choice_of_other_zero_times(c: Boolean, x: Real, y: Real) -> Identity:
    """As `choice_of_zero_times`, with zero in the first branch."""
    return where(c, 0, x) * y, where(c, 0, x * y)
