"""Loops built again so that a later one reads values that an earlier one keeps.

The earlier loop stacks the values of its steps as further results. The later loop scans these, or
hands a carry of the earlier loop on from step to step as a carry of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from ..array import project
from ..ir.body import Body
from ..ir.node import Node, make, on_operands, origin
from ..ir.value_names import carried
from ..ir.walks import reachable
from ..ops.closures import fresh_like, rebuilt
from ..ops.results import PROJECT
from ..ops.scan import SCAN
from ..records import record

__all__ = ["HandedOn", "Reading", "with_readings"]


@record
class HandedOn:
    """A value that is a carry after a step of an earlier loop in the other direction.

    Parameters
    ----------
    loop : Node
        The earlier loop.
    place : int
        Of the carry.
    before : Node
        The input of the later loop's step that is the carry before the step.
    """

    loop: Node
    place: int
    before: Node


@record
class Reading:
    """The values that the step of a loop reads and does not compute.

    Parameters
    ----------
    kept : dict of Node to (Node, Node)
        For a value of the step the earlier loop that keeps it, and the value of its step.
    handed_on : dict of Node to HandedOn
    """

    kept: dict[Node, tuple[Node, Node]] = field(default_factory=dict)
    handed_on: dict[Node, HandedOn] = field(default_factory=dict)


def with_readings(outputs: Sequence[Node], readings: Mapping[Node, Reading]) -> list[Node]:
    """The outputs with loops that read as `readings` says, and with those that they read of."""
    rebuilding = _Rebuilding(readings)
    new = rebuilding.new
    for node in reachable(outputs):
        operands = tuple([new[operand] for operand in node.operands])
        with origin(node.origin):
            if node.op is SCAN and not node.copy:
                rebuilding.add_loop(node, operands)
            elif node.op is PROJECT and node.operands[0] in rebuilding.places:
                places = rebuilding.places[node.operands[0]]
                new[node] = project(operands[0], places[node.params["index"]])
            else:
                new[node] = on_operands(node, operands)
        if len(node.results) == 1:
            carried(node, new[node])
    return [new[output] for output in outputs]


class _Rebuilding:
    """The new nodes, and where the loops have their results.

    Attributes
    ----------
    new : dict of Node to Node
    loops : dict of Node to Node
        The new loops; in `new` is its result in the place of a loop of one result.
    places : dict of Node to sequence of int
        For a loop the new place of each result.
    stacked : dict of (Node, Node) to int
        For a loop and a value of its step the place of the result that keeps it.
    """

    def __init__(self, readings: Mapping[Node, Reading]) -> None:
        self.readings = readings
        self.new: dict[Node, Node] = {}
        self.loops: dict[Node, Node] = {}
        self.places: dict[Node, Sequence[int]] = {}
        self.stacked: dict[tuple[Node, Node], int] = {}
        self.keeping: dict[Node, dict[Node, None]] = {}
        for reading in readings.values():
            for loop, image in reading.kept.values():
                self.keeping.setdefault(loop, {})[image] = None

    def add_loop(self, loop: Node, operands: Sequence[Node]) -> None:
        """Build a loop again, on its new operands."""
        reading = self.readings.get(loop, Reading())
        keeping = list(self.keeping.get(loop, ()))
        if not (keeping or reading.kept or reading.handed_on):
            self.new[loop] = self.loops[loop] = on_operands(loop, tuple(operands))
            return
        body: Body = loop.params["body"]
        carries, last = loop.params["carries"], loop.params["carries"] + loop.params["scanned"]
        read = {node: fresh_like(node.aval, "kept") for node in reading.kept}
        handed = {node: fresh_like(node.aval, "after") for node in reading.handed_on}
        outputs = rebuilt([*body.outputs, *keeping], {**read, **handed})
        inner = [
            *[*body.inputs[:carries], *handed.values()],
            *[*body.inputs[carries:last], *read.values()],
            *body.inputs[last:],
        ]
        ends = [*outputs[:carries], *[each.before for each in reading.handed_on.values()]]
        params = {
            **loop.params,
            "body": Body(inner, [*ends, *outputs[carries:]]),
            "carries": len(ends),
            "scanned": last - carries + len(read),
        }
        firsts = [project(self.loops[each.loop], each.place) for each in reading.handed_on.values()]
        arrays = [self._array_of(*source) for source in reading.kept.values()]
        given = [*operands[:carries], *firsts, *operands[carries:last], *arrays, *operands[last:]]
        new = self.new[loop] = self.loops[loop] = make(SCAN, given, params)
        self._note_places(loop, keeping, len(handed))
        if len(loop.results) == 1 < len(new.results):
            self.new[loop] = project(new, 0)

    def _array_of(self, loop: Node, image: Node) -> Node:
        return project(self.loops[loop], self.stacked[loop, image])

    def _note_places(self, loop: Node, keeping: Sequence[Node], handed: int) -> None:
        """Carries stay where they were; values handed on or kept come before the others."""
        carries, given = loop.params["carries"], len(loop.params["body"].outputs)
        histories = given + handed + len(keeping)
        self.places[loop] = [
            *range(carries),
            *range(carries + handed, given + handed),
            *range(histories, histories + carries),
        ]
        for number, image in enumerate(keeping):
            self.stacked[loop, image] = given + handed + number
