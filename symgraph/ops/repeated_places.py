"""The result of a ufunc's `at` at repeated places: one reduction for each place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, cast

import numpy as np

from ..array import NUMPY_FUNCTIONS, Array, constant
from .indexing import getitem
from .joining import concatenate
from .movement import broadcast_to, expand_dims, reshape
from .updates import index_update

__all__ = ["COMBINING", "combined_at"]

_Places: TypeAlias = "np.ndarray[Any, np.dtype[np.intp]]"

_IDENTITIES: dict[np.ufunc, Any] = {
    np.multiply: 1,
    np.logaddexp: -np.inf,
    np.logical_and: True,
    np.logical_or: False,
}
_LEAST, _LARGEST = (np.minimum, np.fmin), (np.maximum, np.fmax)

COMBINING = (*_IDENTITIES, *_LEAST, *_LARGEST)
"""The ufuncs that give the same in whatever order the values of one place come."""

_WASTE = 4
"""How many times as large as the values a table of them may be."""


def combined_at(ufunc: np.ufunc, x: Array, index: tuple[Any, ...], values: Array) -> Array:
    """The array that `ufunc.at(x, index, values)` leaves, for places that are known.

    Parameters
    ----------
    ufunc : numpy.ufunc
        One of `COMBINING`.
    x : Array
        Of known shape.
    index : tuple
        Without symbols.
    values : Array
        Broadcast to the places.
    """
    shape = cast("tuple[int, ...]", x.shape)
    # Indices of whole numbers alone leave the axes after them as they are.
    kept = len(index) if all(np.asarray(each).dtype.kind in "iu" for each in index) else x.ndim
    rows, row = shape[:kept], shape[kept:]
    grid = np.arange(int(np.prod(rows))).reshape(rows)[index]
    places = grid.ravel()
    given = reshape(broadcast_to(values, (*grid.shape, *row)), (places.size, *row))
    nothing = np.full((1, *row), _identity(ufunc, given.dtype), given.dtype)
    given = concatenate([given, constant(nothing)])
    found = reshape(x, (int(np.prod(rows)), *row))
    for written, table in _tables(places):
        both = [expand_dims(getitem(found, written), 1), getitem(given, table)]
        new = NUMPY_FUNCTIONS[(ufunc, "reduce")](concatenate(both, axis=1), axis=1)
        found = index_update(found, written, new.astype(x.dtype))
    return reshape(found, shape)


def _identity(ufunc: np.ufunc, dtype: np.dtype[Any]) -> Any:
    if ufunc in _IDENTITIES:
        return _IDENTITIES[ufunc]
    if dtype.kind == "f" and ufunc in (np.fmin, np.fmax):
        return np.nan
    if dtype.kind == "f":
        return np.inf if ufunc in _LEAST else -np.inf
    if dtype.kind == "b":
        return ufunc in _LEAST
    bounds = np.iinfo(dtype)
    return bounds.max if ufunc in _LEAST else bounds.min


def _tables(places: _Places) -> Iterator[tuple[_Places, _Places]]:
    """Places that differ, and for each a row of the numbers of its values.

    Rows are filled up by the number after the last. Where some places are met far more often than
    others there are several tables, so that no table is mostly filling.
    """
    order = np.argsort(places, kind="stable")
    written, counts = np.unique(places, return_counts=True)
    starts = np.cumsum(counts) - counts
    even = counts.size * counts.max(initial=0) <= _WASTE * places.size
    lengths = np.zeros_like(counts) if even else np.ceil(np.log2(counts)).astype(int)
    for length in np.unique(lengths):
        chosen = np.flatnonzero(lengths == length)
        many = counts[chosen, None]
        step = np.arange(many.max())
        at = np.minimum(starts[chosen, None] + step, places.size - 1)
        yield written[chosen], np.where(step < many, order[at], places.size)
