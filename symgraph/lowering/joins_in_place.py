"""Joins whose pieces are written where they will lie, not to arrays that are copied at the end.

The gradient of a stack of weights is one `concatenate` of the gradients of all layers. Copied from
pieces it needs twice its bytes. In a planned program each piece that nothing else reads is computed
into its part of the result, or copied there at once; the system gives the pages of the result when
they are first written to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from ..ir.node import Node
from ..ir.traits import Arrangement
from ..ops.joining import CONCATENATE
from ..records import record
from .drafts import IN_PLACE, Draft
from .source_pieces import Alias, Line
from .statements import Filled

__all__ = ["Join", "Piece", "joins_of", "with_joins"]


@record
class Piece:
    """A value that is written to a part of a join.

    Parameters
    ----------
    node : Node
    index : str
        The index of the part.
    """

    node: Node
    index: str


@record
class Join:
    """A concatenation along the first axis that is a result.

    Parameters
    ----------
    node : Node
    pieces : tuple of Piece
        Those that nothing else reads.
    others : tuple of Piece
        Those that are copied when the join would be computed.
    within : tuple of Node
        Joins and views between the pieces and the join, which nothing else reads.
    """

    node: Node
    pieces: tuple[Piece, ...]
    others: tuple[Piece, ...]
    within: tuple[Node, ...]


def joins_of(order: Iterable[Node], outputs: Collection[Node]) -> list[Join]:
    """The joins among the outputs whose pieces can be written in place."""
    nodes = list(order)
    ends = [each for each in dict.fromkeys(outputs) if _joins_rows(each)]
    if not ends:
        return []
    readers: dict[Node, int] = dict.fromkeys(outputs, 1)
    for node in nodes:
        for operand in node.operands:
            readers[operand] = readers.get(operand, 0) + 1
    found = [_Finder(end, readers).join() for end in ends]
    return [each for each in found if each.pieces]


def _joins_rows(node: Node) -> bool:
    """Whether a node joins arrays of known sizes along their first axis."""
    return (
        node.op is CONCATENATE
        and not node.copy
        and node.params["axis"] in (0, -node.ndim)
        and all(isinstance(each.shape[0], int) for each in node.operands)
    )


class _Finder:
    def __init__(self, end: Node, readers: Mapping[Node, int]) -> None:
        self.end = end
        self.readers = readers
        self.pieces: list[Piece] = []
        self.others: list[Piece] = []
        self.within: list[Node] = []
        self.row = 0

    def join(self) -> Join:
        self._add(self.end)
        return Join(self.end, tuple(self.pieces), tuple(self.others), tuple(self.within))

    def _add(self, join: Node) -> None:
        waiting = list(join.operands[::-1])
        while waiting:
            node = waiting.pop()
            if _joins_rows(node) and self.readers[node] == 1:
                self.within.append(node)
                waiting.extend(node.operands[::-1])
                continue
            rows = node.shape[0]
            assert isinstance(rows, int)
            self._place(node, self.row, self.row + rows)
            self.row += rows

    def _place(self, node: Node, start: int, stop: int) -> None:
        whole = node
        views: list[Node] = []
        while self.readers[whole] == 1 and _only_regroups(whole):
            views.append(whole)
            whole = whole.operands[0]
        own = not (whole.is_input or whole.is_constant or whole.op.view or whole.copy)
        fits = whole.shape == node.shape or (stop - start == 1 and whole.shape == node.shape[1:])
        part = f"[{start}:{stop}]"
        if own and fits and self.readers[whole] == 1 and len(whole.results) == 1:
            row = f"[{start}]" if whole.ndim else f"[{start}, ...]"  # without dots, no array
            index = part if whole.ndim == node.ndim else row
            self.pieces.append(Piece(whole, index))
            self.within.extend(views)
        else:
            self.others.append(Piece(node, part))


def _only_regroups(node: Node) -> bool:
    return node.op.view and node.op.traits.arrangement is Arrangement.REGROUPED


# -- in a program ----------------------------------------------------------------------------------
def with_joins(
    drafts: Sequence[Draft], joins: Sequence[Join], names: Mapping[Node, str]
) -> list[Draft]:
    """The statements with the pieces of joins written in place."""
    found = list(drafts)
    for join in joins:
        found = _with_join(found, join, names)
    return found


def _with_join(drafts: Sequence[Draft], join: Join, names: Mapping[Node, str]) -> list[Draft]:
    target = names[join.node]
    pieces = {names[each.node]: each for each in join.pieces}
    dropped = {names[each] for each in join.within}
    found: list[Draft] = []
    started = False
    for draft in drafts:
        if draft.target in dropped:
            continue
        if draft.target in pieces and not started:
            found.append(_empty(join.node, target))
            started = True
        if draft.target in pieces:
            found.extend(_written(draft, target, pieces[draft.target]))
        elif draft.target == target:
            found.extend(
                [_copied(each.node, names[each.node], target, each) for each in join.others]
            )
        else:
            found.append(draft)
    return found


def _empty(node: Node, target: str) -> Draft:
    aval = node.aval
    kind = aval.dtype.name if aval.dtype.kind != "b" else "bool_"
    shape = ", ".join(map(repr, aval.shape))
    pieces = (f"np.empty(({shape}{',' * (aval.ndim == 1)}), np.{kind})",)
    line = Line(pieces, (aval,), (Alias.FRESH,), "", IN_PLACE)
    return Draft(node, target, line, pieces, (), False, filled=Filled.LATER)


def _written(draft: Draft, target: str, piece: Piece) -> list[Draft]:
    """The statement of a piece, its result in its part of the join."""
    # A reduction may add in another order where its result lies in another order in memory.
    if not (draft.line.out or (draft.line.place and draft.pieces[0] == "np.matmul(")):
        return [draft, _copied(draft.node, draft.target, target, piece)]
    line = replace(draft.line, aliases=(Alias.PART,))
    names = tuple(dict.fromkeys((target, *draft.names)))
    into = target + piece.index
    return [replace(draft, line=line, names=names, into=into, filled=Filled.PART)]


def _copied(node: Node, name: str, target: str, piece: Piece) -> Draft:
    into = target + piece.index
    pieces = ("np.copyto(", into, ", ", name, ")")
    line = Line(pieces, (node.aval,), (Alias.WHOLE,))
    return Draft(node, "", line, pieces, (target, name), False, into=into, filled=Filled.PART)
