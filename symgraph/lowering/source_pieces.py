"""The pieces of source, before values have names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from typing import TypeAlias

from ..ir.avals import Aval
from ..ir.body import Body
from ..ir.dims import Dim
from ..ir.node import Node
from ..ops.results import PROJECT
from ..records import record

__all__ = [
    "Alias",
    "Call",
    "Defined",
    "Dimension",
    "EarlierResult",
    "Line",
    "NoSource",
    "NodeSource",
    "OperandName",
    "Piece",
    "Pieces",
    "Tabled",
]


class NoSource(Exception):
    """A kernel or an argument has no source: a kernel may need the numbers of an array."""


class Alias(Enum):
    """The memory that a result shares with the operands."""

    FRESH = "a new array"
    WHOLE = "a writable view of all of an operand, or the operand itself"
    PART = "a view that overlaps itself, leaves out elements, or is read-only"
    RESHAPE = "a view of all of the operand if its layout allows, else a new array"
    UNKNOWN = "anything"


@record
class OperandName:
    """Stands for the name of an operand."""

    index: int


@record
class EarlierResult:
    """Stands for the result of an earlier step of the same kernel."""

    index: int


@record
class Dimension:
    """Stands for the size of a dimension that is not known before the call."""

    expr: Dim


@record(eq=False)
class Tabled:
    """Stands for a value that has no source; it is looked up by name."""

    value: object
    prefix: str = "c"


@record(eq=False)
class Defined:
    """Stands for the name of a function with source of its own, above the program's.

    Parameters
    ----------
    node : Node
        A loop, a choice or a call: it holds the bodies.
    keep : tuple of bool or None
        Which results are read.
    given : tuple of int
        The results that are written into arrays which the function is given, after all else.
    """

    node: Node
    keep: tuple[bool, ...] | None = None
    given: tuple[int, ...] = ()

    @property
    def bodies(self) -> tuple[Body, ...]:
        return tuple([each for each in self.node.params.values() if isinstance(each, Body)])

    @property
    def carried(self) -> int:
        """How many operands of a body pass from one step of a loop to the next."""
        return self.node.params.get("carries", 0)

    @property
    def laid_out(self) -> tuple[Aval, ...]:
        """The captured arrays that a loop copies into row order before its first step."""
        if not self.stacks:
            return ()
        first = self.carried + self.node.params["scanned"]
        reads = [*zip(self.node.operands, self.bodies[0].right_factors, strict=True)][first:]
        copied = [each for each, read in reads if read and each.op.view]
        return tuple([each.aval for each in copied if each.op is not PROJECT])

    @property
    def stacks(self) -> range:
        """The results that have a row for each step of a loop."""
        count = len(self.node.results) if "scanned" in self.node.params else self.carried
        return range(self.carried, count)


Piece: TypeAlias = "str | OperandName | EarlierResult | Dimension | Tabled | Defined"
Pieces: TypeAlias = tuple[Piece, ...]


@record
class Call:
    """The outermost call of a line.

    Parameters
    ----------
    function : str
        Its name, `"np.exp"`; that of a method stands after a dot, `".astype"`.
    args : tuple
        The positional arguments, None for each array.
    kwargs : mapping
    """

    function: str
    args: tuple[object, ...] = ()
    kwargs: Mapping[str, object] = field(default_factory=dict[str, object])


@record
class Line:
    """One assignment.

    Parameters
    ----------
    pieces : tuple
        The right-hand side.
    avals, aliases : tuple
        One for each result; there are several only where a node has several.
    out : str
        The text that passes the buffer of an operand for the result to the outermost call, `", "`
        or `", out="`; empty where none can be passed.
    place : str
        The same for a buffer that is no operand's: products of matrices and reductions take these
        too.
    call : Call, optional
        What the line calls, where its arguments are names and numbers.
    """

    pieces: Pieces
    avals: tuple[Aval, ...]
    aliases: tuple[Alias, ...]
    out: str = ""
    place: str = ""
    call: Call | None = None


@record
class NodeSource:
    """The source of one node.

    Parameters
    ----------
    lines : tuple of Line
        The last one is the result; `EarlierResult` refers to the others.
    named : bool
        Whether the kernel is called by name.
    """

    lines: tuple[Line, ...]
    named: bool = False
