"""Arithmetic on corresponding elements: sums, products, roots and signs.

Kinks have one documented subgradient each, the same on every backend: |x| has derivative 0 at 0,
and so has sign everywhere; hypot has derivative 0 at the origin; sqrt has an infinite one at 0.
"""

from __future__ import annotations

import math
from fractions import Fraction
from math import inf
from operator import truediv

import numpy as np

from .. import facts as f
from ..array import Array, ArrayLike
from ..ir.differentiation import StandIn
from ..ir.fact_inference import known_before
from ..ir.node import Node
from ..ir.traits import ODD, Infix, Prefix, Traits
from ..notation import arithmetic, formulas
from .arithmetic_facts import (
    bounds_absolute,
    bounds_add,
    bounds_copysign,
    bounds_divide,
    bounds_hypot,
    bounds_multiply,
    bounds_sign,
    bounds_subtract,
    divisor_nonzero,
    signs_add,
    signs_copysign,
    signs_hypot,
    signs_reciprocal,
    signs_subtract,
)
from .bounds import (
    bounds_of_quotient,
    bounds_of_square,
    even_signs,
    increasing,
    knows,
    mirrored_signs,
    negated,
    odd_signs,
    product_signs,
)
from .choice import where
from .composites import composite
from .families import as_ufunc_takes, elementwise
from .growing import quotient_by_growing
from .length_slopes import tangent_of_hypot, times_sign, times_slope
from .power_logarithms import power_with_logarithm
from .power_norms import norm_of_powers
from .product_roots import root_of_product
from .quotients import direction_in_a_plane, divide_or_zero
from .radial import scaled_direction
from .root_quotients import quotient_by_own_root
from .roots import norm_written_out
from .structures import (
    structure_of_difference,
    structure_of_product,
    structure_of_quotient,
    structure_of_sum,
)

__all__ = [
    "absolute",
    "add",
    "cbrt",
    "copysign",
    "degrees",
    "divide",
    "fabs",
    "heaviside",
    "hypot",
    "multiply",
    "negative",
    "positive",
    "radians",
    "reciprocal",
    "sign",
    "sqrt",
    "square",
    "subtract",
]


# -- sums and products -----------------------------------------------------------------------------
add = elementwise(
    "add",
    doc="x + y; for truth values, their disjunction.",
    kernel=lambda xp, x, y: xp.add(x, y),
    vjp=(
        lambda ct, out, x, y: ct,
        lambda ct, out, x, y: ct,
    ),
    facts=knows(
        bounds=bounds_add,
        signs=signs_add,
        pattern=structure_of_sum,
        keeps_integers=True,
    ),
    traits=Traits(commutative=True, jointly_linear=..., combination=(1, 1)),
    ufunc="add",
    behind_mask=False,
    definition=lambda m, x, y: x + y,
    text=Infix("+", 6),
    latex=arithmetic.sum_formula,
)

subtract = elementwise(
    "subtract",
    doc="x - y.",
    kernel=lambda xp, x, y: xp.subtract(x, y),
    vjp=(
        lambda ct, out, x, y: ct,
        lambda ct, out, x, y: -ct,
    ),
    facts=knows(
        bounds=bounds_subtract,
        signs=signs_subtract,
        pattern=structure_of_difference,
        keeps_integers=True,
    ),
    ufunc="subtract",
    behind_mask=False,
    traits=Traits(jointly_linear=..., shift=0, combination=(1, -1)),
    definition=lambda m, x, y: x - y,
    text=Infix("-", 6),
    latex=arithmetic.difference_formula,
)

negative = elementwise(
    "negative",
    doc="-x.",
    kernel=lambda xp, x: xp.negative(x),
    vjp=(lambda ct, out, x: -ct,),
    facts=knows(
        bounds=negated,
        signs=mirrored_signs,
        keeps_finite=True,
        keeps_integers=True,
        zero_at_zero=True,
    ),
    ufunc="negative",
    behind_mask=False,
    traits=Traits(linear=(0,), combination=(-1,)),
    definition=lambda m, x: -x,
    mistaken_for=("absolute", "reciprocal"),
    text=Prefix("-"),
    latex=arithmetic.negative_formula,
)

