"""Arithmetic on corresponding elements: sums and products, roots, rounding, maximum, where.

Kinks and ties have one documented subgradient each, the same on every backend:

- |x| has derivative 0 at 0, and so have sign and all that rounds, everywhere;
- a tie of maximum(x, y) or minimum(x, y) is split equally between two computed operands, while a tie with
  a constant goes to the constant: relu'(0) = 0;
- clip passes strictly inside its bounds;
- hypot has derivative 0 at the origin; sqrt has an infinite one at 0.

Where an element is not chosen, its cotangent is chosen away, not multiplied by zero, so that an infinite
cotangent of a branch not taken does no harm.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array import Array, apply, constant
from ..op import Algebra
from .comparison import equal, isnan, not_equal
from .families import compose, elementwise, function

__all__ = [
    "absolute",
    "add",
    "cbrt",
    "ceil",
    "clip",
    "copysign",
    "degrees",
    "divide",
    "divmod",
    "fabs",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "heaviside",
    "hypot",
    "is_constant",
    "maximum",
    "minimum",
    "modf",
    "multiply",
    "negative",
    "positive",
    "radians",
    "reciprocal",
    "remainder",
    "rint",
    "sign",
    "sqrt",
    "square",
    "subtract",
    "trunc",
    "where",
]


def is_constant(x: Array) -> bool:
    """Whether `x` is a constant, perhaps broadcast, reshaped or cast."""
    node = x.node
    while node.operands and (node.op.view or node.op.name == "cast"):
        node = node.operands[0]
    return node.is_constant


# -- sums and products -------------------------------------------------------------------------------
add = elementwise(
    "add",
    kernel=lambda xp, x, y: xp.add(x, y),
    vjp=(
        lambda ct, out, x, y: ct,
        lambda ct, out, x, y: ct,
    ),
    algebra=Algebra("add", commutative=True, associative=True, unit=0.0),
    ufunc="add",
)

subtract = elementwise(
    "subtract",
    kernel=lambda xp, x, y: xp.subtract(x, y),
    vjp=(
        lambda ct, out, x, y: ct,
        lambda ct, out, x, y: -ct,
    ),
    algebra=Algebra("subtract"),
    ufunc="subtract",
)

negative = elementwise(
    "negative",
    kernel=lambda xp, x: xp.negative(x),
    vjp=(lambda ct, out, x: -ct,),
    algebra=Algebra("negative"),
    ufunc="negative",
)

multiply = elementwise(
    "multiply",
    kernel=lambda xp, x, y: xp.multiply(x, y),
    vjp=(
        lambda ct, out, x, y: ct * y,
        lambda ct, out, x, y: ct * x,
    ),
    algebra=Algebra("multiply", commutative=True, associative=True, unit=1.0),
    ufunc="multiply",
)

divide = elementwise(
    "divide",
    kernel=lambda xp, x, y: xp.divide(x, y),
    vjp=(
        lambda ct, out, x, y: ct / y,
        lambda ct, out, x, y: -(ct * out / y),
    ),
    algebra=Algebra("divide"),
    ufunc="divide",
    doc="x / y; integers give float64, as in NumPy.",
)

reciprocal = elementwise(
    "reciprocal",
    kernel=lambda xp, x: xp.reciprocal(x),
    vjp=(lambda ct, out, x: -(ct * out * out),),
    algebra=Algebra("reciprocal"),
    ufunc="reciprocal",
)

# -- squares and roots -------------------------------------------------------------------------------
square = elementwise(
    "square",
    kernel=lambda xp, x: xp.square(x),
    vjp=(lambda ct, out, x: ct * (2 * x),),
    algebra=Algebra("square"),
    ufunc="square",
)

sqrt = elementwise(
    "sqrt",
    kernel=lambda xp, x: xp.sqrt(x),
    vjp=(lambda ct, out, x: ct / (2 * out),),
    algebra=Algebra("sqrt"),
    ufunc="sqrt",
)

cbrt = elementwise(
    "cbrt",
    kernel=lambda xp, x: xp.cbrt(x),
    vjp=(lambda ct, out, x: ct / (3 * (out * out)),),
    flops=10,
    ufunc="cbrt",
)

hypot = elementwise(
    "hypot",
    kernel=lambda xp, x, y: xp.hypot(x, y),
    vjp=(
        lambda ct, out, x, y: ct * (x / where(equal(out, 0), 1, out)),
        lambda ct, out, x, y: ct * (y / where(equal(out, 0), 1, out)),
    ),
    flops=10,
    ufunc="hypot",
    doc="sqrt(x**2 + y**2) without overflow; its derivative at the origin is 0.",
)

# -- signs -------------------------------------------------------------------------------------------
absolute = elementwise(
    "absolute",
    kernel=lambda xp, x: xp.absolute(x),
    vjp=(lambda ct, out, x: ct * sign(x),),
    ufunc="absolute",
    doc="|x|; its derivative at 0 is 0.",
)

sign = elementwise(
    "sign",
    kernel=lambda xp, x: xp.sign(x),
    vjp=(None,),
    ufunc="sign",
)

copysign = elementwise(
    "copysign",
    kernel=lambda xp, x, y: xp.copysign(x, y),
    vjp=(
        lambda ct, out, x, y: ct * (sign(x) * copysign(1, y)),
        None,
    ),
    ufunc="copysign",
    doc="|x| with the sign of y.",
)

heaviside = elementwise(
    "heaviside",
    kernel=lambda xp, x, y: xp.heaviside(x, y),
    vjp=(
        None,
        lambda ct, out, x, y: where(equal(x, 0), ct, 0),
    ),
    ufunc="heaviside",
    doc="0 below zero, 1 above it, y at zero; its derivative with respect to x is 0.",
)

# -- larger and smaller ------------------------------------------------------------------------------


def _won(ct: Array, x: Array, y: Array, wins: Array) -> Array:
    """The cotangent of x in maximum or minimum: all where x wins, half where it ties with a computed y."""
    if is_constant(y):
        return where(wins, ct, 0)
    return where(wins, ct, where(equal(x, y), ct * 0.5, 0))


maximum = elementwise(
    "maximum",
    kernel=lambda xp, x, y: xp.maximum(x, y),
    vjp=(
        lambda ct, out, x, y: _won(ct, x, y, x > y),
        lambda ct, out, x, y: _won(ct, y, x, y > x),
    ),
    ufunc="maximum",
    doc="The larger one; a tie splits the cotangent equally, or gives it to a constant operand.",
)

minimum = elementwise(
    "minimum",
    kernel=lambda xp, x, y: xp.minimum(x, y),
    vjp=(
        lambda ct, out, x, y: _won(ct, x, y, x < y),
        lambda ct, out, x, y: _won(ct, y, x, y < x),
    ),
    ufunc="minimum",
    doc="The smaller one; a tie splits the cotangent equally, or gives it to a constant operand.",
)

fmax = elementwise(
    "fmax",
    kernel=lambda xp, x, y: xp.fmax(x, y),
    vjp=(
        lambda ct, out, x, y: _won(ct, x, y, (x > y) | isnan(y)),
        lambda ct, out, x, y: _won(ct, y, x, (y > x) | isnan(x)),
    ),
    ufunc="fmax",
    doc="The larger one, or the one that is a number; ties as in maximum.",
)

fmin = elementwise(
    "fmin",
    kernel=lambda xp, x, y: xp.fmin(x, y),
    vjp=(
        lambda ct, out, x, y: _won(ct, x, y, (x < y) | isnan(y)),
        lambda ct, out, x, y: _won(ct, y, x, (y < x) | isnan(x)),
    ),
    ufunc="fmin",
    doc="The smaller one, or the one that is a number; ties as in minimum.",
)

_clip = elementwise(
    "clip",
    kernel=lambda xp, x, low, high: xp.clip(x, low, high),
    vjp=(
        lambda ct, out, x, low, high: where((x > low) & (x < high), ct, 0),
        lambda ct, out, x, low, high: where((x < low) & (low < high), ct, 0),
        lambda ct, out, x, low, high: where((x > high) | (low >= high), ct, 0),
    ),
    doc="x within [low, high]; the cotangent of x passes strictly inside.",
)

# -- whole numbers -----------------------------------------------------------------------------------
floor = elementwise("floor", kernel=lambda xp, x: xp.floor(x), vjp=(None,), ufunc="floor")
ceil = elementwise("ceil", kernel=lambda xp, x: xp.ceil(x), vjp=(None,), ufunc="ceil")
trunc = elementwise(
    "trunc", kernel=lambda xp, x: xp.trunc(x), vjp=(None,), ufunc="trunc", numpy=(np.fix,)
)
rint = elementwise("rint", kernel=lambda xp, x: xp.rint(x), vjp=(None,), ufunc="rint")

floor_divide = elementwise(
    "floor_divide",
    kernel=lambda xp, x, y: xp.floor_divide(x, y),
    vjp=(None, None),
    ufunc="floor_divide",
)

remainder = elementwise(
    "remainder",
    kernel=lambda xp, x, y: xp.remainder(x, y),
    vjp=(
        lambda ct, out, x, y: ct,
        lambda ct, out, x, y: -(ct * floor_divide(x, y)),
    ),
    ufunc="remainder",
    doc="x - y * floor(x / y), with the sign of y.",
)

fmod = elementwise(
    "fmod",
    kernel=lambda xp, x, y: xp.fmod(x, y),
    vjp=(
        lambda ct, out, x, y: ct,
        lambda ct, out, x, y: -(ct * trunc(x / y)),
    ),
    ufunc="fmod",
    doc="x - y * trunc(x / y), with the sign of x.",
)

# -- choosing ----------------------------------------------------------------------------------------
_where = elementwise(
    "where",
    kernel=lambda xp, condition, x, y: xp.where(condition, x, y),
    vjp=(
        None,
        lambda ct, out, condition, x, y: where(condition, ct, 0),
        lambda ct, out, condition, x, y: where(condition, 0, ct),
    ),
    unpromoted=(0,),
)


def _choose(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, y elsewhere; the branch not taken gets the cotangent 0.

    Parameters
    ----------
    condition : array_like
        Anything but bool counts as true where it is not 0.
    x, y : array_like
        Cast to their common dtype.
    """
    if type(condition) is Array and condition.dtype.kind != "b":
        condition = not_equal(condition, 0)
    elif not isinstance(condition, Array):
        condition = np.asarray(condition, dtype=bool)
    return apply(_where.op, condition, x, y)


