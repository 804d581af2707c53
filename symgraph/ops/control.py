"""What says how to compute or differentiate rather than what: cast, stop_gradient, round."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array import FUNCTIONS, NUMPY_FUNCTIONS, Array, apply
from ..avals import Aval, supported_dtype
from ..op import Op, no_flops, register
from .families import function

__all__ = ["astype", "cast", "round", "stop_gradient"]

# -- dtypes ----------------------------------------------------------------------------------------
CAST = register(
    Op(
        "cast",
        infer=lambda x, *, dtype: x.with_dtype(dtype),
        kernel=lambda xp, x, *, dtype: x.astype(dtype),
        vjp=(lambda ct, out, x, *, dtype: ct,),
        normalize=lambda avals, *, dtype: {"dtype": supported_dtype(dtype)},
        flops=no_flops,
        count=0,
        doc="x with another dtype; floats become integers by dropping their fraction.",
    )
)


def _cast(x: Any, dtype: Any) -> Any:
    if type(x) is Array and x.dtype == supported_dtype(dtype):
        return x
    return apply(CAST, x, dtype=dtype)


cast = function(CAST, _cast)


def astype(x: Any, dtype: Any, copy: bool = True, **_device: Any) -> Any:
    """X with another dtype, as in `cast`; `copy` is without meaning for a value."""
    return cast(x, dtype)


FUNCTIONS["astype"] = astype
if hasattr(np, "astype"):  # NumPy 2.1
    NUMPY_FUNCTIONS[np.astype] = astype

# -- derivatives -----------------------------------------------------------------------------------
STOP_GRADIENT = register(
    Op(
        "stop_gradient",
        infer=lambda x: x,
        kernel=lambda xp, x: x,
        vjp=(None,),
        flops=no_flops,
        count=0,
        facts=lambda x: tuple(x.facts),
        view=True,
        doc="x, taken for a constant when a derivative is taken.",
    )
)


def _stop_gradient(x: Any) -> Any:
    return apply(STOP_GRADIENT, x)


stop_gradient = function(STOP_GRADIENT, _stop_gradient)


# -- decimals --------------------------------------------------------------------------------------
def _infer_round(x: Aval, *, decimals: int) -> Aval:
    return x


ROUND = register(
    Op(
        "round",
        infer=_infer_round,
        kernel=lambda xp, x, *, decimals: xp.round(x, decimals),
        vjp=(None,),
        promote=lambda dtype: np.dtype("float16") if dtype.kind == "b" else dtype,
        doc="x rounded to `decimals` digits after the point, halves to even.",
    )
)


def _round(x: Any, decimals: int = 0, **_out: Any) -> Any:
    return apply(ROUND, x, decimals=int(decimals))


round = function(ROUND, _round, np.round, np.around)
