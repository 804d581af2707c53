r"""Sums and differences of two exps with opposite arguments, as hyperbolic functions.

$e^x + e^{-x} = 2 \cosh x$ and $e^x - e^{-x} = 2 \sinh x$, which keeps its digits near 0. Exps are
what the algebra calculates with, so the pass runs when rules and algebra have nothing left to do,
and only where an exp has no other use.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..array import Array
from ..ir.cost import op_count
from ..ir.node import Node, on_operands, origin
from ..ir.walks import reachable, users_of
from ..ops.elementwise import add, divide, multiply, negative, subtract
from ..ops.exponential import exp
from ..ops.trigonometric import cosh, sinh

__all__ = ["are_opposite", "with_hyperbolics"]


def with_hyperbolics(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with such pairs as hyperbolic functions, if they are no more operations.

    Parameters
    ----------
    outputs : sequence of Node
    """
    nodes = reachable(outputs)
    if sum([node.op is exp.op for node in nodes]) < 2:
        return list(outputs)
    pairs = _pairs(nodes, outputs)
    if not pairs:
        return list(outputs)
    instead: dict[Node, Node] = {}
    for node in nodes:
        operands = tuple([instead[each] for each in node.operands])
        instead[node] = on_operands(node, operands)
        if node in pairs:
            up, _ = operands
            with origin(node.origin):
                whole = (cosh if node.op is add.op else sinh)(Array(up.operands[0]))
                instead[node] = (whole * node.dtype.type(2)).node
    new = [instead[output] for output in outputs]
    return new if op_count(new) <= op_count(outputs) else list(outputs)


def _pairs(nodes: Sequence[Node], outputs: Sequence[Node]) -> set[Node]:
    """Sums and differences of exps of opposite arguments, where neither exp has other users."""
    users = users_of(nodes, outputs)
    found = {node for node in nodes if _is_pair(node)}
    while True:
        kept = {n for n in found if all(u in found for each in n.operands for u in users[each])}
        if kept == found:
            return found
        found = kept


def _is_pair(node: Node) -> bool:
    if node.op not in (add.op, subtract.op) or node.copy:
        return False
    up, down = node.operands
    if not (up.op is down.op is exp.op) or up.copy or down.copy or up.shape != down.shape:
        return False
    return are_opposite(up.operands[0], down.operands[0])


def are_opposite(x: Node, y: Node) -> bool:
    """Whether one argument is the negative of the other, as they are written."""
    for a, b in ((x, y), (y, x)):
        if b.op is negative.op and b.operands[0] is a:
            return True
    if x.op is y.op is subtract.op:
        return x.operands == y.operands[::-1]
    if x.op is not y.op or x.op not in (multiply.op, divide.op):
        return False
    if x.operands[1] is y.operands[1] and _are_opposite_numbers(x.operands[0], y.operands[0]):
        return True
    if x.operands[1] is y.operands[1] and are_opposite(x.operands[0], y.operands[0]):
        return True
    return x.operands[0] is y.operands[0] and (
        _are_opposite_numbers(x.operands[1], y.operands[1])
        or are_opposite(x.operands[1], y.operands[1])
    )


def _are_opposite_numbers(x: Node, y: Node) -> bool:
    if not (x.is_constant and y.is_constant) or x.shape != y.shape:
        return False
    return bool((x.params["value"] == -y.params["value"]).all())
