"""Puts a new spelling in the place of an old one, if it is cheaper, and logs why it may."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Protocol

from ...ir.node import Node
from ..extraction.cheapest import CheapestSpellings
from ..extraction.use_counts import Price, UseCounts
from .node_forms import NodeForms
from .templates import Grade, Reasons

__all__ = ["Replacements", "RewriteLog"]


class RewriteLog(Protocol):
    """A record of rewrites."""

    def record(
        self, name: str, before: Node, after: Node, sound: Grade, /, *, identities: Sequence[str]
    ) -> object: ...


class Replacements:
    """The replacements made in one walk over a graph.

    Parameters
    ----------
    node_forms : NodeForms
    now : dict of Node to Node
        The node as which each value is computed; a replacement is entered here.
    use_counts : UseCounts
    spellings : CheapestSpellings
    given : container of Node
        The nodes of the graph as it was given.
    log : RewriteLog, optional

    Attributes
    ----------
    reasons : dict of Node to Reasons
        Why each new spelling equals the old one.
    """

    def __init__(
        self,
        node_forms: NodeForms,
        now: dict[Node, Node],
        use_counts: UseCounts,
        spellings: CheapestSpellings,
        given: Container[Node],
        log: RewriteLog | None,
    ) -> None:
        self.node_forms = node_forms
        self.now = now
        self.use_counts = use_counts
        self.spellings = spellings
        self.given = given
        self.log = log
        self.reasons: dict[Node, Reasons] = {}
        self._explained: set[Node] = set()
        self._licence_uses = 0

    def begin(self) -> None:
        """Start with the next node of the walk: uses of the licence from here on are its own."""
        self._licence_uses = self.node_forms.licence_uses

    def replace(
        self, node: Node, new: Node, gain: Callable[[Price], bool], reasons: Reasons | None = None
    ) -> bool:
        """Put `new` in the place of a suspended node if its price is a gain; whether it was.

        Otherwise the node stays suspended.

        Parameters
        ----------
        node, new : Node
        gain : callable
            Whether a price is low enough.
        reasons : Reasons, optional
            Why `new` equals the node, where that is known from the first region of its structure.
        """
        self.use_counts.replace(node, new)
        if not gain(self.use_counts.resume(node)):
            self.use_counts.suspend(node)
            self.use_counts.forget(node)
            return False
        why = reasons or Reasons(self._identities(node, new), self._grade(node))
        if self.log is not None:
            self.log.record("algebra", self.now[node], new, why.grade, identities=why.identities)
        self.reasons[new] = why
        if reasons is not None and why.grade == "domain":
            self.node_forms.note_licensed(node, new)
        self.now[node] = new
        return True

    def _identities(self, node: Node, new: Node) -> tuple[str, ...]:
        """The identities behind a new spelling: of its normal form, and of its writing."""
        found = set(self.node_forms.identities(node))
        stack = [new]
        while stack:
            each = stack.pop()
            if each in self._explained or each in self.given:
                continue
            self._explained.add(each)
            found.update(self.spellings.written_by(each))
            stack.extend(each.operands)
        return tuple(sorted(found))

    def _grade(self, node: Node) -> Grade:
        depends = self.node_forms.depends_on_licence(node, self._licence_uses)
        return "domain" if depends else "rounding"
