"""Sums of values behind masks, as choices.

The gradient of a choice is a sum: the cotangent of each branch stands behind its mask, with zeros
elsewhere. Where conditions are nested, as in `np.select`, masks are made of several of them, and
their terms need not be neighbours, so no rule for two terms sees that one of them holds at a time.
The pass gathers the terms of a sum, finds what each of them gives for each outcome of the
conditions, and writes the sum as choices by one condition each, if that takes fewer operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from ..array import Array, constant
from ..ir.node import Node, on_operands, origin
from ..ir.traits import Arrangement
from ..ir.walks import reachable, users_of
from ..ops.choice import where
from ..ops.comparison import bitwise_and, bitwise_or, invert, logical_and, logical_not, logical_or
from ..ops.creation import zeros
from ..ops.elementwise import add, negative, subtract
from ..ops.movement import broadcast_to
from ..rewriting.guards import uniform_value

__all__ = ["with_choices_joined"]

_SIGNS = {add.op: (1, 1), subtract.op: (1, -1), negative.op: (-1,)}
_NOT = (logical_not.op, invert.op)
_AND = (logical_and.op, bitwise_and.op)
_OR = (logical_or.op, bitwise_or.op)
_MOST_CONDITIONS = 6
"""With more conditions a sum stays as it is: there are two to their number of outcomes."""
_MOST_TERMS = 64
"""With more values behind masks a sum stays as it is."""

Outcomes: TypeAlias = int
"""A set of outcomes of all conditions, with a bit for each outcome."""

Signed: TypeAlias = tuple[Node, int]
"""A value, and 1 or -1."""


def with_choices_joined(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with such sums as choices, where that takes fewer operations.

    Parameters
    ----------
    outputs : sequence of Node
    """
    nodes = reachable(outputs)
    if not any(node.op is where.op for node in nodes):
        return list(outputs)
    users = users_of(nodes, outputs)
    instead: dict[Node, Node] = {}
    for node in nodes:
        operands = tuple([instead.get(each, each) for each in node.operands])
        instead[node] = on_operands(node, operands)
        if (_is_sum(node) or _is_choice(node)) and not _is_inside(node, users):
            found = _Sum(node, users).joined()
            if found is not None:
                with origin(node.origin):
                    instead[node] = _written(found, node, instead)
    return [instead[output] for output in outputs]


_Users: TypeAlias = Mapping[Node, Sequence[Node | None]]
"""The users of each value, and None for each time that it is an output."""


def _is_sum(node: Node) -> bool:
    return node.op in _SIGNS and not node.copy and node.dtype.kind == "f"


def _is_term(node: Node, users: _Users) -> bool:
    """Whether a sum has no other use than as a term of a sum of its shape."""
    above = users[node][0]
    return len(users[node]) == 1 and above is not None and _is_sum(above) and _alike(above, node)


def _is_choice(node: Node) -> bool:
    return node.op is where.op and not node.copy and node.dtype.kind == "f"


def _is_inside(node: Node, users: _Users) -> bool:
    """Whether a sum or choice has no other use than in a sum or choice of its shape."""
    if _is_term(node, users):
        return True
    above = users[node][0]
    inside = len(users[node]) == 1 and above is not None and _is_choice(above)
    return inside and _is_choice(node) and above is not None and _alike(above, node)


def _unrepeated(node: Node) -> Node:
    """The operand of a broadcast: a choice repeats it by itself."""
    while node.op.traits.arrangement is Arrangement.REPEATED and not node.copy:
        node = node.operands[0]
    return node


def _alike(one: Node, other: Node) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype


# -- the terms of a sum, for each outcome of the conditions ----------------------------------------
@dataclass(frozen=True)
class _Branch:
    """A term of a sum: a value with a sign, and the outcomes for which it is not 0."""

    value: Node
    sign: int
    held: Outcomes


