"""Reads of reads and of joins; known places that are slices; diagonals."""

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
    Offset,
    Permutation,
    Real,
    Shape,
    applied,
    building,
    provided,
    rule,
    static,
)

from .contraction import turned
from .known import Places, SelectingColumns, SelectingRows
from .linalg import on_diagonal
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
    """Two indices are one."""
    index = composed(first, second, x.shape)
    provided(found(index))
    return part(part(x, first), second), taken(x, index)


@rule(sound="exact")
def reshape_of_all(x: Array, index: Index, shape: Shape) -> Identity:
    """Axes of length one, made or dropped before a reshape, leave no trace."""
    provided(keeps_all(index, x.shape))
    return reshape(part(x, index), shape), reshape(x, shape)


@rule(sound="exact")
def all_of_reshape(x: Array, index: Index, shape: Shape) -> Identity:
    """Axes of length one, made or dropped after a reshape, are a reshape."""
    whole = part(reshape(x, shape), index)
    provided(keeps_all(index, shape))
    return whole, reshape(x, whole.shape)


@rule(sound="exact")
def part_of_reshape(x: Array, shape: Shape, index: Index) -> Identity:
    """Axes of length one, made or dropped before a part is taken, are made or dropped by it."""
    whole = part(reshape(x, shape), index)
    inside = of_reshaped(index, x.shape, shape)
    provided(found(inside))
    return whole, taken(x, inside)


@rule(sound="exact")
def reshape_of_part(x: Array, index: Index, shape: Shape) -> Identity:
    """Axes of length one, made or dropped after a part is taken, are made or dropped by it."""
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
    """The part first."""
    inside = of_transposed(index, axes)
    provided(is_part(index) & found(inside))
    return part(transpose(x, axes), index), transpose(
        taken(x, inside), remaining_order(index, axes)
    )


@rule(sound="exact", measure="broadcasts below slices")
def part_of_broadcast(x: Array, shape: Shape, index: Index) -> Identity:
    """Of what is repeated as much as is needed."""
    whole = part(broadcast_to(x, shape), index)
    inside = of_broadcast(index, x.shape, shape)
    provided(is_part(index) & (x.ndim != 0) & found(inside))
    return whole, broadcast_to(taken(x, inside), whole.shape)


@static
def adds_in_front(index: tuple[Any, ...]) -> bool:
    """Whether an index makes axes before those there are, and does nothing else."""
    rest = [entry for entry in index if entry is not None]
    front = index[: len(index) - len(rest)]
    return all(entry == (None, None, 1) for entry in rest) and not any(front) and bool(front)


@rule(sound="exact")
def repeated_with_axes_in_front(x: Array, index: Index, shape: Shape) -> Identity:
    """Repeating makes axes in front by itself."""
    provided(adds_in_front(index))
    return broadcast_to(part(x, index), shape), broadcast_to(x, shape)


@rule(sound="exact")
def axes_in_front_of_repeated(x: Array, shape: Shape, index: Index) -> Identity:
    """Repeating makes axes in front by itself."""
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
    """Nothing to join."""
    return joined(x, axis=axis), x


@rule(sound="exact")
def nothing_joined_to(x: Array, y: Array, axis: Axis) -> Identity:
    """An array without elements adds none."""
    whole = joined(x, y, axis=axis)
    provided(x.shape[axis] == 0)
    return whole, y


@rule(sound="exact")
def joined_to_nothing(x: Array, y: Array, axis: Axis) -> Identity:
    """An array without elements adds none."""
    whole = joined(x, y, axis=axis)
    provided(y.shape[axis] == 0)
    return whole, x


@rule(sound="exact")
def join_of_first_join(x: Array, y: Array, z: Array, axis: Axis) -> Identity:
    """Two joins along one axis are one."""
    return joined(joined(x, y, axis=axis), z, axis=axis), joined(x, y, z, axis=axis)


@rule(sound="exact")
def join_of_second_join(x: Array, y: Array, z: Array, axis: Axis) -> Identity:
    """Two joins along one axis are one."""
    return joined(x, joined(y, z, axis=axis), axis=axis), joined(x, y, z, axis=axis)


@static
def fills(
    one: tuple[Any, ...],
    other: tuple[Any, ...],
    wide: tuple[Any, ...],
    broad: tuple[Any, ...],
    axis: int,
) -> bool:
    """Whether two arrays, joined along an axis, need only be repeated along the others."""
    if not -axis <= len(one) == len(other):
        return False
    rest = [(a, b) for n, (a, b) in enumerate(zip(one, other, strict=True)) if n - len(one) != axis]
    kept = (one[axis], other[axis]) == (wide[axis], broad[axis])
    return kept and all(a == b for a, b in rest)


@rule(sound="exact", measure="broadcasts below joins")
def join_of_repeated(x: Array, y: Array, one: Shape, other: Shape, axis: Axis) -> Identity:
    """Along an axis that is not repeated a join can be made before."""
    whole = joined(broadcast_to(x, one), broadcast_to(y, other), axis=axis)
    provided(fills(x.shape, y.shape, one, other, axis))
    return whole, broadcast_to(joined(x, y, axis=axis), whole.shape)


@rule(sound="exact")
def part_of_join(x: Array, y: Array, axis: Axis, index: Index) -> Identity:
    """What is taken of one of two is taken of that one."""
    whole = part(joined(x, y, axis=axis), index)
    chosen = of_piece(index, (x.shape, y.shape), axis)
    provided(found(chosen))
    return whole, _of_pieces(x, y, chosen=chosen)


