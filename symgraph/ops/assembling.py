"""Arrays cut apart and put together: splits, blocks, grids, insertions and deletions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, apart
from ..errors import DTypeError, ShapeError, TraceError
from ..ir.avals import broadcast_shapes, normal_axis
from ..ir.dims import show_shape
from .composites import as_array, composite
from .gather import gather
from .joining import concatenate
from .movement import broadcast_to, moveaxis, ravel, reshape

__all__ = [
    "array_split",
    "block",
    "broadcast_arrays",
    "delete",
    "dsplit",
    "hsplit",
    "insert",
    "meshgrid",
    "split",
    "unstack",
    "vsplit",
]


# -- apart -----------------------------------------------------------------------------------------
@composite(np.array_split, view=True)
def array_split(
    x: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike, axis: int = 0
) -> list[Array]:
    """Parts along `axis`: a number of nearly equal parts, or cuts before the given positions."""
    x = as_array(x)
    place = normal_axis(axis, x.ndim)
    cuts: list[Any]
    if isinstance(indices_or_sections, (int, np.integer)):
        sections, size = int(indices_or_sections), x.shape[place]
        if sections <= 0:
            raise ShapeError(f"array_split: {sections} parts; at least 1 is needed.")
        if not isinstance(size, int):
            raise ShapeError(
                f"array_split: {size} elements do not divide into parts of known size.",
                mend="Cut at positions instead: np.split(x, [2, 5]).",
            )
        each, longer = divmod(size, sections)
        cuts = [each * i + min(i, longer) for i in range(1, sections)]
    else:
        cuts = _cuts(indices_or_sections)
    rest = (slice(None),) * (-place - 1)
    bounds = [0, *cuts, None]
    return [x[(Ellipsis, slice(start, stop), *rest)] for start, stop in pairwise(bounds)]


def _cuts(indices: Any) -> list[Any]:
    if isinstance(indices, Array) or np.ndim(indices) != 1:
        raise DTypeError(
            f"split: {indices!r} is neither a whole number of parts nor a list of positions.",
            mend="Give an int, or positions known while tracing, as in [2, 5].",
        )
    return list(indices)


@composite(np.split, view=True)
def split(
    x: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike, axis: int = 0
) -> list[Array]:
    """Parts along `axis`: a number of equal parts, or cuts before the given positions."""
    x = as_array(x)
    if isinstance(indices_or_sections, (int, np.integer)):
        size, sections = x.shape[normal_axis(axis, x.ndim)], int(indices_or_sections)
        if not isinstance(size, int) or sections <= 0 or size % sections:
            raise ShapeError(f"split: {size} elements do not divide into {sections} equal parts.")
    return array_split(x, indices_or_sections, axis)


@composite(np.hsplit, view=True)
def hsplit(x: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike) -> list[Array]:
    """Parts along the second axis; a vector is cut along its only axis."""
    x = as_array(x)
    return split(_at_least("hsplit", x, 1), indices_or_sections, 1 if x.ndim > 1 else 0)


@composite(np.vsplit, view=True)
def vsplit(x: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike) -> list[Array]:
    """Parts along the first axis."""
    return split(_at_least("vsplit", as_array(x), 2), indices_or_sections, 0)


@composite(np.dsplit, view=True)
def dsplit(x: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike) -> list[Array]:
    """Parts along the third axis."""
    return split(_at_least("dsplit", as_array(x), 3), indices_or_sections, 2)


def _at_least(name: str, x: Array, ndim: int) -> Array:
    if x.ndim < ndim:
        raise ShapeError(f"{name}: {ndim} dimensions are needed, not shape {show_shape(x.shape)}.")
    return x


@composite(np.unstack, view=True)
def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The slices along `axis`, one by one."""
    x = as_array(x)
    return tuple(moveaxis(_at_least("unstack", x, 1), axis, 0))


# -- together --------------------------------------------------------------------------------------
@composite(np.block, array=True)
def block(arrays: object) -> Array:
    """Nested lists joined: the innermost along the last axis, the next along the one before it."""
    depth = _depth(arrays)
    ndim = max(depth, *[each.ndim for each in _leaves(arrays)])
    return _joined(arrays, depth, ndim)


def _depth(arrays: object) -> int:
    if not isinstance(arrays, list):
        if isinstance(arrays, tuple):
            raise TraceError("block: arrays are nested in lists, not in tuples.")
        return 0
    nested = cast("list[Any]", arrays)
    depths = {_depth(each) for each in nested}
    if len(depths) != 1:
        raise ShapeError("block: lists are empty, or not nested equally deep.")
    return 1 + depths.pop()


def _leaves(arrays: object) -> list[Array]:
    if not isinstance(arrays, list):
        return [as_array(arrays)]
    return [leaf for each in cast("list[Any]", arrays) for leaf in _leaves(each)]


