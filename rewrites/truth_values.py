"""Truth values: comparisons of a number with itself, and, or, not, and choices by conditions."""

from __future__ import annotations

from typing import Annotated

from symgraph.numpy import (
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
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
    applied,
    is_real,
    rule,
)


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
def and_with_itself(c: Boolean) -> Identity:
    r"""$c \land c = c$."""
    return logical_and(c, c), c


@rule(sound="exact")
def or_with_itself(c: Boolean) -> Identity:
    r"""$c \lor c = c$."""
    return logical_or(c, c), c


@rule(sound="exact")
def and_with_one_of_both(c: Boolean, d: Boolean) -> Identity:
    r"""$(c \wedge d) \wedge d = c \wedge d$, as of masks of masks."""
    return logical_and(logical_and(c, d), d), logical_and(c, d)


@rule(sound="exact")
def or_with_one_of_both(c: Boolean, d: Boolean) -> Identity:
    r"""$(c \vee d) \vee d = c \vee d$, as of masks of masks."""
    return logical_or(logical_or(c, d), d), logical_or(c, d)


@rule(sound="exact")
def exclusive_or_with_itself(c: Array) -> Identity:
    r"""$c \oplus c$ is false."""
    return logical_xor(c, c), False


@rule(sound="exact")
def and_with_true(c: Boolean) -> Identity:
    """True is the unit of and."""
    return logical_and(c, True), c


@rule(sound="exact")
def and_with_false(c: Array) -> Identity:
    """And with false is false."""
    return logical_and(c, False), False


@rule(sound="exact")
def or_with_false(c: Boolean) -> Identity:
    """False is the unit of or."""
    return logical_or(c, False), c


@rule(sound="exact")
def or_with_true(c: Array) -> Identity:
    """Or with true is true."""
    return logical_or(c, True), True


@rule(sound="exact")
def denied_twice(c: Boolean) -> Identity:
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
def bit_and_true(c: Boolean) -> Identity:
    r"""$c \land 1 = c$, as the operator `&` writes it."""
    return bitwise_and(c, True), c


@rule(sound="exact")
def bit_and_false(c: Boolean) -> Identity:
    r"""$c \land 0 = 0$, as the operator `&` writes it."""
    return bitwise_and(c, False), False


@rule(sound="exact")
def bit_or_false(c: Boolean) -> Identity:
    r"""$c \lor 0 = c$, as the operator `|` writes it."""
    return bitwise_or(c, False), c


@rule(sound="exact")
def bit_or_true(c: Boolean) -> Identity:
    r"""$c \lor 1 = 1$, as the operator `|` writes it."""
    return bitwise_or(c, True), True


@rule(sound="exact")
def unequal_or_nan(x: Array, y: Array) -> Identity:
    """NaN differs from every number, so it need not be asked for beside that."""
    return bitwise_or(not_equal(x, y), not_equal(x, x)), not_equal(x, y)


@rule(sound="exact")
def truth_as_number_above_zero(c: Boolean, dtype: DType) -> Identity:
    """A truth value as a number is above zero where it is true."""
    return greater(applied("cast", c, dtype=dtype), 0), c


@rule(sound="exact")
def truth_as_number_not_zero(c: Boolean, dtype: DType) -> Identity:
    """A truth value as a number is nonzero where it is true."""
    return not_equal(applied("cast", c, dtype=dtype), 0), c


@rule(sound="exact")
def truth_as_number_is_one(c: Boolean, dtype: DType) -> Identity:
    """A truth value as a number is one where it is true."""
    return equal(applied("cast", c, dtype=dtype), 1), c


# -- choices by conditions -------------------------------------------------------------------------
@rule(sound="exact")
def choice_of_true_and_false(c: Boolean) -> Identity:
    """A choice of true and false is the condition."""
    return where(c, True, False), c


@rule(sound="exact")
def choice_of_false_and_true(c: Boolean) -> Identity:
    """A choice of false and true is the negated condition."""
    return where(c, False, True), logical_not(c)


@rule(sound="exact")
def choice_by_denied(c: Boolean, x: Array, y: Array) -> Identity:
    """A choice by a negated condition swaps the branches."""
    return where(logical_not(c), x, y), where(c, y, x)


@rule(sound="exact")
def product_of_opposite_choices(c: Boolean, x: Array, y: Array) -> Identity:
    """Two opposite choices of x and y multiply x by y in each element."""
    return where(c, x, y) * where(c, y, x), x * y


@rule(sound="exact")
def sum_of_opposite_choices(c: Boolean, x: Array, y: Array) -> Identity:
    """Two opposite choices of x and y add x and y in each element."""
    return where(c, x, y) + where(c, y, x), x + y


@rule(sound="rounding", measure="choices")
def difference_of_choices(c: Boolean, x: Annotated[Finite, is_real], y: Real, z: Real) -> Identity:
    """The common first branch of two choices cancels, where it is finite."""
    return where(c, x, y) - where(c, x, z), where(c, 0, y - z)


@rule(sound="rounding", measure="choices")
def difference_of_choices_otherwise(
    c: Boolean, x: Real, y: Annotated[Finite, is_real], z: Real
) -> Identity:
    """The common second branch of two choices cancels, where it is finite."""
    return where(c, x, y) - where(c, z, y), where(c, x - z, 0)
