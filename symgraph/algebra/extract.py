"""From an expression back to the operations a person would write, as few of them as can be found.

A sum is written term by term, and with common factors taken out (also across a summed index: X.T @
a - X.T @ b as X.T @ (a - b)); the cheaper spelling is kept, what is computed anyway being free. A
product is planned by `plan`; signs and numbers travel outward until a subtraction or the result
takes them up.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from ..accuracy import Judge
from ..ir.dims import Dim
from ..ir.node import Node
from .flat_writer import FlatWriter
from .gathering import found_again, gathered
from .heads import one
from .labels import canonical_term
from .normalize import Normal
from .pieces import Piece, Spelling
from .printable import Printable
from .sharing import (
    all_without,
    common_product,
    contractions_again,
    place_of,
    products_again,
    shared_factors,
)
from .slots import Factors, Slot, renamed_slot
from .term import (
    ONE,
    Coef,
    Expr,
    Rational,
    Term,
    added,
    index_sizes,
    quotient,
    rational,
    times,
)
from .term_writer import Scaled, Unwritable

__all__ = ["Unwritable", "Writer"]

_EVEN: dict[str, tuple[str, int]] = {"cos": ("sin", -1), "cosh": ("sinh", 1)}
_WIDEST = 12
"""Sums of more terms are written without looking for common factors."""
_MOST_CONTRACTIONS = 3
"""So many contractions of two matrices in several terms are tried out, each computed once."""
_MOST_PRODUCTS = 150
"""So many products planned for one region, no further spellings of it are tried."""


class Writer(FlatWriter):
    """Writes expressions as nodes.

    Parameters
    ----------
    normal : Normal
    spelling : Spelling
    price : callable
        What a node costs beyond what is computed anyway.
    size_of : callable
        A number for a dimension.
    sum_of : callable
        The array that a sum is known to be, with a number and indices; None if there is none.
    order : sequence of int
        The indices of the result, in order.
    judge : Judge, optional
        Asked whether one way to write a sum loses digits that another keeps.
    """

    def __init__(
        self,
        normal: Normal,
        spelling: Spelling,
        price: Callable[[Node], Any],
        size_of: Callable[[Dim], float],
        sum_of: Callable[[Expr], Any],
        order: Sequence[int],
        judge: Judge | None = None,
    ) -> None:
        super().__init__(normal, spelling, price, size_of, order)
        self.judge = judge
        self.sum_of = sum_of
        # Held weakly, for it is this writer's own: the two would live until collected.
        self.printable = Printable(normal, spelling, weakref.proxy(self), steady=judge is not None)
        self._sums: dict[frozenset[tuple[Term, Coef]], Scaled] = {}
        self._leaf_sums: dict[frozenset[tuple[Term, Coef]], Scaled] = {}

    # -- sums --------------------------------------------------------------------------------------
    def written(self, expr: Expr) -> Piece:
        """The expression as one piece."""
        coef, piece = found = self.sum(expr)
        if coef < 0 and len(expr) == 1:
            # The sign may go into a number that is written anyway, or turn a difference round.
            found = min([found, *self.turned(self.printable.expr(expr))], key=self._price)
            coef, piece = found
        return self.spelling.times(piece, coef)

    def cheaper(self, options: list[Callable[[], Piece]]) -> Piece:
        """The first of the cheapest pieces."""
        pieces = [option() for option in options]
        return min(pieces, key=lambda piece: self.price(piece.node))

    def sum(self, expr: Expr) -> Scaled:
        """The expression as a number times a piece."""
        self.spelling.sizes.update(index_sizes(expr))
        if not expr:
            return one, Piece(self.spelling.constant(0), ())
        key = frozenset(expr.items())
        found = self._sums.get(key)
        if found is None:
            found = self._known_sum(expr) or self._sum_of_leaves(self.printable.expr(expr))
            joint = gathered(self.normal, expr)
            if joint is not None:
                found = self._least([found, self._sum_of_leaves(self.printable.expr(joint))])
            self._sums[key] = found
        return found

    def _known_sum(self, expr: Expr) -> Scaled | None:
        """The sum as an array that is computed anyway."""
        if any(f.head.rank < 0 for term in expr for f in term.factors):
            return None
        known = self.sum_of(expr)
        if known is None or not self.spelling.alive(known[1]):
            return None
        coef, node, labels = known
        return coef, Piece(node, labels)

    def _sum_of_leaves(self, expr: Expr) -> Scaled:
        key = frozenset(expr.items())
        found = self._leaf_sums.get(key)
        if found is None:
            found = self._known_sum(expr) or self._cheapest_sum(expr)
            self._leaf_sums[key] = found
        return found

    def _cheapest_sum(self, expr: Expr) -> Scaled:
        self.spelling.sizes.update(index_sizes(expr))
        if len(expr) == 1:
            ((term, coef),) = expr.items()
            return self.product(term, coef)
        if not expr:
            return one, Piece(self.spelling.constant(0), ())
        options = [self.flat(expr)]
        if len(self._products) > _MOST_PRODUCTS:
            return options[0]
        if len(expr) <= _WIDEST:
            keys = shared_factors(expr)
            for key in keys[: 3 if len(expr) <= 4 else 1]:
                factored = self._factored(expr, key)
                if factored is not None:
                    options.append(factored)
            options.extend(self._shared(expr))
        if len(expr) <= 4:
            options.extend(self._gathered(expr))
        if 4 <= len(expr) <= _WIDEST:
            options.extend(self._summed_again(expr))
        options.extend(self.first_turned(expr))
        options.extend(self._by_size(expr))
        options.extend(self._double_angles(expr))
        if self.judge is not None and 3 <= len(expr) <= 4:
            options.extend(self._differences_first(expr))
        return self._least(options)

    def _least(self, options: list[Scaled]) -> Scaled:
        """The cheapest, of those whose work is not far above the least."""
        if len(options) == 1:
            return options[0]
        options = self._as_good(options)
        prices = [self._price(each) for each in options]
        most = 2.5 * min(price[1] for price in prices)
        best = min(range(len(options)), key=lambda i: (prices[i][1] > most, prices[i], i))
        return options[best]

    def _as_good(self, options: list[Scaled]) -> list[Scaled]:
        """Those that lose no digits beside another: the judge is asked."""
        judge = self.judge
        if judge is None:
            return options
        order = options[0][1].names
        if any(set(piece.names) != set(order) for _, piece in options):
            return options
        nodes = [
            self.spelling.laid(self.spelling.times(piece, coef), order) for coef, piece in options
        ]
        best = nodes[0]
        for node in nodes[1:]:
            if judge.loses(best, node) and not judge.loses(node, best):
                best = node
        return [
            option
            for option, node in zip(options, nodes, strict=True)
            if node is best or not judge.loses(node, best)
        ]

    def _gathered(self, expr: Expr) -> list[Scaled]:
        """All terms under one sum: sum(a) + sum(b) as sum(a + b), sum(a) + n * b as sum(a + b)."""
        sizes = list(dict.fromkeys(size for term in expr for size in term.bound))
        return [found for size in sizes for found in [self._under(expr, size)] if found is not None]

    def _by_size(self, expr: Expr) -> list[Scaled]:
        """Terms with one number between them under it: 0.1 a + 0.1 b + c as 0.1 (a + b) + c."""
        sizes: dict[Coef, list[Term]] = {}
        for term, coef in expr.items():
            if coef != 0 and term != ONE:
                sizes.setdefault(abs(coef), []).append(term)
        found: list[Scaled] = []
        for size, terms in sizes.items():
            if size == 1 or not 2 <= len(terms) < len(expr):
                continue
            _, piece = inner = self.flat({term: quotient(expr[term], size) for term in terms})
            leaf: Slot = (self.heads.made(piece.node), piece.names, one)
            rest = [item for item in expr.items() if item[0] not in terms]
            whole = (canonical_term([leaf], {}), times(inner[0], size))
            found.append(self.flat(added([*rest, whole])))
        return found

    def _differences_first(self, expr: Expr) -> list[Scaled]:
        """As a + (b - c) what is a + b - c: if b is near c, a + b has lost digits of both."""
        found: list[Scaled] = []
        terms = [term for term in expr if term != ONE]
        for one_term, other in combinations(terms, 2):
            if (expr[one_term] > 0) != (expr[other] > 0):
                inner = self._sum_of_leaves({each: expr[each] for each in (one_term, other)})
                leaf: Slot = (self.heads.made(inner[1].node), inner[1].names, one)
                rest = [item for item in expr.items() if item[0] not in (one_term, other)]
                found.append(self.flat(added([*rest, (canonical_term([leaf], {}), inner[0])])))
        return found

    def _double_angles(self, expr: Expr) -> list[Scaled]:
        """cos(x)**2 - sin(x)**2 as cos(2 x), cosh(x)**2 + sinh(x)**2 as cosh(2 x)."""
        found: list[Scaled] = []
        for term, coef in expr.items():
            for place, f in enumerate(term.factors):
                if f.power != 2 or f.head.kind != "leaf":
                    continue
                name = f.head.node.op.name
                if name not in _EVEN:
                    continue
                (x,) = f.head.node.operands
                partner_name, sign = _EVEN[name]
                sine = self.heads.leaf(self.spelling.call(partner_name, x))
                factors, bound = self.normal.opened_term(term)
                rest = [slot for i, slot in enumerate(factors) if i != place]
                partner = canonical_term([*rest, (sine, f.idx, f.power)], bound)
                if expr.get(partner) == sign * coef:
                    left = [item for item in expr.items() if item[0] not in (term, partner)]
                    head = self.heads.made(self.variants.doubled(name, x))
                    whole = canonical_term([*rest, (head, f.idx, one)], bound)
                    found.append(self._sum_of_leaves(added([*left, (whole, coef)])))
        return found

    def _under(self, expr: Expr, size: Dim) -> Scaled | None:
        common = self.heads.fresh()
        parts = [self._placed(term, coef, size, common) for term, coef in expr.items()]
        inner = added([part for part in parts if part is not None])
        if None in parts or len(inner) < 2 or self._outgrows(inner, list(expr)):
            return None
        self.spelling.sizes[common] = size
        coef, piece = self._sum_of_leaves(inner)
        return (coef, self.spelling.summed(piece, [common])) if common in piece.names else None

    def _placed(self, term: Term, coef: Coef, size: Dim, common: int) -> tuple[Term, Coef] | None:
        """What a term is under a sum over an index of this size; None if it is not under one."""
        factors, bound = self.normal.opened_term(term)
        place = next((index for index, dim in bound.items() if dim == size), None)
        if place is not None:
            factors = [
                (head, tuple([common if i == place else i for i in idx]), power)
                for head, idx, power in factors
            ]
            bound = {index: dim for index, dim in bound.items() if index != place}
        elif size == 0:
            return None
        elif isinstance(size, int):
            coef = quotient(coef, size)
        else:
            counts = [slot for slot in factors if slot[0].kind == "dim" and slot[0].payload == size]
            if not counts or counts[0][2] != 1:
                return None
            factors = [slot for slot in factors if slot is not counts[0]]
        return canonical_term(factors, bound), coef

    def _summed_again(self, expr: Expr) -> list[Scaled]:
        """A sum that stands there at one place, too: x - y - mean(x) + mean(y) with one x - y."""
        found: list[Scaled] = []
        for size in dict.fromkeys(size for term in expr for size in term.bound):
            group = [(term, coef) for term, coef in expr.items() if size in term.bound]
            if not 2 <= len(group) < len(expr):
                continue
            common = self.heads.fresh()
            placed = [self._placed(*part, size, common) for part in group]
            inner = added([part for part in placed if part is not None])
            rest = {term: coef for term, coef in expr.items() if size not in term.bound}
            again = found_again(self.normal, rest, inner, [common])
            if again is None:
                continue
            left, names, ratio = again
            self.spelling.sizes[common] = size
            by, piece = self._sum_of_leaves(inner)
            leaf: Slot = (self.heads.made(piece.node), piece.names, one)
            summed = (canonical_term([leaf], {common: size}), by)
            alone = (canonical_term([renamed_slot(leaf, names)], {}), times(ratio, by))
            found.append(self._sum_of_leaves(added([*left.items(), alone, summed])))
        return found

    # -- common factors ----------------------------------------------------------------------------
    def _factored(self, expr: Expr, key: Any) -> Scaled | None:
        """With one factor taken out of the terms that share it."""
        head, pattern, up = key
        group: list[tuple[Term, Coef, int]] = []
        rest: Expr = {}
        for term, coef in expr.items():
            place = place_of(term, head, pattern, up)
            if place is None:
                rest[term] = coef
            else:
                group.append((term, coef, place))
        if len(group) < 2:
            return None
        powers = [term.factors[place].power for term, _, place in group]
        power = min(powers) if up else max(powers)
        common = {p: self.heads.fresh() for p in pattern if p < 0}
        bound: dict[int, Dim] = {}
        parts: list[tuple[Term, Coef]] = []
        for term, coef, place in group:
            parts.append((self._without(term, place, power, pattern, common, bound), coef))
        if up and any(not self._defined(term.factors[place], power) for term, _, place in group):
            return None
        inner = added(parts)
        if self._outgrows(inner, [term for term, _, _ in group]):
            return None
        by, piece = self._sum_of_leaves(inner) if inner else (one, None)
        if piece is None:
            return None
        leaf: Slot = (self.heads.made(piece.node), piece.names, one)
        idx = tuple([common[p] if p < 0 else p for p in pattern])
        whole = canonical_term([(head, idx, power), leaf], bound)
        again = found_again(self.normal, rest, inner, list(common.values()))
        if again is not None:
            rest, names, ratio = again
            sum_of = canonical_term([renamed_slot(leaf, names)], {})
            rest = added([*rest.items(), (sum_of, times(ratio, by))])
        return self._sum_of_leaves(added([*rest.items(), (whole, by)]))

    def _shared(self, expr: Expr) -> list[Scaled]:
        """With several factors of all terms taken out at once, or a product written once."""
        found: list[Scaled] = []
        common = common_product(expr)
        if len(common) > 1:
            inner = added(
                [(_renamed(all_without(term, common), term), c) for term, c in expr.items()]
            )
            if len(inner) > 1 and not self._outgrows(inner, list(expr)):
                by, piece = self._sum_of_leaves(inner)
                leaf: Slot = (self.heads.made(piece.node), piece.names, one)
                found.append(self.product(canonical_term([*common, leaf], {}), by))
        for product, again in products_again(expr):
            by, piece = self.product(product, one)
            head = self.heads.made(piece.node)
            parts = [(canonical_term([(head, piece.names, one)], {}), times(expr[product], by))]
            for term, rest, names in again:
                idx = tuple([names[i] for i in piece.names])
                whole = _renamed([*rest, (head, idx, one)], term)
                parts.append((whole, times(expr[term], by)))
            replaced = {product, *[each.term for each in again]}
            left = [item for item in expr.items() if item[0] not in replaced]
            found.append(self._sum_of_leaves(added([*left, *parts])))
        return [*found, *self._contracted_once(expr)]

    def _contracted_once(self, expr: Expr) -> list[Scaled]:
        """With a contraction that several terms have computed once, and for its transpose, too."""
        found: list[Scaled] = []
        for (one_end, other_end), terms in contractions_again(expr)[:_MOST_CONTRACTIONS]:
            gone, rows, columns = [self.heads.fresh() for _ in range(3)]
            factors: Factors = []
            for (head, axis), left in ((one_end, rows), (other_end, columns)):
                factors.append((head, (left, gone) if axis else (gone, left), one))
            size = one_end[0].sizes[one_end[1]]
            self.spelling.sizes[gone] = size
            by, piece = self.product(canonical_term(factors, {gone: size}), one)
            head = self.heads.made(piece.node)
            parts = [item for item in expr.items() if item[0] not in {each.term for each in terms}]
            for term, rest, ends in terms:
                names = dict(zip((rows, columns), ends, strict=True))
                idx = tuple([names[i] for i in piece.names])
                parts.append((_renamed([*rest, (head, idx, one)], term), times(expr[term], by)))
            found.append(self._sum_of_leaves(added(parts)))
        return found

    def _outgrows(self, inner: Expr, terms: Sequence[Term]) -> bool:
        """Whether a sum spans indices that neither one array in it nor the whole spans."""
        labels = set(index_sizes(inner))
        spans = [set(f.idx) for term in inner for f in term.factors]
        spans.append({i for term in terms for f in term.factors for i in f.idx if i >= 0})
        return not any(labels <= span for span in spans)

    def _defined(self, factor: Any, power: Rational) -> bool:
        return power.denominator == 1 or factor.head.nonnegative

    def _without(
        self,
        term: Term,
        place: int,
        power: Rational,
        pattern: tuple[int, ...],
        common: dict[int, int],
        bound: dict[int, Dim],
    ) -> Term:
        """The term without the factor; bound indices of the factor become the common ones."""
        factor = term.factors[place]
        names: dict[int, int] = {}
        for index, label in zip(factor.idx, pattern, strict=True):
            if index < 0:
                names[index] = common[label]
                bound[common[label]] = term.bound[-1 - index]
        own = {-1 - i: size for i, size in enumerate(term.bound) if -1 - i not in names}
        fresh = {index: self.heads.fresh() for index in own}
        names |= fresh
        factors: Factors = [
            (f.head, tuple([names.get(i, i) for i in f.idx]), f.power)
            for i, f in enumerate(term.factors)
            if i != place
        ]
        left = rational(factor.power - power)
        if left != 0:
            factors.append((factor.head, tuple([names.get(i, i) for i in factor.idx]), left))
        self.spelling.sizes.update(bound)
        return canonical_term(factors, {fresh[index]: size for index, size in own.items()})


def _renamed(factors: Factors, term: Term) -> Term:
    """The factors, summed over what they have of the term's indices."""
    used = {i for _, idx, _ in factors for i in idx}
    bound = {-1 - place: size for place, size in enumerate(term.bound) if -1 - place in used}
    return canonical_term(factors, bound)
