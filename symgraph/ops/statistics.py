"""Cumulative sums, and functions made of sums: mean, variance, standard deviation, counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..array import FUNCTIONS, Array, ArrayLike, apply
from ..errors import DTypeError
from ..facts import Fact, finite, integer_valued
from ..ir.avals import AxisLike, normal_axes
from ..ir.op import Op, register
from ..ir.traits import Traits
from .batched import batch_aligned
from .carrying import carries_off_axis
from .composites import as_array, composite, given, naming_lines, refuse
from .creation import dimension
from .families import function
from .movement import ravel
from .reduction import accumulator, mask_like, one_axis, raveled, reduced_count
from .totals import sum

__all__ = ["count_nonzero", "cumsum", "mean", "std", "var"]


# -- cumulative ----------------------------------------------------------------------------------
def _vjp_cumsum(ct: Array, out: Array, x: Array, *, axis: int) -> Array:
    back = (Ellipsis, slice(None, None, -1), *[slice(None)] * (-axis - 1))
    return cumsum(ct[back], axis=axis)[back]


CUMSUM = register(
    Op(
        "cumsum",
        batch=batch_aligned,
        total=True,
        infer=lambda x, *, axis: x,
        kernel=lambda xp, x, *, axis: xp.cumsum(x, axis=axis),
        vjp=(_vjp_cumsum,),
        carries=carries_off_axis,
        normalize=lambda avals, *, axis: {"axis": one_axis(avals, axis=axis)["axis"]},
        promote=accumulator,
        facts=lambda x, *, axis: [
            fact
            for fact in (
                *(Fact("nonnegative"), Fact("positive"), Fact("nonpositive"), Fact("negative")),
                *(finite, Fact("total"), integer_valued),
            )
            if x.has(fact)
        ],
        doc="Sums of all elements up to each along `axis` (None: of the raveled array).",
        traits=Traits(linear=(0,)),
    )
)


@naming_lines
def _cumsum(
    x: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: object = None
) -> Array:
    refuse("cumsum", {"out": out})
    operand = x if dtype is None else FUNCTIONS["astype"](as_array(x), dtype)
    if raveled(operand, axis):
        operand, axis = ravel(operand), -1
    found = apply(CUMSUM, operand, axis=axis)
    return found if dtype is None else FUNCTIONS["astype"](found, dtype)


cumsum = function(CUMSUM, _cumsum, np.cumsum)


@composite((np.add, "accumulate"))
def _add_accumulate(x: ArrayLike, axis: int = 0, **keywords: object) -> Array:
    return cumsum(x, axis, **keywords)


# -- composites ----------------------------------------------------------------------------------
@composite(np.mean)
def mean(
    x: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike | None = None,
    out: object = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> Array:
    r"""The mean $\frac1n \sum_i x_i$ over `axis`; integers in float64, float16 through float32.

    Only elements where `where` holds count; the mean of no element is NaN.
    """
    refuse("mean", {"out": out})
    operand = as_array(x)
    result = np.dtype(dtype) if dtype is not None else _mean_dtype(operand.dtype)
    inner = np.dtype("float32") if result == np.float16 else result
    # dtype: an integer result wraps around in its own width, as in NumPy.
    total = sum(_as(operand, inner), axis, inner, keepdims=keepdims, where=where)
    return _as(total / _number(operand, axis, keepdims, where, inner), result)


def _mean_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtype.kind == "f" else np.dtype("float64")


def _as(x: Array, dtype: np.dtype[Any]) -> Array:
    return x if x.dtype == dtype else FUNCTIONS["astype"](x, dtype)


def _number(
    x: Array, axis: AxisLike, keepdims: bool, where: ArrayLike, dtype: np.dtype[Any]
) -> Array:
    """The number of elements that are reduced to one."""
    if given(where) and where is not True:
        return _as(sum(mask_like(x, where), axis=axis, keepdims=keepdims), dtype)
    return dimension(reduced_count(x.shape, normal_axes(axis, x.ndim)), dtype)


@composite(np.var)
def var(
    x: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike | None = None,
    out: object = None,
    ddof: float = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Array:
    r"""The variance $\frac{1}{n - d} \sum_i (x_i - \bar x)^2$ over `axis`, $d$ being `ddof`.

    Only elements where `where` holds count. `mean` is $\bar x$ if it is known already, with its
    reduced axes kept; `correction` is another name for `ddof`. `dtype` is refused if it is not one
    of floats.
    """
    refuse("var", {"out": out})
    if given(correction):
        ddof = correction
    operand = as_array(x)
    result = _floats("var", dtype, operand)
    inner = np.dtype("float32") if result == np.float16 else result
    operand = _as(operand, inner)
    centre = mean if given(mean) else _mean_of(operand, axis, where)
    squares = FUNCTIONS["square"](operand - centre)
    total = sum(squares, axis=axis, keepdims=keepdims, where=where)
    return _as(total / _less(operand, ddof, axis, keepdims, where), result)


def _mean_of(x: Array, axis: AxisLike, where: ArrayLike) -> Array:
    return mean(x, axis=axis, keepdims=True, where=where)


def _floats(name: str, dtype: DTypeLike | None, x: Array) -> np.dtype[Any]:
    """The dtype of a variance; NumPy would cut the mean and the squares down to integers."""
    result = np.dtype(dtype) if dtype is not None else _mean_dtype(x.dtype)
    if result.kind != "f":
        raise DTypeError(f"{name}: dtype={result} holds no fractions.", mend="Convert the result.")
    return result


def _less(x: Array, ddof: float, axis: AxisLike, keepdims: bool, where: ArrayLike) -> Array:
    """NumPy's divisor, max(n - ddof, 0)."""
    number = _number(x, axis, keepdims, where, x.dtype)
    if number.node.is_constant:
        rest = float(number.node.params["value"]) - ddof
        return FUNCTIONS["asarray"](rest if rest > 0 else 0, dtype=x.dtype)
    return FUNCTIONS["maximum"](number - ddof, 0) if ddof else number


@composite(np.std)
def std(
    x: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike | None = None,
    out: object = None,
    ddof: float = 0,
    **keywords: object,
) -> Array:
    """The square root of `var`."""
    refuse("std", {"out": out})
    operand = as_array(x)
    result = _floats("std", dtype, operand)
    inner = np.dtype("float32") if result == np.float16 else result
    squared = var(operand, axis, inner, None, ddof, **keywords)
    return _as(FUNCTIONS["sqrt"](squared), result)


@composite(np.count_nonzero)
def count_nonzero(x: ArrayLike, axis: AxisLike = None, *, keepdims: bool = False) -> Array:
    """The number of elements over `axis` that are not zero."""
    return sum(as_array(x) != 0, axis=axis, keepdims=keepdims)
