"""Contractions, sums and products that the graph computes already.

A contraction with several users is one array to them. If an expression holds the same contraction
written in full, in another order or transposed, it is replaced by that array. Then like terms
merge.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from operator import attrgetter
from typing import NamedTuple

from ...ir.node import Node
from ..expression.atoms import AtomTable, one, open_axes
from ..expression.canonical_indices import canonical_term
from ..expression.exact_numbers import Coef, Rational, quotient, times
from ..expression.scalars import content, over
from ..expression.term import EXP, SUM, Atom, Expr, Factor, Term, added, free_indices
from .factors import Factors, components
from .normalize import NormalForm

__all__ = ["KnownContractions"]


_MOST_PRODUCTS = 4
"""The largest number of products remembered for one array."""


_atom = attrgetter("atom")


class _KnownArray(NamedTuple):
    """An array that is `coef` times the looked-up sum, and the order of its indices there."""

    atom: Atom
    order: tuple[int, ...]
    coef: Coef


class KnownContractions:
    """Finds the array of the graph that equals an expression."""

    def __init__(self, normal: NormalForm) -> None:
        self.normal = normal
        self.atoms: AtomTable = normal.atoms
        self._known: dict[Atom, _KnownArray] = {}
        self._parts: set[tuple[int, ...]] = set()
        self._inside: dict[Atom, Expr] = {}
        self._sums: dict[Atom, tuple[Node, tuple[int, ...], Coef]] = {}
        self._shapes_of_sums: set[tuple[int, int]] = set()
        self._products: dict[Atom, list[tuple[Term, Coef, Node]]] = {}

    def learn(self, expr: Expr, leaf: Expr) -> None:
        """Remember that `leaf`, a single array, equals `expr`; of a number there is nothing to."""
        if not leaf:
            return  # The number 0, which another form of the value has turned out to be.
        ((term, by),) = leaf.items()
        if by != 1 or len(term.factors) != 1 or not expr:
            return
        self._learn_symmetry(expr, *term.factors)
        coef = content(expr)
        if coef == 0:
            return
        if len(expr) == 1:
            (single,) = expr
            if not single.bound or any(all(i >= 0 for i in f.idx) for f in single.factors):
                return
            self._parts.add(_signature(single))
            self._inside[term.factors[0].atom] = expr
        atom, idx = self.atoms.closed(SUM, over(expr, coef))
        array = term.factors[0].atom
        if len(idx) == len(array.sizes):
            self._known.setdefault(atom, _KnownArray(array, idx, coef))

    def _learn_symmetry(self, expr: Expr, leaf: Factor) -> None:
        """Mark a matrix as symmetric if its expression is, as V A V is with symmetric V and A."""
        atom, idx, power = leaf
        if idx != (0, 1) or power != 1 or atom.axes != (-2, -1) or atom.symmetric:
            return
        if atom.sizes[0] == atom.sizes[1]:
            atom.symmetric = self.atoms.renamed(expr, {0: 1, 1: 0}) == expr

    # -- sums that are computed anyway -------------------------------------------------------------
    def learn_sum(self, expr: Expr, node: Node) -> None:
        """Remember that an array with several users equals this sum."""
        coef = content(expr) if len(expr) > 1 else 0
        if coef != 0:
            atom, idx = self.atoms.closed(SUM, over(expr, coef))
            if len(idx) == len(open_axes(node)):
                self._sums.setdefault(atom, (node, idx, coef))
                self._shapes_of_sums.add(_shape_of_sum(expr))

    def sum_of(self, expr: Expr) -> tuple[Coef, Node, tuple[int | None, ...]] | None:
        """A number, an array and its indices, whose product is this sum; None if none is known."""
        if len(expr) < 2 or _shape_of_sum(expr) not in self._shapes_of_sums:
            return None
        if any(f.atom.rank < 0 for term in expr for f in term.factors):
            return None  # Of values that were written for the result.
        coef = content(expr)
        if coef == 0:
            return None
        atom, idx = self.atoms.closed(SUM, over(expr, coef))
        known = self._sums.get(atom)
        if known is None:
            return None
        node, order, by = known
        places = dict(zip(order, idx, strict=True))
        labels: list[int | None] = [None] * node.ndim
        for formal, axis in enumerate(open_axes(node)):
            labels[axis] = places[formal]
        return quotient(coef, by), node, tuple(labels)

    # -- products that are computed anyway ---------------------------------------------------------
    def learn_product(self, expr: Expr, node: Node) -> None:
        """Remember that an array with several users equals this product of others, or an exp."""
        ((term, coef),) = expr.items()
        if term.bound or len(free_indices(expr)) < len(open_axes(node)):
            return  # a sum, or repeated along an axis
        first = next(iter(term.factors), None)
        if first is None or (len(term.factors) < 2 and first.atom.kind != EXP):
            return  # a number, or one array
        if coef != 0:
            known = self._products.setdefault(first.atom, [])
            if len(known) < _MOST_PRODUCTS:
                known.append((term, coef, node))

    def with_products(self, expr: Expr, alive: Callable[[Node], bool]) -> Expr:
        """The expression with an array for each product that is computed anyway."""
        parts: list[tuple[Term, Coef]] = []
        changed = False
        for part in expr.items():
            found = self._product_in(*part, alive)
            # (x - m) / s may occur twice in a term: under a sum and beside it.
            while found is not None:
                part, changed = found, True
                found = self._product_in(*part, alive)
            parts.append(part)
        return added(parts) if changed else expr

    def _product_in(
        self, term: Term, coef: Coef, alive: Callable[[Node], bool]
    ) -> tuple[Term, Coef] | None:
        for factor in term.factors:
            for known, by, node in self._products.get(factor.atom, ()):
                names = dict(zip(known.factors[0].idx, factor.idx, strict=True))
                left = _taken(term, known, names)
                if left is not None and alive(node) and not _parts_exps(left, known):
                    idx = tuple([names[place] for place in range(len(open_axes(node)))])
                    bound = {-1 - place: size for place, size in enumerate(term.bound)}
                    whole = _with_factor(left, self.atoms.leaf(node), idx)
                    return canonical_term(whole, bound), quotient(coef, by)
        return None

    # -- contractions ------------------------------------------------------------------------------
    def recalled(self, expr: Expr) -> Expr:
        """The expression with known arrays in place of their contractions."""
        if not self._known:
            return expr
        held = [term for term in expr if self._may_hold(term)]
        if not held:
            return expr
        replaced: dict[Term, Expr] = {}
        with suppress(OverflowError):  # A number in it is too large for a float.
            for term in held:
                found = self._in_term(term, expr[term])
                if found is not None:
                    replaced[term] = found
            parts = [replaced.get(term, {term: coef}) for term, coef in expr.items()]
            return added([each for part in parts for each in part.items()]) if replaced else expr
        return expr

    def _may_hold(self, term: Term) -> bool:
        """Whether a known array may be in a term: contracted there, or as a lazy sum."""
        return bool(term.bound) or not self._known.keys().isdisjoint(map(_atom, term.factors))

    def uncut(self, expr: Expr) -> Expr | None:
        """The expression with its known arrays written in full, if like terms merge then.

        A.T (A A).T + (A A).T A.T is twice one product of three matrices.
        """
        if len(expr) < 2 or not any(f.atom in self._inside for t in expr for f in t.factors):
            return None
        parts: list[tuple[Term, Coef]] = []
        for term, coef in expr.items():
            factors, bound = self.normal.opened_term(term)
            open_factors: Factors = []
            for slot in factors:
                inner = self._inside.get(slot[0])
                if inner is None or slot[2] != 1:
                    open_factors.append(slot)
                    continue
                placed = self.normal.substituted(inner, dict(enumerate(slot[1])))
                by, more, own = self.normal.as_product(placed)
                coef, open_factors, bound = times(coef, by), open_factors + more, bound | own
            parts.extend(self.normal.product(coef, open_factors, bound).items())
        found = added(parts)
        return found if len(found) < len(expr) else None

    def _in_term(self, term: Term, coef: Coef) -> Expr | None:
        factors, bound = self.normal.opened_term(term)
        changed = False
        new: Factors = []
        for atom, idx, power in factors:
            known = self._known.get(atom)
            if known is None or power.denominator != 1:
                new.append((atom, idx, power))
                continue
            raised = self.normal.power({canonical_term([], {}): known.coef}, -power)
            if raised is None:
                return None
            coef = times(coef, next(iter(raised.values())))
            new.append((known.atom, _placed(known, idx), power))
            changed = True
        factors = new
        for group in components(factors, bound) if bound and self._parts else ():
            part = [slot for slot in factors if any(index in group for index in slot[1])]
            inside = {index: bound[index] for index in group}
            whole = canonical_term(part, inside)
            if _signature(whole) not in self._parts:
                continue
            atom, idx = self.atoms.closed(SUM, {whole: one})
            known = self._known.get(atom)
            if known is None:
                continue
            coef = quotient(coef, known.coef)
            factors = [slot for slot in factors if slot not in part]
            factors.append((known.atom, _placed(known, idx), one))
            bound = {index: size for index, size in bound.items() if index not in group}
            changed = True
        return self.normal.product(coef, factors, bound) if changed else None


def _placed(known: _KnownArray, idx: tuple[int, ...]) -> tuple[int, ...]:
    places = dict(zip(known.order, idx, strict=True))
    return tuple([places[formal] for formal in range(len(known.atom.sizes))])


def _signature(term: Term) -> tuple[int, ...]:
    return tuple(sorted([f.atom.rank for f in term.factors]))


def _parts_exps(left: Factors, known: Term) -> bool:
    """Whether an exp would be separated from the sum of exps that divides it.

    For large z, exp(z) overflows, while exp(z) (1 + exp(z))**-1 is 1.
    """
    inside: Factors = [(f.atom, f.idx, f.power) for f in known.factors]
    return any(
        atom.kind == EXP and _divided(there, atom) > 0 and _divided(here, atom) < abs(power)
        for here, there in ((left, inside), (inside, left))
        for atom, _, power in here
    )


def _divided(factors: Factors, exp: Atom) -> Rational:
    """The power by which sums that hold the exp divide the factors."""
    return sum(
        [
            -power
            for atom, _, power in factors
            if atom.kind == SUM
            and power < 0
            and any(f.atom is exp for term in atom.expr for f in term.factors)
        ],
        0,
    )


def _taken(term: Term, known: Term, names: dict[int, int]) -> Factors | None:
    """The term's factors that are left beside a known product; None if it is not in the term."""
    # A list, for an array that may be 0 can occur twice: as a factor and as a divisor.
    left: Factors = [(f.atom, f.idx, f.power) for f in term.factors]
    for atom, idx, power in known.factors:
        place = next(
            (
                i
                for i, (other, at, have) in enumerate(left)
                if other is atom
                and (have > 0) == (power > 0)
                and abs(have) >= abs(power)
                # x = sqrt(x) sqrt(x) holds only for x >= 0.
                and (have == power or atom.nonnegative or power.denominator == 1)
                and _are_one_for_one(idx, at, names)
            ),
            None,
        )
        if place is None:
            return None
        _, at, have = left.pop(place)
        names.update(zip(idx, at, strict=True))
        if have != power:
            left.append((atom, at, have - power))
    return left


def _with_factor(factors: Factors, atom: Atom, idx: tuple[int, ...]) -> Factors:
    """The product of factors and an array, which may be one of them already."""
    for place, (other, at, power) in enumerate(factors):
        if other is atom and at == idx and power > 0:
            return [*factors[:place], (atom, idx, power + 1), *factors[place + 1 :]]
    return [*factors, (atom, idx, one)]


def _are_one_for_one(idx: tuple[int, ...], at: tuple[int, ...], names: dict[int, int]) -> bool:
    """Whether each index of a known factor has one name: A[i, i] is not found in A[i, j]."""
    own = {index: names[index] for index in idx if index in names}
    return all(own.setdefault(index, name) == name for index, name in zip(idx, at, strict=True))


def _shape_of_sum(expr: Expr) -> tuple[int, int]:
    """A key of all multiples of a sum, at any indices: its length and the ranks of its atoms."""
    return len(expr), sum([f.atom.rank for term in expr for f in term.factors])
