"""A join of arrays that are results of one operation is the operation on a join.

[x / w, y / w] is [x, y] / w for a number w, and [f(x), f(y)] is f([x, y]): the same numbers, by one
operation in place of several. Numbers stay apart, because a number is computed faster by itself
than as an element of an array. So do large arrays, which are written where they stand in the join.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..array import Array
from ..ir.node import Node, make, on_operands, origin
from ..ir.walks import reachable, use_counts
from ..ops.joining import CONCATENATE, concatenate
from ..ops.movement import RESHAPE, reshape

__all__ = ["with_operations_joined"]

_LARGEST = 1_024
"""The most elements of a join that is copied once more."""


def with_operations_joined(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with equal operations below a join done once, above it.

    Parameters
    ----------
    outputs : sequence of Node
    """
    current = list(outputs)
    while True:
        nodes = reachable(current)
        if not any(map(_is_small_join, nodes)):
            return current
        new = _with_operations_joined(nodes, current)
        if new == current:  # What moved above one join may be below another one.
            return current
        current = new


def _with_operations_joined(nodes: Sequence[Node], outputs: Sequence[Node]) -> list[Node]:
    uses = use_counts(nodes, outputs)
    instead: dict[Node, Node] = {}
    for node in nodes:
        parts = [_inside(each, uses) for each in node.operands] if _is_small_join(node) else []
        if parts and _place_joined(parts, uses) is not None:
            with origin(node.origin):
                instead[node] = _joined(node, parts, uses, instead)
        else:
            instead[node] = on_operands(node, tuple([instead[each] for each in node.operands]))
    return [instead[output] for output in outputs]


def _is_small_join(node: Node) -> bool:
    small = isinstance(node.aval.size, int) and node.aval.size <= _LARGEST
    return small and node.op is CONCATENATE and not node.copy


def _inside(part: Node, uses: Mapping[Node, int]) -> Node:
    """The array that a part of a join has the elements of, if nothing else reads the part."""
    is_shaped = part.op is RESHAPE and uses[part] == 1 and not part.copy
    return part.operands[0] if is_shaped else part


def _joined(
    join: Node, parts: Sequence[Node], uses: Mapping[Node, int], instead: Mapping[Node, Node]
) -> Node:
    """The join of these parts in the shapes of the operands of `join`, below what they share."""
    place = _place_joined(parts, uses)
    if place is None:
        shaped = zip([Array(instead[each]) for each in parts], join.operands, strict=True)
        pieces = [x if x.shape == like.shape else reshape(x, like.shape) for x, like in shaped]
        return concatenate(pieces, axis=join.params["axis"]).node
    first = parts[0]
    operands = [instead[each] for each in first.operands]
    inner = [_inside(each.operands[place], uses) for each in parts]
    operands[place] = _joined(join, inner, uses, instead)
    return make(first.op, tuple(operands), first.params)


def _place_joined(parts: Sequence[Node], uses: Mapping[Node, int]) -> int | None:
    """The operand in which results of one operation differ, if all others are the same numbers."""
    first = parts[0]
    if len(parts) < 2 or not all(_is_alike(each, first, uses) for each in parts):
        return None
    for place in range(len(first.operands)):
        others = _others(first, place)
        if not any(other.ndim for other in others) and all(
            each.operands[place].shape == each.shape
            and each.operands[place].dtype == first.operands[place].dtype
            and _others(each, place) == others
            for each in parts
        ):
            return place
    return None


def _others(node: Node, place: int) -> tuple[Node, ...]:
    return node.operands[:place] + node.operands[place + 1 :]


def _is_alike(part: Node, first: Node, uses: Mapping[Node, int]) -> bool:
    """Whether a part is an elementwise operation like the first one, and has no other use."""
    if part.op is not first.op or part.params != first.params or part.dtype != first.dtype:
        return False
    return part.op.traits.elementwise and uses[part] == 1 and not part.copy and part.aval.size != 1
