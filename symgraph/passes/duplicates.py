"""Values that differ only in the order of a commutative operation's operands become one.

Equal subgraphs are one node by construction, so this is all that is left of common-subexpression
elimination: of x + y and y + x the first written stays (addition and multiplication commute to the
last bit), and a reduction that is computed with and without the axes kept is computed with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from ..array import FUNCTIONS, Array
from ..dag import Node, make, origin, params_key, reachable

__all__ = ["merged"]

Key: TypeAlias = tuple[Any, ...]


def merged(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with each pair of equal values computed once; linear in the graph."""
    nodes = reachable(outputs)
    kept = _kept(nodes)
    first: dict[Key, Node] = {}
    new: dict[Node, Node] = {}
    for node in nodes:
        operands = tuple([new[operand] for operand in node.operands])
        found = node
        if operands != node.operands:
            with origin(node.origin):
                found = make(node.op, operands, node.params, node.copy)
        if node.op.algebra.commutative and len(operands) == 2 and not node.copy:
            low, high = sorted((operands[0].serial, operands[1].serial))
            found = first.setdefault((node.op.name, low, high), found)
        elif kept and node.params.get("keepdims") is False and _without_flag(node) in kept:
            with origin(node.origin):
                wide = make(node.op, operands, {**node.params, "keepdims": True})
                found = FUNCTIONS["reshape"](Array(wide), node.shape).node
        new[node] = found
    return [new[output] for output in outputs]


def _kept(nodes: Iterable[Node]) -> set[Key]:
    """The reductions that are computed with their axes kept."""
    return {
        _without_flag(node)
        for node in nodes
        if node.params.get("keepdims") is True and len(node.results) == 1
    }


def _without_flag(node: Node) -> Key:
    rest = {name: value for name, value in node.params.items() if name != "keepdims"}
    return (node.op, node.operands, node.copy, params_key(rest))
