"""Rows added at places of NumPy's arrays: `np.add.at` is fast for vectors alone.

A row is added as the elements that it has in the flat array, block by block. Each element meets its
summands in the same order, so the result is the same to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["added_rows"]

_FEWEST = 256
"""Fewer elements are added as quickly by `np.add.at` itself (NumPy 2.4)."""
_BLOCK, _WIDEST = 8192, 1024
"""Elements of a block, whose places are in memory at one time; the longest rows."""


def added_rows(result: Any, index: tuple[Any, ...], values: Any) -> bool:
    """Add rows to a contiguous array in place, if `index` is one vector for the first axis.

    Returns
    -------
    bool
        Whether it is done. If not, nothing was written: the index is another one, a place is out of
        range, or there are too few elements for this to be faster.
    """
    if result.ndim < 2 or len(index) != result.ndim + 1 or np.ndim(index[1]) != 1:
        return False
    rows, size = index[1], result.shape[0]
    shape = (len(rows), *result.shape[1:])
    width = result.size // max(size, 1)
    if not 0 < width <= _WIDEST or len(rows) * width < _FEWEST:
        return False
    if not result.flags.c_contiguous or np.result_type(values) != result.dtype:
        return False
    if rows.min() < -size or rows.max() >= size:
        return False
    _add(result.reshape(-1), rows, size, np.broadcast_to(values, shape))
    return True


def _add(flat: Any, rows: Any, size: int, values: Any) -> None:
    width = flat.size // size
    offsets = np.arange(width)
    step = _BLOCK // width
    for start in range(0, len(rows), step):
        block = slice(start, start + step)
        first = rows[block].astype(np.intp)
        first[first < 0] += size
        first *= width
        places = first[:, None] + offsets
        np.add.at(flat, places.reshape(-1), values[block].reshape(-1))
