"""Values of a graph modulo a prime: both sides of a ring identity, without rounding.

Sums, products, quotients and what moves elements about mean the same in every field. Two sides that
are equal as rational functions agree modulo a prime at every point where they are defined; two that
are not differ at a random one but for a chance of about their degree over the prime (Schwartz 1980,
Zippel 1979). So one draw decides, whatever the shapes, with no tolerance to hide behind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..ir.dims import resolve
from ..ir.node import Node, reachable
from ..namespace import NUMPY

__all__ = ["PRIME", "DividesByZero", "NoRingIdentity", "modular_values"]

PRIME = 2**31 - 1
"""A prime whose squares fit into int64."""

Residues = np.ndarray[Any, Any]

_LARGEST_POWER = 16
_SHORT = 2**10
"""Constants are multiples of its inverse: others are rounded, and what is made of them too."""


class NoRingIdentity(Exception):  # no error: the caller learns nothing
    """An operation means nothing modulo a prime."""


class DividesByZero(Exception):  # no error: the caller draws again
    """A denominator is 0 modulo the prime."""


def _inverse(x: Residues) -> Residues:
    """$x^{p-2}$, by Fermat."""
    if not np.all(x):
        raise DividesByZero
    result = np.ones_like(x)
    square, exponent = x, PRIME - 2
    while exponent:
        if exponent & 1:
            result = result * square % PRIME
        square = square * square % PRIME
        exponent >>= 1
    return result


_LARGEST = 2.0**20
"""Of a constant: beyond it the sum of two may have been rounded."""
_ELEMENTWISE: dict[str, Callable[..., Residues]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x * _inverse(y),
    "negative": lambda x: -x,
    "positive": lambda x: x,
    "reciprocal": _inverse,
    "square": lambda x: x * x,
    "stop_gradient": lambda x: x,
}


def _residues(value: Any) -> Residues:
    """Numbers, each a fraction, as residues."""
    large = np.asarray(value, dtype=np.float64)
    if not np.all(np.abs(large) <= _LARGEST) or np.any(large * _SHORT != np.rint(large * _SHORT)):
        raise NoRingIdentity

    def residue(number: Any) -> int:
        exact = Fraction(float(number))
        return exact.numerator * pow(exact.denominator, -1, PRIME) % PRIME

    return np.asarray(np.frompyfunc(residue, 1, 1)(value), dtype=np.int64)


def _power(x: Residues, exponent: Node) -> Residues:
    if not exponent.is_constant:
        raise NoRingIdentity
    wanted = np.unique(exponent.params["value"])
    if wanted.size != 1 or wanted[0] != int(wanted[0]) or abs(wanted[0]) > _LARGEST_POWER:
        raise NoRingIdentity
    result = np.ones_like(x)
    for _ in range(abs(int(wanted[0]))):
        result = result * x % PRIME
    shape = np.broadcast_shapes(x.shape, np.shape(exponent.params["value"]))
    return np.broadcast_to(_inverse(result) if wanted[0] < 0 else result, shape)


def _product(x: Residues, axis: Any, keepdims: bool) -> Residues:
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    result = x
    for each in sorted(axes):
        folded = np.ones_like(np.take(result, [], axis=each).sum(axis=each, keepdims=True))
        for i in range(result.shape[each]):
            folded = folded * np.take(result, [i], axis=each) % PRIME
        result = folded
    return result if keepdims else np.squeeze(result, axis=axes)


def _matmul(x: Residues, y: Residues) -> Residues:
    big = np.matmul(x.astype(object), y.astype(object))
    return np.asarray(np.asarray(big) % PRIME, dtype=np.int64)


def _is_movement(node: Node) -> bool:
    """Whether numbers are only put elsewhere, by no other operand."""
    return node.op.traits.movement and all(each.dtype.kind == "f" for each in node.operands)


def _value(node: Node, operands: Sequence[Residues], env: Mapping[str, int]) -> Residues:
    name = node.op.name
    params = {key: resolve(value, env) for key, value in node.params.items()}
    if name == "constant":
        return _residues(params["value"])
    if name == "dimension":
        return np.asarray(params["size"] % PRIME)
    if name == "cast" and {node.aval.dtype.kind, node.operands[0].aval.dtype.kind} == {"f"}:
        return operands[0]
    if _is_movement(node):
        return np.asarray(node.op.kernel(NUMPY, *operands, **params), dtype=np.int64)
    if name == "sum":
        kept = bool(params.get("keepdims"))
        return np.sum(operands[0], axis=params["axis"], keepdims=kept, dtype=np.int64)
    if name == "prod":
        return _product(operands[0], params["axis"], bool(params.get("keepdims")))
    if name == "matmul":
        return _matmul(*operands)
    if name == "power":
        return _power(operands[0], node.operands[1])
    if name in _ELEMENTWISE and not params:
        return _ELEMENTWISE[name](*operands)
    if name == "where":
        return np.where(operands[0] != 0, operands[1], operands[2])
    raise NoRingIdentity


def modular_values(
    outputs: Sequence[Node], given: Mapping[Node, Residues], env: Mapping[str, int]
) -> list[Residues]:
    """The outputs as arrays of residues.

    Parameters
    ----------
    outputs : sequence of Node
    given : mapping of Node to array of int64
        Residues for the inputs, from 0 to `PRIME` - 1; 0 and 1 for truth values.
    env : mapping
        Sizes of named dimensions.

    Raises
    ------
    NoRingIdentity
        If an operation means nothing modulo a prime.
    DividesByZero
        If something is divided by 0.
    """
    values: dict[Node, Residues] = {}
    for node in reachable(outputs):
        if node in given:
            values[node] = given[node]
        elif node.aval.dtype.kind == "f" or node.is_constant:
            values[node] = _value(node, [values[each] for each in node.operands], env) % PRIME
        else:
            raise NoRingIdentity
    return [values[output] for output in outputs]
