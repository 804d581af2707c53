"""Terms of a sum that are a sum already: a - b + (a - b) c is written with one difference."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from ..expression.atoms import one
from ..expression.labels import canonical_term
from ..expression.term import (
    SUM,
    Atom,
    Coef,
    Expr,
    added,
    index_sizes,
    quotient,
)
from ..normal_form.normalize import NormalForm

__all__ = ["found_again", "gathered"]

_MOST_TERMS = 12
"""Longer sums are not searched for shorter ones in them."""


def gathered(normal: NormalForm, expr: Expr) -> Expr | None:
    """The expression with some terms as a lazy sum that stands in others; None if there is none."""
    if not 2 < len(expr) <= _MOST_TERMS:
        return None
    lazy = {
        f.atom: None
        for term in expr
        for f in term.factors
        if f.atom.kind == SUM and 2 <= len(f.atom.expr) < len(expr)
    }
    sizes = index_sizes(expr) if lazy else {}
    for atom in lazy:
        for idx in permutations(sizes, len(atom.sizes)):
            if all(sizes[i] == size for i, size in zip(idx, atom.sizes, strict=True)):
                found = _with(normal, expr, atom, idx)
                if found is not None:
                    return found
    return None


def _with(normal: NormalForm, expr: Expr, atom: Atom, idx: tuple[int, ...]) -> Expr | None:
    """The expression with terms as a multiple of the sum at these indices, if all are there."""
    found = _without(expr, normal.instance((atom, idx, one)))
    if found is None:
        return None
    rest, ratio = found
    return added([*rest.items(), (canonical_term([(atom, idx, one)], {}), ratio)])


def found_again(
    normal: NormalForm, expr: Expr, inner: Expr, summed: Sequence[int]
) -> tuple[Expr, dict[int, int], Coef] | None:
    """Where a sum over `summed` indices stands in an expression at free ones as well.

    What is left of the expression, what the indices are called there, and the sum's multiple.
    """
    if len(inner) < 2 or not len(inner) <= len(expr) <= _MOST_TERMS:
        return None
    own, sizes = index_sizes(inner), index_sizes(expr)
    summed = [index for index in summed if index in own]
    for idx in permutations([index for index in sizes if index not in own], len(summed)):
        if any(sizes[i] != own[index] for i, index in zip(idx, summed, strict=True)):
            continue
        names = dict(zip(summed, idx, strict=True))
        found = _without(expr, normal.substituted(inner, names))
        if found is not None:
            return found[0], names, found[1]
    return None


def _without(expr: Expr, inner: Expr) -> tuple[Expr, Coef] | None:
    """What is left of an expression without a multiple of a sum, and the multiple."""
    if any(term not in expr for term in inner) or 0 in inner.values():
        return None
    ratios = {quotient(expr[term], coef) for term, coef in inner.items()}
    if len(ratios) != 1:
        return None
    return {term: coef for term, coef in expr.items() if term not in inner}, ratios.pop()
