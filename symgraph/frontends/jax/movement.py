"""Primitives of JAX that move elements: shapes, slices, padding, joining, order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..functions import f
from ..ordering import descending
from ..spelling import Refused, SpelledCall, Spelling, known, own
from .elementwise import known_number

__all__ = ["MOVEMENT"]


def _broadcast_in_dim(
    call: SpelledCall, x: Any, *, shape: Sequence[int], broadcast_dimensions: Sequence[int]
) -> Any:
    sizes = [1] * len(shape)
    for axis, place in enumerate(broadcast_dimensions):
        sizes[place] = x.shape[axis]
    return f.broadcast_to(f.reshape(x, tuple(sizes)), call.shape)


def _reshape(call: SpelledCall, x: Any, *, new_sizes: Any, dimensions: Any) -> Any:
    if dimensions is not None:
        x = f.transpose(x, tuple(dimensions))
    return f.reshape(x, call.shape)


def _squeeze(x: Any, *, dimensions: Sequence[int]) -> Any:
    return f.squeeze(x, tuple(dimensions))


def _transpose(x: Any, *, permutation: Sequence[int]) -> Any:
    return f.transpose(x, tuple(permutation))


def _reverse(x: Any, *, dimensions: Sequence[int]) -> Any:
    return f.flip(x, tuple(dimensions)) if dimensions else x


def _concatenate(*arrays: Any, dimension: int) -> Any:
    return f.concatenate(list(arrays), axis=dimension)


def _unstack(x: Any, *, axis: int) -> list[Any]:
    return [x[(*[slice(None)] * axis, place)] for place in range(x.shape[axis])]


def _pad(x: Any, fill: Any, *, padding_config: Sequence[tuple[int, int, int]]) -> Any:
    """Elements before, after and between; negative numbers cut off."""
    wide = [max(size + (size - 1) * gap, 0) for size, (_, _, gap) in _rows(x, padding_config)]
    if any(gap for *_, gap in padding_config):
        spread = f.broadcast_to(fill, tuple(wide))
        steps = tuple(slice(None, None, gap + 1) for *_, gap in padding_config)
        x = f.index_update(spread, steps, x)
    cut = tuple(
        slice(max(-low, 0), size - max(-high, 0))
        for size, (low, high, _) in zip(wide, padding_config, strict=True)
    )
    x = x[cut] if any(min(low, high) < 0 for low, high, _ in padding_config) else x
    widths = [(max(low, 0), max(high, 0)) for low, high, _ in padding_config]
    if not any(sum(each) for each in widths):
        return x
    if known_number(fill) == 0:
        return f.pad(x, widths)
    shape = tuple(size + a + b for size, (a, b) in zip(x.shape, widths, strict=True))
    inside = tuple(slice(a, a + size) for size, (a, _) in zip(x.shape, widths, strict=True))
    return f.index_update(f.broadcast_to(fill, shape), inside, x)


def _rows(x: Any, config: Sequence[Any]) -> Any:
    return zip(x.shape, config, strict=True)


def _slice(x: Any, *, start_indices: Any, limit_indices: Any, strides: Any) -> Any:
    steps = strides or [1] * x.ndim
    return x[tuple(slice(*each) for each in zip(start_indices, limit_indices, steps, strict=True))]


def _starts(x: Any, starts: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
    """The first place on each axis, moved so that the slice fits; numbers where they are known."""
    found: list[Any] = []
    for start, extent, size in zip(starts, x.shape, sizes, strict=True):
        number = known_number(start)
        if extent == size or number is not None:
            found.append(int(np.clip(number or 0, 0, extent - size)))
        else:
            found.append(f.clip(start, 0, extent - size))
    return found


def _places(starts: Sequence[Any], sizes: Sequence[int]) -> tuple[Any, ...]:
    """The index of a slice of these sizes."""
    if all(isinstance(start, int) for start in starts):
        return tuple(slice(a, a + size) for a, size in zip(starts, sizes, strict=True))
    places: list[Any] = []
    for axis, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        shape = [1] * len(sizes)
        shape[axis] = size
        places.append(f.reshape(f.arange(size) + start, tuple(shape)))
    return tuple(places)


def _dynamic_slice(x: Any, *starts: Any, slice_sizes: Sequence[int]) -> Any:
    if not x.ndim:
        return x
    return x[_places(_starts(x, starts, slice_sizes), slice_sizes)]


def _dynamic_update_slice(x: Any, update: Any, *starts: Any) -> Any:
    if not x.ndim:
        return update
    return f.index_update(x, _places(_starts(x, starts, update.shape), update.shape), update)


def _split(x: Any, *, sizes: Sequence[int], axis: int) -> list[Any]:
    return list(f.split(x, np.cumsum(sizes)[:-1].tolist(), axis))


def _iota(call: SpelledCall, *, dimension: int, **_options: Any) -> Any:
    sizes = [1] * len(call.shape)
    sizes[dimension] = -1
    row = f.arange(call.shape[dimension], dtype=call.dtype)
    return f.broadcast_to(f.reshape(row, tuple(sizes)), call.shape)


def _sort(*arrays: Any, dimension: int, num_keys: int, is_stable: bool) -> Any:
    if len(arrays) == 1:
        return [f.sort(arrays[0], axis=dimension)]
    if num_keys != 1:
        raise Refused("sorts by several keys")
    order = f.argsort(arrays[0], axis=dimension, stable=True)
    return [f.take_along_axis(each, order, dimension) for each in arrays]


def _top_k(x: Any, *, k: int, axis: int = -1, is_stable: bool = True) -> Any:
    axis %= x.ndim
    order = descending(x, axis)[(*[slice(None)] * axis, slice(0, k))]
    return [f.take_along_axis(x, order, axis), order]


MOVEMENT: dict[str, Spelling] = {
    "broadcast_in_dim": known(_broadcast_in_dim),
    "device_put": own(lambda *arrays, **_where: list(arrays)),
    "reshape": known(_reshape),
    "squeeze": own(_squeeze),
    "transpose": own(_transpose),
    "rev": own(_reverse),
    "concatenate": own(_concatenate),
    "stack": own(lambda *arrays, axis: f.stack(list(arrays), axis=axis)),
    "unstack": own(_unstack),
    "tile": own(lambda x, *, reps: f.tile(x, tuple(reps))),
    "pad": own(_pad),
    "slice": own(_slice),
    "dynamic_slice": own(_dynamic_slice),
    "dynamic_update_slice": own(_dynamic_update_slice),
    "split": own(_split),
    "iota": known(_iota),
    "sort": own(_sort),
    "top_k": own(_top_k),
}
