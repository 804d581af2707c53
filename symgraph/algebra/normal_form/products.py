"""Products of expressions, in normal form.

In a product in normal form

- powers of one atom are merged; they cancel only if the atom's facts allow it;
- two exps are merged only if terms of their arguments merge;
- a sum stays closed, as a "sum" atom; it is opened if the result is shorter;
- equal sums are equal atoms, so that `S * S**-1` cancels.
"""

from __future__ import annotations

from ..expression.applied import named
from ..expression.atoms import one
from ..expression.canonical_indices import canonical_term
from ..expression.exact_numbers import Coef, times
from ..expression.scalars import constant_value, content, over
from ..expression.term import ONE, SUM, Expr, Term, added, scaled, term_may_go, weight
from .arithmetic import Arithmetic
from .covered_quotients import without_covered_quotients
from .factors import (
    LONGEST,
    Bound,
    Factors,
    Product,
    RawFactor,
    common_factors,
    components,
    has_exps,
    is_lazy,
    may_meet,
    opens,
    renamed_factor,
    stripped,
    terms_could_meet,
    without_zero,
)
from .identities import settled

__all__ = [
    "as_product",
    "divided",
    "expanded",
    "multiply",
    "plain",
    "primitive",
    "product",
    "product_distributed",
    "reciprocals_distributed",
    "refreshed",
    "sums_distributed",
    "unbound",
]

_MOST_TURNED = 4
"""The most terms of a sum that is opened though nothing may merge."""


def as_product(normal: Arithmetic, expr: Expr) -> Product:
    """The expression as one product: a single term as it is, more as a multiple of a lazy sum."""
    if not expr:
        return 0, [], {}
    if len(expr) == 1:
        ((term, coef),) = expr.items()
        factors, bound = normal.opened_term(term)
        return coef, factors, bound
    coef, factors, rest = primitive(normal, expr)
    if len(rest) < 2:
        by, more, bound = as_product(normal, rest)
        return times(coef, by), factors + more, bound
    atom, idx = normal.atoms.closed(SUM, rest)
    return coef, [*factors, (atom, idx, one)], {}


def unbound(normal: Arithmetic, expr: Expr) -> tuple[Coef, Factors]:
    """The factors of a single term. Those with bound indices are gathered into lazy sums."""
    ((term, coef),) = expr.items()
    factors, bound = normal.opened_term(term)
    if not bound:
        return coef, factors
    left = [slot for slot in factors if not any(index in bound for index in slot[1])]
    for group in components(factors, bound):
        part = [slot for slot in factors if any(index in group for index in slot[1])]
        whole = canonical_term(part, {index: bound[index] for index in group})
        atom, idx = normal.atoms.closed(SUM, {whole: one})
        left.append((atom, idx, one))
    return coef, left


def primitive(normal: Arithmetic, expr: Expr) -> tuple[Coef, Factors, Expr]:
    """The number and the factors that all terms share, and the expression divided by them."""
    common = common_factors(expr)
    if common:
        expr = divided(normal, expr, common)
    coef = content(expr) if expr else 1
    return coef, common, over(expr, coef)


def divided(normal: Arithmetic, expr: Expr, common: Factors) -> Expr:
    """The expression divided by factors that each term has. No fact is needed for that."""
    inverse: Factors = [(atom, idx, -power) for atom, idx, power in common]
    parts: list[tuple[Term, Coef]] = []
    for term, coef in expr.items():
        factors, bound = normal.opened_term(term)
        parts.extend(product(normal, coef, stripped(factors, inverse), bound).items())
    return added(parts)


def multiply(normal: Arithmetic, x: Expr, y: Expr) -> Expr:
    """The product of two expressions."""
    for one_side, other in ((x, y), (y, x)):
        value = constant_value(one_side)
        if value is None:
            continue
        if value != 0:
            return scaled(other, value)
        # 0 * x is 0 only if x is defined everywhere.
        return {term: value for term in other if not term_may_go(term)}
    coef, factors, bound = as_product(normal, x)
    coef2, factors2, bound2 = as_product(normal, y)
    return product(normal, times(coef, coef2), factors + factors2, bound | bound2)


def product(normal: Arithmetic, coef: Coef, factors: Factors, bound: Bound) -> Expr:
    """The product of the factors, summed over the bound indices, in normal form."""
    coef, factors, bound = settled(normal, coef, factors, dict(bound))
    sums = [slot for slot in factors if is_lazy(slot)]
    if len(factors) == 1 and sums:
        return normal.sum_over(scaled(normal.instance(sums[0]), coef), bound)
    closed = without_zero({canonical_term(factors, bound): coef})
    if not sums or normal.trying:
        return closed
    # A trial within a trial could double the work at every level.
    normal.trying = True
    try:
        return _tried(normal, closed, (coef, factors, bound), sums)
    finally:
        normal.trying = False


