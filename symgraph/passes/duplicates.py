"""Values that differ only in the order of operands, or in axes of length one, become one.

Equal subgraphs are one node by construction, so this is all that is left of common-subexpression
elimination: of x + y and y + x the first written stays (addition and multiplication commute to the
last bit), a reduction that is computed with and without the axes kept is computed with them, and
what is computed of a column and of the same numbers as a vector is computed once and reshaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from ..array import Array
from ..ir.dims import Shape
from ..ir.interning import params_key
from ..ir.node import Node, make, on_operands, origin, reachable
from ..ir.op import carries_aligned
from ..ir.traits import Arrangement
from ..ops.movement import reshape

__all__ = ["merged"]

Key: TypeAlias = tuple[Any, ...]


def merged(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with each pair of equal values computed once; linear in the graph."""
    nodes = reachable(outputs)
    kept = _kept(nodes)
    first: dict[Key, Node] = {}
    slim: dict[Key, Node] = {}
    new: dict[Node, Node] = {}
    for node in nodes:
        operands = tuple([new[operand] for operand in node.operands])
        found = on_operands(node, operands)
        if node.op.traits.commutative and len(operands) == 2 and not node.copy:
            low, high = sorted((operands[0].serial, operands[1].serial))
            found = first.setdefault((node.op.name, low, high), found)
        elif kept and node.params.get("keepdims") is False and _without_flag(node) in kept:
            with origin(node.origin):
                wide = make(node.op, operands, {**node.params, "keepdims": True})
                found = reshape(Array(wide), node.shape).node
        if _is_elementwise(found):
            same = slim.setdefault(_without_units(found), found)
            if same is not found:
                with origin(node.origin):
                    found = reshape(Array(same), node.shape).node
        new[node] = found
    return [new[output] for output in outputs]


def _is_elementwise(node: Node) -> bool:
    """Whether the elements are those of the operands, one by one, whatever axes they lie along."""
    if node.op.carries is not carries_aligned or node.params or node.copy or len(node.results) > 1:
        return False
    shape = node.shape
    wide = _wide(node)
    for each in node.operands:
        if each.shape != shape and _wide(each) != wide and each.aval.size != 1:
            return False
    return len(wide) > 0


def _wide(node: Node) -> Shape:
    return tuple([dim for dim in node.shape if dim != 1])


def _without_units(node: Node) -> Key:
    flat = [_flat(each) for each in node.operands]
    if node.op.traits.commutative and len(flat) == 2:
        flat.sort(key=lambda each: each.serial)
    return (node.op, *flat)


def _flat(node: Node) -> Node:
    """The array whose elements these are, in order, without the axes of length one."""
    while node.op.traits.arrangement is Arrangement.REGROUPED and _wide(node) == _wide(
        node.operands[0]
    ):
        (node,) = node.operands
    return node


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
