"""Simplification: constant folding, rules to a fixpoint, and algebra, until nothing changes.

Rules simplify shapes, indexing, `where`, nonlinear identities and unstable expressions; the algebra
simplifies sums and products. Each prepares the other's work, so they take turns.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Literal, TypeAlias

from ..accuracy import judge_of, judged_as_carefully
from ..algebra import THOROUGH_UP_TO, Settlement, normalized, settlement
from ..errors import RuleError
from ..ir.collector import collector_paused
from ..ir.cost import op_count
from ..ir.fact_inference import Knowledge
from ..ir.node import Node
from ..ir.walks import reachable
from ..rewriting.driver import rewrite
from ..rewriting.index import RuleSet
from ..rewriting.log import Log
from ..rewriting.packs import default_rules
from ..rewriting.rule import Rule, RulePack, Soundness
from .bodies import hold_bodies, with_simple_bodies
from .branches import with_branches_joined
from .cancelled_factors import with_factors_cancelled
from .choices import with_choices_joined
from .cholesky_pullbacks import with_cholesky_pullbacks
from .constant_factors import with_numbers_gathered
from .constant_folding import with_constants_folded
from .contracted_sums import with_sums_contracted
from .dead_results import without_dead_results
from .duplicates import with_duplicates_merged
from .hyperbolics import with_hyperbolics
from .joined_parts import with_joined_parts, with_joins_flat
from .known_branches import with_branches_known
from .met_factors import with_factors_met
from .mirrored_differences import with_mirrored_differences
from .oscillation import Oscillation, cheapest_of_cycle
from .reads import with_reads_sunk
from .reuse import with_values_reused
from .signs import settled_signs
from .squared_lengths import with_squared_lengths

__all__ = ["EFFORTS", "Effort", "Rules", "is_searched_out", "rule_set", "simplified"]

Rules = RulePack | Sequence[Rule] | Sequence[RulePack] | RuleSet | None

Effort: TypeAlias = Literal["low", "normal", "high"]

EFFORTS: tuple[Effort, ...] = ("low", "normal", "high")

_ROUNDS = 12
"""More rounds than any graph has needed; most need two."""

_SEARCHED_OUT = 60
"""The most nodes of a graph that is simplified until nothing changes, at normal effort.

