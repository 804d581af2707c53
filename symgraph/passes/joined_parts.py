"""Sums of arrays that are embedded beside each other, as one concatenation.

The gradient of an array that is read by its columns is a sum: each column's cotangent stands among
zeros, and the whole arrays are added. Where no two meet, the sum is their concatenation, with zeros
in the gaps, or with the elements of a constant array that is added, too. So is the sum of a join
that has zeros with arrays that stand there. A rule sees two terms at a time and these need not be
neighbours, so the pass gathers all terms of a sum. It runs when rules and algebra have left nothing
to combine with single terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from ..array import Array, constant
from ..ir.node import Node, on_operands, origin
from ..ir.walks import only_users, reachable
from ..ops.creation import CONSTANT, zeros
from ..ops.elementwise import add, negative, subtract
from ..ops.indexing import EMBED
from ..ops.joining import CONCATENATE, concatenate
from ..ops.movement import reshape
from ..ops.parts import resized
from ..ops.slices import bounds_of, entries_of
from ..records import record
from ..rewriting.guards import uniform_value

__all__ = ["with_joined_parts", "with_joins_flat"]

_SIGNS = {add.op: (1, 1), subtract.op: (1, -1), negative.op: (-1,)}
_WHOLE = (None, None, 1)


_Signed: TypeAlias = tuple[Node, int]
"""A term of a sum, and 1 or -1."""
_Users: TypeAlias = Mapping[Node, "Node | None"]
"""The only user of each value; None if there is another one, or the value is an output."""


@record
class _Part:
    """An array that stands on `start:stop` of one axis in a term of a sum, with a sign."""

    term: Node
    array: Node
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
    user = only_users(nodes, outputs)
    instead: dict[Node, Node] = {}
    for node in nodes:
        operands = tuple([instead.get(each, each) for each in node.operands])
        instead[node] = on_operands(node, operands)
        above = user[node]
        if node.op not in _SIGNS or node.copy or (above is not None and above.op in _SIGNS):
            continue  # Only the top of a sum is replaced.
        terms = _terms(node, user)
        standing = [each for each in terms if _stands_on_part(each[0], node)]
        found = _parts(standing)
        if found is not None and _is_shorter(standing, found[1], user):
            beside = [(instead[each], sign) for each, sign in terms if (each, sign) not in standing]
            with origin(node.origin):
                whole = _joined(node, *found, _sum_of_constants(standing), instead, user)
                instead[node] = _total([whole, *[(Array(each), sign) for each, sign in beside]])
    return [instead[output] for output in outputs]


def with_joins_flat(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with a join of joins along one axis as one join; linear in the graph.

    Signs are moved into a join only once it is there, so it may stand in another one by then.

    Parameters
    ----------
    outputs : sequence of Node
    """
    nodes = reachable(outputs)
    joins = [node for node in nodes if node.op is CONCATENATE and not node.copy]
    if not any(_is_joined(each, node.params["axis"]) for node in joins for each in node.operands):
        return list(outputs)
    user = only_users(nodes, outputs)
    instead: dict[Node, Node] = {}
    for node in nodes:
        operands = [instead.get(each, each) for each in node.operands]
        if node.op is CONCATENATE and not node.copy:
            axis = node.params["axis"]
            pieces: list[Node] = []
            for old, new in zip(node.operands, operands, strict=True):
                alone = user[old] is node and _is_joined(new, axis)
                pieces.extend(new.operands if alone else [new])
            if len(pieces) > len(operands):
                with origin(node.origin):
                    instead[node] = concatenate(list(map(Array, pieces)), axis=axis).node
                continue
        instead[node] = on_operands(node, tuple(operands))
    return [instead[output] for output in outputs]


def _terms(top: Node, user: _Users) -> list[_Signed]:
    """The terms of a sum with their signs, in order."""
    terms: list[_Signed] = []
    stack = [(top, 1)]
    while stack:
        node, sign = stack.pop()
        inside = node is top or (user[node] is not None and node.aval == top.aval)
        if inside and node.op in _SIGNS and not node.copy:
            signs = zip(node.operands[::-1], _SIGNS[node.op][::-1], strict=True)
            stack.extend([(each, sign * own) for each, own in signs])
        else:
            terms.append((node, sign))
    return terms


