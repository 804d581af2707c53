r"""Gradients through a Cholesky factor of functions of the matrix itself.

The derivative of $A = L L^\top$ takes a cotangent of L back as $\tfrac12 L^{-\top} C L^{-1}$, where
C is symmetric with the lower triangle of $L^\top \bar L$ (Murray 2016). Two functions of L are
functions of A: the sum of logarithms of the diagonal, whose C is the identity, and the square of
$z = L^{-1} b$, whose C is $z z^\top$. There the cotangent is $A^{-1}$, and $a a^\top$ with
$a = L^{-\top} z$: so the evidence of a Gaussian process has the gradient
$\tfrac12 (A^{-1} - a a^\top)$, without products of triangles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..array import Array
from ..facts import positive_definite
from ..ir.fact_inference import Knowledge
from ..ir.node import Node, on_operands, origin
from ..ir.walks import reachable
from ..ops.creation import eye
from ..ops.diagonals import DIAGONAL, DIAGONAL_MATRIX
from ..ops.elementwise import add, divide, multiply, negative, subtract
from ..ops.factorizations import CHOLESKY
from ..ops.matmul import MATMUL, matmul
from ..ops.matrices import COPIED_LOWER
from ..ops.movement import RESHAPE, TRANSPOSE, matrix_transpose, reshape
from ..ops.solving import SOLVE_TRIANGULAR, inv, solve_triangular
from ..ops.triangles import tril
from ..rewriting.guards import uniform_value
from .gains import Loses, is_shorter

__all__ = ["with_cholesky_pullbacks"]

Parts: TypeAlias = "dict[Node | None, float]"
"""Multiples of squares z z', by z, and of the identity, by None."""

_SIGNS = {add.op: (1, 1), subtract.op: (1, -1), negative.op: (-1,)}


def with_cholesky_pullbacks(
    outputs: Sequence[Node], knowledge: Knowledge, loses: Loses
) -> list[Node]:
    """The outputs with such gradients by the inverse and by squares, if that is shorter.

    Parameters
    ----------
    outputs : sequence of Node
    knowledge : Knowledge
    loses : Loses
    """
    nodes = reachable(outputs)
    factors = {node for node in nodes if node.op is CHOLESKY and node.ndim == 2}
    if not factors or not any(node.op is COPIED_LOWER for node in nodes):
        return list(outputs)
    solved = {_solved(node): node for node in nodes if _is_solved(node)}
    found: dict[Node, Parts] = {}
    for node in nodes:
        middle = _middle(node)
        if middle is not None and node.operands[0] in factors:
            parts = _Triangle(node.operands[0], solved).of(middle, turned=False)
            if parts is not None:
                found[node] = parts
    for by_inverse in (True, False):
        # Where the inverse has fewer digits than triangular systems, those stay.
        known = knowledge if by_inverse else None
        new = _rebuilt(nodes, outputs, found, solved, known)
        if is_shorter(new, outputs, loses):
            return new
    return list(outputs)


def _rebuilt(
    nodes: Sequence[Node],
    outputs: Sequence[Node],
    found: Mapping[Node, Parts],
    solved: Mapping[tuple[Node, Node], Node],
    knowledge: Knowledge | None,
) -> list[Node]:
    instead: dict[Node, Node] = {}
    for node in nodes:
        parts = found.get(node)
        if parts is None:
            operands = tuple([instead[operand] for operand in node.operands])
            instead[node] = on_operands(node, operands)
            continue
        with origin(node.origin):
            instead[node] = _written(parts, node, solved, instead, knowledge)
    return [instead[output] for output in outputs]


def _is_solved(node: Node) -> bool:
    """Whether it is the solution of a system with the transpose of a lower triangle."""
    if node.op is not SOLVE_TRIANGULAR or node.copy or node.params["unit_diagonal"]:
        return False
    return node.params["lower"] and node.params["trans"] == 1


def _solved(node: Node) -> tuple[Node, Node]:
    triangle, side = node.operands
    return triangle, side


def _middle(node: Node) -> Node | None:
    """X, if the node is L^-T (L^-T C)' and C has the lower triangle of X; else None."""
    if not _is_solved(node) or node.ndim != 2:
        return None
    triangle, turned = node.operands
    inner = turned.operands[0] if turned.op is TRANSPOSE else turned
    if turned is inner or not _is_solved(inner) or inner.operands[0] is not triangle:
        return None
    both = inner.operands[1]
    return both.operands[0] if both.op is COPIED_LOWER and not both.copy else None


