"""Sums of expressions in normal form: like terms are merged, identities of sums applied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..expression.applied import named
from ..expression.atoms import one
from ..expression.exact_numbers import Coef, quotient
from ..expression.term import EXP, SUM, Expr, Term, added, scaled, weight
from .arithmetic import Arithmetic
from .covered_quotients import like_terms_at_pole, without_covered_quotients, without_covered_zeros
from .factor_identities import exps
from .factors import (
    LONGEST,
    Bound,
    Factors,
    denominators,
    exponent_of,
    has_exps,
    has_partner,
    is_logistic,
    merged,
    renamed_factor,
    stripped,
)
from .products import plain, reciprocals_distributed, refreshed

__all__ = [
    "add",
    "common_denominator",
    "logistic_and_complement",
    "over_one_divisor",
    "over_one_divisor_inside",
    "sum_over",
]


def add(normal: Arithmetic, parts: Sequence[tuple[Expr, Coef]]) -> Expr:
    """A linear combination of expressions, in normal form."""
    total = added([item for expr, by in parts for item in scaled(expr, by).items()])
    total = without_covered_quotients(normal, like_terms_at_pole(normal, parts, total))
    return _opened(normal, common_denominator(normal, logistic_and_complement(normal, total)))


def sum_over(normal: Arithmetic, expr: Expr, bound: Bound) -> Expr:
    """The expression summed over the free indices in `bound`."""
    if not bound:
        return expr
    parts: list[tuple[Term, Coef]] = []
    for term, coef in expr.items():
        factors, inner = normal.opened_term(term)
        names, new = refreshed(normal, bound)
        renamed = [renamed_factor(slot, names) for slot in factors]
        parts.extend(normal.product(coef, renamed, inner | new).items())
    return logistic_and_complement(normal, added(parts))


def _opened(normal: Arithmetic, expr: Expr) -> Expr:
    """The expression with lazy sums of exps opened, if that is shorter."""
    if len(expr) < 2 or not any(
        any(f.atom.kind == SUM and f.power == 1 for f in term.factors)
        and has_exps([(f.atom, f.idx, f.power) for f in term.factors])
        for term in expr
    ):
        return expr
    before = normal.applied.mark()
    opened = normal.expanded(expr)
    if opened is not None and weight(opened) < weight(expr):
        return opened
    normal.applied.take_back(before)
    return expr


# -- identities ------------------------------------------------------------------------------------
@named
def common_denominator(normal: Arithmetic, expr: Expr) -> Expr:
    r"""$1/x + 1/(1 - x) = 1/(x (1 - x))$, if that is shorter."""
    before = normal.applied.mark()
    options = [over_one_divisor(normal, expr), *_parts_over_divisors(normal, expr)]
    found = min([each for each in options if each is not None], key=weight, default=expr)
    if weight(found) < weight(expr):
        return found
    normal.applied.take_back(before)
    return expr


def _parts_over_divisors(normal: Arithmetic, expr: Expr) -> Iterator[Expr]:
    """The sum with the terms over one divisor joined, where others stand beside them."""
    for divisor, _, _ in denominators(expr) if len(expr) > 2 else ():
        part = {
            term: coef
            for term, coef in expr.items()
            if any(f.atom is divisor and f.power < 0 for f in term.factors)
        }
        found = over_one_divisor(normal, part) if len(part) < len(expr) else None
        if found is not None:
            rest = [(term, coef) for term, coef in expr.items() if term not in part]
            yield added([*rest, *found.items()])


def over_one_divisor(normal: Arithmetic, expr: Expr) -> Expr | None:
    """A short sum over a common denominator, if no term gets more; else None.

    Though it may be as long in the normal form, it may take an operation less: 1 / (1 - x) - 1 is
    x / (1 - x).
    """
    if not 2 <= len(expr) <= 4:
        return None
    under = denominators(expr)
    if not any(atom.kind == SUM and len(atom.expr) > 1 for atom, _, _ in under):
        return None
    if any(power.denominator != 1 for _, _, power in under) or has_exps(under):
        return None
    found = _over(normal, expr, under)
    if found is not None:
        normal.applied.note(common_denominator.__name__)
    return found


def over_one_divisor_inside(normal: Arithmetic, expr: Expr) -> Expr | None:
    r"""$n - \sum_i x_i / (x_i + y_i)$ as $\sum_i y_i / (x_i + y_i)$; None if it is no such sum."""
    sizes = {size for term in expr for size in term.bound}
    if len(sizes) != 1 or not 2 <= len(expr) <= 4 or all(term.bound for term in expr):
        return None
    (size,) = sizes
    if not isinstance(size, int) or size == 0:
        return None
    common = normal.atoms.fresh()
    parts: list[tuple[Term, Coef]] = []
    for term, coef in expr.items():
        factors, bound = normal.opened_term(term)
        index = next(iter(bound), None)
        if index is None:
            coef = quotient(coef, size)
        factors = [
            renamed_factor(slot, {index: common} if index is not None else {}) for slot in factors
        ]
        rest = {each: dim for each, dim in bound.items() if each != index}
        parts.extend(normal.product(coef, factors, rest).items())
    inner = added(parts)
    found = over_one_divisor(normal, inner)
    if found is None:
        apart = reciprocals_distributed(normal, inner)
        found = apart and over_one_divisor(normal, apart)
    return normal.sum_over(found, {common: size}) if found else None


def _over(normal: Arithmetic, expr: Expr, under: Factors) -> Expr | None:
    """The sum over a common denominator; None if the numerator has more terms than the sum."""
    inverse: Factors = [(atom, idx, -power) for atom, idx, power in under]
    parts: list[tuple[Term, Coef]] = []
    for term, coef in expr.items():
        factors, bound = normal.opened_term(term)
        parts.extend(plain(normal, coef, stripped(factors, inverse), bound).items())
    top = added(parts)
    top = without_covered_zeros(normal, normal.expanded(top) or top, under)
    if not top or len(top) > len(expr):
        return None
    coef, factors, bound = normal.as_product(top)
    return normal.product(coef, factors + under, bound)


@named
def logistic_and_complement(normal: Arithmetic, expr: Expr) -> Expr:
    r"""$x e^a (1 + e^a)^{-1} + x (1 + e^a)^{-1} = x$: as few of the three terms as possible."""
    if len(expr) < 2 or len(expr) > 4 * LONGEST:
        return expr
    for term in list(expr):
        if term not in expr:
            continue
        for place, factor in enumerate(term.factors):
            if factor.power < 0 and is_logistic(factor.atom) and has_partner(expr, term, factor):
                before = normal.applied.mark()
                better = _with_complement(normal, expr, term, place)
                normal.applied.take_back(before)
                if better is not None:
                    normal.applied.note(logistic_and_complement.__name__)
                    return logistic_and_complement(normal, better)
    return expr


def _with_complement(normal: Arithmetic, expr: Expr, term: Term, place: int) -> Expr | None:
    """The sum with fewer of three terms, upper + lower = whole; None if it cannot be shortened.

    Upper is x e^a / (1 + e^a), lower is x / (1 + e^a), and the whole is x.
    """
    factors, bound = normal.opened_term(term)
    atom, idx, power = factors[place]
    rest = [slot for i, slot in enumerate(factors) if i != place]
    grown = exps(normal, exponent_of(normal.instance((atom, idx, one))), one)
    lowered: Factors = [(atom, idx, power + 1)] if power != -1 else []
    if any(
        slot[0].kind == EXP and slot[1] == grown[0][1] and slot[0] is grown[0][0] for slot in rest
    ):
        rest = merged([*rest, *[(h, i, -p) for h, i, p in grown]])
    family = [
        _single(normal, [*rest, *lowered], bound),
        _single(normal, [*rest, *grown, (atom, idx, power)], bound),
        _single(normal, [*rest, (atom, idx, power)], bound),
    ]
    found = [each for each in family if each is not None]
    if len(set(found)) < 3:
        return None
    whole, upper, lower = found
    base = [expr.get(each, 0) for each in (whole, upper, lower)]
    before = sum(1 for value in base if value != 0)
    best: tuple[int, list[Coef]] | None = None
    # whole = upper + lower, so (1, -1, -1) may be added any number of times.
    for shift in (-base[0], base[1], base[2]):
        tried = [base[0] + shift, base[1] - shift, base[2] - shift]
        left = sum(1 for value in tried if value != 0)
        if tried[1] == tried[2] == 0 and not (atom.total or atom.granted()):
            continue  # a may be NaN, and the whole does not hold it
        if left < before and (best is None or left < best[0]):
            best = (left, tried)
    if best is None:
        return None
    new = {each: coef for each, coef in expr.items() if each not in (whole, upper, lower)}
    for each, value in zip((whole, upper, lower), best[1], strict=True):
        if value != 0:
            new[each] = value
    return new


def _single(normal: Arithmetic, factors: Factors, bound: Bound) -> Term | None:
    """The product, if it is one term."""
    found = plain(normal, one, factors, bound)
    if len(found) != 1:
        return None
    ((term, coef),) = found.items()
    return term if coef == 1 else None
