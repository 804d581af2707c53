r"""The derivatives of $\log(1 + z^c)$ and $z^c / (1 + z^c)$ past the logarithm: right at z = 0.

They are written as softplus and sigmoid of `xlogy(c, z)`, to be in range. By the chain rule the
slope of the first in z is $\sigma(c \log z)\, c / z$, which is $0 \cdot \infty$ at z = 0. It is
$c\, e^{(c - 1) \log z - \log(1 + z^c)}$, and that of the second has $\log(1 + z^c)$ twice.
"""

from __future__ import annotations

from typing import Any

from ..array import FUNCTIONS, Array
from ..facts import nonzero
from ..ir.differentiation import StandIn
from ..ir.fact_inference import known_before
from ..ir.node import Node
from .factor_products import product_rule

__all__ = ["logistic_of_power", "softplus_of_power"]


def softplus_of_power(node: Node) -> StandIn | None:
    """The derivative of softplus(xlogy(c, z)); None of another argument, or if z is not 0."""
    return _past_logarithm(node, times=1)


def logistic_of_power(node: Node) -> StandIn | None:
    """The derivative of sigmoid(xlogy(c, z)), and with a minus sign; None of other arguments."""
    return _past_logarithm(node, times=2)


def _past_logarithm(node: Node, *, times: int) -> StandIn | None:
    (argument,) = node.operands
    falls = argument.op.name == "negative" and times == 2
    power = argument.operands[0] if falls else argument
    if power.op.name != "xlogy" or known_before(power.operands[1]).has(nonzero):
        return None
    c, z = (Array(each) for each in power.operands)
    u = Array(power)
    softplus, sigmoid = FUNCTIONS["softplus"], FUNCTIONS["sigmoid"]

    def turned(slope: Array) -> Array:
        return -slope if falls else slope

    def by_base() -> Array:
        growth: Any = softplus(u)
        rest = growth if times == 1 else 2 * growth
        return turned(c * FUNCTIONS["exp"](FUNCTIONS["xlogy"](c - 1, z) - rest))

    def by_exponent() -> Array:
        steepness = sigmoid(u) if times == 1 else sigmoid(u) * sigmoid(-u)
        return turned(FUNCTIONS["multiply_or_zero"](steepness, FUNCTIONS["log"](z)))

    passed = (power, argument) if falls else (power,)
    return product_rule((c.node, z.node), passed, [by_exponent, by_base])
