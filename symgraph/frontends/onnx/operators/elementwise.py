"""Arithmetic, comparison, logic and casts, element by element."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from .... import numpy as snp
from ....errors import FormatError
from ....onnx.same import SAME_OF_FLOATS
from ....onnx.writer import onnx_module
from ..attributes import dtype_of
from ..call import Call, Tensor
from ..registry import operator
from ..values import is_sized

__all__ = ["aligned"]


def _ufunc(name: str) -> Callable[..., Any]:
    def read(_call: Call, x: Any) -> Any:
        return getattr(np, name)(x)

    return read


def _legacy(call: Call, x: Any) -> Any:
    """Before version 6 operators tell which operand may be overwritten, which changes nothing."""
    call.ignore("consumed_inputs")
    return _UNARY[call.op](call, x)


_UNARY = {
    **{op: _ufunc(name) for name, op in SAME_OF_FLOATS.items()},
    "Abs": _ufunc("absolute"),
    "Ceil": _ufunc("ceil"),
    "Floor": _ufunc("floor"),
    "IsNaN": _ufunc("isnan"),
    "Neg": _ufunc("negative"),
    "Not": _ufunc("logical_not"),
    "BitwiseNot": _ufunc("invert"),
    "Sign": _ufunc("sign"),
}
for _name, _function in _UNARY.items():
    operator(_name)(_legacy)
    operator(_name, since=6)(_function)


@operator("Erf")
def erf(_call: Call, x: Tensor) -> Tensor:
    return snp.erf(x)


@operator("IsInf", since=10)
def is_inf(call: Call, x: Tensor) -> Tensor:
    infinite = np.isinf(x)
    if not call.flag("detect_negative", 1):
        infinite = infinite & (x > 0)
    return infinite if call.flag("detect_positive", 1) else infinite & (x < 0)


# -- of two operands -------------------------------------------------------------------------------
def aligned(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """The second operand of an operator before version 7, which says where its axes belong."""
    call.ignore("consumed_inputs")
    axis = call.whole("axis", x.ndim - y.ndim)
    if not call.flag("broadcast"):
        if x.ndim != y.ndim:
            raise FormatError(f"{call.op} is given {x.aval} and {y.aval} without broadcast=1.")
        return y
    axis += x.ndim if axis < 0 else 0
    behind = x.ndim - axis - y.ndim
    if axis < 0 or behind < 0:
        raise FormatError(f"{call.op} cannot align {y.aval} with axis {axis} of {x.aval}.")
    return np.reshape(y, (*y.shape, *[1] * behind))


def _divide(x: Any, y: Any) -> Any:
    """A quotient, which for integers is rounded towards zero."""
    if is_sized(x) or is_sized(y):
        numbers = [each for each in (*np.ravel(x), *np.ravel(y)) if not _nonnegative(each)]
        if numbers:
            raise TypeError("rounding depends on signs")
        return x // y
    if x.dtype.kind == "f":
        return x / y
    down = np.floor_divide(x, y)
    if x.dtype.kind == "u":
        return down
    inexact = (down * y != x) & ((x < 0) != (y < 0))
    return down + inexact.astype(x.dtype)


def _nonnegative(each: Any) -> bool:
    return bool(each >= 0 if isinstance(each, (int, np.integer)) else each.is_nonnegative)


def _equal(x: Any, y: Any) -> Any:
    if is_sized(x) or is_sized(y):
        return np.array(np.frompyfunc(_same_size, 2, 1)(x, y), dtype=bool)
    return np.equal(x, y)


def _same_size(one: Any, other: Any) -> bool:
    gap = one - other
    zero = gap == 0 if isinstance(gap, (int, np.integer)) else gap.is_zero
    if zero is None:
        raise TypeError("it depends on the sizes")
    return bool(zero)


def _power(x: Any, y: Any) -> Any:
    """In the dtype of the base; computed in the one that holds both."""
    if x.dtype == y.dtype:
        return np.power(x, y)
    common = np.result_type(x.dtype, y.dtype)
    return np.power(x.astype(common), y.astype(common)).astype(x.dtype)


_BINARY: dict[str, Callable[..., Any]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": _divide,
    "Pow": _power,
    "And": np.logical_and,
    "Or": np.logical_or,
    "Xor": np.logical_xor,
    "Equal": _equal,
    "Less": np.less,
    "Greater": np.greater,
}
_SIZES = {"Add", "Sub", "Mul", "Div", "Equal"}


def _binary(call: Call, x: Any, y: Any) -> Any:
    return _BINARY[call.op](x, y)


def _binary_of_one_shape(call: Call, x: Tensor, y: Tensor) -> Any:
    return _BINARY[call.op](x, aligned(call, x, y))


for _name in _BINARY:
    operator(_name)(_binary_of_one_shape)
    operator(_name, since=7, of_sizes=_name in _SIZES)(_binary)


@operator("LessOrEqual", since=12)
def less_equal(_call: Call, x: Tensor, y: Tensor) -> Tensor:
    return np.less_equal(x, y)


@operator("GreaterOrEqual", since=12)
def greater_equal(_call: Call, x: Tensor, y: Tensor) -> Tensor:
    return np.greater_equal(x, y)


@operator("BitwiseAnd")
def bitwise_and(_call: Call, x: Tensor, y: Tensor) -> Tensor:
    return np.bitwise_and(x, y)


@operator("BitwiseOr")
def bitwise_or(_call: Call, x: Tensor, y: Tensor) -> Tensor:
    return np.bitwise_or(x, y)


@operator("BitwiseXor")
def bitwise_xor(_call: Call, x: Tensor, y: Tensor) -> Tensor:
    return np.bitwise_xor(x, y)


@operator("BitShift")
def bit_shift(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """By more bits than there are, or by a negative number of them, all are shifted out."""
    bits = 8 * x.dtype.itemsize
    right = call.choice("direction", "", "LEFT", "RIGHT") == "RIGHT"
    beyond = y >= bits
    if y.dtype.kind == "i":
        beyond = beyond | (y < 0)
    zero = np.zeros((), x.dtype)
    safe = np.where(beyond, np.zeros((), y.dtype), y)
    if right:
        out = np.right_shift(x, np.full((), bits - 1, y.dtype)) if x.dtype.kind == "i" else zero
        return np.where(beyond, out, np.right_shift(x, safe))
    return np.where(beyond, zero, np.left_shift(x, safe))


@operator("Mod")
def mod(call: Call, x: Tensor, y: Tensor) -> Tensor:
    return np.fmod(x, y) if call.flag("fmod") else np.remainder(x, y)


# -- of any number of operands ---------------------------------------------------------------------
def _fold(function: Callable[..., Any]) -> Callable[..., Any]:
    def read(call: Call, *operands: Any) -> Any:
        call.ignore("consumed_inputs")
        if not operands:
            raise FormatError(f"{call.op} has no operand.")
        return reduce(function, operands)

    return read


operator("Max")(_fold(np.maximum))
operator("Min")(_fold(np.minimum))
operator("Sum")(_fold(np.add))


@operator("Mean")
def mean(call: Call, *operands: Tensor) -> Tensor:
    return _fold(np.add)(call, *operands) / len(operands)


# -- choice ----------------------------------------------------------------------------------------
@operator("Where", of_sizes=True)
def where(_call: Call, condition: Any, x: Any, y: Any) -> Any:
    return np.where(condition, x, y)


@operator("Clip")
def clip_by_attributes(call: Call, x: Tensor) -> Tensor:
    call.ignore("consumed_inputs")
    if call.has("min"):
        x = np.maximum(x, np.asarray(call.real("min"), x.dtype))
    return np.minimum(x, np.asarray(call.real("max"), x.dtype)) if call.has("max") else x


@operator("Clip", since=11)
def clip(_call: Call, x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


# -- dtypes ----------------------------------------------------------------------------------------
@operator("Cast", until=5)
def cast_to_name(call: Call, x: Tensor) -> Tensor:
    return x.astype(dtype_of(_numbers_of_dtypes()[call.text("to")]))


@operator("Cast", since=6, of_sizes=True)
def cast(call: Call, x: Any) -> Any:
    call.ignore("saturate", "round_mode")  # Of dtypes that are not read.
    dtype = dtype_of(call.whole("to"))
    if is_sized(x) and dtype.kind != "i":
        raise TypeError("sizes are integers")
    return x if is_sized(x) else x.astype(dtype)


@operator("CastLike")
def cast_like(call: Call, x: Tensor, like: Tensor) -> Tensor:
    call.ignore("saturate", "round_mode")
    return x.astype(like.dtype)


@operator("Identity", of_sizes=True)
def identity(_call: Call, x: Any) -> Any:
    return x


def _numbers_of_dtypes() -> dict[str, int]:

    return dict(onnx_module().TensorProto.DataType.items())
