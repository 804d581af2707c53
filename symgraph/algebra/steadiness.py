"""Whether a spelling can fail where its value is an ordinary number.

exp(z) is infinite for large z: a quotient of two things that grow with it is then NaN, and the log
of a sum of exps infinite, while softmax, sigmoid and logsumexp of z are ordinary numbers. A region
that has such a quotient or log takes the stable spelling whatever it costs. Nor is an exp made of
two: sigmoid(x) sigmoid(y) is no exp(x + y) times something that is 0 where that is infinite.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from itertools import combinations

import numpy as np

from ..facts import finite
from ..nodes import Node
from ..propagation import Knowledge

__all__ = ["STEADY", "can_overflow", "vanishes"]

STEADY = frozenset({"logsumexp", "logaddexp", "log_softmax", "softmax", "softplus", "sigmoid"})
"""Spellings that stand for what overflows: not given up for a shorter one that does."""

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

_PRODUCTS = frozenset({"divide", "multiply", "matmul", "einsum"})

_SUMS = frozenset({"sum", "add", "divide", "matmul"})
"""What gathers exps, so that its log stands for a logsumexp."""


def can_overflow(root: Node, alive: Callable[[Node], bool], before: Node | None = None) -> bool:
    """Whether the nodes that only `root` needs have such a quotient or log.

    Parameters
    ----------
    root : Node
    alive : callable
        Nodes that are computed anyway, where the region ends.
    before : Node, optional
        What `root` is to replace: exps that it has not are new.
    """
    own = _own_nodes(root, alive)
    known: Container[Node] = own if before is None else _own_nodes(before, alive)
    new = {node for node in own if node.op.name == "exp" and node not in known}
    exps: dict[Node, frozenset[Node]] = {}
    for node in own:
        below = [exps.get(each, _exps_at(each)) for each in node.operands]
        name = node.op.name
        if name in _OF_EXPS:
            exps[node] = frozenset({node})
        elif name in _THROUGH:
            exps[node] = frozenset().union(*below)
        if name in _PRODUCTS and any(
            _has_exp(left & right) or (new & left and right) or (new & right and left)
            for left, right in combinations(below, 2)
        ):
            return True
        if name == "log" and node.operands[0].op.name in _SUMS and _has_exp(below[0]):
            return True
    return False


def _has_exp(nodes: Iterable[Node]) -> bool:
    return any(node.op.name == "exp" for node in nodes)


_OF_EXPS = STEADY | {"exp"}


def _exps_at(node: Node) -> frozenset[Node]:
    """An exp that is computed anyway, or a sum of it, or what stands for a quotient of them."""
    while node.op.name in ("sum", "reshape", "broadcast_to", "transpose"):
        node = node.operands[0]
    return frozenset({node}) if node.op.name in _OF_EXPS else frozenset()


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


def vanishes(node: Node, new: Node, knowledge: Knowledge) -> bool:
    """Whether what the user wrote would become 0 although an infinite input makes it NaN.

    In a gradient the terms that cancel are those of reverse mode; there 0 is the derivative.
    """
    if node.origin.adjoint_of is not None and not node.origin.shared:
        return False
    while new.op.name in ("broadcast_to", "reshape"):
        (new,) = new.operands
    if not new.is_constant or np.any(new.params["value"]):
        return False
    return not _is_finite_but_for_overflow(node, knowledge)


def _is_finite_but_for_overflow(root: Node, knowledge: Knowledge) -> bool:
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
