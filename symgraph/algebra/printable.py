"""Stable spellings: exps and logs of an expression become softmax, logsumexp, sigmoid, softplus.

Canonical forms are for finding, these are for printing. Every head that holds an expression is
written out and becomes a leaf, so that what remains is sums of products of arrays. No exp of a
large number stays where its quotient by a sum of exps was meant: `exp(A) / sum(exp(A))` is a
softmax, and any other product with the inverse of a sum of exps is one exp of a difference.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from ..dims import Dim
from .heads import Heads, one
from .labels import canonical_term
from .normalize import Normal
from .pieces import Piece, Spelling
from .slots import Factors, Slot, is_logistic
from .term import (
    ONE,
    Coef,
    Expr,
    Factor,
    Head,
    Rational,
    Term,
    added,
    is_exact,
    quotient,
    rational,
    scaled,
    times,
)

__all__ = ["Printable", "SumWriter"]

Bound: TypeAlias = dict[int, Dim]


class SumWriter(Protocol):
    """Writes a whole expression as one array."""

    def written(self, expr: Expr) -> Piece: ...

    def cheaper(self, options: list[Callable[[], Piece]]) -> Piece: ...


class Printable:
    """Replaces heads by leaves that hold their written value."""

    def __init__(self, normal: Normal, spelling: Spelling, writer: SumWriter) -> None:
        self.normal = normal
        self.heads: Heads = normal.heads
        self.spelling = spelling
        self.writer = writer
        self.scales: dict[Head, Coef] = {}

    # -- sums --------------------------------------------------------------------------------------
    def expr(self, expr: Expr) -> Expr:
        """The expression over leaves alone."""
        if len(expr) > 1:
            expr = self._log_quotients(self._logs_paired(expr))
        expr = self._released(expr)
        parts: list[tuple[Term, Coef]] = []
        for term, coef in expr.items():
            if all(f.head.kind in ("leaf", "dim", "delta") for f in term.factors):
                parts.append((term, coef))
                continue
            factors, bound = self.normal.opened_term(term)
            by, factors = self._factors(factors, bound, coef)
            parts.append((canonical_term(factors, bound), times(coef, by)))
        return added(parts)

    def _logs_paired(self, expr: Expr) -> Expr:
        """A - logsumexp(A) as log_softmax(A) and softplus(A) - A as softplus(-A)."""
        for term in list(expr):
            for place, factor in enumerate(term.factors):
                if factor.head.kind != "log" or factor.power != 1 or term not in expr:
                    continue
                better = self._log_paired(expr, term, place)
                if better is not None:
                    expr = better
        return expr

    def _released(self, expr: Expr) -> Expr:
        """Lazy sums opened that part an exp from the sum of exps it is divided by.

        exp(z) is infinite for large z where exp(z) / (1 + exp(z)) is 1.
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
            if f.head.kind != "sum" or f.power != 1 or len(f.head.expr) < 2:
                continue
            others = [g for i, g in enumerate(term.factors) if i != place]
            inside = [g for t in f.head.expr for g in t.factors]
            for here, there in ((others, inside), (inside, others)):
                below = {
                    g.head
                    for s in here
                    if _divides_by_exps(s)
                    for t in s.head.expr
                    for g in t.factors
                }
                if any(g.head in below for g in there):
                    return place
        return None

    def _log_quotients(self, expr: Expr) -> Expr:
        """The difference log a - log b as log(a / b) again where that is how it was given."""
        logs = [
            (term, place)
            for term in expr
            for place, f in enumerate(term.factors)
            if f.head.kind == "log" and f.power == 1 and not term.bound
        ]
        for a, at in logs:
            for b, bt in logs:
                rest = _others(a, at)
                if a not in expr or b not in expr or not expr[a] > 0 or rest != _others(b, bt):
                    continue
                if expr[a] != -expr[b]:
                    continue
                over = self.spelling.binary(
                    "divide", self._log_argument(a.factors[at]), self._log_argument(b.factors[bt])
                )
                made = self.spelling.unary("log", over)
                if self.spelling.given(made.node):
                    coef = expr[a]
                    left = {term: c for term, c in expr.items() if term not in (a, b)}
                    expr = self._plus(left, coef, [*rest, self._leaf(made)], {})
        return expr

    def _log_argument(self, factor: Factor) -> Piece:
        return self.writer.written(
            self.normal.substituted(factor.head.expr, dict(enumerate(factor.idx)))
        )

    def _log_paired(self, expr: Expr, term: Term, place: int) -> Expr | None:
        factors, bound = self.normal.opened_term(term)
        head, idx, _ = factors[place]
        rest = [slot for i, slot in enumerate(factors) if i != place]
        inner = self.normal.substituted(head.expr, dict(enumerate(idx)))
        coef = expr[term]
        if _is_logistic_expr(inner):
            argument = self._exponent(inner)
            without = self._taken(expr, term, scaled(argument, -coef), rest, bound)
            if without is None:
                return None
            made = self._softplus(scaled(argument, -1))
            return self._plus(without, coef, [*rest, made], bound)
        if len(inner) != 1:
            return None
        ((sum_term, _),) = inner.items()
        if len(sum_term.bound) != 1 or not _only_exps(sum_term):
            return None
        for index in self._ids(expr, sum_term.bound[0], bound):
            argument = self._argument(sum_term, {-1: index})
            without = self._taken(expr, term, scaled(argument, -coef), rest, bound)
            if without is not None:
                made = self._softmax("log_softmax", sum_term, [index])
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
                for index, dim in zip(factor.idx, factor.head.sizes, strict=True):
                    if index >= 0 and dim == size:
                        found[index] = None
        return list(found)

    def _taken(
        self, expr: Expr, term: Term, wanted: Expr, rest: Factors, bound: Bound
    ) -> Expr | None:
        """The expression without `term` and the terms rest * wanted, if all are there."""
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
    def _factors(self, factors: Factors, bound: Bound, outer: Coef) -> tuple[Coef, Factors]:
        """The factors as leaves, and a number: lazy sums may take up sign and scale."""
        coef: Coef = one
        done: Factors = []
        exps = [slot for slot in factors if slot[0].kind == "exp"]
        others = [slot for slot in factors if slot[0].kind != "exp"]
        loose: list[tuple[Term, Slot]] = []
        for slot in others:
            head, idx, power = slot
            if head.kind in ("leaf", "dim", "delta"):
                done.append(slot)
            elif head.kind == "log":
                done.append(self._log(slot))
            elif is_logistic(head) and power < 0 and power.denominator == 1:
                exps, made = self._sigmoids(slot, exps)
                done.extend(made)
            elif is_logistic(head) and power.denominator == 1:
                exps, made = self._sigmoids_below(slot, exps)
                done.extend(made)
            elif power.denominator == 1 and (term := self._normaliser(slot)) is not None:
                exps, made, left = self._softmaxes(term, -power.numerator, exps)
                done.extend(made)
                if left < 0:
                    done.append(self._leaf(self.writer.written(self.normal.instance(slot)), -left))
                elif left:
                    loose.append((term, (head, idx, -left)))
            else:
                by, piece = self._lazy(slot, times(outer, coef))
                coef = times(coef, by)
                done.append(self._leaf(piece, power))
        done.extend(self._exps(exps, loose))
        return coef, done

    def _lazy(self, slot: Slot, outer: Coef) -> tuple[Coef, Piece]:
        """A lazy sum at the scale and sign that read best, and what that leaves outside."""
        inner = self.normal.instance(slot)
        power = slot[2]
        if power.denominator != 1 or not all(is_exact(coef) for coef in inner.values()):
            return 1, self.writer.written(inner)
        chosen = self.scales.get(slot[0])
        if chosen is None:
            sizes = {1, *[quotient(1, abs(coef)) for coef in inner.values() if coef != 0]}
            if abs(power) == 1 and is_exact(outer) and outer != 0:
                sizes.add(abs(outer) if power == 1 else quotient(1, abs(outer)))
            scale = min(
                sorted(sizes), key=lambda s: (_roughness(inner, outer, power, s), s != 1, s)
            )
            chosen = self.scales[slot[0]] = self._signed(inner, scale, outer, power)
        return _raised(chosen, -power), self.writer.written(scaled(inner, chosen))

    def _signed(self, inner: Expr, scale: Coef, outer: Coef, power: Rational) -> Coef:
        """The scale with a sign: no minus left outside, else as the user wrote the sum."""
        if len({coef > 0 for coef in inner.values()}) == 1:
            return scale
        ranked: list[tuple[bool, bool, int]] = []
        for sign in (1, -1):
            node = self.writer.written(scaled(inner, times(scale, sign))).node
            minus = power % 2 == 1 and (outer < 0) == (sign > 0)
            free = self.spelling.alive(node)
            ranked.append((minus and not free, not (free or self.spelling.given(node)), -sign))
        return times(scale, -min(ranked)[2])

    def _leaf(self, piece: Piece, power: Rational = one) -> Slot:
        head = self.heads.made(piece.node)
        names = [label for label in piece.labels if label is not None]
        return head, tuple(names), power

    def _normaliser(self, slot: Slot) -> Term | None:
        """The term of a lazy sum of one product of exps."""
        expr = self.normal.instance(slot)
        if len(expr) != 1:
            return None
        ((term, coef),) = expr.items()
        return term if coef == 1 and term.bound and _only_exps(term) else None

    def _exps(self, exps: Factors, loose: list[tuple[Term, Slot]]) -> Factors:
        if not loose or not exps:
            made = [
                self._leaf(
                    self.spelling.unary(
                        "exp", self.writer.written(scaled(self.normal.instance(slot), slot[2]))
                    )
                )
                for slot in exps
            ]
            plain = [
                self._leaf(self.writer.written(self.normal.instance(slot)), slot[2])
                for _, slot in loose
            ]
            return made + plain
        parts: list[tuple[Term, Coef]] = []
        for slot in exps:
            parts.extend(scaled(self.normal.instance(slot), slot[2]).items())
        for _, (head, idx, power) in loose:
            closed, new = self.heads.closed(
                "log", self.normal.substituted(head.expr, dict(enumerate(idx)))
            )
            parts.append((canonical_term([(closed, new, one)], {}), power))
        return [self._leaf(self.spelling.unary("exp", self.writer.written(added(parts))))]

    # -- logistic ----------------------------------------------------------------------------------
    def _exponent(self, expr: Expr) -> Expr:
        """A of 1 + exp(A)."""
        (term,) = [each for each in expr if each != ONE]
        return self._argument(term, {})

    def _argument(self, term: Term, names: dict[int, int]) -> Expr:
        """The sum of the arguments of a product of exps, bound indices renamed."""
        parts: list[tuple[Term, Coef]] = []
        for factor in term.factors:
            idx = tuple([names.get(index, index) for index in factor.idx])
            inner = self.normal.substituted(factor.head.expr, dict(enumerate(idx)))
            parts.extend(scaled(inner, factor.power).items())
        return added(parts)

    def _softplus(self, argument: Expr) -> Slot:
        return self._leaf(self.spelling.unary("softplus", self.writer.written(argument)))

    def _sigmoids(self, slot: Slot, exps: Factors) -> tuple[Factors, Factors]:
        """(1 + exp A)**-k with exp(A)**m as sigmoids of A and -A."""
        power = slot[2]
        count = -power.numerator
        inner = self.normal.instance(slot)
        (term,) = [each for each in inner if each != ONE]
        (factor,) = term.factors
        ups = 0
        left: Factors = []
        for each in exps:
            if each[0] is factor.head and each[1] == factor.idx and each[2] > 0:
                ratio = Fraction(each[2]) / factor.power
                ups = min(count, int(ratio)) if ratio >= 1 else 0
                rest = rational(each[2] - ups * factor.power)
                if rest != 0:
                    left.append((each[0], each[1], rest))
            else:
                left.append(each)
        argument = self._exponent(inner)
        downs = count - ups
        if ups and downs:
            return left, self._both(argument, ups, downs)
        sign = 1 if ups else -1
        piece = self.spelling.unary("sigmoid", self.writer.written(scaled(argument, sign)))
        return left, [self._leaf(piece, count)]

    def _sigmoids_below(self, slot: Slot, exps: Factors) -> tuple[Factors, Factors]:
        """(1 + exp A)**k with exp(A)**-m as powers of 1 / sigmoid(A)."""
        power = slot[2]
        inner = self.normal.instance(slot)
        (term,) = [each for each in inner if each != ONE]
        (factor,) = term.factors
        left: Factors = []
        downs = 0
        for each in exps:
            ratio = -Fraction(each[2]) / factor.power
            if each[0] is not factor.head or each[1] != factor.idx or ratio < 1:
                left.append(each)
                continue
            downs = min(power.numerator, int(ratio))
            rest = rational(each[2] + downs * factor.power)
            if rest != 0:
                left.append((each[0], each[1], rest))
        made: Factors = []
        if downs:
            piece = self.spelling.unary("sigmoid", self.writer.written(self._exponent(inner)))
            made.append(self._leaf(piece, -downs))
        if power != downs:
            made.append(self._leaf(self.writer.written(inner), rational(power - downs)))
        return left, made

    def _both(self, argument: Expr, ups: int, downs: int) -> Factors:
        """s(A)**ups * s(-A)**downs with one sigmoid: s * (1 - s)."""

        def through(sign: int) -> Callable[[], Piece]:
            return lambda: self.spelling.unary(
                "sigmoid", self.writer.written(scaled(argument, sign))
            )

        piece = self.writer.cheaper([through(1), through(-1)])
        straight = piece.node is through(1)().node
        unit = Piece(self.spelling.constant(one), ())
        other = self.spelling.binary("subtract", unit, piece)
        powers = (ups, downs) if straight else (downs, ups)
        return [
            self._leaf(piece, powers[0]),
            self._leaf(other, powers[1]),
        ]

    # -- logs --------------------------------------------------------------------------------------
    def _log(self, slot: Slot) -> Slot:
        head, idx, power = slot
        inner = self.normal.substituted(head.expr, dict(enumerate(idx)))
        if _is_logistic_expr(inner):
            made = self._softplus(self._exponent(inner))
            return made[0], made[1], power
        if len(inner) == 1:
            ((term, coef),) = inner.items()
            if coef == 1 and term.bound and _only_exps(term):
                made = self._softmax("logsumexp", term, None)
                if made is not None:
                    return made[0], made[1], power
        if inner.get(ONE) == 1 and len(inner) > 1:
            rest = {term: coef for term, coef in inner.items() if term != ONE}
            return self._leaf(self.spelling.unary("log1p", self.writer.written(rest)), power)
        return self._leaf(self.spelling.unary("log", self.writer.written(inner)), power)

    # -- softmax -----------------------------------------------------------------------------------
    def _softmax(self, name: str, term: Term, places: list[int] | None) -> Slot | None:
        """softmax, log_softmax or logsumexp over the bound indices of a sum of exps.

        `places` are the indices at which a softmax is taken.
        """
        names = {-1 - place: self.heads.fresh() for place in range(len(term.bound))}
        for place, size in enumerate(term.bound):
            self.spelling.sizes[names[-1 - place]] = size
        piece = self.writer.written(self._argument(term, names))
        axes = tuple(
            [
                i - len(piece.labels)
                for i, label in enumerate(piece.labels)
                if label in names.values()
            ]
        )
        if len(axes) != len(names):
            return None
        if places is None:
            node = self.spelling.call(name, piece.node, axis=axes)
            labels = tuple([each for each in piece.labels if each not in names.values()])
            return self._leaf(Piece(node, labels))
        node = self.spelling.call(name, piece.node, axis=axes)
        made = Piece(node, piece.labels).renamed(
            {names[-1 - place]: index for place, index in enumerate(places)}
        )
        return self._leaf(made)

    def _softmaxes(self, term: Term, count: int, exps: Factors) -> tuple[Factors, Factors, int]:
        """As many softmaxes (or inverses) as the exps complete; exps and powers left."""
        made: Factors = []
        step = 1 if count > 0 else -1
        while count:
            found = self._completed(term, exps, step)
            if found is None:
                break
            places, exps = found
            slot = self._softmax("softmax", term, places)
            if slot is None:
                break
            made.append((slot[0], slot[1], step))
            count -= step
        return exps, _gathered(made), count

    def _completed(self, term: Term, exps: Factors, step: int) -> tuple[list[int], Factors] | None:
        """Indices at which all exps of the term are among `exps`, and the exps without them."""
        (first, *_) = [f for f in term.factors if any(index < 0 for index in f.idx)]
        for head, idx, _ in exps:
            if head is not first.head:
                continue
            names: dict[int, int] = {}
            fits = all(
                names.setdefault(a, b) == b if a < 0 else a == b
                for a, b in zip(first.idx, idx, strict=True)
            )
            if not fits or len(names) != len(term.bound) or len(set(names.values())) != len(names):
                continue
            left = _subtracted(exps, term, names, step)
            if left is not None:
                return [names[-1 - place] for place in range(len(term.bound))], left
        return None


