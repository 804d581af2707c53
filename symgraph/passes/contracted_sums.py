r"""Sums of products along an axis as products of matrices and vectors: sum(x y) is x @ y.

Of three axes and more they are contractions, if one of the factors lacks an axis.

The algebra contracts where it writes a sum anew. Where each of its orders of the factors loses
range, the sum stays in the order of the chain rule, with a product of two arrays that nothing else
reads. The same products are added here, so no range is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_letters

from ..array import Array
from ..ir.node import Node, origin
from ..ir.walks import reachable, replaced, use_counts
from ..ops.einsum import einsum
from ..ops.elementwise import multiply, negative, square
from ..ops.matmul import matmul
from ..ops.movement import BROADCAST_TO, RESHAPE, matrix_transpose, reshape
from ..ops.totals import sum as total
from .gains import Loses, keeps_digits

__all__ = ["with_sums_contracted"]


def with_sums_contracted(outputs: Sequence[Node], loses: Loses) -> list[Node]:
    """The outputs with sums of products, each with no other use, as contractions.

    Parameters
    ----------
    outputs : sequence of Node
    loses : Loses
    """
    nodes = reachable(outputs)
    sums = [node for node in nodes if _is_sum_of_product(node)]
    if not sums:
        return list(outputs)
    uses = use_counts(nodes, outputs)
    instead: dict[Node, Node] = {}
    for node in sums:
        new = _contraction(node, uses) if uses[node.operands[0]] == 1 else None
        if new is not None:
            instead[node] = new
    if not instead:
        return list(outputs)
    new = replaced(outputs, instead)
    return new if keeps_digits(new, outputs, loses) else list(outputs)


def _is_sum_of_product(node: Node) -> bool:
    """Whether it is the sum of a product of floats, along one axis if of rank one or two."""
    if node.op is not total.op or not node.params["axis"] or node.copy:
        return False
    (product,) = node.operands
    if product.op not in (multiply.op, square.op) or product.copy or node.dtype.kind != "f":
        return False
    known = product.ndim > 2 or (product.ndim > 0 and len(node.params["axis"]) == 1)
    return known and product.dtype == node.dtype


def _contraction(node: Node, uses: Mapping[Node, int]) -> Node | None:
    """The sum as a product of vectors, or of a matrix and a vector, or of arrays; else None.

    The sign of a factor is the sign of the sum, which has fewer elements.
    """
    (product,) = node.operands
    factors = product.operands if product.op is multiply.op else product.operands * 2
    signed = [each.op is negative.op and uses[each] == 1 and not each.copy for each in factors]
    x, y = [each.operands[0] if sign else each for each, sign in zip(factors, signed, strict=True)]
    with origin(node.origin):
        if product.ndim > 2:
            number, x, y = _number_apart(x, y, uses)
            found = _summed(x, y, node)
            if found is not None and number is not None:
                found = multiply(Array(number), found)
        else:
            found = _contracted(x, y, node.params["axis"][0], product)
        if found is None:
            return None
        found = negative(found) if signed[0] != signed[1] else found
        whole = found if found.shape == node.shape else reshape(found, node.shape)
    return whole.node if whole.dtype == node.dtype else None


def _number_apart(x: Node, y: Node, uses: Mapping[Node, int]) -> tuple[Node | None, Node, Node]:
    """The two factors of c (x y) with the number c before; without one if there is none."""
    for number, whole in ((x, y), (y, x)):
        plain = whole.op is multiply.op and uses[whole] == 1 and not whole.copy
        if number.is_constant and not number.ndim and plain:
            return number, whole.operands[0], whole.operands[1]
    return None, x, y


def _contracted(x: Node, y: Node, axis: int, product: Node) -> Array | None:
    if product.ndim == 1 and x.shape == y.shape == product.shape:
        return matmul(Array(x), Array(y))
    for matrix, other in ((x, y), (y, x)):
        vector = _vector_along(other, axis, product)
        if product.ndim == 2 and matrix.shape == product.shape and vector is not None:
            rows = Array(matrix) if axis == -1 else matrix_transpose(Array(matrix))
            return matmul(rows, vector)
    return None


def _summed(x: Node, y: Node, node: Node) -> Array | None:
    """The sum of a product of three axes or more, one of which a factor lacks; else None."""
    (product,) = node.operands
    gone = [axis % product.ndim for axis in node.params["axis"]]
    sides = [_without_ones(each, product.ndim) for each in (x, y)]
    everywhere = {axis for _, axes in sides for axis in axes}
    if all(set(axes) == everywhere for _, axes in sides) or not all(axes for _, axes in sides):
        return None
    if not everywhere.issuperset(gone):
        return None
    kept = [axis for axis in range(product.ndim) if axis in everywhere and axis not in gone]
    names = ["".join([ascii_letters[axis] for axis in axes]) for _, axes in sides]
    text = f"{','.join(names)}->{''.join([ascii_letters[axis] for axis in kept])}"
    return einsum(text, *[array for array, _ in sides])


def _without_ones(node: Node, rank: int) -> tuple[Array, list[int]]:
    """A factor without axes of length 1, and the places of its axes in the product."""
    if node.op is BROADCAST_TO and not node.copy:
        node = node.operands[0]
    axes = [rank - node.ndim + place for place, size in enumerate(node.shape) if size != 1]
    shape = tuple([size for size in node.shape if size != 1])
    return (Array(node) if shape == node.shape else reshape(Array(node), shape)), axes


def _vector_along(node: Node, axis: int, product: Node) -> Array | None:
    """The factor as a vector, if it differs along the axis only; else None."""
    length = product.shape[axis]
    if node.shape == (length,) and axis == -1:
        return Array(node)
    if node.shape != ((1, length) if axis == -1 else (length, 1)):
        return None
    inner = node.operands[0] if node.op is RESHAPE and not node.copy else node
    return Array(inner) if inner.shape == (length,) else reshape(Array(node), (length,))
