"""Reductions, scans along an axis, products, convolutions and windows of JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import ascii_letters
from typing import Any

from ..functions import f
from ..spelling import Refused, SpelledCall, Spelling, known, own, result

__all__ = ["REDUCTIONS"]


def _reduced(function: Callable[..., Any]) -> Spelling:
    return own(lambda x, *, axes: function(x, axis=tuple(axes)) if axes else x)


def _place(function: Callable[..., Any]) -> Spelling:
    def call(x: Any, *, axes: Sequence[int], index_dtype: Any) -> Any:
        (axis,) = axes
        return function(x, axis=axis)

    return own(call)


def _along(function: Callable[..., Any]) -> Spelling:
    def call(x: Any, *, axis: int, reverse: bool) -> Any:
        if not reverse:
            return function(x, axis=axis)
        return f.flip(function(f.flip(x, axis), axis=axis), axis)

    return own(call)


def _dot_general(x: Any, y: Any, *, dimension_numbers: Any) -> Any:
    (left, right), (left_batch, right_batch) = dimension_numbers
    if not left_batch and list(left) == [x.ndim - 1] and list(right) == [0] and y.ndim <= 2:
        return f.matmul(x, y)
    letters = iter(ascii_letters)
    one = [next(letters) for _ in range(x.ndim)]
    other = [next(letters) for _ in range(y.ndim)]
    for here, there in (*zip(left_batch, right_batch, strict=True), *zip(left, right, strict=True)):
        other[there] = one[here]
    out = [one[axis] for axis in left_batch]
    out += [each for axis, each in enumerate(one) if axis not in {*left_batch, *left}]
    out += [each for axis, each in enumerate(other) if axis not in {*right_batch, *right}]
    return f.einsum(f"{''.join(one)},{''.join(other)}->{''.join(out)}", x, y)


def _convolution(
    x: Any,
    w: Any,
    *,
    window_strides: Any,
    padding: Any,
    lhs_dilation: Any,
    rhs_dilation: Any,
    dimension_numbers: Any,
    feature_group_count: int,
    batch_group_count: int,
) -> Any:
    if batch_group_count != 1 or any(each != 1 for each in lhs_dilation):
        raise Refused("dilates its input or groups its batch")
    if any(side < 0 for pad in padding for side in pad):
        raise Refused("cuts off elements by negative padding")
    d = dimension_numbers
    found = f.conv(
        f.transpose(x, d.lhs_spec),
        f.transpose(w, d.rhs_spec),
        tuple(window_strides),
        [tuple(pad) for pad in padding],
        tuple(rhs_dilation),
        feature_group_count,
    )
    return f.moveaxis(found, tuple(range(found.ndim)), tuple(d.out_spec))


def _largest_of_windows(
    x: Any,
    *,
    window_dimensions: Any,
    window_strides: Any,
    padding: Any,
    base_dilation: Any,
    window_dilation: Any,
) -> Any:
    if any(each != 1 for each in base_dilation):
        raise Refused("dilates its input")
    pads = [tuple(pad) for pad in padding]
    return f.max_pool(x, window_dimensions, window_strides, pads, window_dilation)


def _least_of_windows(x: Any, **options: Any) -> Any:
    return -_largest_of_windows(-x, **options)


def _sum_of_windows(x: Any, *, window_dimensions: Any, **options: Any) -> Any:
    base, dilation = options["base_dilation"], options["window_dilation"]
    if any(each != 1 for each in base):
        raise Refused("dilates its input")
    pads = [tuple(pad) for pad in options["padding"]]
    size = 1
    for each in window_dimensions:
        size *= each
    mean = f.avg_pool(x, window_dimensions, options["window_strides"], pads, dilation)
    return mean * size


def _as_result(call: SpelledCall, x: Any, *, axes: Sequence[int]) -> Any:
    return f.sum(x, axis=tuple(axes), dtype=call.dtype) if axes else x


REDUCTIONS: dict[str, Spelling] = {
    "reduce_sum": known(_as_result),
    "reduce_prod": _reduced(f.prod),
    "reduce_max": _reduced(f.max),
    "reduce_min": _reduced(f.min),
    "reduce_and": _reduced(f.all),
    "reduce_or": _reduced(f.any),
    "argmax": _place(f.argmax),
    "argmin": _place(f.argmin),
    "cumsum": _along(f.cumsum),
    "cumprod": _along(f.cumprod),
    "cummax": _along(f.cummax),
    "cummin": _along(f.cummin),
    "cumlogsumexp": _along(f.logcumsumexp),
    "dot_general": result(_dot_general),
    "conv_general_dilated": result(_convolution),
    "reduce_window_max": own(_largest_of_windows),
    "reduce_window_min": own(_least_of_windows),
    "reduce_window_sum": own(_sum_of_windows),
}
