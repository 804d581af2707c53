"""Triangular systems by LAPACK's own function.

SciPy's function takes seven microseconds to look at its arguments, and LAPACK one to solve a small
system. What is called is the same, so each bit of the result is.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["solved"]

_LAPACK = {np.dtype("float32"): "strtrs", np.dtype("float64"): "dtrtrs"}


@cache
def _function(dtype: np.dtype[Any]) -> Any:
    """LAPACK's function for a dtype; None if it has none."""
    name = _LAPACK.get(dtype)
    return None if name is None else getattr(import_module("scipy.linalg.lapack"), name)


def solved(
    a: Any, b: Any, *, lower: bool, trans: int, unit_diagonal: bool, check_finite: bool = False
) -> Any:
    """The solution of one system with a matrix of right sides, as SciPy gives it.

    Raises
    ------
    numpy.linalg.LinAlgError
        If an element of the diagonal is 0.
    ValueError
        If the rows of the matrix and of the right sides are not equally many.
    """
    trtrs = _function(a.dtype)
    if trtrs is None or b.dtype != a.dtype:
        return import_module("scipy.linalg").solve_triangular(
            a, b, lower=lower, trans=trans, unit_diagonal=unit_diagonal, check_finite=check_finite
        )
    if len(a) != len(b):  # LAPACK tells of it on the terminal, or solves the first rows.
        raise ValueError(f"{len(a)} rows of a triangular matrix, but {len(b)} right sides")
    if a.flags.f_contiguous:
        found, info = trtrs(a, b, lower, trans, unit_diagonal)
    else:  # LAPACK reads columns: these are the columns of the transpose.
        found, info = trtrs(a.T, b, not lower, not trans, unit_diagonal)
    if info:
        raise np.linalg.LinAlgError(f"singular matrix: resolution failed at diagonal {info - 1}")
    return found
