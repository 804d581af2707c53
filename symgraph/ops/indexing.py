"""Reading and adding at positions: slices, integer arrays, take, scatter_add, one_hot.

Every index is brought to a normal form that an array with extra leading axes takes as well: basic indices
(`getitem`) have one entry an axis, advanced ones (`gather`) are on adjacent axes, the array being
transposed first where they are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, apply
from ..avals import Aval, broadcast_shapes, normal_axes
from ..dims import Dim, Shape, known_equal, normal, show_shape
from ..errors import DTypeError, ShapeError, TraceError
from ..facts import Fact, finite, integer_valued, interval, one_hot as one_hot_fact, total
from ..op import Algebra, Op, no_flops, register
from .composites import as_array, composite, refuse
from .creation import arange, zeros
from .families import function, same_dtype
from .movement import broadcast_to, expand_dims, facts_of_elements, ravel, reshape, transpose

__all__ = [
    "embed",
    "flip",
    "gather",
    "getitem",
    "one_hot",
    "roll",
    "scatter_add",
    "split",
    "take",
    "take_along_axis",
]

Slice = tuple[Any, Any, Any]
Entry = Any
"""An int, None (a new axis) or a `Slice`."""


# -- basic indices -----------------------------------------------------------------------------------
def _expression(value: Any) -> bool:
    return hasattr(value, "free_symbols")


def _bound(value: Any, size: Dim) -> Any:
    """A slice bound as an int, None, or an expression that is known not to be negative."""
    if value is None or isinstance(value, (int, np.integer)):
        return None if value is None else int(value)
    if _expression(value):
        value = normal(value)
        offset = normal(value - size) if not isinstance(value, int) else value
        if isinstance(value, int) or offset == 0:
            return value
        if isinstance(offset, int) and offset < 0:
            return offset
        if value.is_nonnegative:
            return value
        raise ShapeError(
            f"the bound {value} of a slice is not known to be nonnegative.",
            mend="Count from an end of the axis: x[:-1] instead of x[:n - 1].",
        )
    try:
        return int(value.__index__())
    except (AttributeError, TypeError):
        raise DTypeError(f"a slice bound is an integer, not {value!r}.") from None


def _clamped(value: Any, size: Dim) -> Dim:
    """min(value, size) for a nonnegative value, max(size + value, 0) for a negative one."""
    if isinstance(value, int) and value < 0:
        rest = normal(size + value)
        if isinstance(rest, int) or rest.is_nonnegative:
            return rest if not isinstance(rest, int) or rest > 0 else 0
        from sympy import Max  # only where a dimension is named

        return Max(rest, 0)
    left: Any = normal(size - value)
    if isinstance(left, int):
        return value if left >= 0 else size
    if left.is_nonnegative:
        return normal(value)
    if left.is_nonpositive:
        return size
    from sympy import Min

    return Min(value, size)


def _slice_length(entry: Slice, size: Dim) -> Dim:
    start, stop, step = entry
    if isinstance(size, int) and not _expression(start) and not _expression(stop):
        return len(range(*slice(start, stop, step).indices(size)))
    if step > 0:
        first = _clamped(0 if start is None else start, size)
        last = size if stop is None else _clamped(stop, size)
        span: Any = normal(last - first)
    else:
        top = normal(size - 1)
        if (start is not None and start != -1) or stop is not None:
            raise ShapeError(
                f"a backward slice with bounds along the named dimension {size} is not supported.",
                mend="Slice forward first, then reverse with [::-1].",
            )
        span, step = normal(top + 1), -step
    return _steps(span, step)


def _steps(span: Any, step: int) -> Dim:
    if not isinstance(span, int) and not span.is_nonnegative:
        from sympy import Max

        span = Max(span, 0)
    if isinstance(span, int):
        return -(-span // step) if span > 0 else 0
    if step == 1:
        return span
    from sympy import ceiling

    return ceiling(span / step)


def _normal_slice(entry: slice, size: Dim) -> Slice:
    step = 1 if entry.step is None else _bound(entry.step, 0)
    if not isinstance(step, int) or step == 0:
        raise ShapeError("the step of a slice is a nonzero integer.")
    start, stop = _bound(entry.start, size), _bound(entry.stop, size)
    if isinstance(size, int) and not _expression(start) and not _expression(stop):
        low, high, step = slice(start, stop, step).indices(size)
        if low == 0 and high >= size and step > 0:
            return (None, None, step)
        return (low, None if high < 0 else high, step)
    if known_equal_or_none(stop, size):
        stop = None
    return (None if start == 0 and step > 0 else start, stop, step)


def known_equal_or_none(bound: Any, size: Dim) -> bool:
    """Whether a slice runs to the end of its axis."""
    return bound is None or (_expression(bound) and known_equal(bound, size))


def _normal_int(value: Any, size: Dim, position: int) -> int:
    number = _bound(value, size)
    if number is None or _expression(number):
        raise ShapeError(f"the index {value!r} is not a number.")
    if isinstance(size, int):
        if not -size <= number < size:
            raise ShapeError(
                f"index {number} is out of range for axis {position} of size {size}.",
            )
        return number if number < 0 else number - size
    return number


def _normal_getitem(avals: tuple[Aval, ...], *, index: Any) -> dict[str, Any]:
    """One entry for each axis of the operand, new axes between."""
    entries = list(index) if isinstance(index, tuple) else [index]  # pyright: ignore
    shape = avals[0].shape
    used = len([each for each in entries if each is not None and each is not Ellipsis])
    dots = [i for i, each in enumerate(entries) if each is Ellipsis]
    if len(dots) > 1:
        raise ShapeError("an index holds one ellipsis at most.")
    if used > len(shape):
        raise ShapeError(f"{used} indices for an array of {len(shape)} dimensions.")
    fill = [slice(None)] * (len(shape) - used)
    at = dots[0] if dots else len(entries)
    entries[at : at + len(dots)] = fill
    result: list[Entry] = []
    axis = 0
    for each in entries:
        if each is None:
            result.append(None)
            continue
        size = shape[axis]
        if isinstance(each, (slice, tuple)):
            result.append(_normal_slice(each if isinstance(each, slice) else slice(*each), size))
        else:
            result.append(_normal_int(each, size, axis))
        axis += 1
    return {"index": tuple(result)}


def _basic_shape(shape: Shape, index: Sequence[Entry]) -> Shape:
    result: list[Dim] = []
    axis = 0
    for entry in index:
        if entry is None:
            result.append(1)
            continue
        if isinstance(entry, tuple):
            result.append(_slice_length(entry, shape[axis]))
        axis += 1
    return tuple(result)


def _infer_getitem(x: Aval, *, index: tuple[Entry, ...]) -> Aval:
    return x.with_shape(_basic_shape(x.shape, index))


def _as_numpy_index(index: tuple[Entry, ...]) -> tuple[Any, ...]:
    entries = [slice(*entry) if isinstance(entry, tuple) else entry for entry in index]
    return (Ellipsis, *entries)


def _vjp_getitem(ct: Array, out: Array, x: Array, *, index: tuple[Entry, ...]) -> Array:
    return apply(EMBED, ct, shape=(*ct.shape[: ct.ndim - out.ndim], *x.shape), index=index)


def _facts_getitem(x: Any, *, index: tuple[Entry, ...]) -> Iterable[Fact]:
    yield from facts_of_elements(x)
    if index and index[-1] == (None, None, 1):
        for name in ("simplex", "one_hot", "unit_norm"):
            if x.has(Fact(name, (-1,))):
                yield Fact(name, (-1,))


GETITEM = register(
    Op(
        "getitem",
        infer=_infer_getitem,
        kernel=lambda xp, x, *, index: x[_as_numpy_index(index)],
        vjp=(_vjp_getitem,),
        normalize=_normal_getitem,
        flops=no_flops,
        count=0,
        facts=_facts_getitem,
        view=True,
        doc="`x[index]` for integers, slices, None and an ellipsis; integer arrays go to `gather`.",
    )
)


def _infer_embed(x: Aval, *, shape: Shape, index: tuple[Entry, ...]) -> Aval:
    # The index is in normal form for the trailing axes of `shape`; the rest are leading ones.
    covered = len([entry for entry in index if entry is not None])
    lead = len(shape) - covered
    wanted = (*shape[:lead], *_basic_shape(shape[lead:], index))
    if len(wanted) != x.ndim or [
        0 for a, b in zip(wanted, x.shape, strict=True) if not known_equal(a, b)
    ]:
        raise ShapeError(
            f"shape {show_shape(x.shape)} does not fill the slice {show_shape(wanted)}."
        )
    return x.with_shape(shape)


EMBED = register(
    Op(
        "embed",
        infer=_infer_embed,
        kernel=lambda xp, x, *, shape, index: xp.scatter_set(
            xp.zeros(shape, x.dtype), _as_numpy_index(index), x
        ),
        vjp=(lambda ct, out, x, *, shape, index: _slice_of_embedded(ct, index),),
        flops=no_flops,
        facts=lambda x, *, shape, index: [
            fact
            for fact in (Fact("nonnegative"), Fact("nonpositive"), finite, total, integer_valued)
            if x.has(fact)
        ],
        doc="Zeros of `shape` with the operand in the slice `index`: the transpose of `getitem`.",
    )
)


def _slice_of_embedded(ct: Array, index: tuple[Entry, ...]) -> Array:
    return apply(GETITEM, ct, index=(Ellipsis, *index))


def _embed(x: Any, shape: Any, index: Any) -> Array:
    target = Aval(as_array(x).dtype, tuple(normal(dim) for dim in shape))
    return apply(EMBED, x, shape=target.shape, **_normal_getitem((target,), index=index))


embed = function(EMBED, _embed)


# -- integer arrays ----------------------------------------------------------------------------------
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


def _normal_gather(avals: tuple[Aval, ...], *, axis: Any) -> dict[str, Any]:
    return {"axis": normal_axes(axis, avals[0].ndim)[0]}


GATHER = register(
    Op(
        "gather",
        infer=lambda x, *indices, axis: x.with_shape(_gathered_shape(x, indices, axis)),
        kernel=lambda xp, x, *indices, axis: x[_places(indices, axis)],
        vjp=(_vjp_gather,),
        normalize=_normal_gather,
        flops=no_flops,
        facts=lambda x, *indices, axis: facts_of_elements(x),
        doc="Elements at integer arrays on adjacent axes, from `axis` on.",
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
        infer=_infer_scatter_add,
        kernel=lambda xp, x, values, *indices, axis: xp.scatter_add(
            x, _places(indices, axis), values
        ),
        vjp=(
            lambda ct, out, x, values, *indices, axis: ct,
            lambda ct, out, x, values, *indices, axis: apply(GATHER, ct, *indices, axis=axis),
        ),
        normalize=_normal_gather,
        promote=same_dtype,
        unpromoted=tuple(range(2, 34)),
        flops=lambda out, x, values, *indices, axis: values.size,
        facts=lambda x, values, *indices, axis: [
            fact
            for fact in (Fact("nonnegative"), Fact("nonpositive"), finite, total, integer_valued)
            if x.has(fact) and values.has(fact)
        ],
        doc="The array with values added at integer arrays on adjacent axes; repeated places add up.",
    )
)


def _gather(x: Any, *indices: Any, axis: int) -> Array:
    shape = as_array(x).shape
    (first,) = normal_axes(axis, len(shape))
    checked = [_index_array(each, shape[first + i], first + i) for i, each in enumerate(indices)]
    return apply(GATHER, x, *checked, axis=axis)


gather = function(GATHER, _gather)


def _scatter_add(x: Any, values: Any, *indices: Any, axis: int = 0) -> Array:
    shape = as_array(x).shape
    (first,) = normal_axes(axis, len(shape))
    checked = [_index_array(each, shape[first + i], first + i) for i, each in enumerate(indices)]
    return apply(SCATTER_ADD, x, values, *checked, axis=axis)


scatter_add = function(SCATTER_ADD, _scatter_add)


def _index_array(index: Any, size: Dim, axis: int) -> Any:
    """An index as an array: symbolic, or constant integers within range."""
    if isinstance(index, Array):
        if index.dtype == bool:
            raise TraceError(
                "A boolean mask picks a number of elements that is not known before it runs.",
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


def _is_basic(entry: Any) -> bool:
    if isinstance(entry, (bool, np.bool_)):
        return False
    return (
        entry is None
        or entry is Ellipsis
        or isinstance(entry, (int, np.integer, slice))
        or _expression(entry)
    )


def _getitem(x: Any, index: Any) -> Array:
    entries = index if isinstance(index, tuple) else (index,)
    if not [entry for entry in entries if not _is_basic(entry)]:
        return apply(GETITEM, x, index=entries)
    return _advanced(as_array(x), [_unmasked(entry) for entry in entries])


def _unmasked(entry: Any) -> Any:
    """A boolean constant as the positions where it is true; anything else as it is."""
    if _is_basic(entry) or isinstance(entry, Array):
        return entry
    found = np.asarray(entry)
    if found.dtype != bool:
        return int(found) if found.ndim == 0 and found.dtype.kind in "iu" else found
    if found.ndim == 0:
        raise TraceError(
            "A single truth value is no index.", mend="Use None for a new axis, np.where to choose."
        )
    return found


def _advanced(x: Array, raw: Sequence[Any]) -> Array:
    """NumPy's advanced indexing as a basic index, a transpose where needed, and one `gather`."""
    entries = _spread(x, raw)
    basic: list[Any] = []
    arrays: list[Any] = []
    places: list[int] = []
    advanced: list[int] = []
    axis = kept = 0
    first = -1
    for position, entry in enumerate(entries):
        if entry is None or isinstance(entry, slice):
            basic.append(entry)
        elif _is_basic(entry):
            basic.append(entry)
            advanced.append(position)
        else:
            basic.append(slice(None))
            arrays.append(_index_array(entry, x.shape[axis], axis))
            places.append(kept)
            advanced.append(position)
        if len(advanced) == 1 and first < 0:
            first = kept
        axis += entry is not None
        kept += entry is None or isinstance(entry, slice) or not _is_basic(entry)
    plain = all_full(basic)
    view = x if plain else apply(GETITEM, x, index=tuple(basic))
    adjacent = advanced == list(range(advanced[0], advanced[0] + len(advanced)))
    if not adjacent:
        rest = [i for i in range(view.ndim) if i not in places]
        view, first = transpose(view, (*places, *rest)), 0
    return apply(GATHER, view, *arrays, axis=first)


