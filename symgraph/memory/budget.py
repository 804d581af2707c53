"""Plans whose emitted program fits a memory budget, not only the memory model of the graph."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import MemoryBudgetError
from ..ir.dag import Dag
from ..lowering.peak import predicted_peak
from ..lowering.program import program_of
from .liveness import readable_bytes
from .rematerialization import checkpointed, frontier

__all__ = ["program_peak", "within"]


def program_peak(dag: Dag, dims: Mapping[str, int]) -> int:
    """The peak in bytes of the program of a graph."""
    return predicted_peak(program_of(dag), dims)


def within(dag: Dag, budget: int, dims: Mapping[str, int]) -> Dag:
    """The graph, planned so that its emitted program fits; unchanged if it fits already.

    Plans are made on a model of the graph. Where the program needs a little more than the model,
    the goal is lowered in proportion.
    """
    peak = program_peak(dag, dims)
    goal, planned = budget, dag
    while peak > budget:
        try:
            planned = checkpointed(dag, goal, dims)
        except MemoryBudgetError as error:
            return _least_plan(dag, budget, dims, error)
        peak = program_peak(planned, dims)
        goal = min(goal - 1, goal * budget // peak)
    return planned


_LAST_TRIED = 8
"""How many plans, those of the smallest modelled peaks, are searched for the smallest program."""


def _least_plan(dag: Dag, budget: int, dims: Mapping[str, int], error: MemoryBudgetError) -> Dag:
    """The plan whose program needs least, if it fits; else an error that names its bytes."""
    goals = sorted(peak for peak, _ in frontier(dag, dims))[:_LAST_TRIED]
    plans = [checkpointed(dag, goal, dims) for goal in goals]
    needed = {program_peak(plan, dims): plan for plan in plans}
    least = min(needed)
    if least <= budget:
        return needed[least]
    raise MemoryBudgetError(
        f"No plan was found that fits {readable_bytes(budget)}: "
        f"the least is {least} bytes ({readable_bytes(least)}).",
        error.rows,
        mend=f"Give at least memory={least}, smaller inputs, or fewer outputs.",
        least_bytes=least,
    ) from None
