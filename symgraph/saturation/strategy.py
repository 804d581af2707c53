"""The strategy `saturate`: the greedy result, saturated in windows, and greedily simplified again.

The greedy pass comes first, so that the e-graph starts from stable forms. It comes last too, so
that the result is as stable and as simple as any result of the library. The result is kept only
where it is cheaper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module

from ..accuracy import Judge, judge_of
from ..ir.collector import collector_paused
from ..ir.cost import varying
from ..ir.fact_inference import Knowledge
from ..ir.node import Node, make, origin
from ..passes.gains import keeps_digits
from ..passes.simplify import Rules, rule_set, simplified
from ..rewriting.log import Log, Step
from ..rewriting.rule import Rule, RulePack, Soundness
from .bounds import SaturationBounds
from .directions import with_directions
from .proof import ProofStep
from .search import EGraphSearch, ordered, price

__all__ = ["axioms_besides", "is_cheaper", "saturated"]


def axioms_besides(taken: Iterable[str]) -> RulePack:
    """The rules of this strategy alone, without those whose names are taken."""
    names = set(taken)
    # The rules are imported when they are needed: to declare them takes as long as to import NumPy.
    axioms: RulePack = import_module(f"{__package__}.axioms").AXIOMS
    return RulePack(axioms.name, tuple(rule for rule in axioms if rule.name not in names))


def saturated(
    outputs: Sequence[Node],
    knowledge: Knowledge,
    *,
    trust: Soundness = "rounding",
    rules: Rules = None,
    bounds: SaturationBounds | None = None,
) -> tuple[list[Node], Log]:
    """The outputs of a greedy simplification, made cheaper, and the log of all steps.

    Parameters
    ----------
    outputs : sequence of Node
        The result of `simplified` for the same knowledge, trust and rules.
    knowledge, trust, rules
        As for `simplified`. Rules of grade `domain` are left to the greedy passes, for an e-graph
        reads every equality in both directions.
    bounds : SaturationBounds, optional

    Raises
    ------
    SymgraphError
        If egglog is not installed.
    """
    bounds = bounds or SaturationBounds()
    chosen = rule_set(rules)
    every = with_directions([*chosen, *axioms_besides(rule.name for rule in chosen)])
    log = Log()
    best = list(outputs)
    judge = judge_of(knowledge)
    with collector_paused():
        for _ in range(bounds.rounds):
            trial = Log()
            new = _Windows(best, every, knowledge, trust, bounds, trial).run()
            if new == best:
                break
            again, steps = simplified(new, knowledge, trust=trust, rules=chosen)
            trial.extend(steps)
            if not is_cheaper(again, best, judge):
                break
            log.extend(trial)
            best = again
    return best, log


def is_cheaper(new: Sequence[Node], old: Sequence[Node], judge: Judge) -> bool:
    """Whether `new` has fewer operations or flops, more of neither, and keeps digits and range."""
    after, before = price(new), price(old)
    if after[0] > before[0] or after[1] > before[1] or after == before:
        return False
    return keeps_digits(new, old, judge.loses)


class _Windows:
    """One walk over the graph, window by window, operands first."""

    def __init__(
        self,
        outputs: Sequence[Node],
        rules: Sequence[Rule],
        knowledge: Knowledge,
        trust: Soundness,
        bounds: SaturationBounds,
        log: Log,
    ) -> None:
        self.outputs = list(outputs)
        self.rules = rules
        self.knowledge = knowledge
        self.trust: Soundness = "exact" if trust == "exact" else "rounding"
        self.bounds = bounds
        self.log = log
        self.varies = set(varying(outputs))
        self.order = [node for node in ordered(outputs) if node in self.varies]
        self.users: dict[Node, list[Node]] = {}
        for node in self.order:
            for operand in node.operands:
                self.users.setdefault(operand, []).append(node)
        self.now: dict[Node, Node] = {}

    def run(self) -> list[Node]:
        """The outputs with each window in the cheapest form found."""
        size = self.bounds.window
        for start in range(0, len(self.order), size):
            self._visit(self.order[start : start + size])
        new = [self.now.get(output, output) for output in self.outputs]
        return self.log.through("saturation", self.outputs, new)

    def _visit(self, window: Sequence[Node]) -> None:
        now, inside = self.now, set(window)
        for node in window:
            operands = tuple([now.get(each, each) for each in node.operands])
            now[node] = node
            if operands != node.operands:
                with origin(node.origin):
                    now[node] = make(node.op, operands, node.params, node.copy)
        needed = [each for node in window for each in node.operands if each in self.varies]
        leaves = {now[each] for each in needed if each not in inside}
        ends = [
            node
            for node in window
            if node in self.outputs or any(each not in inside for each in self.users.get(node, ()))
        ]
        found = self._saturated(list(dict.fromkeys(now[node] for node in ends)), leaves)
        for node in ends:
            now[node] = found.get(now[node], now[node])

    def _saturated(self, roots: list[Node], leaves: set[Node]) -> dict[Node, Node]:
        search = EGraphSearch(
            roots,
            leaves,
            self.varies | leaves,
            self.rules,
            self.knowledge,
            self.trust,
            self.bounds,
        )
        new = search.run()
        if not is_cheaper(new, roots, judge_of(self.knowledge)):
            return {}
        for step in search.proof(new):
            self.log.steps.append(_logged(step))
        for before, after in zip(roots, new, strict=True):
            if before is not after:
                whole = Step("saturate", before, after, before.origin, self.trust, None, "region")
                self.log.steps.append(whole)
        return dict(zip(roots, new, strict=True))


def _logged(step: ProofStep) -> Step:
    """The step of a proof as a step of the log."""
    before, after, instance = step
    rule = instance.rule
    if rule is None:
        return Step("constants_folded", before, after, before.origin, "exact", None, "region")
    by = rule if before is instance.left else None
    return Step(rule.name, before, after, before.origin, instance.sound, by, "rule")
