"""Simplification: constants folded, rules to a fixpoint, algebra, until nothing changes.

Declarative rules own shapes, indexing, `where`, nonlinear identities and stability; the algebra
owns what is linear or multiplicative. Each prepares the ground for the other, so they take turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..algebra import SMALL, normalized
from ..errors import RuleError
from ..ir.collector import collector_paused
from ..ir.cost import op_count
from ..ir.fact_inference import Knowledge
from ..ir.node import Node, reachable
from ..rewriting.driver import rewrite
from ..rewriting.index import RuleSet
from ..rewriting.log import Log
from ..rewriting.packs import default_rules
from ..rewriting.rule import Rule, RulePack, Soundness
from .bodies import hold_bodies, with_simple_bodies
from .constant_folding import folded
from .dead_results import without_dead_results
from .duplicates import merged
from .reads import sunk
from .reuse import reused
from .signs import settled_signs

__all__ = ["Rules", "rule_set", "simplified"]

Rules = RulePack | Sequence[Rule] | Sequence[RulePack] | RuleSet | None

_ROUNDS = 12
"""More than any graph has needed (most need two)."""


def rule_set(rules: Rules) -> RuleSet:
    """The rules to use: the installed packs if none are given."""
    if rules is None:
        return default_rules()
    if isinstance(rules, RuleSet):
        return rules
    if isinstance(rules, RulePack):
        return RuleSet([rules])
    wrong = [each for each in rules if not isinstance(each, RulePack | Rule)]  # pyright: ignore[reportUnnecessaryIsInstance]
    if wrong or isinstance(rules, str):
        raise RuleError(
            f"{(rules if isinstance(rules, str) else wrong[0])!r} is no rule and no pack of rules.",
            mend='Give rules or packs: rules=sg.default_rules().without("name"), rules=[mine].',
        )
    packs = [each for each in rules if isinstance(each, RulePack)]
    loose = tuple(each for each in rules if isinstance(each, Rule))
    return RuleSet([*packs, RulePack("given", loose)] if loose else packs)


def simplified(
    outputs: Sequence[Node],
    knowledge: Knowledge,
    *,
    trust: Soundness = "rounding",
    rules: Rules = None,
    settled: set[Node] | None = None,
    at_kinks: bool = True,
    last: bool = True,
) -> tuple[list[Node], Log]:
    """The outputs, simplified, and the log of what was done.

    Parameters
    ----------
    outputs : sequence of Node
    knowledge : Knowledge
        Facts that guards may use: only open ones before differentiating.
    trust : "exact", "rounding" or "domain"
        The weakest grade of soundness to accept.
    rules : RulePack, sequence of Rule or RulePack, RuleSet, optional
        Instead of the installed packs.
    settled : set of Node, optional
        Nodes that an earlier call with the same knowledge, trust and rules left as they are; those
        of this call are added.
    at_kinks : bool
        Whether the slope at a kink may become another one: not before differentiating.
    last : bool
        Whether the result is final: then it is looked at once more as if seen for the first time,
        so that simplifying it again changes nothing.
    """
    log = Log()
    chosen = rule_set(rules) if at_kinks else rule_set(rules).before_differentiating

    def inside(body: Sequence[Node]) -> list[Node]:
        # Steps inside are of values that this graph does not have: its log tells of the outcome.
        return simplified(*(body, Knowledge()), trust=trust, rules=chosen, at_kinks=at_kinks)[0]

    current = list(outputs)
    looped = hold_bodies(outputs)
    if looped:
        slim = without_dead_results(with_simple_bodies(without_dead_results(outputs), inside))
        current = log.through("loops and branches simplified inside", outputs, slim)
    settled = set() if settled is None else settled
    looking = _Looking(chosen, knowledge, trust, log, settled, at_kinks, last)
    # Merged first: what changes late makes all that is known of later values useless.
    current = log.through("equal values merged", current, merged(current))
    with collector_paused():
        current = looking.until_nothing_changes(current)
        # Last: rules know a softmax by the whole of it.
        while (lower := sunk(current, exact=trust == "exact")) != current:
            current = log.through("reads moved below", current, lower)
            current = looking.once_more(current)
    if looped:
        current = log.through("loops slimmed", current, without_dead_results(current))
    return current, log


@dataclass
class _Looking:
    """Constants, rules and algebra in turns."""

    rules: RuleSet
    knowledge: Knowledge
    trust: Soundness
    log: Log
    settled: set[Node]
    at_kinks: bool
    last: bool
    _kept: list[Node] | None = None
    """The last graph that the algebra left as it was, with what it remembered of earlier rounds."""
    _kept_afresh: list[Node] | None = None
    """The last one that it left as it was without memory: so it would with it."""

    def until_nothing_changes(self, outputs: list[Node]) -> list[Node]:
        """The outputs on which all agree; of a large graph, those of one round."""
        log, current = self.log, outputs
        seen: dict[tuple[Node, ...], int] = {}
        # One round finds nearly all there is; a large graph is spared the rounds that confirm it.
        small = len(reachable(current)) <= SMALL
        rounds = _ROUNDS if small else 1
        signs_moved = False
        while tuple(current) not in seen and len(seen) < rounds:
            seen[tuple(current)] = len(seen)
            current = self._rewritten(current)
            if small:
                current = self._looked_at(current, afresh=signs_moved)
            else:
                current = self._normalized(current, thorough=False)
            signs_moved = False
            current = log.through("equal values merged", current, merged(current))
            if self.last and self.trust != "exact":  # a product of lower powers has other digits
                new = reused(current, self.knowledge)
                current = log.through("values used again", current, new)
            if self.last and small and tuple(current) in seen:
                # A second call starts without memory; so must the last look of the first.
                current = self._looked_at(current, afresh=True)
                if tuple(current) in seen:
                    current = self._normalized(current, late=True)
            if self.last and self.trust != "exact" and (not small or tuple(current) in seen):
                # When all else agrees: rules know things by the signs that they are written with.
                new = settled_signs(current)
                # Nearly always all agree on the new ones: one look without memory tells both.
                signs_moved = new != current
                current = log.through("signs moved", current, new)
        if tuple(current) not in seen:
            current = self._rewritten(current)
        return log.through("the cheapest taken", current, _cheapest(current, seen))

    def once_more(self, outputs: list[Node]) -> list[Node]:
        """What a small change made possible; of a large graph what rules make of it."""
        small = len(reachable(outputs)) <= SMALL
        return self.until_nothing_changes(outputs) if small else self._rewritten(outputs)

    def _rewritten(self, outputs: list[Node]) -> list[Node]:
        current = self.log.through("constants folded", outputs, folded(outputs))
        new = rewrite(
            *(current, self.rules, self.knowledge),
            trust=self.trust,
            log=self.log,
            settled=self.settled,
        )
        return self.log.through("rules", current, new)

    def _looked_at(self, outputs: list[Node], *, afresh: bool = False) -> list[Node]:
        """What the algebra makes of a small graph; it is not asked again what it left as it was."""
        if outputs == self._kept_afresh or (outputs == self._kept and not afresh):
            return outputs
        new = self._normalized(outputs, afresh=afresh)
        if new == outputs and afresh:
            self._kept_afresh = new
        elif new == outputs:
            self._kept = new
        return new

    def _normalized(self, outputs: list[Node], **how: bool) -> list[Node]:
        new = normalized(
            *(outputs, self.knowledge),
            trust=self.trust,
            log=self.log,
            at_kinks=self.at_kinks,
            **how,
        )
        return self.log.through("algebra", outputs, new)


def _cheapest(last: list[Node], seen: dict[tuple[Node, ...], int]) -> list[Node]:
    """The last graph; where the rounds came back to an earlier one, the cheapest between.

    Rules and algebra may each prefer another spelling of equal cost; then the graph on which both
    were first agreed stays, so that simplifying again changes nothing.
    """
    first = seen.get(tuple(last), len(seen))
    turning = [list(outputs) for outputs, at in seen.items() if at >= first]
    return min(turning, key=op_count, default=last)
