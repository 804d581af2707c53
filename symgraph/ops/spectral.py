r"""Eigenvalues and singular values, with their vectors in one operation.

Where a function is not differentiable, every backend gives the same answer:

- Eigenvectors (singular vectors) turn arbitrarily where eigenvalues (singular values) repeat: there
  a derivative that flows through the vectors is NaN, never a number. Values count as repeated if
  they agree to `_CLOSE` units of rounding of the largest, for closer ones the derivative would be
  made of rounding errors. Derivatives through values alone are right there as well.
- A singular value that vanishes to rounding has derivative 0, as |x| has at 0, if the vectors are
  not differentiated. With them, and in forward mode, it has that of its sign, which they carry:
  (U * s) @ Vh is x.

Operands of `eigh` are taken to be symmetric: the value reads the triangle `UPLO`, the gradient is
the symmetric one.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any, NamedTuple

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, apply, implements
from ..errors import TraceError
from ..facts import Fact, nonnegative, total, unit_norm
from ..ir.avals import Aval
from ..ir.dims import Dim, count, known_equal, normal
from ..ir.fact_inference import Known
from ..ir.op import Op, per_element, register, results_of
from ..ir.traits import Matrices, Traits
from .batched import batch_aligned
from .carrying import carries_batched
from .composites import naming_lines
from .creation import constant_of
from .diagonals import DIAGONAL_MATRIX
from .factors import without_factor
from .families import function
from .matmul import matmul
from .matrices import (
    enough_rows,
    is_zero,
    matrix_dtype,
    per_matrix,
    square_size,
    thin_size,
)
from .movement import expand_dims, matrix_transpose
from .quotients import divide_or_zero
from .radial import depends

__all__ = ["eigh", "eigvalsh", "larger_size", "reciprocal_gaps", "significant", "svd", "svdvals"]

_CLOSE = 64
"""Units of rounding. Derivatives of vectors keep a digit or two if their values differ by more."""


# -- gaps between values -------------------------------------------------------------------------
def _gaps_kernel(xp: Any, w: Any) -> Any:
    # Write the differences twice, so that the source is one expression.
    largest = xp.max(xp.abs(w), axis=-1, keepdims=True, initial=0.0)[..., None]
    close = xp.abs(w[..., None, :] - w[..., :, None]) <= largest * (_CLOSE * _unit(xp.dtype_of(w)))
    quotients = 1 / xp.where(close, np.nan, w[..., None, :] - w[..., :, None])
    return xp.where(xp.eye(w.shape[-1], dtype=np.dtype(bool)), 0.0, quotients)


def _unit(dtype: np.dtype[Any]) -> float:
    """The rounding unit of a dtype."""
    return float(np.finfo(dtype).eps)


def _vjp_gaps(ct: Array, out: Array, w: Array) -> Array:
    each = ct * (out * out)
    return FUNCTIONS["sum"](each, axis=-1) - FUNCTIONS["sum"](each, axis=-2)


RECIPROCAL_GAPS = register(
    Op(
        "reciprocal_gaps",
        workspace=results_of(1.125),
        batch=batch_aligned,
        total=True,
        carries=carries_batched(1),
        infer=lambda w: w.with_shape((*w.shape, w.shape[-1])),
        kernel=_gaps_kernel,
        vjp=(_vjp_gaps,),
        promote=matrix_dtype,
        flops=per_element(2),
        doc=(
            "1 / (w[j] - w[i]) at row i and column j, 0 on the diagonal; NaN where two elements "
            "of the last axis agree to rounding."
        ),
        traits=Traits(parity=(-1,), homogeneous=-1, shift=0),
    )
)


def _reciprocal_gaps(w: ArrayLike) -> Array:
    return apply(RECIPROCAL_GAPS, w)


reciprocal_gaps = function(RECIPROCAL_GAPS, _reciprocal_gaps)


def _significant_kernel(xp: Any, s: Any, *, size: int) -> Any:
    largest = xp.max(s, axis=-1, keepdims=True, initial=0.0)
    return s > largest * (size * _unit(xp.dtype_of(s)))


SIGNIFICANT = register(
    Op(
        "significant",
        batch=batch_aligned,
        total=True,
        infer=lambda s, *, size: s.with_dtype(bool),
        kernel=_significant_kernel,
        vjp=(None,),
        promote=matrix_dtype,
        doc=(
            "Whether a singular value exceeds the rounding errors of the largest on its axis, for "
            "matrices whose larger dimension is `size`."
        ),
    )
)


def _significant(s: ArrayLike, size: Dim) -> Array:
    return apply(SIGNIFICANT, s, size=size)


significant = function(SIGNIFICANT, _significant)


# -- symmetric matrices --------------------------------------------------------------------------
class EighResult(NamedTuple):
    """Eigenvalues in ascending order, and eigenvectors in the columns."""

    eigenvalues: Array
    eigenvectors: Array


def _infer_eigh(x: Aval, *, uplo: str) -> tuple[Aval, Aval]:
    square_size(x)
    return x.with_shape(x.shape[:-1]), x


def _vjp_eigh(ct: tuple[Array, Array], out: tuple[Array, Array], x: Array, *, uplo: str) -> Array:
    r"""$\bar A = V (\operatorname{diag}(\bar w) + F \circ \tfrac12 (G - G^\top)) V^\top$.

    $G = V^\top \bar V$ and $F_{ij} = 1 / (w_j - w_i)$ (Giles 2008, section 3.1, symmetrised).
    """
    (ct_w, ct_v), (w, v) = ct, out
    turned = matrix_transpose(v)
    if is_zero(ct_v):
        return matmul(v * expand_dims(ct_w, -2), turned)
    g = matmul(turned, ct_v)
    middle = 0.5 * reciprocal_gaps(w) * (g - matrix_transpose(g))
    if not is_zero(ct_w):
        middle = middle + _diagonal_matrix(ct_w)
    return matmul(matmul(v, middle), turned)


def _diagonal_matrix(values: Array) -> Array:
    size = values.shape[-1]
    return apply(DIAGONAL_MATRIX, values, rows=size, columns=size, offset=0)


def _facts_eigh(x: Known, *, uplo: str) -> Iterable[Fact]:
    for fact in (Fact("positive"),) if x.has(Fact("positive_definite")) else ():
        yield Fact("result", (0, fact))
    yield Fact("result", (0, total))
    yield Fact("result", (1, Fact("orthogonal")))
    yield Fact("result", (1, total))


EIGH = register(
    Op(
        "eigh",
        ends_below=inf,
        batch=batch_aligned,
        carries=carries_batched(2),
        infer=_infer_eigh,
        kernel=lambda xp, x, *, uplo: xp.linalg.eigh(x, UPLO=uplo),
        vjp=(_vjp_eigh,),
        promote=matrix_dtype,
        flops=per_matrix(9),
        facts=_facts_eigh,
        doc=(
            "Eigenvalues in ascending order and orthonormal eigenvectors of symmetric matrices, of "
            "which the triangle `UPLO` is read. The gradient is symmetric: it tells the change "
            "along symmetric changes. A change of one element alone of the triangle counts twice "
            "of it off the diagonal, and one of the other triangle has no effect. Through "
            "eigenvectors of repeated eigenvalues the gradient is NaN: nothing tells these vectors "
            "apart."
        ),
        traits=Traits(matrices=Matrices.SQUARE),
    )
)


@naming_lines
def _eigh(x: ArrayLike, UPLO: str = "L") -> EighResult:
    if UPLO not in ("L", "U", "l", "u"):
        raise TraceError(f"eigh: UPLO={UPLO!r} names no triangle.", mend='Use "L" or "U".')
    return EighResult(*apply(EIGH, x, uplo=UPLO.upper()))


eigh = function(EIGH, _eigh, np.linalg.eigh)


@implements(np.linalg.eigvalsh)
@naming_lines
def eigvalsh(x: ArrayLike, UPLO: str = "L") -> Array:
    r"""The eigenvalues of symmetric matrices in ascending order.

    Their derivative $V \operatorname{diag}(\bar w) V^\top$ needs the eigenvectors, so that they
    are found at once. It is symmetric, of a matrix that is not symmetric as well: it tells the
    change along symmetric changes, not that of one triangle alone. Repeated eigenvalues do no harm
    to it as long as the function is symmetric in them; the derivative of the second order is NaN
    there.
    """
    return _eigh(x, UPLO).eigenvalues


# -- singular values -----------------------------------------------------------------------------
class SVDResult(NamedTuple):
    """Left singular vectors, singular values in descending order, right ones in rows."""

    U: Array
    S: Array
    Vh: Array


def _infer_svd(x: Aval, *, size: Dim) -> tuple[Aval, Aval, Aval]:
    lead, (rows, columns) = x.shape[:-2], x.shape[-2:]
    return (
        x.with_shape((*lead, rows, size)),
        x.with_shape((*lead, size)),
        x.with_shape((*lead, size, columns)),
    )


def _svd_kernel(xp: Any, x: Any, *, size: int) -> Any:
    enough_rows(x, size)
    return xp.linalg.svd(x, full_matrices=False)


def _vjp_svd(
    ct: tuple[Array, Array, Array], out: tuple[Array, Array, Array], x: Array, *, size: Dim
) -> Array:
    r"""The pullback of Townsend (2016), "Differentiating the singular value decomposition".

    $\bar A = U M V^\top + (1 - U U^\top) \bar U S^{-1} V^\top
    + U S^{-1} \bar V^\top (1 - V V^\top)$, where M is $\operatorname{diag}(\bar s)$ and, off the
    diagonal, $\tfrac12 (P + Q)_{ij} / (s_j - s_i) + \tfrac12 (P - Q)_{ij} / (s_j + s_i)$ with the
    antisymmetric $P = U^\top \bar U - \bar U^\top U$, $Q = V^\top \bar V - \bar V^\top V$.
    """
    (ct_u, ct_s, ct_vh), (u, s, vh) = ct, out
    larger = larger_size(x, size)
    if is_zero(ct_u) and is_zero(ct_vh):
        if without_factor(ct_s, s) is None:
            ct_s = ct_s * FUNCTIONS["astype"](_turned(ct_s, s, larger), s.dtype)
        return matmul(u * expand_dims(ct_s, -2), vh)
    p = _turning(matmul(matrix_transpose(u), ct_u))
    q = _turning(matmul(vh, matrix_transpose(ct_vh)))
    sums = expand_dims(s, -1) + expand_dims(s, -2)
    middle = 0.5 * (reciprocal_gaps(s) * (p + q) + divide_or_zero(p - q, sums))
    if not is_zero(ct_s):
        middle = middle + _diagonal_matrix(ct_s)
    found = matmul(matmul(u, middle), vh)
    if known_equal(x.shape[-1], x.shape[-2]):
        return found
    return found + _off_the_range(ct_u, ct_vh, u, s, vh, larger, size, x)


_STEEP = 2048
"""How many times as large as the relative rounding errors of s those of f'(s) may be."""


