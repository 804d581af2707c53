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

__all__ = ["COLUMN_BYTES", "adjoint_convolution", "convolution", "kernel_convolution"]

COLUMN_BYTES = 2**19
"""The most bytes of columns at a time, if one image has no more."""


def _groups(images: int, channels: int, places: int, itemsize: int) -> list[slice]:
    """Groups of images; `places` is the number of elements of all windows of one channel."""
    step = max(1, COLUMN_BYTES // max(1, channels * places * itemsize))
    return [slice(start, start + step) for start in range(0, max(images, 1), step)]


def _of_images(which: slice, n: int) -> tuple[Any, ...]:
    return (..., which, *[slice(None)] * (n + 1))


def _given(found: Any, out: Any) -> Any:
    """What was found, in row order, or written to `out`."""
    if out is None:
        return np.ascontiguousarray(found)
    np.copyto(out, found)
    return out


def convolution(
    xp: Any, x: Any, w: Any, strides: Any, dilations: Any, groups: int, out: Any = None
) -> Any:
    """As `windows.convolution`, of NumPy's arrays; written to `out` if it is given."""
    n = len(strides)
    sizes, images = w.shape[-n:], x.shape[-n - 2]
    counts = windows.counts_of(x.shape[-n:], sizes, strides, dilations)
    parts = _groups(images, x.shape[-n - 1], prod(sizes) * prod(counts), x.itemsize)
    if len(parts) == 1:
        return _given(windows.convolution(xp, x, w, strides, dilations, groups), out)
    lead = np.broadcast_shapes(x.shape[: -n - 2], w.shape[: -n - 2])
    shape = (*lead, images, w.shape[-n - 2], *counts)
    result = np.empty(shape, np.result_type(x, w)) if out is None else out
    for part in parts:
        at = _of_images(part, n)
        result[at] = windows.convolution(xp, x[at], w, strides, dilations, groups)
    return result


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
    images, channels = y.shape[-n - 2], groups * w.shape[-n - 1]
    places = prod(w.shape[-n:]) * prod(y.shape[-n:])
    parts = _groups(images, channels, places, y.itemsize)
    if len(parts) == 1:
        found = windows.adjoint_convolution(xp, y, w, extents, strides, dilations, groups)
        return _given(found, out)
    lead = np.broadcast_shapes(y.shape[: -n - 2], w.shape[: -n - 2])
    shape = (*lead, images, channels, *extents)
    result = np.empty(shape, np.result_type(y, w)) if out is None else out
    for part in parts:
        at = _of_images(part, n)
        result[at] = windows.adjoint_convolution(xp, y[at], w, extents, strides, dilations, groups)
    return result


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
    places = prod(sizes) * prod(y.shape[-n:])
    first, *rest = [
        _of_images(part, n)
        for part in _groups(x.shape[-n - 2], x.shape[-n - 1], places, x.itemsize)
    ]
    call = windows.kernel_convolution
    result = _given(call(xp, x[first], y[first], sizes, strides, dilations, groups), out)
    for at in rest:
        result += call(xp, x[at], y[at], sizes, strides, dilations, groups)
    return result
