"""Sizes with names as polynomials with whole coefficients, which need no SymPy.

Importing SymPy takes longer than tracing, simplifying and lowering a small network. Most graphs
with named dimensions need no more of it than names, products and sums of them. Whatever else is
asked of a size, such as a quotient with a remainder, is asked of SymPy's expression.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast

import numpy as np

from .collector import collector_paused

if TYPE_CHECKING:
    from sympy import Expr

__all__ = ["SymbolicSize", "as_expr", "as_polynomial"]

Monomial: TypeAlias = tuple[tuple[str, int], ...]
"""Names with their powers, in order; the empty one is 1."""

Terms: TypeAlias = "Mapping[Monomial, int]"

_HIGHEST = 16
"""The highest power of one term that is computed here; of a sum it is the square."""

_PASSED_ON = frozenset(
    [
        *("args", "atoms", "cancel", "coeff", "collect", "count_ops", "diff", "evalf"),
        *("factor", "func", "has", "integrate", "limit", "replace", "rewrite", "simplify"),
        *("sort_key", "subs", "together", "xreplace"),
    ]
)
"""What is asked of SymPy's expression, beside whatever begins with `is_` or `as_`."""


def _binary(
    compute: Callable[[Any, Any], Any],
    own: Callable[[SymbolicSize, Terms], Any],
    flipped: bool = False,
) -> Callable[[SymbolicSize, Any], Any]:
    """An operator: `own` takes the other operand's terms and gives None where SymPy is needed."""

    def method(self: SymbolicSize, other: object) -> Any:
        terms = _terms_of(other)
        found = None if terms is None else own(self, terms)
        if found is not None:
            return found
        if terms is None and not (isinstance(other, float) or is_sympy(other)):
            return NotImplemented
        operands = as_expr(self), as_expr(other)
        return compute(*(operands[::-1] if flipped else operands))

    return method


