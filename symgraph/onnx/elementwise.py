"""Elementwise functions in ONNX's operators.

Where ONNX leaves open what happens to NaN, to a zero divisor or to a sign, or where an engine's
operator keeps few digits, the function is spelled out in operators whose meaning is fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.avals import Aval, broadcast_shapes
from .refusal import Refused
from .traced import TracedTensor

__all__ = ["plain"]

Spelling = Callable[..., Any]
BOOL = np.dtype(bool)


def plain(name: str, op: str, kinds: str = "f", result: str = "", **attributes: Any) -> Spelling:
    """The ufunc `name` as one ONNX operator, on operands cast to the ufunc's own dtypes.

    Parameters
    ----------
    name : str
        NumPy's or, as `special.erf`, SciPy's.
    op : str
    kinds : str
        The kinds of dtypes that the operator takes and means the same for: `f`, `i`, `u`, `b`.
    result : str
        The kind of the operator's result where it is not the operands'.
    **attributes
        Of the operator.
    """

    def spelled(xp: Any, *args: Any) -> TracedTensor:
        operands, dtype = xp.loop(name, *args)
        _require(name, operands, kinds)
        if len({each.dtype for each in operands}) > 1:
            raise Refused(f"ONNX has no {op} of {' and '.join(str(o.dtype) for o in operands)}")
        aval = Aval(dtype, broadcast_shapes(*[each.aval.shape for each in operands]))
        if dtype != (BOOL if result == "b" else operands[0].dtype):
            raise Refused(f"ONNX's {op} gives no {dtype}")
        return xp.made(op, aval, *operands, **attributes)

    return spelled


def _require(name: str, operands: list[TracedTensor], kinds: str) -> None:
    for each in operands:
        if each.dtype.kind not in kinds:
            raise Refused(f"ONNX has no counterpart of {name} that means the same for {each.dtype}")


def _floats(xp: Any, name: str, *args: Any) -> list[Any]:
    operands, _ = xp.loop(name, *args)
    _require(name, operands, "f")
    return operands


# -- arithmetic --------------------------------------------------------------------------------
def arithmetic(name: str, op: str, of_bools: str = "") -> Spelling:
    """A ufunc that is an operator for numbers, and `of_bools`, if anything, for truth values."""
    numbers = plain(name, op, "fiu")
    bools = plain(name, of_bools, "b") if of_bools else numbers

    def spelled(xp: Any, *args: Any) -> TracedTensor:
        operands, _ = xp.loop(name, *args)
        return (bools if operands[0].dtype == BOOL else numbers)(xp, *args)

    return spelled


def kept_if_whole(name: str, op: str) -> Spelling:
    """A rounding, which leaves integers as they are."""
    rounded = plain(name, op)

    def spelled(xp: Any, x: Any) -> TracedTensor:
        (operand,), _ = xp.loop(name, x)
        return operand if operand.dtype.kind in "biu" else rounded(xp, operand)

    return spelled


def trunc(xp: Any, x: Any) -> TracedTensor:
    if x.dtype.kind in "biu":
        return xp.loop("trunc", x)[0][0]
    return xp.where(x < 0, xp.ceil(x), xp.floor(x))


def rounded(xp: Any, x: Any, decimals: int = 0) -> TracedTensor:
    """Half to even, after NumPy's own scaling by a power of ten."""
    if x.dtype.kind != "f":
        if decimals < 0 or x.dtype == BOOL:
            raise Refused(f"ONNX has no rounding of {x.dtype}")
        return x
    if not decimals:
        return xp.rint(x)
    scale = 10.0 ** abs(decimals)
    if decimals > 0:
        return xp.rint(x * scale) / scale
    return xp.rint(x / scale) * scale


def square(xp: Any, x: Any) -> TracedTensor:
    return xp.multiply(x, x)


def negative(xp: Any, x: Any) -> TracedTensor:
    (operand,), _ = xp.loop("negative", x)
    _require("negative", [operand], "fi")
    return xp.made("Neg", operand.aval, operand)


