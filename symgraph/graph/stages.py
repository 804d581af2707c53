"""How stages lead to one another: derivatives of a graph, and the simplest graph equal to it.

Simplifying and differentiating commute by construction (`docs/decisions.md`, 5): a graph of
derivatives is derived again from its stabilised forward part before it is simplified, and a graph
that was simplified is differentiated as it was before. Both hold to any order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypedDict

from .. import saturation
from ..accuracy import judge_of, judged_as_carefully
from ..freed import give_freed_memory_back
from ..ir.collector import collector_paused
from ..ir.cost import flops, nominal, op_count
from ..ir.dag import Dag
from ..ir.fact_inference import Knowledge
from ..ir.node import Node, Origin, origin
from ..ir.walks import reachable, walks_remembered
from ..ops.radial import with_limits
from ..passes.kept_values import let_go, with_kept
from ..passes.signs import settled_signs
from ..passes.simplify import EFFORTS, Effort, Rules, is_searched_out, rule_set, simplified
from ..rewriting.index import RuleSet
from ..rewriting.log import Log
from ..rewriting.rule import Soundness
from .accuracy_check import (
    finite,
    in_range,
    keeping_digits,
    keeping_numbers,
    leaves_range,
    loses_a_number,
)
from .cache import CACHE
from .last_steps import ended, ended_once
from .stage import Chosen, Derive, Kept, Stage

__all__ = ["Interrupted", "derived", "keeping", "released", "simplified_stage"]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while a graph was simplified: the shortest graph found so far, and its log."""

    def __init__(self, stage: Stage, log: Log) -> None:
        super().__init__()
        self.stage = stage
        self.log = log


def derived(stage: Stage, derive: Derive, *, again: bool, chosen: Chosen) -> tuple[Stage, Log]:
    """The derivative, and the choices on the way; `again` if it can be derived once more.

    A graph that was simplified is differentiated as it was before, for facts that tie elements
    together do not hold in a neighbourhood. Values that it keeps, which `chosen` gives, stay.
    """
    log = Log()
    source = stage.before or stage
    if stage.before is None:
        base = stage.dag
    elif not stage.kept:
        base = _stabilized(source, Log())
    else:
        base = _stabilized(keeping(source, chosen), Log())
        base = base.with_outputs(let_go(base.outputs))
    with collector_paused():
        dag = derive(_ready(base), log.choose)
    log.through("differentiated", base.outputs, dag.outputs, equal=False)
    found = Stage(dag, source, derive, plain=source is stage) if again else Stage(dag)
    return replace(found, kept=stage.kept), log


def keeping(stage: Stage, chosen: Chosen) -> Stage:
    """The stage in which values of the function are kept; `chosen` gives them.

    The derivatives are derived again, so that they use the kept values.
    """
    line = [stage]
    while line[-1].forward is not None and line[-1].derive is not None:
        line.append(line[-1].forward)
    first = line[-1]
    found = replace(first, dag=with_kept(first.dag, chosen(first.dag)))
    for each in reversed(line[:-1]):
        assert each.derive is not None
        found = Stage(each.derive(found.dag, Log().choose), found, each.derive)
    return found


def released(stage: Stage, log: Log, before: Stage, kept: Kept) -> Stage:
    """The simplified stage without the marks of kept values, whose names it remembers.

    `before` is the stage as given.
    """
    outputs = log.through("kept values let go", stage.dag.outputs, let_go(stage.dag.outputs))
    return Stage(stage.dag.with_outputs(outputs), before=before, by=stage.by, kept=kept)


@collector_paused()
@walks_remembered()
def simplified_stage(
    stage: Stage,
    trust: Soundness,
    rules: Rules,
    bounds: saturation.SaturationBounds | None = None,
    effort: Effort = "normal",
) -> tuple[Stage, Log]:
    """The simplest equal graph, and how it came about; with `bounds` it is saturated, too.

    Raises
    ------
    Interrupted
        At Ctrl-C, once a graph of the same values is known; before that `KeyboardInterrupt`.
    """
    how = (trust, rule_set(rules), effort)
    stage = _before_less_effort(stage, *how)
    if bounds is None and stage.by == how and not is_searched_out(stage.dag.outputs, effort):
        return stage, Log()  # Its rounds ended at a small gain, and so would further ones.
    known = bounds is None and (rules is None or isinstance(rules, RuleSet))
    kept = CACHE.lookup(stage, how) if known else None
    if isinstance(kept, tuple):
        outputs, log = kept
        return Stage(stage.dag.with_outputs(outputs), before=stage, by=how), log
    with origin(Origin()):  # The line that calls simplify is not where values come from.
        result, log = _simplified(stage, trust, rules, bounds, effort)
    if len(stage.dag.nodes) > _LARGE:
        give_freed_memory_back()  # The values at the probes are gone.
    if kept is not None:
        CACHE.keep(kept, result, log, how)
    return result, log


