"""Guards that several families share: for uniform constants, zeros and constant index arrays."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from symgraph import Node
from symgraph.facts import interval, one_hot
from symgraph.rewriting import Array, Guard, UniformConstant, is_real

__all__ = [
    "DistinctPlaces",
    "Places",
    "RealUniformConstant",
    "SelectingColumns",
    "SelectingRows",
    "Zeros",
    "keeps_off_zero",
    "logarithm_in_range",
]


_MARGIN = 1e-4
"""Larger than the smallest normal number of any dtype."""


def _away_from_zero(bounds: tuple[float, float]) -> bool:
    """Whether all values within the bounds are farther from 0 than an underflow."""
    low, high = bounds
    return low >= _MARGIN or high <= -_MARGIN


_KEEPING_OFF_ZERO = ("negative", "absolute", "sqrt", "sign")
"""Functions of one number that round no other number than 0 to 0."""


def _cannot_underflow(node: Node) -> bool:
    """Whether a value is stated, not computed, or an integer; but for its sign or a root of it."""
    while node.op.view or node.op.name in _KEEPING_OFF_ZERO:
        node = node.operands[0]
    return node.is_input or node.is_constant or node.dtype.kind in "iub"


keeps_off_zero = Guard(
    "never rounded to 0",
    lambda node, knowledge: _away_from_zero(knowledge.of(node).bounds) or _cannot_underflow(node),
)
"""A value that is not zero in exact arithmetic is not zero in any dtype either, unlike exp(-800).

A fact stated of an input is true of its numbers, and integers do not underflow.
"""

_MOST_WALKED = 64
"""In larger values an exponential is assumed."""
_PRODUCTS = ("multiply", "divide")


def _has_exponential(node: Node) -> bool:
    """Whether a value is an exponential, or is made of one."""
    stack = [node]
    for _ in range(_MOST_WALKED):
        if not stack:
            return False
        each = stack.pop()
        if each.op.traits.exponential is not None or each.op.name in ("cosh", "sinh"):
            return True
        stack += each.operands
    return True


def _has_logarithm_in_range(node: Node) -> bool:
    """Whether rules write the logarithm of a value such that it overflows for no exponential.

    They know that of an exponential times or over something else, and those of sums and their
    multiples by numbers.
    """
    is_multiple = False
    while node.op.view or (node.op.name in _PRODUCTS and any(x.is_constant for x in node.operands)):
        is_multiple |= not node.op.view
        node = next((each for each in node.operands if not each.is_constant), node.operands[0])
        if node.is_constant:
            return True
    if node.op.name in _PRODUCTS and not is_multiple:
        exps = [each for each in node.operands if each.op.traits.exponential is not None]
        others = [each for each in node.operands if each not in exps]
        return not any(map(_has_exponential, others if len(exps) == 1 else node.operands))
    return node.op.name not in (*_PRODUCTS, "power") or not _has_exponential(node)


logarithm_in_range = Guard("of a logarithm in range", lambda node, _: _has_logarithm_in_range(node))
"""A value whose logarithm does not overflow where it does.

Of w (e^x + e^y) only the logarithm of the sum would: log w + log(e^x + e^y) would have to be found.
"""

RealUniformConstant: TypeAlias = Annotated[UniformConstant, is_real]
"""A constant of a floating dtype whose elements are all the same number."""

Zeros: TypeAlias = Annotated[
    UniformConstant,
    Guard(
        "zeros",
        lambda node, knowledge: knowledge.of(node).has(interval(0.0, 0.0)),
        constant=True,
        values=lambda value: value == 0,
    ),
]
"""A constant whose elements are all zero, of either sign."""

Places: TypeAlias = Annotated[
    Array, Guard("known places", lambda node, _: node.is_constant, kinds="i", constant=True)
]
"""A constant array of positions along an axis."""

DistinctPlaces: TypeAlias = Annotated[
    Array,
    Guard(
        "known places, no two alike",
        lambda node, _: (
            node.is_constant
            and len(np.unique(node.params["value"])) == node.aval.size
            and not np.any(node.params["value"] < 0)
        ),
        kinds="i",
        constant=True,
        values=lambda value: value >= 0,
    ),
]
"""A constant array of nonnegative positions, each of which occurs once."""


def _selecting(name: str, axis: int) -> Guard:
    """The guard that a constant matrix holds ones and zeros, with a single one along an axis."""
    return Guard(
        name,
        lambda node, knowledge: (
            node.is_constant and node.aval.ndim == 2 and knowledge.of(node).has(one_hot(axis))
        ),
        facts=(one_hot(axis),),
        constant=True,
    )


SelectingRows: TypeAlias = Annotated[Array, is_real, _selecting("rows of the identity", -1)]
"""A constant matrix whose rows are rows of the identity."""

SelectingColumns: TypeAlias = Annotated[Array, is_real, _selecting("columns of the identity", -2)]
"""A constant matrix whose columns are columns of the identity."""
