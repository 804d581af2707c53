"""Joining, cutting and repeating arrays: concatenate, and functions made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, apply
from ..errors import DTypeError, ShapeError, TraceError
from ..ir.avals import Aval, AxisLike, normal_axes, normal_axis
from ..ir.dims import ShapeLike, count, known_equal, normal, same_shape, show_shape
from ..ir.op import Op, no_flops, register
from ..ir.traits import Traits
from ..notation import array_formulas, node_text
from ..pytrees import listed
from .batched import batch_whole
from .carrying import carries_off_axis
from .composites import as_array, composite, naming_lines, refuse
from .creation import arange, dimension, full
from .families import function, same_dtype
from .gather import gather
from .movement import broadcast_to, expand_dims, facts_of_elements, ravel, reshape, swapaxes

__all__ = [
    "append",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "column_stack",
    "concatenate",
    "dstack",
    "flip",
    "fliplr",
    "flipud",
    "hstack",
    "repeat",
    "resize",
    "roll",
    "rot90",
    "stack",
    "tile",
    "vstack",
]


# -- concatenate ---------------------------------------------------------------------------------
def _normal_concatenate(avals: tuple[Aval, ...], *, axis: AxisLike) -> dict[str, Any]:
    if not avals or not avals[0].ndim:
        raise ShapeError(
            "arrays of at least one dimension are needed, and at least one of them.",
            mend="Use np.stack to join 0-d arrays.",
        )
    return {"axis": normal_axis(axis, avals[0].ndim)}


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
        batch=batch_whole,
        total=True,
        infer=_infer_concatenate,
        kernel=lambda xp, *arrays, axis: xp.concatenate(arrays, axis=axis),
        vjp=_vjp_concatenate,
        carries=carries_off_axis,
        normalize=_normal_concatenate,
        promote=same_dtype,
        flops=no_flops,
        count=0,
        facts=lambda *known, axis: facts_of_elements(*known),
        doc="Join arrays along an axis that they have.",
        traits=Traits(jointly_linear=..., movement=True, shift=1),
        text=node_text.concatenation_text,
        latex=array_formulas.concatenation_formula,
    )
)


@naming_lines
def _concatenate(arrays: Sequence[Any], axis: int | None = 0, **keywords: object) -> Array:
    operands = _converted("concatenate", arrays, keywords)
    if axis is None:
        return apply(CONCATENATE, *[ravel(each) for each in operands], axis=0)
    return apply(CONCATENATE, *operands, axis=axis)


def _converted(name: str, arrays: Sequence[Any], keywords: dict[str, Any]) -> list[Array]:
    """The operands in the requested dtype, if `casting` allows it."""
    dtype, casting = keywords.pop("dtype", None), keywords.pop("casting", "same_kind")
    refuse(name, keywords)
    operands = [as_array(each) for each in arrays]
    if dtype is None:
        return operands
    for each in operands:
        if not np.can_cast(each.dtype, dtype, casting):
            raise DTypeError(
                f"{name}: {each.dtype} does not become {np.dtype(dtype)} by casting={casting!r}.",
                mend="Convert it with astype, or say casting='unsafe'.",
            )
    return [FUNCTIONS["astype"](each, dtype) for each in operands]


concatenate = function(CONCATENATE, _concatenate, np.concatenate)
FUNCTIONS["concat"] = concatenate


@composite(np.stack)
def stack(arrays: Sequence[Any], axis: int = 0, **keywords: object) -> Array:
    """Join arrays of one shape along a new axis."""
    operands = _converted("stack", arrays, keywords)
    for each in operands[1:]:
        if not same_shape(each.shape, operands[0].shape):
            raise ShapeError(
                f"stack: {show_shape(each.shape)} differs from {show_shape(operands[0].shape)}.",
                mend="Arrays that are stacked have one shape.",
            )
    return concatenate([expand_dims(each, axis) for each in operands], axis=axis)


@composite(np.atleast_1d, view=True)
def atleast_1d(*arrays: ArrayLike) -> Any:
    """The array with at least one axis; several arrays give a tuple."""
    return _each(arrays, lambda x: x if x.ndim else reshape(x, (1,)))


@composite(np.atleast_2d, view=True)
def atleast_2d(*arrays: ArrayLike) -> Any:
    """The array with at least two axes; a vector becomes a row, several arrays give a tuple."""
    return _each(arrays, lambda x: x if x.ndim >= 2 else reshape(x, (1, -1)))


@composite(np.atleast_3d, view=True)
def atleast_3d(*arrays: ArrayLike) -> Any:
    """The array with at least three axes; a vector runs along the second of them."""
    return _each(arrays, _as_three)


def _as_three(x: Array) -> Array:
    if x.ndim >= 3:
        return x
    return expand_dims(x, -1) if x.ndim == 2 else reshape(x, (1, -1, 1))


def _each(arrays: Sequence[Any], change: Callable[[Array], Array]) -> Any:
    changed = tuple([change(as_array(each)) for each in arrays])
    return changed[0] if len(changed) == 1 else changed


@composite(np.hstack)
def hstack(arrays: Sequence[Any], **keywords: object) -> Array:
    """Join arrays along the second axis, and vectors along their only axis."""
    operands = [atleast_1d(each) for each in _converted("hstack", arrays, keywords)]
    return concatenate(operands, axis=0 if operands and operands[0].ndim == 1 else 1)


@composite(np.vstack)
def vstack(arrays: Sequence[Any], **keywords: object) -> Array:
    """Join arrays along the first axis; vectors become rows."""
    rows = _converted("vstack", arrays, keywords)
    return concatenate([atleast_2d(each) for each in rows], axis=0)


@composite(np.dstack)
def dstack(arrays: Sequence[Any]) -> Array:
    """Join arrays along the third axis."""
    return concatenate([atleast_3d(each) for each in arrays], axis=2)


@composite(np.column_stack)
def column_stack(arrays: Sequence[Any]) -> Array:
    """Join arrays along the second axis; vectors become columns."""
    operands = [as_array(each) for each in arrays]
    columns = [each if each.ndim > 1 else reshape(each, (-1, 1)) for each in operands]
    return concatenate(columns, axis=1)


@composite(np.append)
def append(x: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """The array with `values` behind it; without an axis both are raveled first."""
    return concatenate([x, values], axis=axis)


# -- repetition ----------------------------------------------------------------------------------
@composite(np.tile)
def tile(x: ArrayLike, reps: int | Sequence[int] | ArrayLike) -> Array:
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
def repeat(
    x: ArrayLike, repeats: int | Sequence[int] | ArrayLike, axis: int | None = None
) -> Array:
    """Each element repeated; `repeats` is one number, or a number for each element."""
    x = as_array(x)
    if isinstance(repeats, Array):
        raise TraceError(
            "repeat: a number of repeats that is computed gives an array of unknown shape.",
            mend="Use constant repeats, or np.take with computed positions.",
        )
    times = np.asarray(repeats)
    if times.dtype.kind not in "iu" or times.ndim > 1 or (times.size and times.min() < 0):
        raise ShapeError(f"repeat: repeats must be nonnegative integers, not {repeats!r}.")
    if axis is None:
        x, axis = ravel(x), 0
    elif not x.ndim:
        x = ravel(x)  # as NumPy does: a number has one axis here
    place = normal_axis(axis, x.ndim)
    if times.size == 1:
        return _repeated(x, int(times.reshape(())), place)
    size = x.shape[place]
    if times.size != size:
        raise ShapeError(f"repeat: {times.size} repeats for {size} elements.")
    return gather(x, np.repeat(np.arange(times.size), times), axis=place)


def _repeated(x: Array, times: int, axis: int) -> Array:
    tall = expand_dims(x, x.ndim + axis + 1)
    wide, joined = list(tall.shape), list(x.shape)
    wide[x.ndim + axis + 1] = times
    joined[axis] = normal(joined[axis] * times)
    return reshape(broadcast_to(tall, tuple(wide)), tuple(joined))


# -- slices put together ----------------------------------------------------------------------
@composite(np.flip, view=True)
def flip(x: ArrayLike, axis: AxisLike = None) -> Array:
    """The elements in reverse order along `axis`, or along all axes."""
    x = as_array(x)
    axes = normal_axes(axis, x.ndim)
    return x[tuple(slice(None, None, -1 if i in axes else 1) for i in range(-x.ndim, 0))]


@composite(np.roll, array=True)
def roll(x: ArrayLike, shift: int | Sequence[int] | ArrayLike, axis: AxisLike = None) -> Array:
    """The elements moved by `shift` places along `axis`; the last ones come to the front."""
    x = as_array(x)
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    shifts, axes = listed(shift), listed(axis)
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise ShapeError(f"roll: {len(shifts)} shifts for {len(axes)} axes.")
    many = max(len(shifts), len(axes)) if shifts and axes else 0
    shifts, axes = (each * many if len(each) == 1 else each for each in (shifts, axes))
    for by, place in zip(shifts, axes, strict=True):
        x = _rolled(x, by, normal_axis(place, x.ndim))
    return x


def _rolled(x: Array, shift: int, axis: int) -> Array:
    size = x.shape[axis]
    if not isinstance(size, int) or isinstance(shift, Array):
        return _rolled_by_index(x, shift, axis)
    by = shift % size if size else 0
    if not by:
        return x
    rest = (slice(None),) * (-axis - 1)
    parts = [x[(Ellipsis, slice(-by, None), *rest)], x[(Ellipsis, slice(None, -by), *rest)]]
    return concatenate(parts, axis=axis)


def _rolled_by_index(x: Array, shift: int | Sequence[int] | ArrayLike, axis: int) -> Array:
    """Roll along a named dimension, or by a symbolic shift."""
    if isinstance(shift, Array):
        if shift.ndim or shift.dtype.kind not in "iub":
            raise DTypeError(f"roll: {shift.aval} is not an integer scalar, as a shift must be.")
    elif not shift:
        return x
    size = x.shape[axis]
    places = (arange(size) - shift) % FUNCTIONS["maximum"](dimension(size), 1)
    return gather(x, places, axis=axis)


@composite(np.fft.fftshift)
def fftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    """The halves of each axis exchanged, so that the first element comes to the middle."""
    x = as_array(x)
    places = range(x.ndim) if axes is None else listed(axes)
    return roll(x, [x.shape[axis] // 2 for axis in places], list(places))


@composite(np.fft.ifftshift)
def ifftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    """The inverse of `fftshift`."""
    x = as_array(x)
    places = range(x.ndim) if axes is None else listed(axes)
    return roll(x, [-(x.shape[axis] // 2) for axis in places], list(places))


@composite(np.rot90, view=True)
def rot90(x: ArrayLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> Array:
    """The array turned `k` times by a right angle, from the first of `axes` to the second."""
    x = as_array(x)
    if len(axes) != 2:
        raise ShapeError(f"rot90: two axes are needed, not {tuple(axes)}.")
    normal_axes(axes, x.ndim)
    first, second = axes
    match k % 4:
        case 0:
            return x
        case 1:
            return swapaxes(flip(x, second), first, second)
        case 2:
            return flip(x, tuple(axes))
        case _:
            return flip(swapaxes(x, first, second), second)


@composite(np.flipud, view=True)
def flipud(x: ArrayLike) -> Array:
    """The elements in reverse order along the first axis."""
    return flip(x, 0)


@composite(np.fliplr, view=True)
def fliplr(x: ArrayLike) -> Array:
    """The elements in reverse order along the second axis."""
    return flip(x, 1)


@composite(np.resize)
def resize(x: ArrayLike, new_shape: ShapeLike) -> Array:
    """The raveled array repeated until it fills `new_shape`."""
    x = ravel(as_array(x))
    shape = tuple([normal(each) for each in listed(new_shape)])
    wanted, size = count(shape), x.shape[0]
    if not isinstance(wanted, int) or not isinstance(size, int):
        raise ShapeError(f"resize: how often {size} elements go into {wanted} is not known.")
    if not size:
        return full(shape, 0, x.dtype)
    times = -(-wanted // size)
    return reshape((tile(x, times) if times > 1 else x)[:wanted], shape)
