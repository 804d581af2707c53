"""A factor and a divisor of one product cancel where they are one value: x (y / (z x)) is y / z.

The algebra cancels where it writes a product anew. Where each of its orders of the factors loses
range, or where a product within is so long that the algebra takes it for one array, the product
stays in the order of the chain rule, with both in it. Here the two go, and all else stays in its
order. A value that may be 0 goes if the product is divided by it once more: (x / y) (z / x**2) is
z / (y x), infinite at 0 where the other is NaN. It may be divided by it further above, or by a root
of it: in the slope of u @ v / sqrt(a b) with a = u @ u and b = v @ v, (v - u b (u @ v) / (a b)) /
sqrt(a b), b goes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from ..algebra.regions.poles import below_bounded
from ..array import Array
from ..facts import nonzero, total
from ..ir.fact_inference import Knowledge
from ..ir.node import Node, make, origin
from ..ir.walks import consumers, reachable, replaced
from ..ops.creation import constant_of
from ..ops.elementwise import divide, multiply, negative, sqrt
from ..ops.movement import broadcast_to, reshape
from ..rewriting.guards import uniform_value
from .gains import Change, Loses, changed_one_by_one, is_shorter

__all__ = ["factors_of", "shaped_like", "with_factor", "with_factors_cancelled"]

_MOST_LOOKED_AT = 32
"""So many products and factors of one product are looked at."""

_INSIDE = (multiply.op, divide.op, negative.op, reshape.op)
"""Operations that a factor passes."""


def with_factors_cancelled(
    outputs: Sequence[Node], knowledge: Knowledge, loses: Loses, *, is_body: bool = False
) -> list[Node]:
    """The outputs without factors that are divided by again, if that takes fewer operations.

    Parameters
    ----------
    outputs : sequence of Node
    knowledge : Knowledge
        Only a value that is known to be no NaN of its own, as a logarithm is, cancels.
    loses : Loses
    is_body : bool
        Whether the graph stands inside a loop or a branch, and others read its outputs.
    """
    changes = dict(_changes(outputs, knowledge, is_body=is_body))
    if not changes:
        return list(outputs)
    current = list(outputs)
    if len(changes) > 1:  # Two products may have one quotient within, until it is in neither.
        new = replaced(outputs, changes)
        current = new if is_shorter(new, outputs, loses) else current
    return changed_one_by_one(
        current,
        lambda current: _changes(current, knowledge, is_body=is_body),
        lambda new, old: is_shorter(new, old, loses),
    )


def _changes(outputs: Sequence[Node], knowledge: Knowledge, *, is_body: bool) -> Iterator[Change]:
    """Products, and each without the first value that it has as a factor and is divided by."""
    nodes = reachable(outputs)
    covers = _Covers(nodes, outputs, is_body=is_body)
    for node in nodes:
        if node.op not in (multiply.op, divide.op) or node.dtype.kind != "f" or node.copy:
            continue
        factors = Counter(factors_of(node))
        for factor, power in factors:
            times = factors[factor, -1]
            if power < 0 or not times or factor.is_constant or not knowledge.of(factor).has(total):
                continue
            again = times > factors[factor, 1]
            if knowledge.of(factor).has(nonzero) or covers.show_poles(node, factor, again=again):
                yield from _without(node, factor)
                break


def _without(node: Node, factor: Node) -> Iterator[Change]:
    """The product without a factor that it is divided by, with a reciprocal left or without."""
    for over in (False, True):
        rest = with_factor(node, factor, 1, over=over)
        rest = None if rest is None else with_factor(rest, factor, -1, over=over)
        if rest is not None and rest.dtype == node.dtype:
            yield node, shaped_like(rest, node)


class _Covers:
    """Where a value that is 0 makes infinity or NaN of all that is made of a product."""

    def __init__(self, nodes: Sequence[Node], outputs: Sequence[Node], *, is_body: bool) -> None:
        self._nodes = nodes
        self._outputs = set(outputs)
        self._is_body = is_body

    @cached_property
    def _bounded(self) -> set[Node]:
        return below_bounded(self._nodes, self._outputs if self._is_body else ())

    @cached_property
    def _uses(self) -> dict[Node, list[tuple[Node, int]]]:
        return consumers(self._nodes)

    def show_poles(self, node: Node, factor: Node, *, again: bool) -> bool:
        """Whether a product shows that a factor of it is 0, also where the factor has cancelled.

        It does if it is divided by the factor `again`, or if all values above it are. Infinity may
        stand for NaN then, unless something above that makes a number of it.
        """
        if again:
            return node not in self._bounded
        stack, seen = [node], {node}
        while stack:
            each = stack.pop()
            if each in self._outputs or not self._uses[each] or len(seen) > _MOST_LOOKED_AT:
                return False
            for user, place in self._uses[each]:
                if user in seen or (place == 0 and self._divides(user, factor)):
                    continue
                if factor.aval.size != 1 and not user.op.traits.elementwise:
                    return False  # Elements are moved away from those of the factor.
                seen.add(user)
                stack.append(user)
        return True

    def _divides(self, quotient: Node, factor: Node) -> bool:
        """Whether a quotient is divided by the factor or a root of it, and shows poles."""
        if quotient.op is not divide.op or quotient.copy or quotient in self._bounded:
            return False
        below = [each for each, power in factors_of(quotient.operands[1]) if power > 0]
        roots = [each.operands[0] for each in below if each.op is sqrt.op and not each.copy]
        return factor in below or any((factor, 1) in factors_of(each) for each in roots)


def factors_of(node: Node) -> Iterator[tuple[Node, int]]:
    """Factors of a product, with 1, and its divisors, with -1."""
    stack = [(node, 1)]
    for _ in range(_MOST_LOOKED_AT):
        if not stack:
            return
        each, power = stack.pop()
        if each.op not in _INSIDE:
            yield each, power
            continue
        stack.append((each.operands[0], power))
        if each.op is multiply.op:
            stack.append((each.operands[1], power))
        elif each.op is divide.op:
            stack.append((each.operands[1], -power))


def with_factor(
    node: Node, factor: Node, power: int, new: Node | None = None, *, over: bool = False
) -> Node | None:
    """The product with another value for one factor, or for a divisor, if the power is -1.

    Parameters
    ----------
    node : Node
    factor : Node
    power : int
    new : Node, optional
        The factor goes if none is given.
    over : bool
        Whether what is multiplied by a reciprocal that is left is divided instead.

    Returns
    -------
    Node, optional
        None if the product has no such factor.
    """
    if node is factor and power > 0:
        return constant_of(1, node.dtype).node if new is None else new
    if node.op not in _INSIDE:
        return None
    for place, each in enumerate(node.operands):
        below = node.op is divide.op and place == 1
        left = with_factor(each, factor, -power if below else power, new, over=over)
        if left is not None:
            return _with(node, place, left, over=over)
    return None


def _with(node: Node, place: int, operand: Node, *, over: bool) -> Node:
    """The product with another operand, which may be the number 1."""
    with origin(node.origin):
        if _is_one(operand) and node.op is multiply.op:
            return node.operands[1 - place]
        if _is_one(operand) and (node.op is reshape.op or place == 1):
            return operand if node.op is reshape.op else node.operands[0]
        if node.op is reshape.op:
            wide = shaped_like(operand, node.operands[0])
            return reshape(Array(wide), node.shape).node
        if node.op is multiply.op and over and _is_reciprocal(operand):
            return divide(Array(node.operands[1 - place]), Array(operand.operands[1])).node
        operands = list(node.operands)
        operands[place] = operand
        return make(node.op, tuple(operands), node.params)


def shaped_like(node: Node, like: Node) -> Node:
    """The value in the shape of another: a factor that went may have been the widest."""
    if node.shape == like.shape:
        return node
    with origin(like.origin):
        return broadcast_to(Array(node), like.shape).node


def _is_one(node: Node) -> bool:
    return node.is_constant and node.ndim == 0 and uniform_value(node) == 1


def _is_reciprocal(node: Node) -> bool:
    return node.op is divide.op and not node.copy and _is_one(node.operands[0])
