"""Triangular systems by LAPACK's and BLAS's own functions.

SciPy's function takes seven microseconds to look at its arguments, and LAPACK one to solve a small
system. OpenBLAS's `trtrs` starts all its threads as soon as there are two right sides, for a matrix
of 2 by 2, too: while another process computes, each call waits up to 8 milliseconds for one of
them. Then BLAS's `trsm`, which keeps small systems on one thread, gives the same bits.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["solved"]

_PREFIX = {np.dtype("float32"): "s", np.dtype("float64"): "d"}


@cache
def _functions(dtype: np.dtype[Any]) -> tuple[Any, Any] | None:
    """LAPACK's `trtrs` and BLAS's `trsm` for a dtype; None if there are none."""
    prefix = _PREFIX.get(dtype)
    if prefix is None:
        return None
    lapack, blas = import_module("scipy.linalg.lapack"), import_module("scipy.linalg.blas")
    return getattr(lapack, f"{prefix}trtrs"), getattr(blas, f"{prefix}trsm")


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
    functions = _functions(a.dtype)
    if functions is None or b.dtype != a.dtype:
        return import_module("scipy.linalg").solve_triangular(
            a, b, lower=lower, trans=trans, unit_diagonal=unit_diagonal, check_finite=check_finite
        )
    if len(a) != len(b):  # LAPACK tells of it on the terminal, or solves the first rows.
        raise ValueError(f"{len(a)} rows of a triangular matrix, but {len(b)} right sides")
    # LAPACK and BLAS read columns: those of a matrix by rows are the columns of its transpose.
    if not a.flags.f_contiguous:
        a, lower, trans = a.T, not lower, not trans
    trtrs, trsm = functions
    if b.shape[1] > 1 and (unit_diagonal or a.diagonal().all()):
        return trsm(1.0, a, b, lower=lower, trans_a=trans, diag=unit_diagonal)
    found, info = trtrs(a, b, lower, trans, unit_diagonal)
    if info:
        raise np.linalg.LinAlgError(f"singular matrix: resolution failed at diagonal {info - 1}")
    return found
