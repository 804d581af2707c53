r"""Values of the first loop that the loop of a gradient reads: kept, where that is cheaper.

The gradient of a `scan` reads the carries before each step and computes the rest of the step again.
Here the first loop also stacks the values that are worth their memory, such as products of matrices
or the gates that are computed from them, and the later loop reads their slices. All else is still
computed again. Every number stays the same to the last bit.

The choice is a minimum cut over the values that both steps have, so a value is kept where it spares
all that lies below it, and a carry that nothing needs any more is no longer kept. A carry after a
step is the carry before the next one: a loop in the other direction hands it on. Any loop may read
of any earlier one, as loops of second derivatives do.

A graph that is planned for a memory budget stays as it is. So does what a loop inside a step gives:
`checkpoint` of `scan` makes such loops, which are there to be run again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ..ir.cost import node_flops, nominal
from ..ir.dag import Dag
from ..ir.node import Node
from ..ir.walks import consumers, reachable
from ..ops.results import PROJECT
from ..ops.scan import SCAN
from .bodies import hold_bodies, with_simple_bodies
from .cheapest_kept import Choice, cheapest_kept
from .dead_results import without_dead_results
from .residual_loops import HandedOn, Reading, with_readings
from .shared_step_values import Step

__all__ = ["with_residuals"]

_BYTE = 4
"""The cost of a byte that is kept, in floating-point operations.

Writing and reading it takes the time of one or two; the rest is what memory is worth. A product of
matrices is kept from some 16 terms a number on in double precision, and a single exponential is
computed again, but not where it spares keeping what it is computed from."""
_ARRAY = 250
"""The cost of an array that is written and read slice by slice, whatever its size."""


def with_residuals(dag: Dag) -> Dag:
    """The graph whose loops keep values that later loops would compute again at a higher cost.

    The same graph if nothing is worth it, or if it has a memory plan.
    """
    if dag.schedule is not None or any(node.copy for node in dag.nodes):
        return dag
    if not hold_bodies(dag.outputs):
        return dag
    outputs = _keeping(dag.outputs)
    return dag if tuple(outputs) == dag.outputs else dag.with_outputs(outputs)


def _keeping(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with loops that keep values, in bodies too."""
    readings = _readings(reachable(outputs))
    new = list(outputs)
    if readings:
        new = without_dead_results(with_readings(new, readings))
    return with_simple_bodies(new, _keeping)


# -- what is kept ---------------------------------------------------------------------------------
def _readings(order: Sequence[Node]) -> dict[Node, Reading]:
    """The values that each loop shall read of earlier ones."""
    steps = [Step(node) for node in order if node.op is SCAN and not node.copy]
    if len(steps) < 2:
        return {}
    uses = consumers(order)
    found: dict[Node, Reading] = {}
    kept: set[Node] = set()
    for number, step in enumerate(steps):
        shared = _Shared(step, steps[:number], uses)
        reading = shared.reading(kept)
        if reading.kept or reading.handed_on:
            found[step.loop] = reading
            kept.update(image for _, image in reading.kept.values())
    return found


class _Shared:
    """The values of a step that steps of earlier loops have, too."""

    def __init__(
        self, step: Step, earlier: Sequence[Step], uses: Mapping[Node, Sequence[tuple[Node, int]]]
    ) -> None:
        self.step = step
        self.uses = uses
        self.sources: dict[Node, tuple[Step, Node]] = {}
        for first in earlier:
            for node, image in step.images_in(first).items():
                if not node.is_constant:
                    self.sources.setdefault(node, (first, image))

    def reading(self, kept: Collection[Node]) -> Reading:
        """The cheapest way to have the values, where some are kept already."""
        choices: dict[Node, Choice] = {}
        handed_on: dict[Node, HandedOn] = {}
        for node in self.step.body.nodes:
            if node not in self.sources:
                continue
            first, image = self.sources[node]
            keep = None if _is_of_loop(node) else _cost_of_keeping(node) // (1 + (image in kept))
            found = self._handed_on(first, image)
            if found is not None:
                handed_on[node] = found
                choices[node] = Choice(keep, 0, [found.before])
            else:
                choices[node] = Choice(keep, _cost_of_computing(node), node.operands)
        wanted = self._wanted()
        values = set(choices)
        choices |= self._histories(wanted) if values else {}
        chosen = cheapest_kept(choices, wanted)
        reading = Reading()
        for node in _read(choices, chosen, wanted):
            if node in chosen & values:
                first, image = self.sources[node]
                reading.kept[node] = (first.loop, image)
            elif node in handed_on:
                reading.handed_on[node] = handed_on[node]
        return reading

    def _wanted(self) -> list[Node]:
        """The shared values that the step's other values are computed from, or that it gives."""
        body = self.step.body
        found = dict.fromkeys(node for node in body.outputs if node in self.sources)
        for node in body.nodes:
            if node not in self.sources:
                found |= dict.fromkeys(each for each in node.operands if each in self.sources)
        return list(found)

    def _histories(self, wanted: Collection[Node]) -> dict[Node, Choice]:
        """The choice of carries before a step: they can but be kept, or not be read."""
        found: dict[Node, Choice] = {}
        for node, operand in self._scanned():
            if node in self.sources and node not in wanted and len(self.uses[operand]) == 1:
                first, _ = self.sources[node]
                if first.history_of(operand) is not None:
                    found[node] = Choice(_cost_of_keeping(node), None)
        return found

    def _scanned(self) -> list[tuple[Node, Node]]:
        """The inputs of a step that are slices, with the arrays."""
        places = slice(self.step.carries, self.step.last)
        operands = self.step.loop.operands[places]
        return list(zip(self.step.body.inputs[places], operands, strict=True))

    def _handed_on(self, first: Step, image: Node) -> HandedOn | None:
        """How a loop in the other direction hands on a value that is a carry after the step."""
        if first.loop.params["reverse"] == self.step.loop.params["reverse"]:
            return None
        for node, operand in self._scanned():
            place = first.history_of(operand)
            if place is not None and first.body.outputs[place] is image:
                return HandedOn(first.loop, place, node)
        return None


def _read(
    choices: Mapping[Node, Choice], chosen: Collection[Node], wanted: Iterable[Node]
) -> list[Node]:
    """The values that are there after the choice, in order of their making."""
    found: set[Node] = set()
    stack = [node for node in wanted if node in choices]
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            if node not in chosen:
                stack += [each for each in choices[node].operands if each in choices]
    return sorted(found, key=lambda node: node.serial)


# -- costs -----------------------------------------------------------------------------------------
def _is_of_loop(node: Node) -> bool:
    """Whether a value is the result of a loop inside the step, or several results as one."""
    inner = node.operands[0] if node.op is PROJECT else node
    return inner.op is SCAN or len(node.results) > 1


def _cost_of_keeping(node: Node) -> int:
    return _ARRAY + _BYTE * nominal(node.aval.nbytes)


def _cost_of_computing(node: Node) -> int:
    return nominal(node_flops(node))