def all_full(entries: Sequence[Any]) -> bool:
    """Whether a basic index takes everything."""
    return not [entry for entry in entries if entry != slice(None)]


def _spread(x: Array, raw: Sequence[Any]) -> list[Any]:
    """The index with masks as integer arrays, and the ellipsis as full slices."""
    used = 0
    entries: list[Any] = []
    for entry in raw:
        if isinstance(entry, np.ndarray) and entry.dtype == bool:
            found: Any = entry
            used += found.ndim
            entries.extend(found.nonzero())
            continue
        used += entry is not None and entry is not Ellipsis
        entries.append(entry)
    dots = [i for i, entry in enumerate(entries) if entry is Ellipsis]
    if len(dots) > 1:
        raise ShapeError("an index holds one ellipsis at most.")
    if used > x.ndim:
        raise ShapeError(f"{used} indices for an array of {x.ndim} dimensions.")
    _check_masks(x, raw)
    at = dots[0] if dots else len(entries)
    entries[at : at + len(dots)] = [slice(None)] * (x.ndim - used)
    return entries


def _check_masks(x: Array, raw: Sequence[Any]) -> None:
    axis, gap = 0, x.ndim
    for entry in raw:
        gap -= entry.ndim if isinstance(entry, np.ndarray) and entry.dtype == bool else 1
        gap += entry is None or entry is Ellipsis
    for entry in raw:
        if entry is Ellipsis:
            axis += gap
        elif isinstance(entry, np.ndarray) and entry.dtype == bool:
            mask: Any = entry
            if mask.shape != x.shape[axis : axis + mask.ndim]:
                raise ShapeError(
                    f"a mask of shape {show_shape(mask.shape)} does not fit "
                    f"shape {show_shape(x.shape)} at axis {axis}."
                )
            axis += mask.ndim
        else:
            axis += entry is not None


