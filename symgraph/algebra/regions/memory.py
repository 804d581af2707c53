"""What one round of the algebra leaves for the next, which meets most of the same nodes."""

from __future__ import annotations

import weakref
from typing import TypeAlias

from ...accuracy import judge_of
from ...ir.fact_inference import Knowledge
from ...ir.node import Node
from ..expression.applied import IdentityNames
from ..expression.atoms import AtomTable
from ..expression.licence import Licence
from ..expression.term import Expr
from ..extraction.use_counts import Price
from ..lifting.lifting import Lifter

__all__ = ["Exprs", "RegionMemory", "memory_of"]

Exprs: TypeAlias = dict[Node, tuple[list[Expr], Expr | None, IdentityNames]]
"""What nodes are, given the expressions of their operands, and by which identities."""


class RegionMemory:
    """What one round leaves for the next: atoms, expressions, regions given up."""

    def __init__(self, knowledge: Knowledge, licence: Licence | None, *, at_kinks: bool) -> None:
        # Held weakly, for the knowledge is the key to this memory.
        known = weakref.proxy(knowledge)
        self.licence = licence
        self.lifter = Lifter(AtomTable(known, licence), at_kinks=at_kinks)
        self.judge = judge_of(knowledge)
        self.parted: set[Node] = set()
        """Values inside regions that lose digits when they are written as a whole."""
        self.tried: set[Node] = set()
        """Values that are not rescued by being written with a mind to digits."""
        self.kept: dict[Node, Price] = {}
        self.kept_late: dict[Node, Price] = {}
        self.leaves: dict[Node, Expr] = {}
        self.exprs: Exprs = {}
        self.nears: Exprs = {}


_Memories: TypeAlias = "weakref.WeakKeyDictionary[Knowledge, RegionMemory]"

_memories: _Memories = weakref.WeakKeyDictionary()
_memories_of_leave: _Memories = weakref.WeakKeyDictionary()


def memory_of(
    knowledge: Knowledge, *, trust: str, at_kinks: bool = True, afresh: bool = False
) -> RegionMemory:
    """What earlier rounds with this knowledge left; nothing if all is to be forgotten.

    With trust "domain" there is leave to cancel what no fact allows to cancel. What was found
    before differentiating counts after it, unless kinks were met.
    """
    memories = _memories_of_leave if trust == "domain" else _memories
    found = None if afresh else memories.get(knowledge)
    if found is not None and found.lifter.at_kinks != at_kinks:
        if found.lifter.met_kinks:
            found = None
        else:
            found.lifter.at_kinks = at_kinks
    if found is None:
        licence = Licence() if trust == "domain" else None
        found = memories[knowledge] = RegionMemory(knowledge, licence, at_kinks=at_kinks)
    return found
