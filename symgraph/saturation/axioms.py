"""Equalities that only an e-graph can use, for a greedy driver would run in circles with them.

The algebra of `symgraph.algebra` knows most of these by its normal form. As there, sides are equal
in exact arithmetic and to rounding, but numbers near the ends of a dtype's range may overflow in
one order and not in another; what loses range for ordinary numbers, as log x + log y = log(x y), is
not here. None says commutativity: e-nodes of commutative operations are found in both orders.
"""

from __future__ import annotations

from ..array import Array
from ..numpy import (
    absolute,
    add,
    cos,
    divide,
    exp,
    matmul,
    maximum,
    minimum,
    negative,
    sin,
    sqrt,
    square,
    where,
)
from ..rewriting import Identity, Rule, RulePack, opposite, rule
from ..rewriting.conditions import provided
from ..rewriting.guards import (
    Axes,
    Boolean,
    Flag,
    Nonnegative,
    Nonzero,
    Positive,
    Real,
    UniformConstant,
)
from ..rewriting.pattern import applied

__all__ = ["AXIOMS"]


# -- sums ------------------------------------------------------------------------------------------
@rule(sound="rounding")
def sums_associate(x: Real, y: Real, z: Real) -> Identity:
    """$(x + y) + z = x + (y + z)$."""
    return (x + y) + z, x + (y + z)


@rule(sound="rounding")
def sum_after_difference(x: Real, y: Real, z: Real) -> Identity:
    """$(x - y) + z = (x + z) - y$."""
    return (x - y) + z, (x + z) - y


@rule(sound="rounding")
def difference_after_sum(x: Real, y: Real, z: Real) -> Identity:
    """$(x + z) - y = x + (z - y)$."""
    return (x + z) - y, x + (z - y)


@rule(sound="rounding")
def difference_of_difference(x: Real, y: Real, z: Real) -> Identity:
    """$x - (y - z) = (x + z) - y$."""
    return x - (y - z), (x + z) - y


@rule(sound="rounding")
def difference_of_sum(x: Real, y: Real, z: Real) -> Identity:
    """$x - (y + z) = (x - y) - z$."""
    return x - (y + z), (x - y) - z


@rule(sound="rounding")
def difference_twice(x: Real, y: Real, z: Real) -> Identity:
    """$(x - y) - z = x - (y + z)$."""
    return (x - y) - z, x - (y + z)


# -- products and quotients ------------------------------------------------------------------------
@rule(sound="rounding")
def products_associate(x: Real, y: Real, z: Real) -> Identity:
    """$(x y) z = x (y z)$."""
    return (x * y) * z, x * (y * z)


@rule(sound="rounding")
def quotient_of_product(x: Real, y: Real, z: Real) -> Identity:
    """$(x y) / z = x (y / z)$."""
    return (x * y) / z, x * (y / z)


@rule(sound="rounding")
def product_with_quotient(x: Real, y: Real, z: Real) -> Identity:
    """$x (y / z) = (x y) / z$."""
    return x * (y / z), (x * y) / z


@rule(sound="rounding")
def quotient_of_quotient(x: Real, y: Real, z: Real) -> Identity:
    """$(x / y) / z = x / (y z)$."""
    return (x / y) / z, x / (y * z)


@rule(sound="rounding")
def quotient_by_product(x: Real, y: Real, z: Real) -> Identity:
    """$x / (y z) = (x / y) / z$."""
    return x / (y * z), (x / y) / z


@rule(sound="domain", earned={"rounding": {"z": Nonzero}})
def quotient_by_quotient(x: Real, y: Real, z: Real) -> Identity:
    """$x / (y / z) = (x z) / y$; where z is zero the left side is not defined."""
    return x / (y / z), (x * z) / y


@rule(sound="rounding")
def sign_before_product(x: Real, y: Real) -> Identity:
    """$x (-y) = -(x y)$."""
    return x * negative(y), negative(x * y)


@rule(sound="rounding")
def product_of_squares(x: Real, y: Real) -> Identity:
    """$x^2 y^2 = (x y)^2$."""
    return square(x) * square(y), square(x * y)


@rule(sound="rounding")
def square_as_product(x: Real) -> Identity:
    """$x^2 = x x$, so that one x is found as a factor."""
    return square(x), x * x


@rule(sound="rounding")
def sign_before_quotient(x: Real, y: Real) -> Identity:
    """$(-x) / y = -(x / y)$."""
    return negative(x) / y, negative(x / y)


@rule(sound="rounding")
def sign_into_constant(x: Real, c: UniformConstant) -> Identity:
    """$-(c x) = (-c) x$."""
    return negative(c * x), opposite(c) * x


@rule(sound="rounding")
def difference_turned(x: Real, y: Real) -> Identity:
    """$x - y = -(y - x)$, so that one difference serves for both."""
    return x - y, negative(y - x)


# -- factors and what they distribute over ---------------------------------------------------------
@rule(sound="rounding")
def common_factor(x: Real, y: Real, z: Real) -> Identity:
    """$x y + x z = x (y + z)$."""
    return x * y + x * z, x * (y + z)


@rule(sound="rounding")
def common_factor_of_difference(x: Real, y: Real, z: Real) -> Identity:
    """$x y - x z = x (y - z)$."""
    return x * y - x * z, x * (y - z)


@rule(sound="rounding")
def itself_as_factor(x: Real, y: Real) -> Identity:
    """$x y + x = x (y + 1)$."""
    return x * y + x, x * (y + 1)


@rule(sound="rounding")
def itself_as_factor_subtracted(x: Real, y: Real) -> Identity:
    """$x y - x = x (y - 1)$."""
    return x * y - x, x * (y - 1)


