"""Whole graphs compared with the graph as derived: no digit and no number is lost.

The algebra compares each region with the one it replaces. What no region shows is seen here, on the
outputs: a tail that only the graph as derived has, and a number that is lost to two changes which
are harmless one by one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..accuracy import judge_of
from ..ir.cost import op_count
from ..ir.fact_inference import Knowledge
from ..ir.node import Node
from ..passes.factor_order import with_factors_reordered
from ..passes.logistic_quotients import with_complements

__all__ = [
    "finite",
    "in_range",
    "keeping_digits",
    "keeping_numbers",
    "leaves_range",
    "loses_a_number",
]


_TWO_PASSES = 1.5
"""So many times as long as the graph as derived are two backward passes, which share nothing."""


def keeping_digits(
    outputs: Sequence[Node], given: Sequence[Node], knowledge: Knowledge
) -> list[Node]:
    """Derivatives of the stabilised graph; where one loses digits, that of the graph as given.

    The tail of s (1 - s) is lost where that of exp(x) / (1 + exp(x))**2 is not: s(x) s(-x) has it.
    Two backward passes share nothing: if one output needs another spelling, so do all that keep
    their digits there. Where that does not spare one of the two, all are as derived: they have the
    digits of the user's own program, and only a number in place of NaN is worth a second pass.
    """
    judge = judge_of(knowledge)
    pairs = zip(given, outputs, strict=True)
    judge.learn([each for old, new in pairs if new is not old for each in (old, new)])

    def is_as_good(new: Node, old: Node) -> bool:
        return not judge.loses_as_a_whole(new, old) or judge.rescues(new, old)

    kept = [new if is_as_good(new, old) else old for new, old in zip(outputs, given, strict=True)]
    if kept == list(outputs):
        return kept
    careful = with_complements(outputs)
    kept = [
        other if new is old and other is not given_up and is_as_good(other, old) else new
        for new, old, other, given_up in zip(kept, given, careful, outputs, strict=True)
    ]
    if any(one is other is not old for one, other, old in zip(kept, careful, outputs, strict=True)):
        joint = [
            other if is_as_good(other, old) and not judge.loses(other, one) else one
            for one, old, other in zip(kept, given, careful, strict=True)
        ]
        kept = min(kept, joint, key=op_count)
    if not any(one is old for one, old in zip(kept, given, strict=True)):
        return kept
    joint = [
        one if one is not old and (judge.loses(old, one) or judge.rescues(one, old)) else old
        for one, old in zip(kept, given, strict=True)
    ]
    kept = joint if op_count(joint) <= op_count(kept) else kept
    # What is gained over the graph as derived is left where it takes a second backward pass.
    plain = [one if judge.rescues(one, old) else old for one, old in zip(kept, given, strict=True)]
    return plain if _TWO_PASSES * op_count(plain) < op_count(kept) else kept


def finite(
    results: Sequence[Node], given: Sequence[Node], steady: Sequence[Node], knowledge: Knowledge
) -> list[Node]:
    """The outputs as given; where one gives no number, the stabilised output in its place.

    If that gives no number somewhere either, its tails are kept: s(x) s(-x) for s (1 - s).
    """
    judge = judge_of(knowledge)
    careful = with_complements(steady) if any(map(judge.fails, results)) else steady

    def better(new: Node, old: Node, other: Node, tails: Node) -> Node:
        if other is old or not judge.fails_less(other, new):
            return old
        return tails if judge.fails(other) and not judge.loses(tails, other) else other

    return [better(*each) for each in zip(results, given, steady, careful, strict=True)]


def loses_a_number(
    outputs: Sequence[Node],
    given: Sequence[Node],
    knowledge: Knowledge,
    *,
    ours: bool = True,
) -> bool:
    """Whether an output is infinite or NaN where the graph as derived has the right number.

    Or is another number: no pass may change a value, and if one does so by a fault of ours, the
    graph as derived is still right. A rule of the user's, which is not `ours`, may be on trial.
    """
    judge = judge_of(knowledge)
    return any(
        judge.drops(new, old) or (ours and judge.differs(new, old))
        for new, old in zip(outputs, given, strict=True)
    )


def keeping_numbers(
    found: Sequence[Sequence[Node]],
    given: Sequence[Node],
    knowledge: Knowledge,
    *,
    ours: bool = True,
) -> list[Node]:
    """The last outputs found; if one loses a number, the cheapest of those that lose none.

    Parameters
    ----------
    found : sequence of outputs
        Outputs that are equal in exact arithmetic; the last are the result.
    given : sequence of Node
        The outputs as derived, which are right by definition.
    knowledge : Knowledge
    ours : bool
        Whether all rules are ours.
    """

    def loses(outputs: Sequence[Node]) -> bool:
        return loses_a_number(outputs, given, knowledge, ours=ours)

    if not loses(found[-1]):
        return list(found[-1])
    kept = [outputs for outputs in found if not loses(outputs)]
    return list(min([given, *kept], key=op_count))


def leaves_range(outputs: Sequence[Node], given: Sequence[Node], knowledge: Knowledge) -> bool:
    """Whether an output overflows or underflows on its way much more often than as derived."""
    judge = judge_of(knowledge)
    return any(map(judge.leaves_range, outputs, given))


def in_range(outputs: Sequence[Node], given: Sequence[Node], knowledge: Knowledge) -> list[Node]:
    """The outputs with their factors in an order that stays in range more often, where one does.

    What the graph as derived does not keep need not be kept: x @ y / norm(x) is NaN where the norm
    has overflowed, and sum(x / norm(x) * y) is 0.
    """
    judge = judge_of(knowledge)

    def lost(outputs: Sequence[Node]) -> int:
        return sum(map(judge.out_of_range, outputs, given))

    def lies(outputs: Sequence[Node]) -> int:
        return sum(map(judge.lies, outputs, given))

    def keeps(new: Sequence[Node], old: Sequence[Node]) -> bool:
        return lies(new) <= lies(old) and not any(
            judge.leaves_range(one, before)
            or (judge.loses(one, before) and (before is first or judge.loses(one, first)))
            for one, before, first in zip(new, old, given, strict=True)
        )

    return with_factors_reordered(outputs, lost, keeps)
