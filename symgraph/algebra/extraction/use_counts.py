"""Use counts: which nodes are computed, and what a change of the graph would cost.

A change never walks the whole graph. When a node becomes live or dead, only the nodes whose count
changes between zero and one are visited.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from ...ir.avals import Aval
from ...ir.dims import Dim, names_of, resolve
from ...ir.node import Node
from ...ir.walks import reachable

__all__ = ["Price", "UseCounts", "cost_beyond"]

Price: TypeAlias = tuple[int, float, int]
"""Operations, floating-point operations, nodes."""

_NOMINAL = 61
"""The length of a named dimension when costs are compared."""


class UseCounts:
    """The use count of each node.

    A replaced node stands for its replacement: its users keep referring to the old node, which is
    now defined by the new one.

    Parameters
    ----------
    outputs : sequence of Node
    nodes : sequence of Node, optional
        All nodes of the graph, operands first.
    costs : dict of Node to Price, optional
        What nodes of this and of earlier graphs cost by themselves; those of this graph are added.
    """

    def __init__(
        self,
        outputs: Sequence[Node],
        nodes: Sequence[Node] | None = None,
        costs: dict[Node, Price] | None = None,
    ) -> None:
        nodes = reachable(outputs) if nodes is None else nodes
        costs = {} if costs is None else costs
        self._uses: dict[Node, int] = {}
        self._stands_for: dict[Node, Node] = {}
        self._replaced: dict[Node, Node] = {}
        self._varying: dict[Node, bool] = {}
        self._own: dict[Node, Price] = {node: costs[node] for node in nodes if node in costs}
        self._dims: dict[Dim, float] = {}
        self._suspended: dict[Node, int] = {}
        self._prices: dict[Node, Price] = {}
        varying = self._varying
        for node in nodes:
            varying[node] = node.is_input or any(map(varying.__getitem__, node.operands))
        for output in outputs:
            self.retain(output)
        costs.update(self._own)

    # -- identity ----------------------------------------------------------------------------------
    def same(self, node: Node, original: Node) -> None:
        """Record that `node` is `original` on replaced operands."""
        if node is original:
            return
        self._prices.clear()
        if node not in self._uses and node not in self._stands_for:
            self._stands_for[node] = original
        elif self._stands_for.get(node, node) is not original and self.alive(original):
            # The graph has this very node already: the two become one.
            self.suspend(original)
            self.replace(original, node)
            self.resume(original)

    def _operands(self, node: Node) -> list[Node]:
        stands = self._stands_for
        new = self._replaced.get(node)
        if new is not None:
            return [stands.get(new, new)] if new is not node else []
        return [stands.get(each, each) for each in node.operands]

    def replace(self, node: Node, new: Node) -> None:
        """Compute `node` as `new` from now on. The node must be suspended."""
        self._prices.clear()
        self._replaced[node] = new

    def forget(self, node: Node) -> None:
        """Undo `replace`."""
        self._prices.clear()
        del self._replaced[node]

    # -- use counts --------------------------------------------------------------------------------
    def alive(self, node: Node) -> bool:
        """Whether the node is computed."""
        return self._uses.get(self._stands_for.get(node, node), 0) > 0

    def retain(self, node: Node) -> Price:
        """Add one use of the node; the cost that it adds."""
        return self._shift([self._stands_for.get(node, node)], 1)

    def hold(self, nodes: Iterable[Node]) -> tuple[list[Node], Price]:
        """Add one use of each node, until `let_go` is called with them; the cost that this adds."""
        held = [self._stands_for.get(node, node) for node in nodes]
        return held, self._shift(held, 1)

    def let_go(self, held: Iterable[Node]) -> None:
        """Undo `hold`."""
        self._shift(held, -1)

    def suspend(self, node: Node) -> Price:
        """Take the node out, as if it had no users; the cost that this saves."""
        saved = added_cost(self._shift(self._operands(node), -1), self._node_cost(node))
        self._suspended[node] = self._uses.pop(node, 0)
        return saved

    def resume(self, node: Node) -> Price:
        """Put a suspended node back with its present definition; the cost that this adds."""
        self._uses[node] = self._suspended.pop(node)
        return added_cost(self._shift(self._operands(node), 1), self._node_cost(node))

    def _shift(self, nodes: Iterable[Node], by: int) -> Price:
        # An inner loop of the algebra, without calls: each would cost as much as the rest.
        self._prices.clear()
        uses, costs, stands, replaced = self._uses, self._own, self._stands_for, self._replaced
        edge = 0 if by > 0 else 1
        count, flops, number = 0, 0.0, 0
        stack = list(nodes)
        while stack:
            node = stack.pop()
            before = uses.get(node, 0)
            uses[node] = before + by
            if before != edge:
                continue
            new = replaced.get(node)
            if new is not None and new is not node:
                stack.append(stands.get(new, new))
                continue
            own = costs.get(node) or self._own_cost(node)
            count, flops, number = count + own[0], flops + own[1], number + own[2]
            if new is None:
                for operand in node.operands:
                    stack.append(stands.get(operand, operand))
        return count, flops, number

    def price(self, node: Node) -> Price:
        """The cost of computing the node, beyond nodes that are computed anyway."""
        found = self._prices.get(node)
        if found is None:
            found = self._prices[node] = self._price(node)
        return found

    def _price(self, node: Node) -> Price:
        # As `retain`, but nothing is counted: the innermost loop of the algebra.
        uses, costs, stands, replaced = self._uses, self._own, self._stands_for, self._replaced
        count, flops, number = 0, 0.0, 0
        stack = [stands.get(node, node)]
        seen: set[Node] = set()
        while stack:
            node = stack.pop()
            if node in seen or uses.get(node, 0):
                continue
            seen.add(node)
            new = replaced.get(node)
            if new is not None and new is not node:
                stack.append(stands.get(new, new))
                continue
            own = costs.get(node) or self._own_cost(node)
            count, flops, number = count + own[0], flops + own[1], number + own[2]
            if new is None:
                for operand in node.operands:
                    stack.append(stands.get(operand, operand))
        return count, flops, number

    # -- cost of one node --------------------------------------------------------------------------
    def _node_cost(self, node: Node) -> Price:
        new = self._replaced.get(node)
        if new is not None and new is not node:
            return (0, 0.0, 0)
        return self._own.get(node) or self._own_cost(node)

    def _own_cost(self, node: Node) -> Price:
        if node.is_input:
            found = (0, 0.0, 0)
        elif self.varying(node):
            found = (node.op.count, self._flops(node), 1)
        else:
            found = (0, 0.0, 1)
        self._own[node] = found
        return found

    def varying(self, node: Node) -> bool:
        """Whether the node depends on an input."""
        varying = self._varying
        found = varying.get(node)
        if found is not None:
            return found
        for operand in node.operands:
            if varying.get(operand):  # Nearly always all operands are known.
                varying[node] = True
                return True
        stack = [node]
        while stack:
            top = stack[-1]
            if top in self._varying:
                stack.pop()
                continue
            if top.is_input:
                self._varying[top] = True
                continue
            missing = [each for each in top.operands if each not in self._varying]
            if missing:
                stack.extend(missing)
                continue
            self._varying[top] = any(self._varying[each] for each in top.operands)
        return self._varying[node]

    def _flops(self, node: Node) -> float:
        avals: list[Any] = [
            self._numeric(each.results[0])
            if len(each.results) == 1
            else tuple(self._numeric(aval) for aval in each.results)
            for each in node.operands
        ]
        out = self._numeric(node.results[0])
        found = node.op.flops(out, *avals, **node.params)
        return float(found) if isinstance(found, (int, float)) else self.size(found)

    def _numeric(self, aval: Aval) -> Aval:
        for dim in aval.shape:
            if not isinstance(dim, int):
                return aval.with_shape([int(self.size(dim)) for dim in aval.shape])
        return aval

    def size(self, dim: Dim) -> float:
        """The length of a dimension, as it is used to compare costs."""
        if isinstance(dim, int):
            return dim
        found = self._dims.get(dim)
        if found is None:
            env = dict.fromkeys(names_of(dim), _NOMINAL)
            found = self._dims[dim] = float(resolve(dim, env))
        return found


def added_cost(a: Price, b: Price) -> Price:
    """The sum of two costs."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def cost_beyond(a: Price, b: Price) -> Price:
    """The first cost without the second one."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])
