"""Signs move: a negation goes where it costs no operation.

A sign is absorbed by a difference, which swaps its operands; by the argument of an odd function; by
the constant of a product; and by the branches of a choice. An even function ignores it. It turns an
addition into a subtraction. Between such places it travels along products, sums, and operations
that move elements. So any value may be computed as its negative. For each negation a search looks
for values to negate, so that this negation goes and no other is needed. Numbers stay as they are,
except for the sign of a zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum, auto
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from ..ir.node import Node, make, on_operands, origin
from ..ir.op import Op
from ..ir.value_names import carried
from ..ir.walks import reachable
from ..ops.elementwise import add, negative, subtract

__all__ = ["settled_signs", "takes_signs"]

_STEPS = 60
"""How many values are negated on trial for one negation."""
_IN_VAIN, _FEWEST_STEPS = 50, 15
"""After so many searches in a row without success the next take half of the steps, down to these.

In an unrolled loop each step has the same negations."""
_MOST_USERS = 8
"""A value with more users than these is left as it is."""


class _Kind(Enum):
    """The way in which the result's sign depends on the operands' signs."""

    SUM = auto()  # Two terms, each with a sign.
    PRODUCT = auto()  # Odd in each operand, so signs multiply.
    ALIKE = auto()  # All operands must have the same sign.
    EVEN = auto()  # It does not.


Negated: TypeAlias = frozenset[Node]
"""Values that are computed as their negatives."""


def settled_signs(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with as few negations as the search finds; linear in the graph."""
    current = list(outputs)
    while True:
        nodes = reachable(current)
        negations = [node for node in nodes if node.op is negative.op]
        if not negations:
            return current
        signs = _Signs(nodes, current)
        for node in negations:
            signs.remove_negation(node)
        if not signs.negated:
            return current
        # Once more: a negation that is new may go in its turn. Each round leaves fewer.
        current = _rebuilt(nodes, current, signs.negated)


def takes_signs(op: Op) -> bool:
    """Whether it is known how the operation depends on the signs of its operands."""
    return _roles_of(op, len(op.vjp) if isinstance(op.vjp, tuple) else 2) is not None


def _roles(node: Node) -> tuple[_Kind, tuple[int, ...]] | None:
    """How the result depends on signs, and of which operands; None where nothing is known."""
    if node.copy or len(node.results) > 1 or node.dtype.kind != "f":
        return None
    return _roles_of(node.op, len(node.operands))


@lru_cache(maxsize=1024)
def _roles_of(op: Op, count: int) -> tuple[_Kind, tuple[int, ...]] | None:
    traits = op.traits
    together = traits.linear_together(count)
    if together:
        two = traits.elementwise and together == (0, 1)
        return (_Kind.SUM if two else _Kind.ALIKE), together
    parity = [traits.parity_in(place, count) for place in range(count)]
    if parity and all(sign == 1 for sign in parity):
        return _Kind.EVEN, tuple(range(count))
    # A divisor is left out: where it is 0, its sign is that of an infinity.
    odd = [i for i, sign in enumerate(parity) if sign == -1 and i not in traits.signed_zero]
    return (_Kind.PRODUCT, tuple(odd)) if odd else None


