"""Why two nodes are equal: congruence closure that keeps its reasons.

egglog finds equalities, but is not trusted to be right. Every result of saturation is derived here
once more from the instances of rules alone, and this derivation goes into the log. Source:
R. Nieuwenhuis, A. Oliveras, Proof-producing congruence closure, RTA 2005.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from ..ir.interning import params_key
from ..ir.node import Node
from .matched_instances import Equality

__all__ = ["Closure", "ProofStep"]

ProofStep: TypeAlias = tuple[Node, Node, Equality]
"""A value, its replacement, and the instance of a rule that says they are equal."""

_Pairs: TypeAlias = tuple[tuple[Node, Node], ...]
_Reason: TypeAlias = "Equality | _Pairs"


class Closure:
    """Classes of nodes that are equal by instances of rules, or because their operands are equal.

    Parameters
    ----------
    is_leaf : callable
        Whether the operands of a node are ignored.
    """

    def __init__(self, is_leaf: Callable[[Node], bool]) -> None:
        self._is_leaf = is_leaf
        self._class: dict[Node, Node] = {}
        self._members: dict[Node, list[Node]] = {}
        self._users: dict[Node, list[Node]] = {}
        self._signatures: dict[tuple[Any, ...], Node] = {}
        # A forest: each edge has one reason, and the path between two nodes of a tree is a proof.
        self._edge: dict[Node, tuple[Node, _Reason]] = {}

    def add(self, nodes: Iterable[Node]) -> None:
        """Add nodes, operands first."""
        for node in nodes:
            if node in self._class:
                continue
            self._class[node] = node
            self._members[node] = [node]
            self._users[node] = []
            if not self._is_leaf(node):
                for operand in dict.fromkeys(node.operands):
                    self._users[self._class[operand]].append(node)
                self._look_up(node)

    def equal(self, one: Node, other: Node) -> bool:
        """Whether the two nodes are equal by the equalities merged so far."""
        return self._class[one] is self._class[other]

    def merge(self, instance: Equality) -> None:
        """Merge the classes of two equal nodes, and all classes that are then equal."""
        self._merge(instance.left, instance.right, instance)

    def _merge(self, one: Node, other: Node, reason: _Reason) -> None:
        pending: deque[tuple[Node, Node, _Reason]] = deque([(one, other, reason)])
        while pending:
            a, b, why = pending.popleft()
            small, large = self._class[a], self._class[b]
            if small is large:
                continue
            if len(self._members[small]) > len(self._members[large]):
                a, b, small, large = b, a, large, small
            self._root_at(a)
            self._edge[a] = (b, why)
            for member in self._members.pop(small):
                self._class[member] = large
                self._members[large].append(member)
            for user in self._users.pop(small):
                self._users[large].append(user)
                twin = self._signatures.setdefault(self._signature(user), user)
                if twin is not user:
                    pending.append((user, twin, self._pairs(user, twin)))

    def _look_up(self, node: Node) -> None:
        twin = self._signatures.setdefault(self._signature(node), node)
        if twin is not node:
            self._merge(node, twin, self._pairs(node, twin))

    def _signature(self, node: Node) -> tuple[Any, ...]:
        serials = [self._class[operand].serial for operand in node.operands]
        if _swaps(node):
            serials.sort()
        return (node.op, node.copy, *params_key(node.params), *serials)

    def _pairs(self, one: Node, other: Node) -> _Pairs:
        """The pairs of equal operands."""
        pairs = tuple(zip(one.operands, other.operands, strict=True))
        if _swaps(one) and not all(self.equal(a, b) for a, b in pairs):
            pairs = tuple(zip(one.operands, reversed(other.operands), strict=True))
        return pairs

    def _root_at(self, node: Node) -> None:
        """Reverse the edges above the node, so that it is the root of its tree."""
        line = self._path_to_root(node)
        reasons = [self._edge.pop(below)[1] for below in line[:-1]]
        for below, above, reason in zip(line, line[1:], reasons, strict=False):
            self._edge[above] = (below, _reversed(reason))

    # -- proofs ------------------------------------------------------------------------------------
    def steps(self, one: Node, other: Node) -> list[ProofStep]:
        """The instances of rules that lead from one node to an equal node, each once, in order."""
        found: dict[tuple[Node, Node], ProofStep] = {}
        seen: set[tuple[Node, Node]] = set()
        stack: list[tuple[Node, Node, _Reason | None]] = [(one, other, None)]
        while stack:
            a, b, reason = stack.pop()
            if isinstance(reason, Equality):
                found.setdefault((a, b), (a, b, reason))
            elif reason is not None:
                stack.extend((x, y, None) for x, y in reversed(reason) if x is not y)
            elif (a, b) not in seen and a is not b:
                seen.add((a, b))
                stack.extend(reversed(self._path(a, b)))
        return list(found.values())

    def _path(self, one: Node, other: Node) -> list[tuple[Node, Node, _Reason]]:
        """The edges between two nodes of one tree."""
        above = set(self._path_to_root(one))
        down: list[tuple[Node, Node, _Reason]] = []
        node = other
        while node not in above:
            parent, reason = self._edge[node]
            down.append((parent, node, _reversed(reason)))
            node = parent
        up: list[tuple[Node, Node, _Reason]] = []
        place = one
        while place is not node:
            parent, reason = self._edge[place]
            up.append((place, parent, reason))
            place = parent
        return [*up, *reversed(down)]

    def _path_to_root(self, node: Node) -> list[Node]:
        line = [node]
        while line[-1] in self._edge:
            line.append(self._edge[line[-1]][0])
        return line


def _swaps(node: Node) -> bool:
    return node.op.traits.commutative and len(node.operands) == 2


def _reversed(reason: _Reason) -> _Reason:
    """The reason read from right to left."""
    if isinstance(reason, Equality):
        return reason
    return tuple((b, a) for a, b in reason)
