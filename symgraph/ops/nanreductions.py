"""Reductions that skip NaN, under NumPy's names; an element that is NaN has the derivative 0.

Without any number the result is NaN; NumPy also warns. `nanargmax` and `nanargmin` give -1 where
every element is NaN, as JAX does. NumPy raises an error there, but a graph cannot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..array import FUNCTIONS, Array, ArrayLike
from ..ir.avals import AxisLike
from .composites import as_array, composite, given, refuse
from .extrema import argmax, argmin
from .extrema import max as maximum_over
from .extrema import min as minimum_over
from .recurrence import cummax, cummin, cumprod
from .reduction import mask_like
from .softmax import logsumexp
from .statistics import cumsum, mean, var
from .totals import all as all_over
from .totals import prod, sum

__all__ = [
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]


def _without_nan(x: ArrayLike, value: float) -> Array:
    x = as_array(x)
    return FUNCTIONS["where"](FUNCTIONS["isnan"](x), value, x) if x.dtype.kind == "f" else x


def _numbers(x: Array, where: ArrayLike) -> Any:
    """The mask of the elements that are no NaN and that `where` allows."""
    if x.dtype.kind != "f":
        return where
    found = FUNCTIONS["logical_not"](FUNCTIONS["isnan"](x))
    return found if where is True or not given(where) else found & mask_like(x, where)


@composite(np.nansum)
def nansum(
    x: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike | None = None,
    out: object = None,
    **rest: object,
) -> Array:
    """The sum of the elements that are no NaN."""
    return sum(_without_nan(x, 0), axis, dtype, out, **rest)


@composite(np.nanprod)
def nanprod(
    x: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike | None = None,
    out: object = None,
    **rest: object,
) -> Array:
    """The product of the elements that are no NaN."""
    return prod(_without_nan(x, 1), axis, dtype, out, **rest)


@composite(np.nancumsum)
def nancumsum(
    x: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: object = None
) -> Array:
    """Cumulative sums of the elements that are no NaN."""
    return cumsum(_without_nan(x, 0), axis, dtype, out)


@composite(np.nancumprod)
def nancumprod(
    x: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: object = None
) -> Array:
    """Cumulative products of the elements that are no NaN."""
    return cumprod(_without_nan(x, 1), axis, dtype, out)


@composite(np.nanmean)
def nanmean(
    x: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike | None = None,
    out: object = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> Array:
    """The mean of the elements that are no NaN."""
    x = as_array(x)
    return mean(x, axis, dtype, out, keepdims, where=_numbers(x, where))


@composite(np.nanvar)
def nanvar(
    x: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike | None = None,
    out: object = None,
    ddof: float = 0,
    keepdims: object = False,
    *,
    where: ArrayLike = True,
    mean: ArrayLike | None = None,
    correction: Any = None,
) -> Array:
    """The variance of the elements that are no NaN; NaN without a degree of freedom."""
    x = as_array(x)
    ddof = correction if given(correction) else ddof
    numbers = _numbers(x, where)
    found = var(x, axis, dtype, out, ddof, keepdims, where=numbers, mean=mean)
    if x.dtype.kind != "f":
        return found
    free = sum(numbers, axis=axis, keepdims=keepdims) > ddof
    return FUNCTIONS["where"](free, found, FUNCTIONS["asarray"](np.nan, dtype=found.dtype))


@composite(np.nanstd)
def nanstd(
    x: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike | None = None,
    out: object = None,
    *rest: Any,
    **named: Any,
):
    """The square root of `nanvar`."""
    return FUNCTIONS["sqrt"](nanvar(x, axis, dtype, out, *rest, **named))


def _extremum(
    over: Callable[..., Any],
    x: ArrayLike,
    axis: AxisLike,
    out: object,
    keepdims: object,
    initial: object,
    where: object,
    least: float,
) -> Array:
    x = as_array(x)
    if x.dtype.kind != "f":
        return over(x, axis, out, keepdims, initial, where)
    found = over(_without_nan(x, least), axis, out, keepdims, initial, where)
    if given(initial):
        return found
    nothing = all_over(FUNCTIONS["isnan"](x), axis=axis, keepdims=keepdims)
    return FUNCTIONS["where"](nothing, FUNCTIONS["asarray"](np.nan, dtype=found.dtype), found)


@composite(np.nanmax)
def nanmax(
    x: ArrayLike,
    axis: AxisLike = None,
    out: object = None,
    keepdims: object = False,
    initial: object = None,
    where: object = True,
) -> Array:
    """The largest element that is no NaN; ties split the gradient equally."""
    return _extremum(maximum_over, x, axis, out, keepdims, initial, where, -np.inf)


@composite(np.nanmin)
def nanmin(
    x: ArrayLike,
    axis: AxisLike = None,
    out: object = None,
    keepdims: object = False,
    initial: object = None,
    where: object = True,
) -> Array:
    """The least element that is no NaN; ties split the gradient equally."""
    return _extremum(minimum_over, x, axis, out, keepdims, initial, where, np.inf)


def _place(
    over: Callable[..., Any],
    name: str,
    x: ArrayLike,
    axis: AxisLike,
    out: object,
    keepdims: bool,
    least: float,
) -> Array:
    refuse(name, {"out": out})
    x = as_array(x)
    found = over(_without_nan(x, least), axis, keepdims=keepdims)
    if x.dtype.kind != "f":
        return found
    nothing = all_over(FUNCTIONS["isnan"](x), axis=axis, keepdims=keepdims)
    return FUNCTIONS["where"](nothing, -1, found)


@composite(np.nanargmax)
def nanargmax(
    x: ArrayLike, axis: int | None = None, out: object = None, *, keepdims: bool = False
) -> Array:
    """The first place of the largest element that is no NaN; -1 where all are NaN."""
    return _place(argmax, "nanargmax", x, axis, out, keepdims, -np.inf)


@composite(np.nanargmin)
def nanargmin(
    x: ArrayLike, axis: int | None = None, out: object = None, *, keepdims: bool = False
) -> Array:
    """The first place of the least element that is no NaN; -1 where all are NaN."""
    return _place(argmin, "nanargmin", x, axis, out, keepdims, np.inf)


# -- ufuncs' own methods ---------------------------------------------------------------------------
@composite((np.fmax, "reduce"))
def _fmax_reduce(
    x: ArrayLike,
    axis: AxisLike = 0,
    dtype: DTypeLike | None = None,
    *rest: object,
    **keywords: object,
) -> Array:
    refuse("np.fmax.reduce", {"dtype": dtype})
    return nanmax(x, axis, *rest, **keywords)


@composite((np.fmin, "reduce"))
def _fmin_reduce(
    x: ArrayLike,
    axis: AxisLike = 0,
    dtype: DTypeLike | None = None,
    *rest: object,
    **keywords: object,
) -> Array:
    refuse("np.fmin.reduce", {"dtype": dtype})
    return nanmin(x, axis, *rest, **keywords)


def _so_far(
    over: Callable[..., Any],
    name: str,
    x: ArrayLike,
    axis: AxisLike,
    dtype: object,
    out: object,
    least: float,
) -> Array:
    """The cumulative extremum of the elements that are no NaN; NaN before the first of them."""
    refuse(name, {"dtype": dtype, "out": out})
    x = as_array(x)
    found = over(_without_nan(x, least), axis)
    if x.dtype.kind != "f":
        return found
    nothing = cummin(FUNCTIONS["isnan"](x), axis)
    return FUNCTIONS["where"](nothing, FUNCTIONS["asarray"](np.nan, dtype=found.dtype), found)


@composite((np.fmax, "accumulate"))
def _fmax_accumulate(
    x: ArrayLike, axis: AxisLike = 0, dtype: DTypeLike | None = None, out: object = None
) -> Array:
    return _so_far(cummax, "np.fmax.accumulate", x, axis, dtype, out, -np.inf)


@composite((np.fmin, "accumulate"))
def _fmin_accumulate(
    x: ArrayLike, axis: AxisLike = 0, dtype: DTypeLike | None = None, out: object = None
) -> Array:
    return _so_far(cummin, "np.fmin.accumulate", x, axis, dtype, out, np.inf)


@composite((np.logical_or, "accumulate"))
def _or_accumulate(
    x: ArrayLike, axis: AxisLike = 0, dtype: DTypeLike | None = None, out: object = None
) -> Array:
    refuse("np.logical_or.accumulate", {"dtype": dtype})
    return cummax(as_array(x) != 0, axis, out=out)


@composite((np.logical_and, "accumulate"))
def _and_accumulate(
    x: ArrayLike, axis: AxisLike = 0, dtype: DTypeLike | None = None, out: object = None
) -> Array:
    refuse("np.logical_and.accumulate", {"dtype": dtype})
    return cummin(as_array(x) != 0, axis, out=out)


@composite((np.logaddexp, "reduce"))
def _logaddexp_reduce(
    x: ArrayLike,
    axis: AxisLike = 0,
    dtype: DTypeLike | None = None,
    out: object = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike = True,
) -> Array:
    refuse("np.logaddexp.reduce", {"dtype": dtype, "out": out})
    x = as_array(x)
    if given(where) and where is not True:
        x = FUNCTIONS["where"](mask_like(x, where), x, -np.inf)
    found = logsumexp(x, axis, keepdims)
    return FUNCTIONS["logaddexp"](found, initial) if given(initial) else found
