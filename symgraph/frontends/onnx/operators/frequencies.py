"""Fourier transforms as products with matrices of cosines and sines."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import numpy as snp
from ....errors import FormatError
from ..call import Call, Tensor
from ..registry import operator

__all__: list[str] = []

_MOST = 4096
"""The longest transform that is written as a matrix."""


def _transformed(
    call: Call, x: Tensor, axis: int, length: int, inverse: bool, onesided: bool
) -> Tensor:
    """Along an axis; the last axis holds a real part alone, or a real and an imaginary one."""
    if not 0 < length <= _MOST:
        raise FormatError(f"A Fourier transform of {length} elements is not read.")
    extent: Any = x.shape[axis]
    if not isinstance(extent, int):
        raise FormatError(f"A Fourier transform along {extent} elements is not read.")
    rows = length // 2 + 1 if onesided else length
    used = min(extent, length)  # Beyond the end there are zeros.
    call.runs.spend(2 * rows * used)
    turn = 2 * np.pi * ((np.arange(rows)[:, None] * np.arange(used)) % length) / length
    cosine, sine = np.cos(turn), np.sin(turn) * (1 if inverse else -1)
    if inverse:
        cosine, sine = cosine / length, sine / length
    moved = np.moveaxis(x, axis, -1)[..., :used]
    real = moved[..., 0, :] if axis == x.ndim - 2 else np.moveaxis(moved, -2, 0)[0]
    c, s = [snp.asarray(each.T.astype(x.dtype)) for each in (cosine, sine)]
    if x.shape[-1] == 1:
        both = [real @ c, real @ s]
    else:
        imaginary = np.moveaxis(moved, -2, 0)[1]
        both = [real @ c - imaginary @ s, real @ s + imaginary @ c]
    return np.moveaxis(np.stack(both, axis=-1), -2, axis)


@operator("DFT", since=17)
def dft(call: Call, x: Tensor, length: Tensor | None = None, _axis: Tensor | None = None) -> Tensor:
    inverse, onesided = call.flag("inverse"), call.flag("onesided")
    if call.version < 20:
        axis = call.whole("axis", 1)
    else:
        axis = -2 if _axis is None else call.ints(2, "axis")[0]
    axis %= x.ndim
    if axis == x.ndim - 1 or x.shape[-1] not in (1, 2):
        raise FormatError(f"DFT of {x.aval} along axis {axis}: the last axis holds complex parts.")
    (count,) = [x.shape[axis]] if length is None else call.ints(1, "length")
    if not isinstance(count, int):
        raise FormatError(f"DFT depends on the size of {count}.")
    if inverse and onesided:
        return _real_inverse(call, x, axis, count, length is None)
    return _transformed(call, x, axis, count, inverse, onesided)


def _real_inverse(call: Call, x: Tensor, axis: int, count: int, by_default: bool) -> Tensor:
    """Of half a spectrum, the other half of which is its mirror image."""
    count = 2 * (count - 1) if by_default else count
    half = count // 2 + 1
    extent: Any = x.shape[axis]
    if x.shape[-1] != 2 or extent < half:
        raise FormatError(f"The inverse of half a spectrum of {x.aval} is not read.")
    first = np.take(x, np.arange(half), axis=axis)
    mirrored = np.take(x, np.arange(count - half, 0, -1), axis=axis)
    sign = np.asarray([1, -1], x.dtype)
    whole = np.concatenate([first, mirrored * sign], axis=axis)
    return _transformed(call, whole, axis, count, True, False)[..., :1]


@operator("STFT", since=17)
def stft(
    call: Call, x: Tensor, _step: Tensor, window: Tensor | None = None, length: Tensor | None = None
) -> Tensor:
    """Transforms of frames of a signal, multiplied by a window."""
    (step,) = call.ints(1, "step")
    size: Any = window.shape[0] if window is not None else None
    (size,) = [size] if length is None else call.ints(3, "length of a frame")
    extent: Any = x.shape[1]
    if not isinstance(size, int) or not isinstance(extent, int) or step < 1:
        raise FormatError(f"STFT of {x.aval} with frames of {size} elements is not read.")
    count = (extent - size) // step + 1
    if count < 1:
        raise FormatError(f"No frame of {size} elements fits into {x.aval}.")
    call.runs.spend(count * size)
    x = x if x.ndim == 3 else np.expand_dims(x, -1)
    places = step * np.arange(count)[:, None] + np.arange(size)
    frames = np.take(x, places, axis=1)
    if window is not None:
        frames = frames * np.reshape(window, (-1, 1))
    return _transformed(call, frames, 2, size, False, call.flag("onesided", 1))
