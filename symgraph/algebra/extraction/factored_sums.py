"""Sums with factors taken out, and with products that several terms share written once."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.dims import Dim
from ..expression.applied import named
from ..expression.atoms import one
from ..expression.canonical_indices import canonical_term
from ..expression.exact_numbers import Coef, Rational, rational, times
from ..expression.term import Expr, Factor, Term, added, index_sizes
from ..normal_form.factors import Factors, RawFactor, renamed_factor
from .common_factors import (
    SharedFactor,
    all_without,
    common_product,
    contractions_again,
    place_of,
    products_again,
    shared_factors,
)
from .repeated_sums import found_again
from .term_writer import Scaled
from .writes_sums import WritesSums

__all__ = [
    "common_product_taken_out",
    "contraction_written_once",
    "factor_taken_out",
    "outgrows",
    "product_written_once",
    "scales_rows",
]

_MOST_CONTRACTIONS = 3
"""The most contractions shared by several terms that are tried, each computed once."""


def _factored(writer: WritesSums, expr: Expr, key: SharedFactor) -> Scaled | None:
    """The sum with one factor taken out of the terms that share it."""
    atom, pattern, up = key
    group: list[tuple[Term, Coef, int]] = []
    rest: Expr = {}
    for term, coef in expr.items():
        place = place_of(term, atom, pattern, up)
        if place is None:
            rest[term] = coef
        else:
            group.append((term, coef, place))
    if len(group) < 2:
        return None
    powers = [term.factors[place].power for term, _, place in group]
    power = min(powers) if up else max(powers)
    common = _common_indices(writer, expr, pattern, group[0][0], group[0][2])
    bound: dict[int, Dim] = {}
    parts: list[tuple[Term, Coef]] = []
    for term, coef, place in group:
        parts.append((_without(writer, term, place, power, pattern, common, bound), coef))
    if up and any(not _is_defined(term.factors[place], power) for term, _, place in group):
        return None
    inner = added(parts)
    if outgrows(inner, [term for term, _, _ in group]) or scales_rows(inner, set(common.values())):
        return None
    by, piece = writer.sum_of_leaves(inner) if inner else (one, None)
    if piece is None or writer.is_too_long(piece):
        return None
    leaf: RawFactor = (writer.atoms.made(piece.node), piece.names, one)
    idx = tuple([common[p] if p < 0 else p for p in pattern])
    whole = canonical_term([(atom, idx, power), leaf], bound)
    again = found_again(writer.normal, rest, inner, list(common.values()))
    if again is not None:
        rest, names, ratio = again
        sum_of = canonical_term([renamed_factor(leaf, names)], {})
        rest = added([*rest.items(), (sum_of, times(ratio, by))])
    return writer.sum_of_leaves(added([*rest.items(), (whole, by)]))


def _common_indices(
    writer: WritesSums, expr: Expr, pattern: tuple[int, ...], term: Term, place: int
) -> dict[int, int]:
    """An index for each that a shared factor is summed over; one of the terms with it is given."""
    used = set(index_sizes(expr))
    found: dict[int, int] = {}
    for index, label in zip(term.factors[place].idx, pattern, strict=True):
        if label < 0 and label not in found:
            found[label] = writer.free_index(term.bound[-1 - index], used)
            used.add(found[label])
    return found


@named
def factor_taken_out(writer: WritesSums, expr: Expr) -> list[Scaled]:
    r"""$x y + x z = x (y + z)$, also if $x$ has an index that is summed over."""
    keys = shared_factors(expr)[: 3 if len(expr) <= 4 else 1]
    together = {(atom, idx) for atom, idx, _ in common_product(expr)}
    if len(together) > 1:  # They are taken out at once, by another of these functions.
        keys = [key for key in keys if key[:2] not in together]
    return [found for key in keys if (found := _factored(writer, expr, key)) is not None]


@named
def common_product_taken_out(writer: WritesSums, expr: Expr) -> list[Scaled]:
    r"""$x y u + x y v = x y (u + v)$: several factors of all terms at once."""
    found: list[Scaled] = []
    common = common_product(expr)
    if len(common) > 1:
        inner = added([(_renamed(all_without(term, common), term), c) for term, c in expr.items()])
        if len(inner) > 1 and not outgrows(inner, list(expr)):
            by, piece = writer.sum_of_leaves(inner)
            if writer.is_too_long(piece):
                return found
            leaf: RawFactor = (writer.atoms.made(piece.node), piece.names, one)
            found.append(writer.terms.product(canonical_term([*common, leaf], {}), by))
    return found


@named
def product_written_once(writer: WritesSums, expr: Expr) -> list[Scaled]:
    r"""$P - x \sum_i x_i P_i$ with a product $P$ that is computed once."""
    found: list[Scaled] = []
    for product, again in products_again(expr):
        by, piece = writer.terms.product(product, one)
        if writer.is_too_long(piece):
            continue
        atom = writer.atoms.made(piece.node)
        parts = [(canonical_term([(atom, piece.names, one)], {}), times(expr[product], by))]
        for term, rest, names in again:
            idx = tuple([names[i] for i in piece.names])
            whole = _renamed([*rest, (atom, idx, one)], term)
            parts.append((whole, times(expr[term], by)))
        replaced = {product, *[each.term for each in again]}
        left = [item for item in expr.items() if item[0] not in replaced]
        found.append(writer.sum_of_leaves(added([*left, *parts])))
    return found


@named
def contraction_written_once(writer: WritesSums, expr: Expr) -> list[Scaled]:
    r"""$C A X B + (C A)^\top X B^\top$ with $C A$ computed once."""
    found: list[Scaled] = []
    for (one_end, other_end), terms in contractions_again(expr)[:_MOST_CONTRACTIONS]:
        gone, rows, columns = [writer.atoms.fresh() for _ in range(3)]
        factors: Factors = []
        for (atom, axis), left in ((one_end, rows), (other_end, columns)):
            factors.append((atom, (left, gone) if axis else (gone, left), one))
        size = one_end[0].sizes[one_end[1]]
        writer.spelling.sizes[gone] = size
        by, piece = writer.terms.product(canonical_term(factors, {gone: size}), one)
        atom = writer.atoms.made(piece.node)
        parts = [item for item in expr.items() if item[0] not in {each.term for each in terms}]
        for term, rest, ends in terms:
            names = dict(zip((rows, columns), ends, strict=True))
            idx = tuple([names[i] for i in piece.names])
            parts.append((_renamed([*rest, (atom, idx, one)], term), times(expr[term], by)))
        found.append(writer.sum_of_leaves(added(parts)))
    return found


def outgrows(inner: Expr, terms: Sequence[Term]) -> bool:
    """Whether a sum has more indices than each array in it and than the terms together."""
    labels = set(index_sizes(inner))
    spans = [set(f.idx) for term in inner for f in term.factors]
    spans.append({i for term in terms for f in term.factors for i in f.idx if i >= 0})
    return not any(labels <= span for span in spans)


def scales_rows(inner: Expr, summed: set[int]) -> bool:
    """Whether terms of a sum that is to be contracted are matrices times vectors, row by row.

    Outside of the sum each vector would be multiplied with the other vector, as V' (s y) has it.
    """
    free = set(index_sizes(inner))
    if not summed or len(free) < 2:
        return False
    return all(_is_scaled_matrix(term, free, summed) for term in inner)


def _is_scaled_matrix(term: Term, free: set[int], summed: set[int]) -> bool:
    spans = [free.intersection(f.idx) for f in term.factors]
    return any(span == free for span in spans) and any(span == summed for span in spans)


def _is_defined(factor: Factor, power: Rational) -> bool:
    """Whether a factor has this power for all its values."""
    return power.denominator == 1 or factor.atom.nonnegative


def _without(
    writer: WritesSums,
    term: Term,
    place: int,
    power: Rational,
    pattern: tuple[int, ...],
    common: dict[int, int],
    bound: dict[int, Dim],
) -> Term:
    """The term without one factor. The factor's bound indices get the common names."""
    factor = term.factors[place]
    names: dict[int, int] = {}
    for index, label in zip(factor.idx, pattern, strict=True):
        if index < 0:
            names[index] = common[label]
            bound[common[label]] = term.bound[-1 - index]
    own = {-1 - i: size for i, size in enumerate(term.bound) if -1 - i not in names}
    fresh = {index: writer.atoms.fresh() for index in own}
    names |= fresh
    factors: Factors = [
        (f.atom, tuple([names.get(i, i) for i in f.idx]), f.power)
        for i, f in enumerate(term.factors)
        if i != place
    ]
    left = rational(factor.power - power)
    if left != 0:
        factors.append((factor.atom, tuple([names.get(i, i) for i in factor.idx]), left))
    writer.spelling.sizes.update(bound)
    return canonical_term(factors, {fresh[index]: size for index, size in own.items()})


def _renamed(factors: Factors, term: Term) -> Term:
    """The factors, summed over those of the term's indices that they have."""
    used = {i for _, idx, _ in factors for i in idx}
    bound = {-1 - place: size for place, size in enumerate(term.bound) if -1 - place in used}
    return canonical_term(factors, bound)
