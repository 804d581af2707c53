"""Identities of arrays: antisymmetric matrices, signs, cofactors."""

from __future__ import annotations

from collections.abc import Iterator

from ...array import Array
from ...ir.node import Node
from ...ir.op import Op
from ...ops.determinants import cofactor, det
from ...ops.elementwise import absolute, sign
from ...ops.linalg import inv
from ..expression.atoms import one
from ..expression.term import LEAF
from .arithmetic import Arithmetic
from .factors import (
    Bound,
    Factors,
    Product,
    RawFactor,
)
from .identity_table import identity, others

__all__ = [
    "antisymmetric_turned",
    "cofactors_over_determinant",
    "sign_over_magnitude",
    "sign_times_value",
]


# -- arrays ----------------------------------------------------------------------------------------
@identity(LEAF)
def antisymmetric_turned(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$A_{ji} = -A_{ij}$ of an antisymmetric matrix; indices are sorted, bound ones last."""
    for place, (atom, idx, power) in enumerate(factors):
        if len(idx) < 2 or atom.kind != LEAF or power.denominator != 1:
            continue
        i, j = idx[-2:]
        # Two bound indices have no order: their names are arbitrary.
        if (i in bound, i) <= (j in bound, j) or (i in bound and j in bound):
            continue
        if atom.antisymmetric:
            turned: RawFactor = (atom, (*idx[:-2], j, i), power)
            by = 1 if power.numerator % 2 == 0 else -1
            return by, [*factors[:place], turned, *factors[place + 1 :]], bound
    return None


@identity(sign.op)
def sign_times_value(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$\operatorname{sign}(x)\, x = |x|$."""
    for slot, x in _arrays_of(sign.op, factors):
        for other in factors:
            atom, idx, power = other
            if atom.kind != LEAF or atom.node is not x or idx != slot[1]:
                continue
            if power.denominator == 1 and power >= 1:
                sized = normal.atoms.leaf(absolute(Array(x)).node)
                rest: Factors = [(atom, idx, power - 1)] if power > 1 else []
                return one, [*others(factors, slot, other), (sized, idx, one), *rest], bound
    return None


@identity(sign.op, absolute.op)
def sign_over_magnitude(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$\operatorname{sign}(x) / |x| = 1 / x$."""
    for slot, x in _arrays_of(sign.op, factors):
        for other in factors:
            atom, idx, power = other
            if atom.kind != LEAF or power != -1 or idx != slot[1]:
                continue
            if atom.node.op is absolute.op and atom.node.operands[0] is x:
                below: RawFactor = (normal.atoms.leaf(x), idx, -1)
                return one, [*others(factors, slot, other), below], bound
    return None


@identity(cofactor.op, det.op)
def cofactors_over_determinant(
    normal: Arithmetic, factors: Factors, bound: Bound
) -> Product | None:
    r"""$\operatorname{cof}(A)_{ij} / \det A = (A^{-1})_{ji}$."""
    for slot, x in _arrays_of(cofactor.op, factors):
        for other in factors:
            if other[0].kind != LEAF or other[0].node.op is not det.op or other[2] != -1:
                continue
            if other[0].node.operands == (x,) and len(slot[1]) == x.ndim == 2:
                inverse = normal.atoms.leaf(inv(Array(x)).node)
                turned: RawFactor = (inverse, slot[1][::-1], one)
                return one, [*others(factors, slot, other), turned], bound
    return None


def _arrays_of(op: Op, factors: Factors) -> Iterator[tuple[RawFactor, Node]]:
    """Factors that are results of an operation, to the power 1, and its operand."""
    for slot in factors:
        if slot[0].kind == LEAF and slot[0].node.op is op and slot[2] == 1:
            yield slot, slot[0].node.operands[0]
