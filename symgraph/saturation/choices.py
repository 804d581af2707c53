"""The ways to compute each class of equal nodes, and the cost of a choice among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ir.node import Node
from ..records import record

__all__ = ["Choices", "ENode"]


@record(eq=False)
class ENode:
    """One way to compute a class.

    Parameters
    ----------
    node : Node
    own : int
        The class of the node.
    below : tuple of int
        The classes of its operands.
    weight : float
        The cost of the node without its operands.
    """

    node: Node
    own: int
    below: tuple[int, ...]
    weight: float


class Choices:
    """All ways to compute each class, and the chosen ones.

    Parameters
    ----------
    enodes : sequence of ENode
        The first of each class is kept unless another one is cheaper.
    roots : sequence of int
    """

    def __init__(self, enodes: Sequence[ENode], roots: Sequence[int]) -> None:
        self.roots = tuple(dict.fromkeys(roots))
        self.ways: dict[int, list[ENode]] = {}
        for each in enodes:
            self.ways.setdefault(each.own, []).append(each)
        self.chosen: dict[int, ENode] = {}

    def total(self, chosen: Mapping[int, ENode]) -> float:
        """The cost of the roots with these choices; infinite where a class needs itself."""
        order = self.order(chosen)
        return float("inf") if order is None else sum(chosen[each].weight for each in order)

    def order(self, chosen: Mapping[int, ENode]) -> list[int] | None:
        """The classes that the roots need, operands first; None where a class needs itself."""
        done: dict[int, bool] = {}
        order: list[int] = []
        stack = list(reversed(self.roots))
        while stack:
            top = stack[-1]
            if done.get(top):
                stack.pop()
                continue
            if top in done:
                done[top] = True
                order.append(top)
                stack.pop()
                continue
            if top not in chosen:
                return None
            done[top] = False
            for each in chosen[top].below:
                if each not in done:
                    stack.append(each)
                elif not done[each]:
                    return None
        return order
