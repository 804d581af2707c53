"""Basic indices: slices in normal form and their shapes, also for named dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..array import ArrayLike, Index
from ..errors import DTypeError, ShapeError
from ..ir.avals import Aval
from ..ir.dims import Dim, Shape, is_named, known_equal, normal, show_shape
from ..pytrees import listed

__all__ = [
    "Entry",
    "Slice",
    "as_numpy_index",
    "basic_shape",
    "bounds_of",
    "entries_of",
    "is_expression",
    "normal_index",
]

Slice = tuple[Any, Any, Any]
Entry = Any
"""An int, None (a new axis) or a `Slice`."""


def is_expression(value: object) -> bool:
    """Whether a bound is an expression in named dimensions."""
    return is_named(value)


def _bound(value: Any, size: Dim) -> Any:
    """A slice bound as an int, None, or an expression that is known to be nonnegative."""
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


def _least(value: Dim, size: Dim) -> Dim:
    """min(value, size) for a nonnegative value."""
    left: Any = normal(size - value)
    if isinstance(left, int):
        return value if left >= 0 else size
    if left.is_nonnegative:
        return normal(value)
    if left.is_nonpositive:
        return size
    from sympy import Min  # only where a dimension is named

    return normal(Min(value, size))


def _nonnegative(value: object) -> Dim:
    """max(value, 0); max(max(a, 0) - 1, 0) is max(a - 1, 0), so x[1:-1] is as long as x[2:]."""
    value = normal(value)
    if isinstance(value, int):
        return value if value > 0 else 0
    if value.is_nonnegative:
        return value
    from sympy import Max

    number, rest = value.as_coeff_Add()
    if number < 0 and isinstance(rest, Max) and 0 in rest.args:
        return _nonnegative(Max(*[each for each in rest.args if each != 0]) + number)
    return normal(Max(value, 0))


def _slice_length(entry: Slice, size: Dim) -> Dim:
    start, stop, step = entry
    if isinstance(size, int) and not is_expression(start) and not is_expression(stop):
        return len(range(*slice(start, stop, step).indices(size)))
    # Measure a backward slice from the next place: its end would be -1 otherwise.
    on = 0 if step > 0 else 1

    def place(bound: Any) -> Any:
        return _nonnegative(size + bound + on) if _is_negative(bound) else bound + on

    def within(bound: ArrayLike) -> Any:
        return place(bound) if _is_negative(bound) else _least(place(bound), size)

    # The lower bound needs no more: beyond the upper bound the slice is empty anyway.
    if step > 0:
        lower, upper = place(start or 0), size if stop is None else within(stop)
    else:
        lower = 0 if stop is None else place(stop)
        upper = size if start is None else within(start)
    return _steps(_nonnegative(upper - lower), abs(step))


def _is_negative(bound: ArrayLike) -> bool:
    return isinstance(bound, int) and bound < 0


def _steps(span: Dim, step: int) -> Dim:
    """The number of steps in a nonnegative span, including a last incomplete one."""
    if isinstance(span, int):
        return -(-span // step)
    if step == 1:
        return span
    from sympy import ceiling

    return normal(ceiling(span / step))


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
    if step > 0:
        return (start or None, None if _at_end(stop, size) else stop, step)
    return (None if start == -1 or _at_end(start, size) else start, stop, step)


def _at_end(bound: Dim, size: Dim) -> bool:
    return is_expression(bound) and known_equal(bound, size)


def _normal_int(value: object, size: Dim, position: int) -> int:
    number = _bound(value, size)
    if number is None or is_expression(number):
        raise ShapeError(f"the index {value!r} is not a number.")
    _check_place(number, size, position)
    return number if number < 0 or not isinstance(size, int) else number - size


def _check_place(number: int, size: Dim, position: int) -> None:
    if isinstance(size, int) and not -size <= number < size:
        raise ShapeError(f"index {number} is out of range for axis {position} of size {size}.")


def normal_index(avals: tuple[Aval, ...], *, index: Index) -> dict[str, Any]:
    """One entry for each axis of the operand, new axes between."""
    entries = listed(index)
    shape = avals[0].shape
    used = len([each for each in entries if each is not None and each is not Ellipsis])
    dots = [i for i, each in enumerate(entries) if each is Ellipsis]
    if len(dots) > 1:
        raise ShapeError("an index holds one ellipsis at most.")
    if used > len(shape):
        raise ShapeError(f"{used} indices for an array of shape {show_shape(shape)}.")
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
        else:
            _check_place(entry, shape[axis], axis)
        axis += 1
    return tuple(result)


def as_numpy_index(index: tuple[Entry, ...]) -> tuple[Any, ...]:
    """NumPy's form of a normal index, also for an array with leading axes."""
    entries = [slice(*entry) if isinstance(entry, tuple) else entry for entry in index]
    return (Ellipsis, *entries)


def entries_of(index: Sequence[Entry], ndim: int) -> list[Entry] | None:
    """An entry for each axis of an array with `ndim` axes; None if the index adds axes."""
    entries = [each for each in index if each is not Ellipsis]
    if any(each is None for each in entries) or len(entries) > ndim:
        return None
    return [(None, None, 1)] * (ndim - len(entries)) + entries


def bounds_of(entry: Entry, size: Dim) -> tuple[int, int] | None:
    """The numbers `start, stop` of a slice without steps, or of one place, of a known size."""
    if not isinstance(size, int):
        return None
    if isinstance(entry, int):
        start = entry + size * (entry < 0)
        return start, start + 1
    start, stop, step = entry
    if step != 1 or not all(each is None or isinstance(each, int) for each in (start, stop)):
        return None
    places = range(size)[start:stop]
    return (places.start, places.stop) if len(places) else None
