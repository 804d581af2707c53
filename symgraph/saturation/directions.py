"""The rules that saturation uses: the packs' own, backwards too where that is sound and ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ..rewriting.pattern import Opaque, OpPattern, Pattern, Variable, subterms, variables_of
from ..rewriting.rule import Rule

__all__ = ["backwards", "shrinks", "with_directions"]


def size_of(pattern: Pattern) -> int:
    """Operations and numbers in the pattern."""
    return sum(not isinstance(part, Variable) for part in subterms(pattern))


def shrinks(rule: Rule) -> bool:
    """Whether the right side is shorter than the left."""
    return size_of(rule.rhs) < size_of(rule.lhs)


def backwards(rule: Rule) -> Rule | None:
    """The rule from right to left; None where that is unsound, says nothing, or grows.

    What is equal bit for bit may be read both ways. A rule of a weaker grade may gain digits, range
    or numbers, which it would lose backwards; equalities that are sound in both directions all the
    same are written twice, in `axioms`. A right side that is no operation, or that only a call can
    build, cannot be found.
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
        lhs=right,
        rhs=left,
        measure="",
        priority=0,
    )


def _flipped(function: Callable[..., Any]) -> Callable[..., Any]:
    def flipped(**values: Any) -> Any:
        left, right = function(**values)
        return right, left

    return flipped


def with_directions(rules: Iterable[Rule]) -> list[Rule]:
    """The rules, those that shorten first, then what goes backwards."""
    forward = list(rules)
    turned = [found for rule in forward if (found := backwards(rule)) is not None]
    return sorted([*forward, *turned], key=lambda rule: not shrinks(rule))
