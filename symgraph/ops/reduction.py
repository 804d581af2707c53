"""Reductions: sum, product, extrema with and without their place, cumulative sum, and what is made of them.

A tie of max or min splits the gradient equally; `max_with_index` gives it to the first, whose index it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..array import FUNCTIONS, NUMPY_FUNCTIONS, Array, apply
from ..avals import Aval, normal_axes
from ..dims import Dim, Shape, count, known_equal, show_shape
from ..errors import ShapeError
from ..facts import Fact, finite, integer_valued, interval
from ..op import Algebra, Op, VjpRule, per_element, register
from .composites import as_array, composite, refuse
from .creation import arange, dimension
from .families import function, same_dtype
from .movement import expand_dims, facts_of_elements, ravel, reshape, transpose

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "cumsum",
    "max",
    "max_with_index",
    "mean",
    "min",
    "prod",
    "ptp",
    "std",
    "sum",
    "var",
]

Axes = tuple[int, ...]


# -- what reductions share ---------------------------------------------------------------------------
def _normal_reduction(
    avals: tuple[Aval, ...], *, axis: Any = None, keepdims: Any = False
) -> dict[str, Any]:
    return {"axis": normal_axes(axis, avals[0].ndim), "keepdims": bool(keepdims)}


def reduced_shape(shape: Shape, axis: Axes, keepdims: bool) -> Shape:
    """The shape after a reduction over `axis`."""
    if keepdims:
        return tuple([1 if i in axis else dim for i, dim in enumerate(shape, -len(shape))])
    return tuple([dim for i, dim in enumerate(shape, -len(shape)) if i not in axis])


def reduced_count(shape: Shape, axis: Axes) -> Dim:
    """How many elements are reduced to one."""
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


def _per_input_element(_out: Aval, x: Aval, **_params: Any) -> Dim:
    return x.size


def reduction(
    name: str,
    *,
    numpy: tuple[Any, ...],
    vjp: VjpRule | None,
    promote: Callable[[np.dtype[Any]], np.dtype[Any]] = same_dtype,
    dtype: Any = None,
    identity: bool = True,
    facts: Callable[..., Iterable[Fact]],
    role: str = "",
    ufunc: Any = None,
    doc: str,
) -> Any:
    """An operation that reduces axes to one element each, and its function.

    Parameters
    ----------
    promote : callable
        From the operand's dtype to the one it is accumulated in.
    dtype : dtype, optional
        Of the result, if it is not that of the accumulation.
    identity : bool
        Whether the reduction of nothing is defined.
    ufunc : numpy.ufunc, optional
        Whose `reduce` this is.
    """

    def infer(x: Aval, *, axis: Axes, keepdims: bool) -> Aval:
        shape = (reduced_shape if identity else _without_identity)(x.shape, axis, keepdims)
        return Aval(np.dtype(dtype) if dtype is not None else x.dtype, shape)

    def kernel(xp: Any, x: Any, *, axis: Axes, keepdims: bool) -> Any:
        return getattr(xp, name)(x, axis=axis, keepdims=keepdims)

    op = register(
        Op(
            name,
            infer=infer,
            kernel=kernel,
            vjp=(vjp,),
            normalize=_normal_reduction,
            promote=promote,
            flops=_per_input_element,
            facts=facts,
            algebra=Algebra(role),
            doc=doc,
        )
    )

    def call(
        x: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        **rest: Any,
    ) -> Array:
        refuse(name, {"out": out, **rest})
        kept = keepdims is not np._NoValue and bool(keepdims)  # pyright: ignore
        operand = x if dtype is None else FUNCTIONS["astype"](as_array(x), dtype)
        return apply(op, operand, axis=axis, keepdims=kept)

    def reduce(x: Any, axis: Any = 0, **keywords: Any) -> Array:
        return call(x, axis, **keywords)

    if ufunc is not None:
        NUMPY_FUNCTIONS[(ufunc, "reduce")] = reduce
    return function(op, call, *numpy)


def _accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Integers are summed in the platform's integer, as NumPy does."""
    if dtype.kind in "bi":
        return np.result_type(dtype, np.int64)
    return np.result_type(dtype, np.uint64) if dtype.kind == "u" else dtype


# -- sum ---------------------------------------------------------------------------------------------
def _facts_sum(x: Any, *, axis: Axes, keepdims: bool) -> Iterable[Fact]:
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


