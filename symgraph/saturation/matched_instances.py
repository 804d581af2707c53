"""From a match to an instance of a rule: both sides as nodes.

The left side is rebuilt from the matched parts. Then the rule is applied to it by the same call as
in the greedy driver: guards are checked, params and shapes are compared, and the right side must
have the left side's shape and dtype.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import RewriteError, SymgraphError
from ..ir.fact_inference import Knowledge
from ..ir.node import Node, make, origin
from ..records import record
from ..rewriting.pattern import OpPattern, Pattern
from ..rewriting.rule import Rule, Soundness
from .egraph import EGraph, Match

__all__ = ["Equality", "instance_of"]


@record(eq=False)
class Equality:
    """Two values that a rule says are equal.

    Parameters
    ----------
    rule : Rule or None
        The rule; None for constant folding.
    left, right : Node
    sound : "exact" or "rounding"
    """

    rule: Rule | None
    left: Node
    right: Node
    sound: Soundness


def instance_of(
    match: Match, graph: EGraph, knowledge: Knowledge, trust: Soundness
) -> Equality | None:
    """The two sides of a rule at a match; None where the rule does not apply after all."""
    rule = graph.rules[match.rule]
    place = graph.nodes[match.root].origin
    with origin(place.again(rule.name)):
        try:
            left = _built(rule.lhs, iter(match.parts), graph)
            if left.results != graph.nodes[match.root].results:
                return None
            fired = rule.apply(left, knowledge, trust)
        except RewriteError:
            raise
        except SymgraphError:
            return None  # The parts match one by one, but not together.
        except Exception as error:
            raise RewriteError(
                f"Rule {rule.name} failed: {type(error).__name__}: {error}",
                [str(rule), f"at {graph.nodes[match.root]!r}   from {place}"],
                mend="The graph is unchanged; leave the rule out with rules.without(...).",
            ) from error
    if fired is None or fired.node.results != left.results:
        return None
    return Equality(rule, left, fired.node, fired.sound)


def _built(pattern: Pattern, parts: Iterator[int], graph: EGraph) -> Node:
    """The node of a pattern with these parts; the recursion is as deep as the pattern."""
    part = next(parts)
    if not isinstance(pattern, OpPattern):
        return graph.nodes[part]
    operands = [_built(each, parts, graph) for each in pattern.operands]
    return make(pattern.op, operands, graph.params_of(part))
