"""Implications and contradictions between facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from ..errors import FactError
from .fact import (
    Fact,
    diagonal,
    integer_valued,
    interval,
    negative,
    nonnegative,
    nonpositive,
    nonzero,
    positive,
    simplex,
    symmetric,
    total,
    triangular,
)

__all__ = ["consistent", "implied", "stated"]

_PLAIN: dict[str, tuple[Fact, ...]] = {
    "positive": (nonnegative, nonzero),
    "negative": (nonpositive, nonzero),
    "positive_definite": (symmetric,),
    "orthogonal": (Fact("interval", (-1.0, 1.0)),),
    "diagonal": (symmetric, triangular("lower"), triangular("upper")),
    "finite": (total,),
}


def _implied_at_once(fact: Fact) -> Iterable[Fact]:
    yield from _PLAIN.get(fact.name, ())
    match fact.name:
        case "simplex":
            yield interval(0.0, 1.0)
        case "one_hot":
            yield from (simplex(fact.args[0]), integer_valued)
        case "unit_norm":
            yield interval(-1.0, 1.0)
        case "interval":
            low, high = fact.args
            if low > 0:
                yield positive
            if low >= 0:
                yield nonnegative
            if high < 0:
                yield negative
            if high <= 0:
                yield nonpositive
        case _:
            pass


_TOGETHER: tuple[tuple[Fact, Fact, Fact], ...] = (
    (nonnegative, nonzero, positive),
    (nonpositive, nonzero, negative),
    (symmetric, Fact("triangular", ("lower",)), diagonal),
    (symmetric, Fact("triangular", ("upper",)), diagonal),
)
"""Two facts, and the third that follows from both."""


def implied(facts: Iterable[Fact]) -> dict[Fact, Fact | None]:
    """All facts that follow from the given ones, each with one that implies it; None if given."""
    found: dict[Fact, Fact | None] = dict.fromkeys(facts)
    queue = list(found)
    while queue:
        while queue:
            fact = queue.pop()
            for other in _implied_at_once(fact):
                if other not in found:
                    found[other] = fact
                    queue.append(other)
        for one, other, third in _TOGETHER:
            if one in found and other in found and third not in found:
                found[third] = one
                queue.append(third)
    return found


_CLASHES = (
    (positive, nonpositive),
    (negative, nonnegative),
    (positive, negative),
)


def stated(assume: Fact | Iterable[Fact]) -> tuple[Fact, ...]:
    """One fact or several, as a tuple.

    Raises
    ------
    FactError
        If one of them is not a fact.
    """
    given: Any = assume
    several = isinstance(given, Iterable) and not isinstance(given, str)
    found: tuple[Any, ...] = tuple(cast("Iterable[Any]", given)) if several else (given,)
    for each in found:
        if not isinstance(each, Fact):
            raise FactError(
                f"{each!r} is not a fact.",
                mend="State facts: assume=(sg.positive, sg.simplex(-1)).",
            )
    return found


def consistent(facts: Iterable[Fact]) -> dict[Fact, Fact | None]:
    """All facts that follow from the given ones, as `implied`, without contradiction.

    Raises
    ------
    FactError
        If two facts contradict each other; the message names the two that were stated.
    """
    found = implied(facts)
    for one, other in _CLASHES:
        if one in found and other in found:
            raise FactError(
                f"A value cannot be {_stated(one, found)} and {_stated(other, found)} at once."
            )
    bounds = [fact for fact in found if fact.name == "interval"]
    if bounds:
        lowest = max(bounds, key=lambda fact: fact.args[0])
        highest = min(bounds, key=lambda fact: fact.args[1])
        low, high = lowest.args[0], highest.args[1]
        if low > high:
            both = f"{_stated(lowest, found)} and {_stated(highest, found)}"
            raise FactError(f"{both} have no number in common.")
        for sign, apart in ((positive, high <= 0), (negative, low >= 0)):
            if sign in found and apart:
                bound = highest if sign is positive else lowest
                raise FactError(
                    f"A value cannot be {_stated(sign, found)} and {_stated(bound, found)} at once."
                )
        if low == high == 0 and nonzero in found:
            raise FactError(f"A value cannot be {_stated(nonzero, found)} and {lowest} at once.")
    return found


def _stated(fact: Fact, found: dict[Fact, Fact | None]) -> str:
    """The stated fact from which `fact` follows, as `interval(1.0, 2.0), so positive,`."""
    root = fact
    while (before := found[root]) is not None:
        root = before
    return str(fact) if root is fact else f"{root}, so {fact},"
