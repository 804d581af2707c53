"""The plan of least cost for one budget, found exactly where the graph is small.

The front of plans does not depend on a budget; it comes from searches that are quick for graphs of
any size. When a budget is known, a small graph is searched exactly for it, within a limit of work.
Where no plan fits, plans of ever smaller peaks are looked for.
"""

from __future__ import annotations

from ..lowering.memory_model import Model
from .exact_search import ExactSearch, Exhausted
from .planner import PlanSearch, backward_steps
from .plans import Plan, evaluated, thinned

__all__ = ["refined", "smallest"]

_MOVES = 20_000
"""How many moves are tried for the least cost."""
_CLOSED = 0.001
"""A known plan is good enough if it costs no more above the bound, as a share of all costs."""
_BEAM_MOVES = 60_000
"""How many then for a plan that costs little."""
_LEAST_MOVES = (10_000, 40_000)
"""How many for one peak that is tried, and for all."""


def refined(search: PlanSearch, budget: int) -> list[Plan]:
    """The plan of least cost for a budget, if the graph is small and one is found.

    What is found for one budget does not depend on those asked before.
    """
    if not search.small:
        return []
    if budget not in search.refined:
        model = search.model
        exact = ExactSearch(model, backward_steps(model))
        known = [plan for plan in search.front if plan.peak <= budget]
        below = exact.forward_cost(known[-1].extra_cost) if known else None
        try:
            sequence = exact.cheapest(budget, _MOVES, below=below)
        except Exhausted:
            sequence = None
            if below is None or below - exact.bound > _CLOSED * sum(model.costs):
                sequence = exact.near_cheapest(budget, _BEAM_MOVES, below)
        found = [] if sequence is None else [thinned(model, evaluated(model, sequence), budget)]
        search.refined[budget] = found
    return search.refined[budget]


def smallest(search: PlanSearch) -> list[Plan]:
    """Plans of smaller peaks than those of the front, if the graph is small."""
    if not search.small:
        return []
    if 0 not in search.refined:
        exact = ExactSearch(search.model, backward_steps(search.model))
        search.refined[0] = _smaller(search.model, exact, 1, search.front[0].peak - 1)
    return search.refined[0]


def _smaller(model: Model, exact: ExactSearch, low: int, high: int) -> list[Plan]:
    """Plans of ever smaller peaks from `high` down, none below `low`."""
    found: list[Plan] = []
    most, left = _LEAST_MOVES
    while low <= high and exact.moves < left:
        middle = (low + high) // 2
        try:
            sequence = exact.cheapest(middle, most, 0.0)
        except Exhausted:
            sequence = None
        if sequence is None:
            low = middle + 1
        else:
            found.append(evaluated(model, sequence))
            high = found[-1].peak - 1
    return found
