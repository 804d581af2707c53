"""Shapes: operators that move elements and compute none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import numpy as snp
from ....array import Array
from ....errors import FormatError
from ....ir.avals import broadcast_shapes
from ....ir.dims import Dim, is_named
from ..call import Call, Tensor
from ..registry import operator

__all__ = ["axes_of"]

_FAR = 2**31 - 1
_ENDS = (_FAR, 2**63 - 1)
"""Beyond any size; exporters write it for the end of an axis."""


def _reshaped(x: Any, dims: list[Dim], keeps_zeros: bool = False) -> Any:
    wanted: list[Any] = [
        x.shape[place] if isinstance(dim, int) and dim == 0 and not keeps_zeros else dim
        for place, dim in enumerate(dims)
    ]
    return np.reshape(x, tuple(wanted))


@operator("Reshape")
def reshape_by_attribute(call: Call, x: Tensor) -> Tensor:
    call.ignore("consumed_inputs")
    return _reshaped(x, [*(call.wholes("shape") or [])])


@operator("Reshape", since=5, of_sizes=True)
def reshape(call: Call, x: Any, _shape: Any) -> Any:
    """A size of 0 is that of the operand's axis, unless `allowzero` says that it is 0."""
    return _reshaped(x, call.dims(1, "shape"), call.flag("allowzero"))


@operator("Flatten")
def flatten(call: Call, x: Tensor) -> Tensor:
    axis = call.whole("axis", 1)
    axis += x.ndim if axis < 0 else 0
    before: Any = math.prod(x.shape[:axis])
    return np.reshape(x, (before, math.prod(x.shape[axis:])))


@operator("Transpose", of_sizes=True)
def transpose(call: Call, x: Any) -> Any:
    return np.transpose(x, call.wholes("perm"))


def axes_of(call: Call, since: int, place: int = 1) -> list[int] | None:
    """The axes, an attribute before a version and an operand from it on; None if not given."""
    if call.version < since:
        return call.wholes("axes")
    given = place < len(call.entries) and call.entries[place] is not None
    return call.ints(place, "axes") if given else None


@operator("Squeeze", of_sizes=True)
def squeeze(call: Call, x: Any, _axes: Any = None) -> Any:
    axes = axes_of(call, 13)
    if axes is None and [dim for dim in x.shape if is_named(dim)]:
        raise FormatError(
            f"Squeeze of {x.aval} names no axes, and a named dimension may be 1.",
            mend="Give that dimension a number with dims=.",
        )
    return np.squeeze(x, axis=None if axes is None else tuple(axes))


@operator("Unsqueeze", of_sizes=True)
def unsqueeze(call: Call, x: Any, _axes: Any = None) -> Any:
    return np.expand_dims(x, tuple(axes_of(call, 13) or ()))


@operator("Concat", of_sizes=True)
def concat(call: Call, *operands: Any) -> Any:
    return np.concatenate(operands, axis=call.whole("axis", 1 if call.version < 4 else 0))