class _Role:
    """How the result of one node depends on the signs of its operands.

    Attributes
    ----------
    kind : _Kind, optional
    slots : tuple of Node
        The operands whose signs matter to the result in this way.
    fixed : tuple of Node
        The operands that the node needs as they are.
    has_number : bool
        Whether a constant among `slots` can absorb any sign.
    carries_sign : bool
        Whether the sign of the result depends on the signs of operands.
    """

    __slots__ = ("carries_sign", "fixed", "has_number", "kind", "slots")

    def __init__(self, node: Node) -> None:
        roles = _roles(node)
        self.kind = None if roles is None else roles[0]
        places = () if roles is None else roles[1]
        self.slots = tuple([node.operands[place] for place in places])
        rest = [each for i, each in enumerate(node.operands) if i not in places]
        self.fixed = tuple(rest if roles is not None else dict.fromkeys(rest))
        self.has_number = any(each.is_constant for each in self.slots)
        self.carries_sign = self.kind not in (None, _Kind.EVEN)

    def missing(self, node: Node, negated: set[Node]) -> int:
        """How many negations are needed beside the operation, if these values are negated."""
        kind, own = self.kind, node in negated
        if kind is _Kind.EVEN:
            return own
        if kind is None:
            wrong = int(own)
        elif kind is _Kind.ALIKE:
            wrong = sum([(x in negated) != own for x in self.slots if not x.is_constant])
        elif self.has_number:
            wrong = 0
        elif kind is _Kind.SUM:
            wrong = int(all(_signs_of(node, negated)))
        else:
            minus = sum([each in negated for each in self.slots])
            wrong = (own + (node.op is negative.op) + minus) % 2
        return wrong + sum([each in negated for each in self.fixed]) if self.fixed else wrong


def _signs_of(node: Node, negated: set[Node]) -> tuple[bool, bool]:
    """For each of two terms whether it is subtracted."""
    x, y = node.operands
    own = node in negated
    return own != (x in negated), own != ((y in negated) != (node.op is subtract.op))


class _Roles(dict[Node, _Role]):
    """The role of each node that was asked for."""

    def __missing__(self, node: Node) -> _Role:
        found = self[node] = _Role(node)
        return found


