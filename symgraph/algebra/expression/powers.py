"""Powers whose exponents are arrays: x**a beside x**(a - 1)."""

from __future__ import annotations

from ...facts import nonnegative, positive, total
from ...ir.fact_inference import Knowledge
from ...ir.node import Node
from . import roles
from .leaf_terms import repeated_number
from .term import (
    LEAF,
    Atom,
)

__all__ = ["is_power", "is_raised", "lowered_power"]


def is_power(atom: Atom) -> bool:
    """Whether the atom is an array that is raised to an array."""
    return atom.kind == LEAF and roles.is_power(atom.node)


def lowered_power(node: Node) -> tuple[Node, Node] | None:
    """The array x and the exponent a, if the node is x**(a - 1)."""
    if roles.is_power(node) and roles.is_difference(node.operands[1]):
        exponent, less = node.operands[1].operands
        if repeated_number(less) == 1:
            return node.operands[0], exponent
    return None


def is_raised(x: Node, exponent: Node, knowledge: Knowledge) -> bool:
    """Whether x**a may stand for x times x**(a - 1).

    At x = 0 it is 0 for a > 0, where the product may be NaN. A number that is not defined has the
    power 0, and no product with it.
    """
    facts = knowledge.of(x)
    at_zero = facts.has(nonnegative) and knowledge.of(exponent).has(positive)
    return facts.has(total) and (facts.has(positive) or at_zero)
