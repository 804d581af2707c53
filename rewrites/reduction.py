"""Sums of sums, extrema of extrema, reductions over no axes and over axes of length one."""

from __future__ import annotations

from typing import Any

from symgraph.numpy import (
    absolute,
    broadcast_to,
    exp,
    log,
    maximum,
    minimum,
    negative,
    prod,
    reshape,
    square,
    sum,
)
from symgraph.numpy import all as every
from symgraph.numpy import any as some
from symgraph.numpy import max as largest
from symgraph.numpy import min as least
from symgraph.rewriting import (
    Array,
    Axes,
    Axis,
    Flag,
    Identity,
    Nonnegative,
    PositiveConstant,
    Real,
    Shape,
    applied,
    building,
    number,
    provided,
    rule,
    static,
)


@static
def combined_axes(ndim: int, inner: tuple[int, ...], outer: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of an array of rank `ndim` that reductions over `inner` and then `outer` remove."""
    rest = [axis for axis in range(-ndim, 0) if axis not in inner]
    return tuple(sorted((*inner, *[rest[axis] for axis in outer])))


@static
def union_of_axes(inner: tuple[int, ...], outer: tuple[int, ...]) -> tuple[int, ...]:
    """The axes that are in one or the other, sorted."""
    return tuple(sorted({*inner, *outer}))


@static
def none_left(inner: tuple[int, ...], outer: tuple[int, ...], keepdims: bool) -> bool:
    """Whether the outer reduction keeps its axes too, or removes all axes of the inner one."""
    return keepdims or {*inner} <= {*outer}


@static
def all_of_length_one(shape: tuple[object, ...], axis: tuple[int, ...]) -> bool:
    """Whether a reduction over `axis` only drops axes."""
    return all(shape[each] == 1 for each in axis)


def element_count(shape: tuple[Any, ...], axis: tuple[int, ...]) -> Any:
    """The number of elements along the axes."""
    result: Any = 1
    for each in axis:
        result = result * shape[each]
    return result


# -- sums ------------------------------------------------------------------------------------------
@rule(sound="rounding")
def sum_of_sum(x: Array, inner: Axes, outer: Axes) -> Identity:
    r"""$\sum_j \sum_i x_{ij} = \sum_{ij} x_{ij}$."""
    return sum(sum(x, axis=inner), axis=outer), sum(x, axis=combined_axes(x.ndim, inner, outer))


@rule(sound="rounding")
def sum_of_kept_sum(x: Array, inner: Axes, outer: Axes, keepdims: Flag) -> Identity:
    """As `sum_of_sum`, where the inner sum keeps its axes."""
    provided(none_left(inner, outer, keepdims))
    once = applied("sum", x, axis=union_of_axes(inner, outer), keepdims=keepdims)
    kept = sum(x, axis=inner, keepdims=True)
    return applied("sum", kept, axis=outer, keepdims=keepdims), once


@rule(sound="rounding")
def sum_over_no_axes(x: Real, axis: Axes, keepdims: Flag) -> Identity:
    """A sum over no axes changes nothing but the sign of -0."""
    provided(axis == ())
    return applied("sum", x, axis=axis, keepdims=keepdims), x


@rule(sound="rounding", measure="reductions")
def sum_over_length_one(x: Real, axis: Axes) -> Identity:
    """The sum of one element is that element, but for the sign of -0."""
    provided(all_of_length_one(x.shape, axis))
    whole = sum(x, axis=axis)
    return whole, reshape(x, whole.shape)


@rule(sound="rounding", measure="reductions")
def kept_sum_over_length_one(x: Real, axis: Axes) -> Identity:
    """The sum of one element is that element; the axes stay."""
    provided(all_of_length_one(x.shape, axis))
    return sum(x, axis=axis, keepdims=True), x


@rule(sound="rounding", measure="negations of larger arrays")
def sum_of_negatives(x: Real, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\sum_i (-x_i) = -\sum_i x_i$; a zero may change its sign."""
    total = applied("sum", x, axis=axis, keepdims=keepdims)
    return applied("sum", negative(x), axis=axis, keepdims=keepdims), negative(total)


# -- variance --------------------------------------------------------------------------------------
@building
def _centred(x: Array, n: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    """The sum of squared deviations from the mean; declined if `n` is not the element count."""
    provided(n.node is number(element_count(x.shape, axis), n.dtype).node)
    mean = sum(x, axis=axis, keepdims=True) / n
    return applied("sum", square(x - mean), axis=axis, keepdims=keepdims)


@rule(sound="rounding", stable="a large mean: a difference of near equals")
def variance_in_one_pass(x: Real, n: PositiveConstant, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\frac1n \sum_i x_i^2 - (\frac1n \sum_i x_i)^2$ as the mean of squared deviations."""
    squares = applied("sum", square(x), axis=axis, keepdims=keepdims)
    total = applied("sum", x, axis=axis, keepdims=keepdims)
    return squares / n - square(total / n), _centred(x, n, axis, keepdims) / n


@rule(sound="rounding", stable="a large mean: a difference of near equals")
def deviations_in_one_pass(x: Real, n: PositiveConstant, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\sum_i x_i^2 - \frac1n (\sum_i x_i)^2$ as the sum of squared deviations."""
    squares = applied("sum", square(x), axis=axis, keepdims=keepdims)
    total = applied("sum", x, axis=axis, keepdims=keepdims)
    return squares - square(total) / n, _centred(x, n, axis, keepdims)


# -- products --------------------------------------------------------------------------------------
@rule(sound="rounding")
def product_of_product(x: Array, inner: Axes, outer: Axes) -> Identity:
    r"""$\prod_j \prod_i x_{ij} = \prod_{ij} x_{ij}$."""
    return prod(prod(x, axis=inner), axis=outer), prod(x, axis=combined_axes(x.ndim, inner, outer))


@rule(sound="exact")
def product_over_no_axes(x: Real, axis: Axes, keepdims: Flag) -> Identity:
    """A product over no axes changes nothing."""
    provided(axis == ())
    return applied("prod", x, axis=axis, keepdims=keepdims), x


@rule(sound="rounding", stable="long products overflow or underflow")
def log_of_product(x: Nonnegative, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\log \prod_i x_i = \sum_i \log x_i$ for $x_i \ge 0$."""
    logs = applied("sum", log(x), axis=axis, keepdims=keepdims)
    return log(applied("prod", x, axis=axis, keepdims=keepdims)), logs


@rule(sound="rounding", stable="exp overflows")
def product_of_exps(x: Real, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\prod_i e^{x_i} = e^{\sum_i x_i}$."""
    total = applied("sum", x, axis=axis, keepdims=keepdims)
    return applied("prod", exp(x), axis=axis, keepdims=keepdims), exp(total)


# -- extrema ---------------------------------------------------------------------------------------
@rule(sound="exact", kink="ties in one part of x and not in another")
def maximum_of_maximum(x: Array, inner: Axes, outer: Axes) -> Identity:
    """The maximum of maxima is the maximum over the axes of both."""
    axes = combined_axes(x.ndim, inner, outer)
    return largest(largest(x, axis=inner), axis=outer), largest(x, axis=axes)


@rule(sound="exact", kink="ties in one part of x and not in another")
def minimum_of_minimum(x: Array, inner: Axes, outer: Axes) -> Identity:
    """The minimum of minima is the minimum over the axes of both."""
    axes = combined_axes(x.ndim, inner, outer)
    return least(least(x, axis=inner), axis=outer), least(x, axis=axes)


@rule(sound="exact")
def maximum_over_no_axes(x: Array, axis: Axes, keepdims: Flag) -> Identity:
    """A maximum over no axes changes nothing."""
    provided(axis == ())
    return applied("max", x, axis=axis, keepdims=keepdims), x


@rule(sound="exact")
def minimum_over_no_axes(x: Array, axis: Axes, keepdims: Flag) -> Identity:
    """A minimum over no axes changes nothing."""
    provided(axis == ())
    return applied("min", x, axis=axis, keepdims=keepdims), x


@rule(sound="exact", measure="reductions")
def maximum_over_length_one(x: Array, axis: Axes) -> Identity:
    """The largest of one element is that element."""
    whole = largest(x, axis=axis)
    provided(all_of_length_one(x.shape, axis))
    return whole, reshape(x, whole.shape)


@rule(sound="exact", measure="reductions")
def minimum_over_length_one(x: Array, axis: Axes) -> Identity:
    """The least of one element is that element."""
    whole = least(x, axis=axis)
    provided(all_of_length_one(x.shape, axis))
    return whole, reshape(x, whole.shape)


@rule(sound="exact", measure="negations of larger arrays")
def maximum_of_negatives(x: Real, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\max_i (-x_i) = -\min_i x_i$."""
    smallest = applied("min", x, axis=axis, keepdims=keepdims)
    return applied("max", negative(x), axis=axis, keepdims=keepdims), negative(smallest)


@rule(sound="exact", measure="negations of larger arrays")
def minimum_of_negatives(x: Real, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\min_i (-x_i) = -\max_i x_i$."""
    biggest = applied("max", x, axis=axis, keepdims=keepdims)
    return applied("min", negative(x), axis=axis, keepdims=keepdims), negative(biggest)


# -- of repeated elements --------------------------------------------------------------------------
@static
def is_known(shape: tuple[object, ...]) -> bool:
    """Whether no axis is named: a named axis may be empty, and then has no extremum."""
    return all(isinstance(size, int) for size in shape)


@rule(sound="exact", measure="broadcasts below a reduction")
def maximum_of_broadcast(x: Array, shape: Shape) -> Identity:
    """The maximum of a broadcast number is that number."""
    provided((x.shape == ()) & is_known(shape))
    return largest(applied("broadcast_to", x, shape=shape)), x


@rule(sound="exact", measure="broadcasts below a reduction")
def minimum_of_broadcast(x: Array, shape: Shape) -> Identity:
    """The minimum of a broadcast number is that number."""
    provided((x.shape == ()) & is_known(shape))
    return least(applied("broadcast_to", x, shape=shape)), x


# -- of nonnegative terms --------------------------------------------------------------------------
@rule(sound="exact")
def absolute_of_sum_of_squares(x: Real, axis: Axes, keepdims: Flag) -> Identity:
    """A sum of squares is nonnegative."""
    total = applied("sum", square(x), axis=axis, keepdims=keepdims)
    return absolute(total), total


@rule(sound="exact")
def rectified_sum_of_squares(x: Real, axis: Axes, keepdims: Flag) -> Identity:
    """A sum of squares is nonnegative."""
    total = applied("sum", square(x), axis=axis, keepdims=keepdims)
    return maximum(total, 0), total


# -- of truth values -------------------------------------------------------------------------------
@rule(sound="exact")
def all_of_all(c: Array, inner: Axes, outer: Axes) -> Identity:
    """Two nested `all` are one over the axes of both."""
    axes = combined_axes(c.ndim, inner, outer)
    return every(every(c, axis=inner), axis=outer), every(c, axis=axes)


@rule(sound="exact")
def any_of_any(c: Array, inner: Axes, outer: Axes) -> Identity:
    """Two nested `any` are one over the axes of both."""
    axes = combined_axes(c.ndim, inner, outer)
    return some(some(c, axis=inner), axis=outer), some(c, axis=axes)


# -- of stacks of two ------------------------------------------------------------------------------
@static
def is_stack(one: tuple[object, ...], other: tuple[object, ...], axis: int) -> bool:
    """Whether both arrays have length one along the axis."""
    return one[axis] == 1 and other[axis] == 1


def stacked(x: Array, y: Array, axis: int) -> Array:
    """Two arrays concatenated along an axis."""
    return applied("concatenate", x, y, axis=axis)


@static
def as_tuple(axis: int) -> tuple[int, ...]:
    """One axis, as a tuple."""
    return (axis,)


@rule(sound="rounding", measure="reductions")
def sum_of_stack_of_two(x: Real, y: Real, axis: Axis, keepdims: Flag) -> Identity:
    r"""$\sum_{i \in \{1, 2\}} x_i = x_1 + x_2$."""
    whole = applied("sum", stacked(x, y, axis), axis=as_tuple(axis), keepdims=keepdims)
    provided(is_stack(x.shape, y.shape, axis))
    return whole, reshape(x, whole.shape) + reshape(y, whole.shape)


@rule(sound="exact", measure="reductions")
def product_of_stack_of_two(x: Real, y: Real, axis: Axis, keepdims: Flag) -> Identity:
    r"""$\prod_{i \in \{1, 2\}} x_i = x_1 x_2$."""
    whole = applied("prod", stacked(x, y, axis), axis=as_tuple(axis), keepdims=keepdims)
    provided(is_stack(x.shape, y.shape, axis))
    return whole, reshape(x, whole.shape) * reshape(y, whole.shape)


@rule(sound="rounding", measure="reductions")
def maximum_of_stack_of_two(x: Real, y: Real, axis: Axis, keepdims: Flag) -> Identity:
    """The maximum of a stack of two arrays is the larger of the two."""
    whole = applied("max", stacked(x, y, axis), axis=as_tuple(axis), keepdims=keepdims)
    provided(is_stack(x.shape, y.shape, axis))
    return whole, maximum(reshape(x, whole.shape), reshape(y, whole.shape))


@rule(sound="rounding", measure="reductions")
def minimum_of_stack_of_two(x: Real, y: Real, axis: Axis, keepdims: Flag) -> Identity:
    """The minimum of a stack of two arrays is the smaller of the two."""
    whole = applied("min", stacked(x, y, axis), axis=as_tuple(axis), keepdims=keepdims)
    provided(is_stack(x.shape, y.shape, axis))
    return whole, minimum(reshape(x, whole.shape), reshape(y, whole.shape))


# -- extrema of broadcast arrays -------------------------------------------------------------------
@static
def own_axes(axis: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """The axes that the array had before it was broadcast."""
    return tuple(each for each in axis if -each <= ndim)


@static
def is_larger(old: tuple[Any, ...], new: tuple[Any, ...]) -> bool:
    """Whether a broadcast gives another shape, which is known and not empty."""
    return old != new and all(isinstance(size, int) and size > 0 for size in new)


@rule(sound="exact", measure="elements compared")
def maximum_of_repeated(x: Array, shape: Shape, axis: Axes, keepdims: Flag) -> Identity:
    """A maximum over a broadcast array needs each element only once."""
    whole = applied("max", broadcast_to(x, shape), axis=axis, keepdims=keepdims)
    provided(is_larger(x.shape, shape))
    once = applied("max", x, axis=own_axes(axis, x.ndim), keepdims=keepdims)
    return whole, broadcast_to(once, whole.shape)


@rule(sound="exact", measure="elements compared")
def minimum_of_repeated(x: Array, shape: Shape, axis: Axes, keepdims: Flag) -> Identity:
    """A minimum over a broadcast array needs each element only once."""
    whole = applied("min", broadcast_to(x, shape), axis=axis, keepdims=keepdims)
    provided(is_larger(x.shape, shape))
    once = applied("min", x, axis=own_axes(axis, x.ndim), keepdims=keepdims)
    return whole, broadcast_to(once, whole.shape)


@rule(sound="exact", measure="reductions")
def product_over_length_one(x: Array, axis: Axes, keepdims: Flag) -> Identity:
    """The product of one element is that element."""
    whole = applied("prod", x, axis=axis, keepdims=keepdims)
    provided(all_of_length_one(x.shape, axis))
    return whole, reshape(x, whole.shape)


# -- places of extrema -----------------------------------------------------------------------------
@rule(sound="exact")
def place_of_largest_negative(x: Real, axis: Axis, keepdims: Flag) -> Identity:
    """The negative is largest where the number is least."""
    least_at = applied("argmin", x, axis=axis, keepdims=keepdims)
    return applied("argmax", negative(x), axis=axis, keepdims=keepdims), least_at


@rule(sound="exact")
def place_of_least_negative(x: Real, axis: Axis, keepdims: Flag) -> Identity:
    """The negative is least where the number is largest."""
    largest_at = applied("argmax", x, axis=axis, keepdims=keepdims)
    return applied("argmin", negative(x), axis=axis, keepdims=keepdims), largest_at
