"""Powers of arrays, whose exponents are arrays, too."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

import numpy as np

from .. import facts as f
from ..array import Array, ArrayLike, constant
from ..facts import Fact
from ..ir.fact_inference import Known
from ..ir.traits import Infix, Traits
from ..notation import formulas
from .bounds import EVERYWHERE, Bounds, increasing, knows, odd_signs
from .choice import where
from .composites import as_array, composite
from .exponential import log
from .families import elementwise
from .roots import root_written_as_power

__all__ = ["float_power", "power"]


# -- facts about results ---------------------------------------------------------------------------
def _exponent(y: Known) -> float | None:
    """The number that an exponent is, if it is a known one."""
    return y.low if y.low == y.high else None


def _bounds_power(x: Known, y: Known) -> Bounds:
    n = _exponent(y)
    if n is None or (x.low < 0 and not n.is_integer()):
        return (0.0, inf) if x.has(f.nonnegative) else EVERYWHERE
    if n == 0:
        return 1.0, 1.0
    if x.low >= 0 and n > 0:
        return increasing(lambda value: value**n, (0.0, inf), (0.0, inf))(x)
    return (0.0, inf) if n % 2 == 0 else EVERYWHERE


def _signs_power(x: Known, y: Known) -> Iterable[Fact]:
    n = _exponent(y)
    if x.has(f.positive):
        yield f.positive
    elif x.has(f.nonnegative) or (n is not None and n % 2 == 0):
        yield f.positive if x.has(f.nonzero) else f.nonnegative
    elif n is not None and n % 2 == 1:
        yield from odd_signs(x)


def _power_defined(x: Known, y: Known) -> bool:
    n = _exponent(y)
    if x.has(f.positive) or (x.has(f.nonnegative) and y.has(f.nonnegative)):
        return True
    return n is not None and n.is_integer() and (n >= 0 or x.has(f.nonzero))


# -- powers ----------------------------------------------------------------------------------------
def _lowered(y: Array) -> Array:
    """The exponent y - 1, but 1 where y is 0: so x**0 has the derivative 0 * x**1 = 0 at x = 0."""
    if y.node.is_constant:
        value = y.node.params["value"]
        return constant(np.where(value == 0, 1, value - 1), value.dtype)
    return where(y == 0, 1, y - 1)


power = elementwise(
    "power",
    kernel=lambda xp, x, y: xp.power(x, y),
    vjp=(
        lambda ct, out, x, y: ct * (y * x ** _lowered(y)),
        lambda ct, out, x, y: ct * (out * log(where(x == 0, 1, x))),
    ),
    stand_in=root_written_as_power,
    facts=knows(
        bounds=_bounds_power,
        signs=_signs_power,
        defined=_power_defined,
    ),
    flops=20,
    # NumPy refuses whole numbers to negative whole powers.
    total=lambda x, y: y.dtype.kind == "f",
    traits=Traits(raises=True),
    ufunc="power",
    doc="x**y; the derivative of x**0 with respect to x is 0, that of 0**y with respect to y too.",
    definition=lambda m, x, y: m.power(x, y),
    mistaken_for=("multiply",),
    text=Infix("**", 9),
    latex=formulas.power_formula,
)


@composite(np.float_power)
def float_power(x: ArrayLike, y: ArrayLike) -> Any:
    """x**y in float64."""
    return power(as_array(x).astype("float64"), as_array(y).astype("float64"))
