"""Where the boxes of a picture stand: in bands, one a forward node.

General layered layout is the wrong tool for a graph with its gradient: such graphs are long and
thin, with many long edges, and layered drawings of them grow as wide as they are long. Here the
forward nodes run down one column in topological order, and each gradient node stands in the other
column, in the band of the forward node it is the adjoint of, so the gradient runs up beside the
values it needs. The width is the same at every size, and the work is linear. Leaves (inputs,
constants and what is made of constants only) have no box: they are written where they are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..ir.cost import varying
from ..ir.dag import Dag
from ..ir.node import Node
from ..ir.origins import adjoint_chain

__all__ = ["BOX_HEIGHT", "WIDTH", "Band", "Box", "Layout", "bands"]

WIDTH = 640
BOX_HEIGHT = 38
_PITCH = 54
_BAND_GAP = 12
_COLUMNS = {"forward": 54, "gradient": 350}
_BOX_WIDTH = 236
_ONLY_COLUMN, _ONLY_WIDTH = 140, 360


@dataclass(frozen=True, slots=True)
class Box:
    """A node's place: the upper left corner, the width, the column, and its rank in the column."""

    x: float
    y: float
    width: float
    column: str
    rank: int


@dataclass(frozen=True, slots=True)
class Band:
    """A stripe of the picture: one forward node and the gradient nodes that belong to it."""

    y: float
    height: float


@dataclass(frozen=True)
class Layout:
    """Boxes of the nodes that have one, the bands, and the height of all."""

    boxes: dict[Node, Box]
    bands: tuple[Band, ...]
    height: float
    columns: tuple[str, ...]


def bands(dag: Dag, nodes: Sequence[Node], orders: Mapping[Node, int], top: float = 0.0) -> Layout:
    """The layout of a graph in bands.

    Parameters
    ----------
    dag : Dag
    nodes : sequence of Node
        Those of the graph, in the order to stand in.
    orders : mapping of Node to int
        0 for forward nodes, more for those that differentiation made; see `labels.order_of`.
    top : float
        Where the first band begins.
    """
    boxed = _boxed(dag, nodes)
    # What is computed again for the gradient stands with it.
    forward = [node for node in boxed if not orders[node] and not node.copy]
    gradient = [node for node in boxed if orders[node] or node.copy]
    if not forward or not gradient:
        return _one_column(boxed, "forward" if forward else "gradient", top)
    rows = _rows(forward, gradient)
    return _two_columns(forward, rows, top)


def _boxed(dag: Dag, nodes: Sequence[Node]) -> list[Node]:
    """Nodes with a box: all that is computed from inputs, and every output."""
    computed = {node for node in varying(dag.outputs) if not node.is_input}
    computed.update(dag.outputs)
    return [node for node in nodes if node in computed]


def _one_column(nodes: list[Node], column: str, top: float) -> Layout:
    boxes = {
        node: Box(_ONLY_COLUMN, top + rank * _PITCH, _ONLY_WIDTH, column, rank)
        for rank, node in enumerate(nodes)
    }
    return Layout(boxes, (), top + len(nodes) * _PITCH, (column,))


def _rows(forward: list[Node], gradient: list[Node]) -> list[list[Node]]:
    """For each forward node the gradient nodes of its band, operands first."""
    row_of = {node: row for row, node in enumerate(forward)}
    for node in gradient:
        row = None if node.copy else _row(node, row_of)
        if row is not None:
            row_of[node] = row
    _place_by_use(gradient, row_of)
    rows: list[list[Node]] = [[] for _ in forward]
    for node in gradient:
        rows[row_of[node]].append(node)
    return rows


def _row(node: Node, row_of: Mapping[Node, int]) -> int | None:
    """The band of the forward node it is the adjoint of; else where its operands stand."""
    chain = adjoint_chain(node.origin)
    if chain and chain[-1] in row_of:
        return row_of[chain[-1]]
    # The forward node is a leaf, or simplified away: beside the lowest forward value it uses, or as
    # high as its gradient operands.
    placed = [operand for operand in node.operands if operand in row_of]
    values = [row_of[operand] for operand in placed if operand.origin.adjoint_of is None]
    return max(values) if values else min((row_of[each] for each in placed), default=None)


def _place_by_use(gradient: list[Node], row_of: dict[Node, int]) -> None:
    """The rest, such as what is computed again: in the band of its first use, the lowest one."""
    needed: dict[Node, int] = {}
    for node in reversed(gradient):
        row = row_of.setdefault(node, needed.get(node, 0))
        for operand in node.operands:
            needed[operand] = max(needed.get(operand, 0), row)


def _two_columns(forward: list[Node], rows: list[list[Node]], top: float) -> Layout:
    boxes: dict[Node, Box] = {}
    stripes: list[Band] = []
    y, rank = top, 0
    for position, (node, beside) in enumerate(zip(forward, rows, strict=True)):
        height = max(1, len(beside)) * _PITCH
        stripes.append(Band(y - _BAND_GAP / 2, height + _BAND_GAP / 2))
        middle = y + (height - _PITCH) / 2 + 5
        boxes[node] = Box(_COLUMNS["forward"], middle, _BOX_WIDTH, "forward", position)
        # The gradient runs up: what is computed first stands lowest.
        for place, each in enumerate(reversed(beside)):
            at = y + place * _PITCH + 5
            boxes[each] = Box(_COLUMNS["gradient"], at, _BOX_WIDTH, "gradient", rank)
            rank += 1
        y += height + _BAND_GAP
    return Layout(boxes, tuple(stripes), y, ("forward", "gradient"))
