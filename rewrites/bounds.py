"""A choice between a value and its bound, written out: maximum, minimum and clipping.

A bound must be defined: if it is NaN, the choice is the value, but the extremum is NaN.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from symgraph.numpy import clip, maximum, minimum, negative, where
from symgraph.rewriting import (
    Identity,
    Nonnegative,
    Real,
    Total,
    is_real,
    is_scalar,
    provided,
    rule,
    value_of,
)

from .known import RealUniformConstant

Bound: TypeAlias = Annotated[Total, is_real, is_scalar]
"""One number: of two arrays, the choice of the smaller and of the larger may be a product."""
NonnegativeReal: TypeAlias = Annotated[Nonnegative, is_real]


# -- one bound -------------------------------------------------------------------------------------
@rule(sound="rounding", kink="x = c")
def bound_above_it(x: Real, c: Bound) -> Identity:
    r"""Replacing the values above c by c gives $\min(x, c)$."""
    return where(x > c, c, x), minimum(x, c)


@rule(sound="rounding", kink="x = c")
def bound_at_or_above_it(x: Real, c: Bound) -> Identity:
    """As `bound_above_it`; at a tie both are the bound."""
    return where(x >= c, c, x), minimum(x, c)


@rule(sound="rounding", kink="x = c")
def bound_below_it(x: Real, c: Bound) -> Identity:
    r"""Replacing the values below c by c gives $\max(x, c)$."""
    return where(x < c, c, x), maximum(x, c)


@rule(sound="rounding", kink="x = c")
def bound_at_or_below_it(x: Real, c: Bound) -> Identity:
    """As `bound_below_it`; at a tie both are the bound."""
    return where(x <= c, c, x), maximum(x, c)


# -- two bounds ------------------------------------------------------------------------------------
@rule(sound="rounding", kink="x = c")
def bound_above_and_bounded_below(
    x: Real, k: RealUniformConstant, c: RealUniformConstant
) -> Identity:
    """Clipping to [k, c], with the upper bound chosen."""
    provided(value_of(k) <= value_of(c))
    return where(x > c, c, maximum(x, k)), clip(x, k, c)


@rule(sound="rounding", kink="x = c")
def bound_at_or_above_and_bounded_below(
    x: Real, k: RealUniformConstant, c: RealUniformConstant
) -> Identity:
    """As `bound_above_and_bounded_below`; at a tie both are the bound."""
    provided(value_of(k) <= value_of(c))
    return where(x >= c, c, maximum(x, k)), clip(x, k, c)


@rule(sound="rounding", kink="x = k")
def bound_below_and_bounded_above(
    x: Real, k: RealUniformConstant, c: RealUniformConstant
) -> Identity:
    """Clipping to [k, c], with the lower bound chosen."""
    provided(value_of(k) <= value_of(c))
    return where(x < k, k, minimum(x, c)), clip(x, k, c)


@rule(sound="rounding", kink="x = k")
def bound_at_or_below_and_bounded_above(
    x: Real, k: RealUniformConstant, c: RealUniformConstant
) -> Identity:
    """As `bound_below_and_bounded_above`; at a tie both are the bound."""
    provided(value_of(k) <= value_of(c))
    return where(x <= k, k, minimum(x, c)), clip(x, k, c)


@rule(sound="rounding", kink="x = c")
def reach_above_it_and_below(x: Real, c: NonnegativeReal) -> Identity:
    """Clipping to [-c, c], with the upper bound chosen."""
    return where(x > c, c, maximum(x, negative(c))), clip(x, negative(c), c)


@rule(sound="rounding", kink="x = c")
def reach_at_or_above_it_and_below(x: Real, c: NonnegativeReal) -> Identity:
    """As `reach_above_it_and_below`; at a tie both are the bound."""
    return where(x >= c, c, maximum(x, negative(c))), clip(x, negative(c), c)


@rule(sound="rounding", kink="x = -c")
def reach_below_it_and_above(x: Real, c: NonnegativeReal) -> Identity:
    """Clipping to [-c, c], with the lower bound chosen."""
    return where(x < negative(c), negative(c), minimum(x, c)), clip(x, negative(c), c)


@rule(sound="rounding", kink="x = -c")
def reach_at_or_below_it_and_above(x: Real, c: NonnegativeReal) -> Identity:
    """As `reach_below_it_and_above`; at a tie both are the bound."""
    return where(x <= negative(c), negative(c), minimum(x, c)), clip(x, negative(c), c)


@rule(sound="rounding")
def least_of_greatest(x: Real, k: RealUniformConstant, c: RealUniformConstant) -> Identity:
    r"""$\min(\max(x, k), c)$ is clipping to $[k, c]$."""
    return minimum(maximum(x, k), c), clip(x, k, c)


@rule(sound="rounding")
def greatest_of_least(x: Real, k: RealUniformConstant, c: RealUniformConstant) -> Identity:
    r"""$\max(\min(x, c), k)$ is clipping to $[k, c]$, if $k \le c$."""
    provided(value_of(k) <= value_of(c))
    return maximum(minimum(x, c), k), clip(x, k, c)