sum = reduction(
    "sum",
    numpy=(np.sum,),
    vjp=lambda ct, out, x, *, axis, keepdims: restored(ct, axis, keepdims),
    promote=_accumulator,
    facts=_facts_sum,
    role="sum",
    ufunc=np.add,
    doc="The sum over `axis` (None: all axes); integers are summed in 64 bits.",
)


# -- product -----------------------------------------------------------------------------------------
def _others_kernel(xp: Any, x: Any) -> Any:
    """Products of all elements but one along the last axis: prefixes times suffixes, no division."""
    one = xp.ones_like(x[..., :1])
    before = xp.cumprod(xp.concatenate((one, x[..., :-1]), axis=-1), axis=-1)
    behind = xp.cumprod(xp.concatenate((one, x[..., :0:-1]), axis=-1), axis=-1)
    return before * behind[..., ::-1]


def _vjp_others(ct: Array, out: Array, x: Array) -> Array:
    r"""$\bar x_k = \sum_{i \ne k} \bar y_i \prod_{j \ne i, k} x_j$, zeros among the x_j included."""
    place = arange(x.shape[-1])
    same = expand_dims(place, -1) == place
    rows = FUNCTIONS["where"](same, FUNCTIONS["ones_like"](x), expand_dims(x, -2))
    pairs = FUNCTIONS["where"](same, FUNCTIONS["zeros_like"](x), product_of_others(rows))
    return sum(expand_dims(ct, -1) * pairs, axis=-2)


PRODUCT_OF_OTHERS = register(
    Op(
        "product_of_others",
        infer=lambda x: x,
        kernel=_others_kernel,
        vjp=(_vjp_others,),
        promote=same_dtype,
        flops=per_element(3),
        facts=lambda x: [
            fact
            for fact in (Fact("nonnegative"), Fact("positive"), finite, integer_valued)
            if x.has(fact)
        ],
        doc="Along the last axis, the product of all elements but the one in this place.",
    )
)


def _product_of_others(x: Any) -> Array:
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


def _facts_prod(x: Any, *, axis: Axes, keepdims: bool) -> Iterable[Fact]:
    for name in ("positive", "nonnegative", "nonzero", "finite", "total", "integer_valued"):
        if x.has(Fact(name)):
            yield Fact(name)
    if x.low >= 0 and x.high <= 1:
        yield interval(0.0, 1.0)


prod = reduction(
    "prod",
    numpy=(np.prod,),
    vjp=_vjp_prod,
    promote=_accumulator,
    facts=_facts_prod,
    ufunc=np.multiply,
    doc="The product over `axis` (None: all axes).",
)


# -- extrema -----------------------------------------------------------------------------------------
def _vjp_extremum(ct: Array, out: Array, x: Array, *, axis: Axes, keepdims: bool) -> Array:
    chosen = FUNCTIONS["astype"](x == restored(out, axis, keepdims), x.dtype)
    ties = FUNCTIONS["sum"](chosen, axis=axis, keepdims=True)
    return restored(ct, axis, keepdims) * (chosen / ties)


def _facts_extremum(x: Any, *, axis: Axes, keepdims: bool) -> Iterable[Fact]:
    return facts_of_elements(x)


max = reduction(
    "max",
    numpy=(np.max, np.amax),
    vjp=_vjp_extremum,
    identity=False,
    facts=_facts_extremum,
    ufunc=np.maximum,
    doc="The largest element over `axis`; NaN if there is one. Ties split the gradient equally.",
)
min = reduction(
    "min",
    numpy=(np.min, np.amin),
    vjp=_vjp_extremum,
    identity=False,
    facts=_facts_extremum,
    ufunc=np.minimum,
    doc="The least element over `axis`; NaN if there is one. Ties split the gradient equally.",
)


def _facts_index(x: Any, *, axis: int, keepdims: bool) -> Iterable[Fact]:
    yield from (integer_valued, finite, Fact("nonnegative"))
    size = x.aval.shape[axis]
    if isinstance(size, int) and size:
        yield interval(0, size - 1)


def _infer_index(x: Aval, *, axis: int, keepdims: bool) -> Aval:
    if x.shape[axis] == 0:
        raise ShapeError(f"shape {show_shape(x.shape)} has no element along axis {axis} to choose.")
    return Aval(np.dtype("int64"), reduced_shape(x.shape, (axis,), keepdims))


