"""Identities of the factors of a product: exponentials, and sums inside products."""

from __future__ import annotations

from ..expression.atoms import one
from ..expression.canonical_indices import canonical_term
from ..expression.exact_numbers import Rational
from ..expression.scalars import constant_power, content, inverted, over
from ..expression.term import EXP, ONE, SUM, Expr, added, scaled
from .arithmetic import Arithmetic
from .factors import (
    Bound,
    Factors,
    Product,
    denominators,
    groups_of,
    joined,
    opens,
    uses,
)
from .identity_table import identity, others, without

__all__ = [
    "exps",
    "factor_out_of_sum_of_exps",
    "fraction_cleared",
    "fraction_in_denominator",
    "power_of_sum",
    "product_of_exps",
    "sum_and_its_root",
    "sum_of_one_term",
]


# -- exponentials ----------------------------------------------------------------------------------
@identity(EXP, summed=True)
def factor_out_of_sum_of_exps(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$\sum_i e^{x_i - m} = e^{-m} \sum_i e^{x_i}$."""
    # Factors are taken out of sums of exps only.
    if any(slot[0].kind != EXP and any(index in bound for index in slot[1]) for slot in factors):
        return None
    for slot in factors:
        atom, idx, power = slot
        if atom.kind != EXP or len(atom.expr) < 2 or not any(index in bound for index in idx):
            continue
        inner = normal.instance(slot)
        outside = {t: c for t, c in inner.items() if t != ONE and not uses(t, bound)}
        if outside and len(outside) < len(inner):
            within = {t: c for t, c in inner.items() if t not in outside}
            split = [*exps(normal, within, power), *exps(normal, outside, power)]
            return one, [*others(factors, slot), *split], bound
    return None


@identity(EXP)
def product_of_exps(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$e^x e^y = e^{x + y}$, if $x$ and $y$ have like terms."""
    found = [slot for slot in factors if slot[0].kind == EXP]
    for place, slot in enumerate(found):
        for other in found[place + 1 :]:
            left, right = normal.instance(slot), normal.instance(other)
            joint = added([*scaled(left, slot[2]).items(), *scaled(right, other[2]).items()])
            if len(joint) < len(left) + len(right):
                coef, new = normal.exp_factors(joint)
                return coef, [*others(factors, slot, other), *new], bound
    return None


def exps(normal: Arithmetic, expr: Expr, power: Rational) -> Factors:
    """The exp of an expression, to a power, as factors."""
    _, factors = normal.exp_factors(expr)
    return [(atom, idx, each * power) for atom, idx, each in factors]


# -- sums inside products --------------------------------------------------------------------------
@identity(SUM)
def sum_of_one_term(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$x \left(\sum_i y_i\right) = \sum_i x y_i$."""
    for slot in factors:
        if slot[0].kind == SUM and len(slot[0].expr) == 1 and opens(slot, factors):
            ((term, coef),) = normal.instance(slot).items()
            inner, inner_bound = normal.opened_term(term)
            return coef, [*others(factors, slot), *inner], bound | inner_bound
    return None


@identity(SUM, summed=True)
def power_of_sum(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$\left(\sum_i x_i\right)^k \sum_i x_i = \left(\sum_i x_i\right)^{k+1}$."""
    lazy = [slot for slot in factors if slot[0].kind == SUM and len(slot[0].expr) == 1]
    for group in groups_of(factors, bound) if lazy else ():
        part = [slot for slot in factors if any(index in group for index in slot[1])]
        whole = canonical_term(part, {index: bound[index] for index in group})
        atom, idx = normal.atoms.closed(SUM, {whole: one})
        for slot in lazy:
            if slot[0] is atom and slot[1] == idx:
                rest = [other for other in factors if other is not slot and other not in part]
                powers = joined(atom, [slot[2], one])
                return one, rest + [(atom, idx, power) for power in powers], without(bound, group)
    return None


@identity(SUM)
def fraction_cleared(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$(1 - 1/x) (1 - x)^{-1} = -1/x$, if a sum times $x$ is another sum of the product."""
    sums = [slot for slot in factors if slot[0].kind == SUM and len(slot[0].expr) > 1]
    if len(sums) < 2 or all(slot[2] > 0 for slot in sums):
        return None
    for slot in sums:
        if slot[2] != 1 or not any(f.power < 0 for t in slot[0].expr for f in t.factors):
            continue
        inner = normal.instance(slot)
        below = denominators(inner)
        rest = normal.divided(inner, below) if below else {}
        if len(rest) < 2:
            continue
        coef = content(rest)
        atom, idx = normal.atoms.closed(SUM, over(rest, coef))
        if any(other[0] is atom and other[1] == idx for other in sums):
            return coef, [*others(factors, slot), *below, (atom, idx, one)], bound
    return None


@identity(SUM)
def fraction_in_denominator(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$v^{-1} (1 + r/v)^{-1} = (v + r)^{-1}$."""
    for slot in factors:
        atom, _, power = slot
        if atom.kind != SUM or len(atom.expr) < 2 or power >= 0 or power.denominator != 1:
            continue
        if not any(f.power < 0 for term in atom.expr for f in term.factors):
            continue
        inner = normal.instance(slot)
        for below in denominators(inner):
            h, i, low = below
            beside = any(
                other[:2] == (h, i) and other[2] < 0 and abs(other[2] + low * power) <= -other[2]
                for other in factors
            )
            if not beside or not (h.nonzero or h.granted()):
                continue
            rest = normal.divided(inner, [below])
            coef = content(rest)
            closed, new = normal.atoms.closed(SUM, over(rest, coef))
            raised = constant_power(coef, power)
            if len(rest) < 2 or raised is None:
                continue
            more: Factors = [(h, i, low * power), (closed, new, power)]
            return raised[ONE], [*others(factors, slot), *more], bound
    return None


@identity(SUM)
def sum_and_its_root(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$(x - 1) (1 - x)^{-1/2} = -(1 - x)^{1/2}$, if a sum is a multiple of that under a root."""
    sums = [slot for slot in factors if slot[0].kind == SUM and len(slot[0].expr) > 1]
    for atom, idx, power in sums if len(sums) > 1 else ():
        by = content(atom.expr) if power.denominator > 1 else one
        if by == 1:
            continue
        inner = normal.instance((atom, idx, one))
        closed, at = normal.atoms.closed(SUM, over(inner, by))
        for slot in sums:
            raised = constant_power(inverted(by), slot[2]) if slot[:2] == (closed, at) else None
            if raised is not None and slot[2].denominator == 1:
                return raised[ONE], [*others(factors, slot), (atom, idx, slot[2])], bound
    return None
