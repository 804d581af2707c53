"""Writes products with an inverse as solutions of linear systems: the inverse is not formed."""

from __future__ import annotations

from ...ir.node import Node
from ...ops.creation import ones
from ...ops.linalg import inv, matrix_transpose, solve
from ..expression.term import LEAF, SUM, Expr
from .array_operations import ArrayOperations
from .indexed_arrays import IndexedArray

__all__ = ["inverses_twice", "sum_as_solve", "written_as_solve"]


def inverses_twice(expr: Expr) -> set[Node]:
    """The inverses that one term has as they are, and another one multiplied by an array."""
    plain, multiplied = set[Node](), set[Node]()
    for terms in (expr, *_lazy_sums(expr)):
        for term in terms:
            for f in term.factors:
                if f.atom.kind == LEAF and f.atom.base is None and f.atom.node.op is inv.op:
                    (plain if min(f.idx, default=0) >= 0 else multiplied).add(f.atom.node)
    return plain & multiplied


def _lazy_sums(expr: Expr) -> list[Expr]:
    """The sums that are factors of the terms."""
    return [f.atom.expr for term in expr for f in term.factors if f.atom.kind == SUM]


def sum_as_solve(
    spelling: ArrayOperations, inverse: IndexedArray, gone: int
) -> IndexedArray | None:
    """The sum of an inverse over an index, as a solution for ones; None for any other array."""
    if inverse.node.op is not inv.op or spelling.forms(inverse.node) or len(inverse.names) != 2:
        return None
    right = ones((spelling.sizes[gone],), spelling.dtype).node
    return written_as_solve(spelling, inverse, IndexedArray(right, (gone,)), gone)


def written_as_solve(
    spelling: ArrayOperations, a: IndexedArray, b: IndexedArray, gone: int
) -> IndexedArray | None:
    """The product of an inverse and another array, as a solve; None for any other product."""
    for inverse, right in ((a, b), (b, a)):
        if inverse.node.op is not inv.op or right.node is inverse.node:
            continue
        if spelling.forms(inverse.node):
            continue
        if len(inverse.names) != 2 or gone not in right.names or len(right.names) > 2:
            continue
        (kept,) = [name for name in inverse.names if name != gone]
        others = [name for name in right.names if name != gone]
        if kept in others:
            continue
        (matrix,) = inverse.node.operands
        if inverse.names[0] == gone and not inverse.symmetric:
            matrix = spelling.call(matrix_transpose, matrix)
        node = spelling.call(solve, matrix, spelling.laid(right, [gone, *others]))
        return IndexedArray(node, (kept, *others))
    return None
