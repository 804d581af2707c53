"""Polynomials in one array, however they came about: in powers, by Horner's scheme, derived.

The derivative of a polynomial written by Horner's scheme (Knuth, TAOCP 2, 4.6.4) multiplies powers
by what is left of the polynomial at each step: its like terms stand in different values, together
too long for one region. Here they meet. Sums are not multiplied out: (x - 1)**7 has digits near 1
that its powers of x have not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple, TypeAlias

from ..dag import Node
from .heads import Heads
from .labels import canonical_term
from .leaves import repeated_number, stretched
from .term import Coef, Expr, coefficient, plus, quotient, times

__all__ = ["Polynomials"]

_HIGHEST = 24
"""Powers above this are left as they are written."""

Coefs: TypeAlias = Mapping[int, Coef]
"""By power."""


class Polynomial(NamedTuple):
    """Coefficients by power of an array; of a number, no array."""

    array: Node | None
    coefs: Coefs


class Polynomials:
    """What values are as polynomials, operands first."""

    def __init__(self, heads: Heads) -> None:
        self._heads = heads
        self._known: dict[Node, Polynomial] = {}

    def learn(self, node: Node) -> None:
        """Find what a value is, given its operands."""
        found = None
        with suppress(OverflowError):  # a number in it that no float is
            found = self._found(node)
        self._known[node] = found or Polynomial(node, {1: 1})

    def shorter(self, node: Node, count: int) -> tuple[Node, Coefs] | None:
        """The polynomial that a value is, if by Horner's scheme it takes fewer operations."""
        array, coefs = self._known[node]
        if array is None or array is node or len(coefs) < 2:
            return None
        return (array, coefs) if _operations(coefs) < count else None

    def written(self, array: Node, coefs: Coefs) -> Expr:
        """As a sum of powers of an array."""
        head = self._heads.leaf(array)
        idx = tuple(range(len(head.sizes)))
        return {
            canonical_term([(head, idx, power)] if power else [], {}): coef
            for power, coef in coefs.items()
        }

    def _found(self, node: Node) -> Polynomial | None:
        number = repeated_number(stretched(node))
        if number is not None:
            value = coefficient(number)
            return None if value is None else Polynomial(None, {0: value} if value else {})
        rule = _RULES.get(node.op.name)
        if rule is None or node.copy or node.dtype.kind != "f":
            return None
        operands = [self._known[each] for each in node.operands]
        arrays = {each.array for each in operands if each.array is not None}
        if len(arrays) != 1 or any(array.shape != node.shape for array in arrays):
            return None
        coefs = rule(*[each.coefs for each in operands])
        if coefs is None or max(coefs, default=0) > _HIGHEST:
            return None
        return Polynomial(arrays.pop(), coefs)


def _operations(coefs: Coefs) -> int:
    """Operations of Horner's scheme, powers in between taken as one."""
    powers = sorted(coefs)
    steps = [b - a for a, b in zip([0, *powers], powers, strict=False)]
    scaled = coefs[powers[-1]] not in (1, -1)
    return len(powers) - 1 + sum(1 + (step > 1) for step in steps if step) + scaled


def _sum(a: Coefs, b: Coefs) -> Coefs | None:
    total = dict(a)
    for power, coef in b.items():
        total[power] = plus(total[power], coef) if power in total else coef
    # x - x is not 0 where x is infinite: what cancels is for regions, which ask for facts.
    return None if 0 in total.values() else total


def _product(a: Coefs, b: Coefs) -> Coefs | None:
    if len(a) > 1 and len(b) > 1:
        return None
    return {i + j: times(c, d) for i, c in a.items() for j, d in b.items()}


def _negative(a: Coefs) -> Coefs:
    return {power: times(coef, -1) for power, coef in a.items()}


def _difference(a: Coefs, b: Coefs) -> Coefs | None:
    return _sum(a, _negative(b))


def _ratio(a: Coefs, b: Coefs) -> Coefs | None:
    if list(b) != [0]:
        return None
    return {power: quotient(coef, b[0]) for power, coef in a.items()}


def _power(a: Coefs, b: Coefs) -> Coefs | None:
    exponent = b.get(0)
    if list(b) != [0] or not isinstance(exponent, int) or not 0 < exponent <= _HIGHEST:
        return None
    found: Coefs | None = a
    for _ in range(exponent - 1):
        found = None if found is None else _product(found, a)
    return found


_RULES: Mapping[str, Callable[..., Coefs | None]] = {
    "add": _sum,
    "subtract": _difference,
    "negative": _negative,
    "multiply": _product,
    "divide": _ratio,
    "square": lambda a: _product(a, a),
    "power": _power,
}
