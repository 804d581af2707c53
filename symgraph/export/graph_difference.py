"""The difference of two graphs: nodes kept, removed and added.

Nodes are equal if they are the same operation with the same params on equal operands. Inputs are
equal if their names, dtypes and shapes are. So graphs of two traces can be compared, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..ir.collector import collector_paused
from ..ir.dag import Dag
from ..ir.html_tables import bundle, table
from ..ir.interning import params_key
from ..ir.node import Node
from ..notation.node_text import shortened
from ..records import record
from .labels import Labels

__all__ = ["ComparedNode", "Difference", "difference"]

_WIDE = 60


@record
class ComparedNode:
    """A node of either graph.

    Parameters
    ----------
    change : "kept", "removed" or "added"
    before, after : Node or None
    left, right : str
        Its text in each graph.
    """

    change: str
    before: Node | None
    after: Node | None
    left: str
    right: str


@record(repr=False)
class Difference:
    """The change of each node. It prints side by side, with `-` for removed and `+` for added.

    Parameters
    ----------
    rows : tuple of ComparedNode
        In an order that is topological for both graphs.
    """

    rows: tuple[ComparedNode, ...]

    @property
    def kept(self) -> tuple[Node, ...]:
        """Nodes that both graphs have."""
        return tuple(r.before for r in self.rows if r.change == "kept" and r.before is not None)

    @property
    def removed(self) -> tuple[Node, ...]:
        """Nodes that only the first graph has."""
        return tuple(r.before for r in self.rows if r.change == "removed" and r.before is not None)

    @property
    def added(self) -> tuple[Node, ...]:
        """Nodes that only the second graph has."""
        return tuple(r.after for r in self.rows if r.change == "added" and r.after is not None)

    def __bool__(self) -> bool:
        """Whether there is any difference."""
        return any(row.change != "kept" for row in self.rows)

    def to_data(self) -> list[dict[str, Any]]:
        """One dict a row, with `change`, `left` and `right`, which JSON can hold."""
        return [{"change": r.change, "left": r.left, "right": r.right} for r in self.rows]

    def __str__(self) -> str:
        count = Counter(row.change for row in self.rows)
        told = ", ".join(f"{count[name]} {name}" for name in ("kept", "removed", "added"))
        width = min(max((len(row.left) for row in self.rows), default=0), _WIDE)
        signs = {"kept": " ", "removed": "-", "added": "+"}
        lines = [f"{signs[r.change]} {r.left.ljust(width)} | {r.right}".rstrip() for r in self.rows]
        return "\n".join([told, *lines])

    __repr__ = __str__

    def _repr_mimebundle_(self, **_kwargs: object) -> dict[str, str]:
        """The table of both graphs: the sign of each change, and its text in each graph."""
        signs = {"kept": "", "removed": "−", "added": "+"}
        rows = [(signs[row.change], row.left, row.right) for row in self.rows]
        title = str(self).partition("\n")[0]
        return bundle(self, table(("", "before", "after"), rows, title=title))


@collector_paused()
def difference(before: Dag, after: Dag) -> Difference:
    """The difference between two graphs, node by node; linear in their sizes."""
    left, right = Labels(before), Labels(after)
    table: dict[Any, int] = {}
    ours, theirs = _numbered(left, table), _numbered(right, table)
    lines = [number for number in ours if not left.is_inline(ours[number])]
    rows: list[ComparedNode] = []
    at = 0
    places = {number: place for place, number in enumerate(lines)}
    for number, node in theirs.items():
        if right.is_inline(node):
            continue
        if number not in places:
            rows.append(ComparedNode("added", None, node, "", _line(node, right)))
            continue
        # Removed nodes come before the first kept node that followed them.
        rows += _removed(lines[at : places[number]], ours, theirs, left)
        at = max(at, places[number])
        same = ours[number]
        rows.append(ComparedNode("kept", same, node, _line(same, left), _line(node, right)))
    rows += _removed(lines[at:], ours, theirs, left)
    return Difference(tuple(rows))


def _removed(
    numbers: Sequence[int], ours: Mapping[int, Node], theirs: Mapping[int, Node], left: Labels
) -> list[ComparedNode]:
    gone = [ours[number] for number in numbers if number not in theirs]
    return [ComparedNode("removed", node, None, _line(node, left), "") for node in gone]


def _numbered(labels: Labels, table: dict[Any, int]) -> dict[int, Node]:
    """The nodes by number. Equal nodes of both graphs have equal numbers."""
    numbers: dict[Node, int] = {}
    for node in labels.nodes:
        if node.is_input:
            key: Any = ("input", labels.name(node), labels.aval(node))
        else:
            operands = tuple([numbers[operand] for operand in node.operands])
            key = (node.op, operands, params_key(node.params), node.copy)
        numbers[node] = table.setdefault(key, len(table))
    return {number: node for node, number in numbers.items()}


def _line(node: Node, labels: Labels) -> str:
    name = labels.name(node)
    shown = f"{name}: input" if node.is_input else f"{name} = {labels.expression(node)}"
    marks = "".join(f" → {output}" for output in labels.outputs.get(node, ()))
    return shortened(shown, _WIDE) + marks
