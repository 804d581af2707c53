"""Proofs of scalar rules by SymPy, for all real numbers at once.

Both sides become SymPy expressions of real symbols; the guards become assumptions of the symbols.
Where a side has an absolute value, an extremum or a comparison, each order of the operands and zero
is a case of its own. The conditions under which a side is defined, such as a positive argument of a
logarithm, are compared as well: log x + log y is not log(x y) for two negative numbers.

A proof is about exact arithmetic: the verifier's samples test infinities, NaN, signs of zero and
rounding. No proof can run for long: terms and cases are counted. Of SymPy only the expansion and
the cancellation of quotients of polynomials are used, never its search for the simplest form.

The verdicts on the rules that come with symgraph stand in `verdicts.txt`, each beside the statement
that it is about. So they are told without SymPy; a test proves them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..rewriting.pattern import Literal, Opaque, OpPattern, Pattern, Variable, subterms
from ..rewriting.rule import Rule
from .sympy_functions import Symbols, Untranslatable, compares

if TYPE_CHECKING:
    from sympy import Basic, Expr

__all__ = ["KEPT", "is_proved", "proof_found", "statement"]

KEPT = Path(__file__).with_name("verdicts.txt")
"""Lines `proved` or `open`, and a statement; `python tests/support/verdicts.py` writes them."""

_MOST_TERMS = 32
"""The most terms that both sides may have together."""
_MOST_CASES = 80
_MOST_OPERATIONS = 70
"""The most operations of a difference that is expanded."""


def is_proved(rule: Rule) -> bool:
    """Whether SymPy proves that both sides of a rule are equal, and defined alike.

    False is no evidence against the rule. The right side of a rule of grade `domain` may be defined
    where the left side is not.
    """
    if rule.statics:
        return False
    kept = _verdicts().get(statement(rule))
    return proof_found(rule) if kept is None else kept


@cache
def _verdicts() -> dict[str, bool]:
    lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.exists() else []
    parts = [line.split(" ", 1) for line in lines]
    return {each[1]: each[0] == "proved" for each in parts if len(each) == 2}


def statement(rule: Rule) -> str:
    """The premises of a proof: grade, sides, and the assumptions on each variable."""
    assumed = [
        f"{each.name}: {_kinds(each)} {' '.join(sorted(_assumed(each)))}" for each in rule.variables
    ]
    return f"{rule.sound}: {_spelled(rule.lhs)} = {_spelled(rule.rhs)}; {', '.join(assumed)}"


def _spelled(pattern: Pattern) -> str:
    if not isinstance(pattern, OpPattern):
        return repr(pattern.value) if isinstance(pattern, Literal) else str(pattern)
    inside = [*map(_spelled, pattern.operands), *(f"{name}=" for name in pattern.params)]
    return f"{pattern.op.name}({', '.join(inside)})"


def proof_found(rule: Rule) -> bool:
    """As `is_proved`, by SymPy, also where the verdict is kept."""
    if rule.statics or len(list(_parts(rule))) > _MOST_TERMS:
        return False
    try:
        cases = list(_cases(rule))
        return 0 < len(cases) <= _MOST_CASES and all(_holds(rule, case) for case in cases)
    except (Untranslatable, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError):
        return False  # SymPy cannot compare complex numbers, or divides by zero


def _parts(rule: Rule) -> Iterator[Pattern]:
    yield from subterms(rule.lhs)
    yield from subterms(rule.rhs)


# -- cases -----------------------------------------------------------------------------------------
Case: TypeAlias = Mapping[str, "Any"]
"""Each variable's value in one case: a symbol, a sum of positive symbols, or a truth value."""


def _cases(rule: Rule) -> Iterator[Case]:
    """All cases: each order of the variables and zero, times each choice of truth values.

    Where no operation compares numbers, the order is left open.
    """
    truths = [each.name for each in rule.variables if _kinds(each) == "b"]
    numbers = [each for each in rule.variables if each.name not in truths]
    compare = any(isinstance(part, OpPattern) and compares(part.op) for part in _parts(rule))
    ordered = numbers if compare else []
    if len(truths) > 4 or len(ordered) > 3:
        raise Untranslatable
    fixed = {each.name: _symbol(each) for each in numbers if each not in ordered}
    for values in product((True, False), repeat=len(truths)):
        chosen = dict(zip(truths, map(_truth, values), strict=True))
        for order in _orders(ordered):
            yield {**fixed, **chosen, **order}


def _truth(value: bool) -> Basic:
    import sympy  # slow to import, and only proofs need it

    return sympy.true if value else sympy.false


def _kinds(variable: Variable) -> str:
    kinds = set("biuf")
    for guard in variable.guards:
        kinds &= set(guard.kinds)
    return "".join(sorted(kinds))


def _assumed(variable: Variable) -> dict[str, bool]:
    """The facts of the guards as SymPy's assumptions."""
    known = {"real": True}
    for guard in variable.guards:
        for fact in guard.facts:
            if fact.name in ("positive", "negative", "nonnegative", "nonpositive", "nonzero"):
                known[fact.name] = True
            if fact.name == "integer_valued":
                known["integer"] = True
        admits = guard.values
        if admits is not None:
            signs = {-1.0: "negative", 0.0: "zero", 1.0: "positive"}
            told = [name for sign, name in signs.items() if admits(sign)]
            if len(told) == 1:
                known[told[0]] = True
    return known


def _symbol(variable: Variable) -> Expr:
    from sympy import Symbol

    return Symbol(variable.name, **_assumed(variable))


