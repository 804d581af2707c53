"""Counts in bins: `histogram` and the edges of its bins.

Counts have derivative 0; sums of weights have one in the weights, and edges that depend on the
smallest and the largest number have theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike
from ..errors import RangeError, ShapeError, TraceError
from ..ir.dims import known_equal, show_shape
from .choice import where
from .composites import as_array, composite
from .creation import arange, zeros
from .extrema import max as largest
from .extrema import min as smallest
from .gather import scatter_add
from .joining import concatenate
from .movement import expand_dims, ravel
from .scipyufuncs import float_or_double

__all__ = ["histogram", "histogram_bin_edges"]


def _ends(x: Array, given: Sequence[Any] | None) -> tuple[Any, Any]:
    """The outer edges: the given ones, or the extreme numbers; an empty range is widened by 1."""
    if given is None:
        if known_equal(x.size, 0):
            return 0.0, 1.0
        low, high = smallest(x), largest(x)
    else:
        low, high = given
        if not isinstance(low, Array) and not isinstance(high, Array):
            if not (np.isfinite(low) and np.isfinite(high) and low <= high):
                raise RangeError(f"histogram: the range {given!r} does not ascend between numbers.")
            return (low - 0.5, high + 0.5) if low == high else (low, high)
    dtype = float_or_double(as_array(low).dtype)
    low, high = as_array(low).astype(dtype), as_array(high).astype(dtype)
    half = where(low == high, 0.5, 0.0).astype(dtype)
    return low - half, high + half


@composite(np.histogram_bin_edges, view=True)
def histogram_bin_edges(
    a: ArrayLike,
    bins: ArrayLike = 10,
    range: Sequence[Any] | None = None,
    weights: ArrayLike | None = None,
) -> Array:
    """The edges of the bins of `histogram`, one more than bins.

    Parameters
    ----------
    a : array_like
    bins : int or array_like
        How many bins of one width, or their edges, ascending.
    range : pair, optional
        The outer edges; by default the smallest and the largest number.
    weights : array_like, optional
        Of no consequence.

    Raises
    ------
    TraceError
        If a rule by name is asked for the number of bins.
    RangeError, ShapeError
        If edges do not ascend, or there is no bin.
    """
    x = as_array(a)
    if isinstance(bins, str):
        raise TraceError(
            f"histogram: bins={bins!r} takes a number of bins that depends on values.",
            mend="Say how many, or give the edges.",
        )
    if isinstance(bins, Array) or np.ndim(bins):
        edges = as_array(bins)
        if edges.ndim != 1:
            raise ShapeError(f"histogram: edges are a vector, not {show_shape(edges.shape)}.")
        if not isinstance(bins, Array) and np.any(np.diff(bins) < 0):
            raise RangeError("histogram: the edges do not ascend.")
        return edges
    if not isinstance(bins, (int, np.integer)) or bins < 1:
        raise ShapeError(f"histogram: bins={bins!r} is not a positive number of bins.")
    number = int(bins)
    low, high = _ends(x, range)
    dtype = np.result_type(*[getattr(each, "dtype", float) for each in (low, high, x)])
    dtype = float_or_double(dtype)
    low, high = as_array(low).astype(dtype), as_array(high).astype(dtype)
    inner = arange(number).astype(dtype) * ((high - low) / number) + low
    return concatenate([inner, expand_dims(high, 0)])


@composite(np.histogram, view=True)
def histogram(
    a: ArrayLike,
    bins: ArrayLike = 10,
    range: Sequence[Any] | None = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """The number of elements in each bin, or the sum of their weights; and the edges.

    A bin holds its left edge, and the last bin holds both. See `histogram_bin_edges` for errors;
    `density` divides by the whole and the widths.
    """
    edges = histogram_bin_edges(a, bins, range)
    x = ravel(as_array(a))
    number = edges.shape[0] - 1
    if weights is None:
        values = FUNCTIONS["ones_like"](x, dtype="int64")
    else:
        values = ravel(as_array(weights))
        if not known_equal(values.size, x.size) or as_array(weights).ndim != as_array(a).ndim:
            raise ShapeError(
                f"histogram: {show_shape(as_array(weights).shape)} weights for "
                f"{show_shape(as_array(a).shape)} numbers.",
                mend="Give one weight a number.",
            )
    dtype = np.result_type(x.dtype, edges.dtype)
    x, limits = x.astype(dtype), edges.astype(dtype)
    place = FUNCTIONS["searchsorted"](limits, x, side="right") - 1
    place = where(x == limits[-1], number - 1, place)
    # Numbers outside, and NaN, go to an extra place, which is cut off.
    outside = ~((x >= limits[0]) & (x <= limits[-1]))
    place = where(outside, number, place)
    counts = scatter_add(zeros((number + 1,), values.dtype), values, place, axis=0)[:-1]
    if density:
        counts = counts / FUNCTIONS["diff"](edges) / FUNCTIONS["sum"](counts)
    return counts, edges
