"""The greedy driver: rules applied bottom-up over hash-consed nodes, with a memo, to a fixpoint.

A node is tried when its operands are final, and what a rule gives is made final before it stands
for the node; so each node is tried once, whatever the number of its consumers, and one sweep is a
fixpoint. Nodes no output needs any more are simply not reached. Work is linear in the graph and
bounded absolutely; rules that undo one another are found when a value comes back while it is being
replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from ..accuracy import judge_of
from ..errors import RewriteError, RewriteLoopError
from ..ir.collector import collector_paused
from ..ir.fact_inference import Knowledge
from ..ir.node import Node, Origin, make, origin, reachable
from .index import RuleSet
from .log import Log
from .rule import Fired, Rule, Soundness

__all__ = ["rewrite"]

_FUEL_PER_NODE = 50
_FUEL_AT_LEAST = 10_000


def rewrite(
    outputs: Sequence[Node],
    rules: RuleSet,
    knowledge: Knowledge | None = None,
    *,
    trust: Soundness = "rounding",
    log: Log | None = None,
    settled: set[Node] | None = None,
) -> list[Node]:
    """The outputs after the rules have been applied wherever they fit.

    Parameters
    ----------
    outputs : sequence of Node
    rules : RuleSet
    knowledge : Knowledge, optional
        Facts that guards may use.
    trust : "exact", "rounding" or "domain"
        The weakest grade of soundness to accept.
    log : Log, optional
        Where to record what fired.
    settled : set of Node, optional
        Nodes that an earlier call with the same rules, knowledge and trust has left as they are;
        they are not tried again, and those of this call are added.

    Raises
    ------
    RewriteLoopError
        If rules undo one another; it names the cycle and the user's line.
    RewriteError
        If a rule fails on what it matched.
    """
    sweep = _Sweep(rules, knowledge or Knowledge(), trust, log if log is not None else Log())
    with collector_paused():
        nodes = reachable(outputs)
        sweep.fuel = _FUEL_AT_LEAST + _FUEL_PER_NODE * len(nodes)
        if settled is not None:
            sweep.final = {node: node for node in nodes if node in settled}
        for node in nodes:
            sweep.finish(node)
        if settled is not None:
            settled.update(sweep.final.values())
    return [sweep.final[output] for output in outputs]


class _Sweep:
    """One run: which nodes are final, and which wait for what."""

    def __init__(self, rules: RuleSet, knowledge: Knowledge, trust: Soundness, log: Log) -> None:
        self.rules = rules
        self.knowledge = knowledge
        self.trust: Soundness = trust
        self.log = log
        self.judge = judge_of(knowledge)
        self.fuel = _FUEL_AT_LEAST
        self.final: dict[Node, Node] = {}
        # Of a node being replaced: what is to stand for it, and by which rule ("" if only rebuilt).
        self.waits: dict[Node, tuple[Node, str]] = {}
        self.open: dict[Node, None] = {}

    def finish(self, root: Node) -> None:
        """Find what finally stands for `root`."""
        final = self.final
        stack = [root]
        while stack:
            node = stack[-1]
            if node in final:
                stack.pop()
                continue
            if node in self.waits:
                final[node] = final[self.waits.pop(node)[0]]
                del self.open[node]
                stack.pop()
                continue
            missing = [operand for operand in node.operands if operand not in final]
            if missing:
                self._open(node)
                stack.extend(self._closed(each) for each in missing)
                continue
            target, rule = self._replacement(node)
            if target is node or target in final:
                final[node] = node if target is node else final[target]
                self.open.pop(node, None)
                stack.pop()
                continue
            self._open(node)
            self.waits[node] = (target, rule)
            stack.append(self._closed(target))

    def _open(self, node: Node) -> None:
        self.open.setdefault(node)

    def _closed(self, node: Node) -> Node:
        """`node`, refused if it is being replaced already: it came back."""
        if node in self.open:
            raise self._loop(node)
        return node

    def _replacement(self, node: Node) -> tuple[Node, str]:
        operands = tuple([self.final[operand] for operand in node.operands])
        if operands != node.operands:
            with origin(node.origin):
                return make(node.op, operands, node.params, node.copy), ""
        # What is computed again on purpose stays as it is.
        for rule in self.rules.candidates(node) if not node.copy else ():
            self.log.tried[rule.name] += 1
            fired = self._fired(rule, node) if rule.fits(node) else None
            if fired is not None and self._keeps_digits(rule, fired, node):
                self._spend(node)
                self.log.record(rule.name, node, fired.node, fired.sound, rule)
                return fired.node, rule.name
        return node, ""

    def _keeps_digits(self, rule: Rule, fired: Fired, node: Node) -> bool:
        """Whether digits and range stay, or a value is rescued for some digits.

        Of rules that are there for digits it is not asked.
        """
        if rule.stable or fired.sound != "rounding":
            return True
        if not self.judge.loses(fired.node, node):
            return True
        return self.judge.rescues(fired.node, node)

    def _fired(self, rule: Rule, node: Node) -> Fired | None:
        started = perf_counter()
        place = node.origin
        try:
            with origin(Origin(place.frames, place.adjoint_of, rule.name)):
                return rule.apply(node, self.knowledge, self.trust)
        except RewriteError:
            raise
        except Exception as error:
            raise RewriteError(
                f"Rule {rule.name} failed: {type(error).__name__}: {error}",
                [str(rule), f"at {node!r}   from {place}"],
                mend="The graph is unchanged; leave the rule out with rules.without(...).",
            ) from error
        finally:
            spent = self.log.seconds.get(rule.name, 0.0)
            self.log.seconds[rule.name] = spent + perf_counter() - started

    def _spend(self, node: Node) -> None:
        self.fuel -= 1
        if self.fuel < 0:
            recent = [step.rule for step in self.log.steps[-200:]]
            raise self._error(_repeating(recent), node, "More rewrites than any graph should need")

    def _loop(self, back: Node) -> RewriteLoopError:
        """Between the two visits of `back` stand the rules that undo one another."""
        nodes = list(self.open)
        cycle = [self.waits[node][1] for node in nodes[nodes.index(back) :] if node in self.waits]
        return self._error([rule for rule in cycle if rule], back, "Rules undo one another")

    def _error(self, cycle: list[str], node: Node, what: str) -> RewriteLoopError:
        chain = " -> ".join([*cycle, cycle[0]]) if cycle else "unknown"
        frames = node.origin.frames
        place = f" at {frames[0]}" if frames else ""
        return RewriteLoopError(
            f"{what}: {chain}{place}.",
            [f"{node!r}", *(frame.quoted() for frame in frames)],
            mend="Leave one of the rules out, as in rules.without('name'). The graph is unchanged.",
        )


def _repeating(names: list[str]) -> list[str]:
    """The shortest sequence that the end of `names` repeats."""
    for length in range(1, len(names) // 2 + 1):
        if names[-length:] == names[-2 * length : -length]:
            return names[-length:]
    return list(dict.fromkeys(names[-10:]))