def _one_axis(avals: tuple[Aval, ...], *, axis: Any, keepdims: Any = False) -> dict[str, Any]:
    if not avals[0].ndim:
        raise ShapeError("an array of at least one dimension is needed.")
    return {"axis": normal_axes(axis, avals[0].ndim)[0], "keepdims": bool(keepdims)}


def _arg_extremum(name: str, numpy_function: Any) -> Any:
    def kernel(xp: Any, x: Any, *, axis: int, keepdims: bool) -> Any:
        return xp.asarray(getattr(xp, name)(x, axis=axis, keepdims=keepdims), dtype="int64")

    op = register(
        Op(
            name,
            infer=_infer_index,
            kernel=kernel,
            vjp=(None,),
            normalize=_one_axis,
            flops=_per_input_element,
            facts=_facts_index,
            doc=f"Where the {name[3:]}imum along `axis` is first met (None: in the raveled array).",
        )
    )

    def call(x: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Array:
        refuse(name, {"out": out})
        kept = keepdims is not np._NoValue and bool(keepdims)  # pyright: ignore
        if axis is not None:
            return apply(op, x, axis=axis, keepdims=kept)
        operand = as_array(x)
        found = apply(op, ravel(operand), axis=-1)
        return reshape(found, (1,) * operand.ndim) if kept else found

    return function(op, call, numpy_function)


argmax = _arg_extremum("argmax", np.argmax)
argmin = _arg_extremum("argmin", np.argmin)


def _vjp_max_with_index(
    ct: tuple[Array, Array], out: tuple[Array, Array], x: Array, *, axis: int, keepdims: bool
) -> Array:
    index = restored(out[1], (axis,), keepdims)
    place = arange(x.shape[axis])
    if axis < -1:
        place = expand_dims(place, tuple(range(1, -axis)))
    return restored(ct[0], (axis,), keepdims) * FUNCTIONS["astype"](place == index, x.dtype)


def _max_with_index_kernel(xp: Any, x: Any, *, axis: int, keepdims: bool) -> tuple[Any, Any]:
    index = xp.argmax(x, axis=axis, keepdims=True)
    best = xp.take_along_axis(x, index, axis=axis)
    if keepdims:
        return best, index
    return xp.squeeze(best, axis=axis), xp.squeeze(index, axis=axis)


MAX_WITH_INDEX = register(
    Op(
        "max_with_index",
        infer=lambda x, *, axis, keepdims: (
            Aval(x.dtype, _infer_index(x, axis=axis, keepdims=keepdims).shape),
            _infer_index(x, axis=axis, keepdims=keepdims),
        ),
        kernel=_max_with_index_kernel,
        vjp=(_vjp_max_with_index,),
        normalize=_one_axis,
        flops=_per_input_element,
        doc="The largest element along `axis` and where it is first met, in one pass.",
    )
)


def _max_with_index(x: Any, axis: int = -1, keepdims: bool = False) -> tuple[Array, Array]:
    return apply(MAX_WITH_INDEX, x, axis=axis, keepdims=keepdims)


max_with_index = function(MAX_WITH_INDEX, _max_with_index)


# -- truth -------------------------------------------------------------------------------------------
def _facts_truth(_x: Any, **_params: Any) -> Iterable[Fact]:
    return (interval(0, 1),)


all = reduction(
    "all",
    numpy=(np.all,),
    vjp=None,
    dtype=bool,
    facts=_facts_truth,
    ufunc=np.logical_and,
    doc="Whether every element over `axis` is nonzero.",
)
any = reduction(
    "any",
    numpy=(np.any,),
    vjp=None,
    dtype=bool,
    facts=_facts_truth,
    ufunc=np.logical_or,
    doc="Whether an element over `axis` is nonzero.",
)


# -- cumulative --------------------------------------------------------------------------------------
def _vjp_cumsum(ct: Array, out: Array, x: Array, *, axis: int) -> Array:
    back = (Ellipsis, slice(None, None, -1), *[slice(None)] * (-axis - 1))
    return cumsum(ct[back], axis=axis)[back]


CUMSUM = register(
    Op(
        "cumsum",
        infer=lambda x, *, axis: x,
        kernel=lambda xp, x, *, axis: xp.cumsum(x, axis=axis),
        vjp=(_vjp_cumsum,),
        normalize=lambda avals, *, axis: {"axis": _one_axis(avals, axis=axis)["axis"]},
        promote=_accumulator,
        facts=lambda x, *, axis: [
            fact
            for fact in (Fact("nonnegative"), Fact("positive"), finite, integer_valued)
            if x.has(fact)
        ],
        doc="Sums of all elements up to each along `axis` (None: of the raveled array).",
    )
)


def _cumsum(x: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Array:
    refuse("cumsum", {"out": out})
    operand = x if dtype is None else FUNCTIONS["astype"](as_array(x), dtype)
    if axis is None:
        return apply(CUMSUM, ravel(operand), axis=-1)
    return apply(CUMSUM, operand, axis=axis)


cumsum = function(CUMSUM, _cumsum, np.cumsum)


@composite((np.add, "accumulate"))
def _add_accumulate(x: Any, axis: int = 0, **keywords: Any) -> Array:
    return cumsum(x, axis, **keywords)


# -- composites --------------------------------------------------------------------------------------
@composite(np.mean)
def mean(
    x: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **rest: Any
) -> Array:
    r"""The mean $\frac1n \sum_i x_i$ over `axis`; of integers in float64, of float16 summed in float32."""
    refuse("mean", {"out": out, **rest})
    operand = as_array(x)
    result = np.dtype(dtype) if dtype is not None else _mean_dtype(operand.dtype)
    inner = np.dtype("float32") if result == np.float16 else result
    total = sum(_as(operand, inner), axis=axis, keepdims=keepdims)
    size = reduced_count(operand.shape, normal_axes(axis, operand.ndim))
    return _as(total / dimension(size, inner), result)


def _mean_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtype.kind == "f" else np.dtype("float64")


def _as(x: Array, dtype: np.dtype[Any]) -> Array:
    return x if x.dtype == dtype else FUNCTIONS["astype"](x, dtype)


@composite(np.var)
def var(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: Any = False,
    **rest: Any,
) -> Array:
    r"""The variance $\frac{1}{n - d} \sum_i (x_i - \bar x)^2$ over `axis`, $d$ being `ddof`."""
    correction = rest.pop("correction", None)
    refuse("var", {"out": out, **rest})
    if correction is not None and correction is not np._NoValue:  # pyright: ignore
        ddof = correction
    operand = as_array(x)
    result = np.dtype(dtype) if dtype is not None else _mean_dtype(operand.dtype)
    inner = np.dtype("float32") if result == np.float16 else result
    operand = _as(operand, inner)
    centred = operand - mean(operand, axis=axis, keepdims=True)
    squares = sum(FUNCTIONS["square"](centred), axis=axis, keepdims=keepdims)
    size = reduced_count(operand.shape, normal_axes(axis, operand.ndim))
    return _as(squares / _less(size, ddof, inner), result)


def _less(size: Dim, ddof: float, dtype: np.dtype[Any]) -> Array:
    """max(n - ddof, 0), as NumPy divides by."""
    if isinstance(size, int):
        rest = size - ddof
        return FUNCTIONS["asarray"](rest if rest > 0 else 0, dtype=dtype)
    if not ddof:
        return dimension(size, dtype)
    return FUNCTIONS["maximum"](dimension(size, dtype) - ddof, 0)


@composite(np.std)
def std(x: Any, axis: Any = None, dtype: Any = None, **keywords: Any) -> Array:
    """The square root of `var`."""
    operand = as_array(x)
    result = np.dtype(dtype) if dtype is not None else _mean_dtype(operand.dtype)
    inner = np.dtype("float32") if result == np.float16 else result
    return _as(FUNCTIONS["sqrt"](var(operand, axis, inner, **keywords)), result)


@composite(np.ptp)
def ptp(x: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Array:
    """The largest element less the least."""
    refuse("ptp", {"out": out})
    return max(x, axis=axis, keepdims=keepdims) - min(x, axis=axis, keepdims=keepdims)


@composite(np.count_nonzero)
def count_nonzero(x: Any, axis: Any = None, *, keepdims: bool = False) -> Array:
    """How many elements over `axis` are not zero."""
    return sum(as_array(x) != 0, axis=axis, keepdims=keepdims)
