r"""Factors of one product that are one value together: sign(x) (|x| / y) is x / y.

The algebra joins such factors where it writes a product anew. Where it loses range by that, or
where a part of the product has another user, the product stays in the order of the chain rule, with
operations between the two. Here they meet, and all else stays in its order:

- $\operatorname{sign}(x)\,|x| = x$.
- $q\,(a / q + b) = a + q\,b$ for $q \ne 0$.
- $x\,(1 / y) = x / y$, and $1 / (x\,y)$ is $(1 / x) / y$ where $1 / x$ is computed anyway.
- A number and a choice of numbers, as which the slopes of extrema come, are one choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..array import Array, apply
from ..facts import nonzero, total
from ..ir.fact_inference import Knowledge
from ..ir.node import Node, origin
from ..ir.walks import reachable
from ..ops.choice import where
from ..ops.creation import constant_of
from ..ops.elementwise import absolute, divide, multiply, sign
from ..rewriting.guards import uniform_value
from .cancelled_factors import factors_of, shaped_like, with_factor
from .gains import Change, Loses, changed_one_by_one, is_shorter

__all__ = ["with_factors_met"]

_LARGEST = 1e3
"""A larger number may leave the range of half precision, or a smaller one than its inverse."""


_DEEPEST = 32
"""So many choices within one another are scaled."""


def with_factors_met(outputs: Sequence[Node], knowledge: Knowledge, loses: Loses) -> list[Node]:
    """The outputs with factors joined that are one value, if that takes fewer operations.

    Parameters
    ----------
    outputs : sequence of Node
    knowledge : Knowledge
        Tells what is not 0.
    loses : Loses
    """
    if not any(map(_is_one_of_two, reachable(outputs))):
        return list(outputs)
    return changed_one_by_one(
        outputs,
        lambda current: _changes(reachable(current), knowledge),
        lambda new, old: is_shorter(new, old, loses),
    )


def _changes(nodes: Sequence[Node], knowledge: Knowledge) -> Iterator[Change]:
    """Products, and as what each may be written."""
    reciprocals = {node.operands: node for node in nodes if node.op is divide.op and not node.copy}
    for node in nodes:
        if node.op not in (multiply.op, divide.op) or node.dtype.kind != "f" or node.copy:
            continue
        for new in (*_halved(node, reciprocals), *_joined(node, knowledge)):
            if new.dtype == node.dtype:
                yield node, shaped_like(new, node)


def _is_one_of_two(node: Node) -> bool:
    """Whether a value may be one of two factors that meet."""
    if node.op is divide.op:
        return node.operands[0].is_constant
    if node.op.traits.combination:
        return any(each.op is divide.op for each in node.operands)
    return node.op in (sign.op, where.op)


def _joined(node: Node, knowledge: Knowledge) -> Iterator[Node]:
    """The product with two of its factors as one, in each way."""
    if node.op is multiply.op:
        yield from _divided(node)
    factors = Counter(factors_of(node))
    for factor in [each for each, power in factors if power > 0]:
        for other in [each for each, power in factors if power > 0]:
            both = _as_one(factor, other, knowledge)
            rest = None if both is None else with_factor(node, factor, 1)
            rest = None if rest is None else with_factor(rest, other, 1, both)
            if rest is not None:
                yield rest


def _halved(node: Node, quotients: Mapping[tuple[Node, ...], Node]) -> Iterator[Node]:
    """A quotient c / (x y) as (c / x) / y, if the graph has c / x."""
    if node.op is not divide.op or node.operands[1].op is not multiply.op:
        return
    above, below = node.operands
    for x, y in (below.operands, below.operands[::-1]):
        if (above, x) in quotients and not below.copy:
            with origin(node.origin):
                yield divide(Array(quotients[above, x]), Array(y)).node


def _divided(node: Node) -> Iterator[Node]:
    """The product with a reciprocal, as a quotient."""
    for place, each in enumerate(node.operands):
        if each.op is divide.op and not each.copy and uniform_value(each.operands[0]) == 1:
            other = node.operands[1 - place]
            with origin(node.origin):
                yield divide(Array(other), Array(each.operands[1])).node


def _as_one(factor: Node, other: Node, knowledge: Knowledge) -> Node | None:
    """The product of two factors as one value; None if they are no such pair."""
    if factor.op is sign.op and other.op is absolute.op:
        return factor.operands[0] if factor.operands == other.operands else None
    if factor.is_constant:
        number = uniform_value(factor)
        if number is None or not 1 / _LARGEST <= abs(number) <= _LARGEST:
            return None
        return _scaled(other, float(number))
    known = knowledge.of(factor)
    if not (known.has(nonzero) and known.has(total)):
        return None
    return _distributed(other, factor)


def _scaled(choice: Node, number: float, deepest: int = _DEEPEST) -> Node | None:
    """A choice of numbers with each of them multiplied; None if it is no such choice."""
    if choice.op is not where.op or choice.copy or choice.operands[0].shape != choice.shape:
        return None
    if not deepest:
        return None
    branches: list[Array] = []
    for each in choice.operands[1:]:
        value = uniform_value(each)
        if value is None:
            inner = _scaled(each, number, deepest - 1)
            if inner is None:
                return None
            branches.append(Array(inner))
        else:
            branches.append(constant_of(float(value) * number, choice.dtype))
    with origin(choice.origin):
        return where(Array(choice.operands[0]), *branches).node


def _distributed(whole: Node, factor: Node) -> Node | None:
    """The product of q and a sum a / q + b, or a difference, as a + q b; None if it is no such."""
    if whole.op.traits.combination not in ((1, 1), (1, -1)) or whole.copy:
        return None
    for place, each in enumerate(whole.operands):
        if each.op is divide.op and each.operands[1] is factor and not each.copy:
            with origin(whole.origin):
                parts = [multiply(Array(other), Array(factor)) for other in whole.operands]
                parts[place] = Array(each.operands[0])
                return apply(whole.op, *parts).node
    return None
