"""The last steps of a simplification: passes that are done once, and one more look if they help."""

from __future__ import annotations

from collections.abc import Sequence

from ..accuracy import judge_of
from ..ir.cost import op_count
from ..ir.fact_inference import Knowledge
from ..ir.node import Node
from ..passes.joined_operations import with_operations_joined
from ..passes.joined_rows import with_rows_joined
from ..passes.logistic_densities import with_logistic_densities
from ..passes.logistic_quotients import with_quotients
from ..passes.shared_factors import with_factors_shared
from ..passes.shared_sums import with_terms_shared
from ..passes.simplify import Effort
from ..passes.transposed_products import with_matrices_turned
from ..rewriting.log import Log
from .one_by_one import Simplify, are_in_the_way, one_by_one

__all__ = ["ended", "ended_once"]

_LOOKED_AT_AGAIN = 60
"""Operations of the largest graph that is simplified once more after its end has shortened it.
Larger ones would take up to 1.4 times as long, for an operation or two in one of ten."""

_TAKEN_APART = 30
"""Operations of the largest graph whose outputs are simplified one by one: twice the time."""


def ended(
    outputs: list[Node],
    history: Log,
    knowledge: Knowledge,
    effort: Effort,
    again: Simplify,
    alone: Simplify,
) -> list[Node]:
    """The outputs after the last steps, when the rounds are over.

    `again` simplifies them again, and `alone` one of them.
    """
    shortest = ended_once(outputs, history, knowledge, effort)
    if effort != "low" and op_count(shortest) < op_count(outputs) <= _LOOKED_AT_AGAIN:
        # What is shared now may be written otherwise.
        new, steps = again(shortest)
        new = ended_once(new, steps, knowledge, effort)
        if op_count(new) < op_count(shortest):
            history.extend(steps)
            shortest = new
    if effort != "low" and op_count(shortest) <= _TAKEN_APART and are_in_the_way(shortest):
        new, steps = one_by_one(shortest, alone)
        new, more = again(new)  # What they have in common is one value again.
        steps.extend(more)
        new = ended_once(new, steps, knowledge, effort)
        if op_count(new) < op_count(shortest):
            history.extend(steps)
            return new
    return shortest


def ended_once(
    outputs: Sequence[Node], history: Log, knowledge: Knowledge, effort: Effort
) -> list[Node]:
    """The outputs after the steps that are done once, when the rounds are over."""
    judge = judge_of(knowledge)
    new = with_logistic_densities(outputs, judge.loses)
    current = history.through("sigmoids times complements", outputs, new)
    new = with_quotients(current, lambda new, old: not judge.loses(new, old))
    current = history.through("multiples of sigmoids", current, new)
    if effort == "low":
        return current
    new = with_factors_shared(current, judge.loses)
    current = history.through("factors shared", current, new)
    new = with_terms_shared(current, judge.loses)
    current = history.through("terms shared", current, new)
    current = history.through("rows joined", current, with_rows_joined(current))
    current = history.through("operations joined", current, with_operations_joined(current))
    return history.through("matrices turned", current, with_matrices_turned(current))
