"""Stable spellings: the exps and logs of an expression become softmax, logsumexp and the like.

The normal form serves to find equal expressions; the stable form is written. Every atom that holds
an expression is written and becomes a leaf, which leaves sums of products of arrays. An exp is
never divided by a sum of exps, because it may overflow: `exp(A) / sum(exp(A))` is a softmax, and
any other product with the inverse of a sum of exps is one exp of a difference.
"""

from __future__ import annotations

from fractions import Fraction
from math import isclose, isqrt

from ...ir.dims import Dim
from ...ir.node import Node
from ...ops.softmax import log_softmax
from ..expression.atoms import AtomTable, one, open_axes
from ..expression.canonical_indices import canonical_term
from ..expression.exact_numbers import Coef, Rational, is_exact, quotient, times
from ..expression.exps import exps_of
from ..expression.roles import LOGARITHMS
from ..expression.term import (
    DELTA,
    DIM,
    EXP,
    LEAF,
    LOG,
    ONE,
    SUM,
    Atom,
    Expr,
    Factor,
    Term,
    added,
    free_indices,
    scaled,
)
from ..normal_form.factors import Bound, Factors, RawFactor, is_logistic
from ..normal_form.normalize import NormalForm
from .array_operations import ArrayOperations
from .exponentials import Exponentials, SumWriter, is_logistic_expr, only_exps
from .indexed_arrays import IndexedArray

__all__ = ["StableExponentials", "SumWriter"]