@rule(sound="exact")
def part_of_join_of_three(x: Array, y: Array, z: Array, axis: Axis, index: Index) -> Identity:
    """What is taken of one of three is taken of that one."""
    whole = part(joined(x, y, z, axis=axis), index)
    chosen = of_piece(index, (x.shape, y.shape, z.shape), axis)
    provided(found(chosen))
    return whole, _of_pieces(x, y, z, chosen=chosen)


@static
def rest_after(index: tuple[Any, ...], shape: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    """The index of what lies behind a part, up to the end of an axis."""
    if not -len(index) <= axis or len(index) != len(shape) or not isinstance(index[axis], tuple):
        return ()
    rest = (index[axis][1], shape[axis], 1)
    return tuple(rest if n - len(index) == axis else entry for n, entry in enumerate(index))


@static
def onwards(index: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    """The index of a part and what lies behind it."""
    start = index[axis][0]
    return tuple(
        slice(start, None) if n - len(index) == axis else slice(*entry)
        for n, entry in enumerate(index)
    )


@static
def is_run(index: tuple[Any, ...], axis: int) -> bool:
    """Whether an index takes neighbours along an axis, and slices along the others."""
    return all(isinstance(entry, tuple) for entry in index) and index[axis][2] == 1


@rule(sound="exact")
def join_of_part_and_rest(x: Array, index: Index, axis: Axis) -> Identity:
    """A part and what lies behind it are one part."""
    rest = part(x, rest_after(index, x.shape, axis))
    whole = joined(part(x, index), rest, axis=axis)
    provided(is_run(index, axis))
    provided(whole.shape == part(x, onwards(index, axis)).shape)
    return whole, taken(x, onwards(index, axis))


# -- known places ----------------------------------------------------------------------------------
def at(x: Array, i: Array, axis: int) -> Array:
    """Elements of `x` at places along an axis."""
    return applied("gather", x, i, axis=axis)


@building
def _as_slice(x: Array, i: Array, axis: int) -> Array:
    """Places evenly spaced, as a slice; declined for others."""
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
    """Places evenly spaced are a slice; a view is added up in another order than a copy."""
    return at(x, i, axis), _as_slice(x, i, axis)


@building
def _rows_of(x: Array, s: Array) -> Array:
    """The rows that the rows of a matrix of ones and zeros select."""
    places: Any = np.argmax(s.node.params["value"], axis=-1)
    return gather(x, constant(places), axis=-min(x.ndim, 2))


@building
def _columns_of(x: Array, s: Array) -> Array:
    """The columns that the columns of a matrix of ones and zeros select."""
    places: Any = np.argmax(s.node.params["value"], axis=-2)
    return gather(x, constant(places), axis=-1)


@rule(sound="domain", earned={"rounding": {"x": Finite}}, measure="products")
def rows_of_identity_by_matrix(s: SelectingRows, x: Real) -> Identity:
    """Rows of the identity select; zeros times NaN would be NaN."""
    return matmul(s, x), _rows_of(x, s)


@rule(sound="domain", earned={"rounding": {"x": Finite}}, measure="products")
def matrix_by_columns_of_identity(s: SelectingColumns, x: Real) -> Identity:
    """Columns of the identity select; zeros times NaN would be NaN."""
    return matmul(x, s), _columns_of(x, s)


@rule(sound="exact")
def places_of_repeated_number(x: Array, shape: Shape, i: Places, axis: Axis) -> Identity:
    """A repeated number is the same everywhere."""
    whole = at(broadcast_to(x, shape), i, axis)
    provided(x.ndim == 0)
    return whole, broadcast_to(x, whole.shape)


def _are_places(i: Array, size: object) -> bool:
    """Whether known places lie within an axis; of a named one those counted from the front do."""
    places: Any = i.node.params["value"]
    low, high = (-size, size) if isinstance(size, int) else (0, np.inf)
    return bool(np.all((places >= low) & (places < high)))


@building
def _part_of_places(x: Array, i: Array, axis: int, index: tuple[Any, ...]) -> Array:
    """The part of the places, and of the other axes."""
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
    """Of known places those that are read on."""
    provided(is_part(index))
    return part(at(x, i, axis), index), _part_of_places(x, i, axis, index)


# -- diagonals -------------------------------------------------------------------------------------
@rule(sound="exact")
def diagonal_of_diagonal_matrix(v: Array) -> Identity:
    """What was put on the diagonal is read."""
    return applied("diagonal", on_diagonal(v), offset=0), v


@rule(sound="exact")
def beside_the_diagonal(v: Array, offset: Offset) -> Identity:
    """Beside the diagonal of a diagonal matrix there are zeros."""
    provided(offset != 0)
    return applied("diagonal", on_diagonal(v), offset=offset), 0


@rule(sound="exact")
def diagonal_of_transpose(x: Array, offset: Offset) -> Identity:
    """The diagonal on the other side."""
    return applied("diagonal", turned(x), offset=offset), applied("diagonal", x, offset=-offset)


@static
def length_one_last(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """The shape of a matrix of one column, as a vector."""
    return shape[:-1]


@building
def _of_steps(x: Array, i: Array) -> Array:
    """The diagonal that takes from each row the place behind that of the row before."""
    places: Any = i.node.params["value"]
    # One place alone would be repeated for all rows.
    provided(x.ndim == 2 and places.shape == (x.shape[0], 1) and isinstance(x.shape[-1], int))
    offsets = set((places[:, 0].astype(int) - np.arange(len(places))).tolist())
    provided(len(offsets) == 1)
    return applied("diagonal", x, offset=offsets.pop())


@rule(sound="exact")
def diagonal_of_places(x: Array, i: Places) -> Identity:
    """From each row the place behind that of the row before: a diagonal."""
    column = applied("take_along_axis", x, i, axis=-1)
    return reshape(column, length_one_last(column.shape)), _of_steps(x, i)
