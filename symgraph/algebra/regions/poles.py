"""Where infinity may stand for NaN at a pole, and where it may not.

$x / x^2$ is NaN at 0, and $1 / x$ is infinite there. Either shows that the value is undefined, as
long as no operation above turns infinity into a number: tanh(1 / x) would be 1 where tanh(x / x**2)
is NaN, and a comparison would have a result.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

from ...ir.node import Node
from ...ir.op import Op
from ..expression.applied import IdentityNames
from ..expression.term import Expr
from ..normal_form.covered_quotients import (
    has_quotient_beside_pole,
    has_terms_at_one_pole,
    like_terms_at_pole,
    quotient_beside_logarithm,
    quotient_beside_pole,
)
from ..normal_form.identity_table import power_over_higher_power

__all__ = ["below_bounded", "may_get_new_pole"]

_WITH_A_POLE = frozenset(
    each.__name__
    for each in (
        like_terms_at_pole,
        power_over_higher_power,
        quotient_beside_logarithm,
        quotient_beside_pole,
    )
)


def below_bounded(nodes: Sequence[Node], read: Iterable[Node] = ()) -> set[Node]:
    """Values whose infinity would become a number above, or decide a comparison.

    Parameters
    ----------
    nodes : sequence of Node
        All nodes of a graph, operands first.
    read : iterable of Node
        Outputs that something else reads: those of a loop's body, which the next step takes.
    """
    found = set(read)
    for node in reversed(nodes):
        for place, operand in enumerate(node.operands):
            if node in found or not _keeps_infinity(node, place):
                found.add(operand)
    return found


def _keeps_infinity(node: Node, place: int) -> bool:
    """Whether the value is infinite or NaN where this operand is, as far as it depends on it."""
    if len(node.results) > 1 or node.dtype.kind != "f":
        return False
    return _carries_infinity(node.op, place, len(node.operands))


@lru_cache(maxsize=4096)
def _carries_infinity(op: Op, place: int, count: int) -> bool:
    traits = op.traits
    if place in traits.blind_in(count):
        return False
    if place in traits.linear_in(count) or place in traits.linear_together(count):
        return True
    if place < len(traits.monomial):
        return traits.monomial[place] > 0
    return traits.logarithm is not None or (count == 1 and traits.homogeneous == 1)


def may_get_new_pole(identities: Collection[str] | IdentityNames, expr: Expr | None) -> bool:
    """Whether one of the identities gives infinity instead of NaN, or a spelling may give it."""
    if identities and not _WITH_A_POLE.isdisjoint(identities):
        return True
    return bool(expr) and (has_quotient_beside_pole(expr) or has_terms_at_one_pole(expr))
