"""Which ONNX operator, or which spelling in several, each function of the namespace is.

Kernels of operations call these functions; what is missing here is refused when a graph is
exported. `plain("divide", "Div")` is one operator, with NumPy's name first. Letters name the kinds
of dtypes that operator and function agree on: floats, integers, unsigned integers and booleans.

Left out on purpose: integer division (a zero divisor stops engines, and gives 0 in NumPy), powers
of integers (engines compute them in floating point), signs of NaN (`copysign`, `signbit`), the
places of floats in their order (NaN has none in ONNX's), running products, factorizations, most
special functions, shifts (by more than the width they differ), and all that runs a body.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..namespace import windows
from . import elementwise as e
from . import error_functions as errors
from . import movement as m
from . import reductions as r
from .elementwise import plain
from .same import SAME_OF_FLOATS

__all__ = ["FUNCTIONS"]

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: plain(name, op) for name, op in SAME_OF_FLOATS.items()},
    # arithmetic
    "add": e.arithmetic("add", "Add", of_bools="Or"),
    "subtract": e.arithmetic("subtract", "Sub"),
    "multiply": e.arithmetic("multiply", "Mul", of_bools="And"),
    "divide": plain("divide", "Div"),
    "negative": e.negative,
    "square": e.square,
    "power": e.power,
    "fmod": plain("fmod", "Mod", fmod=1),
    "remainder": e.remainder,
    "absolute": e.absolute,
    "abs": e.absolute,
    "sign": e.sign,
    "heaviside": e.heaviside,
    "hypot": e.hypot,
    # rounding
    "floor": e.kept_if_whole("floor", "Floor"),
    "ceil": e.kept_if_whole("ceil", "Ceil"),
    "trunc": e.trunc,
    "round": e.rounded,
    # exponentials and logarithms
    "exp2": e.exp2,
    "expm1": e.expm1,
    "log1p": e.log1p,
    "log2": e.scaled_log("log2", 2),
    "log10": e.scaled_log("log10", 10),
    "logaddexp": e.logaddexp,
    "special.expit": e.expit,
    "special.logit": e.logit,
    "special.xlogy": e.xlogy,
    "special.xlog1py": e.xlog1py,
    "special.entr": e.entr,
    "special.erf": errors.erf,
    "special.erfc": errors.erfc,
    "special.ndtr": errors.ndtr,
    # trigonometry
    "arctan2": e.arctan2,
    # comparison, logic and choice
    "equal": e.comparison("equal", "Equal"),
    "not_equal": e.not_equal,
    "less": e.comparison("less", "Less"),
    "less_equal": e.comparison("less_equal", "LessOrEqual"),
    "greater": e.comparison("greater", "Greater"),
    "greater_equal": e.comparison("greater_equal", "GreaterOrEqual"),
    "logical_and": e.logical("And"),
    "logical_or": e.logical("Or"),
    "logical_xor": e.logical("Xor"),
    "logical_not": e.logical("Not"),
    "bitwise_and": e.bitwise("bitwise_and", "BitwiseAnd", of_bools="And"),
    "bitwise_or": e.bitwise("bitwise_or", "BitwiseOr", of_bools="Or"),
    "bitwise_xor": e.bitwise("bitwise_xor", "BitwiseXor", of_bools="Xor"),
    "invert": e.bitwise("invert", "BitwiseNot", of_bools="Not"),
    "isnan": e.about_floats("IsNaN"),
    "isinf": e.about_floats("IsInf"),
    "isfinite": e.isfinite,
    "where": e.where,
    "maximum": e.extremum("maximum", "greater"),
    "minimum": e.extremum("minimum", "less"),
    "fmax": e.extremum("fmax", "greater", ignores_nan=True),
    "fmin": e.extremum("fmin", "less", ignores_nan=True),
    "clip": e.clip,
    "astype": e.astype,
    # reductions and products
    "sum": r.reduced("ReduceSum", "sum"),
    "prod": r.reduced("ReduceProd", "prod"),
    "mean": r.mean,
    "max": r.extreme("ReduceMax", "maximum"),
    "min": r.extreme("ReduceMin", "minimum"),
    "any": r.any_of,
    "all": r.all_of,
    "argmax": r.position("ArgMax"),
    "argmin": r.position("ArgMin"),
    "cumsum": r.cumsum,
    "matmul": r.matmul,
    "einsum": r.einsum,
    "linalg.det": r.det,
    # windows and convolution
    "windows": windows.stacked_windows,
    "overlap_add": windows.overlaps_added,
    "sum_of_windows": windows.sum_of_windows,
    "largest_of_windows": windows.largest_of_windows,
    "convolution": r.convolution,
    "adjoint_convolution": windows.adjoint_convolution,
    "kernel_convolution": windows.kernel_convolution,
    "pad": m.pad,
    # order
    "sort": r.sort,
    "argsort": r.argsort,
    # shapes
    "reshape": m.reshape,
    "broadcast_to": m.broadcast_to,
    "transpose": m.transpose,
    "diagonal": m.diagonal,
    "swapaxes": m.swapaxes,
    "moveaxis": m.moveaxis,
    "expand_dims": m.expand_dims,
    "squeeze": m.squeeze,
    "concatenate": m.concatenate,
    "stack": m.stack,
    "tril": m.triangle(upper=False),
    "triu": m.triangle(upper=True),
    # creation
    "asarray": m.asarray,
    "array": m.asarray,
    "arange": m.arange,
    "eye": m.eye,
    "zeros": m.filled(0),
    "ones": m.filled(1),
    "zeros_like": m.filled_like(0),
    "ones_like": m.filled_like(1),
    "full_like": m.filled_like(None),
    # indices and placement
    "getitem": m.getitem,
    "scatter_add": m.scatter_add,
    "scatter_set": m.scatter_set,
    # what kernels ask
    "dtype_of": lambda _xp, x: x.dtype,
}
