"""Circular and hyperbolic functions and their inverses."""

from __future__ import annotations

import math
from math import inf, pi

from .. import facts as f
from ..ir.fact_inference import Known
from ..ir.traits import ODD, Angle, Traits
from .bounds import EVERYWHERE, Bounds, decreasing, increasing, knows, odd_signs, within
from .elementwise import sqrt
from .families import elementwise

__all__ = [
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "cos",
    "cosh",
    "sin",
    "sinh",
    "tan",
    "tanh",
]

_QUARTER = math.nextafter(pi / 2, inf)


def _within_one(x: Known) -> bool:
    return x.low >= -1 and x.high <= 1


def _bounds_tan(x: Known) -> Bounds:
    if x.low > -1.57 and x.high < 1.57:
        return increasing(math.tan)(x)
    return EVERYWHERE


def _bounds_arctan2(y: Known, x: Known) -> Bounds:
    most = _QUARTER if x.low >= 0 else 2 * _QUARTER
    return -most, most


def _bounds_cosh(x: Known) -> Bounds:
    most = max(abs(x.low), abs(x.high))
    return 1.0, inf if most > 700 else math.cosh(most) * (1 + 1e-15)


# -- circular --------------------------------------------------------------------------------------
sin = elementwise(
    "sin",
    doc="The sine of x, in radians.",
    kernel=lambda xp, x: xp.sin(x),
    vjp=(lambda ct, out, x: ct * cos(x),),
    facts=knows(bounds=within(-1.0, 1.0), keeps_finite=True, zero_at_zero=True),
    flops=10,
    ufunc="sin",
    traits=Traits(parity=(-1,), angle=Angle("sine")),
    definition=lambda m, x: m.sin(x),
    latex=r"\sin",
    mistaken_for=("cos", "sinh"),
)
cos = elementwise(
    "cos",
    doc="The cosine of x, in radians.",
    kernel=lambda xp, x: xp.cos(x),
    vjp=(lambda ct, out, x: -(ct * sin(x)),),
    facts=knows(bounds=within(-1.0, 1.0), keeps_finite=True),
    flops=10,
    ufunc="cos",
    traits=Traits(parity=(1,), angle=Angle("cosine")),
    definition=lambda m, x: m.cos(x),
    latex=r"\cos",
    mistaken_for=("sin", "cosh"),
)
tan = elementwise(
    "tan",
    doc="The tangent of x, in radians.",
    kernel=lambda xp, x: xp.tan(x),
    vjp=(lambda ct, out, x: ct * (1 + out * out),),
    facts=knows(
        defined=lambda x: x.low > -1.57 and x.high < 1.57,
        bounds=_bounds_tan,
        zero_at_zero=True,
    ),
    flops=10,
    ufunc="tan",
    traits=Traits(parity=(-1,), angle=Angle("tangent")),
    definition=lambda m, x: m.tan(x),
    latex=r"\tan",
    mistaken_for=("tanh", "sin"),
)
arcsin = elementwise(
    "arcsin",
    doc="The inverse sine, within [-pi/2, pi/2]; NaN for |x| > 1.",
    kernel=lambda xp, x: xp.arcsin(x),
    vjp=(lambda ct, out, x: ct / sqrt(1 - x * x),),
    facts=knows(
        bounds=increasing(math.asin, (-1.0, 1.0), (-_QUARTER, _QUARTER)),
        signs=odd_signs,
        defined=_within_one,
        keeps_finite=True,
        zero_at_zero=True,
    ),
    flops=10,
    ufunc="arcsin",
    traits=ODD,
    definition=lambda m, x: m.asin(x),
    latex=r"\arcsin",
    mistaken_for=("arctan", "arccos"),
)
arccos = elementwise(
    "arccos",
    doc="The inverse cosine, within [0, pi]; NaN for |x| > 1.",
    kernel=lambda xp, x: xp.arccos(x),
    vjp=(lambda ct, out, x: -(ct / sqrt(1 - x * x)),),
    facts=knows(
        bounds=decreasing(math.acos, (-1.0, 1.0), (0.0, 2 * _QUARTER)),
        defined=_within_one,
        keeps_finite=True,
    ),
    flops=10,
    ufunc="arccos",
    definition=lambda m, x: m.acos(x),
    latex=r"\arccos",
)
arctan = elementwise(
    "arctan",
    doc="The inverse tangent, within [-pi/2, pi/2].",
    kernel=lambda xp, x: xp.arctan(x),
    vjp=(lambda ct, out, x: ct / (1 + x * x),),
    facts=knows(
        bounds=increasing(math.atan, image=(-_QUARTER, _QUARTER)),
        signs=odd_signs,
        keeps_finite=True,
        zero_at_zero=True,
    ),
    flops=10,
    ufunc="arctan",
    traits=ODD,
    definition=lambda m, x: m.atan(x),
    latex=r"\arctan",
    mistaken_for=("arcsin", "arctanh"),
)
arctan2 = elementwise(
    "arctan2",
    kernel=lambda xp, y, x: xp.arctan2(y, x),
    vjp=(
        lambda ct, out, y, x: ct * (x / (x * x + y * y)),
        lambda ct, out, y, x: -(ct * (y / (x * x + y * y))),
    ),
    facts=knows(
        bounds=_bounds_arctan2,
        signs=lambda y, x: odd_signs(y) if x.has(f.positive) else (),
        keeps_finite=True,
    ),
    flops=10,
    ufunc="arctan2",
    doc="The angle of the point (x, y), the first operand being y; within [-pi, pi].",
    traits=Traits(parity=(-1, 0), signed_zero=(0, 1), homogeneous=0),
    definition=lambda m, y, x: m.atan2(y, x),
)

