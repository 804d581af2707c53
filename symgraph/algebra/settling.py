"""Settling a product: slots merged, deltas and free sums gone, exps and lazy sums met."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..array import FUNCTIONS, Array
from .heads import Heads, one
from .labels import canonical_term
from .scalars import constant_power, content, inverted
from .slots import (
    Bound,
    Factors,
    Product,
    Slot,
    denominators,
    groups_of,
    joined,
    merged,
    opens,
    renamed_slot,
    sums_to_one,
    uses,
)
from .term import (
    EXP,
    LOG,
    ONE,
    SUM,
    Coef,
    Expr,
    Rational,
    Term,
    added,
    free_indices,
    scaled,
    times,
)

__all__ = ["Settling"]


class Settling(ABC):
    """The steps that bring a product of factors to its normal form."""

    def __init__(self, heads: Heads) -> None:
        self.heads = heads

    @abstractmethod
    def product(self, coef: Coef, factors: Factors, bound: Bound) -> Expr:
        """The product of the factors, summed over the bound indices, in normal form."""

    @abstractmethod
    def without(self, expr: Expr, common: Factors) -> tuple[Coef, Factors, Expr]:
        """The expression divided by factors that are there to be taken out."""

    @abstractmethod
    def power(self, expr: Expr, power: Rational) -> Expr | None:
        """The expression to a rational power."""

    @abstractmethod
    def exp_factors(self, expr: Expr) -> tuple[Coef, Factors]:
        """The exp of an expression, as a number and factors."""

    # -- opening -----------------------------------------------------------------------------------

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
                by, flat = self._reclosed(renamed_slot(slot, names))
                coef, renamed = times(coef, by), renamed + flat
            parts.extend(self.product(coef, renamed, bound).items())
        return added(parts)

    def _reclosed(self, slot: Slot) -> tuple[Coef, Factors]:
        """The factor anew if its head holds an expression two of whose indices became one."""
        head, idx, power = slot
        if head.kind not in (SUM, EXP, LOG) or len(set(idx)) == len(idx):
            return 1, [slot]
        inner = self.instance(slot)
        if head.kind == EXP:
            return self._raised(inner, power)
        if not inner:
            return (0, []) if head.kind == SUM and power > 0 else (1, [slot])
        if head.kind == SUM:
            raised = self.power(inner, power)
            if raised is not None and len(raised) == 1 and not next(iter(raised)).bound:
                ((term, coef),) = raised.items()
                return coef, [(f.head, f.idx, f.power) for f in term.factors]
        closed, new = self.heads.closed(head.kind, inner)
        return 1, [(closed, new, power)]

    def _raised(self, expr: Expr, power: Rational) -> tuple[Coef, Factors]:
        """The exp of an expression, to a power."""
        coef, factors = self.exp_factors(scaled(expr, power))
        return coef, factors

    # -- steps -------------------------------------------------------------------------------------
    def _settled(self, coef: Coef, factors: Factors, bound: Bound) -> Product:
        """Slots merged, deltas and free sums gone, exps and lazy sums met."""
        while True:
            factors = merged(factors)
            step = self._step(factors, bound, {slot[0].kind for slot in factors})
            if step is None:
                return coef, factors, bound
            extra, factors, bound = step
            coef = times(coef, extra)

    def _step(self, factors: Factors, bound: Bound, kinds: set[str]) -> Product | None:
        """One step towards the normal form, None if it is reached."""
        step = self._delta_step(factors, bound) if "delta" in kinds else None
        if step is None and bound:
            step = self._bound_step(factors, bound)
        if step is None and EXP in kinds:
            step = self._exp_step(factors, bound)
        if step is None and SUM in kinds:
            step = (
                self._sum_step(factors, bound)
                or self._clearing_step(factors, bound)
                or self._nested_step(factors, bound)
                or self._rooted_step(factors, bound)
            )
        if step is None and "leaf" in kinds:
            step = self._turning_step(factors, bound)
        if step is None and "leaf" in kinds and len(factors) > 1:
            step = self._sign_step(factors, bound) or self._cofactor_step(factors, bound)
        return step

    def _delta_step(self, factors: Factors, bound: Bound) -> Product | None:
        for slot in factors:
            head, idx, power = slot
            if head.kind != "delta" or power < 0:
                continue  # divided by the identity matrix, a row is infinite but for one place
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
                by, flat = self._reclosed(renamed_slot(other, {gone: kept}))
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
            if len(users) == 1 and sums_to_one(users[0], index):
                return one, [slot for slot in factors if slot is not users[0]], left
            if len(users) == 2:
                delta = self._orthogonality(users, index) or self._inverse(users, index)
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

    def _inverse(self, users: Factors, index: int) -> Slot | None:
        """A matrix times its inverse, which is known to exist: the identity."""
        for (head, idx, power), (other, at, power2) in (users, users[::-1]):
            if head.kind != "leaf" or other.kind != "leaf" or head.node.op.name != "inv":
                continue
            if head.node.operands[0] is not other.node or power != 1 or power2 != 1:
                continue
            place, there = idx.index(index), at.index(index)
            ends = sorted((idx[1 - place], at[1 - there]))
            if len(idx) != 2 or index in ends:
                continue
            if (place != there or other.symmetric) and (head.total or head.granted()):
                return self.heads.delta(head.sizes[0]), (ends[0], ends[1]), one
        return None

    def _exp_step(self, factors: Factors, bound: Bound) -> Product | None:
        exps = [slot for slot in factors if slot[0].kind == EXP]
        # Only a sum of exps gives up what does not depend on its index: exp(z - m) is
        # exp(z) exp(-m) there.
        pure = bound and all(
            head.kind == EXP or not any(index in bound for index in idx) for head, idx, _ in factors
        )
        for slot in exps:
            if pure and len(slot[0].expr) > 1 and any(index in bound for index in slot[1]):
                inner = self.instance(slot)
                outside = {t: c for t, c in inner.items() if t != ONE and not uses(t, bound)}
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
        lazy = [slot for slot in factors if slot[0].kind == SUM and len(slot[0].expr) == 1]
        for slot in lazy:
            if opens(slot, factors):
                ((term, coef),) = self.instance(slot).items()
                inner, inner_bound = self.opened_term(term)
                rest = [other for other in factors if other is not slot]
                return coef, rest + inner, bound | inner_bound
        if not lazy or not bound:
            return None
        for group in groups_of(factors, bound):
            part = [slot for slot in factors if any(index in group for index in slot[1])]
            whole = canonical_term(part, {index: bound[index] for index in group})
            head, idx = self.heads.closed(SUM, {whole: one})
            for slot in lazy:
                if slot[0] is head and slot[1] == idx:
                    rest = [other for other in factors if other is not slot and other not in part]
                    left = {i: size for i, size in bound.items() if i not in group}
                    powers = joined(head, [slot[2], one])
                    return one, rest + [(head, idx, power) for power in powers], left
        return None

    def _clearing_step(self, factors: Factors, bound: Bound) -> Product | None:
        """A lazy sum freed of denominators, where that makes it another one beside it.

        (1 - 1/x) (1 - x)**-1 = -1/x.
        """
        sums = [slot for slot in factors if slot[0].kind == SUM and len(slot[0].expr) > 1]
        if len(sums) < 2 or all(slot[2] > 0 for slot in sums):
            return None
        for slot in sums:
            if slot[2] != 1 or not any(f.power < 0 for t in slot[0].expr for f in t.factors):
                continue
            inner = self.instance(slot)
            below = denominators(inner)
            if not below:
                continue
            _, pulled, rest = self.without(inner, below)
            if len(rest) < 2:
                continue
            coef = content(rest)
            head, idx = self.heads.closed(SUM, scaled(rest, inverted(coef)))
            if any(other[0] is head and other[1] == idx for other in sums):
                left = [other for other in factors if other is not slot]
                return coef, [*left, *pulled, (head, idx, one)], bound
        return None

    def _nested_step(self, factors: Factors, bound: Bound) -> Product | None:
        """A fraction in a denominator multiplied out, where what it is divided by stands beside it.

        v**-1 (1 + r/v)**-1 = (v + r)**-1.
        """
        for slot in factors:
            head, _, power = slot
            if head.kind != SUM or len(head.expr) < 2 or power >= 0 or power.denominator != 1:
                continue
            if not any(f.power < 0 for term in head.expr for f in term.factors):
                continue
            inner = self.instance(slot)
            for h, i, low in denominators(inner):
                beside = any(
                    other[0] is h
                    and other[1] == i
                    and other[2] < 0
                    and abs(other[2] + low * power) <= -other[2]
                    for other in factors
                )
                if not beside or not (h.nonzero or h.granted()):
                    continue
                _, _, rest = self.without(inner, [(h, i, low)])
                coef = content(rest)
                closed, new = self.heads.closed(SUM, scaled(rest, inverted(coef)))
                raised = constant_power(coef, power)
                if len(rest) < 2 or raised is None:
                    continue
                left = [other for other in factors if other is not slot]
                return raised[ONE], [*left, (h, i, low * power), (closed, new, power)], bound
        return None

    def _rooted_step(self, factors: Factors, bound: Bound) -> Product | None:
        """A lazy sum as a multiple of the one whose root stands beside it.

        (x - 1) (1 - x)**(-1/2) = -(1 - x) (1 - x)**(-1/2).
        """
        sums = [slot for slot in factors if slot[0].kind == SUM and len(slot[0].expr) > 1]
        for head, idx, power in sums if len(sums) > 1 else ():
            by = content(head.expr) if power.denominator > 1 else one
            if by == 1:
                continue
            closed, at = self.heads.closed(
                SUM, scaled(self.instance((head, idx, one)), inverted(by))
            )
            for slot in sums:
                raised = constant_power(inverted(by), slot[2]) if slot[:2] == (closed, at) else None
                if raised is not None and slot[2].denominator == 1:
                    left = [other for other in factors if other is not slot]
                    return raised[ONE], [*left, (head, idx, slot[2])], bound
        return None

    def _sign_step(self, factors: Factors, bound: Bound) -> Product | None:
        """sign(x) x = |x| and sign(x) / |x| = 1 / x."""
        for slot in factors:
            head, idx, power = slot
            if head.kind != "leaf" or head.node.op.name != "sign" or power != 1:
                continue
            (x,) = head.node.operands
            sized = self.heads.leaf(FUNCTIONS["absolute"](Array(x)).node)
            for other in factors:
                if other[0] is sized and other[1] == idx and other[2] == -1:
                    left = [each for each in factors if each is not slot and each is not other]
                    return one, [*left, (self.heads.leaf(x), idx, -1)], bound
                if other[0].kind == "leaf" and other[0].node is x and other[1] == idx:
                    if other[2].denominator != 1 or other[2] < 1:
                        continue
                    left = [each for each in factors if each is not slot and each is not other]
                    rest: Factors = [(other[0], idx, other[2] - 1)] if other[2] > 1 else []
                    return one, [*left, (sized, idx, one), *rest], bound
        return None

    def _turning_step(self, factors: Factors, bound: Bound) -> Product | None:
        """The indices of a matrix that is its transpose's negative in order, summed ones last."""
        for place, (head, idx, power) in enumerate(factors):
            if len(idx) < 2 or head.kind != "leaf" or power.denominator != 1:
                continue
            i, j = idx[-2:]
            # Two that are summed have no names of their own.
            if (i in bound, i) <= (j in bound, j) or (i in bound and j in bound):
                continue
            if head.antisymmetric:
                turned: Slot = (head, (*idx[:-2], j, i), power)
                sign = 1 if power.numerator % 2 == 0 else -1
                return sign, [*factors[:place], turned, *factors[place + 1 :]], bound
        return None

    def _cofactor_step(self, factors: Factors, bound: Bound) -> Product | None:
        """The cofactors of a matrix over its determinant are its inverse, transposed."""
        for slot in factors:
            head, idx, power = slot
            if head.kind != "leaf" or head.node.op.name != "cofactor" or power != 1:
                continue
            (x,) = head.node.operands
            for other in factors:
                if other[0].kind != "leaf" or other[0].node.op.name != "det" or other[2] != -1:
                    continue
                if other[0].node.operands == (x,) and len(idx) == x.ndim == 2:
                    inverse = self.heads.leaf(FUNCTIONS["inv"](Array(x)).node)
                    left = [each for each in factors if each is not slot and each is not other]
                    return one, [*left, (inverse, idx[::-1], one)], bound
        return None
