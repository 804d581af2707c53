"""Linear systems as products with an inverse that is never formed.

solve(A, b) is sum_k A**-1[i, k] b[k] over the leaf inv(A); what is written of such a sum is a solve
again, with A or with its transpose, unless the inverse itself is computed anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..array import FUNCTIONS, Array
from ..facts import orthogonal, positive_definite
from ..ir.dims import Dim, known_equal
from ..ir.node import Node
from ..ops.creation import ones
from .leaves import leaf_expr
from .pieces import Piece, Spelling
from .term import Expr, weight

if TYPE_CHECKING:
    from .forms import Forms

__all__ = ["is_one_system", "solved", "sum_as_solve", "written_as_solve"]

_MOST_FACTORS = 4
"""Longer products of square matrices are not inverted factor by factor."""


def is_one_system(node: Node) -> bool:
    """Whether one matrix, not a stack of them or a number, is solved with."""
    matrix, right = node.operands
    return matrix.ndim == 2 and right.ndim <= 2 and matrix.shape[-1] != 1


def solved(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """A**-1 b, the inverse as a leaf; of a product the inverses of its factors if some cancel."""
    matrix = node.operands[0]
    whole = _inverses_times(forms, node, _factors(matrix, apart=False), operands[1])
    factors = _factors(matrix, apart=True)
    if whole is None or not 1 < len(factors) <= _MOST_FACTORS:
        return whole
    known = forms.heads.knowledge.of
    if forms.heads.licence is None and not any(
        known(each).has(positive_definite) or known(each).has(orthogonal) for each, _ in factors
    ):
        return whole  # P**-1 P is no number where P is singular.
    apart = _inverses_times(forms, node, factors, operands[1])
    return apart if apart is not None and weight(apart) <= weight(whole) else whole


def _factors(matrix: Node, *, apart: bool) -> list[tuple[Node, bool]]:
    """The matrix, or square matrices it is the product of, and whether each is transposed."""
    done: list[tuple[Node, bool]] = []
    stack = [(matrix, False)]
    while stack:
        node, turned = stack.pop()
        if node.op.name == "transpose" and node.params["axes"] == (-1, -2):
            stack.append((node.operands[0], not turned))
        elif apart and node.op.name == "matmul" and all(map(_is_square, node.operands)):
            # The first is looked at first: the last one of a transposed product.
            first, second = node.operands if not turned else node.operands[::-1]
            stack.extend([(second, turned), (first, turned)])
        else:
            done.append((node, turned))
    return done


def _is_square(node: Node) -> bool:
    return node.ndim == 2 and known_equal(*node.shape)


def _inverses_times(
    forms: Forms, node: Node, factors: Sequence[tuple[Node, bool]], right: Expr
) -> Expr | None:
    """The inverse of the product of the factors, times the right side of the system."""
    size = node.operands[0].shape[-1]
    arrays: list[Expr] = []
    labels: list[list[int]] = []
    bound: dict[int, Dim] = {}
    row = 0
    for matrix, turned in reversed(factors):
        column = forms.heads.fresh()
        arrays.append(leaf_expr(forms.heads, FUNCTIONS["inv"](Array(matrix)).node))
        labels.append([column, row] if turned else [row, column])
        bound[column] = size
        row = column
    columns = [1] if node.operands[1].ndim == 2 and node.operands[1].shape[-1] != 1 else []
    return forms.contracted([*arrays, right], [*labels, [row, *columns]], bound)


def sum_as_solve(spelling: Spelling, inverse: Piece, gone: int) -> Piece | None:
    """The sum over an index of an inverse, as the solution for ones; None of any other array."""
    if inverse.node.op.name != "inv" or spelling.alive(inverse.node) or len(inverse.names) != 2:
        return None
    right = ones((spelling.sizes[gone],), spelling.dtype).node
    return written_as_solve(spelling, inverse, Piece(right, (gone,)), gone)


def written_as_solve(spelling: Spelling, a: Piece, b: Piece, gone: int) -> Piece | None:
    """The product of two matrices, one of them an inverse, as a solve; None of any others."""
    for inverse, right in ((a, b), (b, a)):
        if inverse.node.op.name != "inv" or right.node is inverse.node:
            continue
        if spelling.alive(inverse.node):
            continue
        if len(inverse.names) != 2 or gone not in right.names or len(right.names) > 2:
            continue
        (kept,) = [name for name in inverse.names if name != gone]
        others = [name for name in right.names if name != gone]
        if kept in others:
            continue
        (matrix,) = inverse.node.operands
        if inverse.names[0] == gone and not inverse.symmetric:
            matrix = spelling.call("matrix_transpose", matrix)
        node = spelling.call("solve", matrix, spelling.laid(right, [gone, *others]))
        return Piece(node, (kept, *others))
    return None
