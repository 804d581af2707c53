"""Sequences of tensors, and values that may be missing: they are sorted out while reading."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....errors import FormatError
from ..call import Call, Tensor
from ..registry import operator
from ..values import Entry, Value

__all__: list[str] = []

Sequence = tuple[Value, ...]
_MOST = 10_000
"""The longest axis that is cut into a sequence."""


def _sequence(call: Call, given: Entry) -> Sequence:
    if not isinstance(given, tuple):
        raise FormatError(f"{call.op} takes a sequence of tensors.")
    return given


def _arrays(call: Call, given: Entry) -> list[Tensor]:
    return [each.array for each in _sequence(call, given)]


def _place(call: Call, place: int, count: int) -> int:
    """A position, from the end if it is negative."""
    (found,) = call.ints(place, "position")
    if not -count <= found < max(count, 1):
        raise FormatError(f"{call.op} at {found} of a sequence of {count} tensors.")
    return found + count if found < 0 else found


@operator("SequenceConstruct", raw=True, since=11)
def sequence_construct(_call: Call, *given: Value) -> list[Any]:
    return [given]


@operator("SequenceEmpty", raw=True, since=11)
def sequence_empty(call: Call) -> list[Any]:
    call.ignore("dtype")
    return [()]


@operator("SequenceLength", raw=True, since=11)
def sequence_length(call: Call, given: Entry) -> Value:
    return Value(numbers=np.asarray(len(_sequence(call, given)), np.int64))


@operator("SequenceAt", raw=True, since=11)
def sequence_at(call: Call, given: Entry, _place_: Entry) -> Value:
    parts = _sequence(call, given)
    return parts[_place(call, 1, len(parts))]


@operator("SequenceInsert", raw=True, since=11)
def sequence_insert(call: Call, given: Entry, new: Value, at: Entry = None) -> list[Any]:
    parts = _sequence(call, given)
    place = len(parts) if at is None else call.ints(2, "position")[0]
    if not -len(parts) <= place <= len(parts):
        raise FormatError(f"SequenceInsert at {place} of a sequence of {len(parts)} tensors.")
    place += len(parts) if place < 0 else 0
    return [(*parts[:place], new, *parts[place:])]


@operator("SequenceErase", raw=True, since=11)
def sequence_erase(call: Call, given: Entry, at: Entry = None) -> list[Any]:
    parts = _sequence(call, given)
    place = len(parts) - 1 if at is None else _place(call, 1, len(parts))
    return [(*parts[:place], *parts[place + 1 :])]


@operator("ConcatFromSequence", raw=True, since=11)
def concat_from_sequence(call: Call, given: Entry) -> Any:
    join = np.stack if call.flag("new_axis") else np.concatenate
    return join(_arrays(call, given), axis=call.whole("axis"))


@operator("SplitToSequence", raw=True, since=11)
def split_to_sequence(call: Call, given: Value, sizes: Value | None = None) -> list[Any]:
    axis, keepdims = call.whole("axis"), call.flag("keepdims", 1)
    x = given.array
    extent = x.shape[axis]
    if not isinstance(extent, int):
        raise FormatError(f"SplitToSequence depends on the size of {extent}.")
    if extent > _MOST:
        raise FormatError(f"A sequence of {extent:,} tensors is not read; at most {_MOST:,} are.")
    if sizes is None:
        parts: list[Any] = np.split(x, extent, axis=axis)
        return [tuple([Value(p if keepdims else np.squeeze(p, axis=axis)) for p in parts])]
    wanted = call.ints(1, "sizes of the parts")
    if sizes.numbers is not None and not sizes.numbers.ndim:
        step = max(wanted[0], 1)
        wanted = [min(step, extent - start) for start in range(0, extent, step)]
    cut: list[Any] = np.split(x, np.cumsum(wanted)[:-1].tolist(), axis=axis)
    return [tuple([Value(each) for each in cut])]


@operator("Optional", raw=True, since=15)
def optional(call: Call, given: Entry = None) -> list[Any]:
    call.ignore("type")
    return [given]


@operator("OptionalGetElement", raw=True, since=15)
def optional_get_element(_call: Call, given: Entry) -> list[Any]:
    if given is None:
        raise FormatError("OptionalGetElement is given nothing.")
    return [given]


@operator("OptionalHasElement", raw=True, since=15)
def optional_has_element(_call: Call, given: Entry = None) -> Value:
    return Value(numbers=np.asarray(given is not None))
