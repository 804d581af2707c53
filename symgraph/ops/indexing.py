"""`x[index]` as NumPy reads it: basic indices as one operation, integer arrays through `gather`.

Every index is brought to a normal form that an array with extra leading axes takes as well: basic
indices have one entry an axis, advanced ones are on adjacent axes, the array being transposed first
where they are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, Index, apart, apply
from ..errors import ShapeError, TraceError
from ..facts import Fact, finite, integer_valued, total
from ..ir.avals import Aval, normal_axis
from ..ir.dims import Dim, Shape, known_equal, normal, same_shape, show_shape
from ..ir.fact_inference import Known
from ..ir.op import Batch, Op, no_flops, register, results_of
from ..ir.traits import MOVEMENT, PLACEMENT
from ..notation import array_formulas, node_text
from .along_axis import take_along_axis
from .batched import batch_reshaped
from .carrying import carries_embedded, carries_sliced
from .composites import as_array, composite, naming_lines, refuse
from .creation import dimension
from .families import function
from .gather import GATHER, gather
from .index_arrays import index_array
from .movement import facts_of_elements, ravel, reshape, squeeze, transpose
from .slices import Entry, as_numpy_index, basic_shape, is_expression, normal_index

__all__ = ["embed", "getitem", "take"]


# -- basic indices -------------------------------------------------------------------------------
def _infer_getitem(x: Aval, *, index: tuple[Entry, ...]) -> Aval:
    return x.with_shape(basic_shape(x.shape, index))


def _vjp_getitem(ct: Array, out: Array, x: Array, *, index: tuple[Entry, ...]) -> Array:
    return apply(EMBED, ct, shape=(*ct.shape[: ct.ndim - out.ndim], *x.shape), index=index)


def _facts_getitem(x: Known, *, index: tuple[Entry, ...]) -> Iterable[Fact]:
    yield from facts_of_elements(x)
    if x.has(Fact("unique")):
        yield Fact("unique")
    if index and index[-1] == (None, None, 1):
        for name in ("simplex", "one_hot", "unit_norm"):
            if x.has(Fact(name, (-1,))):
                yield Fact(name, (-1,))


def _batch_getitem(batch: Batch, *, index: tuple[Entry, ...]) -> Array:
    return apply(GETITEM, batch.operands[0], index=(Ellipsis, *index))


def _write_getitem(whole: Array, part: Array, *, index: tuple[Entry, ...]) -> Array:
    """The array with `part` in the slice; just `part` if the slice is the whole array."""
    axes = tuple([entry for entry in index if entry is not None])
    if not all(map(_turns, axes, whole.shape)):
        return FUNCTIONS["assign"](whole, part, index)
    placed = part if part.shape == whole.shape else reshape(part, whole.shape)
    return (
        placed if all(entry == _FORWARD for entry in axes) else apply(GETITEM, placed, index=axes)
    )


_FORWARD = (None, None, 1)


def _turns(entry: Entry, size: Dim) -> bool:
    """Whether an axis is taken whole, forwards or backwards: then the index is its own inverse."""
    if entry == _FORWARD:
        return True
    return isinstance(entry, tuple) and entry[1:] == (None, -1) and entry[0] in (None, size - 1)


def _takes_all(*, index: tuple[Entry, ...], **_shape: object) -> bool:
    """Whether an index only adds axes of length one, or takes them away again."""
    return all(entry is None or entry == (None, None, 1) for entry in index)


GETITEM = register(
    Op(
        "getitem",
        batch=_batch_getitem,
        total=True,
        infer=_infer_getitem,
        kernel=lambda xp, x, *, index: xp.getitem(x, as_numpy_index(index)),
        vjp=(_vjp_getitem,),
        carries=carries_sliced,
        normalize=normal_index,
        flops=no_flops,
        count=0,
        facts=_facts_getitem,
        view=True,
        write=_write_getitem,
        doc="`x[index]` for integers, slices, None and an ellipsis; integer arrays go to `gather`.",
        traits=replace(MOVEMENT, in_order=_takes_all),
        latex=array_formulas.item_formula,
        text=node_text.item_text,
    )
)


def _infer_embed(x: Aval, *, shape: Shape, index: tuple[Entry, ...]) -> Aval:
    # The index is in normal form for the trailing axes of `shape`.
    covered = len([entry for entry in index if entry is not None])
    lead = len(shape) - covered
    if lead < 0:
        raise ShapeError(
            f"an index of {covered} entries is too long for shape {show_shape(shape)}."
        )
    wanted = (*shape[:lead], *basic_shape(shape[lead:], index))
    if not same_shape(x.shape, wanted):
        raise ShapeError(
            f"shape {show_shape(x.shape)} does not fill the slice {show_shape(wanted)}."
        )
    return x.with_shape(shape)


EMBED = register(
    Op(
        "embed",
        batch=batch_reshaped,
        total=True,
        infer=_infer_embed,
        kernel=lambda xp, x, *, shape, index: xp.scatter_set(
            xp.zeros(shape, x.dtype), as_numpy_index(index), x
        ),
        vjp=(lambda ct, out, x, *, shape, index: _slice_of_embedded(ct, index),),
        carries=carries_embedded,
        flops=no_flops,
        workspace=results_of(1),  # The zeros that are copied.
        facts=lambda x, *, shape, index: [
            fact
            for fact in (Fact("nonnegative"), Fact("nonpositive"), finite, total, integer_valued)
            if x.has(fact)
        ],
        doc="Zeros of `shape` with the operand in the slice `index`: the transpose of `getitem`.",
        traits=replace(PLACEMENT, in_order=_takes_all),
        text=node_text.embedding_text,
        latex=array_formulas.embedding_formula,
    )
)


def _slice_of_embedded(ct: Array, index: tuple[Entry, ...]) -> Array:
    return apply(GETITEM, ct, index=(Ellipsis, *index))


@naming_lines
def _embed(x: ArrayLike, shape: Sequence[Dim], index: Index) -> Array:
    target = Aval(as_array(x).dtype, tuple(normal(dim) for dim in shape))
    return apply(EMBED, x, shape=target.shape, **normal_index((target,), index=index))


embed = function(EMBED, _embed)


# -- NumPy's index -------------------------------------------------------------------------------
def _is_basic(entry: Index) -> bool:
    if isinstance(entry, (bool, np.bool_)):
        return False
    return (
        entry is None
        or entry is Ellipsis
        or isinstance(entry, (int, np.integer, slice))
        or is_expression(entry)
    )


@partial(naming_lines, view=True)
def _getitem(x: ArrayLike, index: Index) -> Array:
    entries = index if isinstance(index, tuple) else (index,)
    plain = tuple(_unmasked(entry) for entry in entries)
    if not [entry for entry in plain if not _is_basic(entry)]:
        found = apply(GETITEM, x, index=plain)
        if type(found) is not Array or found.node.results[0].shape:
            return found
        # An element is a number, a copy; with an ellipsis it is an array and a view, as in NumPy.
        return found if [1 for each in plain if each is Ellipsis] else apart(found)
    return _advanced(as_array(x), plain)


def _unmasked(entry: Index) -> Any:
    """The positions where a boolean constant is true; another entry unchanged."""
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
    nothing = bool([1 for each in entries if isinstance(each, np.ndarray) and not each.size])
    for position, entry in enumerate(entries):
        if entry is Ellipsis:
            continue
        if entry is None or isinstance(entry, slice):
            basic.append(entry)
        elif _is_basic(entry):
            basic.append(entry)
            advanced.append(position)
        else:
            basic.append(slice(None))
            # NumPy checks no index if one of them is empty.
            arrays.append(index_array(entry, None if nothing else x.shape[axis], axis))
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
    found = _one_of_each(view, arrays, first)
    return apply(GATHER, view, *arrays, axis=first) if found is None else found


def _one_of_each(x: Array, indices: Sequence[Any], first: int) -> Array | None:
    """x[arange(n), i], one element of each row, as a read along the other axis."""
    if len(indices) != 2 or [1 for each in indices if len(each.shape) != 1]:
        return None
    for counter, index, axis in ((*indices, first + 1), (*indices[::-1], first)):
        along = 2 * first + 1 - axis
        if _counts(counter, x.shape[along]) and known_equal(index.shape[0], x.shape[along]):
            shape = [1] * x.ndim
            shape[along] = index.shape[0]
            placed = reshape(index, tuple(shape))
            return squeeze(take_along_axis(x, placed, axis), axis=axis)
    return None


def _counts(index: Index, size: Dim) -> bool:
    """Whether an index counts 0, 1, ... up to the size of its axis."""
    return (
        isinstance(index, np.ndarray)
        and index.tolist() == list(range(len(index)))
        and (known_equal(len(index), size))
    )


def all_full(entries: Sequence[Any]) -> bool:
    """Whether a basic index takes all elements."""
    return not [entry for entry in entries if entry != slice(None)]


def _spread(x: Array, raw: Sequence[Any]) -> list[Any]:
    """The index with masks turned into integer arrays and the ellipsis into full slices."""
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
        raise ShapeError(f"{used} indices for an array of shape {show_shape(x.shape)}.")
    _check_masks(x, raw)
    at = dots[0] if dots else len(entries)
    # An ellipsis that stands for no axis still parts the indices on its sides, as in NumPy.
    fill: list[Any] = [slice(None)] * (x.ndim - used)
    entries[at : at + len(dots)] = fill or [Ellipsis] * len(dots)
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
    x: ArrayLike,
    indices: ArrayLike,
    axis: int | None = None,
    out: object = None,
    mode: str = "raise",
) -> Array:
    """The elements at `indices` along `axis`, or of the raveled array.

    `mode` decides whether indices out of range are refused, wrapped or clipped.
    """
    refuse("take", {"out": out})
    if axis is None:
        x, axis = ravel(x), 0
    if mode == "raise":
        return gather(x, indices, axis=axis)
    x = as_array(x)
    size = dimension(x.shape[normal_axis(axis, x.ndim)])
    match mode:
        case "wrap":
            return gather(x, as_array(indices) % size, axis=axis)
        case "clip":
            low = FUNCTIONS["maximum"](indices, 0)
            return gather(x, FUNCTIONS["minimum"](low, size - 1), axis=axis)
        case _:
            raise TraceError(f"take: mode={mode!r} is none of 'raise', 'wrap' and 'clip'.")
