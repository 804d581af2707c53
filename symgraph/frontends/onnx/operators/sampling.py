"""Images read between their elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....errors import FormatError
from ..call import Call, Tensor
from ..registry import operator
from .patches import fixed_extents

__all__: list[str] = []


@operator("GridSample", since=16)
def grid_sample(call: Call, x: Tensor, grid: Tensor) -> Tensor:
    """At the places of a grid, which go from -1 to 1 over the image."""
    old = call.version < 20
    kinds = ("bilinear", "nearest", "bicubic") if old else ("linear", "nearest", "cubic")
    mode = call.choice("mode", *kinds)
    padding = call.choice("padding_mode", "zeros", "border", "reflection")
    corners = call.flag("align_corners")
    extents = fixed_extents(call, x)
    # The last coordinate of the grid is that of the first spatial axis.
    places = [
        _unscaled(grid[..., len(extents) - 1 - axis], extent, corners)
        for axis, extent in enumerate(extents)
    ]
    if mode == "nearest":
        taps = [[(np.rint(at), None)] for at in places]
    elif mode in ("bilinear", "linear"):
        taps = [_linear(at) for at in places]
    else:
        taps = [_cubic(at) for at in places]
    return _gathered(x, taps, extents, padding, corners)


def _unscaled(at: Tensor, extent: int, corners: bool) -> Tensor:
    """From -1 and 1 to the centers of the outermost elements, or to their outer edges."""
    if corners:
        return (at + 1) / 2 * (extent - 1)
    return ((at + 1) * extent - 1) / 2


def _linear(at: Tensor) -> list[Any]:
    low = np.floor(at)
    return [(low, 1 - (at - low)), (low + 1, at - low)]


def _cubic(at: Tensor) -> list[Any]:
    low = np.floor(at)
    share = at - low
    return [(low + k, _keys(np.absolute(share - k), inner=k in (0, 1))) for k in (-1, 0, 1, 2)]


def _keys(gap: Tensor, inner: bool, a: float = -0.75) -> Tensor:
    """R. Keys' kernel of cubic convolution (1981)."""
    if inner:
        return ((a + 2) * gap - (a + 3)) * gap * gap + 1
    return ((gap - 5) * gap + 8) * gap * a - 4 * a


def _gathered(
    x: Tensor, taps: list[list[Any]], extents: tuple[int, ...], padding: str, corners: bool
) -> Tensor:
    """The weighted sum over all combinations of the places along each axis."""
    n, channels = x.shape[:2]
    flat = np.reshape(x, (n, channels, math.prod(extents)))
    combined: list[tuple[Any, Any, Any]] = [(0, None, None)]
    for along, extent in zip(taps, extents, strict=True):
        grown: list[tuple[Any, Any, Any]] = []
        for at, weight in along:
            place, inside = _within(at, extent, padding, corners)
            for number, share, inner in combined:
                both = weight if share is None else share if weight is None else share * weight
                either = inside if inner is None else inner if inside is None else inner & inside
                grown.append((number * extent + place, both, either))
        combined = grown
    total: Any = 0
    for number, share, inside in combined:
        rows = np.reshape(number, (n, 1, -1))
        shape = (n, channels, rows.shape[-1])
        read = np.take_along_axis(flat, np.broadcast_to(rows, shape), axis=-1)
        read = np.reshape(read, (n, channels, *number.shape[1:]))
        if inside is not None:
            read = np.where(np.expand_dims(inside, 1), read, np.zeros((), x.dtype))
        total = total + (read if share is None else read * np.expand_dims(share, 1))
    return total.astype(x.dtype)


def _within(at: Tensor, extent: int, padding: str, corners: bool) -> tuple[Tensor, Any]:
    """A place in the image, and whether it was there, where padding is zeros."""
    inside = (at >= 0) & (at <= extent - 1) if padding == "zeros" else None
    if padding == "reflection":
        low, high = (0.0, extent - 1.0) if corners else (-0.5, extent - 0.5)
        span = high - low
        if span:
            away = np.absolute(at - low) % (2 * span)
            at = np.rint(low + np.minimum(away, 2 * span - away))
    return np.clip(at, 0, extent - 1).astype(np.int64), inside


# -- regions ---------------------------------------------------------------------------------------
@operator("RoiAlign", since=10)
def roi_align(call: Call, x: Tensor, rois: Tensor, batch: Tensor) -> Tensor:
    """For each region and bin the mean of samples, read linearly between elements."""
    half = (
        call.version >= 16
        and call.choice("coordinate_transformation_mode", "half_pixel", "output_half_pixel")
        == "half_pixel"
    )
    mode, scale = call.choice("mode", "avg", "max"), call.real("spatial_scale", 1.0)
    bins = (call.whole("output_height", 1), call.whole("output_width", 1))
    ratio = call.whole("sampling_ratio")
    if ratio < 1 or ratio > 64 or min(bins) < 1 or max(bins) > 1024:
        raise FormatError(
            f"RoiAlign with sampling_ratio={ratio} is not read: the number of samples must be "
            "known, and at most 64."
        )
    if mode == "max":
        raise FormatError("RoiAlign by maxima is not read: engines differ in what it means.")
    extents = fixed_extents(call, x)
    taps: list[Any] = []
    for axis, (extent, count) in enumerate(zip(extents, bins, strict=True)):
        first = rois[:, 1 - axis] * scale - (0.5 if half else 0.0)
        last = rois[:, 3 - axis] * scale - (0.5 if half else 0.0)
        size = last - first if half else np.maximum(last - first, np.ones((), rois.dtype))
        steps = (np.arange(count * ratio) + 0.5) / (count * ratio)
        at = np.expand_dims(first, -1) + np.expand_dims(size, -1) * steps.astype(rois.dtype)
        taps.append(_sampled(at, extent))
    images = np.take(x, batch, axis=0)
    rows = _weighted(images, taps[0], axis=-2)
    found = _weighted(rows, taps[1], axis=-1)
    shape = (*found.shape[:2], bins[0], ratio, bins[1], ratio)
    return np.mean(np.reshape(found, shape), axis=(3, 5))


def _sampled(at: Tensor, extent: int) -> list[tuple[Tensor, Tensor]]:
    """Two neighbours and their weights; outside of the image by more than one, nothing."""
    inside = (at >= -1) & (at <= extent)
    near = np.clip(at, 0, extent - 1)
    low = np.minimum(np.floor(near), np.asarray(max(extent - 2, 0), at.dtype))
    share = np.where(inside, near - low, np.zeros((), at.dtype))
    other = np.where(inside, 1 - (near - low), np.zeros((), at.dtype))
    place = low.astype(np.int64)
    return [(place, other), (np.minimum(place + 1, np.asarray(extent - 1)), share)]


def _weighted(x: Tensor, taps: list[tuple[Tensor, Tensor]], axis: int) -> Tensor:
    """Linear between neighbours along one of the last two axes."""
    total: Any = 0
    for place, weight in taps:
        shape = (place.shape[0], 1, *((-1, 1) if axis == -2 else (1, -1)))
        index = np.reshape(place, shape)
        wide = list(x.shape)
        wide[axis] = place.shape[1]
        read = np.take_along_axis(x, np.broadcast_to(index, wide), axis=axis)
        total = total + read * np.reshape(weight, shape)
    return total
