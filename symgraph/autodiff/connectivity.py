"""Whether a derivative is zero, disconnected or undefined, and the path that shows it.

There are three answers to "why is there no gradient?". Disconnected: no path leads from the target
to the output. Zero: each path passes an operation whose derivative is zero by nature, such as a
comparison. Undefined: a path passes an operation that has no derivative.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..array import Array, project
from ..errors import NotDifferentiable
from ..ir.differentiation import Pull, Undefined
from ..ir.node import Node
from ..ir.walks import reachable
from ..ops.creation import input
from ..records import record
from .reverse import cotangents

__all__ = ["Connection", "Kind", "connection"]

Kind: TypeAlias = Literal["connected", "zero", "disconnected", "undefined"]


@record
class Connection:
    """How an output depends on a target.

    Parameters
    ----------
    kind : "connected", "zero", "disconnected" or "undefined"
    path : tuple of Node
        The nodes from the target to the output; empty if disconnected.
    reason : str
        The operation on the path that decides the kind, and why.
    """

    kind: Kind
    path: tuple[Node, ...] = ()
    reason: str = ""

    def __str__(self) -> str:
        steps = " -> ".join(
            node.params["name"] if node.is_input else node.op.name for node in self.path
        )
        return (
            f"{self.kind}"
            + (f": {self.reason}" if self.reason else "")
            + (f" (path {steps})" if steps else "")
        )


def _blocked(node: Node, slot: int) -> str | Undefined:
    """Why no derivative flows from `node` back to operand `slot`; empty if one does."""
    if node.operands[slot].aval.dtype.kind != "f":
        return f"{node.operands[slot].aval.dtype} values have no derivative"
    if node.op.name == "project":
        return ""
    rule = node.op.vjp_rule(slot)
    if isinstance(rule, Undefined):
        return rule
    zero = f"the derivative of {node.op.name} is zero"
    if rule is None:
        return zero
    return "" if node.op.pullback is None else _blocked_by_pullback(node, slot, zero)


def _blocked_by_pullback(node: Node, slot: int, zero: str) -> str | Undefined:
    """The same for a loop or a branch: its pullback is asked for the cotangent."""
    single = len(node.results) == 1
    outs = [Array(node if single else project(node, i)) for i in range(len(node.results))]
    cts = [input("cotangent", out.shape, out.dtype) if out.aval.is_float else None for out in outs]
    operands = tuple([Array(operand) for operand in node.operands])
    pull = Pull(tuple(cts), tuple(outs), operands, (slot,), 0, cotangents)
    try:
        (found,) = node.op.pullback(pull, **node.params) if node.op.pullback else (None,)
    except NotDifferentiable as error:
        return Undefined(error.what.rstrip("."))
    return zero if found is None else ""


def connection(output: Node, target: Node) -> Connection:
    """How `output` depends on `target`, in time linear in the edges between them."""
    nodes = reachable([output])
    reached: dict[Node, Node | None] = {target: None}
    flowing: dict[Node, Node | None] = {target: None}
    undefined: dict[Node, tuple[Node | None, str]] = {}
    reason = ""
    for node in nodes:
        for slot, operand in enumerate(node.operands):
            if operand not in reached:
                continue
            reached.setdefault(node, operand)
            why = _blocked(node, slot)
            if operand in undefined and not why:
                undefined.setdefault(node, (operand, undefined[operand][1]))
            if operand not in flowing:
                continue
            if isinstance(why, Undefined):
                undefined.setdefault(node, (operand, f"{node.op.name}: {why.why}"))
            elif why:
                reason = reason or why
            else:
                flowing.setdefault(node, operand)
    if output in undefined:
        back = {node: before for node, (before, _) in undefined.items()}
        return Connection("undefined", _path(output, {**flowing, **back}), undefined[output][1])
    if output in flowing:
        return Connection("connected", _path(output, flowing))
    if output in reached:
        return Connection("zero", _path(output, reached), reason)
    return Connection("disconnected")


def _path(output: Node, before: dict[Node, Node | None]) -> tuple[Node, ...]:
    path: list[Node] = []
    node: Node | None = output
    while node is not None:
        path.append(node)
        node = before[node]
    return tuple(reversed(path))
