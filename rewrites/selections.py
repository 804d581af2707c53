"""Composition and comparison of indices, by the elements that they take.

An index is a tuple with one entry for each of the last axes: an integer, or a slice as a triple.
None stands for a new axis. A function gives None where the result is not known, as along an axis of
named length.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from symgraph.rewriting import static

__all__ = [
    "composed",
    "covers",
    "found",
    "is_disjoint",
    "keeps_all",
    "of_broadcast",
    "of_piece",
    "of_reshaped",
    "of_transposed",
    "remaining_order",
    "reshaped",
    "takes_new_axes",
    "within_written",
]

Entry: TypeAlias = "int | tuple[int | None, int | None, int | None]"
Index: TypeAlias = tuple[Any, ...]
Shape: TypeAlias = tuple[Any, ...]
_ALL = (None, None, 1)
_BACKWARDS = (None, None, -1)  # of an axis whose size has a name


@static
def found(index: object) -> bool:
    """Whether the index is known."""
    return index is not None


@static
def takes_new_axes(index: Index) -> bool:
    """Whether the index adds an axis."""
    return None in index


@static
def keeps_all(index: Index, shape: Shape) -> bool:
    """Whether an index takes every element, in order: it only adds and drops axes of length one."""
    entries = [entry for entry in index if entry is not None]
    sizes = shape[len(shape) - len(entries) :]
    return len(sizes) == len(entries) and all(
        entry == _ALL or (isinstance(entry, int) and size == 1)
        for entry, size in zip(entries, sizes, strict=True)
    )


def _places(entry: Entry, size: object) -> range | int | None:
    """The positions that an entry takes along an axis; None if its length is named."""
    if not isinstance(size, int):
        return None
    if isinstance(entry, int):
        return entry % size if size else None
    return range(size)[slice(*entry)]


def _entry(places: range | int) -> int | slice:
    if isinstance(places, int):
        return places
    if not places:
        return slice(0, 0, 1)
    stop = places.stop if places.stop >= 0 else None
    return slice(places.start, stop, places.step)


def _slice(entry: Entry | None) -> int | slice | None:
    return slice(*entry) if isinstance(entry, tuple) else entry


@static
def covers(index: Index, shape: Shape) -> bool:
    """Whether an index has an entry for each axis; that of a write may lack the first axes."""
    return _covers(index, shape)


def _covers(index: Index, shape: Shape) -> bool:
    return len([entry for entry in index if entry is not None]) == len(shape)


@static
def composed(first: Index, second: Index, shape: Shape) -> Index | None:
    """The index that gives `x[first][second]` for an array x of this shape."""
    if not _covers(first, shape):
        return None
    sizes = iter(shape)
    between: list[Any] = [
        ("new",) if entry is None else ("some", entry, next(sizes)) for entry in first
    ]
    result: list[Any] = []
    queue = list(between)

    def next_axis() -> Any:
        while queue and queue[0][0] == "some" and isinstance(queue[0][1], int):
            result.append(queue.pop(0)[1])
        return queue.pop(0) if queue else None

    for entry in second:
        if entry is None:
            result.append(None)
            continue
        axis = next_axis()
        if axis is None:
            return None
        step = _step(axis, entry)
        if step is None:
            return None
        result.extend(step)
    while queue:
        kind = queue.pop(0)
        result.append(None if kind[0] == "new" else _slice(kind[1]))
    return tuple(result)


def _step(axis: tuple[Any, ...], entry: Entry) -> list[int | slice | None] | None:
    """The entries that replace a slice or a new axis and an entry on it; None if unknown."""
    if axis[0] == "new":
        if isinstance(entry, int):
            return []
        return [None] if len(range(1)[slice(*entry)]) == 1 else None
    _, before, size = axis
    if before == _ALL:
        return [_slice(entry)]
    if entry == _ALL:
        return [_slice(before)]
    if before == entry == _BACKWARDS:
        return [_slice(_ALL)]
    places = _places(before, size)
    if not isinstance(places, range):
        return None
    return [_entry(places[entry] if isinstance(entry, int) else places[slice(*entry)])]


@static
def of_transposed(index: Index, axes: tuple[int, ...]) -> Index | None:
    """The index into an array that takes the elements of `index` into its transpose."""
    if None in index or len(index) != len(axes):
        return None
    result: list[Any] = [None] * len(axes)
    for entry, axis in zip(index, axes, strict=True):
        result[axis] = _slice(entry)
    return tuple(result)


@static
def remaining_order(index: Index, axes: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation of the axes that `index` into a transpose keeps."""
    kept = [axis for entry, axis in zip(index, axes, strict=True) if not isinstance(entry, int)]
    order = sorted(kept)
    return tuple(order.index(axis) - len(order) for axis in kept)


