r"""Multiples of the logistic function as one quotient: $c\,\sigma(-x) = c / (1 + e^x)$.

For numbers and arrays c the quotient has three operations instead of six. It is as stable, but for
results below $6 \cdot 10^{-309} |c|$: there exp overflows, and the quotient is 0. Multiples by huge
numbers are left alone. A derivative of the quotient would not be stable, so the pass runs last,
when nothing is left to differentiate. Signs are sought along sums and products that nothing else
reads: $-D^\top \sigma(-D s)$ has two. The sign of a difference swaps its operands.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence

import numpy as np

from ..array import Array
from ..ir.node import Node, on_operands, origin
from ..ir.walks import only_users, reachable
from ..ops.carrying import carries_reduced
from ..ops.elementwise import multiply, negative, subtract
from ..ops.exponential import exp, sigmoid
from ..records import record

__all__ = ["with_complements", "with_quotients"]

_FAR = 6
"""How many steps above a sigmoid are searched for a change of sign."""
_LARGEST = 2.0**20
"""Of the numbers that a sigmoid is multiplied by: results below 1e-302 become 0."""


@record
class _Multiple:
    """A multiple of a sigmoid: `product` becomes a quotient, and `factor` is left out."""

    product: Node
    number: Node | float
    array: Node | None = None
    factor: Node | None = None


def with_complements(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with s(-x) for each 1 - s(x), which loses all digits where s is near 1."""
    instead: dict[Node, Node] = {}
    for node in reachable(outputs):
        operands = tuple([instead.get(each, each) for each in node.operands])
        instead[node] = on_operands(node, operands)
        if _is_complement(node, operands):
            with origin(node.origin):
                inner = negative(Array(operands[1].operands[0]))
                instead[node] = sigmoid(inner).node
    return [instead[output] for output in outputs]


def _is_complement(node: Node, operands: Sequence[Node]) -> bool:
    """Whether the node is 1 - s(x) on these operands."""
    if node.op is not subtract.op or operands[1].op is not sigmoid.op:
        return False
    one = operands[0]
    is_one = one.is_constant and bool(np.all(one.params["value"] == 1))
    return is_one and operands[1].shape == node.shape


def with_quotients(
    outputs: Sequence[Node], keeps_digits: Callable[[Node, Node], bool] | None = None
) -> list[Node]:
    """The outputs with multiples of sigmoids as quotients; linear in the graph.

    Parameters
    ----------
    outputs : sequence of Node
    keeps_digits : callable, optional
        Whether a quotient keeps the digits of the multiple it replaces. It is asked of each one
        with all else as it was.
    """
    nodes = reachable(outputs)
    if not any(node.op is sigmoid.op for node in nodes):
        return list(outputs)
    user = only_users(nodes, outputs)
    left_out: dict[Node, Node] = {}
    swapped: set[Node] = set()
    quotients: dict[Node, tuple[_Multiple, Node]] = {}
    for node in nodes:
        if node.op is not sigmoid.op or node.copy:
            continue
        found = _multiple_above(node, user)
        inner = _sign_below(node, user) if found is not None else None
        if inner is None or found is None or found.product in quotients:
            continue  # In a product of two sigmoids each would be a multiple of the other.
        if inner in left_out or inner in swapped or found.factor in left_out:
            continue
        if keeps_digits is not None and not keeps_digits(*_alone(found, node, inner, user)):
            continue
        quotients[found.product] = found, node
        if inner.op is negative.op:
            left_out[inner] = inner.operands[0]
        else:
            swapped.add(inner)
        if found.factor is not None:
            left_out[found.factor] = next(x for x in found.factor.operands if not x.is_constant)
    return _rebuilt(nodes, outputs, left_out, swapped, quotients) if quotients else list(outputs)


def _sign_below(node: Node, user: Mapping[Node, Node | None]) -> Node | None:
    """A negation or a difference that carries the sign of the sigmoid's argument."""
    stack = list(node.operands)
    while stack:
        top = stack.pop()
        if user[top] is None or top.copy or top.dtype != node.dtype:
            continue
        if top.op is negative.op or (top.op is subtract.op and _may_swap(top)):
            return top
        # Divisors are left out: a difference of 0 is +0 when swapped too, so x / 0 keeps its sign.
        stack.extend([top.operands[place] for place in _linear_places(top)])
    return None


def _may_swap(node: Node) -> bool:
    """Whether a difference in an exp may be swapped without losing a further simplification.

    It may not if an operand is a sum or a product, which may combine with the sign, or a logarithm,
    which exp takes out.
    """
    for operand in node.operands:
        while operand.op.traits.movement and len(operand.operands) == 1:
            operand = operand.operands[0]
        if operand.is_constant and np.any(operand.params["value"] < 0):
            return False
        if operand.op.traits.logarithmic or _is_algebraic(operand):
            return False
    return True


