"""Numbers evenly spaced between ends that may be symbolic, and indices of grids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..array import FUNCTIONS, Array, ArrayLike
from ..errors import DTypeError, ShapeError, TraceError
from ..ir.dims import ShapeLike, fixed, show_shape
from .composites import as_array, composite
from .creation import full_like
from .movement import expand_dims, moveaxis, reshape

__all__ = [
    "diag_indices_from",
    "empty_like",
    "geomspace",
    "isneginf",
    "isposinf",
    "ix_",
    "linspace",
    "logspace",
    "ravel_multi_index",
    "unravel_index",
]


# -- evenly spaced ---------------------------------------------------------------------------------
@composite(np.linspace)
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: object = None,
) -> Any:
    """`num` evenly spaced numbers from `start` to `stop`, on a new axis; both may be arrays."""
    ends = [
        each if isinstance(each, (Array, int, float)) else np.asarray(each)
        for each in (start, stop)
    ]
    kind = np.result_type(*[each.dtype if isinstance(each, Array) else each for each in ends], 1.0)
    start, stop = (FUNCTIONS["astype"](as_array(each), kind) for each in ends)
    if num < 0:
        raise ShapeError(f"linspace: num is {num}; it must be 0 or more.")
    parts = num - 1 if endpoint else num
    span = stop - start
    places = np.arange(num, dtype=kind) / max(parts, 1)
    lifted, back = expand_dims(start, -1), expand_dims(stop, -1)
    # From the nearer end, so that both ends are met exactly.
    upper = back - expand_dims(span, -1) * (1 - places)
    lower = lifted + expand_dims(span, -1) * places
    found = FUNCTIONS["where"](places < 0.5, lower, upper) if parts else lower
    found = _spaced(found, dtype, axis)
    if not retstep:
        return found
    return found, span / parts if parts > 0 else span * np.nan


def _spaced(x: Array, dtype: DTypeLike | None, axis: int) -> Array:
    if dtype is not None:
        dtype = np.dtype(dtype)
        x = FUNCTIONS["floor"](x) if dtype.kind in "iu" else x
        x = FUNCTIONS["astype"](x, dtype)
    return moveaxis(x, -1, axis)


@composite(np.logspace)
def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    base: ArrayLike = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """Powers of `base` whose exponents are evenly spaced from `start` to `stop`."""
    powers = FUNCTIONS["power"](base, linspace(start, stop, num, endpoint, axis=axis))
    return powers if dtype is None else FUNCTIONS["astype"](powers, dtype)


@composite(np.geomspace)
def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """A geometric sequence of `num` numbers from `start` to `stop`, which have one sign."""
    start, stop = as_array(start), as_array(stop)
    exponents = linspace(0.0, FUNCTIONS["log"](stop / start), num, endpoint)
    found = moveaxis(start * FUNCTIONS["exp"](exponents), 0, axis)
    return found if dtype is None else FUNCTIONS["astype"](found, dtype)


@composite(np.empty_like, array=True)
def empty_like(
    x: ArrayLike,
    dtype: DTypeLike | None = None,
    *_layout: object,
    shape: ShapeLike | None = None,
    **_named: object,
) -> Array:
    """Zeros in the shape of `x`: a symbolic array has no uninitialized memory."""
    return full_like(x, 0, dtype, shape)


# -- infinities of one sign ------------------------------------------------------------------------
@composite(np.isposinf)
def isposinf(x: ArrayLike) -> Array:
    """Where elements are +inf."""
    return as_array(x) == np.inf


@composite(np.isneginf)
def isneginf(x: ArrayLike) -> Array:
    """Where elements are -inf."""
    return as_array(x) == -np.inf


# -- indices ---------------------------------------------------------------------------------------
@composite(np.ix_, view=True)
def ix_(*vectors: ArrayLike) -> tuple[Array, ...]:
    """Index arrays of a grid: each vector of integers along its own axis."""
    found: list[Array] = []
    for place, each in enumerate(vectors):
        vector = as_array(each)
        if vector.ndim != 1:
            raise ShapeError(f"ix_: vectors are needed, not shape {show_shape(vector.shape)}.")
        if vector.dtype.kind == "b":
            raise TraceError(
                "ix_: the number of elements that a mask selects is not known before it runs.",
                mend="Give positions, or a constant mask.",
            )
        before, behind = (1,) * place, (1,) * (len(vectors) - place - 1)
        found.append(reshape(vector, (*before, *vector.shape, *behind)))
    return tuple(found)


@composite(np.unravel_index)
def unravel_index(indices: ArrayLike, shape: ShapeLike, order: str = "C") -> tuple[Array, ...]:
    """The positions along each axis of positions in the raveled array; the range is not checked."""
    indices = as_array(indices)
    if indices.dtype.kind not in "iu":
        raise DTypeError(f"unravel_index: positions are integers, not {indices.dtype}.")
    dims = _numbers("unravel_index", shape)
    found: list[Array] = []
    for dim in dims if order == "F" else reversed(dims):
        found.append(indices % dim)
        indices = indices // dim
    return tuple(found if order == "F" else reversed(found))


@composite(np.ravel_multi_index)
def ravel_multi_index(
    multi_index: Iterable[ArrayLike], dims: ShapeLike, mode: str = "raise", order: str = "C"
) -> Array:
    """The positions in the raveled array of positions along each axis.

    `mode` wraps or clips them. "raise" does not check symbolic positions.
    """
    sizes = _numbers("ravel_multi_index", dims)
    places = [as_array(each) for each in multi_index]
    if len(places) != len(sizes):
        raise ShapeError(f"ravel_multi_index: {len(places)} positions for {len(sizes)} axes.")
    if mode == "wrap":
        places = [each % size for each, size in zip(places, sizes, strict=True)]
    elif mode == "clip":
        places = [
            FUNCTIONS["clip"](each, 0, size - 1) for each, size in zip(places, sizes, strict=True)
        ]
    pairs = list(zip(places, sizes, strict=True))
    found: Any = 0
    for place, size in pairs if order == "C" else reversed(pairs):
        found = found * size + place
    return found


def _numbers(name: str, shape: Any) -> tuple[int, ...]:
    sizes: Any = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if not fixed(sizes):
        raise ShapeError(f"{name}: dimensions are numbers, not {show_shape(sizes)}.")
    return tuple(int(each) for each in sizes)


@composite(np.diag_indices_from)
def diag_indices_from(x: ArrayLike) -> Any:
    """The indices of the main diagonal, as constant arrays."""
    shape: Any = as_array(x).shape
    if len(shape) < 2 or not fixed(shape) or len(set(shape)) != 1:
        raise ShapeError(
            f"diag_indices_from: equal numbers are needed, not shape {show_shape(shape)}."
        )
    return np.diag_indices(shape[0], len(shape))
