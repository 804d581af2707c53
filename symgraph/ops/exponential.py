"""Exponentials, logarithms and powers, and the functions of probability made of them.

softplus, log_sigmoid and log1mexp never overflow where their value is a number.
"""

from __future__ import annotations

from math import log as ln
from typing import Any

import numpy as np

from ..array import Array, constant
from ..op import Algebra
from .elementwise import is_constant, negative, where
from .families import compose, elementwise, to_float

__all__ = [
    "exp",
    "exp2",
    "expm1",
    "float_power",
    "log",
    "log1mexp",
    "log1p",
    "log2",
    "log10",
    "log_sigmoid",
    "logaddexp",
    "logaddexp2",
    "power",
    "sigmoid",
    "softplus",
]

# -- exponentials ------------------------------------------------------------------------------------
exp = elementwise(
    "exp",
    kernel=lambda xp, x: xp.exp(x),
    vjp=(lambda ct, out, x: ct * out,),
    flops=10,
    algebra=Algebra("exp"),
    ufunc="exp",
)

exp2 = elementwise(
    "exp2",
    kernel=lambda xp, x: xp.exp2(x),
    vjp=(lambda ct, out, x: ct * (ln(2) * out),),
    flops=10,
    ufunc="exp2",
)

expm1 = elementwise(
    "expm1",
    kernel=lambda xp, x: xp.expm1(x),
    vjp=(lambda ct, out, x: ct * exp(x),),
    flops=10,
    ufunc="expm1",
)

# -- logarithms --------------------------------------------------------------------------------------
log = elementwise(
    "log",
    kernel=lambda xp, x: xp.log(x),
    vjp=(lambda ct, out, x: ct / x,),
    flops=10,
    algebra=Algebra("log"),
    ufunc="log",
)

log1p = elementwise(
    "log1p",
    kernel=lambda xp, x: xp.log1p(x),
    vjp=(lambda ct, out, x: ct / (1 + x),),
    flops=10,
    ufunc="log1p",
)

log2 = elementwise(
    "log2",
    kernel=lambda xp, x: xp.log2(x),
    vjp=(lambda ct, out, x: ct / (ln(2) * x),),
    flops=10,
    ufunc="log2",
)

log10 = elementwise(
    "log10",
    kernel=lambda xp, x: xp.log10(x),
    vjp=(lambda ct, out, x: ct / (ln(10) * x),),
    flops=10,
    ufunc="log10",
)


def _share(ct: Array, x: Array, y: Array, base: float) -> Array:
    """The part of ct that x has in log(exp x + exp y): 0 at -inf, also where both are."""
    scaled = x - y if base == 1 else base * (x - y)
    part = ct * sigmoid(scaled)
    never_both = is_constant(y) and bool(np.all(np.isfinite(_value(y))))
    return part if never_both else where(x == -np.inf, 0, part)


def _value(x: Array) -> Any:
    """The numbers of a constant, whatever shape they have been moved into."""
    node = x.node
    while node.operands:
        node = node.operands[0]
    return node.params["value"]


logaddexp = elementwise(
    "logaddexp",
    kernel=lambda xp, x, y: xp.logaddexp(x, y),
    vjp=(
        lambda ct, out, x, y: _share(ct, x, y, 1),
        lambda ct, out, x, y: _share(ct, y, x, 1),
    ),
    flops=20,
    algebra=Algebra(commutative=True, associative=True),
    ufunc="logaddexp",
    doc="log(exp(x) + exp(y)) without overflow; where both are -inf its derivative is 0.",
)

logaddexp2 = elementwise(
    "logaddexp2",
    kernel=lambda xp, x, y: xp.logaddexp2(x, y),
    vjp=(
        lambda ct, out, x, y: _share(ct, x, y, ln(2)),
        lambda ct, out, x, y: _share(ct, y, x, ln(2)),
    ),
    flops=20,
    algebra=Algebra(commutative=True, associative=True),
    ufunc="logaddexp2",
    doc="log2(2**x + 2**y) without overflow; where both are -inf its derivative is 0.",
)

# -- logistic ----------------------------------------------------------------------------------------
sigmoid = elementwise(
    "sigmoid",
    kernel=lambda xp, x: xp.special.expit(x),
    vjp=(lambda ct, out, x: ct * (out * (1 - out)),),
    promote=to_float,
    flops=12,
    count=4,
    doc="The logistic function 1 / (1 + exp(-x)), without overflow.",
)

softplus = elementwise(
    "softplus",
    kernel=lambda xp, x: xp.logaddexp(0.0, x),
    vjp=(lambda ct, out, x: ct * sigmoid(x),),
    promote=to_float,
    flops=22,
    count=3,
    doc="log(1 + exp(x)), without overflow.",
)


def log_sigmoid(x: Any) -> Any:
    """log(sigmoid(x)) = -softplus(-x), without overflow."""
    return negative(softplus(negative(x)))


def _log1mexp(xp: Any, x: Any) -> Any:
    # Mächler (2012), "Accurately computing log(1 - exp(-|a|))": each form is accurate on its side of ln 2.
    near = xp.log(-xp.expm1(x))
    return xp.where(x > -ln(2), near, xp.log1p(-xp.exp(x)))


log1mexp = elementwise(
    "log1mexp",
    kernel=_log1mexp,
    vjp=(lambda ct, out, x: -(ct / expm1(-x)),),
    promote=to_float,
    flops=30,
    count=3,
    doc="log(1 - exp(x)) for x <= 0, accurate near 0 and far from it.",
)


# -- powers ------------------------------------------------------------------------------------------
def _lowered(y: Array) -> Array:
    """y - 1, but 1 where y is 0, so that x**0 has the derivative 0 * x**1 = 0 also at x = 0."""
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
    flops=20,
    algebra=Algebra("power"),
    ufunc="power",
    doc="x**y; the derivative of x**0 with respect to x is 0, that of 0**y with respect to y too.",
)


def float_power(x: Any, y: Any) -> Any:
    """x**y in float64."""
    return power(_as_float64(x), _as_float64(y))


def _as_float64(x: Any) -> Any:
    return x.astype("float64") if isinstance(x, Array) else np.asarray(x, dtype="float64")


compose(log_sigmoid)
compose(float_power, np.float_power)
