r"""The derivative of $x / \sqrt{c + x^2}$ past the root, so that nothing cancels.

By the chain rule it is $1 / r - x^2 / r^3$ with $r = \sqrt{c + x^2}$. For large x these two are the
same number to rounding, and their difference is noise. It is $c / r^3$, which is 0 once the square
has overflowed. c may be a sum: x / sqrt(1 + x² + y²) has the slope (1 + y²) / r³.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..array import Array
from ..ir.differentiation import StandIn
from ..ir.node import Node
from .factor_products import nested, product_rule

__all__ = ["quotient_by_own_root"]


def quotient_by_own_root(node: Node) -> StandIn | None:
    """The derivative by x and by the terms of c past the root; None of another quotient."""
    x, root = node.operands
    if root.op.name != "sqrt" or root.operands[0].op.name != "add":
        return None
    (total,) = root.operands
    terms, sums = nested(total.operands, "add")
    for place, own in enumerate(terms):
        if _is_square_of(own, x):
            others = [*terms[:place], *terms[place + 1 :]]
            return _past_root(node, own, others, [root, total, own, *sums])
    return None


def _past_root(node: Node, own: Node, others: Sequence[Node], passed: Sequence[Node]) -> StandIn:
    x, root = node.operands
    below = Array(root.operands[0])

    def by_x() -> Array:
        rest: Any = Array(others[0])
        for each in others[1:]:
            rest = rest + Array(each)
        return rest / below / Array(root)

    def by_other() -> Array:
        return -(Array(node) / below / 2)

    return product_rule((x, *others), tuple(passed), [by_x, *[by_other] * len(others)])


def _is_square_of(node: Node, x: Node) -> bool:
    """Whether a value is written as x**2, x * x or square(x)."""
    if node.op.name == "multiply":
        return node.operands == (x, x)
    if node.op.traits.raises and node.operands[1].is_constant:
        value = node.operands[1].params["value"]
        return node.operands[0] is x and value.ndim == 0 and value == 2
    return node.op.name == "square" and node.operands[0] is x
