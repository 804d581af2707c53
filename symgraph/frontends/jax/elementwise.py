"""Elementwise primitives of JAX. Operands have one dtype already."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..functions import f
from ..spelling import Refused, SpelledCall, Spelling, known, own

__all__ = ["ELEMENTWISE", "known_number"]


def known_number(x: Any) -> Any:
    """The number that a constant is, or None."""
    node = x.node
    while node.op.name in ("cast", "broadcast_to", "reshape"):
        (node,) = node.operands
    if not node.is_constant or node.params["value"].size != 1:
        return None
    return node.params["value"].item()


def _div(x: Any, y: Any) -> Any:
    if x.dtype.kind == "f":
        return f.divide(x, y)
    if x.dtype.kind == "u":
        return f.floor_divide(x, y)
    # Integers are rounded towards zero; the size of the least one is no integer.
    return f.floor_divide(x - f.fmod(x, y), y)


def _round(x: Any, *, rounding_method: Any) -> Any:
    if int(rounding_method) == 1:
        return f.rint(x)
    # Halves go away from zero.
    size = f.absolute(x)
    whole = f.floor(size)
    # Not floor(size + 0.5): that sum may round up.
    return f.copysign(f.where(size - whole < 0.5, whole, whole + 1), x)


def _integer_pow(x: Any, *, y: int) -> Any:
    return x**y if y >= 0 else 1 / x**-y


def _select_n(which: Any, *cases: Any) -> Any:
    if which.dtype.kind == "b":
        return f.where(which, cases[1], cases[0]) if len(cases) == 2 else cases[0]
    found = cases[-1]
    for place in range(len(cases) - 2, -1, -1):
        found = f.where(which <= place, cases[place], found)
    return found


def _convert(call: SpelledCall, x: Any, *, new_dtype: Any) -> Any:
    kind, size = call.dtype.kind, call.dtype.itemsize
    if kind == "b":
        return x != 0
    if x.dtype.kind == "f" and (kind == "u" or (kind == "i" and size < _WIDE)):
        return _saturated(x, call.dtype)
    return f.astype(x, call.dtype)


_WIDE = 4
"""The fewest bytes of signed integers that floats are taken to fit in, such as indices."""


def _saturated(x: Any, dtype: np.dtype[Any]) -> Any:
    """Floats as integers: the nearest there is, and 0 for NaN. NumPy's wrap around."""
    limits, zero = np.iinfo(dtype), x.dtype.type(0)
    most = x.dtype.type(min(limits.max, float(np.finfo(x.dtype).max)))
    if int(most) > limits.max:
        most = np.nextafter(most, zero)
    whole = f.astype(f.clip(f.where(f.isnan(x), zero, x), zero + limits.min, most), dtype)
    return whole if int(most) == limits.max else f.where(x > most, dtype.type(limits.max), whole)


def _population_count(x: Any) -> Any:
    """The bits of two's complement; NumPy counts those of the absolute value."""
    if x.dtype.kind != "i":
        return f.astype(f.bitwise_count(x), x.dtype)
    bits = f.astype(x, f"uint{8 * x.dtype.itemsize}")
    return f.astype(f.bitwise_count(bits), x.dtype)


def _not(x: Any) -> Any:
    return f.logical_not(x) if x.dtype.kind == "b" else f.invert(x)


def _right_shift(x: Any, y: Any) -> Any:
    if x.dtype.kind != "u":
        raise Refused("shifts signed integers as if they had no sign")
    return f.right_shift(x, y)


def _polygamma(order: Any, x: Any) -> Any:
    number = known_number(order)
    if number is None or number != int(number):
        raise Refused("has an order that is not known when the graph is made")
    return f.polygamma(int(number), x)


def _polynomial(x: Any, *coefficients: Any) -> Any:
    """Horner's form; the constant term comes first."""
    found = coefficients[-1]
    for each in coefficients[-2::-1]:
        found = found * x + each
    return found


def _before(x: Any, y: Any) -> Any:
    """Whether x < y in the total order: -NaN, -inf, ..., -0, +0, ..., inf, NaN."""
    if x.dtype.kind != "f":
        return f.less(x, y)
    both = f.isnan(x) | f.isnan(y)
    ends = (f.isnan(x) & f.signbit(x)) | (f.isnan(y) & ~f.signbit(y))
    same = f.isnan(x) & f.isnan(y) & (f.signbit(x) == f.signbit(y))
    numbers = (x < y) | (x == y) & f.signbit(x) & ~f.signbit(y)
    return f.where(both, ends & ~same, numbers)


def _named(*names: str, **renamed: str) -> dict[str, Spelling]:
    table = dict.fromkeys(names, "") | renamed
    return {name: own(getattr(f, here or name)) for name, here in table.items()}


ELEMENTWISE: dict[str, Spelling] = {
    "lt_to": own(_before),
    "le_to": own(lambda x, y: ~_before(y, x)),
    **_named(
        *["exp", "exp2", "expm1", "log", "log1p", "log2", "sqrt", "cbrt", "square", "sin", "cos"],
        *["tan", "sinh", "cosh", "tanh", "floor", "ceil", "sign", "erf", "erfc", "digamma", "zeta"],
        *["nextafter"],
        neg="negative",
        abs="absolute",
        asin="arcsin",
        acos="arccos",
        atan="arctan",
        asinh="arcsinh",
        acosh="arccosh",
        atanh="arctanh",
        logistic="sigmoid",
        erf_inv="erfinv",
        lgamma="gammaln",
        igamma="gammainc",
        igammac="gammaincc",
        igamma_grad_a="gammainc_slope",
        bessel_i0e="i0e",
        bessel_i1e="i1e",
        is_finite="isfinite",
        add="add",
        add_any="add",
        sub="subtract",
        mul="multiply",
        rem="fmod",
        pow="power",
        atan2="arctan2",
        max="maximum",
        min="minimum",
        eq="equal",
        ne="not_equal",
        lt="less",
        le="less_equal",
        gt="greater",
        ge="greater_equal",
        xor="bitwise_xor",
        shift_left="left_shift",
        shift_right_arithmetic="right_shift",
        stop_gradient="stop_gradient",
    ),
    "and": own(f.bitwise_and),
    "or": own(f.bitwise_or),
    "not": own(_not),
    "div": own(_div),
    "rsqrt": own(lambda x: 1 / f.sqrt(x)),
    "round": own(_round),
    "integer_pow": own(_integer_pow),
    "clamp": own(lambda least, x, most: f.clip(x, least, most)),
    "select_n": own(_select_n),
    "convert_element_type": known(_convert),
    "polygamma": own(_polygamma),
    "polynomial": own(_polynomial),
    "population_count": own(_population_count),
    "shift_right_logical": own(_right_shift),
    **dict.fromkeys(["copy", "optimization_barrier"], own(lambda x: x)),
    "name": own(lambda x, *, name: x),
    "regularized_incomplete_beta": own(f.betainc),
}
