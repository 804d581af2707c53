"""Masks of cotangents, so that the branch `where` did not take never poisons a gradient.

Reverse mode through where(c, f(x), y) hands f the cotangent where(c, a, 0). Multiplying it by f'
gives 0 * inf = NaN wherever f' is singular on the side not taken, as in where(x > 0, log(x), 0)
at 0. The rule of an elementwise operation is linear in the cotangent and keeps positions apart, so
it may as well act behind the mask: where(c, a f'(x), 0). This costs no further operation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike
from ..ir.differentiation import Undefined
from ..ir.node import Node
from ..ir.op import VjpRule

__all__ = ["Mask", "behind_masks", "mask_of", "masked"]

_TERMS = 16
"""How many summands we search for a mask, so that the time is bounded."""

_FACTORS = 32
"""How many values we search for the share that a cotangent is a multiple of."""

_SCALED = {"negative": 1, "multiply": 2, "divide": 1}
"""Operations that are linear in each of so many first operands."""


class Mask(NamedTuple):
    """A condition, and whether the cotangent stands where it holds or where it fails."""

    condition: Node
    where_true: bool


def behind_masks(
    rule: VjpRule | Undefined | None, steep: Callable[[Node], bool] | None = None
) -> VjpRule | Undefined | None:
    """The rule, applied behind the mask of its cotangent if there is one.

    Where `steep` holds of the first operand it acts behind the shares of a tie, too. Only a rule
    with an infinite slope asks for it: a share that is passed on to both terms of a sum is there
    twice, and slopes of extrema have numbers in common.
    """
    if rule is None or isinstance(rule, Undefined):
        return rule

    def behind(ct: Array, out: Array, *operands: ArrayLike, **params: object) -> Any:
        found = mask_of(ct)
        if found is None:
            share = None
            if steep is not None and isinstance(x := operands[0], Array) and steep(x.node):
                share = _share_of(ct.node)
            if share is not None:
                return _shared(share, behind(share.cotangent, out, *operands, **params))
            return rule(ct, out, *operands, **params)
        mask, inner = found
        within = rule if steep is None else behind
        return masked(mask, within(inner, out, *operands, **params))

    return behind


_Way: TypeAlias = tuple[tuple[Node, int], ...]
"""The operations between a value and its multiple, and which operand of each leads to it."""


class _Share(NamedTuple):
    """What an operand of `maximum` gets: all where it wins, half where it ties, 0 elsewhere."""

    wins: Node
    ties: Node
    cotangent: Array


def _share_of(node: Node) -> _Share | None:
    """The share that a cotangent is, or is a multiple of, if it is found among few values."""
    waiting: deque[tuple[Node, _Way]] = deque([(node, ())])
    for _ in range(_FACTORS):
        if not waiting:
            return None
        each, way = waiting.popleft()
        if each.op.name == "where":
            share = _of_choices(each)
            if share is not None:
                return share._replace(cotangent=_multiplied(share.cotangent, way))
        for slot, operand in enumerate(each.operands[: _SCALED.get(each.op.name, 0)]):
            if operand.shape == node.shape:
                waiting.append((operand, ((each, slot), *way)))
    return None


def _multiplied(ct: Array, way: _Way) -> Array:
    """The cotangent after the operations on the way to its multiple."""
    for node, slot in way:
        operands = [Array(each) for each in node.operands]
        operands[slot] = ct
        ct = FUNCTIONS[node.op.name](*operands)
    return ct


def _of_choices(node: Node) -> _Share | None:
    wins, ct, other = node.operands
    if other.op.name != "where" or not _is_zero(other.operands[2]) or ct.shape != node.shape:
        return None
    ties, half, _ = other.operands
    if half is not (Array(ct) * 0.5).node:
        return None
    return _Share(wins, ties, Array(ct))


def _shared(share: _Share, ct: Array) -> Any:
    where = FUNCTIONS["where"]
    return where(Array(share.wins), ct, where(Array(share.ties), ct * 0.5, 0))


def masked(mask: Mask, ct: Array) -> Any:
    """The cotangent where the mask lets it through, 0 elsewhere; masks of masks become one."""
    within = mask_of(ct)
    if within is not None:
        mask, ct = _both(mask, within[0]), within[1]
    condition = Array(mask.condition)
    return (
        FUNCTIONS["where"](condition, ct, 0)
        if mask.where_true
        else FUNCTIONS["where"](condition, 0, ct)
    )


def _both(one: Mask, other: Mask) -> Mask:
    """The mask that lets through what two masks both let through."""
    if one == other:
        return one
    if not one.where_true and not other.where_true:
        either = FUNCTIONS["logical_or"](Array(one.condition), Array(other.condition))
        return Mask(either.node, False)
    conditions = [
        Array(mask.condition)
        if mask.where_true
        else FUNCTIONS["logical_not"](Array(mask.condition))
        for mask in (one, other)
    ]
    return Mask(FUNCTIONS["logical_and"](*conditions).node, True)


def mask_of(ct: Array) -> tuple[Mask, Array] | None:
    """The mask of a cotangent and the masked value; None if there is no mask.

    We find it in where(c, a, 0), in -where(c, a, 0), and in sums of these with one condition.
    """
    terms: list[Node] = []
    stack = [ct.node]
    while stack:
        node = stack.pop()
        if node.op.name == "add" and len(terms) + len(stack) < _TERMS:
            stack.extend(reversed(node.operands))
        else:
            terms.append(node)
    found = [_of_term(term) for term in terms]
    first = found[0]
    if first is None:
        return None
    inner = first[1]
    for each in found[1:]:
        if each is None or each[0] != first[0]:
            return None
        inner = FUNCTIONS["add"](inner, each[1])
    return first[0], inner


def _of_term(node: Node) -> tuple[Mask, Array] | None:
    if node.op.name == "negative":
        within = _of_where(node.operands[0])
        return None if within is None else (within[0], FUNCTIONS["negative"](within[1]))
    return _of_where(node)


def _of_where(node: Node) -> tuple[Mask, Array] | None:
    if node.op.name != "where":
        return None
    condition, x, y = node.operands
    if _is_zero(y) and x.shape == node.shape:
        return Mask(condition, True), Array(x)
    if _is_zero(x) and y.shape == node.shape:
        return Mask(condition, False), Array(y)
    return None


def _is_zero(node: Node) -> bool:
    return node.is_constant and not np.any(node.params["value"])
