"""Elementwise operations of PyTorch: arithmetic, functions, comparisons, activations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..functions import f
from ..spelling import Refused, SpelledCall, Spelling, common, known, own, result

__all__ = ["ELEMENTWISE"]


# -- arithmetic ------------------------------------------------------------------------------------
def _scaled(y: Any, alpha: Any) -> Any:
    return y if alpha == 1 else y * alpha


def _add(x: Any, other: Any, *, alpha: Any = 1) -> Any:
    return f.add(x, _scaled(other, alpha))


def _sub(x: Any, other: Any, *, alpha: Any = 1) -> Any:
    return f.subtract(x, _scaled(other, alpha))


def _rsub(x: Any, other: Any, alpha: Any = 1) -> Any:
    return f.subtract(other, _scaled(x, alpha))


def _div(x: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    if rounding_mode == "floor":
        return f.floor_divide(x, other)
    if rounding_mode == "trunc":
        if x.dtype.kind in "iu":
            raise Refused("rounds integers towards zero")
        return f.trunc(f.divide(x, other))
    return f.divide(x, other)


def _lerp(x: Any, end: Any, weight: Any) -> Any:
    return x + weight * (end - x)


def _addcmul(x: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    return x + _scaled(tensor1 * tensor2, value)


def _addcdiv(x: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    return x + _scaled(tensor1 / tensor2, value)


def _clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    return f.clip(x, min, max)


def _logit(x: Any, eps: float | None = None) -> Any:
    return f.logit(x if eps is None else f.clip(x, eps, 1 - eps))


def _round(x: Any, *, decimals: int = 0) -> Any:
    return f.round(x, decimals)


def _nan_to_num(
    x: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Any:
    return f.nan_to_num(x, nan=nan or 0.0, posinf=posinf, neginf=neginf)


def _as_is(x: Any, *_rest: Any, **_options: Any) -> Any:
    return x


# -- choice ----------------------------------------------------------------------------------------
def _where(call: SpelledCall, condition: Any, x: Any, other: Any) -> Any:
    parts = [each.astype(call.dtype) if hasattr(each, "aval") else each for each in (x, other)]
    if not any(hasattr(each, "aval") for each in parts):
        parts[0] = f.asarray(parts[0], call.dtype)
    return f.where(condition, *parts)


def _masked_fill(call: SpelledCall, x: Any, mask: Any, value: Any) -> Any:
    return _where(call, mask, value, x)


# -- activations -----------------------------------------------------------------------------------
def _gelu(x: Any, *, approximate: str = "none") -> Any:
    return f.gelu(x, approximate == "tanh")


def _elu(x: Any, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Any:
    if input_scale != 1:
        raise Refused("scales its argument")
    return _scaled(f.elu(x, alpha), scale)


def _softplus(x: Any, beta: Any = 1, threshold: Any = 20) -> Any:
    if threshold < 20:
        raise Refused(f"has threshold={threshold}, below which it is no softplus")
    # From the threshold on PyTorch gives x, which differs from it by less than 3e-9.
    return f.softplus(x) if beta == 1 else f.softplus(x * beta) / beta


def _prelu(x: Any, weight: Any) -> Any:
    if weight.ndim and x.ndim > 1:
        weight = f.reshape(weight, (-1, *[1] * (x.ndim - 2)))
    return f.where(x > 0, x, weight * x)


def _threshold(x: Any, threshold: Any, value: Any) -> Any:
    return f.where(x <= threshold, value, x)  # NaN stays.


def _glu(x: Any, dim: int = -1) -> Any:
    return f.glu(x, dim)


def _unary(*names: str, **renamed: str) -> dict[str, Spelling]:
    """Functions of one operand in the dtype of the result, under their names or NumPy's."""
    table = dict.fromkeys(names, "") | renamed
    return {name: result(getattr(f, numpy or name)) for name, numpy in table.items()}