getitem = function(GETITEM, _getitem)


@composite(np.take)
def take(
    x: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> Array:
    """Elements at `indices` along `axis` (None: of the raveled array)."""
    refuse("take", {"out": out, "mode": None if mode == "raise" else mode})
    if axis is None:
        x, axis = ravel(x), 0
    return _gather(x, indices, axis=axis)


# -- one place along an axis -------------------------------------------------------------------------
def _grid(xp: Any, index: Any, shape: tuple[int, ...], axis: int) -> tuple[Any, ...]:
    """The full index of which `index` is the part on `axis`."""
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
        infer=lambda x, index, *, axis: x.with_shape(_along_shape(x, index, axis)),
        kernel=lambda xp, x, index, *, axis: x[_grid(xp, index, x.shape, axis)],
        vjp=(
            lambda ct, out, x, index, *, axis: apply(
                ADD_ALONG_AXIS,
                zeros((*ct.shape[: ct.ndim - out.ndim], *x.shape), ct.dtype),
                ct,
                index,
                axis=axis,
            ),
        ),
        normalize=lambda avals, *, axis: {"axis": normal_axes(axis, avals[0].ndim)[0]},
        flops=no_flops,
        facts=lambda x, index, *, axis: facts_of_elements(x),
        doc="Along `axis`, the element each entry of an integer array points to.",
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
        infer=_infer_add_along,
        kernel=lambda xp, x, values, index, *, axis: xp.scatter_add(
            x, _grid(xp, index, x.shape, axis), values
        ),
        vjp=(
            lambda ct, out, x, values, index, *, axis: ct,
            lambda ct, out, x, values, index, *, axis: apply(TAKE_ALONG_AXIS, ct, index, axis=axis),
        ),
        normalize=lambda avals, *, axis: {"axis": normal_axes(axis, avals[0].ndim)[0]},
        promote=same_dtype,
        unpromoted=(2,),
        flops=lambda out, x, values, index, *, axis: values.size,
        facts=lambda x, values, index, *, axis: [
            fact
            for fact in (Fact("nonnegative"), Fact("nonpositive"), finite, total, integer_valued)
            if x.has(fact) and values.has(fact)
        ],
        doc="Along `axis`, values added where each entry of an integer array points to.",
    )
)


