"""The structure of regions, and templates of spellings, so that repeated regions are written once.

Each layer of a network has the same few regions. Three things decide how the algebra writes a
region: the operations that build it from the arrays below, the facts about these arrays, and which
values inside it have other users. Regions that agree in all three have one *structure*, whatever
their arrays. The first region of a structure is written with full effort, and its spelling is kept
as a template. The others fill in the template, if that is as much of a gain as it was there.
"""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections.abc import Container, Hashable, Mapping, Sequence
from math import inf
from typing import Literal, NamedTuple, TypeAlias

from ...ir.fact_inference import Knowledge, Known
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
    "RegionStructure",
    "RegionStructures",
    "Template",
    "places_of",
    "template",
]

_LARGEST = 60
"""Nodes of a template; regions are not larger."""

_TRIED = 1_000
"""The number of values to look at before judging whether structures repeat."""

_ONE_IN = 3
"""At least one in this many must repeat an earlier one."""

_DEEPEST = 12
"""The most values that describe an array; a derivative of max has six."""


_MARKS = (-inf, -1.0, 0.0, 1.0, inf)
"""The numbers beside which bounds are placed, to tell arrays apart."""


class RegionStructure(NamedTuple):
    """How a value is built: the number of its structure, and the arrays it is built from, in order.

    An array comes with the operands of its operation, because sin(x) may meet cos(x).
    """

    number: int
    leaves: tuple[Node, ...]


Bounds: TypeAlias = tuple[float, float]
"""The smallest and the largest number that an element may be."""

Grade: TypeAlias = Literal["rounding", "domain"]
"""The grade of a region: "domain" if it depends on the licence to cancel."""

Ref: TypeAlias = int | Node
"""A step or a leaf by number (leaves are -1, -2, ...), or a constant."""


class Template(NamedTuple):
    """A spelling over leaves: operations in order, each on leaves, constants and earlier steps."""

    steps: tuple[tuple[Op, Params, tuple[Ref, ...]], ...]
    result: Ref

    def over(self, leaves: Sequence[Node]) -> Node:
        """The spelling over these leaves."""
        made: list[Node] = []

        def found(ref: Ref) -> Node:
            if isinstance(ref, Node):
                return ref
            return leaves[-1 - ref] if ref < 0 else made[ref]

        for op, params, refs in self.steps:
            made.append(make(op, [found(ref) for ref in refs], params))
        return found(self.result)


class Reasons(NamedTuple):
    """Why a spelling equals the value: the identities, and the grade of their licence."""

    identities: tuple[str, ...]
    grade: Grade


class RegionOutcome(NamedTuple):
    """The result of the first region of a structure.

    Parameters
    ----------
    closed : bool
        Whether its users see it as one array.
    needed : tuple of int
        The leaves that any spelling needs.
    price : Price, optional
        The price of its old spelling, if it was looked at as the end of a region.
    spelling : Template, optional
        The new spelling, if there is one.
    learned_at : tuple of int
        The leaf under which its expression is learned, if it is.
    split : bool
        Whether each value inside it is to be written by itself.
    reasons : Reasons, optional
        Why the new spelling equals the old one.
    bounds : tuple of Bounds
        The bounds of the leaves, if there is a new spelling.
    """

    closed: bool
    needed: tuple[int, ...]
    price: Price | None
    spelling: Template | None
    learned_at: tuple[int, ...]
    split: bool = False
    reasons: Reasons | None = None
    bounds: tuple[Bounds, ...] = ()

    def holds_within(self, bounds: Sequence[Bounds]) -> bool:
        """Whether the outcome is right for leaves with these bounds.

        A spelling may rest on bounds, so it is right where they are as tight. A region that was
        left as it is was right in any case.
        """
        pairs = zip(bounds, self.bounds, strict=True)
        return self.spelling is None or all(
            new[0] >= old[0] and new[1] <= old[1] for new, old in pairs
        )


