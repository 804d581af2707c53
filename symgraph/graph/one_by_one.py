"""The outputs of a small graph simplified one by one, where a value that they share is in the way.

Each region of the algebra is priced with the others as they are. So of x / u - v / u and
y / u - v / u none becomes (x - v) / u: v / u stays for the other one, and nothing is saved. Alone,
each output takes its shortest form, and what these have in common is one value again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..ir.node import Node
from ..ir.walks import reachable, use_counts
from ..rewriting.log import Log

__all__ = ["Simplify", "are_in_the_way", "one_by_one"]

_MOST_OUTPUTS = 6

Simplify: TypeAlias = Callable[[list[Node]], tuple[list[Node], Log]]


def one_by_one(outputs: Sequence[Node], simplify: Simplify) -> tuple[list[Node], Log]:
    """The outputs, each simplified alone, and the steps."""
    log, found = Log(), list[Node]()
    for output in outputs:
        (new,), steps = simplify([output])
        log.steps.extend(steps.steps)
        found.append(new)
    return log.through("outputs simplified one by one", outputs, found), log


def are_in_the_way(outputs: Sequence[Node]) -> bool:
    """Whether two terms of a sum have one divisor, and a quotient in them is used elsewhere."""
    if not 2 <= len(set(outputs)) <= _MOST_OUTPUTS:
        return False
    nodes = reachable(outputs)
    uses = use_counts(nodes, outputs)
    for node in nodes:
        if len(node.op.traits.combination) == 2:
            one, other = map(_quotients, node.operands)
            divisors = {each.operands[1] for each in one} & {each.operands[1] for each in other}
            if divisors and any(uses[each] > 1 for each in (*one, *other)):
                return True
    return False


_DEEP = 3


def _quotients(node: Node) -> list[Node]:
    """The quotients among the factors of a value, as far as they are seen at once."""
    found: list[Node] = []
    level = [node]
    for _ in range(_DEEP):
        found.extend([each for each in level if each.op.traits.monomial == (1, -1)])
        level = [factor for each in level for factor in _factors(each)]
    return found


def _factors(node: Node) -> Sequence[Node]:
    if node.op.traits.combination == (-1,):
        return node.operands
    match node.op.traits.monomial:
        case (1, 1):
            return node.operands
        case (1, -1):
            return node.operands[:1]
        case _:
            return ()
