"""The plan of least cost for one budget, found exactly where the graph is small.

The front of plans does not depend on a budget; it comes from searches that are quick for graphs of
any size. When a budget is known, a small graph is searched exactly for it, within a limit of work.
Where no plan fits, the least peak is bracketed between a plan and a budget that is proven too small
for any plan that computes each gradient step once.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..lowering.memory_model import Model
from .exact_search import ExactSearch, Exhausted
from .planner import PlanSearch, backward_steps
from .plans import Plan, evaluated, pareto, thinned

__all__ = ["refined"]

_MOVES = 20_000
"""How many moves are tried for the least cost."""
_BEAM_MOVES = 60_000
"""How many then for a plan that costs little."""
_LEAST_MOVES = (10_000, 40_000)
"""How many for one bracket of the least peak, and for all."""


def refined(search: PlanSearch, budget: int) -> int:
    """Add the plan of least cost for a budget to the front, if the graph is small.

    If no plan fits, the plan of the least peak is added.

    Returns
    -------
    int
        Bytes below which no plan is that computes each gradient step once; 0 if none are known.
    """
    if not search.small:
        return 0
    if budget not in search.infeasible:
        exact = ExactSearch(search.model, backward_steps(search.model))
        found, search.infeasible[budget] = _at_budget(search.model, exact, budget, search.front)
        search.front[:] = pareto([*search.front, *found])
    return search.infeasible[budget]


def _at_budget(
    model: Model, exact: ExactSearch, budget: int, front: Sequence[Plan]
) -> tuple[list[Plan], int]:
    """Plans for a budget, or else one of the least peak, and the bytes that are too few."""
    low = 0
    sequence = None
    try:
        sequence = exact.cheapest(budget, _MOVES)
        low = budget + 1
    except Exhausted:
        sequence = exact.near_cheapest(budget, _BEAM_MOVES)
    if sequence is not None:
        return [thinned(model, evaluated(model, sequence), budget)], 0
    if front[0].peak <= budget:
        return [], 0  # It computes gradient steps again.
    return _least(model, exact, low, budget + 1, front[0].peak - 1)


def _least(
    model: Model, exact: ExactSearch, proven: int, low: int, high: int
) -> tuple[list[Plan], int]:
    """Plans of ever smaller peaks from `high` down, and the bytes that are proven too few."""
    found: list[Plan] = []
    most, left = _LEAST_MOVES
    exact.moves = 0
    while low <= high and exact.moves < left:
        middle = (low + high) // 2
        try:
            sequence = exact.cheapest(middle, most, 0.0)
        except Exhausted:
            low = middle + 1
            continue
        if sequence is None:
            low = middle + 1
            proven = max(proven, low)
        else:
            found.append(evaluated(model, sequence))
            high = found[-1].peak - 1
    return found, proven
