"""Values of a graph in high precision: what both sides of a rule are measured against.

The record of each elementwise operation has its textbook definition, which is computed here over
mpmath's reals; it is written apart from the kernels, so that the two do not share mistakes.
Undefined is NaN: log of a negative number, 0/0, 1/0. Reductions and movement run on object arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from ..ir.dims import resolve
from ..ir.node import Node, reachable
from ..ir.op import OPS, Op
from ..namespace import NUMPY
from ..rewriting.guards import uniform_value

__all__ = ["ORDINARY_BITS", "WIDE_BITS", "TooLarge", "Unsupported", "precise_values"]

ORDINARY_BITS = 420
"""Enough to hold sums of float32 extremes exactly."""
WIDE_BITS = 2300
"""Enough to hold the sum of the largest and the smallest float64 exactly."""

_LARGEST_EXPONENT = 1500
"""Beyond it, exp(x) + 1 would not fit into `WIDE_BITS`."""
_EXPONENT_BY_BIT = _LARGEST_EXPONENT / WIDE_BITS
"""How much larger an exponent may be where there are more bits than that."""


class Unsupported(Exception):  # no error: the caller goes on without a reference
    """No high-precision definition is known for an operation."""


class TooLarge(Exception):  # no error: nothing is known of that element
    """A number too large or too small to be added to 1, such as exp(10,000)."""


class _Reals:
    """mpmath's functions of real numbers, none of which takes long or gives what has no size.

    Others than those below are mpmath's own.
    """

    def __init__(self, mp: Any) -> None:
        self.mp = mp

    def __getattr__(self, name: str) -> Any:
        return getattr(self.mp, name)

    def _largest_exponent(self) -> float:
        return max(_LARGEST_EXPONENT, _EXPONENT_BY_BIT * self.mp.prec)

    def exp(self, x: Any) -> Any:
        mp = self.mp
        if mp.isinf(x):
            return mp.inf if x > 0 else mp.mpf(0)
        if abs(x) > self._largest_exponent():
            raise TooLarge
        return mp.exp(x)

    def expm1(self, x: Any) -> Any:
        return self.mp.expm1(x) if abs(x) < 1 else self.exp(x) - 1

    def multiply(self, x: Any, y: Any) -> Any:
        isinf = self.mp.isinf
        return self.mp.nan if (isinf(x) and y == 0) or (isinf(y) and x == 0) else x * y

    def divide(self, x: Any, y: Any) -> Any:
        isinf = self.mp.isinf
        return self.mp.nan if y == 0 or (isinf(x) and isinf(y)) else x / y

    def power(self, x: Any, y: Any) -> Any:
        mp = self.mp
        if y == 0:
            return mp.mpf(1)
        if x == 0:
            return mp.mpf(0) if y > 0 else mp.nan
        if mp.isinf(y) or mp.isinf(x) or abs(y * mp.log(abs(x))) > self._largest_exponent():
            raise TooLarge
        return mp.nan if x < 0 and y != mp.floor(y) else x**y

    def logaddexp(self, x: Any, y: Any) -> Any:
        return max(x, y) + self.mp.log(1 + self.exp(-abs(x - y)))

    def log1mexp(self, x: Any) -> Any:
        mp = self.mp
        return mp.nan if x > 0 else mp.log(-mp.expm1(x)) if x < 0 else -mp.inf

    def asin(self, x: Any) -> Any:
        return self.mp.asin(x) if abs(x) <= 1 else self.mp.nan

    def acos(self, x: Any) -> Any:
        return self.mp.acos(x) if abs(x) <= 1 else self.mp.nan

    def acosh(self, x: Any) -> Any:
        return self.mp.acosh(x) if x >= 1 else self.mp.nan

    def atanh(self, x: Any) -> Any:
        return self.mp.atanh(x) if abs(x) < 1 else self.mp.nan

    def sinh(self, x: Any) -> Any:
        return (self.exp(x) - self.exp(-x)) / 2

    def cosh(self, x: Any) -> Any:
        return (self.exp(x) + self.exp(-x)) / 2

    def tanh(self, x: Any) -> Any:
        if abs(x) > _LARGEST_EXPONENT / 2:
            raise TooLarge
        return self.mp.tanh(x)

    def erf(self, x: Any) -> Any:
        mp = self.mp
        if mp.isfinite(x) and 2 * x * x > mp.prec:
            raise TooLarge  # 1 - erf(x) is about exp(-x²), which would not fit
        return mp.erf(x)

    def erfc(self, x: Any) -> Any:
        return self.mp.erfc(x) if x > 0 else 1 - self.erf(x)

    def maximum(self, x: Any, y: Any) -> Any:
        return max(x, y)

    def minimum(self, x: Any, y: Any) -> Any:
        return min(x, y)

    def defined(self, definition: Callable[..., Any]) -> Callable[..., Any]:
        """A definition on reals; NaN where its value is not real or does not exist."""
        mp = self.mp

        def call(*args: Any) -> Any:
            if any(mp.isnan(x) for x in args):
                return mp.nan
            try:
                value = definition(self, *args)
            except (ValueError, ZeroDivisionError, OverflowError, NotImplementedError):
                return mp.nan  # the last is mpmath's word for a point it cannot compute at
            return mp.nan if isinstance(value, mp.mpc) else mp.mpf(value)

        return call


@cache
def _reals() -> _Reals:
    from mpmath import mp  # only the verifier needs it

    return _Reals(mp)


@cache
def _truths() -> dict[str, Callable[..., Any]]:
    """Operations on and to truth values, and the choice between numbers."""
    mp = _reals().mp

    def truth(function: Callable[..., bool]) -> Callable[..., Any]:
        return lambda *args: bool(function(*args))

    return {
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
        "stop_gradient": lambda x: x,
    }


@lru_cache(maxsize=1024)
def _scalar(op: Op) -> Callable[..., Any]:
    """An elementwise operation on mpmath's reals."""
    found = _truths().get(op.name)
    if found is None and op.definition is not None:
        found = _reals().defined(op.definition)
    if found is None:
        raise Unsupported(op.name)
    return found