def _before_less_effort(stage: Stage, trust: Soundness, rules: RuleSet, effort: Effort) -> Stage:
    """The stage to start from: the graph that was simplified before in the same way, with less.

    From there more effort gives what it would have given at first.
    """
    if stage.before is None or stage.by is None or stage.by[:2] != (trust, rules):
        return stage
    rank = EFFORTS.index
    return stage.before if rank(stage.by[2]) < rank(effort) else stage


def _simplified(
    stage: Stage,
    trust: Soundness,
    rules: Rules,
    bounds: saturation.SaturationBounds | None,
    effort: Effort,
) -> tuple[Stage, Log]:
    options: _Options = {"trust": trust, "rules": rules, "bounds": bounds, "effort": effort}
    found, ours = _attempt(stage, Knowledge(), **options), rules is None
    if trust != "exact" and loses_a_number(found.outputs, found.given, found.knowledge, ours=ours):
        careful = Knowledge()
        judge_of(careful).careful = True
        found = _attempt(stage, careful, **options)
        if loses_a_number(found.outputs, found.given, careful, ours=ours):
            how: Any = {"trust": "exact", "rules": rules, "effort": effort}
            exact, _ = simplified(found.dag.outputs, careful, **how)
            reached = [exact, *found.reached, found.outputs]
            kept = keeping_numbers(reached, found.given, careful, ours=ours)
            _end_with(kept, found, effort, ours=ours)
    elif trust != "exact" and bounds is None:  # Saturation is asked for the shortest form.
        found = _within_range(stage, found, options)
    by = (trust, rule_set(rules), effort)
    return Stage(found.dag.with_outputs(found.outputs), before=stage, by=by), found.log


def _within_range(stage: Stage, found: _Attempt, options: _Options) -> _Attempt:
    """The attempt with products in range where they are as derived, if there is such a graph.

    Often another order of factors is enough. Else a careful judge looks at each step of a small
    graph.
    """
    if len(reachable(found.outputs)) > _REORDERED_UP_TO:
        return found
    _reorder(found)
    small = is_searched_out(found.outputs, options["effort"])
    if not small or not leaves_range(found.outputs, found.given, found.knowledge):
        return found
    careful = Knowledge()
    judge_of(careful).careful = True
    other, ours = _attempt(stage, careful, **options), options["rules"] is None
    _reorder(other)
    if nominal(flops(other.outputs)) > _MORE_FLOPS * nominal(flops(found.outputs)):
        return found
    lost = loses_a_number(other.outputs, other.given, careful, ours=ours)
    return found if lost or leaves_range(other.outputs, other.given, careful) else other


_REORDERED_UP_TO = 300
"""Nodes of the largest graph whose factors are moved: for each try the whole graph is compared."""

_MORE_FLOPS = 1.5
"""A graph that keeps the range may take so many times the flops: products of matrices may not."""


def _reorder(found: _Attempt) -> None:
    new = in_range(found.outputs, found.given, found.knowledge)
    found.outputs = found.log.through("factors in another order", found.outputs, new)


def _end_with(kept: list[Node], found: _Attempt, effort: Effort, *, ours: bool) -> None:
    """Take an earlier graph, after the changes at the end if these lose no number, either."""
    log = found.log
    found.outputs = log.through("numbers kept", found.outputs, kept)
    steps = Log()
    last = steps.through("signs moved", kept, settled_signs(kept))
    last = ended_once(last, steps, found.knowledge, effort)
    lost = loses_a_number(last, found.given, found.knowledge, ours=ours)
    if op_count(last) < op_count(kept) and not lost:
        log.extend(steps)
        found.outputs = last


class _Options(TypedDict):
    """The options of a call of `simplify`."""

    trust: Soundness
    rules: Rules
    bounds: saturation.SaturationBounds | None
    effort: Effort


@dataclass
class _Attempt:
    """A simplified stage, and the measures by which it is judged.

    Parameters
    ----------
    dag : Dag
        The graph that was simplified: for a derivative, that of the stabilised function.
    given : sequence of Node
        The outputs as derived, which are right by definition.
    reached : list of outputs
        The outputs after each round, all equal in exact arithmetic.
    """

    dag: Dag
    given: Sequence[Node]
    outputs: list[Node]
    reached: list[list[Node]]
    log: Log
    knowledge: Knowledge


