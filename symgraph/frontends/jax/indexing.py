"""JAX's `gather` and `scatter`, in the forms in which axes that are not indexed are taken whole.

The axes that are indexed are put in front; `scatter` writes single places on them. An index that
lies outside is moved inside (clip), gives a fill value or writes nothing (fill or drop), or is
promised not to occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..functions import f
from ..spelling import Refused, Spelling, own

__all__ = ["INDEXING"]


class _Split(NamedTuple):
    """Which axes of an array are indexed, those of a batch first, and which are whole."""

    batch: tuple[int, ...]
    single: tuple[int, ...]
    whole: tuple[int, ...]

    @property
    def order(self) -> tuple[int, ...]:
        return (*self.batch, *self.single, *self.whole)


def _split(
    x: Any, index_map: Sequence[int], collapsed: Sequence[int], batch: Sequence[int]
) -> _Split:
    if set(collapsed) - set(index_map):
        raise Refused("drops an axis that it does not index")
    rest = tuple(a for a in range(x.ndim) if a not in {*index_map, *batch})
    return _Split(tuple(batch), tuple(index_map), rest)


def _parts(indices: Any, batch: Sequence[int]) -> list[Any]:
    """The index arrays: numbers of the batch's examples, then those along the last axis."""
    parts: list[Any] = []
    for axis in batch:
        shape = [1] * (indices.ndim - 1)
        shape[axis] = indices.shape[axis]
        parts.append(f.reshape(f.arange(indices.shape[axis]), tuple(shape)))
    return [*parts, *[indices[..., place] for place in range(indices.shape[-1])]]


def _inside(parts: Sequence[Any], sizes: Sequence[int]) -> tuple[list[Any], Any]:
    """The indices moved inside, and whether all of a place were."""
    moved: list[Any] = []
    inside: Any = None
    for part, size in zip(parts, sizes, strict=True):
        moved.append(f.clip(part, 0, size - 1))
        here = (part >= 0) & (part < size)
        inside = here if inside is None else inside & here
    return moved, inside


def _mode(mode: Any) -> str:
    return str(getattr(mode, "name", mode))


def _gather(
    x: Any,
    indices: Any,
    *,
    dimension_numbers: Any,
    slice_sizes: Sequence[int],
    mode: Any,
    fill_value: Any,
) -> Any:
    d = dimension_numbers
    split = _split(x, d.start_index_map, d.collapsed_slice_dims, d.operand_batching_dims)
    if any(slice_sizes[axis] != x.shape[axis] for axis in split.whole):
        raise Refused("reads parts of axes that it does not index")
    if not split.single and not split.batch:
        raise Refused("indexes no axis")
    parts = _parts(indices, d.start_indices_batching_dims)
    lengths = [slice_sizes[axis] for axis in (*split.batch, *split.single)]
    sizes = [x.shape[axis] for axis in (*split.batch, *split.single)]
    inside: Any = None
    if _mode(mode) != "PROMISE_IN_BOUNDS":
        starts = [size - length + 1 for size, length in zip(sizes, lengths, strict=True)]
        parts, inside = _inside(parts, starts)
    windows = [axis for axis in split.single if axis not in d.collapsed_slice_dims]
    first = max(part.ndim for part in parts)
    for place, axis in enumerate((*split.batch, *split.single)):
        own = windows.index(axis) if axis in windows else None
        parts[place] = _window(parts[place], lengths[place], own, len(windows))
    rows = f.transpose(x, split.order)[tuple(parts)]
    if _mode(mode) == "FILL_OR_DROP":
        inside = f.reshape(inside, (*inside.shape, *[1] * (rows.ndim - inside.ndim)))
        rows = f.where(inside, rows, f.full((), _fill(x, fill_value), x.dtype))
    # The places come first here, then windows, then whole axes; JAX says where those stand.
    here = {axis: first + place for place, axis in enumerate((*windows, *split.whole))}
    return f.moveaxis(rows, tuple(here[axis] for axis in sorted(here)), tuple(d.offset_dims))


def _window(start: Any, length: int, place: int | None, windows: int) -> Any:
    """The indices of windows from their starts, each window on an axis of its own at the end."""
    start = f.reshape(start, (*start.shape, *[1] * windows))
    if place is None:
        return start
    shape = [1] * windows
    shape[place] = length
    return start + f.reshape(f.arange(length, dtype=start.dtype), tuple(shape))


def _fill(x: Any, fill_value: Any) -> Any:
    if fill_value is not None:
        return fill_value
    if x.dtype.kind == "f":
        return float("nan")
    raise Refused("fills integers with the largest number")


def _scatter(write: Any) -> Any:
    def call(
        x: Any,
        indices: Any,
        updates: Any,
        *,
        dimension_numbers: Any,
        mode: Any,
        update_jaxpr: Any = None,
        update_consts: Any = (),
    ) -> Any:
        d = dimension_numbers
        index_map, batch = d.scatter_dims_to_operand_dims, d.operand_batching_dims
        if set(index_map) - set(d.inserted_window_dims):
            raise Refused("writes windows on an indexed axis")
        split = _split(x, index_map, d.inserted_window_dims, batch)
        windows = tuple(d.update_window_dims)
        if [updates.shape[axis] for axis in windows] != [x.shape[axis] for axis in split.whole]:
            raise Refused("writes parts of axes that it does not index")
        parts = _parts(indices, d.scatter_indices_batching_dims)
        places = tuple(axis for axis in range(updates.ndim) if axis not in windows)
        updates = f.transpose(updates, (*places, *windows))
        front = f.transpose(x, split.order)
        sizes = front.shape[: len(parts)]
        if _mode(mode) == "CLIP":
            parts, _ = _inside(parts, sizes)
        elif _mode(mode) == "FILL_OR_DROP":
            # What lies outside is written to one more row, which is cut off.
            parts, inside = _inside(parts, sizes)
            parts[0] = f.where(inside, parts[0], sizes[0])
            wide = f.pad(front, [(0, 1), *[(0, 0)] * (front.ndim - 1)])
            back = write(wide, tuple(parts), updates)[: sizes[0]]
            return f.transpose(back, _inverse(split.order))
        return f.transpose(write(front, tuple(parts), updates), _inverse(split.order))

    return call


def _inverse(order: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(range(len(order)), key=order.__getitem__))


INDEXING: dict[str, Spelling] = {
    "gather": own(_gather),
    "scatter": own(_scatter(f.index_update)),
    "scatter-add": own(_scatter(f.index_add)),
}
