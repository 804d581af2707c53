"""Facts of every node, from facts of inputs upward, and why each holds.

Each operation states what it knows of its result given what is known of its operands (`Op.facts`); this
module runs those statements over a graph, without recursion, and remembers the reasons.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

from .avals import Aval
from .dag import Node, reachable
from .facts import Fact, consistent

__all__ = ["Knowledge", "Known"]


class Known:
    """What is known of one value: facts with the reason for each, bounds, and its aval.

    Operands that are the same node are the same `Known` object: `x is y` tells x * x from x * y.
    """

    __slots__ = ("aval", "facts", "high", "low", "node", "reasons")

    def __init__(self, node: Node, facts: Iterable[tuple[Fact, str]]) -> None:
        self.node = node
        self.aval: Aval = node.aval
        stated = dict(facts)
        self.facts = consistent(stated)
        self.reasons = stated
        bounds = [fact.args for fact in self.facts if fact.name == "interval"]
        self.low: float = max((low for low, _ in bounds), default=-inf)
        self.high: float = min((high for _, high in bounds), default=inf)
        if Fact("nonnegative") in self.facts:
            self.low = max(self.low, 0.0)
        if Fact("nonpositive") in self.facts:
            self.high = min(self.high, 0.0)

    def has(self, fact: Fact) -> bool:
        if fact in self.facts:
            return True
        if fact.name == "interval":
            return self.low >= fact.args[0] and self.high <= fact.args[1]
        return False

    def __contains__(self, fact: Fact) -> bool:
        return self.has(fact)


_OPPOSITE = {
    "positive": "nonpositive",
    "nonpositive": "positive",
    "negative": "nonnegative",
    "nonnegative": "negative",
}


class Knowledge:
    """Facts of nodes, found on demand and kept.

    Parameters
    ----------
    only_open : bool
        Leave out equality facts of inputs: what may be used before differentiating.
    """

    def __init__(self, *, only_open: bool = False) -> None:
        self.only_open = only_open
        self._known: dict[Node, Known] = {}

    def of(self, node: Node) -> Known:
        """All that is known of `node`."""
        found = self._known.get(node)
        if found is not None:
            return found
        stack = [node]
        while stack:
            top = stack[-1]
            missing = [operand for operand in top.operands if operand not in self._known]
            if top in self._known:
                stack.pop()
            elif missing:
                stack.extend(missing)
            else:
                self._known[top] = self._derive(top)
                stack.pop()
        return self._known[node]

    def _derive(self, node: Node) -> Known:
        operands = [self._known[operand] for operand in node.operands]
        stated: dict[Fact, str] = {}
        params: dict[str, Any] = dict(node.params)
        if node.is_input:
            for fact in params["assume"]:
                if fact.is_open or not self.only_open:
                    stated[fact] = f"stated of input {params['name']!r}"
        else:
            for fact in node.op.facts(*operands, **params):
                stated.setdefault(fact, f"by {node.op.name}")
        if node.aval.dtype.kind in "iub":
            stated.setdefault(Fact("integer_valued"), f"dtype {node.aval.dtype}")
            stated.setdefault(Fact("finite"), f"dtype {node.aval.dtype}")
        if node.aval.dtype.kind in "ub":
            stated.setdefault(Fact("nonnegative"), f"dtype {node.aval.dtype}")
        return Known(node, stated.items())

    def holds(self, node: Node, fact: Fact) -> bool | None:
        """True or False where it is known, None where it is not."""
        known = self.of(node)
        if known.has(fact):
            return True
        opposite = _OPPOSITE.get(fact.name)
        if opposite is not None and known.has(Fact(opposite)) and known.aval.size != 0:
            return False
        return None

    def why(self, node: Node, fact: Fact) -> str:
        """The chain of reasons for a fact, one line each; what is missing if it is not known."""
        if not self.of(node).has(fact):
            return f"{fact} is not known of {node!r}."
        lines: list[str] = []
        seen: set[Node] = set()
        queue: list[tuple[Node, Fact]] = [(node, fact)]
        while queue:
            where, what = queue.pop(0)
            known = self.of(where)
            if where in seen or not known.has(what):
                continue
            seen.add(where)
            cause: Fact = what
            while cause in known.facts and known.facts[cause] is not None:
                cause = known.facts[cause] or cause
            reason = known.reasons.get(cause, "from its bounds")
            via = f" (from {cause})" if cause != what else ""
            place = f" at {where.origin}" if str(where.origin) else ""
            lines.append(f"{what}: {where!r}{place}: {reason}{via}")
            for operand in where.operands:
                operand_facts = [each for each in self.of(operand).reasons]
                queue.extend((operand, each) for each in operand_facts[:1])
        return "\n".join(lines)


def knowledge_of(outputs: Iterable[Node], *, only_open: bool = False) -> Knowledge:
    """Facts of all nodes the outputs depend on."""
    knowledge = Knowledge(only_open=only_open)
    for node in reachable(outputs):
        knowledge.of(node)
    return knowledge
