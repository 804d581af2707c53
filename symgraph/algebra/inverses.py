"""Linear systems as products with an inverse that is never formed.

solve(A, b) is sum_k A**-1[i, k] b[k] over the leaf inv(A); what is written of such a sum is a solve
again, with A or with its transpose, unless the inverse itself is computed anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..array import FUNCTIONS, Array
from ..nodes import Node
from .leaves import leaf_expr
from .pieces import Piece, Spelling
from .term import Expr

if TYPE_CHECKING:
    from .forms import Forms

__all__ = ["is_one_system", "solved", "written_as_solve"]


def is_one_system(node: Node) -> bool:
    """Whether one matrix, not a stack of them or a number, is solved with."""
    matrix, right = node.operands
    return matrix.ndim == 2 and right.ndim <= 2 and matrix.shape[-1] != 1


def solved(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """A**-1 b, the inverse as a leaf."""
    matrix, right = node.operands
    inner = forms.heads.fresh()
    rows = [0, inner]
    while matrix.op.name == "transpose" and matrix.params["axes"] == (-1, -2):
        matrix, rows = matrix.operands[0], rows[::-1]
    inverse = leaf_expr(forms.heads, FUNCTIONS["inv"](Array(matrix)).node)
    columns = [1] if right.ndim == 2 and right.shape[-1] != 1 else []
    return forms.contracted(
        [inverse, operands[1]], [rows, [inner, *columns]], {inner: matrix.shape[-1]}
    )


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
