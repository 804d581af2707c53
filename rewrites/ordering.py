"""Repeated sorting and rounding, reductions that ignore order, and extrema of two values."""

from __future__ import annotations

from symgraph.numpy import (
    absolute,
    ceil,
    floor,
    maximum,
    minimum,
    rint,
    sort,
    trunc,
)
from symgraph.rewriting import (
    Array,
    Axes,
    Axis,
    Flag,
    Identity,
    IntegerValued,
    Real,
    applied,
    provided,
    rule,
    static,
)


@static
def among(axis: int, axes: tuple[int, ...]) -> bool:
    """Whether a reduction includes the axis."""
    return axis in axes


def _of_sorted(name: str, x: Array, along: int, axis: tuple[int, ...], keepdims: bool) -> Identity:
    provided(among(along, axis))
    ordered = applied(name, sort(x, axis=along), axis=axis, keepdims=keepdims)
    return ordered, applied(name, x, axis=axis, keepdims=keepdims)


# -- order -----------------------------------------------------------------------------------------
@rule(sound="rounding")
def sort_of_sort(x: Array, axis: Axis) -> Identity:
    """Sorting a sorted array changes nothing, except the order of zeros of both signs."""
    return sort(sort(x, axis=axis), axis=axis), sort(x, axis=axis)


@rule(sound="rounding")
def sum_of_sorted(x: Array, along: Axis, axis: Axes, keepdims: Flag) -> Identity:
    """A sum does not depend on the order of its terms."""
    return _of_sorted("sum", x, along, axis, keepdims)


@rule(sound="rounding")
def product_of_sorted(x: Array, along: Axis, axis: Axes, keepdims: Flag) -> Identity:
    """A product does not depend on the order of its factors."""
    return _of_sorted("prod", x, along, axis, keepdims)


@rule(sound="rounding")
def maximum_of_sorted(x: Array, along: Axis, axis: Axes, keepdims: Flag) -> Identity:
    """A maximum does not depend on the order of the elements; a zero may change its sign."""
    return _of_sorted("max", x, along, axis, keepdims)


@rule(sound="rounding")
def minimum_of_sorted(x: Array, along: Axis, axis: Axes, keepdims: Flag) -> Identity:
    """A minimum does not depend on the order of the elements; a zero may change its sign."""
    return _of_sorted("min", x, along, axis, keepdims)


# -- whole numbers ---------------------------------------------------------------------------------
@rule(sound="exact")
def floor_of_whole(x: IntegerValued) -> Identity:
    """An integer is its own floor."""
    return floor(x), x


@rule(sound="exact")
def ceiling_of_whole(x: IntegerValued) -> Identity:
    """An integer is its own ceiling."""
    return ceil(x), x


@rule(sound="exact")
def truncated_whole(x: IntegerValued) -> Identity:
    """Truncating an integer changes nothing."""
    return trunc(x), x


@rule(sound="exact")
def rounded_whole(x: IntegerValued) -> Identity:
    """Rounding an integer changes nothing."""
    return rint(x), x


@rule(sound="exact")
def floor_of_floor(x: Real) -> Identity:
    r"""$\lfloor \lfloor x \rfloor \rfloor = \lfloor x \rfloor$."""
    return floor(floor(x)), floor(x)


# -- extrema ---------------------------------------------------------------------------------------
@rule(sound="rounding")
def distance_of_extrema(x: Real, y: Real) -> Identity:
    r"""$\max(x, y) - \min(x, y) = |x - y|$."""
    return maximum(x, y) - minimum(x, y), absolute(x - y)


@rule(sound="rounding")
def larger_of_opposites(x: Real) -> Identity:
    r"""$\max(x, -x) = |x|$."""
    return maximum(x, -x), absolute(x)
