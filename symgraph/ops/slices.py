"""Basic indices: slices in normal form and the shapes they give, of named dimensions too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..avals import Aval
from ..dims import Dim, Shape, known_equal, normal
from ..errors import DTypeError, ShapeError
from .composites import listed

__all__ = ["Entry", "Slice", "as_numpy_index", "basic_shape", "is_expression", "normal_index"]

Slice = tuple[Any, Any, Any]
Entry = Any
"""An int, None (a new axis) or a `Slice`."""


def is_expression(value: Any) -> bool:
    """Whether a bound is an expression in named dimensions."""
    return hasattr(value, "free_symbols")


def _bound(value: Any, size: Dim) -> Any:
    """A slice bound as an int, None, or an expression that is known not to be negative."""
    if value is None or isinstance(value, (int, np.integer)):
        return None if value is None else int(value)
    if is_expression(value):
        value = normal(value)
        offset = normal(value - size) if not isinstance(value, int) else value
        if isinstance(value, int) or offset == 0:
            return value
        if isinstance(offset, int) and offset < 0:
            return offset
        if value.is_nonnegative:
            return value
        raise ShapeError(
            f"the bound {value} of a slice is not known to be nonnegative.",
            mend="Count from an end of the axis: x[:-1] instead of x[:n - 1].",
        )
    try:
        return int(value.__index__())
    except (AttributeError, TypeError):
        raise DTypeError(f"a slice bound is an integer, not {value!r}.") from None


def _clamped(value: Any, size: Dim) -> Dim:
    """min(value, size) for a nonnegative value, max(size + value, 0) for a negative one."""
    if isinstance(value, int) and value < 0:
        rest = normal(size + value)
        if isinstance(rest, int) or rest.is_nonnegative:
            return rest if not isinstance(rest, int) or rest > 0 else 0
        from sympy import Max  # only where a dimension is named

        return Max(rest, 0)
    left: Any = normal(size - value)
    if isinstance(left, int):
        return value if left >= 0 else size
    if left.is_nonnegative:
        return normal(value)
    if left.is_nonpositive:
        return size
    from sympy import Min

    return Min(value, size)


def _slice_length(entry: Slice, size: Dim) -> Dim:
    start, stop, step = entry
    if isinstance(size, int) and not is_expression(start) and not is_expression(stop):
        return len(range(*slice(start, stop, step).indices(size)))
    if step > 0:
        # A start beyond the end needs no clamping: the span is negative then, and the slice empty.
        first = _clamped(start, size) if _is_negative(start) else start or 0
        last = size if stop is None else _clamped(stop, size)
        span: Any = normal(last - first)
    else:
        top = normal(size - 1)
        if (start is not None and start != -1) or stop is not None:
            raise ShapeError(
                f"a backward slice with bounds along the named dimension {size} is not supported.",
                mend="Slice forward first, then reverse with [::-1].",
            )
        span, step = normal(top + 1), -step
    return _steps(span, step)


def _is_negative(bound: Any) -> bool:
    return isinstance(bound, int) and bound < 0


def _steps(span: Any, step: int) -> Dim:
    if not isinstance(span, int) and not span.is_nonnegative:
        from sympy import Max

        span = Max(span, 0)
    if isinstance(span, int):
        return -(-span // step) if span > 0 else 0
    if step == 1:
        return span
    from sympy import ceiling

    return ceiling(span / step)


def _normal_slice(entry: slice, size: Dim) -> Slice:
    step = 1 if entry.step is None else _bound(entry.step, 0)
    if not isinstance(step, int) or step == 0:
        raise ShapeError("the step of a slice is a nonzero integer.")
    start, stop = _bound(entry.start, size), _bound(entry.stop, size)
    if isinstance(size, int) and not is_expression(start) and not is_expression(stop):
        low, high, step = slice(start, stop, step).indices(size)
        if not range(low, high, step):
            return (0, 0, 1)
        if low == 0 and high >= size and step > 0:
            return (None, None, step)
        return (low, None if high < 0 else high, step)
    if known_equal_or_none(stop, size):
        stop = None
    return (None if start == 0 and step > 0 else start, stop, step)


def known_equal_or_none(bound: Any, size: Dim) -> bool:
    """Whether a slice runs to the end of its axis."""
    return bound is None or (is_expression(bound) and known_equal(bound, size))


def _normal_int(value: Any, size: Dim, position: int) -> int:
    number = _bound(value, size)
    if number is None or is_expression(number):
        raise ShapeError(f"the index {value!r} is not a number.")
    if isinstance(size, int):
        if not -size <= number < size:
            raise ShapeError(
                f"index {number} is out of range for axis {position} of size {size}.",
            )
        return number if number < 0 else number - size
    return number


def normal_index(avals: tuple[Aval, ...], *, index: Any) -> dict[str, Any]:
    """One entry for each axis of the operand, new axes between."""
    entries = listed(index)
    shape = avals[0].shape
    used = len([each for each in entries if each is not None and each is not Ellipsis])
    dots = [i for i, each in enumerate(entries) if each is Ellipsis]
    if len(dots) > 1:
        raise ShapeError("an index holds one ellipsis at most.")
    if used > len(shape):
        raise ShapeError(f"{used} indices for an array of {len(shape)} dimensions.")
    fill = [slice(None)] * (len(shape) - used)
    at = dots[0] if dots else len(entries)
    entries[at : at + len(dots)] = fill
    result: list[Entry] = []
    axis = 0
    for each in entries:
        if each is None:
            result.append(None)
            continue
        size = shape[axis]
        if isinstance(each, (slice, tuple)):
            result.append(_normal_slice(each if isinstance(each, slice) else slice(*each), size))
        else:
            result.append(_normal_int(each, size, axis))
        axis += 1
    return {"index": tuple(result)}


def basic_shape(shape: Shape, index: Sequence[Entry]) -> Shape:
    """The shape of a slice; `index` is in normal form."""
    result: list[Dim] = []
    axis = 0
    for entry in index:
        if entry is None:
            result.append(1)
            continue
        if isinstance(entry, tuple):
            result.append(_slice_length(entry, shape[axis]))
        axis += 1
    return tuple(result)


def as_numpy_index(index: tuple[Entry, ...]) -> tuple[Any, ...]:
    """A normal index as NumPy takes it, for an array with leading axes as well."""
    entries = [slice(*entry) if isinstance(entry, tuple) else entry for entry in index]
    return (Ellipsis, *entries)
