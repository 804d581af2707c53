"""Arithmetic of expressions: products, sums over an index, powers, exp and log, in normal form.

Each function takes expressions in normal form and gives one. What holds inside:

- powers of one head meet in one slot; they cancel only where the facts of the head allow it;
- exp carries its argument as a sum; two exps merge only where terms of their arguments meet;
- a sum inside a product stays closed (a "sum" head); it is opened when the result is shorter;
- an index bound twice over the same factors is the same lazy sum, so `S * S**-1` meets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import exp, isfinite, log
from typing import Any, TypeAlias

from ..dims import Dim
from .heads import Heads, one
from .labels import canonical_term
from .term import (
    ONE,
    Coef,
    Expr,
    Factor,
    Head,
    Rational,
    Term,
    added,
    free_indices,
    is_exact,
    quotient,
    rational,
    scaled,
    term_is_total,
    term_key,
    times,
    weight,
)

__all__ = [
    "Factors",
    "Normal",
    "Slot",
    "components",
    "constant_value",
    "content",
    "is_logistic",
    "number",
]

Slot: TypeAlias = tuple[Head, tuple[int, ...], Rational]
Factors: TypeAlias = list[Slot]
Bound: TypeAlias = dict[int, Dim]
Product: TypeAlias = tuple[Coef, Factors, Bound]

_LONGEST = 12
"""A lazy sum of more terms is never opened."""


def number(value: Coef) -> Expr:
    """A constant expression; 0 has no terms."""
    return {ONE: value} if value != 0 else {}


def constant_value(expr: Expr) -> Coef | None:
    """The number an expression is, or None if it is not one."""
    if not expr:
        return 0
    if len(expr) == 1 and ONE in expr:
        return expr[ONE]
    return None


class Normal:
    """Arithmetic of expressions over one table of heads."""

    def __init__(self, heads: Heads) -> None:
        self.heads = heads
        self._trying = False

    # -- products ------------------------------------------------------------------------------------
    def opened_term(self, term: Term) -> tuple[Factors, Bound]:
        """The factors of a term, its bound indices renamed to fresh ones."""
        if not term.bound:
            return [(f.head, f.idx, f.power) for f in term.factors], {}
        names = {-1 - place: self.heads.fresh() for place in range(len(term.bound))}
        bound = {names[-1 - place]: size for place, size in enumerate(term.bound)}
        factors: Factors = [
            (f.head, tuple([names.get(index, index) for index in f.idx]), f.power)
            for f in term.factors
        ]
        return factors, bound

    def as_product(self, expr: Expr) -> Product:
        """The expression as one product: itself if it has one term, else content times a lazy sum."""
        if not expr:
            return 0, [], {}
        if len(expr) == 1:
            ((term, coef),) = expr.items()
            factors, bound = self.opened_term(term)
            return coef, factors, bound
        coef, factors, rest = self.primitive(expr)
        if len(rest) < 2:
            by, more, bound = self.as_product(rest)
            return times(coef, by), factors + more, bound
        head, idx = self.heads.closed("sum", rest)
        return coef, [*factors, (head, idx, one)], {}

    def unbound(self, expr: Expr) -> tuple[Coef, Factors]:
        """A single term as factors none of which is summed: what is bound becomes lazy sums."""
        ((term, coef),) = expr.items()
        factors, bound = self.opened_term(term)
        if not bound:
            return coef, factors
        left = [slot for slot in factors if not any(index in bound for index in slot[1])]
        for group in components(factors, bound):
            part = [slot for slot in factors if any(index in group for index in slot[1])]
            whole = canonical_term(part, {index: bound[index] for index in group})
            head, idx = self.heads.closed("sum", {whole: one})
            left.append((head, idx, one))
        return coef, left

    def primitive(self, expr: Expr) -> tuple[Coef, Factors, Expr]:
        """Number and factors common to all terms, and what remains."""
        common = _common_factors(expr)
        if common:
            inverse: Factors = [(head, idx, -power) for head, idx, power in common]
            parts: list[tuple[Term, Coef]] = []
            for term, coef in expr.items():
                factors, bound = self.opened_term(term)
                parts.extend(self.product(coef, _stripped(factors, inverse), bound).items())
            expr = added(parts)
        coef = content(expr) if expr else 1
        return coef, common, scaled(expr, _inverse(coef))

    def multiply(self, x: Expr, y: Expr) -> Expr:
        """The product."""
        for one_side, other in ((x, y), (y, x)):
            value = constant_value(one_side)
            if value is None:
                continue
            if value != 0:
                return scaled(other, value)
            # 0 * x is 0 only where x is defined.
            return {term: value for term in other if not term_is_total(term)}
        coef, factors, bound = self.as_product(x)
        coef2, factors2, bound2 = self.as_product(y)
        return self.product(times(coef, coef2), factors + factors2, bound | bound2)

    def product(self, coef: Coef, factors: Factors, bound: Bound) -> Expr:
        """The product of the factors, summed over the bound indices, in normal form."""
        coef, factors, bound = self._settled(coef, factors, dict(bound))
        sums = [slot for slot in factors if _is_lazy(slot)]
        if len(factors) == 1 and sums:
            return self._summed(scaled(self.instance(sums[0]), coef), bound)
        closed = _without_zero({canonical_term(factors, bound): coef})
        if not sums or self._trying:
            return closed
        # A trial within a trial could double the work at every level.
        self._trying = True
        try:
            return self._tried(closed, (coef, factors, bound), sums)
        finally:
            self._trying = False

    def _tried(self, closed: Expr, product: Product, sums: Factors) -> Expr:
        """The product with a lazy sum opened, or all of them, where that is shorter."""
        coef, factors, bound = product
        for slot in sums:
            rest = [other for other in factors if other is not slot]
            if len(slot[0].expr) > _LONGEST or not _may_meet(slot, rest, bound):
                continue
            opened = self.distributed(slot, coef, rest, bound)
            if weight(opened) < weight(closed):
                return opened
        if _has_exps(factors):
            opened = self.expanded(closed)
            if opened is not None and weight(opened) < weight(closed):
                return opened
        return closed

    def _plain(self, coef: Coef, factors: Factors, bound: Bound) -> Expr:
        """As `product`, lazy sums staying closed."""
        coef, factors, bound = self._settled(coef, factors, dict(bound))
        if len(factors) == 1 and _is_lazy(factors[0]):
            return self._summed(scaled(self.instance(factors[0]), coef), bound)
        return _without_zero({canonical_term(factors, bound): coef})

    def expanded(self, expr: Expr) -> Expr | None:
        """All lazy sums opened, where like terms then meet; None if none do, or if it grows too long."""
        if not _terms_could_meet(expr):
            return None
        queue = list(expr.items())
        done: list[tuple[Term, Coef]] = []
        opened = False
        while queue:
            term, coef = queue.pop(0)
            factors, bound = self.opened_term(term)
            lazy = next((slot for slot in factors if _is_lazy(slot)), None)
            if lazy is None:
                done.append((term, coef))
                continue
            opened = True
            rest = [slot for slot in factors if slot is not lazy]
            queue.extend(self.distributed(lazy, coef, rest, bound).items())
            if len(queue) + len(done) > _LONGEST:
                return None
        if not opened:
            return None
        found = self._logistic(added(done))
        return found if len(found) < len(done) else None

    def distributed(self, slot: Slot, coef: Coef, rest: Factors, bound: Bound) -> Expr:
        """The product with one lazy sum opened."""
        parts: list[tuple[Term, Coef]] = []
        for term, each in self.instance(slot).items():
            inner, inner_bound = self.opened_term(term)
            renamed, new = self._refreshed(bound)
            inner = [_renamed_slot(s, renamed) for s in inner]
            factors = [_renamed_slot(s, renamed) for s in rest] + inner
            parts.extend(self._plain(times(coef, each), factors, new | inner_bound).items())
        return self._logistic(added(parts))

    def _refreshed(self, bound: Bound) -> tuple[dict[int, int], Bound]:
        names = {index: self.heads.fresh() for index in bound}
        return names, {names[index]: size for index, size in bound.items()}

    def instance(self, slot: Slot) -> Expr:
        """The expression inside a head, at the indices of the factor."""
        head, idx, _ = slot
        return self.substituted(head.expr, dict(enumerate(idx)))

    def substituted(self, expr: Expr, names: dict[int, int]) -> Expr:
        """The expression with free indices replaced; several may become one."""
        values = [names.get(index, index) for index in free_indices(expr)]
        if len(set(values)) == len(values):
            return self.heads.renamed(expr, names)
        parts: list[tuple[Term, Coef]] = []
        for term, coef in expr.items():
            factors, bound = self.opened_term(term)
            renamed: Factors = []
            for slot in factors:
                by, flat = self._reclosed(_renamed_slot(slot, names))
                coef, renamed = times(coef, by), renamed + flat
            parts.extend(self.product(coef, renamed, bound).items())
        return added(parts)

    def _reclosed(self, slot: Slot) -> tuple[Coef, Factors]:
        """The factor anew if its head holds an expression two of whose indices became one."""
        head, idx, power = slot
        if head.kind not in ("sum", "exp", "log") or len(set(idx)) == len(idx):
            return 1, [slot]
        inner = self.instance(slot)
        if head.kind == "exp":
            return self._raised(inner, power)
        if not inner:
            return (0, []) if head.kind == "sum" and power > 0 else (1, [slot])
        if head.kind == "sum":
            raised = self.power(inner, power)
            if raised is not None and len(raised) == 1 and not next(iter(raised)).bound:
                ((term, coef),) = raised.items()
                return coef, [(f.head, f.idx, f.power) for f in term.factors]
        closed, new = self.heads.closed(head.kind, inner)
        return 1, [(closed, new, power)]

    def _raised(self, expr: Expr, power: Rational) -> tuple[Coef, Factors]:
        """exp of an expression, to a power."""
        coef, factors = self.exp_factors(scaled(expr, power))
        return coef, factors

    # -- settling a product --------------------------------------------------------------------------
    def _settled(self, coef: Coef, factors: Factors, bound: Bound) -> Product:
        """Slots merged, deltas and free sums gone, exps and lazy sums met."""
        while True:
            factors = _merged(factors)
            step = self._delta_step(factors, bound) or self._bound_step(factors, bound)
            if step is None:
                step = self._exp_step(factors, bound) or self._sum_step(factors, bound)
            if step is None:
                step = self._clearing_step(factors, bound)
            if step is None:
                return coef, factors, bound
            extra, factors, bound = step
            coef = times(coef, extra)

    def _delta_step(self, factors: Factors, bound: Bound) -> Product | None:
        for slot in factors:
            head, idx, _ = slot
            if head.kind != "delta":
                continue
            i, j = idx
            rest = [other for other in factors if other is not slot]
            if i == j:
                return one, rest, bound
            gone, kept = (i, j) if i in bound else (j, i)
            if gone not in bound:
                continue
            left = {index: size for index, size in bound.items() if index != gone}
            coef: Coef = 1
            renamed: Factors = []
            for other in rest:
                by, flat = self._reclosed(_renamed_slot(other, {gone: kept}))
                coef, renamed = times(coef, by), renamed + flat
            return coef, renamed, left
        return None

    def _bound_step(self, factors: Factors, bound: Bound) -> Product | None:
        """A bound index that no factor needs: sizes, simplices, unit norms, orthogonal matrices."""
        for index, size in bound.items():
            users = [slot for slot in factors if index in slot[1]]
            left = {other: dim for other, dim in bound.items() if other != index}
            if not users:
                if isinstance(size, int):
                    return size, factors, left
                return one, [*factors, (self.heads.dim(size), (), one)], left
            if len(users) == 1 and _sums_to_one(users[0], index):
                return one, [slot for slot in factors if slot is not users[0]], left
            if len(users) == 2:
                delta = self._orthogonality(users, index)
                if delta is not None:
                    rest = [slot for slot in factors if slot not in users]
                    return one, [*rest, delta], left
        return None

    def _orthogonality(self, users: Factors, index: int) -> Slot | None:
        (head, idx, power), (other, idx2, power2) = users
        if head is not other or not head.orthogonal or power != 1 or power2 != 1:
            return None
        place = idx.index(index)
        if idx2.index(index) != place or idx[1 - place] == index or idx2[1 - place] == index:
            return None
        pair = sorted((idx[1 - place], idx2[1 - place]))
        return self.heads.delta(head.sizes[0]), (pair[0], pair[1]), one

    def _exp_step(self, factors: Factors, bound: Bound) -> Product | None:
        exps = [slot for slot in factors if slot[0].kind == "exp"]
        # Only a sum of exps gives up what does not depend on its index: exp(z - m) is exp(z) exp(-m) there.
        pure = bound and all(
            head.kind == "exp" or not any(index in bound for index in idx)
            for head, idx, _ in factors
        )
        for slot in exps:
            if pure and len(slot[0].expr) > 1 and any(index in bound for index in slot[1]):
                inner = self.instance(slot)
                outside = {t: c for t, c in inner.items() if t != ONE and not _uses(t, bound)}
                if outside and len(outside) < len(inner):
                    within = {t: c for t, c in inner.items() if t not in outside}
                    rest = [other for other in factors if other is not slot]
                    split = self._exps(within, slot[2]) + self._exps(outside, slot[2])
                    return one, rest + split, bound
        for place, slot in enumerate(exps):
            for other in exps[place + 1 :]:
                left, right = self.instance(slot), self.instance(other)
                joint = added([*scaled(left, slot[2]).items(), *scaled(right, other[2]).items()])
                if len(joint) < len(left) + len(right):
                    rest = [each for each in factors if each is not slot and each is not other]
                    coef, new = self.exp_factors(joint)
                    return coef, rest + new, bound
        return None

    def _exps(self, expr: Expr, power: Rational) -> Factors:
        _, factors = self.exp_factors(expr)
        return [(head, idx, each * power) for head, idx, each in factors]

    def _sum_step(self, factors: Factors, bound: Bound) -> Product | None:
        """Parts of the product that are a lazy sum which stands beside them to another power."""
        lazy = [slot for slot in factors if slot[0].kind == "sum" and len(slot[0].expr) == 1]
        for slot in lazy:
            if slot[2] == 1:
                ((term, coef),) = self.instance(slot).items()
                inner, inner_bound = self.opened_term(term)
                rest = [other for other in factors if other is not slot]
                return coef, rest + inner, bound | inner_bound
        if not lazy or not bound:
            return None
        for group in _groups(factors, bound):
            part = [slot for slot in factors if any(index in group for index in slot[1])]
            whole = canonical_term(part, {index: bound[index] for index in group})
            head, idx = self.heads.closed("sum", {whole: one})
            for slot in lazy:
                if slot[0] is head and slot[1] == idx:
                    rest = [other for other in factors if other is not slot and other not in part]
                    left = {i: size for i, size in bound.items() if i not in group}
                    powers = _joined(head, [slot[2], one])
                    return one, rest + [(head, idx, power) for power in powers], left
        return None

    def _clearing_step(self, factors: Factors, bound: Bound) -> Product | None:
        """A lazy sum freed of denominators, where that makes it another one beside it.

        (1 - 1/x) (1 - x)**-1 = -1/x.
        """
        sums = [slot for slot in factors if slot[0].kind == "sum" and len(slot[0].expr) > 1]
        if len(sums) < 2:
            return None
        for slot in sums:
            if slot[2] != 1 or not any(f.power < 0 for t in slot[0].expr for f in t.factors):
                continue
            inner = self.instance(slot)
            below = _denominators(inner)
            if not below:
                continue
            _, pulled, rest = self._without(inner, below)
            if len(rest) < 2:
                continue
            coef = content(rest)
            head, idx = self.heads.closed("sum", scaled(rest, _inverse(coef)))
            if any(other[0] is head and other[1] == idx for other in sums):
                left = [other for other in factors if other is not slot]
                return coef, [*left, *pulled, (head, idx, one)], bound
        return None

    # -- sums ----------------------------------------------------------------------------------------
    def add(self, parts: Sequence[tuple[Expr, Coef]]) -> Expr:
        """A linear combination, with the identities of sums applied."""
        total = added(
            [(term, times(coef, by)) for expr, by in parts for term, coef in expr.items()]
        )
        return self._opened(self._joined_fractions(self._logistic(total)))

    def _opened(self, expr: Expr) -> Expr:
        """With lazy sums of exps opened, where that is shorter."""
        if len(expr) < 2 or not any(
            any(f.head.kind == "sum" and f.power == 1 for f in term.factors)
            and _has_exps([(f.head, f.idx, f.power) for f in term.factors])
            for term in expr
        ):
            return expr
        opened = self.expanded(expr)
        return opened if opened is not None and weight(opened) < weight(expr) else expr

    def _joined_fractions(self, expr: Expr) -> Expr:
        """The sum over a common denominator, where that is shorter: 1/x + 1/(1 - x) = 1/(x (1 - x))."""
        if not 2 <= len(expr) <= 4:
            return expr
        under = _denominators(expr)
        if not any(head.kind == "sum" and len(head.expr) > 1 for head, _, _ in under):
            return expr
        if any(power.denominator != 1 for _, _, power in under) or _has_exps(under):
            return expr
        inverse: Factors = [(head, idx, -power) for head, idx, power in under]
        parts: list[tuple[Term, Coef]] = []
        for term, coef in expr.items():
            factors, bound = self.opened_term(term)
            parts.extend(self._plain(coef, _stripped(factors, inverse), bound).items())
        top = added(parts)
        top = self.expanded(top) or top
        if not top or len(top) > len(expr):
            return expr
        coef, factors, bound = self.as_product(top)
        found = self.product(coef, factors + under, bound)
        return found if weight(found) < weight(expr) else expr

    def sum_over(self, expr: Expr, bound: Bound) -> Expr:
        """The sum over free indices of the expression, given with their sizes."""
        return self._summed(expr, bound) if bound else expr

    def _summed(self, expr: Expr, bound: Bound) -> Expr:
        if not bound:
            return expr
        parts: list[tuple[Term, Coef]] = []
        for term, coef in expr.items():
            factors, inner = self.opened_term(term)
            names, new = self._refreshed(bound)
            renamed = [_renamed_slot(slot, names) for slot in factors]
            parts.extend(self.product(coef, renamed, inner | new).items())
        return self._logistic(added(parts))

    def _logistic(self, expr: Expr) -> Expr:
        r"""Fewest terms among $t$, $t e^A (1+e^A)^{-1}$ and $t (1+e^A)^{-1}$, which depend linearly."""
        if len(expr) < 2 or len(expr) > 4 * _LONGEST:
            return expr
        for term in list(expr):
            if term not in expr:
                continue
            for place, factor in enumerate(term.factors):
                if (
                    factor.power < 0
                    and is_logistic(factor.head)
                    and _has_partner(expr, term, factor)
                ):
                    better = self._logistic_at(expr, term, place)
                    if better is not None:
                        return self._logistic(better)
        return expr

    def _logistic_at(self, expr: Expr, term: Term, place: int) -> Expr | None:
        factors, bound = self.opened_term(term)
        head, idx, power = factors[place]
        rest = [slot for i, slot in enumerate(factors) if i != place]
        grown = self._exps(_exponent(self.instance((head, idx, one))), one)
        lowered: Factors = [(head, idx, power + 1)] if power != -1 else []
        if any(
            slot[0].kind == "exp" and slot[1] == grown[0][1] and slot[0] is grown[0][0]
            for slot in rest
        ):
            rest = _merged([*rest, *[(h, i, -p) for h, i, p in grown]])
        family = [
            self._single([*rest, *lowered], bound),
            self._single([*rest, *grown, (head, idx, power)], bound),
            self._single([*rest, (head, idx, power)], bound),
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
            if left < before and (best is None or left < best[0]):
                best = (left, tried)
        if best is None:
            return None
        new = {each: coef for each, coef in expr.items() if each not in (whole, upper, lower)}
        for each, value in zip((whole, upper, lower), best[1], strict=True):
            if value != 0:
                new[each] = value
        return new

    def _single(self, factors: Factors, bound: Bound) -> Term | None:
        found = self._plain(one, factors, bound)
        if len(found) != 1:
            return None
        ((term, coef),) = found.items()
        return term if coef == 1 else None

    # -- powers, exp, log ----------------------------------------------------------------------------
    def power(self, expr: Expr, power: Rational) -> Expr | None:
        """The expression to a rational power; None where no normal form is sound."""
        if power == 1:
            return expr
        value = constant_value(expr)
        if value is not None:
            return _constant_power(value, power)
        if power == 0:
            return None
        if len(expr) == 1:
            found = self._monomial_power(expr, power)
            if found is not None:
                return found
            return self._closed_power(expr, power, 1, [])
        if power.denominator == 1:
            coef, factors, rest = self.primitive(expr)
        else:
            coef, factors, rest = 1, [], expr
            whole = content(expr, signed=False)
            root = _constant_power(whole, power) if ONE not in expr else None
            if root is not None and is_exact(root.get(ONE)) and whole != 1:
                coef, rest = whole, scaled(expr, _inverse(whole))
            exps = [slot for slot in _common_factors(rest) if slot[0].positive]
            if exps and not _is_inverse_logistic(rest):
                _, factors, rest = self._without(rest, exps)
        return self._closed_power(rest, power, coef, factors)

    def _without(self, expr: Expr, common: Factors) -> tuple[Coef, Factors, Expr]:
        inverse: Factors = [(head, idx, -power) for head, idx, power in common]
        parts: list[tuple[Term, Coef]] = []
        for term, coef in expr.items():
            factors, bound = self.opened_term(term)
            parts.extend(self.product(coef, _stripped(factors, inverse), bound).items())
        return one, common, added(parts)

    def _closed_power(
        self, rest: Expr, power: Rational, coef: Coef, factors: Factors
    ) -> Expr | None:
        outer = _constant_power(coef, power)
        if outer is None or not rest:
            return None
        head, idx = self.heads.closed("sum", rest)
        raised: Factors = [(h, i, p * power) for h, i, p in factors]
        return self.product(outer[ONE], [*raised, (head, idx, power)], {})

    def _monomial_power(self, expr: Expr, power: Rational) -> Expr | None:
        coef, factors = self.unbound(expr)
        whole = power.denominator == 1
        outer = _constant_power(coef, power)
        if outer is None or (not whole and not is_exact(outer[ONE])):
            return None
        if not whole and coef < 0:
            return None
        raised: Factors = []
        loose = 0
        for head, idx, each in factors:
            new = each * power
            if whole:
                if each.denominator != 1 and new.denominator == 1 and not head.nonnegative:
                    return None
            elif not (head.positive or (head.nonnegative and len(factors) == 1)):
                # Of a product only one factor may be of unknown sign: the others being positive,
                # the root of the product is defined just where the root of that one is.
                odd = each.denominator > 1 or each.numerator % 2 == 1
                if loose or not odd:
                    return None
                loose += 1
            raised.append((head, idx, new))
        return self.product(outer[ONE], raised, {})

    def exp_factors(self, expr: Expr) -> tuple[Coef, Factors]:
        """Exp of an expression, as a number and factors."""
        if not expr:
            return one, []
        rest: Expr = {}
        factors: Factors = []
        coef: Coef = one
        for term, value in expr.items():
            log_slot = _lone_log(term, value)
            if log_slot is not None:
                inner = self.instance((log_slot[0], log_slot[1], one))
                raised = self.power(inner, log_slot[2])
                if raised is not None and len(raised) == 1:
                    ((found, by),) = raised.items()
                    if not found.bound:
                        coef = times(coef, by)
                        factors.extend((f.head, f.idx, f.power) for f in found.factors)
                        continue
            rest[term] = value
        if rest:
            alone = constant_value(rest)
            if alone is not None:
                return times(coef, _exp_of(alone)), factors
            by = content(rest)
            if not is_exact(by):
                by = 1 if by > 0 else -1
            head, idx = self.heads.closed("exp", scaled(rest, _inverse(by)))
            factors.append((head, idx, by))
        return coef, factors

    def exp(self, expr: Expr) -> Expr | None:
        """Exp of an expression."""
        coef, factors = self.exp_factors(expr)
        if not isfinite(float(coef)) or coef == 0:
            return None
        return self.product(coef, factors, {})

    def log(self, expr: Expr) -> Expr | None:
        """Log of an expression: of a product, the sum of logs as far as the signs of factors allow."""
        value = constant_value(expr)
        if value is not None:
            return number(_log_of(value)) if value > 0 else None
        if len(expr) == 1:
            coef, factors, rest = *self.unbound(expr), None
        else:
            whole = content(expr, signed=False)
            positive = [slot for slot in _common_factors(expr) if slot[0].positive]
            _, factors, rest = self._without(scaled(expr, _inverse(whole)), positive)
            coef = whole
        return self._log_of_product(coef, factors, rest)

    def _log_of_product(self, coef: Coef, factors: Factors, rest: Expr | None) -> Expr | None:
        split = [slot for slot in factors if slot[0].positive]
        loose = [slot for slot in factors if not slot[0].positive]
        if rest is not None:
            head, idx = self.heads.closed("sum", rest)
            (split if head.positive else loose).append((head, idx, one))
        if coef < 0 and not loose:
            return None
        parts: list[tuple[Expr, Coef]] = []
        if coef > 0 and coef != 1 and not loose:
            parts.append((number(_log_of(coef)), one))
        for slot in split:
            parts.append((self._log_of_slot(slot), slot[2]))
        if loose:
            inner = loose
            by: Rational = one
            if len(loose) == 1 and loose[0][2].numerator % 2 == 1 and coef > 0:
                # log x**k = k log x where k is odd or has an odd numerator: both need x > 0.
                (head, idx, by) = loose[0]
                inner = [(head, idx, one)]
                if coef != 1:
                    parts.append((number(_log_of(coef)), one))
                coef = one
            expr = self.product(coef, inner, {})
            head, idx = self.heads.closed("log", expr)
            parts.append(({canonical_term([(head, idx, one)], {}): one}, by))
        return self.add(parts)

    def _log_of_slot(self, slot: Slot) -> Expr:
        head = slot[0]
        if head.kind == "exp":
            return self.instance(slot)
        inner = (
            self.instance(slot)
            if head.kind == "sum"
            else {canonical_term([(head, slot[1], one)], {}): one}
        )
        closed, idx = self.heads.closed("log", inner)
        return {canonical_term([(closed, idx, one)], {}): one}


# -- slots -------------------------------------------------------------------------------------------
def _merged(factors: Factors) -> Factors:
    """One slot for each head and indices, as far as facts allow."""
    slots: dict[tuple[Head, tuple[int, ...]], list[Rational]] = {}
    for head, idx, power in factors:
        if head.symmetric and idx[-2] > idx[-1]:
            idx = (*idx[:-2], idx[-1], idx[-2])
        slots.setdefault((head, idx), []).append(power)
    return [
        (head, idx, power)
        for (head, idx), powers in slots.items()
        for power in (_joined(head, powers) if len(powers) > 1 or head.one_hot else powers)
    ]


def _joined(head: Head, powers: Sequence[Rational]) -> list[Rational]:
    if head.one_hot or head.kind == "delta":
        if all(power > 0 for power in powers):
            return [one]
    if not head.nonnegative and any(power.denominator > 1 for power in powers):
        if sum(powers).denominator == 1:
            return list(powers)
    up = sum([power for power in powers if power > 0], 0)
    down = sum([power for power in powers if power < 0], 0)
    total = rational(up + down)
    if head.nonzero or not up or not down or total < 0:
        return [total] if total != 0 else []
    return [rational(up), rational(down)]


def _renamed_slot(slot: Slot, names: dict[int, int]) -> Slot:
    head, idx, power = slot
    return head, tuple([names.get(index, index) for index in idx]), power


def _sums_to_one(slot: Slot, index: int) -> bool:
    head, idx, power = slot
    if idx.count(index) != 1:
        return False
    place = idx.index(index)
    return (place in head.simplex and power == 1) or (place in head.unit_norm and power == 2)


def _uses(term: Term, bound: Bound) -> bool:
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


def _groups(factors: Factors, bound: Bound) -> list[list[int]]:
    """Sets of bound indices that may form a lazy sum: each alone, and those tied together."""
    ties = [group for group in components(factors, bound) if len(group) > 1]
    return [[index] for index in bound] + ties


def _without_zero(expr: Expr) -> Expr:
    """0 times what is a number wherever the inputs are."""
    if 0 in expr.values():
        return {term: coef for term, coef in expr.items() if coef != 0 or not term_is_total(term)}
    return expr


def _has_partner(expr: Expr, term: Term, factor: Factor) -> bool:
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


def _terms_could_meet(expr: Expr) -> bool:
    """Whether opening all lazy sums gives not too many terms, two of them of the same heads.

    Exps and sums of exps are left out of the comparison: they merge in more ways than one.
    """
    found: set[tuple[tuple[int, Rational], ...]] = set()
    number = 0
    for term in expr:
        tables: list[dict[int, Rational]] = [{}]
        for f in term.factors:
            if f.head.kind == "exp" or (f.head.kind == "sum" and _holds_exps(f.head)):
                if not (f.power == 1 and len(f.head.expr) > 1 and f.head.kind == "sum"):
                    continue
            if f.head.kind != "sum" or f.power != 1:
                for table in tables:
                    table[f.head.rank] = table.get(f.head.rank, 0) + f.power
                continue
            if len(tables) * len(f.head.expr) > _LONGEST:
                return False
            tables = [_times_heads(table, inner) for table in tables for inner in f.head.expr]
        for table in tables:
            number += 1
            found.add(tuple(sorted([item for item in table.items() if item[1] != 0])))
    return len(found) < number <= _LONGEST


def _times_heads(table: dict[int, Rational], term: Term) -> dict[int, Rational]:
    grown = dict(table)
    for f in term.factors:
        if f.head.kind != "exp" and not (f.head.kind == "sum" and _holds_exps(f.head)):
            grown[f.head.rank] = grown.get(f.head.rank, 0) + f.power
    return grown


def _holds_exps(head: Head) -> bool:
    return any(f.head.kind == "exp" for term in head.expr for f in term.factors)


def _is_lazy(slot: Slot) -> bool:
    return slot[0].kind == "sum" and slot[2] == 1


def _has_exps(factors: Factors) -> bool:
    """Whether exps are among the factors or in their lazy sums."""
    return any(
        head.kind == "exp" or (head.kind == "sum" and _holds_exps(head)) for head, _, _ in factors
    )


def _may_meet(slot: Slot, rest: Factors, bound: Bound) -> bool:
    """Whether opening a lazy sum can shorten the product: something cancels, or a sum loses an index."""
    outer = {(head, power > 0) for head, _, power in rest}
    exps = [head for head, _, _ in rest if head.kind == "exp"]
    idx = slot[1]
    summed = [index for index in idx if index in bound]
    for term in slot[0].expr:
        if summed:
            inside = {idx[index] for f in term.factors for index in f.idx if index >= 0}
            if any(index not in inside and _sum_vanishes(index, rest) for index in summed):
                return True
        for head, _, power in term.factors:
            if (head, power < 0) in outer or head.kind == "delta":
                return True
            if head.kind == "exp" and any(_share_arrays(head, other) for other in exps):
                return True
    return False


def _sum_vanishes(index: int, rest: Factors) -> bool:
    """Whether the sum over an index of the factors that have it is known: a size, 1, or of a softmax."""
    users = [slot for slot in rest if index in slot[1]]
    if not users:
        return True
    if len(users) == 1 and _sums_to_one(users[0], index):
        return True
    return all(head.kind == "exp" for head, _, _ in users)


def _share_arrays(a: Head, b: Head) -> bool:
    """Whether two arguments of exp have an array in common."""
    if a is b:
        return True
    mine = {f.head for term in a.expr for f in term.factors}
    return any(f.head in mine for term in b.expr for f in term.factors)


def _is_inverse_logistic(expr: Expr) -> bool:
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


def _common_factors(expr: Expr) -> Factors:
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
        if key[0].kind == "exp" and _is_inverse_logistic(expr):
            least = min(powers)
        elif all(power > 0 for power in powers):
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


def _denominators(expr: Expr) -> Factors:
    """Factors over free indices that some terms are divided by, to the most negative power."""
    least: dict[tuple[Head, tuple[int, ...]], Rational] = {}
    for term in expr:
        for head, idx, power in term.factors:
            if power < 0 and all(index >= 0 for index in idx):
                least[(head, idx)] = min(power, least.get((head, idx), 0))
    return [(head, idx, power) for (head, idx), power in least.items()]


def _stripped(factors: Factors, inverse: Factors) -> Factors:
    """Factors times the inverse of common ones, which are there to be taken out: no fact is needed."""
    table: dict[tuple[Head, tuple[int, ...]], Fraction] = {(h, i): p for h, i, p in inverse}
    left: Factors = []
    for head, idx, power in factors:
        by = table.pop((head, idx), None)
        new = power if by is None else power + by
        if new != 0:
            left.append((head, idx, new))
    left.extend((head, idx, power) for (head, idx), power in table.items())
    return left


def _exponent(expr: Expr) -> Expr:
    """A, given 1 + exp(A) as an expression."""
    (term,) = [each for each in expr if each != ONE]
    (factor,) = term.factors
    head, idx, power = factor
    names = dict(enumerate(idx))
    return scaled({_plain_renamed(each, names): coef for each, coef in head.expr.items()}, power)


def _plain_renamed(term: Term, names: dict[int, int]) -> Term:
    factors = [(f.head, tuple([names.get(i, i) for i in f.idx]), f.power) for f in term.factors]
    return canonical_term(factors, {-1 - place: size for place, size in enumerate(term.bound)})


def is_logistic(head: Head) -> bool:
    """Whether the head is 1 + exp(A)."""
    if head.kind != "sum" or len(head.expr) != 2 or head.expr.get(ONE) != 1:
        return False
    (term,) = [each for each in head.expr if each != ONE]
    return (
        head.expr[term] == 1
        and not term.bound
        and len(term.factors) == 1
        and term.factors[0].head.kind == "exp"
    )


def _lone_log(term: Term, value: Coef) -> Slot | None:
    if term.bound or len(term.factors) != 1 or not is_exact(value):
        return None
    head, idx, power = term.factors[0]
    if head.kind != "log" or power != 1:
        return None
    # exp(k log x) = x**k only where x is known to be positive: the left side is undefined elsewhere.
    return (head, idx, value) if _log_is_safe(head) else None


def _log_is_safe(head: Head) -> bool:
    return head.total


# -- numbers -----------------------------------------------------------------------------------------
def content(expr: Expr, *, signed: bool = True) -> Coef:
    """The coefficient of the leading term, 1 (or -1) where coefficients are not exact.

    The leading term is the first that is not a number, those without sums before others, so that
    x - mean(x) leads with x at every scale.
    """
    first = min(expr, key=lambda term: (not term.factors, len(term.bound), term_key(term)))
    lead = expr[first]
    exact = lead != 0 and all(is_exact(coef) for coef in expr.values())
    size = abs(lead) if exact or (len(expr) == 1 and lead != 0) else 1
    return size if not signed or lead > 0 else -size


def _inverse(value: Coef) -> Coef:
    return quotient(1, value)


def _constant_power(value: Coef, power: Rational) -> Expr | None:
    """A number to a rational power, exactly if it can be; None where it is not a real number."""
    if value == 1:
        return number(1)
    if value == 0:
        return None
    if is_exact(value):
        if power.denominator == 1 and abs(power) <= 64:
            return number(rational(Fraction(value) ** power.numerator))
        root = _rational_root(value, power.denominator)
        if root is not None and abs(power.numerator) <= 64:
            return number(rational(Fraction(root) ** power.numerator))
    if value < 0 and power.denominator != 1:
        return None
    try:
        found = float(value) ** float(power)
    except OverflowError:
        return None
    return number(found) if isfinite(found) and found != 0 else None


def _rational_root(value: Rational, degree: int) -> Rational | None:
    if value < 0 or degree > 8:
        return None
    top, bottom = round(value.numerator ** (1 / degree)), round(value.denominator ** (1 / degree))
    if top**degree == value.numerator and bottom**degree == value.denominator:
        return rational(Fraction(top, bottom))
    return None


def _log_of(value: Coef) -> Coef:
    return 0 if value == 1 else log(value)


def _exp_of(value: Coef) -> Coef:
    if value == 0:
        return 1
    try:
        return exp(value)
    except OverflowError:
        return float("inf")


def powers_of(terms: Iterable[Term]) -> list[Rational]:
    """All exponents that occur."""
    return [f.power for term in terms for f in term.factors]
