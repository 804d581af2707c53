"""Finds sums that occur again inside a longer sum: a - b + (a - b) c needs one difference."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from ..expression.atoms import one
from ..expression.canonical_indices import canonical_term
from ..expression.exact_numbers import Coef, quotient
from ..expression.term import SUM, Atom, Expr, Term, added, index_sizes
from ..normal_form.normalize import NormalForm

__all__ = ["found_again", "gathered"]

_MOST_TERMS = 12
"""Longer sums are not searched."""


def gathered(normal: NormalForm, expr: Expr) -> Expr | None:
    """The expression with terms replaced by a lazy sum that other terms contain; or None."""
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
    return _summed(normal, expr) if lazy else None


def _summed(normal: NormalForm, expr: Expr) -> Expr | None:
    """The expression with terms that are the elements, added up, of a sum in another term; or None.

    n a - sum(x) + (a - x) @ y needs one difference, for n a - sum(x) is the sum of a - x.
    """
    there = _atoms(expr)
    for term in expr:
        bound = len(term.bound)
        for place, (atom, idx, power) in enumerate(term.factors):
            few = bound and atom.kind == SUM and power == 1 and len(atom.expr) < len(expr)
            if not few or not _at_bound(idx) or not there.issuperset(_atoms(atom.expr)):
                continue
            found = _added_up(normal, expr, term, place)
            if found is not None:
                return found
    return None


def _at_bound(idx: tuple[int, ...]) -> bool:
    """Whether one of these indices is summed over."""
    return bool(idx) and min(idx) < 0


def _atoms(expr: Expr) -> set[Atom]:
    return {factor.atom for term in expr for factor in term.factors}


def _added_up(normal: NormalForm, expr: Expr, term: Term, place: int) -> Expr | None:
    """The expression over the sum of one factor's elements; None if it does not have its terms."""
    factors, bound = normal.opened_term(term)
    slot = factors[place]
    rest = [each for each in factors if bound.keys().isdisjoint(each[1])]
    over = {index: size for index, size in bound.items() if index in slot[1]}
    inner = normal.sum_over(normal.distributed(slot, one, rest, {}), over)
    found = _without(expr, inner) if len(inner) > 1 else None
    if found is None:
        return None
    left, ratio = found
    return added([*left.items(), (canonical_term([*rest, slot], over), ratio)])


def _with(normal: NormalForm, expr: Expr, atom: Atom, idx: tuple[int, ...]) -> Expr | None:
    """The expression with a multiple of the sum at these indices in place of its terms; or None."""
    found = _without(expr, normal.instance((atom, idx, one)))
    if found is None:
        return None
    rest, ratio = found
    return added([*rest.items(), (canonical_term([(atom, idx, one)], {}), ratio)])


def found_again(
    normal: NormalForm, expr: Expr, inner: Expr, summed: Sequence[int]
) -> tuple[Expr, dict[int, int], Coef] | None:
    """A sum over `summed` indices, found in an expression at free indices; None if it is not there.

    The result is the rest of the expression, the free index for each summed one, and the sum's
    multiple.
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
    """The expression without a multiple of a sum, and the multiple; None if it is not there."""
    if any(term not in expr for term in inner) or 0 in inner.values():
        return None
    ratios = {quotient(expr[term], coef) for term, coef in inner.items()}
    if len(ratios) != 1:
        return None
    return {term: coef for term, coef in expr.items() if term not in inner}, ratios.pop()
