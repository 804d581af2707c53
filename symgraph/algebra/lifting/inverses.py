"""Linear systems as products with an inverse that is never formed.

solve(A, b) becomes sum_k A**-1[i, k] b[k] over the leaf inv(A). Such a sum is written as a solve
again, with A or with its transpose, unless the inverse is computed anyway: see `solves`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...array import Array
from ...facts import orthogonal, positive_definite
from ...ir.dims import Dim, known_equal
from ...ir.node import Node
from ...ops.linalg import inv, matmul
from ...ops.movement import transpose
from ..expression.leaf_terms import leaf_expr
from ..expression.term import Expr, weight
from .multiples import number_out_of_inverse, without_number
from .protocol import Lifting

__all__ = ["is_one_system", "solved"]

_MOST_FACTORS = 4
"""Longer products of square matrices are not inverted factor by factor."""


def is_one_system(node: Node) -> bool:
    """Whether the node solves with one matrix, not with a stack of matrices or a number."""
    matrix, right = node.operands
    return matrix.ndim == 2 and right.ndim <= 2 and matrix.shape[-1] != 1


def solved(lifter: Lifting, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """The expression A**-1 b, with the inverse as a leaf.

    If A is a product and inverses of its factors cancel, these stand for the inverse of A.
    """
    number, matrix = without_number(node.operands[0])
    right = operands[1]
    if number != 1:
        lifter.normal.applied.note(number_out_of_inverse.__name__)
        right = number_out_of_inverse(right, number)
    whole = _inverses_times(lifter, node, _factors(matrix, apart=False), right)
    factors = _factors(matrix, apart=True)
    if whole is None or not 1 < len(factors) <= _MOST_FACTORS:
        return whole
    known = lifter.atoms.knowledge.of
    if lifter.atoms.licence is None and not any(
        known(each).has(positive_definite) or known(each).has(orthogonal) for each, _ in factors
    ):
        return whole  # P**-1 P is NaN where P is singular.
    apart = _inverses_times(lifter, node, factors, right)
    return apart if apart is not None and weight(apart) <= weight(whole) else whole


def _factors(matrix: Node, *, apart: bool) -> list[tuple[Node, bool]]:
    """The matrix, or the square factors of a product, each with whether it is transposed."""
    done: list[tuple[Node, bool]] = []
    stack = [(matrix, False)]
    while stack:
        node, turned = stack.pop()
        if node.op is transpose.op and node.params["axes"] == (-1, -2):
            stack.append((node.operands[0], not turned))
        elif apart and node.op is matmul.op and all(map(_is_square, node.operands)):
            # Factors are visited from left to right. Transposed, a product is in reverse order.
            first, second = node.operands if not turned else node.operands[::-1]
            stack.extend([(second, turned), (first, turned)])
        else:
            done.append((node, turned))
    return done


def _is_square(node: Node) -> bool:
    return node.ndim == 2 and known_equal(*node.shape)


def _inverses_times(
    lifter: Lifting, node: Node, factors: Sequence[tuple[Node, bool]], right: Expr
) -> Expr | None:
    """The inverse of a product of matrices, times the right side of the system."""
    size = node.operands[0].shape[-1]
    arrays: list[Expr] = []
    labels: list[list[int]] = []
    bound: dict[int, Dim] = {}
    row = 0
    for matrix, turned in reversed(factors):
        column = lifter.atoms.fresh()
        arrays.append(leaf_expr(lifter.atoms, inv(Array(matrix)).node))
        labels.append([column, row] if turned else [row, column])
        bound[column] = size
        row = column
    columns = [1] if node.operands[1].ndim == 2 and node.operands[1].shape[-1] != 1 else []
    return lifter.contracted([*arrays, right], [*labels, [row, *columns]], bound)