def _take_along_axis(x: Any, indices: Any, axis: int | None = -1) -> Array:
    if axis is None:
        x, axis = ravel(x), -1
    operand = as_array(x)
    (place,) = normal_axes(axis, operand.ndim)
    index = _index_array(indices, operand.shape[place], place)
    if index.ndim != operand.ndim:
        raise ShapeError(
            f"take_along_axis: the index has {index.ndim} dimensions, the array {operand.ndim}.",
            mend="Give both the same number of dimensions.",
        )
    return apply(TAKE_ALONG_AXIS, operand, index, axis=axis)


take_along_axis = function(TAKE_ALONG_AXIS, _take_along_axis, np.take_along_axis)


def _add_along_axis(x: Any, values: Any, indices: Any, axis: int = -1) -> Array:
    return apply(ADD_ALONG_AXIS, x, values, indices, axis=axis)


add_along_axis = function(ADD_ALONG_AXIS, _add_along_axis)


# -- one-hot -----------------------------------------------------------------------------------------
def _one_hot_kernel(xp: Any, labels: Any, *, size: int, dtype: Any) -> Any:
    counter = xp.arange(size)
    # Reading the counter at the labels wraps negative ones and refuses those out of range.
    places = counter[labels]
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
        infer=_infer_one_hot,
        kernel=_one_hot_kernel,
        vjp=(None,),
        normalize=lambda avals, *, size, dtype: {"size": normal(size), "dtype": np.dtype(dtype)},
        facts=lambda labels, *, size, dtype: (one_hot_fact(-1), interval(0.0, 1.0)),
        doc="Rows of the identity matrix: 1 at each label along a new last axis, else 0.",
    )
)


