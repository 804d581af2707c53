"""A lower bound of what any plan has to compute again under a budget.

Let a step have been computed for the first time. All values that it is computed from have been
computed by then. Some of them are read by steps that are computed from this step, so later. Each of
these is either live now, or has to be computed again. Those live fit the budget together, so the
others cost at least what a fractional knapsack leaves out (Dantzig 1957). This holds for any order
of steps. The bound is the largest over the first steps of the gradient.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ..lowering.memory_model import Model

__all__ = ["cost_bound"]

_MOST_STEPS = 12
"""How many of the first steps of the gradient are asked."""


def cost_bound(model: Model, backward: Collection[int], budget: int) -> int:
    """The cost of recomputation that every sequence within the budget has, or less."""
    readers: list[list[int]] = [[] for _ in model.sizes]
    for step, reads in enumerate(model.reads):
        for read in reads:
            readers[read].append(step)
    last = len(model) - model.copies
    first = [step for step in sorted(backward) if step < last][:_MOST_STEPS]
    return max([_bound_at(model, step, readers, budget) for step in first], default=0)


def _closure(start: int, edges: list[list[int]] | tuple[tuple[int, ...], ...]) -> set[int]:
    found = {start}
    stack = [start]
    while stack:
        for each in edges[stack.pop()]:
            if each not in found:
                found.add(each)
                stack.append(each)
    return found


def _bound_at(model: Model, step: int, readers: list[list[int]], budget: int) -> int:
    before = _closure(step, model.reads) - {step}
    after = _closure(step, readers) - {step}
    wanted = [each for each in before if any(reader in after for reader in readers[each])]
    room = budget - (model.room_taking_over(step) if model.takes[step] else model.room(step))
    return _left_out(model, wanted, max(0, room))


def _left_out(model: Model, wanted: Iterable[int], room: int) -> int:
    """The least cost of the values that do not fit, if they may be cut."""
    cost = 0
    for each in sorted(wanted, key=lambda each: -model.costs[each] / max(1, model.sizes[each])):
        size = model.sizes[each]
        if size <= room:
            room -= size
            continue
        cost += model.costs[each] * (size - room) // size
        room = 0
    return cost
