"""The table of atoms: one for each value or closed expression, with its facts.

Facts decide how powers of an atom merge. Powers of opposite sign merge only if the atom is nonzero
or the total stays negative. Fractional powers merge into whole ones only if the atom is
nonnegative. Where the user asks for trust="domain", a licence replaces each of these facts.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from math import inf, log
from typing import Any

import numpy as np

from ...facts import (
    antisymmetric,
    finite,
    nonnegative,
    nonzero,
    orthogonal,
    positive,
    symmetric,
    total,
)
from ...ir.dims import Dim, Shape
from ...ir.fact_inference import Knowledge
from ...ir.node import Node
from ...ops.control import cast
from ...ops.creation import constant_of
from ...ops.movement import broadcast_to, reshape
from .canonical_indices import canonical_term, ordered_indices
from .exact_numbers import Rational, coef_key
from .licence import Licence
from .roles import is_equality, is_extremum
from .term import (
    DELTA,
    DIM,
    EXP,
    LEAF,
    LOG,
    SUM,
    Atom,
    Expr,
    Payload,
    Term,
    expr_key,
    free_indices,
    index_sizes,
    term_is_total,
    weight,
)

__all__ = ["AtomTable", "one", "open_axes"]

one: Rational = 1
_ALONG_AXIS = ("simplex", "one_hot", "unit_norm")


def open_axes(node: Node) -> tuple[int, ...]:
    """The axes that carry an index: those whose size is not 1, counted from the end."""
    return _open_axes(node.shape)


@lru_cache(maxsize=4096)
def _open_axes(shape: Shape) -> tuple[int, ...]:
    return tuple([axis for axis in range(-len(shape), 0) if shape[axis] != 1])


class AtomTable:
    """A table of atoms: equal values and equal closed expressions get the same atom.

    Parameters
    ----------
    knowledge : Knowledge
        Facts of nodes.
    licence : Licence, optional
        Allows cancellations without a fact.
    """

    def __init__(self, knowledge: Knowledge, licence: Licence | None = None) -> None:
        self.knowledge = knowledge
        self.licence = licence
        self._table: dict[tuple[str, Hashable], Atom] = {}
        self._closed: dict[Hashable, tuple[Atom, tuple[int, ...]]] = {}
        self._made: dict[Node, Atom] = {}
        self._bases: dict[tuple[float, np.dtype[Any]], Atom] = {}
        self._fresh = itertools.count(1_000_000)
        # Functions, not methods: a method would make a reference cycle of atom and table.
        self._facts = {
            LEAF: partial(_leaf_facts, knowledge),
            DIM: _dim_facts,
            DELTA: _delta_facts,
            EXP: _exp_facts,
            LOG: _log_facts,
            SUM: _sum_facts,
        }
        self._logs: dict[Atom, list[tuple[Expr, Node]]] = {}
        self._divisors: dict[Atom, set[int]] = {}

    def log_given(self, node: Node, expr: Expr) -> None:
        """Remember a log that the user wrote, under each of the logs whose sum it is."""
        for term in expr:
            for f in term.factors:
                if f.atom.kind == LOG:
                    known = self._logs.setdefault(f.atom, [])
                    if all(other is not node for _, other in known):
                        known.append((expr, node))

    def logs_of(self, atom: Atom) -> list[tuple[Expr, Node]]:
        """The logs that the user wrote whose sums contain this log."""
        known = self._logs.get(atom, [])
        if self.licence is not None:
            return [(expr, node) for expr, node in known if node not in self.licence.values]
        return known

    def divisor_given(self, atom: Atom, sign: int) -> None:
        """Remember that the user divides by this sum, or by its negative."""
        self._divisors.setdefault(atom, set()).add(sign)

    def signs_of_divisor(self, atom: Atom) -> Collection[int]:
        """The signs with which the user divides by this sum; empty if that is not known."""
        return self._divisors.get(atom, ())

    def granted(self) -> bool:
        """Whether the licence allows a step that no fact allows. Ask last: it counts as used."""
        return self.licence is not None and self.licence.use()

    def fresh(self) -> int:
        """A new free index."""
        return next(self._fresh)

    def _intern(self, kind: str, key: Hashable, payload: Payload, sizes: tuple[Dim, ...]) -> Atom:
        found = self._table.get((kind, key))
        if found is None:
            rank = len(self._table)
            found = Atom(kind, payload, rank, sizes, self._facts[kind], self.licence)
            self._table[(kind, key)] = found
        return found

    def leaf(self, node: Node) -> Atom:
        """The atom of a value of the graph."""
        found = self._table.get((LEAF, node))
        if found is None:
            axes = open_axes(node)
            shape = node.aval.shape
            found = self._intern(LEAF, node, node, tuple([shape[axis] for axis in axes]))
            found.axes = axes
            if axes[-2:] != (-2, -1) or shape[-1] != shape[-2]:
                found.symmetric = False
        return found

    def made(self, node: Node) -> Atom:
        """The atom of a value that was written for the result; its facts are not needed."""
        found = self._table.get((LEAF, node)) or self._made.get(node)
        if found is None:
            axes = open_axes(node)
            shape = node.aval.shape
            found = Atom(LEAF, node, -1 - len(self._made), tuple([shape[axis] for axis in axes]))
            found.axes = axes
            self._made[node] = found
        return found

    def dim(self, size: Dim) -> Atom:
        """The atom of a named dimension's size."""
        return self._intern(DIM, size, size, ())

    def log_of_base(self, base: float, dtype: np.dtype[Any], power: Rational) -> Expr:
        """The natural logarithm of a base, to a power, kept as a symbol."""
        key = (base, dtype)
        found = self._bases.get(key)
        if found is None:
            node = constant_of(dtype.type(log(base)), dtype).node
            found = self._bases[key] = self.leaf(node)
            found.base = base
        return {canonical_term([(found, (), power)], {}): 1}

    def delta(self, size: Dim) -> Atom:
        """The atom of an identity matrix."""
        return self._intern(DELTA, size, size, (size, size))

    def closed(self, kind: str, expr: Expr) -> tuple[Atom, tuple[int, ...]]:
        """The atom of a sum, exp or log of an expression, and the indices it is applied to."""
        before = (kind, frozenset(expr.items()))
        found = self._closed.get(before)
        if found is None:
            found = self._closed[before] = self._closed_anew(kind, expr)
        return found

    def _closed_anew(self, kind: str, expr: Expr) -> tuple[Atom, tuple[int, ...]]:
        ids = free_indices(expr)
        sizes = index_sizes(expr)
        if len(ids) > 1:
            ids = ordered_indices(
                ids, lambda: _edges(expr), sizes, lambda order: self._named(expr, order)
            )
        formal = self.renamed(expr, {index: place for place, index in enumerate(ids)})
        formal = dict(sorted(formal.items(), key=lambda item: _term_order(item[0])))
        dims = tuple([sizes[index] for index in ids])
        atom = self._intern(kind, (expr_key(formal), dims), formal, dims)
        atom.weight = weight(formal) + (kind != SUM)
        atom.symmetric = False
        return atom, tuple(ids)

    def _named(self, expr: Expr, order: Sequence[int]) -> tuple[Any, ...]:
        return expr_key(self.renamed(expr, {index: place for place, index in enumerate(order)}))

    def renamed(self, expr: Expr, names: Mapping[int, int]) -> Expr:
        """The expression with free indices renamed, each to another name."""
        if list(names.keys()) == list(names.values()):
            return dict(expr)
        return {renamed_term(term, names): coef for term, coef in expr.items()}


