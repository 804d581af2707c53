"""The exps in an atom or an expression."""

from __future__ import annotations

from .term import EXP, LOG, SUM, Atom, Expr

__all__ = ["exps_of", "holds_exps", "is_of_exps"]


def exps_of(atom: Atom) -> list[Atom]:
    """All exps in an atom: itself, or those in its sum or log."""
    if atom.kind == EXP:
        return [atom]
    if atom.kind not in (SUM, LOG):
        return []
    return [f.atom for term in atom.expr for f in term.factors if f.atom.kind == EXP]


def is_of_exps(atom: Atom) -> bool:
    """Whether the atom holds only exps and numbers, and so may be part of a softmax or sigmoid."""
    return atom.kind == EXP or all(f.atom.kind == EXP for t in atom.expr for f in t.factors)


def holds_exps(expr: Expr) -> bool:
    """Whether the expression holds an exp, also inside a sum or a log."""
    return any(exps_of(f.atom) for term in expr for f in term.factors)
