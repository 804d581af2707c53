"""Powers, exponentials and logarithms of expressions in normal form.

Each function takes expressions in normal form and gives one, or None if no normal form is sound.
"""

from __future__ import annotations

from math import isfinite

from ..expression.atoms import one
from ..expression.canonical_indices import canonical_term
from ..expression.exact_numbers import Coef, Rational, is_exact, times
from ..expression.scalars import (
    constant_power,
    constant_value,
    content,
    exp_of,
    log_of,
    number,
    over,
)
from ..expression.term import EXP, LEAF, LOG, ONE, SUM, Expr, scaled
from .arithmetic import Arithmetic
from .factors import Factors, RawFactor, common_factors, denominators, is_inverse_logistic, lone_log
from .products import primitive, unbound

__all__ = ["exp", "exp_factors", "log", "power"]


def power(normal: Arithmetic, expr: Expr, power: Rational) -> Expr | None:
    """The expression to a rational power; None if no normal form is sound."""
    if power == 1:
        return expr
    value = constant_value(expr)
    if value is not None:
        return constant_power(value, power)
    if power == 0:
        return None
    if len(expr) == 1:
        found = _monomial_power(normal, expr, power)
        if found is not None:
            return found
        return _closed_power(normal, expr, power, 1, [])
    if power.denominator == 1:
        coef, factors, rest = primitive(normal, expr)
    else:
        coef, factors, rest = 1, [], expr
        whole = content(expr, signed=False)
        root = constant_power(whole, power) if ONE not in expr else None
        if root is not None and is_exact(root.get(ONE)) and whole != 1:
            coef, rest = whole, over(expr, whole)
        exps = [
            slot
            for slot in common_factors(rest)
            # With x**(1/4) taken out, sqrt(x + sqrt(x)) is no shorter.
            if slot[0].positive
            and (slot[0].kind == EXP or (slot[2] * power).denominator <= power.denominator)
        ]
        # (1 - x)/x is 1/x - 1 by now, and its root is that of 1 - x over that of x.
        exps = exps or [each for each in denominators(rest) if _is_positive_divisor(each)]
        if exps and not is_inverse_logistic(rest):
            factors, rest = exps, normal.divided(rest, exps)
    return _closed_power(normal, rest, power, coef, factors)


def _closed_power(
    normal: Arithmetic, rest: Expr, power: Rational, coef: Coef, factors: Factors
) -> Expr | None:
    outer = constant_power(coef, power)
    if outer is None or not rest:
        return None
    atom, idx = normal.atoms.closed(SUM, rest)
    _divisors_given(normal, coef, [(atom, idx, power)])
    raised: Factors = [(h, i, p * power) for h, i, p in factors]
    return normal.product(outer[ONE], [*raised, (atom, idx, power)], {})


def _monomial_power(normal: Arithmetic, expr: Expr, power: Rational) -> Expr | None:
    coef, factors = unbound(normal, expr)
    whole = power.denominator == 1
    if not whole and coef < 0:
        coef, factors = _without_sign(normal, coef, factors)
    outer = constant_power(coef, power)
    if outer is None or (not whole and not is_exact(outer[ONE])):
        return None
    if not whole and coef < 0:
        return None
    raised: Factors = []
    loose = 0
    for atom, idx, each in factors:
        new = each * power
        if whole:
            rootless = each.denominator != 1 and new.denominator == 1
            if rootless and not (atom.nonnegative or atom.granted()):
                return None
        elif not (atom.positive or (atom.nonnegative and len(factors) == 1)):
            # At most one factor may have an unknown sign. If the others are positive, the root of
            # the product is defined exactly where the root of this factor is.
            odd = each.denominator > 1 or each.numerator % 2 == 1
            # (x**3)**(1/3) = x holds only for x >= 0, and x alone is defined elsewhere too.
            if loose or not odd or (new.denominator == 1 and not atom.granted()):
                return None
            loose += 1
        raised.append((atom, idx, new))
    _divisors_given(normal, coef, raised)
    return normal.product(outer[ONE], raised, {})


def _is_positive_divisor(slot: RawFactor) -> bool:
    """Whether a denominator is a positive array, to the first power."""
    atom, _, by = slot
    return atom.kind == LEAF and atom.positive and by == -1


