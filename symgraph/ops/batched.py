"""Operations on each of a batch, by family: the `batch` of their records.

Params are kept in a form that arrays with extra leading axes take as well (negative axes, indices
aligned with the last axes), so most operations are applied as they are to operands whose first axis
is that of the batch. What differs is which operands must have that axis, and where operands of
fewer axes are broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..array import FUNCTIONS, Array, project
from ..dims import Dim
from ..nodes import make
from ..op import Batch

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
    """How many axes operand `slot` has beside that of the batch."""
    return batch.operands[slot].ndim - batch.batched[slot]


def aligned(x: Array, ndim: int) -> Array:
    """A batched operand that has `ndim` axes beside that of the batch; new ones have size 1."""
    missing = ndim + 1 - x.ndim
    if missing <= 0:
        return x
    return FUNCTIONS["reshape"](x, (x.shape[0], *[1] * missing, *x.shape[1:]))


def whole(batch: Batch, slot: int) -> Array:
    """Operand `slot`, repeated for each of the batch if it is not batched."""
    x = batch.operands[slot]
    return x if batch.batched[slot] else per_example(x, batch.size)


def per_example(x: Array, size: Dim) -> Array:
    """The array once for each of a batch of `size`."""
    return FUNCTIONS["broadcast_to"](x, (size, *x.shape))


def applied(batch: Batch, operands: Sequence[Array], **params: object) -> Any:
    """The operation of the node on other operands, params being in normal form already."""
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
    """Operands that must all have the axis of the batch: what is joined."""
    operands = [whole(batch, slot) for slot in range(len(batch.operands))]
    return applied(batch, operands, **params)


def batch_into_first(batch: Batch, **params: object) -> Any:
    """The first operand decides the shape of the result, the others are aligned with it."""
    first = whole(batch, 0)
    rest = [
        aligned(x, first.ndim - 1) if moves else x
        for x, moves in zip(batch.operands[1:], batch.batched[1:], strict=True)
    ]
    return applied(batch, [first, *rest], **params)


def batch_into_last(batch: Batch, **params: object) -> Any:
    """The second of two operands decides the shape of the result, the first is aligned with it."""
    x, last = batch.operands[0], whole(batch, 1)
    return applied(batch, [aligned(x, last.ndim - 1) if batch.batched[0] else x, last], **params)


def batch_reshaped(batch: Batch, *, shape: Sequence[Dim], **params: Any) -> Any:
    """One operand, whose elements fill a shape."""
    return applied(batch, batch.operands, shape=(batch.size, *shape), **params)


def batch_broadcast(batch: Batch, *, shape: Sequence[Dim]) -> Any:
    """One operand, broadcast to a shape."""
    x = aligned(batch.operands[0], len(shape))
    return applied(batch, [x], shape=(batch.size, *shape))
