"""Conditions of a rule beyond its guards: noted while it is read, checked where it is applied."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from ..array import Array
from ..array.eager import symbols_only
from ..errors import RuleError
from ..facts import Fact
from ..ir.fact_inference import Knowledge
from .deferred import settled
from .pattern import Variable, as_pattern

__all__ = ["Declined", "StatedConditions", "applying", "holds", "provided", "reading_rule"]


class Declined(Exception):
    """The rule does not apply to these operands: one of its conditions does not hold."""


@dataclass(slots=True)
class StatedConditions:
    """The conditions that a rule states besides its two sides, noted while it is read."""

    conditions: list[str] = field(default_factory=list[str])
    facts: list[tuple[str, Callable[[Mapping[str, Any]], Fact]]] = field(
        default_factory=list[tuple[str, Callable[[Mapping[str, Any]], Fact]]]
    )


_reading: ContextVar[StatedConditions | None] = ContextVar("reading", default=None)


@contextmanager
def reading_rule() -> Generator[StatedConditions]:
    """Inside this context the conditions of a rule are noted, not checked."""
    noted = StatedConditions()
    token, symbols = _reading.set(noted), symbols_only.set(True)
    try:
        yield noted
    finally:
        _reading.reset(token)
        symbols_only.reset(symbols)


@contextmanager
def applying(knowledge: Knowledge) -> Generator[None]:
    """Inside this context the conditions of a rule are checked against this knowledge."""
    token, symbols = _knowledge.set(knowledge), symbols_only.set(True)
    try:
        yield
    finally:
        _knowledge.reset(token)
        symbols_only.reset(symbols)


_knowledge: ContextVar[Knowledge | None] = ContextVar("knowledge", default=None)


def provided(condition: object) -> None:
    """State inside a rule that it applies only where `condition` is true.

    Examples
    --------
    >>> from symgraph.rewriting import Axes, Array, rule, provided
    >>> @rule(sound="exact")
    ... def sum_over_nothing(x: Array, axis: Axes):
    ...     provided(axis == ())
    ...     return snp.sum(x, axis=axis), x
    """
    reading = _reading.get()
    if reading is not None:
        reading.conditions.append(repr(condition))
    elif not bool(condition):
        raise Declined


def holds(x: Array, fact: Callable[..., Fact] | Fact, *args: object) -> None:
    """State inside a rule that it applies only where `fact(*args)` is known of `x`.

    `holds(p, simplex, axis)` asks for a fact whose axis is another parameter of the rule.
    """
    reading = _reading.get()
    if reading is None:
        wanted = fact if isinstance(fact, Fact) else fact(*args)
        knowledge = _knowledge.get() or Knowledge()
        if not knowledge.of(x.node).has(wanted):
            raise Declined
        return
    pattern = as_pattern(x)
    if not isinstance(pattern, Variable):
        raise RuleError(f"holds() takes a variable of the rule, not {pattern}.")
    shown = ", ".join(map(repr, args))
    name = fact.name if isinstance(fact, Fact) else f"{fact.__name__}({shown})"
    reading.conditions.append(f"{pattern.name}: {name}")
    reading.facts.append(
        (
            pattern.name,
            lambda env: fact if isinstance(fact, Fact) else fact(*settled(args, env)),
        )
    )