A formula of that size is read. A larger graph is run: rounds that gain little take most of the
time, and save one operation in a hundred. At low effort the algebra of a larger graph is left out,
which takes more than half of the time and saves two or three in a hundred."""

_LITTLE = 0.01
"""A round that gains fewer of the operations is the last, on a larger graph."""


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
        given = rules if isinstance(rules, str) else wrong[0]
        raise RuleError(
            f"{given!r} is not a rule or a pack of rules.",
            mend='Give rules or packs: rules=sg.default_rules().without("name"), rules=[mine].',
        )
    packs = [each for each in rules if isinstance(each, RulePack)]
    loose = tuple(each for each in rules if isinstance(each, Rule))
    return RuleSet([*packs, RulePack("given", loose)] if loose else packs)


def is_searched_out(outputs: Sequence[Node], effort: Effort) -> bool:
    """Whether a graph of this size is simplified until nothing changes."""
    most = {"low": 0, "normal": _SEARCHED_OUT, "high": THOROUGH_UP_TO}[effort]
    return len(reachable(outputs)) <= most


def simplified(
    outputs: Sequence[Node],
    knowledge: Knowledge,
    *,
    trust: Soundness = "rounding",
    rules: Rules = None,
    settled: set[Node] | None = None,
    at_kinks: bool = True,
    last: bool = True,
    effort: Effort = "normal",
    reached: Callable[[list[Node]], object] | None = None,
    is_body: bool = False,
) -> tuple[list[Node], Log]:
    """The simplified outputs, and the log of all steps.

    Parameters
    ----------
    outputs : sequence of Node
    knowledge : Knowledge
        Facts that guards may use; before differentiating, open facts only.
    trust : "exact", "rounding" or "domain"
        The weakest grade of soundness to accept.
    rules : RulePack, sequence of Rule or RulePack, RuleSet, optional
        The rules to use instead of the installed packs.
    settled : set of Node, optional
        Nodes that an earlier call with the same knowledge, trust and rules left as they are; those
        of this call are added.
    at_kinks : bool
        Whether the derivative at a kink may change; it may not before differentiating.
    last : bool
        Whether the result is final. If it is small, it is then simplified once more without memory
        of earlier rounds, so that another call changes nothing.
    reached : callable, optional
        Takes the outputs after each round, all equal to those given.
    is_body : bool
        Whether the graph stands inside a loop or a branch, and others read its outputs.
    """
    log = Log()
    chosen = rule_set(rules) if at_kinks else rule_set(rules).before_differentiating

    current = list(outputs)
    looped = hold_bodies(outputs)
    if looped:
        slim = _with_bodies_simplified(
            outputs, trust=trust, rules=chosen, at_kinks=at_kinks, effort=effort
        )
        current = log.through("loops and branches simplified inside", outputs, slim)
    settled = set() if settled is None else settled
    judge_of(knowledge).meet(outputs)
    rounds = _Rounds(
        chosen, knowledge, trust, log, settled, at_kinks, last, effort, reached, is_body
    )
    # Merging comes first, for a later merge changes all nodes above, and their facts are lost.
    current = log.through("equal values merged", current, with_duplicates_merged(current))
    if trust != "exact":
        current = log.through("exps of opposites joined", current, with_hyperbolics(current))
    with collector_paused():
        current = rounds.until_nothing_changes(current)
        # Reads move last, for rules recognize a softmax only as a whole.
        current = rounds.with_reads_below(current)
    if looped:
        current = log.through("loops slimmed", current, without_dead_results(current))
    return current, log


def _with_bodies_simplified(
    outputs: Sequence[Node], *, trust: Soundness, rules: RuleSet, at_kinks: bool, effort: Effort
) -> list[Node]:
    """The outputs with loops and branches simplified inside, and without results nobody reads."""

    def inside(body: Sequence[Node]) -> list[Node]:
        # Values inside a body are not in this graph, so the log has only the simplified body.
        found, _ = simplified(
            *(body, Knowledge()),
            trust=trust,
            rules=rules,
            at_kinks=at_kinks,
            effort=effort,
            is_body=True,
        )
        return found

    return without_dead_results(with_simple_bodies(without_dead_results(outputs), inside))


@dataclass
class _Rounds:
    """Rounds of constant folding, rules and algebra."""

    rules: RuleSet
    knowledge: Knowledge
    trust: Soundness
    log: Log
    settled: set[Node]
    at_kinks: bool
    last: bool
    effort: Effort = "normal"
    reached: Callable[[list[Node]], object] | None = None
    is_body: bool = False
    _judged: Knowledge | None = None
    """The knowledge of the algebra since its last round without memory; with it goes its judge."""
    _kept: list[Node] | None = None
    """The last graph that the algebra left unchanged, with its memory of earlier rounds."""
    _kept_afresh: list[Node] | None = None
    """The last graph that it left unchanged without memory: it would do the same with memory."""

    def until_nothing_changes(self, outputs: list[Node]) -> list[Node]:
        """The outputs after rounds until none changes them, or little; a large graph gets one."""
        log, current = self.log, outputs
        seen: dict[tuple[Node, ...], int] = {}
        # One round finds nearly everything; a large graph is spared the rounds that confirm it.
        small = self._is_small(current)
        rounds, swings = _ROUNDS if small else 1, Oscillation(current)
        signs_moved = is_last = False
        while tuple(current) not in seen and len(seen) < rounds and not swings.are_enough:
            seen[tuple(current)] = len(seen)
            before = current
            current = rewritten = self._rewritten(current)
            if is_last and op_count(current) <= (1 + _LITTLE) * op_count(before):
                break  # Else the algebra may shorten again what rules have lengthened.
            afresh = signs_moved and is_searched_out(before, self.effort)
            current = self._through_algebra(rewritten, thorough=small, afresh=afresh)
            swings.note(before, rewritten, current)
            if swings.are_enough:
                current = log.through("the cheapest taken", current, swings.shortest)
            if swings.creep and self.last and self.trust != "exact":
                current = log.through("signs moved", current, settled_signs(current))
            at_rest = tuple(current) in seen or swings.are_enough
            to_the_end, was_last = is_searched_out(current, self.effort), is_last
            is_last = not to_the_end and (at_rest or swings.gain < _LITTLE)
            if self.last and small and (at_rest or is_last):
                current, at_rest = self._looked_at_once_more(current, seen, afresh=to_the_end)
            signs_moved = False
            if self.last and self.trust != "exact" and (at_rest or is_last or not small):
                current, signs_moved = self._moved_at_the_end(current)
            least = swings.least
            swings.measure(current)
            if self.reached is not None:
                self.reached(current)
            if was_last and swings.least > (1 - _LITTLE) * least:
                return log.through("the cheapest taken", current, swings.shortest)
        if tuple(current) not in seen and not swings.are_enough:
            current = self._rewritten(current)
        return log.through("the cheapest taken", current, cheapest_of_cycle(current, seen))

    def _through_algebra(self, outputs: list[Node], *, thorough: bool, afresh: bool) -> list[Node]:
        """The outputs after the algebra, with equal values merged and values used again."""
        if not self._is_worth_algebra(outputs):
            current = outputs
        elif thorough:
            current = self._normalized_once(outputs, afresh=afresh)
        else:
            current = self._normalized(outputs, thorough=False)
        new = with_duplicates_merged(current)
        current = self.log.through("equal values merged", current, new)
        if self.last and self.trust != "exact":  # Products of lower powers have other digits.
            new = with_values_reused(current, self.knowledge)
            current = self.log.through("values used again", current, new)
        return current

    def _looked_at_once_more(
        self, outputs: list[Node], seen: Container[tuple[Node, ...]], *, afresh: bool
    ) -> tuple[list[Node], bool]:
        """The outputs that the rounds left alone, looked at in other ways; whether they stay."""
        current = outputs
        if afresh:
            # A second call starts without memory, so the first must end without it.
            current = self._normalized_once(current, afresh=True)
        if current == outputs:
            current = self._normalized(current, late=True)
        return current, current == outputs or tuple(current) in seen

    def _moved_at_the_end(self, outputs: list[Node]) -> tuple[list[Node], bool]:
        """The outputs after the passes for a graph at rest, and whether signs moved.

        Rules match graphs as they are written, so these passes wait until no rule applies.
        """
        log, loses = self.log, judge_of(self.knowledge).loses
        current = with_numbers_gathered(settled_signs(outputs), loses)
        current = log.through("signs and numbers moved", outputs, current)
        # Nearly always the next round changes nothing, so it runs without memory at once.
        signs_moved = current != outputs
        new = with_factors_cancelled(current, self.knowledge, loses, is_body=self.is_body)
        current = log.through("factors cancelled", current, new)
        new = with_factors_met(current, self.knowledge, loses)
        current = log.through("factors met", current, new)
        new = with_mirrored_differences(current, self.knowledge, loses)
        current = log.through("mirrored differences doubled", current, new)
        new = with_squared_lengths(current, self.knowledge, loses)
        current = log.through("lengths squared", current, new)
        new = with_sums_contracted(current, loses)
        current = log.through("sums of products contracted", current, new)
        current = log.through("parts joined", current, with_joins_flat(with_joined_parts(current)))
        current = log.through("branches known", current, with_branches_known(current))
        current = log.through("choices joined", current, with_choices_joined(current))
        new = with_branches_joined(current, loses, at_kinks=self.at_kinks)
        current = log.through("branches joined", current, new)
        new = with_cholesky_pullbacks(current, self.knowledge, loses)
        current = log.through("pulled back through Cholesky factors", current, new)
        new = with_hyperbolics(current)
        return log.through("exps of opposites joined", current, new), signs_moved

    def with_reads_below(self, outputs: list[Node]) -> list[Node]:
        """The outputs with reads moved below and simplified again, until no read moves.

        The algebra may move a read back; then the cheapest of the graphs between is taken.
        """
        current, exact = outputs, self.trust == "exact"
        seen: dict[tuple[Node, ...], int] = {}
        while tuple(current) not in seen and len(seen) < _ROUNDS:
            lower = with_reads_sunk(current, exact=exact)
            if lower == current:
                break
            seen[tuple(current)] = len(seen)
            current = self.once_more(self.log.through("reads moved below", current, lower))
        return self.log.through("the cheapest taken", current, cheapest_of_cycle(current, seen))

    def once_more(self, outputs: list[Node]) -> list[Node]:
        """The outputs simplified again after a small change; a larger graph by rules alone."""
        small = is_searched_out(outputs, self.effort)
        return self.until_nothing_changes(outputs) if small else self._rewritten(outputs)

    def _is_small(self, outputs: list[Node]) -> bool:
        """Whether rounds are repeated until nothing changes."""
        return self.effort != "low" and len(reachable(outputs)) <= THOROUGH_UP_TO

    def _is_worth_algebra(self, outputs: list[Node]) -> bool:
        """Whether sums and products are written anew: of small graphs, or with effort."""
        most = {"low": _SEARCHED_OUT, "normal": THOROUGH_UP_TO}.get(self.effort)
        return most is None or len(reachable(outputs)) <= most

    def _rewritten(self, outputs: list[Node]) -> list[Node]:
        folded = with_constants_folded(outputs, exact=self.trust == "exact")
        current = self.log.through("constants folded", outputs, folded)
        new = rewrite(
            *(current, self.rules, self.knowledge),
            trust=self.trust,
            log=self.log,
            settled=self.settled,
        )
        return self.log.through("rules", current, new)

    def _normalized_once(self, outputs: list[Node], *, afresh: bool = False) -> list[Node]:
        """The outputs after the algebra, which is not run again on a graph it left unchanged."""
        if outputs == self._kept_afresh or (outputs == self._kept and not afresh):
            return outputs
        new = self._looked_at_anew(outputs) if afresh else self._normalized(outputs)
        if new == outputs and afresh:
            self._kept_afresh = new
        elif new == outputs:
            self._kept = new
        return new

    def _looked_at_anew(self, outputs: list[Node]) -> list[Node]:
        """The outputs after the algebra without memory, unless it is clear what that would find."""
        if outputs == self._kept:
            if self._settlement(outputs) == "given up earlier":
                new = self._normalized(outputs, again=True)
                if new != outputs:
                    return new
            if self._settlement(outputs) == "settled":
                return outputs
        return self._normalized(outputs, afresh=True)

    def _settlement(self, outputs: list[Node]) -> Settlement:
        known = self._judged or self.knowledge
        return settlement(outputs, known, trust=self.trust, at_kinks=self.at_kinks)

    def _normalized(self, outputs: list[Node], *, afresh: bool = False, **how: bool) -> list[Node]:
        known = earlier = self._judged or self.knowledge
        if afresh:
            # Another judge, too: a verdict that hangs on chance would fall another way next time.
            fresh = Knowledge(only_open=self.knowledge.only_open)
            known = self._judged = judged_as_carefully(fresh, self.knowledge)
        started = perf_counter()
        new = normalized(
            *(outputs, known),
            trust=self.trust,
            log=self.log,
            at_kinks=self.at_kinks,
            afresh=earlier if afresh else None,
            is_body=self.is_body,
            **how,
        )
        self.log.took("algebra", perf_counter() - started)
        return self.log.through("algebra", outputs, new)
