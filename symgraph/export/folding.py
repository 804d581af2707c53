"""Folding: a graph that is too large for a picture becomes a graph of groups.

Groups are the user's scopes, or blocks that repeat, such as the layers of a network, or stretches
of the reading order. The gradient of a group is a group of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..ir.node import Node
from ..records import record

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["MOST", "FoldedNodes", "Unit", "acyclic", "grouped"]

MOST = 70
"""A picture of more boxes is folded."""
_BLOCKS = 8
_STRETCHES = 12
_SHORTEST = 2


@record
class FoldedNodes:
    """Nodes that are drawn as one box.

    Parameters
    ----------
    title : str
    gradient : bool
        Whether it holds the gradient of the group of this title.
    number : int
        The place of the group among all.
    """

    title: str
    gradient: bool
    number: int


Unit: TypeAlias = Hashable
"""What is drawn as one box: a `Node` or a `FoldedNodes`."""


def grouped(
    forward: Sequence[Node],
    gradient: Sequence[Node],
    beside: Mapping[Node, Node],
    sources: Mapping[Node, Sequence[Node]],
    scope: Callable[[Node], tuple[str, ...]],
) -> dict[Node, Unit]:
    """The box of each node.

    Parameters
    ----------
    forward, gradient : sequence of Node
        In reading order.
    beside : mapping of Node to Node
        For nodes of the gradient the forward node that they stand beside.
    sources : mapping of Node to sequence of Node
        The nodes whose values a node uses.
    scope : callable
        The path of the user's scopes of a forward node.
    """
    units: dict[Node, Unit] = {}
    for number, (title, members) in enumerate(_stretches(forward, scope)):
        unit: Unit = FoldedNodes(title, False, number) if len(members) > 1 else members[0]
        units.update(dict.fromkeys(members, unit))
    # The gradient runs from the last group to the first: a node is never in a later group than
    # its operands, or the groups would need each other.
    order = list(dict.fromkeys(units.values()))
    places = {unit: place for place, unit in enumerate(order)}
    reached: dict[Node, int] = {}
    for node in gradient:
        own = places[units[beside[node]]] if node in beside else len(order) - 1
        reached[node] = min([own, *(reached[each] for each in sources[node] if each in reached)])
        known = order[reached[node]] if order else node
        units[node] = (
            FoldedNodes(known.title, True, known.number) if isinstance(known, FoldedNodes) else node
        )
    # What remains of a gradient without a forward part is folded like a forward part.
    rest = [node for node in gradient if units[node] is node]
    if len(rest) > MOST // 2:
        for number, (title, members) in enumerate(_stretches(rest, scope)):
            if len(members) > 1:
                units.update(
                    dict.fromkeys(members, FoldedNodes(title, True, len(forward) + number))
                )
    return units


def acyclic(units: Mapping[Node, Unit], pairs: Sequence[tuple[Node, Node]]) -> dict[Node, Unit]:
    """The boxes, with those merged that need each other's results."""
    import networkx as nx  # a quarter of what `import symgraph` takes: paid when first asked for

    quotient: nx.DiGraph[Unit] = nx.DiGraph()
    quotient.add_nodes_from(units.values())
    quotient.add_edges_from((units[a], units[b]) for a, b in pairs if units[a] != units[b])
    merged: dict[Unit, Unit] = {}
    for part in nx.strongly_connected_components(quotient):
        if len(part) == 1:
            continue
        groups = sorted((each for each in part if isinstance(each, FoldedNodes)), key=_number)
        first = groups[0] if groups else FoldedNodes("a knot", True, -1)
        merged.update(dict.fromkeys(part, first))
    return {node: merged.get(unit, unit) for node, unit in units.items()}


def _number(group: FoldedNodes) -> int:
    return group.number


