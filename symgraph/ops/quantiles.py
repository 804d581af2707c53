"""Medians and quantiles, by sorting; with a NaN among the elements they are NaN.

The thirteen methods are those of Hyndman and Fan, "Sample quantiles in statistical packages"
(1996), under NumPy's names. The choice of elements is piecewise constant, so the derivative is that
of their weights. Equal elements are chosen in the order in which they stand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike
from ..errors import DTypeError, ShapeError, TraceError
from ..ir.avals import AxisLike
from ..ir.dims import Dim, count, known_equal, same_shape, show_shape
from .along_axis import take_along_axis
from .composites import as_array, composite, given, refuse
from .creation import dimension, full
from .movement import broadcast_to, expand_dims, moveaxis, reshape, transpose
from .reduction import reduced_axes, reduced_shape
from .sorting import sort

__all__ = [
    "median",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "percentile",
    "quantile",
]


# -- which elements, with which weight -------------------------------------------------------------
def _fraction(x: ArrayLike) -> Any:
    return x - np.floor(x)


def _continuous(alpha: float, beta: float) -> Callable[[Any, Any], tuple[Any, Any]]:
    """Positions n q + m and the weight of the upper neighbour, by Hyndman and Fan's parameters."""

    def place(n: Array, q: Array) -> tuple[Any, Any]:
        at = n * q + (alpha + q * (1 - alpha - beta)) - 1
        return at, _fraction(at)

    return place


def _linear(n: Array, q: Array) -> tuple[Any, Any]:
    at = (n - 1) * q
    return at, _fraction(at)


def _averaged(n: Array, q: Array) -> tuple[Any, Any]:
    at = n * q - 1
    return at, np.where(_fraction(at) == 0, 0.5, 1.0)


def _midpoint(n: Array, q: Array) -> tuple[Any, Any]:
    at = 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q))
    return at, np.where(_fraction(at) == 0, 0.0, 0.5)


_METHODS: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "linear": _linear,
    "averaged_inverted_cdf": _averaged,
    "interpolated_inverted_cdf": _continuous(0.0, 1.0),
    "hazen": _continuous(0.5, 0.5),
    "weibull": _continuous(0.0, 0.0),
    "median_unbiased": _continuous(1 / 3, 1 / 3),
    "normal_unbiased": _continuous(3 / 8, 3 / 8),
    "midpoint": _midpoint,
}


def _next_unless(at: ArrayLike, keep: ArrayLike) -> Any:
    return np.maximum(np.where(keep, np.floor(at), np.floor(at) + 1), 0)


def _closest(n: Array, q: Array) -> Any:
    at = n * q - 1.5
    return _next_unless(at, (_fraction(at) == 0) & (np.floor(at) % 2 == 1))


_DISCRETE: dict[str, Callable[[Any, Any], Any]] = {
    "inverted_cdf": lambda n, q: _next_unless(n * q - 1, _fraction(n * q - 1) == 0),
    "closest_observation": _closest,
    "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q),
    "nearest": lambda n, q: np.round((n - 1) * q),
}


def _at(rows: Array, place: ArrayLike, top: ArrayLike) -> Array:
    """The elements of sorted rows at a vector of places, or at one vector for each row."""
    index = np.minimum(np.maximum(place, 0), top)
    if isinstance(index, Array):
        index = FUNCTIONS["astype"](index, "int64")
        if index.ndim > 1:
            return take_along_axis(rows, index, axis=-1)
    else:
        index = index.astype(np.int64)
    return rows[..., index]