def _tried(normal: Arithmetic, closed: Expr, whole: Product, sums: Factors) -> Expr:
    """The product with one lazy sum opened, or all of them, if that is shorter."""
    coef, factors, bound = whole
    before = normal.applied.mark()
    for slot in sums:
        rest = [other for other in factors if other is not slot]
        if len(slot[0].expr) > LONGEST or not may_meet(slot, rest, bound):
            continue
        opened = product_distributed(normal, slot, coef, rest, bound)
        if weight(opened) < weight(closed):
            normal.applied.note(product_distributed.__name__)
            return opened
        normal.applied.take_back(before)
    if has_exps(factors):
        opened = expanded(normal, closed)
        if opened is not None and weight(opened) < weight(closed):
            return opened
        normal.applied.take_back(before)
    return closed


def plain(normal: Arithmetic, coef: Coef, factors: Factors, bound: Bound) -> Expr:
    """As `product`, but lazy sums stay closed."""
    coef, factors, bound = settled(normal, coef, factors, dict(bound))
    if len(factors) == 1 and is_lazy(factors[0]):
        return normal.sum_over(scaled(normal.instance(factors[0]), coef), bound)
    return without_zero({canonical_term(factors, bound): coef})


def expanded(normal: Arithmetic, expr: Expr) -> Expr | None:
    """The expression with all lazy sums opened; None if nothing merges or it grows too long."""
    if not terms_could_meet(expr):
        return None
    queue = list(expr.items())
    done: list[tuple[Term, Coef]] = []
    opened = False
    while queue:
        term, coef = queue.pop(0)
        factors, bound = normal.opened_term(term)
        lazy = next((slot for slot in factors if opens(slot, factors)), None)
        if lazy is None:
            done.append((term, coef))
            continue
        opened = True
        rest = [slot for slot in factors if slot is not lazy]
        queue.extend(product_distributed(normal, lazy, coef, rest, bound).items())
        if len(queue) + len(done) > LONGEST:
            return None
    if not opened:
        return None
    found = normal.fewest_terms(without_covered_quotients(normal, added(done)))
    if len(found) >= len(done):
        return None
    normal.applied.note(product_distributed.__name__)
    return found


def reciprocals_distributed(normal: Arithmetic, expr: Expr) -> Expr | None:
    r"""The expression with $x (1 + 1 / y)$ as $x + x / y$; None if there is none.

    Alone $1 / y$ takes an operation, and $x / y$ takes the place of the product.
    """
    done: list[tuple[Term, Coef]] = []
    opened = False
    for term, coef in expr.items():
        factors, bound = normal.opened_term(term)
        lazy = next((slot for slot in factors if _adds_reciprocal(slot)), None)
        if lazy is None or len(factors) == 1:
            done.append((term, coef))
            continue
        opened = True
        rest = [slot for slot in factors if slot is not lazy]
        done.extend(product_distributed(normal, lazy, coef, rest, bound).items())
    if not opened:
        return None
    normal.applied.note(product_distributed.__name__)
    return added(done)


def sums_distributed(normal: Arithmetic, expr: Expr) -> Expr | None:
    r"""The expression $x (a u + b v) + y (b u - a v)$ as four products; None if it is no such sum.

    There may be better factors: $x a$, $x b$, $y a$ and $y b$ are there where a point (x, y) is
    turned, and their sums are factors of u and v.
    """
    if len(expr) != 2:
        return None
    done: list[tuple[Term, Coef]] = []
    for term, coef in expr.items():
        factors, bound = normal.opened_term(term)
        lazy = [slot for slot in factors if is_lazy(slot) and len(slot[0].expr) <= _MOST_TURNED]
        if len(lazy) != 1 or len(factors) == 1:
            return None
        rest = [slot for slot in factors if slot is not lazy[0]]
        done.extend(product_distributed(normal, lazy[0], coef, rest, bound).items())
    normal.applied.note(product_distributed.__name__)
    return added(done)


def _adds_reciprocal(slot: RawFactor) -> bool:
    """Whether the factor is a sum of a number and a reciprocal."""
    if not is_lazy(slot) or slot[2] != 1 or len(slot[0].expr) != 2:
        return False
    return ONE in slot[0].expr and all(f.power < 0 for term in slot[0].expr for f in term.factors)


@named
def product_distributed(
    normal: Arithmetic, slot: RawFactor, coef: Coef, rest: Factors, bound: Bound
) -> Expr:
    r"""$x (y + z) = x y + x z$, for one lazy sum."""
    parts: list[tuple[Term, Coef]] = []
    for term, each in normal.instance(slot).items():
        inner, inner_bound = normal.opened_term(term)
        renamed, new = refreshed(normal, bound)
        inner = [renamed_factor(s, renamed) for s in inner]
        factors = [renamed_factor(s, renamed) for s in rest] + inner
        parts.extend(plain(normal, times(coef, each), factors, new | inner_bound).items())
    return normal.fewest_terms(added(parts))


def refreshed(normal: Arithmetic, bound: Bound) -> tuple[dict[int, int], Bound]:
    """Fresh names for bound indices, and the size of each fresh index."""
    names = {index: normal.atoms.fresh() for index in bound}
    return names, {names[index]: size for index, size in bound.items()}
