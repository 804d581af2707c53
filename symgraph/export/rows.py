"""The rows of a layered drawing in two lanes.

A forward edge asks that its consumer stand below its operand, an edge of the gradient that it stand
above. A gradient box wishes for the row of the forward box whose adjoint it is. Rows are longest
paths under these constraints, moved towards the neighbours afterwards.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, TypeAlias

from ..records import record

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Item", "Key", "rows"]

Key: TypeAlias = Hashable
_SWEEPS = 10


@record
class Item:
    """A box to be placed.

    Parameters
    ----------
    key : hashable
    width, height : float
    gradient : bool
        Whether it stands in the lane of the gradient.
    beside : hashable, optional
        The forward box whose row it wishes for.
    """

    key: Key
    width: float
    height: float
    gradient: bool = False
    beside: Key | None = None


def rows(items: Sequence[Item], edges: Iterable[tuple[Key, Key]]) -> dict[Key, int]:
    """The row of each box, counted from the top.

    Parameters
    ----------
    items : sequence of Item
    edges : iterable of pairs
        Operand and consumer, without circles.
    """
    import networkx as nx  # a quarter of what `import symgraph` takes: paid when first asked for

    edges = list(edges)
    gradient = {item.key for item in items if item.gradient}
    order: nx.DiGraph[Key] = nx.DiGraph()
    order.add_nodes_from(item.key for item in items)
    for source, target in edges:
        if source not in gradient and target not in gradient:
            order.add_edge(source, target)
        elif source in gradient and target in gradient:
            order.add_edge(target, source)
    wishes = order.copy()
    wishes.add_edges_from(_beside(items, order))
    # A simplified gradient may run against the order of the forward part.
    if nx.is_directed_acyclic_graph(wishes):
        order = wishes
    found: dict[Key, int] = {}
    for key in nx.topological_sort(order):
        found[key] = max((found[each] + 1 for each in order.predecessors(key)), default=0)
    partners: dict[Key, list[Key]] = {item.key: [] for item in items}
    for source, target in edges:
        partners[source].append(target)
        partners[target].append(source)
    # The adjoint counts twice: it is what the eye looks for.
    for item in items:
        if item.beside in partners:
            partners[item.key] += [item.beside, item.beside]
    return _compact(_moved(order, partners, found))


def _beside(items: Sequence[Item], order: nx.DiGraph[Key]) -> list[tuple[Key, Key]]:
    """The wish to stand below the operands of the forward box and above its consumers."""
    pairs: list[tuple[Key, Key]] = []
    for item in items:
        if item.gradient and item.beside in order:
            pairs += [(each, item.key) for each in order.predecessors(item.beside)]
            pairs += [(item.key, each) for each in order.successors(item.beside)]
    return pairs


def _moved(
    order: nx.DiGraph[Key], partners: Mapping[Key, Sequence[Key]], found: dict[Key, int]
) -> dict[Key, int]:
    """The rows after each box has moved to the middle of its neighbours, as far as it may."""
    import networkx as nx

    last = max(found.values(), default=0)
    down = list(nx.topological_sort(order))
    for sweep in range(_SWEEPS):
        for key in down if sweep % 2 else reversed(down):
            low = max((found[each] + 1 for each in order.predecessors(key)), default=0)
            high = min((found[each] - 1 for each in order.successors(key)), default=last)
            if partners[key] and low < high:
                wish = round(fmean(found[each] for each in partners[key]))
                found[key] = min(max(wish, low), high)
    return found


def _compact(found: Mapping[Key, int]) -> dict[Key, int]:
    numbers = {row: number for number, row in enumerate(sorted(set(found.values())))}
    return {key: numbers[row] for key, row in found.items()}
