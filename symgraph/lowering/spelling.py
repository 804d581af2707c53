"""What a kernel says in NumPy's words, found by running it on names instead of arrays.

A kernel is written against an array namespace. Given a namespace that notes calls instead of making
them, it writes its own source: `lambda xp, x: xp.sum(x, axis=-1)` becomes `np.sum(v1, axis=-1)`.
The outermost call also tells whether the result is a new array or a view of an operand, which
decides what may be overwritten. A kernel that looks at values or branches on named sizes cannot be
written down; it is then called by name.
"""

from __future__ import annotations

from typing import Any, cast

from ..ir.body import Body
from ..ir.dims import named, names_of
from ..ir.node import Node
from .kernel_sizes import with_sizes
from .pieces import (
    Alias,
    Defined,
    Dimension,
    EarlierResult,
    Line,
    NodeSource,
    NotSpelled,
    OperandName,
    Piece,
    Pieces,
    Tabled,
)
from .recording import Recorded, Recording, RecordingNamespace, spelled, written

__all__ = ["dims_of", "spell"]


# -- one node --------------------------------------------------------------------------------------
def spell(node: Node, *, fast: bool = False, keep: tuple[bool, ...] | None = None) -> NodeSource:
    """The source of `node`: its kernel's own calls, or a call of the kernel by name.

    With `fast`, reductions are written as the ufunc methods they are, which cost less to call, and
    shapes of all intermediate results must be known; else the source is only to be read and run.
    With `keep`, one truth value a result, the others of a lazy operation may be left out.
    """
    if any(isinstance(value, Body) for value in node.params.values()):
        return _defined(node, keep)
    recording = Recording(fast)
    terms = [_operand(recording, index, each) for index, each in enumerate(node.operands)]
    params = {name: with_sizes(value, recording.note_size) for name, value in node.params.items()}
    try:
        result = node.op.kernel(RecordingNamespace(recording), *terms, **params)
        return _finished(recording, result, node)
    except Exception:
        # Whatever stops a kernel that has only names: it runs on arrays then, called by name.
        return _called(node, (Alias.UNKNOWN,) * len(node.results))


def _defined(node: Node, keep: tuple[bool, ...] | None) -> NodeSource:
    """A call of a function with source of its own, which runs the bodies that the node holds."""
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
        # What nothing reads is not made.
        avals = tuple(
            [
                aval if kept else aval.with_shape((0,))
                for aval, kept in zip(avals, keep, strict=True)
            ]
        )
    return NodeSource((Line(tuple(pieces), avals, (Alias.FRESH,) * len(avals)),))


def dims_of(node: Node) -> tuple[str, ...]:
    """Named dimensions that the params of a node and its bodies depend on."""
    found: set[str] = set()
    for value in node.params.values():
        found.update(names_of(value))
    return tuple(sorted(found))


def _called(node: Node, aliases: tuple[Alias, ...]) -> NodeSource:
    """`k0(xp, v1, axis=-1)`; params that source cannot spell are looked up."""
    pieces: list[Piece] = [Tabled(node.op.kernel, "k"), "(xp"]
    for index in range(len(node.operands)):
        pieces.extend((", ", OperandName(index)))
    recording = Recording()
    for name, value in node.params.items():
        pieces.append(f", {name}=")
        try:
            pieces.extend(spelled(with_sizes(value, recording.note_size), recording))
        except NotSpelled:
            pieces.append(Tabled(value))
    pieces.append(")")
    return NodeSource((Line(tuple(pieces), node.results, aliases),), named=True)


def _operand(recording: Recording, index: int, node: Node) -> Recorded:
    pieces = (OperandName(index),)
    if len(node.results) == 1:
        return Recorded(recording, pieces, Alias.WHOLE, node.aval, operand=True)
    term = Recorded(recording, pieces, Alias.WHOLE, None)
    term.items = tuple(
        [
            Recorded(recording, (*pieces, f"[{i}]"), Alias.WHOLE, aval, operand=True)
            for i, aval in enumerate(node.results)
        ]
    )
    return term


def _finished(recording: Recording, result: Any, node: Node) -> NodeSource:
    several = len(node.results)
    if several > 1 and isinstance(result, tuple) and len(cast("Any", result)) == several:
        items = cast("tuple[Recorded, ...]", result)
        pieces, aliases = spelled(items, recording), tuple([item.alias for item in items])
        if len({item.pieces for item in items}) < several:
            aliases = (Alias.UNKNOWN,) * several
        last = Line(pieces, node.results, aliases)
    elif type(result) is Recorded and len(result.items) == (several if several > 1 else 0):
        aliases = (result.alias,) if several == 1 else (Alias.FRESH,) * several
        last = Line(written(result), node.results, aliases, result.out)
    else:
        raise NotSpelled("a result that no call of the namespace made")
    if recording.sizes_asked:
        return _called(node, aliases)
    lines = _separate(recording, last)
    if lines is not None:
        return NodeSource(lines)
    if all(count == 1 for count in recording.uses):
        return NodeSource((Line(_inlined(last.pieces, recording.steps), *_rest(last)),))
    return _called(node, aliases)


def _rest(line: Line) -> tuple[Any, ...]:
    return line.avals, line.aliases, line.out


def _separate(recording: Recording, last: Line) -> tuple[Line, ...] | None:
    """One line a call, if the result is the last call and, for programs, all shapes are known."""
    terms = recording.terms
    if not terms or last.pieces != (EarlierResult(len(terms) - 1),) or 0 in recording.uses:
        return None
    lines: list[Line] = []
    for term, pieces in zip(terms[:-1], recording.steps[:-1], strict=True):
        if term.aval is None and recording.fast:
            return None  # What is to be predicted of the program needs all of them.
        avals = () if term.aval is None else (term.aval,)
        lines.append(Line(pieces, avals, (term.own,), term.out))
    # Of a call of several results each is an array of its own.
    aliases = (terms[-1].own,) * len(last.avals)
    return (*lines, Line(recording.steps[-1], last.avals, aliases, terms[-1].out))


def _inlined(pieces: Pieces, steps: list[Pieces]) -> Pieces:
    whole: list[Pieces] = []
    for step in steps:  # Each step refers to earlier ones only.
        whole.append(_replaced(step, whole))
    return _replaced(pieces, whole)


def _replaced(pieces: Pieces, whole: list[Pieces]) -> Pieces:
    found: list[Piece] = []
    for piece in pieces:
        found.extend(whole[piece.index] if isinstance(piece, EarlierResult) else (piece,))
    return tuple(found)
