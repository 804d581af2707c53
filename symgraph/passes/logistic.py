r"""Multiples of the logistic function as one quotient: $c\,\sigma(-x) = c / (1 + e^x)$.

Three operations instead of six, and as steady: where exp overflows, both are 0. Only a derivative
of the quotient would not be, so this comes last, when nothing is left to differentiate. Signs are
looked for along sums and products that nothing else reads: $-D^\top \sigma(-D s)$ has two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..array import FUNCTIONS, Array
from ..nodes import Node, make, origin, reachable

__all__ = ["with_quotients"]

_LINEAR = frozenset({"matmul", "multiply", "divide", "sum", "reshape", "transpose"})
_FAR = 6
"""Steps from a sigmoid up to a change of sign."""


def with_quotients(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with such multiples as quotients; linear in the graph."""
    nodes = reachable(outputs)
    if not any(node.op.name == "sigmoid" for node in nodes):
        return list(outputs)
    user = _only_users(nodes, outputs)
    left_out: dict[Node, Node] = {}
    above: dict[Node, Node | float] = {}
    for node in nodes:
        if node.op.name == "sigmoid" and not node.copy:
            factor = _factor_above(node, user)
            inner = _sign_below(node, user) if factor is not None else None
            if inner is None or factor is None or {inner, factor[0]} & left_out.keys():
                continue
            outer, above[node] = factor
            left_out[inner] = inner.operands[0]
            left_out[outer] = next(each for each in outer.operands if not each.is_constant)
    return _written(nodes, outputs, left_out, above) if above else list(outputs)


def _only_users(nodes: Sequence[Node], outputs: Sequence[Node]) -> dict[Node, Node | None]:
    """Of each value the one that uses it, None where there are several, or the value is asked for.

    A value that is used twice by one node has two users.
    """
    user: dict[Node, Node | None] = {}
    for node in nodes:
        for operand in node.operands:
            user[operand] = None if operand in user else node
    user.update(dict.fromkeys(outputs))
    return user


def _sign_below(node: Node, user: Mapping[Node, Node | None]) -> Node | None:
    """The change of sign that the argument of a sigmoid has for a factor."""
    stack = list(node.operands)
    while stack:
        top = stack.pop()
        if user[top] is None or top.copy:
            continue
        if top.op.name == "negative":
            return top
        if top.op.name in _LINEAR:
            stack.extend(top.operands)
    return None


def _factor_above(node: Node, user: Mapping[Node, Node | None]) -> tuple[Node, Node | float] | None:
    """The multiple that is taken of a sigmoid: the node, and its number (-1 from further up)."""
    for top, below in _line(node, user):
        if top.copy or top.dtype != node.dtype:
            return None
        if top.op.name == "negative":
            return top, -1.0
        if top.op.name == "multiply" and below is node and top.shape == node.shape:
            number = next((each for each in top.operands if each.is_constant), None)
            if number is not None and number.ndim == 0:
                return top, number
        if top.op.name not in _LINEAR or (top.op.name == "divide" and top.operands[1] is below):
            return None
    return None


def _line(node: Node, user: Mapping[Node, Node | None]) -> Iterator[tuple[Node, Node]]:
    """Each value's only user, and that one's, upwards, a few steps: linear in the graph."""
    for _ in range(_FAR):
        top = user[node]
        if top is None:
            return
        yield top, node
        node = top


def _written(
    nodes: Sequence[Node],
    outputs: Sequence[Node],
    left_out: Mapping[Node, Node],
    above: Mapping[Node, Node | float],
) -> list[Node]:
    new: dict[Node, Node] = {}
    for node in nodes:
        operands = tuple([new[operand] for operand in node.operands])
        with origin(node.origin):
            if node in left_out:
                new[node] = new[left_out[node]]
            elif node in above:
                (x,) = operands
                factor = above[node]
                number = Array(factor) if isinstance(factor, Node) else factor
                new[node] = (number / (1 + FUNCTIONS["exp"](Array(x)))).node
            elif operands == node.operands:
                new[node] = node
            else:
                new[node] = make(node.op, operands, node.params, node.copy)
    return [new[output] for output in outputs]
