"""Writing at an index as a function: the array after `x[index] = v` or `x[index] += v`.

Where an index names a place twice, `index_add` adds both values. `index_update` keeps the last
one in row-major order of the index, as NumPy's assignment does, on every backend. The values that
are not kept have the derivative 0.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, Index, apply, constant
from ..errors import DTypeError, ShapeError, TraceError
from ..facts import Fact, finite, integer_valued, total
from ..ir.avals import Aval, normal_axis
from ..ir.dims import Shape, count, fixed, known_equal, same_shape, show_shape
from ..ir.op import Batch, Op, no_flops, register
from ..ir.traits import Traits
from ..notation import array_formulas, node_text
from .batched import aligned, applied, whole
from .carrying import carries_assigned, carries_off_axis
from .composites import as_array, composite, naming_lines
from .control import astype
from .creation import arange, constant_of, dimension
from .families import function, same_dtype
from .gather import gather, scatter_add
from .index_arrays import index_array, same_as_broadcast
from .indexing import GETITEM, getitem
from .joining import concatenate
from .movement import broadcast_to, facts_of_elements, ravel, reshape
from .slices import Entry, as_numpy_index, basic_shape, is_expression, normal_index
from .sorting import argsort

__all__ = ["index_add", "index_update", "put_along_axis"]


# -- a slice written to ----------------------------------------------------------------------------
def _infer_assign(x: Aval, values: Aval, *, index: tuple[Entry, ...]) -> Aval:
    lead = x.ndim - len([entry for entry in index if entry is not None])
    slots = (*x.shape[:lead], *basic_shape(x.shape[lead:], index))
    if not same_as_broadcast(values.shape, slots):
        raise ShapeError(
            f"values of shape {show_shape(values.shape)} do not fit the slice {show_shape(slots)}.",
            mend="" if fixed(slots) else _OF_EACH_LENGTH,
        )
    return x


_OF_EACH_LENGTH = (
    "A named dimension may be shorter than the slice asks for. Give it a number, as in "
    'sg.spec("6, 4"), or write values that are as long as the slice for every length.'
)


def _batch_assign(batch: Batch, *, index: tuple[Entry, ...]) -> Any:
    x, values = whole(batch, 0), batch.operands[1]
    slots = len(basic_shape(x.shape[1:], (*[_ALL] * (x.ndim - 1 - _covered(index)), *index)))
    values = aligned(values, slots) if batch.batched[1] else values
    return applied(batch, [x, values], index=index)


_ALL = (None, None, 1)


def _covered(index: tuple[Entry, ...]) -> int:
    """The number of axes for which an index has entries."""
    return len([entry for entry in index if entry is not None])


ASSIGN = register(
    Op(
        "assign",
        batch=_batch_assign,
        total=True,
        infer=_infer_assign,
        carries=carries_assigned,
        kernel=lambda xp, x, values, *, index: xp.scatter_set(x, as_numpy_index(index), values),
        vjp=(
            lambda ct, out, x, values, *, index: apply(
                ASSIGN, ct, constant_of(0, ct.dtype), index=index
            ),
            lambda ct, out, x, values, *, index: apply(GETITEM, ct, index=(Ellipsis, *index)),
        ),
        promote=same_dtype,
        flops=no_flops,
        facts=lambda x, values, *, index: facts_of_elements(x, values),
        doc="The first operand with the second in the slice `index`.",
        traits=Traits(jointly_linear=(0, 1), movement=True, shift=1),
        text=node_text.assignment_text,
        latex=array_formulas.assignment_formula,
    )
)


def _assign(x: ArrayLike, values: ArrayLike, index: Index) -> Array:
    x = as_array(x)
    return apply(ASSIGN, x, values, **normal_index((x.aval,), index=index))


assign = function(ASSIGN, naming_lines(_assign))


# -- places of a vector written to -----------------------------------------------------------------
def _infer_scatter_set(x: Aval, values: Aval, index: Aval) -> Aval:
    if x.ndim < 1 or index.ndim != 1 or index.dtype.kind not in "iu":
        raise ShapeError("places on the last axis are named by a vector of integers.")
    slots = (*x.shape[:-1], *index.shape)
    if not same_as_broadcast(values.shape, slots):
        raise ShapeError(
            f"values of shape {show_shape(values.shape)} do not fit the slots {show_shape(slots)}."
        )
    return x


def _batch_scatter_set(batch: Batch) -> Any:
    x, (values, index) = whole(batch, 0), batch.operands[1:]
    values = aligned(values, x.ndim - 1) if batch.batched[1] else values
    if not batch.batched[2]:
        return applied(batch, [x, values, index])
    # Join the last axes of all examples to one.
    index, size = astype(index, "int64"), dimension(x.shape[-1])
    start = reshape(arange(batch.size), (batch.size, 1)) * size
    inside = FUNCTIONS["logical_and"](index >= -size, index < size)
    place = start + FUNCTIONS["where"](index < 0, index + size, index)
    # Places out of range stay so: they must not reach the next example.
    place = FUNCTIONS["where"](inside, place, dimension(batch.size) * size)
    slots = (batch.size, *x.shape[1:-1], index.shape[-1])
    values = _rows_joined(broadcast_to(values, slots))
    flat = applied(batch, [_rows_joined(x), values, ravel(place)])
    rows = reshape(flat, (*x.shape[1:-1], batch.size, x.shape[-1]))
    return FUNCTIONS["moveaxis"](rows, -2, 0)


def _rows_joined(x: Array) -> Array:
    """The array with its first and last axes joined to one at the end."""
    rows = FUNCTIONS["moveaxis"](x, 0, -2)
    return reshape(rows, (*rows.shape[:-2], count(rows.shape[-2:])))


SCATTER_SET = register(
    Op(
        "scatter_set",
        batch=_batch_scatter_set,
        infer=_infer_scatter_set,
        carries=lambda out, *avals, slot: carries_off_axis(
            out, *avals, slot=slot, axis=() if slot == 0 else -1
        ),
        kernel=lambda xp, x, values, index: xp.scatter_set(x, (Ellipsis, index), values),
        vjp=(
            lambda ct, out, x, values, index: apply(
                SCATTER_SET, ct, constant_of(0, ct.dtype), index
            ),
            lambda ct, out, x, values, index: gather(ct, index, axis=-1),
        ),
        promote=same_dtype,
        unpromoted=(2,),
        flops=no_flops,
        facts=lambda x, values, index: [
            fact
            for fact in (Fact("nonnegative"), Fact("nonpositive"), finite, total, integer_valued)
            if x.has(fact) and values.has(fact)
        ],
        doc="Values written at different places of the last axis; those left out stay.",
        traits=Traits(at_places=True, jointly_linear=(0, 1), movement=True, shift=1),
    )
)


@naming_lines
def _scatter_set(x: ArrayLike, values: ArrayLike, index: Index) -> Array:
    return apply(SCATTER_SET, x, values, index)


scatter_set = function(SCATTER_SET, _scatter_set)


# -- NumPy's index ---------------------------------------------------------------------------------
def _entries(index: object) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)


def _is_basic(index: object) -> bool:
    return not [
        entry
        for entry in _entries(index)
        if isinstance(entry, (bool, np.bool_))
        or not (
            entry is None
            or entry is Ellipsis
            or isinstance(entry, (int, np.integer, slice))
            or is_expression(entry)
        )
    ]


def _mask(index: object) -> Array | None:
    """The symbolic mask if the whole index is one, else None."""
    entries = _entries(index)
    if len(entries) == 1 and isinstance(entries[0], Array) and entries[0].dtype.kind == "b":
        return entries[0]
    return None


def _places(x: Array, index: object) -> tuple[Any, Shape]:
    """The places of an index in the raveled array, as a vector; and the shape of its result."""
    sizes = [dim for dim in x.shape if not isinstance(dim, int)]
    symbolic = [entry for entry in _entries(index) if isinstance(entry, Array)]
    getitem(x, index)  # for its checks: it raises if an index is out of range, or is none
    if sizes or symbolic:
        found = getitem(reshape(arange(x.size), x.shape), index)
        return ravel(found), found.shape
    shape: Any = x.shape
    where = np.arange(int(np.prod(shape))).reshape(shape)[index]
    return where.ravel(), where.shape


def _broadcast(x: Array, values: ArrayLike, shape: Shape, name: str) -> Array:
    """The values in the shape that is written, and in the dtype of the array if that holds them."""
    found = _in_dtype_of(x, values, name)
    while found.ndim > len(shape) and known_equal(found.shape[0], 1):
        found = reshape(found, found.shape[1:])  # as NumPy's assignment does
    return broadcast_to(found, shape)


def _in_dtype_of(x: Array, values: ArrayLike, name: str) -> Array:
    given = values if isinstance(values, Array) else np.asarray(values)
    if given.dtype.kind == "f" and x.dtype.kind != "f":
        raise DTypeError(
            f"{name}: values of {given.dtype} do not go into an array of {x.dtype}.",
            mend="Convert the array first, with .astype.",
        )
    return FUNCTIONS["astype"](as_array(values), x.dtype)


@composite()
def index_update(x: ArrayLike, index: object, values: ArrayLike) -> Array:
    """A copy of `x` after `x[index] = values`.

    Parameters
    ----------
    x : array_like
    index : int, slice, None, Ellipsis, array_like of int or bool, or a tuple of them
        Integer arrays may be symbolic; a symbolic mask that is the whole index takes values that
        do not depend on how many of its elements are true. Of places met twice the last value
        stays.
    values : array_like
        Broadcast to the shape of `x[index]`, and cast to the dtype of `x`.

    Raises
    ------
    ShapeError, DTypeError
        If values do not fit, or an index is out of range.
    TraceError
        If a symbolic mask is part of an index.
    """
    x = as_array(x)
    if _is_basic(index):
        return assign(x, _in_dtype_of(x, values, "index_update"), index)
    mask = _mask(index)
    if mask is not None:
        return FUNCTIONS["where"](*_under(x, mask, values, "index_update"), x)
    places, shape = _places(x, index)
    flat = ravel(_broadcast(x, values, shape, "index_update"))
    return reshape(_written(ravel(x), places, flat), x.shape)


@composite()
def index_add(x: ArrayLike, index: Index, values: ArrayLike) -> Array:
    """A copy of `x` with `values` added at `index`, as by `np.add.at`: repeated places add up.

    Parameters, errors
        As for `index_update`.
    """
    x = as_array(x)
    mask = _mask(index)
    if mask is not None:
        condition, added = _under(x, mask, values, "index_add")
        return x + FUNCTIONS["where"](condition, added, constant_of(0, x.dtype))
    if _is_basic(index):
        target = getitem(x, index)
        return assign(x, target + _in_dtype_of(x, values, "index_add"), index)
    read = _whole_slots(x, index)
    if read is not None:
        axis, indices = read
        given = _broadcast(x, values, getitem(x, index).shape, "index_add")
        return scatter_add(x, given, *indices, axis=axis)
    places, shape = _places(x, index)
    flat = ravel(_broadcast(x, values, shape, "index_add"))
    return reshape(scatter_add(ravel(x), flat, places, axis=0), x.shape)


def _whole_slots(x: Array, index: object) -> tuple[int, list[Any]] | None:
    """The integer arrays of an index and their first axis, if the index takes all other axes whole.

    So `x[i]`, `x[i, j]` and `x[:, i]` but neither `x[1:, i]` nor `x[i, :, j]`.
    """
    entries = list(_entries(index))
    dots = [place for place, entry in enumerate(entries) if entry is Ellipsis]
    if dots:
        fill = [slice(None)] * (x.ndim - len(entries) + 1)
        entries[dots[0] : dots[0] + 1] = fill
    arrays = [place for place, entry in enumerate(entries) if isinstance(entry, _ARRAYS)]
    if not arrays or arrays != list(range(arrays[0], arrays[0] + len(arrays))):
        return None
    if any(entry != slice(None) for place, entry in enumerate(entries) if place not in arrays):
        return None
    found = [_as_places(entries[place]) for place in arrays]
    return None if any(each is None for each in found) else (arrays[0], found)


_ARRAYS = (Array, np.ndarray, list)


def _as_places(entry: ArrayLike) -> ArrayLike | None:
    """The entry if it is an array of integers that is not empty."""
    array: Any = entry if isinstance(entry, Array) else np.asarray(entry)
    return array if array.dtype.kind in "iu" and array.size != 0 else None


def _under(x: Array, mask: Array, values: ArrayLike, name: str) -> tuple[Array, Array]:
    """The array with values where a symbolic mask holds."""
    rest = x.ndim - mask.ndim
    if rest < 0 or not same_shape(mask.shape, x.shape[: mask.ndim]):
        raise ShapeError(
            f"a mask of shape {show_shape(mask.shape)} does not fit shape {show_shape(x.shape)}."
        )
    values = _in_dtype_of(x, values, name)
    if values.ndim > rest:
        raise TraceError(
            f"{name}: a mask that is computed picks a number of elements that is not known, so "
            f"values of shape {show_shape(values.shape)} cannot be handed out to them.",
            mend="Give one value, or choose elementwise with np.where(mask, values, x).",
        )
    return reshape(mask, (*mask.shape, *[1] * rest)), values


def _written(x: Array, places: Array | np.ndarray[Any, Any], values: Array) -> Array:
    """A vector with values written at places; the last value of a place stays."""
    if isinstance(places, Array):
        return _written_anywhere(x, places, values)
    backwards = places[::-1]
    kept, first = np.unique(backwards, return_index=True)
    if len(kept) == len(places):
        return scatter_set(x, values, constant(places))
    return scatter_set(x, values[len(places) - 1 - first], constant(kept))


def _written_anywhere(x: Array, places: Array, values: Array) -> Array:
    """Write at computed places: they are sorted, and the last of equal places writes.

    The others write to an extra place behind the array, which is cut off.
    """
    order = argsort(places)
    found = places[order]
    if known_equal(found.shape[0], 0):
        return x
    behind = concatenate([found, constant_of(-1, found.dtype)[None]])[1:]
    target = FUNCTIONS["where"](found != behind, found, dimension(x.shape[0], found.dtype))
    longer = concatenate([x, constant_of(0, x.dtype)[None]])
    return scatter_set(longer, values[order], target)[:-1]


# -- along an axis ---------------------------------------------------------------------------------
@composite()
def put_along_axis(
    arr: ArrayLike, indices: ArrayLike, values: ArrayLike, axis: int | None
) -> Array:
    """A copy of `arr` with values at the places `indices` along `axis`.

    NumPy's `put_along_axis` writes in place. The last value of a repeated place stays.
    """
    x = as_array(arr)
    if axis is None:
        flat = put_along_axis(ravel(x), ravel(indices), values, 0)
        return reshape(flat, x.shape)
    place = normal_axis(axis, x.ndim)
    index = index_array(indices, x.shape[place], place)
    if index.ndim != x.ndim:
        raise ShapeError(
            f"put_along_axis: the index has {index.ndim} dimensions, the array {x.ndim}.",
            mend="Give both the same number of dimensions.",
        )
    return index_update(x, _grid(x, index, place), values)


def _grid(x: Array, index: Index, axis: int) -> tuple[Any, ...]:
    places: list[Any] = []
    for each, dim in enumerate(x.shape, -x.ndim):
        counter: Any = np.arange(dim) if isinstance(dim, int) else arange(dim)
        shape = (-1, *[1] * (-each - 1))
        places.append(index if each == axis else counter.reshape(shape))
    return tuple(places)