def _orders(variables: Sequence[Variable]) -> Iterator[Case]:
    """The variables as sums of positive symbols, in each order among themselves and zero."""
    from sympy import Integer, Symbol

    levels = range(-len(variables), len(variables) + 1)
    for places in product(levels, repeat=len(variables)):
        above = {place for place in places if place > 0}
        below = {place for place in places if place < 0}
        if above != set(range(1, len(above) + 1)) or below != set(range(-len(below), 0)):
            continue  # another choice of levels, without a gap, gives the same order
        steps = {level: Symbol(f"d{level}", positive=True) for level in above | below}
        case = {
            variable.name: sum((steps[each] for each in above if each <= place), Integer(0))
            - sum((steps[each] for each in below if each >= place), Integer(0))
            for variable, place in zip(variables, places, strict=True)
        }
        if all(_admits(variable, place) for variable, place in zip(variables, places, strict=True)):
            yield case


def _admits(variable: Variable, place: int) -> bool:
    known = _assumed(variable)
    refused = {
        "positive": place <= 0,
        "negative": place >= 0,
        "nonnegative": place < 0,
        "nonpositive": place > 0,
        "nonzero": place == 0,
        "zero": place != 0,
    }
    return not any(refused.get(fact, False) for fact in known)


# -- one case --------------------------------------------------------------------------------------
Need: TypeAlias = "tuple[str, Expr]"
"""A property that a term must have, such as nonzero, for a side to be defined."""


@dataclass(slots=True)
class _Side:
    """A side as a SymPy expression, and the conditions under which it is defined."""

    case: Case
    needs: list[Need] = field(default_factory=lambda: list[Need]())
    positive: set[Expr] = field(default_factory=lambda: set[Any]())
    """Terms that are positive wherever they are defined."""

    def value(self, pattern: Pattern) -> Any:
        from sympy import Rational

        if isinstance(pattern, Variable):
            return self.case[pattern.name]
        if isinstance(pattern, Literal):
            value = np.asarray(pattern.value)
            if value.dtype.kind == "b":
                return _truth(bool(value))
            if value.ndim or not np.isfinite(value):
                raise Untranslatable
            return Rational(Fraction(float(value)))
        if isinstance(pattern, Opaque):
            return self._computed_constant(pattern.text)
        if pattern.params or pattern.op.definition is None:
            raise Untranslatable
        operands = [self.value(each) for each in pattern.operands]
        return pattern.op.definition(Symbols(self), *operands)

    def _computed_constant(self, text: str) -> Any:
        """A value that the right side computes from constants."""
        name, _, inside = text.removesuffix(")").partition("(")
        given = [self.case[each] for each in inside.split(", ") if each in self.case]
        if name == "opposite" and len(given) == 1:
            return -given[0]
        if name == "product" and len(given) == 2:
            return given[0] * given[1]
        raise Untranslatable

    def need(self, property: str, term: Expr) -> Expr:
        """Note that the side is defined only where `term` has a property, such as nonnegative."""
        self.needs.append((property, term))
        return term


def _holds(rule: Rule, case: Case) -> bool:
    from sympy import nan, zoo
    from sympy.logic.boolalg import BooleanAtom

    left, right = _Side(case), _Side(case)
    one, other = left.value(rule.lhs), right.value(rule.rhs)
    if isinstance(one, BooleanAtom) or isinstance(other, BooleanAtom):
        return one is other
    if not _implied(right.needs, left.needs):
        return False
    if rule.sound != "domain" and not _implied(left.needs, right.needs):
        return False
    if one.has(nan, zoo) or other.has(nan, zoo):
        return rule.sound == "domain" and bool(one.has(nan, zoo))
    return _equal(one, other)


def _implied(needs: Sequence[Need], given: Sequence[Need]) -> bool:
    """Whether each need holds always, or wherever the given needs hold."""
    from sympy import expand

    def met(property: str, term: Expr) -> bool:
        return bool(getattr(term, f"is_{property}", None)) or any(
            known == property and expand(term - other) == 0 for known, other in held
        )

    held = [each for need in given for each in _needs_of_factors(*need)]
    return all(met(*each) for need in needs for each in _needs_of_factors(*need))


def _needs_of_factors(property: str, term: Expr) -> Iterator[Need]:
    """Split a need: a product is nonzero where each factor is, and a power where its base is."""
    from sympy import Abs, Mul, Pow

    waiting: list[Any] = [term]
    while waiting:
        top = waiting.pop()
        if property == "nonzero" and isinstance(top, Mul):
            waiting.extend(top.args)
        elif property == "nonzero" and isinstance(top, (Abs, Pow)):
            waiting.append(top.args[0])
        elif property != "nonzero" or not (top.is_number and bool(top != 0)):
            yield property, top


def _equal(one: Expr, other: Expr) -> bool:
    """Whether two terms are equal, by expanding and cancelling."""
    from sympy import E, exp, log

    if _vanishes(one - other):
        return True
    if one.has(log) or other.has(log):
        # exp is injective, and turns a sum of logs into a product.
        return _vanishes((E**one).rewrite(exp) - (E**other).rewrite(exp))
    return False


def _vanishes(difference: Expr) -> bool:
    from sympy import cancel, count_ops, exp, expand, expand_log, log, powsimp, together

    if difference == 0:
        return True
    if count_ops(difference) > _MOST_OPERATIONS:
        return False
    if expand(difference) == 0 or expand(expand_log(difference)) == 0:
        return True
    written = expand(difference.rewrite(exp), func=True)
    if written == 0 or expand(written.rewrite(log)) == 0:
        return True
    if count_ops(written) > _MOST_OPERATIONS:
        return False
    return any(cancel(together(term)) == 0 for term in (difference, written, powsimp(written)))
