"""Choosing between elements: where, maximum, minimum, clip.

Ties have one documented subgradient, the same on every backend. A tie of maximum(x, y) or
minimum(x, y) is split equally between two computed operands. A tie with a constant goes to
the constant, so that relu'(0) = 0; clip passes strictly inside its bounds, and at a bound to that
bound; where has the slope of the branch that it takes. Simplification keeps these
(docs/decisions.md, 24).

The cotangent of an element that is not chosen is replaced by 0, not multiplied by 0. So an
infinite cotangent of a branch not taken does no harm.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

import numpy as np
from numpy._core import umath

from .. import facts as f
from ..array import Array, ArrayLike, apart, apply, constant
from ..errors import TraceError
from ..facts import Fact
from ..ir.fact_inference import Known
from ..ir.traits import Selection, Traits
from ..notation import formulas
from .bounds import Bounds, in_common, knows
from .comparison import equal, isnan, not_equal
from .composites import naming_lines
from .families import elementwise, function
from .structures import structure

__all__ = ["clip", "fmax", "fmin", "is_constant", "maximum", "minimum", "where"]


def is_constant(x: Array) -> bool:
    """Whether `x` is a constant, perhaps broadcast, reshaped or cast."""
    node = x.node
    while node.operands and (node.op.view or node.op.name == "cast"):
        node = node.operands[0]
    return node.is_constant


# -- facts about results ---------------------------------------------------------------------------
def _hull(x: Known, y: Known) -> Bounds:
    return min(x.low, y.low), max(x.high, y.high)


def _signs_maximum(x: Known, y: Known) -> Iterable[Fact]:
    yield from in_common(x, y)
    yield from (each for each in (f.positive, f.nonnegative) if x.has(each) or y.has(each))


def _signs_minimum(x: Known, y: Known) -> Iterable[Fact]:
    yield from in_common(x, y)
    yield from (each for each in (f.negative, f.nonpositive) if x.has(each) or y.has(each))


def _bounds_clip(x: Known, low: Known, high: Known) -> Bounds:
    return min(max(x.low, low.low), high.low), min(max(x.high, low.high), high.high)


def _signs_clip(x: Known, low: Known, high: Known) -> Iterable[Fact]:
    if high.has(f.positive) and (x.has(f.positive) or low.has(f.positive)):
        yield f.positive
    if high.has(f.negative) or (x.has(f.negative) and low.has(f.negative)):
        yield f.negative


_BELOW = ("less", "less_equal")
_ABOVE = ("greater", "greater_equal")
_STRICT = ("less", "greater")


def _under(condition: Known, branch: Known, holds: bool) -> tuple[Bounds, bool]:
    """The bounds of a branch that its condition bounds, and whether the branch is nonzero.

    `where(x > 0, x, 1)` is positive, `where(x == 0, 1, x)` nonzero.
    """
    low, high, nonzero = branch.low, branch.high, branch.has(f.nonzero)
    name, operands = condition.node.op.name, condition.node.operands
    sides = [i for i, operand in enumerate(operands) if operand is branch.node]
    if len(operands) != 2 or len(sides) != 1 or not operands[1 - sides[0]].is_constant:
        return (low, high), nonzero
    value = operands[1 - sides[0]].params["value"]
    if value.size != 1 or not np.isfinite(value):
        return (low, high), nonzero
    c = float(value.reshape(()))
    if name == ("not_equal" if holds else "equal") and c == 0:
        return (low, high), True
    if not holds or name not in (*_BELOW, *_ABOVE):
        # A comparison that fails does not exclude NaN.
        return (low, high), nonzero
    above = (name in _ABOVE) == (sides[0] == 0)
    low, high = (max(low, c), high) if above else (low, min(high, c))
    return (low, high), nonzero or (c == 0 and name in _STRICT)


def _facts_where(condition: Known, x: Known, y: Known) -> Iterable[Fact]:
    (x_low, x_high), x_nonzero = _under(condition, x, True)
    (y_low, y_high), y_nonzero = _under(condition, y, False)
    low, high = min(x_low, y_low), max(x_high, y_high)
    if low <= high and (low, high) != (-inf, inf):
        yield f.interval(low, high)
    yield from in_common(x, y)
    if x_nonzero and y_nonzero:
        yield f.nonzero
        if low >= 0:
            yield f.positive
        if high <= 0:
            yield f.negative
    common = (f.integer_valued, f.total, f.finite)
    yield from (each for each in common if x.has(each) and y.has(each))
    yield from structure(condition, x, y)


# -- choosing --------------------------------------------------------------------------------------
_where = elementwise(
    "where",
    kernel=lambda xp, condition, x, y: xp.where(condition, x, y),
    kernel_of_many=lambda xp, condition, x, y: xp.chosen(condition, x, y),
    vjp=(
        None,
        lambda ct, out, condition, x, y: where(condition, ct, 0),
        lambda ct, out, condition, x, y: where(condition, 0, ct),
    ),
    facts=_facts_where,
    unpromoted=(0,),
    traits=Traits(jointly_linear=(1, 2), movement=True, shift=1, blind=(1, 2)),
    latex=formulas.where_formula,
    definition=lambda m, condition, x, y: m.where(condition, x, y),
)


def _choose(condition: ArrayLike, x: ArrayLike | None = None, y: ArrayLike | None = None) -> Any:
    """Elements of x where the condition holds, of y elsewhere.

    Parameters
    ----------
    condition : array_like of bool
        Anything but bool counts as true where it is not 0.
    x, y : array_like
        Cast to their common dtype.
    """
    if x is None or y is None:
        raise TraceError(
            "where: the number of places where a condition holds is not known yet.",
            mend="Give both branches: np.where(condition, x, 0).",
        )
    if type(condition) is Array and condition.dtype.kind != "b":
        condition = not_equal(condition, 0)
    elif not isinstance(condition, Array):
        condition = np.asarray(condition, dtype=bool)
    return apply(_where.op, condition, x, y)


where = function(_where.op, naming_lines(_choose, array=True), np.where)


# -- larger and smaller ----------------------------------------------------------------------------


def _won(ct: Array, x: Array, y: Array, wins: Array) -> Array:
    """The cotangent of x: all of ct where x is chosen, half where it ties with a computed y."""
    if is_constant(y):
        return where(wins, ct, 0)
    return where(wins, ct, where(equal(x, y), ct * 0.5, 0))


maximum = elementwise(
    "maximum",
    kernel=lambda xp, x, y: xp.maximum(x, y),
    vjp=(
        lambda ct, out, x, y: _won(ct, x, y, x > y),
        lambda ct, out, x, y: _won(ct, y, x, y > x),
    ),
    facts=knows(
        bounds=lambda x, y: (max(x.low, y.low), max(x.high, y.high)),
        signs=_signs_maximum,
        keeps_finite=True,
        keeps_integers=True,
    ),
    ufunc="maximum",
    doc="The larger one; a tie splits the cotangent equally, or gives it to a constant operand.",
    traits=Traits(selection=Selection.LARGEST, homogeneous=1, shift=1),
    definition=lambda m, x, y: m.maximum(x, y),
    latex=r"\max",
    mistaken_for=("minimum", "add"),
)

minimum = elementwise(
    "minimum",
    kernel=lambda xp, x, y: xp.minimum(x, y),
    vjp=(
        lambda ct, out, x, y: _won(ct, x, y, x < y),
        lambda ct, out, x, y: _won(ct, y, x, y < x),
    ),
    facts=knows(
        bounds=lambda x, y: (min(x.low, y.low), min(x.high, y.high)),
        signs=_signs_minimum,
        keeps_finite=True,
        keeps_integers=True,
    ),
    ufunc="minimum",
    doc="The smaller one; a tie splits the cotangent equally, or gives it to a constant operand.",
    traits=Traits(selection=Selection.LEAST, homogeneous=1, shift=1),
    definition=lambda m, x, y: m.minimum(x, y),
    latex=r"\min",
    mistaken_for=("maximum", "add"),
)

fmax = elementwise(
    "fmax",
    kernel=lambda xp, x, y: xp.fmax(x, y),
    vjp=(
        lambda ct, out, x, y: _won(ct, x, y, (x > y) | isnan(y)),
        lambda ct, out, x, y: _won(ct, y, x, (y > x) | isnan(x)),
    ),
    facts=knows(bounds=_hull, signs=in_common, keeps_finite=True, keeps_integers=True),
    ufunc="fmax",
    doc="The larger one, or the one that is a number; ties as in maximum.",
    traits=Traits(selection=Selection.OTHER, blind=..., homogeneous=1, shift=1),
)

fmin = elementwise(
    "fmin",
    kernel=lambda xp, x, y: xp.fmin(x, y),
    vjp=(
        lambda ct, out, x, y: _won(ct, x, y, (x < y) | isnan(y)),
        lambda ct, out, x, y: _won(ct, y, x, (y < x) | isnan(x)),
    ),
    facts=knows(bounds=_hull, signs=in_common, keeps_finite=True, keeps_integers=True),
    ufunc="fmin",
    doc="The smaller one, or the one that is a number; ties as in minimum.",
    traits=Traits(selection=Selection.OTHER, blind=..., homogeneous=1, shift=1),
)

_clip = elementwise(
    "clip",
    kernel=lambda xp, x, low, high: xp.clip(x, low, high),
    vjp=(
        lambda ct, out, x, low, high: where((x > low) & (x < high), ct, 0),
        lambda ct, out, x, low, high: where((x <= low) & (low < high), ct, 0),
        lambda ct, out, x, low, high: where((x >= high) | (low >= high), ct, 0),
    ),
    facts=knows(bounds=_bounds_clip, signs=_signs_clip, keeps_finite=True, keeps_integers=True),
    doc="The elements of x limited to [a_min, a_max]; gradients pass strictly inside.",
    traits=Traits(homogeneous=1, shift=1),
    definition=lambda m, x, low, high: m.minimum(m.maximum(x, low), high),
)


def _bound(x: ArrayLike, bound: object, lower: bool) -> Any:
    """A bound of integers, or None if all numbers of the dtype satisfy it."""
    if type(bound) is not int or type(x) is not Array or x.dtype.kind not in "iu":
        return bound
    limits = np.iinfo(x.dtype)
    open_side = bound <= limits.min if lower else bound >= limits.max
    return None if open_side else bound


def _within(
    x: ArrayLike,
    a_min: ArrayLike | None = None,
    a_max: ArrayLike | None = None,
    *,
    min: ArrayLike | None = None,
    max: ArrayLike | None = None,
) -> Any:
    """The elements of x limited to [a_min, a_max]; gradients pass strictly inside.

    Parameters
    ----------
    x : array_like
    a_min, a_max : array_like or None
        None leaves that side open; where a_min > a_max the result is a_max. `min` and `max` are
        other names for them.
    """
    low = _bound(x, min if a_min is None else a_min, lower=True)
    high = _bound(x, max if a_max is None else a_max, lower=False)
    if low is None and high is None:
        return apart(x if isinstance(x, Array) else constant(x))
    if low is None:
        return minimum(x, high)
    if high is None:
        return maximum(x, low)
    return apply(_clip.op, x, low, high)


# The method of an array of numbers, V.clip(low, high), calls this ufunc, which has no other name.
clip = function(_clip.op, _within, np.clip, umath.clip)  # pyright: ignore[reportAttributeAccessIssue]
