"""What terms of a sum have in common: factors of all of them, and products that are in others.

a / b - a**2 / b**2 is (a / b) (1 - a / b), found only if both factors are taken out at once; in
P - x sum(x P), with a product P, P is computed once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

from ..expression.term import (
    DELTA,
    DIM,
    LEAF,
    ONE,
    Atom,
    Expr,
    Factor,
    Rational,
    Term,
)
from ..normal_form.factors import Factors

__all__ = [
    "RepeatedTerm",
    "all_without",
    "common_product",
    "contractions_again",
    "place_of",
    "products_again",
    "shared_factors",
]

Pair: TypeAlias = tuple[tuple[Atom, int], tuple[Atom, int]]
"""Two matrices, and the axis of each that they are contracted over."""

_MOST_FACTORS = 4
"""Longer products are not looked for in other terms."""


def common_product(expr: Expr) -> Factors:
    """The factors over free indices that all terms have, to the lowest power each."""
    first = next(iter(expr))
    found: Factors = []
    for factor in first.factors:
        atom, idx, _ = factor
        if atom.kind != LEAF or any(i < 0 for i in idx):
            continue
        powers = [_power_of(factor, term) for term in expr]
        if not (all(each > 0 for each in powers) or all(each < 0 for each in powers)):
            continue
        least = min(powers, key=abs)
        if least.denominator == 1 or atom.nonnegative or len(set(powers)) == 1:
            found.append((atom, idx, least))
    return found


def _power_of(factor: Factor, term: Term) -> Rational:
    """Its power in the term; 0 where it stands above and below, for it may be 0."""
    powers = [f.power for f in term.factors if f.atom is factor.atom and f.idx == factor.idx]
    return powers[0] if len(powers) == 1 else 0


def all_without(term: Term, common: Factors) -> Factors:
    """The factors of a term less those taken out of it, which it has; indices as they are."""
    taken = {(atom, idx): power for atom, idx, power in common}
    left = [(f.atom, f.idx, f.power - taken.get((f.atom, f.idx), 0)) for f in term.factors]
    return [slot for slot in left if slot[2] != 0]


class RepeatedTerm(NamedTuple):
    """A term in another one: the other factors there, and what its free indices are called."""

    term: Term
    rest: Factors
    names: dict[int, int]


def products_again(expr: Expr) -> Iterator[tuple[Term, list[RepeatedTerm]]]:
    """Terms that are products, with the terms in which they stand again."""
    for term in expr:
        if not 2 <= len(term.factors) <= _MOST_FACTORS:
            continue
        atoms = {f.atom for f in term.factors}
        found: list[RepeatedTerm] = []
        for other in expr:
            if other is term or other == ONE or len(other.factors) <= len(term.factors):
                continue
            if atoms <= {f.atom for f in other.factors}:
                again = _again(term, other)
                if again is not None:
                    found.append(again)
        if found:
            yield term, found


def _again(term: Term, other: Term) -> RepeatedTerm | None:
    stack: list[tuple[int, tuple[int, ...], dict[int, int]]] = [(0, (), {})]
    while stack:
        at, used, names = stack.pop()
        if at == len(term.factors):
            rest: Factors = [
                (f.atom, f.idx, f.power) for i, f in enumerate(other.factors) if i not in used
            ]
            if _is_apart(term, rest, names):
                return RepeatedTerm(other, rest, {a: b for a, b in names.items() if a >= 0})
            continue
        atom, idx, power = term.factors[at]
        for place, f in enumerate(other.factors):
            if f.atom is not atom or f.power != power or place in used:
                continue
            longer = _joined(names, idx, f.idx)
            if longer is not None:
                stack.append((at + 1, (*used, place), longer))
    return None


def _joined(
    names: dict[int, int], idx: tuple[int, ...], there: tuple[int, ...]
) -> dict[int, int] | None:
    """The names with these indices as well; None if two would be one, or one two."""
    found = dict(names)
    for a, b in zip(idx, there, strict=True):
        if found.setdefault(a, b) != b or (a < 0 <= b):
            return None
    return found if len(set(found.values())) == len(found) else None


def _is_apart(term: Term, rest: Factors, names: dict[int, int]) -> bool:
    """Whether the other factors have none of the indices that the product is summed over."""
    summed = {names[-1 - place] for place in range(len(term.bound))}
    return not any(i in summed for _, idx, _ in rest for i in idx)


# -- contractions ----------------------------------------------------------------------------------
class Contraction(NamedTuple):
    """A term with two of its matrices contracted: the others, and the indices that are left."""

    term: Term
    rest: Factors
    ends: tuple[int, int]


def contractions_again(expr: Expr) -> list[tuple[Pair, list[Contraction]]]:
    """Contractions of two matrices that several terms have, whatever is transposed there.

    C A is twice in C A X B + (C A).T X B.T.
    """
    found: dict[Pair, dict[Term, Contraction]] = {}
    for term in expr:
        if 2 < len(term.factors) <= 2 * _MOST_FACTORS:
            for pair, place in _contractions(term):
                found.setdefault(pair, {}).setdefault(term, place)
    return [(pair, list(terms.values())) for pair, terms in found.items() if len(terms) > 1]


def _contractions(term: Term) -> Iterator[tuple[Pair, Contraction]]:
    for i, j in combinations(range(len(term.factors)), 2):
        one, other = term.factors[i], term.factors[j]
        common = set(one.idx) & set(other.idx)
        if not (_is_matrix(one) and _is_matrix(other) and len(common) == 1):
            continue
        (index,) = common
        others = [f for k, f in enumerate(term.factors) if k not in (i, j)]
        rest: Factors = [(f.atom, f.idx, f.power) for f in others]
        if index >= 0 or any(index in idx for _, idx, _ in rest):
            continue
        first, second = [_end(f, index) for f in (one, other)]
        if (second[0].rank, second[1]) < (first[0].rank, first[1]):
            first, second = second, first
        ends = (first[2], second[2])
        yield ((first[0], first[1]), (second[0], second[1])), Contraction(term, rest, ends)


def _is_matrix(factor: Factor) -> bool:
    return factor.atom.kind == LEAF and len(set(factor.idx)) == 2 and factor.power == 1


def _end(factor: Factor, index: int) -> tuple[Atom, int, int]:
    """The matrix, the axis that is contracted over `index`, and the index of the other one."""
    place = factor.idx.index(index)
    return factor.atom, 0 if factor.atom.symmetric else place, factor.idx[1 - place]


# -- one factor of several terms -------------------------------------------------------------------
def _pattern(idx: tuple[int, ...]) -> tuple[int, ...]:
    """Indices with the bound ones numbered by appearance."""
    names: dict[int, int] = {}
    return tuple([i if i >= 0 else names.setdefault(i, -1 - len(names)) for i in idx])


def shared_factors(expr: Expr) -> list[Any]:
    """Factors that several terms have, most frequent first, then those summed over."""
    counts: dict[Any, int] = {}
    for term in expr:
        seen: dict[Any, None] = {}
        for f in term.factors:
            if f.atom.kind in (LEAF, DIM, DELTA):
                seen[(f.atom, _pattern(f.idx), f.power > 0)] = None
        for key in seen:
            counts[key] = counts.get(key, 0) + 1
    shared = [key for key, count in counts.items() if count > 1]
    shared.sort(key=lambda key: (-counts[key], not any(i < 0 for i in key[1]), -len(key[1])))
    return shared


def place_of(term: Term, atom: Atom, pattern: tuple[int, ...], up: bool) -> int | None:
    """Where in a term a factor that others share stands; None if it does not."""
    for place, f in enumerate(term.factors):
        if f.atom is atom and (f.power > 0) == up and _pattern(f.idx) == pattern:
            return place
    return None
