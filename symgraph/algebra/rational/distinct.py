"""Which of two values is the larger one: of one increasing function, the arguments tell.

sigmoid(t - a) and sigmoid(t - b) differ if a and b do, whatever t is. In x - y terms that both have
go, and bounds of the others tell its sign. A factor or divisor that all terms of x - y have goes as
well, if its sign is known: (t - a) / s and (t - b) / s are as t - a and t - b for s > 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from ...facts import negative, positive
from ...ir.fact_inference import Knowledge
from ...ir.node import Node
from ...ir.op import Op
from ...ir.traits import Angle
from ...ops.elementwise import divide, multiply

__all__ = ["order"]

_TANH = Angle("tangent", -1)
_MOST_TERMS = 8
_MARGIN = 1e-12


def order(x: Node, y: Node, knowledge: Knowledge) -> int:
    """1 if x > y wherever both are numbers, -1 if x < y, 0 if neither is known."""
    while x.op is y.op and _is_increasing(x.op) and not (x.copy or y.copy):
        (x,), (y,) = x.operands, y.operands
    terms, sign = _sum({x: 1, y: -1}), 1
    while (inner := _without_scale(terms, knowledge)) is not None:
        terms, sign = _sum(inner[0]), sign * inner[1]
    low, high = _bounds(terms, knowledge)
    above = low > 0 or _are_positive(terms, knowledge)
    below = high < 0 or _are_positive({node: -coef for node, coef in terms.items()}, knowledge)
    return sign * (above - below)


def _is_increasing(op: Op) -> bool:
    """Whether it is an exponential, a logarithm of one, a sigmoid, or a hyperbolic tangent."""
    traits = op.traits
    of_exp = traits.exponential_sum
    return (
        traits.exponential is not None
        or (of_exp is not None and not of_exp.over_axis)
        or traits.angle == _TANH
    )


def _terms(top: Node) -> dict[Node, int]:
    """The terms of a sum with their signs; a value that is no sum is one term."""
    found: dict[Node, int] = {}
    stack = [(top, 1)]
    while stack:
        node, sign = stack.pop()
        signs = node.op.traits.combination
        if signs and set(signs) <= {1, -1} and len(found) < _MOST_TERMS:
            stack += [(each, sign * by) for each, by in zip(node.operands, signs, strict=True)]
        else:
            found[node] = found.get(node, 0) + sign
    return found


def _sum(parts: Mapping[Node, int]) -> dict[Node, int]:
    """The terms of a sum of multiples, each of which may be a sum."""
    found: dict[Node, int] = {}
    for part, by in parts.items():
        for node, coef in _terms(part).items():
            found[node] = found.get(node, 0) + by * coef
    return {node: coef for node, coef in found.items() if coef}


def _without_scale(
    terms: Mapping[Node, int], knowledge: Knowledge
) -> tuple[dict[Node, int], int] | None:
    """The terms without a factor or divisor that all have, and its sign; None if they have none."""
    first = next(iter(terms), None)
    if first is None or first.op not in (multiply.op, divide.op):
        return None
    for scale in first.operands[1:] if first.op is divide.op else first.operands:
        known = knowledge.of(scale)
        if not (known.has(positive) or known.has(negative)):
            continue
        inner: dict[Node, int] = {}
        for node, coef in terms.items():
            part = _over(node, scale) if node.op is first.op and not node.copy else None
            if part is None:
                return None
            inner[part] = inner.get(part, 0) + coef
        return inner, 1 if known.has(positive) else -1
    return None


def _over(node: Node, scale: Node) -> Node | None:
    """A product without this factor, or a quotient without this divisor; None if it has none."""
    x, y = node.operands
    if y is scale:
        return x
    return y if x is scale and node.op is multiply.op else None


def _are_positive(terms: Mapping[Node, int], knowledge: Knowledge) -> bool:
    """Whether there are terms, and each of them is positive."""
    return bool(terms) and all(
        knowledge.of(node).has(positive if coef > 0 else negative) for node, coef in terms.items()
    )


def _bounds(terms: Mapping[Node, int], knowledge: Knowledge) -> tuple[float, float]:
    low = high = 0.0
    for node, coef in terms.items():
        known = knowledge.of(node)
        ends = sorted((coef * known.low, coef * known.high))
        low, high = low + ends[0], high + ends[1]
        if low == -inf and high == inf:
            break
    # Sums of floats: rounded outward, to hold the true ends.
    return low - _MARGIN * max(1.0, abs(low)), high + _MARGIN * max(1.0, abs(high))