# -- hyperbolic ------------------------------------------------------------------------------------
sinh = elementwise(
    "sinh",
    doc="The hyperbolic sine, (e**x - e**-x) / 2.",
    kernel=lambda xp, x: xp.sinh(x),
    vjp=(lambda ct, out, x: ct * cosh(x),),
    facts=knows(bounds=increasing(math.sinh), signs=odd_signs, zero_at_zero=True),
    flops=10,
    ufunc="sinh",
    traits=Traits(parity=(-1,), angle=Angle("sine", -1), relative_slope=lambda out, x: 1 / tanh(x)),
    definition=lambda m, x: m.sinh(x),
    latex=r"\sinh",
    mistaken_for=("cosh", "sin"),
)
cosh = elementwise(
    "cosh",
    doc="The hyperbolic cosine, (e**x + e**-x) / 2.",
    kernel=lambda xp, x: xp.cosh(x),
    vjp=(lambda ct, out, x: ct * sinh(x),),
    facts=knows(bounds=_bounds_cosh),
    flops=10,
    ufunc="cosh",
    traits=Traits(parity=(1,), angle=Angle("cosine", -1), relative_slope=lambda out, x: tanh(x)),
    definition=lambda m, x: m.cosh(x),
    latex=r"\cosh",
    mistaken_for=("sinh", "cos"),
)
tanh = elementwise(
    "tanh",
    doc="The hyperbolic tangent, sinh(x) / cosh(x).",
    kernel=lambda xp, x: xp.tanh(x),
    vjp=(lambda ct, out, x: ct * (1 - out * out),),
    facts=knows(
        bounds=increasing(math.tanh, image=(-1.0, 1.0)),
        signs=odd_signs,
        keeps_finite=True,
        zero_at_zero=True,
    ),
    flops=10,
    ufunc="tanh",
    traits=Traits(parity=(-1,), angle=Angle("tangent", -1)),
    definition=lambda m, x: m.tanh(x),
    latex=r"\tanh",
    mistaken_for=("tan", "sinh"),
)
arcsinh = elementwise(
    "arcsinh",
    doc="The inverse hyperbolic sine, log(x + sqrt(x**2 + 1)).",
    kernel=lambda xp, x: xp.arcsinh(x),
    vjp=(lambda ct, out, x: ct / sqrt(x * x + 1),),
    facts=knows(
        bounds=increasing(math.asinh),
        signs=odd_signs,
        keeps_finite=True,
        zero_at_zero=True,
    ),
    flops=10,
    ufunc="arcsinh",
    traits=ODD,
    definition=lambda m, x: m.asinh(x),
    mistaken_for=("arccosh", "arctan"),
)
arccosh = elementwise(
    "arccosh",
    doc="The inverse hyperbolic cosine, log(x + sqrt(x**2 - 1)); NaN for x < 1.",
    kernel=lambda xp, x: xp.arccosh(x),
    vjp=(lambda ct, out, x: ct / sqrt(x * x - 1),),
    facts=knows(
        bounds=increasing(math.acosh, (1.0, inf), (0.0, inf)),
        defined=lambda x: x.low >= 1,
        keeps_finite=True,
    ),
    flops=10,
    ufunc="arccosh",
    definition=lambda m, x: m.acosh(x),
    mistaken_for=("arcsinh",),
)
arctanh = elementwise(
    "arctanh",
    doc="The inverse hyperbolic tangent, log((1 + x) / (1 - x)) / 2; NaN for |x| > 1.",
    kernel=lambda xp, x: xp.arctanh(x),
    vjp=(lambda ct, out, x: ct / (1 - x * x),),
    facts=knows(
        bounds=increasing(math.atanh, (-1.0, 1.0)),
        signs=odd_signs,
        defined=lambda x: x.low > -1 and x.high < 1,
        zero_at_zero=True,
    ),
    flops=10,
    ufunc="arctanh",
    traits=ODD,
    definition=lambda m, x: m.atanh(x),
    mistaken_for=("arctan",),
)
