r"""Sums of products over the steps of a loop, as one product after it.

The gradient of a weight is a sum over the steps, $\sum_t a_t^\top b_t$: each step adds a whole
matrix to the sum, for few rows $a_t$ and $b_t$. With the rows of all steps one below the other it
is one product, $A^\top B$, as it is written by hand. The loop stacks rows for it that it would not.

The sum is the same but for its order, so the last digits may differ, as in sums over the rows of
large arrays. A graph that is planned for a memory budget stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

import numpy as np

from ..array import Array, project
from ..ir.body import Body
from ..ir.cost import nominal
from ..ir.node import Node, make, on_operands, origin
from ..ir.traits import Arrangement, Matrices
from ..ir.value_names import carried
from ..ir.walks import consumers, reachable, unrepeated
from ..ops.matmul import matmul
from ..ops.movement import matrix_transpose, reshape
from ..ops.results import PROJECT
from ..ops.scan import SCAN, adds_up
from ..records import record
from .dead_results import without_dead_results

__all__ = ["with_summed_products"]

_LEAST_NUMBERS = 2**14
"""Smaller sums stay in the loop: they lie in the cache, and one product after it spares little."""
_MOST_ROWS = 64
"""From so many rows a step on, its product takes longer than adding it to the sum."""
_WORTH = 4
"""How many numbers of sums each number must spare that is stacked besides, at each step."""


@record
class _Sum:
    """A carry that is a sum over the steps, with the factors of what is added.

    Parameters
    ----------
    place : int
        Of the carry.
    left, right : Node
        Values of the step, with as many rows; the transpose of `left` is multiplied by `right`.
    """

    place: int
    left: Node
    right: Node


def with_summed_products(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with large sums of products of few rows computed after their loops."""
    order = reachable(outputs)
    loops = [node for node in order if node.op is SCAN and not node.copy]
    uses = consumers(order) if loops else {}
    sums = {loop: _chosen(loop, _sums_of(loop, uses[loop])) for loop in loops}
    if not any(sums.values()):
        return list(outputs)
    new: dict[Node, Node] = {}
    results: dict[Node, Sequence[Node]] = {}
    for node in order:
        operands = tuple([new[operand] for operand in node.operands])
        with origin(node.origin):
            if sums.get(node):
                new[node], results[node] = _without_sums(node, operands, sums[node])
            elif node.op is PROJECT and node.operands[0] in results:
                new[node] = results[node.operands[0]][node.params["index"]]
            else:
                new[node] = on_operands(node, operands)
        if len(node.results) == 1:
            carried(node, new[node])
    return without_dead_results([new[output] for output in outputs])


# -- which sums ------------------------------------------------------------------------------------
def _sums_of(loop: Node, uses: Iterable[tuple[Node, int]]) -> list[_Sum]:
    """The carries that are large sums of products of few rows, and are read after the loop."""
    body: Body = loop.params["body"]
    read = {reader.params["index"] for reader, _ in uses if reader.op is PROJECT}
    within = consumers(body.nodes)
    found: list[_Sum] = []
    for place in range(loop.params["carries"]):
        if place not in read or len(body.outputs) + place in read or not adds_up(loop, place):
            continue
        product = body.outputs[place].operands[1]
        if len(within[product]) == 1 and product not in body.outputs:
            found += _as_sum(place, product)
    return found


def _as_sum(place: int, product: Node) -> list[_Sum]:
    """The sum of a product of a transpose and another matrix, if it is worth it."""
    if product.op.traits.matrices is not Matrices.ANY or product.dtype.kind != "f":
        return []
    if len(product.operands) != 2 or any(each.ndim != 2 for each in product.operands):
        return []
    left, right = product.operands
    if left.op.traits.arrangement is not Arrangement.PERMUTED or left.operands[0].ndim != 2:
        return []
    large = nominal(product.aval.size) >= _LEAST_NUMBERS
    few = nominal(right.shape[0]) <= _MOST_ROWS
    return [_Sum(place, left.operands[0], right)] if large and few else []


def _chosen(loop: Node, sums: Sequence[_Sum]) -> list[_Sum]:
    """The sums that spare more than the rows cost that are stacked for them."""
    body: Body = loop.params["body"]
    carries, last = loop.params["carries"], loop.params["carries"] + loop.params["scanned"]
    known = {*body.inputs[carries:last], *body.outputs[carries:]}
    varying = _varying(body, last)
    sums = [each for each in sums if each.left in varying and each.right in varying]
    spared = sum([nominal(body.outputs[each.place].aval.size) for each in sums])
    stacked = {node for each in sums for node in (each.left, each.right)} - known
    cost = sum([nominal(node.aval.size) for node in stacked])
    read = sum([nominal(node.aval.size) for node in known])
    return list(sums) if spared >= _WORTH * cost and cost <= read else []


def _varying(body: Body, last: int) -> set[Node]:
    """The values that depend on carries or slices: others are the same at each step."""
    found = set(body.inputs[:last])
    for node in body.nodes:
        if not found.isdisjoint(node.operands):
            found.add(node)
    return found


# -- the product after the loop --------------------------------------------------------------------
def _without_sums(
    loop: Node, operands: Sequence[Node], sums: Sequence[_Sum]
) -> tuple[Node, list[Node]]:
    """The loop, and its results, with sums computed after it."""
    body: Body = loop.params["body"]
    carries, last = loop.params["carries"], loop.params["carries"] + loop.params["scanned"]
    arrays = dict(zip(body.inputs[carries:last], operands[carries:last], strict=True))
    given = {node: carries + place for place, node in enumerate(body.outputs[carries:])}
    wanted = [node for each in sums for node in (each.left, each.right)]
    stacked = [node for node in dict.fromkeys(wanted) if node not in arrays and node not in given]
    at = len(body.outputs)
    given |= {node: at + place for place, node in enumerate(stacked)}
    # A carry that nothing reads is left out later; here it stays where it was.
    params = {**loop.params, "body": Body(body.inputs, [*body.outputs, *stacked])}
    new = make(SCAN, operands, params)
    arrays |= {node: project(new, place) for node, place in given.items() if node not in arrays}
    found = [project(new, place) for place in range(at)]
    found += [project(new, at + len(stacked) + place) for place in range(carries)]
    for each in sums:
        total = _product(arrays[each.left], arrays[each.right])
        found[each.place] = _added(operands[each.place], total)
    return new, found


def _product(left: Node, right: Node) -> Node:
    """The product of all rows of all steps."""
    return matmul(matrix_transpose(_rows(left)), _rows(right)).node


def _rows(stacked: Node) -> Array:
    return reshape(Array(stacked), (prod(stacked.shape[:2]), stacked.shape[2]))


def _added(first: Node, total: Node) -> Node:
    """The sum with the value that it began with; nothing is added to zeros."""
    inner = unrepeated(first)
    if inner.is_constant and not np.any(inner.params["value"]):
        return total
    return (Array(first) + Array(total)).node
