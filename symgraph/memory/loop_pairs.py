r"""A loop and the loop of its gradient, built again so that they take other memory and other work.

The gradient of a `scan` is a scan in the other direction, which reads the carry before each step
and computes the step again. Three things may change; the numbers are the same to the last bit.

- A carry after a step is the carry before the next one, so the reverse loop hands it on from step
  to step instead of computing it again. This needs the bytes of one carry.
- Values inside a step that the gradient reads are stored by the forward loop, of all steps.
- The carries are kept at the starts of stretches of $k$ steps alone. The reverse loop runs a
  stretch forward again, stores what its steps read, and reverses it (Griewank 1992): of $T$ steps
  it holds $T / k$ carries, and what $k$ steps store.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from ..array import project
from ..ir.body import Body
from ..ir.dag import Dag
from ..ir.dims import Dim
from ..ir.node import Node, make
from ..ir.walks import reachable
from ..ops.closures import fresh_like, rebuilt
from ..ops.results import PROJECT
from ..ops.scan import SCAN
from ..passes.shared_step_values import Step
from ..records import record

__all__ = ["LoopPair", "SteppedPair", "loop_pairs"]


@record
class LoopPair:
    """A loop, and the one that reads the carries before its steps; nothing else reads these.

    Parameters
    ----------
    forward, reverse : Node
    carries : mapping of int to int
        For a scanned operand of `reverse` the carry of `forward` that it is the history of.
    """

    forward: Node
    reverse: Node
    carries: Mapping[int, int]

    @property
    def length(self) -> Dim:
        """The number of steps."""
        return self.forward.params["length"]


def loop_pairs(dag: Dag) -> list[LoopPair]:
    """The loops of a graph with those of their gradients, in order."""
    found: list[LoopPair] = []
    for node in dag.nodes:
        if node.op is SCAN and node.params["carries"]:
            pair = _pair_of(dag, node)
            if pair is not None:
                found.append(pair)
    return found


def _pair_of(dag: Dag, forward: Node) -> LoopPair | None:
    """The pair of a loop whose histories one other loop scans, or None."""
    first = _histories(forward)
    read = {node for node, _ in dag.uses[forward] if node.op is PROJECT}
    histories = {node: node.params["index"] - first for node in read}
    histories = {node: place for node, place in histories.items() if place >= 0}
    if not histories or histories.keys() & set(dag.outputs):
        return None
    readers = {reader for node in histories for reader, _ in dag.uses[node]}
    if len(readers) != 1:
        return None
    (reverse,) = readers
    if reverse.op is not SCAN or reverse.copy or forward.copy:
        return None
    opposite = reverse.params["reverse"] != forward.params["reverse"]
    if not opposite or reverse.params["length"] != forward.params["length"]:
        return None
    start, stop = reverse.params["carries"], reverse.params["carries"] + reverse.params["scanned"]
    if any(slot not in range(start, stop) for node in histories for _, slot in dag.uses[node]):
        return None
    last = _histories(reverse)
    if any(node.params.get("index", last) >= last for node, _ in dag.uses[reverse]):
        return None
    slots = {
        slot: histories[operand]
        for slot, operand in enumerate(reverse.operands)
        if operand in histories
    }
    return LoopPair(forward, reverse, slots)


def _histories(loop: Node) -> int:
    """The place of the first result that holds the carries before the steps."""
    return len(loop.params["body"].outputs)


# -- the steps -------------------------------------------------------------------------------------
@record(slots=False)
class _Reading:
    """Where the reverse step has its inputs from.

    Parameters
    ----------
    handed_on : tuple of int
        Carries of the forward loop that the reverse loop hands on, after its own carries.
    histories : tuple of int
        Carries of the forward loop whose values before each step are scanned first.
    stored : int
        How many stored values are scanned next.
    scanned, captured : tuple of int
        The operands of the reverse loop, by place, that are scanned last, and those captured.
    """

    handed_on: tuple[int, ...]
    histories: tuple[int, ...]
    stored: int
    scanned: tuple[int, ...]
    captured: tuple[int, ...]


class SteppedPair:
    """A pair with other steps: the reverse step computes less of the forward step again.

    Parameters
    ----------
    pair : LoopPair
    storing : bool
        Whether the forward loop stores what the reverse step would compute again; else only
        carries are handed on.
    """

    def __init__(self, pair: LoopPair, *, storing: bool) -> None:
        self.pair = pair
        self.forward: Body = pair.forward.params["body"]
        self.own: int = pair.reverse.params["carries"]
        read = self._read()
        after = self.forward.outputs[: pair.forward.params["carries"]]
        handed = {node: after.index(image) for node, image in read.items() if image in after}
        stored = [node for node in read if node not in handed] if storing else []
        self.storing = Body(
            self.forward.inputs, [*self.forward.outputs, *[read[n] for n in stored]]
        )
        self.body, self.reading = self._reverse_step(handed, stored)

    @cached_property
    def _images(self) -> dict[Node, Node]:
        """The values of the reverse step that the forward step computes, as it does."""
        return Step(self.pair.reverse).images_in(Step(self.pair.forward))

    def _read(self) -> dict[Node, Node]:
        """The values of the forward step that the reverse step reads, each with its value there."""
        body: Body = self.pair.reverse.params["body"]
        images = self._images
        stack = [each for each in body.outputs if each in images]
        for node in body.nodes:
            if node not in images:
                stack += [each for each in node.operands if each in images]
        found: dict[Node, Node] = {}
        seen: set[Node] = set()
        while stack:
            node = stack.pop()
            if node in seen or node.is_input or node.is_constant:
                continue
            seen.add(node)
            if not node.op.view and len(node.results) == 1:
                found[node] = images[node]
            else:
                stack += [each for each in node.operands if each in images]
        return dict(sorted(found.items(), key=lambda each: each[0].serial))

    def _reverse_step(
        self, handed: Mapping[Node, int], stored: Sequence[Node]
    ) -> tuple[Body, _Reading]:
        """The step that reads what is handed on and stored, and where it has its inputs from."""
        reverse = self.pair.reverse
        body: Body = reverse.params["body"]
        end = self.own + reverse.params["scanned"]
        new = {node: fresh_like(node.aval, "given") for node in (*handed, *stored)}
        outputs = rebuilt(body.outputs, new)
        needed = set(reachable(outputs))
        places = sorted({place for node, place in handed.items() if new[node] in needed})
        before, same = self._histories(needed, places)
        after = {place: fresh_like(before[place].aval, "after") for place in places}
        same |= {new[node]: after[place] for node, place in handed.items() if place in after}
        outputs = rebuilt(outputs, same)
        others = [
            slot
            for slot in range(self.own, len(body.inputs))
            if slot not in self.pair.carries and body.inputs[slot] in needed
        ]
        inputs = [
            *body.inputs[: self.own],
            *after.values(),
            *before.values(),
            *[new[node] for node in stored],
            *[body.inputs[slot] for slot in others],
        ]
        ends = [*outputs[: self.own], *[before[place] for place in after], *outputs[self.own :]]
        scanned = [slot for slot in others if slot < end]
        captured = others[len(scanned) :]
        reading = _Reading(
            tuple(after), tuple(before), len(stored), tuple(scanned), tuple(captured)
        )
        return Body(inputs, ends), reading

    def _histories(
        self, needed: Collection[Node], places: Sequence[int]
    ) -> tuple[dict[int, Node], dict[Node, Node]]:
        """The carries before a step that are scanned, by place; and inputs that are the same."""
        body: Body = self.pair.reverse.params["body"]
        before: dict[int, Node] = {}
        same: dict[Node, Node] = {}
        for slot, place in self.pair.carries.items():
            node = body.inputs[slot]
            if node in needed or place in places:
                same[node] = before.setdefault(place, node)
        for place in places:
            # The step may have read a carry only as it is afterwards.
            if place not in before:
                before[place] = fresh_like(self.forward.inputs[place].aval, "before")
        return before, same

    # -- the loops ---------------------------------------------------------------------------------
    def forward_loop(self, operands: Sequence[Node], length: Dim) -> Node:
        """The forward loop, which stores values."""
        params = {**self.pair.forward.params, "body": self.storing, "length": length}
        return make(SCAN, operands, params)

    def reverse_loop(
        self,
        forward: Node,
        first: Sequence[Node],
        scanned: Sequence[Node],
        captured: Sequence[Node],
        length: Dim,
    ) -> tuple[list[Node], list[Node]]:
        """The carries and the stacked results of the reverse loop of a forward loop."""
        reading = self.reading
        given = len(self.forward.outputs)
        begun = len(self.storing.outputs)
        operands = [
            *first,
            *[project(forward, place) for place in reading.handed_on],
            *[project(forward, begun + place) for place in reading.histories],
            *[project(forward, given + place) for place in range(reading.stored)],
            *scanned,
            *captured,
        ]
        carries = self.own + len(reading.handed_on)
        params = {
            **self.pair.reverse.params,
            "body": self.body,
            "carries": carries,
            "scanned": len(reading.histories) + reading.stored + len(scanned),
            "length": length,
        }
        loop = make(SCAN, operands, params)
        results = [project(loop, place) for place in range(len(self.body.outputs))]
        return results[: self.own], results[carries:]
