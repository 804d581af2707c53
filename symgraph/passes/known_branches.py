"""Choices below a choice by the same condition: where(c, x, 2 where(c, y, z)) is where(c, x, 2 z).

Reverse mode passes a cotangent through each choice by itself, and sums or products come between
them. Each element is computed of its own, so within a branch the condition is known for the
elements that are taken from it. Other operations keep the choices below them, for in
where(x > 0, log(where(x > 0, x, 1)), 0) the inner one keeps a derivative from 0 / 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..array import Array
from ..ir.node import Node, make, origin
from ..ir.walks import reachable, replaced, use_counts
from ..ops.choice import where
from ..ops.elementwise import add, divide, multiply, negative, subtract
from ..ops.movement import broadcast_to

__all__ = ["with_branches_known"]

_PASSED = (add.op, subtract.op, negative.op, multiply.op, divide.op, where.op)
"""Operations that are looked through; of a quotient what is divided."""

_DEEPEST = 12
"""So many operations below a choice are looked at."""


def with_branches_known(outputs: Sequence[Node]) -> list[Node]:
    """The outputs without choices that are decided by a choice above; the same bits.

    Parameters
    ----------
    outputs : sequence of Node
    """
    nodes = reachable(outputs)
    conditions = Counter(node.operands[0] for node in nodes if node.op is where.op)
    if not any(count > 1 for count in conditions.values()):
        return list(outputs)
    uses = use_counts(nodes, outputs)
    once = {node for node, count in uses.items() if count == 1 and not node.copy}
    instead: dict[Node, Node] = {}
    for node in nodes:
        if node.op is where.op and conditions[node.operands[0]] > 1 and not node.copy:
            condition, x, y = node.operands
            new = [_within(x, condition, True, once), _within(y, condition, False, once)]
            if any(new):
                with origin(node.origin):
                    instead[node] = make(node.op, (condition, new[0] or x, new[1] or y))
    return replaced(outputs, instead) if instead else list(outputs)


def _within(
    node: Node, condition: Node, holds: bool, once: set[Node], depth: int = 0
) -> Node | None:
    """A branch for elements whose condition is known; None if that decides no choice in it."""
    if node not in once or depth > _DEEPEST or node.op not in _PASSED:
        return None
    with origin(node.origin):
        if node.op is where.op and node.operands[0] is condition:
            taken = node.operands[1 if holds else 2]
            if taken.shape != node.shape:
                taken = broadcast_to(Array(taken), node.shape).node
            return taken if taken.dtype == node.dtype else None
        inside = node.operands[:1] if node.op is divide.op else node.operands
        found = [_within(each, condition, holds, once, depth + 1) for each in inside]
        if not any(found):
            return None
        operands = [new or old for new, old in zip(found, inside, strict=True)]
        return make(node.op, (*operands, *node.operands[len(inside) :]), node.params)
