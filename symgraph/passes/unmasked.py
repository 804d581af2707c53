"""Masks that matter to derivatives only are left out of programs, where no derivative is taken.

In a batch some members take a branch and others do not. The branch is entered through
where(c, x, stop_gradient(x)): its value is x, but no derivative passes where c does not hold.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.dag import Dag
from ..ir.node import Node, on_operands
from ..ir.walks import reachable
from ..ops.choice import where
from ..ops.control import STOP_GRADIENT
from .bodies import hold_bodies, with_simple_bodies

__all__ = ["without_masks"]


def without_masks(dag: Dag) -> Dag:
    """The graph without such masks, in bodies of loops too; the same graph if it has none.

    A graph with a memory plan stays as it is, for the plan names its nodes.
    """
    if dag.schedule is not None or any(node.copy for node in dag.nodes):
        return dag
    if not hold_bodies(dag.outputs) and not any(map(_is_mask, dag.nodes)):
        return dag
    outputs = _unmasked(dag.outputs)
    return dag if tuple(outputs) == dag.outputs else dag.with_outputs(outputs)


def _unmasked(outputs: Sequence[Node]) -> list[Node]:
    new: dict[Node, Node] = {}
    whole = with_simple_bodies(outputs, _unmasked)
    for node in reachable(whole):
        found = on_operands(node, tuple([new[operand] for operand in node.operands]))
        new[node] = new[node.operands[1]] if _is_mask(node) else found
    return [new[output] for output in whole]


def _is_mask(node: Node) -> bool:
    if node.op is not where.op:
        return False
    _, x, stopped = node.operands
    held = stopped.op is STOP_GRADIENT and stopped.operands[0] is x
    return held and node.aval == x.aval
