"""The report of a plan: its peak, its cost beside a bound, and the values it computes again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ..ir.dag import Dag
from ..ir.html_tables import bundle
from ..ir.node import Node
from ..lowering.memory_model import model_of, profile
from ..passes.program_graph import program_graph
from ..records import record
from .backward_order import forward_first
from .budget import program_peak
from .certificate import cost_bound
from .liveness import Memory, described, readable_bytes
from .liveness import memory as memory_of
from .loop_variants import flops_of, kept_told, loop_variants, loops_told
from .picture import timeline_svg
from .planner import backward_steps
from .rematerialization import without_copies
from .scratch import scratch_bytes
from .timeline import timeline_html

__all__ = ["MemoryPlan", "plan_of"]


@record
class MemoryPlan:
    """A plan for a memory budget; prints as a report.

    Parameters
    ----------
    peak_bytes : int
        The most bytes that the program holds at once, inputs not counted.
    cost : int
        Floating-point operations of a run.
    overhead : float
        What the recomputations add, as a share of the operations without a plan.
    lower_bound : int
        No plan within `peak_bytes` has a lower `cost`, in the memory model, whatever its order.
    gap : float
        How much `cost` is above `lower_bound`, as a share of it.
    status : str
        `"optimal"` where cost and bound are equal, else `"feasible"`.
    recomputed : tuple of Node
        The values computed again, in order, as often as they are.
    memory : Memory
        The live values at the peak, and the timeline.
    loops : tuple of str
        What the plan does with the loops of gradients, a line each; without a plan, what loops
        keep for them.
    """

    peak_bytes: int
    cost: int
    overhead: float
    lower_bound: int
    gap: float
    status: Literal["optimal", "feasible"]
    recomputed: tuple[Node, ...]
    memory: Memory
    loops: tuple[str, ...] = ()

    @property
    def timeline(self) -> tuple[tuple[Node, int], ...]:
        """Bytes live at each step, in order of execution."""
        return self.memory.timeline

    def to_svg(self, budget: int | None = None) -> str:
        """The bytes that live at each step as a picture, with a line for the budget.

        Steps that are computed again are marked below. What the program holds beside the values of
        the memory model, such as buffers of NumPy, is in `peak_bytes` alone.

        Parameters
        ----------
        budget : int, optional
            Bytes.

        Returns
        -------
        str
            A document that needs nothing beside itself.

        Examples
        --------
        >>> f = lambda x: np.sum(np.sin(np.sin(np.sin(np.sin(x)))))
        >>> graph = sg.trace(f, x=sg.spec((1000,))).gradient("x")
        >>> plan = graph.checkpoint("80%").memory_plan()
        >>> plan.to_svg(budget=40_000).startswith("<svg ")
        True
        """
        peak = self.memory.peak_node
        told = "" if peak is None else f"peak at {described(peak)}"
        title = f"{readable_bytes(self.peak_bytes)} at most, {self.overhead:+.1%} operations"
        return timeline_svg(self.timeline, budget, title, told)

    def explain(self) -> str:
        """The recomputed values by line and operation, the most often first."""
        counts: dict[str, int] = {}
        for node in self.recomputed:
            text = described(node).replace(" (again)", "")
            counts[text] = counts.get(text, 0) + 1
        rows = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        head = f"{self!r}\n" + ("computed again:" if rows else "nothing is computed again")
        lines = [head, *[f"  {count:>5} x  {text}" for text, count in rows]]
        return "\n".join([*lines, *self.loops])

    def _repr_mimebundle_(self, **_kwargs: object) -> dict[str, str]:
        """The report, and in notebooks the timeline above it."""
        return bundle(self, timeline_html(self.timeline, self.explain()))

    def __repr__(self) -> str:
        return (
            f"peak {readable_bytes(self.peak_bytes)}, {self.overhead:+.1%} flops, {self.status}, "
            f"at most {self.gap:.1%} above the least; {len(self.recomputed)} recomputations"
        )


def plan_of(dag: Dag, dims: Mapping[str, int]) -> MemoryPlan:
    """The plan of a graph; of a graph without a plan the one that computes everything once."""
    plain, run = without_copies(dag), program_graph(dag)
    before, cost = flops_of(program_graph(plain), dims), flops_of(run, dims)
    peak, needed = program_peak(dag, dims), memory_of(run, dims)
    # The model may count some bytes more than the program needs; the bound is one of the model.
    bound = min(cost, _bound(plain, dims, max(peak, needed.peak_bytes)))
    return MemoryPlan(
        peak,
        cost,
        cost / before - 1 if before else 0.0,
        bound,
        cost / bound - 1 if bound else 0.0,
        "optimal" if cost == bound else "feasible",
        tuple([node for node in dag.schedule or () if node.copy and not node.op.view]),
        needed,
        loops_told(dag) if dag.unplanned is not None else kept_told(dag, dims),
    )


def _bound(plain: Dag, dims: Mapping[str, int], budget: int) -> int:
    """Operations that every plan within a budget has, or fewer."""
    variants = loop_variants(plain)
    least = min([flops_of(each, dims) for each in variants])
    if len(variants) > 1:
        return least  # However many steps are in a stretch: these are the operations of one run.
    model = model_of(
        forward_first(plain), plain.outputs, dims, costs=True, work=scratch_bytes, joins=True
    )
    if profile(model, range(len(model))).peak <= budget:
        return least
    # A step of the model costs one more than its operations.
    return least + max(0, cost_bound(model, backward_steps(model), budget) - len(model))
