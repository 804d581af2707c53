"""Convolutions, and their transposes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import numpy as snp
from ....errors import FormatError
from ..call import Call, Tensor
from ..registry import operator
from .patches import Windows, covered, fixed_extents, windows_of

__all__: list[str] = []


@operator("Conv")
def conv(call: Call, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
    return _biased(_convolved(call, x, w), bias)


def _convolved(call: Call, x: Tensor, w: Tensor) -> Tensor:
    if x.ndim < 3 or w.ndim != x.ndim:
        raise FormatError(f"{call.op} takes images and a kernel, not {x.aval} and {w.aval}.")
    call.ignore("kernel_shape")  # It is that of the kernel.
    windows = windows_of(call, x.shape[2:], w.shape[2:])
    groups = call.whole("group", 1)
    return snp.conv(x, w, windows.strides, windows.pads, windows.dilations, groups)


def _biased(y: Tensor, bias: Tensor | None) -> Tensor:
    return y if bias is None else y + np.reshape(bias, (-1, *[1] * (y.ndim - 2)))


@operator("ConvInteger", since=10)
def conv_integer(
    call: Call, x: Tensor, w: Tensor, x_zero: Tensor | None = None, w_zero: Tensor | None = None
) -> Tensor:
    """Zeros of the padding stand for the zero point."""
    images, kernel = x.astype(np.int32), w.astype(np.int32)
    if x_zero is not None:
        images = images - x_zero.astype(np.int32)
    if w_zero is not None:
        zero = w_zero.astype(np.int32)
        kernel = kernel - (np.reshape(zero, (-1, *[1] * (w.ndim - 1))) if zero.ndim else zero)
    return _convolved(call, images, kernel).astype(np.int32)


@operator("ConvTranspose")
def conv_transpose(call: Call, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
    """The whole transpose, of which the padding is cut off."""
    n = x.ndim - 2
    call.ignore("kernel_shape")
    if n < 1 or w.ndim != x.ndim:
        raise FormatError(f"{call.op} takes images and a kernel, not {x.aval} and {w.aval}.")
    pads, windows = _cut_off(call, x, w)
    groups = call.whole("group", 1)
    extra = call.wholes("output_padding") or [0] * n
    if not any(extra) and min([side for pair in pads for side in pair], default=0) >= 0:
        y = snp.conv_transpose(x, w, windows.strides, pads, windows.dilations, groups)
        return _biased(y, bias)
    y = snp.conv_transpose(x, w, windows.strides, 0, windows.dilations, groups)
    added = [(-before, more - after) for (before, after), more in zip(pads, extra, strict=True)]
    cut = [slice(max(-a, 0), -max(-b, 0) or None) for a, b in added]
    y = np.pad(y[(..., *cut)], [(0, 0), (0, 0), *[(max(a, 0), max(b, 0)) for a, b in added]])
    return _biased(y, bias)


def _cut_off(call: Call, x: Tensor, w: Tensor) -> tuple[Any, Windows]:
    """How much is cut off each axis, before and after."""
    extents, n = x.shape[2:], x.ndim - 2
    kind = call.choice("auto_pad", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", "")
    given = call.wholes("output_shape")
    windows = windows_of(call, extents, w.shape[2:])
    if given is None and not kind.startswith("SAME"):
        return windows.pads, windows
    wanted: list[Any] = [e * s for e, s in zip(extents, windows.strides, strict=True)]
    wanted = wanted if given is None else given[-n:]
    extra = call.wholes("output_padding") or [0] * n
    pairs: list[tuple[Any, Any]] = []
    for extent, goal, more, size, stride, dilation in zip(
        extents, wanted, extra, *windows[:3], strict=True
    ):
        total = stride * (extent - 1) + more + (size - 1) * dilation + 1 - goal
        if not isinstance(total, int):
            raise FormatError(f"{call.op} to a given shape depends on the size of {extent}.")
        total = max(total, 0) if given is None else total
        small, large = total // 2, total - total // 2
        pairs.append((small, large) if kind == "SAME_UPPER" else (large, small))
    return tuple(pairs), windows


@operator("Col2Im", since=18)
def col2im(call: Call, columns: Tensor, _image: Tensor, _block: Tensor) -> Tensor:
    """Windows added up to the image that they lie in."""
    extents = tuple(call.ints(1, "shape of the image"))
    windows = windows_of(call, extents, tuple(call.ints(2, "shape of the block")))
    cover = covered(call, extents, windows)
    assert not isinstance(windows.pads, str)
    n, rows = columns.shape[0], math.prod(windows.sizes)
    channels: Any = columns.shape[1]
    if not isinstance(channels, int) or channels % rows:
        raise FormatError(f"Col2Im of {columns.aval} has no columns of {rows} elements.")
    parts = np.reshape(columns, (n, channels // rows, -1))
    empty = snp.zeros((n, channels // rows, math.prod(cover.extents)), columns.dtype)
    places = (slice(None), slice(None), cover.places.ravel())
    wide = snp.index_add(empty, places, parts)
    wide = np.reshape(wide, (n, channels // rows, *cover.extents))
    pairs = zip(windows.pads, extents, strict=True)
    return wide[(..., *[slice(before, before + extent) for (before, _), extent in pairs])]


@operator("DeformConv", since=19)
def deform_conv(
    call: Call,
    x: Tensor,
    w: Tensor,
    offset: Tensor,
    bias: Tensor | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """A convolution whose windows read between the elements, at places moved by offsets."""
    call.ignore("kernel_shape")
    extents = fixed_extents(call, x)
    if len(extents) != 2:
        raise FormatError("DeformConv is read of images with two axes.")
    windows = windows_of(call, extents, w.shape[2:])
    groups, parts = call.whole("group", 1), call.whole("offset_group", 1)
    (n, channels), out = x.shape[:2], w.shape[0]
    kernel, counts = windows.sizes, offset.shape[2:]
    moved = np.reshape(offset, (n, parts, *kernel, 2, *counts))
    assert not isinstance(windows.pads, str)
    places: list[Any] = []
    for axis in (0, 1):
        start = -windows.pads[axis][0]
        inner = windows.dilations[axis] * np.arange(kernel[axis])
        outer = start + windows.strides[axis] * np.arange(counts[axis])
        grid = inner[:, None] + outer
        grid = grid[:, None, :, None] if axis == 0 else grid[None, :, None, :]
        places.append(moved[:, :, :, :, axis] + grid.astype(x.dtype))
    images = np.reshape(x, (n, parts, channels // parts, *extents))
    read = _between(images, places, extents)
    if mask is not None:
        read = read * np.reshape(mask, (n, parts, 1, *kernel, *counts))
    read = np.reshape(read, (n, groups, channels // groups, *kernel, *counts))
    kernels = np.reshape(w, (groups, out // groups, *w.shape[1:]))
    y = np.einsum("ngcklhw,gockl->ngohw", read, kernels)
    return _biased(np.reshape(y, (n, out, *counts)), bias)


def _between(images: Tensor, places: list[Tensor], extents: tuple[int, ...]) -> Tensor:
    """Linear between the four neighbours; pixels outside the image are zero."""
    lower = [np.floor(each) for each in places]
    total: Any = 0
    n, parts, channels = images.shape[:3]
    flat = np.reshape(images, (n, parts, channels, -1))
    for corner in ((0, 0), (0, 1), (1, 0), (1, 1)):
        weight: Any = 1
        inside: Any = True
        index: Any = 0
        for axis, step in enumerate(corner):
            at = lower[axis] + step
            share = places[axis] - lower[axis]
            weight = weight * (share if step else 1 - share)
            inside = inside & (at >= 0) & (at <= extents[axis] - 1)
            near = np.clip(at, 0, extents[axis] - 1).astype(np.int64)
            index = index * extents[axis] + near
        rows = np.reshape(index, (n, parts, 1, -1))
        shape = (n, parts, channels, rows.shape[-1])
        read = np.take_along_axis(flat, np.broadcast_to(rows, shape), axis=-1)
        read = np.reshape(read, (n, parts, channels, *index.shape[2:]))
        weight = np.where(inside, weight, np.zeros((), weight.dtype))
        total = total + read * np.expand_dims(weight, 2)
    return total
