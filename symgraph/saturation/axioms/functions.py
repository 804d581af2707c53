"""Roots, exponentials, angles, extrema, choices and truth values."""

from __future__ import annotations

from ...array import Array
from ...numpy import absolute, cos, divide, exp, maximum, minimum, negative, sin, sqrt, where
from ...rewriting import Identity, rule
from ...rewriting.guards import Boolean, Nonnegative, Positive, Real


# -- roots, exponentials, absolute values ----------------------------------------------------------
@rule(sound="rounding")
def product_of_roots(x: Nonnegative, y: Nonnegative) -> Identity:
    r"""$\sqrt x \sqrt y = \sqrt{x y}$ for $x, y >= 0$."""
    return sqrt(x) * sqrt(y), sqrt(x * y)


@rule(sound="rounding")
def quotient_of_roots(x: Nonnegative, y: Positive) -> Identity:
    r"""$\sqrt x / \sqrt y = \sqrt{x / y}$ for $x >= 0$, $y > 0$."""
    return sqrt(x) / sqrt(y), sqrt(divide(x, y))


@rule(sound="rounding")
def product_of_exps(x: Real, y: Real) -> Identity:
    """$e^x e^y = e^{x + y}$."""
    return exp(x) * exp(y), exp(x + y)


@rule(sound="rounding")
def product_of_absolutes(x: Real, y: Real) -> Identity:
    """$|x| |y| = |x y|$."""
    return absolute(x) * absolute(y), absolute(x * y)


@rule(sound="rounding")
def quotient_of_absolutes(x: Real, y: Real) -> Identity:
    """$|x| / |y| = |x / y|$."""
    return absolute(x) / absolute(y), absolute(x / y)


# -- sums of angles --------------------------------------------------------------------------------
@rule(sound="rounding")
def sine_of_sum(x: Real, y: Real) -> Identity:
    r"""$\sin x \cos y + \cos x \sin y = \sin(x + y)$."""
    return sin(x) * cos(y) + cos(x) * sin(y), sin(x + y)


@rule(sound="rounding")
def sine_of_difference(x: Real, y: Real) -> Identity:
    r"""$\sin x \cos y - \cos x \sin y = \sin(x - y)$."""
    return sin(x) * cos(y) - cos(x) * sin(y), sin(x - y)


@rule(sound="rounding")
def cosine_of_sum(x: Real, y: Real) -> Identity:
    r"""$\cos x \cos y - \sin x \sin y = \cos(x + y)$."""
    return cos(x) * cos(y) - sin(x) * sin(y), cos(x + y)


@rule(sound="rounding")
def cosine_of_difference(x: Real, y: Real) -> Identity:
    r"""$\cos x \cos y + \sin x \sin y = \cos(x - y)$."""
    return cos(x) * cos(y) + sin(x) * sin(y), cos(x - y)


# -- extrema ---------------------------------------------------------------------------------------
# These operations are not declared commutative, for of 0 and -0 they take the first.
@rule(sound="rounding")
def maxima_commute(x: Array, y: Array) -> Identity:
    r"""$\max(x, y) = \max(y, x)$."""
    return maximum(x, y), maximum(y, x)


@rule(sound="rounding")
def minima_commute(x: Array, y: Array) -> Identity:
    r"""$\min(x, y) = \min(y, x)$."""
    return minimum(x, y), minimum(y, x)


@rule(sound="rounding")
def maxima_associate(x: Array, y: Array, z: Array) -> Identity:
    r"""$\max(\max(x, y), z) = \max(x, \max(y, z))$."""
    return maximum(maximum(x, y), z), maximum(x, maximum(y, z))


@rule(sound="rounding")
def minima_associate(x: Array, y: Array, z: Array) -> Identity:
    r"""$\min(\min(x, y), z) = \min(x, \min(y, z))$."""
    return minimum(minimum(x, y), z), minimum(x, minimum(y, z))


@rule(sound="rounding")
def minimum_over_maximum(x: Array, y: Array, z: Array) -> Identity:
    r"""$\max(\min(x, y), \min(x, z)) = \min(x, \max(y, z))$."""
    return maximum(minimum(x, y), minimum(x, z)), minimum(x, maximum(y, z))


@rule(sound="rounding")
def maximum_over_minimum(x: Array, y: Array, z: Array) -> Identity:
    r"""$\min(\max(x, y), \max(x, z)) = \max(x, \min(y, z))$."""
    return minimum(maximum(x, y), maximum(x, z)), maximum(x, minimum(y, z))


