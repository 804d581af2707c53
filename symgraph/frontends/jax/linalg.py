r"""Factorizations and linear systems of JAX.

Decompositions are those of this library where both mean the same. A graph has no operation for a
factorization $P A = L U$, so that is a loop over the columns, and its derivative is the formula:
systems and determinants, for which JAX makes it, take the matrix itself and leave the loop out.
"""

from __future__ import annotations

from typing import Any

from ...ops.custom_vjp import custom_vjp
from ..functions import f
from ..spelling import Absent, Refused, Spelling, own

__all__ = ["LINALG"]


def _turned(x: Any) -> Any:
    return f.swapaxes(x, -1, -2)


def _cholesky(x: Any, *, symmetrize_input: bool = True) -> Any:
    # The lower triangle alone is read.
    return f.cholesky((x + _turned(x)) / 2 if symmetrize_input else x)


def _triangular_solve(
    a: Any,
    b: Any,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: Any,
    conjugate_a: bool,
    unit_diagonal: bool,
) -> Any:
    transposed = bool(int(transpose_a))
    if not left_side:  # x a = b is aᵀ xᵀ = bᵀ.
        b, transposed = _turned(b), not transposed
    options = {"lower": lower, "trans": int(transposed), "unit_diagonal": unit_diagonal}
    found = f.solve_triangular(a, b, **options)
    return found if left_side else _turned(found)


# -- decompositions --------------------------------------------------------------------------------
def _usual(algorithm: Any, subset_by_index: Any) -> None:
    if algorithm is not None and str(algorithm).rpartition(".")[2] != "DEFAULT":
        raise Refused(f"asks for the algorithm {algorithm}", "Leave the choice to the engine.")
    if subset_by_index is not None:
        raise Refused("computes some of the values", "Compute all, and take a slice of them.")


def _qr(x: Any, *, pivoting: bool, full_matrices: bool, use_magma: Any = None) -> Any:
    if pivoting:
        raise Refused("exchanges columns", "Factorize without pivoting.")
    return list(f.qr(x, "complete" if full_matrices else "reduced"))


def _eigh(
    x: Any,
    *,
    lower: bool,
    sort_eigenvalues: bool = True,
    subset_by_index: Any = None,
    algorithm: Any = None,
) -> Any:
    _usual(algorithm, subset_by_index)
    values, vectors = f.eigh(x, "L" if lower else "U")
    return [vectors, values]


_FULL = Absent(
    "the full singular vectors of a matrix that is not square, which nothing determines",
    "Use full_matrices=False.",
)


def _svd(
    x: Any,
    *,
    full_matrices: bool,
    compute_uv: bool,
    subset_by_index: Any = None,
    algorithm: Any = None,
) -> Any:
    _usual(algorithm, subset_by_index)
    u, s, vh = f.svd(x, full_matrices=False)
    if not compute_uv:
        return [s]
    if full_matrices and x.shape[-1] != x.shape[-2]:
        # The larger of the two matrices is not determined.
        return [s, u, _FULL] if x.shape[-2] < x.shape[-1] else [s, _FULL, vh]
    return [s, u, vh]


# -- P A = L U -------------------------------------------------------------------------------------
def _exchanged(places: Any, one: Any, other: Any) -> Any:
    """The places with two of them exchanged."""
    return f.where(places == one, other, f.where(places == other, one, places))


def _lu(x: Any) -> Any:
    """Both factors in one matrix, the row exchanged at each step, and the order of the rows."""
    return list(custom_vjp(_factorized, _lu_pulled_back)(x))


