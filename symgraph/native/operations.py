"""The functions of NumPy that a loop computes, on short vectors, with NumPy's values.

A function stands here if it gives what NumPy gives, also for NaN, infinities and -0.0. Integers
wrap as NumPy's do; their quotients and powers are left to NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..records import record
from .elementary import FUNCTIONS
from .writer import BITS, Code, Value, is_float

__all__ = [
    "DTYPES",
    "LIBRARY",
    "OPERATIONS",
    "REDUCTIONS",
    "Reduction",
    "cast",
    "kind_of",
    "powers",
]

_KINDS: dict[np.dtype[Any], str] = {
    np.dtype("float64"): "f64",
    np.dtype("float32"): "f32",
    np.dtype("int64"): "i64",
    np.dtype("int32"): "i32",
    np.dtype("int16"): "i16",
    np.dtype("int8"): "i8",
    np.dtype("bool"): "i1",
}


DTYPES = {kind: dtype for dtype, kind in _KINDS.items()}
"""The dtype of each kind of number."""


def kind_of(dtype: np.dtype[Any]) -> str | None:
    """The kind of a dtype's numbers, if a loop computes with them."""
    return _KINDS.get(dtype)


def cast(c: Code, x: Value, kind: str) -> Value:
    """A value as another kind, as NumPy casts it where this is defined."""
    if x.kind == kind:
        return x
    if kind == "i1":
        return c.compared("une" if is_float(x.kind) else "ne", x, 0)
    if x.kind == "i1":
        return c.converted("uitofp" if is_float(kind) else "zext", x, kind)
    if is_float(x.kind):
        return c.converted("fpext" if BITS[kind] > BITS[x.kind] else "fptrunc", x, kind)
    if is_float(kind):
        return c.converted("sitofp", x, kind)
    return c.converted("sext" if BITS[kind] > BITS[x.kind] else "trunc", x, kind)


# -- choices -----------------------------------------------------------------------------------
def _larger(how: str, by_int: str) -> Callable[[Code, Value, Value], Value]:
    def function(c: Code, x: Value, y: Value) -> Value:
        if not is_float(x.kind):
            return c.select(c.compared(by_int, x, y), x, y)
        # NaN of either comes out.
        first = c.bitor(c.compared(how, x, y), c.compared("uno", x, x))
        return c.select(first, x, y)

    return function


def _larger_number(how: str, by_int: str) -> Callable[[Code, Value, Value], Value]:
    def function(c: Code, x: Value, y: Value) -> Value:
        if not is_float(x.kind):
            return c.select(c.compared(by_int, x, y), x, y)
        first = c.bitor(c.compared(how, x, y), c.compared("uno", y, y))
        return c.select(first, x, y)

    return function


def _compared(of_floats: str, of_ints: str) -> Callable[[Code, Value, Value], Value]:
    return lambda c, x, y: c.compared(of_floats if is_float(x.kind) else of_ints, x, y)


def _absolute(c: Code, x: Value) -> Value:
    if is_float(x.kind):
        return c.fabs(x)
    return c.select(c.compared("slt", x, 0), c.neg(x), x)


def _sign(c: Code, x: Value) -> Value:
    below, above = ("olt", "ogt") if is_float(x.kind) else ("slt", "sgt")
    one, less = c.number(x.kind, 1, x.width), c.number(x.kind, -1, x.width)
    zero = c.number(x.kind, 0, x.width)
    found = c.select(c.compared(above, x, 0), one, c.select(c.compared(below, x, 0), less, zero))
    return c.select(c.compared("uno", x, x), x, found) if is_float(x.kind) else found


def _signbit(c: Code, x: Value) -> Value:
    return c.compared("slt", c.bits_of(x), 0)


def _heaviside(c: Code, x: Value, y: Value) -> Value:
    one, zero = c.number(x.kind, 1, x.width), c.number(x.kind, 0, x.width)
    found = c.select(c.compared("olt", x, 0), zero, c.select(c.compared("ogt", x, 0), one, y))
    return c.select(c.compared("uno", x, x), x, found)


def _rounded(name: str) -> Callable[[Code, Value], Value]:
    return lambda c, x: c.intrinsic(name, x)


_FLOATS, _INTS, _TRUTHS = "f", "i", "b"

