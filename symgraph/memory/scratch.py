"""Memory that one operation needs while it runs, beside its operands and its result.

An operation such as softmax is lowered to several calls, whose intermediate results are live while
it runs. Their bytes are measured on the program of the operation alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ir.body import Body
from ..ir.dag import Dag
from ..ir.node import Node, make
from ..lowering.memory_model import node_bytes, resolved, workspace_bytes
from ..lowering.peak import predicted_peak
from ..lowering.program import program_of
from ..lowering.source_pieces import Defined
from ..ops.creation import input

__all__ = ["scratch_bytes"]

_known: dict[tuple[object, ...], int] = {}
_MOST_KNOWN = 4096


def scratch_bytes(node: Node, dims: Mapping[str, int] | None = None) -> int:
    """Bytes that a node needs while it is computed, beside operands and result.

    They are zero for an operation that is one call of NumPy; memory inside the call is not counted.
    """
    if node.op.custom:
        return workspace_bytes(node, dims)
    bodies = [each for each in node.params.values() if isinstance(each, Body)]
    if node.op.ufunc or node.op.view or not node.operands or (len(node.results) > 1 and not bodies):
        return 0
    if any(len(operand.results) > 1 for operand in node.operands):
        return 0
    key = _key(node, dims)
    found = _known.get(key)
    if found is None:
        found = _of_bodies(node, bodies, dims) if bodies else _measured(node, dims)
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = found
    return found


def _of_bodies(node: Node, bodies: Sequence[Body], dims: Mapping[str, int] | None) -> int:
    """The largest peak of a body, with the carries that a step begins with."""
    carried = node.params.get("carries", 0)
    held = [aval.nbytes for aval in Defined(node).laid_out]
    return max(
        predicted_peak(program_of(body.dag, handed_out=False), dims)
        + sum(resolved(size, dims) for size in held)
        + sum(resolved(aval.nbytes, dims) for aval in body.operand_avals[:carried])
        for body in bodies
    )


def _key(node: Node, dims: Mapping[str, int] | None) -> tuple[object, ...]:
    """The key of the cache: everything that the bytes depend on."""
    params = tuple([(name, str(value)) for name, value in node.params.items()])
    avals = tuple([operand.aval for operand in node.operands])
    constants = tuple([operand.is_constant for operand in node.operands])
    return (node.op.name, params, avals, constants, tuple(sorted((dims or {}).items())))


def _measured(node: Node, dims: Mapping[str, int] | None) -> int:
    inputs: dict[str, Node] = {}
    operands: list[Node] = []
    made: dict[Node, Node] = {}
    for operand in node.operands:
        if operand.is_constant:
            operands.append(operand)
            continue
        if operand not in made:
            name = f"x{len(inputs)}"
            made[operand] = inputs[name] = input(name, operand.shape, operand.dtype).node
        operands.append(made[operand])
    alone = make(node.op, operands, node.params)
    program = program_of(Dag(inputs, [alone]))
    return max(0, predicted_peak(program, dims) - node_bytes(node, dims) - _scalar_bytes(node))


def _scalar_bytes(node: Node) -> int:
    """Bytes of a scalar result: the program copies it into an array, the operation does not."""
    return 0 if node.shape else node.dtype.itemsize
