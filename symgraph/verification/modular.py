"""Values of a graph modulo a prime: they check a ring identity without rounding.

Sums, products, quotients and the movement of elements mean the same in every field. Two sides that
are equal as rational functions agree modulo a prime at every point where they are defined. Two that
differ agree at a random point with a probability of about their degree over the prime (Schwartz
1980, Zippel 1979). So one draw decides, for any shape, and needs no tolerance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..ir.dims import resolve
from ..ir.node import Node
from ..ir.traits import Arrangement
from ..ir.walks import reachable
from ..namespace import NUMPY
from ..ops.carrying import carries_reduced
from ..ops.creation import DIMENSION

__all__ = ["PRIME", "DividesByZero", "NoRingIdentity", "modular_values"]

PRIME = 2**31 - 1
"""A prime whose squares fit into int64."""

Numbers: TypeAlias = np.ndarray[Any, Any]
Residues: TypeAlias = np.ndarray[Any, Any]
Operand: TypeAlias = "_Number | Numbers | float"

_LARGEST_POWER = 16
_SHORT = 2**10
"""Constants must be multiples of its inverse: others are rounded, and so are values from them."""
_LARGEST = 2.0**20
"""The largest constant: the sum of two larger ones may have been rounded."""


class NoRingIdentity(Exception):  # no error: the caller learns nothing
    """An operation means nothing modulo a prime."""


class DividesByZero(Exception):  # no error: the caller compares nothing at this point
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


def _residues(value: ArrayLike) -> Residues:
    """The residues of numbers; each is a fraction.

    Raises
    ------
    NoRingIdentity
        If a number is too large, or has too many binary places, to be exact.
    """
    large = np.asarray(value, dtype=np.float64)
    if not np.all(np.abs(large) <= _LARGEST) or np.any(large * _SHORT != np.rint(large * _SHORT)):
        raise NoRingIdentity

    def residue(number: float) -> int:
        exact = Fraction(float(number))
        return exact.numerator * pow(exact.denominator, -1, PRIME) % PRIME

    return np.asarray(np.frompyfunc(residue, 1, 1)(value), dtype=np.int64)


class _Number:
    """An array of residues that can be added and multiplied; every other operation is refused.

    Parameters
    ----------
    residues : array of int64
    exact : array, optional
        The numbers themselves, if they are a constant.
    """

    def __init__(self, residues: Residues, exact: Numbers | None = None) -> None:
        self.residues = residues % PRIME
        self.exact = exact

    def __add__(self, other: Operand) -> _Number:
        return _Number(self.residues + _number(other).residues)

    def __sub__(self, other: Operand) -> _Number:
        return _Number(self.residues - _number(other).residues)

    def __rsub__(self, other: Operand) -> _Number:
        return _number(other) - self

    def __mul__(self, other: Operand) -> _Number:
        return _Number(self.residues * _number(other).residues)

    def __neg__(self) -> _Number:
        return _Number(-self.residues)

    __radd__ = __add__
    __rmul__ = __mul__


def _number(value: Operand) -> _Number:
    return value if isinstance(value, _Number) else _Number(_residues(value))


class _Field:
    """Residues' functions for the definitions of operations: a field's, and no others."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python asks for names such as `__wrapped__`
            raise AttributeError(name)
        raise NoRingIdentity(name)

    def multiply(self, x: Operand, y: Operand) -> _Number:
        return _number(x) * y

    def divide(self, x: Operand, y: Operand) -> _Number:
        return _number(x) * _Number(_inverse(_number(y).residues))

    def power(self, x: Operand, y: Operand) -> _Number:
        exponent = _number(y).exact
        if exponent is None:
            raise NoRingIdentity
        return _Number(_power(_number(x).residues, exponent))

    def where(self, condition: _Number, x: _Number, y: _Number) -> _Number:
        return _Number(np.where(condition.residues != 0, x.residues, y.residues))

    def total(self, row: list[_Number]) -> Any:
        return sum(row, _number(0))

    def product(self, row: list[_Number]) -> Any:
        return prod(row, start=_number(1))

    def matmul(self, x: _Number, y: _Number) -> _Number:
        big = np.matmul(x.residues.astype(object), y.residues.astype(object))
        return _Number(np.asarray(np.asarray(big) % PRIME, dtype=np.int64))


def _power(x: Residues, exponent: Numbers) -> Residues:
    wanted = np.unique(exponent)
    if wanted.size != 1 or wanted[0] != int(wanted[0]) or abs(wanted[0]) > _LARGEST_POWER:
        raise NoRingIdentity
    result = np.ones_like(x)
    for _ in range(abs(int(wanted[0]))):
        result = result * x % PRIME
    shape = np.broadcast_shapes(x.shape, np.shape(exponent))
    return np.broadcast_to(_inverse(result) if wanted[0] < 0 else result, shape)


def _reduced(node: Node, x: Residues, params: Mapping[str, Any]) -> Residues:
    """Apply the definition of a reduction along `axis`, to whole slices of the array."""
    axis = (params["axis"],) if isinstance(params["axis"], int) else tuple(params["axis"])
    kept = tuple(1 if i in axis else x.shape[i] for i in range(-x.ndim, 0))
    rest = [i + x.ndim for i in range(-x.ndim, 0) if i not in axis]
    moved = np.transpose(x, [*[i + x.ndim for i in axis], *rest])
    lead = tuple(x.shape[i] for i in rest)
    rows = moved.reshape((int(np.prod([x.shape[i] for i in axis], dtype=int)), *lead))
    found = _defined(node, [[_Number(each) for each in rows]])
    shape = kept if params.get("keepdims") else lead
    return np.broadcast_to(found.residues.reshape(-1), (int(np.prod(lead, dtype=int)),)).reshape(
        shape
    )


def _defined(node: Node, operands: Sequence[Any]) -> _Number:
    if node.op.definition is None:
        raise NoRingIdentity
    try:
        return _number(node.op.definition(_FIELD, *operands))
    except TypeError:  # the definition compares numbers, or takes a root
        raise NoRingIdentity from None


_FIELD = _Field()


def _is_movement(node: Node) -> bool:
    """Whether the operation only moves elements, with no index operand."""
    return node.op.traits.movement and all(each.dtype.kind == "f" for each in node.operands)


def _value(node: Node, operands: Sequence[Residues], env: Mapping[str, int]) -> Residues:
    params = {key: resolve(value, env) for key, value in node.params.items()}
    if node.is_constant:
        return _residues(params["value"])
    if node.op is DIMENSION:
        return np.asarray(params["size"] % PRIME)
    if node.op.traits.arrangement is Arrangement.CONVERTED:
        if {node.aval.dtype.kind, node.operands[0].aval.dtype.kind} == {"f"}:
            return operands[0]
        raise NoRingIdentity
    if _is_movement(node):
        return np.asarray(node.op.kernel(NUMPY, *operands, **params), dtype=np.int64)
    if node.op.carries is carries_reduced:
        return _reduced(node, operands[0], params)
    if params:
        raise NoRingIdentity
    given = [
        _Number(value, each.params["value"] if each.is_constant else None)
        for value, each in zip(operands, node.operands, strict=True)
    ]
    return _defined(node, given).residues


def modular_values(
    outputs: Sequence[Node], given: Mapping[Node, Residues], env: Mapping[str, int]
) -> list[Residues]:
    """The values of the outputs as arrays of residues.

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
        If a denominator is 0 modulo the prime.
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
