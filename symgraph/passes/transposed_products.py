"""Products of matrices are computed the way round in which nothing else needs a transpose.

BLAS reads a transposed operand as fast as a plain one, and (A B)ᵀ is Bᵀ Aᵀ. A sum of A B and of a
transposed matrix reads one of them across its rows, several times as slowly. So values between such
transposes and products are computed transposed, where fewer transposes are left that something else
than a product of matrices reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..array import Array, apply
from ..ir.cost import op_count
from ..ir.node import Node, on_operands, origin
from ..ir.op import carries_aligned
from ..ir.walks import consumers, reachable
from ..ops.carrying import carries_reduced
from ..ops.matmul import MATMUL
from ..ops.movement import TRANSPOSE, reshape

__all__ = ["with_matrices_turned"]

_MOST_WORK = 8_000
"""Nodes times transposes, as each transpose costs a look at all nodes: a tenth of a second."""

Uses = Mapping[Node, Sequence[tuple[Node, int]]]


def with_matrices_turned(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with fewer transposes that something else than a product reads.

    Parameters
    ----------
    outputs : sequence of Node
    """
    current, measure = list(outputs), _measure(outputs)
    while measure[2]:
        nodes = reachable(current)
        uses = consumers(nodes)
        swaps = dict.fromkeys([*_read_across(nodes, uses), *filter(_is_swap, current)])
        if len(nodes) * len(swaps) > _MOST_WORK:
            return current
        starts = dict.fromkeys([each for node in swaps for each in _around(node, uses)])
        options = [_turned(start, uses, current) for start in starts]
        measures = [(_measure(each), each) for each in options if each is not None]
        better = [each for each in measures if _is_better(each[0], measure)]
        if not better:
            return current
        measure, current = min(better, key=lambda each: each[0])
    return current


def _measure(outputs: Sequence[Node]) -> tuple[int, int, int, int]:
    """Transposes read by something else than a product; sums of columns; transposes; operations."""
    nodes = reachable(outputs)
    across = _read_across(nodes, consumers(nodes))
    along = [each for each in nodes if _is_along_axis(each) or _is_reduction(each)]
    columns = sum([each.params["axis"] == (-2,) for each in along])
    return len(across), columns, sum([node.op is TRANSPOSE for node in nodes]), op_count(outputs)


def _is_better(new: tuple[int, int, int, int], old: tuple[int, int, int, int]) -> bool:
    fewer, more = old[0] - new[0], new[2] - old[2]
    # A result may be transposed at no cost.
    saves = more <= fewer if fewer > 0 else fewer == 0 and more < 0 and new[1] <= old[1]
    return saves and new[3] <= old[3]


def _read_across(nodes: Sequence[Node], uses: Uses) -> list[Node]:
    """The transposes that something else than a product reads, once for each that reads them."""
    return [
        node
        for node in nodes
        if _is_swap(node) and not _is_small(node)
        for user, _ in uses[node]
        if not _is_product(user)
    ]


def _around(swap: Node, uses: Uses) -> Iterator[Node]:
    """The values that may be turned to save a transpose: its operand, or its users."""
    yield swap.operands[0]
    yield from [user for user, _ in uses[swap] if _is_elementwise(user)]


def _is_swap(node: Node) -> bool:
    """Whether it transposes matrices: the last two axes, and no others."""
    return node.op is TRANSPOSE and node.params["axes"] == (*range(-node.ndim, -2), -1, -2)


def _is_product(node: Node) -> bool:
    return node.op is MATMUL and all(each.ndim >= 2 for each in node.operands)


def _is_elementwise(node: Node) -> bool:
    """Whether it is arithmetic: no value that is kept as it is, and no function of the user's."""
    op = node.op
    plain = op.carries is carries_aligned and not (op.view or op.custom)
    return plain and not node.params and len(node.results) == 1


def _is_along_axis(node: Node) -> bool:
    """Whether it is a softmax or its like over rows or columns of matrices."""
    total = node.op.traits.exponential_sum
    along = total is not None and total.over_axis and [*node.params] == ["axis"]
    return along and node.params["axis"] in ((-1,), (-2,))


def _is_reduction(node: Node) -> bool:
    """Whether it reduces the rows or the columns of matrices, and keeps the axis."""
    known = node.op.carries is carries_reduced and sorted(node.params) == ["axis", "keepdims"]
    return known and node.params["axis"] in ((-1,), (-2,)) and bool(node.params["keepdims"])


def _turned(start: Node, uses: Uses, outputs: Sequence[Node]) -> list[Node] | None:
    """The outputs with a value and its companions turned; None if one cannot be."""
    region = _region(start, uses, set(outputs))
    if region is None:
        return None
    turned: dict[Node, Node] = {}
    new: dict[Node, Node] = {}
    for node in reachable(outputs):
        if node in region:
            with origin(node.origin):
                turned[node] = _written(node, turned, new)
                new[node] = _swapped(turned[node])
        elif _is_swap(node) and node.operands[0] in turned:
            new[node] = turned[node.operands[0]]
        else:
            new[node] = on_operands(node, tuple([new[each] for each in node.operands]))
    return [new[output] for output in outputs]


def _region(start: Node, uses: Uses, results: set[Node]) -> set[Node] | None:
    """The value, and all that is turned with it."""
    region: set[Node] = set()
    waiting = [start]
    while waiting:
        node = waiting.pop()
        if node in region:
            continue
        kinds = (_is_product, _is_elementwise, _is_along_axis, _is_reduction)
        if node.copy or node.ndim < 2 or not any(is_kind(node) for is_kind in kinds):
            return None
        if node in results and not _is_small(node):
            return None
        region.add(node)
        if not _is_product(node):
            waiting += [each for each in node.operands if not (_is_swap(each) or _is_small(each))]
        for user, _ in uses[node]:
            if not (_is_product(user) or _is_swap(user) or _is_small(node)):
                waiting.append(user)
    return region


def _is_small(node: Node) -> bool:
    return node.ndim < 2 or 1 in node.shape[-2:]


def _written(node: Node, turned: Mapping[Node, Node], new: Mapping[Node, Node]) -> Node:
    """The transposed value, of turned operands and of the `new` ones of others."""

    def operand(each: Node) -> Node:
        if each in turned:
            return turned[each]
        if each.ndim == 0:
            return new[each]
        if each.ndim == 1:
            return reshape(Array(new[each]), (each.shape[0], 1)).node
        return _swapped(new[each])

    params: dict[str, Any] = dict(node.params)
    if _is_product(node):
        first, second = [operand(each) for each in node.operands]
        operands = [second, first]
    else:
        operands = [operand(each) for each in node.operands]
    if "axis" in params:
        params["axis"] = (-3 - params["axis"][0],)
    return apply(node.op, *[Array(each) for each in operands], **params).node


def _swapped(node: Node) -> Node:
    """The matrices transposed; of a transpose of axes, one with both orders in one."""
    axes = [*range(-node.ndim, -2), -1, -2]
    if node.op is TRANSPOSE:
        before = node.params["axes"]
        axes = [before[axis] for axis in axes]
        (node,) = node.operands
    if axes == [*range(-node.ndim, 0)]:
        return node
    return apply(TRANSPOSE, Array(node), axes=tuple(axes)).node
