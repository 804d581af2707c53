"""Operations of PyTorch that move elements: views, joining, splitting, padding, creation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.dims import normal
from ..functions import f
from ..spelling import Refused, SpelledCall, Spelling, known, own, result

__all__ = ["MOVEMENT"]

_END = 2**63 - 1
"""What PyTorch writes for the end of a slice that has none."""


# -- views -----------------------------------------------------------------------------------------
def _to_shape(call: SpelledCall, x: Any, *_shape: Any, **_options: Any) -> Any:
    return f.reshape(x, call.shape)


def _broadcast(call: SpelledCall, x: Any, *_shape: Any, **_options: Any) -> Any:
    return f.broadcast_to(x, call.shape)


def _swapped(x: Any, dim0: int, dim1: int) -> Any:
    return f.swapaxes(x, dim0, dim1)


def _last_two_swapped(x: Any) -> Any:
    return f.swapaxes(x, -1, -2) if x.ndim > 1 else x


def _unsqueeze(x: Any, dim: int) -> Any:
    return f.expand_dims(x, dim)


def _select(x: Any, dim: int, index: int) -> Any:
    return x[(*_before(x, dim), index)]


def _before(x: Any, dim: int) -> tuple[slice, ...]:
    return (slice(None),) * (dim % max(x.ndim, 1))


def _cut(start: Any, end: Any, step: Any) -> slice:
    return slice(start, None if isinstance(end, int) and end >= _END else end, step)


def _slice(x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return x[(*_before(x, dim), _cut(start, end, step))]


def _narrow(x: Any, dim: int, start: Any, length: Any) -> Any:
    return x[(*_before(x, dim), slice(start, start + length))]


def _flip(x: Any, dims: Sequence[int]) -> Any:
    return f.flip(x, tuple(dims))


def _roll(x: Any, shifts: Any, dims: Any = ()) -> Any:
    return f.roll(x, _few(shifts), axis=tuple(dims) or None)


def _few(values: Any) -> Any:
    """A list as a tuple, one number as itself."""
    return tuple(values) if isinstance(values, (list, tuple)) else values


def _repeat(x: Any, repeats: Sequence[int]) -> Any:
    return f.tile(x, tuple(repeats))


def _repeat_interleave(x: Any, repeats: Any, dim: int | None = None, **_size: Any) -> Any:
    if not isinstance(repeats, int):
        raise Refused("repeats elements so often as a tensor says")
    return f.repeat(x, repeats, axis=dim)


# -- joining and splitting -------------------------------------------------------------------------
def _concatenate(arrays: Sequence[Any], dim: int = 0) -> Any:
    # PyTorch leaves out arrays of shape (0,) whatever the others are.
    kept = [each for each in arrays if each.shape != (0,)] or list(arrays[:1])
    return f.concatenate(kept, axis=dim)


def _stack(arrays: Sequence[Any], dim: int = 0) -> Any:
    return f.stack(list(arrays), axis=dim)


def _split(x: Any, sizes: Any, dim: int = 0) -> list[Any]:
    extent = x.shape[dim]
    if isinstance(sizes, int):
        if not isinstance(extent, int):
            raise Refused("splits an axis whose size is not known")
        sizes = [min(sizes, extent - start) for start in range(0, extent, sizes)] or [0]
    parts: list[Any] = []
    start: Any = 0
    for size in sizes:
        parts.append(_narrow(x, dim, start, size))
        start = normal(start + size)
    return parts


def _chunk(x: Any, chunks: int, dim: int = 0) -> list[Any]:
    extent = x.shape[dim]
    if not isinstance(extent, int):
        raise Refused("splits an axis whose size is not known")
    return _split(x, max(-(-extent // chunks), 1), dim)


def _unbind(x: Any, dim: int = 0) -> list[Any]:
    extent = x.shape[dim]
    if not isinstance(extent, int):
        raise Refused("takes apart an axis whose size is not known")
    return [_select(x, dim, place) for place in range(extent)]


# -- padding ---------------------------------------------------------------------------------------
_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _pad(x: Any, pad: Sequence[Any], mode: str = "constant", value: float | None = None) -> Any:
    # The last axis comes first.
    pairs = [(pad[place], pad[place + 1]) for place in range(0, len(pad), 2)][::-1]
    widths = [(0, 0)] * (x.ndim - len(pairs)) + pairs
    if any(str(each).startswith("-") for each in pad):
        if mode != "constant" or not all(isinstance(each, int) for each in pad):
            raise Refused("cuts off elements by negative padding")
        x = x[tuple(slice(max(-a, 0), min(b, 0) or None) for a, b in widths)]
        widths = [(max(a, 0), max(b, 0)) for a, b in widths]
    if mode == "constant":
        return f.pad(x, widths, constant_values=value or 0)
    return f.pad(x, widths, mode=_MODES[mode])


def _tril(x: Any, diagonal: int = 0) -> Any:
    return f.tril(x, diagonal)


def _triu(x: Any, diagonal: int = 0) -> Any:
    return f.triu(x, diagonal)


def _diagonal(x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    return f.diagonal(x, offset, dim1, dim2)


def _unfold(x: Any, dimension: int, size: int, step: int) -> Any:
    windows = f.sliding_window_view(x, size, axis=dimension)
    return _slice(windows, dimension % x.ndim, step=step)


# -- creation --------------------------------------------------------------------------------------
def _filled(value: Any) -> Spelling:
    def made(call: SpelledCall, *_shape: Any, **_options: Any) -> Any:
        return f.full(call.shape, value, call.dtype)

    return known(made)


def _full(call: SpelledCall, *given: Any, **_options: Any) -> Any:
    return f.full(call.shape, given[-1], call.dtype)  # After a shape, an array, or both.


def _scalar_tensor(call: SpelledCall, value: Any, **_options: Any) -> Any:
    return f.full((), value, call.dtype)


def _arange(call: SpelledCall, *limits: Any, **_options: Any) -> Any:
    # Both count up by the formula start + i step in the dtype of the result.
    return f.arange(*limits, dtype=call.dtype)


def _linspace(call: SpelledCall, start: Any, end: Any, steps: int, **_options: Any) -> Any:
    return f.asarray(np.linspace(start, end, steps, dtype=call.dtype))


def _eye(call: SpelledCall, n: Any, m: Any = None, **_options: Any) -> Any:
    return f.eye(n, n if m is None else m, dtype=call.dtype)


def _tri_indices(call: SpelledCall, row: int, col: int, offset: int = 0, **_options: Any) -> Any:
    return f.asarray(np.stack(np.tril_indices(row, offset, col)).astype(call.dtype))


# -- writing, as PyTorch's functionalization spells it ---------------------------------------------
def _filled_with(call: SpelledCall, _x: Any, value: Any) -> Any:
    return f.broadcast_to(f.asarray(value).astype(call.dtype), call.shape)


def _copied(call: SpelledCall, _x: Any, src: Any, *_rest: Any) -> Any:
    return f.broadcast_to(src.astype(call.dtype), call.shape)


def _select_scatter(x: Any, src: Any, dim: int, index: int) -> Any:
    return f.index_update(x, (*_before(x, dim), index), src)


def _slice_scatter(
    x: Any, src: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    cut = _cut(start, end, step)
    whole = (cut.start or 0) == 0 and cut.stop is None and step == 1
    return src if whole else f.index_update(x, (*_before(x, dim), cut), src)


MOVEMENT: dict[str, Spelling] = {
    **dict.fromkeys(
        ["view", "reshape", "flatten", "unflatten", "squeeze", "view_as", "reshape_as", "ravel"],
        known(_to_shape),
    ),
    **dict.fromkeys(["expand", "expand_as", "broadcast_to"], known(_broadcast)),
    "broadcast_tensors": own(lambda tensors: tuple(f.broadcast_arrays(*tensors))),
    "permute": own(lambda x, dims: f.transpose(x, tuple(dims))),
    "transpose": own(_swapped),
    "swapaxes": own(_swapped),
    "swapdims": own(_swapped),
    **dict.fromkeys(["t", "mT"], own(_last_two_swapped)),
    "numpy_T": own(f.transpose),
    "movedim": own(lambda x, source, destination: f.moveaxis(x, _few(source), _few(destination))),
    "unsqueeze": own(_unsqueeze),
    "select": own(_select),
    "slice": own(_slice),
    "narrow": own(_narrow),
    "flip": own(_flip),
    "roll": own(_roll),
    "repeat": own(_repeat),
    "tile": own(_repeat),
    "repeat_interleave": own(_repeat_interleave),
    "cat": result(_concatenate),
    "concat": result(_concatenate),
    "stack": result(_stack),
    "hstack": result(lambda tensors: f.hstack(list(tensors))),
    "vstack": result(lambda tensors: f.vstack(list(tensors))),
    "split": own(_split),
    "split_with_sizes": own(_split),
    "chunk": own(_chunk),
    "unbind": own(_unbind),
    "constant_pad_nd": own(lambda x, pad, value=0: _pad(x, pad, value=value)),
    "pad": own(_pad),
    "tril": own(_tril),
    "triu": own(_triu),
    "diagonal": own(_diagonal),
    "unfold": own(_unfold),
    **dict.fromkeys(["zeros", "zeros_like", "new_zeros", "empty", "empty_like"], _filled(0)),
    **dict.fromkeys(["new_empty", "empty_permuted", "zero"], _filled(0)),
    **dict.fromkeys(["ones", "ones_like", "new_ones"], _filled(1)),
    **dict.fromkeys(["full", "full_like", "new_full"], known(_full)),
    "scalar_tensor": known(_scalar_tensor),
    "arange": known(_arange),
    "linspace": known(_linspace),
    "eye": known(_eye),
    "tril_indices": known(_tri_indices),
    "fill": known(_filled_with),
    "copy": known(_copied),
    "select_scatter": result(_select_scatter),
    "slice_scatter": result(_slice_scatter),
}