where = function(_where.op, _choose, np.where)


def _within(
    x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
) -> Any:
    """x within [a_min, a_max]; the cotangent of x passes strictly inside.

    Parameters
    ----------
    x : array_like
    a_min, a_max : array_like or None
        None leaves that side open; where a_min > a_max the result is a_max. `min` and `max` are other
        names for them.
    """
    low = min if a_min is None else a_min
    high = max if a_max is None else a_max
    if low is None and high is None:
        return positive(x)
    if low is None:
        return minimum(x, high)
    if high is None:
        return maximum(x, low)
    return apply(_clip.op, x, low, high)


clip = function(_clip.op, _within, np.clip)


# -- made of others ----------------------------------------------------------------------------------
def positive(x: Any) -> Any:
    """+x: x itself."""
    return x if isinstance(x, Array) else constant(x)


def divmod(x: Any, y: Any) -> tuple[Any, Any]:
    """floor_divide(x, y) and remainder(x, y)."""
    return floor_divide(x, y), remainder(x, y)


def modf(x: Any) -> tuple[Any, Any]:
    """The fractional and the whole part of x, both with its sign."""
    whole = trunc(x)
    return x - whole, whole


def degrees(x: Any) -> Any:
    """Radians as degrees."""
    return multiply(x, 180 / np.pi)


def radians(x: Any) -> Any:
    """Degrees as radians."""
    return multiply(x, np.pi / 180)


def fabs(x: Any) -> Any:
    """|x| as a floating-point number."""
    return copysign(x, 1.0)


compose(positive, np.positive)
compose(divmod, np.divmod)
compose(modf, np.modf)
compose(degrees, np.degrees, np.rad2deg)
compose(radians, np.radians, np.deg2rad)
compose(fabs, np.fabs)