class StableExponentials:
    """Writes the atoms of an expression that hold expressions, and replaces them by leaves."""

    def __init__(
        self,
        normal: NormalForm,
        spelling: ArrayOperations,
        writer: SumWriter,
        *,
        steady: bool = False,
    ) -> None:
        self.normal = normal
        self.atoms: AtomTable = normal.atoms
        self.spelling = spelling
        self.writer = writer
        self.exponentials = Exponentials(normal, spelling, writer, steady=steady)
        self.scales: dict[Atom, Coef] = {}

    # -- sums --------------------------------------------------------------------------------------
    def expr(self, expr: Expr) -> Expr:
        """The expression over leaves only."""
        if len(expr) > 1:
            expr = self._logs_given(self._logs_paired(expr))
        expr = self._released(expr)
        alone = len(expr) == 1
        parts: list[tuple[Term, Coef]] = []
        for term, coef in expr.items():
            if all(f.atom.kind in (LEAF, DIM, DELTA) for f in term.factors):
                parts.append((term, coef))
                continue
            factors, bound = self.normal.opened_term(term)
            by, factors = self._factors(factors, bound, coef, alone)
            parts.append((canonical_term(factors, bound), times(coef, by)))
        return added(parts)

    def _logs_paired(self, expr: Expr) -> Expr:
        """A - logsumexp(A) as log_softmax(A), and softplus(A) - A as softplus(-A)."""
        for term in list(expr):
            for place, factor in enumerate(term.factors):
                if factor.atom.kind != LOG or factor.power != 1 or term not in expr:
                    continue
                better = self._log_paired(expr, term, place)
                if better is not None:
                    expr = better
        return expr

    def _released(self, expr: Expr) -> Expr:
        """The expression with lazy sums expanded that separate an exp from its divisor.

        The divisor is a sum of exps. For large z exp(z) overflows, but exp(z) / (1 + exp(z)) is 1.
        """
        for term in list(expr):
            lazy = self._parted(term)
            if lazy is not None:
                factors, bound = self.normal.opened_term(term)
                slot = factors[lazy]
                rest = [each for i, each in enumerate(factors) if i != lazy]
                opened = self.normal.distributed(slot, expr[term], rest, bound)
                left = [item for item in expr.items() if item[0] != term]
                return self._released(added([*left, *opened.items()]))
        return expr

    def _parted(self, term: Term) -> int | None:
        if len(term.factors) < 2:
            return None
        for place, f in enumerate(term.factors):
            if f.atom.kind != SUM or f.power != 1 or len(f.atom.expr) < 2:
                continue
            others = [g for i, g in enumerate(term.factors) if i != place]
            inside = [g for t in f.atom.expr for g in t.factors]
            for here, there in ((others, inside), (inside, others)):
                below = {
                    g.atom
                    for s in here
                    if _divides_by_exps(s)
                    for t in s.atom.expr
                    for g in t.factors
                }
                if any(g.atom in below for g in there):
                    return place
        return None

    def _logs_given(self, expr: Expr) -> Expr:
        """The expression with one log of a product for a sum of logs, if the graph has it."""
        for term in list(expr):
            for place, factor in enumerate(term.factors):
                if factor.atom.kind != LOG or factor.power != 1 or term not in expr:
                    continue
                for given, node in self.atoms.logs_of(factor.atom):
                    better = self._log_given(expr, term, place, given, node)
                    if better is not None:
                        expr = better
                        break
        return expr

    def _log_given(
        self, expr: Expr, term: Term, place: int, given: Expr, node: Node
    ) -> Expr | None:
        """The expression with `given`, times the other factors beside the log, as one array."""
        if not self.spelling.given(node):
            return None
        factors, bound = self.normal.opened_term(term)
        atom, idx, _ = factors[place]
        own = next(f for each in given for f in each.factors if f.atom is atom)
        names = dict(zip(own.idx, idx, strict=True))
        axes = open_axes(node)
        if {*free_indices(given), *range(len(axes))} - set(names):
            return None  # The node has another shape, or is repeated along an axis.
        rest = [slot for i, slot in enumerate(factors) if i != place]
        ((by, outer),) = [(c, expr[term]) for each, c in given.items() if own in each.factors]
        coef = quotient(outer, by)
        left = dict(expr)
        for each, c in self.normal.substituted(given, names).items():
            inner, inner_bound = self.normal.opened_term(each)
            # A log without a summed index stands there times the number of terms.
            summed = bound | inner_bound
            found = self.normal.product(times(c, coef), [*rest, *inner], summed)
            for key, wanted in found.items():
                if key not in left or not isclose(left.pop(key), wanted, rel_tol=1e-14):
                    return None
        labels: list[int | None] = [None] * node.ndim
        for at, axis in enumerate(axes):
            labels[axis] = names[at]
        leaf = self.exponentials.leaf(IndexedArray(node, tuple(labels)))
        return self._plus(left, coef, [*rest, leaf], bound)

    def _log_paired(self, expr: Expr, term: Term, place: int) -> Expr | None:
        factors, bound = self.normal.opened_term(term)
        atom, idx, _ = factors[place]
        rest = [slot for i, slot in enumerate(factors) if i != place]
        inner = self.normal.substituted(atom.expr, dict(enumerate(idx)))
        coef = expr[term]
        if is_logistic_expr(inner):
            argument = self.exponentials.exponent(inner)
            without = self._taken(expr, term, scaled(argument, -coef), rest, bound)
            if without is None:
                return None
            made = self.exponentials.softplus(scaled(argument, -1))
            return self._plus(without, coef, [*rest, made], bound)
        if len(inner) != 1:
            return None
        ((sum_term, _),) = inner.items()
        if len(sum_term.bound) != 1 or not only_exps(sum_term):
            return None
        for index in self._ids(expr, sum_term.bound[0], bound):
            argument = self.exponentials.argument(sum_term, {-1: index})
            without = self._taken(expr, term, scaled(argument, -coef), rest, bound)
            if without is not None:
                made = self.exponentials.softmax(log_softmax, sum_term, [index])
                if made is not None:
                    return self._plus(without, -coef, [*rest, made], bound)
        return None

    def _ids(self, expr: Expr, size: Dim, bound: Bound) -> list[int]:
        found: dict[int, None] = {}
        for index, dim in bound.items():
            if dim == size:
                found[index] = None
        for term in expr:
            for factor in term.factors:
                for index, dim in zip(factor.idx, factor.atom.sizes, strict=True):
                    if index >= 0 and dim == size:
                        found[index] = None
        return list(found)

    def _taken(
        self, expr: Expr, term: Term, wanted: Expr, rest: Factors, bound: Bound
    ) -> Expr | None:
        """The expression without `term` and the terms rest * wanted; None if one is missing."""
        left = {each: coef for each, coef in expr.items() if each != term}
        for each, coef in wanted.items():
            inner, inner_bound = self.normal.opened_term(each)
            found = self.normal.product(coef, [*rest, *inner], bound | inner_bound)
            for key, value in found.items():
                if left.get(key) != value:
                    return None
                del left[key]
        return left

    def _plus(self, expr: Expr, coef: Coef, factors: Factors, bound: Bound) -> Expr:
        return added([*expr.items(), (canonical_term(factors, bound), coef)])

    # -- products ----------------------------------------------------------------------------------
    def _factors(
        self, factors: Factors, bound: Bound, outer: Coef, alone: bool
    ) -> tuple[Coef, Factors]:
        """The factors as leaves, and a number: lazy sums may absorb sign and scale."""
        coef: Coef = one
        done: Factors = []
        factors = self._logs_of_bases(factors)
        exps = [slot for slot in factors if slot[0].kind == EXP]
        others = [slot for slot in factors if slot[0].kind != EXP]
        loose: list[tuple[Term, RawFactor]] = []
        for slot in others:
            atom, idx, power = slot
            if atom.kind in (LEAF, DIM, DELTA):
                done.append(slot)
            elif atom.kind == LOG:
                done.append(self.exponentials.log(slot))
            elif is_logistic(atom) and power < 0 and power.denominator == 1:
                exps, made = self.exponentials.sigmoids(slot, exps)
                done.extend(made)
            elif is_logistic(atom) and power.denominator == 1:
                exps, made = self.exponentials.sigmoids_below(slot, exps)
                done.extend(made)
            elif (
                power.denominator == 1 and (term := self.exponentials.normaliser(slot)) is not None
            ):
                exps, made, left = self.exponentials.softmaxes(term, -power.numerator, exps)
                done.extend(made)
                if left < 0:
                    done.append(
                        self.exponentials.leaf(
                            self.writer.written(self.normal.instance(slot)), -left
                        )
                    )
                elif left:
                    loose.append((term, (atom, idx, -left)))
            else:
                by, piece = self._lazy(slot, times(outer, coef), alone)
                coef = times(coef, by)
                done.append(self.exponentials.leaf(piece, power))
        done.extend(self.exponentials.exps(exps, loose))
        return coef, done

    def _logs_of_bases(self, factors: Factors) -> Factors:
        """The factors with log(x) / log(b) as the logarithm to the base b."""
        below = next((s for s in factors if s[0].base is not None and s[2] == -1), None)
        over = next((s for s in factors if s[0].kind == LOG and s[2] == 1), None)
        if below is None or over is None or exps_of(over[0]):
            return factors
        logarithm = LOGARITHMS.get(below[0].base or 0)
        if logarithm is None:
            return factors
        inner = self.normal.substituted(over[0].expr, dict(enumerate(over[1])))
        made = self.exponentials.leaf(self.spelling.unary(logarithm, self.writer.written(inner)))
        return [*[slot for slot in factors if slot is not below and slot is not over], made]

    def _lazy(self, slot: RawFactor, outer: Coef, alone: bool) -> tuple[Coef, IndexedArray]:
        """A lazy sum at the scale and sign that read best, and the number left outside."""
        inner = self.normal.instance(slot)
        power = slot[2]
        if not all(is_exact(coef) for coef in inner.values()):
            return 1, self.writer.written(inner)
        if power.denominator != 1:
            number = self._out_of_root(inner, outer, power) if alone else 1
            left = self.writer.written(scaled(inner, quotient(1, number)))
            return _raised(_square_root(number), 1 if power > 0 else -1), left
        chosen = self.scales.get(slot[0])
        if chosen is None:
            sizes = {1, *[quotient(1, abs(coef)) for coef in inner.values() if coef != 0]}
            if abs(power) == 1 and is_exact(outer) and outer != 0:
                sizes.add(abs(outer) if power == 1 else quotient(1, abs(outer)))
            scale = min(
                sorted(sizes), key=lambda s: (_roughness(inner, outer, power, s), s != 1, s)
            )
            chosen = self.scales[slot[0]] = self._signed(inner, scale, outer, slot)
        return _raised(chosen, -power), self.writer.written(scaled(inner, chosen))

    def _out_of_root(self, inner: Expr, outer: Coef, power: Rational) -> Coef:
        """The number that moves out of a root: 3 / sqrt(x / 4) is 6 / sqrt(x).

        No number moves into a root: 4 x may overflow where 2 sqrt(x) does not.
        """
        numbers = {abs(coef) for coef in inner.values()}
        if abs(power) != Fraction(1, 2) or len(numbers) != 1 or abs(outer) == 1 or 0 in numbers:
            return 1
        root = self.spelling.raised(self.writer.written(inner), Fraction(1, 2))
        return 1 if self.spelling.alive(root.node) else numbers.pop()

    def _signed(self, inner: Expr, scale: Coef, outer: Coef, slot: RawFactor) -> Coef:
        """The scale with the sign that leaves no minus outside, or else with the user's sign.

        A divisor that may be 0 keeps the user's sign, which is that of the infinity.
        """
        if len({coef > 0 for coef in inner.values()}) == 1:
            return scale
        atom, _, power = slot
        odd = power % 2 == 1
        pole = odd and power < 0 and not atom.nonzero
        signs = self.atoms.signs_of_divisor(atom) if pole else ()
        ranked: list[tuple[bool, bool, bool, int]] = []
        for sign in (1, -1):
            node = self.writer.written(scaled(inner, times(scale, sign))).node
            minus = odd and (outer < 0) == (sign > 0)
            free = self.spelling.alive(node)
            given = self.spelling.given(node)
            turned = pole and not (sign in signs if signs else given)
            ranked.append((turned, minus and not free, not (free or given), -sign))
            if ranked[-1] == (False, False, False, -1):
                break  # The other sign is no better.
        return times(scale, -min(ranked)[-1])


def _divides_by_exps(factor: Factor) -> bool:
    atom = factor.atom
    return (
        factor.power < 0
        and atom.kind == SUM
        and any(g.atom.kind == EXP for term in atom.expr for g in term.factors)
    )


def _roughness(inner: Expr, outer: Coef, power: Rational, scale: Coef) -> int:
    """The number of products with numbers that are written if a lazy sum has this scale."""
    within = sum(1 for term, coef in inner.items() if term != ONE and abs(times(coef, scale)) != 1)
    left = times(outer, 1 if power == 0 else _raised(scale, -power))
    return within + (abs(left) != 1)


def _raised(scale: Coef, power: Rational) -> Coef:
    found: Coef = 1
    for _ in range(abs(power.numerator)):
        found = times(found, scale) if power > 0 else quotient(found, scale)
    return found


def _square_root(number: Coef) -> Coef:
    """The root of a positive number; exact if it is rational."""
    if is_exact(number):
        above, below = isqrt(number.numerator), isqrt(number.denominator)
        if above * above == number.numerator and below * below == number.denominator:
            return quotient(above, below)
    return float(number) ** 0.5