OPERATIONS: dict[str, tuple[str, Callable[..., Value]]] = {
    "np.absolute": (_FLOATS + _INTS, _absolute),
    "np.add": (_FLOATS + _INTS, Code.add),
    "np.bitwise_and": (_INTS + _TRUTHS, Code.bitand),
    "np.bitwise_or": (_INTS + _TRUTHS, Code.bitor),
    "np.bitwise_xor": (_INTS + _TRUTHS, Code.bitxor),
    "np.ceil": (_FLOATS, _rounded("ceil")),
    "np.copysign": (_FLOATS, lambda c, x, y: c.intrinsic("copysign", *c.two(x, y))),
    "np.divide": (_FLOATS, Code.div),
    "np.equal": (_FLOATS + _INTS + _TRUTHS, _compared("oeq", "eq")),
    "np.fabs": (_FLOATS, Code.fabs),
    "np.floor": (_FLOATS, _rounded("floor")),
    "np.fmax": (_FLOATS + _INTS, _larger_number("ogt", "sgt")),
    "np.fmin": (_FLOATS + _INTS, _larger_number("olt", "slt")),
    "np.greater": (_FLOATS + _INTS, _compared("ogt", "sgt")),
    "np.greater_equal": (_FLOATS + _INTS, _compared("oge", "sge")),
    "np.heaviside": (_FLOATS, _heaviside),
    "np.invert": (_INTS + _TRUTHS, Code.invert),
    "np.isfinite": (_FLOATS, lambda c, x: c.compared("olt", c.fabs(x), float("inf"))),
    "np.isinf": (_FLOATS, lambda c, x: c.compared("oeq", c.fabs(x), float("inf"))),
    "np.isnan": (_FLOATS, lambda c, x: c.compared("uno", x, x)),
    "np.less": (_FLOATS + _INTS, _compared("olt", "slt")),
    "np.less_equal": (_FLOATS + _INTS, _compared("ole", "sle")),
    "np.logical_and": (_TRUTHS, Code.bitand),
    "np.logical_not": (_TRUTHS, Code.invert),
    "np.logical_or": (_TRUTHS, Code.bitor),
    "np.logical_xor": (_TRUTHS, Code.bitxor),
    "np.maximum": (_FLOATS + _INTS, _larger("ogt", "sgt")),
    "np.minimum": (_FLOATS + _INTS, _larger("olt", "slt")),
    "np.multiply": (_FLOATS + _INTS, Code.mul),
    "np.negative": (_FLOATS + _INTS, Code.neg),
    "np.not_equal": (_FLOATS + _INTS + _TRUTHS, _compared("une", "ne")),
    "np.positive": (_FLOATS + _INTS, lambda c, x: x),
    "np.reciprocal": (_FLOATS, lambda c, x: c.div(1.0, x)),
    "np.rint": (_FLOATS, _rounded("roundeven")),
    "np.sign": (_FLOATS + _INTS, _sign),
    "np.signbit": (_FLOATS, _signbit),
    "np.sqrt": (_FLOATS, _rounded("sqrt")),
    "np.square": (_FLOATS + _INTS, lambda c, x: c.mul(x, x)),
    "np.subtract": (_FLOATS + _INTS, Code.sub),
    "np.trunc": (_FLOATS, _rounded("trunc")),
    **{name: (_FLOATS, function) for name, function in FUNCTIONS.items()},
}
"""By NumPy's name: the dtypes it is computed for, and the function."""

LIBRARY = {
    "np.arccos": "acos",
    "np.arccosh": "acosh",
    "np.arcsin": "asin",
    "np.arcsinh": "asinh",
    "np.arctan": "atan",
    "np.arctan2": "atan2",
    "np.arctanh": "atanh",
    "np.cbrt": "cbrt",
    "np.cosh": "cosh",
    "np.exp2": "exp2",
    "np.hypot": "hypot",
    "np.log10": "log10",
    "np.log2": "log2",
    "np.power": "pow",
    "np.sinh": "sinh",
    "np.tan": "tan",
}
"""Functions of the C library, which graphs of float64 scalars call; NumPy's run on vectors."""


def powers(exponent: float) -> Callable[[Code, Value], Value] | None:
    """The power by a constant, where it is a few products."""
    return _POWERS.get(exponent)


_POWERS: dict[float, Callable[[Code, Value], Value]] = {
    -1.0: lambda c, x: c.div(1.0, x),
    0.5: lambda c, x: c.intrinsic("sqrt", x),
    1.0: lambda c, x: x,
    2.0: lambda c, x: c.mul(x, x),
    3.0: lambda c, x: c.mul(c.mul(x, x), x),
}


# -- reductions --------------------------------------------------------------------------------
@record
class Reduction:
    """How results of parts are combined.

    Parameters
    ----------
    sums : bool
        Whether it is a sum, whose rounding errors are kept small.
    combine : callable
    start : float
        What combines with a float to that float.
    ufunc : str
        NumPy's name of what combines two.
    """

    sums: bool
    combine: Callable[[Code, Value, Value], Value]
    start: float
    ufunc: str

    def neutral(self, c: Code, kind: str, width: int) -> Value:
        """The number that a reduction starts with: of a sum 0.0, so that it is never -0.0."""
        if is_float(kind):
            return c.number(kind, self.start, width)
        if self.sums:
            return c.number(kind, 0, width)
        limit = 2 ** (BITS[kind] - 1)
        return c.number(kind, -limit if self.start < 0 else limit - 1, width)


REDUCTIONS = {
    "np.add.reduce": Reduction(True, Code.add, 0.0, "add"),
    "np.maximum.reduce": Reduction(False, _larger("ogt", "sgt"), float("-inf"), "maximum"),
    "np.minimum.reduce": Reduction(False, _larger("olt", "slt"), float("inf"), "minimum"),
}
