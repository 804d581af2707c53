r"""Matrix equations: Sylvester's and Stein's, which are linear, Riccati's, and $X^2 = A$.

A linear equation between small matrices is one system of as many equations as X has elements, on
any array namespace. Larger ones are solved on NumPy by LAPACK, after Bartels and Stewart (1972).
What is not linear is SciPy's, one matrix after another, in double precision.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["riccati", "root", "stein", "sylvester"]

_SMALL = 36
"""Elements of X up to which one system is faster than two Schur forms."""
_AT_ONCE = 2**12
"""Elements of the systems that are solved together."""
_MOST_LOST = 1e3
"""So many digits, as a factor, may be lost on the way to an equation of Sylvester's."""


# -- linear equations ------------------------------------------------------------------------------
def sylvester(xp: Any, a: Any, b: Any, q: Any) -> Any:
    """The X with a X + X b = q, for stacks of matrices (..., m, m), (..., n, n) and (..., m, n).

    Raises
    ------
    numpy.linalg.LinAlgError
        On NumPy, if an eigenvalue of a is one of -b, to rounding.
    """
    if xp.module is not np:
        return _one_system(xp, _sum_of_products(xp, a, b), q)
    if q.shape[-2] * q.shape[-1] > _SMALL:
        return _one_by_one(_bartels_stewart, q.shape[-2:], a, b, q)
    return _in_blocks(lambda a, b, q: _one_system(np, _sum_of_products(np, a, b), q), a, b, q)


def stein(xp: Any, a: Any, b: Any, q: Any) -> Any:
    """The X with X = a X b + q, for stacks of matrices as in `sylvester`.

    Raises
    ------
    numpy.linalg.LinAlgError
        On NumPy, if an eigenvalue of a is the inverse of one of b.
    """
    if xp.module is not np:
        return _one_system(xp, _without_product(xp, a, b), q)
    if q.shape[-2] * q.shape[-1] > _SMALL:
        return _one_by_one(_by_bilinear_map, q.shape[-2:], a, b, q)
    return _in_blocks(lambda a, b, q: _one_system(np, _without_product(np, a, b), q), a, b, q)


def _sum_of_products(xp: Any, a: Any, b: Any) -> Any:
    left, right = _factors(xp, a, b)
    rows = xp.reshape(xp.eye(a.shape[-1], dtype=a.dtype), (a.shape[-1], 1, a.shape[-1], 1))
    columns = xp.reshape(xp.eye(b.shape[-1], dtype=b.dtype), (1, b.shape[-1], 1, b.shape[-1]))
    return left * columns + rows * right


def _without_product(xp: Any, a: Any, b: Any) -> Any:
    m, n = a.shape[-1], b.shape[-1]
    left, right = _factors(xp, a, b)
    return xp.reshape(xp.eye(m * n, dtype=a.dtype), (m, n, m, n)) - left * right


