r"""Cholesky and QR factorizations; one operation gives all factors.

The operand of `cholesky` is taken to be symmetric: the value reads its lower triangle, as LAPACK
does, and the gradient is the symmetric one, which moves a matrix within the symmetric ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..array import Array, ArrayLike, apply
from ..errors import NotDifferentiable, TraceError
from ..facts import Fact, total, triangular, unit_norm
from ..ir.avals import Aval
from ..ir.differentiation import undefined
from ..ir.dims import Dim, count, known_equal, normal
from ..ir.fact_inference import Known
from ..ir.op import Op, register, results_of
from ..ir.traits import Matrices, Traits
from .batched import batch_aligned
from .carrying import all_but_last, carries_batched
from .composites import as_array, naming_lines
from .creation import zeros
from .families import function
from .joining import concatenate
from .matmul import matmul
from .matrices import (
    copied_lower,
    enough_rows,
    is_zero,
    matrix_dtype,
    per_matrix,
    scaled,
    square_size,
    thin_size,
)
from .movement import matrix_transpose
from .solving import solve_triangular

__all__ = ["cho_factor", "cholesky", "qr"]


# -- Cholesky ------------------------------------------------------------------------------------
def _infer_cholesky(x: Aval) -> Aval:
    square_size(x)
    return x


def _vjp_cholesky(ct: Array, out: Array, x: Array) -> Array:
    r"""$\bar A = \tfrac12 L^{-\top} (P + P^\top) L^{-1}$, $P = \Phi(L^\top \bar L)$.

    Murray (2016), "Differentiation of the Cholesky decomposition". $P + P^\top$ is the lower
    triangle of $L^\top \bar L$ and its transpose, the diagonal once.
    """
    both = copied_lower(matmul(matrix_transpose(out), ct))
    left = solve_triangular(out, both, trans=1, lower=True)
    return 0.5 * matrix_transpose(
        solve_triangular(out, matrix_transpose(left), trans=1, lower=True)
    )


def _facts_cholesky(x: Known) -> Iterable[Fact]:
    yield triangular("lower")
    if x.has(Fact("diagonal")):
        yield Fact("diagonal")
    if x.has(Fact("positive_definite")):
        yield total


CHOLESKY = register(
    Op(
        "cholesky",
        batch=batch_aligned,
        carries=all_but_last(2),
        infer=_infer_cholesky,
        kernel=lambda xp, x: xp.linalg.cholesky(x),
        vjp=(_vjp_cholesky,),
        promote=matrix_dtype,
        flops=per_matrix(1, 3),
        facts=_facts_cholesky,
        doc=(
            "The lower triangular L with L @ L.T = x, for symmetric positive definite x, whose "
            "lower triangle is read; the gradient is symmetric. `upper`=True reads the upper "
            "triangle and gives L.T. A matrix that is not positive definite raises LinAlgError on "
            "NumPy and gives NaN on JAX."
        ),
        traits=Traits(matrices=Matrices.DEFINITE, homogeneous=0.5),
    )
)


def _cholesky(x: ArrayLike, *, upper: bool = False) -> Array:
    if not upper:
        return apply(CHOLESKY, x)
    return matrix_transpose(apply(CHOLESKY, matrix_transpose(as_array(x))))


cholesky = function(CHOLESKY, _cholesky, np.linalg.cholesky)


@naming_lines
def cho_factor(
    a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """A Cholesky factor for `cho_solve`, and whether it is the lower one; as in scipy.linalg.

    The other triangle of the factor is zero, where SciPy leaves it undefined.
    """
    return _cholesky(a, upper=not lower), lower


# -- QR ------------------------------------------------------------------------------------------
class QRResult(NamedTuple):
    """An orthonormal basis, and the coordinates in it."""

    Q: Array
    R: Array


def _infer_qr(x: Aval, *, size: Dim) -> tuple[Aval, Aval]:
    lead, (rows, columns) = x.shape[:-2], x.shape[-2:]
    return x.with_shape((*lead, rows, size)), x.with_shape((*lead, size, columns))


def _qr_kernel(xp: Any, x: Any, *, size: int) -> Any:
    enough_rows(x, size)
    return xp.linalg.qr(x)


def _vjp_qr(ct: tuple[Array, Array], out: tuple[Array, Array], x: Array, *, size: Dim) -> Array:
    r"""$\bar A = (\bar Q + Q\,\mathrm{copyltu}(M)) R^{-\top}$, $M = R \bar R^\top - \bar Q^\top Q$.

    Walter and Lehmann (2018), "Algorithmic differentiation of linear algebra functions"; copyltu
    copies the lower triangle over the upper one. If there are more columns than rows, $A = [X, Y]$
    and $R = [U, V]$: $\bar Y = Q \bar V$, and X is a square case with $\bar Q + Y \bar V^\top$ for
    $\bar Q$ (Roberts and Roberts 2020, "QR and LQ decomposition matrix backpropagation
    algorithms"). The leading columns must be linearly independent.
    """
    (ct_q, ct_r), (q, r) = ct, out
    if known_equal(size, x.shape[-1]):
        return _vjp_tall(ct_q, ct_r, q, r)
    if not isinstance(x.shape[-1], int):
        raise NotDifferentiable(
            f"qr of matrices with {size} rows and {x.shape[-1]} columns has no derivative here: "
            "the number of columns to the right of the first square is not known.",
            mend="Give the columns a number.",
        )
    x_right, ct_right = x[..., size:], ct_r[..., size:]
    through = ct_q + matmul(x_right, matrix_transpose(ct_right))
    left = _vjp_tall(through, ct_r[..., :size], q, r[..., :size])
    return concatenate([left, matmul(q, ct_right)], axis=-1)


def _vjp_tall(ct_q: Array, ct_r: Array, q: Array, r: Array) -> Array:
    parts: list[Array] = []
    if not is_zero(ct_r):
        parts.append(matmul(r, matrix_transpose(ct_r)))
    if not is_zero(ct_q):
        parts.append(-matmul(matrix_transpose(ct_q), q))
    m = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    full = matmul(q, copied_lower(m))
    if not is_zero(ct_q):
        full = ct_q + full
    # full R^-T is the transpose of R^-1 full^T.
    return matrix_transpose(solve_triangular(r, matrix_transpose(full)))


def _flops_qr(_out: Aval, x: Aval, *, size: Dim) -> Dim:
    r"""$2 m k^2 - \frac23 k^3$ for R, as much again for Q."""
    sizes: Any = size
    long: Any = normal(x.shape[-2] + x.shape[-1] - sizes)
    each = scaled(12 * long * sizes * sizes - 4 * sizes * sizes * sizes, 3)
    return count((*x.shape[:-2], each))


def _facts_qr(x: Known, *, size: Dim) -> Iterable[Fact]:
    square = known_equal(size, x.aval.shape[-2])
    yield Fact("result", (0, Fact("orthogonal") if square else unit_norm(-2)))
    yield Fact("result", (0, total))
    yield Fact("result", (1, triangular("upper")))
    yield Fact("result", (1, total))


QR = register(
    Op(
        "qr",
        workspace=results_of(1.5),
        batch=batch_aligned,
        carries=carries_batched(2),
        infer=_infer_qr,
        kernel=_qr_kernel,
        vjp=(_vjp_qr,),
        normalize=thin_size,
        promote=matrix_dtype,
        flops=_flops_qr,
        facts=_facts_qr,
        doc=(
            'Q with orthonormal columns and upper triangular R with x = Q @ R (mode "reduced"; '
            '"r" gives R alone). The diagonal of R has the signs LAPACK gives it. The derivative '
            "needs linearly independent leading columns; without, it raises or is NaN."
        ),
        traits=Traits(matrices=Matrices.ANY),
    )
)


@naming_lines
def _infer_complement(x: Aval) -> Aval:
    rows, columns = x.shape[-2:]
    return x.with_shape((*x.shape[:-1], normal(rows - columns)))


def _complement_kernel(xp: Any, x: Any) -> Any:
    enough_rows(x, x.shape[-1])
    return xp.linalg.qr(x, mode="complete")[0][..., :, x.shape[-1] :]


COMPLEMENT = register(
    Op(
        "qr_complement",
        workspace=results_of(3.75),
        batch=batch_aligned,
        infer=_infer_complement,
        kernel=_complement_kernel,
        vjp=(
            undefined(
                'the columns that mode="complete" adds to Q may be turned among themselves; '
                'mode="reduced" has those that are determined'
            ),
        ),
        carries=carries_batched(2),
        promote=matrix_dtype,
        flops=lambda out, x: count((4, *x.shape[:-1], x.shape[-2])),
        facts=lambda x: (unit_norm(-2), total),
        doc="Orthonormal columns that complete the Q of a tall matrix to a basis.",
    )
)


@naming_lines
def _qr(x: ArrayLike, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "r", "complete"):
        raise TraceError(
            f"qr: the mode {mode!r} cannot be traced.", mend='Use "reduced", "complete" or "r".'
        )
    found = QRResult(*apply(QR, x))
    return found.R if mode == "r" else _completed(as_array(x), found) if mode[0] == "c" else found


def _completed(x: Array, found: QRResult) -> QRResult:
    rows, columns = x.shape[-2:]
    if known_equal(found.Q.shape[-1], rows):
        return found
    rest = apply(COMPLEMENT, x)
    below = zeros((*x.shape[:-2], rest.shape[-1], columns), found.R.dtype)
    return QRResult(concatenate([found.Q, rest], axis=-1), concatenate([found.R, below], axis=-2))


qr = function(QR, _qr, np.linalg.qr)
