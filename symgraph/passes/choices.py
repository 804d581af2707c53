"""Sums of values behind masks, as choices.

The gradient of a choice is a sum: the cotangent of each branch stands behind its mask, with zeros
elsewhere. Where conditions are nested, as in `np.select`, masks are made of several of them, and
their terms need not be neighbours, so no rule for two terms sees that one of them holds at a time.
The pass gathers the terms of a sum, finds what each of them gives for each outcome of the
conditions, and writes the sum as choices by one condition each, if that takes fewer operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import NamedTuple, TypeAlias

import numpy as np

from ..array import Array, constant
from ..ir.node import Node, on_operands, origin
from ..ir.traits import Arrangement
from ..ir.walks import reachable, users_of
from ..ops.choice import where
from ..ops.creation import zeros
from ..ops.elementwise import add, multiply, negative, subtract
from ..ops.movement import broadcast_to
from ..rewriting.guards import uniform_value
from .choice_trees import Branch, Term, Tree, cheapest
from .conditions import Conditions, Outcomes, is_of_extremum, is_of_masks

__all__ = ["with_choices_joined"]

_SIGNS = {add.op: (1, 1), subtract.op: (1, -1), negative.op: (-1,)}
_MOST_TERMS = 64
"""With more values behind masks a sum stays as it is."""

Signed: TypeAlias = tuple[Node, int]
"""A value, and 1 or -1."""

_Path: TypeAlias = tuple[list[tuple[Node, bool]], Term]
"""A term at the end of choices, and the masks above it with whether they hold."""


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
class _Found(NamedTuple):
    """Choices in place of a sum.

    Parameters
    ----------
    gain : int
        The operations that they add, less those that they save.
    tree : Tree
    by : float
        A number for all of it.
    beside : list
        The other terms.
    """

    gain: int
    tree: Tree
    by: float
    beside: list[Signed]


class _Sum:
    """A sum of several terms, some of them behind masks."""

    def __init__(self, top: Node, users: _Users) -> None:
        self._top, self._users = top, users
        self._sums: set[Node] = {top}
        self._inside: set[Node] = set()
        self._opens_factors = False
        self._masked: list[Signed] = []
        self._beside: list[Signed] = []
        stack = [(top, 1)]
        while stack:
            node, sign = stack.pop()
            if _is_sum(node) and (node is top or _is_term(node, users)):
                self._sums.add(node)
                signs = _SIGNS[node.op][::-1]
                stack.extend(
                    [(x, sign * own) for x, own in zip(node.operands[::-1], signs, strict=True)]
                )
            else:
                masked = _is_choice(node) and _alike(node, top)
                (self._masked if masked else self._beside).append((node, sign))
        self._tops = {node for node, _ in self._masked}

    def joined(self) -> _Found | None:
        """The choices that the terms behind masks are; None if they take no fewer operations."""
        options = self._options(self._few_paths())
        plain = set(self._inside)
        self._opens_factors = True
        masked = [each for each in self._beside if self._opened(each[0], Term(None, 1)) is not None]
        self._masked += masked
        self._beside = [each for each in self._beside if each not in masked]
        paths = self._few_paths()
        if self._inside != plain:
            options += self._options(paths)
        found = min(options, key=lambda each: each.gain, default=None)
        return found if found is not None and found.gain < 0 else None

    def _few_paths(self) -> list[_Path]:
        """The paths; none if there are too many, or nothing to be joined."""
        self._inside = {*self._sums}
        if len(self._masked) < 2 and not _is_choice(self._top):
            return []
        paths = list(islice(self._paths(), _MOST_TERMS + 1))
        return paths if len(paths) <= _MOST_TERMS else []

    def _options(self, paths: Sequence[_Path]) -> list[_Found]:
        """The choices by a number of masks, times a number that is taken out."""
        conditions = Conditions([mask for path, _ in paths for mask, _ in path])
        if not (paths and conditions.are_few):
            return []
        values = {term.value for _, term in paths if term.value is not None}
        held = [_held(path, conditions) for path, _ in paths]
        numbers = [abs(term.number) for _, term in paths if term.value is not None]
        scales = {1.0, *[each for each in (max(numbers, default=1.0),) if np.isfinite(each)]}
        offers = ([], conditions.made) if conditions.made else ([],)
        options: list[_Found] = []
        for scale, sign, made in product(sorted(scales), (1, -1), offers):
            branches = [
                Branch(Term(term.value, term.number * sign / scale), own)
                for (_, term), own in zip(paths, held, strict=True)
            ]
            tree = cheapest(branches, conditions, [*conditions.found, *made])
            cost = tree.cost + len(self._beside)
            signs = [1 if scale != 1 else sign, *[own for _, own in self._beside]]
            cost += (scale != 1) + all(each < 0 for each in signs)
            gain = cost - self._cost(values | tree.masks(), conditions)
            options.append(_Found(gain, tree, sign * scale, self._beside))
        return options

    def _paths(self) -> Iterator[_Path]:
        """Each term at the end of choices, with the masks above it and whether they hold."""
        stack: list[tuple[list[tuple[Node, bool]], Node, Term]] = [
            ([], node, Term(None, sign)) for node, sign in self._masked[::-1]
        ]
        while stack:
            path, node, beside = stack.pop()
            opened = self._opened(node, beside)
            if opened is not None:
                choice, beside = opened
                self._inside.add(choice)
                mask, x, y = choice.operands
                stack.append(([*path, (mask, False)], y, beside))
                stack.append(([*path, (mask, True)], x, beside))
                continue
            number = uniform_value(node)
            if number is None:
                yield path, Term(_unrepeated(node), beside.number)
            elif number != 0:
                yield path, Term(beside.value, beside.number * float(number))

    def _opened(self, node: Node, beside: Term) -> tuple[Node, Term] | None:
        """The choice that a value is, or has as a factor, and the other factor; or None.

        As a factor it must be one of numbers. What is multiplied by 0 may be NaN; but a 0 in the
        slope of maximum or minimum says that there is no path, and then 0 is right.
        """
        if not _alike(node, self._top):
            return None
        if _is_choice(node) and (node in self._tops or len(self._users[node]) == 1):
            return node, beside
        if not self._opens_factors:
            return None
        if _is_share(node):
            return node, beside
        if beside.value is not None:
            return None
        above, sign = [node], 1
        if node.op is negative.op:
            (node,), sign = node.operands, -1
            above.append(node)
        if node.op is not multiply.op:
            return None
        for choice, factor in (node.operands, node.operands[::-1]):
            if _alike(choice, self._top) and _is_share(choice):
                self._inside.update(above)
                return choice, Term(_unrepeated(factor), sign * beside.number)
        return None

    def _cost(self, kept: set[Node], conditions: Conditions) -> int:
        """Operations that nothing else needs: those of the sum, its choices and its masks."""
        gone, stack = {self._top}, [self._top]
        while stack:
            for node in stack.pop().operands:
                ours = node in self._inside or is_of_masks(node) or node in conditions.found
                free = ours and node not in kept and node not in gone
                if free and all(user in gone for user in self._users[node]):
                    gone.add(node)
                    stack.append(node)
        return sum([node.op.count for node in gone])


def _held(path: Sequence[tuple[Node, bool]], conditions: Conditions) -> Outcomes:
    """The possible outcomes for which each mask on a path holds, or fails."""
    held = conditions.possible
    for mask, holds in path:
        own = conditions.held(mask)
        held &= own if holds else ~own
    return held


_DEEP = 4


def _is_share(node: Node) -> bool:
    """Whether it is a choice of numbers; if one of them is 0, one in the slope of an extremum."""
    level = [node] if _is_choice(node) else []
    for _ in range(_DEEP):
        below: list[Node] = []
        for each in level:
            is_slope = is_of_extremum(each.operands[0])
            for branch in each.operands[1:]:
                number = uniform_value(branch)
                if number is None and _is_choice(branch) and _alike(branch, node):
                    below.append(branch)
                elif number is None or (number == 0 and not is_slope):
                    return False
        level = below
        if not level:
            return _is_choice(node)
    return False


# -- writing ---------------------------------------------------------------------------------------
def _written(found: _Found, top: Node, instead: Mapping[Node, Node]) -> Node:
    _, tree, by, beside = found
    chosen, sign = _choices(tree, top, instead), int(by)
    if abs(by) != 1:
        chosen, sign = multiply(chosen, constant(by, top.dtype)), 1
    terms = [(Array(instead[node]), sign) for node, sign in beside]
    whole = _total([(chosen, sign), *terms])
    return (whole if whole.shape == top.shape else broadcast_to(whole, top.shape)).node


def _choices(tree: Tree, top: Node, instead: Mapping[Node, Node]) -> Array:
    if tree.condition is not None:
        yes, no = [_choices(each, top, instead) for each in tree.branches]
        return where(Array(instead[tree.condition]), yes, no)
    if not tree.terms:
        return zeros((), top.dtype)
    if all(each.value is None for each in tree.terms):
        return constant(sum([each.number for each in tree.terms]), top.dtype)
    return _total([_signed(each, top, instead) for each in tree.terms])


def _signed(term: Term, top: Node, instead: Mapping[Node, Node]) -> tuple[Array, int]:
    """A term of a sum, and its sign."""
    if term.value is None:
        return constant(abs(term.number), top.dtype), 1 if term.number > 0 else -1
    value = Array(instead[term.value])
    if abs(term.number) == 1:
        return value, int(term.number)
    return multiply(value, constant(term.number, top.dtype)), 1


def _total(terms: Sequence[tuple[Array, int]]) -> Array:
    """The sum of terms with signs, starting with one that is positive."""
    ordered = sorted(terms, key=lambda each: -each[1])
    whole, sign = ordered[0]
    for each, own in ordered[1:]:
        whole = add(whole, each) if own == sign else subtract(whole, each)
    return whole if sign > 0 else negative(whole)
