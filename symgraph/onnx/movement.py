"""Shapes, indices and placement in ONNX's operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ..ir.avals import Aval, broadcast_shapes, normal_axes
from ..ir.dims import Dim, count, fixed, normal, same_shape
from .refusal import Refused
from .traced import TracedTensor, as_size, dim_of

__all__ = ["getitem", "scatter_add", "scatter_set"]

_END = 2**63 - 1
INT64 = np.dtype(np.int64)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(cast("Sequence[Any]", value)) if isinstance(value, (tuple, list)) else (value,)


def reshape(xp: Any, x: Any, shape: Any, **_order: Any) -> TracedTensor:
    x = xp.lift(x)
    dims: list[Dim] = [dim_of(each) for each in _as_tuple(shape)]
    if -1 in dims:
        place = dims.index(-1)
        rest = count([*dims[:place], *dims[place + 1 :]])
        if rest == 0:
            raise Refused("the size of an axis cannot be told of an array without elements")
        whole: Any = x.aval.size
        dims[place] = whole // rest if isinstance(whole, int) else normal(whole / rest)
    # Without `allowzero` a size of 0 would mean the size that was there before.
    aval = x.aval.with_shape(dims)
    return xp.made("Reshape", aval, x, xp.writer.shape(aval.shape), allowzero=1)


def broadcast_to(xp: Any, x: Any, shape: Any) -> TracedTensor:
    x = xp.lift(x)
    aval = x.aval.with_shape([dim_of(each) for each in _as_tuple(shape)])
    if fixed(aval.shape) and aval.size == 0:
        # onnxruntime 1.32 leaves an Expand to no elements out, as if it changed nothing.
        return xp.lift(np.zeros(cast("tuple[int, ...]", aval.shape), aval.dtype))
    return xp.made("Expand", aval, x, xp.writer.shape(aval.shape))


def transpose(xp: Any, x: Any, axes: Any = None) -> TracedTensor:
    order = range(x.ndim)[::-1] if axes is None else [int(each) % x.ndim for each in axes]
    aval = x.aval.with_shape([x.aval.shape[each] for each in order])
    return xp.made("Transpose", aval, x, perm=list(order)) if x.ndim else x


def swapaxes(xp: Any, x: Any, first: int, second: int) -> TracedTensor:
    order = list(range(x.ndim))
    order[first], order[second] = order[second], order[first]
    return transpose(xp, x, order)


def moveaxis(xp: Any, x: Any, source: int, destination: int) -> TracedTensor:
    order = list(range(x.ndim))
    order.insert(destination % x.ndim, order.pop(source % x.ndim))
    return transpose(xp, x, order)


def expand_dims(xp: Any, x: Any, axis: Any) -> TracedTensor:
    axes = _as_tuple(axis)
    ndim = x.ndim + len(axes)
    places = sorted(int(each) % ndim for each in axes)
    shape = list(x.aval.shape)
    for each in places:
        shape.insert(each, 1)
    return xp.made("Unsqueeze", x.aval.with_shape(shape), x, xp.writer.integers(*places))


def squeeze(xp: Any, x: Any, axis: Any = None) -> TracedTensor:
    if axis is None:
        raise Refused("which axes are removed depends on the sizes")
    places = sorted(int(each) % x.ndim for each in _as_tuple(axis))
    shape = [dim for place, dim in enumerate(x.aval.shape) if place not in places]
    return xp.made("Squeeze", x.aval.with_shape(shape), x, xp.writer.integers(*places))


def concatenate(xp: Any, arrays: Any, axis: int = 0) -> TracedTensor:
    lifted = [xp.lift(each) for each in arrays]
    dtype = np.result_type(*[each.dtype for each in lifted])
    lifted = [xp.lift(each, dtype) for each in lifted]
    place = axis % lifted[0].ndim
    shape = list(lifted[0].aval.shape)
    total: Any = 0
    for each in lifted:
        total = total + each.aval.shape[place]
    shape[place] = total
    return xp.made("Concat", Aval(dtype, tuple(shape)), *lifted, axis=place)


def stack(xp: Any, arrays: Any, axis: int = 0) -> TracedTensor:
    lifted = [xp.lift(each) for each in arrays]
    return concatenate(xp, [expand_dims(xp, each, axis) for each in lifted], axis)


def pad(
    xp: Any, x: Any, widths: Any, mode: str = "constant", constant_values: Any = 0
) -> TracedTensor:
    if mode != "constant" or np.ndim(constant_values):
        raise Refused(f"its padding of mode {mode!r} is not written as ONNX yet")
    pairs = [tuple(int(each) for each in pair) for pair in np.broadcast_to(widths, (x.ndim, 2))]
    befores, afters = zip(*pairs, strict=True) if pairs else ((), ())
    shape = [
        dim + before + after
        for dim, before, after in zip(x.aval.shape, befores, afters, strict=True)
    ]
    amounts = xp.writer.integers(*befores, *afters)
    number = xp.lift(constant_values, x.dtype)
    return xp.made("Pad", x.aval.with_shape(shape), x, amounts, number)


def diagonal(xp: Any, x: Any, offset: int = 0, first: int = 0, second: int = 1) -> TracedTensor:
    if (first, second) != (-2, -1) or not fixed(x.aval.shape[-2:]):
        raise Refused("the length of a diagonal depends on named dimensions")
    rows, columns = np.diagonal(np.indices(x.aval.shape[-2:]), offset, -2, -1)
    return getitem(xp, x, (Ellipsis, rows, columns))


def triangle(upper: bool) -> Any:
    """`tril` or `triu`."""

    def spelled(xp: Any, x: Any, k: int = 0) -> TracedTensor:
        return xp.made("Trilu", x.aval, x, xp.writer.constant(k, np.int64), upper=int(upper))

    return spelled


def filled(value: float) -> Any:
    """`zeros` or `ones` of a shape with named dimensions."""

    def spelled(xp: Any, shape: Any, dtype: Any = np.float64) -> TracedTensor:
        return broadcast_to(xp, np.asarray(value, dtype), shape)

    return spelled


def filled_like(value: float | None) -> Any:
    """`zeros_like`, `ones_like` or `full_like`."""

    def spelled(xp: Any, x: Any, *given: Any, dtype: Any = None) -> TracedTensor:
        number = given[0] if value is None else value
        shape = tuple([as_size(dim) for dim in x.aval.shape])
        return broadcast_to(xp, xp.lift(number, np.dtype(dtype or x.dtype)), shape)

    return spelled


def asarray(xp: Any, x: Any, dtype: Any = None, **_copy: Any) -> TracedTensor:
    return xp.lift(x, None if dtype is None else np.dtype(dtype))


def arange(xp: Any, size: Any, dtype: Any = np.int64) -> TracedTensor:
    stop = xp.lift(size)
    ends = [xp.writer.constant(each, np.int64) for each in (0, 1)]
    found = xp.made("Range", Aval(INT64, (dim_of(size),)), ends[0], stop, ends[1])
    return xp.astype(found, dtype)


def eye(
    xp: Any, rows: Any, columns: Any = None, k: int = 0, dtype: Any = np.float64
) -> TracedTensor:
    row = expand_dims(xp, xp.lift(xp.arange(rows)), 1)
    column = xp.lift(xp.arange(rows if columns is None else columns))
    return xp.astype(xp.equal(column - row, k), dtype)


# -- indices -----------------------------------------------------------------------------------
def getitem(xp: Any, x: Any, index: Any) -> TracedTensor:
    """`x[index]`: slices and new axes first, then integer arrays on what is left."""
    x = xp.lift(x)
    parts = _without_ellipsis(_as_tuple(index), x.ndim)
    if any(isinstance(part, (TracedTensor, np.ndarray)) for part in parts):
        # Among arrays NumPy takes a number for an array of no axes.
        parts = [np.asarray(part) if type(part) is int else part for part in parts]
    x, parts = _sliced(xp, x, parts)
    arrays = {place: xp.lift(part) for place, part in enumerate(parts) if part is not None}
    if not arrays:
        return x
    if any(each.dtype.kind not in "iu" for each in arrays.values()):
        raise Refused("truth values are no positions in ONNX")
    return _gathered(xp, x, arrays)


def _without_ellipsis(parts: tuple[Any, ...], ndim: int) -> list[Any]:
    used = sum(1 for part in parts if part is not None and part is not Ellipsis)
    whole = [slice(None)] * (ndim - used)
    for place, part in enumerate(parts):
        if part is Ellipsis:
            return [*parts[:place], *whole, *parts[place + 1 :]]
    return [*parts, *whole]


def _sliced(xp: Any, x: TracedTensor, parts: list[Any]) -> tuple[TracedTensor, list[Any]]:
    """The array after slices, numbers and new axes, and an entry an axis: an array or None."""
    cuts: list[tuple[int, int, int, int]] = []
    removed: list[int] = []
    added: list[int] = []
    left: list[Any] = []
    shape: list[Dim] = []
    axis = 0
    for part in parts:
        if part is None:
            added.append(len(left))
            left.append(None)
            continue
        dim = x.aval.shape[axis]
        if isinstance(part, slice):
            cut, dim = _cut(part, dim)
            if cut is not None:
                cuts.append((axis, *cut))
            left.append(None)
        elif isinstance(part, (int, np.integer)):
            start = int(part)
            cuts.append((axis, start, start + 1 if start != -1 else _END, 1))
            removed.append(axis)
            dim = 1
        else:
            left.append(part)
        shape.append(dim)
        axis += 1
    if cuts:
        axes, starts, ends, steps = [xp.writer.integers(*each) for each in zip(*cuts, strict=True)]
        x = xp.made("Slice", x.aval.with_shape(shape), x, starts, ends, axes, steps)
    x = squeeze(xp, x, tuple(removed)) if removed else x
    return (expand_dims(xp, x, tuple(added)) if added else x), left


def _cut(part: slice, dim: Dim) -> tuple[tuple[int, int, int] | None, Dim]:
    """Start, end and step of a slice as ONNX has them, and the size that is left."""
    step = 1 if part.step is None else int(part.step)
    if part.start is None and part.stop is None and step == 1:
        return None, dim
    if isinstance(dim, int):
        left: Dim = len(range(*part.indices(dim)))
        start, stop, step = part.indices(dim)
        # A stop of -1 means before the first element here, and the last element to ONNX.
        return (start, stop if stop >= 0 else -_END, step), left
    if part.start is None and part.stop is None and step == -1:
        return (_END, -_END, -1), dim
    if step < 0:
        raise Refused(f"ONNX bounds a slice that runs back over {dim} in another way")
    start = 0 if part.start is None else int(part.start)
    from sympy import Dummy  # Importing SymPy takes 0.3 s: only named sizes pay.

    # The node knows the size that is left; a kernel that asks for it is refused.
    left = Dummy(f"slice of {dim}", integer=True, nonnegative=True)
    return (start, _END if part.stop is None else int(part.stop), step), left


def _gathered(xp: Any, x: TracedTensor, arrays: dict[int, TracedTensor]) -> TracedTensor:
    axes = list(arrays)
    indices = [xp.astype(each, INT64) for each in arrays.values()]
    places = broadcast_shapes(*[each.aval.shape for each in indices])
    if len(axes) == 1:
        shape = x.aval.shape[: axes[0]] + places + x.aval.shape[axes[0] + 1 :]
        return xp.made("Gather", x.aval.with_shape(shape), x, indices[0], axis=axes[0])
    others = [each for each in range(x.ndim) if each not in axes]
    front = transpose(xp, x, [*axes, *others])
    sizes = tuple([as_size(dim) for dim in places])
    table = stack(xp, [broadcast_to(xp, each, sizes) for each in indices], -1)
    rest = front.aval.shape[len(axes) :]
    found = xp.made("GatherND", x.aval.with_shape(places + rest), front, table)
    if axes != list(range(axes[0], axes[-1] + 1)) or not axes[0]:
        return found  # NumPy puts the axes of arrays first, too.
    count_of = len(places)
    order = list(range(count_of, count_of + axes[0])) + list(range(count_of))
    return transpose(xp, found, order + list(range(count_of + axes[0], found.ndim)))


# -- placement -----------------------------------------------------------------------------------
def scatter_add(xp: Any, x: Any, index: Any, values: Any) -> TracedTensor:
    """Values placed at one position add up."""
    return _scattered(xp, xp.lift(x), index, values, "add")


def scatter_set(xp: Any, x: Any, index: Any, values: Any) -> TracedTensor:
    """Only where no position can repeat: ONNX leaves open which value stays."""
    x = xp.lift(x)
    parts = _as_tuple(index)
    basic = all(part is None or part is Ellipsis or isinstance(part, (int, slice))
                for part in parts)  # fmt: skip
    if not basic:
        if any(isinstance(part, TracedTensor) for part in parts) or not fixed(x.aval.shape):
            raise Refused("positions may repeat, and ONNX leaves open which value stays")
        found = _positions(xp, x)[parts]
        if len(np.unique(found)) != found.size:
            raise Refused("positions repeat, and ONNX leaves open which value stays")
    return _scattered(xp, x, index, values, "none")


def _positions(xp: Any, x: TracedTensor) -> Any:
    """The number of each element, in the shape of `x`: NumPy's array where sizes are numbers."""
    return xp.reshape(xp.arange(as_size(x.aval.size)), x.shape)


def _scattered(xp: Any, x: TracedTensor, index: Any, values: Any, reduction: str) -> TracedTensor:
    parts = _as_tuple(index)
    positions = _positions(xp, x)
    if isinstance(positions, TracedTensor) or any(isinstance(part, TracedTensor) for part in parts):
        found = getitem(xp, positions, parts)
    else:
        found = xp.lift(positions[parts])
    values = xp.lift(values, x.dtype)
    if not same_shape(values.aval.shape, found.aval.shape):
        values = broadcast_to(xp, values, found.shape)
    flat = [xp.reshape(each, (as_size(each.aval.size),)) for each in (x, found, values)]
    placed = xp.made("ScatterElements", flat[0].aval, *flat, axis=0, reduction=reduction)
    return xp.reshape(placed, x.shape)


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes as numbers from zero."""
    return tuple([each + ndim for each in normal_axes(axis, ndim)])
