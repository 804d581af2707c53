"""Convolutions a few images at a time, so that the columns of their windows fit the cache.

Laid out as columns, the windows of a kernel of size 3 x 3 hold nine times the bytes of the images.
Images do not mix in `convolution` and `adjoint_convolution`, so no bit depends on how many are
taken at a time; `kernel_convolution` adds up the products of the groups in their order, which
depends on shapes alone.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from . import windows
from .flat_images import laid_flat

__all__ = ["COLUMN_BYTES", "adjoint_convolution", "convolution", "kernel_convolution"]

COLUMN_BYTES = 2**19
"""The most bytes of columns at a time, if one image has no more."""


def _groups(images: int, channels: int, places: int, itemsize: int) -> list[slice]:
    """Groups of images; `places` is the number of elements of all windows of one channel."""
    step = max(1, COLUMN_BYTES // max(1, channels * places * itemsize))
    return [slice(start, start + step) for start in range(0, max(images, 1), step)]


def _of_images(which: slice, n: int) -> tuple[Any, ...]:
    return (..., which, *[slice(None)] * (n + 1))


def _result(shape: tuple[int, ...], dtype: Any, out: Any) -> Any:
    """An array in row order: `out`, or a new one where that is not given or lies otherwise."""
    return np.empty(shape, dtype) if out is None or not out.flags.c_contiguous else out


def _given(found: Any, out: Any) -> Any:
    """The result, written to `out` if it is not there yet."""
    if out is None or found is out:
        return found
    np.copyto(out, found)
    return out


class _Columns:
    """The windows of a group of images as columns, in memory that all groups use in turn.

    New memory for each group would cost more than the copy: the system gives it page by page.
    """

    def __init__(self, x: Any, sizes: Any, strides: Any, dilations: Any, inside: bool) -> None:
        n = len(sizes)
        view = windows.windows(np, x, sizes, strides, dilations)
        lead = view.ndim - 2 * n - 2
        images, channel = lead, lead + 1
        counts = range(lead + 2, lead + 2 + n)
        places = range(lead + 2 + n, lead + 2 + 2 * n)
        front = () if inside else (images,)
        back = (images,) if inside else ()
        self._view = np.transpose(view, (*range(lead), *front, channel, *places, *back, *counts))
        self._axis = lead + 1 + n if inside else lead
        self._copied = max(sizes, default=1) > 1  # Else the columns are the images.
        self._memory: Any = None

    def of(self, part: slice) -> Any:
        """(..., N, C, sizes, counts) of some images; if N is to be inside, before the counts."""
        view = self._view[(*[slice(None)] * self._axis, part)]
        if not self._copied:
            return view
        if self._memory is None:
            self._memory = np.empty(view.shape, view.dtype)
        count = view.shape[self._axis]
        columns = self._memory[(*[slice(None)] * self._axis, slice(count))]
        np.copyto(columns, view)
        return columns


def convolution(
    xp: Any, x: Any, w: Any, strides: Any, dilations: Any, groups: int, out: Any = None
) -> Any:
    """As `windows.convolution`, of NumPy's arrays; written to `out` if it is given."""
    n = len(strides)
    sizes, images = w.shape[-n:], x.shape[-n - 2]
    counts = windows.counts_of(x.shape[-n:], sizes, strides, dilations)
    parts = _groups(images, x.shape[-n - 1], prod(sizes) * prod(counts), x.itemsize)
    lead = np.broadcast_shapes(x.shape[: -n - 2], w.shape[: -n - 2])
    outer, inner = w.shape[-n - 2] // groups, w.shape[-n - 1] * prod(sizes)
    shape = (*lead, images, groups * outer, *counts)
    result = _result(shape, np.result_type(x, w), out)
    products = result.reshape((*lead, images, groups, outer, prod(counts)))
    matrices = w.reshape((*w.shape[: -n - 2], 1, groups, outer, inner))
    windowed = _Columns(x, sizes, strides, dilations, inside=False)
    for part in parts:
        columns = windowed.of(part)
        stacked = (*columns.shape[: -2 * n - 1], groups, inner, prod(counts))
        np.matmul(matrices, columns.reshape(stacked), out=products[..., part, :, :, :])
    return _given(result, out)


