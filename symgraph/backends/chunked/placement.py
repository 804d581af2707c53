"""Where each value of a graph is when the batch lies in chunks.

A value is *whole*: it does not depend on a row of its own, as parameters and losses do. Or it has
*rows*: position k along one axis belongs to example k, and depends on example k and on whole values
alone. An operation that does away with the rows is a *reduction* if the results of chunks can be
combined: sums of products, the largest, the least, adding at indices. All else is refused.

Whole values are known after a number of reductions, the *stage*: rows of stage 1 may depend on a
sum over all rows, as in a normalization by the mean of the batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from ...errors import BackendError
from ...ir.dag import Dag
from ...ir.dims import Dim, known_equal, named, names_of
from ...ir.node import Node
from ...ir.traits import Arrangement, Selection
from ...ops.convolution import KERNEL
from ...ops.gather import GATHER, SCATTER_ADD
from ...records import record

__all__ = ["ChunkReduction", "Combine", "Placement", "Placements", "Rows", "Whole", "placed"]

Combine: TypeAlias = Literal["add", "maximum", "minimum"]
"""The function of two results that combines them."""


@record
class Whole:
    """A value without rows, known after `stage` reductions."""

    stage: int


@record
class Rows:
    """A value whose axis `axis`, counted from the end, has the rows of the batch."""

    stage: int
    axis: int


Placement: TypeAlias = "Whole | Rows"


@record
class ChunkReduction:
    """A node that is combined of the results of chunks."""

    combine: Combine
    stage: int


@record
class Placements:
    """The placement of each node, and the nodes that are reductions."""

    of: Mapping[Node, Placement]
    reductions: Mapping[Node, ChunkReduction]


def placed(dag: Dag, batch: str) -> Placements:
    """The placement of every node, if the batch is the dimension of that name.

    Raises
    ------
    BackendError
        If no input has the dimension, an input has it twice, or an operation mixes rows in a way
        that no reduction of chunks gives; it names the user's line.
    """
    size = named(batch)
    of: dict[Node, Placement] = {}
    reductions: dict[Node, ChunkReduction] = {}
    for name, node in dag.inputs.items():
        of[node] = _of_input(name, node, size)
    if not any(isinstance(of[node], Rows) for node in dag.inputs.values()):
        raise BackendError(
            f"No input has the dimension {batch!r}, which is to be the batch.",
            mend=f"Declare it, as in sg.spec(({batch!r}, 64)); the dimensions are "
            f"{', '.join(dag.dims) or 'none'}.",
        )
    for node in dag.nodes:
        if node in of:
            continue
        found = _of_node(node, [of[each] for each in node.operands], size)
        if isinstance(found, ChunkReduction):
            reductions[node] = found
            found = Whole(found.stage + 1)
        of[node] = found
    return Placements(of, reductions)


def _axes_of(shape: Sequence[Dim], size: Dim) -> list[int]:
    """The axes, from the end, whose sizes depend on that of the batch."""
    names = names_of(size)
    return [axis for axis in range(-len(shape), 0) if set(names) & set(names_of(shape[axis]))]


def _of_input(name: str, node: Node, size: Dim) -> Placement:
    axes = _axes_of(node.shape, size)
    if not axes:
        return Whole(0)
    if len(axes) > 1 or not known_equal(node.shape[axes[0]], size):
        raise BackendError(
            f"Input {name!r} of shape {node.aval} has no one axis with the rows of the batch.",
            mend="Only one axis of an input may have the batch's dimension.",
        )
    return Rows(0, axes[0])


def _of_node(node: Node, operands: Sequence[Placement], size: Dim) -> Placement | ChunkReduction:
    stage = max([each.stage for each in operands], default=0)
    rows = {slot: each.axis for slot, each in enumerate(operands) if isinstance(each, Rows)}
    axes = [axis for result in node.results for axis in _axes_of(result.shape, size)]
    if not rows:
        return _of_whole(node, axes, stage)
    if len(node.operands[0].results) > 1:
        return operands[0]  # One of several results.
    return (
        _by_indices(node, rows, axes, size, stage)
        or _by_reading(node, rows, stage)
        or _by_alignment(node, rows, axes, size, stage)
        or _by_selection(node, rows, axes, stage)
        or _by_adding(node, rows, axes, stage)
        or _refuse(node)
    )


def _of_whole(node: Node, axes: Sequence[int], stage: int) -> Placement:
    """Of a value that depends on no row: itself, or one repeated for each row."""
    if not axes:
        return Whole(stage)
    repeated = node.op.traits.arrangement is Arrangement.REPEATED
    if repeated and len(axes) == 1 and len(node.results) == 1:
        return Rows(stage, axes[0])
    return _refuse(node)


def _by_indices(
    node: Node, rows: Mapping[int, int], axes: Sequence[int], size: Dim, stage: int
) -> Placement | ChunkReduction | None:
    """Of sums of products over named indices: a free index stays, another is summed over."""
    if node.op.traits.indices is None:
        return None
    avals = [operand.aval for operand in node.operands]
    labelled = node.op.traits.indices(node.aval, *avals, **node.params)
    if labelled is None:
        return None
    terms, result = labelled
    labels = {terms[slot][axis] for slot, axis in rows.items()}
    if len(labels) != 1:
        return None
    (label,) = labels
    places = [(slot, axis) for slot, term in enumerate(terms) for axis in _places(term, label)]
    if places != sorted(rows.items()):
        return None
    # An axis that is summed over may be kept, with the size 1.
    kept = [axis for axis in _places(result, label) if known_equal(node.shape[axis], size)]
    if not kept and not axes:
        return ChunkReduction("add", stage)
    return Rows(stage, kept[0]) if kept == list(axes) and len(kept) == 1 else None


def _places(labels: Sequence[object], label: object) -> list[int]:
    return [axis for axis in range(-len(labels), 0) if labels[axis] == label]


def _by_alignment(
    node: Node, rows: Mapping[int, int], axes: Sequence[int], size: Dim, stage: int
) -> Placement | None:
    """Of an operation that keeps the rows apart, as its record says."""
    if len(node.results) != len(axes) or len(set(axes)) != 1:
        return None
    (axis,) = set(axes)
    avals = [operand.aval for operand in node.operands]
    for result in node.results:
        if not known_equal(result.shape[axis], size):
            return None
        for slot, own in rows.items():
            carried = node.op.carries(result, *avals, slot=slot, **node.params)
            if carried[own] != axis:
                return None
    return Rows(stage, axis)


def _by_reading(node: Node, rows: Mapping[int, int], stage: int) -> Placement | None:
    """Of elements of a whole array read at indices that have rows."""
    if node.op is not GATHER or 0 in rows:
        return None
    places = {axis - _behind(node, 1) for axis in rows.values()}
    return Rows(stage, places.pop()) if len(places) == 1 else None


def _behind(node: Node, first: int) -> int:
    """The number of axes after the indexed ones; the indices are operands from `first` on."""
    return -node.params["axis"] - (len(node.operands) - first)


def _by_selection(
    node: Node, rows: Mapping[int, int], axes: Sequence[int], stage: int
) -> ChunkReduction | None:
    """Of the largest or the least over an axis."""
    selection, over = node.op.traits.selection, node.params.get("axis")
    if axes or len(node.operands) != 1 or not isinstance(over, tuple) or rows[0] not in over:
        return None
    if selection is Selection.LARGEST:
        return ChunkReduction("maximum", stage)
    return ChunkReduction("minimum", stage) if selection is Selection.LEAST else None


def _by_adding(
    node: Node, rows: Mapping[int, int], axes: Sequence[int], stage: int
) -> ChunkReduction | None:
    """Of rows added up: at indices to a whole array, or over images.

    They are the gradient of an embedding, and of the kernel of a convolution.
    """
    if node.op is KERNEL:
        images = -len(node.params["strides"]) - 2
        return ChunkReduction("add", stage) if rows == {0: images, 1: images} and not axes else None
    if node.op is not SCATTER_ADD or axes or 0 in rows or 1 not in rows:
        return None
    behind = _behind(node, 2)
    matched = all(axis - behind == rows[1] for slot, axis in rows.items() if slot > 1)
    return ChunkReduction("add", stage) if matched else None


def _refuse(node: Node) -> Placement:
    raise BackendError(
        f"{node.op.name} mixes the rows of the batch in a way that chunks cannot be combined from.",
        [f"{node.aval}   from {node.origin}"],
        mend="Rows may be kept apart, summed, and reduced to the largest or the least.",
    )
