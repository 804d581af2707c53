"""Which exps stand in a head or an expression."""

from __future__ import annotations

from .term import EXP, LOG, SUM, Expr, Head

__all__ = ["exps_of", "holds_exps", "is_of_exps"]


def exps_of(head: Head) -> list[Head]:
    """All exps in a head."""
    if head.kind == EXP:
        return [head]
    if head.kind not in (SUM, LOG):
        return []
    return [f.head for term in head.expr for f in term.factors if f.head.kind == EXP]


def is_of_exps(head: Head) -> bool:
    """Whether nothing but exps and numbers is in it: what may be part of a softmax or a sigmoid."""
    return head.kind == EXP or all(f.head.kind == EXP for t in head.expr for f in t.factors)


def holds_exps(expr: Expr) -> bool:
    """Whether an exp is in the expression, or in a sum or log of it."""
    return any(exps_of(f.head) for term in expr for f in term.factors)
