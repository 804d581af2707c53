"""Indices of indexed and of concatenated arrays; constant places that are slices."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgraph import constant
from symgraph.numpy import broadcast_to, gather, matmul, reshape, transpose
from symgraph.rewriting import (
    Array,
    Axis,
    Finite,
    Identity,
    Index,
    Permutation,
    Real,
    Shape,
    applied,
    building,
    provided,
    rule,
    static,
)

from .known import Places, SelectingColumns, SelectingRows
from .selections import (
    composed,
    found,
    keeps_all,
    of_broadcast,
    of_piece,
    of_reshaped,
    of_transposed,
    remaining_order,
    reshaped,
)


def part(x: Array, index: tuple[Any, ...]) -> Array:
    """`x[index]`, for an index that is already in the form of `selections`."""
    return applied("getitem", x, index=index)


def joined(*pieces: Array, axis: int) -> Array:
    """Arrays concatenated along an axis."""
    return applied("concatenate", *pieces, axis=axis)


@building
def taken(x: Array, index: tuple[Any, ...] | None) -> Array:
    """`x[index]`."""
    return x[index]


# -- slices ----------------------------------------------------------------------------------------
@rule(sound="exact")
def part_of_part(x: Array, first: Index, second: Index) -> Identity:
    """Two indices combine into one."""
    index = composed(first, second, x.shape)
    provided(found(index))
    return part(part(x, first), second), taken(x, index)


@rule(sound="exact")
def reshape_of_all(x: Array, index: Index, shape: Shape) -> Identity:
    """A reshape makes earlier changes of axes of length one redundant."""
    provided(keeps_all(index, x.shape))
    return reshape(part(x, index), shape), reshape(x, shape)


@rule(sound="exact")
def all_of_reshape(x: Array, index: Index, shape: Shape) -> Identity:
    """Adding or dropping axes of length one after a reshape is one reshape."""
    whole = part(reshape(x, shape), index)
    provided(keeps_all(index, shape))
    return whole, reshape(x, whole.shape)


@rule(sound="exact")
def part_of_reshape(x: Array, shape: Shape, index: Index) -> Identity:
    """An index adds or drops the axes of length one that a reshape before it adds or drops."""
    whole = part(reshape(x, shape), index)
    inside = of_reshaped(index, x.shape, shape)
    provided(found(inside))
    return whole, taken(x, inside)


@rule(sound="exact")
def reshape_of_part(x: Array, index: Index, shape: Shape) -> Identity:
    """An index adds or drops the axes of length one that a reshape after it adds or drops."""
    taking = part(x, index)
    inside = reshaped(index, x.shape, taking.shape, shape)
    provided(found(inside))
    return reshape(taking, shape), taken(x, inside)


@static
def is_part(index: tuple[object, ...]) -> bool:
    """Whether an index leaves something out."""
    return any(entry != (None, None, 1) for entry in index)


@rule(sound="exact", measure="transposes below slices")
def part_of_transpose(x: Array, axes: Permutation, index: Index) -> Identity:
    """A part of a transpose is the transpose of a part."""
    inside = of_transposed(index, axes)
    provided(is_part(index) & found(inside))
    return part(transpose(x, axes), index), transpose(
        taken(x, inside), remaining_order(index, axes)
    )


@rule(sound="exact", measure="broadcasts below slices")
def part_of_broadcast(x: Array, shape: Shape, index: Index) -> Identity:
    """A part of a broadcast array is the broadcast of a part."""
    whole = part(broadcast_to(x, shape), index)
    inside = of_broadcast(index, x.shape, shape)
    provided(is_part(index) & (x.ndim != 0) & found(inside))
    return whole, broadcast_to(taken(x, inside), whole.shape)


@static
def adds_in_front(index: tuple[Any, ...]) -> bool:
    """Whether an index only adds axes in front."""
    rest = [entry for entry in index if entry is not None]
    front = index[: len(index) - len(rest)]
    return all(entry == (None, None, 1) for entry in rest) and not any(front) and bool(front)


@rule(sound="exact")
def repeated_with_axes_in_front(x: Array, index: Index, shape: Shape) -> Identity:
    """Axes need not be added in front before a broadcast: it adds them itself."""
    provided(adds_in_front(index))
    return broadcast_to(part(x, index), shape), broadcast_to(x, shape)


@rule(sound="exact")
def axes_in_front_of_repeated(x: Array, shape: Shape, index: Index) -> Identity:
    """Axes added in front of a broadcast array are part of a broadcast."""
    whole = part(broadcast_to(x, shape), index)
    provided(adds_in_front(index))
    return whole, broadcast_to(x, whole.shape)


# -- joins -----------------------------------------------------------------------------------------
@building
def _of_pieces(*pieces: Array, chosen: Any) -> Array:
    number, index = chosen
    return pieces[number][index]


@rule(sound="exact")
def join_of_one(x: Array, axis: Axis) -> Identity:
    """A concatenation of one array is that array."""
    return joined(x, axis=axis), x


@rule(sound="exact")
def nothing_joined_to(x: Array, y: Array, axis: Axis) -> Identity:
    """An empty first array adds nothing to a concatenation."""
    whole = joined(x, y, axis=axis)
    provided(x.shape[axis] == 0)
    return whole, y


@rule(sound="exact")
def joined_to_nothing(x: Array, y: Array, axis: Axis) -> Identity:
    """An empty second array adds nothing to a concatenation."""
    whole = joined(x, y, axis=axis)
    provided(y.shape[axis] == 0)
    return whole, x


@rule(sound="exact")
def join_of_first_join(x: Array, y: Array, z: Array, axis: Axis) -> Identity:
    """Two concatenations along one axis are one."""
    return joined(joined(x, y, axis=axis), z, axis=axis), joined(x, y, z, axis=axis)


@rule(sound="exact")
def join_of_second_join(x: Array, y: Array, z: Array, axis: Axis) -> Identity:
    """Two concatenations along one axis are one."""
    return joined(x, joined(y, z, axis=axis), axis=axis), joined(x, y, z, axis=axis)


@static
def fills(
    one: tuple[Any, ...],
    other: tuple[Any, ...],
    wide: tuple[Any, ...],
    broad: tuple[Any, ...],
    axis: int,
) -> bool:
    """Whether two arrays were broadcast only along axes other than the axis of concatenation."""
    if not -axis <= len(one) == len(other):
        return False
    rest = [(a, b) for n, (a, b) in enumerate(zip(one, other, strict=True)) if n - len(one) != axis]
    kept = (one[axis], other[axis]) == (wide[axis], broad[axis])
    return kept and all(a == b for a, b in rest)


@rule(sound="exact", measure="broadcasts below joins")
def join_of_repeated(x: Array, y: Array, one: Shape, other: Shape, axis: Axis) -> Identity:
    """Arrays broadcast along other axes can be concatenated before the broadcast."""
    whole = joined(broadcast_to(x, one), broadcast_to(y, other), axis=axis)
    provided(fills(x.shape, y.shape, one, other, axis))
    return whole, broadcast_to(joined(x, y, axis=axis), whole.shape)


@rule(sound="exact")
def part_of_join(x: Array, y: Array, axis: Axis, index: Index) -> Identity:
    """An index into one of two concatenated arrays reads that array alone."""
    whole = part(joined(x, y, axis=axis), index)
    chosen = of_piece(index, (x.shape, y.shape), axis)
    provided(found(chosen))
    return whole, _of_pieces(x, y, chosen=chosen)


@rule(sound="exact")
def part_of_join_of_three(x: Array, y: Array, z: Array, axis: Axis, index: Index) -> Identity:
    """An index into one of three concatenated arrays reads that array alone."""
    whole = part(joined(x, y, z, axis=axis), index)
    chosen = of_piece(index, (x.shape, y.shape, z.shape), axis)
    provided(found(chosen))
    return whole, _of_pieces(x, y, z, chosen=chosen)


@static
def rest_after(index: tuple[Any, ...], shape: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    """The index of the elements after a part, up to the end of an axis."""
    if not -len(index) <= axis or len(index) != len(shape) or not isinstance(index[axis], tuple):
        return ()
    rest = (index[axis][1], shape[axis], 1)
    return tuple(rest if n - len(index) == axis else entry for n, entry in enumerate(index))


@static
def onwards(index: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    """The index of a part and all elements after it."""
    start = index[axis][0]
    return tuple(
        slice(start, None) if n - len(index) == axis else slice(*entry)
        for n, entry in enumerate(index)
    )


@static
def is_run(index: tuple[Any, ...], axis: int) -> bool:
    """Whether an index takes adjacent elements along an axis, and slices along the others."""
    return all(isinstance(entry, tuple) for entry in index) and index[axis][2] == 1


@rule(sound="exact")
def join_of_part_and_rest(x: Array, index: Index, axis: Axis) -> Identity:
    """A part concatenated with the elements after it is one part."""
    rest = part(x, rest_after(index, x.shape, axis))
    whole = joined(part(x, index), rest, axis=axis)
    provided(is_run(index, axis))
    provided(whole.shape == part(x, onwards(index, axis)).shape)
    return whole, taken(x, onwards(index, axis))


# -- constant places -------------------------------------------------------------------------------
def at(x: Array, i: Array, axis: int) -> Array:
    """Elements of `x` at places along an axis."""
    return applied("gather", x, i, axis=axis)


@building
def _as_slice(x: Array, i: Array, axis: int) -> Array:
    """The elements at evenly spaced places, as a slice; declined for other places."""
    places: Any = i.node.params["value"]
    size = x.shape[axis]
    provided(places.ndim == 1 and places.size > 0)
    if isinstance(size, int):
        places = np.where(places < 0, places + size, places)
    steps = set(np.diff(places).tolist())
    provided(len(steps) <= 1 and 0 not in steps and bool(np.all(places >= 0)))
    step = steps.pop() if steps else 1
    stop = int(places[-1]) + step
    entry = slice(int(places[0]), stop if stop >= 0 else None, step)
    return x[(*[slice(None)] * (x.ndim + axis), entry)]


@rule(sound="rounding")
def places_in_a_row(x: Array, i: Places, axis: Axis) -> Identity:
    """Evenly spaced places are a slice; NumPy sums a view in another order than a copy."""
    return at(x, i, axis), _as_slice(x, i, axis)


@building
def _rows_of(x: Array, s: Array) -> Array:
    """The rows of `x` that the rows of a one-hot matrix select."""
    places: Any = np.argmax(s.node.params["value"], axis=-1)
    return gather(x, constant(places), axis=-min(x.ndim, 2))


@building
def _columns_of(x: Array, s: Array) -> Array:
    """The columns of `x` that the columns of a one-hot matrix select."""
    places: Any = np.argmax(s.node.params["value"], axis=-2)
    return gather(x, constant(places), axis=-1)


@rule(sound="domain", earned={"rounding": {"x": Finite}}, measure="products")
def rows_of_identity_by_matrix(s: SelectingRows, x: Real) -> Identity:
    """Multiplying by rows of the identity selects rows; zeros times NaN would be NaN."""
    return matmul(s, x), _rows_of(x, s)


@rule(sound="domain", earned={"rounding": {"x": Finite}}, measure="products")
def matrix_by_columns_of_identity(s: SelectingColumns, x: Real) -> Identity:
    """Multiplying by columns of the identity selects columns; zeros times NaN would be NaN."""
    return matmul(x, s), _columns_of(x, s)


@rule(sound="exact")
def places_of_repeated_number(x: Array, shape: Shape, i: Places, axis: Axis) -> Identity:
    """A broadcast number has the same value at all places."""
    whole = at(broadcast_to(x, shape), i, axis)
    provided(x.ndim == 0)
    return whole, broadcast_to(x, whole.shape)


def _are_places(i: Array, size: object) -> bool:
    """Whether constant places are in range; for a named axis, whether they are nonnegative."""
    places: Any = i.node.params["value"]
    low, high = (-size, size) if isinstance(size, int) else (0, np.inf)
    return bool(np.all((places >= low) & (places < high)))


@building
def _part_of_places(x: Array, i: Array, axis: int, index: tuple[Any, ...]) -> Array:
    """Index the places along `axis`, and the array along the other axes."""
    provided(i.ndim == 1 and i.size != 0 and None not in index and len(index) == x.ndim)
    provided(_are_places(i, x.shape[axis]))
    entry = index[axis]
    entries = [each if isinstance(each, int) else slice(*each) for each in index]
    entries[axis] = slice(None)
    inside = x[tuple(entries)]
    value: Any = i.node.params["value"]
    after = sum(not isinstance(each, int) for each in index[x.ndim + axis + 1 :])
    if isinstance(entry, int):
        return inside[(*[slice(None)] * (inside.ndim - 1 - after), int(value[entry]))]
    return gather(inside, constant(value[slice(*entry)], i.dtype), axis=-1 - after)


@rule(sound="exact", measure="places read")
def part_of_places(x: Array, i: Places, axis: Axis, index: Index) -> Identity:
    """A part of the elements at constant places reads fewer places."""
    provided(is_part(index))
    return part(at(x, i, axis), index), _part_of_places(x, i, axis, index)
