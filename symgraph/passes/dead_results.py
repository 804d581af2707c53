"""Results of loops that nothing reads are removed, with the values that only they need.

A step computes all its results, whether they are read or not, and a carry may only feed itself.
Both are cut out of the body, and operands that no step reads are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..array import project
from ..ir.body import Body
from ..ir.interpreter import results_read
from ..ir.node import Node, make, on_operands, origin
from ..ir.value_names import carried
from ..ir.walks import reachable
from ..ops.results import PROJECT
from ..ops.scan import SCAN

__all__ = ["without_dead_results"]


def without_dead_results(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with loops that compute only results that are read; linear in the graph."""
    order = reachable(outputs)
    read = {node: keep for node, keep in results_read(order).items() if node.op is SCAN}
    if not read:
        return list(outputs)
    new: dict[Node, Node] = {}
    places: dict[Node, Mapping[int, int]] = {}
    for node in order:
        operands = tuple([new[operand] for operand in node.operands])
        with origin(node.origin):
            if node in read:
                new[node], places[node] = _slim(node, operands, read[node])
            elif node.op is PROJECT and node.operands[0] in places:
                place = places[node.operands[0]][node.params["index"]]
                several = len(operands[0].results) > 1
                new[node] = project(operands[0], place) if several else operands[0]
            else:
                new[node] = on_operands(node, operands)
        if len(node.results) == 1:
            carried(node, new[node])
    return [new[output] for output in outputs]


def _slim(
    node: Node, operands: Sequence[Node], read: Sequence[bool]
) -> tuple[Node, Mapping[int, int]]:
    """The loop without results that nothing reads, and the new place of each result that stays."""
    body: Body = node.params["body"]
    count, scanned = node.params["carries"], node.params["scanned"]
    given = len(body.outputs) - count
    steps = [place for place in range(count, count + given) if read[place]]
    carries = _needed_carries(body, count, steps, read)
    outputs = [body.outputs[place] for place in (*carries, *steps)]
    reached = set(reachable(outputs))
    inner = [
        place
        for place, each in enumerate(body.inputs)
        if (place in carries if place < count else each in reached)
    ]
    # The old places of the new results: carries, steps, and the carries that steps began with.
    kept = [*carries, *steps, *[count + given + place for place in carries]]
    where = {old: new for new, old in enumerate(kept)}
    if len(inner) == len(body.inputs) and len(outputs) == len(body.outputs):
        return make(node.op, operands, node.params, node.copy), where
    params = {
        **node.params,
        "body": Body([body.inputs[place] for place in inner], outputs),
        "carries": len(carries),
        "scanned": sum(count <= place < count + scanned for place in inner),
    }
    return make(node.op, [operands[place] for place in inner], params, node.copy), where


def _needed_carries(
    body: Body, count: int, steps: Sequence[int], read: Sequence[bool]
) -> list[int]:
    """The carries that are read, and those on which read results depend, from step to step."""
    begun = read[len(body.outputs) :]
    needed = {place for place in range(count) if read[place] or begun[place]}
    while True:
        ends = [body.outputs[place] for place in (*needed, *steps)]
        reached = set(reachable(ends))
        more = {place for place in range(count) if body.inputs[place] in reached} - needed
        if not more:
            return sorted(needed)
        needed |= more
