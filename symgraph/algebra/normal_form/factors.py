"""Factors of a product: which may merge, which may cancel, which ones a sum's terms share.

A raw factor is not yet part of a term: an atom, its indices and a power. Raw factors of one atom at
the same indices are merged as far as facts allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ...ir.dims import Dim
from ..expression.atoms import one, renamed_term
from ..expression.exact_numbers import Coef, Rational, is_exact, rational
from ..expression.term import (
    DELTA,
    EXP,
    LOG,
    ONE,
    SUM,
    Atom,
    Expr,
    Factor,
    Term,
    scaled,
    term_may_go,
)

__all__ = [
    "LONGEST",
    "Bound",
    "Factors",
    "Product",
    "RawFactor",
    "common_factors",
    "components",
    "denominators",
    "exponent_of",
    "groups_of",
    "has_exps",
    "has_partner",
    "holds_exps",
    "is_inverse_logistic",
    "is_lazy",
    "is_logistic",
    "joined",
    "lone_log",
    "may_meet",
    "merged",
    "opens",
    "renamed_factor",
    "share_arrays",
    "stripped",
    "sum_vanishes",
    "sums_to_one",
    "terms_could_meet",
    "times_atoms",
    "uses",
    "without_zero",
]

RawFactor: TypeAlias = tuple[Atom, tuple[int, ...], Rational]
Factors: TypeAlias = list[RawFactor]
Bound: TypeAlias = dict[int, Dim]
Product: TypeAlias = tuple[Coef, Factors, Bound]

LONGEST = 12
"""A lazy sum with more terms is never opened."""


def merged(factors: Factors) -> Factors:
    """The factors, one for each atom and indices as far as facts allow."""
    slots: dict[tuple[Atom, tuple[int, ...]], list[Rational]] = {}
    for atom, idx, power in factors:
        if len(idx) > 1 and atom.symmetric and idx[-2] > idx[-1]:
            idx = (*idx[:-2], idx[-1], idx[-2])
        slots.setdefault((atom, idx), []).append(power)
    found: Factors = []
    for (atom, idx), powers in slots.items():
        if len(powers) > 1 or (powers[0] != 1 and atom.one_hot):
            found.extend((atom, idx, power) for power in joined(atom, powers))
        else:
            found.append((atom, idx, powers[0]))
    return found


def joined(atom: Atom, powers: Sequence[Rational]) -> list[Rational]:
    """The powers of one atom, merged as far as facts allow; into one if the licence allows it."""
    apart = _joined_by_facts(atom, powers)
    if len(apart) > 1 and atom.granted():
        total = rational(sum(apart))
        return [total] if total != 0 else []
    return apart


def _joined_by_facts(atom: Atom, powers: Sequence[Rational]) -> list[Rational]:
    if (atom.one_hot or atom.kind == DELTA) and all(power > 0 for power in powers):
        return [one]
    rooted = not atom.nonnegative and any(power.denominator > 1 for power in powers)
    if rooted and sum(powers).denominator == 1:
        return list(powers)
    up = sum([power for power in powers if power > 0], 0)
    down = sum([power for power in powers if power < 0], 0)
    total = rational(up + down)
    if total == 0 and not atom.total:
        return [rational(up), rational(down)]  # 1 would be a number where the atom is NaN
    if atom.nonzero or not up or not down or total < 0:
        return [total] if total != 0 else []
    return [rational(up), rational(down)]


def renamed_factor(slot: RawFactor, names: dict[int, int]) -> RawFactor:
    """The factor with its indices renamed."""
    atom, idx, power = slot
    return atom, tuple([names.get(index, index) for index in idx]), power


def sums_to_one(slot: RawFactor, index: int) -> bool:
    """Whether the sum of the factor over the index is known to be 1."""
    atom, idx, power = slot
    if idx.count(index) != 1:
        return False
    place = idx.index(index)
    return (place in atom.simplex and power == 1) or (place in atom.unit_norm and power == 2)


def uses(term: Term, bound: Bound) -> bool:
    """Whether the term uses one of the indices."""
    return any(index in bound for f in term.factors for index in f.idx)


def components(factors: Factors, bound: Bound) -> list[list[int]]:
    """Bound indices in groups: two are in one group if a factor has both."""
    joined: dict[int, set[int]] = {index: {index} for index in bound}
    for _, idx, _ in factors:
        inside = [index for index in idx if index in bound]
        for index in inside[1:]:
            merged = joined[inside[0]] | joined[index]
            for each in merged:
                joined[each] = merged
    return [sorted(group) for index, group in joined.items() if index == min(group)]


def groups_of(factors: Factors, bound: Bound) -> list[list[int]]:
    """The groups of bound indices that may form a lazy sum: single ones, and connected ones."""
    ties = [group for group in components(factors, bound) if len(group) > 1]
    return [[index] for index in bound] + ties


def without_zero(expr: Expr) -> Expr:
    """The expression without terms of coefficient 0, as far as these may be dropped."""
    if 0 in expr.values():
        return {term: coef for term, coef in expr.items() if coef != 0 or not term_may_go(term)}
    return expr


def has_partner(expr: Expr, term: Term, factor: Factor) -> bool:
    """Whether another term has the same factors up to powers of 1 + exp(A) and of exp(A)."""
    exps = {f.atom for t in factor.atom.expr for f in t.factors}

    def others(each: Term) -> list[tuple[int, Rational]]:
        return sorted(
            [
                (f.atom.rank, f.power)
                for f in each.factors
                if f.atom is not factor.atom and f.atom not in exps
            ]
        )

    mine = others(term)
    return any(other is not term and others(other) == mine for other in expr)


def terms_could_meet(expr: Expr) -> bool:
    """Whether opening all lazy sums may give like terms, and not too many terms.

    Exps and sums of exps are not compared, for they can merge in several ways.
    """
    found: set[tuple[tuple[int, Rational], ...]] = set()
    number = 0
    for term in expr:
        tables: list[dict[int, Rational]] = [{}]
        for f in term.factors:
            lazy = f.atom.kind == SUM and f.power == 1 and len(f.atom.expr) > 1
            exps = f.atom.kind == EXP or (f.atom.kind == SUM and holds_exps(f.atom))
            if exps and not lazy:
                continue
            if f.atom.kind != SUM or f.power != 1:
                # An array may cancel against its own sum: count the factors inside the sum.
                alone = f.atom.kind == SUM and len(f.atom.expr) == 1
                atoms = next(iter(f.atom.expr)).factors if alone else (Factor(f.atom, (), one),)
                for table in tables:
                    for atom, _, power in atoms:
                        table[atom.rank] = table.get(atom.rank, 0) + power * f.power
                continue
            if len(tables) * len(f.atom.expr) > LONGEST:
                return False
            tables = [times_atoms(table, inner) for table in tables for inner in f.atom.expr]
        for table in tables:
            number += 1
            found.add(tuple(sorted([item for item in table.items() if item[1] != 0])))
    return len(found) < number <= LONGEST


def times_atoms(table: dict[int, Rational], term: Term) -> dict[int, Rational]:
    """The powers of a product's atoms after multiplication by another term."""
    grown = dict(table)
    for f in term.factors:
        if f.atom.kind != EXP and not (f.atom.kind == SUM and holds_exps(f.atom)):
            grown[f.atom.rank] = grown.get(f.atom.rank, 0) + f.power
    return grown


