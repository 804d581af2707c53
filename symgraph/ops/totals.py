"""The reductions that have an identity: sum, product, all and any."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, apply
from ..facts import Fact, finite, integer_valued, interval
from ..ir.avals import Aval
from ..ir.fact_inference import Known
from ..ir.op import Op, per_element, register, results_of
from ..ir.traits import Traits
from ..namespace.row_sums import LONGEST
from ..notation import array_formulas
from .batched import batch_aligned
from .carrying import all_but_last
from .creation import arange, constant_of
from .families import function, same_dtype
from .movement import expand_dims, reshape, transpose
from .reduction import Axes, accumulator, reduced_count, reduction, restored

__all__ = ["PRODUCT_OF_OTHERS", "all", "any", "prod", "product_of_others", "sum"]


def _facts_sum(x: Known, *, axis: Axes, keepdims: bool) -> Iterable[Fact]:
    nothing = reduced_count(x.aval.shape, axis)
    number = nothing if isinstance(nothing, int) else None
    for fact in (finite, Fact("total"), Fact("nonnegative"), Fact("nonpositive"), integer_valued):
        if x.has(fact):
            yield fact
    for fact in (Fact("positive"), Fact("negative")):
        if number and x.has(fact):
            yield fact
    if number is not None and -np.inf < x.low and x.high < np.inf:
        yield interval(number * x.low, number * x.high)
    if len(axis) == 1 and x.has(Fact("simplex", axis)):
        yield interval(1.0, 1.0)


def _indices_sum(
    _out: Aval, x: Aval, *, axis: tuple[int, ...], keepdims: bool
) -> tuple[list[list[Any]], list[Any]]:
    axes = list(range(-x.ndim, 0))
    return [axes], axes if keepdims else [each for each in axes if each not in axis]


def _sums_of_many(xp: Any, x: Any, *, axis: Axes, keepdims: bool) -> Any:
    """Short rows of floats are summed by BLAS."""
    length, dtype = x.shape[-1], xp.dtype_of(x)
    named = type(length) is not int  # The kernel asks, when it is called.
    short = axis == (-1,) and len(x.shape) > 1 and (named or 1 < length <= LONGEST)
    if not short or dtype.kind != "f":
        return xp.sum(x, axis=axis, keepdims=keepdims)
    return xp.row_sums(x, keepdims=True) if keepdims else xp.row_sums(x)


sum = reduction(
    "sum",
    numpy=(np.sum,),
    vjp=lambda ct, out, x, *, axis, keepdims: restored(ct, axis, keepdims),
    promote=accumulator,
    identity=0,
    facts=_facts_sum,
    traits=Traits(linear=(0,), indices=_indices_sum),
    ufunc=np.add,
    doc="The sum over `axis` (None: all axes); integers are summed in 64 bits.",
    mistaken_for=("prod", "max"),
    latex=array_formulas.sum_over_axes_formula,
    definition=lambda m, row: m.total(row),
    kernel_of_many=_sums_of_many,
)


# -- product -------------------------------------------------------------------------------------
def _others_kernel(xp: Any, x: Any) -> Any:
    """Products of all elements but one on the last axis: prefixes times suffixes, no division."""

    def part(*ends: int | None) -> Any:
        return xp.getitem(x, (Ellipsis, slice(*ends)))

    before = xp.concatenate((xp.ones_like(part(1)), part(-1)), axis=-1)
    behind = xp.concatenate((xp.ones_like(part(1)), part(None, 0, -1)), axis=-1)
    backwards = (Ellipsis, slice(None, None, -1))
    return xp.cumprod(before, axis=-1) * xp.getitem(xp.cumprod(behind, axis=-1), backwards)


def _vjp_others(ct: Array, out: Array, x: Array) -> Array:
    r"""$\bar x_k = \sum_{i \ne k} \bar y_i \prod_{j \ne i, k} x_j$, whatever is zero."""
    place = arange(x.shape[-1])
    same = expand_dims(place, -1) == place
    rows = FUNCTIONS["where"](same, constant_of(1, x.dtype), expand_dims(x, -2))
    pairs = FUNCTIONS["where"](same, constant_of(0, x.dtype), product_of_others(rows))
    return sum(expand_dims(ct, -1) * pairs, axis=-2)


PRODUCT_OF_OTHERS = register(
    Op(
        "product_of_others",
        workspace=results_of(2.25),
        batch=batch_aligned,
        total=True,
        infer=lambda x: x,
        kernel=_others_kernel,
        vjp=(_vjp_others,),
        carries=all_but_last(1),
        promote=same_dtype,
        flops=per_element(3),
        facts=lambda x: [
            fact
            for fact in (Fact("nonnegative"), Fact("positive"), finite, integer_valued)
            if x.has(fact)
        ],
        doc="For each element of the last axis, the product of all other elements.",
        traits=Traits(multiplies=True),
    )
)


def _product_of_others(x: ArrayLike) -> Array:
    return apply(PRODUCT_OF_OTHERS, x)


product_of_others = function(PRODUCT_OF_OTHERS, _product_of_others)


def _vjp_prod(ct: Array, out: Array, x: Array, *, axis: Axes, keepdims: bool) -> Array:
    others = _others(x, axis)
    return restored(ct, axis, keepdims) * others


def _others(x: Array, axis: Axes) -> Array:
    if axis == (-1,):
        return product_of_others(x)
    if not axis:
        return FUNCTIONS["ones_like"](x)
    order = (*[i for i in range(-x.ndim, 0) if i not in axis], *axis)
    turned = transpose(x, order)
    flat = reshape(turned, (*turned.shape[: x.ndim - len(axis)], reduced_count(x.shape, axis)))
    inverse = [order.index(i) - x.ndim for i in range(-x.ndim, 0)]
    return transpose(reshape(product_of_others(flat), turned.shape), inverse)


def _facts_prod(x: Known, *, axis: Axes, keepdims: bool) -> Iterable[Fact]:
    for name in ("positive", "nonnegative", "nonzero", "finite", "total", "integer_valued"):
        if x.has(Fact(name)):
            yield Fact(name)
    if x.low >= 0 and x.high <= 1:
        yield interval(0.0, 1.0)


prod = reduction(
    "prod",
    numpy=(np.prod,),
    vjp=_vjp_prod,
    promote=accumulator,
    identity=1,
    facts=_facts_prod,
    ufunc=np.multiply,
    doc="The product over `axis` (None: all axes).",
    mistaken_for=("sum", "max"),
    definition=lambda m, row: m.product(row),
    traits=Traits(multiplies=True),
)


# -- truth ---------------------------------------------------------------------------------------
def _facts_truth(_x: Known, **_params: object) -> Iterable[Fact]:
    return (interval(0, 1),)


all = reduction(
    "all",
    numpy=(np.all,),
    vjp=None,
    dtype=bool,
    identity=True,
    facts=_facts_truth,
    ufunc=np.logical_and,
    doc="Whether every element over `axis` is nonzero.",
)
any = reduction(
    "any",
    numpy=(np.any,),
    vjp=None,
    dtype=bool,
    identity=False,
    facts=_facts_truth,
    ufunc=np.logical_or,
    doc="Whether an element over `axis` is nonzero.",
)
