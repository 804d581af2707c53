"""Tells whether cancellation makes a value 0 although an infinite input makes it NaN."""

from __future__ import annotations

import numpy as np

from ...facts import finite, total
from ...ir.fact_inference import Knowledge
from ...ir.node import Node
from ...ops.movement import broadcast_to, reshape
from ..expression.roles import is_power

__all__ = ["vanishes"]


def vanishes(node: Node, new: Node, knowledge: Knowledge) -> bool:
    """Whether a value that the user wrote would become 0 although infinite inputs make it NaN.

    In a gradient the cancelling terms come from reverse mode, and 0 is the right derivative. It
    is not where an infinite constant cancels: inf y - inf y is NaN, and so are its derivatives.
    """
    if _is_of_infinite_constants(new, knowledge):
        return True
    if node.origin.adjoint_of is not None and not node.origin.shared:
        return False
    while new.op in (broadcast_to.op, reshape.op):
        (new,) = new.operands
    if not new.is_constant or np.any(new.params["value"]):
        return False
    return not _is_finite_but_for_overflow(node, knowledge)


_CONSTANTS = 16
"""So many nodes of constants we look at; a larger value is taken to depend on an input."""


def _is_of_infinite_constants(root: Node, knowledge: Knowledge) -> bool:
    """Whether a value is computed from constants alone, some of them not finite."""
    stack, seen = [root], {root}
    while stack:
        node = stack.pop()
        if node.is_input or len(seen) > _CONSTANTS:
            return False
        new = [each for each in node.operands if each not in seen]
        seen.update(new)
        stack.extend(new)
    return any(node.is_constant and not knowledge.of(node).has(finite) for node in seen)


def _is_finite_but_for_overflow(root: Node, knowledge: Knowledge) -> bool:
    """Whether a value is computed from finite ones by operations that are defined everywhere."""
    stack, seen = [root], {root}
    while stack:
        node = stack.pop()
        known = knowledge.of(node)
        if known.has(finite):
            continue
        if node.is_input or not (known.has(total) or _is_of_sums_and_products(node)):
            return False
        new = [each for each in node.operands if each not in seen]
        seen.update(new)
        stack.extend(new)
    return True


def _is_of_sums_and_products(node: Node) -> bool:
    """Whether the node is linear in all float operands, or an integer power."""
    traits, count = node.op.traits, len(node.operands)
    linear = {*traits.linear_in(count), *traits.linear_together(count)}
    if all(place in linear for place, each in enumerate(node.operands) if each.dtype.kind == "f"):
        return True
    return _is_whole_power(node)


def _is_whole_power(node: Node) -> bool:
    if node.op.traits.elementwise and node.op.traits.homogeneous == 2 and len(node.operands) == 1:
        return True
    if not is_power(node) or not node.operands[1].is_constant:
        return False
    exponents = node.operands[1].params["value"]
    return bool((exponents >= 0).all() and (exponents % 1 == 0).all())