def _linear_places(node: Node) -> tuple[int, ...]:
    """The places of the operands that the node is linear in."""
    return node.op.traits.linear_in(len(node.operands))


def _is_algebraic(node: Node) -> bool:
    """Whether the node is a sum or a product, of operands or of elements."""
    traits, count = node.op.traits, len(node.operands)
    summed = traits.elementwise or node.op.carries is carries_reduced
    return (
        summed
        and not traits.movement
        and bool(_linear_places(node) or traits.linear_together(count))
    )


def _multiple_above(node: Node, user: Mapping[Node, Node | None]) -> _Multiple | None:
    """The multiple of a sigmoid: by a number, by an array, or by -1 from further above."""
    product, array, minus = node, None, None
    alone = True  # Only the sign of the sigmoid was changed so far.
    for top, below in _users_above(node, user):
        if top.copy or top.dtype != node.dtype:
            break
        if top.op is negative.op and minus is None:
            minus = top
        elif top.op is multiply.op and alone and top.shape == node.shape:
            other = next(each for each in top.operands if each is not below)
            if other.is_constant and other.ndim == 0:
                ordinary = bool(np.abs(other.params["value"]) <= _LARGEST)
                return _Multiple(node, other, None, top) if below is node and ordinary else None
            product, array, alone = top, other, False
        elif top.operands.index(below) in _linear_places(top):
            alone = False
        else:
            break
        if minus is not None and not alone:
            break
    if minus is None and array is None:
        return None
    return _Multiple(product, 1.0 if minus is None else -1.0, array, minus)


def _users_above(node: Node, user: Mapping[Node, Node | None]) -> Iterator[tuple[Node, Node]]:
    """A few pairs of an only user and its operand, upwards from the node: linear in the graph."""
    for _ in range(_FAR):
        top = user[node]
        if top is None:
            return
        yield top, node
        node = top


def _alone(
    multiple: _Multiple, sigmoid: Node, inner: Node, user: Mapping[Node, Node | None]
) -> tuple[Node, Node]:
    """The quotient where nothing else has changed, and the value that it replaces."""
    swapped = inner.op is not negative.op
    argument = on_operands(inner, inner.operands[::-1]) if swapped else inner.operands[0]
    below = inner
    while (above := user[below]) is not sigmoid:
        assert above is not None
        operands = tuple([argument if each is below else each for each in above.operands])
        argument, below = on_operands(above, operands), above
    array, factor, whole = multiple.array, multiple.factor, multiple.product
    with origin(whole.origin):  # The graph will have these very nodes.
        quotient = _quotient(multiple, argument, {} if array is None else {array: array})
        if isinstance(multiple.number, Node):
            assert factor is not None
            return quotient, factor
        if multiple.number == 1 or _is_between(factor, sigmoid, whole, user):
            return quotient, whole
        return quotient, negative(Array(whole)).node


def _is_between(node: Node | None, low: Node, high: Node, user: Mapping[Node, Node | None]) -> bool:
    """Whether a node is met from `low` up to `high`, along the only users."""
    found: Node | None = low
    while found is not None and found is not high:
        found = user[found]
        if found is node:
            return True
    return False


def _rebuilt(
    nodes: Sequence[Node],
    outputs: Sequence[Node],
    left_out: Mapping[Node, Node],
    swapped: Container[Node],
    quotients: Mapping[Node, tuple[_Multiple, Node]],
) -> list[Node]:
    new: dict[Node, Node] = {}
    for node in nodes:
        operands = tuple([new[operand] for operand in node.operands])
        if node in left_out:
            new[node] = new[left_out[node]]
        elif node in quotients:
            multiple, sigmoid = quotients[node]
            with origin(node.origin):
                new[node] = _quotient(multiple, new[sigmoid.operands[0]], new)
        else:
            new[node] = on_operands(node, operands[::-1] if node in swapped else operands)
    return [new[output] for output in outputs]


def _quotient(multiple: _Multiple, argument: Node, new: Mapping[Node, Node]) -> Node:
    grown, number = exp(Array(argument)), multiple.number
    if multiple.array is not None:
        # The sign goes into the sum, which takes one operation less than a sign of the array.
        below = -1 - grown if number == -1 else 1 + grown
        return (Array(new[multiple.array]) / below).node
    return ((Array(number) if isinstance(number, Node) else number) / (1 + grown)).node
