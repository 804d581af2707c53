"""The names of a graph's nodes, of those that each node has (`naming`)."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Collection, Iterable

from .node import Node
from .value_names import DERIVED

__all__ = ["given_names", "name_of", "variables_of"]


def given_names(nodes: Iterable[Node]) -> dict[Node, tuple[str, ...]]:
    """The names of the nodes of a graph that have any, the best first.

    A node that replaced another one has its name, unless the other one is in this graph, too. A
    name of the user's comes before the name of a gradient.

    Parameters
    ----------
    nodes : iterable of Node
        All nodes of the graph.
    """
    known = list(nodes)
    serials = {node.serial for node in known}
    found: dict[Node, tuple[str, ...]] = {}
    for node in known:
        if node.names and not node.is_constant and not node.is_input:
            texts = [
                each.text
                for each in node.names
                if each.holder == node.serial or each.holder not in serials
            ]
            if texts:
                found[node] = tuple(dict.fromkeys(texts))
    return found


def name_of(node: Node) -> str:
    """The name of an input, or the best name that the user gave to a value; empty without one."""
    if node.is_input:
        return node.params["name"]
    names = [each.text for each in node.names if each.depth < DERIVED]
    return names[0] if names else ""


_OURS = re.compile(r"[vdf]\d+|custom\d+_\w*|_\w*")
_TAKEN = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins)})


def variables_of(nodes: Iterable[Node], taken: Collection[str]) -> dict[Node, str]:
    """Names that generated source may use: inputs and variables of the user's, each for one node.

    A name is left out if it is no plain identifier of Python, if it means something in Python or in
    the source (`taken`), or if it looks like a name of ours (`v1`): so no text of the user's can be
    anything but the name of a variable. One that two values have is left out for both.

    Parameters
    ----------
    nodes : iterable of Node
        All nodes of the graph.
    taken : collection of str
        Names of the source itself.
    """
    known = list(nodes)
    found = {node: node.params["name"] for node in known if node.is_input}
    for node, names in given_names(known).items():
        held = {each.text for each in node.names if each.depth < DERIVED}
        chosen = next((name for name in names if name in held), None)
        if chosen is not None:
            found[node] = chosen
    counts: dict[str, int] = {}
    for name in found.values():
        counts[name] = counts.get(name, 0) + 1
    return {
        node: name
        for node, name in found.items()
        if counts[name] == 1
        and name.isascii()
        and name.isidentifier()
        and len(name) <= 40
        and name not in _TAKEN
        and name not in taken
        and not _OURS.fullmatch(name)
    }
