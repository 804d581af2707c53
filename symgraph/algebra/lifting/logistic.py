"""Logarithms of 1 + x, and the logistic function and its integral, opened where that is safe."""

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


def _plus_one(forms: Lifting, expr: Expr) -> Expr:
    return forms.normal.add([(number(one), one), (expr, one)])


def log1p(forms: Lifting, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """log(1 + x)."""
    total = _plus_one(forms, operands[0])
    return forms.normal.log(total) if total else None


def sigmoid(forms: Lifting, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """exp(x) / (1 + exp(x))."""
    raised = _raised(forms, operands[0])
    if raised is None:
        return None
    inverse = forms.normal.power(_plus_one(forms, raised), -one)
    return None if inverse is None else forms.normal.multiply(raised, inverse)


def softplus(forms: Lifting, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """log(1 + exp(x))."""
    below = _below_zero(node.operands[0])
    if below is not None:
        # The safe spelling by hand: softplus(x) is max(x, 0) + softplus(-|x|).
        top = maximum(Array(below), 0).node
        whole = _softplus_of(forms, leaf_expr(forms.atoms, below))
        return whole and forms.normal.add([(whole, one), (leaf_expr(forms.atoms, top), -one)])
    return _softplus_of(forms, operands[0])


def _softplus_of(forms: Lifting, expr: Expr) -> Expr | None:
    raised = _raised(forms, expr)
    return None if raised is None else forms.normal.log(_plus_one(forms, raised))


def _raised(forms: Lifting, expr: Expr) -> Expr | None:
    """The exp of what a sigmoid is taken of; None where the sigmoid opened would overflow.

    Of z - log w it would be exp(z) / (w + exp(z)), but of log w - z it is w / (w + exp(z)).
    """
    raised = forms.normal.exp(expr)
    if raised is None:
        return None
    factors = [f for term in raised for f in term.factors]
    alone = len(factors) == 1 and factors[0].atom.kind == EXP
    above = any(f.power > 0 for f in factors if f.atom.kind == EXP)
    sums = any(f.atom.kind == SUM and exps_of(f.atom) for f in factors)
    return None if sums or (above and not alone) else raised


def _below_zero(node: Node) -> Node | None:
    """What x is, if the node is -|x|."""
    if not is_negation(node) or node.operands[0].op is not absolute.op:
        return None
    return node.operands[0].operands[0]
