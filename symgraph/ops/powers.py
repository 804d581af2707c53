"""Powers of arrays, whose exponents are arrays, too.

The derivative a x^(a - 1) of x^a is 0 for a = 0, also at x = 0, where the power is infinite: it is
a product that is 0 where its first factor is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import inf
from typing import Any, TypeAlias

import numpy as np

from .. import facts as f
from ..array import FUNCTIONS, Array, ArrayLike, constant
from ..facts import Fact
from ..ir.differentiation import StandIn
from ..ir.fact_inference import Known
from ..ir.node import Node
from ..ir.traits import Infix, Traits
from ..notation import arithmetic, formulas
from .arithmetic_facts import bounds_multiply
from .bounds import EVERYWHERE, Bounds, increasing, knows, odd_signs, product_signs
from .choice import where
from .composites import as_array, composite
from .factor_products import product_rule
from .families import elementwise, like_ufunc
from .power_norms import norm_of_powers
from .product_roots import root_of_product
from .roots import is_square_root, norm_written_out
from .structures import structure_of_product

__all__ = ["float_power", "log_or_zero", "multiply_or_zero", "power"]


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
def _slope(x: Array, y: Array) -> Array:
    """The derivative y x**(y - 1) by x, but 0 where y is 0, at x = 0 too."""
    if y.node.is_constant:
        value = y.node.params["value"]
        return y * x ** constant(np.where(value == 0, 1, value - 1), value.dtype)
    return multiply_or_zero(y, x ** (y - 1))


def _slope_by_exponent(out: Array, x: Array) -> Array:
    """The derivative x**y log x by y, but 0 where x is 0 and x**y is a number."""
    return out * log_or_zero(x)


_Partial: TypeAlias = "Callable[[], Array]"
"""Makes the derivative of a product by one of its operands."""


def _product_with_power(node: Node) -> StandIn | None:
    """The derivative of a x^b past the power: 0 where a is 0, however steep the power is."""
    factors: list[Array] = []
    passed: list[Node] = []
    while node.op.name == "multiply_or_zero":
        factor, node = node.operands
        factors.append(Array(factor))
        passed.append(node)
    if node.op.name != "power":
        return None
    out = Array(node)
    x, y = (Array(each) for each in node.operands)
    partials: list[_Partial] = [
        partial(_weighted, [*factors[:place], *factors[place + 1 :]], lambda: out)
        for place in range(len(factors))
    ]
    partials.append(partial(_weighted, factors, lambda: _slope(x, y)))
    partials.append(partial(_weighted, factors, lambda: multiply_or_zero(out, FUNCTIONS["log"](x))))
    return product_rule(
        (*[each.node for each in factors], x.node, y.node),
        tuple(passed),
        partials,
        times=multiply_or_zero,
    )


def _weighted(factors: Sequence[Array], value: _Partial) -> Array:
    product = value()
    for factor in reversed(factors):
        product = multiply_or_zero(factor, product)
    return product


def _past_root(node: Node) -> StandIn | None:
    """The derivative of a root of squares, or of powers."""
    if is_square_root(node):
        return norm_written_out(node) or root_of_product(node)
    exponent = node.operands[1]
    number = exponent.is_constant and not exponent.shape
    return norm_of_powers(node, float(exponent.params["value"])) if number else None


power = elementwise(
    "power",
    kernel=lambda xp, x, y: xp.power(x, y),
    vjp=(
        lambda ct, out, x, y: ct * _slope(x, y),
        lambda ct, out, x, y: ct * _slope_by_exponent(out, x),
    ),
    stand_in=_past_root,
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


def _is_zero_times_infinity(xp: Any, x: Any, y: Any) -> Any:
    return xp.logical_and(x == 0, xp.isinf(y))


def _product_or_zero(xp: Any, x: Any, y: Any) -> Any:
    return xp.where(_is_zero_times_infinity(xp, x, y), 0, x * y)


def _product_or_zero_of_many(xp: Any, x: Any, y: Any) -> Any:
    if x.ndim:
        return xp.chosen(_is_zero_times_infinity(xp, x, y), 0, x * y)
    # Two passes over y; a choice for each element takes four, where x is a number.
    limit = xp.where(x == 0, x + 1, inf)
    return x * xp.minimum(xp.maximum(y, -limit), limit)


multiply_or_zero = elementwise(
    "multiply_or_zero",
    kernel=_product_or_zero,
    kernel_of_many=_product_or_zero_of_many,
    vjp=(
        lambda ct, out, x, y: multiply_or_zero(ct, y),
        lambda ct, out, x, y: ct * x,
    ),
    stand_in=_product_with_power,
    flops=3,
    promote=like_ufunc("divide"),
    facts=knows(bounds=bounds_multiply, signs=product_signs, pattern=structure_of_product),
    doc=(
        "x * y, and 0 where x is 0, also for infinite y: for products such as a * x**(a - 1), "
        "whose second factor is infinite at x = 0, and which is 0 for a = 0; NaN where y is. "
        "Integers give float64."
    ),
    traits=Traits(parity=(0, -1), linear=(0,), homogeneous=2),
    definition=lambda m, x, y: m.where(m.equal(x, 0), 0, m.multiply(x, y)),
    latex=arithmetic.product_formula,
)


def _bounds_log_or_zero(x: Known) -> Bounds:
    low, high = increasing(math.log, (0.0, inf))(x)
    return min(low, 0.0), max(high, 0.0)


log_or_zero = elementwise(
    "log_or_zero",
    kernel=lambda xp, x: xp.log(xp.where(x == 0, 1, x)),
    vjp=(lambda ct, out, x: where(x == 0, 0, ct / where(x == 0, 1, x)),),
    promote=like_ufunc("log"),
    facts=knows(bounds=_bounds_log_or_zero, defined=lambda x: x.has(f.nonnegative)),
    flops=12,
    doc=(
        "The natural logarithm of x, and 0 where x is 0, as is its derivative there: for products "
        "such as x**a * log(x), which are 0 at x = 0; NaN for x < 0."
    ),
    traits=Traits(other_logarithm=True),
    definition=lambda m, x: m.log(m.where(m.equal(x, 0), 1, x)),
    latex=r"\log",
)


@composite(np.float_power)
def float_power(x: ArrayLike, y: ArrayLike) -> Any:
    """x**y in float64."""
    return power(as_array(x).astype("float64"), as_array(y).astype("float64"))
