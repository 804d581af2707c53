"""Patterns of reverse mode: sums of broadcast cotangents, slices of embedded ones, and masks."""

from __future__ import annotations

from typing import Any

from symgraph.numpy import broadcast_to, multiply, negative, reshape, where
from symgraph.rewriting import (
    Array,
    Axes,
    Boolean,
    Flag,
    Identity,
    Index,
    Real,
    Shape,
    applied,
    number,
    provided,
    rule,
    static,
)


@static
def made_by_broadcasting(
    old: tuple[object, ...], new: tuple[object, ...], axis: tuple[int, ...]
) -> bool:
    """Whether broadcasting from `old` to `new` added or lengthened each of the axes."""
    return all(-each > len(old) or (old[each] == 1 and new[each] != 1) for each in axis)


@static
def element_count(shape: tuple[int, ...], axis: tuple[int, ...]) -> int:
    """The number of elements along the axes."""
    result = 1
    for each in axis:
        result = result * shape[each]
    return result


@rule(sound="rounding", measure="elements added")
def sum_of_broadcast(x: Array, shape: Shape, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\sum_{i=1}^n x = n x$, over axes along which x was broadcast, and no others."""
    repeated = broadcast_to(x, shape)
    whole = applied("sum", repeated, axis=axis, keepdims=keepdims)
    provided(made_by_broadcasting(x.shape, shape, axis))
    provided(x.shape == whole.shape)
    # An empty sum is 0, though x may be NaN.
    provided((axis != ()) & (element_count(shape, axis) != 0))
    return whole, multiply(x, number(element_count(shape, axis), whole.dtype))


@static
def without_axes(shape: tuple[object, ...], axis: tuple[int, ...]) -> tuple[object, ...]:
    """The lengths of all axes but some, which are counted from the last."""
    return tuple(each for at, each in enumerate(shape, -len(shape)) if at not in axis)


@rule(sound="rounding", measure="elements added")
def sum_of_lengthened(x: Array, shape: Shape, axis: Axes) -> Identity:
    r"""$\sum_{i=1}^n x_1 = n x_1$, over axes of length one along which x was broadcast."""
    whole = applied("sum", broadcast_to(x, shape), axis=axis, keepdims=False)
    provided(made_by_broadcasting(x.shape, shape, axis))
    provided((without_axes(x.shape, axis) == whole.shape) & (x.shape != whole.shape))
    # An empty sum is 0, though x may be NaN.
    provided(element_count(shape, axis) != 0)
    count = number(element_count(shape, axis), whole.dtype)
    return whole, multiply(reshape(x, whole.shape), count)


@static
def lengthened(
    old: tuple[object, ...], new: tuple[object, ...], axis: tuple[int, ...]
) -> tuple[int, ...]:
    """Those of the axes that broadcasting from `old` to `new` added or lengthened."""
    return tuple(each for each in axis if -each > len(old) or (old[each] == 1 and new[each] != 1))


@static
def axes_of(shape: tuple[object, ...], axis: tuple[int, ...]) -> tuple[int, ...]:
    """Those of the axes that an array of the shape has."""
    return tuple(each for each in axis if -each <= len(shape))


@rule(sound="rounding", measure="elements added")
def sum_of_partly_lengthened(x: Array, shape: Shape, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\sum_j \sum_{i=1}^n x_j = n \sum_j x_j$, where x was broadcast along some of the axes."""
    whole = applied("sum", broadcast_to(x, shape), axis=axis, keepdims=keepdims)
    made = lengthened(x.shape, shape, axis)
    once = applied("sum", x, axis=axes_of(x.shape, axis), keepdims=keepdims)
    provided((made != ()) & (made != axis) & (once.shape == whole.shape))
    # An empty sum is 0, though x may be NaN.
    provided(element_count(shape, made) != 0)
    return whole, multiply(once, number(element_count(shape, made), whole.dtype))


@rule(sound="exact", kink="everywhere: the slope is told")
def value_with_slope(x: Array, y: Real, slope: Real) -> Identity:
    """A value whose slope in y is told is that value."""
    return applied("with_slope", x, y, slope), x


@rule(sound="exact")
def slice_of_embedded(x: Array, shape: Shape, index: Index, again: Index) -> Identity:
    """An array that is embedded and read at the same index is that array."""
    placed = applied("embed", x, shape=shape, index=index)
    provided(index == again)
    return applied("getitem", placed, index=again), x


@rule(sound="exact")
def mask_of_mask(c: Boolean, x: Array) -> Identity:
    """A mask applied twice is the mask applied once."""
    return where(c, where(c, x, 0), 0), where(c, x, 0)


@static
def is_in_range(index: tuple[object, ...], shape: tuple[Any, ...]) -> bool:
    """Whether the integers of an index are in range for the last axes of a shape."""
    entries = [entry for entry in index if entry is not None]
    return all(
        isinstance(size, int) and -size <= entry < size
        for entry, size in zip(entries, shape[len(shape) - len(entries) :], strict=True)
        if isinstance(entry, int)
    )


@rule(sound="rounding", measure="operations above negations")
def embedded_negative(x: Real, shape: Shape, index: Index) -> Identity:
    """The embedded negative of an array is the negative of the embedded array."""
    placed = applied("embed", negative(x), shape=shape, index=index)
    provided(is_in_range(index, shape))
    return placed, negative(applied("embed", x, shape=shape, index=index))


@static
def takes_all(index: tuple[Any, ...], shape: tuple[Any, ...]) -> bool:
    """Whether an index takes all elements of the last axes of a shape, in order."""
    sizes = shape[len(shape) - len(index) :]
    return len(sizes) == len(index) and all(
        each in ((None, None, 1), (0, size, 1)) for each, size in zip(index, sizes, strict=True)
    )


@static
def reverses(index: tuple[Any, ...], shape: tuple[Any, ...]) -> bool:
    """Whether an index takes all elements of the last axes of a shape, some axes reversed."""
    sizes = shape[len(shape) - len(index) :]
    return len(sizes) == len(index) and all(
        each in ((None, None, 1), (None, None, -1))
        or (isinstance(size, int) and each == (size - 1, None, -1))
        for each, size in zip(index, sizes, strict=True)
    )


@static
def on_last_axes(index: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index with an ellipsis in front: it then applies to the last axes."""
    return (Ellipsis, *index)


@rule(sound="exact")
def embedded_everywhere(x: Array, shape: Shape, index: Index) -> Identity:
    """An array embedded in its own shape is that array."""
    provided(takes_all(index, shape))
    return applied("embed", x, shape=shape, index=index), x


@rule(sound="exact")
def embedded_backwards(x: Array, shape: Shape, index: Index) -> Identity:
    """An array that is embedded in its own shape backwards is the array read backwards."""
    provided(reverses(index, shape))
    placed = applied("embed", x, shape=shape, index=index)
    return placed, applied("getitem", x, index=on_last_axes(index))
