r"""Differences of an array and its transpose, where one is the negative of the other: $2 t$.

Pairs of points have differences $d_{ijk} = x_{ik} - x_{jk}$, which change sign when i and j are
exchanged, and so does each force $t_{ijk} = w_{ij} d_{ijk}$ with symmetric weights. The gradient of
an energy of pairs is the sum over j of $t_{ijk} - t_{jik}$, which is $2 t_{ijk}$. Facts tell
symmetric matrices; here two axes of any array are exchanged, and both sides are compared down to
the arrays that they are computed from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from typing import TypeAlias

from ..array import Array
from ..facts import antisymmetric, symmetric
from ..ir.cost import op_count
from ..ir.dims import known_equal
from ..ir.fact_inference import Knowledge
from ..ir.interning import params_key
from ..ir.node import Node, origin
from ..ir.walks import reachable
from ..ops.carrying import carries_reduced
from ..ops.elementwise import multiply, negative
from ..ops.movement import TRANSPOSE
from ..rewriting.guards import uniform_value
from .gains import Change, Loses, changed_one_by_one, keeps_digits

__all__ = ["with_mirrored_differences"]

_MOST_COMPARED = 500
"""So many pairs of values are compared for one difference."""

_DEEPEST = 40
"""So far below the difference."""

_MOST_JOINED = 32
"""So many factors of a product, or terms of a sum, are compared."""

Labels: TypeAlias = "tuple[Hashable, ...]"
"""The index of each axis; None for an axis of length 1."""

Part: TypeAlias = "tuple[Node, Labels, int]"
"""A factor with its power, or a term with its sign."""


def with_mirrored_differences(
    outputs: Sequence[Node], knowledge: Knowledge, loses: Loses
) -> list[Node]:
    """The outputs with $t - t^T$ as $2 t$ where t is antisymmetric, or with a sum if symmetric.

    Parameters
    ----------
    outputs : sequence of Node
    knowledge : Knowledge
        Tells which matrices are symmetric.
    loses : Loses
    """
    return changed_one_by_one(
        outputs,
        lambda current: _changes(reachable(current), knowledge),
        # As many operations; but the 2 may meet other numbers.
        lambda new, old: op_count(new) <= op_count(old) and keeps_digits(new, old, loses),
    )


def _changes(nodes: Sequence[Node], knowledge: Knowledge) -> Iterator[Change]:
    for node in nodes:
        new = _doubled(node, knowledge)
        if new is not None:
            yield node, new


def _doubled(node: Node, knowledge: Knowledge) -> Node | None:
    """Twice the array, or minus twice, for a sum or difference of it and its transpose; or None."""
    by = node.op.traits.combination
    if by not in ((1, 1), (1, -1)) or node.dtype.kind != "f" or node.copy:
        return None
    for place, each in enumerate(node.operands):
        array = node.operands[1 - place]
        if each.op is not TRANSPOSE or each.operands[0] is not array:
            continue
        axes = each.params["axes"]
        moved = [own for own, axis in zip(range(-array.ndim, 0), axes, strict=True) if own != axis]
        if len(moved) != 2 or array.shape != node.shape:
            return None
        sign = _Mirror(knowledge).sign(array, moved[0], moved[1])
        count = by[1 - place] + sign * by[place]
        if not sign or not count:
            return None
        with origin(node.origin):
            return multiply(Array(array), count).node
    return None


class _Mirror:
    """Compares the values of arrays when two of their axes are exchanged.

    Parameters
    ----------
    knowledge : Knowledge
    """

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self.known: dict[tuple[Node, Labels, Node, Labels], int] = {}
        self._depth = 0

    def sign(self, node: Node, first: int, second: int) -> int:
        """1 if the array stays when the axes are exchanged, -1 if it is negated, else 0."""
        straight = _labels(node, tuple(range(-node.ndim, 0)))
        other = {first: second, second: first}
        turned = tuple([other.get(each, each) for each in range(-node.ndim, 0)])
        return self.compared(node, _labels(node, turned), node, straight)

    def compared(self, a: Node, at: Labels, b: Node, to: Labels) -> int:
        """1 if the arrays are equal at their indices, -1 if one is minus the other, else 0."""
        a, at = _below_views(a, at)
        b, to = _below_views(b, to)
        key = (a, at, b, to)
        if key not in self.known:
            if len(self.known) > _MOST_COMPARED or self._depth > _DEEPEST:
                return 0
            self._depth += 1
            self.known[key] = self._compared(a, at, b, to)
            self._depth -= 1
        return self.known[key]

    def _compared(self, a: Node, at: Labels, b: Node, to: Labels) -> int:
        if a is b and at == to:
            return 1
        if a is b and a.ndim >= 2 and at == (*to[:-2], to[-1], to[-2]):
            facts = self.knowledge.of(a)
            if facts.has(symmetric) or facts.has(antisymmetric):
                return 1 if facts.has(symmetric) else -1
        number, other = uniform_value(a), uniform_value(b)
        if number is not None and other is not None:
            return 1 if number == other else -1 if number == -other else 0
        if _is_product(a) or _is_product(b):
            return self._products(a, at, b, to)
        if a.op.traits.combination and b.op.traits.combination:
            return self._sums(_terms(a, at), _terms(b, to))
        if not _are_alike(a, b):
            return 0
        if a.op.traits.elementwise or a.op.carries is carries_reduced:
            return self._by_operands(a, at, b, to)
        if _is_over_all_of(a, at, to):
            found = self.compared(a.operands[0], at, b.operands[0], to)
            return max(found, 0)
        return 0

    def _by_operands(self, a: Node, at: Labels, b: Node, to: Labels) -> int:
        """The comparison of two values of one operation, by that of their operands in order."""
        found = 1
        for place, (x, y) in enumerate(zip(a.operands, b.operands, strict=True)):
            # Axes that are summed within one another are not to be taken for the same.
            where, there = (_carried(*each, place, self._depth) for each in ((a, at), (b, to)))
            sign = self.compared(x, where, y, there)
            if sign >= 0:
                found *= sign
                continue
            parity = a.op.traits.parity_in(place, len(a.operands))
            found *= parity
        return found

    def _products(self, a: Node, at: Labels, b: Node, to: Labels) -> int:
        number, left = _factors(a, at)
        other, right = _factors(b, to)
        if abs(number) != abs(other) or len(left) != len(right) or not number:
            return 0
        if len(left) == 1 and (left[0][0], right[0][0]) == (a, b):
            return 0
        found = 1 if number == other else -1
        for x, where, power in left:
            for place, (y, there, raised) in enumerate(right):
                sign = self.compared(x, where, y, there) if power == raised else 0
                if sign:
                    found *= sign if power % 2 else 1
                    del right[place]
                    break
            else:
                return 0
        return found

    def _sums(self, left: list[Part], right: list[Part]) -> int:
        """Whether each term of one sum has an equal one, or each a negative one, in the other."""
        if len(left) != len(right):
            return 0
        for wanted in (1, -1):
            rest = list(right)
            for x, where, sign in left:
                for place, (y, there, other) in enumerate(rest):
                    if self.compared(x, where, y, there) * sign * other == wanted:
                        del rest[place]
                        break
                else:
                    break
            if not rest:
                return wanted
        return 0


def _are_alike(a: Node, b: Node) -> bool:
    """Whether both are the one result of the same operation of their operands."""
    if a.op is not b.op or a.copy != b.copy or len(a.results) != 1:
        return False
    return params_key(a.params) == params_key(b.params)


def _is_over_all_of(node: Node, at: Labels, to: Labels) -> bool:
    """Whether it is a softmax or its like over axes of which none is exchanged with another."""
    kind = node.op.traits.exponential_sum
    if kind is None or not kind.over_axis or [*node.params] != ["axis"]:
        return False
    if node.operands[0].shape != node.shape:
        return False  # A sum, not a share.
    axis = node.params["axis"]
    axes = axis if isinstance(axis, tuple) else (axis,)
    return {at[each] for each in axes} == {to[each] for each in axes}


def _labels(node: Node, labels: Labels) -> Labels:
    """The labels, without those of axes of length 1."""
    pairs = zip(node.shape, labels, strict=True)
    return tuple([None if known_equal(size, 1) else label for size, label in pairs])


def _carried(node: Node, labels: Labels, place: int, level: int = 0) -> Labels:
    """The labels of an operand; an axis that is reduced is one of its operation and level."""
    operand = node.operands[place]
    avals = [each.aval for each in node.operands]
    axes = node.op.carries(node.aval, *avals, slot=place, **node.params)
    own = range(-operand.ndim, 0)
    found = [
        (node.op, level, each) if axis is None else labels[axis]
        for each, axis in zip(own, axes, strict=True)
    ]
    return _labels(operand, tuple(found))


def _below_views(node: Node, labels: Labels) -> tuple[Node, Labels]:
    """The array below views that keep all of its axes, with their labels."""
    while node.op.view and not node.copy:
        found = _carried(node, labels, 0)
        if any(isinstance(each, tuple) and each[0] is node.op for each in found):
            break  # A part of it, or its axes joined.
        node, labels = node.operands[0], found
    return node, labels


def _is_product(node: Node) -> bool:
    """Whether it is a product or quotient, a whole power, or the negative of a value."""
    powers = node.op.traits.monomial
    whole = bool(powers) and all(int(power) == power for power in powers)
    return (whole or node.op is negative.op) and not node.copy


def _factors(node: Node, labels: Labels) -> tuple[float, list[Part]]:
    """A number and the factors of a product."""
    number, found = 1.0, list[Part]()
    waiting = deque([(node, labels, 1)])
    while waiting:
        each, at, power = waiting.popleft()
        each, at = _below_views(each, at)
        value = uniform_value(each)
        if value is not None and float(value):
            number *= float(value) ** power
        elif each.op is negative.op and not each.copy:
            number *= -1 if power % 2 else 1
            waiting.append((each.operands[0], _carried(each, at, 0), power))
        elif _is_product(each) and len(found) + len(waiting) < _MOST_JOINED:
            for place, by in enumerate(each.op.traits.monomial):
                waiting.append((each.operands[place], _carried(each, at, place), power * int(by)))
        else:
            found.append((each, at, power))
    return number, found


def _terms(node: Node, labels: Labels) -> list[Part]:
    """The terms of a sum, each with its sign."""
    found = list[Part]()
    waiting = deque([(node, labels, 1)])
    while waiting:
        each, at, sign = waiting.popleft()
        each, at = _below_views(each, at)
        by = each.op.traits.combination
        if by in ((1, 1), (1, -1)) and not each.copy and len(found) < _MOST_JOINED:
            for place, one in enumerate(by):
                waiting.append((each.operands[place], _carried(each, at, place), sign * one))
        else:
            found.append((each, at, sign))
    return found
