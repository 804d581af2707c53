"""`scipy.linalg`'s matrix equations on symbols: Sylvester's, Lyapunov's and Riccati's, X² = A."""

from __future__ import annotations

from collections.abc import Callable

from .. import numpy as snp
from ..array import Array, ArrayLike
from ..ops import matrix_equations as _operations
from ..ops.composites import as_array
from .names.mirrored import mirrored_from

__all__ = [
    "solve_continuous_are",
    "solve_continuous_lyapunov",
    "solve_discrete_are",
    "solve_discrete_lyapunov",
    "solve_sylvester",
    "sqrtm",
]


_of_linalg = mirrored_from("scipy.linalg")


@_of_linalg
def sqrtm(A: ArrayLike) -> Array:
    """The principal square root X of square matrices, with X @ X = A.

    It is the root whose eigenvalues have no negative real part. Where it is not real, as for a
    negative eigenvalue, SciPy's is complex, and there is NaN here; so there is where none exists.
    Eigenvalues that are negative by rounding alone count as 0. For a singular matrix the derivative
    is infinite, and its equation may raise `numpy.linalg.LinAlgError`.
    """
    return _operations.sqrtm(A)


@_of_linalg
def solve_sylvester(a: ArrayLike, b: ArrayLike, q: ArrayLike) -> Array:
    """The X with $A X + X B = Q$; numpy.linalg.LinAlgError if A and -B share an eigenvalue."""
    return _operations.sylvester(a, b, q)


@_of_linalg
def solve_continuous_lyapunov(a: ArrayLike, q: ArrayLike) -> Array:
    r"""The X with $A X + X A^\top = Q$; see `solve_sylvester`."""
    a = as_array(a)
    return _operations.sylvester(a, snp.matrix_transpose(a), q)


@_of_linalg
def solve_discrete_lyapunov(a: ArrayLike, q: ArrayLike, method: str | None = None) -> Array:
    r"""The X with $A X A^\top - X + Q = 0$.

    numpy.linalg.LinAlgError if the product of two eigenvalues of A is 1.
    """
    a = as_array(a)
    return _operations.stein(a, snp.matrix_transpose(a), q)


@_of_linalg
def solve_continuous_are(
    a: ArrayLike,
    b: ArrayLike,
    q: ArrayLike,
    r: ArrayLike,
    e: ArrayLike | None = None,
    s: ArrayLike | None = None,
    balanced: bool = True,
) -> Array:
    r"""The stabilizing X with $A^\top X + X A - X B R^{-1} B^\top X + Q = 0$.

    Then u = -inv(r) @ b.T @ X @ x is the feedback of least cost of dx/dt = a @ x + b @ u. With e
    and s it is $A^\top X E + E^\top X A - (E^\top X B + S) R^{-1} (B^\top X E + S^\top) + Q = 0$.
    Of q and r the symmetric parts count. If there is none, numpy.linalg.LinAlgError.
    """
    return _with_descriptor(_operations.continuous_riccati, a, b, q, r, e, s)


@_of_linalg
def solve_discrete_are(
    a: ArrayLike,
    b: ArrayLike,
    q: ArrayLike,
    r: ArrayLike,
    e: ArrayLike | None = None,
    s: ArrayLike | None = None,
    balanced: bool = True,
) -> Array:
    r"""The stabilizing X with $X = A^\top X A - A^\top X B (R + B^\top X B)^{-1} B^\top X A + Q$.

    Then u = -inv(r + b.T @ X @ b) @ b.T @ X @ a @ x is the feedback of least cost of
    x[t + 1] = a @ x[t] + b @ u[t]. With e and s it is $A^\top X A - E^\top X E -
    (A^\top X B + S) (R + B^\top X B)^{-1} (B^\top X A + S^\top) + Q = 0$. Of q and r the symmetric
    parts count. If there is none, numpy.linalg.LinAlgError.
    """
    return _with_descriptor(_operations.discrete_riccati, a, b, q, r, e, s)


def _with_descriptor(
    solver: Callable[..., Array],
    a: ArrayLike,
    b: ArrayLike,
    q: ArrayLike,
    r: ArrayLike,
    e: ArrayLike | None,
    s: ArrayLike | None,
) -> Array:
    r"""Riccati's equation with e and s, which change its other matrices.

    The equation for $E^\top X E$ has $E^{-1} A$ and $E^{-1} B$. The feedback $u = v - R^{-1}
    S^\top x$ takes the cost 2 x.T @ S @ u out.
    """
    if e is not None:
        a, b = snp.solve(e, a), snp.solve(e, b)
    if s is not None:
        r, s = as_array(r), as_array(s)
        turned = snp.matrix_transpose(s)
        gain = snp.solve((r + snp.matrix_transpose(r)) / 2, turned)
        a, q = a - snp.matmul(b, gain), q - snp.matmul(s, gain)
    found = solver(a, b, q, r)
    if e is None:
        return found
    turned = snp.matrix_transpose(as_array(e))
    half = snp.solve(turned, found)
    return snp.solve(turned, snp.matrix_transpose(half))