multiply = elementwise(
    "multiply",
    doc="x * y; for truth values, their conjunction.",
    kernel=lambda xp, x, y: xp.multiply(x, y),
    vjp=(
        lambda ct, out, x, y: ct * y,
        lambda ct, out, x, y: ct * x,
    ),
    stand_in=lambda node: scaled_direction(node) or power_with_logarithm(node),
    facts=knows(
        bounds=bounds_multiply,
        signs=product_signs,
        pattern=structure_of_product,
        keeps_integers=True,
    ),
    traits=Traits(commutative=True, linear=..., monomial=(1, 1)),
    ufunc="multiply",
    definition=lambda m, x, y: m.multiply(x, y),
    mistaken_for=("divide", "add"),
    text=Infix("*", 7),
    latex=arithmetic.product_formula,
)


def _derivative_of_quotient(node: Node) -> StandIn | None:
    """The derivative of a quotient past its divisor, where the chain rule cancels or overflows."""
    return (
        direction_in_a_plane(node, truediv)
        or quotient_by_own_root(node)
        or quotient_by_growing(node)
    )


divide = elementwise(
    "divide",
    kernel=lambda xp, x, y: xp.divide(x, y),
    vjp=(
        lambda ct, out, x, y: ct / y,
        lambda ct, out, x, y: -(ct * out / y),
    ),
    facts=knows(
        bounds=bounds_divide,
        signs=product_signs,
        pattern=structure_of_quotient,
        defined=divisor_nonzero,
    ),
    stand_in=_derivative_of_quotient,
    ufunc="divide",
    doc="x / y; integers give float64, as in NumPy.",
    traits=Traits(parity=(0, -1), signed_zero=(1,), linear=(0,), homogeneous=0, monomial=(1, -1)),
    definition=lambda m, x, y: m.divide(x, y),
    text=Infix("/", 7),
    latex=arithmetic.fraction_formula,
)

reciprocal = elementwise(
    "reciprocal",
    doc="1 / x; of integers, without the fraction.",
    kernel=lambda xp, x: xp.reciprocal(x),
    vjp=(lambda ct, out, x: -(ct * out * out),),
    facts=knows(
        bounds=lambda x: bounds_of_quotient((1.0, 1.0), x.bounds),
        signs=signs_reciprocal,
        defined=lambda x: x.has(f.nonzero),
    ),
    ufunc="reciprocal",
    traits=Traits(parity=(-1,), signed_zero=(0,), homogeneous=-1, monomial=(-1,)),
    definition=lambda m, x: m.divide(1, x),
    latex=r"\frac{1}{#}",
    mistaken_for=("negative",),
)

# -- squares and roots -----------------------------------------------------------------------------
square = elementwise(
    "square",
    doc="x**2.",
    kernel=lambda xp, x: xp.square(x),
    vjp=(lambda ct, out, x: ct * (2 * x),),
    facts=knows(
        bounds=lambda x: bounds_of_square(x.bounds),
        signs=even_signs,
        keeps_integers=True,
        zero_at_zero=True,
    ),
    ufunc="square",
    traits=Traits(parity=(1,), homogeneous=2, monomial=(2,)),
    definition=lambda m, x: x * x,
    mistaken_for=("absolute", "sqrt"),
    latex=formulas.raised_to("2"),
)


def _may_be_zero(x: Node) -> bool:
    """Whether a root's operand may be 0, where the slope is infinite."""
    return not known_before(x).has(f.nonzero)


sqrt = elementwise(
    "sqrt",
    steep=_may_be_zero,
    doc="The square root of x, NaN for x < 0; its derivative at 0 is infinite.",
    kernel=lambda xp, x: xp.sqrt(x),
    vjp=(lambda ct, out, x: ct / (2 * out),),
    stand_in=lambda node: norm_written_out(node) or root_of_product(node),
    facts=knows(
        bounds=increasing(math.sqrt, (0.0, inf), (0.0, inf)),
        signs=even_signs,
        defined=lambda x: x.has(f.nonnegative),
        keeps_finite=True,
        zero_at_zero=True,
    ),
    ufunc="sqrt",
    traits=Traits(homogeneous=0.5, monomial=(Fraction(1, 2),)),
    definition=lambda m, x: m.sqrt(x),
    latex=r"\sqrt{#}",
    mistaken_for=("square", "absolute"),
)

