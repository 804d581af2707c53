"""Chains of reshape, transpose, broadcast, cast and slice, and those without effect."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgraph.numpy import absolute, broadcast_to, cast, negative, reshape, transpose
from symgraph.rewriting import (
    Array,
    DType,
    Identity,
    Index,
    Permutation,
    Real,
    Shape,
    applied,
    provided,
    rule,
    static,
)

from .selections import keeps_all


@static
def composed(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that applies `first` and then `second`."""
    return tuple(first[axis] for axis in second)


@static
def in_order(axes: tuple[int, ...]) -> bool:
    """Whether a permutation is the identity."""
    return axes == tuple(range(-len(axes), 0))


@static
def in_order_but_for_ones(axes: tuple[int, ...], shape: tuple[object, ...]) -> bool:
    """Whether a permutation moves only axes of length one: it is then a reshape."""
    return not in_order(axes) and list(axes_longer_than_one(axes, shape)) == sorted(
        axes_longer_than_one(axes, shape)
    )


def axes_longer_than_one(axes: tuple[int, ...], shape: tuple[object, ...]) -> tuple[int, ...]:
    """The axes that are not known to have length one, in order."""
    return tuple(axis for axis in axes if shape[axis] != 1)


@static
def lossless(start: np.dtype[Any], middle: np.dtype[Any]) -> bool:
    """Whether dtype `middle` holds every number of dtype `start`."""
    if start.kind in "iu" and middle.kind == "f":
        # NumPy calls int64 to float64 safe, though float64 does not hold 2**53 + 1.
        return 8 * start.itemsize <= np.finfo(middle).nmant
    return bool(np.can_cast(start, middle, "safe"))


@static
def whole(index: tuple[object, ...]) -> bool:
    """Whether an index takes all elements, in order."""
    return all(entry == (None, None, 1) for entry in index)


# -- reshape ---------------------------------------------------------------------------------------
@rule(sound="exact")
def reshape_of_reshape(x: Array, inner: Shape, outer: Shape) -> Identity:
    """Two reshapes are one reshape to the last shape."""
    return reshape(reshape(x, inner), outer), reshape(x, outer)


@rule(sound="exact")
def reshape_to_own_shape(x: Array, shape: Shape) -> Identity:
    """A reshape of an array to its own shape changes nothing."""
    provided(x.shape == shape)
    return reshape(x, shape), x


# -- transpose -------------------------------------------------------------------------------------
@rule(sound="exact")
def transpose_of_transpose(x: Array, first: Permutation, second: Permutation) -> Identity:
    """Two transposes are one, with the composed permutation."""
    return transpose(transpose(x, first), second), transpose(x, composed(first, second))


@rule(sound="exact")
def transpose_in_order(x: Array, axes: Permutation) -> Identity:
    """A transpose by the identity changes nothing."""
    provided(in_order(axes))
    return transpose(x, axes), x


@rule(sound="exact", measure="transposes")
def transpose_of_ones(x: Array, axes: Permutation) -> Identity:
    """Moving axes of length one is a reshape."""
    provided(in_order_but_for_ones(axes, x.shape))
    moved = transpose(x, axes)
    return moved, reshape(x, moved.shape)


# -- broadcast -------------------------------------------------------------------------------------
@rule(sound="exact")
def broadcast_of_broadcast(x: Array, inner: Shape, outer: Shape) -> Identity:
    """Two broadcasts are one broadcast to the last shape."""
    return broadcast_to(broadcast_to(x, inner), outer), broadcast_to(x, outer)


@rule(sound="exact")
def broadcast_to_own_shape(x: Array, shape: Shape) -> Identity:
    """A broadcast of an array to its own shape changes nothing."""
    provided(x.shape == shape)
    return broadcast_to(x, shape), x


