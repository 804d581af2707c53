r"""The derivative of $x^a \log x$ past both factors: $x^{a-1} (1 + a \log x)$, right at x = 0.

The slope of $x^a$ by a is this product, and is 0 at x = 0 (`log_or_zero`). Factor by factor its own
slope by x would be 0 there, too: for a = 1 it is $-\infty$.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..array import FUNCTIONS, Array
from ..ir.differentiation import StandIn
from ..ir.node import Node
from .factor_products import factors_of, partials_of, product_of, product_rule

__all__ = ["power_with_logarithm"]


def power_with_logarithm(node: Node) -> StandIn | None:
    """The derivative of a product with x**a and log_or_zero(x), None of another product."""
    factors, passed = factors_of(node)
    logarithm = next((each for each in factors if each.op.name == "log_or_zero"), None)
    if logarithm is None:
        return None
    x = logarithm.operands[0]
    power = next((f for f in factors if f.op.name == "power" and f.operands[0] is x), None)
    if power is None:
        return None
    others = [each for each in factors if each is not logarithm and each is not power]
    return _past_both(others, power, logarithm, passed)


def _past_both(
    others: Sequence[Node], power: Node, logarithm: Node, passed: Sequence[Node]
) -> StandIn:
    x, a = (Array(each) for each in power.operands)
    value = Array(power) * Array(logarithm)

    def steepness() -> Array:
        product_or_zero = FUNCTIONS["multiply_or_zero"]
        slope = 1 + product_or_zero(a, FUNCTIONS["log"](x))
        return product_of(others, product_or_zero(x ** (a - 1), slope))

    partials = [
        *partials_of(others, value),
        steepness,
        lambda: product_of(others, value) * Array(logarithm),
    ]
    return product_rule((*others, x.node, a.node), (power, logarithm, *passed), partials)
