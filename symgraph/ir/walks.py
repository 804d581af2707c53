"""Walks over nodes: what values depend on, who uses them, and values put in place of others.

Sorting nodes by serial is a topological order, so no walk recurses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter

from .node import Node, on_operands

__all__ = ["ancestors", "consumers", "in_making_order", "reachable", "substituted"]

_by_serial = attrgetter("serial")


def reachable(outputs: Iterable[Node]) -> list[Node]:
    """All nodes the outputs depend on, themselves included, operands first."""
    seen: set[Node] = set(outputs)
    stack = list(seen)
    while stack:
        for operand in stack.pop().operands:
            if operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return sorted(seen, key=_by_serial)


def ancestors(outputs: Iterable[Node], among: Iterable[Node] | None = None) -> set[Node]:
    """Nodes the outputs depend on, themselves included; only those in `among` if it is given."""
    found = set(reachable(outputs))
    return found if among is None else found & set(among)


def consumers(nodes: Iterable[Node]) -> dict[Node, list[tuple[Node, int]]]:
    """For each node the pairs (consumer, operand slot), in order; `x * x` gives two."""
    uses: dict[Node, list[tuple[Node, int]]] = {}
    for node in nodes:
        uses.setdefault(node, [])
        for slot, operand in enumerate(node.operands):
            uses.setdefault(operand, []).append((node, slot))
    return uses


def substituted(
    outputs: Sequence[Node],
    replacement: Mapping[Node, Node],
    rebuild: Callable[[Node, tuple[Node, ...]], Node] | None = None,
) -> list[Node]:
    """The outputs with nodes replaced, all consumers rebuilt bottom-up.

    `rebuild(node, operands)` makes the new node; by default the same op and params on new
    operands, with the node's own origin.
    """
    new: dict[Node, Node] = dict(replacement)
    for node in reachable(outputs):
        if node in new:
            continue
        operands = tuple([new[operand] for operand in node.operands])
        if rebuild is None or operands == node.operands:
            new[node] = on_operands(node, operands)
        else:
            new[node] = rebuild(node, operands)
    return [new[output] for output in outputs]


def in_making_order(nodes: Iterable[Node], outputs: Iterable[Node]) -> list[Node]:
    """All nodes below these, operands first, in the order of their making.

    All graphs of a process share nodes made of constants alone, so the age of such a node tells of
    other graphs. It stands before its first use instead, or before the outputs.
    """
    made = reachable(nodes)
    depends: set[Node] = set()
    for node in made:
        if node.is_input or not depends.isdisjoint(node.operands):
            depends.add(node)
    order: dict[Node, None] = {}
    met: set[Node] = set()  # nodes made by hand may go round in a circle
    for node in [*(each for each in made if each in depends), *outputs]:
        stack = [] if node in met else [node]
        met.add(node)
        while stack:
            operand = next((each for each in stack[-1].operands if each not in met), None)
            if operand is None:
                order[stack.pop()] = None
            else:
                met.add(operand)
                stack.append(operand)
    return list(order)