def adjoint_convolution(
    xp: Any,
    y: Any,
    w: Any,
    extents: Any,
    strides: Any,
    dilations: Any,
    groups: int,
    out: Any = None,
) -> Any:
    """As `windows.adjoint_convolution`, of NumPy's arrays; written to `out` if it is given."""
    n = len(strides)
    sizes, counts = w.shape[-n:], y.shape[-n:]
    images, channels = y.shape[-n - 2], groups * w.shape[-n - 1]
    parts = _groups(images, channels, prod(sizes) * prod(counts), y.itemsize)
    lead = np.broadcast_shapes(y.shape[: -n - 2], w.shape[: -n - 2])
    outer, inner = w.shape[-n - 2] // groups, w.shape[-n - 1] * prod(sizes)
    result = _result((*lead, images, channels, *extents), np.result_type(y, w), out)
    result.fill(0)
    matrices = w.reshape((*w.shape[: -n - 2], 1, groups, outer, inner)).swapaxes(-1, -2)
    flat = laid_flat(counts, w, extents, strides, dilations, outer)
    places = prod(counts if flat is None else flat.grid)
    memory: Any = None
    for part in parts:
        some = y[_of_images(part, n)]
        some = some if flat is None else flat.spread(some)
        some = some.reshape((*some.shape[: -n - 1], groups, outer, places))
        if memory is None:
            memory = np.empty((*lead, some.shape[-4], groups, inner, places), result.dtype)
        found = np.matmul(matrices, some, out=memory[..., : some.shape[-4], :, :, :])
        target = result[_of_images(part, n)]
        if flat is not None:
            flat.add(target, found)
            continue
        columns = found.reshape((*found.shape[:-3], channels, *sizes, *counts))
        for tap, index in windows.taps(sizes, counts, strides, dilations):
            place = target[index]
            np.add(place, columns[(..., *tap, *[slice(None)] * n)], out=place)
    return _given(result, out)


def kernel_convolution(
    xp: Any,
    x: Any,
    y: Any,
    sizes: Any,
    strides: Any,
    dilations: Any,
    groups: int,
    out: Any = None,
) -> Any:
    """As `windows.kernel_convolution`, of NumPy's arrays; written to `out` if it is given."""
    n = len(strides)
    counts, places = y.shape[-n:], prod(sizes)
    outer, inner = y.shape[-n - 1] // groups, x.shape[-n - 1] // groups
    lead = np.broadcast_shapes(x.shape[: -n - 2], y.shape[: -n - 2])
    shape = (*lead, groups * outer, inner, *sizes)
    result = _result(shape, np.result_type(x, y), out)
    total = np.zeros((*lead, groups, inner * places, outer), result.dtype)
    windowed = _Columns(x, sizes, strides, dilations, inside=True)
    split = y.reshape((*y.shape[: -n - 1], groups, outer, *counts))
    split = np.moveaxis(split, -n - 3, -n - 1)
    more: Any = None
    for part in _groups(x.shape[-n - 2], x.shape[-n - 1], places * prod(counts), x.itemsize):
        columns = windowed.of(part)
        depth = columns.shape[-n - 1] * prod(counts)
        columns = columns.reshape((*columns.shape[: -2 * n - 2], groups, inner * places, depth))
        some = split[(..., part, *[slice(None)] * n)]
        some = some.reshape((*some.shape[: -n - 1], depth))
        # BLAS likes the many rows of the columns on the left: 0.7 of the time for 32 filters.
        if more is None:
            np.matmul(columns, some.swapaxes(-1, -2), out=total)
            more = np.empty_like(total)
        else:
            total += np.matmul(columns, some.swapaxes(-1, -2), out=more)
    np.copyto(result.reshape((*lead, groups, outer, inner * places)), total.swapaxes(-1, -2))
    return _given(result, out)
