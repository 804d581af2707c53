"""The schedule of a graph within a memory budget, by what the user asked `checkpoint` for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .. import memory as plans
from ..errors import InputError
from ..ir.cost import checked_dims
from ..ir.dag import Dag
from ..ir.node import Node
from ..records import record
from .progress_display import Told, telling

__all__ = ["Asked", "scheduled"]


@record
class Asked:
    """A request to `checkpoint`.

    Parameters
    ----------
    memory : int, float or str, optional
        The budget.
    keep : sequence of Node
        Values that are never computed again.
    recompute : sequence of Node, optional
        Values to compute again.
    cost : "flops", "measured" or callable
    time_limit : float, optional
    """

    memory: int | float | str | None
    keep: Sequence[Node]
    recompute: Sequence[Node] | None
    cost: plans.Cost
    time_limit: float | None

    @property
    def repeatable(self) -> bool:
        """Whether a simplified graph can be asked for the same: it may lack the values named."""
        hints = self.keep or self.recompute or self.cost != "flops" or self.time_limit is not None
        return not hints


def scheduled(dag: Dag, asked: Asked, dims: Mapping[str, int], progress: Told) -> Dag:
    """The graph with a schedule.

    Raises
    ------
    MemoryBudgetError
        If no schedule found fits.
    InputError
        If no budget is given, it is no size, or the size of a dimension is missing.
    """
    sizes = dict(dims)
    if asked.memory is None and "budget" in sizes and "budget" not in dag.dims:
        others = [f", {name}={size!r}" for name, size in sizes.items() if name != "budget"]
        raise InputError(
            "The budget of checkpoint is its first argument, memory.",
            mend=f"Write checkpoint({sizes['budget']!r}{''.join(others)}).",
        )
    checked_dims(sizes, dag.outputs, dag.dims)
    if asked.memory is not None:
        with telling(progress, "checkpoint"):
            aim = plans.aim_of(asked.cost, asked.time_limit)
            again = tuple(asked.recompute or ())
            return plans.within(
                dag, asked.memory, plans.Terms(sizes, tuple(asked.keep), again, aim)
            )
    if asked.recompute is not None and not asked.keep:
        return plans.recomputed(dag, asked.recompute, sizes)
    raise InputError('Give a budget, as in checkpoint("64 MB").')
