r"""Which values to keep and which to compute again, at least cost: a minimum cut.

A value that is wanted is kept, or computed again from its operands, which are then wanted too. With
a cost for each of the two, the cheapest choice is a minimum cut: a wanted value has an edge of its
cost of keeping to the choice of computing it, from which an edge of its cost of computing leads to
the end, and edges that cannot be cut lead to its operands. The cut is where the largest flow stops,
which grows along shortest paths (Edmonds and Karp 1972).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from ..ir.node import Node
from ..records import record

__all__ = ["Choice", "cheapest_kept"]


@record
class Choice:
    """The cost of having a value.

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
    start, end = 0, 1
    place = {node: 2 + 2 * number for number, node in enumerate(choices)}
    network = _Network(2 + 2 * len(place))
    for node in wanted:
        if node in place:
            network.connect(start, place[node], inf)
    for node, choice in choices.items():
        value, computed = place[node], place[node] + 1
        network.connect(value, computed, inf if choice.keep is None else choice.keep)
        network.connect(computed, end, inf if choice.compute is None else choice.compute)
        for operand in choice.operands:
            if operand in place:
                network.connect(computed, place[operand], inf)
    near = network.near_side(start, end)
    return {node for node, value in place.items() if value in near and value + 1 not in near}


@dataclass
class _Network:
    """Edges with what may still flow along them, in either direction."""

    size: int
    left: list[dict[int, float]] = field(init=False)

    def __post_init__(self) -> None:
        self.left = [{} for _ in range(self.size)]

    def connect(self, begin: int, end: int, capacity: float) -> None:
        """An edge; the flow along it can be taken back."""
        self.left[begin][end] = self.left[begin].get(end, 0) + capacity
        self.left[end].setdefault(begin, 0)

    def near_side(self, start: int, end: int) -> set[int]:
        """The nodes that the start leads to when nothing more can flow to the end."""
        while True:
            before = self._reached(start, end)
            if end not in before:
                return set(before)
            path = [end]
            while path[-1] != start:
                path.append(before[path[-1]])
            steps = [*zip(path[1:], path, strict=False)]
            more = min([self.left[a][b] for a, b in steps])
            for a, b in steps:
                self.left[a][b] -= more
                self.left[b][a] += more

    def _reached(self, start: int, end: int) -> dict[int, int]:
        """The nodes that more can flow to, with the one before, up to the end."""
        before = {start: start}
        waiting = deque([start])
        while waiting and end not in before:
            here = waiting.popleft()
            for there, left in self.left[here].items():
                if left > 0 and there not in before:
                    before[there] = here
                    waiting.append(there)
        return before