def holds_exps(atom: Atom) -> bool:
    """Whether the lazy sum holds exps."""
    return any(f.atom.kind == EXP for term in atom.expr for f in term.factors)


def is_lazy(slot: RawFactor) -> bool:
    """Whether the factor is a lazy sum to the power 1."""
    return slot[0].kind == SUM and slot[2] == 1


def opens(slot: RawFactor, factors: Factors) -> bool:
    """Whether the factor is a lazy sum that may be opened.

    A sum of one term stays closed beside its own inverse if they may not cancel: if it were opened,
    it would be gathered again.
    """
    if not is_lazy(slot) or len(slot[0].expr) > 1:
        return is_lazy(slot)
    return not any(other[:2] == slot[:2] for other in factors if other is not slot)


def has_exps(factors: Factors) -> bool:
    """Whether exps are among the factors or in their lazy sums."""
    return any(
        atom.kind == EXP or (atom.kind == SUM and holds_exps(atom)) for atom, _, _ in factors
    )


def may_meet(slot: RawFactor, rest: Factors, bound: Bound) -> bool:
    """Whether opening a lazy sum can shorten the product: a factor cancels, or a sum is known."""
    outer = {(atom, power > 0) for atom, _, power in rest}
    exps = [atom for atom, _, _ in rest if atom.kind == EXP]
    idx = slot[1]
    summed = [index for index in idx if index in bound]
    for term in slot[0].expr:
        if summed:
            inside = {idx[index] for f in term.factors for index in f.idx if index >= 0}
            if any(index not in inside and sum_vanishes(index, rest) for index in summed):
                return True
        for atom, _, power in term.factors:
            if (atom, power < 0) in outer or atom.kind == DELTA:
                return True
            if atom.kind == EXP and any(share_arrays(atom, other) for other in exps):
                return True
    return False


