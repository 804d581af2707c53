"""Extrema over axes, and their places; ties of max and min split the gradient equally."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, apply
from ..errors import ShapeError
from ..facts import Fact, finite, integer_valued, interval
from ..ir.avals import Aval, AxisLike
from ..ir.dims import show_shape
from ..ir.fact_inference import Known
from ..ir.op import Op, register
from ..ir.traits import Selection, Traits
from ..notation import array_formulas
from .batched import batch_aligned
from .carrying import carries_reduced
from .composites import as_array, composite, given, naming_lines, refuse
from .creation import arange
from .families import function
from .movement import expand_dims, facts_of_elements, ravel, reshape
from .reduction import (
    Axes,
    one_axis,
    per_input_element,
    raveled,
    reduced_shape,
    reduction,
    restored,
)

__all__ = ["argmax", "argmin", "max", "max_with_index", "min", "ptp"]


def _vjp_extremum(ct: Array, out: Array, x: Array, *, axis: Axes, keepdims: bool) -> Array:
    chosen = FUNCTIONS["astype"](x == restored(out, axis, keepdims), x.dtype)
    ties = FUNCTIONS["sum"](chosen, axis=axis, keepdims=True)
    return restored(ct, axis, keepdims) * (chosen / ties)


def _facts_extremum(x: Known, *, axis: Axes, keepdims: bool) -> Iterable[Fact]:
    return facts_of_elements(x)


max = reduction(
    "max",
    numpy=(np.max, np.amax),
    vjp=_vjp_extremum,
    facts=_facts_extremum,
    ufunc=np.maximum,
    doc="The largest element over `axis`; NaN if there is one. Ties split the gradient equally.",
    traits=Traits(selection=Selection.LARGEST, homogeneous=1, shift=1),
    mistaken_for=("min", "sum"),
    latex=array_formulas.extremum_formula(r"\max"),
    definition=lambda m, row: m.largest(row),
)
min = reduction(
    "min",
    numpy=(np.min, np.amin),
    vjp=_vjp_extremum,
    facts=_facts_extremum,
    ufunc=np.minimum,
    doc="The least element over `axis`; NaN if there is one. Ties split the gradient equally.",
    traits=Traits(selection=Selection.LEAST, homogeneous=1, shift=1),
    mistaken_for=("max", "sum"),
    latex=array_formulas.extremum_formula(r"\min"),
    definition=lambda m, row: m.least(row),
)


def _facts_index(x: Known, *, axis: int, keepdims: bool) -> Iterable[Fact]:
    yield from (integer_valued, finite, Fact("nonnegative"))
    size = x.aval.shape[axis]
    if isinstance(size, int) and size:
        yield interval(0, size - 1)


def _infer_index(x: Aval, *, axis: int, keepdims: bool) -> Aval:
    if x.shape[axis] == 0:
        raise ShapeError(f"shape {show_shape(x.shape)} has no element along axis {axis} to choose.")
    return Aval(np.dtype("int64"), reduced_shape(x.shape, (axis,), keepdims))


def _arg_extremum(name: str, numpy_function: object) -> Any:
    def kernel(xp: Any, x: Any, *, axis: int, keepdims: bool) -> Any:
        return xp.asarray(getattr(xp, name)(x, axis=axis, keepdims=keepdims), dtype="int64")

    op = register(
        Op(
            name,
            batch=batch_aligned,
            total=True,
            infer=_infer_index,
            kernel=kernel,
            vjp=(None,),
            normalize=one_axis,
            flops=per_input_element,
            facts=_facts_index,
            doc=f"Where the {name[3:]}imum along `axis` is first met (None: in the raveled array).",
        )
    )

    @naming_lines
    def call(
        x: ArrayLike, axis: int | None = None, out: object = None, *, keepdims: object = False
    ) -> Array:
        refuse(name, {"out": out})
        kept = given(keepdims) and bool(keepdims)
        operand = as_array(x)
        if not raveled(operand, axis):
            return apply(op, operand, axis=axis, keepdims=kept)
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
    best = xp.max(x, axis=axis, keepdims=keepdims)
    return best, xp.asarray(xp.argmax(x, axis=axis, keepdims=keepdims), dtype="int64")


MAX_WITH_INDEX = register(
    Op(
        "max_with_index",
        batch=batch_aligned,
        total=True,
        infer=lambda x, *, axis, keepdims: (
            Aval(x.dtype, _infer_index(x, axis=axis, keepdims=keepdims).shape),
            _infer_index(x, axis=axis, keepdims=keepdims),
        ),
        kernel=_max_with_index_kernel,
        vjp=(_vjp_max_with_index,),
        carries=carries_reduced,
        normalize=one_axis,
        flops=per_input_element,
        doc="The largest element along `axis` and where it is first met, in one pass.",
    )
)


def _max_with_index(x: ArrayLike, axis: int = -1, keepdims: bool = False) -> tuple[Array, Array]:
    return apply(MAX_WITH_INDEX, x, axis=axis, keepdims=keepdims)


max_with_index = function(MAX_WITH_INDEX, _max_with_index)


@composite(np.ptp)
def ptp(x: ArrayLike, axis: AxisLike = None, out: object = None, keepdims: bool = False) -> Array:
    """The largest element less the least."""
    refuse("ptp", {"out": out})
    return max(x, axis=axis, keepdims=keepdims) - min(x, axis=axis, keepdims=keepdims)
