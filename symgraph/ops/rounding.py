"""Rounding and division with remainder. Rounding has derivative 0 everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .. import facts as f
from ..array import FUNCTIONS, ArrayLike
from ..facts import Fact
from ..ir.fact_inference import Known
from ..ir.traits import ODD, Infix, Traits
from .bounds import Bounds, FactRule, bounds_of_quotient, knows
from .composites import composite
from .families import as_ufunc_takes, elementwise

__all__ = [
    "ceil",
    "divmod",
    "floor",
    "floor_divide",
    "fmod",
    "modf",
    "remainder",
    "rint",
    "trunc",
]


# -- facts about results ---------------------------------------------------------------------------
def _signs_ceil(x: Known) -> Iterable[Fact]:
    if x.has(f.positive):
        yield f.positive


def _no_signs(x: Known) -> Iterable[Fact]:
    return ()


def _whole(
    function: Callable[[float], float], signs: Callable[[Known], Iterable[Fact]] = _no_signs
) -> FactRule:
    """Bounds of an increasing function to whole numbers, which is exact."""

    def bounds(x: Known) -> Bounds:
        low, high = x.bounds
        return _applied(function, low), _applied(function, high)

    return knows(bounds=bounds, signs=signs, keeps_finite=True, gives_integers=True)


def _applied(function: Callable[[float], float], x: float) -> float:
    return x if math.isinf(x) else float(function(x))


def _divisor_nonzero(_x: Known, y: Known) -> bool:
    return y.has(f.nonzero)


def _bounds_floor_divide(x: Known, y: Known) -> Bounds:
    low, high = bounds_of_quotient(x.bounds, y.bounds)
    return _applied(math.floor, low), _applied(math.floor, high)


def _bounds_remainder(x: Known, y: Known) -> Bounds:
    return min(0.0, y.low), max(0.0, y.high)


def _bounds_fmod(x: Known, y: Known) -> Bounds:
    return min(0.0, x.low), max(0.0, x.high)


# -- whole numbers ---------------------------------------------------------------------------------
floor = elementwise(
    "floor",
    doc="The greatest whole number up to x; its derivative is 0.",
    kernel=lambda xp, x: xp.floor(x),
    vjp=(None,),
    ufunc="floor",
    facts=_whole(math.floor),
    definition=lambda m, x: m.floor(x),
    latex=r"\left\lfloor # \right\rfloor",
)
ceil = elementwise(
    "ceil",
    doc="The least whole number from x on; its derivative is 0.",
    kernel=lambda xp, x: xp.ceil(x),
    vjp=(None,),
    ufunc="ceil",
    facts=_whole(math.ceil, _signs_ceil),
    definition=lambda m, x: m.ceil(x),
    latex=r"\left\lceil # \right\rceil",
)
trunc = elementwise(
    "trunc",
    doc="x without its fraction; its derivative is 0.",
    kernel=lambda xp, x: xp.trunc(x),
    vjp=(None,),
    ufunc="trunc",
    numpy=(np.fix,),
    facts=_whole(math.trunc),
    traits=ODD,
)
rint = elementwise(
    "rint",
    doc="The whole number nearest to x, halves to even; its derivative is 0.",
    kernel=lambda xp, x: xp.rint(x),
    vjp=(None,),
    ufunc="rint",
    facts=_whole(round),
    traits=ODD,
)

floor_divide = elementwise(
    "floor_divide",
    doc="The greatest whole number up to x / y; its derivative is 0.",
    kernel=lambda xp, x, y: xp.floor_divide(x, y),
    vjp=(None, None),
    facts=knows(bounds=_bounds_floor_divide, defined=_divisor_nonzero, gives_integers=True),
    ufunc="floor_divide",
    traits=Traits(signed_zero=(1,), homogeneous=0),
    text=Infix("//", 7),
)

remainder = elementwise(
    "remainder",
    kernel=lambda xp, x, y: xp.remainder(x, y),
    vjp=(
        lambda ct, out, x, y: ct,
        lambda ct, out, x, y: -(ct * floor_divide(x, y)),
    ),
    facts=knows(
        bounds=_bounds_remainder,
        defined=_divisor_nonzero,
        keeps_finite=True,
        keeps_integers=True,
    ),
    ufunc="remainder",
    doc="x - y * floor(x / y), with the sign of y.",
    traits=Traits(homogeneous=1),
    text=Infix("%", 7),
)

fmod = elementwise(
    "fmod",
    kernel=lambda xp, x, y: xp.fmod(x, y),
    vjp=(
        lambda ct, out, x, y: ct,
        lambda ct, out, x, y: -(ct * trunc(x / y)),
    ),
    facts=knows(
        bounds=_bounds_fmod,
        defined=_divisor_nonzero,
        keeps_finite=True,
        keeps_integers=True,
    ),
    ufunc="fmod",
    doc="x - y * trunc(x / y), with the sign of x.",
    traits=Traits(parity=(-1, 1), homogeneous=1),
)


@composite(np.divmod)
def divmod(x: ArrayLike, y: ArrayLike) -> tuple[Any, Any]:
    """floor_divide(x, y) and remainder(x, y)."""
    return floor_divide(x, y), remainder(x, y)


@composite(np.modf)
def modf(x: ArrayLike) -> tuple[Any, Any]:
    """The fractional and the whole part of x, both with its sign."""
    operand = as_ufunc_takes("modf", x)
    whole = trunc(operand)
    nothing = FUNCTIONS["copysign"](0.0, operand)
    return FUNCTIONS["where"](FUNCTIONS["isinf"](operand), nothing, fmod(operand, 1.0)), whole
