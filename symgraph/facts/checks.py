"""Checks whether a fact is true of given numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import FactError
from .fact import (
    Fact,
)

__all__ = ["holds_on", "violation"]


def holds_on(fact: Fact, array: np.ndarray[Any, Any], tolerance: float = 1e-6) -> bool:
    """Whether the fact is true of these numbers (sums and products within `tolerance`).

    For dtypes with few digits the tolerance is at least their rounding.
    """
    return violation(fact, array, tolerance) is None


def violation(fact: Fact, array: np.ndarray[Any, Any], tolerance: float = 1e-6) -> str | None:
    """The element or sum that contradicts the fact, as `[3] = -1.0`; None if the fact holds.

    Raises
    ------
    FactError
        If the fact has no check.
    """
    x = np.asarray(array)
    if x.dtype.kind == "f":
        tolerance = max(tolerance, 8 * float(np.finfo(x.dtype).eps))
    held = _elementwise(fact, x)
    if held is not None:
        return _first(x, held)
    if not np.all(np.isfinite(x)):
        return _first(x, np.isfinite(x))
    if x.dtype.kind in "biu":
        x = x.astype(np.float64)  # differences of unsigned numbers would wrap around
    if fact.name == "unique":
        values, counts = np.unique(x, return_counts=True)
        return None if np.all(counts == 1) else f" holds {values[counts > 1][0]} twice"
    if fact.name in ("simplex", "one_hot", "unit_norm"):
        return _along_axis(fact, x, tolerance)
    return _of_matrices(fact, x, tolerance)


Numbers = np.ndarray[Any, Any]


def _elementwise(fact: Fact, x: Numbers) -> Numbers | None:
    """Where an elementwise fact holds; None for facts that tie elements together."""
    match fact.name:
        case "positive":
            return x > 0
        case "nonnegative":
            return x >= 0
        case "negative":
            return x < 0
        case "nonpositive":
            return x <= 0
        case "nonzero":
            return x != 0
        case "finite" | "total":
            return np.isfinite(x)
        case "integer_valued":
            return x == np.floor(x)
        case "interval":
            return (x >= fact.args[0]) & (x <= fact.args[1])
        case _:
            return None


def _first(x: Numbers, held: Numbers, what: str = "") -> str | None:
    """The first element at which `held` is false, as text; None if there is none."""
    if np.all(held):
        return None
    at = tuple(int(each[0]) for each in np.nonzero(~np.atleast_1d(held)))
    place = ", ".join(map(str, at)) if held.ndim else ""
    return f"{what}{f'[{place}]' if place else ''} = {np.atleast_1d(x)[at]}"


def _along_axis(fact: Fact, x: Numbers, tolerance: float) -> str | None:
    axis = fact.args[0]
    if not -x.ndim <= axis < x.ndim:
        return f" has {x.ndim} axes"
    if fact.name == "unit_norm":
        sums = np.sum(x * x, axis=axis)
        return _first(sums, np.abs(sums - 1) <= tolerance, f": sum of squares along axis {axis}, ")
    wrong = _first(x, x >= 0 if fact.name == "simplex" else (x == 0) | (x == 1))
    sums = np.asarray(np.sum(x, axis=axis))
    slack = tolerance if fact.name == "simplex" else 0
    return wrong or _first(sums, np.abs(sums - 1) <= slack, f": sum along axis {axis}, ")


def _of_matrices(fact: Fact, x: Numbers, tolerance: float) -> str | None:
    if x.ndim < 2 or (x.shape[-1] != x.shape[-2] and fact.name != "triangular"):
        return f" of shape {x.shape} is not a square matrix"
    transposed = np.swapaxes(x, -1, -2)
    scale = np.max(np.abs(x), initial=1.0)
    match fact.name:
        case "symmetric":
            return _first(x, np.abs(x - transposed) <= tolerance * scale)
        case "antisymmetric":
            return _first(x, np.abs(x + transposed) <= tolerance * scale)
        case "positive_definite":
            wrong = _first(x, np.abs(x - transposed) <= tolerance * scale)
            if wrong or not x.size:
                return wrong
            least = np.linalg.eigvalsh(x.astype(np.float64))[..., 0]
            return _first(least, least > 0, ": smallest eigenvalue")
        case "orthogonal":
            product = x @ transposed
            off = np.abs(product - np.eye(x.shape[-1]))
            return _first(product, off <= tolerance * x.shape[-1], ": X Xᵀ")
        case "diagonal":
            return _first(x, (x == 0) | np.eye(x.shape[-1], dtype=bool))
        case "triangular":
            inside = np.tri(*x.shape[-2:], dtype=bool)
            inside = inside if fact.args[0] == "lower" else np.tri(*x.shape[:-3:-1], dtype=bool).T
            return _first(x, (x == 0) | inside)
        case _:
            raise FactError(f"The fact {fact} has no check.")
