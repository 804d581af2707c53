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
    """The notes of a shared node that speak of one of these nodes, in the order of their making."""
    known = NOTES.get(node)
    if not known:
        return []
    # A constant such as 1 has notes of all graphs of the process.
    few: Iterable[Any] = [ref() for ref in known.keyrefs()] if len(known) < len(among) else among
    found = [(known.get(each), each) for each in few if each is not None and each in among]
    told = sorted([(*kept, each) for kept, each in found if kept is not None], key=lambda t: t[0])
    return [Origin(frames, adjoint, rule, shared=True) for _, frames, rule, adjoint in told]


def adjoint_chain(found: Origin) -> list[Node]:
    """What a value of this origin is the adjoint of, what that is the adjoint of, and so on.

    Each once: notes of nodes that graphs share may go round in a circle.
    """
    chain: dict[Node, None] = {}
    at = found.adjoint_of
    while at is not None and at not in chain:
        chain[at] = None
        at = at.origin.adjoint_of
    return list(chain)


def origins(nodes: Iterable[Node]) -> Mapping[Node, Origin]:
    """The origin of each node in the graph of these.

    Of a node that graphs share it is the last note that speaks of a node of this graph, and
    otherwise the origin of its first use: a line of another graph is not shown. What nothing uses
    has an empty one then.

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
            found[node] = notes[-1] if notes else first
        user.update(dict.fromkeys(node.operands, node))
    return found
