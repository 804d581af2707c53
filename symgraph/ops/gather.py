"""Reading and adding at integer arrays: gather, scatter_add, along an axis, one-hot rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..array import Array, ArrayLike, Index, apply
from ..errors import DTypeError, ShapeError, TraceError
from ..facts import Fact, finite, integer_valued, interval, total
from ..facts import one_hot as one_hot_fact
from ..ir.avals import Aval, AxisLike, broadcast_shapes, normal_axes
from ..ir.dims import Dim, Shape, count, known_equal, normal, show_shape
from ..ir.op import Batch, Op, no_flops, register
from ..ir.traits import MOVEMENT, Traits
from ..notation import formulas
from ..notation import text as texts
from .batched import aligned, applied, batch_aligned, batch_into_first, own_ndim, whole
from .carrying import carries_gathered, carries_off_axis, carries_scattered
from .composites import as_array, naming_lines
from .creation import arange, zeros
from .families import function, same_dtype
from .movement import broadcast_to, facts_of_elements, moveaxis, ravel, reshape

__all__ = [
    "add_along_axis",
    "gather",
    "index_array",
    "one_hot",
    "scatter_add",
    "take_along_axis",
]


def _check_indices(x: Aval, indices: Sequence[Aval], axis: int) -> None:
    for index in indices:
        if index.dtype.kind not in "iu":
            raise DTypeError(
                f"an index array holds integers, not {index.dtype}.",
                mend="Convert it with .astype(int); choose by a condition with np.where.",
            )
    if axis + len(indices) > 0:
        raise ShapeError(f"{len(indices)} indices from axis {axis} on shape {show_shape(x.shape)}.")


def _gathered_shape(x: Aval, indices: Sequence[Aval], axis: int) -> Shape:
    _check_indices(x, indices, axis)
    start = x.ndim + axis
    joint = broadcast_shapes(*[index.shape for index in indices])
    return (*x.shape[:start], *joint, *x.shape[start + len(indices) :])


def _places(indices: Sequence[Any], axis: int) -> tuple[Any, ...]:
    return (Ellipsis, *indices, *[slice(None)] * (-axis - len(indices)))


def _vjp_gather(ct: Array, out: Array, x: Array, *indices: Array, axis: int) -> Array:
    start = zeros((*ct.shape[: ct.ndim - out.ndim], *x.shape), ct.dtype)
    return apply(SCATTER_ADD, start, ct, *indices, axis=axis)


def _normal_gather(avals: tuple[Aval, ...], *, axis: AxisLike) -> dict[str, Any]:
    return {"axis": normal_axes(axis, avals[0].ndim)[0]}


def _indices_of_batch(batch: Batch, first: int) -> tuple[list[Array], int]:
    """The index arrays, from operand `first` on, and their number of axes without the batch."""
    slots = range(first, len(batch.operands))
    joint = max(own_ndim(batch, slot) for slot in slots)
    found = [
        aligned(batch.operands[slot], joint) if batch.batched[slot] else batch.operands[slot]
        for slot in slots
    ]
    return found, joint


def _in_a_row(index: Array, before: int, behind: int) -> Array:
    """The places of the examples on one axis, `before` axes before it and `behind` after it."""
    row = (index.shape[0], *[1] * before, count(index.shape[1:]), *[1] * behind)
    return reshape(index, row)


def _with_examples(indices: Sequence[Array], joint: int, size: Dim) -> list[Array]:
    """The index arrays with one more in front that picks the example."""
    return [reshape(arange(size), (size, *[1] * joint)), *indices]


def _batch_gather(batch: Batch, *, axis: int) -> Any:
    x = batch.operands[0]
    if not any(batch.batched[1:]):
        return applied(batch, batch.operands, axis=axis)
    indices, joint = _indices_of_batch(batch, 1)
    if not batch.batched[0]:
        return moveaxis(apply(GATHER, x, *indices, axis=axis), x.ndim + axis, 0)
    before, behind = own_ndim(batch, 0) + axis, -axis - len(indices)
    if len(indices) == 1:
        found = apply(TAKE_ALONG_AXIS, x, _in_a_row(indices[0], before, behind), axis=axis)
        shape = (*x.shape[: before + 1], *indices[0].shape[1:], *x.shape[x.ndim - behind :])
        return found if joint == 1 else reshape(found, shape)
    chosen = _chosen_first(x, axis, len(indices))
    found = apply(GATHER, chosen, *_with_examples(indices, joint, batch.size), axis=-x.ndim)
    return _moved(found, joint, 1, before + 1)


def _chosen_first(x: Array, axis: int, count: int) -> Array:
    """The operand with the indexed axes moved behind the batch axis."""
    return _moved(x, count, x.ndim + axis, 1)


def _moved(x: Array, count: int, start: int, to: int) -> Array:
    """The array with `count` adjacent axes moved from `start` to `to`."""
    return moveaxis(x, tuple(range(start, start + count)), tuple(range(to, to + count)))


def _batch_scatter_add(batch: Batch, *, axis: int) -> Any:
    x = whole(batch, 0)
    indices, joint = _indices_of_batch(batch, 2)
    before, behind = x.ndim - 1 + axis, -axis - len(indices)
    slots = before + joint + behind
    values = batch.operands[1]
    values = aligned(values, slots) if batch.batched[1] else values
    if not any(batch.batched[2:]):
        return applied(batch, [x, values, *indices], axis=axis)
    inner = broadcast_shapes(*[each.shape[-joint:] if joint else () for each in indices])
    shape = (*x.shape[: before + 1], *inner, *x.shape[x.ndim - behind :])
    values = broadcast_to(values, shape)
    if len(indices) == 1:
        row = (*x.shape[: before + 1], count(inner), *x.shape[x.ndim - behind :])
        values = values if joint == 1 else reshape(values, row)
        place = _in_a_row(indices[0], before, behind)
        return apply(ADD_ALONG_AXIS, x, values, place, axis=axis)
    values = _moved(values, joint, before + 1, 1)
    target = _chosen_first(x, axis, len(indices))
    places = _with_examples(indices, joint, batch.size)
    found = apply(SCATTER_ADD, target, values, *places, axis=-x.ndim)
    return _moved(found, len(indices), 1, before + 1)


GATHER = register(
    Op(
        "gather",
        batch=_batch_gather,
        infer=lambda x, *indices, axis: x.with_shape(_gathered_shape(x, indices, axis)),
        kernel=lambda xp, x, *indices, axis: xp.getitem(x, _places(indices, axis)),
        vjp=(_vjp_gather,),
        carries=carries_gathered,
        normalize=_normal_gather,
        flops=no_flops,
        facts=lambda x, *indices, axis: facts_of_elements(x),
        doc="Elements at integer arrays on adjacent axes, from `axis` on.",
        traits=replace(MOVEMENT, at_places=True),
        latex=formulas.gathered_formula,
        text=texts.gathered_text,
    )
)


def _infer_scatter_add(x: Aval, values: Aval, *indices: Aval, axis: int) -> Aval:
    slots = _gathered_shape(x, indices, axis)
    if not same_as_broadcast(values.shape, slots):
        raise ShapeError(
            f"values of shape {show_shape(values.shape)} do not fit the slots {show_shape(slots)}."
        )
    return x


def same_as_broadcast(shape: Shape, target: Shape) -> bool:
    """Whether `shape` broadcasts to `target`."""
    if len(shape) > len(target):
        return False
    pairs = zip(reversed(shape), reversed(target), strict=False)
    return not [0 for a, b in pairs if not known_equal(a, 1) and not known_equal(a, b)]


SCATTER_ADD = register(
    Op(
        "scatter_add",
        batch=_batch_scatter_add,
        infer=_infer_scatter_add,
        kernel=lambda xp, x, values, *indices, axis: xp.scatter_add(
            x, _places(indices, axis), values
        ),
        vjp=(
            lambda ct, out, x, values, *indices, axis: ct,
            lambda ct, out, x, values, *indices, axis: apply(GATHER, ct, *indices, axis=axis),
        ),
        carries=carries_scattered,
        normalize=_normal_gather,
        promote=same_dtype,
        unpromoted=tuple(range(2, 34)),
        flops=lambda out, x, values, *indices, axis: values.size,
        facts=lambda x, values, *indices, axis: [
            fact
            for fact in (Fact("nonnegative"), Fact("nonpositive"), finite, total, integer_valued)
            if x.has(fact) and values.has(fact)
        ],
        doc="Values added at integer arrays on adjacent axes; repeated places add up.",
        traits=Traits(at_places=True, jointly_linear=(0, 1)),
    )
)


@naming_lines
def _gather(x: ArrayLike, *indices: ArrayLike, axis: int) -> Array:
    shape = as_array(x).shape
    (first,) = normal_axes(axis, len(shape))
    checked = [index_array(each, shape[first + i], first + i) for i, each in enumerate(indices)]
    return apply(GATHER, x, *checked, axis=axis)


gather = function(GATHER, _gather)


@naming_lines
def _scatter_add(x: ArrayLike, values: ArrayLike, *indices: ArrayLike, axis: int = 0) -> Array:
    shape = as_array(x).shape
    (first,) = normal_axes(axis, len(shape))
    checked = [index_array(each, shape[first + i], first + i) for i, each in enumerate(indices)]
    return apply(SCATTER_ADD, x, values, *checked, axis=axis)


scatter_add = function(SCATTER_ADD, _scatter_add)


def index_array(index: Index, size: Dim | None, axis: int) -> Any:
    """An index as an array: symbolic, or constant integers within range (None: any)."""
    if isinstance(index, Array):
        if index.dtype == bool:
            raise TraceError(
                "The number of elements that a boolean mask selects is not known before it runs.",
                mend="Keep the shape: np.where(mask, x, 0), or multiply by the mask.",
            )
        return index
    found = np.asarray(index)
    if not found.size and found.dtype.kind == "f":
        found = found.astype(np.int64)
    if found.dtype.kind not in "iu":
        raise DTypeError(
            f"an index array holds integers, not {found.dtype}.",
            mend="Convert it with .astype(int).",
        )
    if isinstance(size, int) and found.size:
        low, high = int(found.min()), int(found.max())
        if low < -size or high >= size:
            wrong = high if high >= size else low
            raise ShapeError(f"index {wrong} is out of range for axis {axis} of size {size}.")
    return found


# -- one place along an axis ---------------------------------------------------------------------
def _grid(xp: Any, index: Any, shape: tuple[int, ...], axis: int) -> tuple[Any, ...]:
    """The full index whose part on `axis` is `index`."""
    ndim = len(shape)
    places: list[Any] = []
    for each in range(-ndim, 0):
        if each == axis:
            places.append(index)
        else:
            counter = xp.arange(shape[each])
            places.append(xp.reshape(counter, (shape[each],) + (1,) * (-each - 1)))
    return tuple(places)


def _along_shape(x: Aval, index: Aval, axis: int) -> Shape:
    _check_indices(x, [index], axis)
    if index.ndim > x.ndim or index.ndim < -axis:
        raise ShapeError(
            f"the index has {index.ndim} dimensions, the array {x.ndim}.",
            mend="Give both the same number of dimensions.",
        )
    full = (*[1] * (x.ndim - index.ndim), *index.shape)
    wide = [1 if i == axis else dim for i, dim in enumerate(x.shape, -x.ndim)]
    result = list(broadcast_shapes(full, tuple(wide)))
    for i in range(-x.ndim, 0):
        if i != axis and not known_equal(result[i], x.shape[i]):
            raise ShapeError(
                f"index {show_shape(index.shape)} does not broadcast to {show_shape(x.shape)} "
                f"off axis {axis}."
            )
    return tuple(result)


TAKE_ALONG_AXIS = register(
    Op(
        "take_along_axis",
        batch=batch_into_first,
        infer=lambda x, index, *, axis: x.with_shape(_along_shape(x, index, axis)),
        kernel=lambda xp, x, index, *, axis: xp.getitem(x, _grid(xp, index, x.shape, axis)),
        vjp=(
            lambda ct, out, x, index, *, axis: apply(
                ADD_ALONG_AXIS,
                zeros((*ct.shape[: ct.ndim - out.ndim], *x.shape), ct.dtype),
                ct,
                index,
                axis=axis,
            ),
        ),
        carries=carries_off_axis,
        normalize=lambda avals, *, axis: {"axis": normal_axes(axis, avals[0].ndim)[0]},
        flops=no_flops,
        facts=lambda x, index, *, axis: facts_of_elements(x),
        doc="The elements at the places that an integer array gives along `axis`.",
        traits=replace(MOVEMENT, at_places=True),
    )
)


def _infer_add_along(x: Aval, values: Aval, index: Aval, *, axis: int) -> Aval:
    slots = _along_shape(x, index, axis)
    if not same_as_broadcast(values.shape, slots):
        raise ShapeError(
            f"values of shape {show_shape(values.shape)} do not fit the slots {show_shape(slots)}."
        )
    return x


ADD_ALONG_AXIS = register(
    Op(
        "add_along_axis",
        batch=batch_into_first,
        infer=_infer_add_along,
        kernel=lambda xp, x, values, index, *, axis: xp.scatter_add(
            x, _grid(xp, index, x.shape, axis), values
        ),
        vjp=(
            lambda ct, out, x, values, index, *, axis: ct,
            lambda ct, out, x, values, index, *, axis: apply(TAKE_ALONG_AXIS, ct, index, axis=axis),
        ),
        carries=carries_off_axis,
        normalize=lambda avals, *, axis: {"axis": normal_axes(axis, avals[0].ndim)[0]},
        promote=same_dtype,
        unpromoted=(2,),
        flops=lambda out, x, values, index, *, axis: values.size,
        facts=lambda x, values, index, *, axis: [
            fact
            for fact in (Fact("nonnegative"), Fact("nonpositive"), finite, total, integer_valued)
            if x.has(fact) and values.has(fact)
        ],
        doc="Add values at the places that an integer array gives along `axis`.",
        traits=Traits(at_places=True, jointly_linear=(0, 1)),
    )
)


@naming_lines
def _take_along_axis(x: ArrayLike, indices: ArrayLike, axis: int | None = -1) -> Array:
    if axis is None:
        x, axis = ravel(x), -1
    operand = as_array(x)
    (place,) = normal_axes(axis, operand.ndim)
    index = index_array(indices, operand.shape[place], place)
    if index.ndim != operand.ndim:
        raise ShapeError(
            f"take_along_axis: the index has {index.ndim} dimensions, the array {operand.ndim}.",
            mend="Give both the same number of dimensions.",
        )
    return apply(TAKE_ALONG_AXIS, operand, index, axis=axis)


take_along_axis = function(TAKE_ALONG_AXIS, _take_along_axis, np.take_along_axis)


def _add_along_axis(x: ArrayLike, values: ArrayLike, indices: ArrayLike, axis: int = -1) -> Array:
    return apply(ADD_ALONG_AXIS, x, values, indices, axis=axis)


add_along_axis = function(ADD_ALONG_AXIS, _add_along_axis)


# -- one-hot -------------------------------------------------------------------------------------
def _one_hot_kernel(xp: Any, labels: Any, *, size: int, dtype: Any) -> Any:
    counter = xp.arange(size)
    # Indexing the counter wraps negative labels and refuses labels out of range.
    places = xp.getitem(counter, labels)
    return xp.asarray(places[..., None] == counter, dtype=dtype)


def _infer_one_hot(labels: Aval, *, size: Dim, dtype: np.dtype[Any]) -> Aval:
    if labels.dtype.kind not in "iu":
        raise DTypeError(
            f"labels are integers, not {labels.dtype}.", mend="Convert them with .astype(int)."
        )
    return Aval(dtype, (*labels.shape, size))


ONE_HOT = register(
    Op(
        "one_hot",
        batch=batch_aligned,
        infer=_infer_one_hot,
        kernel=_one_hot_kernel,
        vjp=(None,),
        normalize=lambda avals, *, size, dtype: {"size": normal(size), "dtype": np.dtype(dtype)},
        facts=lambda labels, *, size, dtype: (one_hot_fact(-1), interval(0.0, 1.0)),
        doc="Rows of the identity matrix: 1 at each label along a new last axis, else 0.",
    )
)


@naming_lines
def _one_hot(labels: ArrayLike, size: Dim, dtype: DTypeLike = "float64") -> Array:
    operand = labels if isinstance(labels, Array) else index_array(labels, normal(size), -1)
    return apply(ONE_HOT, operand, size=size, dtype=dtype)


one_hot = function(ONE_HOT, _one_hot)
