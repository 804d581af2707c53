"""The outcomes of the conditions of which masks are made, and which of them can be.

Comparisons of one pair of values, or of one value with numbers, are not independent: of x > y and
x == y one holds at most, and where x < 1 holds, x < 2 does. NaN is an outcome, too: there no
comparison holds. Only in the slopes of maximum and minimum it is none, for there the value is NaN,
and no slope is promised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ..ir.node import Node
from ..ir.traits import Comparison
from ..ops.comparison import bitwise_and, bitwise_or, invert, logical_and, logical_not, logical_or
from ..rewriting.guards import uniform_value

__all__ = ["Conditions", "Outcomes", "is_of_extremum", "is_of_masks"]

_NOT = (logical_not.op, invert.op)
_AND = (logical_and.op, bitwise_and.op)
_OR = (logical_or.op, bitwise_or.op)
_MOST_CONDITIONS = 6
"""With more conditions a sum stays as it is: there are two to their number of outcomes."""

Outcomes: TypeAlias = int
"""A set of outcomes of all conditions, with a bit for each outcome."""


def is_of_masks(node: Node) -> bool:
    """Whether it is made of masks by and, or, not."""
    made = node.op in (*_NOT, *_AND, *_OR) and not node.copy
    return made and all(each.dtype.kind == "b" for each in node.operands)


class Conditions:
    """The conditions of which masks are made, and the outcomes for which each mask holds.

    Parameters
    ----------
    masks : sequence of Node
    """

    def __init__(self, masks: Sequence[Node]) -> None:
        self.found: dict[Node, int] = {}
        self._held: dict[Node, Outcomes] = {}
        made: dict[Node, None] = {}
        stack = list(masks[::-1])
        while stack and self.are_few:
            node = stack.pop()
            if not is_of_masks(node):
                self.found.setdefault(node, len(self.found))
            elif node not in made:
                made[node] = None
                stack.extend(node.operands[::-1])
        self.made: Sequence[Node] = sorted(made, key=lambda each: each.serial)
        """The masks that are made of conditions, operands first."""
        if self.are_few:
            self._hold(list(made))
            self.possible = self._possible()

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

    def _possible(self) -> Outcomes:
        """The outcomes that can be."""
        groups: dict[tuple[Node, ...], list[tuple[Node, _Relation]]] = {}
        for node in self.found:
            related = _related(node)
            if related is not None:
                groups.setdefault(related[0], []).append((node, related[1]))
        found = self.all
        for group in groups.values():
            if len(group) > 1:
                found &= self._possible_together(group)
        return found

    def _possible_together(self, group: Sequence[tuple[Node, _Relation]]) -> Outcomes:
        """The outcomes that can be, of comparisons of the same values."""
        bounds = sorted({relation.bound for _, relation in group})
        found = 0
        nothing = () if all(is_of_extremum(node) for node, _ in group) else (None,)
        for place in (*nothing, *range(2 * len(bounds) + 1)):  # None is NaN.
            outcomes = self.all
            for node, (comparison, bound) in group:
                at = 2 * bounds.index(bound) + 1
                holds = place is not None and _holds(comparison, place - at)
                own = self._held[node]
                outcomes &= own if holds else ~own
            found |= outcomes
        return found


class _Relation(NamedTuple):
    """A comparison with a bound, which is 0 for the difference of two values."""

    comparison: Comparison
    bound: float = 0.0


def _related(node: Node) -> tuple[tuple[Node, ...], _Relation] | None:
    """The values that a condition compares, and how; None if it is no comparison."""
    comparison = node.op.traits.comparison
    if comparison is None or node.copy:
        return None
    x, y = node.operands
    for value, other, side in ((x, y, 1), (y, x, -1)):
        number = uniform_value(other) if value.dtype.kind == "f" else None
        if number is not None:
            bound = float(number)
            turned = Comparison(side * comparison.side, comparison.ties)
            return None if np.isnan(bound) else ((value,), _Relation(turned, bound))
    side = 1 if x.serial <= y.serial else -1
    pair = (x, y)[::side]
    return pair, _Relation(Comparison(side * comparison.side, comparison.ties))


def is_of_extremum(node: Node) -> bool:
    """Whether it tells which of two values is the larger one, for the slope of that."""
    forward = None if node.origin.shared else node.origin.adjoint_of
    return forward is not None and forward.op.traits.elementwise and forward.op.traits.extremum != 0


def _holds(comparison: Comparison, away: int) -> bool:
    """Whether a comparison holds where the first value is so far above the second one."""
    return comparison.ties if away == 0 else comparison.side * away > 0
