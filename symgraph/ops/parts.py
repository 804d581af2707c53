"""Values that are joined of parts along an axis, as the parts.

A vector whose elements are computed one by one is a concatenation, and so is, in effect, the
gradient of a function that reads its argument element by element: a sum of arrays each of which
stands among zeros. Elementwise operations on such values are taken apart, too. Each part has a
Jacobian of its own, in which the other parts have no place.

So has each piece of a vector that is read piece by piece: parameters of a curve are often packed
into one, `a, b, c = p`, for an optimiser's sake.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import cast

from ..array import Array, apply
from ..ir.dims import Shape
from ..ir.node import Node
from ..records import record
from .creation import zeros
from .elementwise import add, multiply, negative, subtract
from .indexing import EMBED, GETITEM, getitem
from .joining import CONCATENATE, concatenate
from .movement import RESHAPE, reshape
from .slices import bounds_of, entries_of

__all__ = ["MOST_PARTS", "Part", "Parts", "Piece", "joined", "parts_of", "pieces_of", "resized"]

MOST_PARTS = 64
"""A value of more parts is taken as a whole."""

_WHOLE = (None, None, 1)
"""The index that takes all of an axis."""


@record
class Part:
    """The array on `start:stop` of an axis; None for zeros."""

    start: int
    stop: int
    value: Array | None


@record
class Parts:
    """A value's parts in order along an axis, which is counted from the last one, -1."""

    axis: int
    parts: tuple[Part, ...]

    @property
    def cuts(self) -> list[int]:
        """Where parts begin, and the end of the last."""
        return [part.start for part in self.parts] + [self.parts[-1].stop]


def joined(parts: Sequence[Array], axis: int) -> Array:
    """The parts beside each other along an axis."""
    return concatenate(parts, axis=axis)


def parts_of(y: Node) -> Parts | None:
    """The parts of a value along one axis, at least two; None where it is not joined of parts."""
    found: dict[Node, Parts] = {}
    for node in _joining(y):
        parts = _parts(node, found)
        if parts is not None and 1 < len(parts.parts) <= MOST_PARTS:
            found[node] = parts
    return found.get(y)


def _joining(y: Node) -> list[Node]:
    """The nodes between a value and the parts it may be joined of, operands first."""
    seen, stack = {y}, [y]
    while stack:
        node = stack.pop()
        if node.op is RESHAPE or node.op.traits.elementwise:
            new = [each for each in node.operands if each not in seen and each.ndim]
            seen.update(new)
            stack.extend(new)
    return sorted(seen, key=lambda node: node.serial)


def _parts(node: Node, found: Mapping[Node, Parts]) -> Parts | None:
    if len(node.results) > 1 or node.copy:
        return None
    if node.op is CONCATENATE:
        return _of_concatenation(node)
    if node.op is EMBED:
        return _of_embedded(node)
    if node.op is RESHAPE:
        return _of_reshaped(node, found)
    return _of_elementwise(node, found) if node.op.traits.elementwise else None


def _of_concatenation(node: Node) -> Parts | None:
    axis, parts, end = node.params["axis"], list[Part](), 0
    for operand in node.operands:
        size = operand.shape[axis]
        if not isinstance(size, int):
            return None
        parts.append(Part(end, end + size, Array(operand)))
        end += size
    return Parts(axis, tuple(parts))


def _of_embedded(node: Node) -> Parts | None:
    """The array and the zeros on both sides of it, along the first axis that it does not fill."""
    (operand,), shape = node.operands, node.shape
    entries = entries_of(node.params["index"], node.ndim) or []
    place = next((k for k, each in enumerate(entries) if each != _WHOLE), None)
    bounds = None if place is None else bounds_of(entries[place], shape[place])
    if place is None or bounds is None:
        return None
    (start, stop), size = bounds, cast("int", shape[place])
    index = (*entries[:place], 0 if isinstance(entries[place], int) else _WHOLE)
    index = (*index, *entries[place + 1 :])
    lean = (*shape[:place], stop - start, *shape[place + 1 :])
    if all(each == _WHOLE for each in entries[place + 1 :]):
        value = reshape(Array(operand), lean)
    else:
        value = apply(EMBED, Array(operand), shape=lean, index=index)
    every = [(0, start, None), (start, stop, value), (stop, size, None)]
    return Parts(place - node.ndim, tuple([Part(*each) for each in every if each[0] < each[1]]))


def _of_reshaped(node: Node, found: Mapping[Node, Parts]) -> Parts | None:
    """The parts of an array whose axes of length one come and go."""
    (operand,) = node.operands
    parts = found.get(operand)
    if parts is None:
        return None
    old = [axis for axis in range(-operand.ndim, 0) if operand.shape[axis] != 1]
    new = [axis for axis in range(-node.ndim, 0) if node.shape[axis] != 1]
    if [operand.shape[axis] for axis in old] != [node.shape[axis] for axis in new]:
        return None
    axis = new[old.index(parts.axis)]
    return Parts(
        axis,
        tuple([
            Part(
                each.start,
                each.stop,
                each.value
                if each.value is None
                else reshape(each.value, resized(node.shape, axis, each.stop - each.start)),
            )
            for each in parts.parts
        ]),
    )  # fmt: skip