class SymbolicSize:
    """A size that depends on named dimensions: a polynomial in their names.

    Its operators give an int, a `SymbolicSize`, or SymPy's expression where the result is no
    polynomial with whole coefficients. It answers the questions that SymPy's expressions answer,
    such as `is_nonnegative`, and passes others on to `as_expr(size)`.

    Parameters
    ----------
    terms : dict of monomial to int
        Coefficients, none of them 0, and one of a monomial that is not 1.
    """

    __slots__ = ("_hash", "dim_names", "terms")

    def __init__(self, terms: Terms) -> None:
        self.terms: tuple[tuple[Monomial, int], ...] = tuple(sorted(terms.items()))
        self.dim_names = tuple(sorted({name for monomial in terms for name, _ in monomial}))
        """The names it depends on, in order."""
        self._hash = hash(self.terms)

    @classmethod
    def named(cls, name: str) -> SymbolicSize:
        """The size called `name`."""
        return cls({((name, 1),): 1})

    # -- questions -------------------------------------------------------------------------------
    @property
    def is_Symbol(self) -> bool:  # the name that SymPy's expressions have for it
        """Whether it is a name alone."""
        return len(self.terms) == 1 and self.terms[0][1] == 1 and self._degree == 1

    @property
    def _degree(self) -> int:
        return sum([power for _, power in self.terms[-1][0]])

    @property
    def free_symbols(self) -> set[Any]:
        """Its names, as symbols of SymPy's."""
        return as_expr(self).free_symbols

    @property
    def name(self) -> str:
        """The name that it is."""
        if not self.is_Symbol:
            raise AttributeError("name")
        return self.dim_names[0]

    is_Integer = is_Rational = is_number = False
    is_integer = True

    @property
    def is_nonnegative(self) -> bool | None:
        """True if it is a size whatever the names stand for; None if that is not known."""
        return all(number > 0 for _, number in self.terms) or None

    @property
    def is_nonpositive(self) -> bool | None:
        """True if it is never above 0; None if that is not known."""
        return all(number < 0 for _, number in self.terms) or None

    @property
    def is_zero(self) -> bool | None:
        """False if it is never 0, as n + 1 and 2 n - 1 are not; None if that is not known."""
        monomial, number = self.terms[0]
        never = not monomial and bool(self.is_nonnegative if number > 0 else self.is_nonpositive)
        return False if never else as_expr(self).is_zero

    def expand(self) -> SymbolicSize:
        """The size itself: it is a sum of products."""
        return self

    def at(self, sizes: Mapping[str, int]) -> int | SymbolicSize:
        """The size with numbers for some of its names."""
        found: dict[Monomial, int] = {}
        for monomial, number in self.terms:
            rest: list[tuple[str, int]] = []
            for name, power in monomial:
                if name in sizes:
                    number *= int(sizes[name]) ** power
                else:
                    rest.append((name, power))
            _add(found, tuple(rest), number)
        return _size(found)

    def over(self, divisor: object) -> int | SymbolicSize | None:
        """The quotient by one term, where every name is positive; None if it does not divide."""
        terms = _terms_of(divisor)
        if terms is None or len(terms) != 1:
            return None
        ((below, number),) = terms.items()
        found: dict[Monomial, int] = {}
        for monomial, coefficient in self.terms:
            powers = dict(monomial)
            for name, power in below:
                powers[name] = powers.get(name, 0) - power
            if coefficient % number or any(power < 0 for power in powers.values()):
                return None
            found[_monomial(powers)] = coefficient // number
        return _size(found)

    # -- arithmetic ------------------------------------------------------------------------------
    def _plus(self, terms: Terms) -> int | SymbolicSize:
        found = dict(self.terms)
        for monomial, number in terms.items():
            _add(found, monomial, number)
        return _size(found)

    def _minus(self, terms: Terms) -> int | SymbolicSize:
        return self._plus({monomial: -number for monomial, number in terms.items()})

    def _taken_from(self, terms: Terms) -> Any:
        return _scaled(-1, self)._plus(terms)

    def _times(self, terms: Terms) -> int | SymbolicSize:
        found: dict[Monomial, int] = {}
        for monomial, number in self.terms:
            for other, factor in terms.items():
                _add(found, _product(monomial, other), number * factor)
        return _size(found)

    def _divided(self, terms: Terms) -> int | SymbolicSize | None:
        """The quotient by a number that divides all coefficients."""
        number = terms.get((), 0) if len(terms) == 1 else 0
        return self.over(number) if number > 0 else None

    def _floored(self, terms: Terms) -> int | SymbolicSize | None:
        """The quotient by a number that divides all coefficients but the constant one."""
        number = terms.get((), 0) if len(terms) == 1 else 0
        if number <= 0:
            return None
        found = dict(self.terms)
        rest = found.pop((), 0)
        if any(factor % number for factor in found.values()):
            return None
        return _size(
            {each: factor // number for each, factor in found.items()} | {(): rest // number}
        )

    def _power(self, terms: Terms) -> int | SymbolicSize | None:
        exponent = terms.get((), 0) if len(terms) == 1 else 0
        if not 1 <= exponent <= _HIGHEST or (len(self.terms) > 1 and exponent > 2):
            return None
        found: Any = self
        for _ in range(exponent - 1):
            found = found * self
        return found

    def _by_sympy(self, _terms: Terms) -> None:
        """What only SymPy computes."""

    __add__ = __radd__ = _binary(operator.add, _plus)
    __sub__ = _binary(operator.sub, _minus)
    __rsub__ = _binary(operator.sub, _taken_from, flipped=True)
    __mul__ = __rmul__ = _binary(operator.mul, _times)
    __truediv__ = _binary(operator.truediv, _divided)
    __rtruediv__ = _binary(operator.truediv, _by_sympy, flipped=True)
    __floordiv__ = _binary(operator.floordiv, _floored)
    __rfloordiv__ = _binary(operator.floordiv, _by_sympy, flipped=True)
    __mod__ = _binary(operator.mod, _by_sympy)
    __rmod__ = _binary(operator.mod, _by_sympy, flipped=True)
    __pow__ = _binary(operator.pow, _power)
    __rpow__ = _binary(operator.pow, _by_sympy, flipped=True)
    __lt__ = _binary(operator.lt, _by_sympy)
    __le__ = _binary(operator.le, _by_sympy)
    __gt__ = _binary(operator.gt, _by_sympy)
    __ge__ = _binary(operator.ge, _by_sympy)

    def __neg__(self) -> SymbolicSize:
        return _scaled(-1, self)

    def __pos__(self) -> SymbolicSize:
        return self

    def __abs__(self) -> Any:
        return self if self.is_nonnegative else abs(as_expr(self))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SymbolicSize):
            return self.terms == other.terms
        return bool(as_expr(self) == other) if is_sympy(other) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> Any:
        return SymbolicSize, (dict(self.terms),)

    # -- SymPy -----------------------------------------------------------------------------------
    def _sympy_(self) -> Expr:
        return _expr_of(self)

    def __getattr__(self, name: str) -> Any:
        if name in _PASSED_ON or name.startswith(("is_", "as_")):
            return getattr(as_expr(self), name)
        raise AttributeError(name)

    def __int__(self) -> NoReturn:
        raise TypeError(f"The size {self} is not known yet.")

    def __repr__(self) -> str:
        (first, number), *_ = self.terms
        terms = sorted(self.terms, key=self._powers, reverse=True)
        if len(terms) == 2 and not first and number > 0 > terms[0][1] and len(terms[0][0]) == 1:
            terms = terms[::-1]  # 5 - n, as SymPy writes it, but -m*n + 5
        text = " ".join([_signed(*each) for each in terms])
        return text[2:] if text.startswith("+ ") else f"-{text[2:]}"

    def _powers(self, term: tuple[Monomial, int]) -> list[int]:
        """The power of each name in a term: by these SymPy orders terms, too."""
        powers = dict(term[0])
        return [powers.get(name, 0) for name in self.dim_names]


