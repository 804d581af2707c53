r"""The derivative of $c / f(u)$ past f, so that it is a number where f has overflowed.

By the chain rule it is $-c f'(u) / f(u)^2$, and infinite over infinite there. With the relative
slope $f' / f$, which an operation tells in its traits, it is $-(c / f(u)) \cdot f'(u) / f(u)$, and
so 0 where $c / f(u)$ is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..array import Array
from ..ir.differentiation import StandIn
from ..ir.node import Node
from .masks import behind_masks

__all__ = ["quotient_by_growing"]

_DEEPEST = 4
"""How many powers of powers we open, so that the time is bounded."""


class _Growing(NamedTuple):
    """A power of a function that tells its relative slope, and the values on the way to it."""

    function: Node
    power: float
    passed: tuple[Node, ...]


def quotient_by_growing(node: Node) -> StandIn | None:
    """The derivative of a quotient past its divisor; None if the divisor tells no such slope."""
    value, divisor = node.operands
    found = _growing(divisor)
    if found is None:
        return None
    (inner,) = found.function.operands
    relative: Any = found.function.op.traits.relative_slope

    def slope(out: Array) -> Array:
        each = out * relative(Array(found.function), Array(inner))
        return -each if found.power == 1 else -found.power * each

    def pushed(tangents: Sequence[Array | None], out: Array) -> Array | None:
        of_value, of_inner = tangents
        first: Any = None if of_value is None else of_value / Array(divisor)
        second: Any = None if of_inner is None else of_inner * slope(out)
        if first is None or second is None:
            return second if first is None else first
        return first + second

    rules: Any = (
        behind_masks(lambda ct, out: ct / Array(divisor)),
        behind_masks(lambda ct, out: ct * slope(out)),
    )
    return StandIn(
        passed=found.passed,
        operands=(value, inner),
        helps=lambda ct, out: True,
        vjp=rules,
        jvp=pushed,
    )


def _growing(divisor: Node) -> _Growing | None:
    """The divisor as a whole power of a function that tells its relative slope."""
    power, passed = 1.0, [divisor]
    while passed[-1].op.traits.relative_slope is None:
        by = _whole_power(passed[-1])
        if by is None or len(passed) > _DEEPEST:
            return None
        power *= by
        passed.append(passed[-1].operands[0])
    return _Growing(passed[-1], power, tuple(passed))


def _whole_power(node: Node) -> float | None:
    """The number n if the value is the n-th power of its first operand, by a square or a power."""
    if node.op.name == "multiply" and node.operands[0] is node.operands[1]:
        return 2.0
    exponent = node.op.traits.exponent
    if exponent is None and node.op.traits.raises and node.operands[1].is_constant:
        number = node.operands[1].params["value"]
        exponent = float(number) if number.ndim == 0 else None
    return exponent if exponent is not None and exponent >= 1 and exponent.is_integer() else None
