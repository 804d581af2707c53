"""Triangular systems by the functions of LAPACK and BLAS.

SciPy's function takes seven microseconds to look at its arguments, and LAPACK one to solve a small
system. Several right sides are solved by BLAS, as in LAPACK, so each bit of the result is the same;
but OpenBLAS's LAPACK first wakes threads for the smallest system, and waits for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["functions_of", "solved", "with_joint_sides"]

_LETTERS = {np.dtype("float32"): "s", np.dtype("float64"): "d"}


@cache
def functions_of(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """LAPACK's function and BLAS's for a dtype; None if they have none."""
    letter = _LETTERS.get(dtype)
    if letter is None:
        return None, None
    lapack, blas = map(import_module, ("scipy.linalg.lapack", "scipy.linalg.blas"))
    return getattr(lapack, letter + "trtrs"), getattr(blas, letter + "trsm")


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
    trtrs, trsm = functions_of(a.dtype)
    if trtrs is None or b.dtype != a.dtype:
        return import_module("scipy.linalg").solve_triangular(
            a, b, lower=lower, trans=trans, unit_diagonal=unit_diagonal, check_finite=check_finite
        )
    if len(a) != len(b):  # LAPACK tells of it on the terminal, or solves the first rows.
        raise ValueError(f"{len(a)} rows of a triangular matrix, but {len(b)} right sides")
    if not a.flags.f_contiguous:  # LAPACK reads columns: these are the columns of the transpose.
        a, lower, trans = a.T, not lower, not trans
    if b.shape[1] == 1 or not (unit_diagonal or np.count_nonzero(a.diagonal()) == len(a)):
        found, info = trtrs(a, b, lower, trans, unit_diagonal)
        if info:
            raise np.linalg.LinAlgError(
                f"singular matrix: resolution failed at diagonal {info - 1}"
            )
        return found
    return trsm(1.0, a, b, 0, lower, trans, unit_diagonal)


def with_joint_sides(
    xp: Any, solver: Callable[[Any, Any], Any], a: Any, b: Any, lead: tuple[int, ...]
) -> Any:
    """The solutions of stacked systems, with one call for all right sides of a matrix.

    Parameters
    ----------
    xp : module
    solver : callable
        Solves one system with a matrix of right sides.
    a, b : array of shape (..., n, n) and (..., n, k)
    lead : tuple of int
        The leading axes of the result, to which those of `a` and `b` are broadcast; none is empty.
    """
    rank = len(lead)
    a = a.reshape((1,) * (rank + 2 - a.ndim) + a.shape)
    own = [axis for axis in range(rank) if a.shape[axis] > 1]
    joint = [axis for axis in range(rank) if a.shape[axis] == 1]
    order = (*own, rank, *joint, rank + 1)
    sides = xp.broadcast_to(b, (*lead, *b.shape[-2:])).transpose(order)
    wide = sides.reshape(-1, b.shape[-2], math.prod(sides.shape[len(own) + 1 :]))
    matrices = a.reshape(-1, *a.shape[-2:])
    if not own:
        found = solver(matrices[0], wide[0])
    else:
        found = xp.empty(wide.shape, dtype=xp.result_type(a, b))
        for place, (one, side) in enumerate(zip(matrices, wide, strict=True)):
            found[place] = solver(one, side)
    return found.reshape(sides.shape).transpose(tuple(np.argsort(order).tolist()))
