"""Discrete Fourier transforms of complex numbers, given as two real arrays, and of real ones.

Written with the names of NumPy that a namespace has, so that they run on any library.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

__all__ = ["cosine_transform", "fourier", "half_spectrum", "half_spectrum_transpose"]


def fourier(xp: Any, re: Any, im: Any, *, axis: int, inverse: bool) -> Any:
    """Both parts of the transform of re + i im, not divided by anything."""
    if 0 in re.shape:
        return re, im
    z, fft = _joined(xp, re, im), xp.module.fft
    found = fft.ifft(z, axis=axis, norm="forward") if inverse else fft.fft(z, axis=axis)
    return xp.real(found), xp.imag(found)


def half_spectrum(xp: Any, x: Any, *, axis: int, twice: bool) -> Any:
    """Both parts of the first n // 2 + 1 of the transform of real numbers."""
    if 0 in x.shape:  # PyTorch transforms none.
        half = _first(x, x.shape[axis] // 2 + 1, axis)
        return half, half
    found = xp.module.fft.rfft(x, axis=axis)
    found = _inner_times(xp, found, x.shape[axis], axis, 2.0) if twice else found
    return xp.real(found), xp.imag(found)


def half_spectrum_transpose(xp: Any, re: Any, im: Any, *, n: int, axis: int, twice: bool) -> Any:
    """N times the real numbers with this half of a spectrum; if not `twice`, the transpose."""
    if 0 in re.shape:
        return _first(xp.concatenate([re, re], axis=axis), n, axis)
    z = _joined(xp, re, im)
    z = z if twice else _inner_times(xp, z, n, axis, 0.5)
    return xp.module.fft.irfft(z, n, axis=axis, norm="forward")


def cosine_transform(xp: Any, x: Any, *, axis: int, inverse: bool) -> Any:
    """The orthonormal cosine transform of the second type, or its inverse, of the third.

    By SciPy on NumPy; elsewhere by the matrix, whose work grows with n².
    """
    if xp.module.__name__ == "numpy":
        from scipy import fft  # It takes 20 ms to import.

        return fft.dct(x, 3 if inverse else 2, axis=axis, norm="ortho")
    matrix = xp.asarray(_cosines(x.shape[axis]).T if inverse else _cosines(x.shape[axis]), x.dtype)
    return xp.moveaxis(xp.matmul(matrix, xp.moveaxis(x, axis, -1)[..., None])[..., 0], -1, axis)


@cache
def _cosines(n: int) -> Any:
    """The matrix of the transform."""
    k = np.arange(n)
    found = np.cos(np.pi / (2 * n) * (k[:, None] * (2 * k + 1) % (4 * n))) * np.sqrt(2 / n)
    found[0] = np.sqrt(1 / n)
    return found


def _joined(xp: Any, re: Any, im: Any) -> Any:
    """Complex numbers of two parts; 1j times an infinity would have a NaN."""
    if xp.module.__name__ not in ("numpy", "cupy"):
        return re + 1j * im
    found = xp.empty(re.shape, xp.result_type(re, 1j))
    found.real, found.imag = re, im
    return found


def _first(x: Any, count: int, axis: int) -> Any:
    return x[(..., slice(0, count), *(slice(None),) * (-1 - axis))]


def _inner_times(xp: Any, z: Any, n: int, axis: int, factor: float) -> Any:
    """Half of a spectrum, with a factor for what stands for two: not 0, nor n / 2."""
    after = (slice(None),) * (-1 - axis)
    cut = (n + 1) // 2
    parts = [z[(..., part, *after)] for part in (slice(0, 1), slice(1, cut), slice(cut, None))]
    return xp.concatenate([parts[0], factor * parts[1], parts[2]], axis=axis)
