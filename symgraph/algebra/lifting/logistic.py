"""Expressions of log1p, sigmoid and softplus, where these are safe from overflow."""

from __future__ import annotations

from collections.abc import Sequence

from ...array import Array
from ...ir.node import Node
from ...ops.choice import maximum
from ...ops.elementwise import absolute
from ..expression.atoms import one
from ..expression.exps import exps_of
from ..expression.leaf_terms import leaf_expr
from ..expression.roles import is_negation
from ..expression.scalars import number
from ..expression.term import EXP, SUM, Expr
from .protocol import Lifting

__all__ = ["log1p", "sigmoid", "softplus"]


def _plus_one(lifter: Lifting, expr: Expr) -> Expr:
    return lifter.normal.add([(number(one), one), (expr, one)])


def log1p(lifter: Lifting, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """The expression log(1 + x)."""
    total = _plus_one(lifter, operands[0])
    return lifter.normal.log(total) if total else None


def sigmoid(lifter: Lifting, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """The expression exp(x) / (1 + exp(x))."""
    raised = _raised(lifter, operands[0])
    if raised is None:
        return None
    inverse = lifter.normal.power(_plus_one(lifter, raised), -one)
    return None if inverse is None else lifter.normal.multiply(raised, inverse)


def softplus(lifter: Lifting, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """The expression log(1 + exp(x))."""
    below = _below_zero(node.operands[0])
    if below is not None:
        # Users write softplus(x) safely as max(x, 0) + softplus(-|x|).
        top = maximum(Array(below), 0).node
        whole = _softplus_of(lifter, leaf_expr(lifter.atoms, below))
        return whole and lifter.normal.add([(whole, one), (leaf_expr(lifter.atoms, top), -one)])
    return _softplus_of(lifter, operands[0])


def _softplus_of(lifter: Lifting, expr: Expr) -> Expr | None:
    raised = _raised(lifter, expr)
    return None if raised is None else lifter.normal.log(_plus_one(lifter, raised))


def _raised(lifter: Lifting, expr: Expr) -> Expr | None:
    """The exp of a sigmoid's argument; None if the sigmoid written with it would overflow.

    For z - log w the sigmoid would be exp(z) / (w + exp(z)), which overflows. For log w - z it is
    w / (w + exp(z)), which does not.
    """
    raised = lifter.normal.exp(expr)
    if raised is None:
        return None
    factors = [f for term in raised for f in term.factors]
    alone = len(factors) == 1 and factors[0].atom.kind == EXP
    above = any(f.power > 0 for f in factors if f.atom.kind == EXP)
    sums = any(f.atom.kind == SUM and exps_of(f.atom) for f in factors)
    return None if sums or (above and not alone) else raised


def _below_zero(node: Node) -> Node | None:
    """The value x, if the node is -|x|."""
    if not is_negation(node) or node.operands[0].op is not absolute.op:
        return None
    return node.operands[0].operands[0]
