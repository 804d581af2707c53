"""The order of the backward part that plans start from.

A simplified gradient has steps that read no cotangent, such as `1 - h**2` or the mask of a relu. In
the order of their making all of them stand before the first cotangent, so each holds memory from
the loss to its only reader. Here such a *local* step stands just before its first reader. All other
backward steps run as soon as they can if they release memory (sums of gradients, weight gradients),
else in the order of their making. So the backward part visits a network's layers from the last to
the first, as the planners of chains and of blocks expect. Forward steps that read inputs alone wait
for their readers in the same way.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..ir.dag import Dag
from ..ir.node import Node
from ..ir.origins import origins
from ..lowering.memory_model import Model, model_of
from ..lowering.schedule import list_scheduled, place

__all__ = ["backward_nodes", "forward_first", "layer_by_layer"]


def backward_nodes(nodes: Sequence[Node]) -> set[Node]:
    """Nodes of the gradient, and all that are computed from them."""
    known = origins(nodes)
    found: set[Node] = set()
    for node in nodes:
        if node.is_constant or node.is_input:
            continue  # All graphs share constants, and a gradient may have made one first.
        if known[node].adjoint_of is not None or not found.isdisjoint(node.operands):
            found.add(node)
    return found


def forward_first(dag: Dag) -> list[Node]:
    """The order in which nodes were made, but the gradient last: it shows a network's blocks."""
    backward = backward_nodes(dag.nodes)
    first = [node for node in dag.nodes if node not in backward]
    return first + [node for node in dag.nodes if node in backward]


def layer_by_layer(order: Sequence[Node], outputs: Sequence[Node]) -> list[Node]:
    """The order with local steps just before their readers, and results and releases early.

    Parameters
    ----------
    order : sequence of Node
        The forward part, then the backward part.
    outputs : sequence of Node
    """
    model = model_of(order, outputs)
    nodes = model.nodes[: len(model) - model.copies]
    inside = backward_nodes(order)
    backward = {step for step, node in enumerate(nodes) if node in inside}
    ends = set(model.kept) & backward
    local = _local_steps(model, backward) - ends

    def priority(growth: int, step: int) -> tuple[int, int]:
        if step not in backward or step in local:
            return (-2, step)
        return (-1 if growth < 0 or step in ends else 0, step)

    waiting = {nodes[step] for step in _waiting_steps(model, backward)}
    found: list[Node] = []
    placed: set[Node] = set()
    for node in order:
        if node not in inside and node not in waiting and (node.is_input or not node.op.view):
            place(node, found, placed)
    for node in order:
        if node not in inside:
            place(node, found, placed)
    chosen = list_scheduled(model, priority)
    for node in [nodes[step] for step in chosen if step in backward and step not in local]:
        place(node, found, placed)
    for node in order:
        place(node, found, placed)
    return found


def _waiting_steps(model: Model, backward: Collection[int]) -> set[int]:
    """Forward steps that read inputs alone, or one another, long before anything reads them.

    Such as `x[t] @ W` of each step `t` of a loop: the order of making may begin with all of them.
    """
    forward = [step for step in range(len(model) - model.copies) if step not in backward]
    depth = dict.fromkeys(forward, 0)
    for step in forward:
        depth[step] = 1 + max([depth[read] for read in model.reads[step]], default=0)
    latest: dict[int, int] = {}
    for step in reversed(forward):
        for read in model.reads[step]:
            latest[read] = min(latest.get(read, depth[step]), latest.get(step, depth[step]) - 1)
    found: set[int] = set()
    for step in forward:
        if latest.get(step, 0) > depth[step] and found.issuperset(model.reads[step]):
            found.add(step)
    return found


def _local_steps(model: Model, backward: Collection[int]) -> set[int]:
    """Backward steps that read no cotangent.

    A cotangent comes after the whole forward part, so more steps lead to it than to any forward
    value. A backward step that fewer steps lead to is local.
    """
    depth: list[int] = []
    for reads in model.reads:
        depth.append(1 + max([depth[read] for read in reads], default=0))
    deepest = max([each for step, each in enumerate(depth) if step not in backward], default=0)
    return {step for step in backward if depth[step] <= deepest}
