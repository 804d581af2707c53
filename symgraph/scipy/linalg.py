"""`scipy.linalg` on symbols, with SciPy's parameters; matrices are real."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from .. import numpy as snp
from ..array import Array, ArrayLike
from ..errors import ShapeError, TraceError
from ..ir.avals import AxisLike
from ..ir.dims import known_equal, show_shape
from ..ops import linalg as _operations
from ..ops.composites import as_array
from .matrix_equations import (
    solve_continuous_are,
    solve_continuous_lyapunov,
    solve_discrete_are,
    solve_discrete_lyapunov,
    solve_sylvester,
    sqrtm,
)
from .names.absent import of_numbers
from .names.mirrored import mirrored

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "circulant",
    "det",
    "eigh",
    "eigvalsh",
    "expm",
    "hankel",
    "inv",
    "khatri_rao",
    "kron",
    "lstsq",
    "norm",
    "pinv",
    "qr",
    "solve",
    "solve_banded",
    "solve_continuous_are",
    "solve_continuous_lyapunov",
    "solve_discrete_are",
    "solve_discrete_lyapunov",
    "solve_sylvester",
    "solve_triangular",
    "sqrtm",
    "svd",
    "svdvals",
    "toeplitz",
]

solve_triangular = mirrored(_operations.solve_triangular, "scipy.linalg.solve_triangular")
cho_factor = mirrored(_operations.cho_factor, "scipy.linalg.cho_factor")
cho_solve = mirrored(_operations.cho_solve, "scipy.linalg.cho_solve")
expm = mirrored(_operations.expm, "scipy.linalg.expm")
kron = snp.kron


# -- systems ---------------------------------------------------------------------------------------
@mirrored
def solve(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: str | None = None,
    transposed: bool = False,
) -> Array:
    """The x with a @ x = b, for a vector or a matrix b.

    If `assume_a` states a symmetric or positive definite matrix, only one triangle is read, as in
    SciPy: `lower` says which.
    """
    matrix = as_array(a)
    kind = "gen" if assume_a is None else assume_a
    if kind in ("sym", "symmetric", "her", "hermitian", "pos", "positive definite"):
        part, strict = (snp.tril(matrix), -1) if lower else (snp.triu(matrix), 1)
        other = snp.tril(matrix, -1) if strict < 0 else snp.triu(matrix, 1)
        matrix = part + snp.matrix_transpose(other)
    elif kind in ("upper triangular", "lower triangular"):
        return _operations.solve_triangular(
            matrix, b, trans=int(transposed), lower=kind.startswith("lower")
        )
    elif kind not in ("gen", "general"):
        raise TraceError(
            f"solve: assume_a={assume_a!r} is not known.", mend='Leave it out, or say "pos".'
        )
    return snp.solve(snp.matrix_transpose(matrix) if transposed else matrix, b)


@mirrored
def solve_banded(
    l_and_u: tuple[int, int],
    ab: ArrayLike,
    b: ArrayLike,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """The x with a @ x = b, for a matrix of few diagonals: a[i, j] is ab[u + i - j, j].

    The matrix is built, and solved as any other: the memory grows with n² and the work with n³.
    """
    below, above = (int(each) for each in l_and_u)
    bands = as_array(ab)
    if bands.ndim != 2 or not isinstance(bands.shape[1], int):
        raise ShapeError(
            f"solve_banded: ab of shape {show_shape(bands.shape)}.",
            mend="Give the diagonals as rows of a known length.",
        )
    if not known_equal(bands.shape[0], below + above + 1):
        raise ShapeError(
            f"solve_banded: {bands.shape[0]} diagonals for l = {below} and u = {above}.",
            mend="ab has l + u + 1 rows, the uppermost diagonal first.",
        )
    places = np.arange(bands.shape[1])
    rows = above + places[:, None] - places
    # What stands in the corners of ab belongs to no diagonal.
    inside = (rows >= 0) & (rows <= below + above)
    values = bands[np.where(inside, rows, 0), np.broadcast_to(places, inside.shape)]
    return snp.solve(snp.where(inside, values, 0.0), b)


@mirrored
def inv(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The inverse of square matrices."""
    return snp.inv(a)


