"""Sparse matrices of SciPy's as factors of symbolic arrays.

`A @ x` asks the matrix first. It converts what it does not know to an array, and leaves the product
to the other factor where that gives a 0-d array of an object (`scipy.sparse._base`, SciPy 1.17).
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import numpy as np

__all__ = ["is_factor", "unreadable"]


def is_factor(value: object, operator: str) -> bool:
    """Whether an operator with this operand is a product with a sparse matrix.

    `*` is one for SciPy's matrices, as for `np.matrix`; for its sparse arrays it is elementwise.
    """
    if operator not in ("matmul", "multiply") or "scipy.sparse" not in sys.modules:
        return False
    sparse = sys.modules["scipy.sparse"]
    kinds = (sparse.spmatrix,) if operator == "multiply" else (sparse.spmatrix, sparse.sparray)
    # The type is asked: to ask a weak number itself would spoil it.
    return issubclass(type(value), kinds)


def unreadable(array: object, frame: FrameType) -> np.ndarray[Any, Any] | None:
    """What makes a sparse matrix leave a product to the array; None if none asks in this frame."""
    asks = frame.f_code.co_name == "_matmul_dispatch"
    if not asks or not str(frame.f_globals.get("__name__")).startswith("scipy.sparse"):
        return None
    held = np.empty((), dtype=object)
    held[()] = array
    return held
