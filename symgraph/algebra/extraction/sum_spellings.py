"""Ways to write a sum: a table of named functions, each with its equation.

Each function gives spellings of a sum, each as a number times an array. The writer takes the
cheapest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from math import inf
from typing import NamedTuple

from ...ir.dims import Dim
from ..expression.applied import named
from ..expression.atoms import one
from ..expression.canonical_indices import canonical_term
from ..expression.exact_numbers import Coef, quotient, times
from ..expression.roles import ANGLES
from ..expression.term import DIM, LEAF, ONE, Expr, Term, added, index_sizes
from ..normal_form.factors import RawFactor, renamed_factor
from .factored_sums import (
    common_product_taken_out,
    contraction_written_once,
    factor_taken_out,
    outgrows,
    product_written_once,
    scales_rows,
)
from .repeated_sums import found_again
from .term_writer import Scaled
from .writes_sums import WritesSums

__all__ = ["SPELLINGS", "SumSpelling"]

_WIDEST = 12
"""Sums of more terms are written without looking for common factors."""


@named
def sum_of_sums(writer: WritesSums, expr: Expr) -> list[Scaled]:
    r"""$\sum_i x_i + \sum_i y_i = \sum_i (x_i + y_i)$; $n y$ is a sum, too."""
    sizes = list(dict.fromkeys(size for term in expr for size in term.bound))
    return [found for size in sizes for found in [_under(writer, expr, size)] if found is not None]


@named
def number_factored(writer: WritesSums, expr: Expr) -> list[Scaled]:
    r"""$a x + a y + z = a (x + y) + z$, for a number $a$."""
    sizes: dict[Coef, list[Term]] = {}
    for term, coef in expr.items():
        if coef != 0 and term != ONE:
            sizes.setdefault(abs(coef), []).append(term)
    found: list[Scaled] = []
    for size, terms in sizes.items():
        if size == 1 or not 2 <= len(terms) < len(expr):
            continue
        _, piece = inner = writer.sums.flat({term: quotient(expr[term], size) for term in terms})
        if writer.is_too_long(piece):
            continue
        leaf: RawFactor = (writer.atoms.made(piece.node), piece.names, one)
        rest = [item for item in expr.items() if item[0] not in terms]
        whole = (canonical_term([leaf], {}), times(inner[0], size))
        found.append(writer.sums.flat(added([*rest, whole])))
    return found


@named
def differences_first(writer: WritesSums, expr: Expr) -> list[Scaled]:
    r"""$a + b - c = a + (b - c)$: if $b$ is near $c$, $a + b$ would lose the digits of $b - c$."""
    found: list[Scaled] = []
    terms = [term for term in expr if term != ONE] if writer.judge is not None else []
    for one_term, other in combinations(terms, 2):
        if (expr[one_term] > 0) != (expr[other] > 0):
            inner = writer.sum_of_leaves({each: expr[each] for each in (one_term, other)})
            leaf: RawFactor = (writer.atoms.made(inner[1].node), inner[1].names, one)
            rest = [item for item in expr.items() if item[0] not in (one_term, other)]
            found.append(writer.sums.flat(added([*rest, (canonical_term([leaf], {}), inner[0])])))
    return found


@named
def cosine_of_double_angle(writer: WritesSums, expr: Expr) -> list[Scaled]:
    r"""$\cos^2 x - \sin^2 x = \cos 2x$, and the same for hyperbolic functions."""
    found: list[Scaled] = []
    for term, coef in expr.items():
        for place, f in enumerate(term.factors):
            if f.power != 2 or f.atom.kind != LEAF:
                continue
            angle = f.atom.node.op.traits.angle
            if angle is None or angle.part != "cosine":
                continue
            (x,) = f.atom.node.operands
            sine_of = ANGLES[replace(angle, part="sine")]
            sine = writer.atoms.leaf(writer.spelling.call(sine_of, x))
            factors, bound = writer.normal.opened_term(term)
            rest = [slot for i, slot in enumerate(factors) if i != place]
            partner = canonical_term([*rest, (sine, f.idx, f.power)], bound)
            if expr.get(partner) == -angle.square * coef:
                left = [item for item in expr.items() if item[0] not in (term, partner)]
                atom = writer.atoms.made(writer.terms.variants.doubled(angle, x))
                whole = canonical_term([*rest, (atom, f.idx, one)], bound)
                found.append(writer.sum_of_leaves(added([*left, (whole, coef)])))
    return found


def _under(writer: WritesSums, expr: Expr, size: Dim) -> Scaled | None:
    common = writer.free_index(size, index_sizes(expr))
    parts = [_placed(writer, term, coef, size, common) for term, coef in expr.items()]
    inner = added([part for part in parts if part is not None])
    if None in parts or len(inner) < 2 or outgrows(inner, list(expr)):
        return None
    if scales_rows(inner, {common}):
        return None
    writer.spelling.sizes[common] = size
    coef, piece = writer.sum_of_leaves(inner)
    return (coef, writer.spelling.summed(piece, [common])) if common in piece.names else None


def _placed(
    writer: WritesSums, term: Term, coef: Coef, size: Dim, common: int
) -> tuple[Term, Coef] | None:
    """A term as a summand under a sum over an index of this size; None if it has no such form.

    A term that does not depend on the index is divided by the size.
    """
    factors, bound = writer.normal.opened_term(term)
    place = next((index for index, dim in bound.items() if dim == size), None)
    if place is not None:
        factors = [
            (atom, tuple([common if i == place else i for i in idx]), power)
            for atom, idx, power in factors
        ]
        bound = {index: dim for index, dim in bound.items() if index != place}
    elif size == 0:
        return None
    elif isinstance(size, int):
        coef = quotient(coef, size)
    else:
        counts = [slot for slot in factors if slot[0].kind == DIM and slot[0].payload == size]
        if not counts or counts[0][2] != 1:
            return None
        factors = [slot for slot in factors if slot is not counts[0]]
    return canonical_term(factors, bound), coef


@named
def sum_written_once(writer: WritesSums, expr: Expr) -> list[Scaled]:
    r"""$x - y - \bar x + \bar y = u - \bar u$ with one $u = x - y$."""
    found: list[Scaled] = []
    for size in dict.fromkeys(size for term in expr for size in term.bound):
        group = [(term, coef) for term, coef in expr.items() if size in term.bound]
        if not 2 <= len(group) < len(expr):
            continue
        common = writer.free_index(size, index_sizes(expr))
        placed = [_placed(writer, *part, size, common) for part in group]
        inner = added([part for part in placed if part is not None])
        rest = {term: coef for term, coef in expr.items() if size not in term.bound}
        again = found_again(writer.normal, rest, inner, [common])
        if again is None:
            continue
        left, names, ratio = again
        writer.spelling.sizes[common] = size
        by, piece = writer.sum_of_leaves(inner)
        leaf: RawFactor = (writer.atoms.made(piece.node), piece.names, one)
        summed = (canonical_term([leaf], {common: size}), by)
        alone = (canonical_term([renamed_factor(leaf, names)], {}), times(ratio, by))
        found.append(writer.sum_of_leaves(added([*left.items(), alone, summed])))
    return found


@named
def first_turned(writer: WritesSums, expr: Expr) -> list[Scaled]:
    r"""$-x - y = (-x) - y$, if the negative of $x$ is computed anyway."""
    return writer.sums.first_turned(expr)


class SumSpelling(NamedTuple):
    """A way to write a sum, and how many terms it is tried for."""

    name: str
    step: Callable[[WritesSums, Expr], list[Scaled]]
    fewest: int
    most: float


def _spelling(
    step: Callable[[WritesSums, Expr], list[Scaled]], fewest: int = 2, most: float = _WIDEST
) -> SumSpelling:
    return SumSpelling(step.__name__, step, fewest, most)


SPELLINGS = (
    _spelling(factor_taken_out),
    _spelling(common_product_taken_out),
    _spelling(product_written_once),
    _spelling(contraction_written_once),
    _spelling(sum_of_sums, most=4),
    _spelling(sum_written_once, fewest=4),
    _spelling(first_turned, most=inf),
    _spelling(number_factored, most=inf),
    _spelling(cosine_of_double_angle, most=inf),
    _spelling(differences_first, fewest=3, most=4),
)
"""In the order in which they are tried."""
