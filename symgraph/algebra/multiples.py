"""Parts and joins of multiples: the number stands outside, where it may meet another.

(-u)[1:] is -(u[1:]), and an array of -p among zeros is the negative of one of p. To its consumers
such a value is a number times one array, which is written only where they take it up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..nodes import Node, make, origin
from .leaves import leaf_expr
from .normalize import Normal
from .scalars import constant_value
from .spelled import Speller, rewritten
from .term import Coef, Expr, quotient, scaled

__all__ = ["Moves"]

_MOVES = frozenset({"getitem", "embed", "concatenate", "reshape"})
"""Operations that only put elements elsewhere, and zeros between them."""

_MOST_TERMS = 6
"""Longer sums are left as they are written."""


class Moves:
    """Moved values as multiples, in one walk over the graph.

    Parameters
    ----------
    normal : Normal
    speller : Speller
    """

    def __init__(self, normal: Normal, speller: Speller) -> None:
        self.normal = normal
        self.speller = speller

    @staticmethod
    def knows(node: Node) -> bool:
        """Whether elements are only moved, and are numbers that a sign may be taken from."""
        return node.op.name in _MOVES and not node.copy and node.dtype.kind == "f"

    def form(self, node: Node, of: Callable[[Node], Expr]) -> Expr | None:
        """A number times what the move makes of the rest; None if there is no number."""
        exprs = [of(operand) for operand in node.operands]
        number = _number_of(exprs)
        if number == 1:
            return None
        inside = [
            self._array(operand, scaled(expr, quotient(1, number)))
            for operand, expr in zip(node.operands, exprs, strict=True)
        ]
        arrays = [array for array in inside if array is not None]
        if len(arrays) < len(inside):
            return None
        with origin(rewritten(node)):
            moved = make(node.op, arrays, node.params)
        if moved.aval != node.aval:
            return None
        return self.normal.add([(leaf_expr(self.normal.heads, moved), number)])

    def _array(self, node: Node, expr: Expr) -> Node | None:
        """The value of an expression, in the shape and dtype of a node."""
        if len(expr) == 1:
            ((term, coef),) = expr.items()
            if coef == 1 and len(term.factors) == 1:
                (factor,) = term.factors
                head = factor.head
                if (
                    head.kind == "leaf"
                    and head.node.aval == node.aval
                    and expr == leaf_expr(self.normal.heads, head.node)
                ):
                    return head.node
        return self.speller.cheapest(node, node, [expr]).node


def _number_of(exprs: Sequence[Expr]) -> Coef:
    """The number before all terms, with their sign if they have one; 1 if there is none."""
    numbers = [coef for expr in exprs for coef in expr.values()]
    if not all(exprs) or len(numbers) > _MOST_TERMS * len(exprs):
        return 1
    if any(constant_value(expr) is not None for expr in exprs):
        return 1
    if any(term.bound for expr in exprs for term in expr):
        return 1  # One of the factors takes the number up.
    sizes = {abs(number) for number in numbers}
    size = sizes.pop() if len(sizes) == 1 else 1
    if size == 0:
        return 1
    return -size if all(number < 0 for number in numbers) else size
