r"""`scipy.fft` on symbols: Fourier transforms as in `np.fft`, cosine and sine transforms.

Types 2 and 3 of the latter are the orthonormal cosine transform, with factors for other norms:
$\sum_t x_t \sin(\pi (k + 1)(2t + 1) / 2n)$ is the sum of $(-1)^t x_t$ with cosines, from the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any, cast

import numpy as np
from numpy.fft import fftfreq, fftshift, ifftshift, rfftfreq

from .. import numpy as snp
from ..array import Array, ArrayLike
from ..complexes.transforms import resized
from ..errors import InputError
from ..ops.composites import as_array
from .names.absent import of_numbers
from .names.mirrored import mirrored

__all__ = [
    "dct",
    "dctn",
    "dst",
    "dstn",
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "idct",
    "idctn",
    "idst",
    "idstn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


def _one(function: Callable[..., Any]) -> Callable[..., Any]:
    """A transform along one axis, with SciPy's parameters."""

    def transform(
        x: ArrayLike,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
    ) -> Any:
        return function(x, n, axis, norm)

    return _named(transform, function)


def _several(function: Callable[..., Any], axes: tuple[int, ...] | None) -> Callable[..., Any]:
    """A transform along several axes, with SciPy's parameters."""

    def transform(
        x: ArrayLike,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = axes,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
    ) -> Any:
        # NumPy takes the last axes too, but warns of it.
        axes = range(-len(s), 0) if axes is None and s is not None else axes
        return function(x, s, axes, norm)

    return _named(transform, function)


def _named(transform: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    name = function.__name__
    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"The same as `np.fft.{name}`; complex arrays are pairs of real ones."
    return transform


fft, ifft, rfft, irfft = map(_one, (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft))
fft2, ifft2 = _several(np.fft.fft2, (-2, -1)), _several(np.fft.ifft2, (-2, -1))
rfft2, irfft2 = _several(np.fft.rfft2, (-2, -1)), _several(np.fft.irfft2, (-2, -1))
fftn, ifftn = _several(np.fft.fftn, None), _several(np.fft.ifftn, None)
rfftn, irfftn = _several(np.fft.rfftn, None), _several(np.fft.irfftn, None)


# -- cosines and sines -----------------------------------------------------------------------------
_PARAMETERS = """

Parameters
----------
x : array_like
type : {2, 3}
n : int, optional
    Another length: the first n elements, or zeros behind.
axis : int
norm : {"backward", "ortho", "forward"}, optional
overwrite_x, workers
    Without effect.
orthogonalize : bool, optional
    As it is by default: True for the norm "ortho" alone.

Raises
------
InputError
    Of another type or norm, or an `orthogonalize` of its own.
"""


def _along_one(name: str, what: str) -> Callable[..., Any]:
    """A cosine or sine transform along one axis."""

    def transform(
        x: ArrayLike,
        type: int = 2,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        orthogonalize: bool | None = None,
    ) -> Array:
        return _transformed(name, x, type, n, axis, norm, orthogonalize)

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = what + _PARAMETERS
    return mirrored(transform)


dct = _along_one("dct", "The cosine transform of type 2 or 3 along an axis.")
idct = _along_one("idct", "The inverse of `dct`.")
dst = _along_one("dst", "The sine transform of type 2 or 3 along an axis.")
idst = _along_one("idst", "The inverse of `dst`.")


def _along_each(name: str, one: Callable[..., Any]) -> Callable[..., Any]:
    def transform(
        x: ArrayLike,
        type: int = 2,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | int | None = None,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        orthogonalize: bool | None = None,
    ) -> Any:
        axes = [axes] if isinstance(axes, int) else axes
        places = range(-len(s), 0) if axes is None and s is not None else axes
        places = range(-np.ndim(x), 0) if places is None else places
        for axis, n in zip(places, s or [None] * len(places), strict=True):
            x = one(x, type, n, axis, norm, orthogonalize=orthogonalize)
        return x

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"`{one.__name__}` along each of the axes, by default all of them."
    return transform


dctn, idctn = _along_each("dctn", dct), _along_each("idctn", idct)
dstn, idstn = _along_each("dstn", dst), _along_each("idstn", idst)


def _transformed(
    name: str,
    x: ArrayLike,
    type: int,
    n: int | None,
    axis: int,
    norm: str | None,
    orthogonalize: bool | None,
) -> Array:
    found = as_array(x)
    _check(name, found, type, axis, norm, orthogonalize)
    place = axis % found.ndim - found.ndim
    found = found if n is None else resized(found, n, place)
    # The inverse of type 2 is that of type 3, and is divided by what the other side is not.
    inverse = name.startswith("i")
    third = (type == 3) != inverse
    scale = _SCALES[norm or "backward"][inverse]
    if name.endswith("ct"):
        return _cosines(found, place, third, scale)
    signs = _along(np.where(np.arange(_size(found, place)) % 2, -1.0, 1.0), found, place)
    if third:
        return signs * _cosines(snp.flip(found, place), place, third, scale)
    return snp.flip(_cosines(signs * found, place, third, scale), place)


_SCALES = {"backward": (0, -1), "ortho": (None, None), "forward": (-1, 0)}
"""The powers of 2 n that a transform and its inverse are multiplied by."""


def _cosines(x: Array, axis: int, third: bool, power: int | None) -> Array:
    """The transform of the second or third type: orthonormal, or times a power of 2 n."""
    if power is None:
        return snp.cosine_transform(x, axis, third)
    size = _size(x, axis)
    factors = np.full(size, sqrt(2 * size))
    factors[0] = sqrt(size) * (1 if third else 2)
    weights = _along(factors * (2 * size) ** float(power), x, axis)
    if third:
        return snp.cosine_transform(weights * x, axis, True)
    return weights * snp.cosine_transform(x, axis)


def _size(x: Array, axis: int) -> int:
    return cast("int", x.shape[axis])


def _along(values: np.ndarray[Any, Any], x: Array, axis: int) -> Any:
    return values.astype(x.dtype).reshape(-1, *[1] * (-1 - axis))


def _check(
    name: str, x: Array, type: int, axis: int, norm: str | None, orthogonalize: bool | None
) -> None:
    if type not in (2, 3):
        raise InputError(f"{name}: the type {type} is not traced.", mend="Types 2 and 3 are.")
    if norm not in (None, "backward", "ortho", "forward"):
        raise InputError(f"{name}: norm={norm!r}.", mend='Use "backward", "ortho" or "forward".')
    if orthogonalize is not None and orthogonalize != (norm == "ortho"):
        raise InputError(
            f"{name}: orthogonalize={orthogonalize} with norm={norm!r} is not traced.",
            mend='Leave it out: the norm "ortho" is orthogonal.',
        )
    if not -x.ndim <= axis < x.ndim or not isinstance(x.shape[axis], int):
        raise InputError(
            f"{name}: axis {axis} of an array {x.aval} is none of a known size.",
            mend="Give an axis whose size is a number.",
        )


def __getattr__(name: str) -> Any:
    return of_numbers("fft", name, __all__)
