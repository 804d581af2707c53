"""Writes at an index: what is read of them, writes over writes, and what is added among zeros."""

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
    provided,
    rule,
    static,
)

from .gradient import everything
from .indexing import at, joined, part, taken
from .known import DistinctPlaces, Places, Zeros
from .selections import covers, found, untouched, within_written


# -- writes to a slice -----------------------------------------------------------------------------
def written(x: Array, y: Array, index: tuple[Any, ...]) -> Array:
    """`x` with y at `index`."""
    return applied("assign", x, y, index=index)


@rule(sound="exact")
def all_written(x: Array, y: Array, index: Index) -> Identity:
    """Of what was there nothing is left."""
    whole = written(x, y, index)
    provided(everything(index, x.shape))
    return whole, broadcast_to(y, x.shape)


@rule(sound="exact")
def read_as_written(x: Array, y: Array, index: Index, again: Index) -> Identity:
    """What was written is read."""
    read = part(written(x, y, index), again)
    provided(index == again)
    return read, broadcast_to(y, read.shape)


@rule(sound="exact")
def read_beside_written(x: Array, y: Array, index: Index, other: Index) -> Identity:
    """What was not written is as it was."""
    read = part(written(x, y, index), other)
    provided(untouched(other, index, x.shape))
    return read, part(x, other)


@rule(sound="exact")
def read_inside_written(x: Array, y: Array, index: Index, other: Index) -> Identity:
    """Part of what was written is that part."""
    read = part(written(x, y, index), other)
    inside = within_written(other, index, x.shape)
    provided(found(inside))
    provided(part(x, index).shape == y.shape)
    return read, taken(y, inside)


@rule(sound="exact")
def written_twice(x: Array, y: Array, z: Array, index: Index, again: Index) -> Identity:
    """The last write counts."""
    provided(index == again)
    return written(written(x, y, index), z, again), written(x, z, again)


@rule(sound="exact")
def repeated_and_written(x: Array, y: Array, shape: Shape, index: Index) -> Identity:
    """A write repeats what it writes."""
    return written(x, broadcast_to(y, shape), index), written(x, y, index)


@rule(sound="rounding", measure="writes")
def written_among_zeros(x: Zeros, y: Real, index: Index) -> Identity:
    """Elements among zeros, in one spelling."""
    whole = written(x, y, index)
    provided(covers(index, x.shape))
    provided(part(x, index).shape == y.shape)
    return whole, applied("embed", y, shape=x.shape, index=index)


@static
def both(one: tuple[Any, ...], other: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    """The shape of two arrays joined along an axis; () if they have it not."""
    if not -axis <= len(one) == len(other):
        return ()
    total = one[axis] + other[axis]
    return tuple(total if place - len(one) == axis else dim for place, dim in enumerate(one))


@static
def front(one: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    """Where the first of two arrays stands in their join."""
    if -axis > len(one):
        return ()
    places = range(-len(one), 0)
    return tuple((0, one[axis], 1) if place == axis else (None, None, 1) for place in places)


@static
def back(one: tuple[Any, ...], other: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    """Where the second of two arrays stands in their join."""
    if not -axis <= len(one) == len(other):
        return ()
    start, stop = one[axis], one[axis] + other[axis]
    places = range(-len(one), 0)
    return tuple((start, stop, 1) if place == axis else (None, None, 1) for place in places)


def _at_front(x: Array, y: Array, axis: int) -> Array:
    shape = both(x.shape, y.shape, axis)
    return applied("embed", x, shape=shape, index=front(x.shape, axis))


def _at_back(x: Array, y: Array, axis: int) -> Array:
    shape = both(x.shape, y.shape, axis)
    return applied("embed", y, shape=shape, index=back(x.shape, y.shape, axis))


@rule(sound="rounding")
def sum_of_front_and_back(x: Real, y: Real) -> Identity:
    """Two parts among zeros that fill all the room are a join."""
    whole = _at_front(x, y, -1) + _at_back(x, y, -1)
    provided(x.ndim >= 1)
    return whole, joined(x, y, axis=-1)


@rule(sound="rounding")
def sum_of_upper_and_lower(x: Real, y: Real) -> Identity:
    """The same for rows."""
    whole = _at_front(x, y, -2) + _at_back(x, y, -2)
    provided(x.ndim >= 2)
    return whole, joined(x, y, axis=-2)


@rule(sound="rounding")
def front_less_back(x: Real, y: Real) -> Identity:
    """The same, where the second part is taken away."""
    whole = _at_front(x, y, -1) - _at_back(x, y, -1)
    provided(x.ndim >= 1)
    return whole, joined(x, -y, axis=-1)


@rule(sound="rounding")
def back_less_front(x: Real, y: Real) -> Identity:
    """The same, where the first part is taken away."""
    whole = _at_back(x, y, -1) - _at_front(x, y, -1)
    provided(x.ndim >= 1)
    return whole, joined(-x, y, axis=-1)


@rule(sound="rounding")
def upper_less_lower(x: Real, y: Real) -> Identity:
    """The same for rows."""
    whole = _at_front(x, y, -2) - _at_back(x, y, -2)
    provided(x.ndim >= 2)
    return whole, joined(x, -y, axis=-2)


@rule(sound="rounding")
def lower_less_upper(x: Real, y: Real) -> Identity:
    """The same for rows."""
    whole = _at_back(x, y, -2) - _at_front(x, y, -2)
    provided(x.ndim >= 2)
    return whole, joined(-x, y, axis=-2)


# -- writes to known places ------------------------------------------------------------------------
def put(x: Array, y: Array, i: Array) -> Array:
    """`x` with y at places along the last axis."""
    return applied("scatter_set", x, y, i)


@building
def _read_of_put(x: Array, y: Array, i: Array, j: Array) -> Array:
    """Places that were all written, or none of them."""
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
    """Places that were written hold what was written, others what they held."""
    return at(put(x, y, i), j, -1), _read_of_put(x, y, i, j)


@rule(sound="exact")
def put_twice(x: Array, y: Array, z: Array, i: Array) -> Identity:
    """The last write counts."""
    return put(put(x, y, i), z, i), put(x, z, i)


@rule(sound="rounding")
def put_what_was_there_and_more(x: Real, y: Real, i: DistinctPlaces) -> Identity:
    """To write what was there and more, at places that differ, is to add."""
    whole = put(x, at(x, i, -1) + y, i)
    provided(at(x, i, -1).shape == y.shape)
    return whole, applied("scatter_add", x, y, i, axis=-1)


@rule(sound="rounding")
def nothing_added_at_places(x: Real, y: Zeros, i: Integer, axis: Axis) -> Identity:
    """Zeros add nothing."""
    return applied("scatter_add", x, y, i, axis=axis), x


@rule(sound="rounding")
def plus_what_was_added_to_zeros(x: Real, o: Zeros, y: Real, i: Integer, axis: Axis) -> Identity:
    """What was added to zeros is added to the array itself."""
    added = applied("scatter_add", o, y, i, axis=axis)
    provided(x.shape == o.shape)
    return x + added, applied("scatter_add", x, y, i, axis=axis)


@rule(sound="rounding")
def read_of_added_to_zeros(o: Zeros, y: Real, i: DistinctPlaces, axis: Axis) -> Identity:
    """What was added to zeros, at places that differ, is read."""
    read = at(applied("scatter_add", o, y, i, axis=axis), i, axis)
    return read, broadcast_to(y, read.shape)