@rule(sound="rounding")
def itself_as_factor_less_product(x: Real, y: Real) -> Identity:
    """$x - x y = x (1 - y)$."""
    return x - x * y, x * (1 - y)


@rule(sound="rounding")
def twice(x: Real) -> Identity:
    """$x + x = 2 x$."""
    return x + x, 2 * x


@rule(sound="rounding")
def common_denominator(x: Real, y: Real, z: Real) -> Identity:
    """$x / z + y / z = (x + y) / z$."""
    return x / z + y / z, (x + y) / z


@rule(sound="rounding")
def common_denominator_of_difference(x: Real, y: Real, z: Real) -> Identity:
    """$x / z - y / z = (x - y) / z$."""
    return x / z - y / z, (x - y) / z


@rule(sound="rounding")
def product_distributes(x: Real, y: Real, z: Real) -> Identity:
    """$x (y + z) = x y + x z$."""
    return x * (y + z), x * y + x * z


@rule(sound="rounding")
def product_distributes_over_difference(x: Real, y: Real, z: Real) -> Identity:
    """$x (y - z) = x y - x z$."""
    return x * (y - z), x * y - x * z


@rule(sound="rounding")
def difference_of_squares(x: Real, y: Real) -> Identity:
    """$x^2 - y^2 = (x - y)(x + y)$."""
    return square(x) - square(y), (x - y) * (x + y)


@rule(sound="rounding")
def square_of_sum(x: Real, y: Real) -> Identity:
    """$x^2 + 2 x y + y^2 = (x + y)^2$."""
    return square(x) + y * (2 * x + y), square(x + y)


@rule(sound="rounding")
def square_of_difference(x: Real, y: Real) -> Identity:
    """$x^2 - 2 x y + y^2 = (x - y)^2$."""
    return square(x) - y * (2 * x - y), square(x - y)


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
# Not flagged commutative, for of 0 and -0 the first is taken.
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
    """Where one condition chooses twice, sums are chosen."""
    return where(c, x, y) + where(c, z, w), where(c, x + z, y + w)


@rule(sound="rounding")
def difference_of_choices(c: Boolean, x: Real, y: Real, z: Real, w: Real) -> Identity:
    """Where one condition chooses twice, differences are chosen."""
    return where(c, x, y) - where(c, z, w), where(c, x - z, y - w)


@rule(sound="rounding")
def product_of_choices(c: Boolean, x: Real, y: Real, z: Real, w: Real) -> Identity:
    """Where one condition chooses twice, products are chosen."""
    return where(c, x, y) * where(c, z, w), where(c, x * z, y * w)


@rule(sound="exact")
def choice_of_negatives(c: Boolean, x: Real, y: Real) -> Identity:
    """Where the result changes its sign, both branches may."""
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


# -- contractions ----------------------------------------------------------------------------------
@rule(sound="rounding")
def contractions_associate(x: Real, y: Real, z: Real) -> Identity:
    """$(X Y) Z = X (Y Z)$ of matrices and vectors at the ends."""
    provided(y.ndim == 2)
    provided(x.ndim <= 2)
    provided(z.ndim <= 2)
    return matmul(matmul(x, y), z), matmul(x, matmul(y, z))


@rule(sound="rounding")
def contractions_associate_right(x: Real, y: Real, z: Real) -> Identity:
    """$X (Y Z) = (X Y) Z$ of matrices and vectors at the ends."""
    provided(y.ndim == 2)
    provided(x.ndim <= 2)
    provided(z.ndim <= 2)
    return matmul(x, matmul(y, z)), matmul(matmul(x, y), z)


@rule(sound="rounding")
def sign_before_left_matrix(x: Real, y: Real) -> Identity:
    """$(-X) Y = -(X Y)$."""
    return matmul(negative(x), y), negative(matmul(x, y))


@rule(sound="rounding")
def sign_before_right_matrix(x: Real, y: Real) -> Identity:
    """$X (-Y) = -(X Y)$."""
    return matmul(x, negative(y)), negative(matmul(x, y))


@rule(sound="rounding")
def common_left_matrix(x: Real, y: Real, z: Real) -> Identity:
    """$X Y + X Z = X (Y + Z)$."""
    provided(y.shape == z.shape)
    return add(matmul(x, y), matmul(x, z)), matmul(x, y + z)


@rule(sound="rounding")
def common_right_matrix(x: Real, y: Real, z: Real) -> Identity:
    """$X Z + Y Z = (X + Y) Z$."""
    provided(x.shape == y.shape)
    return add(matmul(x, z), matmul(y, z)), matmul(x + y, z)


@rule(sound="rounding")
def common_left_matrix_of_difference(x: Real, y: Real, z: Real) -> Identity:
    """$X Y - X Z = X (Y - Z)$."""
    provided(y.shape == z.shape)
    return matmul(x, y) - matmul(x, z), matmul(x, y - z)


@rule(sound="rounding")
def common_right_matrix_of_difference(x: Real, y: Real, z: Real) -> Identity:
    """$X Z - Y Z = (X - Y) Z$."""
    provided(x.shape == y.shape)
    return matmul(x, z) - matmul(y, z), matmul(x - y, z)


@rule(sound="rounding")
def sum_of_sums(x: Real, y: Real, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\sum x_i + \sum y_i = \sum (x_i + y_i)$."""
    provided(x.shape == y.shape)
    first = applied("sum", x, axis=axis, keepdims=keepdims)
    second = applied("sum", y, axis=axis, keepdims=keepdims)
    return first + second, applied("sum", x + y, axis=axis, keepdims=keepdims)


AXIOMS = RulePack.of(
    "axioms", *(each for each in list(globals().values()) if isinstance(each, Rule))
)
"""Every rule of this file, in order."""