def _attempt(
    stage: Stage,
    knowledge: Knowledge,
    *,
    trust: Soundness,
    rules: Rules,
    bounds: saturation.SaturationBounds | None,
    effort: Effort,
) -> _Attempt:
    """The stage simplified once; a derivative is derived again from its stabilised function."""
    history, settled = Log(), set[Node]()
    dag, steady, given = stage.dag, list(stage.dag.outputs), stage.dag.outputs
    if stage.forward is not None and stage.derive is not None and trust != "exact":
        forward = _stabilized(stage.forward, history, trust, rules, knowledge, settled, effort)
        dag, steady, given = _derived_again(stage, forward, history, knowledge)
    found = [list(dag.outputs)]
    how: Any = {"trust": trust, "rules": rules, "settled": settled, "effort": effort}
    how["reached"] = found.append
    try:
        outputs, steps = simplified(dag.outputs, knowledge, **how)
        kept = finite(outputs, dag.outputs, steady, knowledge)
        if kept != list(dag.outputs):
            dag = dag.with_outputs(history.through("stabilised after all", dag.outputs, kept))
            outputs, steps = simplified(kept, knowledge, **how)
        by = (trust, rule_set(rules), effort)
        if stage.by == by and op_count(outputs) >= op_count(dag.outputs):
            # From its own result it may start on another path, to other words, but not fewer.
            outputs, steps = list(dag.outputs), Log()
        history.extend(steps)
        if bounds is not None:
            found.append(outputs)
            outputs, steps = saturation.saturated(
                outputs, knowledge, trust=trust, rules=rules, bounds=bounds
            )
            history.extend(steps)
    except KeyboardInterrupt as stop:
        shortest = min(found, key=op_count)
        best = keeping_numbers([*found, shortest], given, knowledge, ours=rules is None)
        mended = finite(best, dag.outputs, steady, knowledge)
        raise _interrupted(stage, dag, best if mended == list(dag.outputs) else mended) from stop
    if trust != "exact":
        again = partial(simplified, knowledge=knowledge, **how)
        alone = partial(again, reached=None)
        outputs = ended(outputs, history, knowledge, effort, again, alone)
    return _Attempt(dag, given, outputs, found, history, knowledge)


_LARGE = 1_000
"""Nodes beyond which the values at the probes take a hundred megabytes."""


def _interrupted(stage: Stage, dag: Dag, best: Sequence[Node]) -> Interrupted:
    """The error of an interruption, with the simplest equal graph found so far."""
    log = Log()
    log.through("interrupted", dag.outputs, best)
    return Interrupted(Stage(dag.with_outputs(best), before=stage), log)


def _derived_again(
    stage: Stage, forward: Dag, history: Log, knowledge: Knowledge
) -> tuple[Dag, list[Node], Sequence[Node]]:
    """The derivative of a stabilised function: to be simplified, as derived, and as given."""
    assert stage.forward is not None
    assert stage.derive is not None
    dag = stage.derive(_ready(forward), history.choose)
    history.through("differentiated", forward.outputs, dag.outputs, equal=False)
    steady = list(dag.outputs)
    # Not the outputs of this stage: they may come from a graph that was simplified already.
    plain = stage.dag
    if not stage.plain:
        plain = stage.derive(_ready(stage.forward.dag), Log().choose)
    given = plain.outputs
    kept = keeping_digits(steady, given, knowledge)
    return dag.with_outputs(history.through("tails as derived", steady, kept)), steady, given


def _ready(dag: Dag) -> Dag:
    """The graph as it is differentiated: derivatives in it have limits where their parts do."""
    return dag.with_outputs(with_limits(dag.outputs))


def _stabilized(
    stage: Stage,
    history: Log,
    trust: Soundness = "rounding",
    rules: Rules = None,
    knowledge: Knowledge | None = None,
    settled: set[Node] | None = None,
    effort: Effort = "normal",
) -> Dag:
    """The graph simplified as before differentiating: by open facts, and by no rule at kinks.

    A derivative is derived from its own forward part, stabilised, and so on down to the function.
    Where no other facts are stated, `knowledge` is as good and what it has found is found once.
    """
    facts = [fact for node in stage.dag.inputs.values() for fact in node.params["assume"]]
    if knowledge is None:
        knowledge, settled = Knowledge(only_open=True), None
    elif not all(fact.is_open for fact in facts):
        knowledge, settled = judged_as_carefully(Knowledge(only_open=True), knowledge), None
    line = [stage]
    while line[-1].forward is not None:
        line.append(line[-1].forward)
    dag = line[-1].dag
    for each in reversed(line):
        if each.derive is not None:
            base, dag = dag, each.derive(dag, history.choose)
            history.through("differentiated", base.outputs, dag.outputs, equal=False)
            dag = _ready(dag)
        outputs, steps = simplified(
            *(dag.outputs, knowledge),
            trust=trust,
            rules=rules,
            settled=settled,
            at_kinks=False,
            last=False,
            effort=effort,
        )
        history.extend(steps)
        dag = dag.with_outputs(outputs)
    if settled:
        settled.difference_update(_unsettled(settled, rule_set(rules)))
    return dag


def _unsettled(settled: Collection[Node], rules: RuleSet) -> set[Node]:
    """Values that a rule may still change: values held back till now, and values made of them."""
    found: set[Node] = set()
    for node in sorted(settled, key=lambda each: each.serial):
        if rules.held_back(node) or not found.isdisjoint(node.operands):
            found.add(node)
    return found
