"""Values that differ only in the order of operands, or in axes of length one, become one.

Equal subgraphs are one node by construction. So three cases are left of common-subexpression
elimination. Of x + y and y + x the first written stays (addition and multiplication commute to the
last bit). A reduction that is computed both with and without its axes kept is computed with them,
and reshaped. An elementwise operation on a column and on the same numbers as a vector is computed
once, and reshaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from ..array import Array
from ..ir.dims import Shape
from ..ir.interning import params_key
from ..ir.node import Node, make, on_operands, origin
from ..ir.op import carries_aligned
from ..ir.traits import Arrangement
from ..ir.walks import reachable
from ..ops.movement import reshape

__all__ = ["merged"]

Key: TypeAlias = tuple[Any, ...]


def merged(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with each of these values computed once; linear in the graph."""
    nodes = reachable(outputs)
    kept = _with_axes_kept(nodes)
    first: dict[Key, Node] = {}
    flat: dict[Key, Node] = {}
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
            same = flat.setdefault(_flat_key(found), found)
            if same is not found:
                with origin(node.origin):
                    found = reshape(Array(same), node.shape).node
        new[node] = found
    return [new[output] for output in outputs]


def _is_elementwise(node: Node) -> bool:
    """Whether each element depends on one element of each operand, up to axes of length one."""
    if node.op.carries is not carries_aligned or node.params or node.copy or len(node.results) > 1:
        return False
    shape = node.shape
    long = _without_ones(node)
    for each in node.operands:
        if each.shape != shape and _without_ones(each) != long and each.aval.size != 1:
            return False
    return len(long) > 0


def _without_ones(node: Node) -> Shape:
    return tuple([dim for dim in node.shape if dim != 1])


def _flat_key(node: Node) -> Key:
    """The operation and its operands, without their axes of length one."""
    flat = [_flat(each) for each in node.operands]
    if node.op.traits.commutative and len(flat) == 2:
        flat.sort(key=lambda each: each.serial)
    return (node.op, *flat)


def _flat(node: Node) -> Node:
    """The array below reshapes that only add or remove axes of length one."""
    while node.op.traits.arrangement is Arrangement.REGROUPED:
        (inner,) = node.operands
        if _without_ones(node) != _without_ones(inner):
            break
        node = inner
    return node


def _with_axes_kept(nodes: Iterable[Node]) -> set[Key]:
    """The reductions that are computed with their axes kept."""
    return {
        _without_flag(node)
        for node in nodes
        if node.params.get("keepdims") is True and len(node.results) == 1
    }


def _without_flag(node: Node) -> Key:
    rest = {name: value for name, value in node.params.items() if name != "keepdims"}
    return (node.op, node.operands, node.copy, params_key(rest))