def _without_sign(normal: Arithmetic, coef: Coef, factors: Factors) -> tuple[Coef, Factors]:
    """A product with a minus, which goes into a sum: -(y - 1) z is (1 - y) z, where z > 0."""
    sums = [slot for slot in factors if slot[0].kind == SUM and not slot[0].positive]
    if len(sums) != 1 or sums[0][2].denominator != 1 or sums[0][2].numerator % 2 == 0:
        return coef, factors
    (turned,) = sums
    inner = scaled(normal.instance((turned[0], turned[1], one)), -1)
    atom, idx = normal.atoms.closed(SUM, inner)
    others = [slot for slot in factors if slot is not turned]
    return -coef, [*others, (atom, idx, turned[2])]


def _divisors_given(normal: Arithmetic, coef: Coef, raised: Factors) -> None:
    """Note with which sign the user divides by a lazy sum, if there is one."""
    sums = [slot for slot in raised if slot[0].kind == SUM]
    if len(sums) == 1 and sums[0][2] < 0 and sums[0][2] % 2 == 1:
        normal.atoms.divisor_given(sums[0][0], 1 if coef > 0 else -1)


def exp_factors(normal: Arithmetic, expr: Expr) -> tuple[Coef, Factors]:
    """The exp of an expression, as a coefficient and factors."""
    if not expr:
        return one, []
    rest: Expr = {}
    factors: Factors = []
    coef: Coef = one
    for term, value in expr.items():
        log_slot = lone_log(term, value, alone=len(expr) == 1)
        if log_slot is not None:
            inner = normal.instance((log_slot[0], log_slot[1], one))
            raised = power(normal, inner, log_slot[2])
            if raised is not None and len(raised) == 1:
                ((found, by),) = raised.items()
                if not found.bound:
                    coef = times(coef, by)
                    factors.extend((f.atom, f.idx, f.power) for f in found.factors)
                    continue
        rest[term] = value
    if rest:
        alone = constant_value(rest)
        if alone is not None:
            return times(coef, exp_of(alone)), factors
        by = content(rest)
        if not is_exact(by):
            by = 1 if by > 0 else -1
        atom, idx = normal.atoms.closed(EXP, over(rest, by))
        factors.append((atom, idx, by))
    return coef, factors


def exp(normal: Arithmetic, expr: Expr) -> Expr | None:
    """The exp of an expression; None if its coefficient overflows or underflows."""
    coef, factors = exp_factors(normal, expr)
    if not isfinite(float(coef)) or coef == 0:
        return None
    return normal.product(coef, factors, {})


def log(normal: Arithmetic, expr: Expr) -> Expr | None:
    """The log of an expression. A product becomes a sum of logs as far as signs allow."""
    value = constant_value(expr)
    if value is not None:
        return number(log_of(value)) if value > 0 else None
    if len(expr) == 1:
        coef, factors, rest = *unbound(normal, expr), None
    else:
        whole = content(expr, signed=False)
        whole = whole if is_exact(whole) else 1
        positive = [slot for slot in common_factors(expr) if slot[0].positive]
        factors, rest = positive, normal.divided(over(expr, whole), positive)
        coef = whole
    return _log_of_product(normal, coef, factors, rest)


def _log_of_product(
    normal: Arithmetic, coef: Coef, factors: Factors, rest: Expr | None
) -> Expr | None:
    split = [slot for slot in factors if slot[0].positive]
    loose = [slot for slot in factors if not slot[0].positive]
    if rest is not None:
        atom, idx = normal.atoms.closed(SUM, rest)
        (split if atom.positive else loose).append((atom, idx, one))
    if coef < 0 and not loose:
        return None
    parts: list[tuple[Expr, Coef]] = []
    if coef > 0 and coef != 1 and not loose:
        parts.append((number(log_of(coef)), one))
    for slot in split:
        parts.append((_log_of_factor(normal, slot), slot[2]))
    if loose:
        inner = loose
        by: Rational = one
        if len(loose) == 1 and loose[0][2].numerator % 2 == 1 and coef > 0:
            # log x**k = k log x if k has an odd numerator: both sides need x > 0.
            (atom, idx, by) = loose[0]
            inner = [(atom, idx, one)]
            if coef != 1:
                parts.append((number(log_of(coef)), one))
            coef = one
        expr = normal.product(coef, inner, {})
        atom, idx = normal.atoms.closed(LOG, expr)
        parts.append(({canonical_term([(atom, idx, one)], {}): one}, by))
    return normal.add(parts)


def _log_of_factor(normal: Arithmetic, slot: RawFactor) -> Expr:
    atom = slot[0]
    if atom.kind == EXP:
        return normal.instance(slot)
    inner: Expr = (
        normal.instance(slot)
        if atom.kind == SUM
        else {canonical_term([(atom, slot[1], one)], {}): one}
    )
    closed, idx = normal.atoms.closed(LOG, inner)
    return {canonical_term([(closed, idx, one)], {}): one}
