"""Resizing: along each axis a matrix of weights, or a choice of elements."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .... import numpy as snp
from ....errors import FormatError
from ..call import Call, Tensor
from ..registry import operator

__all__: list[str] = []

_MOST = 2**14
"""The largest size of an axis whose places are listed."""


class _Axis(NamedTuple):
    """One axis: its size before and after, their quotient, and the part that is looked at."""

    before: int
    after: int
    scale: float
    part: tuple[float, float] = (0.0, 1.0)


class _How(NamedTuple):
    mode: str
    nearest: str
    coordinates: str
    cubic: float
    antialias: bool
    exclude_outside: bool


@operator("Upsample", since=7)
def upsample(call: Call, x: Tensor, _scales: Tensor | None = None) -> Tensor:
    scales = call.list("scales") if call.version < 9 else call.numbers(1, "scales").ravel().tolist()
    how = _how(call.choice("mode", "nearest", "linear", "bilinear"))
    return _resized(call, x, _by_scales(call, x, range(x.ndim), scales or []), how, 0.0)


@operator("Resize", since=10, until=10)
def resize_by_scales(call: Call, x: Tensor, _scales: Tensor) -> Tensor:
    how = _how(call.choice("mode", "nearest", "linear", "bilinear"))
    scales = call.numbers(1, "scales").ravel().tolist()
    return _resized(call, x, _by_scales(call, x, range(x.ndim), scales), how, 0.0)


def _how(mode: str) -> _How:
    """The older operators: an element of the result reads at its own place over the scale."""
    kind = "nearest" if mode == "nearest" else "linear"
    return _How(kind, "floor", "asymmetric", 0.0, False, False)


@operator("Resize", since=11)
def resize(
    call: Call,
    x: Tensor,
    roi: Tensor | None = None,
    scales: Tensor | None = None,
    sizes: Tensor | None = None,
) -> Tensor:
    how = _How(
        call.choice("mode", "nearest", "linear", "cubic"),
        call.choice("nearest_mode", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
        call.text("coordinate_transformation_mode", "half_pixel"),
        call.real("cubic_coeff_a", -0.75),
        call.flag("antialias"),
        call.flag("exclude_outside"),
    )
    chosen = [axis % x.ndim for axis in call.wholes("axes") or range(x.ndim)]
    policy = call.choice("keep_aspect_ratio_policy", "stretch", "not_larger", "not_smaller")
    by_sizes = sizes is not None and sizes.shape != (0,)
    if by_sizes:
        axes = _by_sizes(call, x, chosen, call.ints(3, "sizes"), policy)
    else:
        given = [] if scales is None else call.numbers(2, "scales").ravel().tolist()
        axes = _by_scales(call, x, chosen, given)
    if how.coordinates == "tf_crop_and_resize" and roi is not None:
        parts = call.numbers(1, "region").ravel().tolist()
        ends = zip(chosen, zip(parts, parts[len(chosen) :], strict=False), strict=True)
        axes = {axis: axes[axis]._replace(part=part) for axis, part in ends}
    return _resized(call, x, axes, how, call.real("extrapolation_value"))


def _extents(call: Call, x: Tensor, chosen: Any, count: int) -> list[int]:
    """The sizes of the chosen axes, which must be numbers."""
    extents = [x.shape[axis] for axis in chosen]
    if len(extents) != count:
        raise FormatError(f"{call.op} of {x.aval} is given {count} sizes or scales.")
    return [each if isinstance(each, int) else -1 for each in extents]


def _by_scales(call: Call, x: Tensor, chosen: Any, scales: list[float]) -> dict[int, _Axis]:
    """The result has the sizes rounded down."""
    extents = _extents(call, x, chosen, len(scales))
    return {
        axis: _Axis(extent, math.floor(extent * scale), scale)
        for axis, extent, scale in zip(chosen, extents, scales, strict=True)
        if scale != 1 or extent >= 0
    }


def _by_sizes(
    call: Call, x: Tensor, chosen: Any, sizes: list[int], policy: str
) -> dict[int, _Axis]:
    extents = _extents(call, x, chosen, len(sizes))
    scales = [size / extent for size, extent in zip(sizes, extents, strict=True)]
    if policy != "stretch":
        one = min(scales) if policy == "not_larger" else max(scales)
        scales = [one] * len(scales)
        sizes = [math.floor(one * extent + 0.5) for extent in extents]
    rows = zip(chosen, extents, sizes, scales, strict=True)
    return {axis: _Axis(extent, size, scale) for axis, extent, size, scale in rows}


def _resized(call: Call, x: Tensor, axes: dict[int, _Axis], how: _How, outside: float) -> Tensor:
    crops = how.coordinates == "tf_crop_and_resize"
    for number, axis in axes.items():
        if axis.before == axis.after and axis.scale == 1 and not crops:
            continue
        if axis.before < 0 or max(axis.before, axis.after) > _MOST:
            raise FormatError(
                f"Axis {number} of {x.aval} cannot be resized: its size must be known, and at most "
                f"{_MOST:,}.",
                mend="Give a named dimension a number with dims=.",
            )
        call.runs.spend(axis.after * (1 if how.mode == "nearest" else axis.before))
        places = _places(axis, how.coordinates)
        x = _along(x, number, axis, places, how)
        beyond = (places < 0) | (places > axis.before - 1)
        if crops and beyond.any():
            shape = [-1 if a == number else 1 for a in range(x.ndim)]
            x = np.where(beyond.reshape(shape), np.asarray(outside, x.dtype), x)
    return x


def _places(axis: _Axis, coordinates: str) -> np.ndarray[Any, Any]:
    """Where in the axis before each element of the axis after reads."""
    y = np.arange(axis.after, dtype=np.float64)
    length, width = axis.before, axis.scale * axis.before
    start, end = axis.part
    if coordinates == "asymmetric":
        return y / axis.scale
    if coordinates == "align_corners":
        return y * 0 if width == 1 else y * (length - 1) / (width - 1)
    if coordinates == "tf_crop_and_resize":
        if width == 1:
            return y * 0 + (start + end) * (length - 1) / 2
        return start * (length - 1) + y * (end - start) * (length - 1) / (width - 1)
    centers = (y + 0.5) / axis.scale - 0.5
    if coordinates == "half_pixel":
        return centers
    if coordinates == "half_pixel_symmetric":
        return centers + length / 2 * (1 - axis.after / width)
    if coordinates == "pytorch_half_pixel":
        return centers if axis.after > 1 else y * 0
    raise FormatError(f"coordinate_transformation_mode={coordinates!r} of Resize is not known.")


def _along(x: Tensor, number: int, axis: _Axis, places: Any, how: _How) -> Tensor:
    if how.mode == "nearest":
        rounding = {
            "floor": np.floor,
            "ceil": np.ceil,
            "round_prefer_floor": lambda at: np.ceil(at - 0.5),
            "round_prefer_ceil": lambda at: np.floor(at + 0.5),
        }[how.nearest]
        chosen = np.clip(rounding(places), 0, axis.before - 1).astype(np.int64)
        return np.take(x, chosen, axis=number)
    weights = _weights(axis, places, how)
    moved = np.moveaxis(x, number, -1)
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
    found = np.matmul(moved.astype(dtype), snp.asarray(weights.T.astype(dtype)))
    return np.moveaxis(found.astype(x.dtype), -1, number)


def _weights(axis: _Axis, places: Any, how: _How) -> np.ndarray[Any, Any]:
    """A row for each element of the result: the weights of the elements that it is made of."""
    reach = 1 if how.mode == "linear" else 2
    shrink = min(axis.scale, 1.0) if how.antialias else 1.0
    steps = math.ceil(reach / shrink)
    around = np.floor(places)[:, None] + np.arange(1 - steps, steps + 1)
    gaps = np.abs(around - places[:, None]) * shrink
    weights = np.clip(1 - gaps, 0, None) if how.mode == "linear" else _cubic(gaps, how.cubic)
    if how.exclude_outside:
        weights = np.where((around < 0) | (around > axis.before - 1), 0, weights)
    if how.exclude_outside or how.antialias:
        weights = weights / weights.sum(axis=1, keepdims=True)
    found = np.zeros((axis.after, axis.before))
    columns = np.clip(around, 0, axis.before - 1).astype(np.int64)
    np.add.at(found, (np.arange(axis.after)[:, None], columns), weights)
    return found


def _cubic(gap: Any, a: float) -> Any:
    """R. Keys' kernel of cubic convolution (1981)."""
    near = ((a + 2) * gap - (a + 3)) * gap * gap + 1
    far = ((gap - 5) * gap + 8) * gap * a - 4 * a
    return np.where(gap <= 1, near, np.where(gap < 2, far, 0))
