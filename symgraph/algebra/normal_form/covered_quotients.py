"""Quotients x / x in a sum that is no number where they are NaN, for it has log x or 1 / x, too.

So entropies and divergences, x log x and p log(p / q), have the slopes of the books. Derivatives of
the sum need not have the other term, so before differentiating the quotients stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ...ir.node import Node
from ..expression.applied import named
from ..expression.atoms import one
from ..expression.exact_numbers import Coef, Rational, rational
from ..expression.term import LEAF, LOG, SUM, Atom, Expr, Factor, Term, added, scaled
from .arithmetic import Arithmetic
from .factors import Factors

__all__ = ["quotient_beside_logarithm", "quotient_beside_pole", "without_covered_quotients"]

Place: TypeAlias = tuple[Atom, tuple[int, ...]]

_DEEPEST = 8


def without_covered_quotients(normal: Arithmetic, expr: Expr) -> Expr:
    """The sum with 1 in place of each quotient that is NaN only where another term is no number."""
    quotients = [term for term in expr if _has_quotient(term)]
    if not quotients:
        return expr
    beside = _Beside(normal, expr)
    parts: list[tuple[Term, Coef]] = []
    names: list[str] = []
    for term, coef in expr.items():
        factors, bound = normal.opened_term(term) if term in quotients else ([], {})
        found = len(names)
        left = _merged(factors, beside, names)
        new = normal.product(coef, left, bound) if len(names) > found else {term: coef}
        parts.extend(new.items())
    if not names or not normal.is_last():
        return expr
    for name in names:
        normal.applied.note(name)
    return added(parts)


def _has_quotient(term: Term) -> bool:
    """Whether two powers of one factor stand apart; they are neighbours."""
    last = None
    for factor in term.factors:
        if last is not None and factor.atom is last.atom and factor.idx == last.idx:
            return True
        last = factor
    return False


def _merged(factors: Factors, beside: _Beside, names: list[str]) -> Factors:
    """The factors with whole powers merged where a sum allows it; the names of the reasons.

    A root is NaN below 0, too, where the other term need not be.
    """
    powers: dict[Place, list[Rational]] = {}
    for atom, idx, power in factors:
        powers.setdefault((atom, idx), []).append(power)
    found: Factors = []
    for (atom, idx), apart in powers.items():
        total = rational(sum(apart))
        whole = all(power.denominator == 1 for power in apart)
        name = beside.reason(atom, idx) if len(apart) > 1 and whole and total >= 0 else ""
        if not name:
            found.extend((atom, idx, power) for power in apart)
            continue
        names.append(name)
        if total > 0:
            found.append((atom, idx, total))
    return found


class _Beside:
    """What the terms of a sum tell: at whose 0, infinity or NaN the sum is no number."""

    def __init__(self, normal: Arithmetic, expr: Expr) -> None:
        self._normal = normal
        self.poles = set[Place]()
        self.factors = set[Place]()
        self.sums: list[Expr] = []
        self.nodes = set[tuple[Node, tuple[int, ...]]]()
        for term in expr:
            places = [(each.atom, each.idx) for each in term.factors]
            for factor, place in zip(term.factors, places, strict=True):
                if any(each < 0 for each in factor.idx):
                    continue  # It is summed over.
                if factor.power > 0:
                    self._learn(factor)
                elif places.count(place) == 1:
                    self.poles.add(place)

    def _learn(self, factor: Factor) -> None:
        atom, idx, _ = factor
        if atom.kind == LOG:
            inside = self._normal.instance((atom, idx, one))
            if len(inside) > 1:
                self.sums.append(inside)
            for term in inside if len(inside) == 1 else ():
                self.factors.update((each.atom, each.idx) for each in term.factors)
        elif atom.kind == LEAF:
            self.nodes.update((each, idx) for each in _told_by(atom.node, _DEEPEST))

    def reason(self, atom: Atom, idx: tuple[int, ...]) -> str:
        """The identity by which powers of the factor may be merged; empty if there is none."""
        for each in (quotient_beside_logarithm, quotient_beside_pole):
            if each(self, atom, idx):
                return each.__name__
        return ""

    def is_inside(self, atom: Atom, idx: tuple[int, ...]) -> bool:
        """Whether the sum has the logarithm of this factor, or of a product with it."""
        if (atom, idx) in self.factors:
            return True
        if atom.kind == LEAF:
            return (atom.node, idx) in self.nodes
        if atom.kind != SUM or not self.sums:
            return False
        value = self._normal.instance((atom, idx, one))
        return value in self.sums or scaled(value, -1) in self.sums


@named
def quotient_beside_logarithm(beside: _Beside, atom: Atom, idx: tuple[int, ...]) -> bool:
    r"""$x / x + y \log x = 1 + y \log x$: at 0 and at infinity the logarithm is infinite.

    Below 0 it is NaN. It may be of a product or quotient with the factor x, too.
    """
    return beside.is_inside(atom, idx)


@named
def quotient_beside_pole(beside: _Beside, atom: Atom, idx: tuple[int, ...]) -> bool:
    r"""$x / x + y / x = 1 + y / x$: at 0 the other term is infinite."""
    return (atom, idx) in beside.poles


def _told_by(node: Node, depth: int) -> Iterator[Node]:
    """The values at whose 0, infinity or NaN this one is infinite or NaN.

    Of a logarithm these are the factors of its operand; a sum, a multiple and a numerator hand on
    what an operand tells.
    """
    traits, count = node.op.traits, len(node.operands)
    if not depth or not traits.elementwise:
        return
    if traits.logarithm is not None and not traits.logarithm.plus:
        yield from _factors_of(node.operands[0], depth - 1)
    elif not traits.selects:
        for place in {*traits.linear_in(count), *traits.linear_together(count)}:
            if node.operands[place].shape == node.shape:
                yield from _told_by(node.operands[place], depth - 1)


def _factors_of(node: Node, depth: int) -> Iterator[Node]:
    """The value, and the factors of which it is a product of powers."""
    yield node
    if depth and node.op.traits.monomial:
        for operand in node.operands:
            if operand.shape == node.shape:
                yield from _factors_of(operand, depth - 1)