def _turned(ct_s: Array, s: Array, larger: Dim) -> Array:
    """Where the vectors of a value may have a slope: not where it vanishes, unless its slope does.

    f(s) with f'(0) = 0, such as s**2, has no cusp there, and second derivatives by these vectors.
    """
    known = significant(s, larger)
    if not depends(ct_s.node, s.node):
        return known
    vanishing = ~significant(FUNCTIONS["absolute"](ct_s), normal(_STEEP * larger))
    return known | vanishing


def larger_size(x: Array, size: Dim) -> Dim:
    """The larger of rows and columns, given the lesser."""
    return x.shape[-1] if known_equal(x.shape[-2], size) else x.shape[-2]


def _turning(x: Array) -> Array:
    return x - matrix_transpose(x)


def _off_the_range(
    ct_u: Array, ct_vh: Array, u: Array, s: Array, vh: Array, larger: Dim, size: Dim, x: Array
) -> Array:
    """The part that moves singular vectors out of their span; NaN where a value vanishes."""
    inverse = FUNCTIONS["where"](significant(s, larger), 1 / s, constant_of(np.nan, s.dtype))
    if known_equal(x.shape[-1], size):
        scaled = ct_u * expand_dims(inverse, -2)
        return matmul(scaled - matmul(u, matmul(matrix_transpose(u), scaled)), vh)
    scaled = ct_vh * expand_dims(inverse, -1)
    return matmul(u, scaled - matmul(matmul(scaled, matrix_transpose(vh)), vh))


