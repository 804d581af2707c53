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

__all__ = ["refined"]

_MOVES = 20_000
"""How many moves are tried for the least cost."""
_BEAM_MOVES = 60_000
"""How many then for a plan that costs little."""
_LEAST_MOVES = (10_000, 40_000)
"""How many for one peak that is tried, and for all."""


def refined(search: PlanSearch, budget: int) -> list[Plan]:
    """The plan of least cost for a budget, if the graph is small; if none fits, small ones.

    What is found for one budget does not depend on those asked before.
    """
    if not search.small:
        return []
    if budget not in search.refined:
        exact = ExactSearch(search.model, backward_steps(search.model))
        search.refined[budget] = _at_budget(search.model, exact, budget, search.front[0].peak)
    return search.refined[budget]


def _at_budget(model: Model, exact: ExactSearch, budget: int, least: int) -> list[Plan]:
    """Plans for a budget, or else plans of smaller peaks than `least`, which has a plan."""
    try:
        sequence = exact.cheapest(budget, _MOVES)
    except Exhausted:
        sequence = exact.near_cheapest(budget, _BEAM_MOVES)
    if sequence is not None:
        return [thinned(model, evaluated(model, sequence), budget)]
    return [] if least <= budget else _smaller(model, exact, budget + 1, least - 1)


def _smaller(model: Model, exact: ExactSearch, low: int, high: int) -> list[Plan]:
    """Plans of ever smaller peaks from `high` down, none below `low`."""
    found: list[Plan] = []
    most, left = _LEAST_MOVES
    exact.moves = 0
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
