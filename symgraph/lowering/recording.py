"""The calls a kernel makes, recorded as source, and the source of their arguments.

`recording_namespace` holds the arrays and functions that record the calls.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from ..ir.avals import Aval
from .kernel_sizes import Size
from .source_pieces import Alias, Call, Dimension, EarlierResult, NoSource, Piece, Pieces, Tabled

__all__ = ["Recording", "Value", "index_part", "source_of", "used"]


@dataclass(eq=False)
class Value:
    """A value inside a kernel, by its source.

    Parameters
    ----------
    recording : Recording
    pieces : tuple
        The source: an operand's name, an earlier result, or an item of either.
    alias : Alias
        The memory that the value shares with the operands of the kernel.
    aval : Aval or None
        Its shape and dtype, where they are known.
    own : Alias
        The memory that it shares with the first argument of its own call.
    out, place : str
        How a buffer for the result is passed to its call, as in `Line`.
    call : Call, optional
        Its call.
    operand : bool
        Whether it is an operand of the kernel.
    items : tuple of Value
        The parts of a value that is a tuple.
    """

    recording: Recording
    pieces: Pieces
    alias: Alias
    aval: Aval | None
    own: Alias = Alias.WHOLE
    out: str = ""
    place: str = ""
    call: Call | None = None
    operand: bool = False
    items: tuple[Value, ...] = ()


@dataclass
class Recording:
    """The calls a kernel made so far, and how often each result was used."""

    fast: bool = False
    steps: list[Pieces] = field(default_factory=list[Pieces])
    values: list[Value] = field(default_factory=list["Value"])
    uses: list[int] = field(default_factory=list[int])
    sizes_asked: bool = False

    def note_size(self) -> None:
        self.sizes_asked = True


def used(value: Value) -> Pieces:
    """The source of a value; each earlier result in it counts as used once more."""
    for piece in value.pieces:
        if isinstance(piece, EarlierResult):
            value.recording.uses[piece.index] += 1
    return value.pieces


def source_of(value: object, recording: Recording) -> Pieces:
    """The source of an argument.

    Raises
    ------
    NoSource
        If the argument has none. Its caller then looks it up by name.
    """
    if isinstance(value, Value):
        return used(value)
    if isinstance(value, Tabled):
        return (value,)
    if isinstance(value, Size):
        return (Dimension(value.expr),)
    if value is None or isinstance(value, (bool, int)):
        return (repr(value),)
    if type(value) is float:
        return (_float_text(value),)
    if isinstance(value, np.dtype):
        return (f"np.{np.dtype(value).name if value.kind != 'b' else 'bool_'}",)
    if isinstance(value, type) and issubclass(value, np.generic):
        return source_of(np.dtype(value), recording)
    if isinstance(value, str):
        if re.fullmatch(r"[A-Za-z0-9_,>. -]*", value):
            return (f'"{value}"',)
        raise NoSource("text")
    if isinstance(value, (tuple, list)):
        items = list(cast("Sequence[object]", value))
        if any(item is ... or isinstance(item, slice) for item in items):
            return _index_source(items, recording)
        pieces: list[Piece] = ["(" if isinstance(value, tuple) else "["]
        for number, item in enumerate(items):
            pieces.extend((", ",) if number else ())
            pieces.extend(source_of(item, recording))
        pieces.append("]" if isinstance(value, list) else ",)" if len(items) == 1 else ")")
        return tuple(pieces)
    raise NoSource(type(value).__name__)


def _index_source(parts: Sequence[object], recording: Recording) -> Pieces:
    """An index that is passed on as an argument: `np.s_`, for slices stand only in brackets."""
    pieces: list[Piece] = ["np.s_["]
    for number, part in enumerate(parts):
        pieces.extend((", ",) if number else ())
        pieces.extend(index_part(part, recording))
    return (*pieces, "]")


def _float_text(value: float) -> str:
    if value != value:
        return "np.nan"
    if value in (float("inf"), float("-inf")):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def index_part(part: object, recording: Recording) -> Pieces:
    """The source of one part of an index, which may be a slice."""
    if part is ...:
        return ("...",)
    if not isinstance(part, slice):
        return source_of(part, recording)
    ends = [() if end is None else source_of(end, recording) for end in (part.start, part.stop)]
    step = () if part.step is None else (":", *source_of(part.step, recording))
    return (*ends[0], ":", *ends[1], *step)
