"""A factor and a divisor of one product cancel where they are one value: x (y / (z x)) is y / z.

The algebra cancels where it writes a product anew. Where each of its orders of the factors loses
range, or where a product within is so long that the algebra takes it for one array, the product
stays in the order of the chain rule, with both in it. Here the two go, and all else stays in its
order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..array import Array
from ..facts import nonzero, total
from ..ir.fact_inference import Knowledge
from ..ir.node import Node, make, origin
from ..ir.walks import reachable, substituted
from ..ops.creation import constant_of
from ..ops.elementwise import divide, multiply, negative
from ..ops.movement import broadcast_to, reshape
from ..rewriting.guards import uniform_value
from .gains import Loses, is_shorter

__all__ = ["with_factors_cancelled"]

_MOST_LOOKED_AT = 32
"""So many products and factors of one product are looked at."""

_INSIDE = (multiply.op, divide.op, negative.op, reshape.op)
"""Operations that a factor passes."""


def with_factors_cancelled(
    outputs: Sequence[Node], knowledge: Knowledge, loses: Loses
) -> list[Node]:
    """The outputs without factors that are divided by again, if that takes fewer operations.

    Parameters
    ----------
    outputs : sequence of Node
    knowledge : Knowledge
        Only a value that is known not to be 0, nor NaN, cancels.
    loses : Loses
    """
    current, changed = list(outputs), True
    while changed:
        changed = False
        for node in reachable(current):
            new = _cancelled(node, knowledge, current)
            if new is not None and is_shorter(new, current, loses):
                current, changed = new, True
                break
    return current


def _cancelled(node: Node, knowledge: Knowledge, outputs: Sequence[Node]) -> list[Node] | None:
    """The outputs without the first value that a product both has as a factor and is divided by."""
    if node.op not in (multiply.op, divide.op) or node.dtype.kind != "f" or node.copy:
        return None
    above, below = dict[Node, None](), set[Node]()
    for factor, power in _factors(node):
        if power > 0:
            above[factor] = None
        else:
            below.add(factor)
    for factor in above:
        if factor in below and not factor.is_constant and _cancels(factor, knowledge):
            rest = _without(node, factor, 1)
            rest = None if rest is None else _without(rest, factor, -1)
            if rest is None or rest.dtype != node.dtype:
                return None
            return substituted(outputs, {node: _shaped(rest, node)})
    return None


def _cancels(factor: Node, knowledge: Knowledge) -> bool:
    """Whether a value by itself is 1: it is never 0, and no NaN of its own, as a logarithm has."""
    known = knowledge.of(factor)
    return known.has(nonzero) and known.has(total)


def _factors(node: Node) -> Iterator[tuple[Node, int]]:
    """Factors of a product, with 1, and its divisors, with -1."""
    stack = [(node, 1)]
    for _ in range(_MOST_LOOKED_AT):
        if not stack:
            return
        each, power = stack.pop()
        if each.op not in _INSIDE:
            yield each, power
            continue
        stack.append((each.operands[0], power))
        if each.op is multiply.op:
            stack.append((each.operands[1], power))
        elif each.op is divide.op:
            stack.append((each.operands[1], -power))


def _without(node: Node, factor: Node, power: int) -> Node | None:
    """The product without one factor, for a power of 1, or divisor; None if it is not found."""
    if node is factor and power > 0:
        return constant_of(1, node.dtype).node
    if node.op not in _INSIDE:
        return None
    for place, each in enumerate(node.operands):
        below = node.op is divide.op and place == 1
        left = _without(each, factor, -power if below else power)
        if left is not None:
            return _with(node, place, left)
    return None


def _with(node: Node, place: int, operand: Node) -> Node:
    """The product with another operand, which may be the number 1."""
    with origin(node.origin):
        if _is_one(operand) and node.op is multiply.op:
            return node.operands[1 - place]
        if _is_one(operand) and (node.op is reshape.op or place == 1):
            return operand if node.op is reshape.op else node.operands[0]
        if node.op is reshape.op:
            wide = _shaped(operand, node.operands[0])
            return reshape(Array(wide), node.shape).node
        operands = list(node.operands)
        operands[place] = operand
        return make(node.op, tuple(operands), node.params)


def _shaped(node: Node, like: Node) -> Node:
    """The value in the shape of another: a factor that went may have been the widest."""
    if node.shape == like.shape:
        return node
    with origin(like.origin):
        return broadcast_to(Array(node), like.shape).node


def _is_one(node: Node) -> bool:
    return node.is_constant and node.ndim == 0 and uniform_value(node) == 1
