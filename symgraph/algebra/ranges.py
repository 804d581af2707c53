"""Whether numbers leave the arrays they keep in range.

Of (x / 1000)**2 and x**2 / 1000000 the first is finite where x**2 overflows. Each value of a region
is followed as a sum of monomials in the arrays below; where a monomial of degree above 1 has a
number before it that lies far from those it has in the other spelling, range may be lost.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import inf, log2
from typing import NamedTuple, TypeAlias

import numpy as np

from ..dims import Dim
from ..nodes import Node
from .leaves import repeated_number, stretched

__all__ = ["narrows"]

_LARGER = 5.0
"""Powers of 2, for each degree, by which the number before a product may grow.

Arrays may be 32 times smaller than before a square of them overflows that did not."""

_SMALLER = 10.0
"""And by which it may fall: what is lost near 0 is seldom missed beside what else there is."""

_MOST = 12
"""A value of more monomials is taken as an array of its own."""

_LARGEST = 200
"""So many values are looked at."""

_SUMS = frozenset({"add", "subtract"})
_PRODUCTS = frozenset({"multiply", "matmul", "einsum"})
_ALIKE = frozenset({"negative", "sum", "reshape", "transpose", "broadcast_to"})
_POWERS = {"square": 2.0, "sqrt": 0.5, "reciprocal": -1.0}


class Reach(NamedTuple):
    """The least and largest power of 2 before a monomial."""

    low: float
    high: float


Degrees: TypeAlias = frozenset[tuple[Node, float]]
Monomials: TypeAlias = Mapping[Degrees, Reach]

_NUMBER: Degrees = frozenset()


def narrows(new: Node, old: Node, arrays: Collection[Node]) -> bool:
    """Whether `new` takes products of numbers far larger or smaller than any that `old` takes.

    Parameters
    ----------
    new, old : Node
        Two spellings of one value.
    arrays : collection of Node
        What both are written over.
    """
    values: dict[Node, Monomials] = {}
    before = _products_in(old, arrays, values)
    sizes = [abs(size) for found in values.values() for reach in found.values() for size in reach]
    if max(sizes, default=0.0) <= _LARGER:
        return False
    known: dict[Degrees, list[tuple[float, Reach]]] = {}
    for degrees, reach in before.items():
        degree = _degree(degrees)
        known.setdefault(_direction(degrees), []).append((degree, reach))
    after = _products_in(new, arrays, values)
    most = float(np.finfo(new.dtype).maxexp) if new.dtype.kind == "f" else inf
    lengths = {_length(node) for node in values}
    for degrees, (low, high) in after.items():
        degree = _degree(degrees)
        # Before a product that is not there, a number near 1 is as good as any.
        fresh = [(degree, Reach(0.0, 0.0))] if degrees not in before else []
        others = [*known.get(_direction(degrees), ()), *fresh]
        # How far the spelling there is falls short of the limit where this product reaches it.
        short = min(most - (at.high + by * (most - high) / degree) for by, at in others)
        above = min(most + (at.low - by * (most + low) / degree) for by, at in others)
        if above > _SMALLER * degree:
            return True
        if short > _LARGER * degree and not any(_is_mean(short, each) for each in lengths):
            return True
    return False


def _is_mean(short: float, length: float) -> bool:
    """Whether it is by 1 / n, 2 / n or the like: a mean may be divided when it is summed."""
    return abs(short - length) < 2.5 and abs(short - length - round(short - length)) < 1e-9


def _length(node: Node) -> float:
    """The power of 2 that is the number of elements each element of the result is summed over."""
    over: Sequence[Dim] = ()
    match node.op.name:
        case "sum":
            over = [node.operands[0].shape[axis] for axis in node.params["axis"]]
        case "matmul":
            over = node.operands[0].shape[-1:]
        case "einsum":
            left, _, right = node.params["subscripts"].partition("->")
            dims = zip(left.split(","), node.operands, strict=True)
            sizes = dict(pair for term, each in dims for pair in zip(term, each.shape, strict=True))
            over = [size for letter, size in sizes.items() if letter not in right]
        case _:
            pass
    return sum([log2(dim) for dim in over if isinstance(dim, int) and dim > 0])


def _products_in(root: Node, arrays: Collection[Node], values: dict[Node, Monomials]) -> Monomials:
    """The monomials of degree above 1 in all values on the way from the arrays to the root.

    Those of each value are added to `values`.
    """
    met: dict[Degrees, Reach] = {}
    for node, powers in _followed(root, arrays):
        found = values.get(node)
        if found is None:
            operands = [values[each] for each in node.operands[: len(powers)]]
            found = values[node] = _value(node, operands, powers)
        met = _joined(met, {degrees: found[degrees] for degrees in found if _degree(degrees) > 1})
    return met


def _followed(root: Node, arrays: Collection[Node]) -> list[tuple[Node, Sequence[float]]]:
    """The values from the arrays to the root, operands first, with the powers of their operands.

    A region is not large, but what cancels in it may be.
    """
    found: dict[Node, Sequence[float]] = {}
    queue = [root]
    for node in queue:
        if node not in found:
            follow = node not in arrays and len(found) < _LARGEST
            found[node] = _exponents(node) if follow else ()
            queue.extend(node.operands[: len(found[node])])
    return sorted(found.items(), key=lambda each: each[0].serial)


def _degree(degrees: Degrees) -> float:
    return sum([abs(power) for _, power in degrees])


def _direction(degrees: Degrees) -> Degrees:
    """The same for a monomial and its powers."""
    degree = _degree(degrees)
    return frozenset([(node, power / degree) for node, power in degrees])


def _exponents(node: Node) -> Sequence[float]:
    """The power that each operand has in the value; () of an operation that is not followed."""
    name = node.op.name
    if name in _SUMS or name in _PRODUCTS or name in _ALIKE:
        return (1.0,) * len(node.operands)
    if name == "divide":
        return (1.0, -1.0)
    if name == "power":
        exponent = repeated_number(stretched(node.operands[1]))
        return () if exponent is None else (float(exponent),)
    return (_POWERS[name],) if name in _POWERS else ()


def _value(node: Node, operands: Sequence[Monomials], powers: Sequence[float]) -> Monomials:
    if not powers:
        return _array(node)
    if node.op.name in _SUMS:
        found = _joined(*operands)
        if len(found) > 1 and _NUMBER in found:
            # Of 1e-5 + x the size is that of x: no product of the number alone comes of it.
            found[_NUMBER] = Reach(0.0, 0.0)
    else:
        found = {_NUMBER: Reach(*[_length(node)] * 2)}
        for operand, power in zip(operands, powers, strict=True):
            # A sum to a power is as large as the largest of its terms to that power.
            found = _times(found, {_raised(d, power): _scaled(operand[d], power) for d in operand})
    return found if len(found) <= _MOST else _array(node)


def _array(node: Node) -> Monomials:
    """A number, or a value that nothing is known of."""
    number = repeated_number(node)
    if number is None or number.dtype.kind not in "iuf":
        return {frozenset({(node, 1.0)}): Reach(0.0, 0.0)}
    size = abs(float(number))
    return {_NUMBER: Reach(log2(size), log2(size))} if 0 < size < inf else {}


def _raised(degrees: Degrees, by: float) -> Degrees:
    return frozenset((node, power * by) for node, power in degrees)


def _scaled(reach: Reach, by: float) -> Reach:
    low, high = reach.low * by, reach.high * by
    return Reach(min(low, high), max(low, high))


def _times(a: Monomials, b: Monomials) -> Monomials:
    parts: list[Monomials] = []
    for one, reach in a.items():
        for other, by in b.items():
            powers = dict(one)
            for node, power in other:
                powers[node] = powers.get(node, 0.0) + power
            degrees = frozenset((node, power) for node, power in powers.items() if power)
            parts.append({degrees: Reach(reach.low + by.low, reach.high + by.high)})
    return _joined(*parts)


def _joined(*parts: Monomials) -> dict[Degrees, Reach]:
    """The monomials of all, each as far as it reaches in any."""
    found: dict[Degrees, Reach] = {}
    for part in parts:
        for degrees, reach in part.items():
            low, high = found.get(degrees, reach)
            found[degrees] = Reach(min(low, reach.low), max(high, reach.high))
    return found