class _Signs:
    """The values that are negated, so far."""

    def __init__(self, nodes: Sequence[Node], outputs: Sequence[Node]) -> None:
        self.outputs = frozenset(outputs)
        self.negated: set[Node] = set()
        self._counts: dict[Node, int] = {}
        self._roles = _Roles()
        self._mending: dict[Node, list[Node]] = {}
        """For an operation, the values to negate that may mend it."""
        self._steps, self._in_vain = _STEPS, 0
        self.users: dict[Node, list[Node]] = {node: [] for node in nodes}
        for node in nodes:
            for operand in dict.fromkeys(node.operands):
                self.users[operand].append(node)

    def remove_negation(self, node: Node) -> None:
        """Negate values so that a negation is not needed any more, if such values are found."""
        if not self._needed_negations(node):
            return
        for first in (node.operands[0], node):
            found = self._values_to_negate(first)
            if found is not None:
                self.negated ^= found
                self._counts.clear()
                self._steps, self._in_vain = _STEPS, 0
                return
        self._in_vain += 1
        if self._in_vain % _IN_VAIN == 0:
            self._steps = max(_FEWEST_STEPS, self._steps // 2)

    def _values_to_negate(self, first: Node) -> Negated | None:
        """Values to negate, `first` among them, so that fewer negations are needed.

        Best so that each of these goes; else so that more of them go than are new.
        """
        if not self._may_negate(first):
            return None
        steps, second_best = 0, None
        stack: list[tuple[Negated, dict[Node, int], Node]] = [(frozenset(), {}, first)]
        while stack and steps < self._steps:
            flips, changes, node = stack.pop()
            steps += 1
            flips |= {node}
            near = dict.fromkeys([node, *self.users[node]])
            changes = {each: by for each, by in changes.items() if each not in near}
            new = [pair for pair in self._changes(near, flips) if pair[1]]
            changes.update(new)
            bad = [each for each, by in changes.items() if by > 0]
            if sum(changes.values()) < 0:
                if not bad:
                    return flips
                second_best = second_best or flips
            # Of the others it was asked before these were flipped.
            if bad and all(self._roles[each].carries_sign for each, by in new if by > 0):
                choices = [x for x in self._candidates(bad[-1]) if x not in flips]
                stack.extend((flips, changes, x) for x in reversed(choices))
        return second_best

    def _needed_negations(self, node: Node) -> int:
        """The number of negations needed beside the operation."""
        found = self._counts.get(node)
        if found is None:
            found = self._counts[node] = self._roles[node].missing(node, self.negated)
        return found

    def _changes(self, nodes: Iterable[Node], flips: Negated) -> list[tuple[Node, int]]:
        """The number of further negations that each of these nodes needs after the flips."""
        before = [(node, self._needed_negations(node)) for node in nodes]
        # The set is changed and changed back, for in a large graph a copy would be large.
        self.negated ^= flips
        roles, negated = self._roles, self.negated
        found = [(node, roles[node].missing(node, negated) - needed) for node, needed in before]
        self.negated ^= flips
        return found

    def _candidates(self, node: Node) -> list[Node]:
        """The values to negate that may mend an operation: its operands, or its result."""
        found = self._mending.get(node)
        if found is None:
            places = dict.fromkeys([*self._roles[node].slots, node])
            found = self._mending[node] = [each for each in places if self._may_negate(each)]
        return found

    def _may_negate(self, node: Node) -> bool:
        free = node not in self.outputs and len(self.users[node]) <= _MOST_USERS
        return free and self._roles[node].carries_sign


# -- the graph with values negated -----------------------------------------------------------------
def _rebuilt(nodes: Sequence[Node], outputs: Sequence[Node], negated: set[Node]) -> list[Node]:
    now: dict[Node, Node] = {}
    for node in nodes:
        operands = [now[each] for each in node.operands]
        if node in negated or not negated.isdisjoint(node.operands):
            with origin(node.origin):
                now[node] = _remade(node, operands, negated)
            if node not in negated:
                carried(node, now[node])
        else:
            now[node] = on_operands(node, tuple(operands))
    return [now[output] for output in outputs]


def _remade(node: Node, operands: list[Node], negated: set[Node]) -> Node:
    """The node on its new operands, with the sign that they and the result ask for."""
    roles = _roles(node)
    kind, slots = (None, ()) if roles is None else roles
    for place, each in enumerate(node.operands):
        if place not in slots and each in negated:
            operands[place] = _negative(operands[place])
    own = node in negated
    if kind is _Kind.SUM:
        return _sum(node, operands, negated)
    if node.op is negative.op:
        alike = own == (node.operands[0] in negated)
        return make(node.op, tuple(operands)) if alike else operands[0]
    wrong = False
    if kind is _Kind.PRODUCT:
        wrong = (own + sum([node.operands[slot] in negated for slot in slots])) % 2 == 1
        constants = [slot for slot in slots if node.operands[slot].is_constant]
        if wrong and constants:
            operands[constants[0]], wrong = _opposite(operands[constants[0]]), False
    elif kind is _Kind.ALIKE:
        for slot in slots:
            if node.operands[slot].is_constant:
                operands[slot] = _opposite(operands[slot]) if own else operands[slot]
            elif (node.operands[slot] in negated) != own:
                operands[slot] = _negative(operands[slot])
    found = on_operands(node, tuple(operands), equal=wrong == own)
    return _negative(found) if wrong else found


def _sum(node: Node, operands: list[Node], negated: set[Node]) -> Node:
    """Two terms with their signs, in their order if possible."""
    minus = _signs_of(node, negated)
    if all(minus):
        place = 0 if operands[0].is_constant else 1
        if not operands[place].is_constant:
            return _negative(make(add.op, tuple(operands)))
        number, other = _opposite(operands[place]), operands[1 - place]
        return make(subtract.op, (number, other))
    if not any(minus):
        return make(add.op, tuple(operands))
    return make(subtract.op, tuple(operands[::-1] if minus[0] else operands))


def _negative(node: Node) -> Node:
    """The value with the other sign; that of a negation is its operand."""
    if node.op is negative.op and not node.copy:
        return node.operands[0]
    return _opposite(node) if node.is_constant else make(negative.op, (node,))


def _opposite(node: Node) -> Node:
    """The negative of a constant; zeros stay as they are."""
    value = node.params["value"]
    opposite = np.where(value == 0, value, -value).astype(value.dtype)
    opposite.flags.writeable = False
    return make(node.op, (), {"value": opposite})
