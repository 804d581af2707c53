"""A statement before it is known which values die there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..ir.avals import Aval
from ..ir.node import Node
from ..records import record
from .source_pieces import Alias, Dimension, Line, Piece, Pieces
from .statements import Filled

__all__ = ["IN_PLACE", "Draft", "array_draft"]

IN_PLACE = "="
"""The `Line.place` of an array without numbers: its place stands for the whole call."""


@record
class Draft:
    """A statement before it is known which values die there.

    Parameters
    ----------
    node : Node
    target : str
        The name of the value; empty where a statement writes into an array of another.
    line : Line
    pieces : tuple
        The right-hand side, operands by name.
    names : tuple of str
        The names it reads, each once.
    named : bool
        Whether a kernel is called by name.
    loop : int
        The number of the loop it stands in, or -1.
    axis : int, optional
        In a loop, the axis of the rows of its result, counted from the last; None if it has none.
    into : str
        The array, or the rows of one, that the result is written to.
    filled : Filled
        As of a statement.
    members : tuple of Node
        As of a statement.
    """

    node: Node
    target: str
    line: Line
    pieces: Pieces
    names: tuple[str, ...]
    named: bool
    loop: int = -1
    axis: int | None = None
    into: str = ""
    filled: Filled = Filled.WHOLE
    members: tuple[Node, ...] = ()

    def renamed(self, name_of: Callable[[str], str]) -> Draft:
        """The same, reading other names."""
        pieces = tuple(
            [
                name_of(each) if isinstance(each, str) and each in self.names else each
                for each in self.pieces
            ]
        )
        names = tuple(dict.fromkeys([name_of(each) for each in self.names]))
        return replace(self, pieces=pieces, names=names)


def array_draft(node: Node, target: str, aval: Aval, value: str = "") -> Draft:
    """A statement that makes an array, filled with a value or without numbers yet."""
    function = "np.full(" if value else "np.empty("
    shape: list[Piece] = ["("]
    for number, dim in enumerate(aval.shape):
        shape.extend((", ",) if number else ())
        shape.append(repr(dim) if isinstance(dim, int) else Dimension(dim))
    shape.extend((",",) if aval.ndim == 1 else ())
    dtype = f"np.{aval.dtype.name if aval.dtype.kind != 'b' else 'bool_'}"
    pieces = (function, *shape, f"){', ' if value else ''}{value}, {dtype})")
    line = Line(pieces, (aval,), (Alias.FRESH,), "", "" if value else IN_PLACE)
    return Draft(node, target, line, pieces, (), False)
