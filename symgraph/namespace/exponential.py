r"""The exponential of square matrices, in NumPy.

Al-Mohy and Higham (2009), "A new scaling and squaring algorithm for the matrix exponential",
algorithm 5.1 with the Padé approximant of degree 13 throughout. SciPy has the same method, one
matrix after another; and its LAPACK wakes threads for the smallest system, and waits for them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["AT_ONCE", "expm"]

_OF_EVEN_POWERS = np.array(
    [
        [0.0, 40840800.0, 16380.0, 1.0],
        [0.0, 1323241920.0, 960960.0, 182.0],
        [32382376266240000.0, 1187353796428800.0, 10559470521600.0, 33522128640.0],
        [64764752532480000.0, 7771770303897600.0, 129060195264000.0, 670442572800.0],
    ]
)
"""The numerator of the approximant; its denominator has the same with alternating signs.

Terms of odd degree, over the matrix, and those of even degree, by the powers 0, 2, 4 and 6: two
sums that are multiplied by the sixth power, and two that are added to these.
"""
_REACH = 4.25
"""The norm up to which the approximant has all digits."""
_ROOM = math.log2(113250775606021113483283660800000000) - 53
"""The first error of the approximant is that of x**27 over the number in here: two to this power is
how large the norm of that power may be before it is more than the rounding of one."""

_FEW = 3
"""So many squarings take less time than to find out whether fewer would do."""
_SEEN = 40
"""Up to so many squarings are spared: the power 27 of smaller matrices is less than any float."""
AT_ONCE = 2**12
"""Elements of a stack that are computed together: what is between stays in the cache."""
_WIDE = 24
"""Rows from which 27 products with a vector are faster than four of matrices."""


def expm(x: Any) -> Any:
    """The exponential of each matrix of an array of shape (..., n, n), of floats.

    A matrix with NaN or infinity among its elements gives NaN; of a triangular one, what is known.
    """
    size = x.shape[-1]
    if not x.size:
        return x.copy()
    if size == 1:
        return np.exp(x)
    matrices = x.reshape(-1, size, size)
    step = max(AT_ONCE // size**2, 1)
    with np.errstate(all="ignore"):
        if len(matrices) <= step:
            return _of_any(matrices).reshape(x.shape)
        found = np.empty(matrices.shape, x.dtype)
        for start in range(0, len(matrices), step):
            found[start : start + step] = _of_any(matrices[start : start + step])
    return found.reshape(x.shape)


def _of_any(matrices: Any) -> Any:
    corners = np.count_nonzero(matrices[:, 0, -1]), np.count_nonzero(matrices[:, -1, 0])
    if min(corners) == len(matrices):
        return _of_full(matrices)
    above, below = _has_elements(matrices), _has_elements(matrices.mT)
    found = np.zeros(matrices.shape, matrices.dtype)
    for chosen, function in (
        (above & below, _of_full),
        (above & ~below, _of_upper),
        (below & ~above, lambda lower: _of_upper(lower.mT).mT),
        (~above & ~below, _of_diagonal),
    ):
        if chosen.any():
            found[chosen] = function(matrices[chosen])
    return found


def _has_elements(matrices: Any) -> Any:
    """Whether there are any above the diagonal, of each matrix."""
    return np.triu(matrices, 1).any(axis=(-2, -1))


def _of_full(matrices: Any) -> Any:
    found, squarings = _approximant(matrices)
    for left in range(squarings.max() - 1, -1, -1):
        still = squarings > left
        if still.all():
            found = found @ found
        else:
            found[still] = found[still] @ found[still]
    return found


def _of_upper(matrices: Any) -> Any:
    """Of upper triangular matrices; the first two diagonals are known after each squaring.

    Code fragment 2.1 of the paper. The second diagonal is that of matrices of two rows, with a
    divided difference of exponentials: exp(a) expm1(b - a) / (b - a), of the larger a.
    """
    found, squarings = _approximant(matrices)
    places = np.arange(matrices.shape[-1])
    main, second = matrices.diagonal(0, -2, -1), matrices.diagonal(1, -2, -1)
    falls = main[:, 1:].real < main[:, :-1].real
    larger = np.where(falls, main[:, :-1], main[:, 1:])
    gaps = np.where(falls, main[:, 1:], main[:, :-1]) - larger
    for left in range(squarings.max(), -1, -1):
        still = np.flatnonzero(squarings >= left)
        several = still[squarings[still] > left]
        if several.size:
            found[several] = found[several] @ found[several]
        part = main.dtype.type(2.0**-left)
        gap = part * gaps[still]
        slopes = np.where(gap == 0, 1, np.expm1(gap) / np.where(gap == 0, 1, gap))
        found[still[:, None], places, places] = np.exp(part * main[still])
        found[still[:, None], places[:-1], places[1:]] = (
            np.exp(part * larger[still]) * slopes * (part * second[still])
        )
    return np.triu(found)


def _of_diagonal(matrices: Any) -> Any:
    found = np.zeros(matrices.shape, matrices.dtype)
    _diagonals(found)[...] = np.exp(_diagonals(matrices))
    return found


def _approximant(matrices: Any) -> tuple[Any, Any]:
    """The exponential of each matrix over a power of two, and that power: how often to square."""
    norm = _norm(matrices)
    squarings = np.zeros(norm.shape, int)
    if not norm.max() < 4:
        matrices = np.where(np.isfinite(norm)[:, None, None], matrices, np.nan)
        squarings = np.maximum(np.frexp(np.nan_to_num(norm, posinf=0))[1] - 2, 0)
        if (many := squarings > _FEW).any():
            spared = _spared(_over_powers_of_two(matrices, squarings))
            squarings = squarings - np.where(many, np.minimum(spared, squarings), 0)
        matrices = _over_powers_of_two(matrices, squarings)
    powers = _even_powers(matrices)
    table = _OF_EVEN_POWERS.astype(powers.dtype, copy=False)
    sums = (table @ powers.reshape(*powers.shape[:2], -1)).reshape(powers.shape)
    odd_and_even = np.matmul(powers[:, 3:], sums[:, :2], out=powers[:, :2])
    odd_and_even += sums[:, 2:]
    odd = np.matmul(matrices, odd_and_even[:, 0], out=sums[:, 0])
    even = odd_and_even[:, 1]
    found = np.linalg.solve(np.subtract(even, odd, out=even), np.add(odd, odd, out=odd))
    _diagonals(found)[...] += 1
    return found, squarings


def _over_powers_of_two(matrices: Any, squarings: Any) -> Any:
    return matrices * (2.0**-squarings).astype(np.abs(matrices).dtype)[:, None, None]


def _even_powers(matrices: Any) -> Any:
    """The powers 0, 2, 4 and 6 of each matrix."""
    powers = np.zeros((len(matrices), 4, *matrices.shape[1:]), matrices.dtype)
    _diagonals(powers[:, 0])[...] = 1
    np.matmul(matrices, matrices, out=powers[:, 1])
    np.matmul(powers[:, 1], powers[:, 1], out=powers[:, 2])
    np.matmul(powers[:, 1], powers[:, 2], out=powers[:, 3])
    return powers


def _diagonals(matrices: Any) -> Any:
    """A view of the diagonals of stacked matrices, to be written to."""
    return np.einsum("kii->ki", matrices)


def _norm(matrices: Any) -> Any:
    return np.abs(matrices).sum(axis=-2).max(axis=-1)


def _spared(matrices: Any) -> Any:
    """How many squarings less than by the norm the approximant needs, of matrices of norm 2 to 4.

    Powers tell more than the norm does. The power 27 of the absolute values bounds the error that
    rounding makes where powers are small by signs alone.
    """
    if matrices.dtype == np.float32:
        matrices = matrices.astype(np.float64)  # The high powers end below single precision.
    _, _, fourth, sixth = _even_powers(matrices).swapaxes(0, 1)
    of4, of6 = _norm(fourth) ** (1 / 4), _norm(sixth) ** (1 / 6)
    of8, of10 = _norm(fourth @ fourth) ** (1 / 8), _norm(fourth @ sixth) ** (1 / 10)
    size = np.minimum(np.maximum(of4, of6), np.maximum(of8, np.minimum(of6, of10)))
    spared = np.floor(np.log2(_REACH / np.maximum(size, 2.0**-_SEEN)))
    spared = np.nan_to_num(spared).astype(int)
    if (spared <= 0).all():
        return np.zeros_like(spared)
    ratio = np.log2(_column_sums_of_power(np.abs(matrices)).max(axis=-1) / _norm(matrices))
    back = np.ceil(spared + (ratio - _ROOM) / 26)
    return spared - np.maximum(back, 0).astype(int)


def _column_sums_of_power(x: Any) -> Any:
    """The sums over the columns of x**27."""
    sums = np.ones((1, x.shape[-1]), x.dtype)
    if x.shape[-1] > _WIDE:
        for _ in range(27):
            sums = sums @ x
    else:
        sums = sums @ x
        for factor in (2, 0, 8, 16):
            x = x @ x
            if factor:
                sums = sums @ x
    return sums[..., 0, :]
