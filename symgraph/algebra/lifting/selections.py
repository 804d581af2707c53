"""Expressions of choices and scattered values: redundant masks, clipping, one-hot rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isclose

import numpy as np

from ...array import Array
from ...facts import positive
from ...ir.dims import known_equal
from ...ir.node import Node
from ...ir.traits import Comparison
from ...ops.choice import clip
from ...ops.elementwise import absolute, sign
from ...ops.gather import one_hot
from ...ops.movement import broadcast_to, moveaxis, squeeze
from ..expression.atoms import open_axes
from ..expression.exact_numbers import Coef, coefficient, quotient, times
from ..expression.leaf_terms import leaf_expr, repeated_number, stretched
from ..expression.roles import is_difference, is_equality, is_power, is_product, is_quotient
from ..expression.term import LEAF, ONE, Atom, Expr, Term, scaled, term_is_total
from ..normal_form.factors import has_exps
from .protocol import Lifting

__all__ = ["chosen", "is_known_choice", "is_one_of_each_row", "scattered"]

_LEAST_EXPONENT = 1e-4
"""A computed exponent with a lower bound above it is no 0 in any dtype."""


# -- masks -----------------------------------------------------------------------------------------
def is_known_choice(node: Node) -> bool:
    """Whether a comparison chooses between a value and 0, or clips a value."""
    condition, _, otherwise = node.operands
    if condition.op.traits.comparison is None:
        return False
    return _is_zero(otherwise) or _clipping(node) is not None


def chosen(lifter: Lifting, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """The expression of a choice that a mask does not change, or that clips."""
    clipping = _clipping(node)
    if clipping is None:
        return _masked(lifter, node, operands)
    if _takes_bounds(node) and not lifter.passes_kink():
        return None
    x, bound, by = clipping
    clipped = clip(Array(x), -bound, bound).node
    return scaled(leaf_expr(lifter.atoms, clipped), by) if clipped.dtype == node.dtype else None


def _comparison(node: Node) -> Comparison:
    found = node.op.traits.comparison
    assert found is not None
    return found


def _extremum(node: Node) -> int:
    """1 for the larger of two values, -1 for the smaller, 0 for any other node."""
    return node.op.traits.extremum if node.op.traits.elementwise else 0


def _takes_bounds(node: Node) -> bool:
    """Whether the slope at a bound is that inside the bounds. The slope of `clip` is 0 there."""
    return _comparison(node.operands[0]) in (Comparison(-1, ties=True), Comparison(1))


def _clipping(node: Node) -> tuple[Node, float, Coef] | None:
    """The value x, the bound c and the factor k of where(|x| < c, k x, k c sign(x)).

    At |x| = c both branches are equal.
    """
    condition, inside, outside = node.operands
    sized, bound = condition.operands
    if sized.op is not absolute.op or is_equality(condition) or node.dtype.kind != "f":
        return None
    if _comparison(condition).side > 0:
        inside, outside = outside, inside
    (x,) = sized.operands
    limit = repeated_number(stretched(bound))
    (by, array), (far, side) = _multiple(inside), _multiple(outside)
    if array is not x or x.shape != node.shape or side.op is not sign.op:
        return None
    top = 0.0 if limit is None else float(limit)
    if side.operands[0] is not x or not 0 < top < inf:
        return None
    same = isclose(float(far), float(by) * top, rel_tol=4 * float(np.finfo(node.dtype).eps))
    return (x, top, by) if same else None


def _multiple(node: Node) -> tuple[Coef, Node]:
    """The number and the array whose product is the value; 1 and the value if there is none."""
    if is_product(node) or is_quotient(node):
        x, y = node.operands
        by = _number(y)
        if by is not None and by != 0:
            return (by if is_product(node) else quotient(1, by)), x
        by = _number(x)
        if by is not None and is_product(node):
            return by, y
    return 1, node


def _number(node: Node) -> Coef | None:
    """The number that fills an array, which may be a product of two; None if there is none."""
    repeated = repeated_number(stretched(node))
    if repeated is not None:
        return coefficient(repeated)
    if not is_product(node):
        return None
    x, y = map(_number, node.operands)
    return None if x is None or y is None else times(x, y)


def _masked(lifter: Lifting, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """The expression of where(u > v, a, 0), if a is 0 already where u <= v.

    It is if each term of a has the factor max(u - v, 0), or a power of it with a positive exponent,
    or max(u, v) - v. The other factors must be finite at all finite inputs, for 0 times them must
    be 0; so an exp must not be among them.
    """
    values = lifter.aligned(node, operands)[1]
    condition = node.operands[0]
    if not values:
        return None
    # The factor must have the axes of the condition: a zero in a column tells nothing of a row.
    places = {axis: place for place, axis in enumerate(open_axes(node))}
    along = tuple([places[axis] for axis in open_axes(condition)])
    if not is_equality(condition) and all(
        _vanishes(lifter, each, condition, along) for each in values
    ):
        return values
    if _vanishes_beyond(lifter, values, condition, places):
        if _halves_ties(condition) and not lifter.passes_kink():
            return None
        return {} if is_equality(condition) else values
    return None


def _halves_ties(condition: Node) -> bool:
    """Whether the condition excludes a tie, where the extremum halves its derivative."""
    comparison = _comparison(condition)
    strict = comparison.side != 0 and not comparison.ties
    return strict and all(repeated_number(stretched(each)) is None for each in condition.operands)


def _vanishes(lifter: Lifting, term: Term, condition: Node, along: tuple[int, ...]) -> bool:
    left, right = condition.operands
    above = _comparison(condition).side > 0
    slots = [(f.atom, f.idx, f.power) for f in term.factors]
    if not term_is_total(term) or has_exps(slots):
        return False
    return any(
        f.atom.kind == LEAF
        and f.power > 0
        and f.idx == along
        and f.atom.node.shape == condition.shape
        and _is_rectified(_base(lifter, f.atom.node), left, right, above)
        for f in term.factors
    )


def _base(lifter: Lifting, node: Node) -> Node:
    """The array of the same shape of which the node is a power that is 0 at 0; else the node."""
    if not is_power(node):
        return node
    base, exponent = node.operands
    # An exponent that is computed may underflow to 0, and 0**0 is 1.
    known = lifter.atoms.knowledge.of(exponent)
    is_positive = known.has(positive) if exponent.is_input else known.bounds[0] > _LEAST_EXPONENT
    return base if base.shape == node.shape and is_positive else node


def _vanishes_beyond(
    lifter: Lifting, expr: Expr, condition: Node, places: Mapping[int, int]
) -> bool:
    """Whether the expression is 0 where the condition fails, since max(u, v) = v for u <= v.

    For the condition u == v: whether it is 0 wherever u and v differ.
    """
    along = tuple([places[axis] for axis in open_axes(condition)])
    high, low = condition.operands
    if _comparison(condition).side < 0:
        high, low = low, high
    ends = [(1, low), (-1, high)]
    if is_equality(condition):
        ends += [(1, high), (-1, low)]
    for extremum, other in ends:
        found = {
            f.atom
            for term in expr
            for f in term.factors
            if f.atom.kind == LEAF
            and f.idx == along
            and _extremum(f.atom.node) == extremum
            and f.atom.node.shape == condition.shape
            and _are(f.atom.node.operands, (high, low))
        }
        if len(found) == 1 and all(_is_sure(term) for term in expr):
            (atom,) = found
            inside = leaf_expr(lifter.atoms, other)
            inside = lifter.moved(inside, [places[axis] for axis in open_axes(other)])
            if _replaced(lifter, expr, atom, along, inside) == {}:
                return True
    return False


def _is_sure(term: Term) -> bool:
    return term_is_total(term) and not has_exps([(f.atom, f.idx, f.power) for f in term.factors])


def _replaced(
    lifter: Lifting, expr: Expr, atom: Atom, along: tuple[int, ...], inside: Expr
) -> Expr | None:
    """The expression with a factor replaced by another expression; None if a power has no form."""
    total: Expr = {}
    for term, coef in expr.items():
        factors, bound = lifter.normal.opened_term(term)
        rest = [slot for slot in factors if slot[0] is not atom or slot[1] != along]
        power = sum(slot[2] for slot in factors) - sum(slot[2] for slot in rest)
        new = lifter.normal.product(coef, rest, bound)
        raised: Expr | None = {ONE: 1}
        if power:
            raised = lifter.normal.power(inside, power) if inside else {}
        if raised is None or (not inside and power < 0):
            return None
        total = lifter.normal.add([(total, 1), (lifter.normal.multiply(new, raised), 1)])
    return total


def _are(found: Sequence[Node], wanted: Sequence[Node]) -> bool:
    """Whether two pairs of operands are equal in either order; numbers may be broadcast."""
    return any(
        all(_same(a, b) for a, b in zip(found, order, strict=True))
        for order in (wanted, wanted[::-1])
    )


def _same(a: Node, b: Node) -> bool:
    if a is b:
        return True
    first, second = repeated_number(stretched(a)), repeated_number(stretched(b))
    return first is not None and first == second


def _is_rectified(node: Node, left: Node, right: Node, above: bool) -> bool:
    """Whether the node is 0 where `left > right` (or `left < right`) fails."""
    if not _extremum(node):
        return False
    first, second = node.operands
    if _is_zero(first):
        first, second = second, first
    if not _is_zero(second):
        return False
    if (_extremum(node) > 0) != above:
        left, right = right, left
    if _is_zero(right):
        return first is left
    return is_difference(first) and first.operands == (left, right)


def _is_zero(node: Node) -> bool:
    return repeated_number(stretched(node)) == 0


# -- scattered values ------------------------------------------------------------------------------
def is_one_of_each_row(node: Node) -> bool:
    """Whether it puts one value into each row of an array of zeros."""
    x, _, index = node.operands
    axis = node.params["axis"]
    alike = index.ndim == node.ndim and all(
        known_equal(index.shape[each], node.shape[each])
        for each in range(-node.ndim, 0)
        if each != axis
    )
    return _is_zero(x) and alike and index.shape[axis] == 1


def scattered(lifter: Lifting, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """The values times one-hot rows, which are rows of the identity matrix."""
    axis = node.params["axis"]
    labels = squeeze(Array(node.operands[2]), axis=axis)
    rows = one_hot(labels, node.shape[axis], dtype=node.dtype)
    rows = broadcast_to(moveaxis(rows, -1, axis), node.shape)
    places = {each: place for place, each in enumerate(open_axes(node))}
    values = lifter.moved(operands[1], [places[each] for each in open_axes(node.operands[1])])
    if not values or not all(term_is_total(term) for term in values):
        return None  # the rest of the row would be 0 times NaN, which is not 0
    return lifter.normal.multiply(leaf_expr(lifter.atoms, rows.node), values)
