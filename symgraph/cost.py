"""What a graph costs: operations by the convention for closed forms, and flops.

Convention: movement (transpose, reshape, broadcast, basic slicing), casts, constants and whatever
depends on constants only are free; every other operation counts one, composites what they are made
of; shared nodes count once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .dag import Node, reachable
from .dims import Dim, normal, resolve

__all__ = ["flops", "node_flops", "op_count", "varying"]


def varying(outputs: Iterable[Node]) -> list[Node]:
    """Nodes that depend on an input, operands first: all that is computed at each call."""
    depends: set[Node] = set()
    found: list[Node] = []
    for node in reachable(outputs):
        if node.is_input or any(operand in depends for operand in node.operands):
            depends.add(node)
            found.append(node)
    return found


def op_count(outputs: Iterable[Node]) -> int:
    """Operations of the graph of `outputs`, by the convention above."""
    return sum(node.op.count for node in varying(outputs))


def node_flops(node: Node) -> Dim:
    """Floating-point operations of one node; a formula where dimensions are named."""
    operands: list[Any] = [
        operand.results[0] if len(operand.results) == 1 else operand.results
        for operand in node.operands
    ]
    return node.op.flops(node.results[0], *operands, **node.params)


def flops(outputs: Iterable[Node], dims: Mapping[str, int] | None = None) -> Dim:
    """Floating-point operations of the graph of `outputs`.

    With `dims` given (a size for each named dimension) a number, else a formula in them.
    """
    total: Any = 0
    for node in varying(outputs):
        total = total + node_flops(node)
    return resolve(normal(total), dims) if dims else normal(total)
