"""Ways to write a sum: a table of named functions, each with its equation.

Each function gives spellings of a sum, each as a number times an array. The writer takes the
cheapest.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from itertools import combinations
from math import inf
from typing import NamedTuple, Protocol

from ...accuracy import Judge
from ...ir.dims import Dim
from ..expression.applied import named
from ..expression.atoms import AtomTable, one
from ..expression.canonical_indices import canonical_term
from ..expression.exact_numbers import Coef, Rational, quotient, rational, times
from ..expression.roles import ANGLES
from ..expression.term import DIM, LEAF, ONE, Expr, Factor, Term, added, index_sizes
from ..normal_form.factors import Factors, RawFactor, renamed_factor
from ..normal_form.normalize import NormalForm
from .common_factors import (
    SharedFactor,
    all_without,
    common_product,
    contractions_again,
    place_of,
    products_again,
    shared_factors,
)
from .flat_writer import FlatWriter
from .indexed_arrays import ArrayOperations, IndexedArray
from .repeated_sums import found_again
from .term_writer import Scaled, TermWriter

__all__ = ["SPELLINGS", "SumSpelling", "WritesSums"]

_WIDEST = 12
"""Sums of more terms are written without looking for common factors."""
_MOST_CONTRACTIONS = 3
"""The most contractions shared by several terms that are tried, each computed once."""


class WritesSums(Protocol):
    """A writer of sums, as far as these functions need it."""

    normal: NormalForm
    atoms: AtomTable
    spelling: ArrayOperations
    terms: TermWriter
    sums: FlatWriter
    judge: Judge | None

    def sum_of_leaves(self, expr: Expr, /) -> Scaled:
        """The cheapest spelling of a sum over arrays."""
        ...

    def free_index(self, size: Dim, used: Container[int], /) -> int:
        """The first index of this size that is not used."""
        ...

    def is_too_long(self, piece: IndexedArray, /) -> bool:
        """Whether a piece alone has more operations than a spelling may have."""
        ...


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
    if None in parts or len(inner) < 2 or _outgrows(writer, inner, list(expr)):
        return None
    if _scales_rows(inner, {common}):
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


# -- common factors ----------------------------------------------------------------------------


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
    if _outgrows(writer, inner, [term for term, _, _ in group]) or _scales_rows(
        inner, set(common.values())
    ):
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
        if len(inner) > 1 and not _outgrows(writer, inner, list(expr)):
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


def _outgrows(writer: WritesSums, inner: Expr, terms: Sequence[Term]) -> bool:
    """Whether a sum has more indices than each array in it and than the terms together."""
    labels = set(index_sizes(inner))
    spans = [set(f.idx) for term in inner for f in term.factors]
    spans.append({i for term in terms for f in term.factors for i in f.idx if i >= 0})
    return not any(labels <= span for span in spans)


def _scales_rows(inner: Expr, summed: set[int]) -> bool:
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
    """The factors, summed over what they have of the term's indices."""
    used = {i for _, idx, _ in factors for i in idx}
    bound = {-1 - place: size for place, size in enumerate(term.bound) if -1 - place in used}
    return canonical_term(factors, bound)


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
