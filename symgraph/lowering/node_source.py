"""The NumPy source of a node, found by running its kernel on names instead of arrays.

A kernel is written against an array namespace. Given a namespace that records calls instead of
making them, it writes its own source: `lambda xp, x: xp.sum(x, axis=-1)` becomes
`np.sum(v1, axis=-1)`. The outermost call also tells whether the result is a new array or a view of
an operand; this decides which buffers may be overwritten. A kernel that looks at values or branches
on named sizes has no source, and is called by name.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

import numpy as np

from ..ir.avals import Aval
from ..ir.body import Body
from ..ir.dims import fixed, named, names_of
from ..ir.interpreter import kernel_on_numpy
from ..ir.node import Node
from ..ir.traits import Arrangement
from .kernel_sizes import with_sizes
from .recording import Recording, Value, source_of, used
from .recording_namespace import RecordedArray, RecordingNamespace
from .source_pieces import (
    Alias,
    Call,
    Defined,
    Dimension,
    EarlierResult,
    Line,
    NodeSource,
    NoSource,
    OperandName,
    Piece,
    Pieces,
    Tabled,
)

__all__ = ["dims_of", "spell"]


_FEW = 512
"""Up to this many elements a product costs less than the 1.8 microseconds of `np.broadcast_to`."""
_EXACT = (np.dtype("float64"), np.dtype("float32"), np.dtype("int64"))


# -- one node --------------------------------------------------------------------------------------
def spell(
    node: Node,
    *,
    fast: bool = False,
    keep: tuple[bool, ...] | None = None,
    many: bool = False,
) -> NodeSource:
    """The source of a node: the calls its kernel makes, or a call of the kernel by name.

    Parameters
    ----------
    node : Node
    fast : bool
        Write the source for a program. Reductions become methods of ufuncs, which cost less to
        call, and the shapes of all intermediate results must be known.
    keep : tuple of bool, optional
        Which results are read; a lazy operation may leave out the others.
    many : bool
        Whether to take the kernel for many elements where the interpreter does.
    """
    if fast and node.op.traits.arrangement is Arrangement.REPEATED and _is_small(node.aval):
        return _repeated_by_product(node)
    kernel = kernel_on_numpy(node, of_many=many)
    if any(isinstance(value, Body) for value in node.params.values()):
        return _call_of_function(node, keep)
    recording = Recording(fast)
    operands = [_operand(recording, index, each) for index, each in enumerate(node.operands)]
    params = {name: with_sizes(value, recording.note_size) for name, value in node.params.items()}
    try:
        result = kernel(RecordingNamespace(recording), *operands, **params)
        return _source_of_result(recording, result, node)
    except Exception:
        # Anything may stop a kernel that gets names: called by name, it will get arrays.
        fresh = node.op.custom and node.op.fresh
        alias = Alias.FRESH if fresh else Alias.UNKNOWN
        return _call_by_name(node, (alias,) * len(node.results))


def _is_small(aval: Aval) -> bool:
    """Whether a product with ones costs less than a view, which NumPy makes in Python."""
    # The size alone does not tell: an axis of length 0 hides the names of the others.
    return fixed(aval.shape) and cast("int", aval.size) <= _FEW and aval.dtype in _EXACT


def _repeated_by_product(node: Node) -> NodeSource:
    """A product with ones of the result's shape, which has each number's bits."""
    ones = Tabled(_ones(tuple([int(dim) for dim in node.aval.shape]), node.aval.dtype))
    pieces = ("np.multiply(", OperandName(0), ", ", ones, ")")
    call = Call("np.multiply", (None, ones))
    return NodeSource((Line(pieces, node.results, (Alias.FRESH,), place=", ", call=call),))


@lru_cache(maxsize=1024)
def _ones(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    found = np.ones(shape, dtype)
    found.flags.writeable = False
    return found


def _call_of_function(node: Node, keep: tuple[bool, ...] | None) -> NodeSource:
    """A call of the function that runs the bodies of the node; it has source of its own."""
    piece = Defined(node, keep)
    pieces: list[Piece] = [piece, "("]
    for index in range(len(node.operands)):
        pieces.extend((", ",) if index else ())
        pieces.append(OperandName(index))
    for place, name in enumerate(dims_of(node)):
        pieces.extend((", ",) if node.operands or place else ())
        pieces.append(Dimension(named(name)))
    pieces.append(")")
    avals = node.results
    if keep is not None:
        # Results that nothing reads are not computed.
        avals = tuple(
            [
                aval if kept else aval.with_shape((0,))
                for aval, kept in zip(avals, keep, strict=True)
            ]
        )
    return NodeSource((Line(tuple(pieces), avals, (Alias.FRESH,) * len(avals)),))


def dims_of(node: Node) -> tuple[str, ...]:
    """The named dimensions that the params of a node, its bodies among them, depend on."""
    found: set[str] = set()
    for value in node.params.values():
        found.update(names_of(value))
    return tuple(sorted(found))


def _call_by_name(node: Node, aliases: tuple[Alias, ...]) -> NodeSource:
    """A call of the kernel by name, `k0(xp, v1, axis=-1)`; a param without source is looked up."""
    pieces: list[Piece] = [Tabled(node.op.kernel, "k"), "(xp"]
    for index in range(len(node.operands)):
        pieces.extend((", ", OperandName(index)))
    recording = Recording()
    for name, value in node.params.items():
        pieces.append(f", {name}=")
        try:
            pieces.extend(source_of(with_sizes(value, recording.note_size), recording))
        except NoSource:
            pieces.append(Tabled(value))
    pieces.append(")")
    return NodeSource((Line(tuple(pieces), node.results, aliases),), named=True)


def _operand(recording: Recording, index: int, node: Node) -> RecordedArray:
    pieces = (OperandName(index),)
    if len(node.results) == 1:
        return RecordedArray(recording, pieces, Alias.WHOLE, node.aval, operand=True)
    value = RecordedArray(recording, pieces, Alias.WHOLE, None)
    value.items = tuple(
        [
            RecordedArray(recording, (*pieces, f"[{i}]"), Alias.WHOLE, aval, operand=True)
            for i, aval in enumerate(node.results)
        ]
    )
    return value


def _source_of_result(recording: Recording, result: object, node: Node) -> NodeSource:
    """The source of a node whose kernel gave `result`."""
    last = _result_line(recording, result, node)
    if recording.sizes_asked:
        return _call_by_name(node, last.aliases)
    lines = _one_line_a_call(recording, last)
    if lines is not None:
        return NodeSource(lines)
    if all(count == 1 for count in recording.uses):
        pieces = _inlined(last.pieces, recording.steps)
        return NodeSource((replace(last, pieces=pieces, call=None),))
    return _call_by_name(node, last.aliases)


def _result_line(recording: Recording, result: object, node: Node) -> Line:
    """The line that gives the result of a kernel: a value, or a tuple of values."""
    count = len(node.results)
    if count > 1 and isinstance(result, tuple) and len(cast("tuple[Value, ...]", result)) == count:
        items = cast("tuple[Value, ...]", result)
        pieces, aliases = source_of(items, recording), tuple([item.alias for item in items])
        if len({item.pieces for item in items}) < count:
            aliases = (Alias.UNKNOWN,) * count
        return Line(pieces, node.results, aliases)
    if type(result) is RecordedArray and len(result.items) == (count if count > 1 else 0):
        aliases = (result.alias,) if count == 1 else (Alias.FRESH,) * count
        return Line(used(result), node.results, aliases, result.out, result.place, result.call)
    raise NoSource("a result that no call of the namespace made")


def _one_line_a_call(recording: Recording, last: Line) -> tuple[Line, ...] | None:
    """One line for each call; None if the result is not the last call, or a shape is missing.

    Only programs need all shapes.
    """
    values = recording.values
    if not values or last.pieces != (EarlierResult(len(values) - 1),) or 0 in recording.uses:
        return None
    lines: list[Line] = []
    for value, pieces in zip(values[:-1], recording.steps[:-1], strict=True):
        if value.aval is None and recording.fast:
            return None  # The peak memory of the program is predicted from all shapes.
        avals = () if value.aval is None else (value.aval,)
        lines.append(Line(pieces, avals, (value.own,), value.out, value.place, value.call))
    # Each result of a call that gives several is an array of its own.
    aliases = (values[-1].own,) * len(last.avals)
    end = values[-1]
    final = Line(recording.steps[-1], last.avals, aliases, end.out, end.place, end.call)
    return (*lines, final)


def _inlined(pieces: Pieces, steps: list[Pieces]) -> Pieces:
    """One expression: the source of each earlier step stands where its result is used."""
    expanded: list[Pieces] = []
    for step in steps:  # A step refers to earlier ones only.
        expanded.append(_substituted(step, expanded))
    return _substituted(pieces, expanded)


def _substituted(pieces: Pieces, expanded: list[Pieces]) -> Pieces:
    found: list[Piece] = []
    for piece in pieces:
        found.extend(expanded[piece.index] if isinstance(piece, EarlierResult) else (piece,))
    return tuple(found)
