"""Which node owns the memory of each value: views own none, and NumPy may copy a reshape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..ir.dims import Dim, same_shape
from ..ir.node import Node
from ..ir.traits import Arrangement
from ..ops.results import PROJECT

__all__ = ["bases"]


def _without_ones(shape: Sequence[Dim]) -> list[Dim]:
    return [dim for dim in shape if not (isinstance(dim, int) and dim == 1)]


def _is_view(node: Node, contiguous: Mapping[Node, bool]) -> bool:
    """Whether the result surely shares its operand's memory: False where NumPy may copy."""
    if not node.op.view or len(node.operands) != 1:
        return False
    operand = node.operands[0]
    return (
        node.op.traits.arrangement is not Arrangement.REGROUPED
        or contiguous[operand]
        or same_shape(_without_ones(operand.shape), _without_ones(node.shape))
    )


def _is_contiguous(node: Node, contiguous: Mapping[Node, bool]) -> bool:
    if not node.op.view or len(node.operands) != 1:
        return True
    operand = node.operands[0]
    if node.op.traits.arrangement is Arrangement.REGROUPED:
        return True if not _is_view(node, contiguous) else contiguous[operand]
    # The layout stays if a transpose moves, or a broadcast adds, only axes of length 1.
    same = same_shape(_without_ones(operand.shape), _without_ones(node.shape))
    return contiguous[operand] and (node.op is PROJECT or (same and _keeps_layout(node)))


def _keeps_layout(node: Node) -> bool:
    if node.op.traits.arrangement is Arrangement.REPEATED:
        return True
    return (
        len(_without_ones(node.shape)) <= 1 and node.op.traits.arrangement is Arrangement.PERMUTED
    )


def bases(order: Iterable[Node]) -> dict[Node, Node | None]:
    """For each node the node that owns its memory; None where the caller does, as for inputs."""
    owner: dict[Node, Node | None] = {}
    contiguous: dict[Node, bool] = {}
    for node in order:
        if node.is_input or node.is_constant:
            owner[node], contiguous[node] = None, True
        elif not node.op.view or len(node.operands) != 1:
            owner[node], contiguous[node] = node, True
        else:
            owner[node] = owner[node.operands[0]] if _is_view(node, contiguous) else node
            contiguous[node] = _is_contiguous(node, contiguous)
    return owner
