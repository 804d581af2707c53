"""Whether a value has become 0 by cancellation although an infinite input makes it NaN."""

from __future__ import annotations

import numpy as np

from ..facts import finite
from ..nodes import Node
from ..propagation import Knowledge

__all__ = ["vanishes"]

_RING = frozenset(
    {
        *("add", "subtract", "negative", "multiply", "square", "sum", "matmul", "einsum"),
        *("reshape", "broadcast_to", "transpose", "getitem", "diagonal", "concatenate", "embed"),
    }
)
"""Sums and products, and what moves elements: of finite numbers all are finite."""


def vanishes(node: Node, new: Node, knowledge: Knowledge) -> bool:
    """Whether what the user wrote would become 0 although an infinite input makes it NaN.

    In a gradient the terms that cancel are those of reverse mode; there 0 is the derivative.
    """
    if node.origin.adjoint_of is not None and not node.origin.shared:
        return False
    while new.op.name in ("broadcast_to", "reshape"):
        (new,) = new.operands
    if not new.is_constant or np.any(new.params["value"]):
        return False
    return not _is_finite_but_for_overflow(node, knowledge)


def _is_finite_but_for_overflow(root: Node, knowledge: Knowledge) -> bool:
    """Whether a value is made by sums and products of values that are known to be finite."""
    stack, seen = [root], {root}
    while stack:
        node = stack.pop()
        if knowledge.of(node).has(finite):
            continue
        if node.op.name not in _RING and not _is_whole_power(node):
            return False
        new = [each for each in node.operands if each not in seen]
        seen.update(new)
        stack.extend(new)
    return True


def _is_whole_power(node: Node) -> bool:
    if node.op.name != "power" or not node.operands[1].is_constant:
        return False
    exponents = node.operands[1].params["value"]
    return bool((exponents >= 0).all() and (exponents % 1 == 0).all())
