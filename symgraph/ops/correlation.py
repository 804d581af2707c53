"""NumPy's products of sliding vectors, made of `conv`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array import Array
from ..errors import ShapeError
from .composites import as_array, composite
from .convolution import conv

__all__ = ["convolve", "correlate"]


@composite(np.correlate)
def correlate(a: Any, v: Any, mode: str = "valid") -> Array:
    r"""$c_k = \sum_n a_{n+k} v_n$ of two vectors; see `convolve` for `mode`."""
    return _slid(as_array(a), as_array(v), mode, flip=False)


@composite(np.convolve)
def convolve(a: Any, v: Any, mode: str = "full") -> Array:
    r"""$c_k = \sum_n a_n v_{k-n}$ of two vectors.

    Parameters
    ----------
    a, v : array_like, one-dimensional
    mode : {"full", "same", "valid"}
        Everywhere they overlap, as many as the longer one has, or where they overlap completely.
        With named lengths `a` is taken for the longer one.
    """
    return _slid(as_array(a), as_array(v), mode, flip=True)


def _slid(a: Array, v: Array, mode: str, flip: bool) -> Array:
    name = "convolve" if flip else "correlate"
    if a.ndim != 1 or v.ndim != 1:
        raise ShapeError(f"{name} takes two vectors.")
    if mode not in ("full", "same", "valid"):
        raise ShapeError(f"{name}: mode={mode!r} is not known.", mend='"full", "same" or "valid".')
    size: Any = v.shape[0]
    if isinstance(a.shape[0], int) and isinstance(size, int) and a.shape[0] < size:
        found = _slid(v, a, mode, flip)
        return found if flip else found[::-1]
    if not isinstance(size, int):
        raise ShapeError(
            f"{name}: the length {size} of the second vector is not known.",
            mend="Give its dimension a number.",
        )
    if size == 0:
        raise ShapeError(f"{name}: a vector is empty.")
    before = {"full": size - 1, "same": size // 2, "valid": 0}[mode]
    after = size - 1 - before if mode == "same" else before
    kernel = v[::-1] if flip else v
    return conv(a[None], kernel[None, None], padding=((before, after),))[0]
