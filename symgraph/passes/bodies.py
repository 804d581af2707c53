"""Simplification inside loops and branches: each body is simplified as a graph of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir.body import Body
from ..ir.node import Node, make, origin
from ..ir.value_names import carried
from ..ir.walks import reachable

__all__ = ["hold_bodies", "with_simple_bodies"]


def hold_bodies(outputs: Sequence[Node]) -> bool:
    """Whether the graph has a loop or a branch."""
    return any(map(_bodies, reachable(outputs)))


def with_simple_bodies(
    outputs: Sequence[Node], simplify: Callable[[Sequence[Node]], list[Node]]
) -> list[Node]:
    """The outputs with the bodies of loops and branches simplified; equal bodies are done once.

    Parameters
    ----------
    outputs : sequence of Node
    simplify : callable
        Gives simpler outputs. It also simplifies bodies within bodies, as deep as they nest.
    """
    order = reachable(outputs)
    simple: dict[Body, Body] = {}
    new: dict[Node, Node] = {}
    for node in order:
        params = node.params
        for name, body in _bodies(node).items():
            if body not in simple:
                simple[body] = Body(body.inputs, simplify(body.outputs))
            params = {**params, name: simple[body]}
        operands = tuple([new[operand] for operand in node.operands])
        with origin(node.origin):
            same = operands == node.operands and params is node.params
            new[node] = node if same else make(node.op, operands, params, node.copy)
        carried(node, new[node])
    return [new[output] for output in outputs]


def _bodies(node: Node) -> dict[str, Body]:
    if node.op.pullback is None and node.op.pushforward is None:
        return {}  # Every operation that holds bodies has its own derivative.
    return {name: value for name, value in node.params.items() if isinstance(value, Body)}
