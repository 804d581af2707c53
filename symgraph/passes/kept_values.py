"""Values that stay through simplification: an operation that nothing looks into stands above each.

It is put into the function before anything else, so the derivative that is derived again uses the
kept values, too. It is taken out at the end.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..ir.dag import Dag
from ..ir.node import Node, make, on_operands, origin
from ..ir.value_names import carried
from ..ir.walks import reachable
from ..ops.control import KEPT

__all__ = ["let_go", "with_kept"]


def with_kept(dag: Dag, kept: Collection[Node]) -> Dag:
    """The graph in which the operation `kept_value` stands above these values."""
    held: dict[Node, Node] = {}
    for node in reachable(dag.outputs):
        new = on_operands(node, tuple([held[operand] for operand in node.operands]))
        carried(node, new)
        if node in kept:
            with origin(node.origin):
                above = make(KEPT, (new,))
            carried(new, above)
            new = above
        held[node] = new
    return dag.with_outputs([held[output] for output in dag.outputs])


def let_go(outputs: Sequence[Node]) -> list[Node]:
    """The outputs without the operation `kept_value`. The values below it have its names."""
    free: dict[Node, Node] = {}
    for node in reachable(outputs):
        if node.op is KEPT:
            free[node] = free[node.operands[0]]
        else:
            free[node] = on_operands(node, tuple([free[operand] for operand in node.operands]))
        carried(node, free[node])
    return [free[output] for output in outputs]