cbrt = elementwise(
    "cbrt",
    stand_in=lambda node: norm_of_powers(node, 1 / 3),
    steep=_may_be_zero,
    doc="The cube root of x, of the sign of x.",
    kernel=lambda xp, x: xp.cbrt(x),
    vjp=(lambda ct, out, x: ct / (3 * (out * out)),),
    facts=knows(bounds=increasing(np.cbrt), signs=odd_signs, keeps_finite=True, zero_at_zero=True),
    flops=10,
    ufunc="cbrt",
    traits=ODD,
    definition=lambda m, x: m.sign(x) * m.cbrt(m.absolute(x)),
    latex=r"\sqrt[3]{#}",
)

hypot = elementwise(
    "hypot",
    kernel=lambda xp, x, y: xp.hypot(x, y),
    vjp=(
        lambda ct, out, x, y: times_slope(ct, out, x, lambda: divide_or_zero(x, out)),
        lambda ct, out, x, y: times_slope(ct, out, y, lambda: divide_or_zero(y, out)),
    ),
    jvp=tangent_of_hypot,
    facts=knows(bounds=bounds_hypot, signs=signs_hypot),
    flops=4,
    ufunc="hypot",
    doc="sqrt(x**2 + y**2) without overflow; its derivative at the origin is 0.",
    traits=Traits(commutative=True, parity=(1, 1), homogeneous=1),
    definition=lambda m, x, y: m.sqrt(x * x + y * y),
    mistaken_for=("maximum", "logaddexp"),
)

# -- signs -----------------------------------------------------------------------------------------
absolute = elementwise(
    "absolute",
    kernel=lambda xp, x: xp.absolute(x),
    vjp=(lambda ct, out, x: times_sign(ct, out, x),),
    facts=knows(
        bounds=bounds_absolute,
        signs=even_signs,
        keeps_finite=True,
        keeps_integers=True,
        zero_at_zero=True,
    ),
    ufunc="absolute",
    doc="|x|; its derivative at 0 is 0.",
    traits=Traits(parity=(1,), homogeneous=1),
    definition=lambda m, x: m.absolute(x),
    latex=r"\left|#\right|",
    mistaken_for=("sign", "negative"),
)

sign = elementwise(
    "sign",
    doc="-1, 0 or 1, as x is negative, zero or positive; its derivative is 0.",
    kernel=lambda xp, x: xp.sign(x),
    vjp=(None,),
    facts=knows(
        bounds=bounds_sign,
        signs=odd_signs,
        keeps_finite=True,
        gives_integers=True,
        zero_at_zero=True,
    ),
    ufunc="sign",
    traits=Traits(parity=(-1,), homogeneous=0),
    definition=lambda m, x: m.sign(x),
    mistaken_for=("absolute",),
)

copysign = elementwise(
    "copysign",
    kernel=lambda xp, x, y: xp.copysign(x, y),
    vjp=(
        lambda ct, out, x, y: times_sign(ct, out, x, copysign(1, y)),
        None,
    ),
    facts=knows(
        bounds=bounds_copysign,
        signs=signs_copysign,
        keeps_finite=True,
        keeps_integers=True,
    ),
    ufunc="copysign",
    doc="|x| with the sign of y.",
    traits=Traits(blind=(1,), parity=(1, -1), signed_zero=(1,), homogeneous=1),
)

heaviside = elementwise(
    "heaviside",
    kernel=lambda xp, x, y: xp.heaviside(x, y),
    vjp=(
        None,
        lambda ct, out, x, y: where(x == 0, ct, 0),
    ),
    facts=knows(
        bounds=lambda x, y: (min(0.0, y.low), max(1.0, y.high)),
        keeps_finite=True,
        keeps_integers=True,
    ),
    ufunc="heaviside",
    doc="0 below zero, 1 above it, y at zero; its derivative with respect to x is 0.",
    traits=Traits(blind=(1,)),
)


# -- made of others --------------------------------------------------------------------------------
@composite(np.positive)
def positive(x: ArrayLike) -> Array:
    """The operand itself, +x; not defined for truth values."""
    return as_ufunc_takes("positive", x)


@composite(np.degrees, np.rad2deg)
def degrees(x: ArrayLike) -> Array:
    """Radians as degrees."""
    return multiply(as_ufunc_takes("degrees", x), 180 / np.pi)


@composite(np.radians, np.deg2rad)
def radians(x: ArrayLike) -> Array:
    """Degrees as radians."""
    return multiply(as_ufunc_takes("radians", x), np.pi / 180)


@composite(np.fabs)
def fabs(x: ArrayLike) -> Array:
    """|x| as a floating-point number."""
    return copysign(as_ufunc_takes("fabs", x), 1.0)
