"""Facts of a constant: signs, bounds, whole numbers, rows that sum to one, structure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..facts import Fact, finite, integer_valued, interval

__all__ = ["constant_facts"]

_LARGE = 1_000_000
"""We do not search larger constants for patterns."""


def constant_facts(*, value: np.ndarray[Any, Any]) -> Iterable[Fact]:
    """The facts of an array, found by looking at its numbers."""
    if not value.size or not np.all(np.isfinite(value)):
        return
    yield finite
    yield interval(float(np.min(value)), float(np.max(value)))
    if np.all(value != 0):
        yield Fact("nonzero")
    if np.all(value == np.floor(value)):
        yield integer_valued
    if value.size > _LARGE or value.dtype.kind == "b":
        return
    if value.ndim:
        yield from _facts_along_axes(value)
    if value.ndim >= 2 and value.shape[-1] == value.shape[-2]:
        yield from _structure_of(value)


def _facts_along_axes(value: np.ndarray[Any, Any]) -> Iterable[Fact]:
    """Facts of axes along which the numbers are one-hot, or nonnegative with the sum 1."""
    if np.any(value < 0):
        return
    for axis in range(-value.ndim, 0):
        if value.shape[axis] < 2:
            continue
        largest, total_of = np.max(value, axis), np.sum(value, axis, dtype=np.float64)
        if np.all(largest == 1) and np.all(total_of == 1):
            yield Fact("one_hot", (axis,))
        elif value.dtype.kind == "f":
            spread = value.shape[axis] * float(np.finfo(value.dtype).eps)
            if np.all(np.abs(total_of - 1) <= spread):
                yield Fact("simplex", (axis,))


def _structure_of(value: np.ndarray[Any, Any]) -> Iterable[Fact]:
    """Symmetry and zero patterns of constant matrices."""
    if np.array_equal(value, np.swapaxes(value, -1, -2)):
        yield Fact("symmetric")
    lower, upper = not np.any(np.triu(value, 1)), not np.any(np.tril(value, -1))
    if lower and upper:
        yield Fact("diagonal")
    elif lower or upper:
        yield Fact("triangular", ("lower" if lower else "upper",))