def absolute(xp: Any, x: Any) -> TracedTensor:
    return x if x.dtype.kind in "bu" else plain("absolute", "Abs", "fi")(xp, x)


def sign(xp: Any, x: Any) -> TracedTensor:
    found = plain("sign", "Sign", "fiu")(xp, x)
    return xp.where(xp.isnan(x), x, found) if x.dtype.kind == "f" else found


def remainder(xp: Any, x: Any, y: Any) -> TracedTensor:
    """The sign is that of the divisor: C's remainder, which ONNX has, moved by one divisor."""
    x, y = _floats(xp, "remainder", x, y)
    rest = xp.fmod(x, y)
    moved = xp.where(xp.not_equal(xp.less(y, 0), xp.less(rest, 0)), rest + y, rest)
    # A rest of zero has the sign of the divisor, too.
    zero = xp.where(y < 0, xp.lift(-0.0, y.dtype), xp.lift(0.0, y.dtype))
    return xp.where(rest == 0, zero, moved)


def heaviside(xp: Any, x: Any, y: Any) -> TracedTensor:
    x, y = _floats(xp, "heaviside", x, y)
    steps = xp.where(x > 0, xp.lift(1, x.dtype), xp.lift(0, x.dtype))
    return xp.where(xp.isnan(x), x, xp.where(x == 0, y, steps))


def hypot(xp: Any, x: Any, y: Any) -> TracedTensor:
    """Scaled by the larger one, so that no square overflows."""
    x, y = _floats(xp, "hypot", x, y)
    x, y = xp.absolute(x), xp.absolute(y)
    top, low = xp.maximum(x, y), xp.minimum(x, y)
    ratio = low / xp.where(top == 0, xp.lift(1, top.dtype), top)
    found = top * xp.sqrt(1 + ratio * ratio)
    infinite = xp.logical_or(xp.isinf(x), xp.isinf(y))
    return xp.where(infinite, xp.lift(np.inf, top.dtype), found)


# -- comparison and choice -----------------------------------------------------------------------
def comparison(name: str, op: str) -> Spelling:
    """Truth values are compared as numbers, since ONNX orders only those."""
    numbers = plain(name, op, "fiu", result="b")

    def spelled(xp: Any, x: Any, y: Any) -> TracedTensor:
        operands, _ = xp.loop(name, x, y)
        if operands[0].dtype == BOOL:
            operands = [xp.lift(each, np.int32) for each in operands]
        return numbers(xp, *operands)

    return spelled


def not_equal(xp: Any, x: Any, y: Any) -> TracedTensor:
    return xp.logical_not(xp.equal(x, y))


def truth(xp: Any, x: Any) -> TracedTensor:
    """Whether a number is not zero; NaN is true."""
    if not isinstance(x, TracedTensor):
        return xp.lift(x, bool)
    return x if x.dtype == BOOL else xp.not_equal(x, 0)


def logical(op: str) -> Spelling:
    """An operator on truth values, of any numbers."""

    def spelled(xp: Any, *args: Any) -> TracedTensor:
        operands = [truth(xp, each) for each in args]
        shape = broadcast_shapes(*[each.aval.shape for each in operands])
        return xp.made(op, Aval(BOOL, shape), *operands)

    return spelled


def bitwise(name: str, op: str, of_bools: str) -> Spelling:
    """Of integers bit by bit, of truth values the logical operator."""
    integers, bools = plain(name, op, "iu"), plain(name, of_bools, "b")

    def spelled(xp: Any, *args: Any) -> TracedTensor:
        operands, _ = xp.loop(name, *args)
        return (bools if operands[0].dtype == BOOL else integers)(xp, *args)

    return spelled


def about_floats(op: str) -> Spelling:
    """A question that only a floating-point number can answer with yes."""

    def spelled(xp: Any, x: Any) -> TracedTensor:
        if x.dtype.kind != "f":
            x = xp.astype(x, np.float32)
        return xp.made(op, x.aval.with_dtype(BOOL), x)

    return spelled


