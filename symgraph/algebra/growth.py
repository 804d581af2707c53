"""How fast values grow with the exps they are made of: where a quotient or a product is NaN.

exp(x) / (1 + exp(x)**2) is a number until exp(x) overflows. Its derivative over the square of the
denominator, as it stands in books, is infinite by infinite from a quarter of that x on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import chain
from typing import TypeAlias

from ..facts import nonnegative
from ..nodes import Node
from ..propagation import Knowledge
from .leaves import repeated_number

__all__ = ["Growth"]

Degrees: TypeAlias = Mapping[tuple[Node, int], float]
"""Of each array x and sign of it: the d for which the value goes as exp(d |x|) there."""

_FLAT: Degrees = {}

_MANY = 8
"""Arrays in exps up to which a value's growth is followed."""

_KEPT = frozenset({"negative", "reshape", "broadcast_to", "transpose", "getitem", "sum"})

_PRODUCTS = frozenset({"multiply", "matmul", "einsum"})

_SUMS = frozenset({"add", "subtract", "concatenate", "where", "maximum"})


class Growth:
    """The degrees of values, and from which degree on they are NaN."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self._degrees: dict[Node, Degrees] = {}
        self._risks: dict[Node, float] = {}

    def risk(self, node: Node) -> float:
        """The least degree of what meets in an inf / inf, 0 / 0 or inf * 0, the node's or below.

        The larger it is, the smaller are the arguments of exps from which the node is NaN; it is 0
        where nothing of this kind meets.
        """
        risks = self._risks
        stack = [node]
        while stack:
            top = stack[-1]
            if top in risks:
                stack.pop()
                continue
            missing = [each for each in top.operands if each not in risks]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            self._degrees[top] = degrees = self._degrees_of(top)
            risks[top] = max(map(risks.__getitem__, top.operands), default=0)
            if degrees is not _FLAT or any(map(self._degrees.__getitem__, top.operands)):
                risks[top] = max(risks[top], self._risk_at(top))
        return risks[node]

    def _risk_at(self, node: Node) -> float:
        name = node.op.name
        if name != "divide" and (name not in _PRODUCTS or len(node.operands) != 2):
            return 0
        left, right = (self._degrees[each] for each in node.operands)
        sign = 1 if name == "divide" else -1
        common = [(left[key], sign * right[key]) for key in left if key in right]
        return max((max(min(a, b), min(-a, -b)) for a, b in common), default=0)

    def _degrees_of(self, node: Node) -> Degrees:
        name = node.op.name
        if name in ("exp", "expm1", "sinh", "cosh"):
            return self._of_exp(node)
        below = [self._degrees[each] for each in node.operands]
        if not any(below):
            return _FLAT
        found = _combined(node, below)
        return found if len(found) <= _MANY else _FLAT

    def _of_exp(self, node: Node) -> Degrees:
        (argument,) = node.operands
        factor = 1.0
        while (multiple := _multiple(argument)) is not None:
            argument, each = multiple
            factor *= each
        if node.op.name in ("sinh", "cosh"):
            return {(argument, 1): abs(factor), (argument, -1): abs(factor)}
        least = 0 if node.op.name == "expm1" else -abs(factor)
        degrees = {(argument, 1): max(factor, least)}
        if not self.knowledge.of(argument).has(nonnegative):
            degrees[argument, -1] = max(-factor, least)
        return degrees


def _combined(node: Node, below: list[Degrees]) -> Degrees:
    name = node.op.name
    if name in _KEPT:
        return below[0]
    if name in _PRODUCTS:
        return _product([(each, 1) for each in below])
    if name == "divide":
        return _product([(below[0], 1), (below[1], -1)])
    if name in _SUMS:
        return _largest(below)
    exponent = _exponent(node)
    return _FLAT if exponent is None else _product([(below[0], exponent)])


def _exponent(node: Node) -> float | None:
    """The number that the first operand is raised to."""
    if node.op.name == "power":
        number = repeated_number(node.operands[1])
        return None if number is None else float(number)
    return {"square": 2.0, "sqrt": 0.5, "reciprocal": -1.0}.get(node.op.name)


def _product(degrees: list[tuple[Degrees, float]]) -> Degrees:
    found: dict[tuple[Node, int], float] = defaultdict(float)
    for each, times in degrees:
        for key, degree in each.items():
            found[key] += times * degree
    return dict(found)


def _largest(degrees: list[Degrees]) -> Degrees:
    """Of a sum: a term without the array is 1 there."""
    keys = dict.fromkeys(chain.from_iterable(degrees))
    return {key: max(each.get(key, 0) for each in degrees) for key in keys}


def _multiple(node: Node) -> tuple[Node, float] | None:
    """The array and the number, of a multiple."""
    if node.op.name == "negative":
        return node.operands[0], -1.0
    if node.op.name == "divide":
        number = repeated_number(node.operands[1])
        return (node.operands[0], 1 / float(number)) if number else None
    if node.op.name == "multiply":
        for one, other in (node.operands, node.operands[::-1]):
            number = repeated_number(one)
            if number:
                return other, float(number)
    return None
