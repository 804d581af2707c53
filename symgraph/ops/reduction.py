"""The family of reductions: axes, shapes, `where=` and `initial=`, and the record of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Unpack

import numpy as np
from numpy.typing import DTypeLike

from ..array import FUNCTIONS, NUMPY_FUNCTIONS, Array, ArrayLike, apply
from ..errors import DTypeError, ShapeError
from ..facts import Fact
from ..ir.avals import Aval, AxisLike, normal_axes, normal_axis
from ..ir.dims import Dim, Shape, count, show_shape
from ..ir.op import Op, Said, VjpRule, register
from ..ir.traits import Traits
from .batched import batch_aligned
from .carrying import carries_reduced
from .composites import as_array, given, naming_lines, refuse
from .families import function, same_dtype
from .movement import expand_dims

__all__ = [
    "Axes",
    "accumulator",
    "mask_like",
    "one_axis",
    "per_input_element",
    "raveled",
    "reduced_axes",
    "reduced_count",
    "reduced_shape",
    "reduction",
    "restored",
]

Axes = tuple[int, ...]


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
    call = _caller(op, promote, identity)

    def without_dtype(
        x: ArrayLike, axis: AxisLike = None, out: object = None, *rest: object, **named: object
    ) -> Array:
        return call(x, axis, None, out, *rest, **named)

    def reduce(x: ArrayLike, axis: AxisLike = 0, *rest: object, **keywords: object) -> Array:
        return call(x, axis, *rest, **keywords)

    NUMPY_FUNCTIONS[(ufunc, "reduce")] = reduce
    # NumPy's max, min, all and any take no dtype: out is their third argument.
    return function(op, call if promote is accumulator else without_dtype, *numpy)


def _caller(op: Op, promote: Callable[[np.dtype[Any]], np.dtype[Any]], identity: object) -> Any:
    """The function of a reduction, with the parameters of `np.sum`."""

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
        refuse(op.name, {"out": out})
        kept = given(keepdims) and bool(keepdims)
        operand = as_array(x) if dtype is None else FUNCTIONS["astype"](as_array(x), dtype)
        start = None
        if given(initial):
            start = FUNCTIONS["asarray"](initial, dtype=promote(operand.dtype))
        if given(where) and where is not True:
            operand = _chosen(op.name, operand, where, start if identity is None else identity)
        found = _started(op, operand, start, axis, kept)
        return found if dtype is None else FUNCTIONS["astype"](found, dtype)

    return call


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


def _started(op: Op, x: Array, start: Array | None, axis: AxisLike, keepdims: bool) -> Array:
    """The reduction, combined with the initial value if there is one."""
    if start is None:
        return apply(op, x, axis=axis, keepdims=keepdims)
    axes = reduced_axes(axis, x.ndim)
    if reduced_count(x.shape, axes) == 0:
        return FUNCTIONS["broadcast_to"](start, reduced_shape(x.shape, axes, keepdims))
    if op.reduces in _LAST:
        x = _never_empty(x, axes, _LAST[op.reduces])
    return FUNCTIONS[op.reduces](apply(op, x, axis=axis, keepdims=keepdims), start)


_LAST = {"maximum": -1, "minimum": 1}
"""Reductions of nothing that are an error, and the sign of the number that any other beats."""


def _never_empty(x: Array, axes: Axes, sign: int) -> Array:
    """`x` with one element more along named axes, which may be empty, that no other loses to."""
    widths = [
        (0, int(i in axes and not isinstance(n, int))) for i, n in enumerate(x.shape, -x.ndim)
    ]
    if not any(more for _, more in widths):
        return x
    if x.dtype.kind == "f":
        last: Any = sign * np.inf
    else:
        bounds = np.iinfo(x.dtype) if x.dtype.kind in "iu" else None
        low, high = (bounds.min, bounds.max) if bounds else (False, True)
        last = low if sign < 0 else high
    return FUNCTIONS["pad"](x, widths, constant_values=last)


def accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a sum: small integers are summed in the platform's integer, as in NumPy."""
    if dtype.kind in "bi":
        return np.result_type(dtype, np.int64)
    return np.result_type(dtype, np.uint64) if dtype.kind == "u" else dtype


def one_axis(avals: tuple[Aval, ...], *, axis: AxisLike, keepdims: bool = False) -> dict[str, Any]:
    """Params of a reduction along one axis in normal form."""
    if not avals[0].ndim:
        raise ShapeError("an array of at least one dimension is needed.")
    return {"axis": normal_axis(axis, avals[0].ndim), "keepdims": bool(keepdims)}
