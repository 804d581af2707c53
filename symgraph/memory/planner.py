"""The planner: the Pareto front of sequences of steps, for all budgets.

Small graphs are searched exactly. Chains of values or of blocks are planned by dynamic programming,
and every graph by eviction and by choosing the values kept for the backward part. Eviction runs at
a ladder of limits that depends on the graph alone, so the plans for two budgets come from one
Pareto front. The planner knows nothing of recomputed nodes or of programs: another one that gives a
front of `Plan` can take its place.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from ..errors import InputError
from ..ir.dag import Dag
from ..ir.node import Node
from ..ir.origins import origins
from ..ir.progress import told
from ..lowering.memory_model import Model, least_bytes, model_of, profile
from ..lowering.ownership import bases
from ..lowering.schedule import scheduled
from ..records import record
from .aims import Aim, Terms, with_costs
from .backward_order import forward_first, layer_by_layer
from .blocks import block_sequences
from .chains import chain_of, chain_sequences
from .eviction import SCORES, Evictor
from .exact_search import ExactSearch, Exhausted
from .kept_sets import kept_set_sequences
from .least_peak import LeastPeak
from .plans import Plan, evaluated, pareto, serial_plan, thinned
from .scratch import scratch_bytes
from .uniform_chains import is_uniform, uniform_sequences

__all__ = [
    "PlanSearch",
    "backward_steps",
    "network_plans",
    "planning_model",
    "searched",
    "steps_of",
]

_LARGE = 3000
"""Above this many steps fewer scores are tried."""
_LOSS_STEPS = 16
"""How many forward steps may follow the chain that is the whole network."""
_SHORT = 300
"""Up to this length a uniform chain is planned like any other."""
_FRONT_MOVES = 6_000
"""How many moves the exact search tries before a budget is known."""
_STEPS = 20_000
_RUNGS = 40


# -- searching -------------------------------------------------------------------------------------
@record
class PlanSearch:
    """The Pareto front of plans found for a graph, and the model they are sequences of.

    `small` says that the graph may be searched exactly for one budget, and `refined` has the plans
    found for each, with whether no smaller budget has a plan of less cost. `least` has what is
    known of the least peak, once it was asked for (`memory.refinement`).
    """

    model: Model
    front: list[Plan]
    dims: Mapping[str, int]
    small: bool = False
    refined: dict[int, tuple[list[Plan], bool]] = field(
        default_factory=dict[int, tuple[list[Plan], bool]]
    )
    least: list[LeastPeak] = field(default_factory=list["LeastPeak"])


_SearchKey: TypeAlias = "tuple[tuple[tuple[str, int], ...], frozenset[Node], frozenset[Node], Aim]"
_searches: weakref.WeakKeyDictionary[Dag, dict[_SearchKey, PlanSearch]] = (
    weakref.WeakKeyDictionary()
)


def searched(dag: Dag, terms: Terms) -> PlanSearch:
    """The front of plans of a graph, found once: it does not depend on the budget."""
    dims, aim = terms.dims, terms.aim
    key = (tuple(sorted(dims.items())), frozenset(terms.keep), frozenset(terms.recompute), aim)
    known = _searches.setdefault(dag, {})
    if key not in known:
        best = model_of(
            scheduled(dag, dims), dag.outputs, dims, costs=True, work=scratch_bytes, joins=True
        )
        model = planning_model(dag, dims)
        best, model = [with_costs(each, aim, dims) for each in (best, model)]
        kept, again = [steps_of(dag, model, each) for each in (terms.keep, terms.recompute)]
        if kept & again:
            both = model.nodes[min(kept & again)]
            raise InputError(f"{both!r} is both to be kept and to be computed again.")
        front = _front(model, best, kept, again, terms)
        small = not (kept or again) and ExactSearch.suits(model, backward_steps(model))
        known[key] = PlanSearch(model, front, dict(dims), small)
    return known[key]


def planning_model(dag: Dag, dims: Mapping[str, int]) -> Model:
    """The steps that plans are sequences of: the forward part first, gradients as they are read."""
    order = layer_by_layer(forward_first(dag), dag.outputs)
    return model_of(order, dag.outputs, dims, costs=True, work=scratch_bytes, joins=True)


def _front(
    model: Model, best: Model, keep: Collection[int], again: Collection[int], terms: Terms
) -> list[Plan]:
    """The front of plans; `best` is the same graph in the order of least memory without a plan."""
    plans: list[Plan] = []
    if not again:
        number = {node: step for step, node in enumerate(model.nodes[: len(model) - model.copies])}
        once = [number[node] for node in best.nodes[: len(best) - best.copies]]
        copies = range(len(model) - model.copies, len(model))
        plans = [serial_plan(model), evaluated(model, [*once, *copies])]
        if not plans[0].sequence:
            return plans[:1]
    most_bytes = profile(model, range(len(model))).peak
    rungs = _RUNGS
    if not again and not keep:
        chain = chain_of(model)
        if chain is not None and chain.length > _SHORT and is_uniform(chain):
            return pareto([*plans, *[evaluated(model, each) for each in uniform_sequences(chain)]])
        kept_sets = kept_set_sequences(model, backward_steps(model))
        # The quickest search: without it a short time would give no plan at all.
        plans.extend([evaluated(model, sequence) for sequence in kept_sets])
        network = [] if terms.is_over() else network_plans(model, most_bytes)
        plans.extend(network)
        rungs = _RUNGS // 2 if network else _RUNGS
    if not (plans and terms.is_over()):
        plans.extend(terms.in_time(_eviction_plans(model, keep, again, rungs)))
    front = pareto(plans)
    thin = (thinned(model, plan, plan.peak, again) for plan in told("plans thinned", front))
    front = pareto([*front, *terms.in_time(thin)])
    if again or keep or terms.is_over():
        return front
    return _with_exact_plans(model, front)


def _with_exact_plans(model: Model, front: list[Plan]) -> list[Plan]:
    """The front with plans that are proven optimal, from its largest budget down."""
    backward = backward_steps(model)
    if not ExactSearch.suits(model, backward):
        return front
    search = ExactSearch(model, backward)
    limit = front[-1].peak
    try:
        while search.moves < _FRONT_MOVES:
            known = [plan for plan in front if plan.peak <= limit]
            below = search.forward_cost(known[-1].extra_cost) if known else None
            sequence = search.cheapest(limit, _FRONT_MOVES - search.moves, below=below)
            if sequence is not None:
                known = [evaluated(model, sequence)]
                front = pareto([*front, *known])
            elif not known:
                return front  # No plan has a smaller peak.
            limit = known[-1].peak - 1
    except Exhausted:
        pass
    return front


def network_plans(model: Model, most_bytes: int) -> list[Plan]:
    """Plans by dynamic programming, where the graph is a chain of values or of blocks.

    A chain may be a few steps at the start of a chain of blocks, so then both are planned.
    """
    most_plans = max(16, 200_000 // len(model))
    forward = min(backward_steps(model), default=0)
    chain = chain_of(model)
    if chain is not None:
        plans = [evaluated(model, each) for each in chain_sequences(chain, most_bytes, most_plans)]
        if plans and chain.length >= forward - _LOSS_STEPS:
            return plans
    else:
        plans = []
    blocks = block_sequences(model, backward_steps(model), most_bytes, max(16, most_plans // 4))
    return [*plans, *[evaluated(model, each) for each in blocks]]


def _eviction_plans(
    model: Model, keep: Collection[int], again: Collection[int], rungs: int
) -> Iterator[Plan]:
    """Plans at a ladder of limits, then on the way down to the least limit that works."""
    count = len(model)
    backward = backward_steps(model)
    forward_only = Evictor(model, {*keep, *backward}, again, backward)
    anything = Evictor(model, keep, again, backward)
    scores = SCORES[: 2 if count <= _LARGE else 1]
    allowed = count * (30 if count <= 300 else 6)

    def tried(limit: int) -> list[Plan]:
        for evictor in (forward_only, anything):
            found = [evictor.run(limit, score, allowed) for score in scores]
            plans = [evaluated(model, sequence) for sequence in found if sequence is not None]
            if plans:
                return [thinned(model, plan, limit, again) for plan in plans]
        return []

    high = profile(model, range(count)).peak
    if again:
        freely = tried(2 * sum(model.sizes) + 1)
        high = max(plan.peak for plan in freely)
        yield from freely
    low = least_bytes(model)
    rungs = max(8, min(rungs, _STEPS // count))
    failed, least = low - 1, high
    for rung in told("limits of memory", range(rungs, -1, -1)):
        # The rungs are closer at the bottom, where a little memory saves much recomputation.
        limit = low + int((high - low) * (rung / rungs) ** 1.5)
        found = tried(limit)
        if not found:
            failed = limit
            break
        least = min(plan.peak for plan in found)
        yield from found
    yield from _bisected(tried, failed, least, 8 if count <= 500 else 4)


def _bisected(
    tried: Callable[[int], list[Plan]], failed: int, least: int, rounds: int
) -> Iterator[Plan]:
    """Plans found while bisecting between a limit that failed and the least peak so far."""
    for _ in range(rounds):
        middle = (failed + least) // 2
        if middle in (failed, least):
            break
        found = tried(middle)
        if found:
            least = min(plan.peak for plan in found)
        else:
            failed = middle
        yield from found


def steps_of(dag: Dag, model: Model, nodes: Sequence[Node]) -> set[int]:
    """The steps of nodes that a user names; a view stands for its base."""
    owner = bases(dag.nodes)
    number = {node: step for step, node in enumerate(model.nodes)}
    found: set[int] = set()
    for node in nodes:
        base = owner.get(node)
        if base is None:
            raise InputError(
                f"{node!r} is not a value that this graph computes.",
                [f"from {node.origin}"] if str(node.origin) else [],
                mend="Name a node of the graph that is neither an input nor a constant.",
            )
        found.add(number[base])
    return found


def backward_steps(model: Model) -> frozenset[int]:
    """Steps of the gradient, all steps computed from them, and copies of outputs."""
    found = set(range(len(model) - model.copies, len(model)))
    known = origins(model.nodes)
    for step, node in enumerate(model.nodes):
        if known[node].adjoint_of is not None or any(read in found for read in model.reads[step]):
            found.add(step)
    return frozenset(found)
