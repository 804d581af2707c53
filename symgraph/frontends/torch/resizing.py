"""Layers of PyTorch whose windows and samples are known when the graph is made.

Each reads places that are tables of numbers, one for each axis of an image: the windows of adaptive
pooling, the neighbours that a larger image is made of, patches. Shuffled pixels are a reshape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..functions import f
from ..spelling import ABSENT, Refused, SpelledCall, Spelling, known, own

__all__ = ["RESIZING", "adaptive_avg_pool", "each"]


def each(value: Any, n: int) -> tuple[int, ...]:
    """One number an axis; a list of one counts for all."""
    entries = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    return entries * n if len(entries) == 1 else entries


def _extents(x: Any, n: int) -> tuple[int, ...]:
    extents = tuple(x.shape[-n:])
    if not all(isinstance(extent, int) for extent in extents):
        raise Refused("has windows that depend on a named size", "Give the image a fixed size.")
    return extents


def _read(x: Any, tables: Sequence[Any]) -> Any:
    """The last axes read at tables: each axis becomes two, the table's."""
    for axis in range(len(tables) - 1, -1, -1):
        x = f.take(x, tables[axis], axis=axis - len(tables) - (len(tables) - 1 - axis))
    return x


def _outer(tables: Sequence[Any]) -> Any:
    """The product of a table for each axis, on the axes that `_read` gives."""
    found: Any = np.ones(())
    for table in tables:
        found = np.multiply.outer(found, table)
    return found


def _pairs(n: int) -> tuple[int, ...]:
    """The axes within the windows."""
    return tuple(range(-1, -2 * n, -2))


