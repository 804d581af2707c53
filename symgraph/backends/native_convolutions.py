"""Convolutions of images by compiled loops, where these are faster than products of columns.

These are images in two dimensions whose windows move by single columns. A product of columns costs
as much as the loops, and making the columns comes on top, which counts where filters are few. The
blocks of a loop must be filled: rows of vectors, channels of what is computed at once. All else
goes to `namespace.images`, as on the NumPy backend.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from ..namespace import Namespace, images
from ..native.convolutions import Blocks, convolution_module
from ..native.layouts import Numbers
from ..native.machine import functions, head_bytes, llvm_version, vector_bytes
from ..native.operations import kind_of
from ..native.writer import Machine

__all__ = ["NATIVE"]

_LEAST_WORK = 2**18
"""Multiplications of the smallest convolution: packing its weights takes some 20 microseconds."""
_MOST_FILTERS = 32
_LEAST_FILLED = 0.75
_LEAST_OF_ROWS = 0.8
_MOST_SUMS = 2**21
"""Bytes of the vectors in which the gradient of weights is summed up: they stay in the cache."""
_MOST_WIDE = 2**19
"""Bytes of images with zeros around them."""
_LONGEST_SUM = 2**10
"""Numbers that are added one to the other, before their sum is added in double precision."""


def convolution(
    xp: Any, x: Any, w: Any, strides: Any, dilations: Any, groups: int, out: Any = None
) -> Any:
    """As `images.convolution`."""
    counts = _counts(x, w, w.shape[-2:], strides, dilations, groups)
    if out is not None or counts is None or not _pays(w, counts, len(x), w.shape[0]):
        return images.convolution(xp, x, w, strides, dilations, groups, out)
    out = np.empty((len(x), len(w), *counts), x.dtype)
    _convolution_by(w, strides, dilations)(np.ascontiguousarray(x), out)
    return out


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
    """As `images.adjoint_convolution`: a convolution of `y` with zeros around it."""
    margins = [d * (size - 1) for d, size in zip(dilations, w.shape[-2:], strict=False)]
    if (
        out is not None
        or not (_are_images(y, w, groups) and tuple(strides) == (1, 1))
        or not _pays(w, extents, len(y), w.shape[1])
        or not np.isfinite(w).all()  # A zero times an infinite weight is NaN.
    ):
        return images.adjoint_convolution(xp, y, w, extents, strides, dilations, groups, out)
    rows, columns = [count + 2 * m for count, m in zip(y.shape[-2:], margins, strict=True)]
    some = max(1, _MOST_WIDE // (y.shape[1] * rows * columns * y.itemsize))
    wide = np.zeros((min(some, len(y)), y.shape[1], rows, columns), y.dtype)
    inside = wide[:, :, margins[0] : rows - margins[0], margins[1] : columns - margins[1]]
    convolve = _convolution_by(w[:, :, ::-1, ::-1].swapaxes(0, 1), (1, 1), dilations)
    out = np.empty((len(y), w.shape[1], *extents), y.dtype)
    for start in range(0, len(y), some):
        part = y[start : start + some]
        inside[: len(part)] = part
        convolve(wide[: len(part)], out[start : start + some])
    return out


def kernel_convolution(
    xp: Any, x: Any, y: Any, sizes: Any, strides: Any, dilations: Any, groups: int, out: Any = None
) -> Any:
    """As `images.kernel_convolution`."""
    counts = _counts(x, y, sizes, strides, dilations, groups)
    if out is not None or counts is None or not _correlation_pays(x, y, sizes):
        return images.kernel_convolution(xp, x, y, sizes, strides, dilations, groups, out)
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    blocks, _, correlate = _compiled(x.dtype)
    (count, outer), inner = y.shape[:2], x.shape[1]
    shape = (-(-outer // blocks.outer), -(-inner // blocks.inner), prod(sizes))
    taps = _taps(x, 1, sizes, dilations)
    rows, columns = counts
    some = max(1, _LONGEST_SUM // max(1, rows * -(-columns // blocks.lanes)))
    total = np.zeros((*shape, blocks.outer, blocks.inner))
    for start in range(0, count, some):
        sums = np.zeros((*total.shape, blocks.lanes), x.dtype)
        numbers = [min(some, count - start), *_steps(y), *_steps(x), rows, columns, shape[2]]
        numbers[6] *= strides[0]
        correlate(y[start:], x[start:], taps, sums, np.array([*numbers, outer, inner], np.int64))
        total += sums.sum(axis=-1, dtype=np.float64)
    found = total.transpose((0, 3, 1, 4, 2)).reshape(
        (shape[0] * blocks.outer, shape[1] * blocks.inner, *sizes)
    )
    return found[:outer, :inner].astype(x.dtype, order="C")


def _convolution_by(
    w: Numbers, strides: Sequence[int], dilations: Sequence[int]
) -> Callable[..., None]:
    """A function of images and results in row order that writes the convolution by `w`."""
    blocks, convolve, _ = _compiled(w.dtype)
    filters, channels = w.shape[:2]
    count = prod(w.shape[1:])
    packed = np.zeros((-(-filters // blocks.filters) * blocks.filters, count), w.dtype)
    packed[:filters] = w.reshape((filters, count))
    packed = packed.reshape((-1, blocks.filters, count)).transpose((0, 2, 1))
    packed = np.ascontiguousarray(packed)

    def call(x: Numbers, out: Numbers) -> None:
        taps = _taps(x, channels, w.shape[-2:], dilations)
        image, _, row = _steps(x)
        steps = [image, row * strides[0], filters, *_steps(out)]
        sizes = [len(x), *steps, *out.shape[-2:], count]
        convolve(x, packed, taps, out, np.array(sizes, np.int64))

    return call


def _are_images(x: Numbers, y: Numbers, groups: int) -> bool:
    """Whether arrays have the axes and the dtypes that loops are for."""
    alike = x.ndim == y.ndim == 4 and x.dtype == y.dtype and groups == 1
    return alike and kind_of(x.dtype) in ("f64", "f32")


def _counts(
    x: Numbers,
    y: Numbers,
    sizes: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    groups: int,
) -> tuple[int, ...] | None:
    """Rows and columns of windows; None where loops do not go."""
    if not _are_images(x, y, groups) or strides[-1] != 1:
        return None
    axes = zip(x.shape[-2:], sizes, strides, dilations, strict=True)
    return tuple([(extent - d * (size - 1) - 1) // s + 1 for extent, size, s, d in axes])


def _fills(count: int, block: int, least: float = _LEAST_FILLED) -> bool:
    """Whether little of the last block is empty."""
    return count >= least * -(-count // block) * block


def _pays(w: Numbers, counts: Sequence[int], images: int, channels: int) -> bool:
    """Whether a convolution that gives these rows, columns and channels is faster by loops."""
    blocks = _blocks(w.dtype)
    return (
        w.shape[0] <= _MOST_FILTERS
        and prod(w.shape[-2:]) > 1
        and images * w.size * prod(counts) >= _LEAST_WORK
        and _fills(channels, blocks.filters)
        and _fills(counts[-1], blocks.vectors * blocks.lanes, _LEAST_OF_ROWS)
    )


def _correlation_pays(x: Numbers, y: Numbers, sizes: Sequence[int]) -> bool:
    """The same for the gradient of weights."""
    blocks = _blocks(x.dtype)
    pairs = y.shape[1] * x.shape[1] * prod(sizes)
    return (
        y.shape[1] <= _MOST_FILTERS
        and prod(sizes) > 1
        and pairs * len(y) * prod(y.shape[-2:]) >= _LEAST_WORK
        and pairs * blocks.lanes * x.itemsize <= _MOST_SUMS
        and _fills(y.shape[1], blocks.outer)
        and _fills(x.shape[1], blocks.inner)
        and _fills(y.shape[-1], blocks.lanes, _LEAST_OF_ROWS)
    )


def _taps(x: Numbers, channels: int, sizes: Sequence[int], dilations: Sequence[int]) -> Numbers:
    """The offset of each tap from the first number of its window."""
    _, channel, row = _steps(x)
    lengths = (channels, *sizes)
    steps = (channel, row * dilations[0], dilations[1])
    return sum(
        np.arange(length).reshape([-1 if k == axis else 1 for k in range(3)]) * step
        for axis, (length, step) in enumerate(zip(lengths, steps, strict=True))
    ).reshape(-1)  # pyright: ignore[reportAttributeAccessIssue]


def _steps(x: Numbers) -> tuple[int, int, int]:
    """Numbers from an image, a channel and a row to the next, of an array in row order."""
    _, channels, rows, columns = x.shape
    return channels * rows * columns, rows * columns, columns


def _blocks(dtype: np.dtype[Any]) -> Blocks:
    return Blocks.of(kind_of(dtype) or "", vector_bytes())


@cache
def _compiled(dtype: np.dtype[Any]) -> tuple[Blocks, Callable[..., None], Callable[..., None]]:
    """The functions for a dtype, and their blocks."""
    blocks = _blocks(dtype)
    machine = Machine(llvm_version(), vector_bytes(), head_bytes())
    module = convolution_module(blocks, machine)
    return (blocks, *functions(module.text, module.names))


class _NativeNamespace(Namespace):
    """NumPy's functions, and convolutions of ours."""

    def __init__(self) -> None:
        super().__init__("numpy", "scipy.special")
        self._convolutions = _Convolutions


class _Convolutions:
    convolution = staticmethod(convolution)
    adjoint_convolution = staticmethod(adjoint_convolution)
    kernel_convolution = staticmethod(kernel_convolution)


NATIVE = _NativeNamespace()
