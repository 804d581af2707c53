"""The memory that one round of the algebra leaves for the next, which meets most nodes again."""

from __future__ import annotations

import weakref
from typing import TypeAlias

from ...accuracy import judge_of
from ...ir.fact_inference import Knowledge
from ...ir.node import Node
from ..expression.applied import IdentityNames
from ..expression.atoms import AtomTable
from ..expression.exact_numbers import Coef
from ..expression.licence import Licence
from ..expression.term import Expr, Term
from ..extraction.use_counts import Price
from ..lifting.lifting import Lifter

__all__ = ["Exprs", "RegionMemory", "memory_of"]

Exprs: TypeAlias = dict[Node, tuple[list[Expr], Expr | None, IdentityNames]]
"""For each node the expressions of its operands, its own expression, and the identities used."""


class RegionMemory:
    """Atoms, expressions, and regions that were given up, from earlier rounds."""

    def __init__(self, knowledge: Knowledge, licence: Licence | None, *, at_kinks: bool) -> None:
        # A weak reference, because the knowledge is the key to this memory.
        known = weakref.proxy(knowledge)
        self.licence = licence
        self.lifter = Lifter(AtomTable(known, licence), at_kinks=at_kinks)
        self.judge = judge_of(knowledge)
        self.parted: set[Node] = set()
        """Values inside regions that lose digits when the region is written as a whole."""
        self.tried: set[Node] = set()
        """Values that no spelling chosen for its digits could rescue."""
        self.kept: dict[Node, Price] = {}
        """Nodes left as they are, with the price at which nothing was to be gained."""
        self.kept_late: dict[Node, Price] = {}
        """The same for late walks."""
        self.leaf_exprs: dict[Node, Expr] = {}
        self.exprs: Exprs = {}
        self.opened: dict[Node | frozenset[tuple[Term, Coef]], Expr | None] = {}
        """Arrays and exponents over the inputs, without sums as factors; None for long ones."""
        self.nears: Exprs = {}
        """Like `exprs`, over values with other users as arrays."""


_Memories: TypeAlias = "weakref.WeakKeyDictionary[Knowledge, RegionMemory]"

_memories: _Memories = weakref.WeakKeyDictionary()
_licensed_memories: _Memories = weakref.WeakKeyDictionary()


def memory_of(
    knowledge: Knowledge, *, trust: str, at_kinks: bool = True, afresh: bool = False
) -> RegionMemory:
    """The memory of earlier rounds with this knowledge; a new one if they are to be forgotten.

    With trust "domain" the memory has a licence to cancel without a fact. Results from before
    differentiating stay valid after it, unless kinks were met.
    """
    memories = _licensed_memories if trust == "domain" else _memories
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
