r"""Which values to keep and which to compute again, at least cost: a minimum cut.

A value that is wanted is kept, or computed again from its operands, which are then wanted too. With
a cost for each of the two, the cheapest choice is a minimum cut: a wanted value has an edge of its
cost of keeping to the choice of computing it, from which an edge of its cost of computing leads to
the sink, and edges that cannot be cut lead to its operands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx

from ..ir.node import Node

__all__ = ["Choice", "cheapest_kept"]


@dataclass(frozen=True, slots=True)
class Choice:
    """What it costs to have a value.

    Parameters
    ----------
    keep : int or None
        The cost of keeping it; None where that is not possible.
    compute : int or None
        The cost of computing it again; None where that is not possible.
    operands : sequence of Node
        The values that it is computed from.
    """

    keep: int | None
    compute: int | None
    operands: Sequence[Node] = ()


def cheapest_kept(choices: Mapping[Node, Choice], wanted: Iterable[Node]) -> set[Node]:
    """The values to keep so that the wanted ones are there at least cost.

    Parameters
    ----------
    choices : mapping of Node to Choice
        A value without a choice is there anyway.
    wanted : iterable of Node
    """
    wanted = [node for node in wanted if node in choices]
    if not wanted:
        return set()
    # Nodes of the network: the start, a value, the choice to compute it, and the end.
    network: Any = nx.DiGraph()
    network.add_node("end")
    for node in wanted:
        network.add_edge("start", node)
    for node, choice in choices.items():
        _connect(network, node, (node, "computed"), choice.keep)
        _connect(network, (node, "computed"), "end", choice.compute)
        for operand in choice.operands:
            if operand in choices:
                network.add_edge((node, "computed"), operand)
    _, (near, _) = nx.minimum_cut(network, "start", "end")
    return {node for node in choices if node in near and (node, "computed") not in near}


def _connect(network: Any, start: object, end: object, cost: int | None) -> None:
    """An edge of this capacity; without a cost it cannot be cut."""
    if cost is None:
        network.add_edge(start, end)
    else:
        network.add_edge(start, end, capacity=cost)
