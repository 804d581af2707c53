"""Writes at an index: reads after them, writes over writes, and additions to zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgraph import constant
from symgraph.numpy import broadcast_to, gather
from symgraph.rewriting import (
    Array,
    Axis,
    Identity,
    Index,
    Integer,
    Real,
    Shape,
    applied,
    building,
    number,
    provided,
    rule,
    static,
)

from .gradient import takes_all
from .indexing import at, joined, part, taken
from .known import DistinctPlaces, Places, Zeros
from .selections import covers, found, is_disjoint, within_written


# -- writes to a slice -----------------------------------------------------------------------------
def written(x: Array, y: Array, index: tuple[Any, ...]) -> Array:
    """The array `x` with `y` written at `index`."""
    return applied("assign", x, y, index=index)


@rule(sound="exact")
def all_written(x: Array, y: Array, index: Index) -> Identity:
    """A write to all elements leaves nothing of the array."""
    whole = written(x, y, index)
    provided(takes_all(index, x.shape))
    return whole, broadcast_to(y, x.shape)


@rule(sound="exact")
def read_as_written(x: Array, y: Array, index: Index, again: Index) -> Identity:
    """A read at the index of a write gives the written value."""
    read = part(written(x, y, index), again)
    provided(index == again)
    return read, broadcast_to(y, read.shape)


@rule(sound="exact")
def read_beside_written(x: Array, y: Array, index: Index, other: Index) -> Identity:
    """A read beside a write gives the old elements."""
    read = part(written(x, y, index), other)
    provided(is_disjoint(other, index, x.shape))
    return read, part(x, other)


@rule(sound="exact")
def read_inside_written(x: Array, y: Array, index: Index, other: Index) -> Identity:
    """A read inside a write gives a part of the written value."""
    read = part(written(x, y, index), other)
    inside = within_written(other, index, x.shape)
    provided(found(inside))
    provided(part(x, index).shape == y.shape)
    return read, taken(y, inside)


@rule(sound="exact")
def read_inside_embedded(x: Array, shape: Shape, index: Index, other: Index) -> Identity:
    """A read inside the place where an array is embedded gives a part of that array."""
    read = part(applied("embed", x, shape=shape, index=index), other)
    inside = within_written(other, index, shape)
    provided(found(inside))
    return read, taken(x, inside)


@rule(sound="exact")
def read_beside_embedded(x: Array, shape: Shape, index: Index, other: Index) -> Identity:
    """A read beside the place where an array is embedded gives zeros."""
    read = part(applied("embed", x, shape=shape, index=index), other)
    provided(is_disjoint(other, index, shape))
    return read, broadcast_to(number(0, read.dtype), read.shape)


@rule(sound="exact")
def written_twice(x: Array, y: Array, z: Array, index: Index, again: Index) -> Identity:
    """Of two writes at one index, only the last one counts."""
    provided(index == again)
    return written(written(x, y, index), z, again), written(x, z, again)


@rule(sound="exact")
def read_and_written_back(x: Array, index: Index, again: Index) -> Identity:
    """Writing back a value at the index where it was read changes nothing."""
    provided(index == again)
    return written(x, part(x, again), index), x


@rule(sound="rounding", measure="writes")
def embedded_where_zeros_were_written(
    x: Real, o: Zeros, y: Real, shape: Shape, index: Index, again: Index
) -> Identity:
    """Adding a value where zeros were written is writing the value there."""
    whole = written(x, o, index) + applied("embed", y, shape=shape, index=again)
    provided((index == again) & (shape == x.shape))
    return whole, written(x, y, index)


@rule(sound="exact")
def repeated_and_written(x: Array, y: Array, shape: Shape, index: Index) -> Identity:
    """A write broadcasts its value itself."""
    return written(x, broadcast_to(y, shape), index), written(x, y, index)


@rule(sound="rounding", measure="writes")
def written_among_zeros(x: Zeros, y: Real, index: Index) -> Identity:
    """A write into zeros is an embedding: one form for both."""
    whole = written(x, y, index)
    provided(covers(index, x.shape))
    provided(part(x, index).shape == y.shape)
    return whole, applied("embed", y, shape=x.shape, index=index)


@static
def joined_shape(one: tuple[Any, ...], other: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    """The shape of two arrays concatenated along an axis; () if they lack that axis."""
    if not -axis <= len(one) == len(other):
        return ()
    total = one[axis] + other[axis]
    return tuple(total if place - len(one) == axis else dim for place, dim in enumerate(one))


@static
def front_index(one: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    """The index of the first of two arrays in their concatenation."""
    if -axis > len(one):
        return ()
    places = range(-len(one), 0)
    return tuple((0, one[axis], 1) if place == axis else (None, None, 1) for place in places)


@static
def back_index(one: tuple[Any, ...], other: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    """The index of the second of two arrays in their concatenation."""
    if not -axis <= len(one) == len(other):
        return ()
    start, stop = one[axis], one[axis] + other[axis]
    places = range(-len(one), 0)
    return tuple((start, stop, 1) if place == axis else (None, None, 1) for place in places)


def _at_front(x: Array, y: Array, axis: int) -> Array:
    shape = joined_shape(x.shape, y.shape, axis)
    return applied("embed", x, shape=shape, index=front_index(x.shape, axis))


def _at_back(x: Array, y: Array, axis: int) -> Array:
    shape = joined_shape(x.shape, y.shape, axis)
    return applied("embed", y, shape=shape, index=back_index(x.shape, y.shape, axis))


@rule(sound="rounding")
def sum_of_front_and_back(x: Real, y: Real) -> Identity:
    """The sum of two embedded arrays that together fill the shape is their concatenation."""
    whole = _at_front(x, y, -1) + _at_back(x, y, -1)
    provided(x.ndim >= 1)
    return whole, joined(x, y, axis=-1)


@rule(sound="rounding")
def sum_of_upper_and_lower(x: Real, y: Real) -> Identity:
    """As `sum_of_front_and_back`, for rows."""
    whole = _at_front(x, y, -2) + _at_back(x, y, -2)
    provided(x.ndim >= 2)
    return whole, joined(x, y, axis=-2)


@rule(sound="rounding")
def front_less_back(x: Real, y: Real) -> Identity:
    """As `sum_of_front_and_back`, with the second array subtracted."""
    whole = _at_front(x, y, -1) - _at_back(x, y, -1)
    provided(x.ndim >= 1)
    return whole, joined(x, -y, axis=-1)


@rule(sound="rounding")
def back_less_front(x: Real, y: Real) -> Identity:
    """As `sum_of_front_and_back`, with the first array subtracted."""
    whole = _at_back(x, y, -1) - _at_front(x, y, -1)
    provided(x.ndim >= 1)
    return whole, joined(-x, y, axis=-1)


@rule(sound="rounding")
def upper_less_lower(x: Real, y: Real) -> Identity:
    """As `front_less_back`, for rows."""
    whole = _at_front(x, y, -2) - _at_back(x, y, -2)
    provided(x.ndim >= 2)
    return whole, joined(x, -y, axis=-2)


@rule(sound="rounding")
def lower_less_upper(x: Real, y: Real) -> Identity:
    """As `back_less_front`, for rows."""
    whole = _at_back(x, y, -2) - _at_front(x, y, -2)
    provided(x.ndim >= 2)
    return whole, joined(-x, y, axis=-2)


# -- writes to constant places ---------------------------------------------------------------------
def put(x: Array, y: Array, i: Array) -> Array:
    """The array `x` with `y` written at places along the last axis."""
    return applied("scatter_set", x, y, i)


@building
def _read_of_put(x: Array, y: Array, i: Array, j: Array) -> Array:
    """A read at places that were all written, or none of them; declined for others."""
    written_at, read_at = i.node.params["value"], j.node.params["value"]
    provided(written_at.ndim == read_at.ndim == 1 and not np.any(read_at < 0))
    place = {each: number for number, each in enumerate(written_at.tolist())}
    met = [place.get(each) for each in read_at.tolist()]
    provided(all(each is None for each in met) or None not in met)
    if None in met or not met:
        return gather(x, j, axis=-1)
    provided(y.ndim == x.ndim and y.shape[-1] == len(place))
    return gather(y, constant(np.array(met), i.dtype), axis=-1)


@rule(sound="exact")
def read_of_put(x: Array, y: Array, i: DistinctPlaces, j: Places) -> Identity:
    """A read gives the new elements at written places, and the old ones at others."""
    return at(put(x, y, i), j, -1), _read_of_put(x, y, i, j)


@rule(sound="exact")
def put_twice(x: Array, y: Array, z: Array, i: Array) -> Identity:
    """Of two writes at the same places, only the last one counts."""
    return put(put(x, y, i), z, i), put(x, z, i)


@rule(sound="rounding")
def put_what_was_there_and_more(x: Real, y: Real, i: DistinctPlaces) -> Identity:
    """Writing the old elements plus others, at distinct places, is adding the others."""
    whole = put(x, at(x, i, -1) + y, i)
    provided(at(x, i, -1).shape == y.shape)
    return whole, applied("scatter_add", x, y, i, axis=-1)


@rule(sound="rounding")
def nothing_added_at_places(x: Real, y: Zeros, i: Integer, axis: Axis) -> Identity:
    """Adding zeros at places changes nothing."""
    return applied("scatter_add", x, y, i, axis=axis), x


@rule(sound="rounding")
def plus_what_was_added_to_zeros(x: Real, o: Zeros, y: Real, i: Integer, axis: Axis) -> Identity:
    """Adding an array of zeros with additions is making the additions directly."""
    added = applied("scatter_add", o, y, i, axis=axis)
    provided(x.shape == o.shape)
    return x + added, applied("scatter_add", x, y, i, axis=axis)


@rule(sound="rounding")
def read_of_added_to_zeros(o: Zeros, y: Real, i: DistinctPlaces, axis: Axis) -> Identity:
    """A read of values added to zeros at distinct places gives those values."""
    read = at(applied("scatter_add", o, y, i, axis=axis), i, axis)
    return read, broadcast_to(y, read.shape)
