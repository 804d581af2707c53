"""Invariants of a graph, checked between passes and on graphs loaded from a file."""

from __future__ import annotations

from ..errors import SymgraphError, VerifyError
from .dag import Dag
from .interning import params_key
from .node import Node
from .op import OPS

__all__ = ["verify"]


def verify(dag: Dag) -> None:
    """Check that the graph keeps the invariants.

    Each operation is the registered one; operands precede consumers (so there is no cycle); dtype
    and shape of each result follow from its operands; params are in their normal form; inputs carry
    the names they are declared under.

    Raises
    ------
    VerifyError
        Naming the node and the invariant it breaks.
    """
    for name, node in dag.inputs.items():
        if not node.is_input or node.params["name"] != name:
            raise VerifyError(f"Input {name!r} is held by {node!r}.")
    for node in dag.nodes:
        _verify_node(node)
    names = dag.names
    if len(names) != len(dag.outputs) or len(set(names)) != len(names):
        raise VerifyError(f"{len(dag.outputs)} outputs are named {names}.")


def _verify_node(node: Node) -> None:
    where = [f"{node!r}   from {node.origin}"]
    if OPS.get(node.op.name) is not node.op:
        raise VerifyError(f"{node.op.name!r} is not a registered operation.", where)
    if any(operand.serial >= node.serial for operand in node.operands):
        raise VerifyError("A node precedes one of its operands.", where)
    if node.is_input:
        return
    avals = [each.results[0] if len(each.results) == 1 else each.results for each in node.operands]
    try:
        inferred = node.op.infer(*avals, **node.params)
    except SymgraphError as error:
        raise VerifyError(
            f"{node.op.name} cannot take its operands: {error.what}", where
        ) from error
    results = inferred if isinstance(inferred, tuple) else (inferred,)
    if results != node.results:
        shown = ", ".join(map(str, results))
        raise VerifyError(f"The result is {node.results[0]}, but {shown} follows.", where)
    normal = node.op.normalize(tuple(avals), **node.params)
    if params_key(normal) != params_key(node.params):
        raise VerifyError(f"The params are not in their normal form, {normal}.", where)
