"""Casts, stop_gradient, kept values and round."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .. import facts as f
from ..array import FUNCTIONS, NUMPY_FUNCTIONS, Array, ArrayLike, apart, apply
from ..errors import DTypeError
from ..facts import Fact
from ..ir.avals import Aval, supported_dtype
from ..ir.fact_inference import Known
from ..ir.op import Op, carries_aligned, no_flops, register
from ..ir.traits import ODD, Arrangement, Traits
from ..notation import formulas, node_text
from .batched import batch_aligned
from .composites import naming_lines
from .families import function

__all__ = ["KEPT", "astype", "cast", "round", "stop_gradient"]


# -- facts about results ---------------------------------------------------------------------------
def _facts_cast(x: Known, *, dtype: np.dtype[Any]) -> Iterable[Fact]:
    """The facts of x if a cast loses only digits, else the facts that truncation keeps."""
    source = x.aval.dtype
    whole = x.has(f.integer_valued)
    if dtype.kind == "b":
        return
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if not (limits.min <= x.low and x.high <= limits.max):
            return
        low, high = math.trunc(x.low), math.trunc(x.high)
        yield f.interval(low, high)
        if whole:
            yield from x.facts
        return
    widens = np.can_cast(source, dtype, "safe")
    largest = float(np.finfo(dtype).max)
    fits = widens or (-largest < x.low and x.high < largest)
    yield from (fact for fact in x.facts if fits or fact is not f.finite)
    if math.isfinite(x.low) and math.isfinite(x.high):
        yield f.interval(x.low, x.high)


# -- dtypes ----------------------------------------------------------------------------------------
CAST = register(
    Op(
        "cast",
        batch=batch_aligned,
        total=True,
        infer=lambda x, *, dtype: x.with_dtype(dtype),
        kernel=lambda xp, x, *, dtype: xp.astype(x, dtype),
        vjp=(lambda ct, out, x, *, dtype: ct,),
        carries=carries_aligned,
        normalize=lambda avals, *, dtype: {"dtype": supported_dtype(dtype)},
        flops=no_flops,
        count=0,
        facts=_facts_cast,
        doc="x with another dtype; floats become integers by dropping their fraction.",
        latex=formulas.converted_formula,
        text=node_text.cast_text,
        traits=Traits(arrangement=Arrangement.CONVERTED),
    )
)


def _cast(x: ArrayLike, dtype: DTypeLike) -> Any:
    if type(x) is Array and x.dtype == supported_dtype(dtype):
        return apart(x)
    return apply(CAST, x, dtype=dtype)


cast = function(CAST, _cast)


def astype(x: ArrayLike, dtype: DTypeLike, copy: bool = True, **_device: object) -> Any:
    """The array in another dtype; the array itself if it has that dtype and `copy` is False."""
    if not copy and type(x) is Array and x.dtype == supported_dtype(dtype):
        return x
    return cast(x, dtype)


FUNCTIONS["astype"] = astype
if hasattr(np, "astype"):  # NumPy 2.1
    NUMPY_FUNCTIONS[np.astype] = astype

# -- derivatives -----------------------------------------------------------------------------------
STOP_GRADIENT = register(
    Op(
        "stop_gradient",
        batch=batch_aligned,
        total=True,
        infer=lambda x: x,
        kernel=lambda xp, x: x,
        vjp=(None,),
        flops=no_flops,
        count=0,
        facts=lambda x: tuple(x.facts),
        view=True,
        doc="x, taken for a constant when a derivative is taken.",
        latex=formulas.operand_formula,
        traits=Traits(arrangement=Arrangement.SAME),
        definition=lambda m, x: x,
    )
)


def _stop_gradient(x: ArrayLike) -> Any:
    return apply(STOP_GRADIENT, x)


stop_gradient = function(STOP_GRADIENT, _stop_gradient)


# -- simplification --------------------------------------------------------------------------------
KEPT = register(
    Op(
        "kept_value",
        batch=batch_aligned,
        total=True,
        infer=lambda x: x,
        kernel=lambda xp, x: x,
        vjp=(lambda ct, out, x: ct,),
        carries=carries_aligned,
        flops=no_flops,
        count=0,
        facts=lambda x: tuple(x.facts),
        view=True,
        doc="x, which no rule looks into; see `simplify(keep=...)`.",
        latex=formulas.operand_formula,
        traits=Traits(arrangement=Arrangement.SAME),
    )
)


# -- decimals --------------------------------------------------------------------------------------
def _facts_round(x: Known, *, decimals: int) -> Iterable[Fact]:
    if decimals > 0:
        yield from (fact for fact in (f.nonnegative, f.nonpositive, f.total) if x.has(fact))
    elif decimals == 0:
        yield f.integer_valued
        yield from (
            fact for fact in (f.nonnegative, f.nonpositive, f.total, f.finite) if x.has(fact)
        )


def _infer_round(x: Aval, *, decimals: int) -> Aval:
    return x


def _rounded_dtype(x: ArrayLike, decimals: int) -> None:
    """The dtype of rounded truth values: float16; NumPy and we refuse to round them to digits."""
    if decimals and isinstance(x, (Array, np.ndarray)) and x.dtype.kind == "b":
        raise DTypeError(
            f"truth values have no digits to round to decimals={decimals}.",
            mend="Convert them with astype.",
        )


ROUND = register(
    Op(
        "round",
        batch=batch_aligned,
        total=True,
        infer=_infer_round,
        kernel=lambda xp, x, *, decimals: xp.round(x, decimals),
        vjp=(None,),
        promote=lambda dtype: np.dtype("float16") if dtype.kind == "b" else dtype,
        facts=_facts_round,
        doc="x rounded to `decimals` digits after the point, halves to even.",
        traits=ODD,
        fresh=False,
    )
)


@naming_lines
def _round(x: ArrayLike, decimals: int = 0, **_out: object) -> Any:
    _rounded_dtype(x, int(decimals))
    return apply(ROUND, x, decimals=int(decimals))


round = function(ROUND, _round, np.round, np.around)