def _flops_svd(_out: Aval, x: Aval, *, size: Dim) -> Dim:
    """$14 m k^2 + 8 k^3$ (Golub and Van Loan 2013, figure 8.6.1, thin U)."""
    sizes: Any = size
    long: Any = normal(x.shape[-2] + x.shape[-1] - sizes)
    return count((*x.shape[:-2], normal(14 * long * sizes * sizes + 8 * sizes * sizes * sizes)))


def _facts_svd(x: Known, *, size: Dim) -> Iterable[Fact]:
    rows, columns = x.aval.shape[-2:]
    orthogonal = Fact("orthogonal")
    yield Fact("result", (0, orthogonal if known_equal(size, rows) else unit_norm(-2)))
    yield Fact("result", (1, nonnegative))
    yield Fact("result", (2, orthogonal if known_equal(size, columns) else unit_norm(-1)))
    if x.has(Fact("positive_definite")):
        yield Fact("result", (1, Fact("positive")))
    for index in range(3):
        yield Fact("result", (index, total))


SVD = register(
    Op(
        "svd",
        workspace=results_of(1),
        ends_below=inf,
        batch=batch_aligned,
        carries=carries_batched(2),
        infer=_infer_svd,
        kernel=_svd_kernel,
        vjp=(_vjp_svd,),
        normalize=thin_size,
        promote=matrix_dtype,
        flops=_flops_svd,
        facts=_facts_svd,
        doc=(
            "U, s and Vh with x = (U * s) @ Vh, as many of each as the lesser dimension: "
            "`full_matrices`=False is needed unless x is square. A singular value that vanishes "
            "has derivative 0 unless the vectors are differentiated too; through vectors of "
            "repeated singular values it is NaN."
        ),
        traits=Traits(matrices=Matrices.ANY),
    )
)


@naming_lines
def _svd(
    x: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    if hermitian:
        raise TraceError("svd: hermitian=True cannot be traced.", mend="Use np.linalg.eigh.")
    found = SVDResult(*apply(SVD, x))
    if not compute_uv:
        return found.S
    if full_matrices and not known_equal(found.U.shape[-2], found.Vh.shape[-1]):
        raise TraceError(
            "svd: the full matrices of a matrix that is not square are not determined.",
            mend="Use np.linalg.svd(x, full_matrices=False).",
        )
    return found


svd = function(SVD, _svd, np.linalg.svd)


@implements(np.linalg.svdvals)
@naming_lines
def svdvals(x: ArrayLike) -> Array:
    """The singular values in descending order; one that vanishes has derivative 0."""
    return SVDResult(*apply(SVD, x)).S