def _met(rows: Array, n: Array, q: ArrayLike, method: str) -> Array:
    """The quantiles `q` (a vector) of rows whose first `n` elements count, on a new last axis."""
    top = n - 1
    if method in _DISCRETE:
        return _at(rows, _DISCRETE[method](n, q), top)
    if method not in _METHODS:
        known = ", ".join(sorted([*_METHODS, *_DISCRETE]))
        raise TraceError(f"quantile: {method!r} is no method.", mend=f"Use one of: {known}.")
    if rows.dtype.kind == "b":
        raise DTypeError("quantile: there is nothing between False and True.")
    at, weight = _METHODS[method](n, q)
    if rows.dtype.kind != "f" and weight.dtype.kind == "f":
        rows = FUNCTIONS["astype"](rows, np.result_type(rows.dtype, weight.dtype))
    lower = _at(rows, np.floor(at), top)
    if not isinstance(weight, Array) and not np.any(weight):
        wide = (
            np.result_type(lower.dtype, weight.dtype) if weight.dtype.kind == "f" else lower.dtype
        )
        return FUNCTIONS["astype"](lower, wide, copy=False)
    upper = _at(rows, np.floor(at) + 1, top)
    apart = upper - lower
    # Start from the nearer neighbour: then a weight of 1 gives the upper one exactly.
    near = upper - apart * (1 - weight)
    return FUNCTIONS["where"](weight >= 0.5, near, lower + apart * weight)


# -- rows ------------------------------------------------------------------------------------------
def _sorted_rows(x: Array, axis: AxisLike) -> tuple[Array, Dim]:
    """The array with the reduced axes joined to a sorted last axis, and its length."""
    rows, size = _rows(x, axis)
    return (sort(rows, axis=-1) if x.ndim else rows), size


def _rows(x: Array, axis: AxisLike) -> tuple[Array, Dim]:
    """The array with the reduced axes joined to a last axis, and its length."""
    axes = reduced_axes(axis, x.ndim)
    if not x.ndim:
        return reshape(x, (1,)), 1
    kept = [i for i in range(-x.ndim, 0) if i not in axes]
    size = count([x.shape[i] for i in axes])
    rows = transpose(x, (*kept, *axes)) if (*kept, *axes) != tuple(range(-x.ndim, 0)) else x
    return reshape(rows, (*[x.shape[i] for i in kept], size)), size


def _never_empty(rows: Array, size: Dim) -> Array:
    """Rows with a NaN behind their elements, if the length is a name, which may stand for 0.

    Position 0 is then the NaN, and so is position -1.
    """
    if isinstance(size, int) or rows.dtype.kind != "f":
        return rows
    beyond = full((*rows.shape[:-1], 1), np.nan, rows.dtype)
    return FUNCTIONS["concatenate"]([rows, beyond], axis=-1)


def _spoiled(found: Array, rows: Array, last_place: Array | int = -1) -> Array:
    """The result, with NaN for rows that hold a NaN: it is sorted last."""
    if rows.dtype.kind != "f":
        return found
    last = expand_dims(rows[..., last_place], -1)
    return FUNCTIONS["where"](FUNCTIONS["isnan"](last), last, found)


def _counted(x: Array, axis: AxisLike) -> Array:
    """The number of elements of each row that are no NaN, at least 1, with a last axis of 1."""
    axes = reduced_axes(axis, x.ndim)
    numbers = FUNCTIONS["logical_not"](FUNCTIONS["isnan"](x))
    found = FUNCTIONS["sum"](numbers, axis=axes)
    return expand_dims(found, -1)


def _as_fraction(q: ArrayLike, x: Array, percent: bool) -> tuple[Any, np.dtype[Any] | None]:
    """`q` as numbers between 0 and 1; a Python number takes the dtype of an array of floats."""
    weak = type(q) in (int, float) and x.dtype.kind == "f"
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype("float64")
    if isinstance(q, Array):
        return (q / 100 if percent else q), None
    found = np.asarray(q, dtype=dtype if weak else None)
    if found.dtype.kind not in "fiu":
        raise DTypeError(f"quantiles are numbers, not {found.dtype}.")
    found = found / dtype.type(100) if percent else found
    if not np.all((found >= 0) & (found <= 1)):
        raise ShapeError(f"quantile: q lies between 0 and {100 if percent else 1}, not at {q!r}.")
    return found, dtype if weak else None


