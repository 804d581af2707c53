"""Choices by masks that give a sum of terms for each outcome, with the fewest operations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..ir.node import Node
from ..records import record
from .conditions import Conditions, Outcomes

__all__ = ["Branch", "Term", "Tree", "cheapest"]


class Term(NamedTuple):
    """A value times a number; without a value it is a number."""

    value: Node | None
    number: float


@record
class Branch:
    """A term of a sum, and the outcomes for which it is not 0."""

    term: Term
    held: Outcomes


@record
class Tree:
    """A choice by one condition between two others; without a condition a sum of terms."""

    cost: int
    terms: tuple[Term, ...] = ()
    condition: Node | None = None
    branches: tuple[Tree, ...] = ()

    def masks(self) -> set[Node]:
        """The masks by which it chooses."""
        if self.condition is None:
            return set()
        return {self.condition}.union(*[each.masks() for each in self.branches])


def cheapest(branches: Sequence[Branch], conditions: Conditions, masks: Iterable[Node]) -> Tree:
    """The choices by these masks with the fewest operations that give the sum of the branches."""
    held = {node: conditions.held(node) for node in masks}
    sums = {
        1 << each: _gathered([branch.term for branch in branches if branch.held >> each & 1])
        for each in range(conditions.possible.bit_length())
        if conditions.possible >> each & 1
    }
    found: dict[Outcomes, Tree] = {}

    def tree(outcomes: Outcomes) -> Tree:
        if outcomes not in found:
            found[outcomes] = split(outcomes)
        return found[outcomes]

    def split(outcomes: Outcomes) -> Tree:
        different = {frozenset(terms): terms for each, terms in sums.items() if each & outcomes}
        if len(different) == 1:
            (terms,) = different.values()
            return Tree(_cost_of_sum(terms), terms)
        options: list[Tree] = []
        for mask, holding in held.items():
            parts = outcomes & holding, outcomes & ~holding
            if all(parts):
                yes, no = map(tree, parts)
                options.append(Tree(1 + yes.cost + no.cost, (), mask, (yes, no)))
        return min(options, key=lambda each: each.cost)

    return tree(conditions.possible)


def _gathered(terms: Sequence[Term]) -> tuple[Term, ...]:
    """The terms, those of one value added; what cancels stays, for it may be NaN."""
    found: dict[Node | None, list[float]] = {}
    for value, number in terms:
        found.setdefault(value, []).append(number)
    gathered: list[Term] = []
    for value, numbers in found.items():
        whole = sum(numbers)
        kept = [whole] if whole or value is None else numbers
        gathered.extend([Term(value, each) for each in kept])
    return tuple([each for each in gathered if each.number or each.value is not None])


def _cost_of_sum(terms: Sequence[Term]) -> int:
    """Products with numbers, additions, and a negation if all terms are negative.

    Of numbers nothing is left to do.
    """
    values = [each for each in terms if each.value is not None]
    if not values:
        return 0
    multiples = sum([abs(each.number) != 1 for each in values])
    return len(terms) - 1 + multiples + (len(values) == len(terms) and _are_negative(values))


def _are_negative(terms: Sequence[Term]) -> bool:
    return all(each.number == -1 for each in terms)