@rule(sound="rounding")
def maximum_of_shifted(x: Real, y: Real, z: Real) -> Identity:
    r"""$\max(x + z, y + z) = \max(x, y) + z$."""
    return maximum(x + z, y + z), maximum(x, y) + z


@rule(sound="rounding")
def minimum_of_shifted(x: Real, y: Real, z: Real) -> Identity:
    r"""$\min(x + z, y + z) = \min(x, y) + z$."""
    return minimum(x + z, y + z), minimum(x, y) + z


@rule(sound="rounding")
def maximum_of_scaled(x: Real, y: Real, z: Nonnegative) -> Identity:
    r"""$\max(x z, y z) = z \max(x, y)$ for $z >= 0$."""
    return maximum(x * z, y * z), z * maximum(x, y)


@rule(sound="rounding")
def minimum_of_scaled(x: Real, y: Real, z: Nonnegative) -> Identity:
    r"""$\min(x z, y z) = z \min(x, y)$ for $z >= 0$."""
    return minimum(x * z, y * z), z * minimum(x, y)


@rule(sound="rounding")
def sum_of_extrema(x: Real, y: Real) -> Identity:
    r"""$\max(x, y) + \min(x, y) = x + y$."""
    return maximum(x, y) + minimum(x, y), x + y


@rule(sound="rounding")
def product_of_extrema(x: Real, y: Real) -> Identity:
    r"""$\max(x, y) \min(x, y) = x y$."""
    return maximum(x, y) * minimum(x, y), x * y


# -- choices and conditions ------------------------------------------------------------------------
@rule(sound="rounding")
def sum_of_choices(c: Boolean, x: Real, y: Real, z: Real, w: Real) -> Identity:
    """The sum of two choices by one condition is one choice between sums."""
    return where(c, x, y) + where(c, z, w), where(c, x + z, y + w)


@rule(sound="rounding")
def difference_of_choices(c: Boolean, x: Real, y: Real, z: Real, w: Real) -> Identity:
    """The difference of two choices by one condition is one choice between differences."""
    return where(c, x, y) - where(c, z, w), where(c, x - z, y - w)


@rule(sound="rounding")
def product_of_choices(c: Boolean, x: Real, y: Real, z: Real, w: Real) -> Identity:
    """The product of two choices by one condition is one choice between products."""
    return where(c, x, y) * where(c, z, w), where(c, x * z, y * w)


@rule(sound="exact")
def choice_of_negatives(c: Boolean, x: Real, y: Real) -> Identity:
    """The negative of a choice is a choice between negatives."""
    return negative(where(c, x, y)), where(c, negative(x), negative(y))


@rule(sound="exact")
def conjunction_over_disjunction(x: Boolean, y: Boolean, z: Boolean) -> Identity:
    r"""$(x \wedge y) \vee (x \wedge z) = x \wedge (y \vee z)$."""
    return (x & y) | (x & z), x & (y | z)


@rule(sound="exact")
def disjunction_over_conjunction(x: Boolean, y: Boolean, z: Boolean) -> Identity:
    r"""$(x \vee y) \wedge (x \vee z) = x \vee (y \wedge z)$."""
    return (x | y) & (x | z), x | (y & z)


@rule(sound="exact")
def conjunctions_associate(x: Boolean, y: Boolean, z: Boolean) -> Identity:
    r"""$(x \wedge y) \wedge z = x \wedge (y \wedge z)$."""
    return (x & y) & z, x & (y & z)


@rule(sound="exact")
def disjunctions_associate(x: Boolean, y: Boolean, z: Boolean) -> Identity:
    r"""$(x \vee y) \vee z = x \vee (y \vee z)$."""
    return (x | y) | z, x | (y | z)


@rule(sound="exact")
def conjunction_of_equals(x: Boolean) -> Identity:
    r"""$x \wedge x = x$."""
    return x & x, x


@rule(sound="exact")
def disjunction_of_equals(x: Boolean) -> Identity:
    r"""$x \vee x = x$."""
    return x | x, x


@rule(sound="exact")
def neither(x: Boolean, y: Boolean) -> Identity:
    r"""$\neg x \wedge \neg y = \neg(x \vee y)$."""
    return ~x & ~y, ~(x | y)


@rule(sound="exact")
def not_both(x: Boolean, y: Boolean) -> Identity:
    r"""$\neg x \vee \neg y = \neg(x \wedge y)$."""
    return ~x | ~y, ~(x & y)


@rule(sound="exact")
def not_not(x: Boolean) -> Identity:
    r"""$\neg \neg x = x$."""
    return ~~x, x