# -- facts -----------------------------------------------------------------------------------------
def _leaf_facts(knowledge: Knowledge, atom: Atom) -> None:
    node = atom.node
    known = knowledge.of(node)
    facts = known.facts
    atom.low, atom.high = known.low, known.high
    atom.total = node.is_input or total in facts or _from_whole_numbers(node)
    if not facts:
        return
    atom.nonnegative = nonnegative in facts
    atom.nonzero = nonzero in facts
    atom.positive = positive in facts or (atom.nonnegative and atom.nonzero)
    atom.finite = finite in facts
    square = len(atom.axes) >= 2 and atom.axes[-2:] == (-2, -1)
    atom.symmetric = square and symmetric in facts
    atom.antisymmetric = square and antisymmetric in facts
    atom.orthogonal = len(atom.axes) == 2 and square and orthogonal in facts
    for fact in facts:
        if fact.name in _ALONG_AXIS and fact.args[0] in atom.axes:
            place = atom.axes.index(fact.args[0])
            setattr(atom, fact.name, (*getattr(atom, fact.name), place))


def _dim_facts(atom: Atom) -> None:
    atom.nonnegative = atom.total = True


def _delta_facts(atom: Atom) -> None:
    atom.nonnegative = atom.total = atom.symmetric = True


def _exp_facts(atom: Atom) -> None:
    atom.positive = atom.nonnegative = atom.nonzero = True
    atom.total = all(term_is_total(term) for term in atom.expr)


def _log_facts(atom: Atom) -> None:
    expr = atom.expr
    atom.total = is_positive(expr) and all(term_is_total(term) for term in expr)


def _sum_facts(atom: Atom) -> None:
    expr = atom.expr
    atom.positive = is_positive(expr) or _counts_ties(expr)
    atom.nonnegative = atom.positive or all(
        coef > 0 and term_sign(term) >= 0 for term, coef in expr.items()
    )
    atom.nonzero = atom.positive or is_positive({term: -coef for term, coef in expr.items()})
    atom.total = all(term_is_total(term) for term in expr)


