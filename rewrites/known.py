"""Guards that several families share: any fact, zeros, and index arrays that are known."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from symgraph.facts import Fact, interval, one_hot
from symgraph.rewriting import Array, Guard, UniformConstant, is_real

__all__ = [
    "DistinctPlaces",
    "Places",
    "SelectingColumns",
    "SelectingRows",
    "Zeros",
    "keeps_off_zero",
    "knowing",
]


def knowing(fact: Fact) -> Guard:
    """The guard that a fact is known, as in `Annotated[Array, knowing(orthogonal)]`."""
    return Guard(str(fact), lambda node, knowledge: knowledge.of(node).has(fact), facts=(fact,))


_ROOM = 1e-4
"""Farther from 0 than the smallest normal number of any dtype."""


def _keeps_off_zero(node: Any, knowledge: Any) -> bool:
    low, high = knowledge.of(node).bounds
    return low >= _ROOM or high <= -_ROOM or _is_stated(node)


def _is_stated(node: Any) -> bool:
    while node.op.view:
        node = node.operands[0]
    return node.is_input or node.is_constant or node.dtype.kind in "iub"


keeps_off_zero = Guard("never rounded to 0", _keeps_off_zero)
"""Of a value that is not zero in exact arithmetic: nor is it in any dtype, as exp(-800) is.

What is stated of an input is said of its numbers, and integers do not underflow.
"""

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
"""A constant array of positions."""

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
"""Positions counted from the front, each once."""


def _selecting(name: str, axis: int) -> Guard:
    """The guard that a constant matrix is of ones and zeros, a single one along an axis."""
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