def _quantile(
    x: ArrayLike,
    q: ArrayLike,
    axis: AxisLike,
    method: str,
    keepdims: bool,
    percent: bool,
    skip_nan: bool,
) -> Array:
    x = as_array(x)
    fractions, dtype = _as_fraction(q, x, percent)
    if fractions.ndim > 1:
        raise ShapeError(f"quantile: q is a number or a vector, not of shape {fractions.shape}.")
    rows, size = _sorted_rows(x, axis)
    lead = (fractions.shape[0],) if fractions.ndim else ()
    skip_nan = skip_nan and x.dtype.kind == "f"
    if size == 0 and skip_nan:
        return full((*lead, *_rest(x, axis, keepdims)), np.nan, dtype or x.dtype)
    if size == 0:
        raise ShapeError(f"quantile: shape {show_shape(x.shape)} has no element to choose.")
    places = (
        reshape(fractions, (1,))
        if isinstance(fractions, Array) and not fractions.ndim
        else fractions.reshape(-1)
    )
    n: Any = size if isinstance(size, int) else dimension(size)
    if skip_nan:
        n = FUNCTIONS["maximum"](_counted(x, axis), 1)
        rows = _never_empty(rows, size)
    found = _met(rows, n, places, method)
    found = _filled(found, x, axis) if skip_nan else _spoiled(found, rows)
    if dtype is not None and found.dtype != dtype and found.dtype.kind == "f":
        found = FUNCTIONS["astype"](found, dtype)
    found = moveaxis(found, -1, 0)
    return reshape(found, (*lead, *_rest(x, axis, keepdims)))


def _weighted(
    x: ArrayLike,
    q: ArrayLike,
    weights: object,
    axis: AxisLike,
    method: str,
    keepdims: bool,
    percent: bool,
    skip_nan: bool,
) -> Array:
    """The first element at which the sum of weights reaches the fraction `q` of all.

    It is differentiable in the elements. The derivative in the weights is 0.
    """
    if method != "inverted_cdf":
        raise TraceError(
            f"quantile: the method {method!r} takes no weights.",
            mend='Say method="inverted_cdf", as for NumPy.',
        )
    x, weights = as_array(x), _weights_like(as_array(x), as_array(weights), axis)
    fractions, _dtype = _as_fraction(q, x, percent)
    if fractions.ndim > 1:
        raise ShapeError(f"quantile: q is a number or a vector, not of shape {fractions.shape}.")
    rows, size = _rows(x, axis)
    sums, _ = _rows(weights, axis)
    if size == 0:
        raise ShapeError(f"quantile: shape {show_shape(x.shape)} has no element to choose.")
    is_nan = FUNCTIONS["isnan"](rows) if x.dtype.kind == "f" else None
    if skip_nan and is_nan is not None:
        sums = FUNCTIONS["where"](is_nan, 0, sums)
    order = FUNCTIONS["argsort"](rows, axis=-1)
    rows = take_along_axis(rows, order, axis=-1)
    at = _where_reached(take_along_axis(sums, order, axis=-1), fractions)
    found = take_along_axis(rows, at, axis=-1)
    if not skip_nan:
        found = _spoiled(found, rows)
    lead = (fractions.shape[0],) if fractions.ndim else ()
    return reshape(moveaxis(found, -1, 0), (*lead, *_rest(x, axis, keepdims)))


def _where_reached(weights: Array, fractions: Array | np.ndarray[Any, Any]) -> Array:
    """For each row and fraction, where the weights so far reach that fraction of their sum."""
    sums = FUNCTIONS["cumsum"](weights, axis=-1)
    sums = sums / sums[..., -1:]
    # Leading elements without weight are never chosen, not even as the minimum.
    sums = FUNCTIONS["where"](sums == 0, -1, sums)
    places = (
        reshape(fractions, (1,))
        if isinstance(fractions, Array) and not fractions.ndim
        else fractions.reshape(-1)
    )
    fewer = expand_dims(sums, -2) < expand_dims(as_array(places), -1)
    return FUNCTIONS["minimum"](FUNCTIONS["sum"](fewer, axis=-1), sums.shape[-1] - 1)


def _weights_like(x: Array, weights: Array, axis: AxisLike) -> Array:
    """Weights of the array's shape; a vector belongs to the one axis that is reduced."""
    if weights.dtype.kind not in "fiu":
        raise DTypeError(f"quantile: weights are numbers, not {weights.dtype}.")
    axes = reduced_axes(axis, x.ndim)
    given_shape = weights.shape
    if weights.ndim != x.ndim and weights.ndim == len(axes) == 1:
        weights = reshape(weights, (weights.shape[0], *(1,) * (-axes[0] - 1)))
        fits = known_equal(given_shape[0], x.shape[axes[0]])
    else:
        fits = same_shape(given_shape, x.shape)
    if not fits:
        raise ShapeError(
            f"quantile: weights of shape {show_shape(given_shape)} for {show_shape(x.shape)}.",
            mend="Give one weight an element, or one a place of the axis.",
        )
    return FUNCTIONS["broadcast_to"](weights, x.shape)


