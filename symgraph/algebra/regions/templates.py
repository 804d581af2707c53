"""Regions built like one that was written before: they are written as that one was.

A network has the same few regions in each of its layers. What the algebra makes of a region follows
from how it is built up from the arrays below, from what is known of those, and from which values
inside have other users: regions that agree in all of this are one *shape*, whatever their arrays.
The first of a shape is written with all care, and what was done is kept as a template; the others
are filled in, where that is as much of a gain as it was there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from ...ir.fact_inference import Knowledge
from ...ir.interning import params_key
from ...ir.node import Node, make
from ...ir.op import Op, Params
from ...ops.control import cast
from ...ops.indexing import embed, getitem
from ...ops.movement import broadcast_to, reshape
from ..expression.roles import is_equality, is_extremum
from ..extraction.use_counts import Price
from .regions import SEEN_WHOLE

__all__ = [
    "Grade",
    "Reasons",
    "RegionOutcome",
    "RegionShape",
    "RegionShapes",
    "Template",
    "places_of",
    "template",
]

_LARGEST = 60
"""Nodes of a template; regions are not larger."""

_TRIED = 1_000
"""Values looked at before it is known whether shapes repeat."""

_ONE_IN = 3
"""One in so many must."""

_DEEPEST = 12
"""Values down to there; in derivatives of max there are six."""


class RegionShape(NamedTuple):
    """How a value is built up: a number for the way, and the arrays it is built from, in order.

    An array counts with the operands of the operation that makes it: sin(x) may meet cos(x).
    """

    way: int
    leaves: tuple[Node, ...]


Grade: TypeAlias = Literal["rounding", "domain"]
"""Of a region: "domain" where it rests on leave to cancel."""

Ref: TypeAlias = int | Node
"""A step or a leaf by number (leaves are -1, -2, ...), or a constant."""


class Template(NamedTuple):
    """A spelling over leaves: operations in order, each on leaves, constants and earlier steps."""

    steps: tuple[tuple[Op, Params, tuple[Ref, ...]], ...]
    result: Ref

    def over(self, leaves: Sequence[Node]) -> Node:
        """The spelling, written over these."""
        made: list[Node] = []

        def found(ref: Ref) -> Node:
            if isinstance(ref, Node):
                return ref
            return leaves[-1 - ref] if ref < 0 else made[ref]

        for op, params, refs in self.steps:
            made.append(make(op, [found(ref) for ref in refs], params))
        return found(self.result)


class Reasons(NamedTuple):
    """Why a spelling is the value: the identities, and "domain" where they rest on leave."""

    identities: tuple[str, ...]
    grade: Grade


class RegionOutcome(NamedTuple):
    """What was done with the first region of a shape.

    Parameters
    ----------
    closed : bool
        Whether its consumers see it as one array.
    held : tuple of int
        Leaves that any spelling needs.
    saved : Price, optional
        What it cost as it was, where it was looked at as the end of a region.
    instead : Template, optional
        The spelling that took its place.
    known_by : tuple of int
        The leaf by which what is remembered of it is found, where something is.
    split : bool
        Whether its parts are to be written each for itself.
    reasons : Reasons, optional
        Why the spelling is the value, where one took its place.
    """

    closed: bool
    held: tuple[int, ...]
    saved: Price | None
    instead: Template | None
    known_by: tuple[int, ...]
    split: bool = False
    reasons: Reasons | None = None


class RegionShapes:
    """The shapes of values.

    Parameters
    ----------
    knowledge : Knowledge
    """

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self.met = 0
        self.repeated = 0
        self._outcomes: dict[int, RegionOutcome] = {}
        self._ways: dict[Any, int] = {}
        self._shapes: dict[Node, RegionShape | None] = {}
        self._arrays: dict[Node, RegionShape | None] = {}

    @property
    def pays(self) -> bool:
        """Whether so many regions repeat one another that it is worth while to look."""
        return self.met < _TRIED or self.repeated * _ONE_IN > self.met

    def of(self, node: Node, arrays: Sequence[Node | None], about: Any) -> RegionShape | None:
        """The shape of a node; None if it is looked at by itself.

        Parameters
        ----------
        node : Node
        arrays : sequence of Node or None
            For each operand the array it is seen as; None if it is part of the region.
        about : hashable
            What of the node's surroundings decides what is done with it.
        """
        found = self._shapes[node] = self._of(node, arrays, about)
        self.met += 1
        return found

    def outcome(self, shape: RegionShape) -> RegionOutcome | None:
        """What was done with the first region of the shape."""
        found = self._outcomes.get(shape.way)
        self.repeated += found is not None
        return found

    def keep(self, shape: RegionShape, outcome: RegionOutcome) -> None:
        """Remember what was done with a region, if it is the first of its shape."""
        self._outcomes.setdefault(shape.way, outcome)

    def _of(self, node: Node, arrays: Sequence[Node | None], about: Any) -> RegionShape | None:
        if node.op in SEEN_WHOLE:
            return None
        ways: list[int] = []
        leaves: dict[Node, int] = {}
        pattern: list[int] = []
        for operand, array in zip(node.operands, arrays, strict=True):
            shape = self._shapes.get(operand) if array is None else self.array(array)
            if shape is None:
                return None
            ways.append(shape.way)
            for leaf in shape.leaves:
                pattern.append(leaves.setdefault(leaf, len(leaves)))
        params = params_key(node.params) if node.params else ()
        key = (node.op, params, node.aval, about, *ways, *pattern)
        return RegionShape(self._way(key), tuple(leaves))

    def array(self, node: Node) -> RegionShape | None:
        """The shape of an array below regions."""
        if node not in self._arrays:
            self._arrays[node] = self._array(node)
        return self._arrays[node]

    def _array(self, node: Node) -> RegionShape | None:
        if len(node.results) > 1 or node.op is embed.op:
            return None
        if node.is_constant:
            return RegionShape(self._way(node), ())
        parts = _parts(node)
        if parts is None:
            return None
        known = [self.knowledge.of(each) for each in (node, *node.operands)]
        facts = [(frozenset(each.facts), *each.bounds) for each in known]
        params = () if _is_alike(node) else params_key(node.params)
        key = (node.op, params, node.aval, node.copy, *facts)
        leaves = dict.fromkeys(part for each in parts for part in (each, *each.operands))
        below = [(each.op, params_key(each.params), each.aval) for each in parts[1:]]
        places = {leaf: place for place, leaf in enumerate(leaves)}
        pattern = [tuple([places[part] for part in (each, *each.operands)]) for each in parts]
        return RegionShape(self._way((*key, *below, *pattern)), tuple(leaves))

    def _way(self, key: Any) -> int:
        return self._ways.setdefault(key, len(self._ways))


def _is_alike(node: Node) -> bool:
    """Whether params say where an array comes from, which nothing is concluded from."""
    return node.is_input or node.op is getitem.op


def _marks_ties(node: Node) -> bool:
    """Whether it is part of what marks the largest elements of an array, as a cast does.

    The cast is told apart down to that array.
    """
    if node.op in (cast.op, broadcast_to.op, reshape.op) or is_equality(node):
        return True
    return is_extremum(node, elementwise=False)


def _parts(node: Node) -> list[Node] | None:
    """The values whose operations tell an array from others; None if they are many."""
    parts = dict.fromkeys([node])
    stack = [node] if node.op is cast.op else []
    while stack:
        for each in stack.pop().operands:
            if _marks_ties(each) and each not in parts:
                parts[each] = None
                stack.append(each)
        if len(parts) > _DEEPEST:
            return None
    return list(parts)


def places_of(nodes: Sequence[Node], leaves: Sequence[Node]) -> tuple[int, ...] | None:
    """Where nodes stand among the leaves; None if one does not."""
    places = {leaf: place for place, leaf in enumerate(leaves)}
    found = [places.get(node) for node in nodes]
    return None if None in found else tuple([each for each in found if each is not None])


def template(node: Node, leaves: Sequence[Node]) -> Template | None:
    """A value as a spelling over leaves; None if it is computed from anything else."""
    refs: dict[Node, Ref] = {leaf: -1 - place for place, leaf in enumerate(leaves)}
    steps: list[tuple[Op, Params, tuple[Ref, ...]]] = []
    stack = [node]
    while stack:
        top = stack[-1]
        missing = [] if top in refs else [each for each in top.operands if each not in refs]
        if missing:
            stack.extend(missing)
            if len(stack) + len(steps) > _LARGEST:
                return None
            continue
        stack.pop()
        if top in refs:
            continue
        if top.is_input or top.copy or len(top.results) > 1:
            return None
        if top.is_constant:
            refs[top] = top
            continue
        refs[top] = len(steps)
        steps.append((top.op, top.params, _refs_of(top, refs)))
    return Template(tuple(steps), refs[node])


def _refs_of(node: Node, refs: Mapping[Node, Ref]) -> tuple[Ref, ...]:
    return tuple([refs[each] for each in node.operands])
