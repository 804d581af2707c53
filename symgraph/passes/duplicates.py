"""Values that differ only in the order of a commutative operation's operands become one.

Equal subgraphs are one node by construction, so this is all that is left of common-subexpression
elimination: of x + y and y + x the first written stays. Addition and multiplication commute to the
last bit.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..dag import Node, make, origin, reachable

__all__ = ["merged"]


def merged(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with each pair of commuted values computed once; linear in the graph."""
    first: dict[tuple[str, int, int], Node] = {}
    new: dict[Node, Node] = {}
    for node in reachable(outputs):
        operands = tuple([new[operand] for operand in node.operands])
        found = node
        if operands != node.operands:
            with origin(node.origin):
                found = make(node.op, operands, node.params, node.copy)
        if node.op.algebra.commutative and len(operands) == 2 and not node.copy:
            low, high = sorted((operands[0].serial, operands[1].serial))
            found = first.setdefault((node.op.name, low, high), found)
        new[node] = found
    return [new[output] for output in outputs]
