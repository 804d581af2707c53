"""Exponentials and logarithms, and the functions of probability made of them.

softplus, log_sigmoid and log1mexp never overflow where their value is a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from math import inf
from math import log as ln
from typing import Any

import numpy as np

from .. import facts as f
from ..array import Array, ArrayLike
from ..facts import Fact
from ..ir.fact_inference import Known
from ..ir.node import Node
from ..ir.traits import Exponential, ExponentialSum, Logarithm, Traits
from .bounds import (
    Bounds,
    FactRule,
    increasing,
    is_positive,
    knows,
    odd_signs,
    positive_operand,
    within,
)
from .choice import is_constant, where
from .composites import composite
from .densities import exponential_of_powers, less_one, logarithm_of_rest
from .elementwise import negative
from .families import elementwise, to_float
from .power_logistics import logistic_of_power, softplus_of_power

__all__ = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1mexp",
    "log1p",
    "log2",
    "log10",
    "log_sigmoid",
    "logaddexp",
    "logaddexp2",
    "sigmoid",
    "softplus",
]


# -- facts about results ---------------------------------------------------------------------------
def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else math.exp(x)


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _signs_log(x: Known) -> Iterable[Fact]:
    if x.low >= 1:
        yield f.nonnegative
    if x.high <= 1:
        yield f.nonpositive


def _facts_log(function: Callable[[float], float]) -> FactRule:
    return knows(
        bounds=increasing(function, (0.0, inf)), signs=_signs_log, defined=positive_operand
    )


def _bounds_logaddexp(x: Known, y: Known) -> Bounds:
    low = max(x.low, y.low)
    high = max(x.high, y.high) + ln(2)
    return low, high * (1 + 4e-16) if high > 0 else high * (1 - 4e-16)


# -- exponentials ----------------------------------------------------------------------------------
exp = elementwise(
    "exp",
    doc="e**x.",
    kernel=lambda xp, x: xp.exp(x),
    vjp=(lambda ct, out, x: ct * out,),
    stand_in=exponential_of_powers,
    facts=knows(bounds=increasing(math.exp, image=(0.0, inf)), signs=is_positive),
    flops=10,
    ufunc="exp",
    traits=Traits(exponential=Exponential(), relative_slope=lambda out, x: 1),
    definition=lambda m, x: m.exp(x),
    latex="e^{#}",
    mistaken_for=("expm1", "exp2"),
)

exp2 = elementwise(
    "exp2",
    doc="2**x.",
    kernel=lambda xp, x: xp.exp2(x),
    vjp=(lambda ct, out, x: ct * (ln(2) * out),),
    facts=knows(bounds=increasing(np.exp2, image=(0.0, inf)), signs=is_positive),
    flops=10,
    ufunc="exp2",
    traits=Traits(exponential=Exponential(2), relative_slope=lambda out, x: ln(2)),
    definition=lambda m, x: m.exp(x * m.log(2)),
    latex="2^{#}",
)

expm1 = elementwise(
    "expm1",
    doc="e**x - 1, accurate near 0.",
    kernel=lambda xp, x: xp.expm1(x),
    vjp=(lambda ct, out, x: ct * exp(x),),
    stand_in=less_one,
    facts=knows(
        bounds=increasing(math.expm1, image=(-1.0, inf)), signs=odd_signs, zero_at_zero=True
    ),
    flops=10,
    ufunc="expm1",
    traits=Traits(exponential=Exponential(less=1), relative_slope=lambda out, x: -1 / expm1(-x)),
    definition=lambda m, x: m.expm1(x),
    latex="e^{#} - 1",
    mistaken_for=("exp", "log1p"),
)

# -- logarithms ------------------------------------------------------------------------------------
log = elementwise(
    "log",
    doc="The natural logarithm of x; -inf at 0, NaN below.",
    kernel=lambda xp, x: xp.log(x),
    vjp=(lambda ct, out, x: ct / x,),
    facts=_facts_log(math.log),
    flops=10,
    ufunc="log",
    traits=Traits(logarithm=Logarithm()),
    definition=lambda m, x: m.log(x),
    latex=r"\log",
    mistaken_for=("log1p", "log2"),
)

log1p = elementwise(
    "log1p",
    doc="The natural logarithm of 1 + x, accurate near 0.",
    kernel=lambda xp, x: xp.log1p(x),
    vjp=(lambda ct, out, x: ct / (1 + x),),
    facts=knows(
        bounds=increasing(math.log1p, (-1.0, inf)),
        signs=odd_signs,
        defined=lambda x: x.low > -1,
        zero_at_zero=True,
    ),
    flops=10,
    ufunc="log1p",
    traits=Traits(logarithm=Logarithm(plus=1)),
    definition=lambda m, x: m.log(1 + x),
    latex=r"\log\left(1 + #\right)",
    mistaken_for=("log", "expm1"),
)

log2 = elementwise(
    "log2",
    doc="The logarithm of x to base 2.",
    kernel=lambda xp, x: xp.log2(x),
    vjp=(lambda ct, out, x: ct / (ln(2) * x),),
    facts=_facts_log(math.log2),
    flops=10,
    ufunc="log2",
    traits=Traits(logarithm=Logarithm(2)),
    definition=lambda m, x: m.log(x) / m.log(2),
    latex=r"\log_2",
)

log10 = elementwise(
    "log10",
    doc="The logarithm of x to base 10.",
    kernel=lambda xp, x: xp.log10(x),
    vjp=(lambda ct, out, x: ct / (ln(10) * x),),
    facts=_facts_log(math.log10),
    flops=10,
    ufunc="log10",
    traits=Traits(logarithm=Logarithm(10)),
    definition=lambda m, x: m.log(x) / m.log(10),
    latex=r"\log_{10}",
)


def _share(ct: ArrayLike, x: Array, y: Array, base: float) -> Array:
    """The part of ct that x has in log(exp x + exp y): 0 at -inf, also where both are."""
    apart = x - y
    never_both = is_constant(y) and bool(np.all(np.isfinite(_value(y))))
    if not (never_both or _is_log_of_positive_input(y.node)):
        # No mask around the share: behind a mask log(x) would have the slope 0 at x = 0.
        apart = where(x == -np.inf, x, apart)
    return ct * sigmoid(apart if base == 1 else base * apart)


def _is_log_of_positive_input(node: Node) -> bool:
    """Whether a value cannot be -inf, because the user said so."""
    if node.op.name != "log" or not node.operands[0].is_input:
        return False
    stated = dict.fromkeys(node.operands[0].params["assume"], "stated")
    return Known(node.operands[0], stated).has(f.positive)


def _value(x: Array) -> Any:
    """The numbers of a constant, perhaps reshaped or broadcast."""
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
    facts=knows(bounds=_bounds_logaddexp, keeps_finite=True),
    flops=20,
    traits=Traits(other_logarithm=True, commutative=True, shift=1),
    ufunc="logaddexp",
    doc="log(exp(x) + exp(y)) without overflow; where both are -inf its derivative is 0.",
    definition=lambda m, x, y: m.logaddexp(x, y),
    mistaken_for=("maximum", "hypot"),
)

logaddexp2 = elementwise(
    "logaddexp2",
    kernel=lambda xp, x, y: xp.logaddexp2(x, y),
    vjp=(
        lambda ct, out, x, y: _share(ct, x, y, ln(2)),
        lambda ct, out, x, y: _share(ct, y, x, ln(2)),
    ),
    facts=knows(keeps_finite=True),
    flops=20,
    traits=Traits(other_logarithm=True, commutative=True, shift=1),
    ufunc="logaddexp2",
    doc="log2(2**x + 2**y) without overflow; where both are -inf its derivative is 0.",
)

# -- logistic --------------------------------------------------------------------------------------
_ALL_OF_ONE = 40.0
"""From exp of this on, 1 is lost in 1 + exp x, in single and in double precision."""


def _logistic_on_numpy(xp: Any, x: Any) -> Any:
    """Of exp x, not of exp -x, which overflows where the function is still a number."""
    e = xp.exp(xp.minimum(x, _ALL_OF_ONE))
    return xp.divide(e, xp.add(1.0, e))


def _softplus_of_many(xp: Any, x: Any) -> Any:
    """Of the exponential that a sigmoid of `x` needs, too; x itself where 1 is lost in it."""
    return xp.maximum(xp.log1p(xp.exp(xp.minimum(x, _ALL_OF_ONE))), x)


sigmoid = elementwise(
    "sigmoid",
    # SciPy has no half-precision loop: it answers in float64.
    kernel=lambda xp, x: xp.astype(xp.special.expit(x), x.dtype),
    kernel_on_numpy=_logistic_on_numpy,
    vjp=(lambda ct, out, x: ct * (out * (1 - out)),),
    stand_in=logistic_of_power,
    facts=knows(
        bounds=increasing(_logistic, image=(0.0, 1.0)), signs=is_positive, keeps_finite=True
    ),
    promote=to_float,
    flops=12,
    count=4,
    doc="The logistic function 1 / (1 + exp(-x)), without overflow.",
    definition=lambda m, x: 1 / (1 + m.exp(-x)),
    traits=Traits(exponential_sum=ExponentialSum(share=True)),
    latex=r"\sigma",
    mistaken_for=("softplus", "tanh"),
)

softplus = elementwise(
    "softplus",
    kernel=lambda xp, x: xp.logaddexp(0.0, x),
    kernel_of_many=_softplus_of_many,
    many=96,
    vjp=(lambda ct, out, x: ct * sigmoid(x),),
    stand_in=softplus_of_power,
    facts=knows(
        bounds=increasing(_softplus, image=(0.0, inf)), signs=is_positive, keeps_finite=True
    ),
    promote=to_float,
    flops=22,
    count=3,
    doc="log(1 + exp(x)), without overflow.",
    definition=lambda m, x: m.logaddexp(x, 0),
    latex=r"\log\left(1 + e^{#}\right)",
    mistaken_for=("sigmoid", "exp"),
    traits=Traits(exponential_sum=ExponentialSum(logarithm=True)),
)


@composite()
def log_sigmoid(x: ArrayLike) -> Any:
    """log(sigmoid(x)) = -softplus(-x), without overflow."""
    return negative(softplus(negative(x)))


def _log1mexp(xp: Any, x: Any) -> Any:
    # Mächler (2012), "Accurately computing log(1 - exp(-|a|))": each form is accurate on one side.
    near = xp.log(-xp.expm1(x))
    return xp.where(x > -ln(2), near, xp.log1p(-xp.exp(x)))


log1mexp = elementwise(
    "log1mexp",
    kernel=_log1mexp,
    vjp=(lambda ct, out, x: -(ct / expm1(-x)),),
    stand_in=logarithm_of_rest,
    facts=knows(
        bounds=within(-inf, 0.0),
        signs=lambda x: (f.negative,),
        defined=lambda x: x.has(f.negative),
    ),
    promote=to_float,
    flops=30,
    count=3,
    doc="log(1 - exp(x)) for x <= 0, accurate near 0 and far from it.",
    definition=lambda m, x: m.log1mexp(x),
    mistaken_for=("log_expm1", "softplus"),
    traits=Traits(other_logarithm=True),
)
