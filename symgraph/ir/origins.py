"""Where the nodes of a graph come from: the user's lines, and the nodes whose adjoints they are."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sized
from operator import attrgetter
from typing import Any, Protocol

from .node import NOTES, Node, Origin

__all__ = [
    "adjoint_chain",
    "noted",
    "origins",
]


class _Nodes(Container["Node"], Iterable["Node"], Sized, Protocol):
    """Nodes that can be counted, listed and looked up."""


def noted(node: Node, among: _Nodes) -> list[Origin]:
    """The notes of a shared node that name one of these nodes, the oldest first."""
    known = NOTES.get(node)
    if not known:
        return []
    # A constant such as 1 has notes of all graphs of the process.
    few: Iterable[Any] = [ref() for ref in known.keyrefs()] if len(known) < len(among) else among
    found = [(known.get(each), each) for each in few if each is not None and each in among]
    told = sorted([(*kept, each) for kept, each in found if kept is not None], key=lambda t: t[0])
    return [Origin(frames, adjoint, rule, shared=True) for _, frames, rule, adjoint in told]


def adjoint_chain(found: Origin) -> list[Node]:
    """The node whose adjoint a value is, the node whose adjoint that node is, and so on.

    Each node comes once, for notes of shared nodes may form a circle.
    """
    chain: dict[Node, None] = {}
    at = found.adjoint_of
    while at is not None and at not in chain:
        chain[at] = None
        at = at.origin.adjoint_of
    return list(chain)


def _by_lines(found: Origin) -> list[tuple[str, int]]:
    return [(frame.file, frame.line) for frame in found.frames]


def origins(nodes: Iterable[Node]) -> Mapping[Node, Origin]:
    """The origin of each node within the graph of these nodes.

    A node that several graphs share takes its origin from a note: of the notes that name a node of
    this graph, the one with the first line. Without such a note it takes the origin of its first
    use, in the forward part if it is used there; without a use its origin is empty. So no line of
    another graph is shown.

    Parameters
    ----------
    nodes : iterable of Node
    """
    ordered = sorted(nodes, key=attrgetter("serial"))
    found = {node: node.origin for node in ordered}
    user: dict[Node, Node] = {}
    for node in reversed(ordered):
        if node.origin.shared:
            notes = noted(node, found)
            first = found[user[node]] if node in user else Origin(shared=True)
            found[node] = min(reversed(notes), key=_by_lines, default=first)
        forward = found[node].adjoint_of is None
        for operand in node.operands:
            if forward or operand not in user or found[user[operand]].adjoint_of is not None:
                user[operand] = node
    return found
