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
from ..ir.op import Op, carries_aligned
from ..ir.traits import Arrangement
from ..namespace import NUMPY
from ..ops.carrying import carries_off_axis, carries_reduced
from ..ops.creation import DIMENSION
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
        found = getattr(self.mp, name, None)
        if found is None:
            raise Unsupported(name)
        return found

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

    def absolute(self, x: Any) -> Any:
        return abs(x)

    def maximum(self, x: Any, y: Any) -> Any:
        return max(x, y)

    def minimum(self, x: Any, y: Any) -> Any:
        return min(x, y)

    # -- truth, and the choice between numbers ---------------------------------------------------
    def less(self, x: Any, y: Any) -> bool:
        return bool(x < y)

    def less_equal(self, x: Any, y: Any) -> bool:
        return bool(x <= y)

    def greater(self, x: Any, y: Any) -> bool:
        return bool(x > y)

    def greater_equal(self, x: Any, y: Any) -> bool:
        return bool(x >= y)

    def equal(self, x: Any, y: Any) -> bool:
        return bool(x == y)

    def not_equal(self, x: Any, y: Any) -> bool:
        return bool(x != y)

    def logical_not(self, x: Any) -> bool:
        return not x

    def logical_and(self, x: Any, y: Any) -> bool:
        return bool(x) and bool(y)

    def logical_or(self, x: Any, y: Any) -> bool:
        return bool(x) or bool(y)

    def logical_xor(self, x: Any, y: Any) -> bool:
        return bool(x) != bool(y)

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        return x if condition else y

    # -- rows of numbers -------------------------------------------------------------------------
    def total(self, row: list[Any]) -> Any:
        return self.mp.nan if self._has_nan(row) else sum(row, self.mp.mpf(0))

    def product(self, row: list[Any]) -> Any:
        value = self.mp.mpf(1)
        for each in row:
            value = self.multiply(value, each)
        return value

    def largest(self, row: list[Any]) -> Any:
        return self.mp.nan if self._has_nan(row) else max(row)

    def least(self, row: list[Any]) -> Any:
        return self.mp.nan if self._has_nan(row) else min(row)

    def logsumexp(self, row: list[Any]) -> Any:
        if not row:
            return -self.mp.inf
        top = self.largest(row)
        if not self.mp.isfinite(top):
            return top
        return top + self.mp.log(self.total([self.exp(v - top) for v in row]))

    def _has_nan(self, row: list[Any]) -> bool:
        return any(self.mp.isnan(v) for v in row)

    def matmul(self, x: Any, y: Any) -> Any:
        return np.matmul(x, y)

    def defined(self, op: Op) -> Callable[..., Any]:
        """An operation's definition on reals; NaN where its value is not real or does not exist."""
        mp, definition = self.mp, _definition(op)

        def call(*args: Any) -> Any:
            blind = op.traits.blind_in(len(args))
            if any(mp.isnan(x) for i, x in enumerate(args) if i not in blind):
                return mp.nan
            try:
                value = definition(self, *args)
            except (ValueError, ZeroDivisionError, OverflowError, NotImplementedError):
                return mp.nan  # the last is mpmath's word for a point it cannot compute at
            if isinstance(value, bool):
                return value
            return mp.nan if isinstance(value, mp.mpc) else mp.mpf(value)

        return call


def _definition(op: Op) -> Callable[..., Any]:
    if op.definition is None:
        raise Unsupported(op.name)
    return op.definition


@cache
def _reals() -> _Reals:
    from mpmath import mp  # only the verifier needs it

    return _Reals(mp)


@lru_cache(maxsize=1024)
def _scalar(op: Op) -> Callable[..., Any]:
    """An elementwise operation on mpmath's reals."""
    return _reals().defined(op)


def _elementwise(op: Op, operands: Sequence[Any]) -> Any:
    function = _scalar(op)
    return np.asarray(np.frompyfunc(function, len(operands), 1)(*operands), dtype=object)


def _along(op: Op, x: Any, params: Mapping[str, Any]) -> Any:
    """The definition of a reduction, or of what keeps to rows, on all elements along `axis`."""
    definition, reals = _definition(op), _reals()
    axis = (params["axis"],) if isinstance(params["axis"], int) else tuple(params["axis"])
    rest = [i for i in range(-x.ndim, 0) if i not in axis]
    order = [i + x.ndim for i in (*rest, *axis)]
    moved = np.transpose(x, order)
    lead, row = moved.shape[: len(rest)], moved.shape[len(rest) :]
    size = int(np.prod(row, dtype=int))
    rows = [list(each) for each in moved.reshape((int(np.prod(lead, dtype=int)), size))]
    if op.carries is carries_reduced:
        result = np.empty(len(rows), dtype=object)
        result[:] = [definition(reals, each) for each in rows]
        kept = tuple(1 if i in axis else x.shape[i] for i in range(-x.ndim, 0))
        return result.reshape(kept if params.get("keepdims") else lead)
    result = np.empty((len(rows), size), dtype=object)
    for place, each in enumerate(rows):
        result[place] = definition(reals, each)
    return np.transpose(result.reshape(moved.shape), np.argsort(order))


def _is_movement(node: Node) -> bool:
    """Whether numbers are only put elsewhere, with no zeros between and by no other operand."""
    traits = node.op.traits
    alike = len({each.dtype for each in node.operands}) == 1
    return traits.movement and traits.shift == 1 and alike


def _value(node: Node, operands: Sequence[Any], env: Mapping[str, int], flat: bool) -> Any:
    op = node.op
    params = {key: resolve(value, env) for key, value in node.params.items()}
    if node.is_constant:
        uniform = uniform_value(node)
        return _as_objects(params["value"] if uniform is None or not flat else uniform)
    if op is DIMENSION:
        return _as_objects(np.asarray(params["size"]))
    if op.traits.arrangement is Arrangement.CONVERTED:
        source = node.operands[0].aval.dtype.kind
        if node.aval.dtype.kind == "f" and source in "fiub":
            return _as_numbers(operands[0])
        raise Unsupported("cast to integers")
    if _is_movement(node):
        return np.asarray(op.kernel(NUMPY, *operands, **params), dtype=object)
    if op.carries in (carries_reduced, carries_off_axis):
        return _along(op, operands[0], params)
    if params:
        raise Unsupported(op.name)
    if op.carries is carries_aligned:
        return _elementwise(op, operands)
    return _definition(op)(_reals(), *operands)


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
