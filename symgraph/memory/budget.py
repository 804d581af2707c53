"""Plans whose emitted program fits a memory budget, not only the memory model of the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from ..errors import MemoryBudgetError
from ..ir.dag import Dag
from ..ir.progress import told
from ..lowering.body_programs import bodies_kept
from ..lowering.memory_model import least_bytes
from ..lowering.peak import bytes_outside, predicted_peak
from ..lowering.program import program_of
from ..lowering.schedule import scheduled
from ..lowering.statements import Role
from ..passes.program_graph import program_graph
from ..records import record
from .aims import Aim, Terms
from .liveness import live_rows, readable_bytes, told_bytes
from .liveness import memory as memory_of
from .loop_variants import flops_of, named_lengths
from .planner import PlanSearch, planning_model, searched
from .plans import pareto
from .refinement import refined, smallest
from .rematerialization import bytes_of, planned, variants_for, without_copies

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


_MOST_REFINED = 6
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


@bodies_kept()
def within(dag: Dag, memory: int | float | str, terms: Terms) -> Dag:
    """The graph, planned so that its emitted program fits; without a plan if it fits with room.

    A plan that the graph has is removed first. Plans are made on a model of the graph. Where the
    program needs a little more than the model, a plan of a smaller peak is taken, in proportion.
    Some bytes of the budget are kept free if a plan can do so, for not all memory is the program's.

    Parameters
    ----------
    dag : Dag
    memory : int, float or str
        Bytes, text such as `"64 MB"`, or `"70%"` of the peak without a plan.
    terms : Terms
    """
    plain, dims = without_copies(dag), terms.dims
    budget = bytes_of(memory, program_peak(plain, dims))
    variants = variants_for(plain, terms)
    # Without an order the loops of a graph would keep what is not in the plan.
    loops = len(variants) > 1 or program_graph(plain) is not plain
    best: Dag | None = None
    least: list[_Least] = []
    for variant in told("ways to run loops", _in_turn(variants, terms)):
        if best is not None and flops_of(variant, dims) >= flops_of(best, dims):
            continue
        if (best is not None or least) and terms.is_over():
            break
        search = _Searching(variant, terms, in_order=loops)
        found = search.fitting(budget)
        if found is None:
            least.append(search.least(bare=not terms.recompute))
            found = least[-1].plan if least[-1].peak <= budget else None
        if found is not None and (best is None or flops_of(found, dims) < flops_of(best, dims)):
            best = found if variant is plain else _standing_for(plain, found)
    if best is None:
        raise _refusal(least, variants, memory, budget, terms)
    return best


def _in_turn(variants: Sequence[Dag], terms: Terms) -> list[Dag]:
    """The graphs in the order they are asked: those of fewest operations first.

    Where time is short, the graph that needs the fewest bytes comes before them: it is the one that
    most likely has a plan.
    """
    if terms.aim.seconds is None or len(variants) == 1:
        return list(variants)
    first = min(variants, key=lambda each: program_peak(each, terms.dims))
    return [first, *[each for each in variants if each is not first]]


def _standing_for(plain: Dag, found: Dag) -> Dag:
    """The plan of a graph whose loops run in another way than those of `plain`."""
    return Dag(
        found.inputs,
        found.outputs,
        found.names,
        found.structure,
        found.schedule,
        plain,
        small_blocks=found.small_blocks,
    )


class _Searching:
    """The search for a plan whose program fits; `in_order` if it shall have an order always."""

    def __init__(self, dag: Dag, terms: Terms, *, in_order: bool) -> None:
        self.dag = dag
        self.terms = terms
        self.in_order = in_order

    @cached_property
    def plans(self) -> PlanSearch:
        return searched(self.dag, self.terms)

    @cached_property
    def unplanned(self) -> Dag:
        """The graph with all computed once."""
        return _in_order(self.dag, self.terms.dims) if self.in_order else self.dag

    def fitting(self, budget: int) -> Dag | None:
        """The cheapest plan found; the graph itself where it has room."""
        plain, dims = self.dag, self.terms.dims
        full = program_peak(self.unplanned, dims)
        fits = full <= budget and not self.terms.recompute
        if fits:
            if not self.in_order and (budget >= full * _AMPLE or full < _LEAST_BYTES):
                return plain
            held = _in_order(plain, dims)
            if _resident(held, dims) <= budget:
                return held
        found = self._planned(budget)
        if found is None and fits:
            return self._barely_fitting(budget)
        return found

    def _barely_fitting(self, budget: int) -> Dag:
        """The graph with all computed once, where hardly any bytes of the budget stay free."""
        plain, dims = self.dag, self.terms.dims
        if self.in_order:
            return self.unplanned
        blocks = Dag(plain.inputs, plain.outputs, plain.names, plain.structure, small_blocks=True)
        if _resident(blocks, dims) <= budget:
            return blocks
        held = _in_order(plain, dims)
        return held if program_peak(held, dims) <= budget else plain

    def _planned(self, budget: int) -> Dag | None:
        search, goal, over = self.plans, budget, self.terms.is_over
        for tried in told("programs of plans", range(_MOST_TRIED)):
            more = tried < _MOST_REFINED and not over()
            plans = pareto([*search.front, *(refined(search, goal, over) if more else [])])
            fitting = [plan for plan in plans if plan.peak <= goal]
            if not fitting:
                break
            found = planned(self.dag, search.model, fitting[-1].sequence)
            resident = _resident(found, self.terms.dims)
            if resident <= budget:
                return found
            # Below the peak of this plan, or the same plan would be found again.
            goal = min(fitting[-1].peak - 1, goal * budget // resident)
        return None

    def least(self, *, bare: bool) -> _Least:
        """The plan whose program needs least.

        Which plan that is does not depend on the budget, so the bytes that are named are enough.
        With `bare` the graph without a plan is among the plans.
        """
        fewest, most, nodes = _LAST_TRIED
        search, dims = self.plans, self.terms.dims
        smaller = smallest(search, self.terms.is_over)
        front = pareto([*search.front, *smaller.plans])
        tried = front[: max(fewest, min(most, nodes // len(self.dag)))]
        plans = [
            planned(self.dag, search.model, each.sequence) for each in told("least plans", tried)
        ]
        if bare:
            plans.append(
                self.unplanned
            )  # Its program shares calls and a workspace, which no plan has.
        needed = {program_peak(plan, dims): plan for plan in told("programs of plans", plans)}
        peak = min(needed)
        return _Least(peak, needed[peak], smaller.bound)


@record
class _Least:
    """A plan of least memory, its peak, and the bytes that every plan needs by the model."""

    peak: int
    plan: Dag
    bound: int


_LAST_TRIED = (8, 48, 40_000)
"""How many plans, those of the smallest modelled peaks, are searched for the smallest program.

