r"""Numbers leave an inverse: $(c A)^{-1} = A^{-1} / c$.

The mean of two matrices is half of a sum. Its number moves out through products of matrices and
transposes, to meet the numbers of the gradient. A symbol stays: it would be written as often.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.node import Node, make, origin
from ...ops.linalg import matmul
from ...ops.movement import transpose
from ..expression.applied import named
from ..expression.exact_numbers import Coef, coefficient, quotient, times
from ..expression.leaf_terms import leaf_expr, repeated_number, stretched
from ..expression.roles import is_negation, is_product, is_quotient
from ..expression.term import Expr, scaled
from .protocol import Lifting

__all__ = ["has_number_inside", "inverted", "number_out_of_inverse", "without_number"]

_DEEP = 4
"""The most operations between a matrix and a number that moves out of it."""


def inverted(lifter: Lifting, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """The inverse of c A, as the inverse of A over c; None if no number moves out."""
    number, rest = without_number(node.operands[0])
    if number == 1:
        return None
    with origin(node.origin):
        inverse = leaf_expr(lifter.atoms, make(node.op, (rest,), node.params))
    lifter.normal.applied.note(number_out_of_inverse.__name__)
    return number_out_of_inverse(inverse, number)


@named
def number_out_of_inverse(inverse: Expr, number: Coef) -> Expr:
    r"""$(c A)^{-1} = A^{-1} / c$."""
    return scaled(inverse, quotient(1, number))


def has_number_inside(node: Node) -> bool:
    """Whether the node inverts one matrix that is a multiple of another."""
    (matrix,) = node.operands
    return matrix.ndim == 2 and matrix.shape[-1] != 1 and without_number(matrix)[0] != 1


def without_number(matrix: Node) -> tuple[Coef, Node]:
    """The number c of a matrix c A, and A; 1 and the matrix itself where there is no number."""
    try:
        return _split(matrix, _DEEP)
    except OverflowError:
        return 1, matrix


def _split(node: Node, deep: int) -> tuple[Coef, Node]:
    if deep == 0 or node.dtype.kind != "f":
        return 1, node
    if is_product(node) or is_quotient(node):
        places = (0, 1) if is_product(node) else (1,)
        for place in places:
            number, other = _number(node.operands[place]), node.operands[1 - place]
            if number is not None and (other.shape, other.dtype) == (node.shape, node.dtype):
                further, rest = _split(other, deep - 1)
                join = times if is_product(node) else quotient
                return join(further, number), rest
        return 1, node
    if is_negation(node):
        further, rest = _split(node.operands[0], deep - 1)
        return times(further, -1), rest
    if node.op not in (matmul.op, transpose.op):
        return 1, node
    found: Coef = 1
    rests: list[Node] = []
    for each in node.operands:
        by, rest = _split(each, deep - 1)
        found = times(found, by)
        rests.append(rest)
    return (1, node) if found == 1 else (found, make(node.op, tuple(rests), node.params))


def _number(node: Node) -> Coef | None:
    """The number that fills a constant, if it is not 0."""
    repeated = repeated_number(stretched(node))
    if repeated is None or repeated.dtype.kind == "b":
        return None
    return coefficient(repeated) or None
