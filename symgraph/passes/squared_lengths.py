r"""Quadratic forms of Gram matrices as sums of squares: $x^\top V V^\top x = |V^\top x|^2$.

The slope of a trace of an inverse has the square of the inverse, V V, in such a form for each row.
As a sum of squares it takes one operation less, and no digits cancel in it. The algebra does not
see it, for it plans the order of products by their indices alone; with one vector x it is an inner
product of x V with itself, which it finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..array import Array
from ..facts import symmetric
from ..ir.fact_inference import Knowledge
from ..ir.node import Node, origin
from ..ir.traits import Arrangement
from ..ir.walks import reachable
from ..ops.elementwise import multiply, square
from ..ops.matmul import MATMUL, matmul
from ..ops.movement import matrix_transpose
from ..ops.totals import sum as total
from .gains import Change, Loses, changed_one_by_one, is_shorter

__all__ = ["with_squared_lengths"]


def with_squared_lengths(outputs: Sequence[Node], knowledge: Knowledge, loses: Loses) -> list[Node]:
    """The outputs with quadratic forms of Gram matrices as sums of squares, if that is shorter.

    Parameters
    ----------
    outputs : sequence of Node
    knowledge : Knowledge
        Tells which matrices are symmetric: their squares are Gram matrices, too.
    loses : Loses
    """
    if not any(map(_is_sum_of_products, reachable(outputs))):
        return list(outputs)
    return changed_one_by_one(
        outputs,
        lambda current: _changes(current, knowledge),
        lambda new, old: is_shorter(new, old, loses),
    )


def _is_sum_of_products(node: Node) -> bool:
    """Whether it adds up products of two matrices, one of which is a matrix product."""
    if node.op is not total.op or node.copy or node.dtype.kind != "f":
        return False
    (product,) = node.operands
    plain = product.op is multiply.op and not product.copy and product.ndim == 2
    return (
        plain
        and all(each.shape == product.shape for each in product.operands)
        and any(_is_product(each) for each in product.operands)
    )


def _changes(outputs: Sequence[Node], knowledge: Knowledge) -> Iterator[Change]:
    """Sums over rows, over columns and over all, and their roots squared."""
    for node in reachable(outputs):
        if not _is_sum_of_products(node):
            continue
        axes = node.params["axis"]
        for x, y in (node.operands[0].operands, node.operands[0].operands[::-1]):
            if len(axes) == 2:
                root = _root_of_both(x, y, knowledge)
            else:
                root = _root(x, y, knowledge, rows=axes == (-1,))
            if root is not None:
                with origin(node.origin):
                    new = total(square(root), axis=axes, keepdims=node.params["keepdims"])
                if new.shape == node.shape and new.dtype == node.dtype:
                    yield node, new.node


def _root(x: Node, y: Node, knowledge: Knowledge, *, rows: bool) -> Array | None:
    """X V, where y is X V V', or V' X with V V' X for columns; None if it is not."""
    for left, right in _factors(y, x, rows=rows):
        if _is_transpose(left, right, knowledge):
            return matmul(Array(x), Array(left)) if rows else matmul(Array(right), Array(x))
    return None


def _factors(y: Node, x: Node, *, rows: bool) -> Iterator[tuple[Node, Node]]:
    """A and B, where y is X A B, or A B X for columns, in either order of the products."""
    if not _is_product(y):
        return
    one, other = y.operands if rows else y.operands[::-1]
    if one is x and _is_product(other):
        left, right = other.operands
        yield left, right
    if _is_product(one) and one.operands[0 if rows else 1] is x:
        inner = one.operands[1 if rows else 0]
        yield (inner, other) if rows else (other, inner)


def _root_of_both(x: Node, y: Node, knowledge: Knowledge) -> Array | None:
    """U' V, where x is U U' and y is V V'; None if they are not."""
    if not (_is_product(x) and _is_product(y)):
        return None
    (one, other), (left, right) = x.operands, y.operands
    if not (_is_transpose(one, other, knowledge) and _is_transpose(left, right, knowledge)):
        return None
    return matmul(Array(other), Array(left))


def _is_product(node: Node) -> bool:
    return node.op is MATMUL and not node.copy and all(each.ndim == 2 for each in node.operands)


def _is_transpose(left: Node, right: Node, knowledge: Knowledge) -> bool:
    """Whether one matrix is the transpose of another, and what they contract is not empty.

    A NaN beside a sum of no terms would be gone.
    """
    size = left.shape[-1]
    if not isinstance(size, int) or not size or left.dtype != right.dtype:
        return False
    if left is right:
        return knowledge.of(left).has(symmetric)
    return any(
        one.op.traits.arrangement is Arrangement.PERMUTED
        and matrix_transpose(Array(other)).node is one
        for one, other in ((left, right), (right, left))
    )
