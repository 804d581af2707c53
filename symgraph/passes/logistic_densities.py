r"""A sigmoid times its complement, as a hyperbolic function: $\sigma(x)\,\sigma(-x)$.

$\sigma(x)\,(1 - \sigma(x)) = \sigma(x)\,\sigma(-x) = 1 / (4 \cosh^2(x/2))$, the density of the
logistic distribution, is the slope of a sigmoid. With cosh it has its digits in both tails for one
function where the sigmoids are two. Beside it $\sigma(x) - \sigma(-x)$ is $\tanh(x/2)$. Sigmoids
are what the algebra calculates with, so the pass runs once, when the rounds are over, and only
where a sigmoid has no other use: beside one, the quotient $\sigma(x) / (1 + e^x)$ is shorter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from ..array import Array
from ..ir.node import Node, origin
from ..ir.walks import reachable, replaced, users_of
from ..ops.elementwise import add, divide, multiply, negative, subtract
from ..ops.exponential import sigmoid
from ..ops.movement import reshape
from ..ops.trigonometric import cosh, tanh
from ..rewriting.guards import uniform_value
from .cancelled_factors import factors_of, shaped_like, with_factor
from .gains import Change, Loses, changed_one_by_one, is_shorter
from .hyperbolics import are_opposite

__all__ = ["with_logistic_densities"]

_Pair = tuple[Node, Node]
"""A sigmoid of x, and its complement: a sigmoid of -x, or 1 less the sigmoid."""

_Users = Mapping[Node, Sequence[Node | None]]


def with_logistic_densities(outputs: Sequence[Node], loses: Loses) -> list[Node]:
    """The outputs with such products by cosh, if that takes fewer operations.

    Parameters
    ----------
    outputs : sequence of Node
    loses : Loses
    """
    if not any(node.op is sigmoid.op for node in reachable(outputs)):
        return list(outputs)
    changes = dict(_changes(outputs))
    if not changes:
        return list(outputs)
    together = replaced(outputs, changes)
    if is_shorter(together, outputs, loses):
        return together
    return changed_one_by_one(outputs, _changes, lambda new, old: is_shorter(new, old, loses))


def _changes(outputs: Sequence[Node]) -> Iterator[Change]:
    """Products of a pair and its differences, and as what each may be written."""
    nodes = reachable(outputs)
    places = _places(nodes)
    users = users_of(nodes, outputs) if places else {}
    for pair, whole in places.items():
        if not _are_only_in(pair, whole, users):
            continue
        (x,) = pair[0].operands
        turned = x.op is negative.op and not x.copy
        with origin(pair[0].origin):
            half = 0.5 * Array(x.operands[0] if turned else x)
        for node in whole:
            with origin(node.origin):
                if node.op is subtract.op:
                    rises = (node.operands[1] is pair[1]) is not turned
                    new = _difference(node, pair, tanh(half) if rises else -tanh(half))
                else:
                    new = _product(node, pair, half)
            if new is not None:
                yield node, new


def _product(node: Node, pair: _Pair, half: Array) -> Node | None:
    """A product of the pair by cosh; None if one of the two is no factor."""
    up, down = pair
    density = 0.25 / cosh(half) / cosh(half)
    one = with_factor(node, up, 1, density.node)
    both = None if one is None else with_factor(one, down, 1)
    return None if both is None else shaped_like(both, node)


def _difference(node: Node, pair: _Pair, slope: Array) -> Node | None:
    """A difference of the pair, or a sum with it, by tanh."""
    first = node.operands[0]
    if first in pair:
        return slope.node
    (rest,) = [each for each in first.operands if each not in pair] or [None]
    return None if rest is None else shaped_like((Array(rest) + slope).node, node)


def _places(nodes: Sequence[Node]) -> dict[_Pair, list[Node]]:
    """The pairs that are multiplied, and where: the least products and the differences."""
    order = {node: place for place, node in enumerate(nodes)}
    holds: set[Node] = set()
    within: dict[Node, set[_Pair]] = {}
    found: dict[_Pair, list[Node]] = {}
    for node in nodes:
        sides = [each in holds for each in node.operands]
        if node.op is sigmoid.op or _is_complement(node) or (any(sides) and _is_inside(node)):
            holds.add(node)
        if not (any(sides) and _is_inside(node)):
            continue
        below = set[_Pair]().union(*[within[each] for each in node.operands if each in within])
        within[node] = below
        # The least product with both has one of them in each operand.
        if all(sides):
            pairs = within[node] = {_ordered(pair, order) for pair in _pairs(node)}
            # A product of two pairs is taken for one of them at a time.
            for pair in sorted(pairs - below, key=lambda each: order[each[0]])[:1]:
                found.setdefault(pair, []).append(node)
    for node in nodes if found else ():
        for one in _less(node):
            pair = _ordered((one, node.operands[1]), order)
            if pair in found and node not in pair and one is not node.operands[1]:
                found[pair].append(node)
                break
    return found


def _less(difference: Node) -> tuple[Node, ...]:
    """The values less which a difference takes its second operand: a and b of (a + b) - c."""
    if difference.op is not subtract.op or difference.copy:
        return ()
    first = difference.operands[0]
    return (first, *first.operands) if first.op is add.op and not first.copy else (first,)


def _ordered(pair: Sequence[Node], order: Mapping[Node, int]) -> _Pair:
    one, other = sorted(pair, key=lambda each: order[each])
    return one, other


def _pairs(product: Node) -> Iterator[_Pair]:
    """The pairs that a product has for factors."""
    if product.op not in (multiply.op, divide.op) or product.copy or product.dtype.kind != "f":
        return
    factors = [each for each, power in factors_of(product) if power > 0 and not each.copy]
    ups = [each for each in factors if each.op is sigmoid.op and each.dtype == product.dtype]
    for up, other in combinations(ups, 2):
        if up.shape == other.shape and are_opposite(up.operands[0], other.operands[0]):
            yield up, other
    for each in factors if ups else ():
        if _is_complement(each) and each.operands[1] in ups:
            yield each.operands[1], each


def _is_complement(node: Node) -> bool:
    """Whether the value is 1 less a sigmoid."""
    if node.op is not subtract.op or node.copy:
        return False
    one, up = node.operands
    return up.op is sigmoid.op and uniform_value(one) == 1 and up.shape == node.shape


def _are_only_in(pair: _Pair, whole: Sequence[Node], users: _Users) -> bool:
    """Whether all that is computed from a pair is computed within these."""
    stack, seen = list(pair), {*pair, *whole}
    sums = {each.operands[0] for each in whole if each.op is subtract.op} - {*pair}
    while stack:
        for user in users[stack.pop()]:
            if user is None or not (user in seen or user in sums or _is_inside(user)):
                return False
            if user not in seen:
                seen.add(user)
                stack.append(user)
    return True


def _is_inside(node: Node) -> bool:
    """Whether a product may go on above the node."""
    return node.op in (multiply.op, divide.op, negative.op, reshape.op) and not node.copy
