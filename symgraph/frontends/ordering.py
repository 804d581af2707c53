"""Orders from the largest element on, as frameworks have them: NaN first, equal ones in place."""

from __future__ import annotations

from typing import Any

from .functions import f

__all__ = ["descending"]


def descending(x: Any, axis: int) -> Any:
    """The places of the elements along an axis, the largest first."""
    # Backwards on both sides, so that a stable sort leaves the first of equal ones first.
    order = f.argsort(f.flip(x, axis), axis=axis, stable=True)
    return f.subtract(x.shape[axis] - 1, f.flip(order, axis))
