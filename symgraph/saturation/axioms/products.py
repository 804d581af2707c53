"""Products and quotients, and distributive laws."""

from __future__ import annotations

from ...numpy import negative, square
from ...rewriting import Identity, negated, rule
from ...rewriting.guards import Nonzero, Real, UniformConstant


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
    return negative(c * x), negated(c) * x


@rule(sound="rounding")
def difference_turned(x: Real, y: Real) -> Identity:
    """$x - y = -(y - x)$, so that one difference serves for both."""
    return x - y, negative(y - x)


# -- distributive laws -----------------------------------------------------------------------------
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