@static
def of_broadcast(index: Index, own: Shape, shape: Shape) -> Index | None:
    """The index into an array of shape `own` that was broadcast to `shape` before `index`."""
    if None in index or len(index) != len(shape):
        return None
    result: list[Any] = []
    for place, entry in enumerate(index[len(shape) - len(own) :]):
        repeated = own[place] == 1 and shape[len(shape) - len(own) + place] != 1
        if not repeated:
            result.append(_slice(entry))
        else:
            result.append(0 if isinstance(entry, int) else slice(None))
    return tuple(result)


def _lengths_above_one(shape: Shape) -> list[Any]:
    """The lengths that are not known to be one."""
    return [size for size in shape if size != 1]


@static
def of_reshaped(index: Index, own: Shape, shape: Shape) -> Index | None:
    """The index into an array of shape `own` that was reshaped to `shape` before `index`.

    The reshape may only add and drop axes of length one.
    """
    if (
        not _covers(index, shape)
        or _lengths_above_one(own) != _lengths_above_one(shape)
        or keeps_all(index, shape)
    ):
        return None
    waiting = list(own)
    sizes = iter(shape)
    result: list[Any] = []
    for entry in index:
        size = 1 if entry is None else next(sizes)
        if size != 1:
            while waiting[0] == 1:
                result.append(0)
                waiting.pop(0)
            waiting.pop(0)
            result.append(_slice(entry))
        elif not isinstance(entry, int):
            if entry is not None and len(range(1)[slice(*entry)]) != 1:
                return None
            result.append(None)
    return _with_slices([*result, *[0] * len(waiting)], own)


@static
def reshaped(index: Index, own: Shape, part: Shape, shape: Shape) -> Index | None:
    """The index that takes the part of `index`, of shape `part`, directly in shape `shape`.

    The reshape from `part` to `shape` may only add and drop axes of length one. None if the two are
    equal, or if the index takes all elements.
    """
    if (
        not _covers(index, own)
        or _lengths_above_one(part) != _lengths_above_one(shape)
        or keeps_all(index, own)
    ):
        return None
    if part == shape:
        return None
    sizes, lengths, waiting = iter(own), iter(part), list(shape)
    result: list[Any] = []
    for entry in index:
        size = None if entry is None else next(sizes)
        if isinstance(entry, int):
            result.append(entry)
        elif next(lengths) != 1:
            while waiting[0] == 1:
                result.append(None)
                waiting.pop(0)
            waiting.pop(0)
            result.append(_slice(entry))
        elif entry is not None:
            places = range(1) if size == 1 else _places(entry, size)
            if not isinstance(places, range):
                return None
            result.append(places[0])
    return _with_slices([*result, *[None] * len(waiting)], own)


def _with_slices(index: list[Any], own: Shape) -> Index:
    """The index with a slice of length one in place of a dropped axis and a new one after it."""
    sizes = iter(own)
    result: list[Any] = []
    dropped: int | None = None
    for entry in index:
        if entry is None and dropped is not None:
            result[-1], dropped = slice(dropped, dropped + 1), None
            continue
        size = None if entry is None else next(sizes)
        dropped = entry % size if isinstance(entry, int) and isinstance(size, int) else None
        result.append(entry)
    return tuple(result)


