"""Slots of a product: what may merge, what may cancel, what a sum has in common.

A slot is a head at indices to a power. Powers of one head meet in one slot as far as facts allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ..ir.dims import Dim
from .heads import one
from .labels import canonical_term
from .term import (
    EXP,
    LOG,
    ONE,
    SUM,
    Coef,
    Expr,
    Factor,
    Head,
    Rational,
    Term,
    is_exact,
    rational,
    scaled,
    term_may_go,
)

__all__ = [
    "LONGEST",
    "Bound",
    "Factors",
    "Product",
    "Slot",
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
    "plain_renamed",
    "renamed_slot",
    "share_arrays",
    "stripped",
    "sum_vanishes",
    "sums_to_one",
    "terms_could_meet",
    "times_heads",
    "uses",
    "without_zero",
]

Slot: TypeAlias = tuple[Head, tuple[int, ...], Rational]
Factors: TypeAlias = list[Slot]
Bound: TypeAlias = dict[int, Dim]
Product: TypeAlias = tuple[Coef, Factors, Bound]

LONGEST = 12
"""A lazy sum of more terms is never opened."""


def merged(factors: Factors) -> Factors:
    """One slot for each head and indices, as far as facts allow."""
    slots: dict[tuple[Head, tuple[int, ...]], list[Rational]] = {}
    for head, idx, power in factors:
        if len(idx) > 1 and head.symmetric and idx[-2] > idx[-1]:
            idx = (*idx[:-2], idx[-1], idx[-2])
        slots.setdefault((head, idx), []).append(power)
    found: Factors = []
    for (head, idx), powers in slots.items():
        if len(powers) > 1 or (powers[0] != 1 and head.one_hot):
            found.extend((head, idx, power) for power in joined(head, powers))
        else:
            found.append((head, idx, powers[0]))
    return found


def joined(head: Head, powers: Sequence[Rational]) -> list[Rational]:
    """The powers of one head that remain apart; by leave, none do."""
    apart = _joined_by_facts(head, powers)
    if len(apart) > 1 and head.granted():
        total = rational(sum(apart))
        return [total] if total != 0 else []
    return apart


def _joined_by_facts(head: Head, powers: Sequence[Rational]) -> list[Rational]:
    if (head.one_hot or head.kind == "delta") and all(power > 0 for power in powers):
        return [one]
    rooted = not head.nonnegative and any(power.denominator > 1 for power in powers)
    if rooted and sum(powers).denominator == 1:
        return list(powers)
    up = sum([power for power in powers if power > 0], 0)
    down = sum([power for power in powers if power < 0], 0)
    total = rational(up + down)
    if total == 0 and not head.total:
        return [rational(up), rational(down)]  # 1 in its place would be a number where it is none
    if head.nonzero or not up or not down or total < 0:
        return [total] if total != 0 else []
    return [rational(up), rational(down)]


def renamed_slot(slot: Slot, names: dict[int, int]) -> Slot:
    """The factor with indices renamed."""
    head, idx, power = slot
    return head, tuple([names.get(index, index) for index in idx]), power


def sums_to_one(slot: Slot, index: int) -> bool:
    """Whether the sum of the factor over the index is known to be 1."""
    head, idx, power = slot
    if idx.count(index) != 1:
        return False
    place = idx.index(index)
    return (place in head.simplex and power == 1) or (place in head.unit_norm and power == 2)


def uses(term: Term, bound: Bound) -> bool:
    """Whether the term has one of the indices."""
    return any(index in bound for f in term.factors for index in f.idx)


def components(factors: Factors, bound: Bound) -> list[list[int]]:
    """Bound indices that factors tie together."""
    joined: dict[int, set[int]] = {index: {index} for index in bound}
    for _, idx, _ in factors:
        inside = [index for index in idx if index in bound]
        for index in inside[1:]:
            merged = joined[inside[0]] | joined[index]
            for each in merged:
                joined[each] = merged
    return [sorted(group) for index, group in joined.items() if index == min(group)]


def groups_of(factors: Factors, bound: Bound) -> list[list[int]]:
    """Sets of bound indices that may form a lazy sum: each alone, and those tied together."""
    ties = [group for group in components(factors, bound) if len(group) > 1]
    return [[index] for index in bound] + ties


def without_zero(expr: Expr) -> Expr:
    """0 times what is a number wherever the inputs are."""
    if 0 in expr.values():
        return {term: coef for term, coef in expr.items() if coef != 0 or not term_may_go(term)}
    return expr


def has_partner(expr: Expr, term: Term, factor: Factor) -> bool:
    """Whether another term has the same factors but for powers of 1 + exp(A) and of exp(A)."""
    exps = {f.head for t in factor.head.expr for f in t.factors}

    def others(each: Term) -> list[tuple[int, Rational]]:
        return sorted(
            [
                (f.head.rank, f.power)
                for f in each.factors
                if f.head is not factor.head and f.head not in exps
            ]
        )

    mine = others(term)
    return any(other is not term and others(other) == mine for other in expr)


def terms_could_meet(expr: Expr) -> bool:
    """Whether opening all lazy sums gives not too many terms, two of them of the same heads.

    Exps and sums of exps are left out of the comparison: they merge in more ways than one.
    """
    found: set[tuple[tuple[int, Rational], ...]] = set()
    number = 0
    for term in expr:
        tables: list[dict[int, Rational]] = [{}]
        for f in term.factors:
            lazy = f.head.kind == SUM and f.power == 1 and len(f.head.expr) > 1
            exps = f.head.kind == EXP or (f.head.kind == SUM and holds_exps(f.head))
            if exps and not lazy:
                continue
            if f.head.kind != SUM or f.power != 1:
                # Divided by its own sum an array may become a number: count what is summed.
                alone = f.head.kind == SUM and len(f.head.expr) == 1
                heads = next(iter(f.head.expr)).factors if alone else (Factor(f.head, (), one),)
                for table in tables:
                    for head, _, power in heads:
                        table[head.rank] = table.get(head.rank, 0) + power * f.power
                continue
            if len(tables) * len(f.head.expr) > LONGEST:
                return False
            tables = [times_heads(table, inner) for table in tables for inner in f.head.expr]
        for table in tables:
            number += 1
            found.add(tuple(sorted([item for item in table.items() if item[1] != 0])))
    return len(found) < number <= LONGEST


def times_heads(table: dict[int, Rational], term: Term) -> dict[int, Rational]:
    """The powers of heads of a product with a further term."""
    grown = dict(table)
    for f in term.factors:
        if f.head.kind != EXP and not (f.head.kind == SUM and holds_exps(f.head)):
            grown[f.head.rank] = grown.get(f.head.rank, 0) + f.power
    return grown


def holds_exps(head: Head) -> bool:
    """Whether exps stand in the lazy sum."""
    return any(f.head.kind == EXP for term in head.expr for f in term.factors)


def is_lazy(slot: Slot) -> bool:
    """Whether the factor is a lazy sum to the power 1."""
    return slot[0].kind == SUM and slot[2] == 1


def opens(slot: Slot, factors: Factors) -> bool:
    """Whether the factor is a lazy sum that may be opened.

    A single term stays closed beside its own inverse, which it may not cancel where it may be 0:
    opened, it would be gathered again.
    """
    if not is_lazy(slot) or len(slot[0].expr) > 1:
        return is_lazy(slot)
    return not any(other[:2] == slot[:2] for other in factors if other is not slot)


def has_exps(factors: Factors) -> bool:
    """Whether exps are among the factors or in their lazy sums."""
    return any(
        head.kind == EXP or (head.kind == SUM and holds_exps(head)) for head, _, _ in factors
    )


def may_meet(slot: Slot, rest: Factors, bound: Bound) -> bool:
    """Whether opening a lazy sum can shorten: something cancels, or a sum vanishes."""
    outer = {(head, power > 0) for head, _, power in rest}
    exps = [head for head, _, _ in rest if head.kind == EXP]
    idx = slot[1]
    summed = [index for index in idx if index in bound]
    for term in slot[0].expr:
        if summed:
            inside = {idx[index] for f in term.factors for index in f.idx if index >= 0}
            if any(index not in inside and sum_vanishes(index, rest) for index in summed):
                return True
        for head, _, power in term.factors:
            if (head, power < 0) in outer or head.kind == "delta":
                return True
            if head.kind == EXP and any(share_arrays(head, other) for other in exps):
                return True
    return False


def sum_vanishes(index: int, rest: Factors) -> bool:
    """Whether the factors with an index sum to something known: size, 1, softmax."""
    users = [slot for slot in rest if index in slot[1]]
    if not users:
        return True
    if len(users) == 1 and sums_to_one(users[0], index):
        return True
    return all(head.kind == EXP for head, _, _ in users)


def share_arrays(a: Head, b: Head) -> bool:
    """Whether two arguments of exp have an array in common."""
    if a is b:
        return True
    mine = {f.head for term in a.expr for f in term.factors}
    return any(f.head in mine for term in b.expr for f in term.factors)


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
    """Factors over free indices that all terms share; of 1 + exp(-A) the exp."""
    if len(expr) < 2:
        return []
    tables = [
        {(f.head, f.idx): f.power for f in term.factors if all(i >= 0 for i in f.idx)}
        for term in expr
    ]
    keys: dict[tuple[Head, tuple[int, ...]], None] = {}
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
    """Factors over free indices that some terms are divided by, to the most negative power."""
    least: dict[tuple[Head, tuple[int, ...]], Rational] = {}
    for term in expr:
        for head, idx, power in term.factors:
            if power < 0 and all(index >= 0 for index in idx):
                least[(head, idx)] = min(power, least.get((head, idx), 0))
    return [(head, idx, power) for (head, idx), power in least.items()]


def stripped(factors: Factors, inverse: Factors) -> Factors:
    """Factors without common ones, which are there to be taken out: no fact needed."""
    table: dict[tuple[Head, tuple[int, ...]], Rational] = {(h, i): p for h, i, p in inverse}
    left: Factors = []
    for head, idx, power in factors:
        by = table.pop((head, idx), None)
        new = power if by is None else power + by
        if new != 0:
            left.append((head, idx, new))
    left.extend((head, idx, power) for (head, idx), power in table.items())
    return left


def exponent_of(expr: Expr) -> Expr:
    """A, given 1 + exp(A) as an expression."""
    (term,) = [each for each in expr if each != ONE]
    (factor,) = term.factors
    head, idx, power = factor
    names = dict(enumerate(idx))
    return scaled({plain_renamed(each, names): coef for each, coef in head.expr.items()}, power)


def plain_renamed(term: Term, names: dict[int, int]) -> Term:
    """The term with free indices renamed, nothing else touched."""
    factors = [(f.head, tuple([names.get(i, i) for i in f.idx]), f.power) for f in term.factors]
    return canonical_term(factors, {-1 - place: size for place, size in enumerate(term.bound)})


def is_logistic(head: Head) -> bool:
    """Whether the head is 1 + exp(A)."""
    if head.kind != SUM or len(head.expr) != 2 or head.expr.get(ONE) != 1:
        return False
    (term,) = [each for each in head.expr if each != ONE]
    return (
        head.expr[term] == 1
        and not term.bound
        and len(term.factors) == 1
        and term.factors[0].head.kind == EXP
    )


def lone_log(term: Term, value: Coef, *, alone: bool) -> Slot | None:
    """The log that a term is a multiple of, as a factor to that power; the term may be `alone`."""
    if term.bound or len(term.factors) != 1 or not is_exact(value):
        return None
    head, idx, power = term.factors[0]
    if head.kind != LOG or power != 1:
        return None
    # exp(k log x) = x**k where x is known to be positive, or by leave. There is none beside other
    # terms: exp(log x + y) is 0 at x = 0, where x exp(y) may be NaN.
    safe = head.total or (alone and head.granted())
    return (head, idx, value) if safe else None