def _of_elementwise(node: Node, found: Mapping[Node, Parts]) -> Parts | None:
    """The operation on the parts of its operands, cut where any of them is cut."""
    axes = {found[each].axis for each in node.operands if each in found}
    if len(axes) != 1:
        return None
    (axis,) = axes
    size = node.shape[axis]
    cuts: set[int] = set()
    for each in node.operands:
        if each in found:
            cuts.update(found[each].cuts)
    if not isinstance(size, int) or max(cuts) != size or len(cuts) > MOST_PARTS + 1:
        return None
    ends = list(pairwise(sorted(cuts)))
    pieces = [_cut(each, axis, ends, found.get(each)) for each in node.operands]
    parts: list[Part] = []
    for k, (start, stop) in enumerate(ends):
        value = _on_parts(node, [each[k] for each in pieces], axis, stop - start)
        if value is None and parts and parts[-1].value is None:
            start = parts.pop().start
        parts.append(Part(start, stop, value))
    return Parts(axis, tuple(parts))


def _cut(
    operand: Node, axis: int, ends: Sequence[tuple[int, int]], parts: Parts | None
) -> list[Array | None]:
    """The pieces of an operand that stand between cuts; None for zeros."""
    whole = Array(operand)
    if parts is None:
        spread = operand.ndim < -axis or operand.shape[axis] == 1
        return [whole if spread else _slice(whole, axis, *each) for each in ends]
    pieces: list[Array | None] = []
    rest = list(parts.parts)
    for start, stop in ends:
        while rest[0].stop <= start:
            rest.pop(0)
        part = rest[0]
        inside = (start - part.start, stop - part.start)
        full = part.value is None or inside == (0, part.stop - part.start)
        pieces.append(part.value if full else _slice(part.value, axis, *inside))
    return pieces


def _slice(array: Array | None, axis: int, start: int, stop: int) -> Array:
    assert array is not None
    return getitem(array, (Ellipsis, slice(start, stop), *[slice(None)] * (-axis - 1)))


def _on_parts(node: Node, parts: Sequence[Array | None], axis: int, size: int) -> Array | None:
    """The operation on one part of each operand; None for zeros."""
    present = [each for each in parts if each is not None]
    if node.op in (add.op, subtract.op, negative.op) and len(present) < len(parts):
        if not present:
            return None
        (alone,) = present
        return negative(alone) if node.op is subtract.op and parts[0] is None else alone
    if node.op is multiply.op and len(present) < len(parts):
        return None
    filled = [
        zeros(resized(operand.shape, axis, size), operand.dtype) if part is None else part
        for operand, part in zip(node.operands, parts, strict=True)
    ]
    return apply(node.op, *filled, **node.params)


def resized(shape: Shape, axis: int, size: int) -> Shape:
    """The shape with another size along an axis, which is counted from the last one."""
    place = len(shape) + axis
    return (*shape[:place], size, *shape[place + 1 :])


# -- a vector that is read in pieces ---------------------------------------------------------------
@record
class Piece:
    """The elements `start:stop` of a vector, and the value that reads them; None if none does."""

    start: int
    stop: int
    value: Node | None


def pieces_of(x: Node, active: Collection[Node]) -> list[Piece] | None:
    """The pieces of a vector of known length, in order and without gaps.

    None if one of the active nodes reads it otherwise, if pieces overlap, if one is all of it, or
    if there are too many.

    Parameters
    ----------
    x : Node
    active : collection of Node
        The nodes on paths from x.
    """
    if len(x.shape) != 1 or not isinstance(x.shape[0], int):
        return None
    read: list[Piece] = []
    for node in active:
        if node is x or x not in node.operands:
            continue
        piece = _piece(node)
        if piece is None:
            return None
        read.append(piece)
    read.sort(key=lambda piece: piece.start)
    if any(one.stop > other.start for one, other in pairwise(read)):
        return None
    found: list[Piece] = []
    end = Piece(x.shape[0], x.shape[0], None)
    for piece in (*read, end):
        start = found[-1].stop if found else 0
        if piece.start > start:
            found.append(Piece(start, piece.start, None))
        if piece is not end:
            found.append(piece)
    return found if 1 < len(found) <= MOST_PARTS else None


def _piece(node: Node) -> Piece | None:
    """The piece of a vector that a node reads."""
    if node.op is not GETITEM:
        return None
    entries = entries_of(node.params["index"], 1)
    bounds = None if entries is None else bounds_of(entries[0], node.operands[0].shape[0])
    return None if bounds is None else Piece(*bounds, node)
