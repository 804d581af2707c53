"""Regions that repeat: a region with the structure of an earlier one is written as that one was.

The first region of a structure is written with full effort, and what was done is kept as an
outcome. A later region of the same structure gets the same treatment, if that is the same gain
there and loses no digits.
"""

from __future__ import annotations

from ...accuracy import Judge
from ...ir.fact_inference import Knowledge
from ...ir.node import Node, origin
from ..expression.term import Expr
from ..extraction.cheapest import rewritten
from ..extraction.use_counts import Price, UseCounts, cost_beyond
from .borders import Borders
from .node_forms import NodeForms
from .regions import arrays_of, is_computed_from
from .replacements import Replacements
from .templates import RegionOutcome, RegionStructure, RegionStructures, places_of, template

__all__ = ["RepeatedRegions"]

_TOO_FEW = 200
"""In a graph with no more nodes, no repeated regions are looked for."""


class RepeatedRegions:
    """The regions of one walk over a graph, by structure.

    Parameters
    ----------
    borders : Borders
    node_forms : NodeForms
    replacements : Replacements
    use_counts : UseCounts
    judge : Judge
    knowledge : Knowledge
        Facts about the arrays below regions.
    late : bool
        Whether this is a late walk, which looks at each region by itself.
    """

    def __init__(
        self,
        borders: Borders,
        node_forms: NodeForms,
        replacements: Replacements,
        use_counts: UseCounts,
        judge: Judge,
        knowledge: Knowledge,
        *,
        late: bool,
    ) -> None:
        self.borders = borders
        self.node_forms = node_forms
        self.replacements = replacements
        self.use_counts = use_counts
        self.judge = judge
        self.structures = RegionStructures(knowledge)
        self._never = late or len(borders.users) <= _TOO_FEW

    @property
    def pays(self) -> bool:
        """Whether enough regions repeat one another."""
        return self.structures.pays

    def structure(self, node: Node) -> RegionStructure | None:
        """The structure of the region of a node; None if the node is looked at by itself."""
        if self._never or not self.structures.pays:
            return None
        if node not in self.borders.lifted or not self.use_counts.alive(node):
            return None
        opened, now = self.node_forms.opened, self.node_forms.now
        arrays = [None if opened[each] else now[each] for each in node.operands]
        return self.structures.of(node, arrays, self._surroundings(node))

    def _surroundings(self, node: Node) -> tuple[bool, ...]:
        """Facts about the users of a node that decide what is done with its region."""
        borders, origin = self.borders, node.origin
        return (
            borders.users[node] > 1,
            node in borders.ends,
            node in borders.arguments,
            origin.adjoint_of is not None,
            origin.shared,
        )

    def keep(
        self,
        node: Node,
        expr: Expr,
        structure: RegionStructure,
        needed: list[Node],
        price: Price | None,
        *,
        written: bool,
    ) -> None:
        """Keep what was done with a region for others of its structure, if a template can say it.

        Parameters
        ----------
        node : Node
        expr : Expr
        structure : RegionStructure
        needed : list of Node
            The arrays that any spelling of the region needs.
        price : Price, optional
            The price of the old spelling, if the region was priced.
        written : bool
            Whether the region has a new spelling.
        """
        if not self.structures.wants(structure):
            return
        leaves, now = structure.leaves, self.node_forms.now[node]
        places = places_of(needed, leaves)
        spelling = template(now, leaves, self._arrays_below(node)) if written else None
        arrays = arrays_of(expr) if self.node_forms.is_learned(node, expr) else []
        newest = max(arrays, key=lambda each: each.serial, default=None)
        learned_at = places_of([] if newest is None else [newest], leaves)
        if places is None or learned_at is None or (written and spelling is None):
            return
        closed = not self.node_forms.opened[node]
        reasons = self.replacements.reasons.get(now) if written else None
        split = node in self.borders.split
        bounds = self.structures.bounds_of(structure) if written else ()
        outcome = RegionOutcome(closed, places, price, spelling, learned_at, split, reasons, bounds)
        self.structures.keep(structure, outcome)

    def _arrays_below(self, node: Node) -> set[Node]:
        """The arrays from which the region of a node is built."""
        arrays: set[Node] = set()
        stack, seen = [node], {node}
        while stack:
            for each in stack.pop().operands:
                array = self.node_forms.array(each)
                if array is not None:
                    arrays.add(array)
                elif each not in seen:
                    seen.add(each)
                    stack.append(each)
        return arrays

    def treated_as_first(self, node: Node, structure: RegionStructure) -> bool:
        """Treat a region as the first of its structure; False if that is impossible or no gain."""
        outcome = self.structures.outcome(structure)
        if outcome is None:
            return False
        leaves = structure.leaves
        if outcome.price is not None:
            held, added = self.use_counts.hold([leaves[place] for place in outcome.needed])
            fits = self._written_as_first(node, outcome, outcome.price, structure, added)
            self.use_counts.let_go(held)
            if not fits:
                return False
        if outcome.split:
            self.borders.part(node, self.node_forms.opened)
        self.node_forms.opened[node] = not outcome.closed
        for place in outcome.learned_at:
            self.node_forms.learn_later(node, leaves[place])
        return True

    def _written_as_first(
        self,
        node: Node,
        outcome: RegionOutcome,
        price: Price,
        structure: RegionStructure,
        added: Price,
    ) -> bool:
        """Write a region as the first of its structure; whether price, gain and digits agree."""
        saved = cost_beyond(self.use_counts.suspend(node), added)
        if saved != price or outcome.spelling is None:
            self.use_counts.resume(node)
            return saved == price
        old = self.node_forms.now[node]
        with origin(rewritten(node)):
            new = outcome.spelling.over(structure.leaves)
        if new is old or is_computed_from(new, old) or self.judge.loses(new, old):
            fits = False
        else:
            fits = self.replacements.replace(
                *(node, new), lambda spent: spent < saved, outcome.reasons
            )
        if not fits:
            self.use_counts.resume(node)
        return fits
