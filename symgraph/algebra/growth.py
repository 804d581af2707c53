"""How fast values grow with the exps they are made of: where a quotient or a product is NaN.

exp(x) / (1 + exp(x)**2) is a number until exp(x) overflows. Its derivative over the square of the
denominator, as it stands in books, is infinite by infinite from a third of that x on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import reduce
from itertools import chain
from typing import NamedTuple, TypeAlias

from ..facts import nonnegative
from ..nodes import Node
from ..propagation import Knowledge
from .leaves import repeated_number

__all__ = ["Growth"]


class Rate(NamedTuple):
    """That a value goes as exp(degree |x|), and when that of exp(d |x|) makes it inf or 0.

    exp(x)**2 / exp(x) has degree 1, and is infinite where exp(2 x) is.
    """

    degree: float = 0
    infinite: float = 0
    zero: float = 0

    def times(self, other: Rate) -> Rate:
        degree = self.degree + other.degree
        infinite = max(self.infinite, other.infinite, degree)
        return Rate(degree, infinite, max(self.zero, other.zero, -degree))

    def raised(self, exponent: float) -> Rate:
        degree = self.degree * exponent
        ends = (self.infinite, self.zero) if exponent > 0 else (self.zero, self.infinite)
        return Rate(degree, max(ends[0], degree), max(ends[1], -degree))

    def plus(self, other: Rate) -> Rate:
        return Rate(
            max(self.degree, other.degree),
            max(self.infinite, other.infinite),
            min(self.zero, other.zero),
        )

    def risk_with(self, other: Rate) -> float:
        """From which degree on the product of the two is inf * 0."""
        return max(min(self.infinite, other.zero), min(self.zero, other.infinite))


Rates: TypeAlias = Mapping[tuple[Node, int], Rate]
"""Of each array x inside of exps, and each sign of it."""

_FLAT: Rates = {}

_ONE = Rate()

_MANY = 8
"""Arrays in exps up to which a value's growth is followed."""

_EXPS = frozenset({"exp", "expm1", "sinh", "cosh"})

_KEPT = frozenset({"negative", "reshape", "broadcast_to", "transpose", "getitem", "sum"})

_PRODUCTS = frozenset({"multiply", "matmul", "einsum"})

_SUMS = frozenset({"add", "subtract", "concatenate", "where", "maximum"})


class Growth:
    """The rates of values, and from which degree on they are NaN."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self._rates: dict[Node, Rates] = {}  # of what grows at all
        self._risks: dict[Node, float] = {}

    def risk(self, node: Node) -> float:
        """The largest d for which the node, or one below, is NaN where exp(d x) overflows.

        There an inf / inf, 0 / 0 or inf * 0 is met. It is 0 where nothing of this kind is.
        """
        risks, rates = self._risks, self._rates
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
            risk, grows = 0.0, top.op.name in _EXPS
            for each in top.operands:
                risk = max(risk, risks[each])
                grows = grows or each in rates
            risks[top] = max(risk, self._learn(top)) if grows else risk
        return risks[node]

    def _learn(self, node: Node) -> float:
        """Find the rates of a node some operand of which grows; its risk, the operands' apart."""
        below = [self._rates.get(each, _FLAT) for each in node.operands]
        risk = 0.0
        if node.op.name in _EXPS:
            found = self._of_exp(node)
        elif node.op.name in _PRODUCTS:
            found, risk = _product(below)
        elif node.op.name == "divide":
            found, risk = _product([below[0], _raised(below[1], -1)])
        else:
            found = _combined(node, below)
        if found and len(found) <= _MANY:
            self._rates[node] = found
        return risk

    def _of_exp(self, node: Node) -> Rates:
        terms = _terms(node.operands[0])
        if node.op.name in ("sinh", "cosh"):
            rates = {x: Rate(abs(factor), abs(factor)) for x, factor in terms.items()}
            return {(x, sign): rate for x, rate in rates.items() for sign in (1, -1)}
        found: dict[tuple[Node, int], Rate] = {}
        for x, factor in terms.items():
            size = abs(factor)
            rising = Rate(size, size)
            falling = Rate() if node.op.name == "expm1" else Rate(-size, zero=size)
            up, down = (rising, falling) if factor > 0 else (falling, rising)
            found[x, 1] = up
            if not self.knowledge.of(x).has(nonnegative):
                found[x, -1] = down
        return found


def _combined(node: Node, below: list[Rates]) -> Rates:
    name = node.op.name
    if name in _KEPT:
        return below[0]
    if name in _SUMS:
        keys = dict.fromkeys(chain.from_iterable(below))
        return {key: reduce(Rate.plus, [each.get(key, _ONE) for each in below]) for key in keys}
    exponent = _exponent(node)
    return _raised(below[0], exponent) if exponent else _FLAT


def _raised(rates: Rates, exponent: float) -> Rates:
    return {key: rate.raised(exponent) for key, rate in rates.items()}


def _product(factors: list[Rates]) -> tuple[Rates, float]:
    """The rates of the product, and the degree from which on that of two of them is inf * 0."""
    grown = [each for each in factors if each]
    if len(grown) == 1:
        return grown[0], 0.0
    found: dict[tuple[Node, int], Rate] = {}
    risk = 0.0
    for factor in grown:
        for key, rate in factor.items():
            other = found.get(key)
            if other is not None and len(factors) == 2:
                risk = max(risk, other.risk_with(rate))
            found[key] = rate if other is None else other.times(rate)
    return found, risk


def _exponent(node: Node) -> float | None:
    """The number that the first operand is raised to."""
    if node.op.name == "power":
        number = repeated_number(node.operands[1])
        return None if number is None else float(number)
    return {"square": 2.0, "sqrt": 0.5, "reciprocal": -1.0}.get(node.op.name)


def _terms(node: Node) -> dict[Node, float]:
    """A value as multiples of arrays; of itself alone where they would be many."""
    terms: dict[Node, float] = defaultdict(float)
    todo = [(node, 1.0)]
    while todo:
        if len(todo) + len(terms) > _MANY:
            return {node: 1.0}
        each, factor = todo.pop()
        name = each.op.name
        if name in ("add", "subtract"):
            left, right = each.operands
            todo += [(left, factor), (right, factor if name == "add" else -factor)]
        elif (multiple := _multiple(each)) is not None:
            todo.append((multiple[0], factor * multiple[1]))
        elif not each.is_constant:
            terms[each.operands[0] if name == "broadcast_to" else each] += factor
    return {each: factor for each, factor in terms.items() if factor}


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
