"""SymPy's functions for the definitions of operations; they note where a side is undefined."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any, Protocol

from ..ir.op import Op, carries_aligned

if TYPE_CHECKING:
    from sympy import Basic, Expr

__all__ = ["Symbols", "Untranslatable", "compares"]


class Untranslatable(Exception):  # no error: the rule is not of a kind that can be proved
    """Part of the rule has no SymPy expression."""


class Side(Protocol):
    """A side of a rule, which notes the conditions under which it is defined."""

    positive: set[Expr]

    def need(self, property: str, term: Expr, /) -> Expr: ...


class _ComparisonProbe:
    """Stands for the functions of a definition and for its operands; notes each comparison."""

    def __init__(self) -> None:
        self.compared = False

    def __getattr__(self, name: str) -> Callable[..., _ComparisonProbe]:
        return lambda *_operands: self

    def _compare(self, *_operands: object) -> _ComparisonProbe:
        self.compared = True
        return self

    def _calculate(self, *_operands: object) -> _ComparisonProbe:
        return self

    absolute = sign = maximum = minimum = _compare
    less = less_equal = greater = greater_equal = equal = not_equal = _compare
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _calculate
    __truediv__ = __rtruediv__ = __neg__ = _calculate


@cache
def compares(op: Op) -> bool:
    """Whether the value of an operation depends on the order of its operands."""
    if op.definition is None or op.carries is not carries_aligned:
        return False
    probe = _ComparisonProbe()
    op.definition(probe, *[probe] * (len(signature(op.definition).parameters) - 1))
    return probe.compared


class Symbols:
    """SymPy's functions of real numbers; they note the conditions under which they are defined."""

    def __init__(self, side: Side) -> None:
        import sympy

        self.side = side
        self.sympy = sympy
        self.exp, self.sin, self.cos = sympy.exp, sympy.sin, sympy.cos
        self.sinh, self.cosh, self.tanh = sympy.sinh, sympy.cosh, sympy.tanh
        self.atan, self.asinh, self.erf, self.sign = sympy.atan, sympy.asinh, sympy.erf, sympy.sign
        self.absolute, self.maximum, self.minimum = sympy.Abs, sympy.Max, sympy.Min

    def __getattr__(self, name: str) -> Any:
        raise Untranslatable

    def log(self, x: Expr) -> Expr:
        known = x in self.side.positive
        return self.sympy.log(x if known else self.side.need("nonnegative", self.sympy.sympify(x)))

    def sqrt(self, x: Expr) -> Expr:
        return self.sympy.sqrt(self.side.need("nonnegative", self.sympy.sympify(x)))

    def multiply(self, x: Expr, y: Expr) -> Expr:
        return x * y

    def divide(self, x: Expr, y: Expr) -> Expr:
        return self.sympy.sympify(x) / self.side.need("nonzero", y)

    def power(self, x: Expr, y: Expr) -> Expr:
        if not y.is_integer:
            self.side.need("nonnegative", x)
        if not y.is_nonnegative:
            self.side.need("nonzero", x)
        return x**y

    def expm1(self, x: Expr) -> Expr:
        return self.exp(x) - 1

    def log1mexp(self, x: Expr) -> Expr:
        return self.log(1 - self.exp(x))

    def logaddexp(self, x: Expr, y: Expr) -> Expr:
        return self.sympy.log(self.exp(x) + self.exp(y))

    def tan(self, x: Expr) -> Expr:
        return self.divide(self.sin(x), self.cos(x))

    def erfc(self, x: Expr) -> Expr:
        found = 1 - self.erf(x)
        self.side.positive.add(found)
        return found

    def asin(self, x: Expr) -> Expr:
        return self.sympy.asin(self.side.need("cosine of", x))

    def acos(self, x: Expr) -> Expr:
        return self.sympy.acos(self.side.need("cosine of", x))

    def acosh(self, x: Expr) -> Expr:
        return self.sympy.acosh(self.side.need("one or more", x))

    def atanh(self, x: Expr) -> Expr:
        return self.sympy.atanh(self.side.need("within one", x))

    # -- truth -----------------------------------------------------------------------------------
    def _truth(self, relation: Callable[..., Basic], *operands: Basic) -> Basic:
        """The truth value of a relation.

        Raises
        ------
        Untranslatable
            If SymPy cannot decide it: it then gives a formula.
        """
        return self._decided(relation(*operands))

    def _decided(self, found: Basic) -> Basic:
        if found not in (self.sympy.true, self.sympy.false):
            raise Untranslatable
        return found

    def _bits(self, relation: Callable[..., Basic], *operands: Basic) -> Basic:
        """A bitwise operation on truth values; on numbers it would act on their bits."""
        return relation(*map(self._decided, operands))

    def where(self, condition: Basic, x: Basic, y: Basic) -> Basic:
        return x if self._decided(condition) == self.sympy.true else y

    def less(self, x: Basic, y: Basic) -> Basic:
        return self._truth(self.sympy.Lt, x, y)

    def less_equal(self, x: Basic, y: Basic) -> Basic:
        return self._truth(self.sympy.Le, x, y)

    def greater(self, x: Basic, y: Basic) -> Basic:
        return self._truth(self.sympy.Gt, x, y)

    def greater_equal(self, x: Basic, y: Basic) -> Basic:
        return self._truth(self.sympy.Ge, x, y)

    def equal(self, x: Basic, y: Basic) -> Basic:
        return self._truth(self.sympy.Eq, x, y)

    def not_equal(self, x: Basic, y: Basic) -> Basic:
        return self._truth(self.sympy.Ne, x, y)

    def logical_and(self, x: Basic, y: Basic) -> Basic:
        return self._truth(self.sympy.And, x, y)

    def logical_or(self, x: Basic, y: Basic) -> Basic:
        return self._truth(self.sympy.Or, x, y)

    def logical_xor(self, x: Basic, y: Basic) -> Basic:
        return self._truth(self.sympy.Xor, x, y)

    def logical_not(self, x: Basic) -> Basic:
        return self._truth(self.sympy.Not, x)

    def bitwise_and(self, x: Basic, y: Basic) -> Basic:
        return self._bits(self.sympy.And, x, y)

    def bitwise_or(self, x: Basic, y: Basic) -> Basic:
        return self._bits(self.sympy.Or, x, y)

    def bitwise_xor(self, x: Basic, y: Basic) -> Basic:
        return self._bits(self.sympy.Xor, x, y)

    def invert(self, x: Basic) -> Basic:
        return self._bits(self.sympy.Not, x)
