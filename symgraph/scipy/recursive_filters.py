"""`scipy.signal`'s filters with feedback on symbols: in sections, and forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as snp
from ..array import Array, ArrayLike
from ..errors import InputError, ShapeError
from ..ir.dims import show_shape
from ..ops.composites import as_array
from ..ops.loops import scan
from .names.mirrored import mirrored_from

__all__ = [
    "coefficients",
    "filtfilt",
    "float_dtype",
    "lfilter_zi",
    "recursive",
    "samples_along",
    "sosfilt",
    "sosfilt_zi",
    "sosfiltfilt",
]


_of_signal = mirrored_from("scipy.signal")


def coefficients(values: ArrayLike, dtype: np.dtype[Any]) -> Array:
    """A filter's coefficients as a vector.

    Raises
    ------
    ShapeError
        If they are no vector of a known length.
    """
    found = snp.atleast_1d(snp.astype(as_array(values), dtype))
    if found.ndim != 1 or not isinstance(found.shape[0], int) or not found.shape[0]:
        raise ShapeError(
            f"lfilter: coefficients {show_shape(found.shape)}.",
            mend="Give b and a as vectors of known lengths, of one element or more.",
        )
    return found


def recursive(ahead: Array, back: Array, samples: Array, start: Array) -> tuple[Array, Array]:
    """The state after the last sample, and the outputs, both with the filtered axis first.

    The direct form II, transposed, of coefficients over a[0].
    """
    order = start.shape[0]
    if not order:
        return start, ahead[0] * samples
    columns = [
        snp.reshape(snp.pad(each, (0, order + 1 - len(each)))[1:], (order, *[1] * (start.ndim - 1)))
        for each in (ahead, back)
    ]

    def step(state: Array, sample: Array) -> tuple[Array, Array]:
        out = ahead[0] * sample + state[0]
        moved = snp.concatenate([state[1:], snp.zeros_like(state[:1])], axis=0)
        return moved + columns[0] * sample - columns[1] * out, out

    return scan(step, start, samples)


# -- in sections -----------------------------------------------------------------------------------
def float_dtype(*arrays: ArrayLike) -> np.dtype[Any]:
    """The dtype of the arrays together; float64 of whole numbers."""
    found = np.result_type(*[as_array(each).dtype for each in arrays])
    return found if found.kind == "f" else np.dtype("float64")


def _sections(name: str, sos: ArrayLike, dtype: np.dtype[Any]) -> list[tuple[Array, Array]]:
    """The coefficients b and a of each section, over a[0]."""
    rows = snp.astype(as_array(sos), dtype)
    if rows.ndim != 2 or not isinstance(rows.shape[0], int) or rows.shape[1] != 6:
        raise ShapeError(
            f"{name}: sections of shape {show_shape(rows.shape)}.",
            mend="sos has a row of six coefficients for each section, in a known number.",
        )
    return [(row[:3] / row[3], row[3:] / row[3]) for row in (rows[k] for k in range(rows.shape[0]))]


def samples_along(name: str, x: ArrayLike, axis: int, dtype: np.dtype[Any]) -> Array:
    """Samples in that dtype, with the axis first."""
    samples = as_array(x)
    if not samples.ndim:
        raise ShapeError(f"{name}: a number has no axis to go along.")
    return snp.moveaxis(snp.astype(samples, dtype), axis, 0)


@_of_signal
def sosfilt(sos: ArrayLike, x: ArrayLike, axis: int = -1, zi: ArrayLike | None = None) -> Any:
    """The filter of second-order sections along an axis, one after another; see `lfilter`."""
    dtype = float_dtype(sos, x) if zi is None else float_dtype(sos, x, zi)
    sections = _sections("sosfilt", sos, dtype)
    samples = samples_along("sosfilt", x, axis, dtype)
    size = (len(sections), 2, *samples.shape[1:])
    start: Array = snp.zeros(size, dtype)
    place = axis % samples.ndim + 1
    if zi is not None:
        given = snp.moveaxis(snp.astype(as_array(zi), dtype), place, 1)
        start = snp.broadcast_to(given, size)
    states: list[Array] = []
    for (ahead, back), state in zip(
        sections, (start[k] for k in range(len(sections))), strict=True
    ):
        after, samples = recursive(ahead, back, samples, state)
        states.append(after)
    found = snp.moveaxis(samples, 0, axis)
    return found if zi is None else (found, snp.moveaxis(snp.stack(states), 1, place))


# -- states of a constant input --------------------------------------------------------------------
def _steady(ahead: Array, back: Array) -> Array:
    """The state in which a constant input of ones, filtered for long, has left the filter."""
    size = max(len(ahead), len(back))
    ahead, back = (snp.pad(each, (0, size - len(each))) for each in (ahead, back))
    rest = ahead[1:] - back[1:] * ahead[0]
    first = snp.sum(rest) / snp.sum(back)
    # The state k is what is still to come: the tails of both sums.
    before = snp.concatenate([snp.zeros(min(size - 1, 1), rest.dtype), snp.cumsum(rest)[:-1]])
    return snp.cumsum(back)[:-1] * first - before


@_of_signal
def lfilter_zi(b: ArrayLike, a: ArrayLike) -> Array:
    """The state `zi` of `lfilter` after a constant input of ones, for long; NaN if it grows."""
    dtype = float_dtype(b, a)
    ahead, back = (coefficients(each, dtype) for each in (b, a))
    return _steady(ahead / back[0], back / back[0])


@_of_signal
def sosfilt_zi(sos: ArrayLike) -> Array:
    """The state `zi` of `sosfilt` after a constant input of ones, for long."""
    scale: Any = 1.0
    states: list[Array] = []
    for ahead, back in _sections("sosfilt_zi", sos, float_dtype(sos)):
        states.append(scale * _steady(ahead, back))
        scale = scale * snp.sum(ahead) / snp.sum(back)
    return snp.stack(states)


# -- forward and backward --------------------------------------------------------------------------
_PADDINGS = ("odd", "even", "constant")


def _padded(samples: Array, padtype: str, edge: int) -> Array:
    """The samples with `edge` more at each end: turned about it, mirrored, or the last again."""
    steps = np.zeros(edge, int) if padtype == "constant" else np.arange(1, edge + 1)
    before = snp.take(samples, steps[::-1], axis=0)
    after = snp.take(samples, -1 - steps, axis=0)
    if padtype == "odd":
        before, after = 2 * samples[0] - before, 2 * samples[-1] - after
    return snp.concatenate([before, samples, after], axis=0)


def _both_ways(
    name: str,
    filtered: Callable[[Array, Array], Array],
    samples: Array,
    padtype: str | None,
    padlen: int,
) -> Array:
    """The filter of the padded samples, and of the result from its end, without the padding.

    `filtered` gets the samples, and the first of them, whose steady state it begins with.
    """
    if padtype is not None and padtype not in _PADDINGS:
        raise InputError(f"{name}: padtype={padtype!r} is not known.", mend="odd, even, constant.")
    size = samples.shape[0]
    edge = 0 if padtype is None else padlen
    if edge and isinstance(size, int) and size <= edge:
        raise InputError(
            f"{name}: {size} samples for a padlen of {edge}.", mend="Give a smaller one."
        )
    if edge:
        samples = _padded(samples, str(padtype), edge)
    once = filtered(samples, samples[0])
    twice = snp.flip(filtered(snp.flip(once, 0), once[-1]), 0)
    return twice[edge:-edge] if edge else twice


@_of_signal
def filtfilt(
    b: ArrayLike,
    a: ArrayLike,
    x: ArrayLike,
    axis: int = -1,
    padtype: str | None = "odd",
    padlen: int | None = None,
) -> Array:
    """The filter forward and then backward along an axis, without a delay; see `lfilter`."""
    dtype = float_dtype(b, a, x)
    ahead, back = (coefficients(each, dtype) for each in (b, a))
    ahead, back = ahead / back[0], back / back[0]
    samples = samples_along("filtfilt", x, axis, dtype)
    steady = _steady(ahead, back)
    column = (len(steady), *[1] * (samples.ndim - 1))

    def filtered(samples: Array, first: Array) -> Array:
        return recursive(ahead, back, samples, snp.reshape(steady, column) * first)[1]

    edge = 3 * max(len(ahead), len(back)) if padlen is None else padlen
    return snp.moveaxis(_both_ways("filtfilt", filtered, samples, padtype, edge), 0, axis)


@_of_signal
def sosfiltfilt(
    sos: ArrayLike,
    x: ArrayLike,
    axis: int = -1,
    padtype: str | None = "odd",
    padlen: int | None = None,
) -> Array:
    """The filter of second-order sections forward and then backward, without a delay.

    By default `padlen` depends on which coefficients are 0, so that symbols need one.
    """
    dtype = float_dtype(sos, x)
    rows = as_array(sos)
    sections = _sections("sosfiltfilt", sos, dtype)
    samples = samples_along("sosfiltfilt", x, axis, dtype)
    steady = sosfilt_zi(snp.astype(rows, dtype))
    column = (2, *[1] * (samples.ndim - 1))

    def filtered(samples: Array, first: Array) -> Array:
        for k, (ahead, back) in enumerate(sections):
            state = snp.reshape(steady[k], column) * first
            samples = recursive(ahead, back, samples, state)[1]
        return samples

    edge = padlen if padlen is not None or padtype is None else _padding_of(rows)
    found = _both_ways("sosfiltfilt", filtered, samples, padtype, edge or 0)
    return snp.moveaxis(found, 0, axis)


def _padding_of(sos: Array) -> int:
    """Three times the order that is there, and one, as SciPy counts it."""
    if not sos.node.is_constant:
        raise InputError(
            "sosfiltfilt: how many samples to pad depends on which coefficients are 0, and they "
            "are symbols.",
            mend="Give padlen, such as 3 * (2 * len(sos) + 1).",
        )
    rows = sos.node.params["value"]
    none = min(np.count_nonzero(rows[:, 2] == 0), np.count_nonzero(rows[:, 5] == 0))
    return 3 * (2 * len(rows) + 1 - int(none))
