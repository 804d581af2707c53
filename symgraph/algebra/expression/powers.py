"""Powers whose exponents are arrays, such as x**a and x**(a - 1)."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ...facts import nonnegative, positive, total
from ...ir.fact_inference import Knowledge
from ...ir.node import Node
from . import roles
from .leaf_terms import repeated_number
from .term import (
    LEAF,
    Atom,
)

__all__ = ["Relation", "exponents_related", "is_power", "is_raised", "lowered_power"]

Relation: TypeAlias = Literal["the same", "opposite", "adding to 1"]


def is_power(atom: Atom) -> bool:
    """Whether the atom is an array raised to the power of an array."""
    return atom.kind == LEAF and roles.is_power(atom.node)


def lowered_power(node: Node) -> tuple[Node, Node] | None:
    """The array x and the exponent a, if the node is x**(a - 1)."""
    if roles.is_power(node) and roles.is_difference(node.operands[1]):
        exponent, less = node.operands[1].operands
        if repeated_number(less) == 1:
            return node.operands[0], exponent
    return None


def is_raised(x: Node, exponent: Node, knowledge: Knowledge) -> bool:
    """Whether x**a may replace x times x**(a - 1).

    At x = 0 and a > 0, x**a is 0 while the product may be NaN. And NaN**0 is 1, while the product
    with NaN is NaN: so x must be defined everywhere.
    """
    facts = knowledge.of(x)
    at_zero = facts.has(nonnegative) and knowledge.of(exponent).has(positive)
    return facts.has(total) and (facts.has(positive) or at_zero)


def exponents_related(y: Node, z: Node) -> Relation | None:
    """One exponent as a function of the other; None if the relation is not plain."""
    if y is z:
        return "the same"
    for one, other in ((y, z), (z, y)):
        if roles.is_negation(one) and one.operands[0] is other:
            return "opposite"
        if not roles.is_difference(one):
            continue
        if roles.is_difference(other) and one.operands == other.operands[::-1]:
            return "opposite"
        if one.operands[1] is other and repeated_number(one.operands[0]) == 1:
            return "adding to 1"
    return None
