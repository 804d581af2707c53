"""Reductions, contractions and running sums in ONNX's operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.avals import Aval, broadcast_shapes
from ..ir.dims import fixed
from ..namespace import windows
from .elementwise import BOOL
from .movement import INT64, axes_of, expand_dims, squeeze
from .refusal import Refused
from .traced import TracedTensor, as_size

__all__ = ["extreme", "reduced"]


def _reduced_aval(x: TracedTensor, axes: tuple[int, ...], keepdims: bool) -> Aval:
    shape = [
        1 if place in axes else dim
        for place, dim in enumerate(x.aval.shape)
        if keepdims or place not in axes
    ]
    return x.aval.with_shape(shape)


def reduced(op: str, name: str) -> Any:
    """A reduction of numbers; NumPy adds up truth values and small integers in a wider dtype."""

    def spelled(
        xp: Any, x: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None
    ) -> TracedTensor:
        function: Any = getattr(np, name)
        x = xp.lift(x)
        x = xp.astype(x, dtype or function(np.zeros(1, x.dtype)).dtype)
        return _reduce(xp, op, x, axes_of(axis, x.ndim), keepdims)

    return spelled


def _reduce(
    xp: Any, op: str, x: TracedTensor, axes: tuple[int, ...], keepdims: bool
) -> TracedTensor:
    if not axes:  # ONNX would take no axes for all of them.
        return x
    aval = _reduced_aval(x, axes, keepdims)
    return xp.made(op, aval, x, xp.writer.integers(*axes), keepdims=int(keepdims))


def _any(xp: Any, x: TracedTensor, axes: tuple[int, ...], keepdims: bool) -> TracedTensor:
    """Whether one of the truth values is true; of none, false."""
    return xp.astype(_reduce(xp, "ReduceSum", xp.astype(x, INT64), axes, keepdims), BOOL)


def any_of(xp: Any, x: Any, axis: Any = None, keepdims: bool = False) -> TracedTensor:
    truth = xp.logical_not(xp.logical_not(x))
    return _any(xp, truth, axes_of(axis, x.ndim), keepdims)


def all_of(xp: Any, x: Any, axis: Any = None, keepdims: bool = False) -> TracedTensor:
    return xp.logical_not(_any(xp, xp.logical_not(x), axes_of(axis, x.ndim), keepdims))


def extreme(op: str, beats: str) -> Any:
    """The largest or smallest element; a NaN among them is the result."""

    def spelled(
        xp: Any, x: Any, axis: Any = None, keepdims: bool = False, initial: Any = None
    ) -> TracedTensor:
        axes = axes_of(axis, x.ndim)
        if x.dtype == BOOL:
            return (any_of if op == "ReduceMax" else all_of)(xp, x, axis, keepdims)
        found = _reduce(xp, op, x, axes, keepdims)
        if x.dtype.kind == "f":
            found = xp.where(_any(xp, xp.isnan(x), axes, keepdims), xp.lift(np.nan, x.dtype), found)
        if initial is not None:
            found = getattr(xp, beats)(found, xp.lift(initial, x.dtype))
        return found

    return spelled


def position(op: str) -> Any:
    """The first place of the largest or smallest element; of the first NaN, if there is one."""

    def spelled(xp: Any, x: Any, axis: Any = None, keepdims: bool = False) -> TracedTensor:
        if axis is None:
            x, axis = xp.reshape(x, (x.size,)), 0
            if keepdims:
                raise Refused("ONNX has no position in a flat array that keeps its axes")
        (place,) = axes_of(axis, x.ndim)
        numbers = xp.astype(x, np.int32) if x.dtype == BOOL else x
        options = {"axis": place, "keepdims": int(keepdims), "select_last_index": 0}
        aval = _reduced_aval(x, (place,), keepdims).with_dtype(INT64)
        found = xp.made(op, aval, numbers, **options)
        if x.dtype.kind != "f":
            return found
        unknown = xp.isnan(x)
        first = xp.made("ArgMax", aval, xp.astype(unknown, np.int32), **options)
        return xp.where(_any(xp, unknown, (place,), keepdims), first, found)

    return spelled


def mean(xp: Any, x: Any, axis: Any = None, keepdims: bool = False) -> TracedTensor:
    if x.dtype not in (np.float32, np.float64):
        raise Refused(f"NumPy adds up a mean of {x.dtype} in another dtype")
    return _reduce(xp, "ReduceMean", x, axes_of(axis, x.ndim), keepdims)


def cumsum(xp: Any, x: Any, axis: int) -> TracedTensor:
    x = xp.astype(x, np.cumsum(np.zeros(1, x.dtype)).dtype)
    return xp.made("CumSum", x.aval, x, xp.writer.constant(axis % x.ndim, np.int64))


def sort(xp: Any, x: Any, axis: int = -1) -> TracedTensor:
    """NaN last: they are sorted as infinity, and as many of the last ones become NaN."""
    if x.dtype == BOOL:
        return xp.astype(sort(xp, xp.astype(x, np.int32), axis), BOOL)
    size = x.aval.shape[axis]
    if x.dtype.kind != "f":
        return _ordered(xp, x, axis)[0]
    unknown = xp.isnan(x)
    found = _ordered(xp, xp.where(unknown, xp.lift(np.inf, x.dtype), x), axis)[0]
    numbers = xp.sum(xp.logical_not(unknown), axis=axis, keepdims=True)
    places = xp.reshape(xp.arange(as_size(size)), (as_size(size),) + (1,) * (-axis - 1))
    return xp.where(xp.less(places, numbers), found, xp.lift(np.nan, x.dtype))


def argsort(xp: Any, x: Any, axis: int = -1, stable: bool = True) -> TracedTensor:
    """Of equal elements ONNX takes the first one first, too."""
    if x.dtype.kind == "f" or not stable:
        raise Refused("NaN has no place in ONNX's order of floats")
    return _ordered(xp, xp.astype(x, np.int32) if x.dtype == BOOL else x, axis)[1]


def _ordered(xp: Any, x: TracedTensor, axis: int) -> tuple[TracedTensor, TracedTensor]:
    """The elements in ascending order, and where they stood."""
    place = axis % x.ndim
    count = xp.writer.size(x.aval.shape[place])
    options = {"axis": place, "largest": 0, "sorted": 1}
    values, places = xp.writer.emit_all("TopK", (x.name, count), 2, **options)
    return TracedTensor(xp, values, x.aval), TracedTensor(xp, places, x.aval.with_dtype(INT64))


def convolution(xp: Any, x: Any, w: Any, strides: Any, dilations: Any, groups: int) -> TracedTensor:
    """ONNX's own where engines have it, float32 without further leading axes; else by windows."""
    n = len(strides)
    x, w = xp.lift(x), xp.lift(w)
    extents, sizes = x.aval.shape[-n:], w.aval.shape[-n:]
    plain = x.ndim == w.ndim == n + 2 and n <= 3 and fixed((*extents, *sizes))
    if not plain or x.dtype != np.float32 or w.dtype != np.float32:
        return windows.convolution(xp, x, w, strides, dilations, groups)
    counts = windows.counts_of(extents, sizes, strides, dilations)
    aval = x.aval.with_shape((x.aval.shape[0], w.aval.shape[0], *counts))
    options = {"strides": list(strides), "dilations": list(dilations), "group": groups}
    return xp.made("Conv", aval, x, w, kernel_shape=list(sizes), **options)


