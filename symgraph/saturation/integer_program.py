"""Extraction as an integer program, solved by HiGHS: the exact answer for small e-graphs.

Each way to compute a class has a binary variable, and so has each class. A chosen way needs the
classes of its operands. Where ways may need one another in a circle, each class has a level, which
lies above the levels of the classes it needs. Source: Y. Yang et al., Equality saturation for
tensor graph superoptimization, MLSys 2021, with levels only inside strongly connected components.
The search is bounded in nodes, never in seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .choices import ENode

__all__ = ["solved"]

_SEARCH_NODES = 100


def solved(
    ways: Mapping[int, Sequence[ENode]], roots: Sequence[int], most: float
) -> dict[int, ENode] | None:
    """The cheapest choice for all that the roots need; None if it costs more than `most`."""
    # The import takes half a second, so it is made when it is needed.
    from scipy.optimize import Bounds, LinearConstraint, milp

    needed = _needed(ways, roots)
    enodes = [way for own in needed for way in ways[own]]
    at = {own: len(enodes) + i for i, own in enumerate(needed)}
    limits = _constraints(enodes, at, _circles(needed, ways))
    limits.add(-most, *((i, -each.weight) for i, each in enumerate(enodes)))
    size = len(enodes) + 2 * len(needed)
    upper = np.ones(size)
    upper[len(enodes) + len(needed) :] = len(needed)
    lower = np.zeros(size)
    lower[[at[root] for root in roots]] = 1
    whole = np.zeros(size)
    whole[: len(enodes)] = 1
    weights = np.zeros(size)
    weights[: len(enodes)] = [each.weight for each in enodes]
    box: Any = (lower, upper)
    least: Any = np.array(limits.least)
    found: Any = milp(
        weights,
        integrality=whole,
        bounds=Bounds(*box),
        constraints=LinearConstraint(limits.matrix(size), least, np.inf),
        options={"node_limit": _SEARCH_NODES},
    )
    if found.x is None:
        return None
    taken: dict[int, ENode] = {}
    for i, each in enumerate(enodes):
        if found.x[i] > 0.5 and each.own not in taken:
            taken[each.own] = each
    return taken


@dataclass
class _Constraints:
    """Linear constraints `A x >= least`, row by row."""

    entries: list[tuple[int, int, float]] = field(default_factory=list[tuple[int, int, float]])
    least: list[float] = field(default_factory=list[float])

    def add(self, least: float, *parts: tuple[int, float]) -> None:
        """Add a row from pairs of a variable and its factor."""
        self.entries.extend((len(self.least), column, value) for column, value in parts)
        self.least.append(least)

    def matrix(self, size: int) -> Any:
        """The sparse matrix `A`, with a column for each of `size` variables."""
        from scipy.sparse import coo_array

        rows, columns, values = zip(*self.entries, strict=True)
        data: Any = (values, (rows, columns))
        return coo_array(data, shape=(len(self.least), size)).tocsr()


def _constraints(
    enodes: Sequence[ENode], at: Mapping[int, int], circles: Mapping[int, int]
) -> _Constraints:
    """A class that is needed has a chosen way; a chosen way needs its classes, without a circle.

    The variables are the e-nodes, then the classes in the columns `at`, then their levels.
    """
    limits = _Constraints()
    count = len(at)
    for own, column in at.items():
        ways = [(i, 1.0) for i, each in enumerate(enodes) if each.own == own]
        limits.add(0, *ways, (column, -1.0))
    for i, each in enumerate(enodes):
        for below in dict.fromkeys(each.below):
            limits.add(0, (at[below], 1.0), (i, -1.0))
            if circles[below] != circles[each.own]:
                continue
            # level(own) >= level(below) + 1 where this way is chosen
            up, down = at[each.own] + count, at[below] + count
            if up == down:
                limits.add(0, (i, -1.0))
            else:
                limits.add(1 - float(count), (up, 1.0), (down, -1.0), (i, -float(count)))
    return limits


def _needed(ways: Mapping[int, Sequence[ENode]], roots: Sequence[int]) -> list[int]:
    """The classes that any choice for the roots may need."""
    found = dict.fromkeys(roots)
    stack = list(roots)
    while stack:
        for way in ways[stack.pop()]:
            for each in way.below:
                if each not in found:
                    found[each] = None
                    stack.append(each)
    return list(found)


def _circles(needed: Sequence[int], ways: Mapping[int, Sequence[ENode]]) -> dict[int, int]:
    """For each class the number of its strongly connected component."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    place = {own: i for i, own in enumerate(needed)}
    edges = [(place[own], place[each]) for own in needed for way in ways[own] for each in way.below]
    ends: Any = ([a for a, _ in edges], [b for _, b in edges])
    graph = coo_array((np.ones(len(edges)), ends), shape=(len(needed), len(needed)))
    _, labels = connected_components(graph, directed=True, connection="strong")
    return {own: int(labels[place[own]]) for own in needed}