def _factorized(x: Any) -> tuple[Any, Any, Any]:
    """Gaussian elimination, the first of the largest elements of a column moved up."""
    *lead, m, n = x.shape
    rows, columns = f.arange(m), f.arange(n)

    def step(carry: Any, k: Any) -> Any:
        packed, order = carry
        sizes = f.where(rows >= k, f.absolute(packed[..., k]), -1)
        pivot = f.argmax(sizes, axis=-1, keepdims=True)
        places = _exchanged(rows, k, pivot)
        packed = f.take_along_axis(packed, f.expand_dims(places, -1), axis=-2)
        order = f.take_along_axis(order, places, axis=-1)
        row = packed[..., k, :]
        largest = f.expand_dims(row[..., k], -1)
        shares = f.where(rows > k, packed[..., k] / f.where(largest == 0, 1, largest), 0)
        below = f.expand_dims(shares, -1)
        packed = packed - below * f.expand_dims(f.where(columns > k, row, 0), -2)
        written = f.expand_dims(rows > k, -1) & (columns == k)
        return (f.where(written, below, packed), order), pivot[..., 0]

    start = (x, f.broadcast_to(rows, (*lead, m)))
    (packed, order), pivots = f.scan(step, start, f.arange(min(m, n)))
    return packed, f.moveaxis(pivots, 0, -1), order


def _lu_pulled_back(ct: Any, out: Any, x: Any) -> tuple[Any]:
    r"""The cotangent of A from that of the packed factors, for factors of full rank.

    $L^{-1} \dot A U^{-1} = L^{-1} \dot L + \dot U U^{-1}$ splits in two triangles, so that of the
    leading square is $L^{-\top} (\mathrm{tril}_{-1}(L^\top \bar L) + \mathrm{triu}(\bar U U^\top))
    U^{-\top}$. Rows below it are $L_2 = A_2 U^{-1}$, columns beside it $U_2 = L^{-1} A_2$.
    """
    packed, _, order = out
    m, n = x.shape[-2:]
    k = min(m, n)
    lower, upper = packed[..., :k, :k], packed[..., :k, :k]
    ct_l, ct_u = f.tril(ct[0][..., :, :k], -1), f.triu(ct[0][..., :k, :])
    beside = None
    if m > k:
        beside = _turned(f.solve_triangular(upper, _turned(ct_l[..., k:, :])))
        ct_u = ct_u - _turned(packed[..., k:, :]) @ beside
    elif n > k:
        beside = f.solve_triangular(lower, ct_u[..., k:], trans=1, lower=True, unit_diagonal=True)
        ct_l = ct_l - beside @ _turned(packed[..., :k, k:])
    unit = f.tril(lower, -1) + f.eye(k, dtype=x.dtype)
    middle = f.tril(_turned(unit) @ ct_l[..., :k, :], -1)
    middle = middle + f.triu(ct_u[..., :k] @ _turned(f.triu(upper)))
    left = f.solve_triangular(lower, middle, trans=1, lower=True, unit_diagonal=True)
    found = _turned(f.solve_triangular(upper, _turned(left)))
    if beside is not None:
        found = f.concatenate([found, beside], axis=-2 if m > k else -1)
    back = f.argsort(order, axis=-1)
    return (f.take_along_axis(found, f.expand_dims(back, -1), axis=-2),)


def _permutation(pivots: Any, *, permutation_size: int) -> Any:
    """The order of rows after the exchanges, one after the other."""
    *lead, steps = pivots.shape
    rows = f.arange(permutation_size)

    def step(order: Any, exchange: Any) -> Any:
        k, pivot = exchange
        places = _exchanged(rows, k, f.expand_dims(pivot, -1))
        return f.take_along_axis(order, places, axis=-1), None

    start = f.broadcast_to(rows, (*lead, permutation_size))
    exchanges = (f.arange(steps), f.astype(f.moveaxis(pivots, -1, 0), rows.dtype))
    return f.scan(step, start, exchanges)[0]


LINALG: dict[str, Spelling] = {
    "cholesky": own(_cholesky),
    "triangular_solve": own(_triangular_solve),
    "qr": own(_qr),
    "eigh": own(_eigh),
    "svd": own(_svd),
    "lu": own(_lu),
    "lu_pivots_to_permutation": own(_permutation),
}
