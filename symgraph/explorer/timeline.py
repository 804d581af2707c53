"""A derivation as a timeline: which nodes live at which moment, and the place that each keeps.

A place outlives its node. When a rule replaces a value, the new value takes the old one's place,
and so does every consumer that is rebuilt. So what did not change does not move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..ir.node import Node, on_operands
from ..ir.walks import reachable
from ..records import record
from ..rewriting.log import Log, Step

__all__ = ["Timeline", "TimelineEntry", "TimelineMoment", "moments", "timeline"]

_WORK = 1_500_000


@record
class TimelineMoment:
    """The outputs at one moment, what led there, and the steps since the moment before."""

    what: str
    outputs: tuple[Node, ...]
    steps: tuple[Step, ...] = ()


@dataclass(slots=True, eq=False)
class TimelineEntry:
    """A node at its place.

    Parameters
    ----------
    node : Node
    place : int
    lives : list of [int, int]
        The moments from which and up to which it is part of the graph.
    """

    node: Node
    place: int
    lives: list[list[int]]


@dataclass
class Timeline:
    """All entries in the order of their birth, the places in order, and who lives last."""

    entries: list[TimelineEntry] = field(default_factory=list[TimelineEntry])
    following: dict[int, int] = field(default_factory=dict[int, int])
    places: int = 0
    alive: dict[Node, TimelineEntry] = field(default_factory=dict[Node, TimelineEntry])
    known: dict[Node, TimelineEntry] = field(default_factory=dict[Node, TimelineEntry])

    def ordered(self) -> list[int]:
        """The places from the first to the last."""
        order: list[int] = []
        at = self.following.get(-1)
        while at is not None:
            order.append(at)
            at = self.following.get(at)
        return order


def moments(log: Log, outputs: Sequence[Node]) -> list[TimelineMoment]:
    """The moments of a derivation that ends in `outputs`.

    Each step is a moment. Of a derivation too long for a page each pass is one.
    """
    found: list[TimelineMoment] = []
    long = len(log.steps) * len(reachable(outputs)) > _WORK
    for each in log.passes:
        steps = [step for step in log.steps[each.start : each.stop] if step.grain != "choice"]
        if not found:
            found.append(TimelineMoment("traced", each.before))
        elif found[-1].outputs != each.before:
            found.append(TimelineMoment("another part", each.before))
        if not long:
            for step in steps:
                new = _after(found[-1].outputs, step)
                if new != found[-1].outputs:
                    found.append(TimelineMoment(step.rule, new, (step,)))
        if found[-1].outputs != each.after:
            found.append(TimelineMoment(each.what, each.after, tuple(steps) if long else ()))
    last = tuple(outputs)
    if not found:
        return [TimelineMoment("the graph", last)]
    if found[-1].outputs != last:
        again = any(node.copy for node in reachable(outputs))
        found.append(TimelineMoment("checkpoint" if again else "the graph", last))
    return found


def _after(outputs: Sequence[Node], step: Step) -> tuple[Node, ...]:
    carried = _carried(outputs, {step.before: step.after})
    return tuple(carried[each] for each in outputs)


def _carried(outputs: Sequence[Node], replacement: Mapping[Node, Node]) -> dict[Node, Node]:
    """For each node of a graph the node that stands for it after a replacement."""
    new = dict(replacement)
    for node in reachable(outputs):
        if node not in new:
            new[node] = on_operands(node, tuple([new[operand] for operand in node.operands]))
    return new


def _matched(before: Sequence[Node], after: Sequence[Node]) -> dict[Node, Node]:
    """Nodes of two graphs that stand at the same place below the same output."""
    found: dict[Node, Node] = {}
    stack = list(zip(before, after, strict=False))
    while stack:
        old, new = stack.pop()
        if old in found or old is new:
            continue
        found[old] = new
        if old.op is new.op and len(old.operands) == len(new.operands):
            stack.extend(zip(old.operands, new.operands, strict=True))
    return found


def timeline(states: Sequence[TimelineMoment]) -> Timeline:
    """The places of all nodes over all moments."""
    line = Timeline()
    last: tuple[Node, ...] = ()
    for time, moment in enumerate(states):
        if len(moment.steps) == 1 and last:
            step = moment.steps[0]
            became = _carried(last, {step.before: step.after})
        else:
            became = _matched(last, moment.outputs)
        _advance(line, time, reachable(moment.outputs), became)
        last = moment.outputs
    for entry in line.alive.values():
        entry.lives[-1][1] = len(states)
    return line


def _advance(line: Timeline, time: int, nodes: Sequence[Node], became: Mapping[Node, Node]) -> None:
    """Let the nodes of a moment live, each at its own place or that of the node it replaces."""
    now = set(nodes)
    staying = {node: entry for node, entry in line.alive.items() if node in now}
    for node, entry in line.alive.items():
        if node not in now:
            entry.lives[-1][1] = time
    taken = {entry.place for entry in staying.values()}
    heirs: dict[Node, int] = {}
    for old, new in became.items():
        entry = line.alive.get(old)
        if entry is not None and old not in now and new in now and new not in staying:
            heirs.setdefault(new, entry.place)
    for node in nodes:
        if node in staying:
            continue
        known = line.known.get(node)
        place = known.place if known is not None else heirs.get(node)
        if place is None or place in taken:
            place = heirs.get(node)
        if place is None or place in taken:
            place = _new_place(line, node, staying)
        taken.add(place)
        if known is not None and known.place == place:
            known.lives.append([time, time])
            staying[node] = known
            continue
        entry = TimelineEntry(node, place, [[time, time]])
        line.entries.append(entry)
        staying[node] = line.known[node] = entry
    line.alive = staying


def _new_place(line: Timeline, node: Node, living: Mapping[Node, TimelineEntry]) -> int:
    """A place of its own, after that of the last operand; at first, after all others."""
    place = line.places
    line.places += 1
    before: int = place - 1
    if line.alive:
        near = [each for each in node.operands if each in living and each.operands]
        if near:
            before = living[near[-1]].place
    following = line.following.get(before)
    line.following[before] = place
    if following is not None:
        line.following[place] = following
    return place