def isfinite(xp: Any, x: Any) -> TracedTensor:
    return xp.logical_not(xp.logical_or(xp.isnan(x), xp.isinf(x)))


def where(xp: Any, condition: Any, x: Any, y: Any) -> TracedTensor:
    dtype = np.result_type(*[each.dtype if hasattr(each, "dtype") else each for each in (x, y)])
    operands = [truth(xp, condition), xp.lift(x, dtype), xp.lift(y, dtype)]
    shape = broadcast_shapes(*[each.aval.shape for each in operands])
    if dtype == BOOL:  # onnxruntime has no choice between truth values.
        chosen, first, second = operands
        other = xp.logical_and(xp.logical_not(chosen), second)
        return xp.logical_or(xp.logical_and(chosen, first), other)
    return xp.made("Where", Aval(dtype, shape), *operands)


def extremum(name: str, beats: str, ignores_nan: bool = False) -> Spelling:
    """The larger or smaller of two, of equal ones the second; `beats` is a comparison."""

    def spelled(xp: Any, x: Any, y: Any) -> TracedTensor:
        (x, y), _ = xp.loop(name, x, y)
        first = getattr(xp, beats)(x, y)
        if x.dtype.kind == "f":
            first = xp.logical_or(first, xp.isnan(y if ignores_nan else x))
        return xp.where(first, x, y)

    return spelled


def clip(xp: Any, x: Any, low: Any, high: Any) -> TracedTensor:
    return xp.minimum(xp.maximum(x, low), high)


# -- exponentials and logarithms -------------------------------------------------------------------
def exp2(xp: Any, x: Any) -> TracedTensor:
    (x,) = _floats(xp, "exp2", x)
    return xp.power(xp.lift(2, x.dtype), x)


def expm1(xp: Any, x: Any) -> TracedTensor:
    """By W. Kahan's formula: the error of `exp` is divided out by the logarithm of its result."""
    (x,) = _floats(xp, "expm1", x)
    u = xp.exp(x)
    one = xp.lift(1, x.dtype)
    usual = xp.logical_not(xp.logical_or(u == 1, xp.logical_or(xp.isinf(u), u == 0)))
    safe = xp.where(usual, u, one + one)
    found = (safe - 1) * x / xp.log(safe)
    # Where exp(x) is 1 to all digits the result is x; where it is 0 or infinite, exp(x) - 1.
    return xp.where(usual, found, xp.where(u == 1, x, u - 1))


def log1p(xp: Any, x: Any) -> TracedTensor:
    """By W. Kahan's formula, as `expm1`."""
    (x,) = _floats(xp, "log1p", x)
    u = x + 1
    one = xp.lift(1, x.dtype)
    usual = xp.logical_not(xp.logical_or(u == 1, xp.isinf(u)))
    safe = xp.where(usual, u, one + one)
    found = xp.log(safe) * (x / (safe - 1))
    return xp.where(usual, found, xp.where(u == 1, x, xp.log(u)))


def scaled_log(name: str, base: float) -> Spelling:
    """A logarithm to another base; a whole number where `x` is a power of it, as in NumPy."""

    def spelled(xp: Any, x: Any) -> TracedTensor:
        (x,) = _floats(xp, name, x)
        found = xp.log(x) / math.log(base)
        whole = xp.rint(found)
        return xp.where(xp.equal(xp.power(xp.lift(base, x.dtype), whole), x), whole, found)

    return spelled


def logaddexp(xp: Any, x: Any, y: Any) -> TracedTensor:
    x, y = _floats(xp, "logaddexp", x, y)
    gap = xp.where(x == y, xp.lift(0, x.dtype), xp.negative(xp.absolute(x - y)))
    return xp.maximum(x, y) + xp.log1p(xp.exp(gap))


