"""Arithmetic on corresponding elements: sums, products, roots and signs.

Kinks have one documented subgradient each, the same on every backend: |x| has derivative 0 at 0,
and so has sign everywhere; hypot has derivative 0 at the origin; sqrt has an infinite one at 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from .. import facts as f
from ..array import Array
from ..facts import Fact
from ..ir.fact_inference import Known
from ..ir.traits import ODD, Infix, Prefix, Traits
from ..notation import formulas
from .bounds import (
    Bounds,
    bounds_of_product,
    bounds_of_quotient,
    bounds_of_square,
    bounds_of_sum,
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
from .quotients import divide_or_zero
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


# -- what is known of results ----------------------------------------------------------------------
def _bounds_add(x: Known, y: Known) -> Bounds:
    return bounds_of_sum(x.bounds, y.bounds)


def _bounds_subtract(x: Known, y: Known) -> Bounds:
    return (0.0, 0.0) if x is y else bounds_of_sum(x.bounds, (-y.high, -y.low))


def _bounds_multiply(x: Known, y: Known) -> Bounds:
    return bounds_of_square(x.bounds) if x is y else bounds_of_product(x.bounds, y.bounds)


def _bounds_divide(x: Known, y: Known) -> Bounds:
    return (1.0, 1.0) if x is y else bounds_of_quotient(x.bounds, y.bounds)


def _signs_add(x: Known, y: Known) -> Iterable[Fact]:
    for strict, weak in ((f.positive, f.nonnegative), (f.negative, f.nonpositive)):
        if x.has(weak) and y.has(weak):
            yield strict if x.has(strict) or y.has(strict) else weak


def _signs_subtract(x: Known, y: Known) -> Iterable[Fact]:
    for strict, weak, opposite, weakly_opposite in (
        (f.positive, f.nonnegative, f.negative, f.nonpositive),
        (f.negative, f.nonpositive, f.positive, f.nonnegative),
    ):
        if x.has(weak) and y.has(weakly_opposite) and x is not y:
            yield strict if x.has(strict) or y.has(opposite) else weak


def _divisor_nonzero(_x: Known, y: Known) -> bool:
    return y.has(f.nonzero)


def _signs_reciprocal(x: Known) -> Iterable[Fact]:
    """Of 1 / x, which is nowhere 0."""
    yield f.nonzero
    if x.has(f.nonnegative):
        yield f.positive
    if x.has(f.nonpositive):
        yield f.negative


def _bounds_absolute(x: Known) -> Bounds:
    least = 0.0 if x.low <= 0 <= x.high else min(abs(x.low), abs(x.high))
    return least, max(abs(x.low), abs(x.high))


def _bounds_sign(x: Known) -> Bounds:
    low = 1.0 if x.has(f.positive) else 0.0 if x.has(f.nonnegative) else -1.0
    high = -1.0 if x.has(f.negative) else 0.0 if x.has(f.nonpositive) else 1.0
    return low, high


def _bounds_hypot(x: Known, y: Known) -> Bounds:
    (a, b), (c, d) = _bounds_absolute(x), _bounds_absolute(y)
    return max(a, c), bounds_of_sum((b, b), (d, d))[1]


def _signs_hypot(x: Known, y: Known) -> Iterable[Fact]:
    yield f.positive if x.has(f.nonzero) or y.has(f.nonzero) else f.nonnegative


def _bounds_copysign(x: Known, y: Known) -> Bounds:
    most = _bounds_absolute(x)[1]
    return (0.0 if y.has(f.positive) else -most), (0.0 if y.has(f.negative) else most)


def _signs_copysign(x: Known, y: Known) -> Iterable[Fact]:
    # Not of y >= 0: the zero may be -0.0, and its sign counts here.
    if x.has(f.nonzero):
        yield f.nonzero
        yield from (sign for sign in (f.positive, f.negative) if y.has(sign))


# -- sums and products -----------------------------------------------------------------------------
add = elementwise(
    "add",
    kernel=lambda xp, x, y: xp.add(x, y),
    vjp=(
        lambda ct, out, x, y: ct,
        lambda ct, out, x, y: ct,
    ),
    facts=knows(
        bounds=_bounds_add,
        signs=_signs_add,
        pattern=structure_of_sum,
        keeps_integers=True,
    ),
    traits=Traits(commutative=True, jointly_linear=..., combination=(1, 1)),
    ufunc="add",
    behind_mask=False,
    definition=lambda m, x, y: x + y,
    text=Infix("+", 6),
    latex=formulas.sum_formula,
)

subtract = elementwise(
    "subtract",
    kernel=lambda xp, x, y: xp.subtract(x, y),
    vjp=(
        lambda ct, out, x, y: ct,
        lambda ct, out, x, y: -ct,
    ),
    facts=knows(
        bounds=_bounds_subtract,
        signs=_signs_subtract,
        pattern=structure_of_difference,
        keeps_integers=True,
    ),
    ufunc="subtract",
    behind_mask=False,
    traits=Traits(jointly_linear=..., shift=0, combination=(1, -1)),
    definition=lambda m, x, y: x - y,
    text=Infix("-", 6),
    latex=formulas.difference_formula,
)

negative = elementwise(
    "negative",
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
    latex=formulas.negative_formula,
)

multiply = elementwise(
    "multiply",
    kernel=lambda xp, x, y: xp.multiply(x, y),
    vjp=(
        lambda ct, out, x, y: ct * y,
        lambda ct, out, x, y: ct * x,
    ),
    facts=knows(
        bounds=_bounds_multiply,
        signs=product_signs,
        pattern=structure_of_product,
        keeps_integers=True,
    ),
    traits=Traits(commutative=True, linear=..., monomial=(1, 1)),
    ufunc="multiply",
    definition=lambda m, x, y: m.multiply(x, y),
    mistaken_for=("divide", "add"),
    text=Infix("*", 7),
    latex=formulas.product_formula,
)

divide = elementwise(
    "divide",
    kernel=lambda xp, x, y: xp.divide(x, y),
    vjp=(
        lambda ct, out, x, y: ct / y,
        lambda ct, out, x, y: -(ct * out / y),
    ),
    facts=knows(
        bounds=_bounds_divide,
        signs=product_signs,
        pattern=structure_of_quotient,
        defined=_divisor_nonzero,
    ),
    ufunc="divide",
    doc="x / y; integers give float64, as in NumPy.",
    traits=Traits(parity=(0, -1), signed_zero=(1,), linear=(0,), homogeneous=0, monomial=(1, -1)),
    definition=lambda m, x, y: m.divide(x, y),
    text=Infix("/", 7),
    latex=formulas.fraction_formula,
)

reciprocal = elementwise(
    "reciprocal",
    kernel=lambda xp, x: xp.reciprocal(x),
    vjp=(lambda ct, out, x: -(ct * out * out),),
    facts=knows(
        bounds=lambda x: bounds_of_quotient((1.0, 1.0), x.bounds),
        signs=_signs_reciprocal,
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

sqrt = elementwise(
    "sqrt",
    kernel=lambda xp, x: xp.sqrt(x),
    vjp=(lambda ct, out, x: ct / (2 * out),),
    stand_in=norm_written_out,
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
        lambda ct, out, x, y: ct * divide_or_zero(x, out),
        lambda ct, out, x, y: ct * divide_or_zero(y, out),
    ),
    facts=knows(bounds=_bounds_hypot, signs=_signs_hypot),
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
    vjp=(lambda ct, out, x: ct * sign(x),),
    facts=knows(
        bounds=_bounds_absolute,
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
    kernel=lambda xp, x: xp.sign(x),
    vjp=(None,),
    facts=knows(
        bounds=_bounds_sign,
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
        lambda ct, out, x, y: ct * (sign(x) * copysign(1, y)),
        None,
    ),
    facts=knows(
        bounds=_bounds_copysign,
        signs=_signs_copysign,
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
def positive(x: Any) -> Array:
    """+x: x itself; not defined for truth values."""
    return as_ufunc_takes("positive", x)


@composite(np.degrees, np.rad2deg)
def degrees(x: Any) -> Array:
    """Radians as degrees."""
    return multiply(as_ufunc_takes("degrees", x), 180 / np.pi)


@composite(np.radians, np.deg2rad)
def radians(x: Any) -> Array:
    """Degrees as radians."""
    return multiply(as_ufunc_takes("radians", x), np.pi / 180)


@composite(np.fabs)
def fabs(x: Any) -> Array:
    """|x| as a floating-point number."""
    return copysign(as_ufunc_takes("fabs", x), 1.0)
