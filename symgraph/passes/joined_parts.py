"""Sums of arrays that are embedded beside each other, as one concatenation.

The gradient of an array that is read by its columns is a sum: each column's cotangent stands among
zeros, and the whole arrays are added. Where no two meet, the sum is their concatenation, with zeros
in the gaps, or with the elements of a constant array that is added, too. A rule sees two terms at a
time and these need not be neighbours, so the pass gathers all terms of a sum. It runs when rules
and algebra have left nothing to combine with single terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..array import Array, constant
from ..ir.node import Node, on_operands, origin
from ..ir.walks import reachable
from ..ops.creation import CONSTANT, zeros
from ..ops.elementwise import add, negative, subtract
from ..ops.indexing import EMBED
from ..ops.joining import CONCATENATE, concatenate
from ..ops.movement import reshape
from ..ops.slices import bounds_of, entries_of

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
    if not any(node.op is EMBED for node in nodes):
        return list(outputs)
    user = _only_users(nodes, outputs)
    instead: dict[Node, Node] = {}
    for node in nodes:
        operands = tuple([instead.get(each, each) for each in node.operands])
        instead[node] = node if operands == node.operands else on_operands(node, operands)
        above = user[node]
        if node.op not in _SIGNS or node.copy or (above is not None and above.op in _SIGNS):
            continue  # Only the top of a sum is replaced.
        terms = _terms(node, user)
        found = None if terms is None else _parts(terms)
        if terms is not None and found is not None:
            with origin(node.origin):
                instead[node] = _joined(node, *found, _sum_of_constants(terms), instead, user)
    return [instead[output] for output in outputs]


def _only_users(nodes: Sequence[Node], outputs: Sequence[Node]) -> dict[Node, Node | None]:
    """The only user of each value; None if there is another one, or the value is an output."""
    user: dict[Node, Node | None] = {}
    for node in nodes:
        for operand in node.operands:
            user[operand] = None if operand in user else node
    user.update(dict.fromkeys(outputs))
    return user


def _terms(top: Node, user: Mapping[Node, Node | None]) -> list[tuple[Node, int]] | None:
    """The embedded arrays and the constants of a sum with their signs; None if it has others."""
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
        elif (node.op is EMBED or _is_numbers(node)) and not node.copy:
            terms.append((node, sign))
        else:
            return None
    return terms


def _parts(terms: Sequence[tuple[Node, int]]) -> tuple[int, list[_Part]] | None:
    """The axis and the parts of a sum, in their order along it; None if two of them meet."""
    places = [(_place(node), node, sign) for node, sign in terms if node.op is EMBED]
    axes = {None if place is None else place[0] for place, _, _ in places}
    if len(terms) < 2 or len(axes) != 1 or None in axes:
        return None
    parts = [_Part(node, sign, *place[1:]) for place, node, sign in places if place is not None]
    parts.sort(key=lambda part: part.start)
    meet = any(a.stop > b.start for a, b in pairwise(parts))
    return None if meet else (axes.pop() or 0, parts)


def _is_numbers(node: Node) -> bool:
    return node.op is CONSTANT and node.dtype.kind == "f"


def _sum_of_constants(terms: Sequence[tuple[Node, int]]) -> np.ndarray[Any, Any] | None:
    """The constants of a sum, added up; None if it has none."""
    found: Any = None
    for node, sign in terms:
        if node.op is CONSTANT:
            value = node.params["value"] if sign > 0 else -node.params["value"]
            found = value if found is None else found + value
    return found


def _place(node: Node) -> tuple[int, int, int] | None:
    """The one axis on which an array is embedded, and its bounds there; None if there are more."""
    entries = entries_of(node.params["index"], node.ndim)
    if entries is None:
        return None
    found: tuple[int, int, int] | None = None
    for axis, (entry, size) in enumerate(zip(entries, node.shape, strict=True), -node.ndim):
        if entry in (_WHOLE, (0, size, 1)):
            continue
        bounds = bounds_of(entry, size)
        if found is not None or bounds is None:
            return None
        found = (axis, *bounds)
    return found


def _joined(
    top: Node,
    axis: int,
    parts: Sequence[_Part],
    constants: np.ndarray[Any, Any] | None,
    instead: Mapping[Node, Node],
    user: Mapping[Node, Node | None],
) -> Node:
    """The concatenation of parts, with zeros or constants between them."""
    opposite = constants is None and all(part.sign < 0 for part in parts)
    pieces: list[Array] = []
    end = 0

    def there(start: int, stop: int) -> np.ndarray[Any, Any] | None:
        """The constants at a place; None if they are zeros."""
        if constants is None:
            return None
        found = constants[(..., slice(start, stop), *[slice(None)] * (-axis - 1))]
        return found if np.any(found != 0) else None

    def fill(stop: int) -> None:
        if stop > end:
            known = there(end, stop)
            shape = _resized(top.shape, axis, stop - end)
            pieces.append(zeros(shape, top.dtype) if known is None else constant(known, top.dtype))

    for part in parts:
        fill(part.start)
        (operand,) = part.embedded.operands
        changed = instead[operand]
        shape = _resized(top.shape, axis, part.stop - part.start)
        flip, known = part.sign < 0 and not opposite, there(part.start, part.stop)
        if known is not None:
            added = constant(known.reshape(changed.shape), top.dtype)
            pieces.append(_shaped((subtract if flip else add)(added, Array(changed)), shape))
        elif changed.shape == shape and _is_joined(changed, axis) and not flip:
            alone = user[operand] is not None and user[part.embedded] is not None
            pieces.extend(map(Array, changed.operands) if alone else [Array(changed)])
        else:
            piece = _shaped(Array(changed), shape)
            pieces.append(negative(piece) if flip else piece)
        end = part.stop
    fill(top.shape[axis])
    whole = concatenate(pieces, axis=axis)
    return (negative(whole) if opposite else whole).node


def _is_joined(node: Node, axis: int) -> bool:
    return node.op is CONCATENATE and node.params["axis"] == axis and not node.copy


def _shaped(array: Array, shape: tuple[Any, ...]) -> Array:
    return array if array.shape == shape else reshape(array, shape)


def _resized(shape: Sequence[Any], axis: int, size: int) -> tuple[Any, ...]:
    place = len(shape) + axis
    return (*shape[:place], size, *shape[place + 1 :])
