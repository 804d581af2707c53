r"""A graph applied to each of a batch at once: the transform behind `vmap`.

For $y = f(x)$ the nodes of f are made again, operands first. A node that depends on a batched
input gets the batch on its first axis: its operation's record says how (`Op.batch`). Any other node
stays as it is, and is computed once. An operation without such a rule is applied to one example
after the other, in a loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ..array.handle import Array, project
from ..ir.dims import Dim
from ..ir.node import Node, make, origin
from ..ir.op import Batch, Unbatched
from ..ops.closures import fresh_like
from ..ops.scan import looped

__all__ = ["Mapped", "batched", "one_by_one"]

Mapped: TypeAlias = "tuple[Array, bool]"
"""A value, and whether it has the batch on its first axis."""


def batched(outputs: Sequence[Node], given: Mapping[Node, Mapped], size: Dim) -> list[Mapped]:
    """The outputs for each of a batch.

    Parameters
    ----------
    outputs : sequence of Node
    given : mapping of Node to (Array, bool)
        The array that stands in for an input, and whether it is batched.
    size : Dim
        How many there are in the batch.
    """
    known: dict[Node, list[Mapped]] = {node: [value] for node, value in given.items()}
    for node in _dependent(outputs, given):
        with origin(node.origin):
            known[node] = _mapped(node, known, size)
    return [known[node][0] if node in known else (Array(node), False) for node in outputs]


def _dependent(outputs: Sequence[Node], given: Mapping[Node, Mapped]) -> list[Node]:
    """Nodes below the outputs that depend on the given nodes, operands first."""
    floor = min((node.serial for node in given), default=0)
    seen = {node for node in outputs if node.serial > floor}
    stack = list(seen)
    while stack:
        for operand in stack.pop().operands:
            if operand not in seen and operand.serial > floor:
                seen.add(operand)
                stack.append(operand)
    found: dict[Node, None] = {}
    for node in sorted(seen, key=lambda each: each.serial):
        if node not in given and any(each in given or each in found for each in node.operands):
            found[node] = None
    return list(found)


def _mapped(node: Node, known: Mapping[Node, list[Mapped]], size: Dim) -> list[Mapped]:
    """The results of a node for each of a batch."""
    if node.op.name == "project":
        return [known[node.operands[0]][node.params["index"]]]
    pairs = [known[each][0] if each in known else (Array(each), False) for each in node.operands]
    operands = tuple([operand for operand, _ in pairs])
    flags = tuple([flag for _, flag in pairs])
    if not any(flags):
        again = make(node.op, [each.node for each in operands], node.params, node.copy)
        count = len(node.results)
        return [(Array(again if count == 1 else project(again, i)), False) for i in range(count)]
    batch = Batch(
        node.op, operands, flags, size, batched, lambda: one_by_one(node, operands, flags, size)
    )
    rule = node.op.batch
    found = batch.one_by_one() if rule is None else rule(batch, **node.params)
    results: Sequence[Any] = found if isinstance(found, (tuple, list)) else [found]
    return [
        (each.value, False) if isinstance(each, Unbatched) else (each, True) for each in results
    ]


def one_by_one(
    node: Node, operands: Sequence[Array], flags: Sequence[bool], size: Dim
) -> list[Any]:
    """The results of a loop that applies the operation to one example after the other."""
    inner = [
        fresh_like(old.aval, "example") if flag else operand.node
        for old, operand, flag in zip(node.operands, operands, flags, strict=True)
    ]
    scanned = [
        (one, operand) for one, operand, flag in zip(inner, operands, flags, strict=True) if flag
    ]
    again = make(node.op, inner, node.params)
    count = len(again.results)
    steps = [again] if count == 1 else [project(again, index) for index in range(count)]
    return looped([], scanned, steps, length=size, reverse=False).stacked
