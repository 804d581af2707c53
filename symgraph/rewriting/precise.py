"""Values of a graph in high precision: what both sides of a rule are measured against.

Each elementwise operation has its textbook definition here, over mpmath's reals, written apart from
the kernels so that the two do not share mistakes. Undefined is NaN: log of a negative number, 0/0,
1/0. Reductions and movement run on object arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..dims import resolve
from ..namespace import NUMPY
from ..nodes import Node, reachable
from .guards import uniform_value

__all__ = ["ORDINARY_BITS", "WIDE_BITS", "TooLarge", "Unsupported", "precise_values"]

ORDINARY_BITS = 420
"""Enough to hold sums of float32 extremes exactly."""
WIDE_BITS = 2300
"""Enough to hold the sum of the largest and the smallest float64 exactly."""

_LARGEST_EXPONENT = 1500
"""Beyond it, exp(x) + 1 would not fit into `WIDE_BITS`."""
_EXPONENT_BY_BIT = _LARGEST_EXPONENT / WIDE_BITS
"""How much larger an exponent may be where there are more bits than that."""
_MOVEMENT = ("reshape", "transpose", "broadcast_to", "concatenate", "getitem")


class Unsupported(Exception):  # no error: the caller goes on without a reference
    """No high-precision definition is known for an operation."""


class TooLarge(Exception):  # no error: nothing is known of that element
    """A number too large or too small to be added to 1, such as exp(10,000)."""


@cache
def _scalar_functions() -> dict[str, Callable[..., Any]]:
    from mpmath import mp  # only the verifier needs it

    nan, inf = mp.nan, mp.inf

    def real(function: Callable[..., Any]) -> Callable[..., Any]:
        """`function` on reals; NaN where its value is not real or does not exist."""

        def call(*args: Any) -> Any:
            if any(mp.isnan(x) for x in args):
                return nan
            try:
                value = function(*args)
            except (ValueError, ZeroDivisionError, OverflowError, NotImplementedError):
                return nan  # the last is mpmath's word for a point it cannot compute at
            return nan if isinstance(value, mp.mpc) else mp.mpf(value)

        return call

    def largest_exponent() -> float:
        return max(_LARGEST_EXPONENT, _EXPONENT_BY_BIT * mp.prec)

    def bounded_exp(x: Any) -> Any:
        if mp.isinf(x):
            return inf if x > 0 else mp.mpf(0)
        if abs(x) > largest_exponent():
            raise TooLarge
        return mp.exp(x)

    def divide(x: Any, y: Any) -> Any:
        return nan if y == 0 or (mp.isinf(x) and mp.isinf(y)) else x / y

    def multiply(x: Any, y: Any) -> Any:
        return nan if (mp.isinf(x) and y == 0) or (mp.isinf(y) and x == 0) else x * y

    def power(x: Any, y: Any) -> Any:
        if y == 0:
            return mp.mpf(1)
        if x == 0:
            return mp.mpf(0) if y > 0 else nan
        if mp.isinf(y) or mp.isinf(x) or abs(y * mp.log(abs(x))) > largest_exponent():
            raise TooLarge
        return nan if x < 0 and y != mp.floor(y) else x**y

    def sigmoid(x: Any) -> Any:
        return 1 / (1 + bounded_exp(-x))

    def log1mexp(x: Any) -> Any:
        return nan if x > 0 else mp.log(-mp.expm1(x)) if x < 0 else -inf

    def error_function(x: Any) -> Any:
        if mp.isfinite(x) and 2 * x * x > mp.prec:
            raise TooLarge  # 1 - erf(x) is about exp(-x²), which would not fit
        return mp.erf(x)

    def complement(x: Any) -> Any:
        return mp.erfc(x) if x > 0 else 1 - error_function(x)

    def hyperbolic_tangent(x: Any) -> Any:
        if abs(x) > _LARGEST_EXPONENT / 2:
            raise TooLarge
        return mp.tanh(x)

    def extremum(pick: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, y: nan if mp.isnan(x) or mp.isnan(y) else pick(x, y)

    def truth(function: Callable[..., bool]) -> Callable[..., Any]:
        return lambda *args: bool(function(*args))

    plain: dict[str, Callable[..., Any]] = {
        "add": lambda x, y: x + y,
        "subtract": lambda x, y: x - y,
        "multiply": multiply,
        "divide": divide,
        "negative": lambda x: -x,
        "positive": lambda x: x,
        "reciprocal": lambda x: divide(mp.mpf(1), x),
        "square": lambda x: x * x,
        "sqrt": mp.sqrt,
        "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
        "hypot": lambda x, y: mp.sqrt(x * x + y * y),
        "absolute": abs,
        "fabs": abs,
        "sign": mp.sign,
        "floor": mp.floor,
        "ceil": mp.ceil,
        "exp": bounded_exp,
        "exp2": lambda x: bounded_exp(x * mp.log(2)),
        "expm1": lambda x: mp.expm1(x) if abs(x) < 1 else bounded_exp(x) - 1,
        "log": mp.log,
        "log1p": lambda x: mp.log(1 + x),
        "log2": lambda x: mp.log(x) / mp.log(2),
        "log10": lambda x: mp.log(x) / mp.log(10),
        "logaddexp": lambda x, y: max(x, y) + mp.log(1 + bounded_exp(-abs(x - y))),
        "sigmoid": sigmoid,
        "logit": lambda x: mp.log(x) - mp.log(1 - x) if 0 < x < 1 else nan,
        "softplus": lambda x: max(x, mp.mpf(0)) + mp.log(1 + bounded_exp(-abs(x))),
        "log1mexp": log1mexp,
        "power": power,
        "sin": mp.sin,
        "cos": mp.cos,
        "tan": mp.tan,
        "arcsin": lambda x: mp.asin(x) if abs(x) <= 1 else nan,
        "arccos": lambda x: mp.acos(x) if abs(x) <= 1 else nan,
        "arctan": mp.atan,
        "arctan2": mp.atan2,
        "sinh": lambda x: (bounded_exp(x) - bounded_exp(-x)) / 2,
        "cosh": lambda x: (bounded_exp(x) + bounded_exp(-x)) / 2,
        "tanh": hyperbolic_tangent,
        "arcsinh": mp.asinh,
        "arccosh": lambda x: mp.acosh(x) if x >= 1 else nan,
        "arctanh": lambda x: mp.atanh(x) if abs(x) < 1 else nan,
        "erf": error_function,
        "erfc": complement,
        "ndtr": lambda x: complement(-x / mp.sqrt(2)) / 2,
        "maximum": extremum(max),
        "minimum": extremum(min),
        "stop_gradient": lambda x: x,
    }
    table = {name: real(function) for name, function in plain.items()}
    table.update(
        {
            "less": truth(lambda x, y: x < y),
            "less_equal": truth(lambda x, y: x <= y),
            "greater": truth(lambda x, y: x > y),
            "greater_equal": truth(lambda x, y: x >= y),
            "equal": truth(lambda x, y: x == y),
            "not_equal": truth(lambda x, y: x != y),
            "isnan": truth(mp.isnan),
            "isinf": truth(mp.isinf),
            "isfinite": truth(mp.isfinite),
            "logical_not": truth(lambda x: not x),
            "logical_and": truth(lambda x, y: x and y),
            "logical_or": truth(lambda x, y: x or y),
            "where": lambda condition, x, y: x if condition else y,
        }
    )
    return table


def _elementwise(name: str, operands: Sequence[Any]) -> Any:
    function = _scalar_functions().get(name)
    if function is None:
        raise Unsupported(name)
    return np.asarray(np.frompyfunc(function, len(operands), 1)(*operands), dtype=object)


def _along(x: Any, axis: tuple[int, ...], keepdims: bool, fold: Callable[[list[Any]], Any]) -> Any:
    """`fold` applied to all elements along `axis`."""
    rest = [i for i in range(-x.ndim, 0) if i not in axis]
    moved = np.transpose(x, (*rest, *axis))
    shape = tuple(x.shape[i] for i in rest)
    size = int(np.prod([x.shape[i] for i in axis], dtype=int))
    rows = moved.reshape((int(np.prod(shape, dtype=int)), size))
    result = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        result[i] = fold(list(row))
    if keepdims:
        shape = tuple(1 if i in axis else x.shape[i] for i in range(-x.ndim, 0))
    return result.reshape(shape)


def _reduction(name: str, x: Any, params: Mapping[str, Any]) -> Any:
    from mpmath import mp

    table = _scalar_functions()

    def total(row: list[Any]) -> Any:
        return mp.nan if any(mp.isnan(v) for v in row) else sum(row, mp.mpf(0))

    def product(row: list[Any]) -> Any:
        value = mp.mpf(1)
        for each in row:
            value = table["multiply"](value, each)
        return value

    def extremum(pick: Callable[..., Any]) -> Callable[[list[Any]], Any]:
        return lambda row: mp.nan if any(mp.isnan(v) for v in row) else pick(row)

    def logsumexp(row: list[Any]) -> Any:
        if not row:
            return -mp.inf
        top = extremum(max)(row)
        if not mp.isfinite(top):
            return top
        return top + mp.log(total([table["exp"](v - top) for v in row]))

    folds: dict[str, Callable[[list[Any]], Any]] = {
        "sum": total,
        "prod": product,
        "max": extremum(max),
        "min": extremum(min),
        "logsumexp": logsumexp,
    }
    axis = params["axis"]
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    if name in folds:
        return _along(x, axes, bool(params.get("keepdims")), folds[name])
    level = _along(x, axes, True, logsumexp)
    if name in ("softmax", "log_softmax"):
        shifted = _elementwise("subtract", [x, level])
        return shifted if name == "log_softmax" else _elementwise("exp", [shifted])
    raise Unsupported(name)


_REDUCTIONS = ("sum", "prod", "max", "min", "logsumexp", "softmax", "log_softmax")


def _contraction(x: Any, y: Any) -> Any:
    return np.matmul(x, y)


def _value(node: Node, operands: Sequence[Any], env: Mapping[str, int], flat: bool) -> Any:
    name = node.op.name
    params = {key: resolve(value, env) for key, value in node.params.items()}
    if name == "constant":
        uniform = uniform_value(node)
        return _as_objects(params["value"] if uniform is None or not flat else uniform)
    if name == "dimension":
        return _as_objects(np.asarray(params["size"]))
    if name == "cast":
        source = node.operands[0].aval.dtype.kind
        if params["dtype"].kind == "f" and source in "fiub":
            return _as_numbers(operands[0])
        raise Unsupported("cast to integers")
    if name in _MOVEMENT:
        return np.asarray(node.op.kernel(NUMPY, *operands, **params), dtype=object)
    if name in _REDUCTIONS:
        return _reduction(name, operands[0], params)
    if name == "matmul":
        return _contraction(*operands)
    if params:
        raise Unsupported(name)
    return _elementwise(name, operands)


def _as_objects(array: Any) -> Any:
    from mpmath import mp

    if array.dtype.kind == "b":
        return array.astype(object)
    return np.asarray(np.frompyfunc(lambda x: mp.mpf(float(x)), 1, 1)(array), dtype=object)


def _as_numbers(array: Any) -> Any:
    from mpmath import mp

    return np.asarray(np.frompyfunc(lambda x: mp.mpf(x), 1, 1)(array), dtype=object)


def precise_values(
    outputs: Sequence[Node],
    given: Mapping[Node, Any],
    env: Mapping[str, int],
    bits: int,
    *,
    flat: bool = False,
) -> list[Any]:
    """The outputs as arrays of mpmath reals, computed with `bits` binary digits.

    With `flat`, for elementwise graphs, `given` holds selected elements only, in vectors.

    Raises
    ------
    Unsupported
        If an operation has no definition here.
    TooLarge
        If a number has no size.
    """
    from mpmath import mp

    with mp.workprec(bits), np.errstate(all="ignore"):
        values: dict[Node, Any] = {}
        for node in reachable(outputs):
            if node in given:
                values[node] = _as_objects(given[node])
            else:
                values[node] = _value(node, [values[each] for each in node.operands], env, flat)
        return [values[output] for output in outputs]
