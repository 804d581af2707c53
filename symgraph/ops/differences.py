"""Differences and sums along an axis: diff, trapezoid, gradient, cumulative sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from ..array import FUNCTIONS, Array, ArrayLike
from ..errors import DTypeError, ShapeError
from ..ir.avals import AxisLike, normal_axes, normal_axis
from ..ir.dims import show_shape
from .composites import as_array, composite, given, refuse
from .creation import full
from .joining import concatenate
from .movement import broadcast_to, moveaxis, ravel, reshape
from .recurrence import cumprod
from .statistics import cumsum
from .totals import sum

__all__ = ["cumulative_prod", "cumulative_sum", "diff", "ediff1d", "gradient", "trapezoid"]

Numbers: TypeAlias = "np.ndarray[Any, Any]"


def _along(axis: int, part: slice | int) -> tuple[Any, ...]:
    """An index that takes `part` of one axis; the axis is negative."""
    return (Ellipsis, part, *[slice(None)] * (-axis - 1))


# -- differences -----------------------------------------------------------------------------------
@composite(np.diff, view=True)
def diff(
    x: ArrayLike,
    n: int = 1,
    axis: int = -1,
    prepend: ArrayLike | None = None,
    append: ArrayLike | None = None,
) -> Array:
    """Each element less the one before it along `axis`, `n` times over."""
    found: Array = as_array(x)
    if n < 0:
        raise ShapeError(f"diff: n is {n}; it must be 0 or more.")
    if not found.ndim:
        raise ShapeError("diff: an array of at least one dimension is needed.")
    if not n:
        return found
    place = normal_axis(axis, found.ndim)
    ends = [_end(each, found, place) if given(each) else None for each in (prepend, append)]
    parts = [each for each in (ends[0], found, ends[1]) if each is not None]
    found = parts[0] if len(parts) == 1 else concatenate(parts, axis=place)
    less = FUNCTIONS["not_equal" if found.dtype.kind == "b" else "subtract"]
    for _ in range(n):
        found = less(found[_along(place, slice(1, None))], found[_along(place, slice(None, -1))])
    return found


def _end(value: object, x: Array, axis: int) -> Array:
    """The values before or behind the array; a number stands once in each row."""
    value = as_array(value)
    if value.ndim:
        return value
    return broadcast_to(value, [1 if i == axis else d for i, d in enumerate(x.shape, -x.ndim)])


@composite(np.ediff1d)
def ediff1d(
    x: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None
) -> Array:
    """Differences of the raveled array, with `to_begin` before them and `to_end` behind."""
    x = ravel(as_array(x))
    found = x[1:] - x[:-1]
    parts = [found]
    if given(to_begin):
        parts.insert(0, _extra(to_begin, x))
    if given(to_end):
        parts.append(_extra(to_end, x))
    return concatenate(parts) if len(parts) > 1 else found


def _extra(values: object, x: Array) -> Array:
    """The values for one end, in the dtype of the array."""
    values = ravel(as_array(values))
    if not np.can_cast(values.dtype, x.dtype, "same_kind"):
        raise DTypeError(f"ediff1d: {values.dtype} does not go into an array of {x.dtype}.")
    return FUNCTIONS["astype"](values, x.dtype)


@composite(np.trapezoid)
def trapezoid(
    y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1
) -> Array:
    r"""The integral by the trapezoidal rule, $\sum_k \tfrac12 (y_k + y_{k+1}) \Delta x_k$."""
    y = as_array(y)
    place = normal_axis(axis, y.ndim)
    width: Any = dx
    if x is not None:
        x = as_array(x)
        width = diff(x) if x.ndim == 1 else diff(x, axis=place)
        if x.ndim == 1:
            width = reshape(width, (-1, *[1] * (-place - 1)))
    pairs = y[_along(place, slice(1, None))] + y[_along(place, slice(None, -1))]
    return sum(width * pairs / 2.0, axis=place)


# -- derivatives of samples ------------------------------------------------------------------------
@composite(np.gradient)
def gradient(f: Any, *varargs: ArrayLike, axis: Any = None, edge_order: int = 1) -> Any:
    """Derivatives of samples along each axis: central differences, one-sided at the ends.

    They have the dtype of the samples, float64 for integers.

    Parameters
    ----------
    f : array_like
    *varargs : array_like
        Spacings: none (1), one for all axes, or one an axis; a number, or the coordinates along
        the axis. Both may be symbolic.
    axis : int or tuple of int, optional
        By default every axis.
    edge_order : {1, 2}
        Of accuracy at the ends.

    Raises
    ------
    ShapeError
        If an axis has too few samples, or a length that is not known.
    DTypeError
        If the samples are truth values.
    """
    f = as_array(f)
    if f.dtype.kind == "b":
        raise DTypeError("gradient: truth values have no differences.")
    if f.dtype.kind != "f":
        f = FUNCTIONS["astype"](f, "float64")
    axes = normal_axes(axis, f.ndim) if axis is None or isinstance(axis, int) else _each(axis, f)
    spacings = _spacings(varargs, len(axes))
    if edge_order not in (1, 2):
        raise ShapeError(f"gradient: edge_order is 1 or 2, not {edge_order!r}.")
    found = tuple(
        _derivative(f, place, spacing, edge_order)
        for place, spacing in zip(axes, spacings, strict=True)
    )
    return found[0] if len(found) == 1 else found


def _each(axis: Sequence[int], f: Array) -> tuple[int, ...]:
    normal_axes(axis, f.ndim)
    return tuple([each if each < 0 else each - f.ndim for each in axis])


def _spacings(varargs: Sequence[Any], count: int) -> list[Any]:
    if not varargs:
        return [1.0] * count
    spacings = [each if isinstance(each, Array) else np.asarray(each) for each in varargs]
    if len(spacings) == 1 and not spacings[0].ndim:
        return spacings * count
    if len(spacings) != count:
        raise ShapeError(f"gradient: {len(spacings)} spacings for {count} axes.")
    return spacings


def _derivative(f: Array, axis: int, spacing: Array | Numbers, edge_order: int) -> Array:
    size = f.shape[axis]
    if not isinstance(size, int) or size <= edge_order:
        raise ShapeError(
            f"gradient: {size} samples along an axis of shape {show_shape(f.shape)}; "
            f"it needs a fixed number of samples, at least {edge_order + 1}."
        )
    coordinates = getattr(spacing, "ndim", 0)
    if coordinates > 1 or (coordinates and spacing.shape[0] != size):
        raise ShapeError(f"gradient: the axis needs a vector of {size} coordinates.")
    rows = moveaxis(f, axis, -1) if axis != -1 else f
    steps = np.diff(spacing) if coordinates else None
    parts = [_first(rows, spacing, steps, edge_order)]
    if size > 2:
        parts.append(_interior(rows, spacing, steps))
    parts.append(_last(rows, spacing, steps, edge_order))
    found = FUNCTIONS["astype"](concatenate(parts, axis=-1), f.dtype, copy=False)
    return moveaxis(found, -1, axis) if axis != -1 else found


def _interior(f: Array, spacing: Array | Numbers, steps: Numbers | None) -> Any:
    if steps is None:
        return (f[..., 2:] - f[..., :-2]) / (2.0 * spacing)
    one, two = steps[:-1], steps[1:]
    both = one + two
    ends = one / (two * both) * f[..., 2:] - two / (one * both) * f[..., :-2]
    return ends + (two - one) / (one * two) * f[..., 1:-1]


def _first(f: Array, spacing: Array | Numbers, steps: Numbers | None, edge_order: int) -> Array:
    one = spacing if steps is None else steps[0]
    if edge_order == 1:
        return (f[..., 1:2] - f[..., :1]) / one
    return _parabola(lambda k: f[..., k : k + 1], one, one if steps is None else steps[1])


def _last(f: Array, spacing: Array | Numbers, steps: Numbers | None, edge_order: int) -> Array:
    one = spacing if steps is None else steps[-1]
    if edge_order == 1:
        return (f[..., -1:] - f[..., -2:-1]) / one

    def from_end(k: int) -> Array:
        return f[..., -1 - k : -k or None]

    return -_parabola(from_end, one, one if steps is None else steps[-2])


def _parabola(sample: Callable[[int], Array], one: Array | Numbers, two: Array | Numbers) -> Any:
    """The slope, at the first of three samples, of the parabola through them."""
    both = one + two
    far = one / (two * both) * sample(2)
    return both / (one * two) * sample(1) - (one + both) / (one * both) * sample(0) - far


# -- sums and products so far, by the array API's names --------------------------------------------
@composite(np.cumulative_sum)
def cumulative_sum(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: object = None,
    include_initial: bool = False,
) -> Array:
    """Sums of all elements up to each along `axis`, after a 0 if `include_initial`."""
    refuse("cumulative_sum", {"out": out})
    return _with_initial(cumsum, as_array(x), axis, dtype, 0 if include_initial else None)


@composite(np.cumulative_prod)
def cumulative_prod(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: object = None,
    include_initial: bool = False,
) -> Array:
    """Products of all elements up to each along `axis`, after a 1 if `include_initial`."""
    refuse("cumulative_prod", {"out": out})
    return _with_initial(cumprod, as_array(x), axis, dtype, 1 if include_initial else None)


def _with_initial(
    cumulative: Callable[..., Array],
    x: Array,
    axis: AxisLike,
    dtype: DTypeLike | None,
    start: int | None,
) -> Array:
    if axis is None:
        if x.ndim > 1:
            raise ShapeError(
                f"{cumulative.__name__}: which axis of shape {show_shape(x.shape)}?",
                mend="Name the axis: axis=0.",
            )
        axis = 0
    found = cumulative(x, axis=axis, dtype=dtype)
    if start is None:
        return found
    place = normal_axis(axis, found.ndim)
    shape = [1 if i == place else dim for i, dim in enumerate(found.shape, -found.ndim)]
    return concatenate([full(shape, start, found.dtype), found], axis=place)