def sum_vanishes(index: int, rest: Factors) -> bool:
    """Whether the sum over an index is known: the size, 1, or a sum of exps."""
    users = [slot for slot in rest if index in slot[1]]
    if not users:
        return True
    if len(users) == 1 and sums_to_one(users[0], index):
        return True
    return all(atom.kind == EXP for atom, _, _ in users)


def share_arrays(a: Atom, b: Atom) -> bool:
    """Whether two arguments of exp have an array in common."""
    if a is b:
        return True
    mine = {f.atom for term in a.expr for f in term.factors}
    return any(f.atom in mine for term in b.expr for f in term.factors)


def is_inverse_logistic(expr: Expr) -> bool:
    """Whether the expression is c (1 + exp(A)**-k), which is c exp(A)**-k (1 + exp(A)**k)."""
    if len(expr) != 2 or ONE not in expr:
        return False
    (term,) = [each for each in expr if each != ONE]
    return (
        expr[term] == expr[ONE]
        and not term.bound
        and len(term.factors) == 1
        and term.factors[0].power < 0
    )


def common_factors(expr: Expr) -> Factors:
    """Factors with only free indices that all terms share; for 1 + exp(-A), exp(-A)."""
    if len(expr) < 2:
        return []
    tables = [
        {(f.atom, f.idx): f.power for f in term.factors if all(i >= 0 for i in f.idx)}
        for term in expr
    ]
    keys: dict[tuple[Atom, tuple[int, ...]], None] = {}
    for table in tables:
        keys.update(dict.fromkeys(table))
    found: Factors = []
    for key in keys:
        powers = [table.get(key, 0) for table in tables]
        inverse = key[0].kind == EXP and is_inverse_logistic(expr)
        if inverse or all(power > 0 for power in powers):
            least = min(powers)
        elif all(power < 0 for power in powers):
            least = max(powers)
        else:
            continue
        if least.denominator > 1 and not key[0].nonnegative:
            continue
        if least != 0:
            found.append((*key, least))
    return found


def denominators(expr: Expr) -> Factors:
    """Denominators with only free indices, each to the most negative power of any term."""
    least: dict[tuple[Atom, tuple[int, ...]], Rational] = {}
    for term in expr:
        for atom, idx, power in term.factors:
            if power < 0 and all(index >= 0 for index in idx):
                least[(atom, idx)] = min(power, least.get((atom, idx), 0))
    return [(atom, idx, power) for (atom, idx), power in least.items()]


def stripped(factors: Factors, inverse: Factors) -> Factors:
    """The factors times inverses of common ones. No fact is needed, for each term has these."""
    table: dict[tuple[Atom, tuple[int, ...]], Rational] = {(h, i): p for h, i, p in inverse}
    left: Factors = []
    for atom, idx, power in factors:
        by = table.pop((atom, idx), None)
        new = power if by is None else power + by
        if new != 0:
            left.append((atom, idx, new))
    left.extend((atom, idx, power) for (atom, idx), power in table.items())
    return left


def exponent_of(expr: Expr) -> Expr:
    """The expression A, given 1 + exp(A)."""
    (term,) = [each for each in expr if each != ONE]
    (factor,) = term.factors
    atom, idx, power = factor
    names = dict(enumerate(idx))
    return scaled({renamed_term(each, names): coef for each, coef in atom.expr.items()}, power)


def is_logistic(atom: Atom) -> bool:
    """Whether the atom is 1 + exp(A)."""
    if atom.kind != SUM or len(atom.expr) != 2 or atom.expr.get(ONE) != 1:
        return False
    (term,) = [each for each in atom.expr if each != ONE]
    return (
        atom.expr[term] == 1
        and not term.bound
        and len(term.factors) == 1
        and term.factors[0].atom.kind == EXP
    )


def lone_log(term: Term, value: Coef, *, alone: bool) -> RawFactor | None:
    """The factor x**k of a term k log(x), whose exp is x**k; None for any other term.

    `alone` tells whether the term is the whole exponent.
    """
    if term.bound or len(term.factors) != 1 or not is_exact(value):
        return None
    atom, idx, power = term.factors[0]
    if atom.kind != LOG or power != 1:
        return None
    # exp(k log x) = x**k if x is known to be positive, or if the licence allows it. Beside other
    # terms the licence does not: exp(log x + y) is 0 at x = 0, where x exp(y) may be NaN.
    safe = atom.total or (alone and atom.granted())
    return (atom, idx, value) if safe else None
