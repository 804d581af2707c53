"""Reading and adding at integer arrays: gather, scatter_add, one-hot rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..array import Array, ArrayLike, apply
from ..errors import DTypeError
from ..facts import Fact, finite, integer_valued, interval, total
from ..facts import one_hot as one_hot_fact
from ..ir.avals import Aval, AxisLike, broadcast_shapes, normal_axis
from ..ir.dims import Dim, Shape, count, normal
from ..ir.op import Batch, Op, no_flops, register
from ..ir.traits import MOVEMENT, Traits
from ..notation import array_formulas, node_text
from .along_axis import ADD_ALONG_AXIS, TAKE_ALONG_AXIS
from .batched import aligned, applied, batch_aligned, own_ndim, whole
from .carrying import carries_gathered, carries_scattered
from .composites import as_array, naming_lines
from .creation import arange, zeros
from .families import function, same_dtype
from .index_arrays import check_fit, check_indices, index_array
from .movement import broadcast_to, facts_of_elements, moveaxis, reshape

__all__ = [
    "gather",
    "one_hot",
    "scatter_add",
]


def _gathered_shape(x: Aval, indices: Sequence[Aval], axis: int) -> Shape:
    check_indices(x, indices, axis)
    start = x.ndim + axis
    joint = broadcast_shapes(*[index.shape for index in indices])
    return (*x.shape[:start], *joint, *x.shape[start + len(indices) :])


def _places(indices: Sequence[Any], axis: int) -> tuple[Any, ...]:
    return (Ellipsis, *indices, *[slice(None)] * (-axis - len(indices)))


def _vjp_gather(ct: Array, out: Array, x: Array, *indices: Array, axis: int) -> Array:
    start = zeros((*ct.shape[: ct.ndim - out.ndim], *x.shape), ct.dtype)
    return apply(SCATTER_ADD, start, ct, *indices, axis=axis)


def _normal_gather(avals: tuple[Aval, ...], *, axis: AxisLike) -> dict[str, Any]:
    return {"axis": normal_axis(axis, avals[0].ndim)}


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
        latex=array_formulas.gathered_formula,
        text=node_text.gathered_text,
    )
)


def _infer_scatter_add(x: Aval, values: Aval, *indices: Aval, axis: int) -> Aval:
    slots = _gathered_shape(x, indices, axis)
    check_fit(values.shape, slots)
    return x


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
    first = normal_axis(axis, len(shape))
    checked = [index_array(each, shape[first + i], first + i) for i, each in enumerate(indices)]
    return apply(GATHER, x, *checked, axis=axis)


gather = function(GATHER, _gather)


@naming_lines
def _scatter_add(x: ArrayLike, values: ArrayLike, *indices: ArrayLike, axis: int = 0) -> Array:
    shape = as_array(x).shape
    first = normal_axis(axis, len(shape))
    checked = [index_array(each, shape[first + i], first + i) for i, each in enumerate(indices)]
    return apply(SCATTER_ADD, x, values, *checked, axis=axis)


scatter_add = function(SCATTER_ADD, _scatter_add)


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
        workspace=lambda out, labels, **_: out.size + 8 * labels.size,  # Truth values; places.
        vjp=(None,),
        normalize=lambda avals, *, size, dtype: {"size": normal(size), "dtype": np.dtype(dtype)},
        facts=lambda labels, *, size, dtype: (one_hot_fact(-1), interval(0.0, 1.0), finite),
        doc="Rows of the identity matrix: 1 at each label along a new last axis, else 0.",
    )
)


@naming_lines
def _one_hot(labels: ArrayLike, size: Dim, dtype: DTypeLike = "float64") -> Array:
    operand = labels if isinstance(labels, Array) else index_array(labels, normal(size), -1)
    return apply(ONE_HOT, operand, size=size, dtype=dtype)


one_hot = function(ONE_HOT, _one_hot)