def matmul(xp: Any, x: Any, y: Any) -> TracedTensor:
    """Of matrices, a vector being one: onnxruntime 1.32 forgets the transpose in `A.T @ vector`."""
    x, y = xp.lift(x), xp.lift(y)
    dtype = np.result_type(x.dtype, y.dtype)
    if dtype == BOOL:
        raise Refused("ONNX has no product of matrices of truth values")
    x, y = xp.lift(x, dtype), xp.lift(y, dtype)
    if x.ndim == 1:
        return squeeze(xp, matmul(xp, expand_dims(xp, x, 0), y), -2 if y.ndim > 1 else 0)
    if y.ndim == 1:
        return squeeze(xp, matmul(xp, x, expand_dims(xp, y, 1)), -1)
    left, right = x.aval.shape, y.aval.shape
    lead = broadcast_shapes(left[:-2], right[:-2])
    return xp.made("MatMul", Aval(dtype, (*lead, left[-2], right[-1])), x, y)


def einsum(xp: Any, subscripts: str, *arrays: Any, **_options: Any) -> TracedTensor:
    """With explicit subscripts, as graphs have them."""
    operands = [xp.lift(each) for each in arrays]
    dtype = np.result_type(*[each.dtype for each in operands])
    if dtype == BOOL:
        raise Refused("ONNX has no einsum of truth values")
    operands = [xp.lift(each, dtype) for each in operands]
    given, arrow, result = subscripts.replace(" ", "").partition("->")
    if not arrow or "." in subscripts:
        raise Refused("its subscripts are not all written out")
    sizes: dict[str, Any] = {}
    for letters, operand in zip(given.split(","), operands, strict=True):
        for letter, dim in zip(letters, operand.aval.shape, strict=True):
            if sizes.get(letter, 1) == 1:
                sizes[letter] = dim
    aval = Aval(dtype, tuple([sizes[letter] for letter in result]))
    return xp.made("Einsum", aval, *operands, equation=subscripts)


def det(xp: Any, x: Any) -> TracedTensor:
    return xp.made("Det", x.aval.with_shape(x.aval.shape[:-2]), x)