def _filled(found: Array, x: Array, axis: AxisLike) -> Array:
    """The result, with NaN for rows that hold only NaN."""
    return FUNCTIONS["where"](_counted(x, axis) == 0, np.nan, found)


def _rest(x: Array, axis: AxisLike, keepdims: bool) -> tuple[Dim, ...]:
    kept = given(keepdims) and bool(keepdims)
    return reduced_shape(x.shape, reduced_axes(axis, x.ndim), kept)


# -- NumPy's names ---------------------------------------------------------------------------------
def _published(name: str, numpy_function: object, percent: bool, skip_nan: bool, doc: str) -> Any:
    def call(
        a: ArrayLike,
        q: ArrayLike,
        axis: AxisLike = None,
        out: object = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
        *,
        weights: ArrayLike | None = None,
    ) -> Array:
        refuse(name, {"out": out})
        if given(weights):
            return _weighted(a, q, weights, axis, method, keepdims, percent, skip_nan)
        return _quantile(a, q, axis, method, keepdims, percent, skip_nan)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return composite(numpy_function)(call)


quantile = _published(
    "quantile",
    np.quantile,
    False,
    False,
    "The quantiles `q`, which may be symbolic, over `axis`; any of NumPy's methods.",
)
percentile = _published(
    "percentile", np.percentile, True, False, "`quantile` with `q` between 0 and 100."
)
nanquantile = _published("nanquantile", np.nanquantile, False, True, "`quantile`, NaN left out.")
nanpercentile = _published(
    "nanpercentile", np.nanpercentile, True, True, "`percentile`, NaN left out."
)


@composite(np.median)
def median(
    x: ArrayLike,
    axis: AxisLike = None,
    out: object = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The middle element over `axis`, or the mean of the middle two; NaN without elements."""
    refuse("median", {"out": out})
    x = as_array(x)
    rows, size = _sorted_rows(x, axis)
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype("float64")
    rest = _rest(x, axis, keepdims)
    if size == 0:
        return full(rest, np.nan, dtype)
    if isinstance(size, int):
        return reshape(_spoiled(_middle(rows, size, dtype), rows), rest)
    rows = _never_empty(FUNCTIONS["astype"](rows, dtype, copy=False), size)
    return reshape(_spoiled(_middle(rows, size, dtype), rows, dimension(size) - 1), rest)


def _middle(rows: Array, size: Dim, dtype: np.dtype[Any]) -> Array:
    if isinstance(size, int) and size % 2:
        found = rows[..., size // 2 : size // 2 + 1]
        return found if found.dtype == dtype else FUNCTIONS["astype"](found, dtype)
    if isinstance(size, int):
        return FUNCTIONS["mean"](rows[..., size // 2 - 1 : size // 2 + 1], axis=-1, keepdims=True)
    n = dimension(size)
    pair = FUNCTIONS["stack"]([(n - 1) // 2, n // 2])
    return FUNCTIONS["mean"](rows[..., pair], axis=-1, keepdims=True)


@composite(np.nanmedian)
def nanmedian(
    x: ArrayLike,
    axis: AxisLike = None,
    out: object = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The median of the elements that are no NaN."""
    refuse("nanmedian", {"out": out})
    x = as_array(x)
    rows, size = _sorted_rows(x, axis)
    if x.dtype.kind != "f" or size == 0:
        return median(x, axis, keepdims=keepdims)
    n = _counted(x, axis)
    pair = FUNCTIONS["concatenate"]([(FUNCTIONS["maximum"](n, 1) - 1) // 2, n // 2], axis=-1)
    wide = broadcast_to(pair, (*rows.shape[:-1], 2))
    rows = _never_empty(rows, size)
    found = FUNCTIONS["mean"](take_along_axis(rows, wide, axis=-1), axis=-1, keepdims=True)
    return reshape(_filled(found, x, axis), _rest(x, axis, keepdims))
