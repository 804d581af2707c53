"""A factor taken out of a cotangent or a tangent, where every summand has it.

The slope of a length jumps at 0. Its product with the length has a derivative there, and so does
its product with the same slope.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..array import FUNCTIONS, Array, constant
from ..ir.node import Node

__all__ = ["Parts", "opened", "parts_by_factor", "without_factor"]

_WALKED = 64
"""How many values we search for the factor, so that the time is bounded."""

_SLOTS = {
    "multiply": (0, 1),
    "add": (0, 1),
    "subtract": (0, 1),
    "where": (1, 2),
    "divide": (0,),
    "multiply_or_zero": (0,),
    "negative": (0,),
    "reshape": (0,),
    "sum": (0,),
    "broadcast_to": (0,),
}
"""The operands through which an operation passes a factor on."""


class Parts(NamedTuple):
    """A value as factor * rest + other; None for 0."""

    rest: Array | None
    other: Array | None


def without_factor(total: Array, factor: Array) -> Array | None:
    """A sum of products without one factor, None if some summand lacks it."""
    found = parts_by_factor(total, factor)
    return None if found is None or found.other is not None else found.rest


def parts_by_factor(total: Array, factor: Array) -> Parts | None:
    """A sum of products as those with a factor, without it, and the others; None if none has it."""
    whole, wanted = _plain(total.node), _plain(factor.node)
    slots = _holding(whole, wanted)
    if whole not in slots:
        return None
    known: dict[Node, Parts] = {}
    for node, held in slots.items():
        known[node] = _parts(node, wanted, held, known)
    return Parts(*[_in_shape(each, total) for each in known[whole]])


def _in_shape(part: Array | None, total: Array) -> Array | None:
    """A part in the shape of the whole, which the removed factor may have given it."""
    if part is None or part.shape == total.shape:
        return part
    if set(part.node.shape) <= {1}:
        part = FUNCTIONS["reshape"](part, ())
    return FUNCTIONS["broadcast_to"](part, total.shape)


def _plain(node: Node) -> Node:
    """The one element that a node holds in another shape, or else the node."""
    while node.op.name == "reshape" and set(node.shape) <= {1}:
        node = node.operands[0]
    return node


# -- where it is -----------------------------------------------------------------------------------
def _holding(whole: Node, factor: Node) -> dict[Node, tuple[int, ...]]:
    """The values that hold the factor, and by which operands; operands first."""
    slots: dict[Node, tuple[int, ...]] = {}
    for node in opened(whole, factor.serial):
        own = node is factor or _plain(node) is factor or _is_power(node, factor)
        held = [s for s in _SLOTS.get(node.op.name, ()) if not own and node.operands[s] in slots]
        if node.op.name == "sum" and not set(factor.shape) <= {1}:
            continue  # It may differ from summand to summand.
        if own or held:
            slots[node] = tuple(held)
    return slots


def opened(whole: Node, since: int = 0) -> list[Node]:
    """The values in which a factor of a sum of products may be, operands first."""
    seen = {whole}
    stack = [whole]
    while stack and len(seen) < _WALKED:
        node = stack.pop()
        for slot in _SLOTS.get(node.op.name, ()):
            each = node.operands[slot]
            if each.serial >= since and each not in seen:
                seen.add(each)
                stack.append(each)
    return sorted(seen, key=lambda each: each.serial)


def _is_power(node: Node, factor: Node) -> bool:
    """Whether a node is a whole power of the factor."""
    if node.op.name != "power" or _plain(node.operands[0]) is not factor:
        return False
    number = _number(node.operands[1])
    return number >= 1 and number.is_integer()


def _number(node: Node) -> float:
    return float(node.params["value"]) if node.is_constant and not node.shape else 0.0


def _is_zero(node: Node) -> bool:
    return node.is_constant and not np.any(node.params["value"])


# -- what it leaves --------------------------------------------------------------------------------
def _parts(node: Node, factor: Node, held: Sequence[int], known: Mapping[Node, Parts]) -> Parts:
    if not held:
        number = _number(node.operands[1]) if node.op.name == "power" and node is not factor else 1
        if number == 1:
            return Parts(constant(1, node.dtype), None)
        return Parts(FUNCTIONS["reshape"](Array(factor), node.shape) ** (number - 1), None)
    operands = [Array(each) for each in node.operands]
    if node.op.name == "multiply":
        pure = [slot for slot in held if known[node.operands[slot]].other is None]
        slot = (pure or list(held))[0]
        return Parts(*[_times(each, operands, slot) for each in known[node.operands[slot]]])
    if node.op.name in ("add", "subtract", "where"):
        parts = {
            slot: known[node.operands[slot]] if slot in held else Parts(None, operands[slot])
            for slot in _SLOTS[node.op.name]
        }
        return Parts(*[_joined(node, [each[i] for each in parts.values()]) for i in (0, 1)])
    return Parts(*[_passed(each, node, operands[1:]) for each in known[node.operands[0]]])


def _times(part: Array | None, operands: Sequence[Array], slot: int) -> Array | None:
    other = operands[1 - slot]
    if part is None or _is_one(part.node):
        return None if part is None else other
    return part * other if slot == 0 else other * part


def _is_one(node: Node) -> bool:
    return node.is_constant and not node.shape and bool(node.params["value"] == 1)


def _joined(node: Node, parts: Sequence[Array | None]) -> Array | None:
    """The sum, difference or choice of two parts."""
    left, right = [None if each is None or _is_zero(each.node) else each for each in parts]
    if left is None and right is None:
        return None
    if node.op.name == "where":
        condition = Array(node.operands[0])
        return FUNCTIONS["where"](
            condition, 0 if left is None else left, 0 if right is None else right
        )
    if left is None or right is None:
        alone: Any = right if left is None else left
        return -alone if left is None and node.op.name == "subtract" else alone
    return left + right if node.op.name == "add" else left - right


def _passed(part: Array | None, node: Node, others: Sequence[Array]) -> Array | None:
    """A part behind an operation that is linear in it."""
    if part is None:
        return None
    if node.op.name in ("reshape", "broadcast_to"):
        whole = FUNCTIONS["broadcast_to"](part, node.operands[0].shape)
        return FUNCTIONS[node.op.name](whole, node.shape)
    if node.op.name == "sum":
        whole = FUNCTIONS["broadcast_to"](part, node.operands[0].shape)
        return FUNCTIONS["sum"](whole, **node.params)
    return FUNCTIONS[node.op.name](part, *others)
