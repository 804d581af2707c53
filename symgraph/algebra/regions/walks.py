"""The pass over a graph: one walk, and a second one where regions were split in the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.fact_inference import Knowledge
from ...ir.node import Node
from ...ir.walks import reachable
from .memory import Settlement, Unchanged, memory_of
from .region_pass import PATIENT_UP_TO, RegionPass
from .replacements import RewriteLog

__all__ = ["THOROUGH_UP_TO", "normalized", "settlement"]

THOROUGH_UP_TO = 3_000
"""The most nodes of a graph that is simplified thoroughly, in rounds until nothing changes.

In a larger graph rare spellings are not tried, and no round confirms that nothing changes."""


def normalized(
    outputs: Sequence[Node],
    knowledge: Knowledge,
    *,
    trust: str = "rounding",
    log: RewriteLog | None = None,
    thorough: bool = True,
    at_kinks: bool = True,
    again: bool = False,
    afresh: Knowledge | None = None,
    late: bool = False,
    is_body: bool = False,
) -> list[Node]:
    """The outputs, with every region of the algebra in the cheapest spelling found.

    Parameters
    ----------
    outputs : sequence of Node
    knowledge : Knowledge
        Facts that allow cancellation.
    trust : "exact", "rounding" or "domain"
        With "exact" nothing is done, because the algebra changes digits. With "domain" it also
        cancels values that may be 0 or NaN.
    log : RewriteLog, optional
        Gets a record of each region replaced.
    thorough : bool
        Try rare spellings, too.
    at_kinks : bool
        Allow spellings with another slope at a kink. They are not allowed before differentiating.
    again : bool
        Look again at regions that were given up in earlier graphs.
    afresh : Knowledge, optional
        That of earlier rounds, which `knowledge` knows nothing of. A spelling that they rejected
        may be cheaper now. Only regions of this very graph of which they found no spelling to be
        cheaper, whatever digits it has, are not looked at again.
    late : bool
        For a graph whose regions as a whole get no shorter. Values with other users are computed
        anyway, so each is one array, and only the spelling over these arrays is tried.
    is_body : bool
        Whether the graph stands inside a loop or a branch, and others read its outputs.
    """
    if trust == "exact":
        return list(outputs)
    if late and len(reachable(outputs)) > PATIENT_UP_TO:
        return list(outputs)  # It would gain little, and take as long as all passes before.
    memory = memory_of(knowledge, trust=trust, at_kinks=at_kinks)
    current = list(outputs)
    if afresh is not None:
        memory.take_settled(current, memory_of(afresh, trust=trust, at_kinks=at_kinks))
    if late and memory.shares_nothing(current):
        return current
    if again:
        memory.look_again(reachable(outputs))
    how: Any = {"thorough": thorough, "late": late, "is_body": is_body}
    walk = RegionPass(current, memory, log, **how)
    current = walk.run()
    if walk.borders.parted:
        memory.parted.update(walk.now[each] for each in walk.borders.parted)
        walk = RegionPass(current, memory, log, **how, after=walk)
        current = walk.run()
    if not late and current == walk.outputs:
        memory.note(Unchanged(current, walk.settled, walk.contested, walk.shares))
    return current


def settlement(
    outputs: Sequence[Node], knowledge: Knowledge, *, trust: str, at_kinks: bool
) -> Settlement:
    """What is left to find in a graph that `normalized` left as it was, with the same arguments."""
    memory = memory_of(knowledge, trust=trust, at_kinks=at_kinks)
    return memory.settlement(list(outputs), reachable(outputs))
