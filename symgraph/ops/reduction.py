"""Shared by reductions, and the reductions with an identity: sum, product, all, any."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Unpack

import numpy as np
from numpy.typing import DTypeLike

from ..array import FUNCTIONS, NUMPY_FUNCTIONS, Array, ArrayLike, apply
from ..errors import DTypeError, ShapeError
from ..facts import Fact, finite, integer_valued, interval
from ..ir.avals import Aval, AxisLike, normal_axes
from ..ir.dims import Dim, Shape, count, show_shape
from ..ir.fact_inference import Known
from ..ir.op import Op, Said, VjpRule, per_element, register, results_of
from ..ir.traits import Traits
from ..notation import array_formulas
from .batched import batch_aligned
from .carrying import all_but_last, carries_reduced
from .composites import as_array, given, naming_lines, refuse
from .creation import arange, constant_of
from .families import function, same_dtype
from .movement import expand_dims, reshape, transpose

__all__ = [
    "Axes",
    "accumulator",
    "all",
    "any",
    "mask_like",
    "one_axis",
    "per_input_element",
    "prod",
    "product_of_others",
    "raveled",
    "reduced_axes",
    "reduced_count",
    "reduced_shape",
    "reduction",
    "restored",
    "sum",
]

Axes = tuple[int, ...]


# -- what reductions share -----------------------------------------------------------------------
def _normal_reduction(
    avals: tuple[Aval, ...], *, axis: AxisLike = None, keepdims: bool = False
) -> dict[str, Any]:
    return {"axis": reduced_axes(axis, avals[0].ndim), "keepdims": bool(keepdims)}


def reduced_axes(axis: AxisLike, ndim: int) -> Axes:
    """The axes of a reduction, negative and in order; a 0-d array may have one, as in NumPy."""
    return () if ndim == 0 and _only_axis(axis) else normal_axes(axis, ndim)


def raveled(x: ArrayLike, axis: AxisLike) -> bool:
    """Whether an operation along one axis takes the array raveled."""
    return axis is None or (type(x) is Array and not x.ndim and _only_axis(axis))


def _only_axis(axis: AxisLike) -> bool:
    return isinstance(axis, int) and axis in (0, -1)


def reduced_shape(shape: Shape, axis: Axes, keepdims: bool) -> Shape:
    """The shape after a reduction over `axis`."""
    if keepdims:
        return tuple([1 if i in axis else dim for i, dim in enumerate(shape, -len(shape))])
    return tuple([dim for i, dim in enumerate(shape, -len(shape)) if i not in axis])


def reduced_count(shape: Shape, axis: Axes) -> Dim:
    """The number of elements that are reduced to one."""
    return count([shape[each] for each in axis])


def restored(x: Array, axis: Axes, keepdims: bool) -> Array:
    """The result of a reduction, or its cotangent, with the reduced axes back at size 1."""
    return x if keepdims or not axis else expand_dims(x, axis)


def _without_identity(shape: Shape, axis: Axes, keepdims: bool) -> Shape:
    result = reduced_shape(shape, axis, keepdims)
    if reduced_count(shape, axis) == 0 and count(result) != 0:
        raise ShapeError(
            f"shape {show_shape(shape)} has no element along axis {axis} to choose.",
            mend="A reduction without identity needs at least one element.",
        )
    return result


def per_input_element(_out: Aval, x: Aval, **_params: object) -> Dim:
    """The cost of a reduction: one operation for each element it reads."""
    return x.size


def reduction(
    name: str,
    *,
    numpy: tuple[Any, ...],
    vjp: VjpRule | None,
    promote: Callable[[np.dtype[Any]], np.dtype[Any]] = same_dtype,
    dtype: DTypeLike | None = None,
    identity: object = None,
    facts: Callable[..., Iterable[Fact]],
    traits: Traits | None = None,
    ufunc: np.ufunc,
    doc: str,
    **said: Unpack[Said],
) -> Any:
    """An operation that reduces axes to one element each, and its function.

    Parameters
    ----------
    promote : callable
        From the operand's dtype to the one it is accumulated in.
    dtype : dtype, optional
        Of the result, if it is not that of the accumulation.
    identity : number, optional
        The reduction of nothing; None if there is none.
    ufunc : numpy.ufunc
        Whose `reduce` this is; it joins `initial=` to the result.
    """
    op = _reducing(name, vjp, promote, dtype, identity, facts, traits, doc, ufunc, **said)

    @naming_lines
    def call(
        x: ArrayLike,
        axis: AxisLike = None,
        dtype: object = None,
        out: object = None,
        keepdims: object = False,
        initial: object = None,
        where: Any = True,
    ) -> Array:
        refuse(name, {"out": out})
        kept = given(keepdims) and bool(keepdims)
        operand = as_array(x) if dtype is None else FUNCTIONS["astype"](as_array(x), dtype)
        start = None
        if given(initial):
            start = FUNCTIONS["asarray"](initial, dtype=promote(operand.dtype))
        if given(where) and where is not True:
            operand = _chosen(name, operand, where, start if identity is None else identity)
        found = _started(op, operand, start, ufunc.__name__, axis, kept)
        return found if dtype is None else FUNCTIONS["astype"](found, dtype)

    def without_dtype(
        x: ArrayLike, axis: AxisLike = None, out: object = None, *rest: object, **named: object
    ) -> Array:
        return call(x, axis, None, out, *rest, **named)

    def reduce(x: ArrayLike, axis: AxisLike = 0, *rest: object, **keywords: object) -> Array:
        return call(x, axis, *rest, **keywords)

    NUMPY_FUNCTIONS[(ufunc, "reduce")] = reduce
    # NumPy's max, min, all and any take no dtype: out is their third argument.
    return function(op, call if promote is accumulator else without_dtype, *numpy)


def _reducing(
    name: str,
    vjp: VjpRule | None,
    promote: Callable[[np.dtype[Any]], np.dtype[Any]],
    dtype: DTypeLike | None,
    identity: object,
    facts: Callable[..., Iterable[Fact]],
    traits: Traits | None,
    doc: str,
    ufunc: np.ufunc,
    **said: Unpack[Said],
) -> Op:
    """The record of a reduction; parameters as in `reduction`."""

    def infer(x: Aval, *, axis: Axes, keepdims: bool) -> Aval:
        shapes = _without_identity if identity is None else reduced_shape
        shape = shapes(x.shape, axis, keepdims)
        return Aval(np.dtype(dtype) if dtype is not None else x.dtype, shape)

    def kernel(xp: Any, x: Any, *, axis: Axes, keepdims: bool) -> Any:
        return getattr(xp, name)(x, axis=axis, keepdims=keepdims)

    return register(
        Op(
            name,
            batch=batch_aligned,
            total=True,
            infer=infer,
            kernel=kernel,
            vjp=(vjp,),
            carries=carries_reduced,
            normalize=_normal_reduction,
            promote=promote,
            flops=per_input_element,
            facts=facts,
            traits=traits or Traits(),
            doc=doc,
            reduces=ufunc.__name__,
            **said,
        )
    )


def _chosen(name: str, x: Array, where: ArrayLike, otherwise: object) -> Array:
    """The array with the elements outside of `where` replaced so that they do not count."""
    if otherwise is None:
        raise ShapeError(
            f"{name}: the reduction of nothing is not defined, and where= may leave nothing.",
            mend="Give initial= as well.",
        )
    return FUNCTIONS["where"](mask_like(x, where), x, otherwise)


def mask_like(x: Array, where: ArrayLike) -> Array:
    """`where=` of a reduction as a boolean array of the shape of `x`.

    Raises
    ------
    DTypeError
        If it is not boolean.
    """
    mask = as_array(where)
    if mask.dtype.kind != "b":
        raise DTypeError(
            f"where= is boolean, not {mask.dtype}.", mend="Compare first, as in where=w != 0."
        )
    return FUNCTIONS["broadcast_to"](mask, x.shape)


def _started(
    op: Op, x: Array, start: Array | None, ufunc: str, axis: AxisLike, keepdims: bool
) -> Array:
    """The reduction, combined with the initial value if there is one."""
    if start is None:
        return apply(op, x, axis=axis, keepdims=keepdims)
    axes = reduced_axes(axis, x.ndim)
    if reduced_count(x.shape, axes) == 0:
        return FUNCTIONS["broadcast_to"](start, reduced_shape(x.shape, axes, keepdims))
    return FUNCTIONS[ufunc](apply(op, x, axis=axis, keepdims=keepdims), start)


def accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a sum: small integers are summed in the platform's integer, as in NumPy."""
    if dtype.kind in "bi":
        return np.result_type(dtype, np.int64)
    return np.result_type(dtype, np.uint64) if dtype.kind == "u" else dtype


def one_axis(avals: tuple[Aval, ...], *, axis: AxisLike, keepdims: bool = False) -> dict[str, Any]:
    """Params of a reduction along one axis in normal form."""
    if not avals[0].ndim:
        raise ShapeError("an array of at least one dimension is needed.")
    return {"axis": normal_axes(axis, avals[0].ndim)[0], "keepdims": bool(keepdims)}


# -- sum -----------------------------------------------------------------------------------------
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
