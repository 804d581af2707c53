"""Plans whose emitted program fits a memory budget, not only the memory model of the graph."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping

from ..errors import MemoryBudgetError
from ..ir.dag import Dag
from ..ir.node import Node
from ..ir.progress import told
from ..lowering.memory_model import least_bytes, model_of, workspace_bytes
from ..lowering.peak import bytes_outside, predicted_peak
from ..lowering.program import program_of
from ..lowering.schedule import scheduled
from ..lowering.statements import Role
from .aims import Aim
from .liveness import live_rows, readable_bytes
from .liveness import memory as memory_of
from .planner import PlanSearch, searched
from .plans import pareto
from .refinement import refined, smallest
from .rematerialization import bytes_of, planned, without_copies

__all__ = ["program_peak", "within"]


def program_peak(dag: Dag, dims: Mapping[str, int]) -> int:
    """The peak in bytes of the program of a graph."""
    return predicted_peak(program_of(dag), dims)


_RESERVE = (200, 2**17)
_HEAP_RESERVE = (40, 2**21)
"""What is kept free of a budget: a part of the peak, at most so many bytes.

Python's own objects need some memory. More is needed where the C library gives the program arrays,
up to their bytes: large ones have pages of 2 MiB, which stay whole for what comes later.
"""


def _resident(dag: Dag, dims: Mapping[str, int]) -> int:
    """The bytes that a process may gain by a planned program, those kept free included."""
    program = program_of(dag)
    peak = predicted_peak(program, dims)
    if peak < _LEAST_BYTES:
        return peak
    heap = max(bytes_outside(program, dims, Role.TEMPORARY, Role.RESULT), default=0)
    own = min(peak // _RESERVE[0], _RESERVE[1])
    return peak + own + min(heap, peak // _HEAP_RESERVE[0], _HEAP_RESERVE[1])


_MOST_REFINED = 2
"""For how many goals a small graph is searched exactly."""
_MOST_TRIED = 24
"""How many plans are tried whose model fits but whose program needs more."""


_AMPLE = 1.25
"""From this share of the peak on, nothing needs to be done to hold the budget.

Below it the C library's gaps between freed arrays may count, so the graph gets an order without
recomputations: its program gives pages back, as every planned program does.
"""
_LEAST_BYTES = 2**20


def _in_order(dag: Dag, dims: Mapping[str, int]) -> Dag:
    """The graph with the order it is run in as its plan."""
    order = scheduled(dag, dims)
    return Dag(dag.inputs, dag.outputs, dag.names, dag.structure, schedule=order)


def within(
    dag: Dag,
    memory: int | float | str,
    dims: Mapping[str, int],
    *,
    keep: Collection[Node] = (),
    recompute: Collection[Node] = (),
    aim: Aim = Aim(),  # noqa: B008  # It cannot be changed.
) -> Dag:
    """The graph, planned so that its emitted program fits; without a plan if it fits with room.

    A plan that the graph has is removed first. Plans are made on a model of the graph. Where the
    program needs a little more than the model, a plan of a smaller peak is taken, in proportion.
    Some bytes of the budget are kept free if a plan can do so, for not all memory is the program's.

    Parameters
    ----------
    dag : Dag
    memory : int, float or str
        Bytes, text such as `"64 MB"`, or `"70%"` of the peak without a plan.
    dims : mapping of str to int
    keep, recompute, aim
        As of `checkpointed`.
    """
    plain = without_copies(dag)
    full = program_peak(plain, dims)
    budget = bytes_of(memory, full)
    fits = full <= budget and not recompute
    if fits:
        if budget >= full * _AMPLE or full < _LEAST_BYTES:
            return plain
        held = _in_order(plain, dims)
        if _resident(held, dims) <= budget:
            return held
    start = time.monotonic()
    search = searched(plain, dict(dims), tuple(keep), tuple(recompute), aim)
    goal = budget
    for tried in told("programs of plans", range(_MOST_TRIED)):
        more = tried < _MOST_REFINED and not aim.is_over(start)
        plans = pareto([*search.front, *(refined(search, goal) if more else [])])
        fitting = [plan for plan in plans if plan.peak <= goal]
        if not fitting:
            break
        found = planned(plain, search.model, fitting[-1].sequence)
        resident = _resident(found, dims)
        if resident <= budget:
            return found
        # Below the peak of this plan, or the same plan would be found again.
        goal = min(fitting[-1].peak - 1, goal * budget // resident)
    if fits:
        held = _in_order(plain, dims)
        return held if program_peak(held, dims) <= budget else plain
    return _least_plan(plain, budget, memory, search, aim, bare=not recompute)


_LAST_TRIED = (8, 48, 40_000)
"""How many plans, those of the smallest modelled peaks, are searched for the smallest program.

At least, at most, and nodes of all together.
"""


def _least_plan(
    dag: Dag,
    budget: int,
    asked: int | float | str,
    search: PlanSearch,
    aim: Aim,
    *,
    bare: bool,
) -> Dag:
    """The plan whose program needs least, if it fits; else an error that names its bytes.

    Which plan that is does not depend on the budget, so the bytes that are named are enough. With
    `bare` the graph without a plan is among the plans.
    """
    fewest, most, nodes = _LAST_TRIED
    dims = search.dims
    front = pareto([*search.front, *smallest(search)])
    tried = front[: max(fewest, min(most, nodes // len(dag)))]
    plans = [planned(dag, search.model, each.sequence) for each in told("least plans", tried)]
    if bare:
        plans.append(dag)  # Its program shares calls and a workspace, which no plan has.
    needed = {program_peak(plan, dims): plan for plan in told("programs of plans", plans)}
    least = min(needed)
    if least <= budget:
        return needed[least]
    model = model_of(scheduled(dag, dims), dag.outputs, dims, work=workspace_bytes, joins=True)
    bound = min(least, least_bytes(model))
    sure = (
        ""
        if bound == least
        else f" Every plan needs at least {readable_bytes(bound)} by the memory model."
    )
    raise MemoryBudgetError(
        f"No plan was found that fits {_as_told(asked, budget)}: "
        f"the least is {least} bytes ({readable_bytes(least)}).{sure}{_time_told(aim)}",
        live_rows(memory_of(needed[least], dims)),
        mend=f"Give at least memory={least}, smaller inputs, or fewer outputs.",
        least_bytes=least,
        bound_bytes=bound,
    ) from None


def _time_told(aim: Aim) -> str:
    if aim.seconds is None:
        return ""
    return f" No new plan was looked for after {aim.seconds:g} s: a longer time_limit may find one."


def _as_told(asked: int | float | str, budget: int) -> str:
    """The budget in the user's own words, with its bytes where they are a share."""
    if not isinstance(asked, str):
        return readable_bytes(budget)
    text = asked.strip()
    return f"{text} of the peak ({readable_bytes(budget)})" if text.endswith("%") else text
