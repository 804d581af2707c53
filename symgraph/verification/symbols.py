"""Definitions of operations in SymPy's functions, and what they need to be defined."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any, Protocol

from ..ir.op import Op, carries_aligned

__all__ = ["Open", "Symbols", "compares"]


class Open(Exception):  # no error: the rule is not of the kind that is proved
    """SymPy has no word for part of the rule."""


class Side(Protocol):
    """A side of a rule, which notes what must hold for it to be defined."""

    positive: set[Any]

    def need(self, what: str, of: Any) -> Any: ...


class _Watched:
    """A mathematics, and its only number, that notes whether definitions compare numbers."""

    def __init__(self) -> None:
        self.compared = False

    def __getattr__(self, name: str) -> Callable[..., _Watched]:
        return lambda *_operands: self

    def _compare(self, *_operands: Any) -> _Watched:
        self.compared = True
        return self

    def _calculate(self, *_operands: Any) -> _Watched:
        return self

    absolute = sign = maximum = minimum = _compare
    less = less_equal = greater = greater_equal = equal = not_equal = _compare
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _calculate
    __truediv__ = __rtruediv__ = __neg__ = _calculate


@cache
def compares(op: Op) -> bool:
    """Whether an operation depends on how its operands are ordered."""
    if op.definition is None or op.carries is not carries_aligned:
        return False
    watched = _Watched()
    op.definition(watched, *[watched] * (len(signature(op.definition).parameters) - 1))
    return watched.compared


class Symbols:
    """SymPy's functions of real numbers, which note what they need to be defined."""

    def __init__(self, side: Side) -> None:
        import sympy

        self.side = side
        self.sympy = sympy
        self.exp, self.sin, self.cos = sympy.exp, sympy.sin, sympy.cos
        self.sinh, self.cosh, self.tanh = sympy.sinh, sympy.cosh, sympy.tanh
        self.atan, self.asinh, self.erf, self.sign = sympy.atan, sympy.asinh, sympy.erf, sympy.sign
        self.absolute, self.maximum, self.minimum = sympy.Abs, sympy.Max, sympy.Min

    def __getattr__(self, name: str) -> Any:
        raise Open

    def log(self, x: Any) -> Any:
        known = x in self.side.positive
        return self.sympy.log(x if known else self.side.need("nonnegative", self.sympy.sympify(x)))

    def sqrt(self, x: Any) -> Any:
        return self.sympy.sqrt(self.side.need("nonnegative", self.sympy.sympify(x)))

    def multiply(self, x: Any, y: Any) -> Any:
        return x * y

    def divide(self, x: Any, y: Any) -> Any:
        return self.sympy.sympify(x) / self.side.need("nonzero", y)

    def power(self, x: Any, y: Any) -> Any:
        if not y.is_integer:
            self.side.need("nonnegative", x)
        if not y.is_nonnegative:
            self.side.need("nonzero", x)
        return x**y

    def expm1(self, x: Any) -> Any:
        return self.exp(x) - 1

    def log1mexp(self, x: Any) -> Any:
        return self.log(1 - self.exp(x))

    def logaddexp(self, x: Any, y: Any) -> Any:
        return self.sympy.log(self.exp(x) + self.exp(y))

    def tan(self, x: Any) -> Any:
        return self.divide(self.sin(x), self.cos(x))

    def erfc(self, x: Any) -> Any:
        found = 1 - self.erf(x)
        self.side.positive.add(found)
        return found

    def asin(self, x: Any) -> Any:
        return self.sympy.asin(self.side.need("cosine of", x))

    def acos(self, x: Any) -> Any:
        return self.sympy.acos(self.side.need("cosine of", x))

    def acosh(self, x: Any) -> Any:
        return self.sympy.acosh(self.side.need("one or more", x))

    def atanh(self, x: Any) -> Any:
        return self.sympy.atanh(self.side.need("within one", x))

    # -- truth -----------------------------------------------------------------------------------
    def _truth(self, relation: Callable[..., Any], *operands: Any) -> Any:
        """A relation that is decided; SymPy gives a formula where it is not."""
        return self._decided(relation(*operands))

    def _decided(self, found: Any) -> Any:
        if found not in (self.sympy.true, self.sympy.false):
            raise Open
        return found

    def _bits(self, relation: Callable[..., Any], *operands: Any) -> Any:
        """A relation of truth values; of numbers it is one of their bits."""
        return relation(*map(self._decided, operands))

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        return x if self._decided(condition) == self.sympy.true else y

    def less(self, x: Any, y: Any) -> Any:
        return self._truth(self.sympy.Lt, x, y)

    def less_equal(self, x: Any, y: Any) -> Any:
        return self._truth(self.sympy.Le, x, y)

    def greater(self, x: Any, y: Any) -> Any:
        return self._truth(self.sympy.Gt, x, y)

    def greater_equal(self, x: Any, y: Any) -> Any:
        return self._truth(self.sympy.Ge, x, y)

    def equal(self, x: Any, y: Any) -> Any:
        return self._truth(self.sympy.Eq, x, y)

    def not_equal(self, x: Any, y: Any) -> Any:
        return self._truth(self.sympy.Ne, x, y)

    def logical_and(self, x: Any, y: Any) -> Any:
        return self._truth(self.sympy.And, x, y)

    def logical_or(self, x: Any, y: Any) -> Any:
        return self._truth(self.sympy.Or, x, y)

    def logical_xor(self, x: Any, y: Any) -> Any:
        return self._truth(self.sympy.Xor, x, y)

    def logical_not(self, x: Any) -> Any:
        return self._truth(self.sympy.Not, x)

    def bitwise_and(self, x: Any, y: Any) -> Any:
        return self._bits(self.sympy.And, x, y)

    def bitwise_or(self, x: Any, y: Any) -> Any:
        return self._bits(self.sympy.Or, x, y)

    def bitwise_xor(self, x: Any, y: Any) -> Any:
        return self._bits(self.sympy.Xor, x, y)

    def invert(self, x: Any) -> Any:
        return self._bits(self.sympy.Not, x)