def is_sympy(value: object) -> bool:
    """Whether it is an expression of SymPy's."""
    return hasattr(type(value), "free_symbols") and not isinstance(value, SymbolicSize)


def as_expr(value: object) -> Any:
    """SymPy's expression of a size; anything else as it is."""
    return _expr_of(value) if isinstance(value, SymbolicSize) else value


@cache
def _expr_of(size: SymbolicSize) -> Expr:
    with collector_paused():
        from sympy import Add, Mul, Pow, Symbol  # 0.2 s to import

    names = {name: Symbol(name, integer=True, nonnegative=True) for name in size.dim_names}
    return Add(
        *[
            Mul(number, *[Pow(names[name], power) for name, power in monomial])
            for monomial, number in size.terms
        ]
    )


def as_polynomial(expr: Expr) -> Any:
    """SymPy's expanded expression as a `SymbolicSize`, if it is one of names of dimensions."""
    from sympy import Symbol

    found: dict[Monomial, int] = {}
    terms = cast("Sequence[Any]", expr.args if expr.is_Add else [expr])
    for term in terms:
        number, rest = term.as_coeff_Mul()
        powers: dict[str, int] = {}
        for factor in () if rest == 1 else rest.args if rest.is_Mul else (rest,):
            base, power = factor.as_base_exp()
            if not (power.is_Integer and power > 0) or type(base) is not Symbol:
                return expr
            if base != Symbol(base.name, integer=True, nonnegative=True):
                return expr
            powers[base.name] = int(power)
        if not number.is_Integer:
            return expr
        _add(found, _monomial(powers), int(number))
    return _size(found)


def _terms_of(value: object) -> Terms | None:
    """The terms of a polynomial or a whole number; None for anything else."""
    if isinstance(value, SymbolicSize):
        return dict(value.terms)
    if isinstance(value, (int, np.integer)):
        return {(): int(value)}
    return None


def _size(terms: dict[Monomial, int]) -> int | SymbolicSize:
    kept = {monomial: number for monomial, number in terms.items() if number}
    return SymbolicSize(kept) if any(kept) else kept.get((), 0)


def _scaled(number: int, size: SymbolicSize) -> SymbolicSize:
    return SymbolicSize({monomial: number * each for monomial, each in size.terms})


def _add(terms: dict[Monomial, int], monomial: Monomial, number: int) -> None:
    terms[monomial] = terms.get(monomial, 0) + number


def _monomial(powers: Mapping[str, int]) -> Monomial:
    return tuple(sorted([(name, power) for name, power in powers.items() if power]))


def _product(one: Monomial, other: Monomial) -> Monomial:
    powers = dict(one)
    for name, power in other:
        powers[name] = powers.get(name, 0) + power
    return _monomial(powers)


def _signed(monomial: Monomial, number: int) -> str:
    factors = [name if power == 1 else f"{name}**{power}" for name, power in monomial]
    if abs(number) != 1 or not factors:
        factors.insert(0, str(abs(number)))
    return f"{'-' if number < 0 else '+'} {'*'.join(factors)}"