@static
def of_piece(index: Index, shapes: tuple[Shape, ...], axis: int) -> tuple[int, Index] | None:
    """The number of the concatenated array that an index reads, and the index into that array."""
    if None in index or len(index) != len(shapes[0]):
        return None
    sizes = [shape[axis] for shape in shapes]
    if not all(isinstance(size, int) for size in sizes):
        return None
    places = _places(index[axis], sum(sizes))
    if places is None or (isinstance(places, range) and not places):
        return None
    low, high = (places, places) if isinstance(places, int) else (min(places), max(places))
    start = 0
    for number, size in enumerate(sizes):
        if start <= low and high < start + size:
            entries: list[Any] = [_slice(entry) for entry in index]
            entries[axis] = _shifted(places, -start)
            return number, tuple(entries)
        start += size
    return None


def _shifted(places: range | int, by: int) -> Any:
    if isinstance(places, int):
        return places + by
    return _entry(range(places.start + by, places.stop + by, places.step))


def _pairs_of_places(one: Index, other: Index, shape: Shape) -> list[tuple[Any, Any]] | None:
    """The places that two indices take along each axis."""
    if None in one or None in other or not len(one) == len(other) == len(shape):
        return None
    return [
        (_places(a, size), _places(b, size)) for a, b, size in zip(one, other, shape, strict=True)
    ]


def _as_set(places: range | int) -> set[int]:
    return {places} if isinstance(places, int) else set(places)


@static
def is_disjoint(read: Index, written: Index, shape: Shape) -> bool:
    """Whether a read takes no element that was written."""
    pairs = _pairs_of_places(read, written, shape)
    return pairs is not None and any(
        a is not None and b is not None and not _as_set(a) & _as_set(b) for a, b in pairs
    )


@static
def within_written(read: Index, written: Index, shape: Shape) -> Index | None:
    """The index into the written values that a read takes; None if it takes other elements too."""
    pairs = _pairs_of_places(read, written, shape)
    if pairs is None:
        return None
    result: list[Any] = []
    for entry, other, (taken, put) in zip(read, written, pairs, strict=True):
        if taken is None or put is None:
            inner = _within_ends(entry, other)
            if inner is None:
                return None
            result.append(inner)
        elif not _as_set(taken) <= _as_set(put):
            return None
        elif isinstance(put, int):
            if not isinstance(taken, int):
                return None
        elif isinstance(taken, int):
            result.append(put.index(taken))
        else:
            steps = [put.index(place) for place in taken]
            result.append(_in_steps(steps))
    return tuple(result)


def _within_ends(read: Entry, written: Entry) -> slice | None:
    """As `within_written`, of slices that leave out known numbers at the ends of a named axis."""
    inner, outer = _left_out(read), _left_out(written)
    if inner is None or outer is None:
        return None
    front, back = inner[0] - outer[0], inner[1] - outer[1]
    return None if front < 0 or back < 0 else slice(front or None, -back or None)


def _left_out(entry: Entry) -> tuple[int, int] | None:
    """The numbers of places that a slice of step one leaves out at both ends, if they are known."""
    if isinstance(entry, int):
        return None
    start, stop, step = entry
    front: Any = 0 if start is None else start  # It may be an expression in named sizes.
    back: Any = 0 if stop is None else stop
    known = isinstance(front, int) and isinstance(back, int) and front >= 0 >= back
    return (front, -back) if known and step == 1 and stop != 0 else None


def _in_steps(steps: list[int]) -> Any:
    """The slice of these evenly spaced places."""
    step = steps[1] - steps[0] if len(steps) > 1 else 1
    return _entry(range(steps[0], steps[-1] + (1 if step > 0 else -1), step)) if steps else slice(0)
