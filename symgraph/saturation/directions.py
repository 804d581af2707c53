"""The rules that saturation uses: those of the packs, also backwards where this is sound."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ..rewriting.pattern import Opaque, OpPattern, Pattern, Variable, subterms, variables_of
from ..rewriting.rule import Rule

__all__ = ["backwards", "shrinks", "with_directions"]


def size_of(pattern: Pattern) -> int:
    """The number of operations and numbers in the pattern."""
    return sum(not isinstance(part, Variable) for part in subterms(pattern))


def shrinks(rule: Rule) -> bool:
    """Whether the right side is shorter than the left."""
    return size_of(rule.rhs) < size_of(rule.lhs)


def backwards(rule: Rule) -> Rule | None:
    """The rule from right to left; None where that is unsound, cannot match, or makes terms grow.

    A rule that is equal bit for bit may be read both ways. A rule of a weaker grade may gain
    digits, range or numbers, which it would lose backwards. Equalities that are sound in both
    directions all the same are written twice, in `axioms`. A right side that is not an operation,
    or that only a call can build, cannot be matched.
    """
    left, right = rule.lhs, rule.rhs
    names = {each.name for each in (*rule.variables, *rule.statics)}
    if (
        rule.sound != "exact"
        or rule.stable
        or not isinstance(right, OpPattern)
        or any(isinstance(part, Opaque) for part in subterms(right))
        or not names <= variables_of(right)
        or size_of(left) > size_of(right)
    ):
        return None
    return replace(
        rule,
        name=f"{rule.name}_backwards",
        function=_flipped(rule.function),
        statement=replace(rule.stated, lhs=right, rhs=left),
        measure="",
        priority=0,
        shipped=None,
    )


def _flipped(function: Callable[..., Any]) -> Callable[..., Any]:
    def flipped(**values: object) -> tuple[Any, Any]:
        left, right = function(**values)
        return right, left

    return flipped


def with_directions(rules: Iterable[Rule]) -> list[Rule]:
    """The rules and their reverses; those that shorten come first."""
    forward = list(rules)
    reverses = [found for rule in forward if (found := backwards(rule)) is not None]
    return sorted([*forward, *reverses], key=lambda rule: not shrinks(rule))