@dataclass
class _Triangle:
    """The lower triangles of matrices that are made of one Cholesky factor."""

    factor: Node
    solved: Mapping[tuple[Node, Node], Node]
    steps: int = 100
    """Looks at operations that are left; with more a matrix stays as it is."""

    def of(self, node: Node, *, turned: bool) -> Parts | None:
        """The lower triangle of a matrix, or of its transpose if `turned`."""
        found = self._linear(node, turned, self.of)
        if found is not None:
            return found
        if node.op is MATMUL:
            left, right = node.operands
            if turned and right is self.factor:
                return self._after(left, turned=True)
            return (
                self._after(right, turned=False) if not turned and self._is_turned(left) else None
            )
        if node.op is divide.op and self._is_over_diagonal(node, turned):
            return {None: 1.0}
        return None

    def _after(self, node: Node, *, turned: bool) -> Parts | None:
        """The lower triangle of L' X, or of L' X' if `turned`."""
        found = self._linear(node, turned, self._after)
        if found is not None:
            return found
        if node.op is DIAGONAL_MATRIX and node.params["offset"] == 0:
            (vector,) = node.operands
            number = _number(vector.operands[0]) if vector.op is divide.op else None
            if number is None or not self._is_diagonal(vector.operands[1]):
                return None
            return {None: number}
        if node.op is tril.op and node.params["k"] == 0 and not turned:
            return self._square(node.operands[0])
        return None

    def _linear(self, node: Node, turned: bool, part: Callable[..., Parts | None]) -> Parts | None:
        """The parts of a sum, a multiple or a transpose, from those of its operands."""
        self.steps -= 1
        if self.steps < 0:
            return None
        if node.op is TRANSPOSE and node.ndim == 2:
            return part(node.operands[0], turned=not turned)
        if node.op in _SIGNS:
            total: Parts = {}
            for operand, sign in zip(node.operands, _SIGNS[node.op], strict=True):
                found = part(operand, turned=turned)
                if found is None:
                    return None
                for each, by in found.items():
                    total[each] = total.get(each, 0) + sign * by
            return total
        if node.op in (multiply.op, divide.op):
            x, y = node.operands
            if node.op is multiply.op and _number(x) is not None:
                x, y = y, x
            number = _number(y)
            found = part(x, turned=turned) if number else None
            if number and found is not None:
                by = 1 / number if node.op is divide.op else number
                return {each: own * by for each, own in found.items()}
        return None

    # -- single terms ------------------------------------------------------------------------------
    def _square(self, node: Node) -> Parts | None:
        """Z z', for a z' with L' a = z."""
        if node.op is MATMUL and node.operands[1].op is TRANSPOSE:
            a, z = node.operands[0], node.operands[1].operands[0]
            return {z: 1.0} if self.solved.get((self.factor, z)) is a else None
        if node.op is not multiply.op:
            return None
        for one, other in (node.operands, node.operands[::-1]):
            a, z = _vector(one), _vector(other)
            column = one.ndim == 2 and one.shape[-1] == 1
            if column and a.ndim == z.ndim == 1 and self.solved.get((self.factor, z)) is a:
                return {z: 1.0}
        return None

    def _is_turned(self, node: Node) -> bool:
        return node.op is TRANSPOSE and node.operands[0] is self.factor

    def _is_diagonal(self, node: Node) -> bool:
        known = node.op is DIAGONAL and node.params["offset"] == 0
        return known and node.operands[0] is self.factor

    def _is_over_diagonal(self, node: Node, turned: bool) -> bool:
        """Whether it is L over its diagonal, a column, or L' over it, a row."""
        whole, divisor = node.operands
        column = divisor.ndim == 2 and divisor.shape[-1] == 1 and divisor.shape[0] != 1
        matrix = whole is self.factor if turned else self._is_turned(whole)
        return matrix and column == turned and self._is_diagonal(_vector(divisor))


def _number(node: Node) -> float | None:
    """The number that fills a constant array; None for other arrays."""
    found = uniform_value(node)
    return None if found is None else float(found)


def _vector(node: Node) -> Node:
    """The vector that a row or column is made of."""
    row_or_column = node.op is RESHAPE and node.operands[0].ndim == 1 and not node.copy
    return node.operands[0] if row_or_column else node


def _written(
    parts: Parts,
    node: Node,
    solved: Mapping[tuple[Node, Node], Node],
    instead: Mapping[Node, Node],
    knowledge: Knowledge | None,
) -> Node:
    """The sum of the squares and of the inverse, which is written by itself with `knowledge`."""
    factor = node.operands[0]
    (matrix,) = factor.operands
    total: Array | None = None
    for z, by in parts.items():
        if z is not None:
            a = Array(instead[solved[factor, z]])
            square = multiply(reshape(a, (*a.shape, 1)), a) if a.ndim == 1 else None
            each = matmul(a, matrix_transpose(a)) if square is None else square
        elif knowledge is not None and knowledge.of(matrix).has(positive_definite):
            each = inv(Array(instead[matrix]))
        else:
            lower, one = Array(instead[factor]), eye(matrix.shape[-1], dtype=matrix.dtype)
            each = solve_triangular(lower, one, lower=True)
            each = solve_triangular(lower, each, lower=True, trans=1)
        each = each if by == 1 else each * by
        total = each if total is None else total + each
    assert total is not None
    return total.node