def _from_whole_numbers(node: Node) -> bool:
    return node.op is cast.op and node.operands[0].aval.dtype.kind in "biu"


def renamed_term(term: Term, names: Mapping[int, int]) -> Term:
    """The term with free indices renamed, each to another name."""
    factors = [
        (f.atom, tuple([names.get(index, index) for index in f.idx]), f.power) for f in term.factors
    ]
    return canonical_term(factors, {-1 - place: size for place, size in enumerate(term.bound)})


def term_sign(term: Term) -> int:
    """1 if the product is known to be positive, 0 if nonnegative, -1 if unknown."""
    # A named size counts as at least 1: where it is 0, no element is there to be normalised.
    sign = 0 if 0 in term.bound else 1
    for atom, _, power in term.factors:
        if atom.positive:
            continue
        if atom.nonnegative or (power.denominator == 1 and power.numerator % 2 == 0):
            if power < 0 or atom.nonzero:
                continue
            sign = 0
        else:
            return -1
    return sign


def is_positive(expr: Expr) -> bool:
    """Whether the signs of the terms, or their bounds, show that the sum is positive."""
    signs = [term_sign(term) if coef > 0 else -1 for term, coef in expr.items()]
    if not signs:
        return False
    return (min(signs) >= 0 and max(signs) == 1) or _least(expr) > 0


def _least(expr: Expr) -> float:
    """A lower bound of a sum: the sum of the lower bounds of its terms."""
    total = 0.0
    for term, coef in expr.items():
        low, high = _bounds(term)
        total += float(coef) * (low if coef > 0 else high) if coef != 0 else 0.0
        if not total > -inf:
            return -inf
    # Bounds are sums of floats: rounded down to stay below the true bound.
    return total - 1e-12 * max(1.0, abs(total))


def _bounds(term: Term) -> tuple[float, float]:
    """Bounds of a product that is not summed."""
    if term.bound:
        return -inf, inf
    low = high = 1.0
    for factor in term.factors:
        ends = _bounds_of_power(factor.atom, factor.power)
        if inf in ends or -inf in ends:
            if len(term.factors) > 1:
                return -inf, inf  # 0 times infinity
            return ends
        corners = [a * b for a in (low, high) for b in ends]
        low, high = min(corners), max(corners)
    return low, high


def _bounds_of_power(atom: Atom, power: Rational) -> tuple[float, float]:
    if atom.kind == EXP:
        return 0.0, inf
    if atom.kind != LEAF:
        return -inf, inf
    low, high = atom.low, atom.high
    if power == 1:
        return low, high
    if power == 2:
        near, far = sorted([abs(low), abs(high)])
        return 0.0 if low < 0 < high else near * near, far * far
    with suppress(OverflowError):
        if low > 0:
            ends = sorted([low ** float(power), high ** float(power)])
            return ends[0], ends[1]
    return -inf, inf


def _term_order(term: Term) -> Any:
    return (len(term.factors), [(f.atom.rank, f.idx, f.power) for f in term.factors])


def _edges(expr: Expr) -> list[Any]:
    edges: list[Any] = []
    for term, coef in expr.items():
        about = (coef_key(coef), tuple([(f.atom.rank, f.power) for f in term.factors]))
        edges.extend(((about, f.atom.rank, f.power), f.idx, f.atom.symmetric) for f in term.factors)
    return edges


def _counts_ties(expr: Expr) -> bool:
    """Whether the sum counts the elements that equal the extremum: at least one does.

    The derivative of max makes such sums: sum(cast(x == max(x))).
    """
    ((term, coef), *more) = expr.items()
    if more or coef != 1 or len(term.factors) != 1 or term.factors[0].power != 1:
        return False
    atom, idx, _ = term.factors[0]
    if atom.kind != LEAF or atom.node.op is not cast.op:
        return False
    equal = atom.node.operands[0]
    if not is_equality(equal):
        return False
    x, extremum = equal.operands
    while extremum.op is broadcast_to.op:
        extremum = extremum.operands[0]
    shape = extremum.shape
    while extremum.op is reshape.op:
        extremum = extremum.operands[0]
    if not is_extremum(extremum) or extremum.operands[0] is not x:
        return False
    axes = extremum.params["axis"]
    # If it is transposed or cut, the extremum is compared with other elements than its own.
    kept = tuple([1 if axis in axes else x.shape[axis] for axis in range(-x.ndim, 0)])
    if shape != kept[x.ndim - len(shape) :] or any(dim != 1 for dim in kept[: -len(shape) or None]):
        return False
    over = {axis for axis, index in zip(atom.axes, idx, strict=True) if index < 0}
    return set(axes) & set(atom.axes) <= over
