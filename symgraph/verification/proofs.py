"""Scalar rules proved by SymPy, for all real numbers at once, where that closes.

Both sides are written in SymPy's functions of real symbols with what the guards say as assumptions.
Where a side has an absolute value, an extremum or a comparison, each order of the operands and zero
is a case by itself. What a side needs to be defined, as a positive argument of a logarithm, is
compared as well: log x + log y is not log(x y) for two negative numbers.

A proof speaks of exact arithmetic: infinities, NaN, signs of zero and rounding are left to the
samples of the verifier. Nothing here can run for long: terms and cases are counted, and of SymPy
only expansion and cancellation of quotients of polynomials are used, never its search for the
simplest form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from ..rewriting.pattern import Literal, Opaque, OpPattern, Pattern, Variable, subterms
from ..rewriting.rule import Rule
from .symbols import Open, Symbols, compares

__all__ = ["is_proved"]

_MOST_TERMS = 32
"""Of both sides together."""
_MOST_CASES = 80
_MOST_OPERATIONS = 70
"""Of a difference that is expanded."""


def is_proved(rule: Rule) -> bool:
    """Whether SymPy proves that both sides of a rule are equal, and defined alike.

    False says nothing against the rule. Where the rule is sound on its `domain` only, the right
    side may be defined where the left is not.
    """
    if rule.statics or len(list(_parts(rule))) > _MOST_TERMS:
        return False
    try:
        cases = list(_cases(rule))
        return 0 < len(cases) <= _MOST_CASES and all(_holds(rule, case) for case in cases)
    except (Open, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError):
        return False  # SymPy cannot compare complex numbers, or divides by zero


def _parts(rule: Rule) -> Iterator[Pattern]:
    yield from subterms(rule.lhs)
    yield from subterms(rule.rhs)


# -- cases -----------------------------------------------------------------------------------------
Case = Mapping[str, Any]
"""What each variable is: a symbol, a sum of positive symbols, or a truth value."""


def _cases(rule: Rule) -> Iterator[Case]:
    """Each order of the variables and zero, and each truth value; one where nothing is ordered."""
    truths = [each.name for each in rule.variables if _kinds(each) == "b"]
    numbers = [each for each in rule.variables if each.name not in truths]
    compare = any(isinstance(part, OpPattern) and compares(part.op) for part in _parts(rule))
    ordered = numbers if compare else []
    if len(truths) > 4 or len(ordered) > 3:
        raise Open
    fixed = {each.name: _symbol(each) for each in numbers if each not in ordered}
    for values in product((True, False), repeat=len(truths)):
        chosen = dict(zip(truths, map(_truth, values), strict=True))
        for order in _orders(ordered):
            yield {**fixed, **chosen, **order}


def _truth(value: bool) -> Any:
    import sympy  # takes long to import, and is asked for proofs only

    return sympy.true if value else sympy.false


def _kinds(variable: Variable) -> str:
    kinds = set("biuf")
    for guard in variable.guards:
        kinds &= set(guard.kinds)
    return "".join(sorted(kinds))


def _assumed(variable: Variable) -> dict[str, bool]:
    """What the guards say, in SymPy's words."""
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


def _symbol(variable: Variable) -> Any:
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
            continue  # the same order stands elsewhere with no level left out
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
@dataclass(slots=True)
class _Side:
    """A side in SymPy's words, and what must hold for it to be defined."""

    case: Case
    needs: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    positive: set[Any] = field(default_factory=set[Any])
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
                raise Open
            return Rational(Fraction(float(value)))
        if isinstance(pattern, Opaque):
            return self._built(pattern.text)
        if pattern.params:
            raise Open
        if pattern.op.definition is None:
            raise Open
        operands = [self.value(each) for each in pattern.operands]
        return pattern.op.definition(Symbols(self), *operands)

    def _built(self, text: str) -> Any:
        """What the right side computes of constants."""
        name, _, inside = text.removesuffix(")").partition("(")
        given = [self.case[each] for each in inside.split(", ") if each in self.case]
        if name == "opposite" and len(given) == 1:
            return -given[0]
        if name == "product" and len(given) == 2:
            return given[0] * given[1]
        raise Open

    def need(self, what: str, of: Any) -> Any:
        """Note that the side is defined only where `of` is `what`, such as nonnegative."""
        self.needs.append((what, of))
        return of


def _holds(rule: Rule, case: Case) -> bool:
    from sympy import nan, zoo
    from sympy.logic.boolalg import BooleanAtom

    left, right = _Side(case), _Side(case)
    one, other = left.value(rule.lhs), right.value(rule.rhs)
    if isinstance(one, BooleanAtom) or isinstance(other, BooleanAtom):
        return one is other
    if not _follow(right.needs, left.needs):
        return False
    if rule.sound != "domain" and not _follow(left.needs, right.needs):
        return False
    if one.has(nan, zoo) or other.has(nan, zoo):
        return rule.sound == "domain" and bool(one.has(nan, zoo))
    return _equal(one, other)


def _follow(needs: Sequence[tuple[str, Any]], given: Sequence[tuple[str, Any]]) -> bool:
    """Whether what is needed holds always, or wherever the given needs hold."""
    from sympy import expand

    def met(what: str, of: Any) -> bool:
        return bool(getattr(of, f"is_{what}", None)) or any(
            known == what and expand(of - other) == 0 for known, other in held
        )

    held = [each for need in given for each in _simpler(*need)]
    return all(met(*each) for need in needs for each in _simpler(*need))


def _simpler(what: str, of: Any) -> Iterator[tuple[str, Any]]:
    """A product is nonzero where each factor is, and a power where its base is."""
    from sympy import Abs, Mul, Pow

    waiting = [of]
    while waiting:
        top = waiting.pop()
        if what == "nonzero" and isinstance(top, Mul):
            waiting.extend(top.args)
        elif what == "nonzero" and isinstance(top, (Abs, Pow)):
            waiting.append(top.args[0])
        elif not top.is_number or what != "nonzero" or top == 0:
            yield what, top


def _equal(one: Any, other: Any) -> bool:
    """Whether two terms are equal, by expanding and cancelling."""
    from sympy import E, exp, log

    if _vanishes(one - other):
        return True
    if one.has(log) or other.has(log):
        # exp is one to one; logs in sums become factors.
        return _vanishes((E**one).rewrite(exp) - (E**other).rewrite(exp))
    return False


def _vanishes(difference: Any) -> bool:
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