def _subtracted(exps: Factors, term: Term, names: dict[int, int], step: int) -> Factors | None:
    table = {(head, idx): power for head, idx, power in exps}
    for factor in term.factors:
        key = (factor.head, tuple([names.get(index, index) for index in factor.idx]))
        have = table.get(key)
        taken = factor.power * step
        if have is None or (have > 0) != (taken > 0) or abs(have) < abs(taken):
            return None
        table[key] = rational(have - taken)
    return [(head, idx, power) for (head, idx), power in table.items() if power != 0]


def _gathered(slots: Factors) -> Factors:
    table: dict[tuple[Any, tuple[int, ...]], Rational] = {}
    for head, idx, power in slots:
        table[(head, idx)] = table.get((head, idx), 0) + power
    return [(head, idx, power) for (head, idx), power in table.items()]


def _divides_by_exps(factor: Factor) -> bool:
    head = factor.head
    return (
        factor.power < 0
        and head.kind == "sum"
        and any(g.head.kind == "exp" for term in head.expr for g in term.factors)
    )


def _others(term: Term, place: int) -> Factors:
    """The factors but one."""
    return [(f.head, f.idx, f.power) for i, f in enumerate(term.factors) if i != place]


def _roughness(inner: Expr, outer: Coef, power: Rational, scale: Coef) -> int:
    """How many products by numbers are written if a lazy sum is scaled."""
    within = sum(1 for term, coef in inner.items() if term != ONE and abs(times(coef, scale)) != 1)
    left = times(outer, 1 if power == 0 else _raised(scale, -power))
    return within + (abs(left) != 1)


def _raised(scale: Coef, power: Rational) -> Coef:
    found: Coef = 1
    for _ in range(abs(power.numerator)):
        found = times(found, scale) if power > 0 else quotient(found, scale)
    return found


def _only_exps(term: Term) -> bool:
    return (
        bool(term.factors)
        and all(f.head.kind == "exp" for f in term.factors)
        and any(index < 0 for f in term.factors for index in f.idx)
    )


def _is_logistic_expr(expr: Expr) -> bool:
    if len(expr) != 2 or expr.get(ONE) != 1:
        return False
    (term,) = [each for each in expr if each != ONE]
    return (
        expr[term] == 1
        and not term.bound
        and len(term.factors) == 1
        and term.factors[0].head.kind == "exp"
    )
