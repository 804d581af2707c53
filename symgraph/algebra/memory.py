"""What one round of the algebra leaves for the next, which meets most of the same nodes."""

from __future__ import annotations

import weakref
from typing import TypeAlias

from ..nodes import Node
from ..propagation import Knowledge
from .forms import Forms
from .growth import Growth
from .heads import Heads
from .term import Expr
from .world import Cost

__all__ = ["Exprs", "Memory", "memory_of"]

Exprs: TypeAlias = dict[Node, tuple[list[Expr], Expr | None]]
"""What nodes are, given the expressions of their operands."""


class Memory:
    """What one round leaves for the next: heads, expressions, regions given up."""

    def __init__(self, knowledge: Knowledge) -> None:
        # Held weakly, for the knowledge is the key to this memory.
        known = weakref.proxy(knowledge)
        self.forms = Forms(Heads(known))
        self.growth = Growth(known)
        self.kept: dict[Node, Cost] = {}
        self.kept_late: dict[Node, Cost] = {}
        self.leaves: dict[Node, Expr] = {}
        self.exprs: Exprs = {}
        self.nears: Exprs = {}


_memories: weakref.WeakKeyDictionary[Knowledge, Memory] = weakref.WeakKeyDictionary()


def memory_of(knowledge: Knowledge, *, afresh: bool = False) -> Memory:
    """What earlier rounds with this knowledge left; nothing if all is to be forgotten."""
    found = None if afresh else _memories.get(knowledge)
    if found is None:
        found = _memories[knowledge] = Memory(knowledge)
    return found
