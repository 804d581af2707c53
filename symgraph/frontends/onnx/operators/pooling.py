"""Pooling: one number for each window."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import numpy as snp
from ....errors import FormatError
from ..call import Call, Tensor
from ..registry import operator
from .patches import Windows, covered, fixed_extents, to_the_end, windows_of

__all__: list[str] = []


def _windows(call: Call, x: Tensor) -> Windows:
    sizes = call.wholes("kernel_shape")
    if sizes is None:
        raise FormatError(f"{call.op} does not tell its kernel_shape.")
    return windows_of(call, x.shape[2:], tuple(sizes))


@operator("AveragePool")
def average_pool(call: Call, x: Tensor) -> Tensor:
    windows, ceil = _windows(call, x), call.flag("ceil_mode")
    counted = call.flag("count_include_pad")
    return snp.avg_pool(x, *windows[:2], windows.pads, windows.dilations, counted, ceil)


@operator("MaxPool")
def max_pool(call: Call, x: Tensor) -> Any:
    windows, ceil = _windows(call, x), call.flag("ceil_mode")
    columns = call.flag("storage_order")
    found = snp.max_pool(x, *windows[:2], windows.pads, windows.dilations, ceil)
    if call.results == 1:
        return found
    extents = fixed_extents(call, x)
    windows = to_the_end(extents, windows) if ceil else windows
    return [found, _places(call, x, extents, windows, bool(columns))]


def _places(
    call: Call, x: Tensor, extents: tuple[int, ...], windows: Windows, columns: bool
) -> Tensor:
    """Where in the whole tensor the first largest element of each window stands."""
    cover = covered(call, extents, windows)
    assert not isinstance(windows.pads, str)
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    wide = np.pad(x, [(0, 0), (0, 0), *windows.pads], constant_values=lowest)
    read = np.reshape(wide, (*x.shape[:2], -1))[:, :, cover.places]
    order = "F" if columns else "C"
    own = np.arange(math.prod(extents)).reshape(extents, order=order)
    own = np.pad(own, windows.pads, constant_values=-1).ravel()[cover.places]
    # Padding is never the largest; where all of a window is as low, an element comes first.
    real = np.where(own >= 0, np.ones((), bool), np.zeros((), bool))
    best = np.argmax(_first_of(read, real), axis=2)
    place = snp.asarray(own.T)[np.arange(own.shape[1]), best]
    number = np.reshape(snp.arange(math.prod(x.shape[:2])), (*x.shape[:2], 1))
    return np.reshape(place + number * math.prod(extents), (*x.shape[:2], *cover.counts))


def _first_of(read: Tensor, real: Any) -> Tensor:
    """Truth values that hold at the largest elements of each window, without its padding."""
    return (read == np.max(read, axis=2, keepdims=True)) & real


@operator("MaxUnpool", since=9)
def max_unpool(call: Call, x: Tensor, places: Tensor, _shape: Tensor | None = None) -> Tensor:
    """The elements put back to where they stood, among zeros."""
    windows = _windows(call, x)
    assert not isinstance(windows.pads, str)
    extents = fixed_extents(call, x)
    shape: Any = (
        *x.shape[:2],
        *[
            (extent - 1) * stride + size - before - after
            for extent, size, stride, (before, after) in zip(
                extents, windows.sizes, windows.strides, windows.pads, strict=True
            )
        ],
    )
    flat = snp.index_update(
        snp.zeros((math.prod(shape),), x.dtype), np.reshape(places, (-1,)), np.reshape(x, (-1,))
    )
    found = np.reshape(flat, shape)
    if len(call.entries) < 3 or call.entries[2] is None:
        return found
    wanted = call.ints(2, "output shape")
    if len(wanted) != x.ndim or any(w < own for w, own in zip(wanted, shape, strict=True)):
        raise FormatError(f"MaxUnpool to {wanted} is smaller than {shape}.")
    return np.pad(found, [(0, w - own) for w, own in zip(wanted, shape, strict=True)])


# -- norms of windows ------------------------------------------------------------------------------
@operator("LpPool", until=1)
def lp_pool_of_real_order(call: Call, x: Tensor) -> Tensor:
    return _lp_pool(call, x, call.real("p", 2.0))


@operator("LpPool", since=2)
def lp_pool(call: Call, x: Tensor) -> Tensor:
    return _lp_pool(call, x, call.whole("p", 2))


def _lp_pool(call: Call, x: Tensor, order: float) -> Tensor:
    windows = _windows(call, x)
    if call.flag("ceil_mode"):
        windows = to_the_end(fixed_extents(call, x), windows)
    powers = _power(np.absolute(x), order)
    means = snp.avg_pool(powers, *windows[:2], windows.pads, windows.dilations, True)
    return _power(means * math.prod(windows.sizes), 1 / order)


def _power(x: Tensor, order: float) -> Tensor:
    return x if order == 1 else np.power(x, np.asarray(order, x.dtype))


# -- of whole images -------------------------------------------------------------------------------
def _spatial(x: Tensor) -> tuple[int, ...]:
    return tuple(range(2, x.ndim))


@operator("GlobalAveragePool")
def global_average_pool(_call: Call, x: Tensor) -> Tensor:
    return np.mean(x, axis=_spatial(x), keepdims=True)


@operator("GlobalMaxPool")
def global_max_pool(_call: Call, x: Tensor) -> Tensor:
    return np.max(x, axis=_spatial(x), keepdims=True)


@operator("GlobalLpPool", since=2)
def global_lp_pool(call: Call, x: Tensor) -> Tensor:
    order = call.whole("p", 2)
    total = np.sum(_power(np.absolute(x), order), axis=_spatial(x), keepdims=True)
    return _power(total, 1 / order)
