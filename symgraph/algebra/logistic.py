"""Logarithms of 1 + x, and the logistic function and its integral, opened where that is safe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..array import FUNCTIONS, Array
from ..ir.node import Node
from .heads import one
from .leaves import leaf_expr
from .lower_bound import exps_of
from .scalars import number
from .term import EXP, SUM, Expr

if TYPE_CHECKING:
    from .forms import Forms

__all__ = ["log1p", "sigmoid", "softplus"]


def _plus_one(forms: Forms, expr: Expr) -> Expr:
    return forms.normal.add([(number(one), one), (expr, one)])


def log1p(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """log(1 + x)."""
    total = _plus_one(forms, operands[0])
    return forms.normal.log(total) if total else None


def sigmoid(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """exp(x) / (1 + exp(x))."""
    raised = _raised(forms, operands[0])
    if raised is None:
        return None
    inverse = forms.normal.power(_plus_one(forms, raised), -one)
    return None if inverse is None else forms.normal.multiply(raised, inverse)


def softplus(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """log(1 + exp(x))."""
    below = _below_zero(node.operands[0])
    if below is not None:
        # The safe spelling by hand: softplus(x) is max(x, 0) + softplus(-|x|).
        top = FUNCTIONS["maximum"](Array(below), 0).node
        whole = _softplus_of(forms, leaf_expr(forms.heads, below))
        return whole and forms.normal.add([(whole, one), (leaf_expr(forms.heads, top), -one)])
    return _softplus_of(forms, operands[0])


def _softplus_of(forms: Forms, expr: Expr) -> Expr | None:
    raised = _raised(forms, expr)
    return None if raised is None else forms.normal.log(_plus_one(forms, raised))


def _raised(forms: Forms, expr: Expr) -> Expr | None:
    """The exp of what a sigmoid is taken of; None where the sigmoid opened would overflow.

    Of z - log w it would be exp(z) / (w + exp(z)), but of log w - z it is w / (w + exp(z)).
    """
    raised = forms.normal.exp(expr)
    if raised is None:
        return None
    factors = [f for term in raised for f in term.factors]
    alone = len(factors) == 1 and factors[0].head.kind == EXP
    above = any(f.power > 0 for f in factors if f.head.kind == EXP)
    sums = any(f.head.kind == SUM and exps_of(f.head) for f in factors)
    return None if sums or (above and not alone) else raised


def _below_zero(node: Node) -> Node | None:
    """What x is, if the node is -|x|."""
    if node.op.name != "negative" or node.operands[0].op.name != "absolute":
        return None
    return node.operands[0].operands[0]