def _one_hot(labels: Any, size: Any, dtype: Any = "float64") -> Array:
    operand = labels if isinstance(labels, Array) else _index_array(labels, normal(size), -1)
    return apply(ONE_HOT, operand, size=size, dtype=dtype)


one_hot = function(ONE_HOT, _one_hot)


# -- composites --------------------------------------------------------------------------------------
@composite(np.flip)
def flip(x: Any, axis: Any = None) -> Array:
    """Elements in reverse order along `axis` (None: along all)."""
    x = as_array(x)
    axes = normal_axes(axis, x.ndim)
    return x[tuple(slice(None, None, -1 if i in axes else 1) for i in range(-x.ndim, 0))]


@composite(np.roll)
def roll(x: Any, shift: int, axis: int | None = None) -> Array:
    """Elements moved `shift` places along `axis`, the last ones to the front."""
    x = as_array(x)
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    (place,) = normal_axes(axis, x.ndim)
    size = x.shape[place]
    rest = (slice(None),) * (-place - 1)
    by = shift % size if isinstance(size, int) and size else int(shift) if _expression(size) else 0
    if not by:
        return x
    parts = [x[(Ellipsis, slice(-by, None), *rest)], x[(Ellipsis, slice(None, -by), *rest)]]
    return FUNCTIONS["concatenate"](parts, axis=axis)


@composite(np.split)
def split(x: Any, sections: Any, axis: int = 0) -> list[Array]:
    """Parts along `axis`: so many equal ones, or cut before the given positions."""
    x = as_array(x)
    (place,) = normal_axes(axis, x.ndim)
    size = x.shape[place]
    if isinstance(sections, (int, np.integer)):
        if not isinstance(size, int) or size % int(sections):
            raise ShapeError(f"split: {size} elements do not divide into {sections} equal parts.")
        width = size // int(sections)
        cuts: list[Any] = [width * i for i in range(1, int(sections))]
    else:
        cuts = list(sections)
    rest = (slice(None),) * (-place - 1)
    bounds = [0, *cuts, None]
    return [
        x[(Ellipsis, slice(start, stop), *rest)]
        for start, stop in zip(bounds[:-1], bounds[1:], strict=True)
    ]
