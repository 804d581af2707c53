"""`scipy.signal` on symbols: convolution and correlation of any number of dimensions, filters."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np

from .. import numpy as snp
from ..array import Array, ArrayLike
from ..errors import InputError, ShapeError
from ..ir.dims import show_shape
from ..ops.composites import as_array
from .names.absent import of_numbers
from .names.mirrored import mirrored
from .recursive_filters import (
    coefficients,
    filtfilt,
    lfilter_zi,
    recursive,
    sosfilt,
    sosfilt_zi,
    sosfiltfilt,
)
from .smoothing import detrend, hilbert, savgol_filter

__all__ = [
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "detrend",
    "fftconvolve",
    "filtfilt",
    "hilbert",
    "lfilter",
    "lfilter_zi",
    "oaconvolve",
    "savgol_filter",
    "sosfilt",
    "sosfilt_zi",
    "sosfiltfilt",
]

Axes: TypeAlias = tuple[Sequence[int], Sequence[int]]
"""Axes of the one array, and of the other."""


@mirrored
def convolve(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    method: str = "auto",
    *,
    axes: Axes | None = None,
    dot_axes: Axes = ((), ()),
) -> Array:
    r"""$y_n = \sum_k x_{n-k} w_k$ along all axes, or along some.

    With `axes` it is autograd's function of this name: SciPy's has all axes only.

    Parameters
    ----------
    in1, in2 : array_like
        Of as many dimensions, unless there are `axes`; their sizes are numbers.
    mode : "full", "valid" or "same"
        All of the result; where the smaller lies within the larger; as large as `in1`.
    method : str
        How SciPy would go about it. The sum is computed directly, whatever it says.
    axes : pair of sequences of int, optional
        The axes of `in1` along which to convolve, and those of `in2`. The result has the other
        axes of `in1`, those of `in2`, and then these.
    dot_axes : pair of sequences of int
        Axes to sum products over, as `tensordot` does.

    Raises
    ------
    ShapeError
        If the dimensions differ, or in mode "valid" neither is the smaller along all axes.
    InputError
        If the mode is unknown.
    """
    pair = _floating_pair(in1, in2)
    if axes is None and dot_axes == ((), ()):
        return _convolved(pair, mode, "convolve")
    every = tuple(range(pair[0].ndim)), tuple(range(pair[1].ndim))
    return _convolved_along(pair, mode, every if axes is None else axes, dot_axes)


@mirrored
def fftconvolve(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", axes: int | Sequence[int] | None = None
) -> Array:
    """The same as `convolve`: direct sums, without the rounding errors of a Fourier transform.

    The work is the product of the two sizes, where SciPy's grows with n log n. Along axes that
    `axes` leaves out the two are broadcast.
    """
    return _convolved_of_each(_floating_pair(in1, in2), mode, axes, "fftconvolve")


@mirrored
def oaconvolve(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", axes: int | Sequence[int] | None = None
) -> Array:
    """The same as `convolve`; see `fftconvolve`."""
    return _convolved_of_each(_floating_pair(in1, in2), mode, axes, "oaconvolve")


@mirrored
def correlate(in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto") -> Array:
    """The convolution with `in2` reversed along all axes; see `convolve`."""
    x, w = _floating_pair(in1, in2)
    return _convolved((x, snp.flip(w)), mode, "correlate")


@mirrored
def convolve2d(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: ArrayLike = 0,
) -> Array:
    r"""$y_{ij} = \sum_{kl} x_{i-k, j-l} w_{kl}$ of two matrices.

    Beyond its ends `in1` is `fillvalue`, goes on from the other end ("wrap"), or is mirrored
    ("symm"), as `boundary` says.
    """
    said = {"constant_values": fillvalue} if boundary == "fill" else {}
    return _image("convolve2d", _floating_pair(in1, in2), mode, boundary, said)


# -- filters ---------------------------------------------------------------------------------------
@mirrored
def lfilter(
    b: ArrayLike, a: ArrayLike, x: ArrayLike, axis: int = -1, zi: ArrayLike | None = None
) -> Any:
    r"""$a_0 y_n = \sum_k b_k x_{n-k} - \sum_{k>0} a_k y_{n-k}$ along an axis.

    The direct form II, transposed (Oppenheim and Schafer 2010, 6.3), as a scan over the samples.
    Without feedback, and with known sizes, it is a convolution.

    Parameters
    ----------
    b, a : array_like
        The coefficients: vectors of known lengths, numbers or symbols.
    x : array_like
        The samples.
    zi : array_like, optional
        The state before the first sample, as large as x but for `axis`, along which it has one
        element less than the longer of b and a. It broadcasts.

    Raises
    ------
    ShapeError
        If b or a is no vector of a known length, or x has no axis.
    InputError
        If a[0] is the number 0.
    """
    samples, dtype = as_array(x), np.result_type(*[as_array(each).dtype for each in (b, a, x)])
    dtype = dtype if dtype.kind == "f" else np.dtype("float64")
    ahead, back = (coefficients(each, dtype) for each in (b, a))
    if not samples.ndim:
        raise ShapeError("lfilter: a number has no axis to filter along.")
    if back.node.is_constant and back.node.params["value"].flat[0] == 0:
        raise InputError("lfilter: the coefficient a[0] is 0.", mend="Leave leading zeros out.")
    ahead, back = ahead / back[0], back / back[0]
    samples = snp.moveaxis(snp.astype(samples, dtype), axis, 0)
    order = max(len(ahead), len(back)) - 1
    known = all(isinstance(each, int) for each in samples.shape)
    if zi is None and known and samples.size and len(back) == 1:
        shape = (len(ahead), *[1] * (samples.ndim - 1))
        found = _convolved_of_each((samples, snp.reshape(ahead, shape)), "full", 0, "lfilter")
        return snp.moveaxis(found[: samples.shape[0]], 0, axis)
    size = (order, *samples.shape[1:])
    start: Array = snp.zeros(size, dtype)
    if zi is not None:
        given = snp.astype(as_array(zi), dtype)
        start = snp.broadcast_to(snp.moveaxis(given, axis, 0), size)
    state, found = recursive(ahead, back, samples, start)
    found = snp.moveaxis(found, 0, axis)
    return found if zi is None else (found, snp.moveaxis(state, 0, axis))


_BEYOND = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}
_KNOWN = "fill, wrap or symm."


@mirrored
def correlate2d(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: ArrayLike = 0,
) -> Array:
    """The convolution of two matrices with `in2` reversed along both axes; see `convolve2d`."""
    x, w = _floating_pair(in1, in2)
    said = {"constant_values": fillvalue} if boundary == "fill" else {}
    return _image("correlate2d", (x, snp.flip(w)), mode, boundary, said)


def _image(
    name: str, pair: tuple[Array, Array], mode: str, boundary: str, said: dict[str, ArrayLike]
) -> Array:
    """The convolution of two matrices, of which the first is padded as `boundary` says."""
    x, w = pair
    _known_mode(mode, name)
    if x.ndim != 2 or w.ndim != 2:
        raise ShapeError(f"{name}: {show_shape(x.shape)}, {show_shape(w.shape)}: two matrices.")
    if boundary not in _BEYOND:
        raise InputError(f"{name}: the boundary {boundary!r} is not known.", mend=_KNOWN)
    beyond = said.get("constant_values")
    zeros = isinstance(beyond, (int, float)) and beyond == 0
    # Of an even size there are two middles: SciPy's correlation takes the other one.
    other = mode == "same" and name == "correlate2d"
    if mode == "valid" or (zeros and not other):
        return _convolved(pair, mode, name)
    sizes: list[Any] = [*w.shape]
    widths = [(size - 1, size - 1) for size in sizes]
    full = _convolved((snp.pad(x, widths, _BEYOND[boundary], **said), w), "valid", name)
    if mode == "full":
        return full
    i, j = (size // 2 if other else (size - 1) // 2 for size in sizes)
    extents: list[Any] = [*x.shape]
    return full[i : i + extents[0], j : j + extents[1]]


def _floating_pair(in1: ArrayLike, in2: ArrayLike) -> tuple[Array, Array]:
    x, w = as_array(in1), as_array(in2)
    dtype = np.result_type(x.dtype, w.dtype)
    return snp.astype(x, dtype), snp.astype(w, dtype)


def _convolved(pair: tuple[Array, Array], mode: str, name: str) -> Array:
    x, w = pair
    _known_mode(mode, name)
    if x.ndim != w.ndim or any(not isinstance(n, int) for n in (*x.shape, *w.shape)):
        raise ShapeError(
            f"{name}: shapes {show_shape(x.shape)} and {show_shape(w.shape)}.",
            mend="Give both as many dimensions, of sizes that are numbers.",
        )
    if not x.ndim:
        return x * w
    return _in_layers(x[None, None], w[None, None], mode, name)[0, 0]


def _in_layers(x: Array, w: Array, mode: str, name: str, groups: int = 1) -> Array:
    """Of `x`, of axes (N, C, ...), and `w`, (O, C / groups, ...): the result is (N, O, ...)."""
    extents, sizes = x.shape[2:], w.shape[2:]
    if not x.size or not w.size:
        return snp.zeros((x.shape[0], w.shape[0], *(0 for _ in extents)), x.dtype)
    pairs: list[tuple[Any, Any]] = list(zip(extents, sizes, strict=True))
    fits, turned = all(a >= b for a, b in pairs), all(a <= b for a, b in pairs)
    if mode == "valid" and not fits and not turned:
        raise ShapeError(
            f"{name}: of {show_shape(extents)} and {show_shape(sizes)} neither lies within "
            'the other, as mode "valid" needs.'
        )
    if mode == "valid" and fits:
        return snp.conv(x, _flipped(w), groups=groups)
    if groups == 1 and turned and not fits:
        # Convolution is commutative; the smaller operand is the kernel.
        whole = snp.swapaxes(_in_layers(w, x, "valid" if mode == "valid" else "full", name), 0, 1)
    else:
        whole = snp.conv(x, _flipped(w), padding=[(b - 1, b - 1) for _, b in pairs], groups=groups)
        if mode == "valid":
            return _cut(whole, [(a - 1, b - a + 1) for a, b in pairs])
    if mode != "same":
        return whole
    return _cut(whole, [((b - 1) // 2, a) for a, b in pairs])


def _flipped(w: Array) -> Array:
    return snp.flip(w, axis=tuple(range(2, w.ndim)))


def _cut(x: Array, places: Sequence[tuple[int, int]]) -> Array:
    """From a start on so many elements of each axis but the first two."""
    return x[(slice(None), slice(None), *[slice(a, a + size) for a, size in places])]


def _convolved_along(pair: tuple[Array, Array], mode: str, axes: Axes, dot_axes: Axes) -> Array:
    """Along pairs of axes, summed over other pairs; any rest of axes is an outer product."""
    _known_mode(mode, "convolve")
    laid: list[Array] = []
    kept: list[tuple[Any, ...]] = []
    for x, along, summed in zip(pair, axes, dot_axes, strict=True):
        moved = [each % x.ndim for each in (*summed, *along)]
        rest = [each for each in range(x.ndim) if each not in moved]
        kept.append(tuple(x.shape[each] for each in rest))
        terms = prod(x.shape[each] for each in summed)
        ends = tuple(x.shape[each] for each in along)
        laid.append(snp.transpose(x, (*rest, *moved)).reshape(prod(kept[-1]), terms, *ends))
    x, w = laid
    if x.ndim == 2:
        return (x @ w.T).reshape(*kept[0], *kept[1])
    found = _in_layers(x, w, mode, "convolve")
    return found.reshape(*kept[0], *kept[1], *found.shape[2:])


def _convolved_of_each(
    pair: tuple[Array, Array], mode: str, axes: int | Sequence[int] | None, name: str
) -> Array:
    """Along some axes; along the others the two are broadcast."""
    x, w = pair
    if axes is None or x.ndim != w.ndim:
        return _convolved(pair, mode, name)
    _known_mode(mode, name)
    along = [each % x.ndim for each in ((axes,) if isinstance(axes, int) else axes)]
    rest = [each for each in range(x.ndim) if each not in along]
    if not along:
        return x * w
    shapes: list[Any] = [tuple(a.shape[each] for each in rest) for a in pair]
    batch = np.broadcast_shapes(*shapes)
    rows: list[Array] = []
    for a in pair:
        ends = tuple(a.shape[each] for each in along)
        whole = snp.broadcast_to(snp.transpose(a, (*rest, *along)), (*batch, *ends))
        rows.append(whole.reshape(prod(batch), *ends))
    found = _in_layers(rows[0][None], rows[1][:, None], mode, name, prod(batch))
    return snp.moveaxis(
        found.reshape(*batch, *found.shape[2:]), tuple(range(len(rest), x.ndim)), along
    )


def _known_mode(mode: str, name: str) -> None:
    if mode not in ("full", "valid", "same"):
        raise InputError(f"{name}: the mode {mode!r} is not known.", mend="full, valid or same.")


def __getattr__(name: str) -> Any:
    return of_numbers("signal", name, __all__)
