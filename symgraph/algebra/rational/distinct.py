"""Whether two values are known to differ: of one increasing function, their arguments do.

sigmoid(t - a) and sigmoid(t - b) differ if a and b do, whatever t is. In x - y terms that both have
go, and bounds of the others tell whether the rest may be 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from ...ir.fact_inference import Knowledge
from ...ir.node import Node
from ...ir.op import Op
from ...ir.traits import Angle

__all__ = ["are_distinct"]

_TANH = Angle("tangent", -1)
_MOST_TERMS = 8
_MARGIN = 1e-12


def are_distinct(x: Node, y: Node, knowledge: Knowledge) -> bool:
    """Whether two values are numbers that differ, wherever both are numbers."""
    while x.op is y.op and _is_increasing(x.op) and not (x.copy or y.copy):
        (x,), (y,) = x.operands, y.operands
    terms = _terms(x)
    for node, coef in _terms(y).items():
        terms[node] = terms.get(node, 0) - coef
    low, high = _bounds({node: coef for node, coef in terms.items() if coef}, knowledge)
    return low > 0 or high < 0


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