@mirrored
def det(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The determinant of square matrices."""
    return snp.det(a)


@mirrored
def pinv(a: ArrayLike) -> Array:
    """The pseudoinverse, by the singular values above max(M, N) eps times the largest."""
    a = as_array(a)
    rows, columns = a.shape[-2:]
    eps = float(np.finfo(a.dtype if a.dtype.kind == "f" else np.float64).eps)
    return snp.linalg.pinv(a, rcond=max(rows, columns) * eps)


@mirrored
def cholesky(
    a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Array:
    """The Cholesky factor: the upper one unless `lower`, as in SciPy and unlike NumPy."""
    return _operations.cho_factor(a, lower)[0]


@mirrored
def lstsq(a: ArrayLike, b: ArrayLike, cond: float | None = None) -> Any:
    """The x for which a @ x is nearest to b; the residuals, the rank, the singular values of a."""
    b = as_array(b)
    eps = float(np.finfo(b.dtype if b.dtype.kind == "f" else np.float64).eps)
    x, residuals, rank, singular = snp.linalg.lstsq(a, b, eps if cond is None else cond)
    if b.ndim == 1 and residuals.shape == (1,):
        residuals = residuals[0]
    return x, residuals, rank, singular


@mirrored
def qr(a: ArrayLike, overwrite_a: bool = False, mode: str = "full") -> Any:
    """Q with orthonormal columns and upper triangular R with a = Q @ R; for mode "r", (R,)."""
    a = as_array(a)
    rows, columns = a.shape[-2:]
    if mode == "r":
        return (snp.linalg.qr(a, "r"),)
    tall = not (isinstance(rows, int) and isinstance(columns, int) and rows <= columns)
    if mode not in ("full", "economic") or (mode == "full" and tall and rows != columns):
        raise TraceError(
            f"qr: mode={mode!r} of a matrix {show_shape(a.shape)} has no operation.",
            mend='mode="economic" gives as many columns as the matrix has.',
        )
    q, r = snp.linalg.qr(a)
    return q, r


@mirrored
def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """U, s and Vh with a = (U * s) @ Vh; `full_matrices`=False is needed unless a is square."""
    found = snp.linalg.svd(a, full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


# -- spectra ---------------------------------------------------------------------------------------
@mirrored
def eigh(
    a: ArrayLike, b: ArrayLike | None = None, lower: bool = True, eigvals_only: bool = False
) -> Any:
    """The ascending eigenvalues and the eigenvectors of a symmetric matrix, of one triangle."""
    if b is not None:
        raise TraceError(
            "eigh: the generalized problem has no operation.",
            mend="With L = linalg.cholesky(b, lower=True), eigh of L⁻¹ a L⁻ᵀ has its eigenvalues.",
        )
    triangle = "L" if lower else "U"
    if eigvals_only:
        return snp.linalg.eigvalsh(a, triangle)
    values, vectors = snp.linalg.eigh(a, triangle)
    return values, vectors


@mirrored
def eigvalsh(a: ArrayLike, b: ArrayLike | None = None, lower: bool = True) -> Any:
    """Eigenvalues of a symmetric matrix; see `eigh`."""
    return eigh(a, b, lower, True)


@mirrored
def svdvals(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The singular values in descending order."""
    return snp.linalg.svdvals(a)


@mirrored
def norm(
    a: ArrayLike,
    ord: ArrayLike | None = None,
    axis: AxisLike = None,
    keepdims: bool = False,
    check_finite: bool = True,
) -> Array:
    """The norm of vectors or matrices, as in NumPy."""
    return snp.linalg.norm(a, ord, axis, keepdims)


# -- matrices with a pattern -----------------------------------------------------------------------
@mirrored
def block_diag(*arrs: ArrayLike) -> Array:
    """The matrix with the given blocks on its diagonal; a number or a vector counts as one row."""
    if not arrs:
        return snp.zeros((1, 0))
    blocks = [snp.atleast_2d(as_array(each)) for each in arrs]
    wrong = [each for each in blocks if each.ndim > 2]
    if wrong:
        raise ShapeError(f"block_diag: {show_shape(wrong[0].shape)} is no matrix.")
    dtype = reduce(np.promote_types, [each.dtype for each in blocks])
    rows: list[Any] = []
    for place, block in enumerate(blocks):
        rows.append(
            snp.concatenate(
                [
                    snp.astype(block, dtype)
                    if place == k
                    else snp.zeros((block.shape[0], other.shape[1]), dtype)
                    for k, other in enumerate(blocks)
                ],
                axis=1,
            )
        )
    return snp.concatenate(rows, axis=0)


def _vector(name: str, x: ArrayLike) -> Array:
    x = as_array(x)
    if x.ndim != 1 or not isinstance(x.shape[0], int):
        raise ShapeError(
            f"{name}: {show_shape(x.shape)} is no vector of a known length.",
            mend="Give the dimension a number; np.ravel(x) is a vector.",
        )
    return x


def _places(x: Array) -> Any:
    """0, 1, … up to the vector's length."""
    return np.arange(len(x))


@mirrored
def toeplitz(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """The matrix of constant diagonals with first column c and first row r; r[0] is unused."""
    column = _vector("toeplitz", c)
    row = column if r is None else _vector("toeplitz", r)
    values = snp.concatenate([snp.flip(column, 0), row[1:]])
    heights, widths = _places(column), _places(row)
    return snp.take(values, heights[::-1, None] + widths[None, :], axis=0)


@mirrored
def hankel(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """The matrix of constant antidiagonals with first column c and last row r; r[0] is unused."""
    column = _vector("hankel", c)
    row = snp.zeros_like(column) if r is None else _vector("hankel", r)
    values = snp.concatenate([column, row[1:]])
    heights, widths = _places(column), _places(row)
    return snp.take(values, heights[:, None] + widths[None, :], axis=0)


@mirrored
def circulant(c: ArrayLike) -> Array:
    """The matrix whose columns are rotations of c, each by one place more."""
    column = _vector("circulant", c)
    places = _places(column)
    return snp.take(column, (places[:, None] - places[None, :]) % len(places), axis=0)


@mirrored
def khatri_rao(a: ArrayLike, b: ArrayLike) -> Array:
    """The Kronecker products of the columns of a and b, side by side."""
    a, b = as_array(a), as_array(b)
    if a.ndim != 2 or b.ndim != 2 or not known_equal(a.shape[1], b.shape[1]):
        raise ShapeError(
            f"khatri_rao: {show_shape(a.shape)} and {show_shape(b.shape)} are not two matrices of "
            "as many columns."
        )
    products = a[:, None, :] * b[None, :, :]
    return snp.reshape(products, (a.shape[0] * b.shape[0], a.shape[1]))


def __getattr__(name: str) -> Any:
    return of_numbers("linalg", name, __all__)
