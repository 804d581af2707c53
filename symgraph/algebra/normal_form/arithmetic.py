"""The interface by which products, sums and powers of expressions call one another.

Products hold sums and sums hold products. Each module's functions take the whole arithmetic as
their first argument. `normalize.NormalForm` gathers them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ..expression.applied import AppliedIdentities
from ..expression.atoms import AtomTable
from ..expression.exact_numbers import Coef, Rational
from ..expression.term import Expr, Term
from .factors import Bound, Factors, Product, RawFactor

__all__ = ["Arithmetic"]


class Arithmetic(Protocol):
    """Arithmetic of expressions in normal form, over one table of atoms."""

    atoms: AtomTable
    applied: AppliedIdentities
    is_last: Callable[[], bool]
    """Whether nothing is differentiated any more. Some identities hold of values alone."""
    trying: bool
    """Whether a product is being tried with its sums opened. Trials do not nest."""

    def opened_term(self, term: Term, /) -> tuple[Factors, Bound]: ...

    def instance(self, slot: RawFactor, /) -> Expr: ...

    def substituted(self, expr: Expr, names: dict[int, int], /) -> Expr: ...

    def product(self, coef: Coef, factors: Factors, bound: Bound, /) -> Expr: ...

    def distributed(self, slot: RawFactor, coef: Coef, rest: Factors, bound: Bound, /) -> Expr: ...

    def as_product(self, expr: Expr, /) -> Product: ...

    def expanded(self, expr: Expr, /) -> Expr | None: ...

    def divided(self, expr: Expr, common: Factors, /) -> Expr: ...

    def add(self, parts: Sequence[tuple[Expr, Coef]], /) -> Expr: ...

    def sum_over(self, expr: Expr, bound: Bound, /) -> Expr: ...

    def fewest_terms(self, expr: Expr, /) -> Expr: ...

    def power(self, expr: Expr, power: Rational, /) -> Expr | None: ...

    def exp_factors(self, expr: Expr, /) -> tuple[Coef, Factors]: ...
