"""The ways to run the loops of a graph: what is stored of them, and in stretches of how many steps.

Each way gives a graph of the same values, bit for bit, that the planner takes like any other. So
the loops and all other nodes share a budget. The ways differ in operations by whole runs of the
loops, so the planner asks first those of fewest operations.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from itertools import product
from math import log
from typing import Any, cast

import numpy as np

from ..array import Array, project
from ..ir.avals import Aval
from ..ir.body import Body
from ..ir.cost import node_flops
from ..ir.dag import Dag
from ..ir.dims import Dim
from ..ir.node import Node, make, on_operands, origin
from ..ir.value_names import carried
from ..lowering.memory_model import resolved
from ..ops.closures import fresh_like
from ..ops.results import PROJECT
from ..ops.scan import SCAN
from ..passes.program_graph import program_graph
from ..passes.residuals import with_residuals
from ..records import record
from .liveness import readable_bytes
from .loop_pairs import LoopPair, SteppedPair, loop_pairs

__all__ = ["flops_of", "kept_told", "loop_variants", "loops_told", "named_lengths"]

_MOST_WAYS = 40
"""How many ways of several loops together are made at most; beyond all loops go the same way."""
_NEAR = 1.4
"""A divisor of the length is taken for a stretch if it is that near: nothing is left over then."""


@record
class Way:
    """How a pair of loops runs.

    Parameters
    ----------
    storing : bool or None
        Whether the forward loop stores what the reverse loop reads; None leaves the pair as it is.
    stretch : int, optional
        The carries of every k-th step are kept.
    """

    storing: bool | None
    stretch: int | None = None


_variants: weakref.WeakKeyDictionary[Dag, list[Dag | None]] = weakref.WeakKeyDictionary()
"""None stands for the graph itself, which would else keep itself alive."""


def loop_variants(dag: Dag) -> list[Dag]:
    """Graphs of the same values with loops run in other ways, fewest operations first.

    The graph itself is among them, and what is run of it without a plan, with sums after loops or
    in them. Of the ways of equal operations those that keep most come first. Numbers are the same
    to the last bit, but for large sums of products that come after a loop.
    """
    if dag not in _variants:
        pairs = loop_pairs(dag)
        found = [_rewritten(dag, pairs, ways) for ways in _joint_ways(pairs)] if pairs else [dag]
        for usual in (with_residuals(dag), program_graph(dag)):
            if all(usual.outputs != each.outputs for each in found):
                found.append(usual)
        found.sort(key=_nominal_flops)
        _variants[dag] = [None if each is dag else each for each in found]
    return [dag if each is None else each for each in _variants[dag]]


def named_lengths(dag: Dag) -> list[str]:
    """The named numbers of steps of loops with a gradient, which no stretch can divide."""
    lengths = [pair.length for pair in loop_pairs(dag)]
    return sorted({str(length) for length in lengths if not isinstance(length, int)})


def _nominal_flops(dag: Dag) -> int:
    return flops_of(dag, None)


def flops_of(dag: Dag, dims: Mapping[str, int] | None = None) -> int:
    """The floating-point operations of a run."""
    return sum([resolved(node_flops(node), dims) for node in dag.nodes if node.operands])


def loops_told(dag: Dag) -> tuple[str, ...]:
    """A line for each loop that runs in stretches."""
    found: dict[str, None] = {}
    for node in dag.nodes:
        if node.op is not SCAN or node.copy or node.origin.adjoint_of is not None:
            continue
        for each in node.params["body"].nodes:
            if each.op is SCAN and each.origin == node.origin:
                steps = each.params["length"]
                found[f"in stretches of {steps} steps: the loop at {node.origin}"] = None
    return tuple(found)


def kept_told(dag: Dag, dims: Mapping[str, int] | None = None) -> tuple[str, ...]:
    """A line for each loop of a graph without a plan that keeps values of its steps for others."""
    loops, run = [
        [node for node in each.nodes if node.op is SCAN] for each in (dag, program_graph(dag))
    ]
    if len(loops) != len(run):
        return ()
    found: list[str] = []
    for plain, loop in zip(loops, run, strict=True):
        before, after = [_stacked(each) for each in (plain, loop)]
        if len(after) > len(before):
            kept = [sum([resolved(aval.nbytes, dims) for aval in each]) for each in (before, after)]
            size = readable_bytes(kept[1] - kept[0])
            count = len(after) - len(before)
            values = f"{count} values" if count > 1 else "a value"
            found.append(f"kept of each step, {values}, {size} in all: the loop at {plain.origin}")
    return tuple(found)


def _stacked(loop: Node) -> list[Aval]:
    """The stacked results of the steps of a loop."""
    return list(loop.results[loop.params["carries"] : len(loop.params["body"].outputs)])


def _joint_ways(pairs: Sequence[LoopPair]) -> list[tuple[Way, ...]]:
    each = [_ways(pair) for pair in pairs]
    count = 1
    for ways in each:
        count *= len(ways)
    if count <= _MOST_WAYS:
        return list(product(*each))
    longest = max(map(len, each))
    # A shorter list goes on with its last way.
    return [tuple([ways[min(at, len(ways) - 1)] for ways in each]) for at in range(longest)]


def _ways(pair: LoopPair) -> list[Way]:
    """The ways of a pair, those that hold most first."""
    found = [Way(True), Way(None), Way(False)]
    if not isinstance(pair.length, int):
        return found
    stretches = _stretches(pair.length)
    found += [Way(True, each) for each in stretches]
    return found + [Way(False, each) for each in stretches]


def _stretches(length: int) -> list[int]:
    """Lengths of stretches, from half the loop down, each about half of the one before."""
    divisors = [each for each in range(2, length // 2 + 1) if length % each == 0]
    found: dict[int, None] = {}
    aim = length / 2
    while aim >= 2:
        near = min(divisors, key=lambda each: abs(log(each / aim)), default=0)
        close = near and max(near / aim, aim / near) <= _NEAR
        found[near if close else round(aim)] = None
        aim /= 2
    return list(found)


def _rewritten(dag: Dag, pairs: Sequence[LoopPair], ways: Sequence[Way]) -> Dag:
    loops = [
        _Loops(pair, way) for pair, way in zip(pairs, ways, strict=True) if way.storing is not None
    ]
    builders = {each.pair.forward: each.forward for each in loops}
    builders |= {each.pair.reverse: each.reverse for each in loops}
    new: dict[Node, Node] = {}
    built: dict[Node, list[Node]] = {}
    for node in dag.nodes:
        operands = tuple([new[operand] for operand in node.operands])
        with origin(node.origin):
            if node in builders:
                built[node] = builders[node](operands)
                new[node] = node
            elif node.op is PROJECT and node.operands[0] in built:
                results, place = built[node.operands[0]], node.params["index"]
                # Histories are read by the reverse loop alone, which has its own.
                new[node] = results[place] if place < len(results) else node
            elif operands != node.operands:
                new[node] = on_operands(node, operands)
            else:
                new[node] = node
        if new[node] is not node:
            carried(node, new[node])
    return dag.with_outputs([new[output] for output in dag.outputs])


class _Loops:
    """The loops of a pair, run in one way."""

    def __init__(self, pair: LoopPair, way: Way) -> None:
        self.pair = pair
        self.stepped = SteppedPair(pair, storing=bool(way.storing))
        self.parts = _parts(pair, way.stretch)
        self.carries: int = pair.forward.params["carries"]
        self.end: int = self.carries + pair.forward.params["scanned"]
        self.operands: list[Node] = []
        # For each part the loop of it, or the loop over its stretches.
        self.run: list[Node] = []

    def forward(self, operands: Sequence[Node]) -> list[Node]:
        """The results of the forward loop, histories left out."""
        self.operands = list(operands)
        body: Body = self.pair.forward.params["body"]
        carry = self.operands[: self.carries]
        for part in self.parts:
            inputs = [*carry, *part.cut(self.scanned), *self.operands[self.end :]]
            if part.stretch is None:
                loop = self.stepped.forward_loop(inputs, part.length)
            else:
                loop = self._stretches(inputs, part)
            self.run.append(loop)
            carry = [project(loop, place) for place in range(self.carries)]
        steps = range(self.carries, len(body.outputs))
        return [*carry, *self._joined([[project(loop, at) for at in steps] for loop in self.run])]

    def reverse(self, operands: Sequence[Node]) -> list[Node]:
        """The results of the reverse loop, histories left out."""
        reading, own = self.stepped.reading, self.stepped.own
        scanned = [operands[slot] for slot in reading.scanned]
        captured = [operands[slot] for slot in reading.captured]
        carry = list(operands[:own])
        found: list[list[Node]] = []
        for part, loop in zip(reversed(self.parts), reversed(self.run), strict=True):
            cut = part.cut(scanned)
            if part.stretch is None:
                carry, steps = self.stepped.reverse_loop(loop, carry, cut, captured, part.length)
            else:
                carry, steps = self._reversed_stretches(loop, carry, cut, captured, part)
            found.insert(0, steps)
        return [*carry, *self._joined(found)]

    @property
    def scanned(self) -> list[Node]:
        return self.operands[self.carries : self.end]

    def _joined(self, parts: Sequence[Sequence[Node]]) -> list[Node]:
        """The stacked results of all steps, from those of the parts in the order they run."""
        flat = [
            [part.joined(node) for node in nodes]
            for part, nodes in zip(self.parts, parts, strict=True)
        ]
        if len(flat) == 1:
            return flat[0]
        if self.parts[0].start:
            flat.reverse()
        rows: Any = [[Array(node) for node in row] for row in zip(*flat, strict=True)]
        joined: list[Any] = [np.concatenate(row) for row in rows]
        return [each.node for each in joined]

    def _stretches(self, operands: Sequence[Node], part: _Part) -> Node:
        """The loop over stretches, each of them the loop as it was."""
        params = self.pair.forward.params
        inner = [
            fresh_like(part.inside(each, at, self.carries, self.end), f"i{at}")
            for at, each in enumerate(operands)
        ]
        loop = make(SCAN, inner, {**params, "length": part.stretch})
        results = [project(loop, place) for place in range(len(params["body"].outputs))]
        return make(SCAN, operands, {**params, "body": Body(inner, results), "length": part.count})

    def _reversed_stretches(
        self,
        forward: Node,
        first: Sequence[Node],
        scanned: Sequence[Node],
        captured: Sequence[Node],
        part: _Part,
    ) -> tuple[list[Node], list[Node]]:
        """The loop over stretches backwards: each is run again, then reversed."""
        own = self.stepped.own
        end = own + self.end + len(scanned)
        tied = self.operands[self.end :]
        begun = len(self.pair.forward.params["body"].outputs)
        starts = [project(forward, begun + place) for place in range(self.carries)]
        operands = [*first, *starts, *part.cut(self.scanned), *scanned, *tied, *captured]
        inner = [
            fresh_like(part.inside(each, at, own, end), f"i{at}")
            for at, each in enumerate(operands)
        ]
        middle = end + len(tied)
        steps = part.stretch
        assert steps is not None
        again = self.stepped.forward_loop([*inner[own : own + self.end], *inner[end:middle]], steps)
        last, given = self.stepped.reverse_loop(
            again, inner[:own], inner[own + self.end : end], inner[middle:], steps
        )
        params = {
            **self.pair.reverse.params,
            "body": Body(inner, [*last, *given]),
            "carries": own,
            "scanned": end - own,
            "length": part.count,
        }
        loop = make(SCAN, operands, params)
        results = [project(loop, place) for place in range(len(last) + len(given))]
        return results[:own], results[own:]


@record
class _Part:
    """Some steps of a loop: rows `start` on, `count` stretches of `stretch` steps, or one loop.

    `whole` says that these are all rows.
    """

    start: int
    length: Dim
    stretch: int | None = None
    count: int = 1
    whole: bool = True

    def cut(self, nodes: Sequence[Node]) -> list[Node]:
        """The rows of the part, cut into its stretches."""
        return [self._cut(node) for node in nodes]

    def _cut(self, node: Node) -> Node:
        rows: Any = Array(node)
        if not self.whole:
            assert isinstance(self.length, int)
            rows = rows[self.start : self.start + self.length]
        if self.stretch is None:
            return rows.node
        stretches: Any = np.reshape(rows, (self.count, self.stretch, *node.shape[1:]))
        return stretches.node

    def joined(self, node: Node) -> Node:
        """A stacked result with its stretches as one."""
        if self.stretch is None:
            return node
        shape: Any = (self.length, *node.shape[2:])
        whole: Any = np.reshape(cast("Any", Array(node)), shape)
        return whole.node

    def inside(self, node: Node, place: int, start: int, stop: int) -> Aval:
        """The part of an operand that a step of the loop over stretches gets."""
        return node.aval.with_shape(node.shape[1:]) if start <= place < stop else node.aval


def _parts(pair: LoopPair, stretch: int | None) -> list[_Part]:
    """The parts of a loop in the order they run."""
    if stretch is None:
        return [_Part(0, pair.length)]
    assert isinstance(pair.length, int)
    count, rest = divmod(pair.length, stretch)
    if not rest:
        return [_Part(0, pair.length, stretch, count)]
    most = count * stretch
    parts = [_Part(0, most, stretch, count, whole=False), _Part(most, rest, whole=False)]
    return parts[::-1] if pair.forward.params["reverse"] else parts
