"""The cheapest node that is equal to each output, where a shared node is paid for once.

Finding it is NP-hard (M. Stepp, PhD thesis, 2011). Three searches are made: bottom-up with the set
of classes that each choice needs (the `faster-greedy-dag` extractor of extraction-gym); from its
result, exchange of one choice at a time; and for small e-graphs an integer program.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..ir.node import Node, make, origin
from .choices import Choices, ENode
from .integer_program import solved

__all__ = ["A_NODE", "extracted"]

A_NODE = 1e-6
"""The least cost of a node: it is positive, so that no choice needs itself."""


def extracted(choices: Choices, *, exact_below: int) -> list[Node]:
    """A node for each root, at the least total cost found.

    Parameters
    ----------
    choices : Choices
        Its `chosen` is replaced only by a cheaper choice.
    exact_below : int
        The integer program is solved for at most so many e-nodes.
    """
    best = dict(choices.chosen)
    found = _bottom_up(choices)
    for start in (found, best):
        improved = _exchanged(choices, {**found, **start})
        if choices.total(improved) < choices.total(best) - A_NODE / 2:
            best = improved
    if sum(map(len, choices.ways.values())) <= exact_below:
        program = solved(choices.ways, choices.roots, choices.total(best))
        if program is not None and choices.total(program) < choices.total(best) - A_NODE / 2:
            best = program
    best = _with_first_ways(choices, best)
    return _built(choices, best)


def _bottom_up(choices: Choices, free: Collection[int] = ()) -> dict[int, ENode]:
    """For each class the way whose set of needed classes is cheapest, to a fixpoint.

    The classes in `free` are computed anyway.
    """
    sets: dict[int, dict[int, float]] = {}
    totals: dict[int, float] = {}
    chosen: dict[int, ENode] = {}
    for own in free:
        sets[own], totals[own] = {own: A_NODE}, A_NODE
    changed = True
    while changed:
        changed = False
        for own, ways in choices.ways.items():
            if own in free:
                continue
            for way in ways:
                if any(each not in sets for each in way.below):
                    continue
                needed: dict[int, float] = {}
                for each in way.below:
                    needed.update(sets[each])
                if own in needed:
                    continue
                needed[own] = way.weight
                total = sum(needed.values())
                if total < totals.get(own, float("inf")) - A_NODE / 2:
                    sets[own], totals[own], chosen[own] = needed, total, way
                    changed = True
    return chosen


def _exchanged(choices: Choices, start: dict[int, ENode]) -> dict[int, ENode]:
    """The choice after exchanging ways one by one while that lowers the cost.

    If an exchanged way needs further classes, they get their cheapest ways, given all that is
    computed.
    """
    chosen = dict(start)
    least = choices.total(chosen)
    improved = True
    while improved:
        improved = False
        order = choices.order(chosen) or []
        used = {own: chosen[own] for own in order}
        given = {**_bottom_up(choices, used), **used}
        for own in order:
            for way in choices.ways[own]:
                total = choices.total({**given, own: way})
                if total < least - A_NODE / 2:
                    # Exchanges that help alone need not help together: only the best one is made.
                    chosen, least, improved = {**given, own: way}, total, True
    return chosen


def _with_first_ways(choices: Choices, chosen: dict[int, ENode]) -> dict[int, ENode]:
    """The choice with the first way of each class, wherever it costs no more."""
    least = choices.total(chosen)
    for own in choices.order(chosen) or ():
        trial = {**chosen, own: choices.ways[own][0]}
        if choices.total(trial) <= least + A_NODE / 2:
            chosen = trial
    return chosen


def _built(choices: Choices, chosen: Mapping[int, ENode]) -> list[Node]:
    new: dict[int, Node] = {}
    for own in choices.order(chosen) or ():
        node = chosen[own].node
        operands = tuple([new[each] for each in chosen[own].below])
        if not chosen[own].below or operands == node.operands:
            new[own] = node
            continue
        with origin(node.origin.again("saturate")):
            new[own] = make(node.op, operands, node.params, node.copy)
    return [new[root] for root in choices.roots]
