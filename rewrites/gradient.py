"""What reverse mode leaves behind: sums of repeated cotangents, slices of embedded ones, masks."""

from __future__ import annotations

from typing import Any

from symgraph.numpy import broadcast_to, multiply, negative, where
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
def only_repeated(old: tuple[object, ...], new: tuple[object, ...], axis: tuple[int, ...]) -> bool:
    """Whether broadcasting from `old` to `new` made each of the axes."""
    return all(-each > len(old) or (old[each] == 1 and new[each] != 1) for each in axis)


@static
def times(shape: tuple[int, ...], axis: tuple[int, ...]) -> int:
    """How many elements lie along the axes."""
    result = 1
    for each in axis:
        result = result * shape[each]
    return result


@rule(sound="rounding", measure="elements added")
def sum_of_broadcast(x: Array, shape: Shape, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\sum_{i=1}^n x = n x$, over axes that x was repeated along and no others."""
    repeated = broadcast_to(x, shape)
    whole = applied("sum", repeated, axis=axis, keepdims=keepdims)
    provided(only_repeated(x.shape, shape, axis))
    provided(x.shape == whole.shape)
    # Nothing sums to 0, though x may be NaN.
    provided((axis != ()) & (times(shape, axis) != 0))
    return whole, multiply(x, number(times(shape, axis), whole.dtype))


@rule(sound="exact")
def slice_of_embedded(x: Array, shape: Shape, index: Index, again: Index) -> Identity:
    """What is cut out where it was put in."""
    placed = applied("embed", x, shape=shape, index=index)
    provided(index == again)
    return applied("getitem", placed, index=again), x


@rule(sound="exact")
def mask_of_mask(c: Boolean, x: Array) -> Identity:
    """A mask applied twice."""
    return where(c, where(c, x, 0), 0), where(c, x, 0)


@static
def within(index: tuple[object, ...], shape: tuple[Any, ...]) -> bool:
    """Whether the whole numbers of an index lie within the last axes of a shape."""
    entries = [entry for entry in index if entry is not None]
    return all(
        isinstance(size, int) and -size <= entry < size
        for entry, size in zip(entries, shape[len(shape) - len(entries) :], strict=True)
        if isinstance(entry, int)
    )


@rule(sound="rounding", measure="operations above negations")
def embedded_negative(x: Real, shape: Shape, index: Index) -> Identity:
    """The sign of what is put among zeros may be taken afterwards."""
    placed = applied("embed", negative(x), shape=shape, index=index)
    provided(within(index, shape))
    return placed, negative(applied("embed", x, shape=shape, index=index))


@static
def everything(index: tuple[Any, ...], shape: tuple[Any, ...]) -> bool:
    """Whether an index takes all of the last axes of a shape, in order."""
    sizes = shape[len(shape) - len(index) :]
    return len(sizes) == len(index) and all(
        each in ((None, None, 1), (0, size, 1)) for each, size in zip(index, sizes, strict=True)
    )


@static
def reverses(index: tuple[Any, ...], shape: tuple[Any, ...]) -> bool:
    """Whether an index takes all of the last axes of a shape, some of them backwards."""
    sizes = shape[len(shape) - len(index) :]
    return len(sizes) == len(index) and all(
        each == (None, None, 1) or (isinstance(size, int) and each == (size - 1, None, -1))
        for each, size in zip(index, sizes, strict=True)
    )


@static
def trailing(index: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index, of the last axes."""
    return (Ellipsis, *index)


@rule(sound="exact")
def embedded_everywhere(x: Array, shape: Shape, index: Index) -> Identity:
    """What fills all the room needs none around it."""
    provided(everything(index, shape))
    return applied("embed", x, shape=shape, index=index), x


@rule(sound="exact")
def embedded_backwards(x: Array, shape: Shape, index: Index) -> Identity:
    """To put elements in reverse is to take them in reverse."""
    provided(reverses(index, shape))
    placed = applied("embed", x, shape=shape, index=index)
    return placed, applied("getitem", x, index=trailing(index))