def _stands_on_part(node: Node, top: Node) -> bool:
    """Whether a term of a sum may be zero beside a part of it, or is an array of numbers."""
    known = node.op in (EMBED, CONCATENATE) or (node.op is CONSTANT and node.dtype.kind == "f")
    return known and node.aval == top.aval and not node.copy


def _parts(terms: Sequence[_Signed]) -> tuple[int, list[_Part]] | None:
    """The axis and the parts of a sum, in their order along it; None if two of them meet."""
    axes: set[int | None] = set()
    parts: list[_Part] = []
    for node, sign in terms:
        if node.op is EMBED:
            place = _place(node)
            axes.add(None if place is None else place[0])
            if place is not None:
                parts.append(_Part(node, node.operands[0], sign, *place[1:]))
        elif node.op is CONCATENATE:
            axis = node.params["axis"]
            axes.add(axis if all(isinstance(x.shape[axis], int) for x in node.operands) else None)
            parts.extend(_pieces(node, axis, sign))
    if len(terms) < 2 or len(axes) != 1 or None in axes:
        return None
    parts.sort(key=lambda part: part.start)
    meet = any(a.stop > b.start for a, b in pairwise(parts))
    return None if meet else (axes.pop() or 0, parts)


def _pieces(node: Node, axis: int, sign: int) -> Iterator[_Part]:
    """The arrays of a join that are not zeros."""
    start: Any = 0
    for piece in node.operands:
        stop = start + piece.shape[axis]
        if uniform_value(piece) != 0:
            yield _Part(node, piece, sign, start, stop)
        start = stop


def _is_shorter(terms: Sequence[_Signed], parts: Sequence[_Part], user: _Users) -> bool:
    """Whether a join of parts takes fewer operations than their sum; of embedded arrays it does."""
    if all(node.op is not CONCATENATE for node, _ in terms):
        return True
    old = len(terms) - 1 + sum([node.op is EMBED and user[node] is not None for node, _ in terms])
    if any(node.is_constant for node, _ in terms):
        return len(parts) < old  # Constants may be added to each part.
    flipped = [part for part in parts if part.sign < 0 and not part.array.is_constant]
    return (1 if len(flipped) == len(parts) else len(flipped)) < old


def _sum_of_constants(terms: Sequence[_Signed]) -> np.ndarray[Any, Any] | None:
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
    user: _Users,
) -> tuple[Array, int]:
    """The concatenation of parts, with zeros or constants between them, and a sign for it."""
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
            shape = resized(top.shape, axis, stop - end)
            pieces.append(zeros(shape, top.dtype) if known is None else constant(known, top.dtype))

    for part in parts:
        fill(part.start)
        changed = instead[part.array]
        shape = resized(top.shape, axis, part.stop - part.start)
        flip, known = part.sign < 0 and not opposite, there(part.start, part.stop)
        if known is not None:
            added = constant(known.reshape(changed.shape), top.dtype)
            pieces.append(_shaped((subtract if flip else add)(added, Array(changed)), shape))
        elif changed.shape == shape and _is_joined(changed, axis) and not flip:
            alone = user[part.array] is not None and user[part.term] is not None
            pieces.extend(map(Array, changed.operands) if alone else [Array(changed)])
        else:
            piece = _shaped(Array(changed), shape)
            pieces.append(negative(piece) if flip else piece)
        end = part.stop
    fill(top.shape[axis])
    return concatenate(pieces, axis=axis), -1 if opposite else 1


def _total(terms: Sequence[tuple[Array, int]]) -> Node:
    """The sum of terms with signs, starting with one that is positive."""
    (whole, sign), *rest = sorted(terms, key=lambda each: -each[1])
    for each, own in rest:
        whole = add(whole, each) if own == sign else subtract(whole, each)
    return (whole if sign > 0 else negative(whole)).node


def _is_joined(node: Node, axis: int) -> bool:
    return node.op is CONCATENATE and node.params["axis"] == axis and not node.copy


def _shaped(array: Array, shape: tuple[Any, ...]) -> Array:
    return array if array.shape == shape else reshape(array, shape)
