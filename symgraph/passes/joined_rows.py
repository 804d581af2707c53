"""A small matrix joined of rows that are joined themselves is one join, row after row.

The Jacobian of a few equations is found entry by entry: entries are joined to rows, or embedded in
rows of zeros, and rows to a matrix. Joined at once, each entry is copied once, and no row is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..array import Array
from ..ir.node import Node, on_operands, origin
from ..ir.walks import reachable, use_counts
from ..ops.creation import zeros
from ..ops.elementwise import negative
from ..ops.indexing import EMBED
from ..ops.joining import CONCATENATE, concatenate
from ..ops.movement import RESHAPE, reshape
from ..ops.slices import bounds_of, entries_of
from ..rewriting.guards import uniform_value

__all__ = ["with_rows_joined"]

_LARGEST = 1_024
"""A matrix of more elements may have its rows written in place, which its reshaped join may not."""


def with_rows_joined(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with such matrices as one join; linear in the graph.

    Parameters
    ----------
    outputs : sequence of Node
    """
    nodes = reachable(outputs)
    if not any(map(_is_of_rows, nodes)):
        return list(outputs)
    uses = use_counts(nodes, outputs)
    instead: dict[Node, Node] = {}
    for node in nodes:
        operands = tuple([instead[operand] for operand in node.operands])
        instead[node] = on_operands(node, operands)
        if _is_of_rows(node):
            rows = [_row(each, uses) for each in node.operands]
            if any(_is_made_of_parts(each, uses) for each in rows):
                with origin(node.origin):
                    instead[node] = _joined(node, rows, uses, instead)
    return [instead[output] for output in outputs]


def _is_of_rows(node: Node) -> bool:
    if node.op is not CONCATENATE or node.copy or node.ndim != 2 or node.params["axis"] != -2:
        return False
    small = isinstance(node.aval.size, int) and node.aval.size <= _LARGEST
    return small and all(each.shape[0] == 1 for each in node.operands)


def _row(node: Node, uses: Mapping[Node, int]) -> Node:
    """The vector that is reshaped to a row of a matrix and has no other use; else the row."""
    if node.op is RESHAPE and uses[node] == 1 and not node.copy and node.operands[0].ndim == 1:
        return node.operands[0]
    return node


def _is_made_of_parts(row: Node, uses: Mapping[Node, int]) -> bool:
    """Whether a vector is a join, or embedded in zeros with any sign, and has no other use."""
    if row.ndim != 1 or uses[row] != 1 or row.copy:
        return False
    if row.op is negative.op:
        (placed,) = row.operands
        return placed.op is EMBED and uses[placed] == 1 and not placed.copy
    return row.op in (CONCATENATE, EMBED)


def _joined(
    top: Node, rows: Sequence[Node], uses: Mapping[Node, int], instead: Mapping[Node, Node]
) -> Node:
    pieces: list[Array] = []
    gap = 0
    for part in [part for row in rows for part in _parts(row, uses)]:
        if isinstance(part, int):
            gap += part
            continue
        if gap:
            pieces.append(zeros((gap,), top.dtype))
        node, sign = part
        piece, gap = Array(instead[node]) if sign > 0 else negative(Array(instead[node])), 0
        pieces.append(piece if piece.ndim == 1 else reshape(piece, (node.aval.size,)))
    if gap:
        pieces.append(zeros((gap,), top.dtype))
    return reshape(concatenate(pieces, axis=-1), top.shape).node


def _parts(row: Node, uses: Mapping[Node, int]) -> Iterator[tuple[Node, int] | int]:
    """The arrays that a row is made of, with signs, and between them numbers of zeros."""
    stack: list[tuple[Node, int] | int] = [(row, 1)]
    while stack:
        part = stack.pop()
        if isinstance(part, int):
            yield part
            continue
        node, sign = part
        if node.op is CONCATENATE and _is_made_of_parts(node, uses) and sign > 0:
            stack.extend([(each, 1) for each in node.operands[::-1]])
            continue
        bounds = None
        if _is_made_of_parts(node, uses):
            sign, node = (-sign, node.operands[0]) if node.op is negative.op else (sign, node)
            bounds = _bounds(node)
        if bounds is not None:
            stack.extend([node.shape[0] - bounds[1], (node.operands[0], sign), bounds[0]])
            continue
        size = node.shape[-1] if node.ndim else None
        yield size if uniform_value(node) == 0 and isinstance(size, int) else (node, sign)


def _bounds(row: Node) -> tuple[int, int] | None:
    """Where an array is embedded in a vector; None if it is not, or not in one piece."""
    if row.op is not EMBED:
        return None
    entries = entries_of(row.params["index"], 1)
    return None if entries is None else bounds_of(entries[0], row.shape[0])
