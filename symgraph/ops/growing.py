r"""The derivative of $c / f(u)$ past f, so that it is a number where f has overflowed.

By the chain rule it is $-c f'(u) / f(u)^2$, and infinite over infinite there. With the relative
slope $f' / f$, which an operation tells in its traits, it is $-(c / f(u)) \cdot f'(u) / f(u)$, and
so 0 where $c / f(u)$ is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..array import Array
from ..ir.differentiation import StandIn
from ..ir.node import Node
from .masks import behind_masks

__all__ = ["quotient_by_growing"]


def quotient_by_growing(node: Node) -> StandIn | None:
    """The derivative of a quotient past its divisor; None if the divisor tells no such slope."""
    value, divisor = node.operands
    relative = divisor.op.traits.relative_slope
    if relative is None:
        return None
    (inner,) = divisor.operands

    def slope(out: Array) -> Array:
        return -(out * relative(Array(divisor), Array(inner)))

    def pushed(tangents: Sequence[Array | None], out: Array) -> Array | None:
        of_value, of_inner = tangents
        parts: list[Any] = []
        if of_value is not None:
            parts.append(of_value / Array(divisor))
        if of_inner is not None:
            parts.append(of_inner * slope(out))
        return sum(parts[1:], parts[0]) if parts else None

    rules: Any = (
        behind_masks(lambda ct, out: ct / Array(divisor)),
        behind_masks(lambda ct, out: ct * slope(out)),
    )
    return StandIn(
        passed=(divisor,),
        operands=(value, inner),
        helps=lambda ct, out: True,
        vjp=rules,
        jvp=pushed,
    )
