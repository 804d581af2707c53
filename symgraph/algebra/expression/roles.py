"""Questions that the algebra asks of an operation's traits, and functions found by a trait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from ...array import FUNCTIONS
from ...ir.node import Node
from ...ir.op import OPS, Op
from ...ir.traits import Angle
from ...ops.choice import where
from ...ops.families import Function

__all__ = [
    "ANGLES",
    "EXPONENTIALS",
    "LOGARITHMS",
    "is_choice",
    "is_difference",
    "is_equality",
    "is_exponential",
    "is_extremum",
    "is_logarithm",
    "is_negation",
    "is_odd",
    "is_power",
    "is_product",
    "is_quotient",
    "is_sum",
    "ops_with",
]


def ops_with(trait: Callable[[Op], Any]) -> frozenset[Op]:
    """The operations for which `trait` is true."""
    return frozenset([op for op in OPS.values() if trait(op)])


def _function(name: str) -> Function:
    return cast("Function", FUNCTIONS[name])


ANGLES: dict[Angle, Function] = {
    op.traits.angle: _function(name) for name, op in OPS.items() if op.traits.angle is not None
}
"""Sines, cosines and tangents, circular and hyperbolic."""

EXPONENTIALS: dict[float, Function] = {
    form.base: _function(name)
    for name, op in OPS.items()
    if (form := op.traits.exponential) is not None and not form.less
}
"""Functions b**x by their base."""

LOGARITHMS: dict[float, Function] = {
    form.base: _function(name)
    for name, op in OPS.items()
    if (form := op.traits.logarithm) is not None and not form.plus
}
"""Functions log x by their base."""


# -- arithmetic ------------------------------------------------------------------------------------
def is_sum(node: Node) -> bool:
    """Whether it is x + y."""
    return node.op.traits.combination == (1, 1)


def is_difference(node: Node) -> bool:
    """Whether it is x - y."""
    return node.op.traits.combination == (1, -1)


def is_negation(node: Node) -> bool:
    """Whether it is -x."""
    return node.op.traits.combination == (-1,)


def is_product(node: Node) -> bool:
    """Whether it is x y, element by element."""
    return node.op.traits.monomial == (1, 1)


def is_quotient(node: Node) -> bool:
    """Whether it is x / y."""
    return node.op.traits.monomial == (1, -1)


def is_power(node: Node) -> bool:
    """Whether it is x**y."""
    return node.op.traits.raises


# -- others ----------------------------------------------------------------------------------------
def is_choice(node: Node) -> bool:
    """Whether it chooses between two values by a condition."""
    return node.op is where.op


def is_equality(node: Node) -> bool:
    """Whether it compares two values for equality."""
    comparison = node.op.traits.comparison
    return comparison is not None and comparison.side == 0


def is_extremum(node: Node) -> bool:
    """Whether it is the largest or the smallest of the elements."""
    traits = node.op.traits
    return traits.extremum != 0 and not traits.elementwise


def is_exponential(op: Op) -> bool:
    """Whether it is b**x or b**x - s."""
    return op.traits.exponential is not None


def is_logarithm(op: Op) -> bool:
    """Whether it is log(x) or log(x + s), in any base."""
    return op.traits.logarithm is not None


def is_odd(node: Node) -> bool:
    """Whether the node is an elementwise function f of one value with f(-x) = -f(x)."""
    traits = node.op.traits
    return traits.elementwise and traits.parity == (-1,)
