"""The memory that one round of the algebra leaves for the next, which meets most nodes again."""

from __future__ import annotations

import weakref
from collections.abc import Collection
from contextlib import suppress
from typing import Literal, NamedTuple, TypeAlias

from ...accuracy import judge_of
from ...ir.fact_inference import Knowledge
from ...ir.node import Node
from ..expression.applied import IdentityNames
from ..expression.atoms import AtomTable
from ..expression.exact_numbers import Coef
from ..expression.leaf_terms import leaf_expr
from ..expression.licence import Licence
from ..expression.term import Expr, Term
from ..extraction.use_counts import Price
from ..lifting.lifting import Lifter
from ..rational.polynomials import Polynomials
from ..rational.quotients import Quotients

__all__ = ["Exprs", "RegionMemory", "Settlement", "Unchanged", "memory_of"]

Exprs: TypeAlias = dict[Node, tuple[list[Expr], Expr | None, IdentityNames]]
"""For each node the expressions of its operands, its own expression, and the identities used."""


Settlement: TypeAlias = Literal["settled", "given up earlier", "contested"]
"""Whether a walk can find anything in a graph that the last walk left as it was.

Nothing, if that one looked at every region, and no spelling was cheaper. Perhaps something, if it
passed by regions that were given up in earlier graphs, where other values were computed anyway.
If digits decided, another judge may find otherwise."""


class Unchanged(NamedTuple):
    """A walk that left its graph as it was.

    Parameters
    ----------
    outputs : list of Node
        The outputs of the graph.
    settled : set of Node
        Regions that it looked at, and of which no spelling is cheaper, whatever digits it has.
    contested : bool
        Whether it gave up a region for its digits, so that another judge may find otherwise.
    shares : bool
        Whether a region looks another way over values with other users as arrays.
    """

    outputs: list[Node]
    settled: set[Node]
    contested: bool
    shares: bool


class RegionMemory:
    """Atoms, expressions, and regions that were given up, from earlier rounds."""

    def __init__(self, knowledge: Knowledge, licence: Licence | None, *, at_kinks: bool) -> None:
        # A weak reference, because the knowledge is the key to this memory.
        known = weakref.proxy(knowledge)
        self.licence = licence
        self.lifter = Lifter(AtomTable(known, licence), at_kinks=at_kinks)
        self.judge = judge_of(knowledge)
        self.polynomials = Polynomials(self.lifter.atoms)
        self.quotients = Quotients(self.lifter.atoms)
        self.parted: set[Node] = set()
        """Values inside regions that lose digits when the region is written as a whole."""
        self.tried: set[Node] = set()
        """Values that no spelling chosen for its digits could rescue."""
        self.kept: dict[Node, Price] = {}
        """Nodes left as they are, with the price at which nothing was to be gained."""
        self.kept_late: dict[Node, Price] = {}
        """The same for late walks."""
        self.costs: dict[Node, Price] = {}
        """What the nodes of all graphs so far cost by themselves."""
        self.leaf_exprs: dict[Node, Expr] = {}
        self.exprs: Exprs = {}
        self.opened: dict[Node | frozenset[tuple[Term, Coef]], Expr | None] = {}
        """Arrays and exponents over the inputs, without sums as factors; None for long ones."""
        self.nears: Exprs = {}
        """Like `exprs`, over values with other users as arrays."""
        self.unchanged: Unchanged | None = None
        """The last walk that left its graph as it was; late walks do not count."""

    def expression(self, node: Node) -> Expr | None:
        """The expression of an array; over its operands, if no walk has formed one."""
        if node not in self.exprs:
            normal, expr = self.lifter.normal, None
            mark = normal.applied.mark()
            operands = [leaf_expr(normal.atoms, each) for each in node.operands]
            if Lifter.knows(node):
                with suppress(OverflowError):
                    expr = self.lifter.form(node, operands)
            self.exprs[node] = operands, expr, normal.applied.since(mark)
            normal.applied.take_back(mark)
        return self.exprs[node][1]

    def note(self, walk: Unchanged) -> None:
        """Note a walk that changed nothing; it skipped regions that are settled already."""
        last = self.unchanged
        if last is not None and last.outputs == walk.outputs:
            walk.settled.update(last.settled)
            walk = walk._replace(contested=walk.contested or last.contested)
        self.unchanged = walk

    def take_settled(self, outputs: list[Node], earlier: RegionMemory) -> None:
        """Take from another memory the regions of which no spelling is cheaper, if it has any."""
        last = earlier.unchanged
        if last is not None and last.outputs == outputs:
            kept = earlier.kept
            self.kept.update({node: kept[node] for node in last.settled if node in kept})
            self.unchanged = last._replace(settled=set(last.settled), contested=False)

    def settlement(self, outputs: list[Node], nodes: Collection[Node]) -> Settlement:
        """What another walk over this graph may still find."""
        last = self.unchanged
        if last is None or last.outputs != outputs or last.contested:
            return "contested"
        earlier = any(node in self.kept and node not in last.settled for node in nodes)
        return "given up earlier" if earlier else "settled"

    def look_again(self, nodes: Collection[Node]) -> None:
        """Forget which regions were given up in earlier graphs, with other values computed."""
        last = self.unchanged
        for node in nodes:
            if last is None or node not in last.settled:
                self.kept.pop(node, None)

    def shares_nothing(self, outputs: list[Node]) -> bool:
        """Whether no region of the graph looks another way over values with other users."""
        last = self.unchanged
        return last is not None and last.outputs == outputs and not last.shares


_Memories: TypeAlias = "weakref.WeakKeyDictionary[Knowledge, RegionMemory]"

_memories: _Memories = weakref.WeakKeyDictionary()
_licensed_memories: _Memories = weakref.WeakKeyDictionary()


def memory_of(knowledge: Knowledge, *, trust: str, at_kinks: bool = True) -> RegionMemory:
    """The memory of earlier rounds with this knowledge.

    With trust "domain" the memory has a licence to cancel without a fact. Results from before
    differentiating stay valid after it, unless kinks were met.
    """
    memories = _licensed_memories if trust == "domain" else _memories
    found = memories.get(knowledge)
    if found is not None and found.lifter.at_kinks != at_kinks:
        if found.lifter.met_kinks:
            found = None
        else:
            found.lifter.at_kinks = at_kinks
    if found is None:
        licence = Licence() if trust == "domain" else None
        found = memories[knowledge] = RegionMemory(knowledge, licence, at_kinks=at_kinks)
    return found
