"""`scipy.signal` on symbols: convolution and correlation of any number of dimensions."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .. import numpy as snp
from ..array import Array, ArrayLike
from ..errors import InputError, ShapeError
from ..ir.dims import show_shape
from ..ops.composites import as_array
from .absent import absent
from .mirrored import mirrored

__all__ = ["convolve", "correlate", "fftconvolve", "oaconvolve"]


@mirrored
def convolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto") -> Array:
    r"""$y_n = \sum_k x_{n-k} w_k$ along all axes.

    Parameters
    ----------
    in1, in2 : array_like
        Of as many dimensions; their sizes are numbers.
    mode : "full", "valid" or "same"
        All of the result; where the smaller lies within the larger; as large as `in1`.
    method : str
        How SciPy would go about it. The sum is computed directly, whatever it says.

    Raises
    ------
    ShapeError
        If the dimensions differ, or in mode "valid" neither is the smaller along all axes.
    InputError
        If the mode is unknown.
    """
    return _convolved(_floating_pair(in1, in2), mode, "convolve")


@mirrored
def fftconvolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full") -> Array:
    """The same as `convolve`: direct sums, without the rounding errors of a Fourier transform.

    The work is the product of the two sizes, where SciPy's grows with n log n.
    """
    return _convolved(_floating_pair(in1, in2), mode, "fftconvolve")


@mirrored
def oaconvolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full") -> Array:
    """The same as `convolve`; see `fftconvolve`."""
    return _convolved(_floating_pair(in1, in2), mode, "oaconvolve")


@mirrored
def correlate(in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto") -> Array:
    """The convolution with `in2` reversed along all axes; see `convolve`."""
    x, w = _floating_pair(in1, in2)
    return _convolved((x, snp.flip(w)), mode, "correlate")


def _floating_pair(in1: ArrayLike, in2: ArrayLike) -> tuple[Array, Array]:
    x, w = as_array(in1), as_array(in2)
    dtype = np.result_type(x.dtype, w.dtype)
    return snp.astype(x, dtype), snp.astype(w, dtype)


def _convolved(pair: tuple[Array, Array], mode: str, name: str) -> Array:
    x, w = pair
    if mode not in ("full", "valid", "same"):
        raise InputError(f"{name}: the mode {mode!r} is not known.", mend="full, valid or same.")
    if x.ndim != w.ndim or any(not isinstance(n, int) for n in (*x.shape, *w.shape)):
        raise ShapeError(
            f"{name}: shapes {show_shape(x.shape)} and {show_shape(w.shape)}.",
            mend="Give both as many dimensions, of sizes that are numbers.",
        )
    if not x.ndim:
        return x * w
    whole: Any = x.shape
    if not x.size or not w.size:
        return snp.zeros((0,) * x.ndim, x.dtype)
    if mode == "valid" or all(a <= b for a, b in zip(x.shape, w.shape, strict=True)):
        fits = all(a >= b for a, b in zip(x.shape, w.shape, strict=True))
        turned = all(a <= b for a, b in zip(x.shape, w.shape, strict=True))
        if mode == "valid" and not fits and not turned:
            raise ShapeError(
                f"{name}: of {show_shape(x.shape)} and {show_shape(w.shape)} neither lies within "
                'the other, as mode "valid" needs.'
            )
        # Convolution is commutative; the smaller operand is the kernel.
        x, w = (w, x) if turned and not fits else (x, w)
    pads = [(0, 0) if mode == "valid" else (int(size) - 1, int(size) - 1) for size in w.shape]
    layers = snp.conv(x[None, None], snp.flip(w)[None, None], padding=pads)
    result = layers[0, 0]
    if mode != "same":
        return result
    starts = [(full - size) // 2 for full, size in zip(result.shape, whole, strict=True)]
    cut = tuple(slice(start, start + size) for start, size in zip(starts, whole, strict=True))
    return result[cut]


def __getattr__(name: str) -> NoReturn:
    raise absent("signal", name, __all__)
