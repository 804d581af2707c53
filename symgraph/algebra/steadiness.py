"""Whether a spelling can fail where its value is an ordinary number.

exp(z) is infinite for large z: a quotient of two things that grow with it is then NaN, and the log
of a sum of exps infinite, while softmax, sigmoid and logsumexp of z are ordinary numbers. A region
that has such a quotient or log takes the stable spelling whatever it costs.
"""

from __future__ import annotations

from collections.abc import Callable

from ..facts import finite
from ..nodes import Node
from ..propagation import Knowledge

__all__ = ["can_overflow", "is_finite_but_for_overflow"]

_THROUGH = frozenset(
    {
        "add",
        "subtract",
        "negative",
        "multiply",
        "square",
        "sum",
        "reshape",
        "broadcast_to",
        "transpose",
        "matmul",
        "einsum",
        "divide",
        "reciprocal",
        "power",
    }
)

_RING = frozenset(
    {
        *("add", "subtract", "negative", "multiply", "square", "sum", "matmul", "einsum"),
        *("reshape", "broadcast_to", "transpose", "getitem", "diagonal", "concatenate", "embed"),
    }
)
"""Sums and products, and what moves elements: of finite numbers all are finite."""

_SUMS = frozenset({"sum", "add", "divide", "matmul"})
"""What gathers exps, so that its log stands for a logsumexp."""


def can_overflow(root: Node, alive: Callable[[Node], bool]) -> bool:
    """Whether the nodes that only `root` needs have such a quotient or log.

    Parameters
    ----------
    root : Node
    alive : callable
        Nodes that are computed anyway, where the region ends.
    """
    own = _own_nodes(root, alive)
    exps: dict[Node, frozenset[Node]] = {}
    for node in own:
        below = [exps.get(each, _exps_at(each)) for each in node.operands]
        name = node.op.name
        if name == "exp":
            exps[node] = frozenset({node})
        elif name in _THROUGH:
            exps[node] = frozenset().union(*below)
        if name in ("divide", "multiply") and below[0] & below[1]:
            return True
        if name == "log" and below[0] and node.operands[0].op.name in _SUMS:
            return True
    return False


def _exps_at(node: Node) -> frozenset[Node]:
    """An exp that is computed anyway, or a sum of it."""
    while node.op.name in ("sum", "reshape", "broadcast_to", "transpose"):
        node = node.operands[0]
    return frozenset({node}) if node.op.name == "exp" else frozenset()


def _own_nodes(root: Node, alive: Callable[[Node], bool]) -> list[Node]:
    """The nodes of the region, operands first."""
    seen = {root}
    stack = [root]
    while stack:
        for operand in stack.pop().operands:
            if operand not in seen and not alive(operand):
                seen.add(operand)
                stack.append(operand)
    return sorted(seen, key=lambda node: node.serial)


def is_finite_but_for_overflow(root: Node, knowledge: Knowledge) -> bool:
    """Whether a value is made by sums and products of values that are known to be finite."""
    stack, seen = [root], {root}
    while stack:
        node = stack.pop()
        if knowledge.of(node).has(finite):
            continue
        if node.op.name not in _RING and not _is_whole_power(node):
            return False
        new = [each for each in node.operands if each not in seen]
        seen.update(new)
        stack.extend(new)
    return True


def _is_whole_power(node: Node) -> bool:
    if node.op.name != "power" or not node.operands[1].is_constant:
        return False
    exponents = node.operands[1].params["value"]
    return bool((exponents >= 0).all() and (exponents % 1 == 0).all())
