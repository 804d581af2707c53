"""Why a step was allowed: each guard of its rule, what it was asked of, and the reason it holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..facts import Fact
from ..ir.fact_inference import Knowledge
from ..ir.node import Node, reachable
from .log import Step
from .pattern import Bindings
from .rule import Rule

__all__ = ["Justification", "licences"]

_DEPTH = 60
"""Nodes of a region that are asked for facts."""


@dataclass(frozen=True, slots=True)
class Justification:
    """One guard and what it rests on.

    Parameters
    ----------
    guard : str
        As the catalogue prints it, `x: positive`; of a region, the fact alone.
    of : Node
        The value it was asked of.
    why : tuple of str
        The chain of reasons, a line each; empty for what can be seen, such as a dtype.
    """

    guard: str
    of: Node
    why: tuple[str, ...] = ()


def licences(step: Step, knowledge: Knowledge, *, ties: bool = True) -> list[Justification]:
    """What licensed a step.

    For a rule: its guards, its further conditions, and the guards that earned it a better grade. A
    region holds by the laws of arithmetic, and by the facts that tie elements of its values
    together: those at hand are listed.

    Parameters
    ----------
    step : Step
    knowledge : Knowledge
    ties : bool
        Whether such facts might be used: not before differentiating.
    """
    if step.grain == "choice":
        return []
    if step.by is None:
        return list(_at_hand(step, knowledge)) if ties else []
    found = step.by.bound(step.before, step.after, knowledge)
    return [] if found is None else list(dict.fromkeys(_of_rule(step, step.by, found, knowledge)))


def _of_rule(
    step: Step, by: Rule, found: Bindings, knowledge: Knowledge
) -> Iterator[Justification]:
    for variable in by.variables:
        earned = by.earned.get(step.sound, {}).get(variable.name, ())
        for guard in (*variable.guards, *earned):
            if guard.name == "real":
                continue
            node = found[variable.name]
            why = [line for fact in guard.facts for line in _why(node, fact, knowledge)]
            yield Justification(f"{variable.name}: {guard.name}", node, tuple(why))
    env = by.environment(found)
    for name, fact_of in by.needed_facts:
        fact, node = fact_of(env), found[name]
        yield Justification(f"{name}: {fact}", node, tuple(_why(node, fact, knowledge)))


def _at_hand(step: Step, knowledge: Knowledge) -> Iterator[Justification]:
    kept = set(reachable([step.after]))
    for node in reachable([step.before])[-_DEPTH:]:
        for fact in knowledge.of(node).reasons:
            ties = not fact.is_open and fact.name != "integer_valued"
            if ties and not node.is_constant and (node in kept or node.is_input):
                yield Justification(str(fact), node, tuple(_why(node, fact, knowledge)))


def _why(node: Node, fact: Fact, knowledge: Knowledge) -> list[str]:
    return knowledge.why(node, fact).splitlines()
