"""Estimates the fewest operations that an expression needs, to skip regions that are short already.

The estimate saves time; it is no proof. A region no longer than the estimate stays as the user
wrote it. So a high estimate may miss a shorter spelling, and a low one costs the time to search for
it. In a large graph that time is spent only if the expression as it stands is no longer than the
region.
"""

from __future__ import annotations

from collections.abc import Callable

from ..expression.exact_numbers import Rational
from ..expression.exps import exps_of, is_of_exps
from ..expression.term import EXP, LEAF, LOG, SUM, Atom, Expr, Term

__all__ = ["least_count", "plain_count"]


def least_count(expr: Expr, computed: Callable[[Atom], bool]) -> int:
    """A number of operations below which no spelling is expected.

    n different arrays need n - 1 operations of two operands; each power, number and lone sum needs
    one of its own, and so do logs and inverses, and one exp in each product.

    Parameters
    ----------
    expr : Expr
    computed : callable
        Whether an exp or log is computed anyway, an exp alone or in a softmax or the like. Then the
        exp, its sum, and the log of its sum count as arrays, and so does the log.
    """
    for term in expr:
        if len(term.bound) > 1 and len(term.factors) > 2:
            return 0  # Contractions in another order may need less work at the same count.
    tally = _Tally(computed)
    tally.add(expr)
    while tally.nested:
        tally.add(tally.nested.pop())
    return max(0, len(tally.arrays) - 1 + len(tally.single) + tally.more)


class _Tally:
    """Counts arrays that are combined two by two, and parts that need an operation each."""

    def __init__(self, computed: Callable[[Atom], bool]) -> None:
        self.computed = computed
        self.arrays: set[object] = set()
        self.single: set[object] = set()
        self.more = 0
        self.nested: list[Expr] = []
        self._seen: set[Atom] = set()

    def add(self, expr: Expr) -> None:
        """Count the terms; expressions inside wait in `nested`."""
        many = len(expr) > 1
        for term, coef in expr.items():
            factors = term.factors
            if not factors:
                if many:
                    self.single.add(("number", id(expr)))
                continue
            if all(f.power < 0 for f in factors):
                self.single.add("inverse")
            elif coef != 1 and coef != -1:
                self.single.add(("times", abs(coef)))
            summed = _summed_alone(term) if term.bound else None
            if summed is not None:
                self.single.add(("sum", *summed))
            self._add_factors(term, summed)

    def _add_factors(self, term: Term, summed: tuple[Atom, object] | None) -> None:
        with_exp = False
        for atom, _, power in term.factors:
            if atom.base is not None:
                continue  # It is a number, or part of the operation.
            if atom.kind == LOG and self.computed(atom):
                self.arrays.add(atom)
                continue
            exps = exps_of(atom)
            if exps and is_of_exps(atom):
                known = [each for each in exps if self.computed(each)]
                if known:
                    self.arrays.update(known)
                    continue
                if atom.kind == EXP:
                    if not with_exp:  # Others in the product may go into it.
                        self.single.add(atom)
                        with_exp = True
                    self._open(atom)
                    continue
                if atom not in self._seen and (power < 0 or atom.kind == LOG):
                    self.more += _beyond(atom)
            if power != 1 and power != -1:
                self.single.add((atom, power))
            if atom.kind == LEAF:
                # An array and its sum are two different ones.
                self.arrays.add(summed if summed is not None and atom is summed[0] else atom)
                continue
            if atom.kind == LOG:
                self.single.add("log")
            if atom.kind in (LOG, SUM):
                self._open(atom)

    def _open(self, atom: Atom) -> None:
        if atom not in self._seen:
            self._seen.add(atom)
            self.nested.append(atom.expr)


def plain_count(expr: Expr, computed: Callable[[Atom], bool]) -> int:
    """The operations of the expression as it stands, with repeated parts computed once.

    Factors are not taken out and sums are not expanded, so a shorter spelling may exist.

    Parameters
    ----------
    expr : Expr
    computed : callable
        Whether an exp or log is computed anyway.
    """
    plain = _Plain(computed)
    plain.add(expr)
    while plain.nested:
        plain.add(plain.nested.pop())
    return plain.count


class _Plain:
    """Counts operations as they are met."""

    def __init__(self, computed: Callable[[Atom], bool]) -> None:
        self.computed = computed
        self.count = 0
        self.nested: list[Expr] = []
        self._seen: set[object] = set()

    def add(self, expr: Expr) -> None:
        """Count the terms; expressions inside wait in `nested`."""
        self.count += max(0, len(expr) - 1)
        for term, coef in expr.items():
            self._add_product(term)
            if coef != 1 and coef != -1:
                self._once(("times", abs(coef)))
            elif coef == -1 and len(expr) == 1:
                # A difference among the factors may be reversed.
                self.count += not any(f.atom.kind == SUM for f in term.factors)

    def _once(self, what: object, count: int = 1) -> None:
        if what not in self._seen:
            self._seen.add(what)
            self.count += count

    def _add_product(self, term: Term) -> None:
        factors = [f for f in term.factors if f.atom.base is None]
        if len(factors) > 1:
            self._once(frozenset([(f.atom, f.power) for f in factors]), len(factors) - 1)
        if factors and all(f.power < 0 for f in factors):
            self._once("inverse")
        if term.bound:
            inside = [f for f in factors if any(index < 0 for index in f.idx)]
            if all(f.idx == inside[0].idx for f in inside):  # Matrices are multiplied and summed.
                self._once(("sum", *[(f.atom, f.power) for f in inside]))
        for atom, _, power in factors:
            if power != 1 and power != -1:
                self._once((atom, abs(power)))
            if atom.kind in (SUM, EXP, LOG) and atom not in self._seen:
                self._seen.add(atom)
                self._open(atom, power)

    def _open(self, atom: Atom, power: Rational) -> None:
        if atom.kind == LOG and self.computed(atom):
            return
        exps = exps_of(atom)
        of_exps = bool(exps) and is_of_exps(atom)
        if of_exps and any(map(self.computed, exps)):
            return
        self.nested.append(atom.expr)
        if atom.kind != SUM:
            self.count += 1
        elif of_exps and power < 0:  # The other operations of a softmax or a sigmoid.
            self.count += 2 if any(each.bound for each in atom.expr) else 1


def _beyond(atom: Atom) -> int:
    """Operations of a softmax, sigmoid or logsumexp beyond its exp, its sum and its log."""
    over = any(term.bound for term in atom.expr)
    if atom.kind == LOG:
        return 3 if over else 0
    return 3 if over else 2 if len(atom.expr) == 2 else 0


def _summed_alone(term: Term) -> tuple[Atom, object] | None:
    """The array that is summed by itself, and its power; None if there is no such array."""
    inside = [f for f in term.factors if any(index < 0 for index in f.idx)]
    if len(inside) != 1 or (inside[0].power == 2 and len(inside[0].idx) == 1):
        return None  # A vector times itself, x @ x, is counted with its power.
    return inside[0].atom, inside[0].power
