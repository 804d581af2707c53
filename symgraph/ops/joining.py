"""Joining, cutting and repeating arrays: concatenate, and what is made of it and of slices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, apply
from ..avals import Aval, normal_axes
from ..dims import Shape, known_equal, normal, show_shape
from ..errors import ShapeError, TraceError
from ..op import Op, no_flops, register
from .carrying import carries_off_axis
from .composites import as_array, composite, listed, naming_lines, refuse
from .families import function, same_dtype
from .movement import broadcast_to, expand_dims, facts_of_elements, ravel, reshape
from .slices import is_expression

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "concatenate",
    "flip",
    "hstack",
    "repeat",
    "roll",
    "split",
    "stack",
    "tile",
    "vstack",
]


# -- concatenate ---------------------------------------------------------------------------------
def _normal_concatenate(avals: tuple[Aval, ...], *, axis: Any) -> dict[str, Any]:
    if not avals or not avals[0].ndim:
        raise ShapeError(
            "arrays of at least one dimension are needed, and at least one of them.",
            mend="Use np.stack to join 0-d arrays.",
        )
    return {"axis": normal_axes(axis, avals[0].ndim)[0]}


def _infer_concatenate(*avals: Aval, axis: int) -> Aval:
    first = avals[0]
    joined: Any = 0
    for aval in avals:
        others = [i for i in range(-first.ndim, 0) if i != axis]
        same = aval.ndim == first.ndim
        if not same or [i for i in others if not known_equal(aval.shape[i], first.shape[i])]:
            raise ShapeError(
                f"shapes {show_shape(first.shape)} and {show_shape(aval.shape)} "
                f"do not join along axis {axis}.",
                mend="All dimensions but that one must be equal.",
            )
        joined = joined + aval.shape[axis]
    shape = list(first.shape)
    shape[axis] = normal(joined)
    return Aval(first.dtype, tuple(shape))


def _vjp_concatenate(ct: Array, out: Array, *operands: Array, axis: int, index: int) -> Array:
    start: Any = 0
    for operand in operands[:index]:
        start = start + operand.shape[axis]
    stop = normal(start + operands[index].shape[axis])
    rest = (slice(None),) * (-axis - 1)
    return ct[(Ellipsis, slice(normal(start), stop), *rest)]


CONCATENATE = register(
    Op(
        "concatenate",
        infer=_infer_concatenate,
        kernel=lambda xp, *arrays, axis: xp.concatenate(arrays, axis=axis),
        vjp=_vjp_concatenate,
        carries=carries_off_axis,
        normalize=_normal_concatenate,
        promote=same_dtype,
        flops=no_flops,
        count=0,
        facts=lambda *known, axis: facts_of_elements(*known),
        doc="Arrays joined along an axis they have (None: raveled first).",
    )
)


@naming_lines
def _concatenate(arrays: Sequence[Any], axis: Any = 0, **refused: Any) -> Array:
    refuse("concatenate", refused)
    operands = [as_array(each) for each in arrays]
    if axis is None:
        return apply(CONCATENATE, *[ravel(each) for each in operands], axis=0)
    return apply(CONCATENATE, *operands, axis=axis)


concatenate = function(CONCATENATE, _concatenate, np.concatenate)
FUNCTIONS["concat"] = concatenate


@composite(np.stack)
def stack(arrays: Sequence[Any], axis: int = 0, **refused: Any) -> Array:
    """Arrays of one shape joined along a new axis."""
    refuse("stack", refused)
    operands = [as_array(each) for each in arrays]
    for each in operands[1:]:
        if not same_shape(each.shape, operands[0].shape):
            raise ShapeError(
                f"stack: {show_shape(each.shape)} differs from {show_shape(operands[0].shape)}.",
                mend="Arrays that are stacked have one shape.",
            )
    return concatenate([expand_dims(each, axis) for each in operands], axis=axis)


def same_shape(one: Shape, other: Shape) -> bool:
    """Whether two shapes are known to be equal."""
    return len(one) == len(other) and not [
        0 for a, b in zip(one, other, strict=True) if not known_equal(a, b)
    ]


@composite(np.atleast_1d)
def atleast_1d(x: Any) -> Array:
    """With one axis at least."""
    x = as_array(x)
    return x if x.ndim else reshape(x, (1,))


@composite(np.atleast_2d)
def atleast_2d(x: Any) -> Array:
    """With two axes at least; a vector becomes a row."""
    x = as_array(x)
    return x if x.ndim >= 2 else reshape(x, (1, -1))


@composite(np.hstack)
def hstack(arrays: Sequence[Any]) -> Array:
    """Joined along the second axis, vectors along their only one."""
    operands = [atleast_1d(each) for each in arrays]
    return concatenate(operands, axis=0 if operands[0].ndim == 1 else 1)


@composite(np.vstack)
def vstack(arrays: Sequence[Any]) -> Array:
    """Joined along the first axis, vectors as rows."""
    return concatenate([atleast_2d(each) for each in arrays], axis=0)


# -- repetition ----------------------------------------------------------------------------------
@composite(np.tile)
def tile(x: Any, reps: Any) -> Array:
    """The whole array repeated `reps` times along each axis."""
    x = as_array(x)
    times = listed(reps)
    ndim = max(x.ndim, len(times))
    shape = [1] * (ndim - x.ndim) + list(x.shape)
    times = [1] * (ndim - len(times)) + times
    pairs = [entry for dim in shape for entry in (1, dim)]
    wide = [entry for dim, n in zip(shape, times, strict=True) for entry in (n, dim)]
    joined = [n * dim for dim, n in zip(shape, times, strict=True)]
    return reshape(broadcast_to(reshape(x, tuple(pairs)), tuple(wide)), tuple(joined))


@composite(np.repeat)
def repeat(x: Any, repeats: Any, axis: int | None = None) -> Array:
    """Each element repeated `repeats` times along an axis (None: raveled first)."""
    x = as_array(x)
    if not isinstance(repeats, (int, np.integer)):
        raise TraceError(
            "repeat: one number of repeats can be traced, not one for each element.",
            mend="Use np.take with the repeated positions.",
        )
    if axis is None:
        x, axis = ravel(x), 0
    elif not x.ndim:
        x = ravel(x)  # as NumPy does: a number has one axis here
    (place,) = normal_axes(axis, x.ndim)
    tall = expand_dims(x, x.ndim + place + 1)
    wide = list(tall.shape)
    wide[x.ndim + place + 1] = int(repeats)
    joined = list(x.shape)
    joined[place] = normal(joined[place] * int(repeats))
    return reshape(broadcast_to(tall, tuple(wide)), tuple(joined))


# -- slices put together ----------------------------------------------------------------------
@composite(np.flip)
def flip(x: Any, axis: Any = None) -> Array:
    """Elements in reverse order along `axis` (None: along all)."""
    x = as_array(x)
    axes = normal_axes(axis, x.ndim)
    return x[tuple(slice(None, None, -1 if i in axes else 1) for i in range(-x.ndim, 0))]


@composite(np.roll)
def roll(x: Any, shift: int, axis: int | None = None) -> Array:
    """Elements moved `shift` places along `axis`, the last ones to the front."""
    x = as_array(x)
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    (place,) = normal_axes(axis, x.ndim)
    size = x.shape[place]
    rest = (slice(None),) * (-place - 1)
    by = (
        shift % size if isinstance(size, int) and size else int(shift) if is_expression(size) else 0
    )
    if not by:
        return x
    parts = [x[(Ellipsis, slice(-by, None), *rest)], x[(Ellipsis, slice(None, -by), *rest)]]
    return concatenate(parts, axis=axis)


@composite(np.split)
def split(x: Any, sections: Any, axis: int = 0) -> list[Array]:
    """Parts along `axis`: so many equal ones, or cut before the given positions."""
    x = as_array(x)
    (place,) = normal_axes(axis, x.ndim)
    size = x.shape[place]
    if isinstance(sections, (int, np.integer)):
        if not isinstance(size, int) or size % int(sections):
            raise ShapeError(f"split: {size} elements do not divide into {sections} equal parts.")
        width = size // int(sections)
        cuts: list[Any] = [width * i for i in range(1, int(sections))]
    else:
        cuts = list(sections)
    rest = (slice(None),) * (-place - 1)
    bounds = [0, *cuts, None]
    return [x[(Ellipsis, slice(start, stop), *rest)] for start, stop in pairwise(bounds)]