class RegionStructures:
    """The structures of values, and the outcome of the first region of each.

    Parameters
    ----------
    knowledge : Knowledge
        Facts about the arrays below regions.
    """

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self.met = 0
        self.repeated = 0
        self._outcomes: dict[int, RegionOutcome] = {}
        self._numbers: dict[Hashable, int] = {}
        self._structures: dict[Node, RegionStructure | None] = {}
        self._arrays: dict[Node, RegionStructure | None] = {}

    @property
    def pays(self) -> bool:
        """Whether enough regions repeat one another to make the search worth it."""
        return self.met < _TRIED or self.repeated * _ONE_IN > self.met

    def of(
        self, node: Node, arrays: Sequence[Node | None], about: Hashable
    ) -> RegionStructure | None:
        """The structure of a node; None if it is looked at by itself.

        Parameters
        ----------
        node : Node
        arrays : sequence of Node or None
            For each operand the array it stands for; None if it is part of the region.
        about : hashable
            Facts about the users of the node that decide what is done with it.
        """
        found = self._structures[node] = self._of(node, arrays, about)
        self.met += 1
        return found

    def outcome(self, structure: RegionStructure) -> RegionOutcome | None:
        """The outcome of the first region of the structure; None if there was none."""
        found = self._outcomes.get(structure.number)
        if found is not None and found.spelling is not None:  # Else it holds within any bounds.
            found = found if found.holds_within(self.bounds_of(structure)) else None
        self.repeated += found is not None
        return found

    def wants(self, structure: RegionStructure) -> bool:
        """Whether no outcome is known that holds for a region of this structure."""
        known = self._outcomes.get(structure.number)
        if known is None or known.spelling is None:
            return known is None
        return not known.holds_within(self.bounds_of(structure))

    def keep(self, structure: RegionStructure, outcome: RegionOutcome) -> None:
        """Keep the outcome of a region."""
        self._outcomes[structure.number] = outcome

    def bounds_of(self, structure: RegionStructure) -> tuple[Bounds, ...]:
        """The bounds of the leaves of a structure."""
        return tuple([self.knowledge.of(leaf).bounds for leaf in structure.leaves])

    def _of(
        self, node: Node, arrays: Sequence[Node | None], about: Hashable
    ) -> RegionStructure | None:
        if node.op in SEEN_WHOLE:
            return None
        numbers: list[int] = []
        leaves: dict[Node, int] = {}
        pattern: list[int] = []
        for operand, array in zip(node.operands, arrays, strict=True):
            structure = self._structures.get(operand) if array is None else self.array(array)
            if structure is None:
                return None
            numbers.append(structure.number)
            for leaf in structure.leaves:
                pattern.append(leaves.setdefault(leaf, len(leaves)))
        params = params_key(node.params) if node.params else ()
        key = (node.op, params, node.aval, about, *numbers, *pattern)
        return RegionStructure(self._number(key), tuple(leaves))

    def array(self, node: Node) -> RegionStructure | None:
        """The structure of an array below regions."""
        if node not in self._arrays:
            self._arrays[node] = self._array(node)
        return self._arrays[node]

    def _array(self, node: Node) -> RegionStructure | None:
        if len(node.results) > 1 or node.op is embed.op:
            return None
        if node.is_constant:
            return RegionStructure(self._number(node), ())
        parts = _parts(node)
        if parts is None:
            return None
        known = [self.knowledge.of(each) for each in (node, *node.operands)]
        facts = [_kind(each) for each in known]
        params = () if _is_alike(node) else params_key(node.params)
        key = (node.op, params, node.aval, node.copy, *facts)
        leaves = dict.fromkeys(part for each in parts for part in (each, *each.operands))
        below = [(each.op, params_key(each.params), each.aval) for each in parts[1:]]
        places = {leaf: place for place, leaf in enumerate(leaves)}
        pattern = [tuple([places[part] for part in (each, *each.operands)]) for each in parts]
        return RegionStructure(self._number((*key, *below, *pattern)), tuple(leaves))

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


def _kind(known: Known) -> Hashable:
    """The facts of an array. Of its bounds only their place beside -1, 0 and 1.

    The bounds of a state grow with each step of a loop, and its steps are alike all the same.
    """
    facts = frozenset([fact for fact in known.facts if fact.name != "interval"])
    return facts, *[bisect_left(_MARKS, bound) + bisect(_MARKS, bound) for bound in known.bounds]


def _is_alike(node: Node) -> bool:
    """Whether the params only say where the array comes from, so that nothing follows from them."""
    return node.is_input or node.op is getitem.op


def _marks_ties(node: Node) -> bool:
    """Whether it is a step from an array to the marks of its largest elements.

    A cast of such marks is described down to that array.
    """
    if node.op in (cast.op, broadcast_to.op, reshape.op) or is_equality(node):
        return True
    return is_extremum(node)


def _parts(node: Node) -> list[Node] | None:
    """The values that describe an array; None if there are too many."""
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
    """The places of nodes among the leaves; None if one is not a leaf."""
    if not nodes:
        return ()
    places = {leaf: place for place, leaf in enumerate(leaves)}
    found = [places.get(node) for node in nodes]
    return None if None in found else tuple([each for each in found if each is not None])


def template(node: Node, leaves: Sequence[Node], arrays: Container[Node]) -> Template | None:
    """The spelling of a value over leaves; None if it is computed from anything else.

    None, too, if it reads the operand x of an array f(x), and x can be computed from the arrays
    as well: in another region of the structure that may be another value.

    Parameters
    ----------
    node : Node
    leaves : sequence of Node
        The arrays below the region, and their operands.
    arrays : container of Node
        The arrays alone.
    """
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
    read = {ref for _, _, operands in steps for ref in operands} | {refs[node]}
    for place, leaf in enumerate(leaves):
        if -1 - place in read and leaf not in arrays and _is_made_of(leaf, arrays):
            return None
    return Template(tuple(steps), refs[node])


def _is_made_of(node: Node, arrays: Container[Node]) -> bool:
    """Whether a value is computed from these arrays and constants alone, in few steps."""
    stack, seen = [node], {node}
    while stack and len(seen) <= _LARGEST:
        for each in stack.pop().operands:
            if each in seen or each.is_constant or each in arrays:
                continue
            if not each.operands:
                return False
            seen.add(each)
            stack.append(each)
    return len(seen) <= _LARGEST and bool(node.operands)


def _refs_of(node: Node, refs: Mapping[Node, Ref]) -> tuple[Ref, ...]:
    return tuple([refs[each] for each in node.operands])