@rule(sound="exact", measure="shapes above a repeated number")
def reshape_of_broadcast_number(x: Array, inner: Shape, outer: Shape) -> Identity:
    """A reshape of a broadcast number is a broadcast number."""
    provided(x.shape == ())
    return reshape(broadcast_to(x, inner), outer), broadcast_to(x, outer)


@rule(sound="exact", measure="shapes above a repeated number")
def transpose_of_broadcast_number(x: Array, shape: Shape, axes: Permutation) -> Identity:
    """A transpose of a broadcast number is a broadcast number."""
    moved = transpose(broadcast_to(x, shape), axes)
    provided(x.shape == ())
    return moved, broadcast_to(x, moved.shape)


@rule(sound="exact", measure="shapes above a repeated number")
def slice_of_broadcast_number(x: Array, shape: Shape, index: Index) -> Identity:
    """A slice of a broadcast number is a broadcast number."""
    part = applied("getitem", broadcast_to(x, shape), index=index)
    provided(x.shape == ())
    return part, broadcast_to(x, part.shape)


# -- cast ------------------------------------------------------------------------------------------
@rule(sound="exact")
def cast_to_own_dtype(x: Array, dtype: DType) -> Identity:
    """A cast of an array to its own dtype changes nothing."""
    provided(x.dtype == dtype)
    return applied("cast", x, dtype=dtype), x


@rule(sound="exact")
def cast_of_lossless_cast(x: Array, middle: DType, dtype: DType) -> Identity:
    """A cast through a dtype that holds every number of the first is one cast."""
    provided(lossless(x.dtype, middle))
    return applied("cast", applied("cast", x, dtype=middle), dtype=dtype), cast(x, dtype)


@static
def narrows(start: np.dtype[Any], dtype: np.dtype[Any]) -> bool:
    """Whether both dtypes are floating and `dtype` has fewer digits."""
    return start.kind == dtype.kind == "f" and dtype.itemsize < start.itemsize


@rule(sound="exact", measure="operations on wider numbers")
def negative_narrowed(x: Real, dtype: DType) -> Identity:
    """Negation and rounding commute."""
    provided(narrows(x.dtype, dtype))
    return applied("cast", negative(x), dtype=dtype), negative(cast(x, dtype))


@rule(sound="exact", measure="operations on wider numbers")
def absolute_narrowed(x: Real, dtype: DType) -> Identity:
    """The absolute value and rounding commute."""
    provided(narrows(x.dtype, dtype))
    return applied("cast", absolute(x), dtype=dtype), absolute(cast(x, dtype))


# -- slices ----------------------------------------------------------------------------------------
@static
def drops_axes_of_one(index: tuple[object, ...], shape: tuple[object, ...]) -> bool:
    """Whether an index takes all elements, and leaves out some axes of length one."""
    axes = [entry for entry in index if entry is not None]
    sizes = shape[len(shape) - len(axes) :]  # An index counts from the last axis.
    dropped = [size == 1 for at, size in zip(axes, sizes, strict=True) if isinstance(at, int)]
    rest = {entry for entry in axes if not isinstance(entry, int)}
    return bool(dropped) and all(dropped) and rest in (set(), {(None, None, 1)})


@rule(sound="exact", measure="slices")
def slice_of_axes_of_one(x: Array, index: Index) -> Identity:
    """An element of an axis of length one is all of it: x[:, 0] of one column is a reshape."""
    part = applied("getitem", x, index=index)
    provided(drops_axes_of_one(index, x.shape))
    return part, reshape(x, part.shape)


@rule(sound="exact", measure="slices")
def embedded_in_axes_of_one(x: Array, shape: Shape, index: Index) -> Identity:
    """An array embedded whole, but for axes of length one that come or go, is a reshape."""
    provided(keeps_all(index, shape))
    return applied("embed", x, shape=shape, index=index), reshape(x, shape)


@rule(sound="exact")
def slice_of_everything(x: Array, index: Index) -> Identity:
    """A slice of all elements changes nothing."""
    provided(whole(index))
    return applied("getitem", x, index=index), x