def expit(xp: Any, x: Any) -> TracedTensor:
    """Not ONNX's Sigmoid: engines round it to 0 or to a constant where it is small."""
    (x,) = _floats(xp, "special.expit", x)
    return 1 / (1 + xp.exp(xp.negative(x)))


def logit(xp: Any, x: Any) -> TracedTensor:
    """log(x / (1 - x)); near 1/2 log1p((2 x - 1) / (1 - x)), as that cancels."""
    (x,) = _floats(xp, "special.logit", x)
    near = xp.logical_and(x > 0.3, x < 0.65)
    safe = xp.where(near, x, xp.lift(0.5, x.dtype))
    return xp.where(near, xp.log1p((2 * safe - 1) / (1 - safe)), xp.log(x / (1 - x)))


def xlogy(xp: Any, x: Any, y: Any) -> TracedTensor:
    x, y = _floats(xp, "special.xlogy", x, y)
    return _zero_times(xp, x, y, xp.log(y))


def xlog1py(xp: Any, x: Any, y: Any) -> TracedTensor:
    x, y = _floats(xp, "special.xlog1py", x, y)
    return _zero_times(xp, x, y, xp.log1p(y))


def _zero_times(xp: Any, x: Any, y: Any, factor: Any) -> TracedTensor:
    """`x * factor`, and 0 where x is 0, unless y is NaN."""
    none = xp.logical_and(x == 0, xp.logical_not(xp.isnan(y)))
    return xp.where(none, xp.lift(0, x.dtype), x * factor)


def entr(xp: Any, x: Any) -> TracedTensor:
    (x,) = _floats(xp, "special.entr", x)
    edge = xp.where(x == 0, xp.lift(0, x.dtype), xp.lift(-np.inf, x.dtype))
    inside = xp.logical_or(x > 0, xp.isnan(x))
    return xp.where(inside, xp.negative(x * xp.log(x)), edge)


def arctan2(xp: Any, y: Any, x: Any) -> TracedTensor:
    """By the arctangent of the smaller over the larger; zeros have their signs, as 1 / 0 tells."""
    y, x = _floats(xp, "arctan2", y, x)
    width, height = xp.absolute(x), xp.absolute(y)
    steep = height > width
    top = xp.where(steep, height, width)
    low = xp.where(steep, width, height)
    both = xp.logical_and(xp.isinf(top), xp.isinf(low))
    one = xp.lift(1, x.dtype)
    ratio = xp.where(both, one, low / xp.where(top == 0, one, top))
    angle = xp.arctan(ratio)
    angle = xp.where(steep, math.pi / 2 - angle, angle)
    angle = xp.where(_signed(xp, x), math.pi - angle, angle)
    found = xp.where(_signed(xp, y), xp.negative(angle), angle)
    return xp.where(xp.logical_or(xp.isnan(x), xp.isnan(y)), x + y, found)


def _signed(xp: Any, x: Any) -> TracedTensor:
    """Whether a number that is not NaN has a minus sign, -0.0 too."""
    return xp.logical_or(x < 0, xp.logical_and(x == 0, xp.reciprocal(x) < 0))


def power(xp: Any, x: Any, y: Any) -> TracedTensor:
    """Of integers none: engines compute it in floating point, or refuse negative exponents."""
    x, y = _floats(xp, "power", x, y)
    aval = Aval(x.dtype, broadcast_shapes(x.aval.shape, y.aval.shape))
    return xp.made("Pow", aval, x, y)


# -- dtypes ------------------------------------------------------------------------------------
def astype(xp: Any, x: Any, dtype: Any, **_copy: Any) -> TracedTensor:
    """A cast; integers that do not fit lose their higher bits, as in NumPy."""
    target = np.dtype(dtype)
    x = xp.lift(x)
    if x.dtype == target:
        return x
    if target == BOOL:
        return truth(xp, x)
    to = xp.writer.dtype(target)
    return xp.made("Cast", x.aval.with_dtype(target), x, to=to)