@operator("Split", of_sizes=True)
def split(call: Call, x: Any, _split: Any = None) -> Any:
    axis = call.whole("axis")
    if len(call.entries) > 1 and call.entries[1] is not None:
        sizes = call.ints(1, "sizes of the parts")
    else:
        sizes = call.wholes("split") if call.version < 13 else None
    if sizes is None:
        count = call.whole("num_outputs", call.results)
        if count != call.results:
            raise FormatError(f"Split has {call.results} results, and num_outputs={count}.")
        extent = x.shape[axis]
        if not isinstance(extent, int):
            return list(np.split(x, count, axis=axis))
        step = -(-extent // count)
        sizes = [min(step, max(extent - step * place, 0)) for place in range(count)]
    if sum(sizes) != x.shape[axis] or min(sizes, default=0) < 0:
        raise FormatError(f"Parts of sizes {sizes} do not make up an axis of {x.shape[axis]}.")
    return list(np.split(x, np.cumsum(sizes)[:-1].tolist(), axis=axis))


# -- slices ----------------------------------------------------------------------------------------
def _sliced(x: Any, starts: Any, ends: Any, axes: Any, steps: Any) -> Any:
    """ONNX's slices are those of Python, but for a backward one that starts before the axis."""
    index = [slice(None)] * x.ndim
    rows = zip(starts, ends, axes or range(len(starts)), steps or [1] * len(starts), strict=True)
    for start, end, axis, step in rows:
        if not step:
            raise FormatError("A slice has the step 0.")
        extent = x.shape[axis]
        if step < 0 and isinstance(start, int) and isinstance(extent, int):
            start = max(start, -extent)  # The first element is taken, where Python takes none.
        index[axis] = slice(_start(start, step), _end(end, step), step)
    return x[tuple(index)]


def _start(place: Any, step: int) -> Any:
    return None if _is_far(place, -step) else place


def _end(place: Any, step: int) -> Any:
    # Engines take the two largest integers for the border in either direction.
    return None if _is_far(place, step) or place in _ENDS else place


def _is_far(place: Any, ahead: int) -> bool:
    """Whether a number stands for the border that lies ahead."""
    return isinstance(place, int) and (place >= _FAR if ahead > 0 else place <= -_FAR)


@operator("Slice")
def slice_by_attributes(call: Call, x: Tensor) -> Tensor:
    starts, ends = call.wholes("starts") or [], call.wholes("ends") or []
    return _sliced(x, starts, ends, call.wholes("axes"), None)


@operator("Slice", since=10, of_sizes=True)
def slice_(
    call: Call, x: Any, _starts: Any, _ends: Any, axes: Any = None, steps: Any = None
) -> Any:
    return _sliced(
        x,
        call.dims(1, "starts"),
        call.dims(2, "ends"),
        None if axes is None else call.ints(3, "axes"),
        None if steps is None else call.ints(4, "steps"),
    )


# -- repetition and padding ------------------------------------------------------------------------
@operator("Expand", since=8)
def expand(call: Call, x: Tensor, _shape: Tensor) -> Tensor:
    shape: Any = broadcast_shapes(x.shape, tuple(call.dims(1, "shape")))
    return np.broadcast_to(x, shape)


@operator("Tile", until=5)
def tile_along_axis(call: Call, x: Tensor, _tiles: Tensor, _axis: Tensor) -> Tensor:
    ((count,), (axis,)) = call.ints(1, "tiles"), call.ints(2, "axis")
    return _tiled(x, [count if place == axis % x.ndim else 1 for place in range(x.ndim)])


@operator("Tile", since=6)
def tile(call: Call, x: Tensor, _repeats: Tensor) -> Tensor:
    repeats = call.dims(1, "repeats")
    if len(repeats) != x.ndim:
        raise FormatError(f"Tile of {x.aval} is given {len(repeats)} numbers.")
    return _tiled(x, repeats)


def _tiled(x: Tensor, repeats: list[Any]) -> Tensor:
    # Between one axis and the next, each is repeated on an axis of its own.
    spread = [part for dim in x.shape for part in (1, dim)]
    wide: Any = [part for pair in zip(repeats, x.shape, strict=True) for part in pair]
    shape = [r * d for r, d in zip(repeats, x.shape, strict=True)]
    return np.reshape(np.broadcast_to(np.reshape(x, spread), wide), shape)


@operator("Pad")
def pad_by_attributes(call: Call, x: Tensor) -> Tensor:
    pads = call.wholes("pads" if call.version > 1 else "paddings") or []
    mode = call.choice("mode", "constant", "reflect", "edge")
    return _padded(x, pads, mode, np.asarray(call.real("value"), x.dtype))


@operator("Pad", since=11)
def pad(
    call: Call, x: Tensor, _pads: Tensor, value: Tensor | None = None, axes: Tensor | None = None
) -> Tensor:
    mode = call.choice("mode", "constant", "reflect", "edge", "wrap")
    pads = call.ints(1, "pads")
    if axes is not None:
        chosen = [axis % x.ndim for axis in call.ints(3, "axes")]
        both = dict(zip(chosen, zip(pads, pads[len(chosen) :], strict=False), strict=True))
        pads = [both.get(axis, (0, 0))[side] for side in (0, 1) for axis in range(x.ndim)]
    fill = np.zeros((), x.dtype) if value is None else np.reshape(value, ())
    return _padded(x, pads, mode, fill)


def _padded(x: Tensor, pads: list[int], mode: Any, fill: Any) -> Tensor:
    """Negative numbers take elements away."""
    if len(pads) != 2 * x.ndim:
        raise FormatError(f"Pad of {x.aval} is given {len(pads)} numbers.")
    pairs = list(zip(pads, pads[x.ndim :], strict=False))
    if min(pads, default=0) < 0:
        x = x[tuple([slice(max(-a, 0), -max(-b, 0) or None) for a, b in pairs])]
        pairs = [(max(a, 0), max(b, 0)) for a, b in pairs]
    if not any(map(any, pairs)):
        return x
    if mode != "constant":
        return np.pad(x, pairs, mode=mode)
    inner = tuple([slice(a, -b or None) for a, b in pairs])
    shape = tuple([a + dim + b for (a, b), dim in zip(pairs, x.shape, strict=True)])
    if isinstance(fill, Array) or fill != 0:
        return snp.index_update(np.broadcast_to(fill, shape), inner, x)
    return np.pad(x, pairs)


# -- images ----------------------------------------------------------------------------------------
def _image(call: Call, x: Tensor) -> tuple[Any, Any, Any, Any, int]:
    if x.ndim != 4:
        raise FormatError(f"{call.op} takes images of shape (N, C, H, W), not {x.aval}.")
    return *x.shape, call.whole("blocksize")


@operator("DepthToSpace")
def depth_to_space(call: Call, x: Tensor) -> Tensor:
    n, c, h, w, b = _image(call, x)
    if call.choice("mode", "DCR", "CRD") == "DCR":
        parts = np.transpose(np.reshape(x, (n, b, b, c // (b * b), h, w)), (0, 3, 4, 1, 5, 2))
    else:
        parts = np.transpose(np.reshape(x, (n, c // (b * b), b, b, h, w)), (0, 1, 4, 2, 5, 3))
    return np.reshape(parts, (n, c // (b * b), h * b, w * b))


@operator("SpaceToDepth")
def space_to_depth(call: Call, x: Tensor) -> Tensor:
    n, c, h, w, b = _image(call, x)
    parts = np.reshape(x, (n, c, h // b, b, w // b, b))
    order = (0, 3, 5, 1, 2, 4) if call.choice("mode", "DCR", "CRD") == "DCR" else (0, 1, 3, 5, 2, 4)
    return np.reshape(np.transpose(parts, order), (n, c * b * b, h // b, w // b))


@operator("Trilu", since=14)
def trilu(call: Call, x: Tensor, diagonal: Tensor | None = None) -> Tensor:
    (k,) = [0] if diagonal is None else call.ints(1, "number of the diagonal")
    return np.triu(x, k) if call.flag("upper", 1) else np.tril(x, k)


@operator("CenterCropPad", since=18)
def center_crop_pad(call: Call, x: Tensor, _shape: Tensor) -> Tensor:
    """The middle of an axis that is too long; zeros on both sides of one that is too short."""
    wanted = call.ints(1, "shape")
    cuts, pads = [slice(None)] * x.ndim, [(0, 0)] * x.ndim
    for axis, size in zip(call.wholes("axes") or range(x.ndim), wanted, strict=True):
        extent = x.shape[axis]
        if not isinstance(extent, int):
            raise FormatError(f"CenterCropPad of {x.aval} depends on the size of {extent}.")
        if size < extent:
            start = (extent - size) // 2
            cuts[axis] = slice(start, start + size)
        else:
            before = (size - extent) // 2
            pads[axis] = (before, size - extent - before)
    return np.pad(x[tuple(cuts)], pads)


@operator("ReverseSequence", since=10)
def reverse_sequence(call: Call, x: Tensor, lengths: Tensor) -> Tensor:
    """The first elements along an axis in reverse, for each of a batch as many as it says."""
    time, batch = call.whole("time_axis", 0), call.whole("batch_axis", 1)
    place = np.reshape(snp.arange(x.shape[time]), [-1 if a == time else 1 for a in range(x.ndim)])
    count = np.reshape(lengths, [-1 if a == batch else 1 for a in range(x.ndim)])
    source = np.where(place < count, count - 1 - place, place)
    return np.take_along_axis(x, np.broadcast_to(source, x.shape), axis=time)
