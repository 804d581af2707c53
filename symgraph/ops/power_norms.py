r"""Roots of powers by the reciprocal exponent, and higher ones: right where the radicand is 0.

$(\sum |x_i|^n)^{1/n}$ is a norm, and by the chain rule its slope at x = 0 is $0 \cdot \infty$. It
is $x_i^{n-1} (\sum |x_j|^n)^{1/n - 1}$, and 0 at 0, as that of `norm(x, n)`. Without a sum
$(x^n)^r$ is $|x|^{n r}$, with the slope of that power, for $n r \ge 1$.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..array import FUNCTIONS, Array
from ..ir.differentiation import StandIn
from ..ir.node import Node
from .masks import behind_masks

__all__ = ["norm_of_powers"]


class _Powers(NamedTuple):
    """The sum of `x ** exponent` over `axis`, or the power itself; x is at least 0, if not even."""

    x: Node
    exponent: float
    summed: Node | None


def norm_of_powers(node: Node, root: float) -> StandIn | None:
    """The derivative of a value to the power `root`, if it is a power, or a sum of powers."""
    passed: list[Node] = []
    found = _powers(node.operands[0], passed) if 0 < root < 1 else None
    if found is None:
        return None
    degree = found.exponent * root
    if abs(degree - 1) > 1e-12 and (degree < 1 or found.summed is not None):
        return None
    degree = round(degree) if abs(degree - round(degree)) <= 1e-12 else degree
    slope = _slope_of_power if found.summed is None else _slope_of_norm

    def rule(ct: Array, out: Array) -> Array:
        return slope(found, degree, ct, out, node)

    masked: Any = rule if found.summed is not None else behind_masks(rule)
    return StandIn(
        passed=tuple(passed),
        operands=(found.x,),
        helps=lambda ct, out: True,
        vjp=(masked,),
        jvp=lambda tangents, out: _pushed(found, degree, tangents[0], out, node),
    )


def _powers(node: Node, passed: list[Node]) -> _Powers | None:
    passed.append(node)
    summed = node if node.op.name == "sum" else None
    if summed is not None:
        (node,) = node.operands
        passed.append(node)
    x = node.operands[0] if node.operands else node
    if node.op.name == "square" or (node.op.name == "multiply" and x is node.operands[1]):
        exponent = 2.0
    elif node.op.name == "power" and _is_number(node.operands[1]):
        exponent = float(node.operands[1].params["value"])
    else:
        return None
    even = exponent % 2 == 0
    if exponent < 2 or not (even or x.op.name == "absolute"):
        return None
    return _Powers(x, exponent, summed)


def _is_number(node: Node) -> bool:
    return node.is_constant and not node.shape


# -- its derivative --------------------------------------------------------------------------------
def _slope_of_power(powers: _Powers, degree: float, ct: Array, out: Array, node: Node) -> Array:
    x: Any = Array(powers.x)
    if degree == 1:
        return ct * FUNCTIONS["sign"](x)
    if degree % 2 == 0:
        return ct * (degree * x ** (degree - 1))
    return ct * (degree * (FUNCTIONS["sign"](x) * FUNCTIONS["absolute"](x) ** (degree - 1)))


def _slope_of_norm(powers: _Powers, degree: float, ct: Array, out: Array, node: Node) -> Array:
    return _restored(powers, ct) * _direction(powers, node)


def _direction(powers: _Powers, node: Node) -> Array:
    """x**(n - 1) times the sum to the power 1 / n - 1, and 0 at 0."""
    x, total = Array(powers.x), Array(node.operands[0])
    below: Any = total ** (1 / powers.exponent - 1)
    return FUNCTIONS["multiply_or_zero"](x ** (powers.exponent - 1), _restored(powers, below))


def _restored(powers: _Powers, value: Array) -> Array:
    """The value with the axes again over which the powers were summed."""
    params = powers.summed.params if powers.summed is not None else {"keepdims": True}
    return value if params["keepdims"] else FUNCTIONS["expand_dims"](value, params["axis"])


def _pushed(
    powers: _Powers, degree: float, tangent: Array | None, out: Array, node: Node
) -> Array | None:
    if tangent is None:
        return None
    if powers.summed is None:
        return _slope_of_power(powers, degree, tangent, out, node)
    params = powers.summed.params
    moved: Any = _direction(powers, node) * tangent
    return FUNCTIONS["sum"](moved, axis=params["axis"], keepdims=params["keepdims"])
