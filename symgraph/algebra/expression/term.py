"""Sums of products over named indices: atoms, factors and terms.

An *expression* maps terms to coefficients. A *term* is a product of factors, summed over its bound
indices. A *factor* is an *atom* at indices, raised to a rational power. The notation is that of
Laue, Mitterreiter and Giesen, "Computing higher order derivatives of matrix and tensor expressions"
(2018). Lazy sums are added to it: a sum inside a product is one factor and stays closed until
opening it pays.

Free indices are nonnegative numbers. Bound indices are negative numbers, counted from -1 in each
term. An atom that holds an expression is *closed*: its expression uses the formal indices 0, 1,
..., and the factor tells which index stands for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any, Final, NamedTuple, TypeAlias, cast

from ...ir.dims import Dim
from ...ir.node import Node
from ...ir.op import Op
from .exact_numbers import Coef, Rational, coef_key, plus, times
from .licence import Licence

__all__ = [
    "DELTA",
    "DIM",
    "EXP",
    "LEAF",
    "LOG",
    "ONE",
    "SUM",
    "Atom",
    "Expr",
    "Factor",
    "Payload",
    "Term",
    "added",
    "expr_key",
    "free_indices",
    "scaled",
    "term_key",
    "term_may_go",
    "weight",
]

LEAF: Final = "leaf"
DIM: Final = "dim"
DELTA: Final = "delta"
"""Kinds of atoms that stand for a value: an array, a size, an identity matrix."""

SUM: Final = "sum"
EXP: Final = "exp"
LOG: Final = "log"
"""Kinds of atoms that close an expression."""


class Atom:
    """A value, or a function of an expression, that a factor applies to indices.

    Parameters
    ----------
    kind : "leaf", "dim", "delta", "sum", "exp" or "log"
        "sum" is a lazy sum: an expression that is kept closed.
    payload : Node, Dim or Expr
        The value, the size or the closed expression.
    rank : int
        The atom's place in the order in which atoms were first met.
    sizes : tuple of Dim
        The size of each formal index.
    find : callable, optional
        Sets the facts of the atom when the first one is read. Without it no fact is known.
    licence : Licence, optional
        Allows cancellations without a fact.

    Attributes
    ----------
    topic : str or Op
        The kind of the atom; for a leaf, the operation that gives its value.
    base : float, optional
        The number b, if the atom stands for its natural logarithm.
    node : Node
        The payload of a leaf.
    expr : Expr
        The payload of a sum, exp or log: the closed expression.
    """

    __slots__ = (
        "antisymmetric",
        "axes",
        "base",
        "expr",
        "find",
        "finite",
        "high",
        "kind",
        "licence",
        "low",
        "node",
        "nonnegative",
        "nonzero",
        "one_hot",
        "orthogonal",
        "payload",
        "positive",
        "rank",
        "simplex",
        "sizes",
        "symmetric",
        "topic",
        "total",
        "unit_norm",
        "weight",
    )

    payload: Any
    node: Node
    expr: Expr
    axes: tuple[int, ...]
    symmetric: bool
    antisymmetric: bool
    positive: bool
    nonnegative: bool
    nonzero: bool
    total: bool
    finite: bool
    orthogonal: bool
    simplex: tuple[int, ...]
    one_hot: tuple[int, ...]
    unit_norm: tuple[int, ...]
    low: float
    high: float

    def __init__(
        self,
        kind: str,
        payload: Payload,
        rank: int,
        sizes: tuple[Dim, ...],
        find: Callable[[Atom], None] | None = None,
        licence: Licence | None = None,
    ) -> None:
        self.kind = kind
        self.payload = self.node = self.expr = cast("Any", payload)
        self.rank = rank
        self.sizes = sizes
        self.find = find
        self.licence = licence
        self.topic: str | Op = payload.op if isinstance(payload, Node) else kind
        self.axes = ()
        self.base: float | None = None
        self.weight = 1
        if find is None:
            self.know_nothing()

    def know_nothing(self) -> None:
        """Set every fact to unknown."""
        self.positive = self.nonnegative = self.nonzero = self.total = False
        self.symmetric = self.antisymmetric = self.orthogonal = self.finite = False
        self.simplex = self.one_hot = self.unit_norm = ()
        self.low, self.high = -inf, inf

    def __getattr__(self, name: str) -> Any:
        # Python calls it only for a slot that is not set: a fact that is read for the first time.
        find = self.find
        if find is None or name not in Atom.__slots__:
            raise AttributeError(name)
        self.find = None
        self.know_nothing()
        find(self)
        return getattr(self, name)

    def granted(self) -> bool:
        """Whether the licence allows a step that no fact allows. Ask last: it counts as used."""
        return self.licence is not None and self.licence.use()

    def __repr__(self) -> str:
        return f"<{self.kind} {self.rank}>"


class Factor(NamedTuple):
    """An atom at indices, raised to a power."""

    atom: Atom
    idx: tuple[int, ...]
    power: Rational


class Term(NamedTuple):
    """A product of factors, summed over bound indices -1, -2, ... of the sizes in `bound`."""

    bound: tuple[Dim, ...]
    factors: tuple[Factor, ...]


Expr: TypeAlias = dict[Term, Coef]

Payload: TypeAlias = "Node | Dim | Expr"
"""The value, size or closed expression of an atom."""

ONE = Term((), ())


def term_is_total(term: Term) -> bool:
    """Whether the term is a real number at all finite inputs."""
    return all(
        f.atom.total
        and (f.atom.nonzero or f.power > 0)
        and (f.atom.nonnegative or f.power.denominator == 1)
        for f in term.factors
    )


def term_may_go(term: Term) -> bool:
    """Whether 0 times the term may be dropped: the term is total, or the licence allows it."""
    return term_is_total(term) or term.factors[0].atom.granted()


def term_is_finite(term: Term) -> bool:
    """Whether the term is finite at all inputs, so that 0 times it is 0."""
    return all(f.atom.finite and (f.atom.nonzero or f.power > 0) for f in term.factors)


def added(parts: Iterable[tuple[Term, Coef]]) -> Expr:
    """The sum of terms, with like terms merged.

    A term whose coefficient becomes 0 is dropped only if it is total, for x - x is not 0 where x is
    undefined; or if the licence allows it.
    """
    total: Expr = {}
    for term, coef in parts:
        old = total.get(term)
        if old is None:
            total[term] = coef
            continue
        new = plus(old, coef)
        if new == 0 and term_may_go(term):
            del total[term]
        else:
            total[term] = new
    return total


def scaled(expr: Expr, factor: Coef) -> Expr:
    """The expression times a nonzero number."""
    if factor == 1:
        return expr
    return {term: times(coef, factor) for term, coef in expr.items()}


def term_key(term: Term) -> tuple[Any, ...]:
    """A sort key of a term. Only equal terms have equal keys."""
    return (
        len(term.factors),
        tuple([(f.atom.rank, f.idx, f.power) for f in term.factors]),
        tuple([str(size) for size in term.bound]),
    )


def expr_key(expr: Expr) -> tuple[Any, ...]:
    """A key of an expression. Only equal expressions have equal keys."""
    items = sorted([(term_key(term), term) for term in expr], key=lambda pair: pair[0])
    return tuple([(key, coef_key(expr[term])) for key, term in items])


def free_indices(expr: Mapping[Term, Coef]) -> list[int]:
    """Free indices, in order of appearance."""
    found: dict[int, None] = {}
    for term in expr:
        for _, idx, _ in term.factors:
            for index in idx:
                if index >= 0:
                    found[index] = None
    return list(found)


def index_sizes(expr: Mapping[Term, Coef]) -> dict[int, Dim]:
    """The size of each free index."""
    found: dict[int, Dim] = {}
    for term in expr:
        for atom, idx, _ in term.factors:
            for index, size in zip(idx, atom.sizes, strict=True):
                if index >= 0 and index not in found:
                    found[index] = size
    return found


def weight(expr: Mapping[Term, Coef]) -> int:
    """The length of the expression: the number of its terms and factors, nested ones included."""
    total = len(expr)
    for term in expr:
        for factor in term.factors:
            total += factor[0].weight
    return total
