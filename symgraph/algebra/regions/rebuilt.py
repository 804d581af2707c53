"""Values on their operands as these are now, each as soon as all of its operands are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir.node import Node, on_operands
from ..extraction.use_counts import UseCounts

__all__ = ["RebuiltValues"]


class RebuiltValues:
    """The values of one walk over a graph, on new operands.

    A spelling costs nothing where it is a value that is computed anyway, and most values are used
    further on, by the gradient. So they are rebuilt before the walk comes to them: else what is
    written anew in the first layer of a network would hide them from all layers above.

    Parameters
    ----------
    used_by : mapping of Node to sequence of Node
        The nodes that use each value.
    now : mapping of Node to Node
        The node as which each value is computed, for those that the walk has passed.
    use_counts : UseCounts
        It is told which node stands for which.
    """

    def __init__(
        self,
        used_by: Mapping[Node, Sequence[Node]],
        now: Mapping[Node, Node],
        use_counts: UseCounts,
    ) -> None:
        self._used_by = used_by
        self._now = now
        self._use_counts = use_counts
        self._ahead: dict[Node, Node] = {}

    def of(self, node: Node) -> Node:
        """The value on its operands as they are now."""
        found = self._ahead.get(node)
        return self._rebuilt(node) if found is None else found

    def note(self, node: Node) -> None:
        """Rebuild the users of a value that the walk has passed, if no other operand is missing."""
        now = self._now
        if now[node] is node:
            return
        for user in self._used_by[node]:
            if all(each in now for each in user.operands):
                self._ahead[user] = self._rebuilt(user)

    def _rebuilt(self, node: Node) -> Node:
        rebuilt = on_operands(node, tuple([self._now[operand] for operand in node.operands]))
        if rebuilt is not node:
            self._use_counts.same(rebuilt, node)
        return rebuilt