def _joined(arrays: Any, depth: int, ndim: int) -> Array:
    if not depth:
        x = as_array(arrays)
        return reshape(x, (*[1] * (ndim - x.ndim), *x.shape))
    return concatenate([_joined(each, depth - 1, ndim) for each in arrays], axis=-depth)


@composite(np.meshgrid, view=True)
def meshgrid(
    *xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Array, ...]:
    """Coordinates of a grid: each vector along an axis of its own, repeated along the others.

    Parameters
    ----------
    *xi : array_like
        Raveled.
    sparse : bool
        Leave the other axes at size 1.
    indexing : {"xy", "ij"}
        Whether the first two axes change places, as rows and columns of a picture have it.
    """
    if indexing not in ("xy", "ij"):
        raise TraceError(f"meshgrid: indexing is 'xy' or 'ij', not {indexing!r}.")
    ndim = len(xi)
    order = list(range(ndim))
    if indexing == "xy" and ndim > 1:
        order[:2] = 1, 0
    rows = [
        reshape(ravel(as_array(each)), (-1, *[1] * (ndim - 1 - place)))
        for each, place in zip(xi, order, strict=True)
    ]
    wide = tuple(reshape(each, (*[1] * (ndim - each.ndim), *each.shape)) for each in rows)
    found = wide if sparse else broadcast_arrays(*wide)
    return apart(found) if copy else found


@composite(np.broadcast_arrays, view=True)
def broadcast_arrays(*arrays: ArrayLike, subok: bool = False) -> tuple[Array, ...]:
    """The arrays, each broadcast to the shape of all."""
    operands = [as_array(each) for each in arrays]
    if not operands:
        return ()
    shape = broadcast_shapes(*[each.shape for each in operands])
    return tuple(each if each.shape == shape else broadcast_to(each, shape) for each in operands)


# -- elements added and left out -------------------------------------------------------------------
def _counted(name: str, x: Array, axis: int | None) -> tuple[Array, int, int]:
    """The array (raveled if there is no axis), the axis and the number of elements along it."""
    if axis is None:
        x, axis = x if x.ndim == 1 else ravel(x), 0
    place = normal_axis(axis, x.ndim)
    size = x.shape[place]
    if not isinstance(size, int):
        raise ShapeError(
            f"{name}: axis {axis} has {size} elements, not a fixed number.",
            mend="Cut and join at positions: np.concatenate([x[:2], v, x[2:]]).",
        )
    return x, place, size


@composite(np.delete)
def delete(x: ArrayLike, obj: Any, axis: int | None = None) -> Array:
    """The array without the elements at `obj`: a constant int, slice, integers or mask."""
    array, place, size = _counted("delete", as_array(x), axis)
    _constant("delete", obj)
    try:
        kept = np.delete(np.arange(size), obj)
    except (IndexError, ValueError) as error:
        raise ShapeError(f"delete: {error}.") from None
    return gather(array, kept, axis=place)


@composite(np.insert)
def insert(x: ArrayLike, obj: Any, values: ArrayLike, axis: int | None = None) -> Array:
    """The array with values before the elements at `obj`, which is constant.

    One position takes a whole block of values; several positions take one value each.
    """
    array, place, size = _counted("insert", as_array(x), axis)
    _constant("insert", obj)
    added: Array = FUNCTIONS["astype"](as_array(values), array.dtype)
    one = not isinstance(obj, slice) and np.size(obj) == 1 and np.asarray(obj).dtype != bool
    if one:
        added = reshape(added, (*[1] * (array.ndim - added.ndim), *added.shape))
        if not np.asarray(obj).ndim:
            added = moveaxis(added, 0, place)
    many = added.shape[place] if one else _positions(obj, size)
    if not isinstance(many, int):
        raise ShapeError(f"insert: the number of values is not known: {many}.")
    try:
        order = np.insert(np.arange(size), obj, size + np.arange(many))
    except (IndexError, ValueError) as error:
        raise ShapeError(f"insert: {error}.") from None
    shape = [many if i == place else dim for i, dim in enumerate(array.shape, -array.ndim)]
    both = concatenate([array, broadcast_to(added, shape)], axis=place)
    return gather(both, order, axis=place)


def _positions(obj: object, size: int) -> int:
    """The number of positions in `obj`."""
    if isinstance(obj, slice):
        return len(range(*obj.indices(size)))
    found = np.asarray(obj)
    return int(np.count_nonzero(found)) if found.dtype == bool else found.size


def _constant(name: str, obj: object) -> None:
    if isinstance(obj, Array):
        raise TraceError(
            f"{name}: positions that are computed give an array of unknown shape.",
            mend="Give constant positions, or keep the shape: np.where(mask, x, 0).",
        )
