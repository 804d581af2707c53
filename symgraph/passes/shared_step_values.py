"""Values that the steps of two loops have in common.

The loop of a gradient computes values of a step of the first loop again, from the carries that the
step began with. Such a value has an image: the value of the first loop's step that is equal to it
at each step. Both are the same operations on the same operands, so nothing is compared but nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from ..ir.body import Body
from ..ir.dims import known_equal
from ..ir.node import Node, existing
from ..ir.walks import reachable
from ..ops.results import PROJECT

__all__ = ["Step"]


class Step:
    """The step of a loop, by the places of its inputs and outputs."""

    def __init__(self, loop: Node) -> None:
        self.loop = loop
        self.body: Body = loop.params["body"]
        self.carries: int = loop.params["carries"]
        self.last: int = self.carries + loop.params["scanned"]
        """The place behind the scanned inputs, where captures begin."""

    @cached_property
    def values(self) -> set[Node]:
        """All that a step computes, and its inputs."""
        return set(reachable(self.body.outputs))

    def history_of(self, operand: Node) -> int | None:
        """The carry whose values before each step an array holds, or None."""
        if operand.op is not PROJECT or operand.operands[0] is not self.loop:
            return None
        place = operand.params["index"] - len(self.body.outputs)
        return place if place >= 0 else None

    @cached_property
    def _scanned(self) -> Mapping[Node, Node]:
        first, inputs = self.carries, self.body.inputs
        return dict(zip(self.loop.operands[first : self.last], inputs[first:], strict=False))

    @cached_property
    def _captured(self) -> Mapping[Node, Node]:
        return dict(
            zip(self.loop.operands[self.last :], self.body.inputs[self.last :], strict=True)
        )

    def _slice(self, operand: Node) -> Node | None:
        """The value of a step that a slice of an array is equal to."""
        if operand.op is PROJECT and operand.operands[0] is self.loop:
            place = operand.params["index"]
            before = place - len(self.body.outputs)
            if before >= 0:
                return self.body.inputs[before]
            return self.body.outputs[place] if place >= self.carries else None
        if operand is self.loop:
            return self.body.outputs[0]  # Its only result, which all steps give.
        return self._scanned.get(operand)

    def images_in(self, first: Step) -> dict[Node, Node]:
        """For values of this step the equal values of the step of an earlier loop."""
        if not known_equal(self.loop.params["length"], first.loop.params["length"]):
            return {}
        found: dict[Node, Node] = {}
        inputs, operands = self.body.inputs, self.loop.operands
        for place in range(self.carries, len(inputs)):
            operand = operands[place]
            image = first._slice(operand) if place < self.last else first._captured.get(operand)
            if image is not None:
                found[inputs[place]] = image
        if not found:
            return {}
        for node in self.body.nodes:
            if node.is_constant:
                found[node] = node
            elif not node.copy and all(each in found for each in node.operands):
                image = existing(node.op, [found[each] for each in node.operands], node.params)
                if image is not None and image in first.values:
                    found[node] = image
        return found
