"""Common factors of the terms of a sum, and products that occur again in other terms.

a / b - a**2 / b**2 is (a / b) (1 - a / b), found only if both factors are taken out at once. In
P - x sum(x P), with a product P, P is computed once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple, TypeAlias

from ..expression.exact_numbers import Rational
from ..expression.term import DELTA, DIM, LEAF, ONE, Atom, Expr, Factor, Term
from ..normal_form.factors import Factors

__all__ = [
    "RepeatedTerm",
    "SharedFactor",
    "all_without",
    "common_product",
    "contractions_again",
    "place_of",
    "products_again",
    "shared_factors",
]

Pair: TypeAlias = tuple[tuple[Atom, int], tuple[Atom, int]]
"""Two matrices, each with the axis over which they are contracted."""

SharedFactor: TypeAlias = tuple[Atom, tuple[int, ...], bool]
"""An atom, the pattern of its indices, and whether its power is positive."""

_MOST_FACTORS = 4
"""Longer products are not searched for in other terms."""


def common_product(expr: Expr) -> Factors:
    """The factors over free indices that all terms have, each to its lowest power."""
    first = next(iter(expr))
    found: Factors = []
    for factor in first.factors:
        atom, idx, _ = factor
        if atom.kind != LEAF or (idx and min(idx) < 0):
            continue
        powers = _powers_of(factor, expr)
        if not powers or min(powers) < 0 < max(powers):
            continue
        least = min(powers, key=abs)
        if least.denominator == 1 or atom.nonnegative or len(set(powers)) == 1:
            found.append((atom, idx, least))
    return found


def _powers_of(factor: Factor, expr: Expr) -> list[Rational]:
    """The power of a factor in each term; none if it is absent in one."""
    found: list[Rational] = []
    for term in expr:
        power = _power_of(factor, term)
        if not power:
            return []
        found.append(power)
    return found


def _power_of(factor: Factor, term: Term) -> Rational:
    """The power of a factor in a term; 0 if it is absent or has two powers.

    x / x has two powers and must not be cancelled, because x may be 0.
    """
    powers = [f.power for f in term.factors if f.atom is factor.atom and f.idx == factor.idx]
    return powers[0] if len(powers) == 1 else 0


def all_without(term: Term, common: Factors) -> Factors:
    """The factors of a term without the common ones; indices stay as they are."""
    taken = {(atom, idx): power for atom, idx, power in common}
    left = [(f.atom, f.idx, f.power - taken.get((f.atom, f.idx), 0)) for f in term.factors]
    return [slot for slot in left if slot[2] != 0]


class RepeatedTerm(NamedTuple):
    """A product found in a longer term: that term, its other factors, and the names of indices.

    The names map the free indices of the product to those of the longer term.
    """

    term: Term
    rest: Factors
    names: dict[int, int]


def products_again(expr: Expr) -> Iterator[tuple[Term, list[RepeatedTerm]]]:
    """Products of the sum, each with the longer terms that contain it."""
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
    """The names extended by these indices; None if the map would not be one to one."""
    found = dict(names)
    for a, b in zip(idx, there, strict=True):
        if found.setdefault(a, b) != b or (a < 0 <= b):
            return None
    return found if len(set(found.values())) == len(found) else None


def _is_apart(term: Term, rest: Factors, names: dict[int, int]) -> bool:
    """Whether the other factors have no index over which the product is summed."""
    summed = {names[-1 - place] for place in range(len(term.bound))}
    return not any(i in summed for _, idx, _ in rest for i in idx)


# -- contractions ----------------------------------------------------------------------------------
class Contraction(NamedTuple):
    """A term with two of its matrices contracted: its other factors, and the two indices left."""

    term: Term
    rest: Factors
    ends: tuple[int, int]


def contractions_again(expr: Expr) -> list[tuple[Pair, list[Contraction]]]:
    """Contractions of two matrices that several terms share, transposed or not.

    C A X B + (C A).T X B.T contains C A twice.
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
    """The matrix, its axis that `index` contracts, and the index of its other axis."""
    place = factor.idx.index(index)
    return factor.atom, 0 if factor.atom.symmetric else place, factor.idx[1 - place]


# -- one factor of several terms -------------------------------------------------------------------
def _pattern(idx: tuple[int, ...]) -> tuple[int, ...]:
    """The indices with bound ones numbered in order of appearance."""
    if not idx or min(idx) >= 0:
        return idx
    names: dict[int, int] = {}
    return tuple([i if i >= 0 else names.setdefault(i, -1 - len(names)) for i in idx])


def shared_factors(expr: Expr) -> list[SharedFactor]:
    """Factors that several terms have. The most frequent come first, then those summed over."""
    counts: dict[SharedFactor, int] = {}
    for term in expr:
        seen: dict[SharedFactor, None] = {}
        for f in term.factors:
            if f.atom.kind in (LEAF, DIM, DELTA):
                seen[(f.atom, _pattern(f.idx), f.power > 0)] = None
        for key in seen:
            counts[key] = counts.get(key, 0) + 1
    shared = [key for key, count in counts.items() if count > 1]
    shared.sort(key=lambda key: (-counts[key], not any(i < 0 for i in key[1]), -len(key[1])))
    return shared


def place_of(term: Term, atom: Atom, pattern: tuple[int, ...], up: bool) -> int | None:
    """The place of a shared factor in a term; None if the term lacks it."""
    for place, f in enumerate(term.factors):
        if f.atom is atom and (f.power > 0) == up and _pattern(f.idx) == pattern:
            return place
    return None