_FUNCTIONS = _unary(
    *["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "square", "reciprocal"],
    *["sin", "cos", "tan", "sinh", "cosh", "tanh", "sigmoid", "erf", "erfc", "erfinv", "digamma"],
    *["floor", "ceil", "trunc", "sign", "relu", "relu6", "silu", "mish", "celu", "selu", "sinc"],
    *["log_sigmoid", "leaky_relu"],
    abs="absolute",
    neg="negative",
    asin="arcsin",
    acos="arccos",
    atan="arctan",
    asinh="arcsinh",
    acosh="arccosh",
    atanh="arctanh",
    lgamma="gammaln",
    sgn="sign",
    hardsigmoid="hard_sigmoid",
    hardswish="hard_swish",
    deg2rad="radians",
    rad2deg="degrees",
    special_expit="sigmoid",
    special_entr="entr",
    special_erfcx="erfcx",
    special_ndtr="ndtr",
    special_ndtri="ndtri",
    special_log_ndtr="log_ndtr",
    special_i0="i0",
    special_i0e="i0e",
    special_i1="i1",
    special_i1e="i1e",
    i0="i0",
)

_OF_TWO = _unary(
    *["maximum", "minimum", "fmax", "fmin", "remainder", "fmod", "floor_divide", "hypot"],
    *["copysign", "logaddexp", "logaddexp2", "heaviside", "xlogy"],
    mul="multiply",
    pow="power",
    atan2="arctan2",
    special_xlog1py="xlog1py",
    special_xlogy="xlogy",
)

_COMPARISONS = {
    "eq": common(f.equal),
    "ne": common(f.not_equal),
    "lt": common(f.less),
    "le": common(f.less_equal),
    "gt": common(f.greater),
    "ge": common(f.greater_equal),
    "isclose": common(lambda x, other, rtol=1e-5, atol=1e-8: f.isclose(x, other, rtol, atol)),
}

_TRUTHS = {
    name: own(getattr(f, name))
    for name in ("isnan", "isinf", "isfinite", "logical_not", "logical_and", "logical_or")
} | {
    "logical_xor": own(f.logical_xor),
    "isposinf": own(f.isposinf),
    "isneginf": own(f.isneginf),
    "signbit": own(f.signbit),
    "bitwise_not": own(f.invert),
    "bitwise_and": result(f.bitwise_and),
    "bitwise_or": result(f.bitwise_or),
    "bitwise_xor": result(f.bitwise_xor),
    "__and__": result(f.bitwise_and),
    "__or__": result(f.bitwise_or),
    "__xor__": result(f.bitwise_xor),
}

ELEMENTWISE: dict[str, Spelling] = {
    **_FUNCTIONS,
    **_OF_TWO,
    **_COMPARISONS,
    **_TRUTHS,
    "add": result(_add),
    "sub": result(_sub),
    "rsub": result(_rsub),
    "div": result(_div),
    "true_divide": result(_div),
    "rsqrt": result(lambda x: 1 / f.sqrt(x)),
    "frac": result(lambda x: x - f.trunc(x)),
    "lerp": result(_lerp),
    "addcmul": result(_addcmul),
    "addcdiv": result(_addcdiv),
    "clamp": result(_clamp),
    "clip": result(_clamp),
    "clamp_min": result(lambda x, min: f.maximum(x, min)),
    "clamp_max": result(lambda x, max: f.minimum(x, max)),
    "logit": result(_logit),
    "special_logit": result(_logit),
    "round": result(_round),
    "nan_to_num": result(_nan_to_num),
    "where": known(_where),
    "masked_fill": known(_masked_fill),
    "gelu": result(_gelu),
    "elu": result(_elu),
    "softplus": result(_softplus),
    "hardtanh": result(lambda x, min_val=-1, max_val=1: f.clip(x, min_val, max_val)),
    "hardshrink": result(lambda x, lambd=0.5: f.where(f.absolute(x) <= lambd, 0, x)),
    "softshrink": result(
        lambda x, lambd=0.5: f.sign(x) * f.maximum(f.absolute(x) - lambd, np.zeros((), x.dtype))
    ),
    "prelu": result(_prelu),
    "threshold": result(_threshold),
    "glu": result(_glu),
    # The same value; the walk casts it to the dtype of the result.
    **dict.fromkeys(["to", "_to_copy", "type_as", "clone", "contiguous", "alias"], own(_as_is)),
    **dict.fromkeys(["lift_fresh_copy", "positive"], own(_as_is)),
    "detach": own(f.stop_gradient),
}
