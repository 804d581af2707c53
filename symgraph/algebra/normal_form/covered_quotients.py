"""Quotients x / x in a sum that has a pole at x = 0 in any case, from log x or 1 / x.

There x / x is NaN, but the sum is no number either, so the quotient is written as 1. That gives
entropies and divergences, x log x and p log(p / q), and polynomials over x the slopes of the books.
A derivative of the sum may lack the term with the pole, so before differentiating quotients stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from ...ir.node import Node
from ..expression.applied import named
from ..expression.atoms import one
from ..expression.exact_numbers import Coef, Rational, rational
from ..expression.term import LEAF, LOG, SUM, Atom, Expr, Factor, Term, added, scaled
from .arithmetic import Arithmetic
from .factors import Factors, RawFactor

__all__ = [
    "has_quotient_beside_pole",
    "has_terms_at_one_pole",
    "like_terms_at_pole",
    "quotient_beside_logarithm",
    "quotient_beside_pole",
    "without_covered_quotients",
    "without_covered_zeros",
]

Place: TypeAlias = tuple[Atom, tuple[int, ...]]

_DEEPEST = 8


def without_covered_quotients(normal: Arithmetic, expr: Expr) -> Expr:
    """The sum without the quotients that are NaN only where another term is no number."""
    quotients = _with_quotients(expr)
    if not quotients:
        return expr
    for covered in (quotient_beside_logarithm, quotient_beside_pole):
        new = covered(normal, expr, quotients)
        if new != expr:
            normal.applied.note(covered.__name__)
            expr, quotients = new, _with_quotients(new)
    return expr


@named
def quotient_beside_logarithm(normal: Arithmetic, expr: Expr, quotients: Sequence[Term]) -> Expr:
    r"""$x / x + y \log x = 1 + y \log x$: at 0 and at infinity the logarithm is infinite.

    Below 0 it is NaN. It may be of a product or quotient with the factor x, too.
    """
    return _without(normal, expr, quotients, _Logarithms(normal, expr).tell_of)


@named
def quotient_beside_pole(normal: Arithmetic, expr: Expr, quotients: Sequence[Term]) -> Expr:
    r"""$x / x + y / x = 1 + y / x$: the other term is infinite or NaN at 0.

    It is 0 where x is infinite. So x must have no pole itself, as log(y) has at y = 0.
    """
    poles = _poles(expr)
    return _without(normal, expr, quotients, lambda atom, idx: (atom, idx) in poles and atom.total)


@named
def like_terms_at_pole(normal: Arithmetic, parts: Sequence[tuple[Expr, Coef]], total: Expr) -> Expr:
    r"""$a / x - b / x = (a - b) / x$, where at 0 infinity less infinity is NaN."""
    if len(total) < sum(len(expr) for expr, _ in parts):
        for term in total:
            signs = {(expr[term] > 0) == (by > 0) for expr, by in parts if term in expr}
            if len(signs) == 2 and _has_pole(term):
                normal.applied.note(like_terms_at_pole.__name__)
                break
    return total


def has_terms_at_one_pole(expr: Expr) -> bool:
    r"""Whether it has a / x and b / x: (a - b) / x, which may be written, is infinite for NaN."""
    seen: set[Place] = set()
    for term in expr:
        places = {(f.atom, f.idx) for f in term.factors if f.power < 0 and not f.atom.nonzero}
        if not term.bound and not seen.isdisjoint(places):
            return True
        seen |= places
    return False


def _has_pole(term: Term) -> bool:
    """Whether a term may be divided by 0."""
    return not term.bound and any(f.power < 0 and not f.atom.nonzero for f in term.factors)


def has_quotient_beside_pole(expr: Expr) -> bool:
    r"""Whether it has x / x and y / x: (x + y) / x, which may be written, is infinite for NaN."""
    quotients = _with_quotients(expr)
    poles = _poles(expr) if quotients else ()
    return bool(poles) and any(
        len(powers) > 1 and place in poles
        for term in quotients
        for place, powers in _powers(term.factors).items()
    )


def _poles(expr: Expr) -> set[Place]:
    """The factors that a term is divided by. A sum over an axis may be empty, and then it is 0."""
    return {
        place
        for term in expr
        if not term.bound
        for place, powers in _powers(term.factors).items()
        if sum(powers) < 0
    }


def _powers(factors: Iterable[RawFactor | Factor]) -> dict[Place, list[Rational]]:
    """The powers of each factor."""
    found: dict[Place, list[Rational]] = {}
    for atom, idx, power in factors:
        found.setdefault((atom, idx), []).append(power)
    return found


def without_covered_zeros(normal: Arithmetic, expr: Expr, beside: Factors) -> Expr:
    r"""The sum without $0 \sqrt x$ if it is a factor beside others with $\sqrt x$.

    Both are NaN for a negative x, and neither is infinite.
    """
    zeros = [term for term, coef in expr.items() if coef == 0]
    if not zeros:
        return expr
    rooted = set[Place]()
    for atom, idx, power in beside:
        inside = normal.instance((atom, idx, one)) if atom.kind == SUM else {}
        terms = [term for term, coef in inside.items() if coef != 0 and not term.bound]
        factors = [Factor(atom, idx, power), *[f for term in terms for f in term.factors]]
        rooted.update((f.atom, f.idx) for f in factors if f.power.denominator > 1)
    gone = [term for term in zeros if all(_is_covered(factor, rooted) for factor in term.factors)]
    return {term: coef for term, coef in expr.items() if term not in gone}


def _is_covered(factor: Factor, rooted: set[Place]) -> bool:
    """Whether a factor is a number wherever roots of these values are."""
    if not factor.atom.total or factor.power < 0:
        return False
    return factor.power.denominator == 1 or (factor.atom, factor.idx) in rooted


def _without(
    normal: Arithmetic,
    expr: Expr,
    quotients: Sequence[Term],
    covered: Callable[[Atom, tuple[int, ...]], bool],
) -> Expr:
    """The sum with powers merged of each factor that is covered."""
    parts: list[tuple[Term, Coef]] = []
    for term, coef in expr.items():
        factors, bound = normal.opened_term(term) if term in quotients else ([], {})
        left = _merged(factors, covered)
        parts.extend(
            [(term, coef)] if left == factors else normal.product(coef, left, bound).items()
        )
    return added(parts)


def _with_quotients(expr: Expr) -> list[Term]:
    return [term for term in expr if len(term.factors) > 1 and _has_quotient(term)]


def _has_quotient(term: Term) -> bool:
    """Whether two powers of one factor stand apart; they are neighbours."""
    last = None
    for factor in term.factors:
        if last is not None and factor.atom is last.atom and factor.idx == last.idx:
            return True
        last = factor
    return False


def _merged(factors: Factors, covered: Callable[[Atom, tuple[int, ...]], bool]) -> Factors:
    """The factors, with whole powers merged of those that are covered.

    A root is NaN below 0, too, where the logarithm of a product need not be.
    """
    found: Factors = []
    for (atom, idx), apart in _powers(factors).items():
        total = rational(sum(apart))
        whole = all(power.denominator == 1 for power in apart)
        if len(apart) > 1 and whole and total >= 0 and covered(atom, idx):
            apart = [total] if total else []
        found.extend((atom, idx, power) for power in apart)
    return found


class _Logarithms:
    """The logarithms in a sum: at whose 0, infinity or NaN the sum is no number."""

    def __init__(self, normal: Arithmetic, expr: Expr) -> None:
        self._normal = normal
        self._factors = set[Place]()
        self._sums: list[Expr] = []
        self._nodes = set[tuple[Node, tuple[int, ...]]]()
        for term in expr:
            # A sum over an axis may be empty, and then it is 0.
            for factor in () if term.bound else term.factors:
                if factor.power > 0:
                    self._learn(factor)

    def _learn(self, factor: Factor) -> None:
        atom, idx, _ = factor
        if atom.kind == LOG:
            inside = self._normal.instance((atom, idx, one))
            if len(inside) > 1:
                self._sums.append(inside)
            for term in inside if len(inside) == 1 else ():
                self._factors.update((each.atom, each.idx) for each in term.factors)
        elif atom.kind == LEAF:
            self._nodes.update((each, idx) for each in _told_by(atom.node, _DEEPEST))

    def tell_of(self, atom: Atom, idx: tuple[int, ...]) -> bool:
        """Whether the sum has the logarithm of this factor, or of a product with it."""
        if (atom, idx) in self._factors:
            return True
        if atom.kind == LEAF:
            return (atom.node, idx) in self._nodes
        if atom.kind != SUM or not self._sums:
            return False
        value = self._normal.instance((atom, idx, one))
        return value in self._sums or scaled(value, -1) in self._sums


def _told_by(node: Node, depth: int) -> Iterator[Node]:
    """The values at whose 0, infinity or NaN this one is infinite or NaN.

    Of a logarithm these are the factors of its operand; a sum, a multiple and a numerator hand on
    what an operand tells.
    """
    traits = node.op.traits
    if traits.logarithm is not None:
        if not traits.logarithm.plus:
            yield from _factors_of(node.operands[0], depth)
        return
    # Other linear operations may give a number all the same, as a choice between two values does.
    hands_on = traits.combination or [power > 0 for power in traits.monomial]
    for operand, handed in zip(node.operands, hands_on, strict=False):
        if depth and handed and operand.shape == node.shape:
            yield from _told_by(operand, depth - 1)


def _factors_of(node: Node, depth: int) -> Iterator[Node]:
    """The value, and the factors of which it is a product of powers."""
    yield node
    if depth and node.op.traits.monomial:
        for operand in node.operands:
            if operand.shape == node.shape:
                yield from _factors_of(operand, depth - 1)
