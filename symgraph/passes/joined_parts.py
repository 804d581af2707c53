"""Sums of arrays that are embedded beside each other, as one concatenation.

The gradient of an array that is read by its columns is a sum: each column's cotangent stands among
zeros, and the whole arrays are added. Where no two meet, the sum is their concatenation, with zeros
in the gaps. A rule sees two terms at a time and these need not be neighbours, so the pass gathers
all terms of a sum. It runs when rules and algebra have left nothing to combine with single terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

from ..array import Array
from ..ir.node import Node, on_operands, origin
from ..ir.walks import reachable
from ..ops.creation import zeros
from ..ops.elementwise import add, negative, subtract
from ..ops.indexing import EMBED
from ..ops.joining import CONCATENATE, concatenate
from ..ops.movement import reshape

__all__ = ["with_joined_parts"]

_SIGNS = {add.op: (1, 1), subtract.op: (1, -1), negative.op: (-1,)}
_WHOLE = (None, None, 1)


@dataclass(frozen=True)
class _Part:
    """A term of a sum: an array that is embedded on `start:stop` of one axis, with a sign."""

    embedded: Node
    sign: int
    start: int
    stop: int


def with_joined_parts(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with such sums as concatenations; linear in the graph.

    Parameters
    ----------
    outputs : sequence of Node
    """
    nodes = reachable(outputs)
    if sum([node.op is EMBED for node in nodes]) < 2:
        return list(outputs)
    user = _only_users(nodes, outputs)
    instead: dict[Node, Node] = {}
    for node in nodes:
        operands = tuple([instead.get(each, each) for each in node.operands])
        instead[node] = node if operands == node.operands else on_operands(node, operands)
        above = user[node]
        if node.op not in _SIGNS or node.copy or (above is not None and above.op in _SIGNS):
            continue  # Only the top of a sum is replaced.
        found = _parts(node, user)
        if found is not None:
            with origin(node.origin):
                instead[node] = _joined(node, *found, instead, user)
    return [instead[output] for output in outputs]


def _only_users(nodes: Sequence[Node], outputs: Sequence[Node]) -> dict[Node, Node | None]:
    """The only user of each value; None if there is another one, or the value is an output."""
    user: dict[Node, Node | None] = {}
    for node in nodes:
        for operand in node.operands:
            user[operand] = None if operand in user else node
    user.update(dict.fromkeys(outputs))
    return user


def _parts(top: Node, user: Mapping[Node, Node | None]) -> tuple[int, list[_Part]] | None:
    """The axis and the parts of a sum, in their order along it; None if it is no such sum."""
    terms: list[tuple[Node, int]] = []
    stack = [(top, 1)]
    while stack:
        node, sign = stack.pop()
        if node.shape != top.shape or node.dtype != top.dtype:
            return None
        signs = _SIGNS.get(node.op) if node is top or user[node] is not None else None
        if signs is not None and not node.copy:
            stack.extend(
                [(each, sign * own) for each, own in zip(node.operands, signs, strict=True)]
            )
        elif node.op is EMBED and not node.copy:
            terms.append((node, sign))
        else:
            return None
    places = [(_place(node), node, sign) for node, sign in terms]
    axes = {None if place is None else place[0] for place, _, _ in places}
    if len(terms) < 2 or len(axes) > 1 or None in axes:
        return None
    parts = [_Part(node, sign, *place[1:]) for place, node, sign in places if place is not None]
    parts.sort(key=lambda part: part.start)
    meet = any(a.stop > b.start for a, b in pairwise(parts))
    return None if meet else (axes.pop() or 0, parts)


def _place(node: Node) -> tuple[int, int, int] | None:
    """The one axis on which an array is embedded, and its bounds there; None if there are more."""
    entries = [each for each in node.params["index"] if each is not Ellipsis]
    if any(each is None for each in entries) or len(entries) > node.ndim:
        return None
    entries = [_WHOLE] * (node.ndim - len(entries)) + entries
    found: tuple[int, int, int] | None = None
    for axis, (entry, size) in enumerate(zip(entries, node.shape, strict=True), -node.ndim):
        if entry in (_WHOLE, (0, size, 1)):
            continue
        bounds = _bounds(entry, size)
        if found is not None or bounds is None:
            return None
        found = (axis, *bounds)
    return found


def _bounds(entry: object, size: object) -> tuple[int, int] | None:
    """The numbers `start, stop` of a slice without steps, or of one place, of a known size."""
    if not isinstance(size, int):
        return None
    if isinstance(entry, int):
        start = entry + size * (entry < 0)
        return start, start + 1
    start, stop, step = cast("Sequence[Any]", entry)
    if step != 1 or not all(each is None or isinstance(each, int) for each in (start, stop)):
        return None
    places = range(size)[start:stop]
    return (places.start, places.stop) if len(places) else None


def _joined(
    top: Node,
    axis: int,
    parts: Sequence[_Part],
    instead: Mapping[Node, Node],
    user: Mapping[Node, Node | None],
) -> Node:
    """The concatenation of parts, with zeros between them."""
    opposite = all(part.sign < 0 for part in parts)
    pieces: list[Array] = []
    end = 0

    def fill(stop: int) -> None:
        if stop > end:
            pieces.append(zeros(_resized(top.shape, axis, stop - end), top.dtype))

    for part in parts:
        fill(part.start)
        (operand,) = part.embedded.operands
        changed = instead[operand]
        shape = _resized(top.shape, axis, part.stop - part.start)
        flip = part.sign < 0 and not opposite
        if changed.op is CONCATENATE and changed.params["axis"] == axis and not flip:
            alone = user[operand] is not None and user[part.embedded] is not None
            pieces.extend(map(Array, changed.operands) if alone else [Array(changed)])
        else:
            piece = Array(changed) if changed.shape == shape else reshape(Array(changed), shape)
            pieces.append(negative(piece) if flip else piece)
        end = part.stop
    fill(top.shape[axis])
    whole = concatenate(pieces, axis=axis)
    return (negative(whole) if opposite else whole).node


def _resized(shape: Sequence[Any], axis: int, size: int) -> tuple[Any, ...]:
    place = len(shape) + axis
    return (*shape[:place], size, *shape[place + 1 :])
