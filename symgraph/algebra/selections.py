"""Masks and scattered values as products: where a mask says nothing new, and one-hot rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..array import FUNCTIONS, Array
from ..dims import known_equal
from ..nodes import Node
from .heads import open_axes
from .leaves import leaf_expr, repeated_number, stretched
from .slots import has_exps
from .term import Expr, Term, term_is_total

if TYPE_CHECKING:
    from .forms import Forms

__all__ = ["is_masked", "is_one_of_each_row", "masked", "scattered"]

_ABOVE = {"greater", "greater_equal"}
_BELOW = {"less", "less_equal"}


# -- masks -----------------------------------------------------------------------------------------
def is_masked(node: Node) -> bool:
    """Whether a choice is between something and 0, by a comparison."""
    condition, _, otherwise = node.operands
    return condition.op.name in _ABOVE | _BELOW and _is_zero(otherwise)


def masked(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """where(u > v, a, 0) is a if each term of it has max(u - v, 0) as a factor: it is 0 already.

    The other factors must be numbers wherever the inputs are, or 0 times them would not be 0: an
    exp that may overflow is none.
    """
    chosen = forms.aligned(node, operands)[1]
    condition = node.operands[0]
    # Along the very axes of the condition: a column that is 0 says nothing of the rows.
    places = {axis: place for place, axis in enumerate(open_axes(node))}
    along = tuple([places[axis] for axis in open_axes(condition)])
    if chosen and all(_vanishes(term, condition, along) for term in chosen):
        return chosen
    return None


def _vanishes(term: Term, condition: Node, along: tuple[int, ...]) -> bool:
    left, right = condition.operands
    above = condition.op.name in _ABOVE
    slots = [(f.head, f.idx, f.power) for f in term.factors]
    if not term_is_total(term) or has_exps(slots):
        return False
    return any(
        f.head.kind == "leaf"
        and f.power > 0
        and f.idx == along
        and f.head.node.shape == condition.shape
        and _is_rectified(f.head.node, left, right, above)
        for f in term.factors
    )


def _is_rectified(node: Node, left: Node, right: Node, above: bool) -> bool:
    """Whether the node is 0 where `left > right` (or `left < right`) fails."""
    if node.op.name not in ("maximum", "minimum"):
        return False
    first, second = node.operands
    if _is_zero(first):
        first, second = second, first
    if not _is_zero(second):
        return False
    if (node.op.name == "maximum") != above:
        left, right = right, left
    if _is_zero(right):
        return first is left
    return first.op.name == "subtract" and first.operands == (left, right)


def _is_zero(node: Node) -> bool:
    return repeated_number(stretched(node)) == 0


# -- scattered values ------------------------------------------------------------------------------
def is_one_of_each_row(node: Node) -> bool:
    """Whether one value of each row is put among zeros, the rows all there."""
    x, _, index = node.operands
    axis = node.params["axis"]
    alike = index.ndim == node.ndim and all(
        known_equal(index.shape[each], node.shape[each])
        for each in range(-node.ndim, 0)
        if each != axis
    )
    return _is_zero(x) and alike and index.shape[axis] == 1


def scattered(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """One value in each row, at an index, is the value times a row of the identity matrix."""
    axis = node.params["axis"]
    labels = FUNCTIONS["squeeze"](Array(node.operands[2]), axis=axis)
    rows = FUNCTIONS["one_hot"](labels, node.shape[axis], dtype=node.dtype)
    rows = FUNCTIONS["broadcast_to"](FUNCTIONS["moveaxis"](rows, -1, axis), node.shape)
    places = {each: place for place, each in enumerate(open_axes(node))}
    values = forms.moved(operands[1], [places[each] for each in open_axes(node.operands[1])])
    if not values or not all(term_is_total(term) for term in values):
        return None  # 0 times it would not be 0 in the rest of the row
    return forms.normal.multiply(leaf_expr(forms.heads, rows.node), values)
