"""Where regions end: how often each value is used, and which values are written by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir.node import Node
from ...ops.linalg import solve
from ...ops.matmul import MATMUL
from ...ops.movement import broadcast_to
from ...ops.totals import sum as total
from ..lifting.lifting import Lifter
from .regions import ARGUMENTS, SELECTIONS

__all__ = ["Borders"]


class Borders:
    """The borders of regions in one walk over a graph.

    Parameters
    ----------
    outputs : sequence of Node
    nodes : sequence of Node
        All nodes of the graph, operands first.
    parted : set of Node
        Values inside regions that an earlier walk split: they are ends in this one.

    Attributes
    ----------
    users : dict of Node to int
        How many nodes use a value; an output counts as one more user.
    used_by : dict of Node to list of Node
        The nodes that use a value.
    lifted : set of Node
        Nodes whose operation the algebra knows.
    ends : set of Node
        Values at which a region ends: outputs, and operands of operations that the algebra does not
        know or whose operands it writes out anyway.
    arguments : set of Node
        Operands of operations in `ARGUMENTS`.
    parted : set of Node
        Values inside regions that this walk splits.
    split : set of Node
        The regions that this walk splits.
    """

    def __init__(self, outputs: Sequence[Node], nodes: Sequence[Node], parted: set[Node]) -> None:
        self.users: dict[Node, int] = dict.fromkeys(nodes, 0)
        self.used_by: dict[Node, list[Node]] = {node: [] for node in nodes}
        self.lifted: set[Node] = {node for node in nodes if Lifter.knows(node)}
        self.ends: set[Node] = set(outputs)
        self.arguments: set[Node] = set()
        self.parted: set[Node] = set()
        self.split: set[Node] = set()
        for node in nodes:
            self._count(node)
        self.ends.update(parted & self.users.keys())
        for output in outputs:
            self.users[output] += 1
        for node in reversed(nodes):
            # A value that is repeated for several users has several users before it is repeated.
            if node.op is broadcast_to.op and self.users[node] > 1:
                self.users[node.operands[0]] += 1
            # Of r (x @ x) with several users x @ x is the array, so that they see r.
            elif node.op.traits.monomial and not node.ndim and self.users[node] > 1:
                for operand in node.operands:
                    if operand.op in (MATMUL, total.op):
                        self.users[operand] += 1

    def _count(self, node: Node) -> None:
        """Count a node as a user of its operands."""
        opened = node in self.lifted and node.op not in SELECTIONS
        for operand in dict.fromkeys(node.operands):
            self.users[operand] += 1
            self.used_by[operand].append(node)
            # The inverse of a system's matrix is one array: the matrix is written by itself.
            if not opened or (node.op is solve.op and operand is node.operands[0]):
                self.ends.add(operand)
            elif node.op in ARGUMENTS:
                self.arguments.add(operand)

    def part(self, node: Node, opened: Mapping[Node, bool]) -> bool:
        """Split a region: the next walk writes each value inside it by itself.

        True if there are such values. `opened` tells whether a value is part of the region of its
        users.
        """
        stack, found = [node], set[Node]()
        while stack:
            for each in stack.pop().operands:
                if opened.get(each) and each not in self.ends and each not in found:
                    found.add(each)
                    stack.append(each)
        self.parted |= found
        if found:
            self.split.add(node)
        return bool(found)
