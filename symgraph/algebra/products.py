"""Products and sums of expressions, in normal form.

What holds inside:

- powers of one head meet in one slot; they cancel only where the facts of the head allow it;
- exp carries its argument as a sum; two exps merge only where terms of their arguments meet;
- a sum inside a product stays closed (a "sum" head); it is opened when the result is shorter;
- an index bound twice over the same factors is the same lazy sum, so `S * S**-1` meets.
"""

from __future__ import annotations

from collections.abc import Sequence

from .heads import Heads, one
from .labels import canonical_term
from .scalars import constant_value, content, inverted
from .settling import Settling
from .slots import (
    LONGEST,
    Bound,
    Factors,
    Product,
    Slot,
    common_factors,
    components,
    denominators,
    exponent_of,
    has_exps,
    has_partner,
    is_lazy,
    is_logistic,
    may_meet,
    merged,
    opens,
    renamed_slot,
    stripped,
    terms_could_meet,
    without_zero,
)
from .term import (
    EXP,
    SUM,
    Coef,
    Expr,
    Term,
    added,
    scaled,
    term_may_go,
    times,
    weight,
)

__all__ = ["Products"]


class Products(Settling):
    """Products and sums over one table of heads."""

    def __init__(self, heads: Heads) -> None:
        super().__init__(heads)
        self._trying = False

    # -- products ----------------------------------------------------------------------------------
    def as_product(self, expr: Expr) -> Product:
        """The expression as one product: itself if one term, else number times lazy sum."""
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
        head, idx = self.heads.closed(SUM, rest)
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
            head, idx = self.heads.closed(SUM, {whole: one})
            left.append((head, idx, one))
        return coef, left

    def primitive(self, expr: Expr) -> tuple[Coef, Factors, Expr]:
        """Number and factors common to all terms, and what remains."""
        common = common_factors(expr)
        if common:
            inverse: Factors = [(head, idx, -power) for head, idx, power in common]
            parts: list[tuple[Term, Coef]] = []
            for term, coef in expr.items():
                factors, bound = self.opened_term(term)
                parts.extend(self.product(coef, stripped(factors, inverse), bound).items())
            expr = added(parts)
        coef = content(expr) if expr else 1
        return coef, common, scaled(expr, inverted(coef))

    def multiply(self, x: Expr, y: Expr) -> Expr:
        """The product."""
        for one_side, other in ((x, y), (y, x)):
            value = constant_value(one_side)
            if value is None:
                continue
            if value != 0:
                return scaled(other, value)
            # 0 * x is 0 only where x is defined.
            return {term: value for term in other if not term_may_go(term)}
        coef, factors, bound = self.as_product(x)
        coef2, factors2, bound2 = self.as_product(y)
        return self.product(times(coef, coef2), factors + factors2, bound | bound2)

    def product(self, coef: Coef, factors: Factors, bound: Bound) -> Expr:
        """The product of the factors, summed over the bound indices, in normal form."""
        coef, factors, bound = self._settled(coef, factors, dict(bound))
        sums = [slot for slot in factors if is_lazy(slot)]
        if len(factors) == 1 and sums:
            return self._summed(scaled(self.instance(sums[0]), coef), bound)
        closed = without_zero({canonical_term(factors, bound): coef})
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
            if len(slot[0].expr) > LONGEST or not may_meet(slot, rest, bound):
                continue
            opened = self.distributed(slot, coef, rest, bound)
            if weight(opened) < weight(closed):
                return opened
        if has_exps(factors):
            opened = self.expanded(closed)
            if opened is not None and weight(opened) < weight(closed):
                return opened
        return closed

    def _plain(self, coef: Coef, factors: Factors, bound: Bound) -> Expr:
        """As `product`, lazy sums staying closed."""
        coef, factors, bound = self._settled(coef, factors, dict(bound))
        if len(factors) == 1 and is_lazy(factors[0]):
            return self._summed(scaled(self.instance(factors[0]), coef), bound)
        return without_zero({canonical_term(factors, bound): coef})

    def expanded(self, expr: Expr) -> Expr | None:
        """All lazy sums opened; None if no like terms meet, or if it grows too long."""
        if not terms_could_meet(expr):
            return None
        queue = list(expr.items())
        done: list[tuple[Term, Coef]] = []
        opened = False
        while queue:
            term, coef = queue.pop(0)
            factors, bound = self.opened_term(term)
            lazy = next((slot for slot in factors if opens(slot, factors)), None)
            if lazy is None:
                done.append((term, coef))
                continue
            opened = True
            rest = [slot for slot in factors if slot is not lazy]
            queue.extend(self.distributed(lazy, coef, rest, bound).items())
            if len(queue) + len(done) > LONGEST:
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
            inner = [renamed_slot(s, renamed) for s in inner]
            factors = [renamed_slot(s, renamed) for s in rest] + inner
            parts.extend(self._plain(times(coef, each), factors, new | inner_bound).items())
        return self._logistic(added(parts))

    def _refreshed(self, bound: Bound) -> tuple[dict[int, int], Bound]:
        names = {index: self.heads.fresh() for index in bound}
        return names, {names[index]: size for index, size in bound.items()}

    # -- sums --------------------------------------------------------------------------------------
    def add(self, parts: Sequence[tuple[Expr, Coef]]) -> Expr:
        """A linear combination, with the identities of sums applied."""
        total = added(
            [(term, times(coef, by)) for expr, by in parts for term, coef in expr.items()]
        )
        return self._opened(self._joined_fractions(self._logistic(total)))

    def _opened(self, expr: Expr) -> Expr:
        """With lazy sums of exps opened, where that is shorter."""
        if len(expr) < 2 or not any(
            any(f.head.kind == SUM and f.power == 1 for f in term.factors)
            and has_exps([(f.head, f.idx, f.power) for f in term.factors])
            for term in expr
        ):
            return expr
        opened = self.expanded(expr)
        return opened if opened is not None and weight(opened) < weight(expr) else expr

    def _joined_fractions(self, expr: Expr) -> Expr:
        """Over a common denominator, where shorter: 1/x + 1/(1 - x) = 1/(x (1 - x))."""
        if not 2 <= len(expr) <= 4:
            return expr
        under = denominators(expr)
        if not any(head.kind == SUM and len(head.expr) > 1 for head, _, _ in under):
            return expr
        if any(power.denominator != 1 for _, _, power in under) or has_exps(under):
            return expr
        inverse: Factors = [(head, idx, -power) for head, idx, power in under]
        parts: list[tuple[Term, Coef]] = []
        for term, coef in expr.items():
            factors, bound = self.opened_term(term)
            parts.extend(self._plain(coef, stripped(factors, inverse), bound).items())
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
            renamed = [renamed_slot(slot, names) for slot in factors]
            parts.extend(self.product(coef, renamed, inner | new).items())
        return self._logistic(added(parts))

    def _logistic(self, expr: Expr) -> Expr:
        r"""Fewest terms, as $t = t e^A (1+e^A)^{-1} + t (1+e^A)^{-1}$."""
        if len(expr) < 2 or len(expr) > 4 * LONGEST:
            return expr
        for term in list(expr):
            if term not in expr:
                continue
            for place, factor in enumerate(term.factors):
                if (
                    factor.power < 0
                    and is_logistic(factor.head)
                    and has_partner(expr, term, factor)
                ):
                    better = self._logistic_at(expr, term, place)
                    if better is not None:
                        return self._logistic(better)
        return expr

    def _logistic_at(self, expr: Expr, term: Term, place: int) -> Expr | None:
        factors, bound = self.opened_term(term)
        head, idx, power = factors[place]
        rest = [slot for i, slot in enumerate(factors) if i != place]
        grown = self._exps(exponent_of(self.instance((head, idx, one))), one)
        lowered: Factors = [(head, idx, power + 1)] if power != -1 else []
        if any(
            slot[0].kind == EXP and slot[1] == grown[0][1] and slot[0] is grown[0][0]
            for slot in rest
        ):
            rest = merged([*rest, *[(h, i, -p) for h, i, p in grown]])
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
            if tried[1] == tried[2] == 0 and not (head.total or head.granted()):
                continue  # A may be no number; the whole does not tell
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

    def without(self, expr: Expr, common: Factors) -> tuple[Coef, Factors, Expr]:
        inverse: Factors = [(head, idx, -power) for head, idx, power in common]
        parts: list[tuple[Term, Coef]] = []
        for term, coef in expr.items():
            factors, bound = self.opened_term(term)
            parts.extend(self.product(coef, stripped(factors, inverse), bound).items())
        return one, common, added(parts)
