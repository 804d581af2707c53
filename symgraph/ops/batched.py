"""Rules that apply an operation to each example of a batch: the `batch` of the records.

Params are kept in a form that arrays with extra leading axes take as well (negative axes, indices
aligned with the last axes), so most operations are applied as they are to operands whose first axis
is that of the batch. What differs is which operands must have that axis, and where operands of
fewer axes are broadcast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..array import FUNCTIONS, Array, project
from ..ir.dims import Dim
from ..ir.node import make
from ..ir.op import Batch

__all__ = [
    "aligned",
    "applied",
    "batch_aligned",
    "batch_broadcast",
    "batch_into_first",
    "batch_into_last",
    "batch_reshaped",
    "batch_whole",
    "own_ndim",
    "per_example",
    "whole",
]


# -- operands --------------------------------------------------------------------------------------
def own_ndim(batch: Batch, slot: int) -> int:
    """The number of axes of operand `slot` without the batch axis."""
    return batch.operands[slot].ndim - batch.batched[slot]


def aligned(x: Array, ndim: int) -> Array:
    """A batched operand with `ndim` axes after the batch axis; new axes have size 1."""
    missing = ndim + 1 - x.ndim
    if missing <= 0:
        return x
    return FUNCTIONS["reshape"](x, (x.shape[0], *[1] * missing, *x.shape[1:]))


def whole(batch: Batch, slot: int) -> Array:
    """Operand `slot`, repeated along the batch if it is not batched."""
    x = batch.operands[slot]
    return x if batch.batched[slot] else per_example(x, batch.size)


def per_example(x: Array, size: Dim) -> Array:
    """The array repeated for a batch of `size` examples."""
    return FUNCTIONS["broadcast_to"](x, (size, *x.shape))


def applied(batch: Batch, operands: Sequence[Array], **params: object) -> Any:
    """Apply the node's operation to other operands; its params are in normal form."""
    node = make(batch.op, [each.node for each in operands], params)
    if len(node.results) == 1:
        return Array(node)
    return tuple([Array(project(node, index)) for index in range(len(node.results))])


# -- families --------------------------------------------------------------------------------------
def batch_aligned(batch: Batch, **params: object) -> Any:
    """Operands broadcast against one another from the last axis, or a single one."""
    ndim = max(own_ndim(batch, slot) for slot in range(len(batch.operands)))
    operands = [
        aligned(x, ndim) if moves else x
        for x, moves in zip(batch.operands, batch.batched, strict=True)
    ]
    return applied(batch, operands, **params)


def batch_whole(batch: Batch, **params: object) -> Any:
    """Batch all operands: joined arrays must all have the batch axis."""
    operands = [whole(batch, slot) for slot in range(len(batch.operands))]
    return applied(batch, operands, **params)


def batch_into_first(batch: Batch, **params: object) -> Any:
    """Align the other operands with the first, which decides the result's shape."""
    first = whole(batch, 0)
    rest = [
        aligned(x, first.ndim - 1) if moves else x
        for x, moves in zip(batch.operands[1:], batch.batched[1:], strict=True)
    ]
    return applied(batch, [first, *rest], **params)


def batch_into_last(batch: Batch, **params: object) -> Any:
    """Align the first of two operands with the second, which decides the result's shape."""
    x, last = batch.operands[0], whole(batch, 1)
    return applied(batch, [aligned(x, last.ndim - 1) if batch.batched[0] else x, last], **params)


def batch_reshaped(batch: Batch, *, shape: Sequence[Dim], **params: Mapping[str, Any]) -> Any:
    """Reshape each example of one operand."""
    return applied(batch, batch.operands, shape=(batch.size, *shape), **params)


def batch_broadcast(batch: Batch, *, shape: Sequence[Dim]) -> Any:
    """Broadcast each example of one operand."""
    x = aligned(batch.operands[0], len(shape))
    return applied(batch, [x], shape=(batch.size, *shape))
