"""The plan of least cost for one budget, found exactly where the graph is small.

The front of plans does not depend on a budget; it comes from searches that are quick for graphs of
any size. When a budget is known, a small graph is searched exactly for it, within a limit of work.
Where the search does not come to an end, a plan for a smaller budget may be better than the one it
has found. So some smaller budgets of a ladder are searched in the same way, and costs hardly ever
rise with the budget, though no search knows of another. Where no plan fits, plans of ever smaller
peaks are looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import gcd

from ..lowering.memory_model import Model, least_bytes
from .aims import never
from .exact_search import ExactSearch, Exhausted
from .exact_states import States
from .least_peak import LeastPeak, least_peak
from .live_set_costs import LiveSetCosts, TooLarge, expected_work
from .planner import PlanSearch, backward_steps
from .plans import Plan, evaluated, thinned

__all__ = ["refined", "smallest"]

_MOVES = 20_000
"""How many moves are tried for the least cost."""
_CLOSED = 0.001
"""A known plan is good enough if it costs no more above the bound, as a share of all costs."""
_MOST_WHOLE = 19
"""Up to so many forward values tables have all sequences, not only those of results first."""
_WHOLE_WORK = 12 * 10**8
"""Where more work is expected, they have them only if no sequence is known."""
_BEAM_MOVES = 60_000
"""How many then for a plan that costs little."""
_LEAST_MOVES = (5_000, 20_000, 120_000)
"""How many for one peak that is tried: exactly, then by a beam; and for all."""
_RUNGS = 64
"""How many rungs the ladder has at most, from the least bytes to the peak without a plan."""
_MOST_BELOW = 8
"""How many rungs below a budget are searched at most."""
_PATIENCE = 2
"""How many of them in turn may find nothing better, once there is a plan."""


def refined(search: PlanSearch, budget: int, over: Callable[[], bool] = never) -> list[Plan]:
    """The plan of least cost for a budget, if the graph is small and one is found.

    What is found for one budget does not depend on those asked before, if there is time.

    Parameters
    ----------
    search : PlanSearch
    budget : int
    over : callable
        Says when the time is over.
    """
    if not search.small:
        return []
    front = [plan for plan in search.front if plan.peak <= budget][-1:]
    found: list[Plan] = []
    best = min([plan.extra_cost for plan in front], default=None)
    waited = -1  # The search for the budget itself does not count.
    for limit in (budget, *_rungs_below(search, budget)):
        if limit not in search.refined:
            if over():
                break
            search.refined[limit] = _searched(search, limit, over)
        plans, settled = search.refined[limit]
        better = [plan for plan in plans if best is None or plan.extra_cost < best]
        found += better
        best = min([plan.extra_cost for plan in better], default=best)
        waited = 0 if better else waited + 1
        if settled or (best is not None and waited == _PATIENCE):
            break
    return found


def _searched(search: PlanSearch, budget: int, over: Callable[[], bool]) -> tuple[list[Plan], bool]:
    """The plan found for a budget, and whether no smaller budget has a plan of less cost."""
    model = search.model
    exact = ExactSearch(model, backward_steps(model), over)
    known = [plan for plan in search.front if plan.peak <= budget]
    below = exact.forward_cost(known[-1].extra_cost) if known else None
    try:
        sequence = exact.cheapest(budget, _MOVES, below=below)
        settled = exact.complete
    except Exhausted:
        sequence = None
        settled = below is not None and below - exact.bound <= _CLOSED * sum(model.costs)
    if not settled:
        if sequence is not None:
            below = exact.forward_cost(evaluated(model, sequence).extra_cost)
        better, settled = _by_tables(exact.states, budget, below, over)
        sequence = better or sequence
    if sequence is None and not settled:
        sequence = exact.near_cheapest(budget, _BEAM_MOVES, below)
    if sequence is None:
        return [], settled
    return [thinned(model, evaluated(model, sequence), budget)], settled


def _by_tables(
    states: States, budget: int, below: int | None, over: Callable[[], bool]
) -> tuple[list[int] | None, bool]:
    """A sequence that costs less than `below`, and whether it is the cheapest of all.

    In graphs of more values it is the cheapest of those that compute results first, which are all
    but those that let go of a loss to have room for its bytes.
    """
    found: list[int] | None = None
    try:
        first = LiveSetCosts(states, budget, below, over, results_first=True)
        found = first.cheapest()
        known = found is not None or below is not None
        if len(states.forward) > _MOST_WHOLE or (known and expected_work(states) > _WHOLE_WORK):
            return found, known
        rest = LiveSetCosts(states, budget, below if found is None else first.cost, over)
        return rest.cheapest() or found, True
    except TooLarge:
        return found, False


def _rungs_below(search: PlanSearch, budget: int) -> Iterator[int]:
    """Smaller budgets to search, from the largest down; their places do not depend on `budget`.

    If all large values have one unit of bytes, the rungs are that far apart, or a multiple of it:
    budgets between two rungs then allow the same plans as the lower of the two.
    """
    model = search.model
    largest = max(model.sizes, default=0)
    large = [size for size in model.sizes if 8 * size >= largest]
    unit = gcd(*large) or 1
    low, small = least_bytes(model), sum(model.sizes) - sum(large)
    gap = max(1, -(-(search.front[-1].peak - low) // _RUNGS))
    step = unit * -(-gap // unit)
    rung = (budget - small - 1) // step * step + small
    for place in range(_MOST_BELOW):
        if rung - place * step < low:
            return
        yield rung - place * step


def smallest(search: PlanSearch, over: Callable[[], bool] = never) -> LeastPeak:
    """What is known of the least peak; plans below the front only if the graph is small."""
    model = search.model
    if not search.small:
        return LeastPeak(least_bytes(model), [])
    if not search.least:
        backward = backward_steps(model)
        found = _smaller(model, ExactSearch(model, backward, over), 1, search.front[0].peak - 1)
        high = min([search.front[0].peak, *[each.peak for each in found]])
        least = least_peak(model, backward, high, over)
        search.least.append(LeastPeak(least.bound, [*found, *least.plans]))
    return search.least[0]


def _smaller(model: Model, exact: ExactSearch, low: int, high: int) -> list[Plan]:
    """Plans of ever smaller peaks from `high` down, none below `low`."""
    found: list[Plan] = []
    most, beam, left = _LEAST_MOVES
    while low <= high and exact.moves < left and not exact.over():
        middle = (low + high) // 2
        try:
            sequence = exact.cheapest(middle, most, 0.0)
        except Exhausted:
            sequence = exact.near_cheapest(middle, beam)
        if sequence is None:
            low = middle + 1
        else:
            found.append(evaluated(model, sequence))
            high = found[-1].peak - 1
    return found
