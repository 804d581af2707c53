"""The graph that a program is made of: loops keep values, and large sums come after loops."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.dag import Dag
from ..ir.node import Node
from .bodies import hold_bodies, with_simple_bodies
from .residuals import with_residuals
from .summed_products import with_summed_products

__all__ = ["program_graph"]


def program_graph(dag: Dag) -> Dag:
    """The graph of the same values that is run; the same graph if it has a memory plan."""
    planned = dag.schedule is not None or any(node.copy for node in dag.nodes)
    if planned or not hold_bodies(dag.outputs):
        return dag
    kept = with_residuals(dag)
    outputs = _summed(kept.outputs)
    return kept if tuple(outputs) == kept.outputs else kept.with_outputs(outputs)


def _summed(outputs: Sequence[Node]) -> list[Node]:
    return with_simple_bodies(with_summed_products(outputs), _summed)
