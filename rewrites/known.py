"""Guards that several families share: any fact, zeros, and index arrays that are known."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from symgraph.facts import Fact, interval
from symgraph.rewriting import Array, Guard, UniformConstant

__all__ = ["DistinctPlaces", "Places", "Zeros", "knowing"]


def knowing(fact: Fact) -> Guard:
    """The guard that a fact is known, as in `Annotated[Array, knowing(orthogonal)]`."""
    return Guard(str(fact), lambda node, knowledge: knowledge.of(node).has(fact), facts=(fact,))


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