def _factors(xp: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Elements of a and of the transpose of b, with axes for rows and columns of X, twice."""
    m, n = a.shape[-1], b.shape[-1]
    left = xp.reshape(a, (*a.shape[:-2], m, 1, m, 1))
    turned = xp.swapaxes(b, -1, -2)
    return left, xp.reshape(turned, (*b.shape[:-2], 1, n, 1, n))


def _one_system(xp: Any, system: Any, q: Any) -> Any:
    """The solution of a system (..., m, n, m, n) for the right side q."""
    m, n = q.shape[-2:]
    square = xp.reshape(system, (*system.shape[:-4], m * n, m * n))
    found = xp.linalg.solve(square, xp.reshape(q, (*q.shape[:-2], m * n, 1)))
    return xp.reshape(found, (*found.shape[:-2], m, n))


def _bartels_stewart(a: Any, b: Any, q: Any) -> Any:
    linalg = import_module("scipy.linalg")
    r, u = linalg.schur(a, output="real", check_finite=False)
    s, v = linalg.schur(b, output="real", check_finite=False)
    (trsyl,) = linalg.get_lapack_funcs(("trsyl",), (r, s, q))
    found, scale, info = trsyl(r, s, u.T @ q @ v)
    if info:
        raise np.linalg.LinAlgError("Singular matrix equation: a and -b share an eigenvalue.")
    return u @ (found / scale) @ v.T


def _by_bilinear_map(a: Any, b: Any, q: Any) -> Any:
    """As an equation of Sylvester's, of (I + A)⁻¹ (A - I) and (B - I) (I + B)⁻¹.

    Both signs of a and b may change: an eigenvalue near -1 is one near 1 then. With eigenvalues
    near both, it is one large system.
    """
    left, right = np.eye(len(a), dtype=a.dtype), np.eye(len(b), dtype=b.dtype)
    loss, sign = min(
        (max(np.linalg.cond(left + sign * a), np.linalg.cond(right + sign * b)), sign)
        for sign in (1, -1)
    )
    if not loss < _MOST_LOST:
        return _one_system(np, _without_product(np, a, b), q)
    a, b = sign * a, sign * b
    solve = np.linalg.solve
    sides = -2 * solve((right + b).T, solve(left + a, q).T).T
    return _bartels_stewart(solve(left + a, a - left), solve((right + b).T, (b - right).T).T, sides)


# -- others ----------------------------------------------------------------------------------------
def root(x: Any) -> Any:
    """The principal square root of each matrix; NaN where it is not real, or there is none."""
    return _one_by_one(_root_of_one, x.shape[-2:], x)


def _root_of_one(x: Any) -> Any:
    """By the spectrum of a symmetric matrix, else by Schur's form (Björck and Hammarling 1983)."""
    wide, eps = x.astype(np.float64), float(np.finfo(x.dtype).eps)
    # Scaled by a power of 4, so that no product in between leaves the range.
    half = int(np.frexp(np.abs(wide).max())[1]) // 2
    wide = np.ldexp(wide, -2 * half)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # SciPy warns of what is tested here.
        symmetric = np.array_equal(wide, wide.T)
        found = (_of_symmetric if symmetric else _of_general)(wide, eps)
    return np.full(x.shape, np.nan) if found is None else np.ldexp(found, half)


def _of_symmetric(x: Any, eps: float) -> Any:
    """The root, where an eigenvalue that is negative by rounding alone counts as 0."""
    values, vectors = np.linalg.eigh(x)
    if values[0] < -len(x) * eps * values[-1]:
        return None
    found = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    return (found + found.T) / 2


def _of_general(x: Any, eps: float) -> Any:
    """The root, if its square is right to rounding (Higham 2008, section 6.2).

    That is also so of the real part if eigenvalues are negative by rounding alone. The square of a
    huge root may be right, and the matrix have none: then it has lost half of the digits.
    """
    found = np.real(import_module("scipy.linalg").sqrtm(x))
    error = _norm(found @ found - x)
    rounding = (60 + 4 * len(x)) * eps * _norm(found) ** 2
    return found if error <= rounding and error <= eps**0.5 * _norm(x) else None


def _norm(x: Any) -> Any:
    return np.abs(x).sum(axis=-1).max()


def riccati(a: Any, b: Any, q: Any, r: Any, *, discrete: bool) -> Any:
    """The stabilizing solutions of Riccati's equations, of the symmetric parts of q and r.

    Raises
    ------
    numpy.linalg.LinAlgError
        If there is none.
    """
    linalg = import_module("scipy.linalg")
    solver = linalg.solve_discrete_are if discrete else linalg.solve_continuous_are

    def solution(a: Any, b: Any, q: Any, r: Any) -> Any:
        found = solver(*[each.astype(np.float64) for each in (a, b, (q + q.T) / 2, (r + r.T) / 2)])
        return (found + found.T) / 2

    return _one_by_one(solution, a.shape[-2:], a, b, q, r)


# -- stacks ----------------------------------------------------------------------------------------
def _stacked(operands: tuple[Any, ...]) -> tuple[tuple[int, ...], list[Any]]:
    """The leading axes of all operands together, and the matrices in one row."""
    lead = np.broadcast_shapes(*[each.shape[:-2] for each in operands])
    count = math.prod(lead)  # -1 would not tell it of empty matrices.
    return lead, [
        np.broadcast_to(each, (*lead, *each.shape[-2:])).reshape(count, *each.shape[-2:])
        for each in operands
    ]


def _one_by_one(function: Callable[..., Any], shape: tuple[int, ...], *operands: Any) -> Any:
    """The function of each matrix of a stack; NaN where an element is NaN or infinite."""
    lead, stacks = _stacked(operands)
    found = np.full((len(stacks[0]), *shape), np.nan, operands[0].dtype)
    if found.size:
        for place, matrices in enumerate(zip(*stacks, strict=True)):
            if all(np.isfinite(each).all() for each in matrices):
                found[place] = function(*matrices)
    return found.reshape(*lead, *shape)


def _in_blocks(function: Callable[..., Any], *operands: Any) -> Any:
    """The function of stacks, of so many matrices at once that the cache holds the systems."""
    shape = operands[-1].shape[-2:]
    lead, stacks = _stacked(operands)
    step = max(_AT_ONCE // max(shape[0] * shape[1], 1) ** 2, 1)
    if len(stacks[0]) <= step:
        return function(*operands)
    found = np.empty((len(stacks[0]), *shape), operands[0].dtype)
    for start in range(0, len(found), step):
        found[start : start + step] = function(*[each[start : start + step] for each in stacks])
    return found.reshape(*lead, *shape)