At least, at most, and nodes of all together.
"""


def _refusal(
    least: Sequence[_Least],
    variants: Sequence[Dag],
    asked: int | float | str,
    budget: int,
    terms: Terms,
) -> MemoryBudgetError:
    """The error for a budget that no plan fits."""
    best = min(least, key=lambda each: each.peak)
    bounds = [each.bound for each in least]
    if len(least) < len(variants):
        bounds += [least_bytes(planning_model(each, terms.dims)) for each in variants]
    bound = min([best.peak, *bounds])
    sure = (
        " No plan needs less, by the memory model: this is proven."
        if bound == best.peak
        else f" Every plan needs at least {readable_bytes(bound)} by the memory model."
    )
    mend = f"Give at least memory={best.peak}, smaller inputs, or fewer outputs."
    named = sorted({name for each in variants for name in named_lengths(each)})
    if named:
        mend += (
            f" A loop of {', '.join(named)} steps keeps every carry: trace it with the number of "
            "steps, and it can run in stretches."
        )
    return MemoryBudgetError(
        f"No plan was found that fits {_as_told(asked, budget)}: "
        f"the least is {told_bytes(best.peak)}.{sure}"
        f"{_time_told(terms.aim)}",
        live_rows(memory_of(best.plan, terms.dims)),
        mend=mend,
        least_bytes=best.peak,
        bound_bytes=bound,
    )


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
