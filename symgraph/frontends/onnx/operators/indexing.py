"""Indices: reading values from places, and writing values to them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .... import numpy as snp
from ....errors import FormatError
from ....ir.avals import broadcast_shapes
from ..call import Call, Tensor
from ..registry import operator
from ..values import is_sized

__all__: list[str] = []


@operator("Gather", of_sizes=True)
def gather(call: Call, x: Any, indices: Any) -> Any:
    """Parts along an axis; negative indices count from the end."""
    axis = call.whole("axis")
    if not is_sized(x):
        numbers = call.known(1)
        if numbers is not None and not numbers.ndim:
            return x[(*[slice(None)] * (axis % x.ndim), int(numbers))]
    return np.take(x, indices, axis=axis)


@operator("GatherElements", since=11)
def gather_elements(call: Call, x: Tensor, indices: Tensor) -> Tensor:
    return x[_places(x, indices, call.whole("axis"))]


def _places(x: Tensor, indices: Tensor, axis: int) -> tuple[Any, ...]:
    """For each element of `indices` its place in `x`, which differs along the axis alone."""
    grid: list[Any] = [
        np.reshape(snp.arange(dim), [-1 if a == place else 1 for a in range(indices.ndim)])
        for place, dim in enumerate(indices.shape)
    ]
    grid[axis] = indices
    return tuple(grid)


@operator("GatherND", since=11)
def gather_nd(call: Call, x: Tensor, indices: Tensor) -> Tensor:
    batch = call.whole("batch_dims")
    return x[_tuples(x, indices, batch)]


def _tuples(x: Tensor, indices: Tensor, batch: int) -> tuple[Any, ...]:
    """The last axis of `indices` holds the places in the axes of `x` behind those of the batch."""
    depth = indices.shape[-1]
    if not isinstance(depth, int) or batch + depth > x.ndim:
        raise FormatError(f"Tuples of {depth} indices do not fit into {x.aval}.")
    rest = indices.ndim - 1
    leading = [
        np.reshape(snp.arange(dim), [-1 if a == place else 1 for a in range(rest)])
        for place, dim in enumerate(x.shape[:batch])
    ]
    return (*leading, *[indices[..., place] for place in range(depth)])


# -- writing ---------------------------------------------------------------------------------------
def _combined(call: Call, x: Tensor, index: tuple[Any, ...], values: Tensor) -> Tensor:
    """The operand, with values written or added at places."""
    kind = call.choice("reduction", "none", "add", "mul", "max", "min")
    if kind == "none":
        return snp.index_update(x, index, values)
    if kind == "add":
        return snp.index_add(x, index, values)
    return _one_by_one(x, index, values, _REDUCTIONS[kind])


_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}
_MOST_WRITES = 256


def _one_by_one(
    x: Tensor, index: tuple[Any, ...], values: Tensor, function: Callable[..., Any]
) -> Tensor:
    """Writes in their order, as a place may occur more than once."""
    shape: Any = broadcast_shapes(*[tuple(each.shape) for each in index])
    count: Any = math.prod(shape)
    if not isinstance(count, int) or count > _MOST_WRITES:
        raise FormatError(
            f"A scatter of {count} values that multiplies or compares is not read; at most "
            f"{_MOST_WRITES} are."
        )
    places = [np.reshape(np.broadcast_to(each, shape), (-1,)) for each in index]
    rows = np.reshape(values, (count, *values.shape[len(shape) :]))
    for number in range(count):
        here = tuple([each[number] for each in places])
        x = snp.index_update(x, here, function(x[here], rows[number]))
    return x


@operator("Scatter", "ScatterElements", since=9)
def scatter_elements(call: Call, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    return _combined(call, x, _places(x, indices, call.whole("axis")), updates)


@operator("ScatterND", since=11)
def scatter_nd(call: Call, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    return _combined(call, x, _tuples(x, indices, 0), updates)


@operator("TensorScatter", since=24)
def tensor_scatter(
    call: Call, past: Tensor, update: Tensor, write_indices: Tensor | None = None
) -> Tensor:
    """A stretch of an axis, written for each of a batch to where it begins."""
    axis = call.whole("axis", -2) % past.ndim
    extent: Any = past.shape[axis]
    batch = past.shape[0]
    first = snp.zeros((batch,), np.int64) if write_indices is None else write_indices

    def along(values: Any, place: int) -> Any:
        return np.reshape(values, [-1 if a == place else 1 for a in range(past.ndim)])

    places = along(first, 0) + along(snp.arange(update.shape[axis]), axis)
    if call.choice("mode", "linear", "circular") == "circular":
        places = places % extent
    grid: list[Any] = [along(snp.arange(dim), place) for place, dim in enumerate(update.shape)]
    grid[axis] = places
    return snp.index_update(past, tuple(grid), update)


# -- choices that fix a shape ----------------------------------------------------------------------
@operator("Compress", since=9)
def compress(call: Call, x: Tensor, _condition: Tensor) -> Tensor:
    """The elements where the condition holds, so its numbers must be known."""
    chosen = np.flatnonzero(call.numbers(1, "condition"))
    if not call.has("axis"):
        call.whole("axis")
        return np.take(np.reshape(x, (-1,)), chosen)
    return np.take(x, chosen, axis=call.whole("axis"))


@operator("NonZero", since=9)
def non_zero(call: Call, _x: Tensor) -> Any:
    return np.array(np.nonzero(call.numbers(0, "elements")), np.int64)


@operator("ArrayFeatureExtractor", domain="ai.onnx.ml")
def array_feature_extractor(_call: Call, x: Tensor, places: Tensor) -> Tensor:
    found = np.take(x, np.reshape(places, (-1,)), axis=-1)
    return found if x.ndim > 1 else np.reshape(found, (1, -1))


@operator("Binarizer", domain="ai.onnx.ml")
def binarizer(call: Call, x: Tensor) -> Tensor:
    return (x > call.real("threshold", 0.0)).astype(x.dtype)
