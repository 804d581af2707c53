"""Why a step was allowed: each guard of its rule, the value it speaks of, and why it holds."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts import Fact
from ..ir.fact_inference import Knowledge
from ..ir.node import Node
from ..ir.walks import reachable
from ..records import record
from .log import Step
from .pattern import Bindings
from .rule import Rule

__all__ = ["Justification", "licences"]

_DEPTH = 60
"""How many nodes of a region are asked for facts."""


@record
class Justification:
    """One guard and the reasons it holds.

    Parameters
    ----------
    guard : str
        The guard as the catalogue prints it, `x: positive`; for a region, the fact alone.
    of : Node
        The value that the guard speaks of.
    why : tuple of str
        The chain of reasons, a line each; empty for a guard that needs none, as of a dtype.
    """

    guard: str
    of: Node
    why: tuple[str, ...] = ()


def licences(step: Step, knowledge: Knowledge, *, ties: bool = True) -> list[Justification]:
    """The justifications of a step.

    For a rule they are its guards, its further conditions, and the guards that earned it a better
    grade. A region is equal by the laws of arithmetic, and by facts that relate the elements of a
    value to one another, such as symmetry. All such facts that are known of its values are listed.

    Parameters
    ----------
    step : Step
    knowledge : Knowledge
    ties : bool
        Whether facts that relate elements may be used: they may not before differentiating.
    """
    if step.grain == "choice":
        return []
    if step.by is None:
        return list(_of_region(step, knowledge)) if ties else []
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


def _of_region(step: Step, knowledge: Knowledge) -> Iterator[Justification]:
    kept = set(reachable([step.after]))
    for node in reachable([step.before])[-_DEPTH:]:
        for fact in knowledge.of(node).reasons:
            ties = not fact.is_open and fact.name != "integer_valued"
            if ties and not node.is_constant and (node in kept or node.is_input):
                yield Justification(str(fact), node, tuple(_why(node, fact, knowledge)))


def _why(node: Node, fact: Fact, knowledge: Knowledge) -> list[str]:
    return knowledge.why(node, fact).splitlines()
