"""Values that differ only in the order of operands, in sign, or in axes of length one, become one.

Equal subgraphs are one node by construction. So four cases are left of common-subexpression
elimination. Where 3 x is computed, -3 x is its negative: rules see that exp(-3 x) is the inverse of
exp(3 x). Of x + y and y + x the first written stays (addition and multiplication commute to the
last bit). A reduction that is computed both with and without its axes kept is computed with them,
and reshaped. An elementwise operation on a column and on the same numbers as a vector is computed
once, and reshaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ..array import Array
from ..ir.dims import Shape
from ..ir.interning import params_key
from ..ir.node import Node, make, on_operands, origin
from ..ir.op import carries_aligned
from ..ir.traits import Arrangement
from ..ir.walks import reachable
from ..ops.elementwise import multiply, negative
from ..ops.movement import reshape

__all__ = ["with_duplicates_merged"]

Key: TypeAlias = tuple[Any, ...]


def with_duplicates_merged(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with each of these values computed once; linear in the graph."""
    nodes = reachable(outputs)
    kept = _with_axes_kept(nodes)
    kept_multiples = _multiples(nodes)
    first: dict[Key, Node] = {}
    flat: dict[Key, Node] = {}
    new: dict[Node, Node] = {}
    for node in nodes:
        operands = tuple([new[operand] for operand in node.operands])
        found = on_operands(node, operands)
        if node.op.traits.commutative and len(operands) == 2 and not node.copy:
            low, high = sorted((operands[0].serial, operands[1].serial))
            found = first.setdefault((node.op.name, low, high), found)
            found = _as_negative(found, kept_multiples)
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


def _multiples(nodes: Iterable[Node]) -> dict[Key, Node]:
    """Products with a positive number, by the number and the array."""
    return {
        (found[0], found[1]): node
        for node in nodes
        if node.op is multiply.op and (found := _number_and_array(node)) and found[0] > 0
    }


def _number_and_array(node: Node) -> tuple[float, Node] | None:
    """The number of a product with a number, and the other factor."""
    for number, array in (node.operands, node.operands[::-1]):
        if number.is_constant and not number.ndim and node.dtype.kind == "f":
            return float(number.params["value"]), array
    return None


def _as_negative(node: Node, multiples: Mapping[Key, Node]) -> Node:
    """A product with a number as the negative of that with the opposite number, if that is kept."""
    if node.op is not multiply.op or node.copy or not multiples:
        return node
    found = _number_and_array(node)
    if found is None or found[0] >= 0 or (-found[0], found[1]) not in multiples:
        return node
    other = make(multiply.op, multiples[-found[0], found[1]].operands, {})
    with origin(node.origin):
        return negative(Array(other)).node


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
