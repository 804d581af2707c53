"""Rematerialization: values are computed again so that a run fits a memory budget.

`checkpointed` asks the planner (`memory.planner`) for its front of plans, and builds the graph of
the cheapest plan that fits. Recomputed values are nodes of their own (`Node.copy`), which no later
pass merges back. The graph carries the order in which it is to be run.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from ..errors import InputError, MemoryBudgetError
from ..ir.dag import Dag
from ..ir.node import Node, make, origin
from ..ir.value_names import carried
from ..lowering.memory_model import Model, model_of
from ..lowering.ownership import bases
from ..lowering.schedule import scheduled
from ..passes.program_graph import program_graph
from .aims import Terms
from .eviction import SCORES, Evictor
from .liveness import live_rows, readable_bytes, told_bytes
from .liveness import memory as memory_of
from .loop_variants import flops_of, loop_variants
from .planner import PlanSearch, backward_steps, searched, steps_of
from .plans import Plan, evaluated, pareto

__all__ = [
    "bytes_of",
    "checkpointed",
    "frontier",
    "planned",
    "recomputed",
    "variants_for",
    "without_copies",
]

_UNITS = {
    "": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}  # fmt: skip
_AMOUNT = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([A-Za-z]*|%)\s*")


def bytes_of(amount: int | float | str, whole: int | None = None) -> int:
    """A number of bytes, from a whole number or from text such as `"64 MB"` or `"512 KiB"`.

    kB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB are powers of 1024. If `whole` is given,
    `"70%"` is a share of it.

    Raises
    ------
    InputError
        If the amount is not a positive amount of memory.
    """
    mend = 'Give whole bytes, or text such as "64 MB", "512 KiB" or "70%" of the peak.'
    if isinstance(amount, str):
        match = _AMOUNT.fullmatch(amount)
        unit: float | None = _UNITS.get(match[2].lower()) if match else None
        if match is not None and match[2] == "%" and whole is not None:
            unit = whole / 100
        if match is None or unit is None:
            raise InputError(f"{amount!r} is not an amount of memory.", mend=mend)
        exact = float(match[1]) * unit
        # A share of few bytes, or of none, is a budget too.
        count = max(int(exact), int(match[2] == "%" and float(match[1]) > 0))
    elif isinstance(amount, float) and amount.is_integer():
        count = int(amount)
    elif isinstance(amount, bool) or not hasattr(amount, "__index__"):
        raise InputError(f"{amount!r} is not an amount of memory.", mend=mend)
    else:
        count = int(amount)
    if count <= 0:
        raise InputError(f"A memory budget is positive, not {amount!r}.", mend=mend)
    return count


def without_copies(dag: Dag) -> Dag:
    """The graph as it was before it was planned, with every value computed once."""
    if dag.unplanned is not None:
        return dag.unplanned
    if not any(node.copy for node in dag.nodes):
        as_it_was = dag.schedule is None and not dag.small_blocks
        return dag if as_it_was else dag.with_outputs(dag.outputs)
    first: dict[Node, Node] = {}
    for node in dag.nodes:
        operands = tuple([first[operand] for operand in node.operands])
        if operands == node.operands and not node.copy:
            first[node] = node
            continue
        with origin(node.origin):
            first[node] = make(node.op, operands, node.params)
        carried(node, first[node])
    return dag.with_outputs([first[output] for output in dag.outputs])


def checkpointed(
    dag: Dag,
    memory: int | str,
    dims: Mapping[str, int] | None = None,
    *,
    keep: Collection[Node] = (),
    recompute: Collection[Node] = (),
) -> Dag:
    """The same outputs, bit for bit, with values computed again so that the peak fits the budget.

    Of the plans that fit, the one that recomputes the fewest floating-point operations is taken. A
    larger budget never recomputes more, and a smaller one never has a larger peak.

    Parameters
    ----------
    dag : Dag
        If it has a plan already, this plan is removed first.
    memory : int or str
        The most bytes live at any step, inputs not counted: an int, or text such as `"64 MB"`.
    dims : mapping of str to int, optional
        Sizes of named dimensions; needed where there are any.
    keep, recompute : collection of Node, optional
        Values that are never computed again, and values that are never held between a forward use
        and a backward use.

    Raises
    ------
    MemoryBudgetError
        If none of the plans found fits; `least_bytes` is the smallest budget that one of them fits.
    InputError
        If the budget is not an amount of memory, a dimension has no size, or `keep` or `recompute`
        names a node that the graph does not compute.
    """
    budget = bytes_of(memory)
    plain = without_copies(dag)
    search = searched(plain, Terms(dict(dims or {}), tuple(keep), tuple(recompute)))
    fitting = [plan for plan in search.front if plan.peak <= budget]
    if not fitting:
        raise _infeasible(search, plain, budget)
    return planned(plain, search.model, fitting[-1].sequence)


def frontier(dag: Dag, dims: Mapping[str, int] | None = None) -> list[tuple[int, int]]:
    """The Pareto front of plans: peak bytes, and floating-point operations computed again.

    Operations count beyond those of the graph without a plan. They are negative where a loop keeps
    what the graph's program computes again.
    """
    plain = without_copies(dag)
    terms = Terms(dict(dims or {}))
    plans: list[Plan] = []
    usual = flops_of(program_graph(plain), dims)
    for variant in variants_for(plain, terms):
        more = flops_of(variant, dims) - usual
        front = searched(variant, terms).front
        plans += [Plan((), each.peak, each.extra_cost + more) for each in front]
    return [(plan.peak, plan.extra_cost) for plan in pareto(plans)]


def variants_for(dag: Dag, terms: Terms) -> list[Dag]:
    """The graph with its loops run in each way; as it is where terms name nodes or prices."""
    named = terms.keep or terms.recompute or terms.aim.cost != "flops"
    return [dag] if named else loop_variants(dag)


def recomputed(
    dag: Dag, nodes: Iterable[Node] | None = None, dims: Mapping[str, int] | None = None
) -> Dag:
    """The same outputs, with the given values computed again wherever the gradient needs them.

    This is the second program of Goodfellow, Bengio and Courville, *Deep Learning*, figure 6.9: a
    value is evicted after its last forward use, and computed again just before each backward use.

    Parameters
    ----------
    dag : Dag
    nodes : iterable of Node, optional
        Computed values; by default all forward values but the outputs.
    dims : mapping of str to int, optional
        Sizes of named dimensions.

    Raises
    ------
    InputError
        If a node is not a value that the graph computes.
    """
    plain = without_copies(dag)
    model = model_of(scheduled(plain, dims), plain.outputs, dims, joins=True)
    backward = backward_steps(model)
    if nodes is None:
        kept = set(model.kept)
        again = {step for step in range(len(model)) if step not in backward and step not in kept}
    else:
        again = steps_of(plain, model, tuple(nodes))
    evictor = Evictor(model, again=again, backward=backward)
    sequence = evictor.run(2 * sum(model.sizes) + 1, SCORES[0], len(model) ** 2 + 1)
    # A run without a limit cannot fail.
    assert sequence is not None
    return planned(plain, model, evaluated(model, sequence).sequence)


# -- from a plan to a graph ------------------------------------------------------------------------
def planned(dag: Dag, model: Model, sequence: Sequence[int]) -> Dag:
    """The graph of a plan: a value computed again is a node with the next `copy` number."""
    building = _Building(dag)
    for step in sequence:
        if step < len(model) - model.copies:
            building.compute(model.nodes[step])
    outputs = [building.latest(output) for output in dag.outputs]
    return Dag(dag.inputs, outputs, dag.names, dag.structure, schedule=building.order)


class _Building:
    """The nodes of a plan in order, and the latest computation of each value."""

    def __init__(self, dag: Dag) -> None:
        self.owner = bases(dag.nodes)
        self.order: list[Node] = list(dag.inputs.values())
        self.placed: set[Node] = set(self.order)
        self.now: dict[Node, Node] = {}
        self.times: dict[Node, int] = {}

    def compute(self, node: Node) -> None:
        """Compute a node that owns memory, perhaps again."""
        times = self.times.get(node, 0)
        self.times[node] = times + 1
        operands = tuple([self.latest(operand) for operand in node.operands])
        self.now[node] = self._place(self._made(node, operands, times))

    def latest(self, node: Node) -> Node:
        """The latest computation of a value, or the view of its base's latest computation."""
        views: list[Node] = []
        base = node
        while self.owner[base] is not base and base.operands:
            views.append(base)
            base = base.operands[0]
        found = self.now.get(base)
        if found is None:
            # It is an input, a constant, or a node that no step computes: it stays as it is.
            found = self._place(base)
        for view in reversed(views):
            found = self._place(self._made(view, (found,), 0))
        return found

    def _made(self, node: Node, operands: tuple[Node, ...], copy: int) -> Node:
        if not copy and operands == node.operands:
            return node
        with origin(node.origin):
            made = make(node.op, operands, node.params, copy)
        carried(node, made)
        return made

    def _place(self, node: Node) -> Node:
        if node not in self.placed:
            self.placed.add(node)
            self.order.append(node)
        return node


def _infeasible(search: PlanSearch, dag: Dag, budget: int) -> MemoryBudgetError:
    """The error for a budget below every plan: the least plan, and the values live at its peak."""
    least = search.front[0]
    best = planned(dag, search.model, least.sequence)
    rows = live_rows(memory_of(best, search.dims))
    return MemoryBudgetError(
        f"No plan was found that fits {readable_bytes(budget)}: "
        f"the least is {told_bytes(least.peak)}.",
        rows,
        mend=f"Give at least memory={least.peak}, smaller inputs, or fewer outputs.",
        least_bytes=least.peak,
    )
