"""`np.pad` with every mode of NumPy's, but not with a user's function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike
from ..errors import DTypeError, ShapeError, TraceError
from ..ir.avals import normal_axis
from ..ir.dims import Dim, normal, show_shape
from .composites import as_array, composite
from .creation import arange, dimension
from .gather import gather
from .indexing import embed
from .joining import concatenate
from .movement import broadcast_to, moveaxis

__all__ = ["pad"]

Pair = tuple[Any, Any]


@composite(np.pad, array=True)
def pad(x: ArrayLike, pad_width: object, mode: str = "constant", **keywords: object) -> Array:
    """The array with elements added before it and behind it along each axis.

    Parameters
    ----------
    x : array_like
    pad_width : int, pair, a pair for each axis, or a dict from axes to either
    mode : str
        `constant` (with `constant_values`, which may be symbolic), `edge`, `reflect` and
        `symmetric` (with `reflect_type`), `wrap`, `linear_ramp` (with `end_values`), `maximum`,
        `minimum`, `mean`, `median` (with `stat_length`), or `empty`, which gives zeros.

    Raises
    ------
    ShapeError
        If a width is negative or does not fit the axes, or nothing is there to repeat.
    TraceError
        If the mode is a function, or needs a length that is not known.
    """
    x = as_array(x)
    widths = _pairs(_by_axis(pad_width, x.ndim), x.ndim, "pad_width")
    if [0 for pair in widths for each in pair if each < 0]:
        raise ShapeError(f"pad: widths cannot be negative: {pad_width!r}.")
    if not isinstance(mode, str) or mode not in _MODES:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TraceError(
            f"pad: mode={mode!r} cannot be traced.", mend=f"Use one of {', '.join(_MODES)}."
        )
    allowed = _MODES[mode]
    wrong = [each for each in keywords if each not in allowed]
    if wrong:
        raise TraceError(f"pad: mode {mode!r} takes no argument {wrong[0]}=.")
    if not [0 for pair in widths if pair != (0, 0)]:
        return x
    if mode in ("constant", "empty"):
        return _constant(x, widths, keywords.get("constant_values", 0))
    for axis, width in enumerate(widths, -x.ndim):
        if width != (0, 0):
            x = _along(x, axis, width, mode, keywords)
    return x


_MODES: dict[str, tuple[str, ...]] = {
    "constant": ("constant_values",),
    "empty": (),
    "edge": (),
    "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",),
    "wrap": (),
    "linear_ramp": ("end_values",),
    "maximum": ("stat_length",),
    "minimum": ("stat_length",),
    "mean": ("stat_length",),
    "median": ("stat_length",),
}


def _by_axis(widths: object, ndim: int) -> Any:
    """The widths of all axes, given those of some axes by number."""
    if not isinstance(widths, Mapping):
        return widths
    found: list[Any] = [(0, 0)] * ndim
    for axis, width in widths.items():
        place = normal_axis(axis, ndim)
        found[place] = (width, width) if isinstance(width, int) else tuple(width)
    return found


def _pairs(value: object, ndim: int, name: str) -> list[Pair]:
    """One pair for each axis, broadcast as in NumPy."""
    try:
        wide = np.broadcast_to(np.asarray(value), (ndim, 2))
    except ValueError:
        raise ShapeError(f"pad: {name}={value!r} does not fit {ndim} axes.") from None
    if name != "end_values" and name != "constant_values" and wide.dtype.kind not in "iu":
        raise DTypeError(f"pad: {name} holds integers, not {wide.dtype}.")
    return [(one, other) for one, other in wide.tolist()]


# -- a constant ------------------------------------------------------------------------------------
def _constant(x: Array, widths: list[Pair], value: object) -> Array:
    if not isinstance(value, Array):
        values = _pairs(value, x.ndim, "constant_values")
        if not [0 for pair in values if pair != (0, 0)]:
            shape = [normal(dim + b + a) for dim, (b, a) in zip(x.shape, widths, strict=True)]
            return embed(x, shape, tuple(slice(b, -a or None) for b, a in widths))
    elif value.ndim:
        raise ShapeError(f"pad: a symbolic value is a number, not {show_shape(value.shape)}.")
    else:
        values = [(value, value)] * x.ndim
    for axis, (width, pair) in enumerate(zip(widths, values, strict=True), -x.ndim):
        ends = [
            broadcast_to(FUNCTIONS["astype"](as_array(each), x.dtype), _with(x, axis, size))
            for each, size in zip(pair, width, strict=True)
        ]
        x = _between(ends, x, width, axis)
    return x


def _between(ends: list[Array], x: Array, width: Pair, axis: int) -> Array:
    """The array joined with the parts before and behind it, if they are not empty."""
    parts = [part for part, size in ((ends[0], width[0]), (x, 1), (ends[1], width[1])) if size]
    return concatenate(parts, axis=axis) if len(parts) > 1 else x


def _with(x: Array, axis: int, size: Dim) -> tuple[Dim, ...]:
    return tuple([size if i == axis else dim for i, dim in enumerate(x.shape, -x.ndim)])


# -- elements of the array -------------------------------------------------------------------------
def _along(x: Array, axis: int, width: Pair, mode: str, keywords: Mapping[str, Any]) -> Array:
    size = x.shape[axis]
    if size == 0:
        raise ShapeError(f"pad: axis {axis} of shape {show_shape(x.shape)} has nothing to repeat.")
    if mode in _STATISTICS:
        return _of_statistics(x, axis, width, mode, keywords.get("stat_length"))
    if mode == "linear_ramp" or keywords.get("reflect_type", "even") == "odd":
        return _of_weights(x, axis, width, mode, keywords)
    if isinstance(size, int):
        setting: Any = mode  # the stub knows each mode by name only
        return gather(x, np.pad(np.arange(size), width, mode=setting), axis=axis)
    if mode == "edge":
        return _of_edges(x, axis, width)
    places = arange(normal(size + width[0] + width[1])) - width[0]
    return gather(x, _FOLDED[mode](places, dimension(size)), axis=axis)


def _symmetric(places: Array, n: Array) -> Any:
    places = places % (2 * n)
    return FUNCTIONS["minimum"](places, 2 * n - 1 - places)


def _reflected(places: ArrayLike, n: Array) -> Any:
    period = FUNCTIONS["maximum"](2 * n - 2, 1)
    places = places % period
    return FUNCTIONS["minimum"](places, period - places)


_FOLDED: dict[str, Callable[[Any, Any], Any]] = {
    "wrap": lambda places, n: places % n,
    "symmetric": _symmetric,
    "reflect": _reflected,
}


def _part(x: Array, axis: int, part: slice) -> Array:
    return x[(Ellipsis, part, *[slice(None)] * (-axis - 1))]


def _of_edges(x: Array, axis: int, width: Pair) -> Array:
    first, last = (
        FUNCTIONS["expand_dims"](x[(Ellipsis, place, *[slice(None)] * (-axis - 1))], axis)
        for place in (0, -1)
    )
    ends = [
        broadcast_to(each, _with(x, axis, size))
        for each, size in zip((first, last), width, strict=True)
    ]
    return _between(ends, x, width, axis)


def _of_weights(x: Array, axis: int, width: Pair, mode: str, keywords: Mapping[str, Any]) -> Array:
    """Modes that are linear in the array: a matrix applied along the axis, plus a constant."""
    size = x.shape[axis]
    if not isinstance(size, int):
        raise TraceError(
            f"pad: mode {mode!r} of this kind needs a number of elements, not {size}.",
            mend="Give the dimension a size.",
        )
    if mode == "linear_ramp" and x.dtype.kind != "f":
        raise DTypeError("pad: a linear ramp of integers rounds; convert it with .astype(float).")
    settings: dict[str, Any] = {**keywords, "mode": mode}
    if "end_values" in settings:
        settings["end_values"] = _pairs(settings["end_values"], x.ndim, "end_values")[axis]
    rest = np.pad(np.zeros(size), width, **settings)
    rows = np.stack([np.pad(row, width, **settings) - rest for row in np.eye(size)])
    found = moveaxis(x, axis, -1) @ rows.astype(x.dtype)
    found = found + rest.astype(x.dtype) if rest.any() else found
    return moveaxis(found, -1, axis)


_STATISTICS = {"maximum": "max", "minimum": "min", "mean": "mean", "median": "median"}


def _of_statistics(x: Array, axis: int, width: Pair, mode: str, lengths: object) -> Array:
    if x.dtype.kind != "f" and mode in ("mean", "median"):
        raise DTypeError(f"pad: a {mode} of integers rounds; convert it with .astype(float).")
    statistic = FUNCTIONS[_STATISTICS[mode]]
    pair = (None, None) if lengths is None else _pairs(lengths, x.ndim, "stat_length")[axis]
    if 0 in pair:
        raise ShapeError("pad: stat_length is at least 1.")
    before = _part(x, axis, slice(None, pair[0]))
    behind = _part(x, axis, slice(None if pair[1] is None else -pair[1], None))
    ends = [
        broadcast_to(statistic(each, axis=axis, keepdims=True), _with(x, axis, size))
        for each, size in zip((before, behind), width, strict=True)
    ]
    return _between(ends, x, width, axis)
