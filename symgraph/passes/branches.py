"""Choices whose branches are one function: its operand is chosen, and it is computed once.

where(c, f(u), f(v)) is f(where(c, u, v)), and a factor of both branches is multiplied once, also if
it stands inside, as in where(c, w x, (w y) z). And f(a) is a number for a number a, so what is
constant beyond a bound is a function of what is kept within it: where(x <= a, f(a), f(x)) is
f(max(x, a)).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from math import isclose

import numpy as np

from ..array import Array
from ..ir.node import Node, make, on_operands, origin
from ..ir.walks import reachable, use_counts
from ..ops.choice import maximum, minimum, where
from ..ops.creation import constant_of
from ..ops.elementwise import multiply
from ..rewriting.guards import uniform_value
from .constant_folding import with_constants_folded
from .gains import Loses

__all__ = ["with_branches_joined"]

_ROUNDINGS = 4
"""By so many roundings a constant may differ from the function at the bound."""


def with_branches_joined(outputs: Sequence[Node], loses: Loses, *, at_kinks: bool) -> list[Node]:
    """The outputs with such choices joined, where that takes fewer operations.

    Parameters
    ----------
    outputs : sequence of Node
    loses : Loses
        Whether factors in another order lose digits or range.
    at_kinks : bool
        Whether the derivative at a bound may change.
    """
    nodes = reachable(outputs)
    if not any(node.op is where.op for node in nodes):
        return list(outputs)
    uses = use_counts(nodes, outputs)
    once = {node for node, count in uses.items() if count == 1 and not node.copy}
    instead: dict[Node, Node] = {}
    for node in nodes:
        new = None
        if node.op is where.op and not node.copy:
            with origin(node.origin):
                new = _of_one_function(node, once, instead)
                new = _of_one_factor(node, once, instead, loses) if new is None else new
                if new is None and at_kinks:
                    new = _within_bound(node, once, instead)
        if new is None or new.aval != node.aval:
            new = on_operands(node, tuple([instead[operand] for operand in node.operands]))
        instead[node] = new
    return [instead[output] for output in outputs]


def _of_one_function(node: Node, once: set[Node], instead: Mapping[Node, Node]) -> Node | None:
    """The function of a choice of operands, for branches that differ in one operand."""
    condition, x, y = node.operands
    if x.op is not y.op or not {x, y} <= once or not _is_function(x) or x.params != y.params:
        return None
    if node.shape not in (x.shape, y.shape):
        return None  # A function of scalars would be computed of arrays.
    ours, theirs = list(x.operands), list(y.operands)
    if x.op.traits.commutative and (ours[0] is theirs[1] or ours[1] is theirs[0]):
        theirs.reverse()
    differ = [at for at, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a is not b]
    if len(differ) != 1 or ours[differ[0]].dtype != theirs[differ[0]].dtype:
        return None
    (at,) = differ
    chosen = where(*[Array(instead[each]) for each in (condition, ours[at], theirs[at])])
    operands = [instead[each] for each in ours]
    operands[at] = chosen.node
    return make(x.op, operands, x.params)


def _is_function(node: Node) -> bool:
    return node.op.traits.elementwise and node.op.count > 0 and len(node.results) == 1


def _of_one_factor(
    node: Node, once: set[Node], instead: Mapping[Node, Node], loses: Loses
) -> Node | None:
    """A factor times choices within choices, for branches that all have it, or are numbers."""
    chosen, leaves = _leaves(node, once)
    products = [each for each in leaves if each.op is multiply.op and each in once]
    numbers = {each: uniform_value(each) for each in leaves if each not in products}
    if len(products) < 2 or any(number is None for number in numbers.values()):
        return None
    factors = {each: _factors(each, once) for each in products}
    for factor in factors[products[0]]:
        by = uniform_value(factor)
        if not all(factor in factors[each] for each in products):
            continue
        if numbers and not (by and all(number / by * by == number for number in numbers.values())):
            continue  # What is no number would make 0 no number.
        now = {each: _without(each, factor, once, instead) for each in products}
        for each, number in numbers.items():
            now[each] = Array(constant_of(float(number / by), each.dtype).node)
        for each in reversed(chosen):
            condition, x, y = each.operands
            now[each] = where(Array(instead[condition]), now[x], now[y])
        new = multiply(Array(instead[factor]), now[node]).node
        in_order = all(factor in each.operands for each in products)
        return new if in_order or not loses(new, node) else None
    return None


def _factors(top: Node, once: set[Node]) -> dict[Node, None]:
    """The factors of a product, also of products in it that have no other use."""
    found: dict[Node, None] = {}
    stack = list(top.operands[::-1])
    while stack:
        node = stack.pop()
        if node.op is multiply.op and node in once:
            stack.extend(node.operands[::-1])
        else:
            found[node] = None
    return found


def _without(node: Node, factor: Node, once: set[Node], instead: Mapping[Node, Node]) -> Array:
    """The product without one factor, which it has, and else in its order."""
    x, y = node.operands
    if factor in node.operands:
        return Array(instead[y if x is factor else x])
    inside, other = (x, y) if factor in _factors_of(x, once) else (y, x)
    return multiply(_without(inside, factor, once, instead), Array(instead[other]))


def _factors_of(node: Node, once: set[Node]) -> Container[Node]:
    return _factors(node, once) if node.op is multiply.op and node in once else ()


def _leaves(top: Node, once: set[Node]) -> tuple[list[Node], list[Node]]:
    """The choices within a choice that have no other use, outer ones first, and their branches."""
    chosen: list[Node] = []
    leaves: list[Node] = []
    stack = [top]
    while stack:
        node = stack.pop()
        within = node.op is where.op and node in once and node.aval == top.aval
        if node is top or within:
            chosen.append(node)
            stack.extend(node.operands[:0:-1])
        else:
            leaves.append(node)
    return chosen, leaves


# -- bounds ----------------------------------------------------------------------------------------
def _within_bound(node: Node, once: set[Node], instead: Mapping[Node, Node]) -> Node | None:
    """The function of a bounded operand, for a number in place of values beyond the bound."""
    condition, beyond, inside = node.operands
    number = uniform_value(beyond)
    comparison = condition.op.traits.comparison
    if comparison is None or not comparison.side or number is None or condition not in once:
        return None
    (x, bound), side = condition.operands, comparison.side
    at = uniform_value(bound)
    if at is None:
        (bound, x), side = condition.operands, -side
        at = uniform_value(bound)
    if at is None or x.dtype != node.dtype or x.shape != node.shape or node.dtype.kind != "f":
        return None
    steps = _steps(inside, x, once)
    if steps is None or not _is_number(_on(steps, x, constant_of(at, x.dtype).node), float(number)):
        return None
    bounded = (minimum if side > 0 else maximum)(Array(instead[x]), float(at))
    return _on(steps, x, bounded.node)


def _steps(top: Node, x: Node, once: set[Node]) -> list[Node] | None:
    """The operations on x and on numbers that end at `top`, first the one on x; None if others."""
    steps: list[Node] = []
    while top is not x:
        varying = {each for each in top.operands if uniform_value(each) is None}
        if len(varying) != 1 or top not in once or not _is_function(top):
            return None
        steps.append(top)
        (top,) = varying
    return steps[::-1]


def _on(steps: Sequence[Node], x: Node, value: Node) -> Node:
    """The last of the steps, with a value in place of x."""
    for step in steps:
        operands = tuple([value if each is x else each for each in step.operands])
        x, value = step, make(step.op, operands, step.params)
    return value


def _is_number(node: Node, number: float) -> bool:
    """Whether a value that depends on no input is a number, but for its rounding."""
    (found,) = with_constants_folded([node])
    value = uniform_value(found)
    if value is None:
        return False
    eps = float(np.finfo(found.dtype).eps)
    return isclose(float(value), number, rel_tol=_ROUNDINGS * eps)
