"""Sums of zero-padded arrays: if their slices are adjacent, they become one concatenation."""

from __future__ import annotations

from typing import Any, TypeAlias

from ...array import Array
from ...ir.dims import Dim
from ...ir.node import Node
from ...ops.indexing import embed
from ...ops.joining import concatenate
from ...ops.movement import expand_dims

__all__ = ["joined_slices"]

Entry: TypeAlias = "int | tuple[Dim | None, Dim | None, int | None]"
Span: TypeAlias = tuple[int, Dim]


def joined_slices(a: Node, b: Node) -> Node | None:
    """The sum of two arrays that are padded with zeros around adjacent slices of one axis.

    It is a concatenation. If that fills the axis, it needs no zeros. None if the slices overlap,
    lie apart, or differ along two axes.
    """
    if a.op is not embed.op or b.op is not embed.op or a.params["shape"] != b.params["shape"]:
        return None
    shape, index = a.params["shape"], a.params["index"]
    place = _where_apart(index, b.params["index"])
    if place is None:
        return None
    sizes = shape[len(shape) - len(index) :]
    spans = [_span(each.params["index"][place], sizes[place]) for each in (a, b)]
    if spans[0] is None or spans[1] is None:
        return None
    (start, middle), (other, stop) = sorted(span for span in spans if span is not None)
    if middle != other:
        return None
    axis = -1 - sum(1 for entry in index[place + 1 :] if isinstance(entry, tuple))
    parts = [_with_axis(each, place, axis) for each in (a, b)]
    whole = concatenate(parts if spans[0] < spans[1] else parts[::-1], axis=axis)
    joint = (*index[:place], (start, stop, 1), *index[place + 1 :])
    if all(_span(entry, size) == (0, size) for entry, size in zip(joint, sizes, strict=True)):
        return whole.node
    entries = [slice(*entry) if isinstance(entry, tuple) else entry for entry in joint]
    return embed(whole, shape, (Ellipsis, *entries)).node


def _where_apart(one: tuple[Any, ...], other: tuple[Any, ...]) -> int | None:
    """The one place where two indices of equal length differ; None if there is no such place."""
    if len(one) != len(other) or None in one or None in other:
        return None
    places = [place for place, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    return places[0] if len(places) == 1 else None


def _span(entry: Entry, size: Dim) -> Span | None:
    """The start and stop of an entry of an index; None if it leaves gaps or is not known."""
    if not isinstance(size, int):
        return (0, size) if entry == (None, None, 1) else None
    if isinstance(entry, int):
        start = entry + size if entry < 0 else entry
        return (start, start + 1) if 0 <= start < size else None
    start, stop, step = slice(*entry).indices(size)
    return (start, stop) if step == 1 and start < stop else None


def _with_axis(node: Node, place: int, axis: int) -> Array:
    """The array inside the padding, with the axis that an integer in the index drops."""
    array = Array(node.operands[0])
    alone = isinstance(node.params["index"][place], int)
    return expand_dims(array, axis) if alone else array