def _elementwise(op: Op, operands: Sequence[Any]) -> Any:
    function = _scalar(op)
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
    reals = _reals()
    mp = reals.mp

    def total(row: list[Any]) -> Any:
        return mp.nan if any(mp.isnan(v) for v in row) else sum(row, mp.mpf(0))

    def product(row: list[Any]) -> Any:
        value = mp.mpf(1)
        for each in row:
            value = reals.multiply(value, each)
        return value

    def extremum(pick: Callable[..., Any]) -> Callable[[list[Any]], Any]:
        return lambda row: mp.nan if any(mp.isnan(v) for v in row) else pick(row)

    def logsumexp(row: list[Any]) -> Any:
        if not row:
            return -mp.inf
        top = extremum(max)(row)
        if not mp.isfinite(top):
            return top
        return top + mp.log(total([reals.exp(v - top) for v in row]))

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
        shifted = np.asarray(x - level, dtype=object)
        return shifted if name == "log_softmax" else _elementwise(OPS["exp"], [shifted])
    raise Unsupported(name)


_REDUCTIONS = ("sum", "prod", "max", "min", "logsumexp", "softmax", "log_softmax")


def _contraction(x: Any, y: Any) -> Any:
    return np.matmul(x, y)


def _is_movement(node: Node) -> bool:
    """Whether numbers are only put elsewhere, with no zeros between and by no other operand."""
    traits = node.op.traits
    alike = len({each.dtype for each in node.operands}) == 1
    return traits.movement and traits.shift == 1 and alike


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
    if _is_movement(node):
        return np.asarray(node.op.kernel(NUMPY, *operands, **params), dtype=object)
    if name in _REDUCTIONS:
        return _reduction(name, operands[0], params)
    if name == "matmul":
        return _contraction(*operands)
    if params:
        raise Unsupported(name)
    return _elementwise(node.op, operands)


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
