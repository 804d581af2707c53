"""`np.fft` of symbolic arrays, real and complex."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..array import NUMPY_FUNCTIONS
from ..errors import ShapeError, TraceError
from ..ir.avals import normal_axis
from ..ir.dims import known_equal
from ..ops.fourier import fourier, half_spectrum, half_spectrum_transpose
from .arithmetic import whole
from .handle import COMPLEX_FUNCTIONS, ComplexArray, Operand, as_complex

__all__ = ["resized"]

_SIDES = {"backward": (0, 1), "ortho": (0.5, 0.5), "forward": (1, 0)}
"""Which power of 1 / n the transform and its inverse are multiplied by."""


def _transformed(
    z: Operand, n: Operand = None, axis: int = -1, norm: str | None = None, *, inverse: bool
) -> ComplexArray:
    a, b = as_complex(z)
    known: Any = b if a is None else a
    axis = normal_axis(axis, known.ndim)
    if n is not None:
        a, b = (None if each is None else resized(each, n, axis) for each in (a, b))
        known = b if a is None else a
    a, b = whole(a, b)
    return ComplexArray(*_normed(fourier(a, b, axis, inverse), known.shape[axis], norm, inverse))


def _normed(parts: Any, n: Operand, norm: str | None, inverse: bool) -> Any:
    if norm not in (None, *_SIDES):
        raise TraceError(
            f"norm={norm!r} is none of np.fft.", mend='Use "backward", "ortho" or "forward".'
        )
    power = _SIDES[norm or "backward"][inverse]
    if power:
        parts = [each / n**power if power != 1 else each / n for each in parts]
    return parts


def resized(x: Operand, n: Operand, axis: int) -> Any:
    """The first n elements along the axis, or zeros behind."""
    have = x.shape[axis]
    if known_equal(have, n):
        return x
    if not (isinstance(have, int) and isinstance(n, int)):
        raise TraceError(
            f"A transform of {n} elements of an axis of {have} cannot be traced: which is more "
            "is not known.",
            mend="Trace with fixed sizes.",
        )
    if n < 1:
        raise ShapeError(f"A Fourier transform of {n} elements has none.")
    if n < have:
        return x[(..., slice(0, n), *[slice(None)] * (-1 - axis))]
    widths = [(0, 0)] * x.ndim
    widths[axis] = (0, n - have)
    return NUMPY_FUNCTIONS[np.pad](x, widths)


def fft(
    a: Operand, n: Operand = None, axis: int = -1, norm: str | None = None, out: None = None
) -> Any:
    return _transformed(a, n, axis, norm, inverse=False)


def ifft(
    a: Operand, n: Operand = None, axis: int = -1, norm: str | None = None, out: None = None
) -> Any:
    return _transformed(a, n, axis, norm, inverse=True)


def rfft(
    a: Operand, n: Operand = None, axis: int = -1, norm: str | None = None, out: None = None
) -> Any:
    """The first n // 2 + 1 of the transform of real numbers; the others are their conjugates."""
    if isinstance(a, ComplexArray):
        raise TraceError("rfft takes real arrays.", mend="Use np.fft.fft, or take z.real.")
    axis = normal_axis(axis, a.ndim)
    a = a if n is None else resized(a, n, axis)
    return ComplexArray(*_normed(half_spectrum(a, axis), a.shape[axis], norm, inverse=False))


def irfft(
    a: Operand, n: Operand = None, axis: int = -1, norm: str | None = None, out: None = None
) -> Any:
    """The real numbers whose transform starts so; n, by default 2 (m - 1), of them."""
    re, im = whole(*as_complex(a))
    axis = normal_axis(axis, re.ndim)
    n = 2 * (re.shape[axis] - 1) if n is None else n
    if isinstance(n, int) and n < 1:
        raise ShapeError(f"A Fourier transform of {n} elements has none.")
    half = [resized(each, n // 2 + 1, axis) for each in (re, im)]
    (found,) = _normed([half_spectrum_transpose(*half, n, axis, twice=True)], n, norm, inverse=True)
    return found


def _places(a: Operand, s: Operand, axes: Operand) -> list[tuple[int, Any]]:
    """The axes to transform, and their sizes, None for the size as it is."""
    if axes is None:
        axes = range(-len(s) if s is not None else -a.ndim, 0)
    if not len(axes):
        raise ShapeError("A Fourier transform needs an axis; here is none.")
    sizes = [None] * len(axes) if s is None else [None if n == -1 else n for n in s]
    return list(zip(axes, sizes, strict=True))


def _along_several(
    others: Callable[..., Any], last: Callable[..., Any], default: Operand, *, first: bool = False
) -> Callable[..., Any]:
    """One transform along the last of the axes, another along those before it.

    `first` says that the last axis comes first, as real numbers have to.
    """

    def called(
        a: Operand,
        s: Operand = None,
        axes: Operand = default,
        norm: str | None = None,
        out: None = None,
    ) -> Any:
        places = _places(a, s, axes)
        steps = [(others, *each) for each in places[:-1]] + [(last, *places[-1])]
        for transform, axis, n in reversed(steps) if first else steps:
            a = transform(a, n, axis, norm)
        return a

    return called


_TWO = (-2, -1)
_FUNCTIONS = {
    np.fft.fft: fft,
    np.fft.ifft: ifft,
    np.fft.rfft: rfft,
    np.fft.irfft: irfft,
    np.fft.fft2: _along_several(fft, fft, _TWO),
    np.fft.ifft2: _along_several(ifft, ifft, _TWO),
    np.fft.fftn: _along_several(fft, fft, None),
    np.fft.ifftn: _along_several(ifft, ifft, None),
    np.fft.rfft2: _along_several(fft, rfft, _TWO, first=True),
    np.fft.irfft2: _along_several(ifft, irfft, _TWO),
    np.fft.rfftn: _along_several(fft, rfft, None, first=True),
    np.fft.irfftn: _along_several(ifft, irfft, None),
}
NUMPY_FUNCTIONS.update(_FUNCTIONS)
COMPLEX_FUNCTIONS.update(_FUNCTIONS)
