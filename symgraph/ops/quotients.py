"""A quotient that is 0 where its divisor is 0, such as x / |x| at the origin.

Where the length has overflowed, x / |x| is NaN, not 0: the direction is not known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..array import FUNCTIONS, Array
from ..ir.differentiation import StandIn
from ..ir.node import Node
from ..ir.traits import Traits
from ..notation import arithmetic
from .bounds import knows, product_signs
from .factor_products import product_rule
from .families import elementwise, like_ufunc, to_float
from .structures import structure_of_quotient

__all__ = ["direction_in_a_plane", "divide_or_slope", "divide_or_zero", "inverse_root"]


def _kernel(xp: Any, x: Any, y: Any) -> Any:
    none = y == 0
    # Do not divide by a length that has overflowed: x / inf would be 0, and 1 is right.
    known = y + (y - y)
    quotient = x / xp.where(none, xp.ones_like(y), known)
    return xp.where(none, xp.zeros_like(quotient), quotient)


def _other_leg(node: Node) -> Node | None:
    """The y of a quotient x / hypot(x, y) or x / hypot(y, x); None of any other quotient."""
    x, length = node.operands
    if length.op.name != "hypot" or x not in length.operands:
        return None
    first, second = length.operands
    return second if first is x else first


def direction_in_a_plane(node: Node, over: Callable[[Array, Array], Array]) -> StandIn | None:
    r"""The derivative of $x / h$ with $h = \sqrt{x^2 + y^2}$ past h: $y^2 / h^3$, $-x y / h^3$.

    By h it is $(1 - x^2 / h^2) / h$, which cancels where x is far larger than y. `over` divides.
    """
    other = _other_leg(node)
    if other is None:
        return None
    x, length = node.operands
    across = over(Array(other), Array(length))
    return product_rule(
        (x, other),
        (length,),
        [
            lambda: over(across * across, Array(length)),
            lambda: -over(Array(node) * across, Array(length)),
        ],
    )


divide_or_zero = elementwise(
    "divide_or_zero",
    kernel=_kernel,
    vjp=(
        lambda ct, out, x, y: divide_or_zero(ct, y),
        lambda ct, out, x, y: -(ct * divide_or_zero(out, y)),
    ),
    stand_in=lambda node: direction_in_a_plane(node, divide_or_zero),
    promote=like_ufunc("divide"),
    facts=knows(signs=product_signs, pattern=structure_of_quotient),
    doc=(
        "x / y, and 0 where y is 0, as are its derivatives there: for quotients whose divisor "
        "vanishes only where nothing is divided, such as x / norm(x); NaN where y is infinite."
    ),
    traits=Traits(parity=(0, -1), linear=(0,), homogeneous=0),
    latex=arithmetic.fraction_formula,
)


def _kernel_with_slope(xp: Any, x: Any, y: Any, slope: Any) -> Any:
    none = y == 0
    known = y + (y - y)
    return xp.where(none, slope, x / xp.where(none, xp.ones_like(y), known))


divide_or_slope = elementwise(
    "divide_or_slope",
    kernel=_kernel_with_slope,
    vjp=(
        lambda ct, out, x, y, slope: divide_or_zero(ct, y),
        lambda ct, out, x, y, slope: -(ct * divide_or_zero(out, y)),
        lambda ct, out, x, y, slope: FUNCTIONS["where"](y == 0, ct, 0),
    ),
    promote=to_float,
    doc=(
        "x / y, and where y is 0 the slope of x by y, which is the limit if x is 0, too, such as "
        "that of f'(r) / r for a length r. NaN where y is infinite."
    ),
    traits=Traits(jointly_linear=(0, 2)),
)


def _kernel_of_inverse(xp: Any, s: Any) -> Any:
    none = s == 0
    known = s + (s - s)  # NaN of a sum of squares that has overflowed
    inverse = 1 / xp.sqrt(xp.where(none, xp.ones_like(s), known))
    return xp.where(none, xp.zeros_like(s), inverse)


inverse_root = elementwise(
    "inverse_root",
    kernel=_kernel_of_inverse,
    vjp=(lambda ct, out, s: -0.5 * (ct * divide_or_zero(out, s)),),
    promote=like_ufunc("sqrt"),
    flops=1,  # As a root: one instruction of processors, one operation of XLA.
    doc="1 / sqrt(s); 0 where s is 0, as x = 0 is divided by it in x / norm(x); NaN of infinity.",
    traits=Traits(homogeneous=-0.5),
    latex=r"\frac{1}{\sqrt{#}}",
)
