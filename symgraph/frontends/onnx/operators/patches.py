"""Windows over the last axes of images: their padding, and the places that they cover."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ....errors import FormatError
from ....ir.dims import Dim
from ..call import Call, Tensor

__all__ = ["Covered", "Windows", "covered", "fixed_extents", "to_the_end", "windows_of"]

Pairs = tuple[tuple[int, int], ...]


class Windows(NamedTuple):
    """The windows of a convolution or a pooling.

    `pads` is the text "same" where it depends on the size of a named dimension.
    """

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: Pairs | str


def windows_of(call: Call, extents: tuple[Dim, ...], sizes: tuple[Any, ...]) -> Windows:
    """The windows that the attributes describe."""
    n = len(extents)
    for each in sizes:
        if not isinstance(each, int):
            raise FormatError(f"{call.op} has a window of the size {each}, which is not known.")
    strides = tuple(call.wholes("strides") or [1] * n)
    dilations = tuple(call.wholes("dilations") or [1] * n)
    pads = call.wholes("pads") or [0] * (2 * n)
    kind = call.choice("auto_pad", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", "")
    if not len(sizes) == len(strides) == len(dilations) == len(pads) // 2 == n:
        raise FormatError(f"The attributes of {call.op} are not for {n} axes.")
    if min((*strides, *dilations, *sizes), default=1) < 1:
        raise FormatError(f"{call.op} has a size, a stride or a dilation below 1.")
    if kind == "VALID":
        pads = [0] * (2 * n)
    found: Any = tuple(zip(pads, pads[n:], strict=False))
    if kind.startswith("SAME"):
        found = _same(extents, sizes, strides, dilations, kind)
    return Windows(sizes, strides, dilations, found)


def _same(extents: Any, sizes: Any, strides: Any, dilations: Any, kind: str) -> Pairs | str:
    """As many windows as strides fit into the extent, the odd element of padding on one side."""
    found: list[tuple[int, int]] = []
    for extent, size, stride, dilation in zip(extents, sizes, strides, dilations, strict=True):
        reach = (size - 1) * dilation + 1
        if stride == 1:
            total = reach - 1
        elif isinstance(extent, int):
            total = max((-(-extent // stride) - 1) * stride + reach - extent, 0)
        elif kind == "SAME_UPPER":
            return "same"
        else:
            raise FormatError(
                f"SAME_LOWER with the stride {stride} depends on the size of {extent}.",
                mend="Give that dimension a number with dims=.",
            )
        small, large = total // 2, total - total // 2
        found.append((small, large) if kind == "SAME_UPPER" else (large, small))
    return tuple(found)


def to_the_end(extents: tuple[int, ...], windows: Windows) -> Windows:
    """The windows with padding at the end, so that a last one that does not fit is there, too."""
    pads: list[tuple[int, int]] = []
    assert not isinstance(windows.pads, str)
    rows = zip(extents, *windows[:3], windows.pads, strict=True)
    for extent, size, stride, dilation, (before, after) in rows:
        reach = (size - 1) * dilation + 1
        whole = extent + before + after
        last = -((reach - whole) // stride) * stride
        if last < 0:
            raise FormatError(f"A window that reaches over {reach} does not fit into {whole}.")
        last -= stride if last >= extent + before else 0
        pads.append((before, after + max(last + reach - whole, 0)))
    return windows._replace(pads=tuple(pads))


class Covered(NamedTuple):
    """Which places of a padded image each window covers, as numbers in a row."""

    places: np.ndarray[Any, Any]
    """Of shape (elements of a window, windows)."""
    counts: tuple[int, ...]
    """How many windows lie along each axis."""
    extents: tuple[int, ...]
    """Of the padded image."""


def covered(call: Call, extents: tuple[int, ...], windows: Windows) -> Covered:
    """The places of all windows, for extents that are numbers."""
    assert not isinstance(windows.pads, str)
    padded = tuple([e + a + b for e, (a, b) in zip(extents, windows.pads, strict=True)])
    counts: list[int] = []
    for extent, size, stride, dilation in zip(padded, *windows[:3], strict=True):
        count = (extent - (size - 1) * dilation - 1) // stride + 1
        if count < 1:
            raise FormatError(f"No window of {size} elements fits into {extent}.")
        counts.append(count)
    call.runs.spend(math.prod((*windows.sizes, *counts)) + math.prod(padded))
    places = np.zeros((1, 1), np.int64)
    rows = zip(padded, counts, *windows[:3], strict=True)
    for extent, count, size, stride, dilation in rows:
        axis = dilation * np.arange(size)[:, None] + stride * np.arange(count)
        wide = places[:, None, :, None] * extent + axis[None, :, None, :]
        places = wide.reshape(wide.shape[0] * wide.shape[1], -1)
    return Covered(places, tuple(counts), padded)


def fixed_extents(call: Call, x: Tensor) -> tuple[int, ...]:
    """The spatial extents of images of shape (N, C, ...), which must be numbers."""
    found: list[int] = []
    for dim in x.shape[2:]:
        if not isinstance(dim, int):
            raise FormatError(
                f"{call.op} of {x.aval} depends on the size of {dim}.",
                mend="Give that dimension a number with dims=.",
            )
        found.append(dim)
    return tuple(found)
