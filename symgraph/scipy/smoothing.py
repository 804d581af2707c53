"""`scipy.signal`'s smoothing on symbols: Savitzky and Golay's filter, trends, the envelope."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from .. import numpy as snp
from ..array import Array, ArrayLike
from ..errors import InputError, ShapeError
from ..ops.composites import as_array
from .fft import fft, ifft
from .names.mirrored import mirrored_from
from .recursive_filters import float_dtype, samples_along

__all__ = ["detrend", "hilbert", "savgol_filter"]

_PADDINGS = {"mirror": "reflect", "nearest": "edge", "wrap": "wrap", "constant": "constant"}


_of_signal = mirrored_from("scipy.signal")


@_of_signal
def savgol_filter(
    x: ArrayLike,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: float = 1.0,
    axis: int = -1,
    mode: str = "interp",
    cval: float = 0.0,
) -> Array:
    """The value, or a derivative, of the polynomial that fits the samples around each.

    It is linear (Savitzky and Golay 1964): a convolution, and at the ends, unless they are padded,
    the polynomial of the first and of the last window.
    """
    original = import_module("scipy.signal")
    if window_length % 2 != 1:
        raise InputError(
            f"savgol_filter: a window of {window_length} samples has no middle.",
            mend="Give an odd window_length.",
        )
    if mode != "interp" and mode not in _PADDINGS:
        known = ", ".join(["interp", *_PADDINGS])
        raise InputError(f"savgol_filter: the mode {mode!r} is not known.", mend=f"{known}.")
    samples = samples_along("savgol_filter", x, axis, float_dtype(x))
    half = window_length // 2
    size, fit = samples.shape[0], (window_length, polyorder, deriv, delta)
    if mode == "interp" and isinstance(size, int) and size < window_length:
        raise InputError(
            f"savgol_filter: {size} samples are less than a window of {window_length}.",
            mend='Give a shorter window, or pad with mode="nearest".',
        )
    weights = original.savgol_coeffs(*fit).astype(samples.dtype)
    rows = snp.reshape(snp.moveaxis(samples, 0, -1), (-1, 1, size))
    if mode != "interp" and half:
        more = {"constant_values": cval} if mode == "constant" else {}
        rows = snp.pad(rows, ((0, 0), (0, 0), (half, half)), _PADDINGS[mode], **more)
    found = snp.conv(rows, weights[None, None, ::-1])
    if mode == "interp" and half:
        # What the polynomial of one window gives at all of its places.
        ends = original.savgol_filter(np.eye(window_length), *fit, axis=0).astype(samples.dtype)
        places = np.arange(window_length)
        first = snp.take(rows, places, axis=-1) @ ends[:half].T
        last = snp.take(rows, places - window_length, axis=-1) @ ends[-half:].T
        found = snp.concatenate([first, found, last], axis=-1)
    found = snp.reshape(found, (*samples.shape[1:], found.shape[-1]))
    return snp.moveaxis(found, -1, axis)


@_of_signal
def detrend(
    data: ArrayLike,
    axis: int = -1,
    type: str = "linear",
    bp: int | Sequence[int] = 0,
    overwrite_data: bool = False,
) -> Array:
    """The samples without their mean, or without the line that fits them best.

    `bp` are the places where another line begins.
    """
    samples = samples_along("detrend", data, axis, float_dtype(data))
    if type in ("constant", "c"):
        return snp.moveaxis(samples - snp.mean(samples, axis=0), 0, axis)
    if type not in ("linear", "l"):
        raise InputError(f"detrend: the type {type!r} is not known.", mend="linear or constant.")
    places = sorted({int(each) for each in np.ravel(bp)} - {0})
    size = samples.shape[0]
    if places and (not isinstance(size, int) or places[0] < 0 or places[-1] > size):
        raise InputError(
            f"detrend: breakpoints {places} of {size} samples.",
            mend="They are places between samples, of a known number.",
        )
    cuts = [0, *[each for each in places if each != size], size]
    parts = [_without_line(samples[a:b]) for a, b in pairwise(cuts)]
    found = parts[0] if len(parts) == 1 else snp.concatenate(parts, axis=0)
    return snp.moveaxis(found, 0, axis)


def _without_line(samples: Array) -> Array:
    """The samples without their mean and slope; of one sample there is no slope."""
    size = samples.shape[0]
    rest = samples - snp.mean(samples, axis=0)
    if isinstance(size, int) and size < 2:
        return rest
    steps: Any = snp.arange(size, dtype=samples.dtype)
    steps = snp.reshape(steps - snp.mean(steps), (size, *[1] * (samples.ndim - 1)))
    squares = snp.sum(steps * steps)
    slope = snp.sum(steps * rest, axis=0) / snp.where(squares == 0, 1, squares)
    return rest - steps * slope


@_of_signal
def hilbert(x: ArrayLike, N: int | None = None, axis: int = -1) -> Any:
    """The analytic signal, complex: its real part is x, and its absolute value the envelope of x.

    The transform of x without its negative frequencies (Marple 1999).
    """
    samples = as_array(x)
    if not samples.ndim:
        raise ShapeError("hilbert: a number has no axis to go along.")
    size = snp.moveaxis(samples, axis, 0).shape[0] if N is None else int(N)
    if not isinstance(size, int) or size < 1:
        raise ShapeError(f"hilbert: {size} samples.", mend="Their number must be known.")
    weights = np.zeros(size, samples.dtype if samples.dtype.kind == "f" else "float64")
    weights[0] = 1
    weights[1 : (size + 1) // 2] = 2
    if size % 2 == 0:
        weights[size // 2] = 1
    shape = [1] * samples.ndim
    shape[axis] = size
    return ifft(fft(samples, size, axis) * weights.reshape(shape), axis=axis)
