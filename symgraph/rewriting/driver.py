"""The greedy driver: rules applied bottom-up over hash-consed nodes, with a memo, to a fixpoint.

A node is tried when its operands are final, and the replacement that a rule gives is made final
before it replaces the node. So each node is tried once, whatever the number of its consumers, and
one sweep reaches the fixpoint. Nodes that no output needs any more are not reached. The work is
linear in the graph, and fuel bounds it. Rules that undo one another are found when a node comes
back while it is being replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from ..accuracy import judge_of
from ..errors import RewriteError, RewriteLoopError
from ..ir.collector import collector_paused
from ..ir.fact_inference import Knowledge
from ..ir.node import Node, on_operands, origin
from ..ir.progress import working
from ..ir.walks import reachable
from .index import RuleSet
from .log import Log
from .rule import Fired, Rule, Soundness

__all__ = ["rewrite"]

_FUEL_PER_NODE = 50
_FUEL_AT_LEAST = 10_000
_TOLD_EACH = 64
"""After so many nodes who waits is told how far the sweep is."""


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
        Takes a record of each rule that fires.
    settled : set of Node, optional
        Nodes that an earlier call with the same rules, knowledge and trust left as they are. They
        are not tried again, and the final nodes of this call are added.

    Raises
    ------
    RewriteLoopError
        If rules undo one another; it names the cycle and the user's line.
    RewriteError
        If a rule fails on a node that it matches.
    """
    sweep = _Sweep(rules, knowledge or Knowledge(), trust, log if log is not None else Log())
    with collector_paused():
        nodes = reachable(outputs)
        sweep.fuel = _FUEL_AT_LEAST + _FUEL_PER_NODE * len(nodes)
        if settled is not None:
            sweep.final = {node: node for node in nodes if node in settled}
        for done, node in enumerate(nodes):
            if not done % _TOLD_EACH:
                working("rules", done, len(nodes))
            sweep.finish(node)
        if settled is not None:
            settled.update(sweep.final.values())
    return [sweep.final[output] for output in outputs]


class _Sweep:
    """One run: the nodes that are final, and those that wait for their replacement to be final."""

    def __init__(self, rules: RuleSet, knowledge: Knowledge, trust: Soundness, log: Log) -> None:
        self.rules = rules
        self.knowledge = knowledge
        self.trust: Soundness = trust
        self.log = log
        self.judge = judge_of(knowledge)
        self.fuel = _FUEL_AT_LEAST
        self.final: dict[Node, Node] = {}
        # For each node being replaced its replacement, and the rule ("" if it is only rebuilt).
        self.waiting: dict[Node, tuple[Node, str]] = {}
        self.in_progress: dict[Node, None] = {}

    def finish(self, root: Node) -> None:
        """Find the node that finally replaces `root`."""
        final = self.final
        stack = [root]
        while stack:
            node = stack[-1]
            if node in final:
                stack.pop()
                continue
            if node in self.waiting:
                final[node] = final[self.waiting.pop(node)[0]]
                del self.in_progress[node]
                stack.pop()
                continue
            missing = [operand for operand in node.operands if operand not in final]
            if missing:
                self.in_progress.setdefault(node)
                stack.extend(self._not_in_progress(each) for each in missing)
                continue
            target, rule = self._replacement(node)
            if target is node or target in final:
                final[node] = node if target is node else final[target]
                self.in_progress.pop(node, None)
                stack.pop()
                continue
            self.in_progress.setdefault(node)
            self.waiting[node] = (target, rule)
            stack.append(self._not_in_progress(target))

    def _not_in_progress(self, node: Node) -> Node:
        """The node itself; an error if it is being replaced already, for then it came back."""
        if node in self.in_progress:
            raise self._loop_error(node)
        return node

    def _replacement(self, node: Node) -> tuple[Node, str]:
        operands = tuple([self.final[operand] for operand in node.operands])
        if operands != node.operands:
            return on_operands(node, operands), ""
        # A value that is recomputed on purpose stays as it is.
        for rule in self.rules.candidates(node) if not node.copy else ():
            self.log.tried[rule.name] += 1
            fired = self._tried(rule, node) if rule.fits(node) else None
            if fired is not None and self._keeps_digits(rule, fired, node):
                self._spend_fuel(node)
                self.log.record(rule.name, node, fired.node, fired.sound, rule)
                return fired.node, rule.name
        return node, ""

    def _keeps_digits(self, rule: Rule, fired: Fired, node: Node) -> bool:
        """Whether the replacement keeps digits and range, or loses digits but rescues a value.

        It is not asked of rules whose purpose is to keep digits.
        """
        if rule.stable or fired.sound != "rounding":
            return True
        if not self.judge.loses_digits(fired.node, node):
            return True
        return self.judge.rescues(fired.node, node)

    def _tried(self, rule: Rule, node: Node) -> Fired | None:
        started = perf_counter()
        place = node.origin
        try:
            with origin(place.again(rule.name)):
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
            self.log.took(rule.name, perf_counter() - started)

    def _spend_fuel(self, node: Node) -> None:
        self.fuel -= 1
        if self.fuel < 0:
            recent = [step.rule for step in self.log.steps[-200:]]
            raise self._error(
                _repeated_end(recent), node, "More rewrites than any graph should need"
            )

    def _loop_error(self, back: Node) -> RewriteLoopError:
        """The error of rules that undo one another: those that fired since `back` was visited."""
        nodes = list(self.in_progress)
        since = nodes[nodes.index(back) :]
        cycle = [self.waiting[node][1] for node in since if node in self.waiting]
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


def _repeated_end(names: list[str]) -> list[str]:
    """The shortest sequence that the end of `names` repeats."""
    for length in range(1, len(names) // 2 + 1):
        if names[-length:] == names[-2 * length : -length]:
            return names[-length:]
    return list(dict.fromkeys(names[-10:]))
