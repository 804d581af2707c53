"""Extraction as an integer program, solved by HiGHS: the exact answer for small e-graphs.

Each way to compute a class has a binary variable, and so has each class. A chosen way needs the
classes of its operands. Where ways may need one another in a circle, each class has a level, which
lies above the levels of the classes it needs. Source: Y. Yang et al., Equality saturation for
tensor graph superoptimization, MLSys 2021, with levels only inside strongly connected components.
The search is bounded in nodes, never in seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    from scipy.sparse import coo_array

    needed = _needed(ways, roots)
    enodes = [way for own in needed for way in ways[own]]
    at = {own: len(enodes) + i for i, own in enumerate(needed)}
    circles = _circles(needed, ways)
    size = len(enodes) + 2 * len(needed)
    rows: list[tuple[int, int, float]] = []
    low: list[float] = []

    def constraint(least: float, *parts: tuple[int, float]) -> None:
        rows.extend((len(low), column, value) for column, value in parts)
        low.append(least)

    for own in needed:
        mine = [(i, 1.0) for i, each in enumerate(enodes) if each.own == own]
        constraint(0, *mine, (at[own], -1.0))
    for i, each in enumerate(enodes):
        for below in dict.fromkeys(each.below):
            constraint(0, (at[below], 1.0), (i, -1.0))
            if circles[below] == circles[each.own]:
                # level(own) >= level(below) + 1 where this way is chosen
                many = float(len(needed))
                up, down = at[each.own] + len(needed), at[below] + len(needed)
                if up == down:
                    constraint(0, (i, -1.0))
                else:
                    constraint(1 - many, (up, 1.0), (down, -1.0), (i, -many))
    constraint(-most, *((i, -each.weight) for i, each in enumerate(enodes)))
    upper = np.ones(size)
    upper[len(enodes) + len(needed) :] = len(needed)
    lower = np.zeros(size)
    lower[[at[root] for root in roots]] = 1
    whole = np.zeros(size)
    whole[: len(enodes)] = 1
    weights = np.zeros(size)
    weights[: len(enodes)] = [each.weight for each in enodes]
    data: Any = ([r[2] for r in rows], ([r[0] for r in rows], [r[1] for r in rows]))
    matrix = coo_array(data, shape=(len(low), size)).tocsr()
    box: Any = (lower, upper)
    least: Any = np.array(low)
    found: Any = milp(
        weights,
        integrality=whole,
        bounds=Bounds(*box),
        constraints=LinearConstraint(matrix, least, np.inf),
        options={"node_limit": _SEARCH_NODES},
    )
    if found.x is None:
        return None
    taken: dict[int, ENode] = {}
    for i, each in enumerate(enodes):
        if found.x[i] > 0.5 and each.own not in taken:
            taken[each.own] = each
    return taken


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
