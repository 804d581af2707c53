"""Reading and adding at one place along an axis: `take_along_axis` and its derivative."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..array import Array, ArrayLike, apply
from ..errors import ShapeError
from ..facts import Fact, finite, integer_valued, total
from ..ir.avals import Aval, broadcast_shapes, normal_axis
from ..ir.dims import Shape, known_equal, show_shape
from ..ir.op import Op, no_flops, register, results_of
from ..ir.traits import MOVEMENT, Traits
from .batched import batch_into_first
from .carrying import carries_off_axis
from .composites import as_array, naming_lines
from .creation import zeros
from .families import function, same_dtype
from .index_arrays import check_fit, check_indices, index_array
from .movement import facts_of_elements, ravel

__all__ = ["add_along_axis", "take_along_axis"]


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
    check_indices(x, [index], axis)
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
        workspace=lambda out, x, index, **_: index.nbytes,
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
        normalize=lambda avals, *, axis: {"axis": normal_axis(axis, avals[0].ndim)},
        flops=no_flops,
        facts=lambda x, index, *, axis: facts_of_elements(x),
        doc="The elements at the places that an integer array gives along `axis`.",
        traits=replace(MOVEMENT, at_places=True),
    )
)


def _infer_add_along(x: Aval, values: Aval, index: Aval, *, axis: int) -> Aval:
    slots = _along_shape(x, index, axis)
    check_fit(values.shape, slots)
    return x


ADD_ALONG_AXIS = register(
    Op(
        "add_along_axis",
        workspace=results_of(0.5),
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
        normalize=lambda avals, *, axis: {"axis": normal_axis(axis, avals[0].ndim)},
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
    place = normal_axis(axis, operand.ndim)
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