class _Conditions:
    """The conditions of which masks are made, and the outcomes for which each mask holds."""

    def __init__(self, masks: Sequence[Node]) -> None:
        self.found: dict[Node, int] = {}
        self._held: dict[Node, Outcomes] = {}
        made: dict[Node, None] = {}
        stack = list(masks[::-1])
        while stack and self.are_few:
            node = stack.pop()
            if not _is_of_masks(node):
                self.found.setdefault(node, len(self.found))
            elif node not in made:
                made[node] = None
                stack.extend(node.operands[::-1])
        if self.are_few:
            self._hold(list(made))

    @property
    def are_few(self) -> bool:
        return len(self.found) <= _MOST_CONDITIONS

    @property
    def all(self) -> Outcomes:
        return (1 << (1 << len(self.found))) - 1

    def held(self, mask: Node) -> Outcomes:
        """The outcomes for which a mask holds."""
        return self._held[mask]

    def _hold(self, stack: list[Node]) -> None:
        """Find the outcomes of each mask; those of a condition have its bit set."""
        for node, place in self.found.items():
            outcomes = range(1 << len(self.found))
            self._held[node] = sum([1 << each for each in outcomes if each >> place & 1])
        while stack:
            node = stack[-1]
            missing = [each for each in node.operands if each not in self._held]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            parts = [self._held[each] for each in node.operands]
            if node.op in _NOT:
                self._held[node] = self.all & ~parts[0]
            else:
                both = parts[0] & parts[1], parts[0] | parts[1]
                self._held[node] = both[0 if node.op in _AND else 1]


def _is_of_masks(node: Node) -> bool:
    made = node.op in (*_NOT, *_AND, *_OR) and not node.copy
    return made and all(each.dtype.kind == "b" for each in node.operands)


@dataclass(frozen=True)
class _Tree:
    """A choice by one condition between two others; without a condition a sum of terms."""

    cost: int
    terms: tuple[Signed, ...] = ()
    condition: Node | None = None
    branches: tuple[_Tree, ...] = ()


def _cheapest(branches: Sequence[_Branch], conditions: _Conditions) -> _Tree:
    """The choices with the fewest operations that give the sum of the branches."""
    held = {node: conditions.held(node) for node in conditions.found}
    found: dict[Outcomes, _Tree] = {}

    def tree(outcomes: Outcomes) -> _Tree:
        if outcomes not in found:
            found[outcomes] = split(outcomes)
        return found[outcomes]

    def split(outcomes: Outcomes) -> _Tree:
        active = [each for each in branches if each.held & outcomes]
        if not any(outcomes & ~each.held for each in active):
            terms = tuple([(each.value, each.sign) for each in active])
            return _Tree(_cost_of_sum(terms), terms)
        options: list[_Tree] = []
        for condition, holding in held.items():
            parts = outcomes & holding, outcomes & ~holding
            if all(parts):
                yes, no = map(tree, parts)
                options.append(_Tree(1 + yes.cost + no.cost, (), condition, (yes, no)))
        return min(options, key=lambda each: each.cost)

    return tree(conditions.all)


def _cost_of_sum(terms: Sequence[Signed]) -> int:
    """Additions, and a negation if all terms are negative; of numbers nothing is left to do."""
    if all(uniform_value(node) is not None for node, _ in terms):
        return 0
    return max(0, len(terms) - 1) + (bool(terms) and all(sign < 0 for _, sign in terms))