# -- adaptive pooling ------------------------------------------------------------------------------
def _adaptive(extent: int, size: int) -> tuple[Any, Any]:
    """The places of each window, and which of them count: windows are not equally long."""
    first = np.arange(size) * extent // size
    end = -(-np.arange(1, size + 1) * extent // size)
    places = first[:, None] + np.arange(int(max(end - first)))
    return np.minimum(places, end[:, None] - 1), places < end[:, None]


def _in_windows(x: Any, sizes: Sequence[int]) -> tuple[Any, Any]:
    pairs = [_adaptive(*both) for both in zip(_extents(x, len(sizes)), sizes, strict=True)]
    return _read(x, [places for places, _ in pairs]), _outer([inside for _, inside in pairs]) > 0


def _even(x: Any, sizes: Sequence[int]) -> tuple[int, ...] | None:
    """The window, if all are equally long and lie side by side."""
    pairs = list(zip(_extents(x, len(sizes)), sizes, strict=True))
    return None if any(a % b for a, b in pairs) else tuple([a // b for a, b in pairs])


def adaptive_avg_pool(n: int) -> Callable[..., Any]:
    """The mean of windows, as many as the result has places."""

    def call(x: Any, output_size: Any) -> Any:
        sizes = each(output_size, n)
        if all(size == 1 for size in sizes):
            return f.mean(x, axis=tuple(range(-n, 0)), keepdims=True)
        window = _even(x, sizes)
        if window is not None:
            return f.avg_pool(x, window, window)
        values, inside = _in_windows(x, sizes)
        total = f.sum(f.where(inside, values, 0), axis=_pairs(n))
        return total / np.sum(inside, axis=_pairs(n)).astype(x.dtype)

    return call


def _adaptive_max_pool(n: int) -> Callable[..., Any]:
    def call(x: Any, output_size: Any) -> tuple[Any, Any]:
        sizes = each(output_size, n)
        window = _even(x, sizes)
        if window is not None:
            return f.max_pool(x, window, window), ABSENT
        values, inside = _in_windows(x, sizes)
        return f.max(f.where(inside, values, -np.inf), axis=_pairs(n)), ABSENT

    return call


# -- larger and smaller images ---------------------------------------------------------------------
def _nearest(shift: float) -> Callable[..., Any]:
    def table(size: int, extent: int, ratio: float) -> tuple[Any, Any]:
        # In single precision, as PyTorch: a place between two pixels goes where it goes there.
        places = (np.arange(size, dtype="float32") + np.float32(shift)) * np.float32(ratio)
        found = np.minimum(places.astype(int), extent - 1)[:, None]
        return found, np.ones(found.shape)

    return table


def _source(size: int, extent: int, ratio: float, corners: bool) -> Any:
    """The place of each pixel of the result in the image."""
    if corners:
        return np.arange(size) * ((extent - 1) / (size - 1) if size > 1 else 0.0)
    return (np.arange(size) + 0.5) * ratio - 0.5


def _linear(size: int, extent: int, ratio: float, corners: bool) -> tuple[Any, Any]:
    source = np.maximum(_source(size, extent, ratio, corners), 0)
    first = np.minimum(source.astype(int), extent - 1)
    share = source - first
    places = np.stack([first, np.minimum(first + 1, extent - 1)], axis=1)
    return places, np.stack([1 - share, share], axis=1)


def _cubic(size: int, extent: int, ratio: float, corners: bool) -> tuple[Any, Any]:
    """Keys' cubic convolution (1981) with a = -3/4."""
    source = _source(size, extent, ratio, corners)
    first = np.floor(source).astype(int)
    steps = np.arange(-1, 3)
    away = np.abs(source[:, None] - (first[:, None] + steps))
    near = (1.25 * away - 2.25) * away * away + 1
    far = -0.75 * (((away - 5) * away + 8) * away - 4)
    places = np.clip(first[:, None] + steps, 0, extent - 1)
    return places, np.where(away <= 1, near, far)


def _sampled(n: int, table: Callable[..., Any], options: int) -> Spelling:
    """Each pixel of the result a weighted sum of some of the image; `options`: `align_corners`."""

    def call(info: SpelledCall, x: Any, output_size: Any, *rest: Any) -> Any:
        scales = rest[options] if len(rest) > options else None
        sizes = info.shape[-n:]
        tables: list[Any] = []
        weights: list[Any] = []
        for axis, (size, extent) in enumerate(zip(sizes, _extents(x, n), strict=True)):
            if not isinstance(size, int):
                raise Refused("gives an image of a named size", "Give the image a fixed size.")
            ratio = extent / size if scales is None else 1 / scales[axis]
            places, shares = table(size, extent, ratio, *rest[:options])
            tables.append(places)
            weights.append(shares)
        values = _read(x, tables)
        if all(places.shape[1] == 1 for places in tables):
            return f.reshape(values, info.shape)
        return f.sum(values * _outer(weights).astype(x.dtype), axis=_pairs(n))

    return known(call)


# -- pixels and patches ----------------------------------------------------------------------------
def _pixel_shuffle(x: Any, upscale_factor: int) -> Any:
    r = upscale_factor
    *lead, channels, rows, columns = x.shape
    parts = f.reshape(x, (*lead, channels // (r * r), r, r, rows, columns))
    turned = f.moveaxis(parts, (-4, -3), (-3, -1))
    return f.reshape(turned, (*lead, channels // (r * r), rows * r, columns * r))


def _pixel_unshuffle(x: Any, downscale_factor: int) -> Any:
    r = downscale_factor
    *lead, channels, rows, columns = x.shape
    parts = f.reshape(x, (*lead, channels, rows // r, r, columns // r, r))
    turned = f.moveaxis(parts, (-3, -1), (-4, -3))
    return f.reshape(turned, (*lead, channels * r * r, rows // r, columns // r))


def _channel_shuffle(x: Any, groups: int) -> Any:
    batch, channels, *rest = x.shape
    parts = f.reshape(x, (batch, groups, channels // groups, *rest))
    return f.reshape(f.swapaxes(parts, 1, 2), x.shape)


def _patch_tables(extents: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """The places of each patch in the padded image, axis by axis."""
    tables: list[Any] = []
    for axis in range(2):
        reach = dilation[axis] * (kernel[axis] - 1) + 1
        count = (extents[axis] + 2 * padding[axis] - reach) // stride[axis] + 1
        starts = np.arange(count) * stride[axis]
        tables.append(starts[:, None] + np.arange(kernel[axis]) * dilation[axis])
    return tables


def _im2col(x: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    tables = _patch_tables(_extents(x, 2), kernel_size, dilation, padding, stride)
    widths = [*[(0, 0)] * (x.ndim - 2), *[(side, side) for side in padding]]
    values = _read(f.pad(x, widths), tables)
    turned = f.moveaxis(values, (-3, -1), (-4, -3))
    *lead, channels = x.shape[:-2]
    kernel = kernel_size[0] * kernel_size[1]
    return f.reshape(turned, (*lead, channels * kernel, len(tables[0]) * len(tables[1])))


def _col2im(
    x: Any, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Any:
    rows, columns = _patch_tables(output_size, kernel_size, dilation, padding, stride)
    lead = (*x.shape[:-2], x.shape[-2] // (kernel_size[0] * kernel_size[1]))
    lead = (*x.shape[:-2], lead[-1])
    patches = f.reshape(x, (*lead, *kernel_size, len(rows), len(columns)))
    sizes = [size + 2 * side for size, side in zip(output_size, padding, strict=True)]
    places = (rows.T[:, None, :, None], columns.T[None, :, None, :])
    image = f.zeros((*lead, *sizes), x.dtype)
    full = f.index_add(image, (*[slice(None)] * len(lead), *places), patches)
    inside = [slice(a, a + b) for a, b in zip(padding, output_size, strict=True)]
    return full[(..., *inside)]


RESIZING: dict[str, Spelling] = {
    **{f"adaptive_avg_pool{n}d": own(adaptive_avg_pool(n)) for n in (1, 2, 3)},
    **{f"_adaptive_avg_pool{n}d": own(adaptive_avg_pool(n)) for n in (2, 3)},
    **{f"adaptive_max_pool{n}d": own(_adaptive_max_pool(n)) for n in (1, 2, 3)},
    **{f"upsample_nearest{n}d": _sampled(n, _nearest(0.0), 0) for n in (1, 2, 3)},
    **{f"_upsample_nearest_exact{n}d": _sampled(n, _nearest(0.5), 0) for n in (1, 2, 3)},
    "upsample_linear1d": _sampled(1, _linear, 1),
    "upsample_bilinear2d": _sampled(2, _linear, 1),
    "upsample_trilinear3d": _sampled(3, _linear, 1),
    "upsample_bicubic2d": _sampled(2, _cubic, 1),
    "pixel_shuffle": own(_pixel_shuffle),
    "pixel_unshuffle": own(_pixel_unshuffle),
    "channel_shuffle": own(_channel_shuffle),
    "im2col": own(_im2col),
    "col2im": own(_col2im),
}
