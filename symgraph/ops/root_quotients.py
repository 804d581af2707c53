r"""The derivative of $x / \sqrt{c + x^2}$ past the root, so that nothing cancels.

By the chain rule it is $1 / r - x^2 / r^3$ with $r = \sqrt{c + x^2}$. For large x these two are the
same number to rounding, and their difference is noise. It is $c / r^3$, which is 0 once the square
has overflowed.
"""

from __future__ import annotations

from ..array import Array
from ..ir.differentiation import StandIn
from ..ir.node import Node
from .factor_products import product_rule

__all__ = ["quotient_by_own_root"]


def quotient_by_own_root(node: Node) -> StandIn | None:
    """The derivative by x and by c past the root; None of a quotient of another form."""
    x, root = node.operands
    if root.op.name != "sqrt" or root.operands[0].op.name != "add":
        return None
    (total,) = root.operands
    first, second = total.operands
    for own, rest in ((second, first), (first, second)):
        if _is_square_of(own, x):
            return _past_root(node, own, rest)
    return None


def _past_root(node: Node, own: Node, rest: Node) -> StandIn:
    x, root = node.operands
    (total,) = root.operands
    below = Array(total)
    return product_rule(
        (x, rest),
        (root, total, own),
        [
            lambda: Array(rest) / below / Array(root),
            lambda: -(Array(node) / below / 2),
        ],
    )


def _is_square_of(node: Node, x: Node) -> bool:
    """Whether a value is written as x**2, x * x or square(x)."""
    if node.op.name == "multiply":
        return node.operands == (x, x)
    if node.op.traits.raises and node.operands[1].is_constant:
        value = node.operands[1].params["value"]
        return node.operands[0] is x and value.ndim == 0 and value == 2
    return node.op.name == "square" and node.operands[0] is x
