"""A plan: the sequence in which steps are computed, some of them again; its peak and its cost.

Plans are compared by these two numbers only, both taken from the memory model. Of a set of plans
the Pareto front is kept. So, whatever search the plans came from, a smaller budget never gives a
larger peak, and a larger budget never gives more recomputation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from ..lowering.memory_model import Model, profile
from ..records import record

__all__ = ["Plan", "evaluated", "pareto", "serial_plan", "thinned"]


@record
class Plan:
    """A sequence of steps, its peak in bytes, and the cost of its recomputations."""

    sequence: tuple[int, ...]
    peak: int
    extra_cost: int


def evaluated(model: Model, sequence: Sequence[int]) -> Plan:
    """The plan of a sequence, by the memory model; computations that nothing reads are left out.

    A search may compute a value again between two copies of outputs. In the graph of a plan outputs
    are copied last.
    """
    first = len(model) - model.copies
    steps = [step for step in sequence if step < first]
    useful = _without_unread(model, [*steps, *range(first, len(model))])
    extra = sum([model.costs[step] for step in useful]) - sum(model.costs)
    return Plan(tuple(useful), profile(model, useful).peak, extra)


def serial_plan(model: Model) -> Plan:
    """The plan that computes every step once, in the order of the model."""
    return evaluated(model, range(len(model)))


def _without_unread(model: Model, sequence: Sequence[int]) -> list[int]:
    """The sequence without computations whose value is not read before it is computed again.

    The walk is backwards, so that values read only by such a computation are left out too.
    """
    wanted = [False] * len(model)
    for step in model.kept:
        wanted[step] = True
    kept: list[int] = []
    seen_last = [False] * len(model)
    readers = [False] * len(model)
    for reads in model.reads:
        for read in reads:
            readers[read] = True
    for step in reversed(sequence):
        # A step that nothing reads is kept where it is computed last.
        if wanted[step] or (not readers[step] and not seen_last[step]):
            kept.append(step)
            wanted[step] = False
            seen_last[step] = True
            for read in model.reads[step]:
                wanted[read] = True
    # Plans come from several searches; a plan that leaves out a needed step must not pass.
    assert not any(wanted)
    kept.reverse()
    return kept


def thinned(model: Model, plan: Plan, limit: int, again: Collection[int] = ()) -> Plan:
    """The plan without the recomputations that are unnecessary under `limit`.

    The dearest are dropped first. Without the computation at position p, the value of the previous
    computation of the same step has to live until the readers of p. This adds the step's bytes to
    every position between the value's last read and p.
    """
    sequence = plan.sequence
    found = profile(model, sequence)
    bytes_at = np.array(found.bytes_at, dtype=np.int64)
    reused = {each for each in found.taken_over if each >= 0}
    before: list[int] = []
    latest: dict[int, int] = {}
    repeated: list[int] = []
    fixed = frozenset(again)
    for position, step in enumerate(sequence):
        before.append(latest.get(step, -1))
        if before[-1] >= 0 and step not in fixed:
            repeated.append(position)
        latest[step] = position
    ends = found.last_read
    dropped: set[int] = set()
    repeated.sort(key=lambda position: (-model.costs[sequence[position]], position))
    for position in repeated:
        earlier = before[position]
        while earlier in dropped:
            earlier = before[earlier]
        size = model.sizes[sequence[position]]
        # If its buffer was taken over at its last read, both values are now live there.
        start = ends[earlier] + (0 if earlier in reused else 1)
        if start < position and size and int(bytes_at[start:position].max()) + size > limit:
            continue
        bytes_at[start:position] += size
        dropped.add(position)
        ends[earlier] = ends[position]
        if position in reused:
            reused.add(earlier)
    if not dropped:
        return plan
    rest = [step for position, step in enumerate(sequence) if position not in dropped]
    better = evaluated(model, rest)
    return better if better.peak <= limit and better.extra_cost <= plan.extra_cost else plan


def pareto(plans: Iterable[Plan]) -> list[Plan]:
    """The plans that no other plan beats in both peak and cost: peak rising, cost falling."""
    front: list[Plan] = []
    for plan in sorted(plans, key=lambda each: (each.peak, each.extra_cost)):
        if not front or plan.extra_cost < front[-1].extra_cost:
            front.append(plan)
    return front
