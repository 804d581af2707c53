"""Polynomials as vectors of coefficients, the highest power first, under NumPy's names.

Leading zeros are kept, for the numbers are not known yet. Where NumPy drops some, the results
here are longer by as many zeros.
"""

from __future__ import annotations

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike
from ..errors import ShapeError
from ..ir.dims import show_shape
from .composites import as_array, composite, refuse
from .creation import ones, zeros
from .joining import concatenate
from .movement import broadcast_to, expand_dims, squeeze
from .pseudoinverses import lstsq
from .recurrence import cumprod
from .sequences import convolve

__all__ = [
    "poly",
    "polyadd",
    "polyder",
    "polyfit",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "vander",
]


def _coefficients(name: str, p: ArrayLike) -> tuple[Array, int]:
    """The coefficients and their number."""
    vector: Array = FUNCTIONS["atleast_1d"](as_array(p))
    size = vector.shape[0]
    if vector.ndim != 1 or not isinstance(size, int):
        raise ShapeError(
            f"{name}: coefficients are a vector of known length, not {show_shape(vector.shape)}."
        )
    return vector, size


@composite(np.polyval)
def polyval(p: ArrayLike, x: ArrayLike) -> Array:
    """The value at `x` of the polynomial with coefficients `p`, by Horner's scheme."""
    (p, size), x = _coefficients("polyval", p), as_array(x)
    found = FUNCTIONS["zeros_like"](x)
    for k in range(size):
        found = found * x + p[k] if k else broadcast_to(p[0], x.shape) + found
    return found


@composite(np.vander)
def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Array:
    """The matrix of the powers of a vector's elements, from the highest power down to 1."""
    x = as_array(x)
    columns = x.shape[0] if N is None and x.ndim else N
    if x.ndim != 1 or not isinstance(columns, int):
        raise ShapeError(
            f"vander: a vector and a number of powers are needed, not {show_shape(x.shape)}.",
            mend="Give N=, the number of columns.",
        )
    kind = np.result_type(x.dtype, int)
    first = ones((*x.shape, 1 if columns else 0), kind)
    steps = broadcast_to(
        expand_dims(FUNCTIONS["astype"](x, kind), -1), (*x.shape, max(columns - 1, 0))
    )
    powers = cumprod(concatenate([first, steps], axis=-1), axis=-1)
    return powers if increasing else powers[:, ::-1]


# -- arithmetic ------------------------------------------------------------------------------------
def _aligned(name: str, one: ArrayLike, other: ArrayLike) -> tuple[Array, Array]:
    """Both polynomials with equally many coefficients, with zeros in front."""
    pair = [_coefficients(name, each) for each in (one, other)]
    longest = max(size for _, size in pair)
    first, second = (
        concatenate([zeros((longest - size,), p.dtype), p]) if size < longest else p
        for p, size in pair
    )
    return first, second


@composite(np.polyadd)
def polyadd(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The sum of two polynomials."""
    first, second = _aligned("polyadd", a1, a2)
    return first + second


@composite(np.polysub)
def polysub(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The difference of two polynomials."""
    first, second = _aligned("polysub", a1, a2)
    return first - second


@composite(np.polymul)
def polymul(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The product of two polynomials: their convolution."""
    return convolve(a1, a2)


@composite(np.polyder, view=True)
def polyder(p: ArrayLike, m: int = 1) -> Array:
    """The derivative of order `m` of a polynomial."""
    if m < 0:
        raise ShapeError(f"polyder: the order of a derivative is not {m}.")
    p, size = _coefficients("polyder", p)
    for _ in range(m):
        size = max(size - 1, 0)
        p = p[:size] * np.arange(size, 0, -1)
    return p


@composite(np.polyint, view=True)
def polyint(p: ArrayLike, m: int = 1, k: ArrayLike | None = None) -> Array:
    """The antiderivative of order `m` of a polynomial; `k` holds the constants, in order."""
    if m < 0:
        raise ShapeError(f"polyint: the order of an integral is not {m}.")
    found, size = _coefficients("polyint", p)
    constants = zeros((m,)) if k is None else FUNCTIONS["atleast_1d"](as_array(k))
    if constants.shape == (1,) and m > 1:
        constants = broadcast_to(constants, (m,))
    if constants.ndim != 1 or (isinstance(constants.shape[0], int) and constants.shape[0] < m):
        raise ShapeError(f"polyint: one constant is needed for each of {m} integrals, or one.")
    for order in range(m):
        scaled = found / np.arange(size, 0, -1)
        found, size = concatenate([scaled, constants[order : order + 1]]), size + 1
    return found


# -- roots and fits --------------------------------------------------------------------------------
@composite(np.poly)
def poly(seq_of_zeros: ArrayLike) -> Array:
    """The coefficients of the polynomial with the given zeros, the highest power first."""
    roots, size = _coefficients("poly", seq_of_zeros)
    if roots.dtype.kind != "f":
        roots = FUNCTIONS["astype"](roots, "float64")
    found = ones((1,), roots.dtype)
    for k in range(size):
        found = convolve(found, concatenate([ones((1,), roots.dtype), -roots[k : k + 1]]))
    return found


@composite(np.polyfit)
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: ArrayLike | None = None,
    full: bool = False,
    w: ArrayLike | None = None,
    cov: ArrayLike = False,
) -> Array:
    """The coefficients of the polynomial of degree `deg` nearest to `y` at `x`, by least squares.

    Parameters
    ----------
    x, y : array_like
        Places, and values: a vector, or columns of them.
    deg : int
    rcond : float, optional
        As for `lstsq`; by default the rounding unit times the number of places.
    w : array_like, optional
        Weights of the residuals, before they are squared.
    full, cov : bool
        Refused: `snp.linalg.lstsq` gives residuals, rank and singular values.
    """
    refuse("polyfit", {"full": full or None, "cov": cov or None})
    x, y = as_array(x) + 0.0, as_array(y) + 0.0
    if deg < 0 or x.ndim != 1 or y.ndim not in (1, 2):
        raise ShapeError(
            f"polyfit: degree {deg}, places {show_shape(x.shape)}, values {show_shape(y.shape)}.",
            mend="Give places as a vector, values as one or as columns, and a degree from 0 on.",
        )
    left, right = vander(x, deg + 1), y
    if w is not None:
        w = expand_dims(as_array(w) + 0.0, -1)
        left, right = left * w, right * (w if y.ndim == 2 else squeeze(w, -1))
    scale = FUNCTIONS["sqrt"](FUNCTIONS["sum"](left * left, axis=0))
    if rcond is None and isinstance(x.shape[0], int):
        rcond = x.shape[0] * float(np.finfo(x.dtype).eps)
    found = lstsq(left / scale, right, rcond)[0]
    return found / (scale if y.ndim == 1 else expand_dims(scale, -1))