class _Sum:
    """A sum of several terms, some of them behind masks."""

    def __init__(self, top: Node, users: _Users) -> None:
        self._top, self._users = top, users
        self._inside: set[Node] = {top}
        self._masked: list[Signed] = []
        self._beside: list[Signed] = []
        stack = [(top, 1)]
        while stack:
            node, sign = stack.pop()
            if _is_sum(node) and (node is top or _is_term(node, users)):
                self._inside.add(node)
                signs = _SIGNS[node.op][::-1]
                stack.extend(
                    [(x, sign * own) for x, own in zip(node.operands[::-1], signs, strict=True)]
                )
            else:
                masked = _is_choice(node) and _alike(node, top)
                (self._masked if masked else self._beside).append((node, sign))

    def joined(self) -> tuple[_Tree, int, list[Signed]] | None:
        """The choices that the terms behind masks are, a sign for all of it, and other terms."""
        if len(self._masked) < 2 and not _is_choice(self._top):
            return None
        paths = list(islice(self._paths(), _MOST_TERMS + 1))
        if len(paths) > _MOST_TERMS:
            return None
        conditions = _Conditions([mask for path, _, _ in paths for mask, _ in path])
        if not conditions.are_few:
            return None
        options: list[tuple[int, _Tree, int]] = []
        for side in (1, -1):
            branches: list[_Branch] = []
            for path, value, sign in paths:
                held = conditions.all
                for mask, holds in path:
                    own = conditions.held(mask)
                    held &= own if holds else ~own
                branches.append(_Branch(value, sign * side, held))
            tree = _cheapest(branches, conditions)
            cost = tree.cost + len(self._beside)
            cost += all(sign < 0 for sign in (side, *[own for _, own in self._beside]))
            options.append((cost, tree, side))
        cost, tree, side = min(options, key=lambda each: each[0])
        kept = {value for _, value, _ in paths}
        return (tree, side, self._beside) if cost < self._cost(kept) else None

    def _paths(self) -> Iterator[tuple[list[tuple[Node, bool]], Node, int]]:
        """Each value at the end of choices, with the masks above it and whether they hold."""
        stack: list[tuple[list[tuple[Node, bool]], Node, int]] = [
            ([], node, sign) for node, sign in self._masked[::-1]
        ]
        while stack:
            path, node, sign = stack.pop()
            single = _is_choice(node) and _alike(node, self._top) and len(self._users[node]) == 1
            if not path or single:
                self._inside.add(node)
                mask, x, y = node.operands
                stack.append(([*path, (mask, False)], y, sign))
                stack.append(([*path, (mask, True)], x, sign))
            elif uniform_value(node) != 0:
                yield path, _unrepeated(node), sign

    def _cost(self, kept: set[Node]) -> int:
        """Operations that nothing else needs: those of the sum, its choices and its masks."""
        gone, stack = {self._top}, [self._top]
        while stack:
            for node in stack.pop().operands:
                ours = (node in self._inside or _is_of_masks(node)) and node not in kept
                if ours and node not in gone and all(user in gone for user in self._users[node]):
                    gone.add(node)
                    stack.append(node)
        return sum([node.op.count for node in gone])


# -- writing ---------------------------------------------------------------------------------------
def _written(
    found: tuple[_Tree, int, list[Signed]], top: Node, instead: Mapping[Node, Node]
) -> Node:
    tree, side, beside = found
    chosen = _choices(tree, top, instead)
    terms = [(Array(instead[node]), sign) for node, sign in beside]
    whole = _total([(chosen, side), *terms])
    return (whole if whole.shape == top.shape else broadcast_to(whole, top.shape)).node


def _choices(tree: _Tree, top: Node, instead: Mapping[Node, Node]) -> Array:
    if tree.condition is not None:
        yes, no = [_choices(each, top, instead) for each in tree.branches]
        return where(Array(instead[tree.condition]), yes, no)
    if not tree.terms:
        return zeros((), top.dtype)
    numbers = [(uniform_value(node), sign) for node, sign in tree.terms]
    if all(number is not None for number, _ in numbers):
        return constant(sum([sign * number for number, sign in numbers]), top.dtype)
    return _total([(Array(instead[node]), sign) for node, sign in tree.terms])


def _total(terms: Sequence[tuple[Array, int]]) -> Array:
    """The sum of terms with signs, starting with one that is positive."""
    ordered = sorted(terms, key=lambda each: -each[1])
    whole, sign = ordered[0]
    for each, own in ordered[1:]:
        whole = add(whole, each) if own == sign else subtract(whole, each)
    return whole if sign > 0 else negative(whole)