# -- stretches of the reading order ----------------------------------------------------------------
def _stretches(
    nodes: Sequence[Node], scope: Callable[[Node], tuple[str, ...]]
) -> list[tuple[str, list[Node]]]:
    """Nodes in a row that make one box, with a title."""
    by_scope = _scopes(nodes, scope)
    if len(by_scope) > 1 and len(by_scope) < len(nodes) / 2:
        return by_scope
    found = _repeated(nodes)
    if found is None:
        return _pieces(nodes)
    start, period, count = found
    each = -(-count // _BLOCKS)
    blocks: list[tuple[str, list[Node]]] = []
    for first in range(0, count, each):
        last = min(first + each, count)
        inside = list(nodes[start + first * period : start + last * period])
        title = f"block {first + 1}" if last == first + 1 else f"blocks {first + 1}–{last}"
        blocks.append((f"{title} of {count}", inside))
    before, after = nodes[:start], nodes[start + count * period :]
    return [*_few(before), *blocks, *_few(after)]


def _scopes(
    nodes: Sequence[Node], scope: Callable[[Node], tuple[str, ...]]
) -> list[tuple[str, list[Node]]]:
    """Runs of nodes in one scope, as deep as leaves a picture that can be overlooked."""
    paths = [scope(node) for node in nodes]
    best: list[tuple[tuple[str, ...], list[Node]]] = []
    for depth in range(1, max(map(len, paths), default=0) + 1):
        runs: list[tuple[tuple[str, ...], list[Node]]] = []
        shallow = [path[:depth] for path in paths]
        for path, members in groupby(zip(shallow, nodes, strict=True), itemgetter(0)):
            inside = [node for _, node in members]
            runs += [(path, inside)] if path else [((), [node]) for node in inside]
        if best and (len(runs) > MOST // 2 or len(runs) >= len(nodes) / 2):
            break
        # Where a deeper scope parts nothing, the outer title tells more.
        best = best if len(runs) == len(best) else runs
    return [(_title(path, [each for each, _ in best]), inside) for path, inside in best]


def _title(path: tuple[str, ...], others: Sequence[tuple[str, ...]]) -> str:
    """The last parts of a path, as many as tell it from other paths of this graph."""
    different = set(others)
    for count in range(1, len(path)):
        if sum(each[-count:] == path[-count:] for each in different) == 1:
            return " / ".join(path[-count:])
    return " / ".join(path)


def _few(nodes: Sequence[Node]) -> list[tuple[str, list[Node]]]:
    return [("", [node]) for node in nodes] if len(nodes) <= _STRETCHES else _pieces(nodes)


def _pieces(nodes: Sequence[Node]) -> list[tuple[str, list[Node]]]:
    """Stretches of equal length, for a graph without structure."""
    size = max(-(-len(nodes) // _STRETCHES), 2)
    return [
        (f"nodes {at + 1}–{min(at + size, len(nodes))}", list(nodes[at : at + size]))
        for at in range(0, len(nodes), size)
    ]


def _repeated(nodes: Sequence[Node]) -> tuple[int, int, int] | None:
    """The start, the length and the number of the blocks of operations that repeat the longest."""
    numbers: dict[Hashable, int] = {}
    words = np.array(
        [numbers.setdefault((node.op, node.results), len(numbers)) for node in nodes], dtype=np.intp
    )
    best: tuple[int, int, int] | None = None
    covered = 0
    for period in range(_SHORTEST, min(len(words) // 2, 400) + 1):
        start, length = _longest_run(words[:-period] == words[period:])
        count = length // period + 1
        if length >= period and count * period > covered:
            best, covered = (start, period, count), count * period
    return best if covered >= len(nodes) / 2 else None


def _longest_run(same: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[int, int]:
    edges = np.flatnonzero(np.diff(np.concatenate(([False], same, [False]))))
    if not edges.size:
        return 0, 0
    starts, lengths = edges[::2], edges[1::2] - edges[::2]
    longest = int(np.argmax(lengths))
    return int(starts[longest]), int(lengths[longest])
