"""Stable spellings of exps and logs: softmax, logsumexp, sigmoid, softplus."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import e
from typing import Protocol

from ...ops.elementwise import subtract
from ...ops.exponential import exp, log, log1p, sigmoid, softplus
from ...ops.families import Function
from ...ops.softmax import logsumexp, softmax
from ..expression.atoms import AtomTable, one
from ..expression.canonical_indices import canonical_term
from ..expression.exact_numbers import Coef, Rational, rational
from ..expression.term import EXP, LOG, ONE, Atom, Expr, Term, added, scaled
from ..normal_form.factors import Factors, RawFactor
from ..normal_form.normalize import NormalForm
from .array_operations import ArrayOperations
from .indexed_arrays import IndexedArray

__all__ = ["Exponentials", "SumWriter", "is_logistic_expr", "only_exps"]


class SumWriter(Protocol):
    """Writes an expression as one array."""

    def written(self, expr: Expr, *, given: bool = False) -> IndexedArray: ...

    def cheaper(self, options: list[Callable[[], IndexedArray]]) -> IndexedArray: ...


class Exponentials:
    """Writes factors that are exps, sums of exps or logs, and gives each as a leaf."""

    def __init__(
        self,
        normal: NormalForm,
        spelling: ArrayOperations,
        writer: SumWriter,
        *,
        steady: bool = False,
    ) -> None:
        self.steady = steady
        self.normal = normal
        self.atoms: AtomTable = normal.atoms
        self.spelling = spelling
        self.writer = writer

    def leaf(self, piece: IndexedArray, power: Rational = one) -> RawFactor:
        atom = self.atoms.made(piece.node)
        names = [label for label in piece.labels if label is not None]
        return atom, tuple(names), power

    def normaliser(self, slot: RawFactor) -> Term | None:
        """The term of a lazy sum that has one term, a product of exps; None for other sums."""
        expr = self.normal.instance(slot)
        if len(expr) != 1:
            return None
        ((term, coef),) = expr.items()
        return term if coef == 1 and self._is_of_one_array(term) else None

    def _is_of_one_array(self, term: Term) -> bool:
        """Whether the term is a sum of exps of an array, not a product of matrices of exps.

        sum_k exp(A_ik + B_kj) needs an array of three axes, and exp(A) exp(B) is a matrix. It is
        taken for the first only where the graph has A_ik + B_kj.
        """
        if not term.bound or not only_exps(term):
            return False
        indices = [{*factor.idx} for factor in term.factors]
        if set().union(*indices) in indices:
            return True
        names = {-1 - place: self.atoms.fresh() for place in range(len(term.bound))}
        for place, size in enumerate(term.bound):
            self.spelling.sizes[names[-1 - place]] = size
        return self.spelling.given(self.writer.written(self.argument(term, names)).node)

    def exps(self, exps: Factors, loose: list[tuple[Term, RawFactor]]) -> Factors:
        if not loose or not exps:
            made = self._exps_apart_or_joined(exps)
            plain = [
                self.leaf(self.writer.written(self.normal.instance(slot)), slot[2])
                for _, slot in loose
            ]
            return made + plain
        parts: list[tuple[Term, Coef]] = []
        for slot in exps:
            parts.extend(scaled(self.normal.instance(slot), slot[2]).items())
        for _, (atom, idx, power) in loose:
            closed, new = self.atoms.closed(
                LOG, self.normal.substituted(atom.expr, dict(enumerate(idx)))
            )
            parts.append((canonical_term([(closed, new, one)], {}), power))
        return [self.leaf(self.spelling.unary(exp, self.writer.written(added(parts))))]

    def _exps_apart_or_joined(self, exps: Factors) -> Factors:
        """Each exp by itself, or one exp of the sum of their arguments if that costs less."""
        made = [self.leaf(self._exp(self._powered(slot))) for slot in exps]
        if len(exps) < 2 or any(self.spelling.alive(atom.node) for atom, _, _ in made):
            return made
        parts = [item for slot in exps for item in self._powered(slot).items()]
        joint = self._exp(added(parts))
        # If the sum has more indices than each exp, the joint exp is a larger array.
        widest = max(len(idx) for _, idx, _ in made)
        return [self.leaf(joint)] if len(joint.names) <= widest else made

    def _powered(self, slot: RawFactor) -> Expr:
        """The argument of an exp that is raised to a power."""
        return scaled(self.normal.instance(slot), slot[2])

    def _exp(self, argument: Expr) -> IndexedArray:
        base, exponent = _base_of(argument)
        return self.spelling.exponential(base, self.writer.written(exponent, given=True))

    def exponent(self, expr: Expr) -> Expr:
        """The argument A of 1 + exp(A)."""
        (term,) = [each for each in expr if each != ONE]
        return self.argument(term, {})

    def argument(self, term: Term, names: dict[int, int]) -> Expr:
        """The sum of the arguments of a product of exps, with bound indices renamed."""
        parts: list[tuple[Term, Coef]] = []
        for factor in term.factors:
            idx = tuple([names.get(index, index) for index in factor.idx])
            inner = self.normal.substituted(factor.atom.expr, dict(enumerate(idx)))
            parts.extend(scaled(inner, factor.power).items())
        return added(parts)

    def softplus(self, argument: Expr) -> RawFactor:
        return self.leaf(self.spelling.unary(softplus, self.writer.written(argument, given=True)))

    def sigmoids(self, slot: RawFactor, exps: Factors) -> tuple[Factors, Factors]:
        """(1 + exp A)**-k exp(A)**m as sigmoids of A and -A, and the exps that are left."""
        power = slot[2]
        count = -power.numerator
        inner = self.normal.instance(slot)
        (term,) = [each for each in inner if each != ONE]
        (factor,) = term.factors
        ups = 0
        left: Factors = []
        for each in exps:
            if each[0] is factor.atom and each[1] == factor.idx and each[2] > 0:
                ratio = Fraction(each[2]) / factor.power
                ups = min(count, int(ratio)) if ratio >= 1 else 0
                rest = rational(each[2] - ups * factor.power)
                if rest != 0:
                    left.append((each[0], each[1], rest))
            else:
                left.append(each)
        argument = self.exponent(inner)
        downs = count - ups
        if ups and downs:
            return left, self._both(argument, ups, downs)
        sign = 1 if ups else -1
        piece = self.spelling.unary(
            sigmoid, self.writer.written(scaled(argument, sign), given=True)
        )
        return left, [self.leaf(piece, count)]

    def sigmoids_below(self, slot: RawFactor, exps: Factors) -> tuple[Factors, Factors]:
        """(1 + exp A)**k exp(A)**-m as powers of 1 / sigmoid(A), and the exps that are left."""
        power = slot[2]
        inner = self.normal.instance(slot)
        (term,) = [each for each in inner if each != ONE]
        (factor,) = term.factors
        left: Factors = []
        downs = 0
        for each in exps:
            ratio = -Fraction(each[2]) / factor.power
            if each[0] is not factor.atom or each[1] != factor.idx or ratio < 1:
                left.append(each)
                continue
            downs = min(power.numerator, int(ratio))
            rest = rational(each[2] + downs * factor.power)
            if rest != 0:
                left.append((each[0], each[1], rest))
        made: Factors = []
        if downs:
            piece = self.spelling.unary(
                sigmoid, self.writer.written(self.exponent(inner), given=True)
            )
            made.append(self.leaf(piece, -downs))
        if power != downs:
            made.append(self.leaf(self.writer.written(inner), rational(power - downs)))
        return left, made

    def _both(self, argument: Expr, ups: int, downs: int) -> Factors:
        """s(A)**ups * s(-A)**downs with one sigmoid, as s * (1 - s).

        1 - s is 0 where s rounds to 1, so a steady writer computes both sigmoids.
        """

        def through(sign: int) -> Callable[[], IndexedArray]:
            return lambda: self.spelling.unary(
                sigmoid, self.writer.written(scaled(argument, sign), given=True)
            )

        if self.steady:
            return [self.leaf(through(1)(), ups), self.leaf(through(-1)(), downs)]
        piece = self.writer.cheaper([through(1), through(-1)])
        straight = piece.node is through(1)().node
        unit = IndexedArray(self.spelling.constant(one), ())
        other = self.spelling.binary(subtract, unit, piece)
        powers = (ups, downs) if straight else (downs, ups)
        return [
            self.leaf(piece, powers[0]),
            self.leaf(other, powers[1]),
        ]

    def log(self, slot: RawFactor) -> RawFactor:
        atom, idx, power = slot
        inner = self.normal.substituted(atom.expr, dict(enumerate(idx)))
        if is_logistic_expr(inner):
            made = self.softplus(self.exponent(inner))
            return made[0], made[1], power
        if len(inner) == 1:
            ((term, coef),) = inner.items()
            if coef == 1 and self._is_of_one_array(term):
                made = self.softmax(logsumexp, term, None)
                if made is not None:
                    return made[0], made[1], power
        if inner.get(ONE) == 1 and len(inner) > 1:
            rest = {term: coef for term, coef in inner.items() if term != ONE}
            return self.leaf(self.spelling.unary(log1p, self.writer.written(rest)), power)
        return self.leaf(self.spelling.unary(log, self.writer.written(inner)), power)

    def softmax(self, made_of: Function, term: Term, places: list[int] | None) -> RawFactor | None:
        """A softmax, log_softmax or logsumexp over the bound indices of a sum of exps.

        `places` are the indices of its result that stand for the bound ones; None for a logsumexp.
        """
        names = {-1 - place: self.atoms.fresh() for place in range(len(term.bound))}
        for place, size in enumerate(term.bound):
            self.spelling.sizes[names[-1 - place]] = size
        piece = self.writer.written(self.argument(term, names), given=True)
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
            node = self.spelling.call(made_of, piece.node, axis=axes)
            labels = tuple([each for each in piece.labels if each not in names.values()])
            return self.leaf(IndexedArray(node, labels))
        node = self.spelling.call(made_of, piece.node, axis=axes)
        made = IndexedArray(node, piece.labels).renamed(
            {names[-1 - place]: index for place, index in enumerate(places)}
        )
        return self.leaf(made)

    def softmaxes(self, term: Term, count: int, exps: Factors) -> tuple[Factors, Factors, int]:
        """The exps left, as many softmaxes or inverses as the exps complete, and the power left."""
        made: Factors = []
        step = 1 if count > 0 else -1
        while count:
            found = self._completed(term, exps, step)
            if found is None:
                break
            places, exps = found
            slot = self.softmax(softmax, term, places)
            if slot is None:
                break
            made.append((slot[0], slot[1], step))
            count -= step
        return exps, _gathered(made), count

    def _completed(self, term: Term, exps: Factors, step: int) -> tuple[list[int], Factors] | None:
        """Indices at which `exps` has all exps of the term, and the exps left; or None."""
        (first, *_) = [f for f in term.factors if any(index < 0 for index in f.idx)]
        for atom, idx, _ in exps:
            if atom is not first.atom:
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


def _base_of(argument: Expr) -> tuple[float, Expr]:
    """The base whose logarithm is a factor of all terms, and the terms without it; else e."""
    bases = [[f for f in term.factors if f.atom.base is not None] for term in argument]
    atoms = {each[0].atom for each in bases if len(each) == 1 and each[0].power == 1}
    if len(atoms) != 1 or any(len(each) != 1 or each[0].power != 1 for each in bases):
        return e, argument
    (atom,) = atoms
    rest = {
        Term(term.bound, tuple([f for f in term.factors if f.atom is not atom])): coef
        for term, coef in argument.items()
    }
    return atom.base or e, rest


def _subtracted(exps: Factors, term: Term, names: dict[int, int], step: int) -> Factors | None:
    table = {(atom, idx): power for atom, idx, power in exps}
    for factor in term.factors:
        key = (factor.atom, tuple([names.get(index, index) for index in factor.idx]))
        have = table.get(key)
        taken = factor.power * step
        if have is None or (have > 0) != (taken > 0) or abs(have) < abs(taken):
            return None
        table[key] = rational(have - taken)
    return [(atom, idx, power) for (atom, idx), power in table.items() if power != 0]


def _gathered(slots: Factors) -> Factors:
    table: dict[tuple[Atom, tuple[int, ...]], Rational] = {}
    for atom, idx, power in slots:
        table[(atom, idx)] = table.get((atom, idx), 0) + power
    return [(atom, idx, power) for (atom, idx), power in table.items()]


def only_exps(term: Term) -> bool:
    """Whether the term is a product of exps with a summed index."""
    return (
        bool(term.factors)
        and all(f.atom.kind == EXP for f in term.factors)
        and any(index < 0 for f in term.factors for index in f.idx)
    )


def is_logistic_expr(expr: Expr) -> bool:
    """Whether the expression is 1 + exp(A)."""
    if len(expr) != 2 or expr.get(ONE) != 1:
        return False
    (term,) = [each for each in expr if each != ONE]
    return (
        expr[term] == 1
        and not term.bound
        and len(term.factors) == 1
        and term.factors[0].atom.kind == EXP
    )
