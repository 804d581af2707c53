r"""Determinants, their signs and logarithms, and the matrix of cofactors.

$\mathrm d \det A = \langle \operatorname{cof} A, \mathrm d A \rangle$ (Jacobi). The cofactors are
found from a singular value decomposition $A = U \operatorname{diag}(s) V^\top$ as
$\det(U) \det(V)\, U \operatorname{diag}(\prod_{k \ne i} s_k) V^\top$, without a division: the
gradient of a determinant is right at singular matrices, and so is its second derivative.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any, NamedTuple

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, apply
from ..facts import Fact, integer_valued, interval, total
from ..ir.avals import Aval
from ..ir.fact_inference import Known
from ..ir.op import Op, in_double, register, results_of
from ..ir.traits import Matrices, Traits
from .batched import batch_aligned, batch_into_last
from .carrying import all_but_last, carries_batched
from .creation import constant_of, zeros
from .einsum import einsum
from .families import function
from .matmul import matmul
from .matrices import inherited, matrix_dtype, per_matrix, square_size
from .movement import expand_dims, matrix_transpose
from .solving import inv
from .spectral import significant, svdvals
from .totals import PRODUCT_OF_OTHERS

__all__ = ["cofactor", "cofactor_along", "det", "slogdet"]


def _infer_det(x: Aval) -> Aval:
    square_size(x)
    return x.with_shape(x.shape[:-2])


def _facts_det(x: Known) -> Iterable[Fact]:
    yield total
    if x.has(Fact("positive_definite")):
        yield Fact("positive")
    if x.has(Fact("orthogonal")):
        yield from (interval(-1.0, 1.0), Fact("nonzero"))


def _of_each(ct: Array, matrices: Array) -> Array:
    """Each matrix times its number in `ct`."""
    return (expand_dims(ct, (-1, -2)) if ct.ndim else ct) * matrices


DET = register(
    Op(
        "det",
        workspace=in_double,
        batch=batch_aligned,
        carries=carries_batched(2),
        infer=_infer_det,
        kernel=lambda xp, x: xp.linalg.det(x),
        vjp=(lambda ct, out, x: _of_each(ct, cofactor(x)),),
        promote=matrix_dtype,
        conditioned=True,
        flops=per_matrix(2, 3),
        facts=_facts_det,
        doc="The determinant of square matrices; its gradient is right at singular ones too.",
        latex=r"\det",
        traits=Traits(matrices=Matrices.SQUARE),
    )
)


def _det(x: ArrayLike) -> Array:
    return apply(DET, x)


det = function(DET, _det, np.linalg.det)


# -- cofactors -----------------------------------------------------------------------------------
def _infer_cofactor(x: Aval) -> Aval:
    square_size(x)
    return x


def _decomposed(xp: Any, x: Any) -> tuple[Any, Any, Any]:
    """U, s and V^T; s is NaN of a matrix that is not finite, for which LAPACK may never end."""
    finite = xp.all(xp.isfinite(x), axis=(-2, -1))
    tame = xp.where(finite[..., None, None], x, xp.zeros_like(x))
    u, s, vh = xp.linalg.svd(tame, full_matrices=False)
    return u, xp.where(finite[..., None], s, xp.full_like(s, np.nan)), vh


def _cofactor_kernel(xp: Any, x: Any) -> Any:
    u, s, vh = _decomposed(xp, x)
    sign = xp.linalg.det(u) * xp.linalg.det(vh)
    others = PRODUCT_OF_OTHERS.kernel(xp, s) * sign[..., None]
    return (u * others[..., None, :]) @ vh


COFACTOR = register(
    Op(
        "cofactor",
        workspace=lambda out, x: 4 * out.nbytes + in_double(out, x),
        ends_below=inf,
        batch=batch_aligned,
        carries=all_but_last(2),
        infer=_infer_cofactor,
        kernel=_cofactor_kernel,
        vjp=(lambda ct, out, x: apply(COFACTOR_ALONG, x, ct),),
        promote=matrix_dtype,
        conditioned=True,
        flops=per_matrix(20),
        facts=inherited(Fact("positive_definite"), Fact("symmetric"), Fact("diagonal"), total),
        doc=(
            "The cofactors of square matrices, det(x) * inv(x).T where x is invertible: the "
            "gradient of the determinant, also where x is singular."
        ),
        traits=Traits(matrices=Matrices.SQUARE),
    )
)


def _cofactor(x: ArrayLike) -> Array:
    return apply(COFACTOR, x)


cofactor = function(COFACTOR, _cofactor)


def _infer_along(x: Aval, direction: Aval) -> Aval:
    return direction


def _along_kernel(xp: Any, x: Any, direction: Any) -> Any:
    r"""$U (\operatorname{diag}(P g) - P \circ G^\top) V^\top$ times the signs of U and V.

    $G = U^\top D V$ is the direction, g its diagonal, $P_{ij} = \prod_{k \ne i, j} s_k$ off the
    diagonal and 0 on it: the minors of a diagonal matrix, to first order.
    """
    u, s, vh = _decomposed(xp, x)
    sign = xp.linalg.det(u) * xp.linalg.det(vh)
    one = xp.eye(x.shape[-1], dtype=x.dtype)
    # Row i holds all singular values, the i-th replaced by 1.
    rows = s[..., None, :] * (1 - one) + one
    pairs = PRODUCT_OF_OTHERS.kernel(xp, rows) * (1 - one) * sign[..., None, None]
    turned = xp.swapaxes(u, -1, -2) @ direction @ xp.swapaxes(vh, -1, -2)
    diagonal = xp.einsum("...ij,...jj->...i", pairs, turned)
    middle = diagonal[..., None] * one - pairs * xp.swapaxes(turned, -1, -2)
    return u @ middle @ vh


def _vjp_along_matrix(ct: Array, out: Array, x: Array, direction: Array) -> Array:
    r"""The third derivative of the determinant, $\mathrm D^3\det(A)[H, G, \cdot]$.

    With $X = A^{-1}$, $h = \operatorname{tr} X H$ and $g = \operatorname{tr} X G$ it is
    $\det A\, ((h g - \operatorname{tr} X H X G) X - g X H X - h X G X + X H X G X + X G X H X)$,
    transposed: the cyclic expansion of $\det(A + E) = \det A \exp \operatorname{tr} \log(1 + X E)$.
    Here A must be invertible: it is NaN where A is singular to rounding. Up to three rows the
    determinant is a polynomial of the third degree at most, whose third derivative is constant.
    """
    size = x.shape[-1]
    if size in (1, 2):
        return zeros(ct.shape, ct.dtype)
    if size == 3:
        return apply(COFACTOR_ALONG, direction, ct)
    inverse = inv(x) * _one_if_regular(x)
    h, g = matmul(inverse, ct), matmul(inverse, direction)
    trace_h, trace_g = einsum("...ii->...", h), einsum("...ii->...", g)
    both = trace_h * trace_g - einsum("...ij,...ji->...", h, g)
    mixed = matmul(h, g) + matmul(g, h) - _of_each(trace_g, h) - _of_each(trace_h, g)
    factor = _of_each(both, inverse) + matmul(mixed, inverse)
    return matrix_transpose(_of_each(det(x), factor))


def _one_if_regular(x: Array) -> Array:
    """1 for a matrix that is regular, NaN for one that is singular to rounding."""
    regular = FUNCTIONS["all"](significant(svdvals(x), x.shape[-1]), axis=-1)
    found = FUNCTIONS["where"](regular, constant_of(1, x.dtype), constant_of(np.nan, x.dtype))
    return expand_dims(found, (-1, -2))


COFACTOR_ALONG = register(
    Op(
        "cofactor_along",
        workspace=results_of(7.5),
        ends_below=inf,
        batch=batch_into_last,
        carries=all_but_last(2),
        infer=_infer_along,
        kernel=_along_kernel,
        # Second derivatives are symmetric: the map is its own adjoint.
        vjp=(
            _vjp_along_matrix,
            lambda ct, out, x, direction: apply(COFACTOR_ALONG, x, ct),
        ),
        promote=matrix_dtype,
        conditioned=True,
        flops=per_matrix(28),
        doc=(
            "How the cofactors of x change along a direction: the second derivative of the "
            "determinant. Its own derivative needs x to be invertible if it has four rows or more."
        ),
        traits=Traits(linear=(1,)),
    )
)


def _cofactor_along(x: ArrayLike, direction: ArrayLike) -> Array:
    return apply(COFACTOR_ALONG, x, direction)


cofactor_along = function(COFACTOR_ALONG, _cofactor_along)


# -- sign and logarithm --------------------------------------------------------------------------
class SlogdetResult(NamedTuple):
    """The sign, and the logarithm of the absolute value."""

    sign: Array
    logabsdet: Array


def _infer_slogdet(x: Aval) -> tuple[Aval, Aval]:
    found = _infer_det(x)
    return found, found


def _facts_slogdet(x: Known) -> Iterable[Fact]:
    certain = x.has(Fact("positive_definite"))
    for fact in (interval(1.0 if certain else -1.0, 1.0), integer_valued, total):
        yield Fact("result", (0, fact))
    if certain or x.has(Fact("orthogonal")):
        yield Fact("result", (1, total))


SLOGDET = register(
    Op(
        "slogdet",
        workspace=in_double,
        batch=batch_aligned,
        carries=carries_batched(2),
        infer=_infer_slogdet,
        kernel=lambda xp, x: xp.linalg.slogdet(x),
        vjp=(lambda ct, out, x: _of_each(ct[1], matrix_transpose(inv(x))),),
        promote=matrix_dtype,
        conditioned=True,
        flops=per_matrix(2, 3),
        facts=_facts_slogdet,
        doc=(
            "The sign of the determinant and the logarithm of its absolute value; the derivative "
            "of the logarithm is inv(x).T, that of the sign is 0."
        ),
        latex_of_results=("", r"\log \left|\det #\right|"),
        traits=Traits(matrices=Matrices.SQUARE),
    )
)


def _slogdet(x: ArrayLike) -> SlogdetResult:
    return SlogdetResult(*apply(SLOGDET, x))


slogdet = function(SLOGDET, _slogdet, np.linalg.slogdet)
