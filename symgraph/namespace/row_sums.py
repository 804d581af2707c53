"""Sums of short rows, as products with ones.

A reduction of NumPy's begins anew for each row, which takes 20 nanoseconds: ten numbers take as
long as their sum by BLAS does ten times over. A product rounds as a sum does, but in another order.
It begins with 0.0, as NumPy does for some rows of -0.0 and not for others: where it gives a zero,
NumPy is asked which one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

__all__ = ["LONGEST", "row_sums"]

LONGEST = 128
"""The longest row: NumPy adds up so many numbers as they come, too, and more of them by halves."""

_FEWEST = 256
"""Of fewer sums NumPy makes each by itself: as the interpreter does where sizes are known."""


@lru_cache(maxsize=256)
def _ones(count: int, dtype: np.dtype[Any]) -> Any:
    found = np.ones(count, dtype)
    found.flags.writeable = False
    return found


def row_sums(x: Any, keepdims: bool = False, out: Any = None) -> Any:
    """`np.sum(x, axis=-1, keepdims=keepdims)`; written to `out` if it is given."""
    count = x.shape[-1]
    few = x.ndim < 2 or not 1 < count <= LONGEST or x.size < _FEWEST * count
    # Where other axes are shorter steps NumPy goes along those.
    if few or x.strides[-1] != x.itemsize:
        return np.add.reduce(x, axis=-1, keepdims=keepdims, out=out)
    ones = _ones(count, x.dtype.newbyteorder("="))
    flat = None if out is None else out[..., 0] if keepdims else out
    found = np.matmul(x, ones, flat)
    if not found.all():
        zeros = found == 0
        found[zeros] = np.add.reduce(x[zeros], axis=-1)
    if out is not None:
        return out
    return found[..., None] if keepdims else found
