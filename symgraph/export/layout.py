"""The places of a picture's boxes, which are laid out in bands: one for each forward node.

A graph with its gradient is long and thin and has many long edges. A layered drawing of it would
grow as wide as it is long. Here the forward nodes run down one column in topological order. Each
gradient node is in the other column, in the band of the forward node whose adjoint it is. So the
gradient runs up beside the values that it needs. The width is the same for every size, and the work
is linear. Leaves have no box, for they are written where they are used: inputs, constants, and
values of constants only.
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
    """The place of a node: the upper left corner, the width, the column, the rank in the column."""

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
    """The boxes of nodes, the bands, and the height of the whole."""

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
        The nodes of the graph, in the order in which to place them.
    orders : mapping of Node to int
        0 for forward nodes, more for nodes of derivatives; see `labels.order_of`.
    top : float
        The upper end of the first band.
    """
    boxed = _boxed(dag, nodes)
    # Nodes that are computed again for the gradient are placed with it.
    forward = [node for node in boxed if not orders[node] and not node.copy]
    gradient = [node for node in boxed if orders[node] or node.copy]
    if not forward or not gradient:
        return _one_column(boxed, "forward" if forward else "gradient", top)
    rows = _rows(forward, gradient)
    return _two_columns(forward, rows, top)


def _boxed(dag: Dag, nodes: Sequence[Node]) -> list[Node]:
    """The nodes that get a box: every output, and every node computed from inputs."""
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
    """The gradient nodes of each forward node's band, operands first."""
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
    """The band of the forward node whose adjoint it is; else a band of its operands."""
    chain = adjoint_chain(node.origin)
    if chain and chain[-1] in row_of:
        return row_of[chain[-1]]
    # The forward node is a leaf, or was simplified away. Then the band is that of the lowest
    # forward value it uses, or the highest one of its gradient operands.
    placed = [operand for operand in node.operands if operand in row_of]
    values = [row_of[operand] for operand in placed if operand.origin.adjoint_of is None]
    return max(values) if values else min((row_of[each] for each in placed), default=None)


def _place_by_use(gradient: list[Node], row_of: dict[Node, int]) -> None:
    """Place the rest, such as recomputed nodes, in the lowest band with a use: the first use."""
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
        # The gradient runs up: the node that is computed first is the lowest.
        for place, each in enumerate(reversed(beside)):
            at = y + place * _PITCH + 5
            boxes[each] = Box(_COLUMNS["gradient"], at, _BOX_WIDTH, "gradient", rank)
            rank += 1
        y += height + _BAND_GAP
    return Layout(boxes, tuple(stripes), y, ("forward", "gradient"))
